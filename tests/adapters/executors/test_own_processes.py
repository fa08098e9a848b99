"""A command that the service runs has the service's user, and is still told apart from the people who have it too."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from adapters.executors.bash import Bash, Shell
from adapters.executors.confinement import Confinement, Sandbox, works
from adapters.executors.own_processes import is_kept
from adapters.executors.registry import Context

#: Connects, and stays until the other side hangs up.
CONNECT = """perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, sockaddr_un("door")); <S>'"""
WAYS = {
    "plain": CONNECT,
    "in a session of its own": f"setsid --wait {CONNECT}",
    "its parent gone": f"(setsid {CONNECT} &) ; sleep 20",
    "as another program": f"exec {CONNECT}",
}


def peer_of(connection: socket.socket) -> int:
    """The process at the other end."""
    pid: int = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
    return pid


@pytest.mark.parametrize("command", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("way", [way for way in Confinement if way is not Confinement.LANDLOCK], ids=str)
async def test_whatever_a_command_does_it_is_known(root: Path, way: Confinement, command: str) -> None:
    """A new session, a lost parent and another program change nothing about who keeps it.

    Under Landlock a command opens no socket at all.
    """
    if way is not Confinement.NONE and not works(Sandbox(way)) and os.environ.get("CI") != "true":
        pytest.skip(f"{way} doesn't work here")
    context = Context("token:agent", "ref-1", "ref-1", 20, {"confinement": way.value})
    with closing(socket.socket(socket.AF_UNIX)) as door:
        door.bind(str(root / "door"))
        door.listen()
        door.settimeout(0)
        running = asyncio.ensure_future(Shell(root, Sandbox(way)).bash(context, Bash(command=command)))
        connection, _ = await asyncio.wait_for(asyncio.get_running_loop().sock_accept(door), 20)
        with connection:
            kept = is_kept(peer_of(connection))
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    assert kept


def test_other_processes_are_nobodys() -> None:
    """This one, one that it started without a keeper, the first of all, and one that can't be seen from here."""
    with subprocess.Popen(["sleep", "20"]) as other:
        found = [is_kept(pid) for pid in (os.getpid(), os.getppid(), other.pid, 1, 0)]
        other.kill()

    assert [False] * 5 == found


def test_one_that_is_gone_is_taken_for_one() -> None:
    """It can't be told any more whose it was, and who answers has no need to run away."""
    gone = subprocess.Popen(["true"])
    gone.wait()

    assert is_kept(gone.pid)
