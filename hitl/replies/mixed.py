"""Reads a yes that mixes the words of two languages: "ja, go ahead"."""

from itertools import combinations

from hitl.replies import lexicon
from hitl.replies.automaton import Matches
from hitl.replies.grammar import approval
from hitl.replies.model import Reading
from hitl.replies.no_answers import holds_idiom
from hitl.replies.parse import Parse
from hitl.replies.phrase_roles import CONDITION, HEDGE, LATER, POLITE, QUESTION, REFUSES, UNCLEAR, YES
from hitl.replies.scripts import scripts
from hitl.replies.tokens import ASKS, WORD, Token

#: Messages with more words than this aren't read as a mix of languages, because people mix languages only in short
#: answers.
_MOST_WORDS = 12
_DOUBTS = REFUSES | CONDITION | QUESTION | LATER | HEDGE | UNCLEAR


class _Both(Parse):
    """The parse of one message that uses the phrases of two languages together."""

    __slots__ = ("_first", "_second")

    def __init__(self, first: Parse, second: Parse) -> None:
        """Combine two parses of the same tokens, one for each language."""
        super().__init__(first.tokens, first.language)
        self._first, self._second = first, second

    def _find(self) -> list[Matches]:
        """Find the phrases of both languages. A phrase of both has the roles that it has in either."""
        self._found = []
        for at in range(len(self.tokens)):
            ends: dict[int, int] = {}
            for end, roles in (*self._first.phrases(at), *self._second.phrases(at)):
                ends[end] = ends.get(end, 0) | roles
            self._found.append(tuple(sorted(ends.items())))
        return self._found

    @property
    def languages(self) -> tuple[Parse, Parse]:
        """The two parses, one for each language."""
        return self._first, self._second


def mixed(tokens: list[Token]) -> Reading | None:
    """Return the reading of a yes that mixes the words of two languages. Return None if the message is no such yes.

    Each word must be known in one of the two languages, and neither language may find a no or a word of doubt.
    """
    texts = [token.text for token in tokens if token.kind is WORD]
    if not 1 < len(texts) <= _MOST_WORDS or any(token.kind is ASKS for token in tokens):
        return None
    if not lexicon.homographs().isdisjoint(texts):
        return None
    pairs = _pairs([lexicon.speakers(text, scripts(text)) for text in texts])
    parses = {code: Parse(tokens, lexicon.load(code)) for code in {code for pair in pairs for code in pair}}
    found = [_Both(parses[first], parses[second]) for first, second in pairs]
    if any(_doubts(parse) or holds_idiom(parse) for both in found for parse in both.languages):
        return None
    return next((reading for both in found if (reading := _yes(both))), None)


def _pairs(known: list[frozenset[str]]) -> list[tuple[str, str]]:
    """Return the pairs of languages that together know every word.

    If some pairs include English, return only the pairs with English.
    """
    masks: dict[str, int] = {}
    for place, codes in enumerate(known):
        for code in codes:
            masks[code] = masks.get(code, 0) | 1 << place
    whole = (1 << len(known)) - 1
    pairs = [(a, b) for a, b in combinations(sorted(masks), 2) if masks[a] | masks[b] == whole]
    return [pair for pair in pairs if "en" in pair] or pairs


def _doubts(parse: Parse) -> bool:
    roles = (parse.longest(at)[1] for at in range(len(parse.tokens)))
    return any(role & _DOUBTS and not role & (POLITE | YES) for role in roles)


def _yes(parse: Parse) -> Reading | None:
    furthest, yes = parse.covered(0, len(parse.tokens), YES)
    return approval(parse, furthest, yes=yes)
