"""Samples into figures, figures into a table and a file. Standard library only: peers' environments load it too."""

from __future__ import annotations

import json
import platform
import statistics
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Self

RESULTS = Path(__file__).parent / "results"
#: From here on digits behind the point say nothing.
_WHOLE_FROM = 1000
#: Where others used more than this of the machine, or the floors of one row lie further apart than this, a row
#: proves nothing: neither that a budget is kept nor that it is missed.
_NOISY_CPU = 0.2
_NOISY_DRIFT = 1.25
_SECONDS = 1.0
_HEAD = ("what", "measured", "p99", "floor", "ratio", "budget", "", "others' CPU")


@dataclass(frozen=True, slots=True)
class Spread:
    """How samples lie, in seconds."""

    n: int
    p50: float
    p99: float

    @classmethod
    def of(cls, samples: Sequence[float]) -> Self:
        """Raises ValueError for no samples at all."""
        ordered = sorted(samples)
        if not ordered:
            raise ValueError("nothing was measured")
        last = len(ordered) - 1
        return cls(len(ordered), ordered[round(0.50 * last)], ordered[round(0.99 * last)])


def timed(judge: Callable[[Any], object], calls: Sequence[Any]) -> dict[str, float]:
    """Seconds a call, over about a second."""
    found: list[float] = []
    end = time.perf_counter() + _SECONDS
    while time.perf_counter() < end:
        for call in calls:
            started = time.perf_counter()
            judge(call)
            found.append(time.perf_counter() - started)
    spread = Spread.of(found)
    return {"p50": spread.p50, "p99": spread.p99, "per_s": 1 / statistics.mean(found)}


@dataclass(frozen=True, slots=True)
class Budget:
    """`sign` is `<=` or `>=`; `limit` is what it limits in the unit of `of`: the ratio, the figure or its p99."""

    sign: str
    limit: float
    of: str = "ratio"
    text: str = ""

    def kept(self, row: Row) -> bool:
        """Whether the row keeps to it."""
        found = {"ratio": row.ratio, "value": row.value, "p99": row.p99}[self.of]
        if found is None:
            return False
        return found <= self.limit if self.sign == "<=" else found >= self.limit


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `value`, `p99` and `floor` are in `unit`.

    `foreign` is the share of the machine that others used, None where it makes no difference; `drift` is the highest
    floor over the lowest.
    """

    what: str
    value: float
    unit: str
    p99: float | None = None
    floor: float | None = None
    budget: Budget | None = None
    foreign: float | None = None
    note: str = ""
    drift: float = 1.0

    @property
    def ratio(self) -> float | None:
        """Measured over floor."""
        return self.value / self.floor if self.floor else None

    @property
    def verdict(self) -> str:
        """Whether the budget is kept; `noisy` where this run can't tell."""
        if self.budget is None:
            return ""
        if (self.foreign or 0.0) > _NOISY_CPU or self.drift > _NOISY_DRIFT:
            return "noisy"
        return "kept" if self.budget.kept(self) else "MISSED"

    def told(self) -> dict[str, Any]:
        """The row for the file."""
        return {**asdict(self), "ratio": self.ratio, "verdict": self.verdict}

    def cells(self) -> tuple[str, ...]:
        """The row for the table."""
        budget = self.budget
        limit = "" if budget is None else budget.text or f"{budget.sign} {budget.limit:g}"
        return (
            self.what,
            f"{number(self.value)} {self.unit}".strip(),
            "" if self.p99 is None else number(self.p99),
            "" if self.floor is None else number(self.floor),
            "" if self.ratio is None else f"{self.ratio:.2f}",
            limit,
            self.verdict,
            "" if self.foreign is None else f"{self.foreign:.0%}",
        )


def number(value: float) -> str:
    """Three or four digits that matter, no exponent."""
    if abs(value) >= _WHOLE_FROM or value == round(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


def table(rows: Sequence[Row]) -> str:
    """The rows under a head, in columns, each note below its row."""
    cells = [_HEAD, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(_HEAD))]
    lines = [_line(_HEAD, widths), "  ".join("-" * width for width in widths)]
    for row in rows:
        lines.append(_line(row.cells(), widths))
        if row.note:
            lines.append(f"    {row.note}")
    return "\n".join(lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = cells[0].ljust(widths[0])
    return "  ".join([first, *(cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))])


def median(results: Sequence[Mapping[str, Any]], *path: str) -> float:
    """The median over repeats of the figure at the path."""
    return statistics.median(_at(result, path) for result in results)


def drift(results: Sequence[Mapping[str, Any]], *path: str) -> float:
    """The highest figure at the path over the lowest."""
    found = [_at(result, path) for result in results]
    return max(found) / min(found)


def _at(result: Any, path: Sequence[str]) -> float:
    for name in path:
        result = result[name]
    return float(result)


def save(name: str, rows: Sequence[Row], about: Mapping[str, Any], raw: Mapping[str, Any]) -> Path:
    """Write the rows and what they were made from; the file."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}.json"
    told = {"python": platform.python_version(), **about, "rows": [row.told() for row in rows], "raw": raw}
    path.write_text(json.dumps(told, indent=1) + "\n")
    return path
