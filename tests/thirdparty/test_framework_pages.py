"""docs/how-to of the frameworks: their programs run as they stand, against a service in the folder beside them."""

from __future__ import annotations

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
PAGES = ["langchain", "openai-agents", "pydantic-ai"]


@pytest.fixture(scope="module")
def service(maker: Maker) -> Iterator[Installation]:
    """A running service with the policy that everybody starts with."""
    with maker.batch() as make:
        made = make()
        made.start()
        yield made


@pytest.mark.parametrize("verb", ["approve", "reject"])
@pytest.mark.parametrize("number", [0, 1], ids=["waits", "parks"])
@pytest.mark.parametrize("page", PAGES)
def test_the_programs_of_a_page_do_what_it_says(service: Installation, page: str, number: int, verb: str) -> None:
    """After a yes the branch is deleted, after a no the model hears why; the second program waits for Enter."""
    text = (Path(__file__).parents[2] / "docs" / "how-to" / f"{page}.md").read_text()
    program = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[number]
    program = program.replace("run-17", f"run-{verb}").replace("conversation-17", f"conversation-{verb}")
    program = program.replace('"agent.db"', f'"agent-{verb}.db"').replace('"cleaning"', f'"cleaning-{verb}"')
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=service.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        (call,) = until(lambda: process.poll() or service.call("pending")["calls"], "the call")
        service.call("decide", target=call["ref"], verb=verb, reason="keep it" if verb == "reject" else None)
        told = process.communicate("\n", timeout=PATIENCE_S)[0]
    finally:
        process.kill()

    assert 0 == process.returncode
    assert {"name": "old-login"} == call["args"]
    assert ("deleted old-login" in told) == (verb == "approve")
    assert ("keep it" in told) == (verb == "reject")
