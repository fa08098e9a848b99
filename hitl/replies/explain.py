"""Why a message is no answer, in a few words for the person who wrote it."""

from collections.abc import Sequence

from hitl.replies.emoji import Sign
from hitl.replies.parse import Parse
from hitl.replies.roles import CONDITION, HEDGE, LATER, OPENS, QUESTION, REFUSES, UNCLEAR, YES
from hitl.replies.tokens import Kind, Token

_REASONS = (
    (QUESTION, "question: {}"),
    (CONDITION, "condition: {}"),
    (LATER, "not now: {}"),
    (HEDGE, "unsure: {}"),
    (UNCLEAR, "no answer: {}"),
)
_OPENING = ((OPENS, "nothing follows: {}"),)
_LONGEST = 40


def why_unclear(parse: Parse, furthest: int) -> str:
    """Say what keeps a message from being an answer; `furthest` is the first token that no phrase explains."""
    tokens = parse.tokens
    if not tokens:
        return "nothing said"
    if any(token.kind is Kind.ASKS for token in tokens):
        return "question"
    if _says(parse, YES, Sign.YES) and _says(parse, REFUSES, Sign.NO):
        return "yes and no"
    named = _named(parse, _REASONS)
    if named or furthest == len(tokens):
        return named or _named(parse, _OPENING) or "no yes or no in it"
    return _not_understood(tokens[furthest])


def _says(parse: Parse, roles: int, sign: Sign) -> bool:
    by_emoji = any(token.sign is sign for token in parse.tokens)
    return by_emoji or any(parse.longest(at)[1] & roles for at in range(len(parse.tokens)))


def _named(parse: Parse, reasons: Sequence[tuple[int, str]]) -> str:
    any_role = sum(role for role, _ in reasons)
    found = [(at, *parse.longest(at)) for at in range(len(parse.tokens))]
    hits = [hit for hit in found if hit[2] & any_role]
    for role, form in reasons:
        for at, end, roles in hits:
            if roles & role:
                return form.format(_quote(parse, at, end))
    return ""


def _quote(parse: Parse, start: int, end: int) -> str:
    spaceless = all(len(token.text) == 1 for token in parse.tokens[start:end])
    return ("" if spaceless else " ").join(token.text for token in parse.tokens[start:end])


def _not_understood(token: Token) -> str:
    kind = {Kind.EMOJI: "emoji", Kind.NUMBER: "number"}.get(token.kind, "word")
    return f"{kind} not understood: {token.text[:_LONGEST]}"
