"""Fetches the messages from Slack's history that people sent to the bot while it received no events.

Socket Mode keeps no events for an app that isn't connected, and Slack gives up a request after three tries without an
answer. So after each time without a connection, this module reads the history of every channel that the bot is in, from
the last received event on. A channel's history lists only the first message of each thread, and only if that message is
recent. So the threads of pending calls are read by their ids. Messages that address the bot, and replies in the threads
of pending calls, go into the inbox as if they had just arrived. The inbox knows a message that arrived before by its
id, and stores it only once. Presses and commands can't be fetched: Slack itself tells people that those failed.

The time and the numbers of channels, messages and threads are limited. The log says when messages are left out.
"""

from __future__ import annotations

import asyncio
import json
import logging
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from adapters.slack.bodies import read
from adapters.slack.errors import explained, listed
from adapters.slack.surface import PLATFORM, is_direct, is_person, message_of, parse_place
from hitl.ports import PlatformError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.bodies import Me
    from hitl.call import Incoming
    from hitl.ports import CallsAndCards

#: Messages older than this aren't fetched. People notice a longer outage, and older cards are seldom pending still.
LONGEST = timedelta(hours=24)
#: Reading starts this much before the last received event, because events don't arrive in the order in which they
#: happened.
_OVERLAP = timedelta(minutes=1)
#: After this many seconds, the reading stops. Messages that weren't read by then are left out.
WITHIN_S = 30.0
_CHANNELS, _MESSAGES, _THREADS = 200, 200, 20
_KINDS = "public_channel,private_channel,mpim,im"
_Read = TypeVar("_Read")
_log = logging.getLogger(__name__)


def happened_at(event: Incoming) -> datetime:
    """Return the time of an event by Slack's clock. If the event has no time stamp, return the time of its arrival."""
    try:
        body = read(event.body)
        inner = body.get("event") or {}
        stamp = inner.get("event_ts") or inner.get("ts") or body.get("event_time")
        return datetime.fromtimestamp(float(stamp or body["actions"][0]["action_ts"]), UTC)
    except (LookupError, TypeError, ValueError, OverflowError, OSError):
        return event.received_at


async def pending_threads(store: CallsAndCards) -> Mapping[str, Sequence[str]]:
    """Return channel id -> the threads of that channel in which people may answer a pending call.

    For each pending call, the result has three kinds of threads:

    - the thread in which the call was asked for
    - the threads in which its cards are
    - the threads that begin with one of its cards
    """
    found: dict[str, list[str]] = {}
    for call in await store.pending():
        cards = await store.cards(call.ref)
        for place, message in {call.origin: None, **cards}.items():
            if not place.startswith(f"{PLATFORM}:"):
                continue
            try:
                _, channel, thread = parse_place(place)
            except ValueError:
                continue  # The caller chose this origin, and Slack has no channel with this name.
            channel, _, head = message.partition(":") if message else (channel, "", "")
            # In a direct conversation, `channel` is still the person's id if no card was sent there: only the card's
            # message has the channel's id.
            if (thread or head) and not is_person(channel):
                found.setdefault(channel, []).append(thread or head)
    return {channel: list(dict.fromkeys(threads)) for channel, threads in found.items()}


