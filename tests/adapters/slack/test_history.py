"""Which threads are read after a gap."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from adapters.slack.history import pending_threads

if TYPE_CHECKING:
    from hitl.ports import CallsAndCards


class Pending:
    """A store with one pending call for each origin, and no cards."""

    def __init__(self, *origins: str) -> None:
        self._origins = origins

    async def pending(self) -> list[Any]:
        """The calls."""
        return [SimpleNamespace(ref=origin, origin=origin) for origin in self._origins]

    async def cards(self, ref: str) -> dict[str, str | None]:
        """None."""
        del ref
        return {}


@pytest.mark.parametrize("odd", ["slack:", "slack:T1", "slack:T1/C1/5.0/6"])
async def test_an_origin_that_is_no_place_does_not_hide_the_others(odd: str) -> None:
    """Whoever may name any origin could otherwise keep every channel from being read."""
    store = cast("CallsAndCards", Pending(odd, "slack:T1/C1/5.0"))

    assert ["5.0"] == (await pending_threads(store))["C1"]
