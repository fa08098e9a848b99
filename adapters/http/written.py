"""Reads bodies of requests, and keeps the digits of numbers as the caller wrote them.

So a card shows 1250.00, and not 1250.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import Request
from fastapi.routing import APIRoute

from hitl.cards.written import read

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from fastapi import Response


class _Request(Request):
    """A request whose body keeps digits: numbers with a fraction or an exponent become `hitl.cards.written.Number`."""

    async def json(self) -> Any:
        """Return the body. Raises ValueError if it isn't JSON."""
        return read(await self.body())


class WrittenRoute(APIRoute):
    """A route whose requests keep the digits that the caller wrote for a number."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return a handler that reads the request's body with the digits that the caller wrote."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            return await handle(_Request(request.scope, request.receive))

        return handled
