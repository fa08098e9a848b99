"""Notifies all observers of a call's changes in this process.

If an observer fails, the failure is logged, and the other observers are still notified.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hitl.call import Call
    from hitl.ports import Observer

_log = logging.getLogger(__name__)


class Listeners:
    """The gate's only observer.

    It passes each change of a call to all listeners. A listener that was added earlier gets the change earlier.
    """

    def __init__(self) -> None:
        self._all: list[Observer] = []

    def add(self, listener: Observer) -> None:
        """Add a listener, which gets every later change of a call."""
        self._all.append(listener)

    def remove(self, listener: Observer) -> None:
        """Remove a listener."""
        self._all.remove(listener)

    def changed(self, call: Call) -> None:
        """Pass a change of a call to all listeners.

        Their errors are only logged, because the change is already durable.
        """
        for listener in tuple(self._all):
            try:
                listener.changed(call)
            except Exception:  # noqa: BLE001 - the change is durable, so an observer's error is only logged
                _log.exception("listener.failed", {"listener": type(listener).__name__, "ref": call.ref})
