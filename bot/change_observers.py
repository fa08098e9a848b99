"""Who hears of every change of a call in this process. One that fails is logged, and keeps nobody from their answer."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hitl.call import Call
    from hitl.ports import Observer

_log = logging.getLogger(__name__)


class Listeners:
    """The gate's one observer: what it tells, it tells to all who were added, in that order."""

    def __init__(self) -> None:
        self._all: list[Observer] = []

    def add(self, listener: Observer) -> None:
        """Tell this one too."""
        self._all.append(listener)

    def remove(self, listener: Observer) -> None:
        """Tell this one no more."""
        self._all.remove(listener)

    def changed(self, call: Call) -> None:
        """Tell all. The change is durable: what a listener does wrong must not look like a failed write."""
        for listener in tuple(self._all):
            try:
                listener.changed(call)
            except Exception:  # noqa: BLE001 - said above
                _log.exception("listener.failed", {"listener": type(listener).__name__, "ref": call.ref})
