"""JSON that keeps the digits which its writer chose for a number, so that a card can show 1250.00 as 1250.00."""

from __future__ import annotations

import json
import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self


class Number(float):
    """A number of JSON with a fraction or an exponent, together with its digits."""

    def __new__(cls, text: str) -> Self:
        """Parse the text of a JSON number, and keep the text."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    text: str


def read(text: str | bytes, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Parse JSON, and keep the digits of numbers with a fraction or an exponent. Raises ValueError for text that isn't
    JSON.

    `pairs` is the `object_pairs_hook` of `json.loads`: it makes an object from pairs of a name and a value.
    """
    return json.loads(text, parse_float=Number, object_pairs_hook=pairs)


def spelled(value: Any, *, ascii_only: bool = False) -> str:
    """Return the value as JSON, each `Number` with its original digits."""
    # `json` writes numbers in its own form. So a random text takes the place of each number. Nobody can guess this text
    # and put it into another string. In the JSON, the numbers' original digits replace the random text.
    mark = os.urandom(16).hex()
    found: list[str] = []

    def marked(value: Any) -> Any:
        if isinstance(value, Number):
            found.append(value.text)
            return mark
        if isinstance(value, dict):
            return {name: marked(item) for name, item in value.items()}
        return [marked(item) for item in value] if isinstance(value, list | tuple) else value

    text = json.dumps(marked(value), ensure_ascii=ascii_only)
    digits = iter(found)
    return re.sub(f'"{mark}"', lambda _: next(digits), text) if found else text
