"""Finds a rejection's reason: the person's own words after the no, without the sign or word that connects the two."""

from hitl.replies.emoji import Sign
from hitl.replies.parse import NOWHERE, Parse
from hitl.replies.phrase_roles import ALL_OF_THEM, BECAUSE, BEFORE_TARGET, POLITE
from hitl.replies.tokens import BREAK, EMOJI, MENTION, TARGET

_BRACKETS = {"(": ")", "[": "]", "\uff08": "\uff09"}
_JOINTS = frozenset({BREAK, MENTION, TARGET})
_APART = frozenset({BREAK, TARGET, EMOJI})


def reason_start(parse: Parse, at: int) -> int:
    """Return the index of the token at which the reason begins, for a no that ends before the token `at`."""
    end = len(parse.tokens)
    while at < end:
        because = parse.role_ends(at, BECAUSE)
        if NOWHERE != because < end:
            # After a word such as "because", all words are the reason, even "I need it", which in other places is only
            # polite.
            return _past_breaks(parse, because)
        after = _joint(parse, at)
        if after == NOWHERE:
            return at
        at = after
    return end


def verbatim(parse: Parse, text: str, at: int) -> str | None:
    """Return the text from a token to the end of the person's own words, or None if this text is empty.

    If a bracket opens right before the token, the closing bracket at the end is removed.
    """
    if at >= len(parse.tokens):
        return None
    words = text[parse.tokens[at].start : parse.tokens[-1].end].strip()
    closing = _BRACKETS.get(parse.tokens[at - 1].text, "") if at else ""
    return (words.removesuffix(closing).rstrip() if closing else words) or None


def _joint(parse: Parse, at: int) -> int:
    token = parse.tokens[at]
    if token.kind in _JOINTS:
        return at + 1
    if token.kind is EMOJI and token.sign in {Sign.WITH, Sign.NO}:
        return at + 1
    because = parse.role_ends(at, BECAUSE)
    if because != NOWHERE:
        return because
    introduced = parse.role_ends(at, BEFORE_TARGET)
    if introduced != NOWHERE and parse.introduces(introduced):
        return introduced
    aside = parse.role_ends(at, POLITE | ALL_OF_THEM)
    return aside if aside == len(parse.tokens) or (aside != NOWHERE and _apart(parse, aside)) else NOWHERE


def _past_breaks(parse: Parse, at: int) -> int:
    while at < len(parse.tokens) and parse.tokens[at].kind is BREAK:
        at += 1
    return at


def _apart(parse: Parse, at: int) -> bool:
    return parse.tokens[at].kind in _APART
