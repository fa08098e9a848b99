"""The gate: the only code that changes a call.

Each use case reads the call, decides, and writes the change. Decisions from every surface
go through `decide`. The write is one conditional UPDATE in the store, which picks the winner among concurrent
decisions. The checks before the write are provisional, because the call may change until then. After the write, only
notifications follow. The gate uses no chat platform, database, event loop or clock itself.
"""

from __future__ import annotations

from hitl.gate.gate import Gate
from hitl.proof.keyring import secret_hash

__all__ = ["Gate", "secret_hash"]
