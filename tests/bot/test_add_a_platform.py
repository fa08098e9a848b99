"""`docs/how-to/add-a-platform.md` builds a chat platform: its files are played as they are on the page."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import create_model

import adapters
from bot.compose import compose
from bot.doctor.checks import run_checks
from bot.platforms import Platforms
from bot.settings import Settings
from bot.surfaces import PLATFORMS
from hitl.call import Ask, Runs, Status
from hitl.platforms import Health
from tests.bot.conftest import default_policy
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

PAGE = Path(__file__).parents[2] / "docs/how-to/add-a-platform.md"
MOST_LINES = 300


def files() -> dict[str, str]:
    """The files of the page by their path."""
    blocks = re.findall(r"```python\n# (adapters/\S+)\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    return dict(blocks)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The page followed to its end: the files are there, the platform is in the table and in the settings."""
    for path, text in files().items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    monkeypatch.setattr(adapters, "__path__", [*adapters.__path__, str(tmp_path / "adapters")])
    monkeypatch.setitem(PLATFORMS, "board", "adapters.board")
    section: Any = importlib.import_module("adapters.board.settings").BoardSettings

    (tmp_path / "rooms").mkdir()
    with_board: Any = create_model("WithBoard", __base__=Settings, board=(section | None, None))
    lists = {"approvers": ["board:ann"], "requesters": ["local:1"], "routes": ["board:ops"]}
    board = {"path": tmp_path / "rooms", "every_s": 0.01}
    yield with_board(state=tmp_path / "state", workspace=tmp_path / "here", board=board, **lists)
    for name in [name for name in sys.modules if name.startswith("adapters.board")]:
        del sys.modules[name]


@contextlib.asynccontextmanager
async def service(settings: Any) -> AsyncIterator[Any]:
    """The service as `sayso run` starts it, with the folder."""
    async with contextlib.AsyncExitStack() as parts:
        platforms = Platforms(settings)
        parts.push_async_callback(platforms.close)
        running = await compose(
            state=settings.folder("state"),
            workspace=settings.folder("workspace"),
            people=settings.directory(),
            allow=("write_file",),
            policies=default_policy(),
            chats=platforms.make,
        )
        parts.push_async_callback(running.close)
        platforms.attach(running.service)
        await running.service.start()
        await platforms.start(parts)
        yield running.service


def shows(path: Path, text: str) -> bool:
    """Whether a room says it by now."""
    return path.exists() and text in path.read_text("utf-8")


async def until(path: Path, text: str) -> None:
    """Wait until a room says something."""
    async with asyncio.timeout(PATIENCE_S):
        while not shows(path, text):  # noqa: ASYNC110 - a file tells nobody
            await asyncio.sleep(0.01)


async def test_the_page_builds_a_platform_that_people_can_answer_on(settings: Any, tmp_path: Path) -> None:
    """The card is in the room, a stranger's line decides nothing, and the approver's line lets the tool run, once."""
    room = tmp_path / "rooms/ops"
    async with service(settings) as running:
        args = {"path": "a.txt", "text": "x"}
        call = (await running.submit(Ask("workspace", "write_file", args, "local:1", "local", Runs.SERVICE))).call
        await until(room, call.short)
        with room.open("a") as file:
            file.write(f"sam: yes {call.short}\nann: yes {call.short}\nann: /show {call.short}\nann: \n")
        ended = await running.ended(call, PATIENCE_S)
        await until(room, "a.txt")

    assert (Status.SUCCEEDED, "board:ann") == (ended.status, ended.decided_by)
    assert "x" == (tmp_path / "here/a.txt").read_text()
    assert all(line.startswith(("sayso: ", "sam: ", "ann: ")) for line in room.read_text().splitlines())


def test_doctor_checks_it(settings: Any, tmp_path: Path) -> None:
    """Its own line, the room that isn't there yet, and how people answered so far."""
    checks = {check.name: check for check in run_checks(settings, None)}

    assert Health.GREEN is checks["board"].state
    assert str(tmp_path / "rooms") in checks["board"].text
    assert {"board:ops", "board answers"} <= set(checks)
    assert not {"unknown approvers", "unknown routes"} & set(checks)


def test_the_page_stays_short() -> None:
    """A platform is under three hundred lines."""
    assert sum(text.count("\n") for text in files().values()) < MOST_LINES
