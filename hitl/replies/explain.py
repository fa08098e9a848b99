"""Says in a few words why a message is no answer, for the person who wrote it."""

from functools import reduce
from operator import or_

from hitl.replies.emoji import Sign
from hitl.replies.parse import Parse
from hitl.replies.phrase_roles import CONDITION, HEDGE, LATER, OPENS, QUESTION, REFUSES, REMARK, UNCLEAR, YES
from hitl.replies.tokens import Token, TokenKind

#: The beginning of the reason for a message with an idiom that answers nothing.
NO_ANSWER = "no answer: "
#: The beginning of the reason for a message that only says how things are.
ONLY_A_REMARK = "only a remark: "
_REASONS = (
    (QUESTION, "question: {}"),
    (CONDITION, "condition: {}"),
    (LATER, "not now: {}"),
    (HEDGE, "unsure: {}"),
    (UNCLEAR, NO_ANSWER + "{}"),
)
_ALONE = ((REMARK, ONLY_A_REMARK + "{}"), (OPENS, "nothing follows: {}"))
_LONGEST = 40


def why_unclear(parse: Parse, furthest: int) -> str:
    """Return the reason why a message is no answer. `furthest` is the first token that belongs to no phrase."""
    tokens = parse.tokens
    if not tokens:
        return "nothing said"
    found = list(map(parse.longest, range(len(tokens))))
    said = reduce(or_, [roles for _, roles in found])
    signs = {token.sign for token in tokens} if TokenKind.EMOJI in parse.kinds else ()
    if (said & YES or Sign.YES in signs) and (said & REFUSES or Sign.NO in signs):
        return "yes and no"
    reasons = _REASONS if furthest < len(tokens) else (*_REASONS, *_ALONE)
    for role, form in reasons:
        if said & role:
            at = next(at for at, (_, roles) in enumerate(found) if roles & role)
            return form.format(_quote(parse, at, found[at][0]))
    return _not_understood(tokens[furthest]) if furthest < len(tokens) else "no yes or no in it"


def _quote(parse: Parse, start: int, end: int) -> str:
    spaceless = all(len(token.text) == 1 for token in parse.tokens[start:end])
    return ("" if spaceless else " ").join(token.text for token in parse.tokens[start:end])


def _not_understood(token: Token) -> str:
    kind = {TokenKind.EMOJI: "emoji", TokenKind.NUMBER: "number"}.get(token.kind, "word")
    return f"{kind} not understood: {token.text[:_LONGEST]}"
