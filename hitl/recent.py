"""Memory with an end: what is newest is kept, what is oldest is forgotten."""

from __future__ import annotations

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def remember(known: dict[K, V], key: K, value: V, *, most: int) -> None:
    """Make this the newest entry, and forget the oldest beyond so many."""
    known.pop(key, None)
    known[key] = value
    while len(known) > most:
        del known[next(iter(known))]
