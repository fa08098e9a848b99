"""One language's look at a message: which stretches of it are yes, no, politeness and so on."""

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
    POLITE,
    REFUSES,
    REMARK,
    UNCLEAR,
    YES,
)
from hitl.replies.tokens import Token, TokenKind

NOWHERE = -1
_COMMAS = frozenset(",\u3001\uff0c\u060c")
#: Behind a no, a dash or a colon introduces a reason; these stops may stand inside of an idiom.
_PAUSES = _COMMAS | frozenset(".!\u2026\u3002\uff01")
#: In words.
_LONGEST_ADDRESS = 3
_BESIDE = POLITE | BEFORE_TARGET
_NEVER_DECIDES = UNCLEAR | OPENS | REMARK
_STANDS = frozenset({TokenKind.BREAK, TokenKind.MENTION, TokenKind.TARGET})


class Parse:
    """The tokens of a message, its words as one language knows them, and the phrases found so far."""

    __slots__ = ("_found", "_graph", "kinds", "language", "tokens", "wordless", "words")

    def __init__(self, tokens: list[Token], language: Language) -> None:
        """Look the words up."""
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
        """Give the ends and roles of all phrases that begin at a token, the longest last."""
        found = self._found[at]
        if found is None:
            found = self._found[at] = self._graph.matches(self.words, at)
        return found

    def longest(self, at: int) -> Match:
        """Give the end and roles of the longest phrase that begins at a token, or its own place and no role."""
        found = self._found[at]
        if found is None:
            found = self.phrases(at)
        return found[-1] if found else (at, 0)

    def role_ends(self, at: int, roles: int) -> int:
        """Give the end of the longest phrase at a token if it plays one of the roles, else NOWHERE."""
        end, played = self.longest(at)
        return end if played & roles else NOWHERE

    def met(self) -> int:
        """Give all roles of the phrases that were looked at so far."""
        met = 0
        for found in self._found:
            for _, roles in found or ():
                met |= roles
        return met

    def known(self) -> int:
        """Count the words that the language knows."""
        return len(self.words) - self.words.count(None)

    def is_target(self, at: int) -> bool:
        """Tell whether a token names a call."""
        return self.tokens[at].kind is TokenKind.TARGET

    def covered(self, start: int, end: int, core: int, also: int = 0) -> tuple[int, bool]:
        """Cover tokens with phrases from the left: how far that reaches, and whether a core phrase is among them.

        A greeting opens a reply, so a core phrase before one doesn't count, unless `also` holds OPENS.
        """
        reach = {start: False}
        furthest = start
        allowed = core | _BESIDE | also
        for at in range(start, end):
            if at not in reach:
                continue
            furthest = at
            for stop, decides in self._steps(at, core, allowed):
                if stop <= end:
                    reach[stop] = reach.get(stop, False) or bool(decides) or (decides is not None and reach[at])
        return (end, reach[end]) if end in reach else (furthest, reach[furthest])

    def holds_idiom(self) -> bool:
        """Tell whether words with a comma among them answer nothing together: "yeah, right".

        A phrase with a "please" in it that answers nothing is a request to others, even if it is a yes elsewhere.
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
        """Tell whether the words of a line, with a stop among them, are an idiom that answers nothing: "no... wait"."""
        if TokenKind.BREAK not in self.kinds:
            return False
        stops = [token.text in _PAUSES for token in self.tokens]
        words = [word for word, stop in zip(self.words, stops, strict=True) if not stop]
        found = self._graph.matches(words, 0)
        return bool(found) and found[-1][0] == len(words) and found[-1][1] & (UNCLEAR | REFUSES | DENIES) == UNCLEAR

    def _without_commas(self) -> list[str | None]:
        """Give the words without the commas between them; none if there is no comma."""
        commas = [token.text in _COMMAS for token in self.tokens]
        return [word for word, comma in zip(self.words, commas, strict=True) if not comma] if any(commas) else []

    def _runs_on(self, words: list[str | None], start: int, end: int) -> bool:
        """Tell whether a phrase begins inside of another and ends behind it: "no worries" in "yes, no worries"."""
        inner = (self._graph.matches(words, at) for at in range(start + 1, end))
        return any(found and found[-1][0] > end for found in inner)

    def targets(self, start: int, end: int) -> list[str]:
        """Give the different calls named between two tokens, in their order."""
        if TokenKind.TARGET not in self.kinds:
            return []
        names = (self.tokens[i].text for i in range(start, end) if self.is_target(i))
        return list({name.casefold(): name for name in names}.values())

    def cuts(self) -> list[int]:
        """Give the tokens at which another answer with a target of its own begins."""
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
        """Tell whether the longest phrase is one that answers nothing and a polite word: "okay so please"."""
        last = found[-1][0] - 1
        end, roles = found[-2]
        return not roles & POLITE and end == last > at + 1 and self._is_polite(last)

    def _polite_behind(self) -> bool:
        """Tell whether behind the emoji at the start stands nothing but politeness: "👍 thanks"."""
        stops = [token.text.strip() for token in self.tokens if token.kind is TokenKind.BREAK]
        return all(stop in {"", ",", ".", "!"} for stop in stops) and self.covered(1, len(self.tokens), 0)[0] == len(
            self.tokens
        )

    def _after_and(self, at: int) -> int:
        after = max(self.role_ends(at, AND), at)
        return after if after > at or self.tokens[at - 1].kind is TokenKind.BREAK else len(self.tokens)

    def introduces(self, end: int) -> bool:
        """Tell whether a phrase before a ref that ends here has one behind it, or another such phrase."""
        return end < len(self.tokens) and (self.is_target(end) or self.role_ends(end, BEFORE_TARGET) > end)

    def _is_name(self, at: int, end: int) -> bool:
        """Tell whether a phrase may be the name in a greeting: one word right behind it, or one with "please"."""
        if end == at + 2 and not self._is_polite(at + 1):
            return False
        before = range(at - 1, max(at - _LONGEST_ADDRESS, 0) - 1, -1)
        return any(stop == at and roles & ADDRESSES for start in before for stop, roles in self.phrases(start))

    def _is_polite(self, at: int) -> bool:
        text = self.tokens[at].text
        return text in polite_anywhere() or text in asking()

    def _steps(self, at: int, core: int, allowed: int) -> list[tuple[int, bool | None]]:
        """Give the tokens that a phrase here leads to, and whether it decides; None takes back what stands before.

        A phrase that introduces a ref must have one behind it.
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
    """Tell whether an idiom that answers nothing may stand beside a yes: "no problem".

    Praise stands under "beside yes" and "no answer", and is no yes of its own, even if another phrase has it as one.
    """
    return bool(roles & POLITE and (core & YES or not roles & core))
