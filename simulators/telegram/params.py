"""The parameters of a call, read as the official server reads them.

Everything may arrive as text (forms, query strings) or typed (JSON bodies); numbers out of range
are moved into it, not refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from simulators.telegram.errors import ApiError, Json, Refusal

TRUE_WORDS: Final = frozenset({"true", "yes", "1"})

# The default, least and most of every number.
NUMBERS: Final[Mapping[str, tuple[int, int, int]]] = {
    "offset": (0, -(2**31), 2**31 - 1),
    "limit": (100, 1, 100),
    "timeout": (0, 0, 50),
    "max_connections": (40, 1, 100),
    "cache_time": (0, 0, 2_592_000),
    "message_thread_id": (0, 0, 2**31 - 1),
    "message_id": (0, -(2**31), 2**31 - 1),
    "reply_to_message_id": (0, 0, 2**31 - 1),
    "user_id": (0, 0, 2**52),
}


@dataclass(frozen=True, slots=True)
class Upload:
    """A file in a multipart body."""

    name: str
    mime: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Params:
    """What a bot sent with a call."""

    fields: Mapping[str, Any]
    files: Mapping[str, Upload]

    def has(self, name: str) -> bool:
        """Whether the parameter was given."""
        return self.fields.get(name) is not None

    def text(self, name: str) -> str:
        """Return a parameter as text, "" if it isn't there."""
        value = self.fields.get(name)
        if value is None:
            return ""
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    def flag(self, name: str) -> bool:
        """Return a yes or no."""
        return self.text(name).strip().lower() in TRUE_WORDS

    def number(self, name: str) -> int:
        """Return a whole number within its range; what isn't one counts as not given."""
        default, least, most = NUMBERS[name]
        value = to_int(self.fields.get(name))
        return default if value is None else min(max(value, least), most)

    def parsed(self, name: str, refusal: Refusal) -> Any:
        """Return a parameter that holds JSON, None if it isn't there; refuse what doesn't parse."""
        value = self.fields.get(name)
        if value is None or value == "":
            return None
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError:
            raise ApiError(refusal) from None

    def logged(self) -> Json:
        """Return the parameters for the log: JSON in text parsed, files by name and size."""
        files = {name: {"file_name": one.name, "size": len(one.content)} for name, one in self.files.items()}
        return {**{name: _readable(value) for name, value in self.fields.items()}, **files}


def to_int(value: object) -> int | None:
    """Return a whole number from a number or its digits."""
    try:
        return int(str(value))
    except ValueError:
        return None


def _readable(value: Any) -> Any:
    if not isinstance(value, str) or value[:1] not in "[{" or not value:
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
