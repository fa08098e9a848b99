"""Finds the phrases of one language in a message, with their roles: yes, no, politeness and so on."""

from hitl.replies.automaton import Match, Phrases
from hitl.replies.emoji import Sign
from hitl.replies.lexicon import Language, asking, polite_anywhere
from hitl.replies.phrase_roles import (
    ADDRESSES,
    AND,
    BEFORE_TARGET,
    DENIES,
    NO,
    OPENS,
    ORDERS,
    POLITE,
    REFUSES,
    REMARK,
    STATES,
    TAG,
    UNCLEAR,
    YES,
)
from hitl.replies.tokens import Token, TokenKind

NOWHERE = -1
_COMMAS = frozenset(",\u3001\uff0c\u060c")
#: The signs that may be inside an idiom. The dash and the colon aren't here, because after a no they introduce a
#: reason.
_PAUSES = _COMMAS | frozenset(".!\u2026\u3002\uff01")
#: The highest number of words in a phrase that addresses somebody ("Hi").
_LONGEST_ADDRESS = 3
#: The highest number of words in a tag at the end of a reply ("ok, vero").
_LONGEST_TAG = 4
#: After a statement or "I changed my mind", one of these words may only end the sentence, and is no yes then: "they are
#: merged, ok".
CLOSES = frozenset({"ok", "okay", "okey"})
#: The fewest words of a yes that may have a statement next to it. In scripts without spaces each word is one sign.
_LEAST_YES = 2
_LEAST_YES_SIGNS = 3
_BESIDE = POLITE | BEFORE_TARGET
_NEVER_DECIDES = UNCLEAR | OPENS | REMARK
_STANDS = frozenset({TokenKind.BREAK, TokenKind.MENTION, TokenKind.TARGET})


