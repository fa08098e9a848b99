"""By which ways answers came in, as the record tells `doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from adapters.database.folder import StateFolder
from adapters.database.sqlite.store import SqliteStore
from bot.doctor.answer_inputs import report
from bot.surfaces import surfaces
from hitl.call import Entry, Event
from hitl.platforms import Health
from hitl.ports import Change, adding
from hitl.testing import SetClock
from tests.hitl.world import NOON

if TYPE_CHECKING:
    from pathlib import Path

BOTH = tuple(surfaces()[name] for name in ("telegram", "slack"))
ALL = ("button", "text", "reaction", "command")


async def recorded(state: Path, *answers: tuple[str, str]) -> Path:
    """A database whose record holds answers of these surfaces and kinds, a minute apart; beside other lines."""
    folder, clock = StateFolder.open(state), SetClock(NOON)
    store = await SqliteStore.open(folder, clock)
    for surface, kind in answers:
        line = Entry("", Event.REFUSED, "somebody", {"surface": surface, "kind": kind})
        await store.commit(adding(Change(entries=(line, Entry("", Event.BARRED, "somebody", {"conversation": "x"})))))
        clock.advance(60)
    await store.close()
    folder.close()
    return state / "sayso.db"


async def test_all_that_came_in_is_told_with_its_latest_time(tmp_path: Path) -> None:
    """Of each platform its own, whatever came of them."""
    answers = [("slack", kind) for kind in ALL] + [("telegram", "button"), ("slack", "button"), ("socket", "api")]
    telegram, slack = report(await recorded(tmp_path, *answers), BOTH)

    assert ("slack answers", Health.GREEN) == (slack.name, slack.state)
    assert "button (2026-11-27 12:05 UTC)" in slack.text
    assert "not yet" not in slack.text
    assert "not yet by text" in telegram.text


@pytest.mark.parametrize(("missing", "why"), [("button", "Interactivity"), ("reaction", "reaction_added")])
async def test_what_never_came_in_is_told_with_what_may_be_in_the_way(tmp_path: Path, missing: str, why: str) -> None:
    """Without a press it isn't well: every card offers buttons."""
    answers = [("slack", kind) for kind in ALL if kind != missing]
    (slack,) = report(await recorded(tmp_path, *answers), BOTH[1:])

    assert (Health.YELLOW if missing == "button" else Health.GREEN) is slack.state
    assert f"not yet by {missing}" in slack.text
    assert why in slack.text


async def test_before_the_first_answer_it_says_how_to_try(tmp_path: Path) -> None:
    """Yellow, with an empty record or none."""
    rows = report(await recorded(tmp_path), BOTH) + report(tmp_path / "none.db", BOTH)

    assert [Health.YELLOW] * 4 == [row.state for row in rows]
    assert all("answer it in each way" in row.text for row in rows)


async def test_a_folder_of_any_name_is_read(tmp_path: Path) -> None:
    """Its characters mean nothing in the database's address."""
    row, _ = report(await recorded(tmp_path / "100% #1?x", ("telegram", "button")), BOTH)

    assert Health.GREEN is row.state
