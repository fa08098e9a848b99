"""The installed command of each host: it allows after a yes, and blocks whenever anything is unclear or broken."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sayso_client.hooks.answering import PROBE, PROBED
from sayso_client.hooks.installing import Service, command
from tests.acceptance.installation import Installation, until
from tests.hook_events import EVENTS, PROMPT, read
from tests.patience import PATIENCE_S
from tests.sentences import says

HOSTS = sorted(EVENTS)
UID = os.getuid()


def line(service: Installation, host: str, wait_s: int = 60, **changes: Any) -> str:
    """The command as it is installed."""
    return command(host, Service(socket=str(service.socket), uid=UID), wait_s, **changes)


def ran(line: str, event: Any, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command, run as a host runs it, in a folder that a project chose."""
    return subprocess.run(  # noqa: S602 - as hosts run it
        line,
        shell=True,
        input=event if isinstance(event, str) else json.dumps(event),
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def outcome(host: str, done: subprocess.CompletedProcess[str]) -> str:
    """What the host does: as its answer says, or `block` for the exit status 2 with a reason."""
    if done.returncode:
        return "block" if done.returncode == 2 and done.stderr.strip() else "run"
    try:
        return read(host, json.loads(done.stdout))
    except ValueError:
        return "run"


def numbered(host: str, number: object) -> dict[str, Any]:
    """The host's event, of a call of its own."""
    event = {**EVENTS[host]}
    for name in ("tool_use_id", "callID", "toolCallId"):
        if name in event:
            event[name] = f"{event[name]}-{number}"
    return event


def decided(service: Installation, verb: str, reason: str | None = None) -> threading.Thread:
    """Somebody who answers the next call."""

    def answer() -> None:
        (call,) = until(lambda: service.call("pending")["calls"], "the call")
        service.call("decide", target=call["ref"], verb=verb, reason=reason)

    thread = threading.Thread(target=answer)
    thread.start()
    return thread


@pytest.mark.parametrize("host", HOSTS)
def test_a_yes_allows_once(service: Installation, host: str, tmp_path: Path) -> None:
    """The call is handed over, and the record says so."""
    person = decided(service, "approve")
    done = ran(line(service, host), numbered(host, "yes"), tmp_path)
    person.join()

    assert "allow" == outcome(host, done)
    assert [] == service.call("pending")["calls"]


@pytest.mark.parametrize("host", HOSTS)
def test_a_card_names_the_host_the_project_and_the_session(service: Installation, host: str) -> None:
    """Who has several agents at work must see which one asks; the whole session stands in Details."""
    process = subprocess.Popen(["sh", "-c", line(service, host)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    with process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(numbered(host, "named")).encode())
        process.stdin.close()
        (call,) = until(lambda: service.call("pending")["calls"], "the call")
        service.call("withdraw", target=call["ref"])

    assert {"/srv/shop": host} == {call["cwd"]: call["agent"]}
    assert all(name in call["note"] for name in (host, "shop", "s1"))


def test_an_edit_is_shown_with_its_file_and_as_a_diff(service: Installation) -> None:
    """A coding agent sends the old and the new text, and no preview."""
    edit = {"file_path": "/srv/shop/a.py", "old_string": "a = 1\nb = 2", "new_string": "a = 1\nb = 9"}
    event = {**numbered("claude-code", "edit"), "tool_name": "Edit", "tool_input": edit}
    process = subprocess.Popen(
        ["sh", "-c", line(service, "claude-code")], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    with process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(event).encode())
        process.stdin.close()
        (call,) = until(lambda: service.call("pending")["calls"], "the call")
        shown = service.call("card", target=call["ref"])
        service.call("withdraw", target=call["ref"])

    assert "/srv/shop/a.py" in call["headline"]
    assert "a = 1" not in call["headline"]
    assert [" a = 1\n-b = 2\n+b = 9"] == [part["text"] for part in shown["card"]["parts"] if part["kind"] == "diff"]


@pytest.mark.parametrize("host", HOSTS)
def test_a_no_blocks_and_the_model_hears_why(service: Installation, host: str, tmp_path: Path) -> None:
    """On stdout for the host, on stderr for hosts that read that."""
    person = decided(service, "reject", "not on a Friday")
    done = ran(line(service, host), numbered(host, "no"), tmp_path)
    person.join()

    assert "deny" == outcome(host, done)
    assert "not on a Friday" in done.stdout
    assert "not on a Friday" in done.stderr


@pytest.mark.parametrize("host", HOSTS)
def test_what_the_policy_allows_is_left_to_the_hosts_own_rules(
    service: Installation, host: str, tmp_path: Path
) -> None:
    """Where the host has such an answer; nobody is asked."""
    event = json.loads(json.dumps(numbered(host, "read")).replace("rm -r build", "ls"))
    for name in ("cwd", "directory"):
        if name in event:
            event[name] = str(tmp_path)
    for extra in ("is_background", "mode", "description"):
        event.get("tool_input", event.get("toolArgs", {})).pop(extra, None)
    done = ran(line(service, host), event, tmp_path)

    assert ("allow" if host in {"copilot", "openclaw", "opencode"} else "own") == outcome(host, done)


def test_a_prompt_of_claudes_own_is_answered_by_people(service: Installation, tmp_path: Path) -> None:
    """Claude wanted a person, so the policy's allow isn't enough."""
    event = {**PROMPT, "tool_input": {"command": "ls"}, "cwd": str(tmp_path)}
    person = decided(service, "approve")
    done = ran(line(service, "claude-code"), event, tmp_path)
    person.join()

    assert "allow" == outcome("claude-code", done)


def test_silence_blocks_and_withdraws_the_call(service: Installation, tmp_path: Path) -> None:
    """Before the host's own deadline, at which it would run the tool."""
    done = ran(line(service, "claude-code", wait_s=18), numbered("claude-code", "silence"), tmp_path)

    assert "deny" == outcome("claude-code", done)
    assert [] == service.call("pending")["calls"]


def test_a_pending_call_can_be_put_off(service: Installation, tmp_path: Path) -> None:
    """A headless run ends; when it is resumed the hook finds the same call, and its answer."""
    event = numbered("claude-code", "defer")
    put_off = line(service, "claude-code", wait_s=18, defer=True)
    first = ran(put_off, event, tmp_path)
    (call,) = service.call("pending")["calls"]
    service.call("decide", target=call["ref"], verb="approve")
    second = ran(put_off, event, tmp_path)
    third = ran(put_off, event, tmp_path)

    assert ["defer", "allow", "deny"] == [outcome("claude-code", each) for each in (first, second, third)]


BROKEN = {
    "empty": "",
    "no JSON": "tool_name=Bash",
    "a list": "[]",
    "a name twice": '{"tool_name": "Read", "tool_name": "Bash"}',
    "deep": "[" * 100_000,
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("host", HOSTS)
def test_an_event_that_is_not_understood_blocks(service: Installation, host: str, name: str, tmp_path: Path) -> None:
    """Nobody can say what would run."""
    assert outcome(host, ran(line(service, host), BROKEN[name], tmp_path)) in {"deny", "block"}


CHANGES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "another event": lambda event: {**event, "hook_event_name": "Stop", "toolName": 1},
    "two tools": lambda event: {**event, "tool_name": "Read", "toolName": "bash", "toolCall": {"name": "bash"}},
    "no folder": lambda event: {key: value for key, value in event.items() if key not in {"cwd", "directory"}},
    "arguments that are text": lambda event: {
        key: "rm -r build" if key in {"tool_input", "toolArgs", "params", "args"} else value
        for key, value in event.items()
    },
    "a tool that is no text": lambda event: {
        key: ["bash"] if key in {"tool_name", "toolName", "tool"} else value for key, value in event.items()
    },
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("host", HOSTS)
def test_an_event_of_another_shape_blocks(service: Installation, host: str, name: str, tmp_path: Path) -> None:
    """A newer host may send such; it isn't guessed at."""
    sent = numbered(host, name)
    event = CHANGES[name](sent)

    assert event != sent
    assert outcome(host, ran(line(service, host), event, tmp_path)) in {"deny", "block"}
    assert [] == service.call("pending")["calls"]


@pytest.fixture
def broken(tmp_path: Path) -> Callable[[str], str]:
    """The installed command, its Python replaced by a shell script that does something else."""

    def make(script: str) -> str:
        program = tmp_path / "python"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return command("claude-code", Service(socket="/nowhere", uid=UID), 30, python=str(program))

    return make


@pytest.mark.parametrize(
    "script",
    ["exit 1", "exit 2", "kill -9 $$", "exit 0", "echo garbage", "echo '[]'", "echo '{}'; exit 1", "sleep 600 & wait"],
)
def test_whatever_happens_to_the_hook_the_tool_does_not_run(
    broken: Callable[[str], str], script: str, tmp_path: Path
) -> None:
    """A crash, a kill, silence, garbage and a hook that hangs end as a block with a reason."""
    done = ran(broken(script).replace("-k 1 25", "-k 1 1"), EVENTS["claude-code"], tmp_path)

    assert "block" == outcome("claude-code", done)


def test_a_missing_program_blocks(tmp_path: Path) -> None:
    """As after an upgrade that took the old environment away."""
    missing = command("claude-code", Service(socket="/nowhere", uid=UID), 30, python="/nowhere/python")

    assert "block" == outcome("claude-code", ran(missing, EVENTS["claude-code"], tmp_path))


@pytest.mark.parametrize("host", HOSTS)
def test_a_service_that_is_away_blocks(host: str, tmp_path: Path) -> None:
    """No socket, or nobody behind it. The model reads no command, switch or file by which it could change that."""
    away = command(host, Service(socket=str(tmp_path / "none.sock"), uid=UID), 30)
    done = ran(away, EVENTS[host], tmp_path)

    assert "deny" == outcome(host, done)
    assert says(done.stderr, "hook.unable")
    assert [] == re.findall(r"--\w+|sayso run|none\.sock", done.stdout + done.stderr)


def test_a_service_of_another_user_is_not_believed(service: Installation, tmp_path: Path) -> None:
    """Whoever put its socket there could say yes to everything."""
    foreign = command("claude-code", Service(socket=str(service.socket), uid=UID + 1), 30)

    assert "deny" == outcome("claude-code", ran(foreign, EVENTS["claude-code"], tmp_path))


def test_a_service_that_is_killed_meanwhile_blocks(install: Callable[..., Installation], tmp_path: Path) -> None:
    """The answer to the wait never comes."""
    service = install()
    service.start()

    def kill() -> None:
        until(lambda: service.call("pending")["calls"], "the call")
        service.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    done = ran(line(service, "claude-code", wait_s=20), EVENTS["claude-code"], tmp_path)
    killer.join()

    assert "deny" == outcome("claude-code", done)


def test_a_projects_own_modules_and_variables_are_not_taken(service: Installation, tmp_path: Path) -> None:
    """A project with a `json.py`, a `sayso_client` and a PYTHONPATH of its own changes nothing."""
    for name in ("json.py", "socket.py", "sitecustomize.py"):
        (tmp_path / name).write_text("raise SystemExit(1)")
    (tmp_path / "sayso_client").mkdir()
    (tmp_path / "sayso_client" / "__init__.py").write_text("raise SystemExit(1)")
    (tmp_path / "sayso.toml").write_text("approvers = ['*']")
    chosen = {"PYTHONPATH": str(tmp_path), "PYTHONSTARTUP": str(tmp_path / "json.py"), "SAYSO_SOCKET": "/evil"}
    person = decided(service, "approve")
    done = ran(line(service, "claude-code"), numbered("claude-code", "project"), tmp_path, **chosen)
    person.join()

    assert "allow" == outcome("claude-code", done)


@pytest.mark.parametrize("stdout", [">&-", ">/dev/full"])
@pytest.mark.parametrize("part", ["line", "hook"])
def test_a_stdout_that_takes_nothing_blocks(service: Installation, tmp_path: Path, part: str, stdout: str) -> None:
    """An answer that the host can't read isn't one. This holds for the installed line, and for the hook inside it."""
    whole = line(service, "claude-code")
    hook = whole if part == "line" else shlex.split(whole)[2].partition("$(")[2].partition(") &&")[0]
    done = ran(f"{hook} {stdout}", "{}", tmp_path)

    assert 2 == done.returncode
    assert done.stderr.strip()


@pytest.fixture
def silent() -> Iterator[Path]:
    """The socket of a service that accepts connections and never answers."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{folder}/s")
        listening.listen()
        yield Path(folder) / "s"


@pytest.mark.parametrize("host", HOSTS)
def test_the_hook_itself_ends_at_its_deadline(silent: Path, host: str, tmp_path: Path) -> None:
    """Also without `timeout` around it, which not every system has: the host would run the tool at its own limit."""
    words = ["--socket", str(silent), "--uid", str(UID), "--patience", "1"]
    hook = shlex.join([sys.executable, "-I", "-m", "sayso_client.hooks", host, *words])
    done = ran(hook, EVENTS[host], tmp_path)

    assert 2 == done.returncode
    assert done.stderr.strip()
    assert "deny" == read(host, json.loads(done.stdout))


def test_the_check_of_a_hook_does_not_wait_for_a_silent_service(silent: Path, tmp_path: Path) -> None:
    """`sayso doctor` says that the service doesn't answer, long before the hook's own deadline."""
    hook = command("codex", Service(socket=str(silent), uid=UID), 600)
    code, _ = json.loads(ran(hook, PROBE, tmp_path).stdout)[PROBED]

    assert "UNAVAILABLE" == code


def test_a_host_that_blocks_the_alarm_signal_gets_a_block(silent: Path, tmp_path: Path) -> None:
    """A child inherits the signals that its parent blocks, and those that it ignores."""
    words = ["--socket", str(silent), "--uid", str(UID), "--patience", "1"]
    hook = [sys.executable, "-I", "-m", "sayso_client.hooks", "codex", *words]
    starts = "import os, signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, [14]); signal.signal(14, signal.SIG_IGN)"
    host = shlex.join([sys.executable, "-c", f"{starts}; os.execv(sys.argv[1], sys.argv[1:])", *hook])

    assert "block" == outcome("codex", ran(host, EVENTS["codex"], tmp_path))


def test_a_host_that_never_ends_its_event_gets_a_block(silent: Path) -> None:
    """The deadline counts from the start."""
    words = ["--socket", str(silent), "--uid", str(UID), "--patience", "1"]
    hook = [sys.executable, "-I", "-m", "sayso_client.hooks", "codex", *words]
    process = subprocess.Popen(hook, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with process:
        assert 2 == process.wait(PATIENCE_S)


#: A host: it starts the command that is its argument in a shell, writes the event, and reads the answer.
HOST = (
    "import subprocess, sys; subprocess.run(sys.argv[1], shell=True, input=sys.argv[2].encode(), capture_output=True)"
)


def hosted(line: str, number: str) -> subprocess.Popen[bytes]:
    """A host of its own that asks by the installed command. It has a session of its own, with all that it starts."""
    event = json.dumps(numbered("claude-code", number))
    return subprocess.Popen([sys.executable, "-c", HOST, line, event], start_new_session=True)


def kill_session(host: subprocess.Popen[bytes]) -> None:
    """Kill a host and all that it started. `timeout` and the hook have another process group than the host.

    All processes stop before the first one ends, so that the hook can't notice the end of the host.
    """
    found = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    session = []
    for pid in found:
        with suppress(ProcessLookupError):
            session += [pid] * (os.getsid(pid) == host.pid)
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in session:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
    host.wait()


def asked_by(service: Installation, session: str) -> dict[str, Any]:
    """The pending call whose note or command names this."""
    found: dict[str, Any] = until(
        lambda: next((one for one in service.call("pending")["calls"] if session in json.dumps(one)), None), session
    )
    return found


@pytest.mark.parametrize("killed", ["host", "shell"])
def test_a_call_is_withdrawn_when_nobody_reads_the_answer_any_more(service: Installation, killed: str) -> None:
    """The hook outlives the host and the shell around it. It sees at once that they are gone, and the card says so."""
    host = hosted(line(service, "claude-code"), killed)
    call = asked_by(service, "claude-code")
    if killed == "host":
        host.kill()
    else:
        shells = ["pgrep", "-f", rf"^\S*sh -c.*{service.socket}"]
        for pid in subprocess.run(shells, check=False, capture_output=True, text=True).stdout.split():
            os.kill(int(pid), signal.SIGKILL)
    until(lambda: "withdrawn" == service.status(call["ref"]), "the withdrawal")
    host.wait()
    shown = service.call("card", target=call["ref"])["card"]["outcome"]

    assert says(shown, "unfit.left")
    assert json.loads(service.call("show", target=call["ref"])["call"]["record"][-1]["data"])["why"] == "unfit.left"


def test_a_yes_to_a_hook_that_was_killed_says_that_nothing_ran(service: Installation) -> None:
    """The service notices the end of the connection, waits whether somebody comes back, and then tells the approver."""
    host = hosted(line(service, "claude-code"), "killed")
    call = asked_by(service, "claude-code")
    kill_session(host)
    service.call("decide", target=call["ref"], verb="approve")
    until(lambda: "lapsed" == service.status(call["ref"]), "the end of the call")
    shown = service.call("card", target=call["ref"])["card"]["outcome"]

    assert says(shown, "unfit.left")
    assert "asked approved lapsed".split() == service.events(call["ref"])


def test_only_a_caller_that_nobody_can_follow_takes_its_call_along(service: Installation) -> None:
    """A hook that defers, a key of the caller's own and `--no-wait` leave a call that somebody comes back for."""
    ref = service.run("ask", "unwaited", "--no-wait").stdout.strip()
    stays = [hosted(line(service, "claude-code", defer=True), "defers")]
    deferred = asked_by(service, "claude-code")
    stays.append(subprocess.Popen([*asks(service), "keyed", "--key", "k"], env=service.surroundings()))
    keyed = asked_by(service, "keyed")
    leaves = subprocess.Popen([*asks(service), "keyless"], env=service.surroundings())
    keyless = asked_by(service, "keyless")
    for one in stays:
        one.kill()
        one.wait()
    leaves.kill()
    leaves.wait()
    until(lambda: "withdrawn" == service.status(keyless["ref"]), "the withdrawal")

    assert ["pending"] * 3 == [service.status(left) for left in (ref, deferred["ref"], keyed["ref"])]
    for left in (ref, deferred["ref"], keyed["ref"]):
        service.call("withdraw", target=left)


@pytest.mark.long
@pytest.mark.parametrize("ends", ["stop", "kill"])
def test_a_caller_that_is_killed_while_no_service_runs_takes_its_call_along(
    install: Callable[..., Installation], ends: str
) -> None:
    """The service noted both callers before it ended. The one that lives comes back, and its call is decided."""
    service = install()
    service.start()
    callers = {
        name: subprocess.Popen([*asks(service), name], env=service.surroundings()) for name in ("killed", "living")
    }
    calls = {name: asked_by(service, name) for name in callers}
    noted = service.state / "attended"
    until(lambda: noted.exists() and {*noted.read_text().split()} == {call["ref"] for call in calls.values()}, "both")
    getattr(service, ends)()
    callers["killed"].kill()
    callers["killed"].wait()
    service.start()
    until(lambda: "withdrawn" == service.status(calls["killed"]["ref"]), "the withdrawal")
    service.call("decide", target=calls["living"]["ref"], verb="approve")

    assert 0 == callers["living"].wait(PATIENCE_S)
    assert service.events(calls["killed"]["ref"]) == ["asked", "withdrawn"]


def asks(service: Installation) -> list[str]:
    """The words of `sayso-ask` at this service."""
    return [str(Path(sys.executable).with_name("sayso-ask")), "--socket", str(service.socket)]


def test_a_hook_waits_on_while_the_service_restarts(install: Callable[..., Installation], tmp_path: Path) -> None:
    """The yes to the call that was asked for before the restart allows the tool."""
    service = install()
    service.start()
    person = threading.Thread(target=_restarted_and_approved, args=(service,))
    person.start()
    done = ran(line(service, "claude-code"), EVENTS["claude-code"], tmp_path)
    person.join()

    assert "allow" == outcome("claude-code", done)


def _restarted_and_approved(service: Installation) -> None:
    (call,) = until(lambda: service.call("pending")["calls"], "the call")
    service.kill()
    service.start()
    service.call("decide", target=call["ref"], verb="approve")


@pytest.mark.parametrize("trusts", [{}, {"SSL_CERT_FILE": "cert.pem"}, {"SSL_CERT_DIR": "authorities"}], ids=str)
def test_the_environment_does_not_choose_who_is_trusted(trusts: dict[str, str], tmp_path: Path) -> None:
    """A variable of the host's could name the authority of a false service."""
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2"]
    words += ["-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run(["openssl", *words], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "authorities").mkdir()
    shutil.copy(tmp_path / "cert.pem", tmp_path / "authorities")
    subprocess.run(["openssl", "rehash", "authorities"], cwd=tmp_path, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    (tmp_path / "token").write_text("t")
    named = {name: str(tmp_path / value) for name, value in trusts.items()}
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            with (
                listening.accept()[0] as plain,
                suppress(OSError),
                context.wrap_socket(plain, server_side=True) as told,
            ):
                heard.append(told.recv(1))

        thread = threading.Thread(target=answer)
        thread.start()
        url = f"https://localhost:{listening.getsockname()[1]}"
        hook = command("codex", Service(url=url, token_file=str(tmp_path / "token")), 30)
        done = ran(hook, EVENTS["codex"], tmp_path, **named)
        thread.join()

    assert ("deny", []) == (outcome("codex", done), heard)


def test_an_address_without_tls_gets_no_token(tmp_path: Path) -> None:
    """A process of this machine could have taken the service's port. This holds for an older installation too."""
    (tmp_path / "token").write_text("t")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.1)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        done = ran(
            command("codex", Service(url=url, token_file=str(tmp_path / "token")), 30), EVENTS["codex"], tmp_path
        )
        with pytest.raises(TimeoutError):
            listening.accept()

    assert "block" == outcome("codex", done)


def test_other_programs_on_the_path_are_not_taken(service: Installation, tmp_path: Path) -> None:
    """The installed line names its shell and `timeout` by their paths."""
    for name in ("sh", "timeout", "python3"):
        (tmp_path / name).write_text("#!/bin/sh\necho '{}'\n")
        (tmp_path / name).chmod(0o755)
    person = decided(service, "reject")
    done = ran(line(service, "codex"), numbered("codex", "path"), tmp_path, PATH=f"{tmp_path}:{os.environ['PATH']}")
    person.join()

    assert "deny" == outcome("codex", done)


def test_a_prompt_of_claudes_own_is_not_put_off(service: Installation, tmp_path: Path) -> None:
    """Claude gives the prompt no id, so the hook couldn't find the call again."""
    put_off = line(service, "claude-code", wait_s=18, defer=True)
    done = ran(put_off, {**PROMPT, "cwd": str(tmp_path)}, tmp_path)

    assert "deny" == outcome("claude-code", done)
    assert [] == service.call("pending")["calls"]


def test_a_card_names_the_sub_agent_and_the_mcp_server(service: Installation) -> None:
    """As far as the host names them. Gemini joins a server and its tool with `_`, so the tool's name isn't enough."""
    context = {"server_name": "a_b", "tool_name": "c", "command": "x"}
    events = {
        "claude-code": {**numbered("claude-code", "sub"), "agent_id": "a1", "agent_type": "Explore"},
        "copilot": {**EVENTS["copilot"], "agentId": "a1", "agentType": "explorer"},
        "gemini": {**EVENTS["gemini"], "tool_name": "mcp_a_b_c", "mcp_context": context},
    }
    asked = {}
    for host, event in events.items():
        process = subprocess.Popen(["sh", "-c", line(service, host)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        with process:
            assert process.stdin is not None
            process.stdin.write(json.dumps(event).encode())
            process.stdin.close()
            (call,) = until(lambda: service.call("pending")["calls"], "the call")
            asked[host] = call
            service.call("withdraw", target=call["ref"])

    assert "Explore" in asked["claude-code"]["note"]
    assert "explorer" in asked["copilot"]["note"]
    assert ("mcp__a_b", "mcp_a_b_c") == (asked["gemini"]["tools"], asked["gemini"]["tool"])


def test_a_hook_that_is_told_to_stop_blocks(service: Installation, tmp_path: Path) -> None:
    """SIGTERM in the middle of the wait."""
    hook = [sys.executable, "-I", "-m", "sayso_client.hooks", "claude-code"]
    words = ["--socket", str(service.socket), "--uid", str(UID), "--patience", "60"]
    process = subprocess.Popen(
        [*hook, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(numbered("claude-code", "stop")))
    process.stdin.close()
    (call,) = until(lambda: service.call("pending")["calls"], "the call")
    process.send_signal(signal.SIGINT)
    status = process.wait(PATIENCE_S)
    service.call("withdraw", target=call["ref"])
    told = process.stdout.read() if process.stdout else ""
    for stream in (process.stdout, process.stderr):
        if stream:
            stream.close()

    assert (2, "") == (status, told)
