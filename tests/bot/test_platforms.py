"""What is in the way of gating a call that is no platform's: the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.compose import Running
from bot.platforms import Platforms
from bot.settings import Settings
from tests.sentences import says


@pytest.mark.parametrize(("state", "why"), [("/proc", "is full"), ("/proc/none", "is out of reach")])
async def test_a_disk_that_takes_nothing_is_a_trouble(state: str, why: str) -> None:
    """A file system without a free block, a folder that is gone: `/readyz` and `doctor` say so."""
    (told,) = await Platforms(Settings(state=Path(state))).troubles()

    assert told.startswith("store: ")
    assert why in told


async def test_a_disk_with_room_is_none(tmp_path: Path) -> None:
    """Nothing is in the way."""
    assert [] == await Platforms(Settings(state=tmp_path)).troubles()


async def test_a_route_that_refuses_cards_is_in_the_way(running: Running, tmp_path: Path) -> None:
    """Whoever asks whether the service is ready hears the platform's words."""
    gate = running.service.gate
    gate.reach.refused("telegram:-1", "Forbidden", gate.clock.now(), alarming=True)
    platforms = Platforms(Settings(state=tmp_path))
    platforms.attach(running.service)
    (told,) = await platforms.troubles()

    assert says(told, "trouble.route", route="telegram:-1", why="Forbidden")


async def test_a_state_folder_that_is_open_to_others_is_in_the_way(
    running: Running, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """While each request is refused for it, `/readyz` says so, and the log has one line, not one for each request."""
    platforms = Platforms(Settings(state=tmp_path))
    platforms.attach(running.service)
    running.folder.path.chmod(0o711)
    with caplog.at_level("INFO"):
        told = [await platforms.troubles() for _ in range(3)]
        running.folder.path.chmod(0o700)
        closed = await platforms.troubles()

    assert [True, True, True] == [str(running.folder.path) in one[0] for one in told]
    assert ([], ["state.exposed", "state.closed"]) == (
        closed,
        [record.message for record in caplog.records if record.message.startswith("state.")],
    )
