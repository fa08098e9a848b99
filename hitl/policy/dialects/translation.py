"""Collects the differences and the problems while another system's document is translated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hitl.policy import text
from hitl.policy.model import MAX_TIMEOUT_S, MIN_TIMEOUT_S, Problem
from hitl.policy.wording import say


@dataclass(slots=True)
class Translation:
    """Collects the problems of a translation, and the differences between Sayso's verdicts and the original's."""

    parsed: text.ParsedDocument
    differences: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def differ(self, where: str, what: str) -> None:
        """Add a difference: the place ``where`` and, in words, what Sayso does differently there."""
        self.differences.append(f"{where}: {what}")

    def refuse(self, path: str, what: str) -> None:
        """Add a problem: a setting that can't be translated safely."""
        self.problems.append(Problem(self.parsed.line(path), path, what))

    def timeout(self, where: str, seconds: int) -> int:
        """Return the timeout within Sayso's bounds, and add a difference if the bounds change it."""
        if MIN_TIMEOUT_S <= seconds <= MAX_TIMEOUT_S:
            return seconds
        bounded = MAX_TIMEOUT_S if seconds <= 0 else min(max(seconds, MIN_TIMEOUT_S), MAX_TIMEOUT_S)
        self.differ(where, say("import.timeout", asked=seconds, bounded=bounded))
        return bounded

    def left_out(self, where: str, value: Any, why: str) -> None:
        """Add a difference for a setting that the translation leaves out. It names all keys inside the setting.

        ``why`` is the reason in words.
        """
        inside = f" ({', '.join(map(str, value))})" if isinstance(value, Mapping) and value else ""
        self.differ(where, say("import.left_out.inside", inside=inside, why=why))


def is_seconds(value: Any) -> bool:
    """Return whether a value is a whole number, so that it can be a timeout in seconds."""
    return isinstance(value, int) and not isinstance(value, bool)
