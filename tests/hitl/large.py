"""Large calls: a stand-in for the thread that masks them, and a way to have the texts of one masked again."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from hitl.cards import masked
from hitl.records import replace

if TYPE_CHECKING:
    from collections.abc import Callable

    from hitl.call import Call

T = TypeVar("T")


class Beside:
    """Does the work at once, and keeps its results in `made`."""

    def __init__(self) -> None:
        self.made: list[object] = []

    async def __call__(self, work: Callable[[], T], /) -> T:
        """The result of the work."""
        result = work()
        self.made.append(result)
        return result


def push_out(call: Call) -> None:
    """Fill the cache of masked texts, so that the texts of this call are no longer kept."""
    texts = replace(masked.masked(call), preview="x" * (1 << 22))
    for number in range(20):
        masked.keep((b"", str(number), masked.key_of(call)[2]), texts)

    assert not masked.is_kept(masked.key_of(call))
