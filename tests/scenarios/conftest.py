"""Every scenario runs once on every surface."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.canaries import CANARIES
from tests.scenarios.harness import Stage
from tests.scenarios.minutes import Minutes
from tests.scenarios.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from tests.scenarios.harness import Surface

SURFACES: dict[str, Callable[[], Surface]] = {
    "plain terminal": Terminal,
    "boxed terminal": lambda: Terminal(width=72),
}


@pytest.fixture(autouse=True)
def canaries(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever happens in a scenario: no planted secret is in the log, a card, an answer, the record or a child."""
    with CANARIES.planted(monkeypatch):
        yield
    assert set() == CANARIES.found()


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
