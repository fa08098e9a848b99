"""Confinement with bubblewrap, a program of many hosts that gives a command its own namespaces."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from adapters.executors.confining import seccomp

if TYPE_CHECKING:
    from adapters.executors.confining.plan import Plan


def enter(plan: Plan, command: list[str], _channel: object = None) -> list[str]:
    """Return the arguments that start bubblewrap, which runs the command. The command sees only the plan's paths."""
    program, *known = plan.program
    seen = [part for path in plan.reads for part in ("--ro-bind-try", path, path)]
    isolated = ["--unshare-all", "--cap-drop", "ALL", "--die-with-parent", "--new-session"]
    if "--disable-userns" in known:
        isolated += ["--unshare-user", "--disable-userns"]
    frozen = [part for copy, path in plan.frozen for part in ("--ro-bind", copy, path)]
    sized = ["--size", str(plan.bounds.file)] if "--size" in known else []
    return [
        *(program, *isolated, "--seccomp", str(_written(seccomp.inside()))),
        *("--proc", "/proc", "--dev", "/dev", *sized, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),  # noqa: S108
        *(*sized, "--tmpfs", "/tmp", *seen),  # noqa: S108 - this is the sandbox's own /tmp
        *("--bind", plan.root, plan.root, *frozen, "--remount-ro", "/", "--chdir", plan.root, "--", *command),
    ]


def _written(program: bytes) -> int:
    """Write the filter of system calls to a file in memory.

    Return its descriptor, from which bubblewrap reads the filter.
    """
    descriptor = os.memfd_create("filter", 0)
    os.write(descriptor, program)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
