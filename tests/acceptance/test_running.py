"""`sayso run`, `chat`, `init` and `doctor`: an installation from its first file to a clean stop."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import socket
import stat
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from hitl.cards.wording import say
from hitl.outcomes import Refusal
from sayso_client.errors import ClientError
from tests.acceptance.installation import ALONE, ME, OTHER, SAYSO, Installation, until
from tests.patience import PATIENCE_S
from tests.sentences import says

#: Somebody asks, somebody else approves: what a doctor likes.
APART = f'requesters = ["{OTHER}"]\napprovers = ["{ME}"]\noperators = ["{ME}"]\ntools = {{ allow = ["list_files"] }}\n'


def test_the_whole_loop_over_a_running_service(service: Installation) -> None:
    """A pipe into `sayso chat`: the agent is asked, a person says yes, the tool runs."""
    done = service.run("chat", given="write hello.txt hi\nyes\nread hello.txt\n")

    assert (0, "") == (done.returncode, done.stderr)
    assert says(done.stdout, "agent.succeeded", how="approved")
    assert "hi" == (service.workspace / "hello.txt").read_text().strip()
    assert "hi" == done.stdout.splitlines()[-1]


def test_a_person_at_a_terminal_is_told_what_the_agent_understands(service: Installation) -> None:
    """A pipe isn't: it reads nothing but answers."""
    master, slave = pty.openpty()
    argv = [str(SAYSO), "chat"]
    talking = subprocess.Popen(argv, stdin=slave, stderr=slave, env=service.surroundings(), cwd=service.root)
    told = os.read(master, 1000).decode()
    os.write(master, b"\x04")

    assert say("offline.help") in told
    assert 0 == talking.wait(20)
    assert "" == service.run("chat").stderr
    for end in (master, slave):
        os.close(end)


def test_a_person_who_types_nothing_hears_what_became_of_their_call(service: Installation) -> None:
    """The answer was given elsewhere; `sayso chat` says so when it happens, not behind the next line."""
    talking = subprocess.Popen(
        [SAYSO, "chat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=service.surroundings(PYTHONUNBUFFERED="1"),
        cwd=service.root,
        text=True,
    )
    assert talking.stdin is not None
    assert talking.stdout is not None
    with talking:
        talking.stdin.write("write hello.txt hi\n")
        talking.stdin.flush()
        (call,) = service.waiting()
        service.call("decide", target=call["ref"], verb="approve")
        until_told = iter(talking.stdout.readline, "")

        assert any(says(line, "agent.succeeded", short=call["short"]) for line in until_told)
        talking.stdin.close()
        assert 0 == talking.wait(PATIENCE_S)


def test_a_command_that_was_approved_answers_no_other_call(service: Installation) -> None:
    """It reaches the socket and has an approver's user, and is refused all the same."""
    (service.workspace / "door").hardlink_to(service.socket)
    (service.workspace / "ask.pl").write_text(
        'use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, sockaddr_un("door")) or die;'
        '$|=1; syswrite(S, "GET /v1/me HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n"); print <S>;'
    )
    done = service.run("chat", given="run perl ask.pl\nyes\n")

    assert says(done.stdout, Refusal.KEPT)


def test_folders_and_socket_are_as_closed_as_promised(service: Installation) -> None:
    """State 0700, its files 0600; the socket's folder can be passed through, the socket used by all."""
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (service.state, service.runtime, service.socket)}

    assert {service.state: 0o700, service.runtime: 0o711, service.socket: 0o666} == modes
    assert {0o600} == {stat.S_IMODE(file.stat().st_mode) for file in service.state.iterdir()}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_service_cleanly(install: Callable[..., Installation], number: signal.Signals) -> None:
    """Exit status 0, the socket gone, those who were connected let go."""
    service = install()
    service.start()
    with service.client() as idle:
        idle.call("ping")
        assert service.process is not None
        service.process.send_signal(number)

        assert 0 == service.wait()
    assert not service.socket.exists()
    assert f"settings='{service.config}'" in service.log
    assert "service.stopped" in service.log
    assert "Traceback" not in service.log


