"""Fetches the messages from Slack's history that people sent to the bot while it received no events.

Socket Mode keeps no events for an app that isn't connected, and Slack gives up a request after three tries without an
answer. So after each gap, the history of every channel that the bot is in is read from the last event on. Messages that
address the bot go into the inbox as if they had just arrived. The inbox knows a message that arrived before the gap by
its id, and keeps it once. Presses and commands can't be fetched: Slack itself tells people that those failed.

The number of channels, messages and threads is limited, and so is the time. The log says when messages are left out.
"""

from __future__ import annotations

import asyncio
import json
import logging
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from adapters.slack.errors import explained, promised
from adapters.slack.handlers import read
from adapters.slack.surface import is_direct
from hitl.ports import PlatformError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.handlers import Me
    from hitl.call import Incoming

#: The longest gap that is filled. People notice a longer outage, and a card that is older than this is seldom open.
LONGEST = timedelta(hours=24)
#: Reading starts this much earlier, because events don't arrive in the order in which they happened.
_OVERLAP = timedelta(minutes=1)
#: After this many seconds, the reading stops, and messages not yet read are left out.
WITHIN_S = 30.0
_CHANNELS, _MESSAGES, _THREADS = 200, 200, 20
_KINDS = "public_channel,private_channel,mpim,im"
_log = logging.getLogger(__name__)


def happened_at(event: Incoming) -> datetime:
    """Return the time of an event by Slack's clock. If it has no time stamp, return when it arrived."""
    try:
        body = read(event.body)
        inner = body.get("event") or {}
        stamp = inner.get("event_ts") or inner.get("ts") or body.get("event_time")
        return datetime.fromtimestamp(float(stamp or body["actions"][0]["action_ts"]), UTC)
    except (LookupError, TypeError, ValueError, OverflowError, OSError):
        return event.received_at


class History:
    """Reads the history of the channels that the bot is in. `keep` puts one raw event into the inbox."""

    def __init__(self, client: AsyncWebClient, me: Me, keep: Callable[[bytes], Awaitable[None]]) -> None:
        self._client = client
        self._me = me
        self._keep = keep

    async def fetch(self, since: datetime) -> None:
        """Record the messages that people have addressed to the bot since a time.

        If Slack refuses a part, the log says so.
        """
        # Messages carry Slack's time stamps, and Slack's clock may differ from ours.
        oldest = max(since - _OVERLAP, datetime.now(UTC) - LONGEST)
        try:
            async with asyncio.timeout(WITHIN_S):
                for channel in await self._channels():
                    await self._read(channel, f"{oldest.timestamp():.6f}")
        except (PlatformError, TimeoutError) as error:
            _log.warning("slack.history_not_read", {"since": oldest.isoformat(), "why": str(error) or "too slow"})

    async def _channels(self) -> list[str]:
        async with explained():
            found = await self._client.users_conversations(types=_KINDS, exclude_archived=True, limit=_CHANNELS)
            channels = [str(one["id"]) for one in promised(found, "channels")]
        if (found.get("response_metadata") or {}).get("next_cursor"):
            _log.warning("slack.history_cut", {"channels": len(channels)})
        return channels

    async def _read(self, channel: str, oldest: str) -> None:
        """Record the messages to the bot in one channel and in its recent threads, oldest first."""
        async with explained():
            told = await self._client.conversations_history(channel=channel, oldest=oldest, limit=_MESSAGES)
            heads = [dict(one) for one in promised(told, "messages")]
        if told.get("has_more"):
            _log.warning("slack.history_cut", {"channel": channel, "messages": len(heads)})
        said = list(heads)
        threads = [one for one in heads if str(one.get("latest_reply") or "") >= oldest]
        for head in threads[:_THREADS]:
            said += [one async for one in self._replies(channel, str(head["ts"]), oldest)]
        for message in sorted(said, key=lambda one: str(one["ts"])):
            if self._addresses_us(channel, message):
                await self._keep(self._event(channel, message))

    async def _replies(self, channel: str, thread: str, oldest: str) -> AsyncIterator[dict[str, Any]]:
        async with explained():
            found = await self._client.conversations_replies(channel=channel, ts=thread, oldest=oldest, limit=_MESSAGES)
            replies = promised(found, "messages")
        for one in replies:
            if one["ts"] != thread:
                yield dict(one)

    def _addresses_us(self, channel: str, message: Mapping[str, Any]) -> bool:
        """Return whether a person addressed the message to the bot: in a direct conversation, or by a mention."""
        text = str(message.get("text") or "")
        named = f"<@{self._me.user}>" in text or f"<@{self._me.user}|" in text
        return message.get("user") != self._me.user and (named or is_direct(channel))

    def _event(self, channel: str, message: dict[str, Any]) -> bytes:
        """Return the message in the form of the event that Slack would have sent for it."""
        event = {**message, "type": "message", "channel": channel}
        body = {"type": "event_callback", "event_id": f"{channel}:{message['ts']}", "team_id": self._me.team}
        return json.dumps({**body, "event": event}).encode()
