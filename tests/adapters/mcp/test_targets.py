"""What is read of an answer of an MCP server with a `url`."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator

import httpx2
import pytest

from adapters.mcp import whole_lines
from adapters.mcp.targets import bound


async def read(size: int, **headers: str) -> bytes:
    """The body of an answer with so many bytes, as the library's client reads it."""
    body = b"x" * size
    body = gzip.compress(body) if "Content-Encoding" in headers else body

    async def chunks() -> AsyncIterator[bytes]:
        yield body[:700]
        yield body[700:]

    answering = httpx2.MockTransport(lambda _: httpx2.Response(200, content=chunks(), headers=headers))
    async with (
        httpx2.AsyncClient(transport=answering, event_hooks={"response": [bound]}) as client,
        client.stream("POST", "http://server") as response,
    ):
        return await response.aread()


async def test_no_more_is_read_than_one_message_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """A longer answer would take the memory and the time of everybody."""
    # The same limit, smaller: 16 MiB would take long, and show no more.
    monkeypatch.setattr(whole_lines, "LONGEST_LINE", 1000)

    assert 1000 == len(await read(1000))
    with pytest.raises(httpx2.StreamError, match="1,000"):
        await read(1001)


async def test_a_compressed_answer_is_not_read() -> None:
    """Few bytes of it may become gigabytes, and we don't ask for such answers."""
    with pytest.raises(httpx2.StreamError):
        await read(5, **{"Content-Encoding": "gzip"})


async def test_a_stream_of_events_has_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """All its events together may be long; the library limits each of them."""
    # The same limit, smaller: 16 MiB would take long, and show no more.
    monkeypatch.setattr(whole_lines, "LONGEST_LINE", 1000)

    assert 5000 == len(await read(5000, **{"Content-Type": "text/event-stream; charset=utf-8"}))
