"""How a command is kept from the rest of the machine: a ladder, of which the highest step that works here is taken.

Confined, a command reads and runs the system's programs, reads and writes the workspace, and has a
temporary folder of its own. Everything else of the file system, homes and the service's state among it,
is out of reach; so are other processes, Unix sockets and the network.

- bubblewrap: namespaces of its own, made by that program.
- namespace: the same, made by the keeper itself where bubblewrap isn't installed.
- landlock: no namespaces. The kernel refuses files and, since Linux 6.12, signals to others; a filter of system calls
  refuses sockets, and changes of files by their path outside of the workspace. The list of processes stays open.

Beside each, the command may run as another user, and what it uses is bounded (`confining.plan.Bounds`).
"""

from __future__ import annotations

import functools
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from adapters.executors.confining import landlock
from adapters.executors.confining.plan import Bounds, Plan
from adapters.executors.git import DISARMED
from hitl.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self, TypeAlias

    #: Pairs of files: a copy, and the file in whose place the command sees it.
    Frozen: TypeAlias = tuple[tuple[str, str], ...]

#: The program that keeps a command; its path is how a kept command's ancestors are recognised.
KEEPER: Final = str(Path(__file__).with_name("confining") / "__main__.py")
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
#: What the probe's command does: it changes its own file in every way that everyday tools do, and reaches no other.
_PROBE = (
    ": > wrote && chmod 700 wrote && touch -d @1 wrote && test -x wrote && ! cat ../secret && ! chmod 777 ../secret"
)


class Confinement(StrEnum):
    """What keeps a command from the rest of the machine, the best first."""

    BUBBLEWRAP = "bubblewrap"
    NAMESPACE = "namespace"
    LANDLOCK = "landlock"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class User:
    """Another user of this machine, under whom commands run."""

    name: str
    uid: int
    gid: int

    @classmethod
    def named(cls, name: str) -> Self:
        """Return the user of this name. Raises Unavailable for one that isn't there, root, or the service's own."""
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            raise Unavailable(
                f"tools_user is {name}, and this machine has no such user. Make one: useradd -r."
            ) from None
        if found.pw_uid in {0, os.geteuid()}:
            raise Unavailable(f"tools_user is {name}, who can read the service's keys. Name another user.")
        return cls(name, found.pw_uid, found.pw_gid)


@dataclass(frozen=True, slots=True)
class Sandbox:
    """How commands run: confined this way, as this user (None: the service's own), within these bounds."""

    way: Confinement
    user: User | None = None
    bounds: Bounds = field(default_factory=Bounds)

    def facts(self) -> tuple[tuple[str, str], ...]:
        """Return what must not change between the asking and the run, as preconditions."""
        user = () if self.user is None else ((USER, self.user.name),)
        return ((CONFINED, self.way.value), *user)

    def gaps(self) -> tuple[str, ...]:
        """Return the warnings about what a command could still reach, as keys of the catalogue."""
        if self.way is Confinement.NONE:
            return ("shell.unconfined",) if self.user is None else ("shell.unconfined_user",)
        return ("shell.signals",) if self.way is Confinement.LANDLOCK and landlock.signals_pass() else ()

    @property
    def has_mounts(self) -> bool:
        """Whether a command sees files of its own in place of others."""
        return self.way in {Confinement.BUBBLEWRAP, Confinement.NAMESPACE}

    def command(
        self,
        line: str,
        root: Path,
        temporary: Path | None = None,
        scratch: Path | None = None,
        report: int | None = None,
        frozen: Frozen = (),
    ) -> list[str]:
        """Return the arguments that run a command line, kept and confined.

        `temporary` is for Landlock, which needs such a folder. The caller removes `scratch` afterwards; if the caller
        is killed before that, the keeper removes it. `report` and `frozen` are those of the plan.
        """
        alone = self.way is Confinement.LANDLOCK
        plan = Plan(
            parent=os.getpid(),
            grace_s=GRACE_S,
            way=self.way.value,
            root=str(root),
            bounds=self.bounds,
            reads=(*_PROGRAMS, *_SETTINGS, *(("/proc",) if alone else ())),
            writes=(*([str(temporary)] if temporary else []), *_DEVICES) if alone else (),
            program=bubblewrap() if self.way is Confinement.BUBBLEWRAP else (),
            user=None if self.user is None else (self.user.uid, self.user.gid),
            scratch=str(scratch or ""),
            report=report,
            frozen=frozen,
        )
        shell = [BASH, "--noprofile", "--norc", "-c", line]
        return [sys.executable, "-I", "-S", KEEPER, plan.dumped(), "--", *shell]

    def give(self, folder: Path) -> None:
        """Give a folder that was made for a command to the user that the command runs as."""
        if self.user is not None:
            os.chown(folder, self.user.uid, self.user.gid)


