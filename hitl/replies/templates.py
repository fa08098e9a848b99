"""Parses the notation of the language files: `(a|b)` is a choice, `[c]` is optional, `<name>` is any word of a list."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from hitl.replies.spelling import pieces

_SIGNS = re.compile(r"[()\[\]|]|<[^>]+>|[^\s()\[\]|<>]+")
#: Matches a choice right behind an apostrophe, such as ``n'(envoie|efface)``.
_ELIDED = re.compile(r"([^\s()\[\]|<>]+')\(([^()\[\]<>]+)\)")
_CLOSING = {"(": ")", "[": "]"}


class TemplateWord(NamedTuple):
    """One word of a template. In scripts without spaces, it is one character."""

    text: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A part of a template that offers several sequences of words.

    If `optional` is true, the part may also be left out.
    """

    options: tuple["Sequence", ...]
    optional: bool = False


Item = TemplateWord | Choice
Sequence = tuple[Item, ...]


def joined(line: str) -> str:
    """Return a line of a language file in which a choice behind an apostrophe is a choice of whole words.

    People write ``n'envoie`` or, on a phone, ``n envoie``. So the choice offers both.
    """
    return _ELIDED.sub(_whole_words, line) if "'(" in line else line


def _whole_words(found: re.Match[str]) -> str:
    words = found[2].split("|")
    return "(" + "|".join(found[1] + between + word for between in ("", " ") for word in words) + ")"


def phrases(line: str) -> Iterator[str]:
    """Yield the phrases of a line of a language file, which commas separate."""
    return (part.strip() for part in line.split(",") if part.strip())


def parse(template: str, lists: Mapping[str, Choice]) -> Sequence:
    """Return the parts of one template. `lists` maps the names of lists to their words.

    Raises `ValueError` for a bracket that doesn't close, and `KeyError` for an unknown list.
    """
    signs = _SIGNS.findall(template)
    options, rest = _options(signs, 0, "", lists)
    if rest != len(signs) or len(options) != 1:
        raise ValueError(f"can't read the phrase {template!r}")
    return options[0]


def first_words(template: str, of_list: Callable[[str], Collection[str]]) -> set[str]:
    """Return the words with which a phrase of a template may begin. `of_list` returns them for a list by its name.

    Only the beginning of the template is read, which takes a fraction of the time that `parse` takes.
    """
    found: set[str] = set()
    _begin(_SIGNS.finditer(template), "", of_list, found)
    return found


def _begin(
    signs: Iterator[re.Match[str]], closing: str, of_list: Callable[[str], Collection[str]], found: set[str]
) -> bool:
    """Collect the first words of the options up to the bracket `closing`. Return whether an option may be empty."""
    empty, begins = False, True
    for match in signs:
        sign = match[0]
        if sign == closing:
            break
        if sign == "|":
            empty |= begins
            begins = True
        elif sign in _CLOSING:
            inner: set[str] = set()
            optional = _begin(signs, _CLOSING[sign], of_list, inner) or sign == "["
            found |= inner if begins else set()
            begins &= optional
        elif begins:
            found.update(of_list(sign[1:-1]) if sign.startswith("<") else _first(sign))
            begins = False
        if not begins and not closing:
            break
    return empty or begins


def _first(word: str) -> tuple[str, ...]:
    return tuple(word.text for word in _words(word)[:1])


@cache
def _words(text: str) -> tuple[TemplateWord, ...]:
    return tuple(map(TemplateWord, pieces(text)))


def _options(signs: list[str], at: int, closing: str, lists: Mapping[str, Choice]) -> tuple[tuple[Sequence, ...], int]:
    options: list[list[Item]] = [[]]
    while at < len(signs):
        sign = signs[at]
        at += 1
        if sign == closing:
            return tuple(map(tuple, options)), at
        if sign == "|":
            options.append([])
        elif sign in _CLOSING:
            inner, at = _options(signs, at, _CLOSING[sign], lists)
            options[-1].append(Choice(inner, optional=sign == "["))
        elif sign.startswith("<"):
            options[-1].append(lists[sign[1:-1]])
        else:
            options[-1].extend(_words(sign))
    if closing:
        raise ValueError(f"a bracket isn't closed: {' '.join(signs)}")
    return tuple(map(tuple, options)), at
