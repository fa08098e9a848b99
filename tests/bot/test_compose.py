"""Putting the process together, where a part of it fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.compose import compose
from bot.errors import SettingsError
from hitl.errors import Unavailable
from hitl.people import Directory
from tests.bot.conftest import default_policy

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

    from adapters.database.sqlite.store import SqliteStore
    from bot.compose import MakeChats, Running
    from hitl.ports import Chat
    from hitl.proof.keyring import Keyring


async def composed(
    folder: Path, workspace: str, chats: MakeChats | None = None, *, allow: Collection[str] = ()
) -> Running:
    """The service in that folder."""
    return await compose(
        state=folder / "state",
        workspace=folder / workspace,
        people=Directory(),
        allow=allow,
        policies=default_policy(),
        chats=chats,
    )


async def no_token(store: SqliteStore, keys: Keyring) -> Mapping[str, Chat]:
    """A platform without its token."""
    raise SettingsError(f"no token, for {store} and {keys}")


def spoil_keys(folder: Path) -> None:
    """A key file that was written over."""
    (folder / "state" / "keys.json").write_text("{}")


def spoil_workspace(folder: Path) -> None:
    """A file where the workspace should be."""
    (folder / "here").rmdir()
    (folder / "here").touch()


@pytest.mark.parametrize(
    ("spoil", "chats"),
    [(spoil_keys, None), (spoil_workspace, None), (lambda _: None, no_token)],
    ids=["keys", "workspace", "chats"],
)
async def test_what_was_opened_is_closed_where_a_later_part_fails(
    tmp_path: Path, spoil: Callable[[Path], None], chats: MakeChats | None
) -> None:
    """The database's log is gone, as SQLite leaves it after the last connection, and the folder is free again."""
    await (await composed(tmp_path, "here")).close()
    keys = (tmp_path / "state" / "keys.json").read_bytes()
    spoil(tmp_path)
    with pytest.raises((Unavailable, SettingsError)):
        await composed(tmp_path, "here", chats)
    left = sorted(one.name for one in (tmp_path / "state").glob("sayso.db-*"))
    (tmp_path / "state" / "keys.json").write_bytes(keys)
    again = await composed(tmp_path, "elsewhere")
    open_now = sorted(one.name for one in (tmp_path / "state").glob("sayso.db-*"))
    await again.close()

    assert [] == left
    assert ["sayso.db-shm", "sayso.db-wal"] == open_now


async def test_a_listed_tool_that_there_is_not_stops_the_start(tmp_path: Path) -> None:
    """Names are open, so a misspelt one is told before anything runs."""
    with pytest.raises(Unavailable, match="format_disk"):
        await composed(tmp_path, "here", allow=["list_files", "format_disk"])


@pytest.mark.parametrize("workspace", [".", "state", "link/.."], ids=["around it", "the same", "by a link"])
async def test_no_workspace_holds_the_state(tmp_path: Path, workspace: str) -> None:
    """A tool that reads files would read the keys, and whoever has those can seal a decision that nobody took."""
    (tmp_path / "state" / "below").mkdir(parents=True)
    (tmp_path / "link").symlink_to("state/below")

    with pytest.raises(Unavailable, match="lies in the workspace"):
        await composed(tmp_path, workspace)
    assert ["below"] == [found.name for found in (tmp_path / "state").iterdir()]
