"""Which programs a shell line would run: parsed with tree-sitter-bash, wrappers peeled, doubts kept.

``read_line`` and ``read_argv`` give a ``ShellReading``; ``lists`` compares it with the lists in which policies are
written.
"""

from collections.abc import Sequence

from hitl.policy.shell.reading import ShellReading, SimpleCommand
from hitl.policy.shell.syntax import read_argv, read_line

__all__ = ["ShellReading", "SimpleCommand", "read_argv", "read_line", "resolved_programs"]


def resolved_programs(command: str | Sequence[str]) -> tuple[str, ...]:
    """The programs that a command line, or an argument list, would run, in order; ``?`` for one that cannot be told."""
    reading = read_line(command) if isinstance(command, str) else read_argv(list(command))
    return reading.programs()
