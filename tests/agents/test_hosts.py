"""The real coding agents behind a running service: what people approve runs, and nothing else does."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sayso_client.command import UNAVAILABLE
from sayso_client.hooks import codex
from sayso_client.hooks.installing import checked
from tests.acceptance.installation import SAYSO, Installation, until
from tests.acceptance.making import Maker, install, maker
from tests.agents.hosts import HOSTS, LIMIT_S, Bench
from tests.agents.model import serving
from tests.hook_service import trust

__all__ = ["install", "maker"]
pytestmark = pytest.mark.agents


@pytest.fixture(scope="module")
def service(maker: Maker) -> Iterator[Installation]:
    """A running service with the policy that everybody starts with."""
    with maker.batch() as make:
        made = make()
        made.start()
        yield made


@pytest.fixture(params=sorted(HOSTS))
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    """Each coding agent, in a home of its own."""
    if not HOSTS[request.param].program.exists():
        pytest.skip(f"{request.param} isn't installed: make thirdparty-agents")
    with serving() as model:
        yield Bench(request.param, tmp_path, model)


def asked(service: Installation, process: subprocess.Popen[str]) -> dict[str, Any]:
    """The call that people see."""

    def seen() -> list[dict[str, Any]]:
        assert process.poll() is None, process.stdout and process.stdout.read()
        calls: list[dict[str, Any]] = service.call("pending")["calls"]
        return calls

    (call,) = until(seen, "the call")
    return call


def test_without_a_hook_the_tool_runs(bench: Bench) -> None:
    """So that all that doesn't run below doesn't run because of the hook."""
    bench.ended(bench.start())

    assert bench.marker.exists()


def test_what_the_policy_allows_runs_without_people(service: Installation, bench: Bench) -> None:
    """Here the listing of a folder, whose output the model hears."""
    bench.install(service.socket)
    bench.model.tool, bench.model.args = bench.host.tool("ls")
    bench.ended(bench.start())

    assert "here.txt" in bench.model.told[0]


def test_an_approved_call_runs_after_the_card(service: Installation, bench: Bench) -> None:
    """People see the command, the working folder and the host; before they answer nothing runs."""
    bench.install(service.socket)
    process = bench.start()
    call = asked(service, process)
    assert not bench.marker.exists()
    service.call("decide", target=call["ref"], verb="approve")
    bench.ended(process)

    assert bench.marker.exists()
    assert (bench.name, str(bench.project)) == (call["agent"], call["cwd"])
    assert f"touch {bench.marker}" == call["args"]["command"]


def test_a_rejected_call_does_not_run_and_the_model_hears_why(service: Installation, bench: Bench) -> None:
    """In the person's words."""
    bench.install(service.socket)
    process = bench.start()
    service.call("decide", target=asked(service, process)["ref"], verb="reject", reason="not on a Friday")
    bench.ended(process)

    assert not bench.marker.exists()
    assert "not on a Friday" in "".join(bench.model.told)


def test_a_call_that_nobody_answers_does_not_run(service: Installation, bench: Bench) -> None:
    """The hook gives up before the host would, and takes the call back."""
    bench.install(service.socket, wait_s=30)
    bench.ended(bench.start())

    assert not bench.marker.exists()
    assert [] == service.call("pending")["calls"]


def test_a_call_does_not_run_where_the_service_is_killed_meanwhile(
    install: Callable[..., Installation], bench: Bench
) -> None:
    """The answer never comes."""
    service = install()
    service.start()
    bench.install(service.socket)
    process = bench.start()
    asked(service, process)
    service.kill()
    bench.ended(process)

    assert not bench.marker.exists()


