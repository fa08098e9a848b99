"""Slack put together: the client, its chat, its events, and how they come in."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack import webhook
from adapters.slack.chat import SlackChat
from adapters.slack.handlers import (
    Me,
    author_of,
    identity_of,
    is_direct,
    is_shared,
    message_of,
    parse_place,
    place_of,
    read,
    understand,
)
from adapters.slack.pace import Pace
from adapters.slack.receiver import SOURCE, Inbox, Sockets, bolt
from adapters.slack.retries import Soon
from bot.connector import Connector
from bot.conversation import Manner, Router
from bot.errors import SettingsError
from hitl.events import Command, Echo, Reaction, Text
from hitl.ports import PlatformError
from hitl.records import replace
from hitl.wording import say

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from starlette.routing import Route

    from adapters.slack.chat import Who
    from bot.connector import ReadBody
    from bot.service import Service
    from bot.settings import SlackSettings
    from hitl.events import Heard
    from hitl.model import Incoming
    from hitl.people import Directory
    from hitl.ports import CallsAndCards
    from hitl.tokens import Keyring

_log = logging.getLogger(__name__)
EMAIL = "email:"
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


def build_chat(settings: SlackSettings, store: CallsAndCards, keys: Keyring, people: Directory) -> SlackChat:
    """The chat side, which the service needs before it exists itself. Raises SettingsError."""
    pace = Pace(asyncio.get_running_loop().time, scale=settings.pace)
    return SlackChat(make_client(settings), keys, pace, people, stands=store.adopt, fresh=store.get)


class Slack(Connector):
    """One app at work. Raises SettingsError."""

    def __init__(self, settings: SlackSettings, chat: SlackChat, service: Service) -> None:
        manner = Manner("/sayso ", say("chat.help.sayso"), toasts=False)
        super().__init__(SOURCE, service, Router(service, chat, manner).handle)
        self.settings = settings
        self.chat = chat
        chat.names = service.gate.names
        self._people = service.gate.people
        self._me: Me | None = None
        self.inbox = Inbox(service.store, self.intake.wake, chat.threads.missed)
        self._app = bolt(chat.client, self.inbox)
        self._receiver = self._make_sockets() if settings.receive == "socket" else None

    def _route(self, read_body: ReadBody) -> Route:
        return webhook.route(self._app, self.settings.secret("signing_secret"), read_body)

    def _make_sockets(self) -> Sockets:
        token, session = self.settings.secret("app_token"), self.chat.client.session
        if not token or session is None:
            raise SettingsError("Socket Mode needs an app token: set SAYSO_SLACK__APP_TOKEN, or slack.app_token_file.")
        missed, connections = self.chat.threads.missed, self.settings.connections
        return Sockets(self._app, self.chat.client, session, token, connections=connections, missed=missed)

    async def _connect(self) -> str:
        self._me = await self.chat.connect()
        self.chat.threads.missed()
        return self._me.user

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
        if await self.service.store.by_message(str(heard.message)) is None:
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
            known = await self.service.store.by_message(message_of(card.partition(":")[0], ts))
            if author == me.user:
                self.chat.threads.wrote(heard.conversation, ts, known[0] if known else None)
            else:
                self.chat.threads.heard(heard.conversation, ts, author)

    async def _newest_card(self, heard: Text) -> str | None:
        """The message of the newest card of a waiting call that stands there."""
        store = self.service.store
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
        return await self._by_email(heard, user) if self.settings.emails else heard

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
        return bool(await self.service.store.pending(origin=thread, limit=1))

    async def _is_reaction_to_card(self, heard: Heard) -> bool:
        if not isinstance(heard, Reaction):
            return False
        return await self.service.store.by_message(heard.message or "") is not None

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
