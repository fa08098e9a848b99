"""Finds the reason why a message is neither a yes nor a no. The person who wrote it gets this reason."""

from hitl.outcomes import Doubt
from hitl.replies.emoji import Sign
from hitl.replies.model import Reading, unclear
from hitl.replies.parse import Parse
from hitl.replies.phrase_roles import CONDITION, HEDGE, LATER, OPENS, QUESTION, REFUSES, REMARK, UNCLEAR, YES
from hitl.replies.tokens import EMOJI, NUMBER, Token

_REASONS = (
    (QUESTION, Doubt.QUESTION_WORDS),
    (CONDITION, Doubt.CONDITION),
    (LATER, Doubt.LATER),
    (HEDGE, Doubt.HEDGE),
    (UNCLEAR, Doubt.NO_ANSWER),
)
_ALONE = ((REMARK, Doubt.REMARK), (OPENS, Doubt.OPENS))
_NOT_UNDERSTOOD = {EMOJI: Doubt.EMOJI, NUMBER: Doubt.NUMBER}
_LONGEST = 40


def unanswered(parse: Parse, furthest: int) -> Reading:
    """Return an unclear reading, with the reason why the message is neither a yes nor a no.

    `furthest` is the first token that belongs to no phrase.
    """
    tokens = parse.tokens
    if not tokens:
        return unclear(Doubt.NOTHING)
    found = list(map(parse.longest, range(len(tokens))))
    said = 0
    for _, roles in found:
        said |= roles
    signs = {token.sign for token in tokens} if EMOJI in parse.kinds else ()
    if (said & YES or Sign.YES in signs) and (said & REFUSES or Sign.NO in signs):
        return unclear(Doubt.BOTH)
    reasons = _REASONS if furthest < len(tokens) else (*_REASONS, *_ALONE)
    for role, doubt in reasons:
        if said & role:
            at = next(at for at, (_, roles) in enumerate(found) if roles & role)
            return unclear(doubt, _quote(parse, at, found[at][0]))
    return _not_understood(tokens[furthest]) if furthest < len(tokens) else unclear(Doubt.NONE)


def _quote(parse: Parse, start: int, end: int) -> str:
    if end == start + 1:
        return parse.tokens[start].text
    spaceless = all(len(token.text) == 1 for token in parse.tokens[start:end])
    return ("" if spaceless else " ").join(token.text for token in parse.tokens[start:end])


def _not_understood(token: Token) -> Reading:
    return unclear(_NOT_UNDERSTOOD.get(token.kind, Doubt.WORD), token.text[:_LONGEST])
