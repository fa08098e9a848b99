"""Finding what a control's arguments name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


class ControlError(Exception):
    """Nobody could do that in the platform's apps."""


def only(ref: object, by_id: T | None, by_name: list[T]) -> T:
    """Return what has this id, else the only one of this name."""
    matches = [by_id] if by_id is not None else by_name
    if len(matches) != 1:
        raise ControlError(f"{len(matches)} match {ref!r}")
    return matches[0]


def first(all_of_them: Iterable[T], what: str) -> T:
    """Return the first of its kind, which is meant where none is named."""
    found = next(iter(all_of_them), None)
    if found is None:
        raise ControlError(f"there is no {what}")
    return found
