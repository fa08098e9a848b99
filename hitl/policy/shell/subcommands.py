"""Sub-commands: the positional words of a command, past options that may or may not take a value."""

from __future__ import annotations

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


def subcommands(words: Words) -> list[list[str | None]]:
    """The positional words of a command, for each way of reading its options."""
    return [[words[at] for at in places] for places in positions(words)]


def after(words: Words, path: tuple[str, ...]) -> list[int]:
    """Where the words after a sub-command path begin, for each way of reading the options before it."""
    if not path:
        return [1]
    if path[-1] not in words or path[0] not in words:  # nearly always, and told without reading the options
        return []
    found = [
        places[len(path) - 1] + 1
        for places in positions(words)
        if tuple(words[at] for at in places[: len(path)]) == path
    ]
    return list(dict.fromkeys(found))
