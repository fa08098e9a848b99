"""A command runs confined, with a clean environment, and nothing of it is left when it is over."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from adapters.executors.bash import Bash, Shell, register_shell
from adapters.executors.confinement import KEEPER, Confinement, Sandbox, best, works
from adapters.executors.confining import supervisor
from adapters.executors.confining.plan import Bounds, Plan
from adapters.executors.git import DISARMED
from adapters.executors.registry import Context, Registry
from hitl.call import Ran, Result, Risk
from hitl.cards.wording import say
from hitl.errors import InvalidConfirmation
from tests.adapters.executors.conftest import a_lease, an_ask, names, soon
from tests.sentences import raises

CONFINED = [Confinement.BUBBLEWRAP, Confinement.NAMESPACE, Confinement.LANDLOCK]


def _usable(way: Confinement) -> Confinement:
    """Skips where this host can't confine that way, unless it must be tested."""
    if way is not Confinement.NONE and not works(Sandbox(way)) and os.environ.get("CI") != "true":
        pytest.skip(f"{way} doesn't work here")
    return way


@pytest.fixture(params=list(Confinement), ids=str)
def way(request: pytest.FixtureRequest) -> Confinement:
    """Each way to confine a command."""
    return _usable(request.param)


@pytest.fixture(params=CONFINED, ids=str)
def confined(request: pytest.FixtureRequest) -> Confinement:
    """Each way that does confine."""
    return _usable(request.param)


async def _bash(root: Path, way: Confinement, command: str, limit_s: float = 20) -> Ran:
    """Runs a command, confined that way."""
    context = Context("token:agent", "ref-1", "ref-1", limit_s, {"confinement": way.value})
    return await Shell(root, Sandbox(way)).bash(context, Bash(command=command))


def _running(mark: str) -> list[str]:
    """The processes whose command line holds the mark."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if mark in line and int(path.parent.name) != os.getpid():
            found.append(line)
    return found


def _sleep(seconds: int) -> tuple[str, str]:
    """A long sleep that only this test run starts, and its command line."""
    line = f"sleep {seconds}.{os.getpid()}"
    return line, line


async def test_a_command_runs_in_the_workspace(root: Path, way: Confinement) -> None:
    """It reads and writes there, and its output and errors come as one text."""
    (root / "in.txt").write_text("hello")
    ran = await _bash(root, way, "pwd; cat in.txt > out.txt; echo err >&2; echo done")

    assert Ran(Result.SUCCEEDED, f"{root}\nerr\ndone\n", exit_status=0) == ran
    assert "hello" == (root / "out.txt").read_text()


@pytest.mark.parametrize(
    ("command", "status", "error"),
    [
        ("exit 3", 3, say("shell.status", status=3)),
        ("kill -9 $$", 137, say("shell.signal", number=9)),
        ("not-a-program", 127, say("shell.status", status=127)),
        ("echo 'unclosed", 2, say("shell.status", status=2)),
    ],
)
async def test_a_failure_is_told(root: Path, way: Confinement, command: str, status: int, error: str) -> None:
    """With the status, as shells have it."""
    ran = await _bash(root, way, command)

    assert (Result.FAILED, status, error) == (ran.result, ran.exit_status, ran.error)


async def test_standard_input_is_empty(root: Path, way: Confinement) -> None:
    """A command that asks gets no answer, instead of waiting for one."""
    assert Ran(Result.SUCCEEDED, "", exit_status=0) == await _bash(root, way, "cat")


async def test_pipes_end_as_usual(root: Path, way: Confinement) -> None:
    """A writer is ended when its reader goes, which counts on SIGPIPE."""
    ran = await _bash(root, way, "yes | head -n 1; echo ${PIPESTATUS[0]}")

    assert "y\n141\n" == ran.output


async def test_big_here_documents_have_a_place(root: Path, way: Confinement) -> None:
    """Temporary files can be made, and leave nothing in the workspace."""
    ran = await _bash(root, way, f"cat <<EOF | wc -c\n{'x' * 100_000}\nEOF\nmktemp > /dev/null")

    assert Ran(Result.SUCCEEDED, "100001\n", exit_status=0) == ran
    assert [] == names(root)


async def test_a_flood_is_capped(root: Path, way: Confinement) -> None:
    """A hundred megabytes are read to the end, and 64,000 characters of them kept."""
    ran = await _bash(root, way, "yes | head -c 100M")

    assert Result.SUCCEEDED == ran.result
    assert 100 * 2**20 - 64_000 == ran.cut
    assert len(ran.output) < 65_000


def test_nothing_of_the_service_is_handed_on(root: Path, way: Confinement) -> None:
    """No variable but those that a shell needs, and no open file but the three."""
    script = f"""
    import asyncio, os, socket, sys
    from pathlib import Path
    from adapters.executors.bash import Bash, Shell
    from adapters.executors.confinement import Confinement, Sandbox
    from adapters.executors.registry import Context
    open_file = open({str(root.parent / "secret.txt")!r})
    os.set_inheritable(open_file.fileno(), True)
    way = Confinement({way.value!r})
    context = Context("p", "ref-1", "ref-1", 20, {{"confinement": way.value}})
    listing = Bash(command="env; echo ---; ls /proc/self/fd")
    print(asyncio.run(Shell(Path({str(root)!r}), Sandbox(way)).bash(context, listing)).output)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, "SAYSO_TOKEN": "made-up", "BASH_ENV": "/nowhere", "LD_LIBRARY_PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=True,
    )
    shown, files = done.stdout.split("---")
    variables = shown.splitlines()
    names = {variable.partition("=")[0] for variable in variables}

    assert "made-up" not in done.stdout
    own = {"PATH", "HOME", "LANG", "TERM", "SAYSO_REF", "PWD", "SHLVL", "_"}

    assert own | set(DISARMED) == names - {"TMPDIR"}
    assert "SAYSO_REF=ref-1" in variables
    assert f"HOME={root}" in variables
    assert ["0", "1", "2", "3"] == files.split()


