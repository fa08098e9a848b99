"""Compares the actions that a reply names with the card's action.

"Yes, merge it" to a card that deletes a table was meant for another question. So a yes that names an action in
`languages/actions.txt` counts only if the card names that action too. If the card names no known action, "merge it" may
still be meant for another card, and "delete it" may mean the request.

"Stop it" to a card that stops a service may be a yes. So a no that only names an action in `languages/refusing.txt`
doesn't count if the card's tool or sentence names that action too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from hitl.replies import data
from hitl.replies.model import Meaning
from hitl.replies.normalise import own_words
from hitl.replies.reader import read, verdict
from hitl.replies.spelling import fold

#: The number of characters of a card's arguments that are searched for names of actions.
_MOST = 20_000
#: The end of a value behind this many characters is text, whose words don't name the card's action.
_SHORT = 400
_LONG_VALUE = re.compile(rf'("(?:[^"\\]|\\.){{{_SHORT}}})(?:[^"\\]|\\.)*', re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+")
#: Between parts of a word, as in "paga'l" and "s'il".
_APOSTROPHES = re.compile("['\u2018\u2019\u02bc`\u00b4]")
#: The borders between the words of a name such as `sendEmail`.
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
#: Phrases that mean "go ahead" and name no action.
_IDIOMS = re.compile(r"\b(?:full send|send it)\b", re.IGNORECASE)


class _Names:
    """Names of actions: name -> the numbers of the actions that have this name."""

    def __init__(self, lines: Iterable[str]) -> None:
        """Take the names from lines of names with commas between them. The number of an action is its line."""
        found: dict[str, frozenset[int]] = {}
        for number, line in enumerate(lines):
            for name in filter(None, map(fold, map(str.strip, line.split(",")))):
                found[name] = found.get(name, frozenset()) | {number}
        self._actions: Mapping[str, frozenset[int]] = found
        self._several = tuple(name for name in found if " " in name)
        self._spaceless = tuple(name for name in found if not name.isascii())

    def within(self, text: str) -> dict[str, frozenset[int]]:
        """Return the names in a text, with their actions.

        Scripts without spaces don't show where a word ends, so a name in such a script counts anywhere in the text.
        """
        plain = fold(_APOSTROPHES.sub(" ", text))
        words = _WORD.findall(plain)
        names = [word for word in words if word in self._actions]
        sentence = f" {' '.join(words)} "
        names += [name for name in self._several if f" {name} " in sentence]
        if not plain.isascii():
            names += [name for name in self._spaceless if name in plain]
        return {name: self._actions[name] for name in names}


class _Actions(NamedTuple):
    """The names that people use in replies (`said`), and the names that occur on cards (`held`)."""

    said: _Names
    held: _Names


def another(text: str, title: str, arguments: str) -> str:
    """Return the word of a reply that names an action that the card doesn't name, or '' if there is no such word.

    `title` holds the name of the card's tool and its sentence, and `arguments` its arguments as JSON. Only the
    beginning of each argument is searched, because a long argument is a text that may hold any word.
    """
    known = _actions()
    said = known.said.within(_IDIOMS.sub(" ", own_words(text).text))
    if not said:
        return ""
    card = f"{title} " + _LONG_VALUE.sub(r"\1", arguments[:_MOST])
    named = frozenset[int]().union(*known.held.within(_HUMP.sub(" ", card)).values())
    return "" if any(actions & named for actions in said.values()) else next(iter(said))


def says_the_action(text: str, title: str) -> bool:
    """Return whether a no may be a yes, because its only no is the name of the card's action.

    `title` holds the name of the card's tool and its sentence. The arguments aren't searched, because a text among them
    may hold such a word.
    """
    words = own_words(text).text
    refusing = _refusing()
    said = refusing.within(words)
    named = frozenset[int]().union(*refusing.within(_HUMP.sub(" ", title)).values()) if said else frozenset()
    names = [name for name, actions in said.items() if actions & named]
    if not names:
        return False
    rest = fold(words)
    for name in sorted(names, key=len, reverse=True):
        rest = rest.replace(name, " ")
    return verdict(read(rest)).verdict is not Meaning.REJECT


@cache
def _refusing() -> _Names:
    return _Names(data.lines("refusing.txt"))


@cache
def _actions() -> _Actions:
    lines = data.lines("actions.txt")
    return _Actions(_Names(line.partition("|")[0] for line in lines), _Names(line.replace("|", ",") for line in lines))
