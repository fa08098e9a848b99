"""Writes log lines about requests: when a request is asked, when it is decided, and when its run has ended.

The lines have refs, tools and people. They never have arguments, notes, reasons or output, because those may contain
secrets. `sayso show` prints them.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from cachetools import FIFOCache

from hitl.call import Decision

if TYPE_CHECKING:
    from hitl.call import Call, Result

_log = logging.getLogger(__name__)
#: The logged steps of at most this many requests are remembered, from the decision to the end of the run. At any one
#: time, far fewer requests run.
_KNOWN = 1_000
#: Decisions that are made immediately, when the request is submitted.
_AT_ONCE = frozenset({Decision.ALLOWED, Decision.DENIED, Decision.UNDELIVERABLE})


class Journal:
    """Follows every change of a call, and logs each step once."""

    def __init__(self) -> None:
        self._logged: FIFOCache[str, tuple[Decision | None, Result | None]] = FIFOCache(_KNOWN)

    def changed(self, call: Call) -> None:
        """Log the steps that the call has taken since its last logged change: asked, decided, ended."""
        fresh = call.ref not in self._logged and (call.version == 1 or call.decision in _AT_ONCE)
        decision, result = self._logged.get(call.ref, (None, None))
        self._logged[call.ref] = (call.decision, call.result)
        about = {"ref": call.ref, "short": call.short, "tool": call.tool}
        if fresh:
            _log.info("request.asked", {**about, "risk": call.verdict.risk.value, "by": call.requester})
        if call.decision and call.decision is not decision:
            by = {"by": call.decided_by} if call.decided_by else {}
            _log.info("request.decided", {**about, "decision": call.decision.value, **by})
        if call.result and call.result is not result:
            _log.info("request.ended", {**about, "result": call.result.value})
