"""Declares the API's two surfaces: the Unix socket, where the kernel names the caller, and HTTP with bearer tokens."""

from __future__ import annotations

from hitl.surfaces import Surface

SOCKET = Surface(name="socket", title="Socket", shows_every_call=True, own_self_approval=True)
HTTP = Surface(name="http", title="HTTP", shows_every_call=True)
