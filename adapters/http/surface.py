"""The two surfaces of the API: the Unix socket, which proves user ids of this machine, and HTTP with tokens."""

from __future__ import annotations

from hitl.surfaces import Surface

SOCKET = Surface(name="socket", title="Socket", shows_every_call=True, own_self_approval=True)
HTTP = Surface(name="http", title="HTTP", shows_every_call=True)