async def test_the_rest_of_the_machine_is_out_of_reach(root: Path, confined: Confinement) -> None:
    """Homes, passwords and files beside the workspace can't be read, the system can't be written."""
    tries = [
        f"cat {root.parent}/secret.txt",
        "ls ~root",
        "cat /etc/shadow",
        "touch /usr/made-up",
        f"ln -s {root.parent}/secret.txt link && cat link",
        f"cat /proc/{os.getpid()}/environ",
        f"ls /proc/{os.getpid()}/root/",
    ]
    ran = await _bash(root, confined, "\n".join(f"{attempt} && echo REACHED" for attempt in tries))

    assert "REACHED" not in ran.output
    assert "out of reach" not in ran.output
    assert "made-up" not in names(Path("/usr"))


async def test_there_is_no_network(root: Path, confined: Confinement) -> None:
    """Not even a server on this machine answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        ran = await _bash(root, confined, f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo REACHED")

    assert "REACHED" not in ran.output


async def test_other_processes_can_not_be_signalled(root: Path, confined: Confinement) -> None:
    """The service and the keeper are out of reach of a command's signals."""
    ran = await _bash(root, confined, f"kill -0 {os.getpid()} && echo REACHED; kill -9 $PPID; echo here")

    assert "REACHED" not in ran.output
    assert "here" in ran.output


async def test_time_is_up(root: Path, way: Confinement) -> None:
    """What was said before stays, and the result says that it was stopped."""
    line, mark = _sleep(4001)
    ran = await _bash(root, way, f"echo before; {line}", limit_s=2)

    assert Result.TIMED_OUT == ran.result
    assert "before\n" == ran.output
    assert say("shell.late", limit=2) == ran.error
    assert [] == _running(mark)


async def test_a_command_may_tidy_up(root: Path, way: Confinement) -> None:
    """It is asked to end before it is killed."""
    line, _ = _sleep(4002)
    ran = await _bash(root, way, f"trap 'echo tidied; exit' TERM; echo ready; {line} & wait", limit_s=2)

    assert "ready\ntidied\n" == ran.output


async def test_what_ignores_being_asked_is_killed(root: Path, way: Confinement) -> None:
    """Two seconds after it was asked."""
    line, mark = _sleep(4003)
    ran = await _bash(root, way, f"trap '' TERM; {line}; {line}", limit_s=2)

    assert Result.TIMED_OUT == ran.result
    assert [] == _running(mark)


@pytest.mark.parametrize(
    "leaving", ["{} &", "setsid {} &", "(setsid sh -c 'trap \"\" TERM; {}; {}' &) &", "nohup {} &"]
)
async def test_nothing_outlives_the_command(root: Path, way: Confinement, leaving: str) -> None:
    """What it left in the background ends with it, also in a session of its own, and isn't waited for."""
    line, mark = _sleep(4004)
    ran = await _bash(root, way, f"{leaving.replace('{}', line)}\necho done")

    assert Result.SUCCEEDED == ran.result
    assert ran.output.endswith("done\n")
    assert [] == _running(mark)


async def test_a_grandchild_in_its_own_session_is_stopped_in_time(root: Path, way: Confinement) -> None:
    """At the limit too, though it left the session, ignores being asked, and keeps the output open."""
    line, mark = _sleep(4005)
    ran = await _bash(root, way, f"setsid sh -c 'trap \"\" TERM; {line}; {line}' & {line}", limit_s=2)

    assert Result.TIMED_OUT == ran.result
    assert [] == _running(mark)


async def test_stopping_the_service_stops_the_command(root: Path, way: Confinement) -> None:
    """When the run is cancelled, everything is gone before it is over."""
    line, mark = _sleep(4006)
    running = asyncio.ensure_future(_bash(root, way, f"touch started; setsid {line} & {line}"))
    await soon((root / "started").exists)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert [] == _running(mark)


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 6])
async def test_a_command_is_stopped_while_it_starts(root: Path, way: Confinement, steps: int) -> None:
    """However early the cancellation comes, also while the event loop is busy elsewhere, nothing runs on."""
    line, mark = _sleep(4009)
    running = asyncio.ensure_future(_bash(root, way, f"setsid {line} & {line}"))
    for _ in range(steps):
        await asyncio.sleep(0)
    time.sleep(0.15)  # noqa: ASYNC251  the loop is held up, and the command is not
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert [] == _running(mark)


