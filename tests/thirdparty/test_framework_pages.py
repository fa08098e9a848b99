"""docs/how-to of the frameworks: their programs run as they stand, against a service in the folder beside them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.installation import Installation, until
from tests.acceptance.making import Maker, maker
from tests.patience import PATIENCE_S

__all__ = ["maker"]
pytestmark = pytest.mark.thirdparty
ROOT = Path(__file__).parents[2]
PAGES = ["langchain", "openai-agents", "pydantic-ai"]


def programs(page: str) -> list[str]:
    """The programs of a page."""
    return re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "how-to" / f"{page}.md").read_text(), re.DOTALL)


@pytest.fixture(scope="module")
def service(maker: Maker) -> Iterator[Installation]:
    """A running service with the policy that everybody starts with."""
    with maker.batch() as make:
        made = make()
        made.start()
        yield made


def ran(service: Installation, python: Path, program: str, verb: str) -> str:
    """What a program of a page prints when somebody answers its call so, and Enter is pressed before and after that."""
    file = service.root / "program.py"  # smolagents reads the source of a tool.
    file.write_text(program)
    # CrewAI keeps files in the home folder, and sends telemetry to its vendor unless the variable is set.
    quiet = {"HOME": str(service.root), "OTEL_SDK_DISABLED": "true"}
    environment = {**os.environ, **quiet, "PYTHONPATH": str(ROOT / "clients")}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [python, file], cwd=service.root, env=environment, stdin=pipe, stdout=pipe, text=True
    ) as process:
        try:
            call = until(lambda: process.poll() is not None or service.call("pending")["calls"], "the call")[0]
            if "Press Enter" in program:
                assert process.stdin
                assert process.stdout
                process.stdin.write("\n")
                process.stdin.flush()
                stops = [process.stdout.readline() for _ in range(2)]
                assert [True, True] == [f"stopped for {call['short']}\n" in line for line in stops]
            service.call("decide", target=call["ref"], verb=verb, reason="keep it" if verb == "reject" else None)
            told = process.communicate("\n", timeout=PATIENCE_S)[0]
        finally:
            process.kill()
    assert 0 == process.returncode
    assert {"name": "old-login"} == call["args"]
    return told


@pytest.mark.parametrize("verb", ["approve", "reject"])
@pytest.mark.parametrize("number", [0, 1], ids=["waits", "parks"])
@pytest.mark.parametrize("page", PAGES)
def test_the_programs_of_a_page_do_what_it_says(service: Installation, page: str, number: int, verb: str) -> None:
    """After a yes the branch is deleted, after a no the model hears why; the second program waits for Enter."""
    program = programs(page)[number]
    program = program.replace("run-17", f"run-{verb}").replace("conversation-17", f"conversation-{verb}")
    program = program.replace('"agent.db"', f'"agent-{verb}.db"').replace('"cleaning"', f'"cleaning-{verb}"')
    told = ran(service, Path(sys.executable), program, verb)

    assert ("deleted old-login" in told) == (verb == "approve")
    assert ("keep it" in told) == (verb == "reject")


#: The page's headings, and the environment in which the program below each heading runs.
OTHERS = {
    "Any framework: gate the function": ".venv-frameworks",
    "CrewAI": ".venv-crewai",
    "smolagents": ".venv-frameworks",
    "A loop of your own: OpenAI": ".venv-frameworks",
    "A loop of your own: Anthropic": ".venv-frameworks",
    "Google ADK": ".venv-frameworks",
    "Microsoft Agent Framework": ".venv-frameworks",
    "AutoGen": ".venv-frameworks",
}


@pytest.mark.parametrize("verb", ["approve", "reject"])
@pytest.mark.parametrize("heading", OTHERS)
def test_the_programs_for_other_frameworks_do_what_they_say(service: Installation, heading: str, verb: str) -> None:
    """Each program runs in the environment that holds its framework, with `gate.py` in the same folder."""
    python = ROOT / OTHERS[heading] / "bin" / "python"
    if not python.exists():
        pytest.skip("the frameworks aren't installed: make thirdparty")
    page = (ROOT / "docs" / "how-to" / "your-framework.md").read_text()
    sections = [section.partition("\n") for section in page.split("\n## ")[1:]]
    found = {title: re.findall(r"```python\n(.*?)```", text, re.DOTALL)[-1] for title, _, text in sections}
    assert OTHERS.keys() == found.keys()
    (service.root / "gate.py").write_text(programs("your-framework")[0])
    told = ran(service, python, found[heading], verb)

    assert ("deleted old-login" in told) == (verb == "approve")
    assert ("keep it" in told) == (verb == "reject")
