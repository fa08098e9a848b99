"""A slow disk, made of a quick one: a shim that adds 2 ms to each sync."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

_ADDED_US = 2000
_SOURCE = Path(__file__).with_name("slowsync.c")


def environment(folder: Path) -> dict[str, str] | None:
    """What a process needs to meet a slow disk, the library built into the folder; None where gcc is missing."""
    compiler = shutil.which("gcc")
    if compiler is None:
        return None
    library = folder / "slowsync.so"
    command = [compiler, "-shared", "-fPIC", "-O2", "-o", str(library), str(_SOURCE), "-ldl"]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return {"LD_PRELOAD": str(library), "SLOWSYNC_US": str(_ADDED_US)}
