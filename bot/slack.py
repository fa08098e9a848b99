"""Slack put together: the client, its chat, its events, and how they come in."""

from __future__ import annotations

import asyncio
import itertools
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

import aiohttp
import structlog
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
    AsyncServerErrorRetryHandler,
)
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack import webhook
from adapters.slack.chat import SlackChat
from adapters.slack.handlers import Me, author_of, identity_of, is_shared, place_of, read, understand
from adapters.slack.pace import Pace
from adapters.slack.receiver import SOURCE, Inbox, Sockets, bolt
from bot.chats import Chats, Manner
from bot.intake import Intake
from bot.settings import SettingsError
from hitl.errors import Unavailable
from hitl.heard import Heard, What
from hitl.ports import Change, PlatformError, adding
from hitl.wording import say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from starlette.routing import Route

    from bot.service import Service
    from bot.settings import SlackSettings
    from hitl.model import Incoming
    from hitl.people import Directory
    from hitl.ports import Store
    from hitl.tokens import Keyring

EMAIL = "email:"
#: Whose lines may hold bodies, and addresses with tickets in them; what matters is said here.
_TALKATIVE = ("slack_bolt", "slack_sdk")
_PAUSES_S = (1.0, 2.0, 5.0, 15.0)
_log = structlog.get_logger()


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
        retry_handlers=[
            AsyncConnectionErrorRetryHandler(max_retry_count=1),
            AsyncServerErrorRetryHandler(max_retry_count=2),
            AsyncRateLimitErrorRetryHandler(max_retry_count=1),
        ],
    )


def build_chat(settings: SlackSettings, store: Store, keys: Keyring, people: Directory) -> SlackChat:
    """The chat side, which the service needs before it exists itself. Raises SettingsError."""
    pace = Pace(asyncio.get_running_loop().time, scale=settings.pace)
    return SlackChat(make_client(settings), keys, pace, people, stands=store.adopt, fresh=store.get)


