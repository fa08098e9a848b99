"""The gate: the only ways to change a call.

Each use case loads, decides, swaps, and then tells. Whatever surface a decision comes from, it passes `decide`, and
one conditional UPDATE in the store picks the winner; everything before it is advice, everything after it is telling.
Nothing here knows a chat platform, a database, an event loop or a clock of its own.
"""

from __future__ import annotations

from hitl.gate.gate import Gate
from hitl.proof.keyring import secret_hash

__all__ = ["Gate", "secret_hash"]
