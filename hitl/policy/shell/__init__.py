"""Finds the programs that a shell line would run, also inside wrappers such as ``sudo``. The parser is
tree-sitter-bash.

``read_line`` and ``read_argv`` return a ``ShellReading``: the commands of the line, and the reasons to doubt that these
are all. The module ``lists`` compares it with the program lists of policies.
"""

from collections.abc import Sequence

from hitl.policy.shell.reading import ShellReading, SimpleCommand
from hitl.policy.shell.syntax import read_argv, read_line

__all__ = ["ShellReading", "SimpleCommand", "read_argv", "read_line", "resolved_programs"]


def resolved_programs(command: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of the programs that a command line or an argument list would run, in order.

    A program that the text doesn't show is ``?``.
    """
    reading = read_line(command) if isinstance(command, str) else read_argv(list(command))
    return reading.programs()
