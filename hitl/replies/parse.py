"""Finds the phrases of one language in a message, with their roles: yes, no, politeness and so on."""

from hitl.replies.automaton import Match, Matches, Phrases
from hitl.replies.emoji import Sign
from hitl.replies.lexicon import Language, asking, polite_anywhere
from hitl.replies.phrase_roles import (
    ADDRESSES,
    AND,
    BEFORE_TARGET,
    NO,
    OPENS,
    POLITE,
    REFUSES,
    REMARK,
    STATES,
    UNCLEAR,
    YES,
)
from hitl.replies.tokens import BREAK, MENTION, TARGET, WORD, Token, TokenKind

NOWHERE = -1
#: The signs that may be inside a phrase: people set commas as they speak, and mail programs break long lines.
COMMAS = frozenset({*",\u3001\uff0c\u060c", "\n", "\r\n"})
COLONS = frozenset({":", "\uff1a"})
#: The highest number of words in a phrase that addresses somebody ("Hi").
_LONGEST_ADDRESS = 3
_BESIDE = POLITE | BEFORE_TARGET
_NEVER_DECIDES = UNCLEAR | OPENS | REMARK
_STANDS = frozenset({BREAK, MENTION, TARGET})


class Parse:
    """One message in one language: its tokens, its words as the language's file spells them, and its phrases.

    `whole` says whether the language knows all words. `graph` finds the language's phrases in any list of words. The
    phrases of the message are found when they are first asked for.
    """

    __slots__ = ("_found", "graph", "kinds", "language", "tokens", "whole", "wordless", "words")

    def __init__(self, tokens: list[Token], language: Language) -> None:
        """Look up each word of the message in the language."""
        kinds: set[TokenKind] = set()
        words: list[str | None] = []
        vocabulary = language.vocabulary
        whole = True
        for kind, text, _, _, _ in tokens:
            kinds.add(kind)
            word = (text if text in vocabulary else language.known(text)) if kind is WORD else None
            if word is None and kind is WORD:
                whole = False
            words.append(word)
        self.whole = whole
        self.tokens = tokens
        self.language = language
        self.kinds = kinds
        self.words = words
        self.wordless = WORD not in kinds
        self.graph: Phrases = language.phrases
        self._found: list[Matches] = []

    def _find(self) -> list[Matches]:
        """Find the phrases at all tokens together, because nearly every message needs most of them."""
        self._found = self.graph.found(self.words, range(len(self.words)))
        return self._found

    def phrases(self, at: int) -> Matches:
        """Return (end, roles) of each phrase that begins at a token. The longest phrase comes last."""
        return (self._found or self._find())[at]

    def longest(self, at: int) -> Match:
        """Return (end, roles) of the longest phrase that begins at a token. Without such a phrase, return (`at`, 0)."""
        found = (self._found or self._find())[at]
        return found[-1] if found else (at, 0)

    def role_ends(self, at: int, roles: int) -> int:
        """Return the end of the longest phrase at a token if that phrase has one of the roles.

        Otherwise return NOWHERE.
        """
        end, played = self.longest(at)
        return end if played & roles else NOWHERE

    def met(self) -> int:
        """Return the roles of all phrases in the message, as one set of bits."""
        met = 0
        for found in self._found or self._find():
            for _, roles in found:
                met |= roles
        return met

    def holds(self, roles: int) -> bool:
        """Return whether one of the longest phrases that follow each other in the message has one of the roles."""
        at = 0
        while at < len(self.tokens):
            end, found = self.longest(at)
            if found & roles:
                return True
            at = max(end, at + 1)
        return False

    def known(self) -> int:
        """Return the number of words of the message that the language knows."""
        return len(self.words) - self.words.count(None)

    def is_target(self, at: int) -> bool:
        """Return whether a token names a call by its ref or by another system's id."""
        return self.tokens[at].kind is TARGET

    def covered(self, start: int, end: int, core: int, also: int = 0) -> tuple[int, bool]:
        """Cover the tokens from `start` to `end` with phrases that follow each other without gaps.

        Return the index that the phrases reach, which is `end` if they cover all tokens, and whether they decide. A
        phrase may be used if it has a role in `core` or `also`, is polite, or introduces a ref. The phrases decide if
        one of them has a role in `core`. If a greeting follows that phrase, the phrase decides only if OPENS is in
        `also`, because a greeting belongs at the beginning of a reply.
        """
        reach = {start: False}
        furthest = start
        allowed = core | _BESIDE | also | (STATES if core & YES else 0)
        for at in range(start, end):
            if at not in reach:
                continue
            furthest = at
            kind = self.tokens[at].kind
            if kind in _STANDS:
                reach[at + 1] = reach.get(at + 1, False) or reach[at]
                continue
            steps = self._steps(at, core, allowed) if kind is WORD else self._emoji_steps(at, core)
            for stop, decides in steps:
                if stop <= end:
                    reach[stop] = reach.get(stop, False) or bool(decides) or (decides is not None and reach[at])
        return (end, reach[end]) if end in reach else (furthest, reach[furthest])

    def end(self) -> int:
        """Return the number of tokens without the punctuation at the end of the message."""
        end = len(self.tokens)
        while end and self.tokens[end - 1].kind is BREAK:
            end -= 1
        return end

    def targets(self, start: int, end: int) -> list[str]:
        """Return the different refs among the tokens from `start` to `end`, in their order."""
        if TARGET not in self.kinds:
            return []
        names: dict[str, str] = {}
        for token in self.tokens[start:end]:
            if token.kind is TARGET:
                names[token.text.casefold()] = token.text
        return list(names.values())

    def cuts(self) -> list[int]:
        """Return the indexes of the tokens at which answers to different calls begin.

        A new answer begins only after a part that names a call. The answer after a ref and a colon belongs to that ref.
        """
        found = [0]
        for at in range(1, len(self.tokens)):
            start = self._after_and(at)
            begins = start < len(self.tokens) and (
                self.is_target(start)
                or (self.role_ends(start, YES | REFUSES) > start and not self._introduced(found[-1], start))
            )
            if begins and start > found[-1] and self.targets(found[-1], at):
                found.append(start)
        return found

    def _introduced(self, start: int, at: int) -> bool:
        """Return whether nothing but a ref and a colon is before a token, in a part that begins at `start`."""
        return at == start + 2 and self.is_target(start) and self.tokens[start + 1].text in COLONS

    def _politely_unclear(self, at: int, found: Matches) -> bool:
        """Return whether the longest phrase ends with a polite word, and the words before it are no answer.

        An example is "okay so please".
        """
        last = found[-1][0] - 1
        end, roles = found[-2]
        return not roles & POLITE and end == last > at + 1 and self._is_polite(last)

    def _polite_behind(self) -> bool:
        """Return whether only polite words follow the emoji at the start: "👍👍 thanks"."""
        first = next((at for at, token in enumerate(self.tokens) if token.sign is not Sign.YES), 0)
        stops = [token.text.strip() for token in self.tokens if token.kind is BREAK]
        return all(stop in {"", ",", ".", "!"} for stop in stops) and self.covered(first, len(self.tokens), 0)[
            0
        ] == len(self.tokens)

    def _after_and(self, at: int) -> int:
        after = max(self.role_ends(at, AND), at)
        return after if after > at or self.tokens[at - 1].kind is BREAK else len(self.tokens)

    def introduces(self, end: int) -> bool:
        """Return whether a ref, or a phrase that introduces a ref, begins at the token `end`."""
        return end < len(self.tokens) and (self.is_target(end) or self.role_ends(end, BEFORE_TARGET) > end)

    def _is_name(self, at: int, end: int) -> bool:
        """Return whether a phrase may be the name after a greeting: a single word, or a word and "please"."""
        if end == at + 2 and not self._is_polite(at + 1):
            return False
        before = range(at - 1, max(at - _LONGEST_ADDRESS, 0) - 1, -1)
        return any(stop == at and roles & ADDRESSES for start in before for stop, roles in self.phrases(start))

    def _is_polite(self, at: int) -> bool:
        text = self.tokens[at].text
        return text in polite_anywhere() or text in asking()

    def _steps(self, at: int, core: int, allowed: int) -> list[tuple[int, bool | None]]:
        """Return the steps that `covered` can take from a word: the end of each phrase, and its effect.

        The effect is True if the phrase decides, False if it doesn't, and None if it takes back a yes before it. A
        phrase that introduces a ref can be a step only if a ref follows it.
        """
        found = self.phrases(at)
        if not found:
            return []
        end, roles = found[-1]
        if (roles & UNCLEAR and not _may_stand(roles, core)) or (
            len(found) > 1 and found[-2][1] & UNCLEAR and self._politely_unclear(at, found)
        ):
            return []
        if roles & _NEVER_DECIDES and not roles & allowed & REMARK:
            return [(end, None if roles & OPENS & ~allowed else False)]
        steps: list[tuple[int, bool | None]] = []
        for end, roles in found:
            plays = roles & allowed
            if plays & ~BEFORE_TARGET or (plays and self.introduces(end)):
                decides = bool(roles & core)
                steps.append((end, decides and not (at and end <= at + 2 and self._is_name(at, end))))
        return steps

    def _emoji_steps(self, at: int, core: int) -> list[tuple[int, bool | None]]:
        """Return the step that `covered` can take from an emoji, as `_steps` does for a word.

        Other tokens without a word, such as numbers, have no step.
        """
        sign = self.tokens[at].sign
        if (sign is Sign.YES and core & YES) or (sign is Sign.NO and core & NO):
            return [(at + 1, self.wordless or (at == 0 and self._polite_behind()))]
        return [(at + 1, False)] if sign is Sign.WITH and not self.wordless else []


def _may_stand(roles: int, core: int) -> bool:
    """Return whether a phrase that is no answer may still be beside an answer, such as "no problem" beside a yes.

    The language files list praise under both "beside yes" and "no answer". So praise may be beside a yes. But praise
    alone isn't a yes, even if the files also list the same words as a yes.
    """
    return bool(roles & POLITE and (core & YES or not roles & core))
