"""Slack as a surface: one channel with everybody in it, real events over real connections.

Who talks without answering a card mentions the app, as one does in a channel; a call is asked for in a thread, and
its card is answered there. A screen is what the channel shows and what is shown to that person alone.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Self

from hitl.call import CHOICES, Call, Verb
from hitl.errors import InvalidConfirmation
from hitl.proof.keyring import ButtonData
from hitl.records import replace
from simulators.slack import SlackServer
from simulators.slack.marks import EMOJI
from tests.scenarios.chats import ChatRoom, ChatStage
from tests.scenarios.harness import PEOPLE
from tests.wired_slack import wired

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from hitl.gate import Gate
    from simulators.slack import App, Channel, Delivery, Message, User, View
    from tests.wired_slack import Wired

#: What stands before every private message: it has no place among the others.
_NAMES = {sign: name for name, sign in reversed(EMOJI.items())}


class Room(ChatRoom["Message", "Wired"]):
    """Implements `Surface`."""

    def __init__(self, server: SlackServer, app: App, room: Channel, people: Mapping[str, User]) -> None:
        self.server = server
        self.app = app
        self.room = room
        self.people = people
        self.identities: Mapping[str, str] = {who: f"slack:{user.team_id}/{user.id}" for who, user in people.items()}
        self.conversation = ""
        #: The workspace that the app is in, or the organisation.
        self.home = app.team_id
        self._root: Message | None = None

    @classmethod
    async def gather(cls, server: SlackServer) -> Self:
        """A channel, the app and everybody in it."""
        app = await server.app()
        people = {who: await server.user(who.title()) for who in PEOPLE}
        room = await server.channel("ops", members=[*people.values(), app.bot])
        return cls(server, app, room, people)

    @property
    def root(self) -> Message:
        """The head of the thread."""
        assert self._root is not None
        return self._root

    async def begin(self) -> None:
        """Somebody begins the thread, once somebody listens."""
        if self._root is None:
            self._root = await self.server.say(self.people["uma"], self.room, "Today's work goes below this.")
            self.conversation = f"slack:{self.home}/{self.room.id}/{self._root.ts}"

    async def say(self, who: str, text: str) -> None:
        """A message in the thread that mentions the app."""
        if text.strip():
            await self.server.mention(self.people[who], self.room, text, thread=self.root)
        await self.settle()

    async def write(self, who: str, text: str) -> Message:
        """A message in the thread that mentions nobody."""
        said = await self.server.say(self.people[who], self.room, text, thread=self.root)
        await self.settle()
        return said

    async def answer(self, who: str, call: Call, text: str) -> None:
        """A message in the thread, which names the call where it isn't right below its card."""
        await self.write(who, text if self.is_right_above(who, call) else f"{text} {call.short}")

    def is_right_above(self, who: str, call: Call) -> bool:
        """Whether the latest message of anyone else in the thread is ours about the call, and no other card waits."""
        me = self.people[who].id
        latest = [one for one in self.room.thread(self.root.ts) if one.user_id != me]
        waiting = [one for one in self.posted() if len(one.labels) > 1]
        return bool(latest) and call.short in latest[-1].shown.text and len(waiting) <= 1

    async def press(self, who: str, call: Call, verb: Verb) -> None:
        """A press; on a card whose buttons are gone, one that was on its way when they went."""
        await self.pressed(who, self.first(call), verb)
        await self.settle()

    async def pressed(self, who: str, card: Message, verb: Verb) -> Delivery | None:
        """The same on this message, without waiting."""
        action = f"sayso:choose:{CHOICES.index(verb) + 1}" if verb in CHOICES else f"sayso:{verb}"
        return await self.server.press(self.people[who], card, action)

    async def react(self, who: str, call: Call, emoji: str) -> None:
        """A reaction."""
        await self.server.react(self.people[who], self.message(call), _NAMES.get(emoji, emoji))
        await self.settle()

    async def send_again(self) -> None:
        """A minute goes by on the platform."""
        await self.server.advance(61)

    async def command(self, who: str, text: str) -> None:
        """`/sayso ...`, in the channel."""
        await self.server.command(self.people[who], self.room, "/sayso", text)
        await self.settle()

    def card(self, call: Call) -> str:
        """The card as it was posted, each block on the line of its name."""
        found = self.cards(call)
        return read_out(first(found[0])) if found else ""

    def heard(self, who: str) -> list[str]:
        """What the app wrote in the channel, to this person alone, and into windows, in the order of time."""
        person = self.people[who]
        alone = [one for one in self.server.world.ephemerals if one.visible_to == person.id]
        written = iter(sorted([*self.posted(), *alone], key=lambda one: one.ts))
        windows = iter([view for view in self.server.world.views.values() if view.user_id == person.id])
        texts: list[str] = []
        for call in self.server.platform.calls:
            if call.error or (call.method == "chat.postEphemeral" and call.params["user"] != person.id):
                continue
            if call.method in {"chat.postMessage", "chat.postEphemeral"}:
                texts.append(first(next(written)).shown.text)
            elif call.method == "views.open" and (view := next(windows, None)) is not None:
                texts.append(in_one(view))
        return texts

    def whispers(self, who: str) -> list[str]:
        """What that person alone was told."""
        person = self.people[who]
        return [one.shown.text for one in self.server.world.ephemerals if one.visible_to == person.id]

    def first(self, call: Call) -> Message:
        """The card as it was posted."""
        return first(self.message(call))

    def cards(self, call: Call) -> list[Message]:
        """All cards of the call in the channel, oldest first."""
        return [message for message in self.posted() if _title(call, message)]

    def posted(self, room: Channel | None = None) -> list[Message]:
        """The app's messages in a channel, oldest first."""
        return [message for message in (room or self.room).messages.values() if message.bot_id]


