"""One service with its gateway for each test, and one client before it on each way."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.scenarios.mcp.behind import WAYS, Behind, Scripted, tool

TOOLS = [
    tool("remove"),
    tool("stat", {"what": "structure"}, outputSchema={"type": "object", "properties": {"size": {"type": "integer"}}}),
    tool("picture", {"what": "picture"}),
    tool("steps", {"what": "steps", "count": 3}),
    tool("die", {"what": "dies"}),
    tool("fail", {"what": "fails"}),
    tool("wait", {"what": "waits"}),
    tool("more", {"what": "asks"}),
]


@pytest.fixture
def files(tmp_path: Path) -> Scripted:
    """A scripted server with a tool of each kind, resources and prompts."""
    return Scripted(
        tmp_path / "files",
        TOOLS,
        tells=True,
        resources=[{"uri": "note://a", "name": "a"}],
        templates=[{"uriTemplate": "page://{name}", "name": "page"}],
        prompts=[{"name": "review", "arguments": [{"name": "code"}]}],
    )


@pytest.fixture
async def behind(tmp_path: Path, files: Scripted) -> AsyncIterator[Behind]:
    """The service with that server behind it; its record is checked at the end."""
    made = Behind(tmp_path, {"files": files})
    made.allow("stat", "picture", "steps", "die", "fail", "wait", "more")
    async with made.running() as running:
        yield running
    await made.store.check_record()


@pytest.fixture(params=WAYS, ids="-".join)
def way(request: pytest.FixtureRequest) -> tuple[str, str]:
    """A transport, and a generation of the protocol."""
    found: tuple[str, str] = request.param
    return found
