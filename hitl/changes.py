"""Passes each change that a store has written to everybody who follows the store's changes."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from hitl.ports import Change

_log = logging.getLogger(__name__)


class Listeners:
    """The functions that hear of each change (`hitl.ports.Changes`). Every store uses this class."""

    def __init__(self) -> None:
        self._all: list[Callable[[Change], None]] = []

    def add(self, hear: Callable[[Change], None]) -> Callable[[], None]:
        """Add a function, which gets every later change. Return a function that removes it again."""
        self._all.append(hear)
        return partial(self._all.remove, hear)

    def tell(self, change: Change) -> None:
        """Pass a change to all functions, in the order in which they were added.

        Their errors are only logged, because the change is already durable.
        """
        for hear in tuple(self._all):
            try:
                hear(change)
            except Exception:  # noqa: BLE001 - the change is durable, so a listener's error is only logged
                ref = change.call.ref if change.call else ""
                _log.exception("listener.failed", {"listener": _name_of(hear), "ref": ref})


def _name_of(hear: Callable[[Change], None]) -> str:
    return getattr(hear, "__qualname__", type(hear).__name__)
