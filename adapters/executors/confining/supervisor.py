"""The keeper: runs one command within its bounds, and ends all of its processes.

    python -I -S .../confining/__main__.py PLAN_JSON -- PROGRAM ARG ...

The keeper is a separate program because limits must be set between fork and exec, which is safe only in a process with
one thread. The kernel makes the keeper the parent of every orphaned process of the command, also in another session
(PR_SET_CHILD_SUBREAPER). The keeper can therefore find all processes of the command. It kills them when the command
ends and when the command exceeds its bounds. When the keeper gets SIGTERM or another signal to stop, it first sends
them SIGTERM, and kills them after the plan's `grace_s`. When the service dies, the kernel sends the keeper such a
signal (PR_SET_PDEATHSIG).

The order of the steps in the child process matters. First come the limits, while the process may still set them. Then
come the change of the user, the settings that this change resets, and the confinement. The filter of system calls comes
last, because it would refuse the earlier steps.

The service removes the plan's folder `scratch`. If the keeper gets a signal to stop, it removes the folder too, because
the service may have been killed. The keeper can't find out whether the service was killed: a killed service looks alive
until its last thread ends.

The exit status is the command's own, 128 + N after signal N as in shells, or 125 if the command was never started.
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
#: The kinds of confinement that have a module. The kind `none` has no module.
WAYS = ("bubblewrap", "namespace", "landlock")
_AWAITED = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD}
#: Seconds between two checks of the command's use of resources.
_LOOK_S = 0.2
#: The names of the helper processes around a confined command. After SIGTERM they would kill the command immediately.
_AROUND = frozenset({"bwrap", system.AROUND})


def main(arguments: list[str]) -> int:
    """Run the command to its end, and return the exit status."""
    plan, command = Plan.loaded(arguments[0]), arguments[2:]
    if plan.report is not None:
        os.set_inheritable(plan.report, False)  # noqa: FBT003 - this function takes no keywords
    status, stopped = _kept(plan, command)
    if plan.scratch and (stopped or os.getppid() != plan.parent):
        import shutil  # noqa: PLC0415 - slow to import, and rarely needed

        shutil.rmtree(plan.scratch, ignore_errors=True)
    return status


def _kept(plan: Plan, command: list[str]) -> tuple[int, bool]:
    """Run the command to its end. Return its exit status, and whether the keeper got a signal to stop."""
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
    import socket  # noqa: PLC0415 - rarely needed, and every command waits for the import

    return socket.socketpair()


class _Keeping:
    """The loop that serves one command: it handles signals, answers system calls, and checks bounds."""

    def __init__(self, plan: Plan, child: int) -> None:
        self.plan = plan
        self.child = child
        self.status: int | None = None
        self.alone = False
        self.stopped = False
        self.kill_at: float | None = None
        self._look_at = 0.0
        self._signals = system.signals(_AWAITED)
        self._ready = select.poll()
        self._ready.register(self._signals, select.POLLIN)
        self._answers: Answers | None = None

    def answer(self, channel: socket.socket) -> None:
        """Receive the listener of the command's filter, and answer the system calls that arrive there.

        No listener comes if the command couldn't start.
        """
        import socket  # noqa: PLC0415

        from adapters.executors.confining.notifications import Answers  # noqa: PLC0415

        _, listeners, *_ = socket.recv_fds(channel, 1, 1)
        channel.close()
        for listener in listeners:
            self._answers = Answers(listener, (self.plan.root, *filter(os.path.isdir, self.plan.writes)))
            self._ready.register(listener, select.POLLIN)

    def until_over(self) -> int:
        """Wait until none of the command's processes is left, and return the command's wait status."""
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
        """Return the seconds until the next check of the command's processes.

        During killing, the time is short, because a process may just have forked.
        """
        return 0.01 if self._must_kill() else _LOOK_S

    def _must_kill(self) -> bool:
        """Return whether to kill the remaining processes now.

        Return True if the time `kill_at` has passed. Without `kill_at`, return True if the command itself has ended.
        """
        if self.kill_at is None:
            return self.status is not None and not self.alone
        return time.monotonic() >= self.kill_at

    def _bound(self) -> None:
        """If the command exceeds a bound, begin to kill its processes, and report the bound's name to the service."""
        now = time.monotonic()
        if self.kill_at is not None or self.alone or now < self._look_at:
            return
        # The bounds aren't checked after each answered system call, because a check reads all of /proc.
        self._look_at = now + _LOOK_S
        if exceeded := _exceeded(self.plan.bounds):
            self.kill_at = now
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
    """Send a signal to every descendant.

    The helper processes around the command get only SIGKILL. If they got SIGTERM, they would kill the command
    immediately, and the command would have no time to clean up.
    """
    for pid, name in _descendants():
        if number == signal.SIGKILL or name not in _AROUND:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)


def _descendants() -> list[tuple[int, str]]:
    """Return the descendants of this process: the id and the name of each."""
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
    """Return the name of the bound that the command exceeds (`memory` or `processes`), or ''."""
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
    """Turn this child process into the command: set session, limits, user and confinement, then execute the command."""
    try:
        os.setsid()
        _limit(plan)
        way = _way(plan)
        if plan.user is not None:
            _change_user(*plan.user)
        # Set the death signal again, because a change of the user clears it.
        system.prctl(system.PDEATHSIG, signal.SIGKILL)
        # Python ignores these signals, but most programs expect that the signals end them.
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        if way is not None:
            command = way.enter(plan, command, channel)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _AWAITED)
        os.execv(command[0], command)  # noqa: S606  the command that was approved
    except Exception as error:  # noqa: BLE001 - after any error the command doesn't run, and stderr names the error
        os.write(2, f"not started: {error}\n".encode())
    finally:
        os._exit(NEVER_STARTED)


def _way(plan: Plan) -> Way | None:
    """Import the module of the confinement, or return None for `none`.

    The import happens before the user changes, because the new user may be unable to read the module.
    """
    if plan.way not in WAYS:
        return None
    way: Way = importlib.import_module(f"adapters.executors.confining.{plan.way}")
    return way


def _limit(plan: Plan) -> None:
    """Set the kernel's limits.

    RLIMIT_NPROC counts all processes of a user. So the number of the user's processes that already run is added to the
    bound.
    """
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
    """Count the user's processes and threads in the way that the kernel counts them for RLIMIT_NPROC."""
    count = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{name}").st_uid == user:
                    count += os.stat(f"/proc/{name}/task").st_nlink - 2
    return count


def _change_user(uid: int, gid: int) -> None:
    """Become another user with one group. The groups change first, because the new user may not change them."""
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    # After the change of the user, the process's files in /proc belong to root until the process is marked as dumpable.
    system.prctl(system.DUMPABLE, 1)
