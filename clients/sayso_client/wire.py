"""What both ends of the service's socket agree on: one JSON object a line, a request answered by one line.

An answer is `{"ok": true, ...}` or `{"ok": false, "error": {"code", "message"}}`. Which requests there are, and what
each may hold, is the service's to check (`adapters/socket/protocol.py`).
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The socket's name in the runtime folder.
SOCKET_NAME = "sayso.sock"
#: The longest line that either side accepts, in bytes.
LONGEST_LINE = 8 * 1024 * 1024


def encode(message: dict[str, Any]) -> bytes:
    """Return the message as one line."""
    return json.dumps(message).encode() + b"\n"


def refusal(code: str, message: str) -> dict[str, Any]:
    """Return the answer to a request that was refused."""
    return {"ok": False, "error": {"code": code, "message": message}}
