"""Runs one command within its bounds and leaves nothing of it behind: a program of its own, with nothing but Python.

    python -I -S .../confining/__main__.py PLAN_JSON -- PROGRAM ARG ...

It is a separate program because limits must be set between fork and exec, which is safe only where there
is one thread. All processes of the command are re-parented to the keeper (PR_SET_CHILD_SUBREAPER), also
those that left the session, so that the keeper can find and kill them: when the command ends, when the keeper is
told to stop (SIGTERM), when the service dies (PR_SET_PDEATHSIG), and when it uses more than its bounds. Told to stop,
the keeper asks with SIGTERM first and kills after the plan's `grace_s`.

The order in the child matters: the limits while they may still be set, the user, what the change of the user resets,
the confinement, and last a filter of system calls, which would refuse what came before.

The service removes the plan's `scratch`. Told to stop, the keeper does: a service that was killed may have threads
that still end, and looks alive until the last one has.
Exit: the command's status, 128 + N after signal N as shells have it, 125 where the command was never started.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import resource
import select
import signal
import struct
import time
from typing import TYPE_CHECKING

from adapters.executors.confining import system
from adapters.executors.confining.plan import Bounds, Plan

if TYPE_CHECKING:
    import socket
    from typing import NoReturn

    from adapters.executors.confining.notifications import Answers
    from adapters.executors.confining.plan import Way

NEVER_STARTED = 125
#: The kinds of confinement; `none` is no module.
WAYS = ("bubblewrap", "namespace", "landlock")
_AWAITED = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD}
#: Seconds between looks at what the command uses.
_LOOK_S = 0.2
#: Programs that make the confinement: asked to end, they would kill what is in them.
_AROUND = frozenset({"bwrap", system.AROUND})


def main(arguments: list[str]) -> int:
    """Keep the command; the exit status."""
    plan, command = Plan.loaded(arguments[0]), arguments[2:]
    if plan.report is not None:
        os.set_inheritable(plan.report, False)  # noqa: FBT003 - as the standard library has it
    status, stopped = _kept(plan, command)
    if plan.scratch and (stopped or os.getppid() != plan.parent):
        import shutil  # noqa: PLC0415 - importing it takes long, and nearly no keeper needs it

        shutil.rmtree(plan.scratch, ignore_errors=True)
    return status


def _kept(plan: Plan, command: list[str]) -> tuple[int, bool]:
    """The exit status, and whether the keeper was told to stop."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _AWAITED)
    system.prctl(system.PDEATHSIG, signal.SIGTERM)
    system.prctl(system.SUBREAPER, 1)
    if os.getppid() != plan.parent:
        return NEVER_STARTED, True
    ours, theirs = _channel() if plan.way == "landlock" and plan.user is None else (None, None)
    child = os.fork()
    if child == 0:
        _become(plan, command, theirs)
    keeping = _Keeping(plan, child)
    if ours is not None and theirs is not None:
        theirs.close()
        keeping.answer(ours)
    status = keeping.until_over()
    shown = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
    return shown, keeping.stopped


def _channel() -> tuple[socket.socket, socket.socket]:
    import socket  # noqa: PLC0415 - only this needs it, and each command waits for it

    return socket.socketpair()


class _Keeping:
    """The loop over what must be done for one command: signals, its calls that wait for an answer, its bounds."""

    def __init__(self, plan: Plan, child: int) -> None:
        self.plan = plan
        self.child = child
        self.status: int | None = None
        self.alone = False
        self.stopped = False
        self.kill_at: float | None = None
        self._signals = system.signals(_AWAITED)
        self._ready = select.poll()
        self._ready.register(self._signals, select.POLLIN)
        self._answers: Answers | None = None

    def answer(self, channel: socket.socket) -> None:
        """Answer the calls of the command, once its filter's listener came; it doesn't if the command can't start."""
        import socket  # noqa: PLC0415 - as above

        from adapters.executors.confining.notifications import Answers  # noqa: PLC0415 - as above

        _, listeners, *_ = socket.recv_fds(channel, 1, 1)
        channel.close()
        for listener in listeners:
            self._answers = Answers(listener, (self.plan.root, *filter(os.path.isdir, self.plan.writes)))
            self._ready.register(listener, select.POLLIN)

    def until_over(self) -> int:
        """The command's wait status, once nothing that it started is left."""
        while not self.alone or self.status is None:
            for descriptor, event in self._ready.poll(self._patience() * 1000):
                if descriptor == self._signals:
                    self._signalled()
                elif self._answers is not None and event & select.POLLIN:
                    self._answers.one()
                else:
                    self._ready.unregister(descriptor)
            self._reap()
            self._bound()
            if self._must_kill():
                _signal_all(signal.SIGKILL)
        return self.status

    def _signalled(self) -> None:
        number = struct.unpack_from("I", os.read(self._signals, system.SIGNAL_SIZE))[0]
        if number != signal.SIGCHLD and not self.stopped:
            self.stopped = True
            self.kill_at = min(self.kill_at or float("inf"), time.monotonic() + self.plan.grace_s)
            _signal_all(signal.SIGTERM)

    def _patience(self) -> float:
        """Seconds to wait. While killing, short: what is killed may have forked just before."""
        return 0.01 if self._must_kill() else _LOOK_S

    def _must_kill(self) -> bool:
        """Whether what is left goes: its time is up, or the command ended by itself."""
        if self.kill_at is None:
            return self.status is not None and not self.alone
        return time.monotonic() >= self.kill_at

    def _bound(self) -> None:
        """Kill a command that uses more than it may."""
        if self.kill_at is None and not self.alone and (exceeded := _exceeded(self.plan.bounds)):
            self.kill_at = time.monotonic()
            if self.plan.report is not None:
                os.write(self.plan.report, exceeded.encode())

    def _reap(self) -> None:
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self.child:
                    self.status = ended[1]
        except ChildProcessError:
            self.alone = True


