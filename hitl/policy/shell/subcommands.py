"""Sub-commands: the positional words of a command, past options that may or may not take a value."""

from __future__ import annotations

from functools import lru_cache

from hitl.policy.shell import programs
from hitl.policy.shell.reading import Words, base_name

_NONE = programs.Options()


def positions(words: Words) -> list[list[int]]:
    """The places of the positional words, for each way of reading options that the tables do not know."""
    options = programs.GLOBAL_OPTIONS.get(base_name(words[0] or ""), _NONE)
    first, sure = _positions(words, options, unknown_takes=False)
    other = first if sure else _positions(words, options, unknown_takes=True)[0]
    return [first] if other == first else [first, other]


def _positions(words: Words, options: programs.Options, *, unknown_takes: bool) -> tuple[list[int], bool]:
    """The places, and whether every option is known."""
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


def subcommands(words: Words, places: list[list[int]] | None = None) -> list[list[str | None]]:
    """The positional words of a command, for each way of reading its options and an abbreviated sub-command."""
    found = [[words[at] for at in one] for one in (positions(words) if places is None else places)]
    program = base_name(words[0] or "")
    if program in programs.ABBREVIATED or program in programs.ALIASES:
        found += [[full, *one[1:]] for one in found if one for full in _in_full(program, one[0])]
    return found


@lru_cache(maxsize=1024)
def _in_full(program: str, name: str | None) -> list[str]:
    """The sub-commands that another name, or the beginning of one, stands for."""
    alias = programs.ALIASES.get(program, {}).get(name or "")
    if alias is not None:
        return [alias]
    known = programs.ABBREVIATED.get(program, frozenset())
    if not name or name in known:
        return []
    return sorted(one for one in known if one.startswith(name))


def after(words: Words, path: tuple[str, ...], places: list[list[int]] | None = None) -> list[int]:
    """Where the words after a sub-command path begin, for each way of reading the options before it."""
    if not path:
        return [1]
    program = base_name(words[0] or "")
    exact = program not in programs.ABBREVIATED and program not in programs.ALIASES
    if exact and (path[-1] not in words or path[0] not in words):  # nearly always, and told without reading the options
        return []
    found = [
        one[len(path) - 1] + 1
        for one in (positions(words) if places is None else places)
        if len(one) >= len(path)
        and (words[one[0]] == path[0] or (not exact and path[0] in _in_full(program, words[one[0]])))
        and tuple(words[at] for at in one[1 : len(path)]) == path[1:]
    ]
    return list(dict.fromkeys(found))
