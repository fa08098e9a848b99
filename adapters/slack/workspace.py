"""Asks Slack about the people, channels and messages of a workspace."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cachetools import FIFOCache

from adapters.slack.bodies import writer_of
from adapters.slack.delivery import parsed
from adapters.slack.errors import explained, listed, promised
from adapters.slack.surface import SLACKBOT, is_person
from hitl.ports import PlatformError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slack_sdk.web.async_client import AsyncWebClient

#: An answer of Slack about a person or a channel is used for this many seconds.
_KNOWN_FOR_S = 600.0
_KNOWN = 10_000
#: At most this many messages are read to find out who wrote in a place after a card.
_LOOKED_BACK = 200


@dataclass(frozen=True, slots=True)
class SlackPerson:
    """Slack's data about an account: its team, its confirmed address if any, and whether it is a bot."""

    team: str
    bot: bool
    email: str


class Workspace:
    """The people, channels and messages that the app can see, as Slack describes them."""

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        self._who: FIFOCache[str, tuple[float, SlackPerson]] = FIFOCache(_KNOWN)
        #: Channel -> the time when Slack was asked, and whether the bot is a member of the channel.
        self._member: FIFOCache[str, tuple[float, bool]] = FIFOCache(_KNOWN)

    async def who(self, user: str, *, again: bool = False) -> SlackPerson:
        """Return Slack's data about a person, at most ten minutes old. Raises PlatformError.

        With `again`, ask Slack even if the stored data isn't ten minutes old yet.
        """
        now = asyncio.get_running_loop().time()
        asked_at, known = self._who.get(user, (0.0, None))
        if again or known is None or now - asked_at > _KNOWN_FOR_S:
            async with explained():
                known = _who(promised(await self._client.users_info(user=user), "user"))
            self._who[user] = (now, known)
        return known

    async def since(self, place: str, message: str) -> Sequence[tuple[str, str]]:
        """Return the time stamp and the author of each message in a place, from the given message on, oldest first.

        The result is empty if the given message no longer exists, or if there are more than `_LOOKED_BACK` messages.
        Raises PlatformError.
        """
        _, _, thread = parsed(place)
        channel, _, ts = message.partition(":")
        async with explained():
            if thread:
                found = await self._client.conversations_replies(
                    channel=channel, ts=thread, oldest=ts, inclusive=True, limit=_LOOKED_BACK
                )
            else:
                found = await self._client.conversations_history(
                    channel=channel, oldest=ts, inclusive=True, limit=_LOOKED_BACK
                )
            said = sorted((str(one["ts"]), writer_of(one)) for one in listed(found, "messages"))
            said = [one for one in said if one[0] >= ts]
        return said if said and said[0][0] == ts and not found.get("has_more") else ()

    def hears(self, route: str) -> bool:
        """Return whether the bot is a member of the channel that a route names, by the last answer to `look_at`.

        Return True if Slack wasn't asked.
        """
        return self._member.get(route, (0.0, True))[1]

    async def look_at(self, route: str) -> None:
        """Find out whether the bot is a member of the channel that a route names, and store the answer for ten minutes.

        Slack lets an app post to public channels without being a member (`chat:write.public`), but it doesn't send such
        an app the messages or reactions of the channel. For threads and direct conversations nothing is asked, because
        Slack sends the bot their messages.
        """
        _, place, thread = parsed(route)
        now = asyncio.get_running_loop().time()
        asked_at, _ = self._member.get(route, (-_KNOWN_FOR_S, True))
        if thread or is_person(place) or now - asked_at < _KNOWN_FOR_S:
            return
        self._member[route] = (now, await self._is_member(place))

    async def _is_member(self, channel: str) -> bool:
        """Return whether the bot is a member of the channel.

        Return True if Slack doesn't answer, so that a card needn't wait.
        """
        try:
            async with explained():
                found = promised(await self._client.conversations_info(channel=channel), "channel")
        except PlatformError:
            return True
        return bool(found.get("is_member", True))


def _who(user: dict[str, Any]) -> SlackPerson:
    profile = user.get("profile") or {}
    confirmed = user.get("is_email_confirmed", True) and not (user.get("is_stranger") or user.get("deleted"))
    return SlackPerson(
        str(user.get("team_id") or ""),
        bool(user.get("is_bot")) or user["id"] == SLACKBOT,
        str(profile.get("email") or "").casefold() if confirmed else "",
    )
