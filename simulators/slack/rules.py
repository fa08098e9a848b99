"""How the rules of Block Kit are written down: small checks that report, and ways to join them.

A check is given a value, where it stands (a JSON pointer) and a list that takes what is wrong, in
Slack's wording where that is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

Check = Callable[[Any, str, list[str]], None]
Rules = Mapping[str, Check]

NOTHING: Final[Rules] = {}


def units(text: str) -> int:
    """Return a text's length in UTF-16 units: where Slack counts otherwise, this is the stricter way."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def say(problems: list[str], text: str, pointer: str) -> None:
    """Report what is wrong at a place."""
    problems.append(f"{text} [json-pointer:{pointer}]")


def string(most: int, least: int = 1) -> Check:
    """Return the check of a text with so many characters."""

    def check(value: Any, pointer: str, problems: list[str]) -> None:
        if not isinstance(value, str):
            say(problems, "must provide a string", pointer)
        elif units(value) > most:
            say(problems, f"must be less than {most + 1} characters", pointer)
        elif units(value) < least:
            say(problems, f"must be more than {least - 1} characters", pointer)

    return check


def flag(value: Any, pointer: str, problems: list[str]) -> None:
    """Check a boolean."""
    if not isinstance(value, bool):
        say(problems, "must be a valid boolean", pointer)


def number(least: int, most: int) -> Check:
    """Return the check of a whole number."""

    def check(value: Any, pointer: str, problems: list[str]) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            say(problems, f"must be a number from {least} to {most}", pointer)

    return check


def one_of(*values: str) -> Check:
    """Return the check of a word from a list."""

    def check(value: Any, pointer: str, problems: list[str]) -> None:
        if value not in values:
            say(problems, f"must be one of {', '.join(values)}", pointer)

    return check


def array(item: Check, most: int, least: int = 1) -> Check:
    """Return the check of a list with so many items."""

    def check(value: Any, pointer: str, problems: list[str]) -> None:
        if not isinstance(value, list):
            say(problems, "must provide an array", pointer)
            return
        if len(value) > most:
            say(problems, f"no more than {most} items allowed", pointer)
        if len(value) < least:
            say(problems, f"no less than {least} items allowed", pointer)
        for index, one in enumerate(value):
            item(one, f"{pointer}/{index}", problems)

    return check


def record(required: Rules, optional: Rules = NOTHING) -> Check:
    """Return the check of an object with these fields and no others (`type` is checked elsewhere)."""
    fields = {**required, **optional}

    def check(value: Any, pointer: str, problems: list[str]) -> None:
        if not isinstance(value, dict):
            say(problems, "must provide an object", pointer)
            return
        for name in required:
            if name not in value:
                say(problems, f"missing required field: {name}", pointer)
        for name, one in value.items():
            if name in fields:
                fields[name](one, f"{pointer}/{name}", problems)
            elif name != "type":
                say(problems, f"invalid additional property: {name}", pointer)

    return check


def typed(table: Rules) -> Check:
    """Return the check of an object whose `type` says which rule it is under."""

    def check(value: Any, pointer: str, problems: list[str]) -> None:
        if not isinstance(value, dict):
            say(problems, "must provide an object", pointer)
        elif "type" not in value:
            say(problems, "missing required field: type", pointer)
        elif value["type"] not in table:
            say(problems, f"unsupported type: {value['type']}", f"{pointer}/type")
        else:
            table[value["type"]](value, pointer, problems)

    return check


def schema(inner: Check) -> Check:
    """Return a check that reports the place as a whole first, as Slack does where it tries several schemas."""

    def check(value: Any, pointer: str, problems: list[str]) -> None:
        found: list[str] = []
        inner(value, pointer, found)
        if found:
            say(problems, "failed to match all allowed schemas", pointer)
            problems.extend(found)

    return check
