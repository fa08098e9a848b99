"""Finds the sub-commands among the words of a command, even if nobody knows which of its options take a value."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from hitl.policy.shell import subcommand_names, wrappers
from hitl.policy.shell.reading import Words, base_name

_NONE = wrappers.Options()
#: Programs whose sub-commands have aliases or may be shortened.
_SHORTENED = frozenset((*subcommand_names.ABBREVIATED, *subcommand_names.ALIASES))


class Positionals:
    """The words of a command that aren't options or their values (the positional words).

    If the tables don't list an option, both cases are tried: that it takes the next word as its value, and that it
    doesn't.
    """

    __slots__ = ("_meanings", "_places", "_program", "_words")

    def __init__(self, words: Words) -> None:
        self._words = words
        self._program = base_name(words[0] or "")
        self._places: list[list[int]] | None = None
        self._meanings: dict[int, tuple[str | None, ...]] | None = None

    def subcommands(self) -> list[list[str | None]]:
        """Return the possible lists of positional words.

        There is a list for each case of unknown options. If the first word may be an alias or a shortened name, there
        is also a list for each of its meanings.
        """
        found = [[self._words[at] for at in one] for one in self._positions()]
        if self._program in _SHORTENED:
            found += [[full, *one[1:]] for one in found if one for full in _in_full(self._program, one[0])]
        return found

    def after(self, path: tuple[str, ...]) -> list[int]:
        """Return the possible indexes of the first word after a path of sub-commands, or [] if the command has no such
        path.
        """
        if not path:
            return [1]
        words, exact = self._words, self._program not in _SHORTENED
        if path[-1] not in words and (exact or len(path) > 1):  # the usual case, found without parsing an option
            return []
        firsts = [at for at, names in self._firsts().items() if path[0] in names]
        if len(path) == 1 or not firsts:
            return [at + 1 for at in firsts]
        found = [
            one[len(path) - 1] + 1
            for one in self._positions()
            if len(one) >= len(path) and one[0] in firsts and tuple(words[at] for at in one[1 : len(path)]) == path[1:]
        ]
        return list(dict.fromkeys(found))

    def _firsts(self) -> Mapping[int, tuple[str | None, ...]]:
        """Return each possible index of the sub-command, with the names that it may have.

        The names are the word itself, and the sub-commands for which the word may be an alias or a shortened name.
        """
        if self._meanings is None:
            words, shortened = self._words, self._program in _SHORTENED
            first = words[1] if len(words) > 1 else None
            told = first is not None and first[:1] != "-"  # the usual case: no option before the sub-command
            places = (1,) if told else dict.fromkeys(one[0] for one in self._positions() if one)
            self._meanings = {
                at: (words[at], *(_in_full(self._program, words[at]) if shortened else ())) for at in places
            }
        return self._meanings

    def _positions(self) -> list[list[int]]:
        if self._places is None:
            options = subcommand_names.GLOBAL_OPTIONS.get(self._program, _NONE)
            first, sure = _positions(self._words, options, unknown_takes=False)
            other = first if sure else _positions(self._words, options, unknown_takes=True)[0]
            self._places = [first] if other == first else [first, other]
        return self._places


def _positions(words: Words, options: wrappers.Options, *, unknown_takes: bool) -> tuple[list[int], bool]:
    """Return the indexes of the positional words, and whether ``options`` has all options of the command.

    ``unknown_takes`` says whether an option that isn't in ``options`` takes the next word as its value.
    """
    found: list[int] = []
    sure = True
    at, end = 1, len(words)
    while at < end:
        word = words[at]
        if word is None or word[:1] != "-" or word == "-":
            found.append(at)
        elif word != "--":
            takes = options.takes(word)
            if takes is None:
                sure, takes = False, unknown_takes
            at += takes
        at += 1
    return found, sure


@lru_cache(maxsize=1024)
def _in_full(program: str, name: str | None) -> list[str]:
    """Return the sub-commands for which a word may be an alias or a shortened name."""
    alias = subcommand_names.ALIASES.get(program, {}).get(name or "")
    if alias is not None:
        return [alias]
    known = subcommand_names.ABBREVIATED.get(program, frozenset())
    if not name or name in known:
        return []
    return sorted(one for one in known if one.startswith(name))
