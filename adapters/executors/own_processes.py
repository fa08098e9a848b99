"""Recognises the processes of commands that this service runs itself.

Such processes may have the same user id as a person who decides, so the user id can't distinguish them. Every process
that a command starts stays a descendant of the command's keeper, because the keeper adopts orphaned processes. The
keeper is a child of this process.
"""

from __future__ import annotations

import os
from pathlib import Path

from adapters.executors.confinement import KEEPER

_FIRST = 1


def is_kept(pid: int) -> bool:
    """Return whether the process is a descendant of one of this service's keepers.

    Return True also for a process that ended before this check, because a process could end itself to escape the check.
    Return False for process id 0, which the kernel gives for a process in another container.
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
    """Return the parent's process id: the fourth field of proc_pid_stat(5).

    The field before that is the program's name in brackets, and the name may have any characters.
    """
    return int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[1])