class Parse:
    """One message in one language: its tokens, its words as the language's file spells them, and its phrases.

    Phrases are found when they are first asked for.
    """

    __slots__ = ("_found", "_graph", "kinds", "language", "tokens", "wordless", "words")

    def __init__(self, tokens: list[Token], language: Language) -> None:
        """Look up each word of the message in the language."""
        self.tokens = tokens
        self.language = language
        self.kinds: set[TokenKind] = set()
        self.words: list[str | None] = []
        vocabulary = language.vocabulary
        for kind, text, _, _, _ in tokens:
            self.kinds.add(kind)
            word = kind is TokenKind.WORD
            self.words.append((text if text in vocabulary else language.known(text)) if word else None)
        self.wordless = TokenKind.WORD not in self.kinds
        self._graph: Phrases = language.phrases
        self._found: list[tuple[Match, ...] | None] = [None] * len(tokens)

    def phrases(self, at: int) -> tuple[Match, ...]:
        """Return (end, roles) of each phrase that begins at a token. The longest phrase comes last."""
        found = self._found[at]
        if found is None:
            found = self._found[at] = self._graph.matches(self.words, at)
        return found

    def longest(self, at: int) -> Match:
        """Return (end, roles) of the longest phrase that begins at a token. Without such a phrase, return (`at`, 0)."""
        found = self._found[at]
        if found is None:
            found = self.phrases(at)
        return found[-1] if found else (at, 0)

    def role_ends(self, at: int, roles: int) -> int:
        """Return the end of the longest phrase at a token if that phrase has one of the roles.

        Otherwise return NOWHERE.
        """
        end, played = self.longest(at)
        return end if played & roles else NOWHERE

    def met(self) -> int:
        """Return the roles of all phrases that were found so far, as one set of bits."""
        met = 0
        for found in self._found:
            for _, roles in found or ():
                met |= roles
        return met

    def known(self) -> int:
        """Return the number of words of the message that the language knows."""
        return len(self.words) - self.words.count(None)

    def is_target(self, at: int) -> bool:
        """Return whether a token names a call by its ref or by another system's id."""
        return self.tokens[at].kind is TokenKind.TARGET

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
            for stop, decides in self._steps(at, core, allowed):
                if stop <= end:
                    reach[stop] = reach.get(stop, False) or bool(decides) or (decides is not None and reach[at])
        return (end, reach[end]) if end in reach else (furthest, reach[furthest])

    def end(self) -> int:
        """Return the number of tokens without the punctuation at the end of the message."""
        end = len(self.tokens)
        while end and self.tokens[end - 1].kind is TokenKind.BREAK:
            end -= 1
        return end

    def asks_back(self) -> bool:
        """Return whether the message ends with a yes and a tag that asks for a confirmation: "ok, vero".

        If the tag is the end of a longer phrase, it asks nothing: "sí, es verdad". The longer phrase may contain
        punctuation.
        """
        end = self.end()
        return any(self._is_tag(at, end) for at in range(max(1, end - _LONGEST_TAG), end))

    def _is_tag(self, at: int, end: int) -> bool:
        if not any(stop == end and roles & TAG for stop, roles in self.phrases(at)):
            return False
        before = self._without_stops(0, at)
        words = before + self._without_stops(at, end)
        phrases = (found[-1] for i in range(len(before)) if (found := self._graph.matches(words, i)))
        longer = any(stop > len(before) and not roles & UNCLEAR for stop, roles in phrases)
        return not longer and self.covered(0, at, YES) == (at, True)

    def adds_no_answer(self) -> bool:
        """Return whether the message is a yes and then one phrase that is no answer.

        Another phrase may join the two parts, as "yes you can" does in "yes you can approve it". The message then still
        counts as a yes and a phrase that is no answer, as if a comma were between them.
        """
        end = self.end()
        return any(self._answers_nothing(stop, end) for stop, roles in self.phrases(0) if roles & YES)

    def only_agrees(self) -> bool:
        """Return whether a short yes comes before a statement: "yes, they are merged", "yes, I checked it".

        Such a yes may only agree with the statement. Return False for an order ("delete them, they are merged"), for a
        longer yes, and for a yes after the statement. But an "ok" after the statement may only close it.
        """
        if not self.met() & STATES:
            return False
        at, states, least, words = 0, False, 0, 0
        while at < len(self.tokens):
            end, roles = self.longest(at)
            if roles & STATES:
                states = True
            elif roles & YES:
                if roles & ORDERS or (states and self.tokens[at].text not in CLOSES):
                    return False
                words += end - at
                least = max(least, _LEAST_YES if len(self.tokens[at].text) > 1 else _LEAST_YES_SIGNS)
            at = max(end, at + 1)
        return states and words < least

    def _answers_nothing(self, at: int, end: int) -> bool:
        if at > end - 2 or self.tokens[at].start == self.tokens[at - 1].end:
            return False
        stop, roles = self.longest(at)
        return stop == end and bool(roles & UNCLEAR) and not roles & (POLITE | REFUSES | DENIES)

    def _without_stops(self, start: int, end: int) -> list[str | None]:
        kept = (i for i in range(start, end) if self.tokens[i].kind is not TokenKind.BREAK)
        return [self.words[i] for i in kept]

    def holds_idiom(self) -> bool:
        """Return whether the message, without its commas, holds an idiom that is no answer ("yeah, right") and no yes.

        A phrase that is no answer and holds "please" is a request to others. Such a request doesn't count as a yes.
        """
        if TokenKind.BREAK not in self.kinds:
            return False
        words = self._without_commas()
        at, idiom, agrees = 0, False, False
        while at < len(words):
            found = self._graph.matches(words, at)
            if len(found) > 1 and self._runs_on(words, at, found[-1][0]):
                found = found[:-1]
            start = at
            at, roles = found[-1] if found else (at + 1, 0)
            if roles & UNCLEAR and not roles & POLITE and not asking().isdisjoint(words[start:at]):
                roles &= ~YES
            idiom |= bool(roles & UNCLEAR and (roles & OPENS or not roles & (YES | POLITE)))
            agrees |= bool(roles & YES)
        return idiom and not agrees

    def is_idiom(self) -> bool:
        """Return whether the whole message, without its punctuation, is an idiom that is no answer: "no... wait"."""
        if TokenKind.BREAK not in self.kinds:
            return False
        stops = [token.text in _PAUSES for token in self.tokens]
        words = [word for word, stop in zip(self.words, stops, strict=True) if not stop]
        found = self._graph.matches(words, 0)
        return bool(found) and found[-1][0] == len(words) and found[-1][1] & (UNCLEAR | REFUSES | DENIES) == UNCLEAR

    def _without_commas(self) -> list[str | None]:
        """Return the words of the message without its commas. Return [] if there is no comma."""
        commas = [token.text in _COMMAS for token in self.tokens]
        return [word for word, comma in zip(self.words, commas, strict=True) if not comma] if any(commas) else []

    def _runs_on(self, words: list[str | None], start: int, end: int) -> bool:
        """Return whether a phrase begins inside the phrase from `start` to `end` and ends after it.

        An example is "no worries" in "yes, no worries".
        """
        inner = (self._graph.matches(words, at) for at in range(start + 1, end))
        return any(found and found[-1][0] > end for found in inner)

    def targets(self, start: int, end: int) -> list[str]:
        """Return the different refs among the tokens from `start` to `end`, in their order."""
        if TokenKind.TARGET not in self.kinds:
            return []
        names = (self.tokens[i].text for i in range(start, end) if self.is_target(i))
        return list({name.casefold(): name for name in names}.values())

    def cuts(self) -> list[int]:
        """Return the indexes of the tokens at which answers to different calls begin.

        A new answer begins only after a part that names a call.
        """
        found = [0]
        for at in range(1, len(self.tokens)):
            start = self._after_and(at)
            begins = start < len(self.tokens) and (
                self.is_target(start) or self.role_ends(start, YES | REFUSES) > start
            )
            if begins and start > found[-1] and self.targets(found[-1], at):
                found.append(start)
        return found

    def _politely_unclear(self, at: int, found: tuple[Match, ...]) -> bool:
        """Return whether the longest phrase ends with a polite word, and the words before it are no answer.

        An example is "okay so please".
        """
        last = found[-1][0] - 1
        end, roles = found[-2]
        return not roles & POLITE and end == last > at + 1 and self._is_polite(last)

    def _polite_behind(self) -> bool:
        """Return whether only polite words follow the emoji at the start: "👍👍 thanks"."""
        first = next((at for at, token in enumerate(self.tokens) if token.sign is not Sign.YES), 0)
        stops = [token.text.strip() for token in self.tokens if token.kind is TokenKind.BREAK]
        return all(stop in {"", ",", ".", "!"} for stop in stops) and self.covered(first, len(self.tokens), 0)[
            0
        ] == len(self.tokens)

    def _after_and(self, at: int) -> int:
        after = max(self.role_ends(at, AND), at)
        return after if after > at or self.tokens[at - 1].kind is TokenKind.BREAK else len(self.tokens)

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
        """Return the steps that `covered` can take from a token: the end of each phrase, and its effect.

        The effect is True if the phrase decides, False if it doesn't, and None if it takes back a yes before it. A
        phrase that introduces a ref can be a step only if a ref follows it.
        """
        token = self.tokens[at]
        if token.kind is TokenKind.WORD:
            found = self.phrases(at)
            end, roles = found[-1] if found else (at, 0)
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
        if token.kind is TokenKind.EMOJI:
            same = (token.sign is Sign.YES and core & YES) or (token.sign is Sign.NO and core & NO)
            if same:
                return [(at + 1, self.wordless or (at == 0 and self._polite_behind()))]
            return [(at + 1, False)] if token.sign is Sign.WITH and not self.wordless else []
        return [(at + 1, False)] if token.kind in _STANDS or self.is_target(at) else []


def _may_stand(roles: int, core: int) -> bool:
    """Return whether a phrase that is no answer may still be beside an answer, such as "no problem" beside a yes.

    The language files list praise under both "beside yes" and "no answer". So praise may be beside a yes. But praise
    alone is no yes, even if the files also list the same words as a yes.
    """
    return bool(roles & POLITE and (core & YES or not roles & core))
