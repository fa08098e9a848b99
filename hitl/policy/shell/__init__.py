"""Finds the programs that a shell line would run, with tree-sitter-bash, also inside wrappers such as ``sudo``.

``read_line`` and ``read_argv`` give a ``ShellReading``, which also holds the doubts about the line. ``lists`` compares
it with the lists in which policies are written.
"""

from collections.abc import Sequence

from hitl.policy.shell.reading import ShellReading, SimpleCommand
from hitl.policy.shell.syntax import read_argv, read_line

__all__ = ["ShellReading", "SimpleCommand", "read_argv", "read_line", "resolved_programs"]


def resolved_programs(command: str | Sequence[str]) -> tuple[str, ...]:
    """Return the programs that a command line or an argument list would run, in order. An unknown program is ``?``."""
    reading = read_line(command) if isinstance(command, str) else read_argv(list(command))
    return reading.programs()
