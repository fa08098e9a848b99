"""Which processes of this machine are commands that this service runs itself.

They have the service's user id, so by that alone nobody could tell them from the people who do. All that a command
starts stays below its keeper, which collects what is orphaned, and the keeper is a child of this process.
"""

from __future__ import annotations

import os
from pathlib import Path

from adapters.executors.confinement import KEEPER

_FIRST = 1


def is_kept(pid: int) -> bool:
    """Whether the process is below a keeper of ours.

    So is one that is gone before it could be looked at: it may have left just for that. A process that can't be seen
    from here (0, as the kernel gives those of other containers) isn't.
    """
    own, program = os.getpid(), os.fsencode(KEEPER)
    try:
        while pid > _FIRST and pid != own:
            parent = _parent(pid)
            if parent == own and program in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                return True
            pid = parent
    except (FileNotFoundError, ProcessLookupError):
        return True
    return False


def _parent(pid: int) -> int:
    """The fourth field of proc_pid_stat(5), behind a name in brackets that may hold anything."""
    return int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[1])
