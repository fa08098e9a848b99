"""docs/how-to/http.md: typed as written by somebody new, from nothing to a request that was decided and ran."""

from __future__ import annotations

import re
import socket
import subprocess
from pathlib import Path

import pytest

from tests.acceptance.page import Page, following, newcomer
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.long

PAGE = Page("http.md")
SECTIONS = ("2. Make a token for the agent", "3. Ask", "4. Decide", "5. Run it, once")
PORT = "8080"
#: Tokens that the page makes beside the way that it goes.
TOKENS = re.findall(r"^    (sayso token create .+)$", PAGE.text, re.MULTILINE)


def free_port() -> str:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return str(server.getsockname()[1])


@pytest.mark.skipif(not Path("/usr/bin/curl").exists(), reason="the page is written for curl")
def test_the_page_leads_from_nothing_to_a_decided_call(tmp_path: Path) -> None:
    """The agent asks, is refused as an approver, waits, claims and reports; the user approves over the socket.

    A question gets its answer, and the page's other tokens can be made.
    """
    environment, port = newcomer(tmp_path), free_port()
    (start,) = PAGE.blocks("1. Start a service")
    (question,) = PAGE.blocks("Ask people a question")
    asked, _, answered = question.replace("REF", "$(sayso pending | head -1 | cut -c1-6)", 1).partition("\nsayso")
    answered = f"sayso{answered}".replace("REF", "$(sayso history --limit 1 | cut -d' ' -f5)")
    blocks = [*(block for section in SECTIONS for block in PAGE.blocks(section)), asked, answered, *TOKENS]
    typed = "\n".join(blocks).replace(PORT, port)
    with following(start.replace(PORT, port), environment, tmp_path) as service:
        service.says("service.ready")
        done = subprocess.run(
            ["bash", "-euc", typed],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=4 * PATIENCE_S,
            check=False,
        )

    assert (0, 3) == (done.returncode, len(done.stderr.splitlines()))
    assert '"output":"production"' in done.stdout
    assert "NOT_APPROVER" in done.stdout
    assert '"status":"approved"' in done.stdout
    assert '"args":{"version":"1.4.2"},"until"' in done.stdout
    assert '"status":"succeeded"' in done.stdout
