"""Prints a worker's measurement. This module imports little, because its import is a part of a measured start."""

from __future__ import annotations

import json
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The environment variable that tells a worker when it was started, on the monotonic clock that all processes share.
STARTED = "BENCHMARK_STARTED"


def tell(measured: Mapping[str, Any]) -> None:
    """Print the measurement as a line of JSON. It must be the worker's last line."""
    print(json.dumps({name: _plain(value) for name, value in measured.items()}), flush=True)


def _plain(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
