"""A clock for the limits on how often a person gets an answer. Tests move it on instead of waiting."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Self

from bot.conversation import voice

if TYPE_CHECKING:
    import pytest


class Minutes:
    """The clock of every `Voice` that is made after `instead`."""

    def __init__(self) -> None:
        self._passed = 0.0

    @classmethod
    def instead(cls, monkeypatch: pytest.MonkeyPatch) -> Self:
        """Put a clock in place of the machine's, for the limits only."""
        clock = cls()
        monkeypatch.setattr(voice, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + clock._passed))
        return clock

    def pass_(self) -> None:
        """A bit more than a minute goes by, so that every limit of a minute is over."""
        self._passed += 61.0