async def test_a_killed_service_leaves_nothing(root: Path, way: Confinement) -> None:
    """After SIGKILL of the service, its keeper ends the command and removes the command's temporary folder."""
    line, mark = _sleep(4007)
    script = f"""
    import asyncio
    from pathlib import Path
    from adapters.executors.bash import Bash, Shell
    from adapters.executors.confinement import Confinement, Sandbox
    from adapters.executors.registry import Context
    way = Confinement({way.value!r})
    context = Context("p", "ref-1", "ref-1", 60, {{"confinement": way.value}})
    shell = Shell(Path({str(root)!r}), Sandbox(way))
    asyncio.run(shell.bash(context, Bash(command="setsid {line} & touch started; {line}")))
    """
    service = await asyncio.create_subprocess_exec(
        sys.executable, "-c", textwrap.dedent(script), env={**os.environ, "TMPDIR": str(root.parent)}
    )
    await soon((root / "started").exists)
    service.send_signal(signal.SIGKILL)
    await service.wait()
    await soon(lambda: not _running(mark))
    await soon(lambda: not list(root.parent.glob("sayso-*")))


async def test_a_service_killed_while_it_probes_leaves_no_folder(root: Path, confined: Confinement) -> None:
    """After SIGKILL of the service during the search for a confinement, the keeper removes the probe's folder."""
    script = f"from adapters.executors.confinement import *\nworks(Sandbox(Confinement({confined.value!r})))"
    service = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, env={**os.environ, "TMPDIR": str(root.parent)}
    )
    await soon(lambda: bool(_running(f"{root.parent}/sayso-probe-")))
    service.send_signal(signal.SIGKILL)
    await service.wait()
    await soon(lambda: not list(root.parent.glob("sayso-*")))


async def test_a_card_says_how_it_is_confined(root: Path, way: Confinement) -> None:
    """Not confined, a command is never below high risk."""
    registry = Registry("workspace", None)
    register_shell(registry, Shell(root, Sandbox(way)))
    prepared = await registry.prepare(an_ask("bash", command="ls"))

    assert say("shell.does") == prepared.sentence
    assert str(root) == prepared.cwd
    assert (("confinement", way.value),) == prepared.preconditions
    assert tuple(map(say, Sandbox(way).gaps())) == prepared.notes
    assert (Risk.HIGH if way is Confinement.NONE else Risk.LOW) == prepared.floor


async def test_a_command_never_runs_less_confined_than_shown(root: Path) -> None:
    """Where the confinement is gone by the time it may run, it doesn't run."""
    shown, now = Registry("workspace", None), Registry("workspace", None)
    register_shell(shown, Shell(root, Sandbox(Confinement.BUBBLEWRAP)))
    register_shell(now, Shell(root, Sandbox(Confinement.NONE)))
    ask = an_ask("bash", command="touch ran")
    lease = a_lease(shown, ask, await shown.prepare(ask))
    ran = await now.run(lease, limit_s=5)

    assert say("shell.otherwise", way="bubblewrap") == await now.still_holds(lease.call)
    assert Ran(Result.REFUSED, error=say("shell.otherwise", way="bubblewrap")) == ran
    assert [] == names(root)


async def test_the_registry_leaves_the_shell_time_to_tell(root: Path) -> None:
    """At the limit the output so far comes through, not the registry's own word."""
    registry = Registry("workspace", None)
    register_shell(registry, Shell(root, Sandbox(Confinement.NONE)))
    line, _ = _sleep(4008)
    ask = an_ask("bash", command=f"echo before; {line}")
    ran = await registry.run(a_lease(registry, ask, await registry.prepare(ask)), limit_s=2)

    assert (Result.TIMED_OUT, "before\n") == (ran.result, ran.output)


@pytest.mark.parametrize("command", ["a\0b", "x" * 200_000])
async def test_what_no_command_can_be_is_refused(root: Path, command: str) -> None:
    """Before anyone is asked."""
    registry = Registry("workspace", None)
    register_shell(registry, Shell(root, Sandbox(Confinement.NONE)))
    with raises(InvalidConfirmation, "args.command"):
        await registry.prepare(an_ask("bash", command=command))


def test_the_best_confinement_that_works_is_taken() -> None:
    """It is found by running a command in it."""
    expected = next((way for way in CONFINED if works(Sandbox(way))), Confinement.NONE)

    assert Sandbox(expected) == best()


def test_the_keeper_does_not_start_without_its_limits(root: Path) -> None:
    """A sandbox that can't be set up runs nothing."""
    plan = Plan(os.getpid(), 1, "landlock", str(root), Bounds(), ("/usr",), ("/dev/null\0",)).dumped()
    command = [sys.executable, "-I", "-S", KEEPER, plan, "--", "/bin/touch", "ran"]
    done = subprocess.run(command, cwd=root, capture_output=True, check=False)

    assert supervisor.NEVER_STARTED == done.returncode
    assert [] == names(root)
