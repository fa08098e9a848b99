"""HTTP/1.1 as a client of a measurement needs it. Standard library only: peers' environments load it too."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

HOST = "127.0.0.1"


class Wire:
    """One kept connection that sends requests and reads answers: less than any client library, so less is measured."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str = "") -> None:
        self._reader, self._writer = reader, writer
        bearer = f"Authorization: Bearer {token}\r\n" if token else ""
        self._head = f"Host: {HOST}\r\n{bearer}Content-Type: application/json\r\n"

    @classmethod
    async def to(cls, port: int, token: str = "") -> Self:
        """A connection over TCP."""
        return cls(*await asyncio.open_connection(HOST, port), token)

    async def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send a document, and return the answer's."""
        self.send(path, body)
        return await self.answer()

    def send(self, path: str, body: Mapping[str, Any], *fields: str) -> None:
        """Send a document with more header fields. The answer is read later."""
        content = json.dumps(body).encode()
        head = "\r\n".join([f"POST {path} HTTP/1.1", *fields, self._head])
        self._writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode())
        self._writer.write(content)

    def get(self, path: str) -> None:
        """Send a request whose answer is read later."""
        self._writer.write(f"GET {path} HTTP/1.1\r\n{self._head}\r\n".encode())

    async def answer(self) -> dict[str, Any]:
        """Read an answer. Raises AssertionError for one that isn't a success."""
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0])
        document: dict[str, Any] = json.loads(await self._reader.readexactly(length))
        assert head[9:10] == b"2", document
        return document

    def close(self) -> None:
        """Hang up."""
        self._writer.close()
