"""Puts the Slack adapter together: the client, its chat, its events, and how they arrive."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack import webhook
from adapters.slack.bodies import read
from adapters.slack.chat import SlackChat
from adapters.slack.handlers import Dispatcher
from adapters.slack.history import History, happened_at, pending_threads
from adapters.slack.lookups import Lookups
from adapters.slack.pace import Pace
from adapters.slack.receiver import EventRecorder, Sockets
from adapters.slack.retries import Soon
from adapters.slack.surface import PLATFORM, SURFACE
from adapters.slack.wording import say
from hitl.errors import SettingsError
from hitl.ports import PlatformError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

    from adapters.slack.bodies import Me
    from adapters.slack.settings import SlackSettings
    from hitl.call import Incoming
    from hitl.events import Heard
    from hitl.platforms import Core, Endpoint, Hear, Register

_log = logging.getLogger(__name__)
#: The start waits at most this many seconds for older messages from the history. After that, new events may be recorded
#: before the older messages.
_OLDER_FIRST_S = 3.0
#: Loggers whose lines may contain message bodies or secret connection addresses. Their lines are dropped.
_TALKATIVE = ("slack_bolt", "slack_sdk")


def make_client(settings: SlackSettings) -> AsyncWebClient:
    """Return the client of the Web API, not yet connected. Needs a running loop.

    Raises SettingsError without a token.
    """
    token = settings.secret("bot_token")
    if not token:
        raise SettingsError(say("setting.slack.token", variable="SAYSO_SLACK__BOT_TOKEN"))
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return AsyncWebClient(
        token,
        base_url=settings.api,
        session=aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=settings.timeout_s)),
        retry_handlers=[Soon()],
    )


async def build(settings: SlackSettings, core: Core, register: Register | None = None) -> Slack:
    """Return the platform, not yet connected. `register` adds the operator's own listeners, if there are any.

    Raises SettingsError.
    """
    pace, store = Pace(asyncio.get_running_loop().time, scale=settings.pace), core.store
    client = make_client(settings)
    chat = SlackChat(client, core.keys, pace, core.people, stands=store.adopt, fresh=store.get)
    return Slack(settings, chat, core, Dispatcher(client, register), await store.newest(PLATFORM))


class Slack:
    """Implements `hitl.platforms.Platform` for one Slack app."""

    surface = SURFACE

    def __init__(
        self, settings: SlackSettings, chat: SlackChat, core: Core, dispatcher: Dispatcher, last_before: Incoming | None
    ) -> None:
        self._settings = settings
        self.chat = chat
        self._core = core
        self._dispatcher = dispatcher
        self._lookups: Lookups | None = None
        self._me: Me | None = None
        #: The newest event that was recorded before this process started.
        self._last_before = last_before
        self._inbox = EventRecorder(core.store, chat.threads.missed)
        self._catching_up: set[asyncio.Task[None]] = set()

    def receiver(self, woken: Callable[[], None]) -> Sockets | None:
        """Return the connections of Socket Mode, not yet open. Return None if Slack sends events as HTTP requests.

        Raises SettingsError without an app token.
        """
        if self._settings.is_pushed:
            return None
        token, session = self._settings.secret("app_token"), self.chat.client.session
        if not token or session is None:
            raise SettingsError(say("setting.slack.app_token", variable="SAYSO_SLACK__APP_TOKEN"))
        self._inbox.woken = woken
        return Sockets(
            self._inbox,
            self.chat.client,
            session,
            token,
            connections=self._settings.connections,
            regained=self._regained,
        )

    def endpoint(self, woken: Callable[[], None]) -> Endpoint:
        """Return the HTTP endpoint for Slack's requests. Raises SettingsError without a signing secret."""
        self._inbox.woken = woken
        return webhook.endpoint(self._inbox, self._settings.secret("signing_secret"))

    async def connect(self) -> str:
        """Ask Slack for the bot's ids, then fetch older messages. Return the bot's user id. Raises PlatformError."""
        me = self._me = await self.chat.connect()
        self._lookups = Lookups(self.chat, self._core, me, emails=self._settings.emails)
        self._dispatcher.start(me)
        self.chat.threads.missed()
        # Older messages should be recorded first. But button presses must be handled soon, so a slow Slack isn't waited
        # for.
        await asyncio.wait({self._begin(self._catch_up(self._last_before))}, timeout=_OLDER_FIRST_S)
        return me.user

    async def dispatch(self, event: Incoming, hear: Hear) -> None:
        """Pass a recorded event to our listeners, then to the operator's. `hear` gets our translation of the event.

        Raises an exception of a listener, or Untaken if no listener handles the event.
        """
        body, lookups = read(event.body), self._lookups
        if lookups is None:
            raise PlatformError("not connected yet", passing=True)

        async def hear_body(heard: Heard | None) -> None:
            whole = await lookups.complete(heard, body)
            if whole is not None:
                await hear(whole)

        lookups.follow(body)
        try:
            shared = await self._dispatcher.dispatch(body, hear_body)
        except Exception:
            # The operator's listener may have written a message before it failed, so the bot's latest message is
            # unknown now.
            if self._dispatcher.has_others:
                lookups.unsettle(body)
            raise
        if shared:
            lookups.unsettle(body)

    async def close(self) -> None:
        """Close the connections to Slack."""
        for task in self._catching_up:
            task.cancel()
        await asyncio.gather(*self._catching_up, return_exceptions=True)
        await self.chat.close()

    def _regained(self) -> None:
        """Begin to fetch the messages that were sent while there was no connection."""
        self._begin(self._catch_up_from_newest())

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._catching_up.add(task)
        task.add_done_callback(self._catching_up.discard)
        return task

    async def _catch_up_from_newest(self) -> None:
        await self._catch_up(await self._core.store.newest(PLATFORM))

    async def _catch_up(self, last: Incoming | None) -> None:
        """Record the messages that people have sent to the bot since the event `last`.

        In a new installation there is no last event, and nothing is fetched.
        """
        if last is None or self._me is None:
            return
        try:
            history = History(self.chat.client, self._me, self._inbox.keep)
            await history.fetch(happened_at(last), await pending_threads(self._core.store))
        except Exception:  # noqa: BLE001 - without older messages, live events still arrive
            _log.exception("slack.history_not_read")
