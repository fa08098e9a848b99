"""Slack's rate limits.

The figures are those of the "Rate limits" page: a method's tier says how many calls a minute an app
may make in a workspace; `chat.postMessage` is about one a second in a channel. Bursts are allowed in
none of them here: stricter than Slack.
"""

from __future__ import annotations

from typing import Final

from simulators.common.flood import Limit

TIERS: Final = {1: Limit(1, 60.0), 2: Limit(20, 60.0), 3: Limit(50, 60.0), 4: Limit(100, 60.0)}
POSTING: Final = Limit(1, 1.0)
