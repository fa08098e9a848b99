"""Limits how long one request of a client waits for a person, and defines the answer after that time.

With the protocol of 2026-07-28, the gateway answers a request "not yet", and the client asks again. Clients ask at most
10 times by default, so the wait is divided into legs (one for each request). An older client waits in its one request,
at most as long as that client is known to wait; the TypeScript library gives up after 60 seconds. In the end the answer
is a normal result that says "pending" and names the call, so that the client can ask for its state later.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The number of MCP requests in which a client may wait for one call. Clients send at most 10.
LEGS = 9
#: Name that a client gives itself -> the seconds that the client waits for one request, minus a reserve. Codex gives up
#: after 300 s. Claude Code was seen to wait longer than 100 s in one of many requests.
_KNOWN_S = {"codex-mcp-client": 280.0, "claude-code": 240.0}
#: Seconds added to the wait of each request, so that the call expires during the last wait and not after it.
_SLACK_S = 1.0
_STATE = re.compile(r"1\.(?P<ref>[0-9a-f-]{36})\.(?P<leg>\d)")


@dataclass(frozen=True, slots=True)
class WaitTimes:
    """The lengths of waits, in seconds. Tests use short waits."""

    shortest_leg_s: float = 25.0
    #: The wait for a client that isn't in `_KNOWN_S`.
    unknown_s: float = 50.0
    known_s: Mapping[str, float] = field(default_factory=lambda: _KNOWN_S)
    #: The time between two notices to a client that asked for progress, while its call is pending.
    tick_s: float = 5.0

    def one_request(self, client: str, left_s: float, rounds: int | None) -> float:
        """Return how many seconds one request of a client waits if a person has `left_s` seconds to answer.

        `client` is the name that the client gives itself. `rounds` is the number of requests that are left, including
        this request. None means that this is the only request.
        """
        longest = self.known_s.get(client, self.unknown_s)
        if rounds is None:
            return longest
        return min(max(left_s / rounds + _SLACK_S, self.shortest_leg_s), longest)


def state_of(ref: str, leg: int) -> str | None:
    """Return the state that the client must send back with its next request, or None if this was its last request.

    `leg` is the number of earlier requests.
    """
    return f"1.{ref}.{leg + 1}" if leg + 1 < LEGS else None


def returning(state: str) -> tuple[str, int] | None:
    """Return the ref in a state that a client sends back, and the number of earlier requests.

    Return None for a text that `state_of` can't have returned.

    The state isn't trusted: its sender must be the caller who asked for the call, and must name the same arguments.
    """
    found = _STATE.fullmatch(state)
    return (found["ref"], int(found["leg"])) if found else None