class SlackStage(ChatStage):
    """A stage whose service speaks to Slack."""

    surface: Room

    def __init__(self, surface: Room, receive: str, *, lists: Mapping[str, Any] | None = None, **settings: Any) -> None:
        self._lists: dict[str, Any] = dict(lists or {})
        super().__init__(surface, receive, **settings)

    def _wired(self) -> contextlib.AbstractAsyncContextManager[Wired]:
        room = self.surface
        return wired(room.server, room.app, self._gate, receive=self._receive, **self.settings)

    async def again(self, **lists: Any) -> None:
        """The service is stopped, given other lists of people, and started on the same record."""
        await self.surface.settle()
        await self.halt()
        self._lists |= lists
        await self.start()

    def _gate(self) -> Gate:
        """The gate of every stage, with this one's own lists."""
        gate = super()._gate()
        gate.people = replace(gate.people, **self._lists)
        return gate


@contextlib.asynccontextmanager
async def staged(receive: str, **settings: Any) -> AsyncIterator[SlackStage]:
    """A stage in a channel, its events received in that way; its record is checked at the end."""
    async with SlackServer() as server:
        stage = SlackStage(await Room.gather(server), receive, **settings)
        async with stage.played():
            yield stage


def first(message: Message) -> Message:
    """A message as it was sent, before any edit."""
    if not message.history:
        return message
    was = message.history[0]
    return replace(message, text=was.text, blocks=was.blocks, history=())


def read_out(message: Message) -> str:
    """A message as a person reads it: what stands in a frame after a name belongs to that name."""
    text = message.shown.text
    for frame in message.shown.of("pre"):
        text = text.replace(f":\n{frame.text}", f": {frame.text}")
    return text


def in_one(view: View) -> str:
    """What a window shows, its frames read on as one."""
    frames = [frame for block in view.blocks if block["type"] == "rich_text" for frame in block["elements"]]
    return "".join(word["text"] for frame in frames for word in frame["elements"]) or view.shown.text


def _title(call: Call, message: Message) -> bool:
    """Whether it is the call's card: its first button is the call's."""
    buttons = [str(button.value) for button in first(message).shown.buttons if button.value]
    return bool(buttons) and _ref_of(buttons[0]) == call.ref


def _ref_of(value: str) -> str:
    """The ref in a button of a card, '' in any other button."""
    try:
        return ButtonData.unpack(value).ref
    except InvalidConfirmation:
        return ""
