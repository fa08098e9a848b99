"""The service's orders to the keeper for one command, as one JSON argument, and the protocol of a confinement."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import socket
    from typing import Protocol, Self
else:
    Protocol = object


class Bounds(NamedTuple):
    """Upper bounds on one command together with all of its processes."""

    #: Bytes of memory, summed over its processes; also what one process may allocate (RLIMIT_DATA).
    memory: int = 4 << 30
    #: Processes and threads.
    processes: int = 512
    #: Bytes of one file (RLIMIT_FSIZE), and of the memory file system that `/tmp` is where the command has its own.
    file: int = 1 << 30


class Plan(NamedTuple):
    """Orders for keeping one command."""

    #: The service's process id. The keeper ends the command if it has another parent.
    parent: int
    #: Seconds between asking the command to end and killing it.
    grace_s: float
    #: The kind of confinement: a module of this package, or `none`.
    way: str
    #: The folder that the command may change.
    root: str
    bounds: Bounds
    #: Paths that it may read and run.
    reads: tuple[str, ...] = ()
    #: Folders and devices beside `root` that it may change, if the confinement doesn't bring its own.
    writes: tuple[str, ...] = ()
    #: The program that confines, and those of its newer options that it has; nothing if the keeper confines.
    program: tuple[str, ...] = ()
    #: A user's and a group's id that the command runs as, or None for the service's own.
    user: tuple[int, int] | None = None
    #: A folder made for this command. The service removes it; the keeper does after a signal to stop.
    scratch: str = ""
    #: Pairs of files: a copy, and the file in whose place the command sees it, read-only.
    frozen: tuple[tuple[str, str], ...] = ()
    #: A descriptor that the keeper writes the name of an exceeded bound to, or None.
    report: int | None = None

    def dumped(self) -> str:
        """Return the plan as JSON."""
        return json.dumps({**self._asdict(), "bounds": self.bounds._asdict()})

    @classmethod
    def loaded(cls, text: str) -> Self:
        """Return the plan that `dumped` wrote. Raises TypeError or ValueError for another text."""
        values = json.loads(text)
        user = values.pop("user")
        lists = {name: tuple(values.pop(name)) for name in ("reads", "writes", "program", "frozen")}
        return cls(**{**values, **lists, "bounds": Bounds(**values["bounds"]), "user": user and tuple(user)})


class Way(Protocol):
    """One kind of confinement. Each is a module of this package with this function."""

    def enter(self, plan: Plan, command: list[str], channel: socket.socket | None) -> list[str]:
        """Confine this process, and return the command to put in its place. Raises OSError if it can't be.

        `channel` leads to the keeper, for a confinement that needs its answers (`answers`).
        """
