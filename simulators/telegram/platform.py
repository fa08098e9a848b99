"""The platform as one object: the world, its clock, what waits for each bot, what was called.

Both sides act on it: bots through the methods, people through the control.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any, Final

from hitl.records import replace
from simulators.common import platform
from simulators.telegram import shapes
from simulators.telegram.errors import Json
from simulators.telegram.faults import KINDS, Fault
from simulators.telegram.sight import sees, sees_reactions
from simulators.telegram.state import Bot, Chat, Member, Message, Status, User, World
from simulators.telegram.updates import UpdateQueue

# How long a press can be answered. Not published; bots report some 15 seconds.
ANSWER_WINDOW: Final = 15.0

_KINDS: Final = {False: ("message", "channel_post"), True: ("edited_message", "edited_channel_post")}


@dataclass(frozen=True, slots=True)
class Call:
    """A method that a bot called, and how it was answered (status 0: not at all)."""

    bot_id: int
    method: str
    params: Json
    at: float
    status: int = 0
    description: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the presser of a button was shown."""

    text: str
    show_alert: bool
    url: str
    at: float


@dataclass(frozen=True, slots=True)
class Query:
    """A press of a button."""

    id: str
    bot_id: int
    user_id: int
    chat_id: int
    message_id: int
    data: str
    at: float
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class Webhook:
    """Where a bot wants its updates posted."""

    url: str
    secret: str = ""
    max_connections: int = 40


@dataclass(slots=True)
class Desk:
    """What the server keeps for one bot. Commands are by scope and language, texts by language."""

    bot: Bot
    queue: UpdateQueue
    webhook: Webhook | None = None
    last_error: str = ""
    last_error_at: int = 0
    commands: dict[tuple[str, str], list[Json]] = field(default_factory=dict)
    descriptions: dict[str, str] = field(default_factory=dict)
    short_descriptions: dict[str, str] = field(default_factory=dict)


class Platform(platform.Platform[Call, Fault]):
    """Everything behind the HTTP."""

    def __init__(self, speed: float = 1.0) -> None:
        super().__init__(speed, KINDS)
        self.world = World()
        self.desks: dict[int, Desk] = {}
        self.queries: dict[str, Query] = {}
        self.answer_window = ANSWER_WINDOW
        self._query_ids = itertools.count(4_382_000_000_000_000_001)

    def open_desk(self, bot: Bot) -> Desk:
        """Register a bot account."""
        self.world.add_bot(bot)
        self.desks[bot.id] = Desk(bot, UpdateQueue(self.clock, self.touch))
        return self.desks[bot.id]

    def room_of(self, message: Message) -> Chat:
        """Return the chat that a message is in."""
        return self.world.chats[message.bot_id, message.chat_id]

    def post(self, room: Chat, sender: User | None, **fields: Any) -> Message:
        """Put a new message into a chat and tell the bots that see it."""
        number = fields.pop("id", None) or room.next_id()
        draft = Message(room.id, number, self.clock.date(), sender, bot_id=room.bot_id, **fields)
        message = room.put(draft)
        self.announce(message)
        return message

    def keep(self, message: Message) -> Message:
        """Store a changed message, unannounced: a bot is not told of its own doings."""
        self.room_of(message).put(message)
        self.touch()
        return message

    def announce(self, message: Message, *, edited: bool = False) -> None:
        """Tell the bots that see a message of it."""
        room = self.room_of(message)
        kind = _KINDS[edited][room.kind == "channel"]
        for bot in self.world.bots_in(room):
            if sees(bot, room, message):
                payload = shapes.message(message, self.world)
                self.desks[bot.id].queue.push(kind, payload, f"chat:{room.id}")
        self.touch()

    def announce_reaction(self, message: Message, actor: Json, actor_id: int, before: tuple[str, ...]) -> None:
        """Tell the bots that run the chat of a changed reaction."""
        room = self.room_of(message)
        payload = {
            "chat": shapes.chat(room),
            "message_id": message.id,
            **actor,
            "date": self.clock.date(),
            "old_reaction": shapes.reaction_types(before),
            "new_reaction": shapes.reaction_types(message.reacted(actor_id)),
        }
        for bot in self.world.bots_in(room):
            if sees_reactions(bot, room, actor_id, frozenset(self.world.bots)):
                self.desks[bot.id].queue.push("message_reaction", payload, f"reaction:{room.id}")
        self.touch()

    def set_status(self, room: Chat, member: User, status: Status, by: User, **fields: Any) -> Member:
        """Change what someone is in a chat; a bot is told of itself, and of others if it asked."""
        old = room.member(member.id) or Member(member, "left")
        new = replace(old, status=status, **fields)
        room.members[member.id] = new
        payload = {
            "chat": shapes.chat(room),
            "from": shapes.user(by),
            "date": self.clock.date(),
            "old_chat_member": shapes.member(old),
            "new_chat_member": shapes.member(new),
        }
        for bot in self.world.bots_in(room):
            if bot.id != member.id and room.admin(bot.id):
                self.desks[bot.id].queue.push("chat_member", payload, f"member:{member.id}")
        if member.id in self.desks:
            self.desks[member.id].queue.push("my_chat_member", payload, f"me:{room.id}")
        self.touch()
        return new

    def press(self, query_fields: Json, payload: Json, presser: User) -> Query:
        """Make a callback query of a press and tell the bot."""
        query = Query(str(next(self._query_ids)), at=self.clock.now(), user_id=presser.id, **query_fields)
        self.queries[query.id] = query
        update = {"id": query.id, "from": shapes.user(presser), **payload}
        self.desks[query.bot_id].queue.push("callback_query", update, f"callback:{presser.id}")
        self.touch()
        return query

    def answerable(self, bot_id: int, query_id: str) -> Query | None:
        """Return the press with this id, unless it was answered or is too old."""
        query = self.queries.get(query_id)
        if query is None or query.bot_id != bot_id or query.answer is not None:
            return None
        return query if self.clock.now() - query.at <= self.answer_window else None

    def answer(self, query: Query, answer: Answer) -> None:
        """Show the presser an answer."""
        self.queries[query.id] = replace(query, answer=answer)
        self.touch()
