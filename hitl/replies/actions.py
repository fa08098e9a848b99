"""Detects a yes that names another action than the card's: "yes, merge it" to a card that deletes a table.

Such a yes was meant for another question. People may call the card's own action by any name, so an unknown word proves
nothing. A yes is refused only if it names an action in `languages/actions.txt`, and the card names only other actions
from that list. An action after a `!` is stricter: the card must name it, because it can't be undone, and "delete it"
may mean the request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from hitl.replies import data
from hitl.replies.normalise import own_words
from hitl.replies.spelling import fold

#: The number of characters of a card's arguments that are searched for names of actions.
_MOST = 20_000
#: Arguments with more characters than this are texts, whose words don't name the card's action.
_SHORT = 400
_WORD = re.compile(r"[^\W\d_]+")
#: The borders between the words of a name such as `sendEmail`.
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
#: Begins the line of an action that the card must name.
_STRICT = "!"
#: Phrases that mean "go ahead" and name no action.
_IDIOMS = re.compile(r"\b(?:full )?send it\b|\bpush it\b")


class _Actions(NamedTuple):
    """Two tables: word -> the numbers of the actions that it names.

    `said` has the words that people use in replies, and `held` the words that occur on cards. `strict` has the numbers
    of the actions that the card must name.
    """

    said: Mapping[str, frozenset[int]]
    held: Mapping[str, frozenset[int]]
    strict: frozenset[int]


def another(text: str, title: str, arguments: str) -> str:
    """Return the word of a reply that names another action than the card's, or '' if there is no such word.

    `title` holds the name of the card's tool and its sentence. If the title names no action, as for a shell command,
    short arguments are searched for the card's action.
    """
    known = _actions()
    words = _words(_IDIOMS.sub(" ", fold(own_words(text).text)), known.said)
    said = {word: known.said[word] for word in words if word in known.said}
    if not said:
        return ""
    asked = _held(title) or (_held(arguments) if len(arguments) <= _SHORT else frozenset())
    named = asked | _held(arguments[:_MOST])
    if any(actions & named for actions in said.values()):
        return ""
    return next((word for word, actions in said.items() if asked or actions & known.strict), "")


def _held(text: str) -> frozenset[int]:
    """Return the numbers of the actions that the words of a card name."""
    held = _actions().held
    return frozenset[int]().union(*(held.get(word, ()) for word in _words(fold(_HUMP.sub(" ", text)), held)))


def _words(text: str, known: Mapping[str, object]) -> list[str]:
    """Return the words of a folded text.

    For scripts without spaces, these are all words of `known` that occur anywhere in the text.
    """
    found = _WORD.findall(text)
    return found if text.isascii() else [*found, *(word for word in known if not word.isascii() and word in text)]


@cache
def _actions() -> _Actions:
    said: dict[str, frozenset[int]] = {}
    held: dict[str, frozenset[int]] = {}
    lines = data.lines("actions.txt")
    for number, line in enumerate(lines):
        people, _, cards = line.removeprefix(_STRICT).partition("|")
        _add(said, people, number)
        _add(held, f"{people},{cards}", number)
    return _Actions(said, held, frozenset(at for at, line in enumerate(lines) if line.startswith(_STRICT)))


def _add(found: dict[str, frozenset[int]], names: str, number: int) -> None:
    for word in map(fold, map(str.strip, names.split(","))):
        if word:
            found[word] = found.get(word, frozenset()) | {number}