#: The names of the preconditions of `Sandbox.facts`.
CONFINED, USER = "confinement", "user"


#: Options of bubblewrap that not every version has, with the version that brought them.
_NEWER = {"--disable-userns": "0.8.0", "--size": "0.7.0"}


@functools.cache
def bubblewrap() -> tuple[str, ...]:
    """Return the program, if it is installed, and those of its newer options that it knows."""
    program = shutil.which("bwrap")
    if program is None:
        return ()
    told = subprocess.run([program, "--help"], capture_output=True, text=True, check=False).stdout
    return (program, *(option for option in _NEWER if option in told))


@functools.cache
def best(user: User | None = None, bounds: Bounds | None = None) -> Sandbox:
    """The best sandbox that works here, found once by running a command in it (takes up to a second).

    Raises Unavailable if commands can't run as the user at all.
    """
    sandboxes = [Sandbox(way, user, bounds or Bounds()) for way in Confinement]
    found = next((sandbox for sandbox in sandboxes[:-1] if works(sandbox)), None)
    if found is None and user is not None and not runs(sandboxes[-1]):
        raise Unavailable(
            f"tools_user is {user.name}, and this service may run nothing as another user. Start it as root,"
            " or give it CAP_SETUID, CAP_SETGID and CAP_KILL."
        )
    return found or sandboxes[-1]


def environment(root: Path, ref: str, temporary: Path | None) -> dict[str, str]:
    """All that a command's environment holds: nothing of the service's own, and git disarmed."""
    clean = {"PATH": _PATH, "HOME": str(root), "LANG": "C.UTF-8", "TERM": "dumb", "SAYSO_REF": ref, **DISARMED}
    return clean if temporary is None else {**clean, "TMPDIR": str(temporary)}


def kept_program(program: Sequence[str], grace_s: float) -> list[str]:
    """Return the arguments that run a program kept and bounded but not confined; its first word is an absolute path.

    The program has `grace_s` to end after a signal to stop. `is_kept` recognises every process below it.
    """
    plan = Plan(parent=os.getpid(), grace_s=grace_s, way=Confinement.NONE.value, root="/", bounds=Bounds())
    return [sys.executable, "-I", "-S", KEEPER, plan.dumped(), "--", *program]


def works(sandbox: Sandbox) -> bool:
    """Whether a confined command can write its folder, and can't see a file beside it."""
    if sandbox.way is Confinement.BUBBLEWRAP and not bubblewrap():
        return False
    with tempfile.TemporaryDirectory(prefix="sayso-probe-") as made:
        beside = Path(made)
        root, secret = beside / "root", beside / "secret"
        root.mkdir()
        secret.touch(0o600)
        try:
            for path in (beside, root):
                sandbox.give(path)
        except PermissionError:
            return False
        return succeeds(sandbox.command(_PROBE, root, root, beside), root) and (root / "wrote").exists()


def runs(sandbox: Sandbox, root: Path = Path("/"), line: str = "true") -> bool:
    """Whether a command line succeeds in a folder."""
    return succeeds(sandbox.command(line, root), root)


def succeeds(command: list[str], root: Path) -> bool:
    """Whether a command ends well, in time."""
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
    return ran.returncode == 0