class History:
    """Reads the history of the channels that the bot is in. `keep` stores one raw event in the inbox."""

    def __init__(self, client: AsyncWebClient, me: Me, keep: Callable[[bytes], Awaitable[None]]) -> None:
        self._client = client
        self._me = me
        self._keep = keep

    async def fetch(self, since: datetime, pending: Mapping[str, Sequence[str]]) -> None:
        """Record the messages that people have sent since a given time: messages that address the bot, and messages
        below a pending call.

        `pending` is channel id -> the threads of pending calls. These channels are read first, and these threads are
        read however old they are. If Slack refuses a channel or thread, the log says so, and the others are read.
        """
        # `since` and the time stamps of messages are times of Slack's clock. Our own clock may differ from it, so our
        # clock only sets the limit of 24 hours.
        oldest = max(since - _OVERLAP, datetime.now(UTC) - LONGEST)
        try:
            async with asyncio.timeout(WITHIN_S):
                listed = await self._unless_refused(self._channels(), "every channel")
                for channel in dict.fromkeys([*pending, *listed]):
                    await self._read(channel, f"{oldest.timestamp():.6f}", pending.get(channel, ()))
        except TimeoutError:
            _log.warning("slack.history_not_read", {"since": oldest.isoformat(), "why": "too slow"})

    async def _unless_refused(self, reading: Awaitable[list[_Read]], place: str) -> list[_Read]:
        """Return the messages or channels that `reading` reads. If Slack refuses, log the refusal and return an empty
        list.
        """
        try:
            return await reading
        except PlatformError as error:
            _log.warning("slack.history_not_read", {"place": place, "why": str(error)})
            return []

    async def _channels(self) -> list[str]:
        async with explained():
            found = await self._client.users_conversations(types=_KINDS, exclude_archived=True, limit=_CHANNELS)
            channels = [str(one["id"]) for one in listed(found, "channels")]
        if (found.get("response_metadata") or {}).get("next_cursor"):
            _log.warning("slack.history_cut", {"channels": len(channels)})
        return channels

    async def _read(self, channel: str, oldest: str, pending: Sequence[str]) -> None:
        """Record the messages for the bot in one channel, in its recent threads and in its threads of pending calls,
        oldest first.
        """
        # In the views for agents, each conversation is a thread of a direct channel. Its first message may be old, so
        # the first messages of threads are read for the whole 24 hours.
        direct = is_direct(channel)
        begun = f"{(datetime.now(UTC) - LONGEST).timestamp():.6f}" if direct else oldest
        heads = await self._unless_refused(self._heads(channel, begun), channel)
        said = [one for one in heads if str(one["ts"]) >= oldest]
        recent = [str(one["ts"]) for one in heads if str(one.get("latest_reply") or "") >= oldest]
        threads = list(dict.fromkeys([*pending, *recent]))
        if len(threads) > _THREADS:
            _log.warning("slack.history_cut", {"channel": channel, "threads": _THREADS, "of": len(threads)})
        for thread in threads[:_THREADS]:
            replies = self._replies(channel, thread, oldest)
            said += await self._unless_refused(replies, message_of(channel, thread))
        for message in sorted(said, key=lambda one: str(one["ts"])):
            if self._concerns_us(channel, message, pending):
                await self._keep(self._event(channel, message))

    async def _heads(self, channel: str, oldest: str) -> list[dict[str, Any]]:
        """Return the recent messages of a channel that aren't replies in a thread."""
        async with explained():
            told = await self._client.conversations_history(channel=channel, oldest=oldest, limit=_MESSAGES)
            heads = [dict(one) for one in listed(told, "messages")]
        if told.get("has_more"):
            _log.warning("slack.history_cut", {"channel": channel, "messages": len(heads)})
        return heads

    async def _replies(self, channel: str, thread: str, oldest: str) -> list[dict[str, Any]]:
        """Return the recent replies in a thread."""
        async with explained():
            found = await self._client.conversations_replies(channel=channel, ts=thread, oldest=oldest, limit=_MESSAGES)
            replies = [dict(one) for one in listed(found, "messages") if one["ts"] != thread]
        if found.get("has_more"):
            _log.warning("slack.history_cut", {"channel": channel, "thread": thread, "messages": len(replies)})
        return replies

    def _concerns_us(self, channel: str, message: Mapping[str, Any], pending: Sequence[str]) -> bool:
        """Return whether a message is for the bot and wasn't written by it: a direct message, a mention, or a reply
        below a pending call.
        """
        text = str(message.get("text") or "")
        named = f"<@{self._me.user}>" in text or f"<@{self._me.user}|" in text
        replied = message.get("thread_ts") in pending and message["thread_ts"] != message["ts"]
        return message.get("user") != self._me.user and (named or replied or is_direct(channel))

    def _event(self, channel: str, message: dict[str, Any]) -> bytes:
        """Return the message in the form of the event that Slack would have sent for it."""
        event = {**message, "type": "message", "channel": channel}
        body = {"type": "event_callback", "event_id": f"{channel}:{message['ts']}", "team_id": self._me.team}
        return json.dumps({**body, "event": event}).encode()