def _signal_all(number: int) -> None:
    """Signal every descendant. Processes around the command are only killed: SIGTERM to them kills the command."""
    for pid, name in _descendants():
        if number == signal.SIGKILL or name not in _AROUND:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)


def _descendants() -> list[tuple[int, str]]:
    """The processes below this one, each with its name."""
    below: dict[int, list[tuple[int, str]]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                head, _, rest = file.read().decode(errors="replace").rpartition(")")
                below.setdefault(int(rest.split()[1]), []).append((int(name), head.partition(" (")[2]))
    found = list(below.get(os.getpid(), ()))
    for found_pid, _ in found:
        found += below.get(found_pid, ())
    return found


def _exceeded(bounds: Bounds) -> str:
    """The name of the bound that the command is over, or nothing."""
    memory = processes = 0
    for pid, _ in _descendants():
        with contextlib.suppress(OSError), open(f"/proc/{pid}/status", "rb") as file:
            for line in file:
                name, _, value = line.partition(b":")
                if name in {b"RssAnon", b"RssShmem", b"VmSwap"}:
                    memory += int(value.split()[0]) << 10
                elif name == b"Threads":
                    processes += int(value)
    if memory > bounds.memory:
        return "memory"
    return "processes" if processes > bounds.processes else ""


def _become(plan: Plan, command: list[str], channel: socket.socket | None) -> NoReturn:
    """In the child: a session of its own, the limits, the confinement, and then the command in its place."""
    try:
        os.setsid()
        _limit(plan)
        way = _way(plan)
        if plan.user is not None:
            _change_user(*plan.user)
        system.prctl(system.PDEATHSIG, signal.SIGKILL)  # a change of the user takes it back
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these; programs count on them.
            signal.signal(number, signal.SIG_DFL)
        if way is not None:
            command = way.enter(plan, command, channel)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _AWAITED)
        os.execv(command[0], command)  # noqa: S606  the command that was approved
    except Exception as error:  # noqa: BLE001 - after any error nothing is run, and stderr names the error
        os.write(2, f"not started: {error}\n".encode())
    finally:
        os._exit(NEVER_STARTED)


def _way(plan: Plan) -> Way | None:
    """The kind of confinement; loaded before the user changes, who may not be able to read it."""
    if plan.way not in WAYS:
        return None
    way: Way = importlib.import_module(f"adapters.executors.confining.{plan.way}")
    return way


def _limit(plan: Plan) -> None:
    """Set the kernel's limits. A fork bomb is one command's: what the user runs already doesn't count."""
    bounds, user = plan.bounds, os.getuid() if plan.user is None else plan.user[0]
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_DATA: bounds.memory,
        resource.RLIMIT_FSIZE: bounds.file,
        resource.RLIMIT_NPROC: _tasks(user) + bounds.processes,
    }
    for limit, most in wanted.items():
        _, hard = resource.getrlimit(limit)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (least, least))


def _tasks(user: int) -> int:
    """Count the user's processes and threads as the kernel does for RLIMIT_NPROC."""
    count = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{name}").st_uid == user:
                    count += os.stat(f"/proc/{name}/task").st_nlink - 2
    return count


def _change_user(uid: int, gid: int) -> None:
    """Become another user, of one group. The groups first: afterwards nobody may."""
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    # The files in /proc that describe a process are root's, until it is said that it may be looked at.
    system.prctl(system.DUMPABLE, 1)
