"""HTTP clients of tests for the two listeners of the service.

Neither has TLS here, so that no certificates are loaded, which takes 25 ms for each client.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from pathlib import Path


def local(socket: Path, **more: Any) -> httpx.AsyncClient:
    """Return a client on the Unix socket: this user."""
    transport = httpx.AsyncHTTPTransport(verify=False, uds=str(socket))
    return httpx.AsyncClient(transport=transport, base_url="http://sayso", **more)


def remote(url: str, token: str | None = None, **more: Any) -> httpx.AsyncClient:
    """Return a client over TCP, with a token if one is given."""
    headers = ({"Authorization": f"Bearer {token}"} if token else {}) | more.pop("headers", {})
    return httpx.AsyncClient(base_url=url, headers=headers, verify=False, trust_env=False, **more)  # noqa: S501 - without TLS
