"""How long one request of a client may wait for a person, and what it is told when that is over.

On the protocol of 2026-07-28 a request is answered "not yet" and the client asks again: clients follow such rounds 10
times by default, so a wait is cut into legs. An older client waits in its one request, at most as long as that client
is known to wait; the TypeScript library gives up after 60 seconds. In the end the answer is a normal result that says
"pending" and names the call, which can be asked for later.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Rounds that are used of the 10 that clients follow.
LEGS = 9
#: Seconds that clients wait for one request, by the name that they give themselves, with a reserve.
#: Codex gives up after 300 s. Claude Code was seen to wait longer than 100 s for one of many rounds.
_KNOWN_S = {"codex-mcp-client": 280.0, "claude-code": 240.0}
#: Added to each leg, so that the last one still hears that the time of the call is over.
_SLACK_S = 1.0
_STATE = re.compile(r"1\.(?P<ref>[0-9a-f-]{36})\.(?P<leg>\d)")


@dataclass(frozen=True, slots=True)
class WaitTimes:
    """Seconds. Tests make them short."""

    shortest_leg_s: float = 25.0
    #: What a client waits of which nothing is known.
    unknown_s: float = 50.0
    known_s: Mapping[str, float] = field(default_factory=lambda: _KNOWN_S)
    #: How often a client that asked for progress hears that its call still waits.
    tick_s: float = 5.0

    def one_request(self, client: str, left_s: float, rounds: int | None) -> float:
        """Return how long one request of that client waits, where a person has `left_s` to answer.

        `rounds` is how many such requests there will be, this one among them; None where there is no other.
        """
        longest = self.known_s.get(client, self.unknown_s)
        if rounds is None:
            return longest
        return min(max(left_s / rounds + _SLACK_S, self.shortest_leg_s), longest)


def state_of(ref: str, leg: int) -> str | None:
    """Return what a client brings with its next round after `leg` rounds; None where no round is left."""
    return f"1.{ref}.{leg + 1}" if leg + 1 < LEGS else None


def returning(state: str) -> tuple[str, int] | None:
    """Return ref and round of what a client brings back; None for anything else.

    Nothing in it is trusted: whoever brings it must be who asked for the call, and must name the same arguments.
    """
    found = _STATE.fullmatch(state)
    return (found["ref"], int(found["leg"])) if found else None