def test_a_running_tool_may_finish_before_the_stop(install: Callable[..., Installation]) -> None:
    """SIGTERM while a command runs: it ends as it would have, and its result is on record."""
    service = install()
    service.start()
    service.say("run touch up; while [ ! -e go ]; do sleep 0.02; done; echo done > out.txt")
    ref = service.waiting()[0]["ref"]
    approving = threading.Thread(target=service.call, args=("decide",), kwargs={"target": ref, "verb": "approve"})
    approving.start()
    until((service.workspace / "up").exists, "the command to run")
    assert service.process is not None
    service.process.terminate()
    until(lambda: "service.stopping" in service.log, "the service to begin its stop")
    (service.workspace / "go").touch()

    assert 0 == service.wait()
    approving.join()
    service.start()
    assert ["done"] == service.lines()
    assert "succeeded" == service.status(ref)


def test_a_killed_tool_is_unknown(install: Callable[..., Installation]) -> None:
    """After kill -9 in the middle of a command nobody knows how far it came: said so, never tried again."""
    service = install()
    service.start()
    service.say("run echo ran >> out.txt; sleep 60")
    ref = service.waiting()[0]["ref"]
    service.call("decide", target=ref, verb="approve")
    until(service.lines, "the command to run")
    service.kill()
    service.start()

    assert "unknown" == service.status(ref)
    assert ["ran"] == service.lines()


def test_a_second_service_on_the_same_state_is_refused(service: Installation) -> None:
    """It names the pid of the first, which lives on."""
    assert service.process is not None
    second = service.run("run", "--wait", "0", SAYSO_RUNTIME=str(service.root / "elsewhere"))

    assert (1, 1) == (second.returncode, len(second.stderr.splitlines()))
    assert f"(pid {service.process.pid})" in second.stderr
    assert ME == service.call("ping")["identity"]


def test_a_second_service_on_the_same_socket_is_refused(service: Installation) -> None:
    """It says where the first listens, and leaves the socket alone."""
    second = service.run("run", SAYSO_STATE=str(service.root / "other-state"))

    assert 1 == second.returncode
    assert says(second.stderr.splitlines()[-1], "api.http.socket.taken", path=service.socket)
    assert ME == service.call("ping")["identity"]


@pytest.mark.forked
def test_the_environment_overrides_the_file(install: Callable[..., Installation]) -> None:
    """Lists are JSON, `__` goes a level down."""
    service = install()
    service.start(SAYSO_TOOLS__ALLOW='["list_files"]', SAYSO_LIMITS__OPEN_PER_REQUESTER="1")

    assert says("".join(service.say("read x.txt")), "why.no_tool")
    assert 16 == service.run("ask", "deploy", "--no-wait").returncode
    refused = service.run("ask", "deploy")
    assert (13, "") == (refused.returncode, refused.stdout)
    assert says(refused.stderr, Refusal.PENDING, who=ME, count=1)


@pytest.mark.forked
@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ("[limits]\nclaim_caler_s = 1\n", "limits.claim_caler_s: no such setting"),
        ("approvers = ['telegram:777000']\n", "telegram:777000"),
    ],
)
def test_settings_that_can_not_be_used_are_two(install: Callable[..., Installation], settings: str, named: str) -> None:
    """One line that names the file's key, and no service."""
    refused = install(settings=settings).run("run")

    assert (2, "", 1) == (refused.returncode, refused.stdout, len(refused.stderr.splitlines()))
    assert named in refused.stderr


@pytest.mark.forked
def test_a_command_that_needs_the_settings_names_the_file(install: Callable[..., Installation]) -> None:
    """Not only the service reads them."""
    place = install(settings="aprovers = []\n")
    refused = place.run("pending")

    assert 2 == refused.returncode
    meant = say("near.setting", near="approvers")
    assert f"sayso: {place.config} can't be used: aprovers: {meant}.\n" == refused.stderr