class Slack:
    """One app at work. It comes up when Slack does: until then `troubles` says why not. Raises SettingsError."""

    def __init__(self, settings: SlackSettings, chat: SlackChat, service: Service) -> None:
        self.settings = settings
        self.chat = chat
        self.service = service
        self._people = service.gate.people
        self._trouble: str | None = "not connected yet"
        self._work: asyncio.Task[None] | None = None
        self._me: Me | None = None
        self._chats = Chats(service, chat, Manner("/sayso ", say("chat.help.sayso"), toasts=False))
        self.intake = Intake(service.store, {SOURCE: self._handle})
        self.inbox = Inbox(service.store, self.intake.wake)
        self._app = bolt(chat.client, self.inbox)
        self._sockets = self._make_sockets() if settings.receive == "socket" else None

    def routes(self, read_body: webhook.ReadBody) -> Sequence[Route]:
        """What to mount on the HTTP shell. Raises SettingsError without a signing secret."""
        if self._sockets:
            return ()
        try:
            return (webhook.route(self._app, self.settings.secret("signing_secret"), read_body),)
        except ValueError as error:
            raise SettingsError(str(error)) from error

    def troubles(self) -> Sequence[str]:
        """What is in the way of answers from Slack."""
        receiving = self._sockets.trouble if self._sockets and self._me else None
        return [f"slack: {trouble}" for trouble in (self._trouble, receiving) if trouble]

    async def start(self) -> None:
        """Connect in the background: a platform that is down at start must not keep the service down."""
        self._work = asyncio.create_task(self._run())
        self._work.add_done_callback(self._ended)

    async def stop(self) -> None:
        """Take no more events, and end what is being handled; what was recorded is handled at the next start."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)

    def _make_sockets(self) -> Sockets:
        token, session = self.settings.secret("app_token"), self.chat.client.session
        if not token or session is None:
            raise SettingsError("Socket Mode needs an app token: set SAYSO_SLACK__APP_TOKEN, or slack.app_token_file.")
        return Sockets(self._app, self.chat.client, session, token, connections=self.settings.connections)

    def _ended(self, work: asyncio.Task[None]) -> None:
        """A bug must not look like silence: without this the service would seem well and hear nothing."""
        if not work.cancelled() and (error := work.exception()):
            self._trouble = f"stopped by {type(error).__name__}; restart the service"
            _log.error("slack.stopped", exc_info=error)

    async def _run(self) -> None:
        await self._connect()
        async with asyncio.TaskGroup() as work:
            work.create_task(self.intake.run())
            if self._sockets:
                work.create_task(self._sockets.run())

    async def _connect(self) -> None:
        for pause_s in itertools.chain(_PAUSES_S, itertools.repeat(_PAUSES_S[-1])):
            try:
                self._me = await self.chat.connect()
                break
            except (PlatformError, Unavailable) as error:
                self._trouble = str(error)
                _log.warning("slack.connecting", trouble=self._trouble)
                await asyncio.sleep(pause_s)
        self._trouble = None
        _log.info("slack.ready")

    async def _handle(self, event: Incoming) -> None:
        heard, body, me = None, read(event.body), self._me
        if me is not None:
            self._follow(body, me)
            heard = understand(body, me)
        done = event.source, event.id
        if heard is not None and not self._beside_us(heard):
            # Slack doesn't say when a command was given or a window sent.
            heard = replace(heard, at=heard.at or event.received_at)
            await self._chats.handle(await self._known(heard, body), done)
        else:
            await self.service.store.commit(adding(Change(handled=done)))

    def _follow(self, body: Mapping[str, Any], me: Me) -> None:
        """Remember who wrote last where we are spoken with, whoever it was."""
        wrote = author_of(body)
        if wrote is not None and wrote[2] != me.user:
            channel, thread, author = wrote
            place = place_of(me.team, author if channel.startswith("D") else channel, thread)
            self.chat.threads.heard(place, str(body["event"]["ts"]), author)

    def _beside_us(self, heard: Heard) -> bool:
        """Whether it can't count and was said where we take no part: then nobody needs to be told."""
        return heard.barred is not None and not (heard.addressed or self.chat.threads.known(heard.conversation))

    async def _known(self, heard: Heard, body: Mapping[str, Any]) -> Heard:
        """The same with what only Slack's directory tells: who is a bot, whose team, whose address."""
        if heard.what is What.TEXT and heard.thread and await self._takes_part(heard.conversation):
            heard = replace(heard, overheard=True)
        user = heard.identity.rpartition("/")[2]
        if (heard.what is What.COMMAND and is_shared(body)) or await self._is_reaction_to_card(heard):
            who = await self.chat.who(user)
            identity = identity_of(who.team, user) if is_shared(body) and who.team else heard.identity
            heard = replace(heard, identity=identity, barred="chat.bot" if who.bot else heard.barred)
        return await self._by_email(heard, user) if self.settings.emails else heard

    async def _takes_part(self, thread: str) -> bool:
        """Whether we were spoken with in that thread, or cards go there.

        After a restart it is known only where a call of it still waits, or where the settings name it.
        """
        if self.chat.threads.known(thread) or thread in self._people.named_routes():
            return True
        return bool(await self.service.store.pending(origin=thread, limit=1))

    async def _is_reaction_to_card(self, heard: Heard) -> bool:
        if heard.what is not What.REACTION:
            return False
        return await self.service.store.by_message(heard.message or "") is not None

    async def _by_email(self, heard: Heard, user: str) -> Heard:
        """The address in place of the id, of one of our own whom no list names otherwise and one names so."""
        own = self._me is not None and heard.identity == identity_of(self._me.team, user)
        if not own or self._people.principal(heard.identity) != heard.identity:
            return heard
        if self._people.is_listed(heard.identity) or heard.barred:
            return heard
        who = await self.chat.who(user)
        identity = f"{EMAIL}{who.email}"
        mapped = self._people.principal(identity) != identity or self._people.is_listed(identity)
        return replace(heard, identity=identity) if who.email and not who.bot and mapped else heard
