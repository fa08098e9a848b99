"""Says in a few words why a message is no answer, for the person who wrote it."""

from functools import reduce
from operator import or_

from hitl.cards.wording import say
from hitl.replies.emoji import Sign
from hitl.replies.parse import Parse
from hitl.replies.phrase_roles import CONDITION, HEDGE, LATER, OPENS, QUESTION, REFUSES, REMARK, UNCLEAR, YES
from hitl.replies.tokens import Token, TokenKind

#: `Reading.why` begins with this text if the message holds an idiom that answers nothing.
NO_ANSWER = say("reading.no_answer.words", said="")
#: `Reading.why` begins with this text if the message is only a remark about the state of things.
ONLY_A_REMARK = say("reading.remark.words", said="")
_REASONS = (
    (QUESTION, "reading.question.words"),
    (CONDITION, "reading.condition.words"),
    (LATER, "reading.later.words"),
    (HEDGE, "reading.hedge.words"),
    (UNCLEAR, "reading.no_answer.words"),
)
_ALONE = ((REMARK, "reading.remark.words"), (OPENS, "reading.opens.words"))
_NOT_UNDERSTOOD = {TokenKind.EMOJI: "reading.emoji.words", TokenKind.NUMBER: "reading.number.words"}
_LONGEST = 40


def why_unclear(parse: Parse, furthest: int) -> str:
    """Return the reason why a message is no answer. `furthest` is the first token that belongs to no phrase."""
    tokens = parse.tokens
    if not tokens:
        return say("reading.nothing")
    found = list(map(parse.longest, range(len(tokens))))
    said = reduce(or_, [roles for _, roles in found])
    signs = {token.sign for token in tokens} if TokenKind.EMOJI in parse.kinds else ()
    if (said & YES or Sign.YES in signs) and (said & REFUSES or Sign.NO in signs):
        return say("reading.both")
    reasons = _REASONS if furthest < len(tokens) else (*_REASONS, *_ALONE)
    for role, form in reasons:
        if said & role:
            at = next(at for at, (_, roles) in enumerate(found) if roles & role)
            return say(form, said=_quote(parse, at, found[at][0]))
    return _not_understood(tokens[furthest]) if furthest < len(tokens) else say("reading.none")


def _quote(parse: Parse, start: int, end: int) -> str:
    spaceless = all(len(token.text) == 1 for token in parse.tokens[start:end])
    return ("" if spaceless else " ").join(token.text for token in parse.tokens[start:end])


def _not_understood(token: Token) -> str:
    return say(_NOT_UNDERSTOOD.get(token.kind, "reading.word.words"), said=token.text[:_LONGEST])
