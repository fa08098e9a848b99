"""Which programs a shell line would run: parsed with tree-sitter-bash, wrappers peeled, doubts kept.

``read_line`` and ``read_argv`` give a ``Reading``; ``lists`` compares it with the lists that policies are written in.
"""

from collections.abc import Sequence

from hitl.policy.shell.reading import Command, Reading
from hitl.policy.shell.syntax import read_argv, read_line

__all__ = ["Command", "Reading", "read_argv", "read_line", "resolved_programs"]


def resolved_programs(command: str | Sequence[str]) -> tuple[str, ...]:
    """The programs that a command line, or an argument list, would run, in order; ``?`` for one that cannot be told."""
    reading = read_line(command) if isinstance(command, str) else read_argv(list(command))
    return reading.programs()
