"""Sub-commands: the positional words of a command, past options that may or may not take a value."""

from __future__ import annotations

from hitl.policy.shell import programs
from hitl.policy.shell.reading import Words, base_name


def positions(words: Words) -> list[list[int]]:
    """The places of the positional words, for each way of reading options that the tables do not know."""
    options = programs.GLOBAL_OPTIONS.get(base_name(words[0] or ""), programs.Options())
    first = _positions(words, options, unknown_takes=False)
    other = _positions(words, options, unknown_takes=True)
    return [first] if other == first else [first, other]


def _positions(words: Words, options: programs.Options, *, unknown_takes: bool) -> list[int]:
    found: list[int] = []
    at = 1
    while at < len(words):
        word = words[at]
        if word is not None and word.startswith("-") and len(word) > 1 and word != "--":
            takes = options.takes(word)
            at += 2 if (unknown_takes if takes is None else takes) else 1
            continue
        if word != "--":
            found.append(at)
        at += 1
    return found


def subcommands(words: Words) -> list[list[str | None]]:
    """The positional words of a command, for each way of reading its options."""
    return [[words[at] for at in places] for places in positions(words)]


def after(words: Words, path: tuple[str, ...]) -> list[int]:
    """Where the words after a sub-command path begin, for each way of reading the options before it."""
    if not path:
        return [1]
    found = [
        places[len(path) - 1] + 1
        for places in positions(words)
        if tuple(words[at] for at in places[: len(path)]) == path
    ]
    return list(dict.fromkeys(found))
