"""Finds names in a reply: the name of the person whom it greets, and the name that signs it on the same line."""

import re
from functools import cache
from typing import NamedTuple

from hitl.replies import data, lexicon, phrase_languages
from hitl.replies.parse import Parse
from hitl.replies.phrase_roles import OPENS, POLITE, UNCLEAR, YES
from hitl.replies.scripts import scripts
from hitl.replies.spelling import fold
from hitl.replies.templates import phrases
from hitl.replies.tokens import tokenise

_NAME = "[A-Z\u00c0-\u00de\u0100-\u017f\u0386-\u03ab\u0400-\u042f][\\w'\u2019]{1,20}"
_GREETED = re.compile(
    rf"\s*(?P<greeting>[^\W\d_][^\n,.!?:;]{{0,30}}?),? (?P<name>{_NAME}(?: {_NAME})?)[ \t]*(?:[,!:\n]|[-\u2013\u2014] )"
)
#: A signature at the end of a line: a space or a line break, a dash or one or two slashes, and one name.
_SIGNED = re.compile(rf"\s[ \t]*(?:[-\u2013\u2014~]|//?)[ \t]*(?P<name>{_NAME})\s*\Z")
#: The number of characters at the end of a text that are searched for a signature.
_LONGEST = 60


class Greeted(NamedTuple):
    """The result of `greeted`: the text with blanks in place of the name, and the words after the name."""

    text: str
    rest: str


def greeted(text: str) -> Greeted | None:
    """Remove the name from a text's greeting: "Hi Anna, yes". Return None if the text greets nobody by name.

    Blanks replace the name, so the text keeps its length. Each word of the name must pass `_is_name`. Otherwise a part
    of an answer could be removed: "Mai" is a name in German, but means "never" in Italian.
    """
    found = _GREETED.match(text)
    if not found or not _is_greeting(found["greeting"]) or not all(map(_is_name, found["name"].split())):
        return None
    start, end = found.span("name")
    return Greeted(text[:start] + " " * (end - start) + text[end:], text[found.end() :])


def unsigned(text: str) -> str:
    """Return the text without the name that signs it: "Approved - Jan". Without such a name, return the text unchanged.

    Only names from a list count, because other words after the dash may limit the yes: "Approved - Staging".
    """
    found = _SIGNED.search(text, max(0, len(text) - _LONGEST))
    if not found or not text[: found.start()].strip():
        return text
    if fold(found["name"]) not in _names() or not _is_name(found["name"]):
        return text
    return text[: found.start()] + " " * (len(text) - found.start())


@cache
def _names() -> frozenset[str]:
    return frozenset(fold(name) for line in data.lines("names.txt") for name in phrases(line))


def _is_name(word: str) -> bool:
    """Return whether a capitalised word can only be a name.

    In no language may it be a phrase. It must also be in the list of names, or be unknown in all languages.
    """
    name = fold(word)
    if not word[0].isupper():
        return False
    codes = lexicon.speakers(name, scripts(name))
    if phrase_languages.signs([name]) or (codes and name not in _names()):
        return False
    return not any(lexicon.load(code).phrases.matches([name], 0) for code in codes)


def _is_greeting(text: str) -> bool:
    tokens = tokenise(text)
    codes = lexicon.closest([token.text for token in tokens], sorted(scripts(text)))
    longest = [Parse(tokens, lexicon.load(code)).longest(0) for code in codes]
    return any(
        end == len(tokens) and roles & (OPENS | POLITE | UNCLEAR | YES) == OPENS | POLITE for end, roles in longest
    )