@pytest.mark.forked
@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SAYSO_APPROVERS", "local:0"),
        ("SAYSO_APPROVERS", "1"),
        ("SAYSO_APROVERS", "[]"),
        ("SAYSO_LIMITS__ASKS", "0"),
        ("SAYSO_LIMITS__ASSK", "1"),
        ("SAYSO_TOOLS__ALLOW", "[1]"),
    ],
)
def test_an_environment_that_can_not_be_used_is_two(
    install: Callable[..., Installation], variable: str, value: str
) -> None:
    """One line that names the variable: what isn't JSON, what there isn't, what is out of bounds."""
    refused = install().run("pending", **{variable: value})

    assert (2, 1) == (refused.returncode, len(refused.stderr.splitlines()))
    assert says(refused.stderr, "setting.environment")
    assert variable in refused.stderr


@pytest.mark.forked
def test_folders_that_can_not_be_used_are_one_line(install: Callable[..., Installation]) -> None:
    """A workspace that is a file, a state folder that others can write: said, and nothing is listened on."""
    place = install()
    place.workspace.touch()
    refused = place.run("run")
    assert (1, 1) == (refused.returncode, len(refused.stderr.splitlines()))
    assert "The workspace" in refused.stderr

    place.workspace.unlink()
    place.state.chmod(0o777)
    refused = place.run("run")
    assert (1, 1) == (refused.returncode, len(refused.stderr.splitlines()))
    assert says(refused.stderr, "database.folder.writable", path=place.state)
    assert not place.socket.exists()


@pytest.mark.forked
@pytest.mark.parametrize("name", ["taken/run", "long" * 30])
def test_a_socket_that_can_not_be_made_is_one_line(install: Callable[..., Installation], name: str) -> None:
    """A folder that can't be, a path that is longer than sockets' may be: said, with the setting to change."""
    place = install()
    (place.root / "taken").touch()
    folder = place.root / name
    refused = place.run("run", SAYSO_RUNTIME=str(folder))

    assert 1 == refused.returncode
    assert refused.stderr.splitlines()[-1].startswith(f"sayso: The socket {folder}/sayso.sock can't be made: ")
    assert "Traceback" not in refused.stderr


