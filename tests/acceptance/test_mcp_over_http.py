"""`/mcp` of the running service: the gateway over streamable HTTP, for tokens that may ask."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.acceptance.installation import ALONE, ME, SAYSO, Installation, until
from tests.acceptance.making import Maker
from tests.mcp_messages import INITIALIZE
from tests.patience import PATIENCE_S

LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


@pytest.fixture(scope="module")
def running(maker: Maker) -> Iterator[Installation]:
    """A running service with one MCP server and a port, which the tests of this file share."""
    with maker.batch(forked=True) as make:
        made = make(settings="http.port = 0\n" + ALONE)
        server = json.dumps([str(SAYSO), "simulate", "mcp", str(made.root / "notes")])
        with made.config.open("a") as config:
            config.write(f"\n[mcp.servers.notes]\ncommand = {server}\n")
        made.start()
        yield made


def token(service: Installation, name: str, scope: str = "agent") -> str:
    """A new token of that name and scope."""
    owner = ["--owner", ME] if scope == "agent" else []
    done = service.run("token", "create", name, "--scope", scope, *owner, "--json")
    assert 0 == done.returncode, done.stderr
    return str(json.loads(done.stdout)["token"])


def posted(service: Installation, message: Any, **headers: str) -> httpx.Response:
    """The answer to a message."""
    found = until(lambda: re.search(r"http\.ready.*?port[\"'=: ]+(\d+)", service.log), "the port")
    both = {"Accept": "application/json, text/event-stream", **headers}
    return httpx.post(f"http://127.0.0.1:{found[1]}/mcp", json=message, headers=both, timeout=30)


def test_a_token_that_may_ask_finds_the_tools(service: Installation) -> None:
    """Those of the server, and ours."""
    bearer = {"Authorization": f"Bearer {token(service, 'finds-tools')}"}
    opened = posted(service, INITIALIZE, **bearer)
    session = {"Mcp-Session-Id": opened.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-06-18"}
    posted(service, {"jsonrpc": "2.0", "method": "notifications/initialized"}, **bearer, **session)
    listed = posted(service, LIST, **bearer, **session)

    assert (200, 200) == (opened.status_code, listed.status_code)
    assert "delete_note" in listed.text
    assert "sayso_status" in listed.text


def test_a_stream_ends_with_its_token(service: Installation) -> None:
    """A client hears nothing more after its token was revoked."""
    bearer = {"Authorization": f"Bearer {token(service, 'ends')}"}
    opened = posted(service, INITIALIZE, **bearer)
    session = {"Mcp-Session-Id": opened.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-06-18"}
    headers = {"Accept": "text/event-stream", **bearer, **session}
    with httpx.stream("GET", str(opened.url), headers=headers, timeout=PATIENCE_S) as stream:
        assert 200 == stream.status_code
        assert 0 == service.run("token", "revoke", "ends").returncode
        stream.read()

    assert 401 == posted(service, LIST, **bearer, **session).status_code


@pytest.mark.parametrize(("scope", "status"), [("", 401), ("approver", 403)])
def test_nobody_else_reaches_the_gateway(service: Installation, scope: str, status: int) -> None:
    """Without a token, and with one that can't ask."""
    bearer = {"Authorization": f"Bearer {token(service, scope, scope)}"} if scope else {}

    assert status == posted(service, INITIALIZE, **bearer).status_code


def test_a_page_of_another_site_reaches_nothing(service: Installation) -> None:
    """Whatever token it got hold of."""
    bearer = {"Authorization": f"Bearer {token(service, 'elsewhere')}"}

    assert 403 == posted(service, INITIALIZE, **bearer, Origin="https://evil.example").status_code
