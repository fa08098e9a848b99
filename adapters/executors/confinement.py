"""How a command is kept from the rest of the machine: by bubblewrap, else by Landlock, else not at all.

Confined, a command reads and runs the system's programs, reads and writes the workspace, and has a
temporary folder of its own. Everything else of the file system, homes and the service's state among it,
is out of reach.

- bubblewrap: namespaces of its own. No network at all, no other processes to be seen or signalled.
- Landlock: the kernel refuses files, TCP (since Linux 6.7) and signals to others (6.12). UDP and the list of
  processes stay open.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.executors import keeper
from adapters.executors.git import DISARMED

if TYPE_CHECKING:
    from collections.abc import Sequence

BASH = "/bin/bash"
#: Seconds between asking a command to end and killing it.
GRACE_S = 2.0
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

_PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
# Of /etc only what programs need to start, to name users and to check certificates; never keys or passwords.
_SETTINGS = tuple(
    f"/etc/{name}"
    for name in (
        "alternatives",
        "ca-certificates",
        "group",
        "ld.so.cache",
        "ld.so.conf",
        "ld.so.conf.d",
        "localtime",
        "mime.types",
        "nsswitch.conf",
        "os-release",
        "passwd",
        "pki/tls/certs",
        "ssl/certs",
        "ssl/openssl.cnf",
        "terminfo",
        "timezone",
    )
)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_PROBE_S = 10


class Confinement(StrEnum):
    """What keeps a command from the rest of the machine."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"
    NONE = "none"


@functools.cache
def confinement() -> Confinement:
    """The best confinement that works here, found once by running a command in it (takes up to a second)."""
    ways = (Confinement.BUBBLEWRAP, Confinement.LANDLOCK)
    return next((way for way in ways if works(way)), Confinement.NONE)


def environment(root: Path, ref: str, temporary: Path | None) -> dict[str, str]:
    """All that a command's environment holds: nothing of the service's own, and git disarmed."""
    clean = {"PATH": _PATH, "HOME": str(root), "LANG": "C.UTF-8", "TERM": "dumb", "SAYSO_REF": ref, **DISARMED}
    return clean if temporary is None else {**clean, "TMPDIR": str(temporary)}


def kept_command(
    way: Confinement, command: str, root: Path, temporary: Path | None = None, scratch: Path | None = None
) -> list[str]:
    """Return the arguments that run a command line, kept and confined.

    `temporary` is for Landlock, which needs such a folder. The caller removes `scratch` afterwards; if the caller is
    killed before that, the keeper removes it.
    """
    shell = [BASH, "--noprofile", "--norc", "-c", command]
    if way is Confinement.BUBBLEWRAP:
        shell = [*_bubblewrap(root), *shell]
    limits: dict[str, list[str]] | None = None
    if way is Confinement.LANDLOCK:
        own = [str(path) for path in (root, temporary) if path]
        limits = {"reads": [*_PROGRAMS, *_SETTINGS, "/proc"], "writes": [*own, *_DEVICES]}
    return [*_keeper(GRACE_S), json.dumps(limits), str(scratch or ""), "--", *shell]


def kept_program(program: Sequence[str], grace_s: float) -> list[str]:
    """Return the arguments that run a program kept but not confined; its first word must be an absolute path.

    Told to stop, it has `grace_s` to end. No process below it is taken for a person of this service's user.
    """
    return [*_keeper(grace_s), json.dumps(None), "", "--", *program]


def _keeper(grace_s: float) -> list[str]:
    return [sys.executable, "-I", "-S", keeper.__file__, str(os.getpid()), str(grace_s)]


def _bubblewrap(root: Path) -> list[str]:
    fresh = ("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp")  # noqa: S108  inside the sandbox
    isolated = ("--unshare-all", "--cap-drop", "ALL", "--die-with-parent", "--new-session")
    seen = [part for path in (*_PROGRAMS, *_SETTINGS) for part in ("--ro-bind-try", path, path)]
    place = ("--bind", str(root), str(root), "--chdir", str(root))
    return [shutil.which("bwrap") or "bwrap", *isolated, *fresh, *seen, *place, "--"]


def works(way: Confinement) -> bool:
    """Whether a confined command can write its folder, and can't see a file beside it."""
    if way is Confinement.BUBBLEWRAP and not shutil.which("bwrap"):
        return False
    with tempfile.TemporaryDirectory(prefix="sayso-probe-") as made:
        beside = Path(made)
        root, secret = beside / "root", beside / "secret"
        root.mkdir()
        secret.touch()
        return _succeeds(kept_command(way, ": > wrote && ! cat ../secret", root, root, beside), root)


def _succeeds(command: list[str], root: Path) -> bool:
    try:
        ran = subprocess.run(
            command,
            cwd=root,
            env=environment(root, "probe", None),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ran.returncode == 0 and Path(root, "wrote").exists()
