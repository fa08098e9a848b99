"""What the README shows is what happens."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.installation import ALONE
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.acceptance.installation import Installation

ROOT = Path(__file__).parents[2]
#: What differs from run to run and from machine to machine: short refs, times of day, logins and places.
CHANGING = (
    (re.compile(r"\b(?=[0-9A-Z]*[0-9])[0-9A-HJKMNP-TV-Z]{6}\b"), "REF"),
    (re.compile(r"\bexpires \d{2}:\d{2}\b"), "expires TIME"),
    (re.compile(r"^  \S+'s agent ", re.MULTILINE), "  SOMEBODY's agent "),
    (re.compile(r"^  on \S+, in \S+$", re.MULTILINE), "  on HOST, in FOLDER"),
)


def shown() -> list[str]:
    """The transcript of the demo, without its fences."""
    found = re.search(r"<!-- demo -->\n```text\n(.*?)```\n<!-- /demo -->", (ROOT / "README.md").read_text(), re.DOTALL)
    assert found is not None
    return found[1].splitlines()


def settled(lines: list[str]) -> list[str]:
    """The lines with what changes replaced, and without blanks at their ends."""
    text = "\n".join(line.rstrip() for line in lines)
    for pattern, instead in CHANGING:
        text = pattern.sub(instead, text)
    return text.splitlines()


def block(language: str) -> str:
    """The one block of this language."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    return str(found)


@pytest.mark.parametrize(("verb", "came"), [("approve", "deleted old-login"), ("reject", "keep it")])
def test_the_agents_tool_obeys_the_policy_beside_it(install: Callable[..., Installation], verb: str, came: str) -> None:
    """The tool waits for a person and then says what came of it; what the policy denies is never asked about."""
    service = install(settings=f'policy = "team"\npolicies = ["policies"]\n{ALONE}')
    (service.root / "policies").mkdir(mode=0o700)
    (service.root / "policies/team.yaml").write_text(block("yaml"))
    service.start()
    with subprocess.Popen(
        [sys.executable, "-c", block("python")], cwd=service.root, stdout=subprocess.PIPE, text=True
    ) as program:
        (call,) = service.waiting()
        service.call("decide", target=call["ref"], verb=verb, reason="keep it" if verb == "reject" else None)
        told, _ = program.communicate(timeout=PATIENCE_S)
    first, second = told.splitlines()

    assert ("delete_branch", "high") == (call["tool"], call["risk"])
    assert came in first
    assert "deleted" not in second
    assert [] == service.call("pending")["calls"]


def test_the_first_screen_shows_the_demo_the_tests_and_a_picture() -> None:
    """Before the first heading of a section: whoever opens the page sees how to try it, and what people see."""
    first = (ROOT / "README.md").read_text().partition("\n## ")[0]

    assert {"make demo", "make test"} <= set(re.findall(r"^make \w+", first, re.MULTILINE))
    assert "docs/cards/readme.png" in first
    assert first.count("\n") < 50


def test_the_transcript_is_real() -> None:
    """The lines behind `>` go in; all others come out, in this order."""
    typed = [line.removeprefix("> ") for line in shown() if line.startswith("> ")]
    done = subprocess.run(
        [Path(sys.executable).with_name("sayso"), "demo"],
        input="\n".join(typed) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )

    assert settled([line for line in shown() if not line.startswith("> ")]) == settled(done.stdout.splitlines())


def test_both_users_of_the_example_reach_the_service(tmp_path: Path) -> None:
    """In a login session the default folder of the socket is closed to the approver; the example names another one."""
    text = (ROOT / "README.md").read_text().partition("## Use it")[2]
    block = text.partition("```sh\n")[2].partition("sayso run")[0]
    session = tmp_path / "session"
    session.mkdir(mode=0o700)
    sayso = Path(sys.executable).with_name("sayso")
    environment = {
        "PATH": f"{sayso.parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "XDG_RUNTIME_DIR": str(session),
    }
    subprocess.run(["bash", "-euc", block], cwd=tmp_path, env=environment, check=True, capture_output=True)
    done = subprocess.run([sayso, "doctor", "--json"], cwd=tmp_path, env=environment, capture_output=True, check=False)
    checks = {check["name"]: check["text"] for check in json.loads(done.stdout)}
    answers = re.search(r"SAYSO_SOCKET=(\S+)", text)

    assert "socket" not in checks
    assert answers is not None
    assert answers[1] in checks["service"]