BROKEN = {
    "missing": None,
    "crash": "exit 1",
    "silent refusal": "exit 2",
    "kill": "kill -9 $$",
    "empty": "exit 0",
    "garbage": "echo garbage",
    "answer and crash": """echo '{"decision": "allow"}'; exit 3""",
    "hang": "exec sleep 600",
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_call_does_not_run_where_the_hook_is_broken(service: Installation, bench: Bench, how: str) -> None:
    """Its Python is gone, or something else stands in its place."""
    bench.install(service.socket, wait_s=30)
    bench.replace_python(BROKEN[how])
    bench.ended(bench.start())

    assert not bench.marker.exists()


@pytest.mark.parametrize("output", [">&-", ">/dev/full"])
def test_a_call_does_not_run_if_its_hook_cannot_write_the_answer(
    service: Installation, bench: Bench, output: str
) -> None:
    """The policy allows the listing. But the hook's output is closed, or goes to a full disk."""
    bench.install(service.socket, wait_s=30)
    bench.replace_python(f'exec {shlex.quote(sys.executable)} "$@" {output}')
    bench.model.tool, bench.model.args = bench.host.tool("ls")
    bench.ended(bench.start())

    assert "here.txt" not in "".join(bench.model.told)


@contextmanager
def small_disk(service: Installation) -> Iterator[Path]:
    """Start the service with its state on a disk of 8 MB of its own. Yield the state folder, as the service sees it."""
    kept = service.root / "kept"
    service.state.rename(kept)
    service.state.mkdir()
    script = 'mount -t tmpfs -o size=8m tmpfs "$0" && cp -a "$1"/. "$0" && shift && exec "$@"'
    mounted = ["unshare", "--mount", "sh", "-c", script, str(service.state), str(kept)]
    words = [*mounted, str(SAYSO), "run", "--config", str(service.config)]
    with subprocess.Popen(words, env=service.surroundings(), cwd=service.root, stderr=subprocess.DEVNULL) as process:
        try:
            until(service.answers, "the service to answer")
            yield Path(f"/proc/{process.pid}/root{service.state}")
        finally:
            process.kill()


@pytest.mark.skipif(os.getuid() != 0 or shutil.which("unshare") is None, reason="only root can mount a small disk")
@pytest.mark.parametrize("full", [True, False])
def test_a_call_does_not_run_if_the_service_has_a_full_disk(
    install: Callable[..., Installation], bench: Bench, *, full: bool
) -> None:
    """The service can't record the listing that the policy allows, so it doesn't allow the listing."""
    service = install()
    with small_disk(service) as state:
        if full:
            with suppress(OSError), (state / "filler").open("wb", buffering=0) as filler:
                while filler.write(bytes(1 << 12)):
                    pass
            # The service may have made its log long before the disk was full.
            large = ("ask", "--no-wait", "--", "true", *("x" * 90_000,) * 10)
            until(lambda: service.run(*large).returncode == UNAVAILABLE, "no room in the log")
        bench.install(service.socket, wait_s=30)
        bench.model.tool, bench.model.args = bench.host.tool("ls")
        bench.ended(bench.start())

    assert ("here.txt" in "".join(bench.model.told)) is not full


def test_claude_code_gets_the_answer_after_a_deferred_call(service: Installation, tmp_path: Path) -> None:
    """The headless run ends while the call is pending. A resumed run gets the approval, and the tool runs once."""
    if not HOSTS["claude-code"].program.exists():
        pytest.skip("claude-code isn't installed: make thirdparty-agents")
    with serving() as model:
        bench = Bench("claude-code", tmp_path, model)
        bench.install(service.socket, "--defer", wait_s=30)
        first = json.loads(bench.ended(bench.start()))
        (call,) = service.call("pending")["calls"]
        ran_early = bench.marker.exists()
        service.call("decide", target=call["ref"], verb="approve")
        bench.host = replace(bench.host, arguments=[*bench.host.arguments, "--resume", first["session_id"]])
        bench.ended(bench.start())

    assert (False, True) == (ran_early, bench.marker.exists())
    assert 1 == model.asked


@pytest.mark.parametrize("trusted", [True, False])
def test_codex_skips_the_hooks_that_doctor_says(service: Installation, tmp_path: Path, *, trusted: bool) -> None:
    """Without the option that skips the question of trust, as people start Codex."""
    if not HOSTS["codex"].program.exists():
        pytest.skip("codex isn't installed: make thirdparty-agents")
    with serving() as model:
        bench = Bench("codex", tmp_path, model)
        bench.install(service.socket)
        bench.host = replace(bench.host, arguments=[one for one in bench.host.arguments if "hook-trust" not in one])
        if trusted:
            trust(bench.settings)
        doctor = codex.skipped(bench.settings, bench.settings.read_text())
        process = bench.start()
        if trusted:
            service.call("decide", target=asked(service, process)["ref"], verb="reject", reason="no")
        bench.ended(process)

    assert (None if trusted else "hook.codex.untrusted") == doctor
    assert bench.marker.exists() is not trusted


#: Runs a command that finds another folder as `/etc`.
WITH_ETC = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc && exec "$@"']


@pytest.mark.skipif(os.getuid() != 0 or shutil.which("unshare") is None, reason="only root can put another /etc there")
@pytest.mark.parametrize("verb", ["approve", "reject"])
@pytest.mark.parametrize("off", [[], ["-c", "features.hooks=false"], ["--disable", "hooks"]], ids=["on", "-c", "off"])
def test_codexs_managed_hook_asks_whatever_its_user_says(
    service: Installation, tmp_path: Path, off: list[str], verb: str
) -> None:
    """Nobody has trusted the hook, and the user's settings and options switch hooks off."""
    if not HOSTS["codex"].program.exists():
        pytest.skip("codex isn't installed: make thirdparty-agents")
    etc = tmp_path / "etc"
    shutil.copytree("/etc", etc, symlinks=True)
    within = [*WITH_ETC, str(etc)]
    words = ["install", "codex", "--managed", "--socket", str(service.socket), "--uid", str(os.getuid()), "--yes"]
    with serving() as model:
        bench = Bench("codex", tmp_path, model)
        subprocess.run(
            [*within, sys.executable, "-I", "-m", "sayso_client.hooks.installing", *words],
            env=bench.surroundings,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        bench.settings.write_text(bench.settings.read_text() + "[features]\nhooks = false\n")
        arguments = [one for one in bench.host.arguments if "hook-trust" not in one]
        codex_line = [str(bench.host.program), *arguments[:-1], *off, arguments[-1]]
        bench.host = replace(bench.host, program=Path(within[0]), arguments=[*within[1:], *codex_line])
        process = bench.start()
        service.call(
            "decide", target=asked(service, process)["ref"], verb=verb, reason="no" if verb == "reject" else None
        )
        bench.ended(process)

    assert bench.marker.exists() is (verb == "approve")


#: Changes of the plugin's program with which OpenClaw doesn't start.
BROKEN_PLUGINS: dict[str, Callable[[Path], object]] = {
    "missing": lambda program: program.unlink(),
    "syntax": lambda program: program.write_text("export default {"),
    "start": lambda program: program.write_text('export default { id: "sayso", register() { throw new Error() } }'),
}
#: Changes of OpenClaw's `plugins` with which it doesn't load ours.
SWITCHES = ({"enabled": False}, {"deny": ["sayso"]}, {"allow": ["other"]}, {"entries": {"sayso": {"enabled": False}}})


def switch(bench: Bench, change: dict[str, Any]) -> None:
    """Change OpenClaw's settings."""
    document = json.loads(bench.settings.read_text())
    bench.settings.write_text(json.dumps({**document, "plugins": document["plugins"] | change}))


#: Changes with which OpenClaw runs every tool.
UNLOADED: dict[str, Callable[[Bench], object]] = {
    "folder": lambda bench: shutil.rmtree(bench.command.parent),
    "manifest": lambda bench: (bench.command.parent / "openclaw.plugin.json").unlink(),
    **{json.dumps(change): partial(switch, change=change) for change in SWITCHES},
}


@pytest.fixture
def clawed(service: Installation, tmp_path: Path) -> Iterator[Bench]:
    """OpenClaw with its plugin."""
    if not HOSTS["openclaw"].program.exists():
        pytest.skip("openclaw isn't installed: make thirdparty-agents")
    with serving() as model:
        bench = Bench("openclaw", tmp_path, model)
        bench.install(service.socket)
        yield bench


@pytest.mark.parametrize("how", BROKEN_PLUGINS)
def test_openclaw_does_not_start_with_a_broken_plugin(clawed: Bench, how: str) -> None:
    """It ends before it asks its model for anything."""
    BROKEN_PLUGINS[how](clawed.command)
    process = clawed.start()
    printed = process.communicate(timeout=LIMIT_S)[0]

    assert (1, 0) == (process.returncode, clawed.model.asked), printed
    assert not clawed.marker.exists()


@pytest.mark.parametrize("how", UNLOADED)
def test_openclaw_runs_every_tool_without_its_plugin_and_doctor_is_red(clawed: Bench, how: str) -> None:
    """OpenClaw takes a missing plugin for an old setting. Only the check of the hook notices."""
    before = {state for state, _ in checked("openclaw", clawed.settings)}
    UNLOADED[how](clawed)
    after = {state for state, _ in checked("openclaw", clawed.settings)}
    clawed.ended(clawed.start())

    assert clawed.marker.exists()
    assert (False, True) == ("red" in before, "red" in after)


def test_opencode_runs_nothing_where_its_plugin_is_gone(service: Installation, tmp_path: Path) -> None:
    """The question stays open, because only the plugin answers it."""
    if not HOSTS["opencode"].program.exists():
        pytest.skip("opencode isn't installed: make thirdparty-agents")
    with serving() as model:
        bench = Bench("opencode", tmp_path, model)
        bench.install(service.socket)
        bench.command.unlink()
        bench.ended(bench.start())

    assert not bench.marker.exists()
