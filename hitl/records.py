"""Makes a changed copy of a msgspec struct or a dataclass, as `copy.replace` does from Python 3.13 on."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar, cast

from msgspec import Struct, structs

R = TypeVar("R")


def replace(record: R, /, **changes: Any) -> R:
    """Return a copy of a record with some fields changed. Raises TypeError for a name that isn't a field."""
    if isinstance(record, Struct):
        return cast("R", structs.replace(record, **changes))
    return cast("R", dataclasses.replace(cast("Any", record), **changes))
