"""OpenClaw's plugin, loaded as OpenClaw loads it: it blocks the call unless the command says yes."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sayso_client.hooks import openclaw
from tests.hook_events import NO_ANSWERS, YES, has_ended
from tests.patience import PATIENCE_S

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="no node")

#: Loads the plugin as OpenClaw does and lets it judge a call, while another plugin changes the call's parameters.
HARNESS = """
const { default: plugin } = await import(process.argv[2])
const given = JSON.parse(process.argv[3])
const hooks = []
const agent = { resolveAgentWorkspaceDir: (config, id) => config.folder + "/" + id }
const api = { config: { folder: "/srv" }, runtime: { agent } }
plugin.register({ ...api, on: (name, run, options) => hooks.push({ name, run, options }) })
const [{ name, run, options }] = hooks
const stop = new AbortController()
const params = { command: "rm -r build" }
const context = { agentId: "shop", sessionId: "s1", abortSignal: stop.signal }
const judged = run({ toolName: "exec", params, toolCallId: "c1", runId: "r1" }, context)
params.command = "rm -r /"
if (given.abort) stop.abort()
console.log(JSON.stringify({ name, options, count: hooks.length, answer: await judged }))
"""


def judged(folder: Path, command: str, *, wait_s: int = 60, abort: bool = False) -> dict[str, Any]:
    """What the plugin registers and answers where its command is this shell script."""
    harness = folder / "harness.mjs"
    harness.write_text(HARNESS)
    for name, content in openclaw.beside(command, wait_s).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    given = json.dumps({"abort": abort})
    words = [str(NODE), str(harness), (folder / openclaw.BESIDE).as_uri(), given]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_an_approved_call_runs_with_what_people_saw(tmp_path: Path) -> None:
    """Another plugin can't change it meanwhile, and none comes after ours."""
    told = judged(tmp_path, YES)

    assert ("before_tool_call", 1) == (told["name"], told["count"])
    assert {"params": {"command": "rm -r build"}} == told["answer"]
    assert (-(2**53 - 1), 60_000) == (told["options"]["priority"], told["options"]["timeoutMs"])


def test_the_command_hears_the_call(tmp_path: Path) -> None:
    """As `hooks/openclaw.py` reads it, with the agent's own workspace."""
    judged(tmp_path, f"cat > {tmp_path}/heard; {YES}")
    asked = openclaw.asked(json.loads((tmp_path / "heard").read_text()))

    assert ("exec", "/srv/shop", "s1", "openclaw/s1/r1/c1") == (asked.tool, asked.cwd, asked.session, asked.key)
    assert {"command": "rm -r build"} == asked.args


def test_a_denial_is_a_block_with_its_reason(tmp_path: Path) -> None:
    """The model hears it."""
    told = judged(tmp_path, """echo '{"decision": "deny", "reason": "not today"}'""")

    assert {"block": True, "blockReason": "not today"} == told["answer"]


@pytest.mark.parametrize("command", NO_ANSWERS)
def test_whatever_else_the_command_does_is_a_block(tmp_path: Path, command: str) -> None:
    """With a reason, because OpenClaw wants one."""
    answer = judged(tmp_path, command)["answer"]

    assert (True, True) == (answer["block"], bool(answer["blockReason"]))


def test_a_command_that_hangs_is_killed(tmp_path: Path) -> None:
    """At its own limit, or when OpenClaw ends the call."""
    assert judged(tmp_path, "exec sleep 600", wait_s=1)["answer"]["block"]
    assert judged(tmp_path, "exec sleep 600", abort=True)["answer"]["block"]


def test_a_command_that_hangs_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    """A hook that went on would take an approval that comes later, for a call that is over."""
    script = f"sleep 600 & echo $! > {tmp_path}/started; wait"
    assert judged(tmp_path, script, wait_s=1)["answer"]["block"]

    assert has_ended(int((tmp_path / "started").read_text()))


def test_the_plugin_is_what_its_manifest_says() -> None:
    """OpenClaw doesn't start if the package lacks the program that it names, or if the settings have another id."""
    files = openclaw.beside("", 60)
    manifest, package = (
        json.loads(files[f"sayso_client.hooks/{name}"]) for name in ("openclaw.plugin.json", "package.json")
    )

    assert [manifest["id"]] == [*json.loads(openclaw.put("", "/x/index.js", 60))["plugins"]["entries"]]
    assert ["./index.js"] == package["openclaw"]["extensions"]
    assert "sayso_client.hooks/index.js" == openclaw.BESIDE
