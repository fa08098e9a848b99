"""Hands recorded events to Bolt's own dispatcher: `AsyncApp.async_dispatch` and its listeners.

Two apps share the client. The first has our listeners, the second has the operator's listeners, if there are any. Bolt
runs only the first listener that matches, so with one app for both an operator's listener could replace ours. Each
event goes to our app first.

The event has been acknowledged already, so a listener's `ack()` sends nothing to Slack. Bolt still requires it. With
`process_before_response` the dispatch waits for the listener; otherwise Bolt returns at the acknowledgement and runs
the listener in a task that nobody awaits. Bolt answers a failed listener with status 500, and an event without a
listener with 404. The inbox must know about failed listeners and about events without a listener. So an error handler
stores each exception, and `dispatch` raises the first of them.

Our listeners translate an event into a neutral event, and do nothing else. They never judge who may decide. Some
messages can't be anybody's decision: messages of bots and of this bot, edited and deleted messages, broadcast copies,
and previews of links. The listeners skip such messages or set the event's `barred` to a reason, because only Slack's
own fields identify them.
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

from adapters.slack.alone import Alone, Kept
from adapters.slack.bodies import (
    BROADCAST,
    UNKNOWN,
    Me,
    channel_of_press,
    fields_of,
    is_message,
    moment,
    team_of_author,
    team_of_presser,
)
from adapters.slack.formatting import EMOJI, plain, shown
from adapters.slack.messages import APPROVE, CHOOSE, DETAILS, PAGE_ACTION, REASON_FIELD, REASON_WINDOW, REJECT
from adapters.slack.surface import SLACKBOT, identity_of, is_direct, message_of, place_of
from hitl.call import Verb
from hitl.events import Command, Echo, Explained, Heard, Opened, PageTurned, Press, Reaction, Text
from hitl.platforms import Untaken
from hitl.records import replace

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import TypeAlias

    from slack_sdk.web.async_client import AsyncWebClient

    from hitl.platforms import Register

    #: Translates a body of one kind into an event, or returns None if nothing in the body concerns Sayso.
    Translate: TypeAlias = Callable[[Mapping[str, Any], Me], Heard | None]
    #: Handles the event that was read from a body.
    HearBody: TypeAlias = Callable[[Heard | None], Awaitable[None]]

#: The events of an app with the assistant view or the agent view. We don't use the events about the pages that a person
#: looks at. They have a listener only because the inbox would otherwise report each of them as an event that nothing
#: handles.
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
#: A message of the bot is a card if it has one of these buttons: Approve, or the first option of a question.
_DECIDING = frozenset({APPROVE, f"{CHOOSE}:1"})
#: A command that a person types as a message, as in a thread, where Slack takes no commands.
_COMMAND = re.compile(r"/sayso (?P<name>[a-z]+)(?: (?P<rest>[^\n]*))?", re.IGNORECASE)
_TONE = re.compile(r"::skin-tone-[1-6]$")


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
        gets an answer. Raises the first exception of a listener. Raises Untaken if no listener handles any other event,
        or a press in a window.
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


def said(body: Mapping[str, Any], me: Me) -> Heard | None:
    """Return the event for a message, a mention, a reaction, or the opening of one of the app's tabs or panes.

    Return None if nothing in it concerns Sayso. Like all functions in this module that read Slack's events, raises
    LookupError, TypeError or ValueError if Slack can't have sent the event.
    """
    event = fields_of(body.get("event"))
    if event.get("type") == "reaction_added":
        return _reaction(body, event, me)
    if event.get("type") == "app_home_opened":
        return _home(body, event, me)
    if event.get("type") == "assistant_thread_started":
        return _pane(body, event, me)
    if not is_message(event):
        return None
    return _echo(event, me) if event.get("user") == me.user else _message(body, event, me)


def _echo(event: Mapping[str, Any], me: Me) -> Heard | None:
    """Return an `Echo` for a card of the bot that Slack sends back as an event, or None for the bot's other messages.

    In a direct conversation, the event's place has the channel's id, and not yet the person's id.
    """
    elements = (element for block in event.get("blocks") or () for element in fields_of(block).get("elements") or ())
    data = next((found.get("value") for found in map(fields_of, elements) if found.get("action_id") in _DECIDING), None)
    if not isinstance(data, str):
        return None
    channel, ts, thread = event["channel"], event["ts"], event.get("thread_ts") or ""
    return Echo(
        identity=identity_of(me.team, me.user),
        conversation=place_of(me.team, channel, "" if thread == ts else thread),
        message=message_of(channel, ts),
        data=data,
    )


def _home(body: Mapping[str, Any], event: Mapping[str, Any], me: Me) -> Command | Opened | None:
    """Return the event for the opening of one of the app's tabs, or None for a tab that Sayso doesn't use.

    Opening the Home tab is the command `pending` in the person's private conversation. The answer appears on the tab.
    On the Messages tab of the agent view, people write to the agent, so opening that tab is an `Opened` event.
    """
    tab, user = event.get("tab"), str(event["user"])
    identity, place = identity_of(team_of_author(body, event), user), place_of(me.team, user)
    if tab == "messages":
        return Opened(identity=identity, conversation=place)
    if tab != "home":
        return None
    press = Alone(user, str(event["channel"]), home=True).pack()
    at = moment(event.get("event_ts"))
    return Command(identity=identity, conversation=place, press=press, name="pending", at=at)


def _pane(body: Mapping[str, Any], event: Mapping[str, Any], me: Me) -> Opened:
    """Return the event for the opening of a thread in the assistant view's pane.

    In the pane, a person can write only after the app's first message. Newer apps have the agent view instead of this
    view.
    """
    opened = event["assistant_thread"]
    user, thread = str(opened["user_id"]), str(opened["thread_ts"])
    identity = identity_of(team_of_author(body, event), user)
    return Opened(identity=identity, conversation=place_of(me.team, user, thread), waits=True)


def _message(body: Mapping[str, Any], event: Mapping[str, Any], me: Me) -> Heard | None:
    user, text = event.get("user"), str(event.get("text") or "")
    if user in {None, "", me.user, SLACKBOT} or event.get("bot_id") or event.get("hidden"):
        return None
    user = str(user)
    channel, ts, thread = event["channel"], event["ts"], event.get("thread_ts") or ""
    direct = is_direct(channel)
    if direct and thread == ts:
        thread = ""  # the first message of a thread belongs to the conversation itself
    mentioned = f"<@{me.user}>" in text or f"<@{me.user}|" in text
    root = thread or (ts if mentioned and not direct else "")
    said = shown(event, me.user)
    heard = Text(
        identity=identity_of(team_of_author(body, event), user),
        conversation=place_of(me.team, user if direct else channel, root),
        message=message_of(channel, ts),
        thread=message_of(channel, thread) if thread else None,
        text=said.text,
        spans=said.spans,
        press=Alone(user, channel, root).pack(),
        private=direct or bool(thread),
        addressed=direct or mentioned,
        overheard=bool(thread) and event.get("parent_user_id") == me.user,
        at=moment(ts),
    )
    barred = _barred(event, heard.identity)
    if barred:
        return replace(heard, barred=barred)
    return (_typed_command(heard) if direct else None) or heard


def _typed_command(heard: Text) -> Command | None:
    """Return the command if a text in a direct conversation is a command; otherwise return None.

    In a thread, Slack takes no commands, so people type them as text. A suggested prompt sends a text too. A formatted
    text isn't a command.
    """
    found = None if heard.spans else _COMMAND.fullmatch(heard.text.strip())
    if found is None:
        return None
    return Command(
        identity=heard.identity,
        conversation=heard.conversation,
        message=heard.message,
        press=heard.press,
        name=found["name"].casefold(),
        text=(found["rest"] or "").strip(),
        at=heard.at,
    )


def _barred(event: Mapping[str, Any], identity: str) -> str | None:
    """Return the code of the reason why a message can't decide a call (such as `chat.edited`), or None if it can.

    An edited message can't decide. A message that was fetched from the history may have been edited since it was sent.
    """
    if UNKNOWN in identity:
        return "chat.stranger"
    if event.get("subtype") == BROADCAST:
        return "chat.broadcast"
    if event.get("edited"):
        return "chat.edited"
    return "chat.bot" if event.get("app_id") else None


def _reaction(body: Mapping[str, Any], event: Mapping[str, Any], me: Me) -> Heard | None:
    item, user = fields_of(event.get("item")), str(event["user"])
    if item.get("type") != "message" or user == me.user:
        return None
    channel = item["channel"]
    name = _TONE.sub("", str(event["reaction"]))
    return Reaction(
        identity=identity_of(team_of_author(body, event), user),
        conversation=place_of(me.team, user if is_direct(channel) else channel),
        message=message_of(channel, item["ts"]),
        text=EMOJI.get(name, f":{name}:"),
        press=Alone(user, channel).pack(),
        at=moment(event.get("event_ts")),
    )


def pressed(body: Mapping[str, Any], me: Me) -> Press | PageTurned:
    """Return the event for a button press, on a message or in a window."""
    action = body["actions"][0]
    name = str(action.get("action_id", ""))
    page = name.removeprefix(f"{PAGE_ACTION}:")
    value, (alone, where) = str(action.get("value", "")), _pressed(body, me)
    if page == name:
        return Press(**where, press=alone.pack(), data=value, at=moment(action.get("action_ts")))
    return PageTurned(**where, press=replace(alone, page=int(page)).pack(), ref=value)


def stray_press(body: Mapping[str, Any], me: Me) -> Press:
    """Return the event for a press of a button that this version doesn't have.

    The event has no data, because this version of the service didn't write the button's value.
    """
    alone, where = _pressed(body, me)
    return Press(**where, press=alone.pack(), stray=True, at=moment(body["actions"][0].get("action_ts")))


def _pressed(body: Mapping[str, Any], me: Me) -> tuple[Alone, dict[str, Any]]:
    """Return the ways to answer the person who pressed a button, and the identity, conversation and message of the
    event.

    For a press in a window, the conversation is the one in which the window was opened. The window stores that
    conversation.
    """
    user, view, container = body["user"]["id"], fields_of(body.get("view")), fields_of(body.get("container"))
    if view:
        kept = Kept.unpack(view["private_metadata"])
        where, channel, thread, message = kept.place, kept.channel, kept.thread, None
    else:
        channel, ts = channel_of_press(body), str(container.get("message_ts") or "")
        thread = str(container.get("thread_ts") or fields_of(body.get("message")).get("thread_ts") or "")
        thread = "" if thread == ts else thread
        where = place_of(me.team, user if is_direct(channel) else channel, thread)
        message = message_of(channel, ts) if ts else None
    alone = Alone(
        user, channel, thread, str(body.get("trigger_id", "")), str(body.get("response_url", "")), view.get("id", "")
    )
    return alone, {"identity": identity_of(team_of_presser(body), user), "conversation": where, "message": message}


def explained(body: Mapping[str, Any], me: Me) -> Explained:
    """Return the event for a reason or an answer that was entered in a window."""
    del me
    view = body["view"]
    kept, user = Kept.unpack(view["private_metadata"]), body["user"]["id"]
    return Explained(
        identity=identity_of(team_of_presser(body), user),
        conversation=kept.place,
        press=Alone(user, kept.channel, kept.thread).pack(),
        ref=kept.ref,
        verb=Verb(kept.verb),
        text=str(view["state"]["values"][REASON_FIELD][REASON_FIELD].get("value") or "").strip(),
    )


def commanded(body: Mapping[str, Any], me: Me) -> Command:
    """Return the event for the command `/sayso WORD ...`.

    Slack has no commands in threads, so a command is for the whole channel, with all its threads.
    """
    user, channel = body["user_id"], body["channel_id"]
    word, _, rest = str(body.get("text") or "").strip().partition(" ")
    team = body.get("team_id") or body.get("enterprise_id") or UNKNOWN
    alone = Alone(user, channel, "", str(body.get("trigger_id", "")), str(body.get("response_url", "")))
    return Command(
        identity=identity_of(team, user),
        conversation=place_of(me.team, user if is_direct(channel) else channel),
        press=alone.pack(),
        name=word.casefold() or "help",
        text=plain(rest.strip()),
    )
