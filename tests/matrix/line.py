"""A connection to the service, on its socket or over TCP with a token. It ends when the service dies."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any, Self

from sayso_client.wire import answer, request
from tests.matrix.world import HOST, World


class Line:
    """One connection. Everything raises OSError when the service dies."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str) -> None:
        self._reader = reader
        self._writer = writer
        self._token = token

    @classmethod
    @contextlib.asynccontextmanager
    async def to(cls, world: World, until: float, token: str = "") -> AsyncIterator[Self]:
        """A connection, closed with the context, once the service lives; raises OSError if it is dead `until` then."""
        while True:
            try:
                if token:
                    reader, writer = await asyncio.open_connection(HOST, world.port)
                else:
                    reader, writer = await asyncio.open_unix_connection(world.service.socket)
                break
            except OSError:
                if time.time() > until:
                    raise
                await asyncio.sleep(0.01)
        try:
            yield cls(reader, writer, token)
        finally:
            writer.close()

    async def call(self, op: str, **fields: Any) -> dict[str, Any]:
        """One request and its answer, or the problem of a refusal."""
        self._writer.write(request(op, fields, HOST, self._token))
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head)
            document: dict[str, Any] = json.loads(await self._reader.readexactly(int(length[1]) if length else 0))
        except (EOFError, ValueError) as error:
            raise ConnectionResetError(op) from error
        return document if "detail" in document else answer(op, HTTPStatus.OK, document)


async def persistently(world: World, op: str, token: str = "", **fields: Any) -> dict[str, Any]:
    """Send a request again, on a new connection, until the service answers it; `op` must bear that.

    A service that can't record anything at the moment, or has no room, is asked again later.
    """
    while True:
        with contextlib.suppress(OSError):
            async with Line.to(world, time.time() + 1, token) as line:
                told = await line.call(op, **fields)
            if told.get("code") not in {"UNAVAILABLE", "TOO_MANY_PENDING"}:
                return told
        await asyncio.sleep(0.02)
