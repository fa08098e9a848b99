"""Sends the app's messages to channels and people at Slack's pace. A message can also be for one person alone."""

from __future__ import annotations

import json
import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from cachetools import FIFOCache
from slack_sdk.webhook.async_client import AsyncWebhookClient

from adapters.slack.errors import GONE, AstrayError, by_status, check_status, explained, promised
from adapters.slack.retries import Soon
from adapters.slack.surface import is_person, message_of, parse_place, place_of
from adapters.slack.wording import say
from hitl.ports import PlatformError

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.alone import Alone
    from adapters.slack.messages import Message
    from adapters.slack.pace import Pace
    from adapters.slack.threads import Threads

_log = logging.getLogger(__name__)
_KNOWN = 10_000


class Delivery:
    """Sends one app's messages to their places. Each sent message is recorded in `threads`."""

    def __init__(self, client: AsyncWebClient, pace: Pace, threads: Threads) -> None:
        self._client = client
        self._pace = pace
        self._threads = threads
        #: For each message, the hash of the content that was sent last.
        self._shown: FIFOCache[str, int] = FIFOCache(_KNOWN)
        self._direct: dict[str, str] = {}

    def shows(self, message: str, shown: Message) -> bool:
        """Return whether the last edit of a message had this content, so that it needn't be sent again."""
        return self._shown.get(message) == _hash(shown)

    async def edit(self, message: str, shown: Message) -> bool:
        """Edit a message. Return whether Slack accepted the edit. Raises PlatformError only for errors after which a
        retry may help.
        """
        channel, _, ts = message.partition(":")
        try:
            async with explained():
                promised(await self._client.chat_update(channel=channel, ts=ts, **_said(shown)), "ts")
        except PlatformError as error:
            if error.passing:
                self._pace.hold_edits(error.retry_s or 0.0)
                raise
            return False
        self._shown[message] = _hash(shown)
        return True

    def person_in(self, channel: str) -> str | None:
        """Return the person whose direct channel this is.

        Return None if the bot hasn't written to that person since its start.
        """
        return next((person for person, direct in self._direct.items() if direct == channel), None)

    async def send(self, route: str, message: Message, *, about: str | None) -> str:
        """Post to a route, and return the message's id. If the route's thread no longer exists, post to its channel."""
        team, place, thread = parsed(route)
        try:
            channel = await self.channel(place)
            ts = await self._post(channel, thread, message)
        except AstrayError:
            thread, ts = None, await self._post(channel, None, message)
        except PlatformError as error:
            # A person can close their direct conversation with the bot at any time, and open it again. So a card isn't
            # undeliverable because the conversation is closed now.
            error.lost = error.lost and not (is_person(place) and str(error) in GONE)
            raise
        self._threads.wrote(place_of(team, place, thread), ts, about)
        if thread is None:
            self._threads.wrote(place_of(team, place, ts), ts, about)
        return message_of(channel, ts)

    async def _post(self, channel: str, thread: str | None, message: Message) -> str:
        await self._pace.turn(channel)
        try:
            async with explained():
                sent = await self._client.chat_postMessage(
                    channel=channel,
                    thread_ts=thread,
                    unfurl_links=False,
                    unfurl_media=False,
                    mrkdwn=False,
                    **_said(message),
                )
                return str(promised(sent, "ts"))
        except PlatformError as error:
            if error.retry_s:
                self._pace.hold(channel, error.retry_s)
            raise

    async def channel(self, place: str) -> str:
        """Return the channel of a place: the channel itself, or a person's direct channel."""
        if not is_person(place):
            return place
        if place not in self._direct:
            async with explained():
                opened = await self._client.conversations_open(users=place)
                self._direct[place] = str(promised(opened, "channel")["id"])
        return self._direct[place]

    async def to_one(self, alone: Alone, message: Message, team: str) -> None:
        """Send a message that only one person sees.

        The message appears in the channel in which the person acted, or, if Slack refuses that, in the person's direct
        channel. If the person opened the Home tab, the message appears only on the tab. If every attempt fails, the
        message is dropped and the log says so.
        """
        home, whisper = (partial(way, alone, message) for way in (self._on_home, self.whisper))
        for way in (home,) if alone.home else (whisper, partial(self._in_private, place_of(team, alone.user), message)):
            try:
                await way()
            except PlatformError as error:
                _log.warning("slack.not_told", {"way": way.func.__name__, "why": str(error)})
            else:
                return

    async def whisper(self, alone: Alone, message: Message) -> None:
        """Send a message that only one person in the channel sees.

        If that fails, use the response URL of their press or command.
        """
        try:
            async with explained():
                sent = await self._client.chat_postEphemeral(
                    channel=alone.channel, user=alone.user, thread_ts=alone.thread or None, **_said(message)
                )
                promised(sent, "message_ts")
        except PlatformError:
            if not alone.url:
                raise
            await self._by_url(alone.url, message)

    async def _on_home(self, alone: Alone, message: Message) -> None:
        """Replace the content of the person's Home tab by the message."""
        async with explained():
            view = {"type": "home", "blocks": list(message.blocks)}
            promised(await self._client.views_publish(user_id=alone.user, view=view), "view")

    async def _in_private(self, place: str, message: Message) -> None:
        """Send a message to a person's direct channel.

        The message becomes the latest message in that channel and is about no call. So the person's next words don't
        answer an older card by chance.
        """
        await self.send(place, message, about=None)

    async def _by_url(self, url: str, message: Message) -> None:
        client = AsyncWebhookClient(url, session=self._client.session, retry_handlers=[Soon(methods=False)])
        async with explained():
            sent = await client.send(response_type="ephemeral", replace_original=False, **_said(message))
        check_status(sent.status_code)
        if _says_no(sent.body):
            raise by_status(sent.status_code)


def _says_no(body: str) -> bool:
    """Return whether Slack's reply is a refusal: a JSON object with `"ok": false`.

    Any other reply means that the message was accepted: a `response_url` may answer with any text.
    """
    try:
        said = json.loads(body)
    except ValueError:
        return False
    return isinstance(said, dict) and said.get("ok") is False


def parsed(route: str) -> tuple[str, str, str | None]:
    """Return the team, the channel or person, and the thread of a route.

    Raises PlatformError if it isn't a Slack route.
    """
    try:
        return parse_place(route)
    except ValueError:
        raise PlatformError(say("trouble.slack.place", route=route), passing=False, lost=True) from None


def _hash(message: Message) -> int:
    return hash(repr(message))


def _said(message: Message) -> dict[str, Any]:
    return {"text": message.text, "blocks": list(message.blocks)}
