"""The arguments of a call, from a form, a query string or JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from simulators.slack.errors import ApiError, Json, Refusal, invalid_arguments

TRUE_WORDS: Final = frozenset({"true", "1"})


@dataclass(frozen=True, slots=True)
class Params:
    """What an app sent with a call."""

    fields: Mapping[str, Any]

    def has(self, name: str) -> bool:
        """Whether the argument was given."""
        value = self.fields.get(name)
        return value is not None and value != ""

    def text(self, name: str) -> str:
        """Return an argument as text, "" if it isn't there."""
        value = self.fields.get(name)
        if value is None or isinstance(value, dict | list):
            return ""
        return value if isinstance(value, str) else json.dumps(value)

    def required(self, name: str) -> str:
        """Return an argument that the method can't do without."""
        if not self.has(name):
            raise ApiError(invalid_arguments([f"missing required field: {name}"]))
        return self.text(name)

    def flag(self, name: str) -> bool:
        """Return a yes or no."""
        return self.text(name).lower() in TRUE_WORDS

    def switch(self, name: str) -> bool | None:
        """Return a yes or no, None if nothing was said."""
        return self.flag(name) if self.has(name) else None

    def number(self, name: str, default: int, most: int) -> int:
        """Return a whole number from 1 to `most`; what isn't one counts as not given."""
        text = self.text(name)
        return min(int(text), most) if text.isdecimal() and int(text) else default

    def parsed(self, name: str, refusal: Refusal) -> Any:
        """Return an argument that holds JSON, None if it isn't there; refuse what doesn't parse."""
        value = self.fields.get(name)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value) if value else None
        except ValueError:
            raise ApiError(refusal) from None

    def logged(self) -> Json:
        """Return the arguments for the log: JSON in text parsed, tokens left out."""
        return {name: _readable(value) for name, value in self.fields.items() if name != "token"}


def _readable(value: Any) -> Any:
    if not isinstance(value, str) or value[:1] not in {"[", "{"}:
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
