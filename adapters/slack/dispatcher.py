"""Hands recorded events to Bolt's own dispatcher: `AsyncApp.async_dispatch` and its listeners.

Two apps share the client. The first has our listeners, the second has the operator's listeners, if there are any. Bolt
runs only the first listener that matches, so with one app for both an operator's listener could replace ours. Each
event goes to our app first.

The event has been acknowledged already, so a listener's `ack()` sends nothing to Slack. Bolt still requires it. With
`process_before_response` the dispatch waits for the listener; otherwise Bolt returns at the acknowledgement and runs
the listener in a task that nobody awaits. Bolt answers a failed listener with status 500, and an event without a
listener with 404. The inbox must know about failed listeners and about events without a listener. So an error handler
stores each exception, and `dispatch` raises the first of them.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.request.async_request import AsyncBoltRequest

from adapters.slack.handlers import Me, commanded, explained, pressed, said, stray_press
from adapters.slack.messages import APPROVE, CHOOSE, DETAILS, PAGE_ACTION, REASON_WINDOW, REJECT
from hitl.platforms import Untaken

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import TypeAlias

    from slack_sdk.web.async_client import AsyncWebClient

    from hitl.events import Heard
    from hitl.platforms import Register

    #: Translates a body of one kind into an event, or returns None if nothing in the body concerns Sayso.
    Translate: TypeAlias = Callable[[Mapping[str, Any], Me], Heard | None]
    #: Handles the event that was read from a body.
    HearBody: TypeAlias = Callable[[Heard | None], Awaitable[None]]

#: The events of an app with the assistant view or the agent view. We don't use the events about what a person looks at,
#: but without a listener for them, the inbox would report each as an event that nothing handles.
_OF_AGENTS = ("assistant_thread_started", "assistant_thread_context_changed", "app_context_changed")
#: The events that this adapter reads. Messages of any sub-type arrive as `message`; the translator skips messages that
#: no person wrote.
EVENTS = ("message", "app_mention", "reaction_added", "app_home_opened", *_OF_AGENTS)
COMMAND = "/sayso"
_ACTIONS = re.compile(rf"^(?:{APPROVE}|{REJECT}|{DETAILS}|(?:{CHOOSE}|{PAGE_ACTION}):\d+)$")
#: Slack's limit for the characters of an action's id.
_LONGEST = 255
_log = logging.getLogger(__name__)
#: The key in a request's context under which its `_Run` is stored.
_RUN = "sayso"


@dataclass(slots=True)
class _Run:
    """One event that an app handles, and the results of its listeners."""

    hear: HearBody
    taken: bool = True
    raised: list[Exception] = field(default_factory=list)


class Dispatcher:
    """The two apps of one client. Call `start` before `dispatch`."""

    def __init__(self, client: AsyncWebClient, register: Register | None = None) -> None:
        self._client = client
        self._me: Me | None = None
        self._apps = [self._app(ours=True), *([self._app(ours=False)] if register else [])]
        if register:
            register(self._apps[1])

    @property
    def has_others(self) -> bool:
        """Return whether an operator registered listeners."""
        return len(self._apps) > 1

    def start(self, me: Me) -> None:
        """Pass the bot's workspace and user id to the listeners."""
        if self._me is None:
            self._listen(self._apps[0], me)
        self._me = me

    async def dispatch(self, body: dict[str, Any], hear: HearBody) -> bool:
        """Hand an event to our listeners, then to the operator's. Return whether an operator's listener handled it.

        If no listener handles the press of a message's button, `hear` gets a press without data, so that the person
        gets an answer. Raises the first exception of a listener. Raises Untaken if no listener handles another event,
        or a press in a window, which isn't our window.
        """
        ours, *theirs = [await self._run(app, body, hear) for app in self._apps]
        if not (ours or any(theirs)):
            if self._me is None or body.get("type") != "block_actions" or body.get("view"):
                raise Untaken
            _log.warning("slack.unknown_button", {"action": str(body["actions"][0].get("action_id", ""))[:_LONGEST]})
            await hear(stray_press(body, self._me))
        return any(theirs)

    async def _run(self, app: AsyncApp, body: dict[str, Any], hear: HearBody) -> bool:
        """Hand an event to one app. Return whether a listener took it. Raises the listener's exception."""
        run = _Run(hear)
        await app.async_dispatch(AsyncBoltRequest(mode="socket_mode", body=body, context={_RUN: run}))
        if run.raised:
            raise run.raised[0]
        return run.taken

    def _app(self, *, ours: bool) -> AsyncApp:
        """Return an app that only passes events to its listeners, and receives nothing itself.

        The app with our listeners also reads the bot's own messages, because they show which cards exist.
        """

        async def authorize() -> AuthorizeResult:
            """Return the authorization of the one workspace or organisation in which the app is installed."""
            me, token = self._me or Me("", ""), self._client.token
            return AuthorizeResult(enterprise_id=None, team_id=me.team, bot_user_id=me.user, bot_token=token)

        # Without a name, the library would take 0.1 s to search the call stack for a file name to use.
        app = AsyncApp(
            name="sayso",
            client=self._client,
            logger=logging.getLogger("slack_bolt.sayso"),
            authorize=authorize,
            process_before_response=True,
            raise_error_for_unhandled_request=True,
            request_verification_enabled=False,
            ignoring_self_events_enabled=not ours,
        )
        app.error(_keep)
        return app

    @staticmethod
    def _listen(app: AsyncApp, me: Me) -> None:
        for event in EVENTS:
            app.event(event)(_listener(said, me))
        app.action(_ACTIONS)(_listener(pressed, me))
        app.view(REASON_WINDOW)(_listener(explained, me))
        app.command(COMMAND)(_listener(commanded, me))


def _listener(translate: Translate, me: Me) -> Callable[..., Awaitable[None]]:
    async def listen(ack: Callable[[], Awaitable[Any]], body: dict[str, Any], context: dict[str, Any]) -> None:
        await ack()
        run: _Run = context[_RUN]
        await run.hear(translate(body, me))

    return listen


async def _keep(error: Exception, context: dict[str, Any]) -> None:
    run: _Run = context[_RUN]
    if isinstance(error, BoltUnhandledRequestError):
        run.taken = False
    else:
        run.raised.append(error)
