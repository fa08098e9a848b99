"""What stands behind the HTTP of every platform: its clock, its troubles, the log of calls, news of changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from simulators.common.clock import ServerClock
from simulators.common.faults import FaultPlan
from simulators.common.flood import FloodControl

C = TypeVar("C")
F = TypeVar("F")


class Platform(Generic[C, F]):
    """The part that knows no platform: `C` is its record of a call, `F` its faults, made by `kinds`."""

    def __init__(self, speed: float, kinds: Mapping[str, Callable[..., F]]) -> None:
        self.clock = ServerClock(speed)
        self.faults = FaultPlan(kinds)
        self.flood = FloodControl(self.clock)
        self.calls: list[C] = []
        self._changed = asyncio.Event()

    def touch(self) -> None:
        """Say that something changed, to whoever waits for it."""
        self._changed.set()
        self._changed = asyncio.Event()

    def change(self) -> asyncio.Event:
        """Return the event that is set by the next change."""
        return self._changed

    def record(self, call: C) -> None:
        """Log a call that was answered, or dropped."""
        self.calls.append(call)
        self.touch()
