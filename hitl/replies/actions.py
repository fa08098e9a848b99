"""Detects a yes that names another action than the card's: "yes, merge it" to a card that deletes a table.

Such a yes was meant for another question. People may call the card's own action by any name, so an unknown word proves
nothing. A yes counts as a contradiction only if it names an action of our list (`languages/actions.txt`), and the
card's words name only other actions of the list. Actions after a `!` are stricter, because they can't be undone and
"delete it" may mean the request: the card must name them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from hitl.replies import data
from hitl.replies.normalise import own_words
from hitl.replies.spelling import fold

#: At most this many characters of a card's arguments are searched.
_MOST = 20_000
#: A longer argument is a text, and its words don't name the card's action.
_SHORT = 400
_WORD = re.compile(r"[^\W\d_]+")
#: The borders of words inside a name: `sendEmail`.
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
#: Begins the line of an action that the card must name.
_STRICT = "!"
#: Phrases that mean "go ahead" and name no action.
_IDIOMS = re.compile(r"\b(?:full )?send it\b|\bpush it\b")


class _Actions(NamedTuple):
    """Two tables from a word to the numbers of its actions. One table has the words of people, the other the words of
    cards. `strict` holds the numbers of the actions that the card must name.
    """

    said: Mapping[str, frozenset[int]]
    held: Mapping[str, frozenset[int]]
    strict: frozenset[int]


def another(text: str, title: str, arguments: str) -> str:
    """Return the word of a reply that names another action than the card's, or '' if there is no such word.

    `title` holds the name of the card's tool and its sentence. If the title names no action, as for a shell command,
    short arguments are searched instead.
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
    """Return the actions that the words of a card name."""
    held = _actions().held
    return frozenset[int]().union(*(held.get(word, ()) for word in _words(fold(_HUMP.sub(" ", text)), held)))


def _words(text: str, known: Mapping[str, object]) -> list[str]:
    """Return the words of a folded text and, for scripts without spaces, the known words that occur in it."""
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
