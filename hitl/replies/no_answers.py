"""Finds messages that hold a yes but aren't an answer. They are idioms ("yeah, right"), questions with a tag ("ok,
vero?"), and a yes that only agrees with a statement next to it ("yes, they are merged").
"""

from hitl.replies.lexicon import asking
from hitl.replies.parse import COMMAS, Parse
from hitl.replies.phrase_roles import DENIES, OPENS, ORDERS, POLITE, REFUSES, STATES, TAG, UNCLEAR, YES
from hitl.replies.tokens import BREAK, WORD

#: The signs that may be inside an idiom. The dash and the colon aren't here, because after a no they introduce a
#: reason.
_PAUSES = COMMAS | frozenset(".!\u2026\u3002\uff01")
#: The highest number of words in a tag at the end of a reply ("ok, vero").
_LONGEST_TAG = 4
#: After a statement or "I changed my mind", one of these words may only end the sentence, and isn't a yes then: "they
#: are merged, ok".
CLOSES = frozenset({"ok", "okay", "okey"})
#: The fewest words of a yes that may have a statement beside it. In scripts without spaces each word is one sign.
_LEAST_YES = 2
_LEAST_YES_SIGNS = 3


def asks_back(parse: Parse) -> bool:
    """Return whether the message ends with a yes and a tag that asks for a confirmation: "ok, vero".

    If the tag is the end of a longer phrase, it asks nothing: "sí, es verdad". The longer phrase may contain
    punctuation.
    """
    end = _last_word(parse)
    for at in range(max(1, end - _LONGEST_TAG), end):
        for stop, roles in parse.phrases(at):
            if stop == end and roles & TAG and _asks(parse, at, end):
                return True
    return False


def _asks(parse: Parse, at: int, end: int) -> bool:
    """Return whether the tag from `at` to `end` ends no longer phrase, and follows a yes."""
    before = _without_stops(parse, 0, at)
    words = before + _without_stops(parse, at, end)
    phrases = (found[-1] for i in range(len(before)) if (found := parse.graph.matches(words, i)))
    longer = any(stop > len(before) and not roles & UNCLEAR for stop, roles in phrases)
    return not longer and parse.covered(0, at, YES) == (at, True)


def adds_no_answer(parse: Parse) -> bool:
    """Return whether the message is a yes and then one phrase that is no answer.

    Another phrase may join the two parts, as "yes you can" does in "yes you can approve it". The message then still
    counts as a yes and a phrase that is no answer, as if a comma were between them.
    """
    end = _last_word(parse)
    return True in [_answers_nothing(parse, stop, end) for stop, roles in parse.phrases(0) if roles & YES]


def _answers_nothing(parse: Parse, at: int, end: int) -> bool:
    if at > end - 2 or parse.tokens[at].start == parse.tokens[at - 1].end:
        return False
    stop, roles = parse.longest(at)
    return stop == end and bool(roles & UNCLEAR) and not roles & (POLITE | REFUSES | DENIES)


def only_agrees(parse: Parse) -> bool:
    """Return whether a short yes comes before a statement: "yes, they are merged", "yes, I checked it".

    Such a yes may only agree with the statement. Return False for an order ("delete them, they are merged"), for a
    longer yes, and for a yes after the statement. But an "ok" after the statement may only close it.
    """
    if not parse.met() & STATES:
        return False
    at, states, least, words = 0, False, 0, 0
    while at < len(parse.tokens):
        end, roles = parse.longest(at)
        if roles & STATES:
            states = True
        elif roles & YES:
            if roles & ORDERS or (states and parse.tokens[at].text not in CLOSES):
                return False
            words += end - at
            least = max(least, _LEAST_YES if len(parse.tokens[at].text) > 1 else _LEAST_YES_SIGNS)
        at = max(end, at + 1)
    return states and words < least


def holds_idiom(parse: Parse) -> bool:
    """Return whether the message, without its commas, holds an idiom that is no answer ("yeah, right") and no yes.

    A phrase that is no answer and holds "please" is a request to others. Such a request doesn't count as a yes.
    """
    pairs = zip(parse.words, parse.tokens, strict=True)
    words = [word for word, token in pairs if token.text not in COMMAS]
    if len(words) == len(parse.words):
        return False
    at, idiom, agrees = 0, False, False
    while at < len(words):
        found = parse.graph.matches(words, at)
        if len(found) > 1 and _runs_on(parse, words, at, found[-1][0]):
            found = found[:-1]
        start = at
        at, roles = found[-1] if found else (at + 1, 0)
        if roles & UNCLEAR and not roles & POLITE and not asking().isdisjoint(words[start:at]):
            roles &= ~YES
        idiom |= bool(roles & UNCLEAR and (roles & OPENS or not roles & (YES | POLITE)))
        agrees |= bool(roles & YES)
    return idiom and not agrees


def is_idiom(parse: Parse) -> bool:
    """Return whether the whole message, without its punctuation, is an idiom that is no answer: "no... wait"."""
    if BREAK not in parse.kinds:
        return False
    pairs = zip(parse.words, parse.tokens, strict=True)
    words = [word for word, token in pairs if token.text not in _PAUSES]
    found = parse.graph.matches(words, 0)
    return bool(found) and found[-1][0] == len(words) and found[-1][1] & (UNCLEAR | REFUSES | DENIES) == UNCLEAR


def _runs_on(parse: Parse, words: list[str | None], start: int, end: int) -> bool:
    """Return whether a phrase begins inside the phrase from `start` to `end` and ends after it.

    An example is "no worries" in "yes, no worries".
    """
    inner = (parse.graph.matches(words, at) for at in range(start + 1, end))
    return any(found and found[-1][0] > end for found in inner)


def _without_stops(parse: Parse, start: int, end: int) -> list[str | None]:
    kept = (i for i in range(start, end) if parse.tokens[i].kind is not BREAK)
    return [parse.words[i] for i in kept]


def _last_word(parse: Parse) -> int:
    """Return the number of tokens up to the last word, without the punctuation, emoji and refs behind it."""
    end = len(parse.tokens)
    while end and parse.tokens[end - 1].kind is not WORD:
        end -= 1
    return end
