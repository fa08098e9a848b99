"""The API against schemathesis: every answer is as the OpenAPI document says, and none is a failure of the service."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.installation import ME, Installation, until

pytestmark = pytest.mark.thirdparty

SETTINGS = f"""
requesters = ["{ME}"]
approvers = ["token:ann", "local:4321"]
operators = ["{ME}"]
limits = {{asks = 1000000, open_per_requester = 100000, again_s = 0}}

[http]
port = 0
tokens = {{ann = "critical"}}
"""
#: Streams don't end, so schemathesis can't read them.
STREAMS = ("/v1/events", "/v1/chat")
_LONGEST_S = 1800


@pytest.fixture(scope="module")
def service() -> Iterator[Installation]:
    """A service with a port."""
    with tempfile.TemporaryDirectory(prefix="gated-") as folder:
        (Path(folder) / "sayso").mkdir()
        service = Installation(Path(folder) / "sayso", SETTINGS)
        try:
            service.start()
            yield service
        finally:
            service.close()


def url(service: Installation) -> str:
    """Where the service listens on TCP."""
    found = until(lambda: re.search(r"http\.ready.* port=(\d+)", service.log), "a port")
    return f"http://127.0.0.1:{found[1]}"


@pytest.mark.parametrize(("name", "scope"), [("ci", "agent"), ("ann", "approver"), ("ops", "operator")])
def test_every_answer_is_as_the_document_says(service: Installation, name: str, scope: str) -> None:
    """Examples, border cases, random requests and whole sequences of requests, by each kind of token."""
    owner = ("--owner", ME) if scope == "agent" else ()
    token = service.run("token", "create", name, "--scope", scope, *owner).stdout.strip()
    excluded = [word for path in STREAMS for word in ("--exclude-path", path)]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{url(service)}/openapi.json", "--no-color"),
            *("--header", f"Authorization: Bearer {token}", "--max-examples", "30", "--request-timeout", "70"),
            *excluded,
        ],
        capture_output=True,
        text=True,
        timeout=_LONGEST_S,
        check=False,
        cwd=service.root,
    )

    assert 0 == done.returncode, done.stdout[-8000:]
    assert "Traceback" not in service.log
