"""Defines the keeper's orders for one command, and the interface of a kind of confinement.

The service passes the orders as one JSON argument.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import socket
    from typing import Protocol, Self
else:
    Protocol = object


class Bounds(NamedTuple):
    """Upper bounds for one command with all of its processes."""

    #: Bytes of memory for all processes together. It is also the limit for the allocations of each process
    #: (RLIMIT_DATA).
    memory: int = 4 << 30
    #: The number of processes and threads that may exist at the same time.
    processes: int = 512
    #: Bytes of one file (RLIMIT_FSIZE), and of the command's own `/tmp` if the confinement gives it one.
    file: int = 1 << 30


class Plan(NamedTuple):
    """The keeper's orders for one command."""

    #: The service's process id. If the keeper's parent is another process, the service is dead, and the keeper starts
    #: no command.
    parent: int
    #: Seconds from SIGTERM to SIGKILL when the keeper ends the command.
    grace_s: float
    #: The kind of confinement: a module of this package, or `none`.
    way: str
    #: The folder that the command may change.
    root: str
    bounds: Bounds
    #: Paths that the command may read and run.
    reads: tuple[str, ...] = ()
    #: Further folders and devices that the command may change. Only Landlock needs them: each other confinement gives
    #: the command its own `/tmp` and `/dev`.
    writes: tuple[str, ...] = ()
    #: The program that confines the command, and the newer options that this program has. Empty if the keeper itself
    #: confines the command.
    program: tuple[str, ...] = ()
    #: The ids of the user and the group that the command runs as, or None to run as the service's user.
    user: tuple[int, int] | None = None
    #: A folder that was made for this command, or ''. The service removes the folder. After a signal to stop, the
    #: keeper removes it too.
    scratch: str = ""
    #: Pairs of paths: a copy, and the file that the copy replaces in the command's view, read-only.
    frozen: tuple[tuple[str, str], ...] = ()
    #: A descriptor to which the keeper writes the name of an exceeded bound, or None.
    report: int | None = None

    def dumped(self) -> str:
        """Return the plan as JSON, which `loaded` reads."""
        return json.dumps({**self._asdict(), "bounds": self.bounds._asdict()})

    @classmethod
    def loaded(cls, text: str) -> Self:
        """Return the plan from the JSON that `dumped` returned. Raises TypeError or ValueError for another text."""
        values = json.loads(text)
        user = values.pop("user")
        lists = {name: tuple(values.pop(name)) for name in ("reads", "writes", "program", "frozen")}
        return cls(**{**values, **lists, "bounds": Bounds(**values["bounds"]), "user": user and tuple(user)})


class Way(Protocol):
    """The interface of one kind of confinement. Each kind is a module of this package with the function `enter`."""

    def enter(self, plan: Plan, command: list[str], channel: socket.socket | None) -> list[str]:
        """Confine this process, and return the command that it then executes. Raises OSError if that fails.

        `channel` is a socket to the keeper, or None. Landlock uses it to let the keeper answer system calls
        (`notifications`).
        """
