"""Commands that another program starts, as forks of a process that has read their modules already.

The MCP server of `simulators.mcp` reads the models of two protocol versions when it starts, which takes a second. The
gateway and the official client start such programs by a command line, so `forks.py` can't do it. `command` returns a
command line that starts a small program (`start_fork.py`). That passes its streams, environment and folder to a fork,
and ends when the fork ends. A fork ends when its starter is killed.
"""

from __future__ import annotations

import atexit
import functools
import gc
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import sayso_client.relay  # noqa: F401 - a fork finds it loaded
from bot.cli.main import main as sayso
from simulators.mcp.client import main as mcp_server

ROOT = Path(__file__).parents[1]
STARTER = Path(__file__).with_name("start_fork.py")


def command(name: str, *words: str) -> list[str]:
    """Return the command line for `sayso` or `mcp-server` (simulators.mcp) with these arguments."""
    return [sys.executable, "-I", "-S", str(STARTER), _listening(), name, *words]


@functools.cache
def _listening() -> str:
    """Start the process that forks, and return the path of its socket. It ends with this process."""
    folder = tempfile.TemporaryDirectory(prefix="forks-")
    path = str(Path(folder.name) / "s")
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.forked_commands", path],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'clients'}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert b"ready\n" == process.stdout.readline()

    def end(process: subprocess.Popen[bytes] = process) -> None:
        process.communicate()
        folder.cleanup()

    atexit.register(end)
    return path


def _serve(path: str) -> None:
    """Fork for each starter that connects, until standard input ends."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener, selectors.DefaultSelector() as ready:
        listener.bind(path)
        listener.listen(50)
        ready.register(listener, selectors.EVENT_READ)
        ready.register(0, selectors.EVENT_READ)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while 0 not in [key.fd for key, _ in ready.select()]:
            starter, _ = listener.accept()
            if not os.fork():
                listener.close()
                _become(starter)
            starter.close()


def _become(starter: socket.socket) -> None:
    """Become the program that the starter asks for."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    asked, streams, _, _ = socket.recv_fds(starter, 1 << 20, 3)
    name, words, environment, folder = json.loads(asked)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    threading.Thread(target=_end_with, args=(starter,), daemon=True).start()
    sys.argv = [name, *words]
    if name == "sayso":
        sayso()
    else:
        mcp_server(words)
    sys.exit()


def _end_with(starter: socket.socket) -> None:
    """End this process as soon as its starter has ended."""
    starter.recv(1)
    os._exit(1)


if __name__ == "__main__":
    # What the forks would import.
    import simulators.mcp.client  # noqa: F401

    gc.freeze()
    # The system then forgets each fork that has ended.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    _serve(sys.argv[1])
