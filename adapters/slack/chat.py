"""The `Chat` port, implemented with slack-sdk: sends cards, windows and answers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from adapters.slack.agent_view import AgentView
from adapters.slack.alone import Alone, Kept
from adapters.slack.bodies import Me
from adapters.slack.delivery import Delivery, parsed
from adapters.slack.errors import explained, promised
from adapters.slack.messages import (
    Message,
    card_message,
    notice_message,
    outcome_message,
    page_message,
    page_window,
    plain_message,
    reason_window,
)
from adapters.slack.surface import channel_of, is_person, parse_place, place_of
from adapters.slack.threads import Threads
from adapters.slack.uploads import share
from adapters.slack.workspace import Workspace
from hitl.call import State
from hitl.people.names import Names
from hitl.ports import PlatformError
from hitl.question import is_question

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.pace import Pace
    from hitl.call import Call, Verb
    from hitl.cards.card import File
    from hitl.cards.wording import Wording
    from hitl.people import Directory
    from hitl.proof.keyring import Keyring


class SlackChat:
    """The chat of one app in one workspace or organisation.

    `stands` is called with the call, the route and the message id of a card that replaces an older message of the same
    card. `fresh` returns the current state of a call. It is called just before an edit is sent, because an edit may
    wait long for its turn.
    """

    def __init__(
        self,
        client: AsyncWebClient,
        keys: Keyring,
        pace: Pace,
        people: Directory,
        *,
        stands: Callable[[str, str, str], Awaitable[None]] | None = None,
        fresh: Callable[[str], Awaitable[Call | None]] | None = None,
    ) -> None:
        self.client = client
        self.threads = Threads()
        self.workspace = Workspace(client)
        self._delivery = Delivery(client, pace, self.threads)
        self.agent_view = AgentView(client, self._delivery)
        self._keys = keys
        self._pace = pace
        #: The display names of people. The service replaces this object with its own when it attaches this chat.
        self.names = Names(people)
        self._stands = stands
        self._fresh = fresh
        #: A lock for each route, held while a card is posted there.
        self._posting: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._team = ""
        #: The address of the workspace, with a slash at its end.
        self._home = ""

    async def connect(self) -> Me:
        """Return the ids of the workspace and of the bot's own user. Raises PlatformError."""
        async with explained():
            found = await self.client.auth_test()
            self._team = str(found.get("team_id") or promised(found, "enterprise_id"))
            self._home = str(found.get("url") or "")
            return Me(self._team, str(promised(found, "user_id")))

    def latest(self, place: str, before: str | None) -> str | None:
        """Return the ref of the call that the bot's latest message in `place` is about, or None.

        The result is None too if somebody else wrote between that message and the message `before`, or if the bot may
        have missed messages. The author of the message `before` doesn't count as somebody else.
        """
        return self.threads.latest(place, before.rpartition(":")[2]) if before else None

    def link(self, route: str, message: str) -> str:
        """Return the address of a message, in the form of `chat.getPermalink`."""
        channel, _, ts = message.partition(":")
        _, _, thread = parse_place(route)
        below = f"?thread_ts={thread}&cid={channel}" if thread else ""
        return f"{self._home}archives/{channel}/p{ts.replace('.', '')}{below}" if self._home else ""

    def shows_rejection(self, call: Call) -> bool:  # noqa: ARG002
        """Return False, because on Slack a rejection is shown by the edited card."""
        return False

    def learn_move(self, old: str, new: str) -> None:
        """Do nothing, because Slack never gives a conversation another id."""

    async def post(self, route: str, call: Call) -> str:
        """Post the card of a call. Return the message's id, which is unique among all chats."""
        await self.workspace.look_at(route)
        async with self._lock(route):
            return await self._delivery.send(route, self._card(route, call), about=call.ref)

    async def posted(self, conversation: str) -> None:
        """Wait until no card is being sent to the channel of a conversation. After that, the message ids of all its
        cards are stored.
        """
        for route, lock in list(self._posting.items()):
            if channel_of(route) == channel_of(conversation):
                async with lock:
                    pass

    def person_in(self, channel: str) -> str | None:
        """Return the user id of the person whose direct channel has this id.

        Return None if the bot hasn't written to that person since the start.
        """
        return self._delivery.person_in(channel)

    async def update(self, route: str, message: str, call: Call) -> None:
        """Edit the card to show the call's current state.

        If the edit fails, post a new card, or the outcome if the call has ended.
        """
        if self._delivery.shows(message, self._card(route, call)):
            return
        self._pace.edit_now(refresh=call.state is State.AWAITING)
        call = (await self._fresh(call.ref) if self._fresh else None) or call
        shown = self._card(route, call)
        if not await self._delivery.edit(message, shown):
            async with self._lock(route):
                await self._replace(route, shown, call)

    async def spare(self, route: str, message: str, call: Call) -> None:
        """Edit a message that is a second copy of a call's card. It then says that the other message is the card, or
        how the call ended.
        """
        spare = plain_message(self._wording(route).say("card.spare", short=call.short))
        shown = self._card(route, call) if call.ended else spare
        if not self._delivery.shows(message, shown):
            await self._pace.edit()
            await self._delivery.edit(message, shown)

    def _lock(self, route: str) -> asyncio.Lock:
        return self._posting.setdefault(route, asyncio.Lock())

    async def _replace(self, route: str, shown: Message, call: Call) -> None:
        if call.ended:
            await self._delivery.send(route, outcome_message(call, self.names, self._wording(route)), about=call.ref)
        else:
            message = await self._delivery.send(route, shown, about=call.ref)
            if self._stands:
                await self._stands(call.ref, route, message)

    async def notify(self, route: str, call: Call) -> None:
        """Post the outcome of a call to the conversation where the call was asked for, and mention the requester."""
        told = notice_message(call, self._users((call.requester,)), self._wording(route))
        await self._delivery.send(route, told, about=call.ref)

    async def tell(self, route: str, text: str, *, about: str | None = None, answers: str | None = None) -> None:
        """Send a sentence of the service, about the call with the ref `about`. `answers` is ignored, because Slack has
        no replies to single messages.
        """
        del answers
        await self._delivery.send(route, plain_message(text, wording=self._wording(route)), about=about)

    async def ask(
        self,
        route: str,
        *,
        call: Call,
        verb: Verb,
        person: str,
        answers: str | None = None,
        press: str | None = None,
    ) -> None:
        """Open a window that asks the person who pressed a button for a reason, or for the answer to a question.

        If the window can't be opened, send this person the command with which they can give the reason or answer.
        """
        del answers
        alone, wording = Alone.unpack(str(press)), self.names.people.wording(route, person)
        kept = Kept(call.ref, route, alone.channel, alone.thread, verb.value)
        try:
            async with explained():
                window = reason_window(call.short, verb, kept.pack(), wording, asks=is_question(call))
                promised(await self.client.views_open(trigger_id=alone.trigger, view=window), "view")
        except PlatformError:
            named = "answer" if is_question(call) else verb
            told = wording.say(f"window.why.{named}.by_command", short=call.short)
            await self.answer_press(str(press), told, alert=True)

    async def show(self, route: str, file: File, *, about: str, press: str | None = None) -> None:
        """Show a long text page by page.

        The person who pressed a button gets a window. Without a press, the text goes to the channel.
        """
        text = file.text
        if press is None:
            await self._delivery.send(route, page_message(about, text, 0, self._wording(route)), about=about)
            return
        alone = Alone.unpack(press)
        wording = self._of_person(alone)
        kept = Kept(about, route, alone.channel, alone.thread)
        window = page_window(about, text, alone.page, kept.pack(), wording)
        try:
            async with explained():
                if alone.view:
                    shown = await self.client.views_update(view_id=alone.view, view=window)
                else:
                    shown = await self.client.views_open(trigger_id=alone.trigger, view=window)
                promised(shown, "view")
        except PlatformError:
            await self._delivery.whisper(alone, page_message(about, text, alone.page, wording))

    async def attach(self, route: str, file: File, *, about: str, card: str) -> bool:
        """Post a file into the thread of a card, as a snippet."""
        channel, _, ts = card.partition(":")
        _, _, thread = parsed(route)
        await self._pace.turn(channel)
        await share(
            self.client,
            file,
            channel=channel,
            thread=thread or ts,
            comment=self._wording(route).say("chat.file", name=file.name),
            begun=lambda number: self.threads.shares(number, about),
        )
        return True

    async def working(self, route: str, *, on: bool) -> None:
        """Show in a thread that the agent is preparing an answer, or with `on` False, remove this status."""
        await self.agent_view.show_status(route, self._wording(route).say("chat.working") if on else "")

    async def suggest(self, route: str, title: str, prompts: Mapping[str, str]) -> None:
        """Show suggested prompts in the conversation with the agent (`AgentView.suggest`)."""
        await self.agent_view.suggest(route, title, prompts)

    async def entitle(self, route: str, title: str) -> None:
        """Give a thread of a direct conversation a title. Do nothing in other places, which have no title."""
        await self.agent_view.entitle(route, title)

    async def mark_undecided(self, message: str) -> None:
        """Do nothing. On Slack, the service can always answer one person alone, so it needn't mark the person's
        message.
        """
        del message

    async def answer_press(self, press: str, text: str, *, alert: bool) -> None:
        """Send an answer that only one person sees."""
        del alert
        alone = Alone.unpack(press)
        if text:
            await self._delivery.to_one(alone, plain_message(text, self._home, self._of_person(alone)), self._team)

    async def close(self) -> None:
        """Close the connections to Slack."""
        if self.client.session is not None:
            await self.client.session.close()

    def _card(self, route: str, call: Call) -> Message:
        _, place, _ = parsed(route)
        reader = self.names.people.owner(route) if is_person(place) else ""
        return card_message(
            call,
            self._keys,
            channel_of(route),
            self.names,
            heard=self.workspace.hears(route),
            reader=reader,
            wording=self._wording(route),
        )

    def _wording(self, route: str) -> Wording:
        """Return the wording in the language of a conversation."""
        return self.names.people.wording(route)

    def _of_person(self, alone: Alone) -> Wording:
        """Return the wording in the language of the person in `alone`, for messages that nobody else sees."""
        here, person = (place_of(self._team, each) for each in (alone.channel or alone.user, alone.user))
        return self.names.people.wording(here, person)

    def _users(self, principals: Sequence[str]) -> tuple[str, ...]:
        """Return the Slack user ids of these principals, without duplicates."""
        identities = (identity for principal in principals for identity in self.names.people.identities(principal))
        return tuple(dict.fromkeys(filter(None, map(_user_of, identities))))


def _user_of(identity: str) -> str:
    """Return the user id in a Slack identity, or '' for any other identity."""
    try:
        _, user, thread = parse_place(identity)
    except ValueError:
        return ""
    return user if is_person(user) and not thread else ""
