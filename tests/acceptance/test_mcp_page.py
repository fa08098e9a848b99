"""docs/how-to/mcp.md, done as written, with the official client in the place of somebody's."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from bot.mcp import build_servers
from bot.settings import load
from tests.acceptance.installation import until
from tests.acceptance.page import Page, following, newcomer

pytestmark = pytest.mark.long

PAGE = Page("mcp.md")
TRIAL, MOVE, BY_HAND = "Try it without a real server", "Move a client's servers", "Add a server by hand"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A new user's."""
    return newcomer(tmp_path)


def typed(line: str, environment: dict[str, str], folder: Path) -> str:
    """What a command prints; it must end well."""
    done = subprocess.run(
        ["bash", "-euc", line], env=environment, cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert 0 == done.returncode, done.stderr
    return done.stdout


def test_a_call_waits_is_approved_and_answers(tmp_path: Path, environment: dict[str, str]) -> None:
    """The client starts the relay as the page says; the person looks and answers in another terminal."""
    first, added, pending, decide = PAGE.blocks(TRIAL)
    first = first.replace("/tmp/sayso-notes", str(tmp_path / "notes"))  # noqa: S108 - the page's, which others may use
    command, *arguments = shlex.split(added.partition(" -- ")[2].replace("$PWD", str(tmp_path)))

    async def ask() -> str:
        started = StdioServerParameters(command=command, args=arguments, env=environment)
        async with Client(started) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert ["list_notes", "delete_note", "sayso_status", "sayso_withdraw", "ask_human"] == names
            calling = asyncio.create_task(client.call_tool("delete_note", {"name": "milk"}))
            ref = await asyncio.to_thread(until, waiting, "the request")
            await asyncio.to_thread(typed, decide.replace("REF", ref), environment, tmp_path)
            (answer,) = (await calling).content
            return str(getattr(answer, "text", ""))

    def waiting() -> str | None:
        found = re.search(r"\b[0-9A-Z]{6}\b", typed(pending, environment, tmp_path))
        return found[0] if found else None

    with following(first, environment, tmp_path) as terminal:
        terminal.says("service.ready")
        answer = asyncio.run(ask())

    assert "deleted" == answer


def test_servers_move_and_come_back(tmp_path: Path, environment: dict[str, str]) -> None:
    """As the page says, for Claude Desktop."""
    move, back = PAGE.blocks(MOVE)
    file = tmp_path / "home" / ".config" / "Claude" / "claude_desktop_config.json"
    file.parent.mkdir(parents=True)
    held = json.dumps({"mcpServers": {"files": {"command": "npx", "env": {"KEY": "made-up-value"}}}})
    file.write_text(held)
    typed("sayso init", environment, tmp_path)
    typed(move, environment, tmp_path)
    moved = json.loads(file.read_text())["mcpServers"]
    modes = [each.stat().st_mode & 0o777 for each in (tmp_path / "home" / ".config" / "sayso" / "mcp").iterdir()]
    typed(back, environment, tmp_path)

    assert ["sayso"] == list(moved)
    assert "made-up-value" not in json.dumps(moved)
    assert [0o600, 0o600] == modes
    assert held == file.read_text()


def test_the_servers_and_the_policy_of_the_page_can_be_used(
    tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are read as they stand there."""
    servers, policy = PAGE.blocks(BY_HAND)
    for name in ("github-token", "tracker-authorization"):
        (tmp_path / name).write_text("made up")
    file = tmp_path / "sayso.toml"
    file.write_text(servers.replace("~/.config/sayso", str(tmp_path)))
    (tmp_path / "policy.yaml").write_text("version: 1\n" + policy)
    monkeypatch.delenv("SAYSO_CONFIG", raising=False)

    assert ["github", "tracker"] == list(build_servers(load(file)).upstreams)
    assert "allow" in typed("sayso policy explain policy.yaml --tools github --tool get_issue", environment, tmp_path)
