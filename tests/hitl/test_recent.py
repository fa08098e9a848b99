"""A memory that keeps what is newest."""

from __future__ import annotations

from hitl.recent import remember


def test_what_is_oldest_is_forgotten() -> None:
    """An entry that is made again is the newest, and says what it says now."""
    known: dict[str, int] = {}
    for number, key in enumerate(["a", "b", "a", "c"]):
        remember(known, key, number, most=2)

    assert [("a", 2), ("c", 3)] == list(known.items())
