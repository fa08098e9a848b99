"""Holds what all sections of the settings share."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator
from pydantic_core import PydanticKnownError

_NUMBERS = (int, float, Decimal)


class Section(BaseModel):
    """A section of the settings. It refuses unknown keys, and `true`, `nan` and `inf` in place of a number."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_switch_for_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse a boolean for a number. pydantic would take `true` for 1."""
        declared = cls.model_fields[info.field_name or ""].annotation
        kinds = get_args(declared) or (declared,)
        if isinstance(value, bool) and bool not in kinds and any(kind in _NUMBERS for kind in kinds):
            raise PydanticKnownError("float_type")
        return value
