"""Times commands from the start of their process to their answer, and starts a service that they can ask.

`python -m benchmarks.commands FOLDER RUNS` times `sayso ask`, `sayso pending`, and the hook of Claude Code for a call
that the policy allows. Beside them it times an interpreter that does nothing, and a client that sends the request of
`sayso pending` over a bare socket. The programs take turns, so that other work of the machine slows all of them.
"""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.figures import Spread
from benchmarks.telling import tell
from sayso_client.hooks.installing import Service as Address
from sayso_client.hooks.installing import command

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_PROGRAMS = Path(sys.executable).parent
_READY_S = 60.0
_HOOK_WAITS_S = 600
_PENDING = "GET /v1/calls?limit=200&status=pending&view=brief HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
#: The same request as `sayso pending`, by as little Python as can send it.
_BARE_CLIENT = f"""
import socket, sys
wire = socket.socket(socket.AF_UNIX)
wire.connect(sys.argv[1])
wire.sendall({_PENDING!r}.encode())
while wire.recv(65536): pass
"""
#: The exit statuses of programs that got an answer; `sayso ask --no-wait` ends with 16 then.
_ANSWERED = frozenset({0, 16})


class Spent(NamedTuple):
    """The seconds of one run of a program: by the clock, and of processor time."""

    wall: float
    cpu: float


class Service(NamedTuple):
    """A running service: its socket and its port."""

    socket: Path
    port: int


def spent(*command: object) -> Spent:
    """Run a program to its end. Raises RuntimeError if it got no answer."""
    began = time.perf_counter()
    process = subprocess.Popen([*map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in _ANSWERED:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}")
    return Spent(wall, used.ru_utime + used.ru_stime)


@contextmanager
def service(folder: Path, *, askers: Sequence[str] = (), open_files: int = 0) -> Iterator[Service]:
    """Run a service whose user asks and approves alone, with these further askers, on a socket and a port."""
    folder.mkdir(parents=True, exist_ok=True)
    me, config, port = f"local:{os.getuid()}", folder / "sayso.toml", _free_port()
    folders = {"state": "state", "workspace": "workspace", "runtime": "run"}
    config.write_text(
        "".join(f'{name} = "{folder / place}"\n' for name, place in folders.items())
        + f"requesters = {[me, *askers]}\napprovers = ['{me}']\noperators = ['{me}']\nself_approval_socket = 'high'\n"
        + f"tools = {{allow = []}}\nhttp = {{port = {port}}}\n[limits]\nopen_per_requester = 1000\nasks = 100000\n"
    )
    limit = f"ulimit -n {open_files}; " if open_files else ""
    program = ["/bin/sh", "-c", f'{limit}exec "$0" "$@"', str(_PROGRAMS / "sayso")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([*program, "run", "--config", str(config)], stderr=log)
    try:
        yield Service(_socket_of(folder, process), port)
    finally:
        process.terminate()
        process.wait()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _socket_of(folder: Path, process: subprocess.Popen[bytes]) -> Path:
    """Return the service's socket as soon as it takes connections. Raises RuntimeError with the service's log."""
    path, give_up = folder / "run" / "sayso.sock", time.monotonic() + _READY_S
    while process.poll() is None and time.monotonic() < give_up:
        if path.is_socket() and b"service.ready" in (folder / "log").read_bytes():
            return path
        time.sleep(0.02)
    raise RuntimeError((folder / "log").read_text()[-2000:])


def pending_over(socket_file: Path) -> tuple[object, ...]:
    """Return the command that lists the pending requests."""
    return _PROGRAMS / "sayso", "pending", "--socket", socket_file


def bare_client_over(socket_file: Path) -> tuple[object, ...]:
    """Return the command of the bare client."""
    return sys.executable, "-I", "-c", _BARE_CLIENT, socket_file


def hook_over(folder: Path, socket_file: Path) -> tuple[object, ...]:
    """Return the command with which Claude Code asks about a command that the policy allows."""
    words = {"session_id": "1", "cwd": str(folder / "workspace"), "hook_event_name": "PreToolUse", "tool_use_id": "1"}
    event = folder / "event.json"
    event.write_text(json.dumps({**words, "tool_name": "Bash", "tool_input": {"command": "ls"}}))
    line = command("claude-code", Address(socket=str(socket_file), uid=os.getuid()), _HOOK_WAITS_S)
    told = subprocess.run(["/bin/sh", "-c", line], stdin=event.open("rb"), capture_output=True, text=True, check=True)
    if told.stdout != "{}":
        raise RuntimeError(f"the policy doesn't allow the hook's command: {told.stdout} {told.stderr}")
    return "/bin/sh", "-c", f"exec {line} <{shlex.quote(str(event))}"


def measured(folder: Path, runs: int) -> Mapping[str, Mapping[str, float]]:
    """Time each program so many times, in turns."""
    with service(folder) as running:
        programs: dict[str, tuple[object, ...]] = {
            "nothing": (sys.executable, "-I", "-c", "pass"),
            "bare": bare_client_over(running.socket),
            "pending": pending_over(running.socket),
            "hook": hook_over(folder, running.socket),
            "ask": (_PROGRAMS / "sayso", "ask", "deploy", "--no-wait", "--quiet", "--socket", running.socket),
        }
        found: dict[str, list[Spent]] = {name: [] for name in programs}
        for _ in range(runs):
            for name, words in programs.items():
                found[name].append(spent(*words))
    return {name: figures(times) for name, times in found.items()}


def figures(times: Sequence[Spent]) -> Mapping[str, float]:
    """Return the median and the longest time by the clock, and the median of a processor's time, in seconds."""
    wall = [each.wall for each in times]
    return {"p50": Spread.of(wall).p50, "max": max(wall), "cpu": Spread.of([each.cpu for each in times]).p50}


if __name__ == "__main__":
    tell(measured(Path(sys.argv[1]), int(sys.argv[2])))
