"""Every scenario runs once on every surface."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.scenarios.harness import Stage
from tests.scenarios.minutes import Minutes
from tests.scenarios.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tests.scenarios.harness import Surface

SURFACES: dict[str, Callable[[], Surface]] = {
    "plain terminal": Terminal,
    "boxed terminal": lambda: Terminal(width=72),
}


@pytest.fixture(params=SURFACES)
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    """The stage, on one surface; its record is checked at the end."""
    stage = Stage(SURFACES[request.param]())
    yield stage
    await stage.close()


@pytest.fixture
def minutes(monkeypatch: pytest.MonkeyPatch) -> Minutes:
    """The clock of the answers, which limits how often a person gets one."""
    return Minutes.instead(monkeypatch)
