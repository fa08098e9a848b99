"""However much a tool says, what is kept is bounded and what is missing is counted."""

from __future__ import annotations

import tracemalloc

from adapters.executors.output import Flow
from hitl.cards.wording import say


def _kept(*chunks: bytes, limit: int = 10) -> tuple[str, int]:
    """What is kept of these chunks, of so many characters."""
    flow = Flow(limit)
    for chunk in chunks:
        flow.feed(chunk)
    flow.feed(b"", final=True)
    return flow.kept()


def test_short_output_is_kept_whole() -> None:
    """Also where a character comes in two pieces."""
    assert ("héllo", 0) == _kept("hé".encode()[:2], "hé".encode()[2:], b"llo")


def test_the_middle_goes() -> None:
    """Head and tail stay, with a line between that counts the rest."""
    assert (f"01234\n{say('card.left_out', count=90)}\nvwxyz", 90) == _kept(b"0123456789" * 9, b"01234vwxyz")


def test_what_is_not_text_is_replaced() -> None:
    """Bytes that aren't UTF-8 become the replacement character; one that is broken off at the end too."""
    assert ("a\ufffdb\ufffd", 0) == _kept(b"a\xffb\xc3")


def test_a_flood_takes_no_memory() -> None:
    """A hundred megabytes pass through in less than two."""
    chunk = b"y\n" * 32_768
    tracemalloc.start()
    flow = Flow()
    for _ in range(1600):
        flow.feed(chunk)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert 1600 * len(chunk) - 64_000 == flow.kept()[1]
    assert peak < 2_000_000
