"""Finds the files whose names a command prints, one on each line. ``xargs`` gives these names to another command.

The tables here list only options with which the output is still names of files. The result is a Below with the folders
that hold all files that the command may print; the command may print only some of their names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from hitl.policy.shell.arguments import ParsedArguments, parse
from hitl.policy.shell.globbing import hidden_names, pathspec
from hitl.policy.shell.plain import Step
from hitl.policy.shell.plain_words import Below
from hitl.policy.tables import names

#: Programs that print some lines of their input unchanged -> the options with which the lines stay unchanged.
_FILTERS: Final[Mapping[str, frozenset[str]]] = {
    "head": names("-n --lines -NUM"),
    "tail": names("-n --lines -NUM"),
    "sort": names("-u -r -n -V -f --unique --reverse"),
    "uniq": names("-u -d"),
    "grep": names("-v -E -F -P -i -w -x -e --invert-match --ignore-case --regexp"),
}
_FILTER_TEXTS: Final = names("grep")
_LS_FILES: Final = names("-c --cached -m --modified -o --others --exclude-standard")
_RG: Final = names(
    "-l --files-with-matches --files -i --ignore-case -S --smart-case -s --case-sensitive -w --word-regexp -F "
    "--fixed-strings -e --regexp -g --glob --iglob -t --type -T --type-not --no-ignore -U --multiline"
)
_GREP: Final = names(
    "-l --files-with-matches -L --files-without-match -r --recursive -i --ignore-case -E -F -P -w -I -s -e --regexp "
    "--include"
)


def source(step: Step | None) -> Step | None:
    """Return the command of a pipe whose lines come out of the pipe unchanged, or None if the lines may change.

    ``step`` is the last command before the reader. Going back from ``step``, filters are skipped, and the first other
    command is returned.
    """
    while step is not None and not step.merged:
        allowed = _FILTERS.get(step.words[0].literal or "")
        if allowed is None or step.fed_by is None:
            return step
        call = parse(step)
        plain = [word for kind, word in call.operands if kind != "text" or step.words[0].literal not in _FILTER_TEXTS]
        if plain or step.inputs or not call.given.keys() <= allowed:
            return None
        step = step.fed_by
    return None


def printed(step: Step) -> Below | None:
    """Return the files whose names a command prints, or None if it may print something else."""
    name = step.words[0].literal or ""
    find = _PRINTERS.get(name)
    if find is None or step.merged or step.fed_by is not None or step.inputs:
        return None
    call = parse(step)
    return find(call) if call.folders == step.folders else None


def _git(call: ParsedArguments) -> Below | None:
    if call.program.path != ("git", "ls-files") or not call.given.keys() <= _LS_FILES:
        return None
    found = [pathspec(word.text or "*") for _, word in call.operands if not word.wild]
    if len(found) != len(call.operands):
        return None
    only = tuple(pattern for _, patterns in found for pattern in patterns)
    return Below(
        tuple(dict.fromkeys(folder.text or "." for folder, _ in found)) or (".",),
        only if all(patterns for _, patterns in found) else (),
        split=True,
        bare=True,
    )


def _rg(call: ParsedArguments) -> Below | None:
    if not call.has("-l", "--files-with-matches", "--files") or not call.given.keys() <= _RG:
        return None
    return _below(call, (), hidden_names(call))


def _grep(call: ParsedArguments) -> Below | None:
    lists = call.has("-l", "--files-with-matches", "-L", "--files-without-match") and call.has("-r", "--recursive")
    if not lists or not call.given.keys() <= _GREP:
        return None
    return _below(call, call.only(), None)


def _below(call: ParsedArguments, only: tuple[str, ...], shown: tuple[str, ...] | None) -> Below | None:
    roots = [word.literal for word in call.paths()]
    if None in roots:
        return None
    return Below(tuple(root or "." for root in roots) or (".",), only, split=True, bare=True, shown=shown)


_PRINTERS: Final[Mapping[str, Callable[[ParsedArguments], Below | None]]] = {"git": _git, "rg": _rg, "grep": _grep}
