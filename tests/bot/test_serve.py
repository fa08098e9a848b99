"""What a start tells the person at the terminal."""

from __future__ import annotations

from bot.serve import surface_lines
from bot.settings import Settings
from tests.sentences import says


def test_each_surface_that_is_set_up_is_one_line() -> None:
    """The socket always; a port, a platform and MCP servers if they are there, each with where it leads."""
    alone = list(surface_lines(Settings()))
    settings = Settings.model_validate(
        {
            "http": {"port": 8080},
            "telegram": {"receive": "polling"},
            "routes": ["telegram:-1001", "approvers"],
            "mcp": {"servers": {"files": {"command": ["files-server"]}}},
        }
    )
    socket, http, telegram, mcp = surface_lines(settings)

    assert 1 == len(alone)
    assert says(alone[0], "start.socket")
    assert socket == alone[0]
    assert says(http, "start.http", port=8080)
    assert says(telegram, "start.platform", title="Telegram", way="polling", places="approvers, telegram:-1001")
    assert says(mcp, "start.mcp", servers="files")
