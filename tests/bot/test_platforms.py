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
