"""The gate: the only code that changes a call.

Each use case reads the call, decides, writes the change, and then notifies the observers. Decisions from every surface
pass `decide`. The write is one conditional UPDATE in the store, which picks the winner among concurrent decisions. All
checks before it are provisional, because the call may change until then; after it only notifications follow. The gate
uses no chat platform, database, event loop or clock itself.
"""

from __future__ import annotations

from hitl.gate.gate import Gate
from hitl.proof.keyring import secret_hash

__all__ = ["Gate", "secret_hash"]
