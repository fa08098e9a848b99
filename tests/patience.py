"""How long a test waits for what must come."""

from __future__ import annotations

#: Seconds. Only a test that fails waits so long, so it fits a machine that is busy with ten other things.
PATIENCE_S = 60.0
