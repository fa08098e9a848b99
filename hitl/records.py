"""A changed copy of a record, whichever kind of class it is: `copy.replace` for Pythons before 3.13."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar, cast

from msgspec import Struct, structs

R = TypeVar("R")


def replace(record: R, /, **changes: Any) -> R:
    """A copy with some fields changed. Raises TypeError for a name that is no field."""
    if isinstance(record, Struct):
        return cast("R", structs.replace(record, **changes))
    return cast("R", dataclasses.replace(cast("Any", record), **changes))
