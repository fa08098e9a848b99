"""Slack put together: the client, its chat, its events, and how they come in."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack import webhook
from adapters.slack.chat import SlackChat
from adapters.slack.handlers import Me, author_of, is_shared, read, understand
from adapters.slack.pace import Pace
from adapters.slack.receiver import Inbox, Sockets
from adapters.slack.retries import Soon
from adapters.slack.surface import EMAIL, SURFACE, identity_of, is_direct, message_of, parse_place, place_of
from hitl.errors import SettingsError
from hitl.events import Command, Echo, Reaction, Text
from hitl.ports import PlatformError
from hitl.records import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from adapters.slack.chat import Who
    from adapters.slack.settings import SlackSettings
    from hitl.events import Heard
    from hitl.model import Incoming
    from hitl.platforms import Core, Endpoint, Hear, Register

_log = logging.getLogger(__name__)
#: Whose lines may hold bodies, and addresses with tickets in them; what matters is said here.
_TALKATIVE = ("slack_bolt", "slack_sdk")


def make_client(settings: SlackSettings) -> AsyncWebClient:
    """The client of the Web API, not yet connected; a running loop is needed. Raises SettingsError without a token."""
    token = settings.secret("bot_token")
    if not token:
        raise SettingsError("Slack needs a bot token: set SAYSO_SLACK__BOT_TOKEN, or slack.bot_token_file.")
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return AsyncWebClient(
        token,
        base_url=settings.api,
        session=aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=settings.timeout_s)),
        retry_handlers=[Soon()],
    )


async def build(settings: SlackSettings, core: Core, register: Register | None = None) -> Slack:
    """The platform, not yet connected. Raises SettingsError."""
    del register
    pace, store = Pace(asyncio.get_running_loop().time, scale=settings.pace), core.store
    client = make_client(settings)
    return Slack(settings, SlackChat(client, core.keys, pace, core.people, stands=store.adopt, fresh=store.get), core)


class Slack:
    """Implements `hitl.platforms.Platform`: one app at work."""

    surface = SURFACE

    def __init__(self, settings: SlackSettings, chat: SlackChat, core: Core) -> None:
        self._settings = settings
        self.chat = chat
        self._core = core
        self._people = core.people
        self._me: Me | None = None

    def receiver(self, woken: Callable[[], None]) -> Sockets | None:
        """Socket Mode's connections, unless Slack sends requests. Raises SettingsError without an app token."""
        if self._settings.is_pushed:
            return None
        token, session = self._settings.secret("app_token"), self.chat.client.session
        if not token or session is None:
            raise SettingsError("Socket Mode needs an app token: set SAYSO_SLACK__APP_TOKEN, or slack.app_token_file.")
        return Sockets(self._inbox(woken), self.chat.client, session, token, connections=self._settings.connections)

    def endpoint(self, woken: Callable[[], None]) -> Endpoint:
        """Where Slack sends requests. Raises SettingsError without a signing secret."""
        return webhook.endpoint(self._inbox(woken), self._settings.secret("signing_secret"))

    async def connect(self) -> str:
        """Ask Slack who we are. Raises PlatformError."""
        self._me = await self.chat.connect()
        self.chat.threads.missed()
        return self._me.user

    async def dispatch(self, event: Incoming, hear: Hear) -> None:
        """Read a recorded event, and hand on what it says."""
        heard = await self._understand(event)
        if heard is not None:
            await hear(heard)

    async def close(self) -> None:
        """Close the connections."""
        await self.chat.close()

    def _inbox(self, woken: Callable[[], None]) -> Inbox:
        return Inbox(self._core.store, woken, self.chat.threads.missed)

    async def _understand(self, event: Incoming) -> Heard | None:
        body, me = read(event.body), self._me
        if me is None:
            return None
        self._follow(body, me)
        heard = understand(body, me)
        if isinstance(heard, Echo):
            return await self._unknown_card(heard)
        return await self._known(heard, body) if heard and not self._beside_us(heard) else None

    async def _unknown_card(self, heard: Echo) -> Echo | None:
        """A card of ours that nobody knows of, once no answer can tell of it any more; None for the others."""
        team, channel, thread = parse_place(heard.conversation)
        place = self.chat.person_in(channel) if is_direct(channel) else channel
        if place is None:
            return None
        heard = replace(heard, conversation=place_of(team, place, thread))
        if await self._core.store.by_message(str(heard.message)) is None:
            await self.chat.posted(heard.conversation)
        return heard

    def _follow(self, body: Mapping[str, Any], me: Me) -> None:
        """Remember who wrote last where we are spoken with, whoever it was."""
        wrote = author_of(body)
        if wrote is None:
            return
        channel, thread, author = wrote
        person = (self.chat.person_in(channel) if author == me.user else author) if is_direct(channel) else channel
        place, ts = place_of(me.team, str(person), thread), str(body["event"]["ts"])
        if author == me.user:
            self.chat.threads.echoed(place, ts)
        else:
            self.chat.threads.heard(place, ts, author)

    async def _look_back(self, heard: Text) -> None:
        """Learn from Slack who wrote after the card that stands there, where we can't be sure that we heard it all.

        Where Slack doesn't tell, it stays unknown, and a word that points to nothing is asked back.
        """
        me, card = self._me, await self._newest_card(heard)
        if me is None or card is None:
            return
        try:
            said = await self.chat.since(heard.conversation, card)
        except PlatformError as error:
            _log.warning("slack.not_looked_back", {"conversation": heard.conversation, "why": str(error)})
            return
        for ts, author in said:
            known = await self._core.store.by_message(message_of(card.partition(":")[0], ts))
            if author == me.user:
                self.chat.threads.wrote(heard.conversation, ts, known[0] if known else None)
            else:
                self.chat.threads.heard(heard.conversation, ts, author)

    async def _newest_card(self, heard: Text) -> str | None:
        """The message of the newest card of a waiting call that stands there."""
        store = self._core.store
        calls = [*await store.pending(origin=heard.conversation)]
        if heard.thread is None:
            calls += [call for call in await store.pending() if heard.conversation in call.routes]
        cards = [(await store.cards(call.ref)).get(heard.conversation) for call in calls]
        if heard.thread and await store.by_message(heard.thread):
            cards.append(heard.thread)
        return max(filter(None, cards), default=None, key=lambda card: card.partition(":")[2])

    def _beside_us(self, heard: Heard) -> bool:
        """Whether it can't count and was said where we take no part: then nobody needs to be told."""
        to_us = not isinstance(heard, Text) or heard.addressed or self.chat.threads.known(heard.conversation)
        return heard.barred is not None and not to_us

    async def _known(self, heard: Heard, body: Mapping[str, Any]) -> Heard:
        """The same with what only Slack tells: who is a bot, whose team, whose address, and who wrote before."""
        if isinstance(heard, Text) and heard.private and not self.chat.threads.is_sure(heard.conversation):
            await self._look_back(heard)
        if isinstance(heard, Text) and heard.thread and await self._takes_part(heard.conversation):
            heard = replace(heard, overheard=True)
        user = heard.identity.rpartition("/")[2]
        if (isinstance(heard, Command) and is_shared(body)) or await self._is_reaction_to_card(heard):
            who = await self._who(user)
            if who is None:
                return replace(heard, barred="chat.unchecked")
            identity = identity_of(who.team, user) if is_shared(body) and who.team else heard.identity
            heard = replace(heard, identity=identity, barred="chat.bot" if who.bot else heard.barred)
        return await self._by_email(heard, user) if self._settings.emails else heard

    async def _who(self, user: str) -> Who | None:
        """What Slack says of a person, None where it refuses to. Raises PlatformError for what may pass."""
        try:
            return await self.chat.who(user)
        except PlatformError as error:
            if error.passing:
                raise
            _log.warning("slack.nobody_known", {"user": user, "why": str(error)})
            return None

    async def _takes_part(self, thread: str) -> bool:
        """Whether we were spoken with in that thread, or cards go there.

        After a restart it is known only where a call of it still waits, or where the settings name it.
        """
        if self.chat.threads.known(thread) or thread in self._people.named_routes():
            return True
        return bool(await self._core.store.pending(origin=thread, limit=1))

    async def _is_reaction_to_card(self, heard: Heard) -> bool:
        if not isinstance(heard, Reaction):
            return False
        return await self._core.store.by_message(heard.message or "") is not None

    async def _by_email(self, heard: Heard, user: str) -> Heard:
        """The address in place of the id, of one of our own whom no list names otherwise and one names so."""
        own = self._me is not None and heard.identity == identity_of(self._me.team, user)
        if not own or self._people.principal(heard.identity) != heard.identity:
            return heard
        if self._people.is_listed(heard.identity) or heard.barred:
            return heard
        who = await self._who(user)
        if who is None:
            return heard
        identity = f"{EMAIL}{who.email}"
        mapped = self._people.principal(identity) != identity or self._people.is_listed(identity)
        return replace(heard, identity=identity) if who.email and not who.bot and mapped else heard