@pytest.mark.forked
@pytest.mark.parametrize(("host", "why"), [("127.0.0.1", "Address already in use"), ("192.0.2.1", "Cannot assign")])
def test_a_port_that_can_not_be_had_is_one_line(install: Callable[..., Installation], host: str, why: str) -> None:
    """Somebody else's port, another machine's address: said with the setting to change, and no service is left."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = install()
        refused = place.run("run", SAYSO_HTTP__HOST=host, SAYSO_HTTP__PORT=str(taken.getsockname()[1]))

    assert 1 == refused.returncode
    assert why in refused.stderr.splitlines()[-1]
    assert "Set http.port" in refused.stderr.splitlines()[-1]
    assert "Traceback" not in refused.stderr
    assert not place.socket.exists()


def test_init_writes_settings_that_work(install: Callable[..., Installation]) -> None:
    """What it wrote starts a service; only its owner can read it."""
    place = install()
    file = place.root / "new.toml"
    folders = ["--state", str(place.state), "--workspace", str(place.workspace)]
    done = place.run("init", "--file", str(file), "--approver", OTHER, "--approver", ME, *folders)

    assert (0, "") == (done.returncode, done.stderr)
    assert 0o600 == stat.S_IMODE(file.stat().st_mode)
    place.environment = {"SAYSO_RUNTIME": str(place.runtime)}
    file.replace(place.config)
    place.start()
    assert f"{say('pending.none')}\n" == place.run("pending").stdout


@pytest.mark.forked
def test_init_overwrites_nothing(install: Callable[..., Installation]) -> None:
    """A file that is there stays as it is, and the status says so."""
    place = install()
    before = place.config.read_text()
    refused = place.run("init", "--file", str(place.config))

    assert (2, "", 1) == (refused.returncode, refused.stdout, len(refused.stderr.splitlines()))
    assert before == place.config.read_text()


def states(place: Installation) -> dict[str, str]:
    """Each check of the doctor, by its name, and that the exit status goes with them."""
    done = place.run("doctor", "--json")
    told = {check["name"]: check["state"] for check in json.loads(done.stdout)}
    assert ("red" in told.values()) == bool(done.returncode)
    assert "" == done.stderr
    return told


@pytest.mark.forked
def test_the_doctor_knows_a_service_of_other_settings(install: Callable[..., Installation], tmp_path: Path) -> None:
    """It answers on the socket of these settings, but it uses another state folder: also where that is a copy."""
    place = install(settings=ALONE)
    place.start()
    assert "green" == states(place)["service"]
    for folder in (tmp_path / "none", Path(shutil.copytree(place.state, tmp_path / "copy"))):
        moved = place.config.read_text().replace(f'"{place.state}"', f'"{folder}"')
        (tmp_path / "sayso.toml").write_text(moved)
        done = place.run("doctor", "--json", "--config", str(tmp_path / "sayso.toml"))
        (service,) = [check for check in json.loads(done.stdout) if check["name"] == "service"]

        assert ("red", True) == (service["state"], str(folder) in service["text"])


@pytest.mark.forked
def test_lost_keys_are_not_replaced(install: Callable[..., Installation]) -> None:
    """New ones would make all that the record holds look changed; the doctor is red and says what to do."""
    service = install()
    service.start()
    service.stop()
    kept = service.state / "keys.json"
    kept.rename(service.root / "elsewhere.json")
    started = service.launch()
    status = started.wait(60)
    checks = {check["name"]: check for check in json.loads(service.run("doctor", "--json").stdout)}
    (service.root / "elsewhere.json").rename(kept)
    service.start()

    assert 0 != status
    assert "red" == checks["keys"]["state"]
    assert str(kept) in checks["keys"]["text"]
    assert 0 == service.run("audit", "verify").returncode


@pytest.mark.forked
def test_the_doctor_is_content_with_a_sound_installation(install: Callable[..., Installation]) -> None:
    """No red, exit status 0, a line for each check."""
    place = install(settings=APART)
    place.start()
    done = place.run("doctor")

    told = states(place)

    assert (0, "") == (done.returncode, done.stderr)
    assert "red" not in told.values()
    assert len(told) == len(done.stdout.splitlines())
    assert all(line[0] in "✔!" for line in done.stdout.splitlines())


@pytest.mark.forked
def test_the_doctor_misses_the_service(install: Callable[..., Installation]) -> None:
    """Down is red."""
    assert "red" == states(install(settings=APART))["service"]


@pytest.mark.forked
def test_a_chat_that_loses_its_service_ends_in_one_line(install: Callable[..., Installation]) -> None:
    """Exit status 1, and what was recorded is kept."""
    service = install()
    service.start()
    with service.client() as client:
        client.attach()
        list(client.say("write a.txt b"))
        ref = service.waiting()[0]["ref"]
        service.kill()
        with pytest.raises(ClientError) as lost:
            list(client.say("yes"))
    assert "UNAVAILABLE" == lost.value.code
    service.start()
    assert "pending" == service.status(ref)


def test_a_supervisor_hears_when_requests_are_taken_and_when_the_service_stops(
    install: Callable[..., Installation],
) -> None:
    """It waits for the first message before it says that the service has started: sd_notify(3)."""
    service = install()
    address = service.root / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
        supervisor.bind(str(address))
        supervisor.settimeout(PATIENCE_S)
        service.launch(NOTIFY_SOCKET=str(address))

        assert b"READY=1" == supervisor.recv(100)
        assert [] == service.call("pending")["calls"]
        assert 0 == service.stop()
        assert b"STOPPING=1" == supervisor.recv(100)


def test_a_service_whose_supervisor_is_gone_works_and_says_so_in_its_log(install: Callable[..., Installation]) -> None:
    """The variable was left in the environment of a shell, for example."""
    service = install()
    service.start(NOTIFY_SOCKET=str(service.root / "nobody"))

    until(lambda: "service.not_announced" in service.log, "the line of the log")
    assert [] == service.call("pending")["calls"]
