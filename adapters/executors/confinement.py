"""Confines commands: chooses the strongest kind of confinement that works on this machine.

A confined command can read and run the system's programs, read and write the workspace, and use its own temporary
folder. It can't reach any other file, such as homes and the service's state. It can't reach other processes, Unix
sockets or the network. The kinds, strongest first:

- bubblewrap: the program of that name gives the command its own namespaces.
- namespace: the keeper makes the same namespaces itself, if bubblewrap isn't installed.
- landlock: there are no namespaces. The kernel refuses access to other files and, since Linux 6.12, signals to other
  processes. A filter of system calls refuses sockets, and changes of files outside of the workspace. The
  command can still see the list of processes.

With each kind, the command can also run as another user, and its use of resources has bounds (`confining.plan.Bounds`).
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
from adapters.executors.wording import say
from hitl.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self, TypeAlias

    #: Pairs of paths: a copy, and the file that the copy replaces in the command's view.
    Frozen: TypeAlias = tuple[tuple[str, str], ...]

#: The path of the keeper, the program that runs a command. `own_processes` recognises a keeper by this path.
KEEPER: Final = str(Path(__file__).with_name("confining") / "__main__.py")
BASH = "/bin/bash"
#: Seconds between SIGTERM and SIGKILL for a command.
GRACE_S = 2.0
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

_PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
# Parts of /etc that programs need: to start, to look up users and hosts, to check certificates. None of these files
# holds keys or passwords.
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
#: The command with which `works` tests a sandbox. It succeeds if it can write, chmod and touch its own file, and can
#: neither read nor chmod a file outside of its folder.
_PROBE = (
    ": > wrote && chmod 700 wrote && touch -d @1 wrote && test -x wrote && ! cat ../secret && ! chmod 777 ../secret"
)


class Confinement(StrEnum):
    """The kinds of confinement, the strongest first."""

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
        """Return the user of this name.

        Raises Unavailable if there is no such user, or for root and the service's own user.
        """
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            raise Unavailable(say("executors.user.none", user=name)) from None
        if found.pw_uid in {0, os.geteuid()}:
            raise Unavailable(say("executors.user.reads", user=name))
        return cls(name, found.pw_uid, found.pw_gid)


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The kind of confinement, the user and the bounds under which commands run."""

    way: Confinement
    #: The user that commands run as, or None for the service's own user.
    user: User | None = None
    bounds: Bounds = field(default_factory=Bounds)

    def facts(self) -> tuple[tuple[str, str], ...]:
        """Return the preconditions on the sandbox.

        Each precondition must be the same when people are asked and when the command runs.
        """
        user = () if self.user is None else ((USER, self.user.name),)
        return ((CONFINED, self.way.value), *user)

    def gaps(self) -> tuple[str, ...]:
        """Return the catalogue keys of warnings about things that a command can still reach in this sandbox."""
        if self.way is Confinement.NONE:
            return ("shell.unconfined",) if self.user is None else ("shell.unconfined_user",)
        return ("shell.signals",) if self.way is Confinement.LANDLOCK and landlock.signals_pass() else ()

    @property
    def has_mounts(self) -> bool:
        """Return whether the sandbox can mount a copy over a file, so that the command reads the copy."""
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
        """Return the command that starts the keeper: it runs a command line, confined as this sandbox says.

        `temporary` is the command's temporary folder under Landlock. The caller removes the folder `scratch`
        afterwards; if the caller is killed before that, the keeper removes it. `report` and `frozen` are fields of
        `Plan`.
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
        """Change the owner of a folder to the user that commands run as."""
        if self.user is not None:
            os.chown(folder, self.user.uid, self.user.gid)


#: The names of the preconditions of `Sandbox.facts`.
CONFINED, USER = "confinement", "user"


#: For each newer option of bubblewrap, the first version that has the option.
_NEWER = {"--disable-userns": "0.8.0", "--size": "0.7.0"}


@functools.cache
def bubblewrap() -> tuple[str, ...]:
    """Return bubblewrap's path and the options of `_NEWER` that it has, or () if it isn't installed."""
    program = shutil.which("bwrap")
    if program is None:
        return ()
    told = subprocess.run([program, "--help"], capture_output=True, text=True, check=False).stdout
    return (program, *(option for option in _NEWER if option in told))


@functools.cache
def best(user: User | None = None, bounds: Bounds | None = None) -> Sandbox:
    """Return the strongest sandbox that works on this machine.

    Runs a command in one kind of confinement after the other until one works, which takes up to a second. Raises
    Unavailable if no kind works and commands can't run as the user even without confinement.
    """
    sandboxes = [Sandbox(way, user, bounds or Bounds()) for way in Confinement]
    found = next((sandbox for sandbox in sandboxes[:-1] if works(sandbox)), None)
    if found is None and user is not None and not runs(sandboxes[-1]):
        raise Unavailable(say("executors.user.rights", user=user.name))
    return found or sandboxes[-1]


def environment(root: Path, ref: str, temporary: Path | None) -> dict[str, str]:
    """Return all environment variables of a command. No variable comes from the service.

    `root` is the workspace, which is HOME. `ref` is the call's ref. `temporary` is the command's temporary folder, or
    None. Some variables keep git from running programs.
    """
    clean = {"PATH": _PATH, "HOME": str(root), "LANG": "C.UTF-8", "TERM": "dumb", "SAYSO_REF": ref, **DISARMED}
    return clean if temporary is None else {**clean, "TMPDIR": str(temporary)}


def kept_program(program: Sequence[str], grace_s: float) -> list[str]:
    """Return the arguments with which the keeper runs a program, with bounds and without confinement.

    `program` begins with an absolute path. After a signal to stop, the program has `grace_s` seconds to end. `is_kept`
    recognises every process that it starts.
    """
    plan = Plan(parent=os.getpid(), grace_s=grace_s, way=Confinement.NONE.value, root="/", bounds=Bounds())
    return [sys.executable, "-I", "-S", KEEPER, plan.dumped(), "--", *program]


def works(sandbox: Sandbox) -> bool:
    """Return whether a command in this sandbox can write to its folder, but can't reach a file outside of it."""
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
    """Return whether a command line ends with status 0 in the sandbox, with `root` as the workspace."""
    return succeeds(sandbox.command(line, root), root)


def succeeds(command: list[str], root: Path) -> bool:
    """Return whether a command ends with status 0 within `_PROBE_S` seconds."""
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
