"""OpenCode's plugin, loaded as OpenCode loads it: it throws unless the command says yes."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sayso_client.hooks import opencode
from tests.hook_events import NO_ANSWERS, YES, has_ended
from tests.patience import PATIENCE_S

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="no node")

#: Loads the plugin as OpenCode does, lets it judge a call, and asks the questions that OpenCode asks.
HARNESS = """
const { Gate } = await import(process.argv[2])
const args = { command: "rm -r build" }
const answered = []
const client = { postSessionIdPermissionsPermissionId: async (answer) => answered.push(answer) }
const hooks = await Gate({ directory: "/srv/shop", client })
const asked = (id, callID, metadata) =>
  hooks.event({ event: { type: "permission.asked", properties: { id, sessionID: "s1", metadata, tool: { callID } } } })
let thrown = null
const before = hooks["tool.execute.before"]({ tool: "bash", sessionID: "s1", callID: "c1" }, { args })
if (process.argv[3] === "changed") args.command = "rm -r /"
await before.catch((error) => (thrown = error.message))
await asked("p1", "c1", { command: "rm -r build" })
await asked("p2", "c2", { command: "rm -r build" })
await asked("p3", "c1", { command: "rm -r /" })
await hooks.event({ event: { type: "session.idle", properties: {} } })
await hooks["tool.execute.after"]({ tool: "bash", sessionID: "s1", callID: "c1" }, {})
await asked("p4", "c1", { command: "rm -r build" })
console.log(JSON.stringify({ thrown, answered: answered.map((answer) => [answer.path.permissionID, answer.body]) }))
"""


def judged(folder: Path, script: str, *how: str, wait_s: int = 60) -> dict[str, Any]:
    """What the plugin does where the command is this shell script."""
    plugin, harness = folder / "plugin.mjs", folder / "harness.mjs"
    plugin.write_text(opencode.beside(script, wait_s)[opencode.BESIDE])
    harness.write_text(HARNESS)
    done = subprocess.run(
        [str(NODE), harness, plugin.as_uri(), *how], capture_output=True, text=True, timeout=PATIENCE_S, check=True
    )
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_what_was_approved_runs_and_its_question_is_answered(tmp_path: Path) -> None:
    """Once, and while it runs; another call's question, another command's and a late one stay open."""
    assert {"thrown": None, "answered": [["p1", {"response": "once"}]]} == judged(tmp_path, YES)


def test_the_command_hears_the_call(tmp_path: Path) -> None:
    """As `hooks/opencode.py` reads it."""
    judged(tmp_path, f"cat > {tmp_path}/heard; {YES}")
    event = json.loads((tmp_path / "heard").read_text())

    assert {"command": "rm -r build"} == event["args"]
    assert ("bash", "/srv/shop", "opencode/s1/c1") == (
        event["tool"],
        event["directory"],
        opencode.asked(event).key,
    )


def test_a_denial_is_thrown_with_its_reason(tmp_path: Path) -> None:
    """The model hears it."""
    said = judged(tmp_path, """echo '{"decision": "deny", "reason": "not today"}'""")

    assert {"thrown": "not today", "answered": []} == said


@pytest.mark.parametrize("script", NO_ANSWERS)
def test_whatever_else_the_command_does_is_thrown(tmp_path: Path, script: str) -> None:
    """And no question is answered."""
    said = judged(tmp_path, script)

    assert said["thrown"]
    assert [] == said["answered"]


def test_a_command_that_hangs_is_killed(tmp_path: Path) -> None:
    """OpenCode itself has no limit for this wait."""
    assert judged(tmp_path, "exec sleep 600", wait_s=1)["thrown"]


def test_a_command_that_hangs_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    """A hook that went on would take an approval that comes later, for a call that is over."""
    assert judged(tmp_path, f"sleep 600 & echo $! > {tmp_path}/started; wait", wait_s=1)["thrown"]

    assert has_ended(int((tmp_path / "started").read_text()))


def test_arguments_that_change_meanwhile_do_not_run(tmp_path: Path) -> None:
    """Another plugin has the same object in its hands."""
    assert judged(tmp_path, YES, "changed")["thrown"]
