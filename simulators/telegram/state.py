"""What the platform knows: people, bots, chats, topics, members, messages, files.

Records are frozen and evolve by `replace`; the two that change, `Chat` and `World`, hold them.
Nothing here speaks HTTP or knows of a running server.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from hitl.records import replace
from simulators.telegram.errors import Json
from simulators.telegram.html import Entity

Kind = Literal["private", "group", "supergroup", "channel"]
Status = Literal["creator", "administrator", "member", "restricted", "left", "kicked"]

GENERAL_TOPIC: Final = 1
SUPERGROUP_BASE: Final = -1_000_000_000_000

PRESENT: Final = frozenset({"creator", "administrator", "member", "restricted"})
ADMINS: Final = frozenset({"creator", "administrator"})


def plain_emoji(emoji: str) -> str:
    """Return an emoji without variation selectors: Telegram takes both spellings."""
    return emoji.replace("\N{VARIATION SELECTOR-16}", "")


# What people may react with, as the documentation of ReactionTypeEmoji spells it, by plain form.
_REACTION_EMOJI: Final = (
    "👍 👎 ❤ 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤️‍🔥"
    " 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨"
    " 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂️ 🤷 🤷‍♀️ 😡"
)
REACTIONS: Final = {plain_emoji(emoji): emoji for emoji in _REACTION_EMOJI.split()}


@dataclass(frozen=True, slots=True)
class User:
    """A person or a bot, as others see them. `deactivated` accounts can't be written to."""

    id: int
    first_name: str
    last_name: str = ""
    username: str = ""
    language_code: str = ""
    is_bot: bool = False
    deactivated: bool = False


ANONYMOUS_ADMIN: Final = User(1087968824, "Group", username="GroupAnonymousBot", is_bot=True)
CHANNEL_BOT: Final = User(136817688, "Channel", username="Channel_Bot", is_bot=True)


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot account. `privacy` is BotFather's switch; `sees_bots` is bot-to-bot mode (10.0)."""

    token: str
    user: User
    privacy: bool = True
    sees_bots: bool = False

    @property
    def id(self) -> int:
        """Return its user id."""
        return self.user.id


@dataclass(frozen=True, slots=True)
class Member:
    """What someone is in a chat. `silent` members may not write."""

    user: User
    status: Status = "member"
    anonymous: bool = False
    title: str = ""
    silent: bool = False

    @property
    def present(self) -> bool:
        """Whether they are in the chat."""
        return self.status in PRESENT

    @property
    def admin(self) -> bool:
        """Whether they run it."""
        return self.status in ADMINS


@dataclass(frozen=True, slots=True)
class Topic:
    """A forum topic; its id is that of the service message that opened it."""

    id: int
    name: str
    closed: bool = False


@dataclass(frozen=True, slots=True)
class File:
    """An uploaded document with its bytes."""

    id: str
    name: str
    mime: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Version:
    """What a message showed before an edit."""

    text: str
    entities: tuple[Entity, ...]
    keyboard: tuple[tuple[Json, ...], ...]
    at: int


@dataclass(frozen=True, slots=True)
class Message:
    """A message in a chat.

    `keyboard` holds the inline buttons as Bot API objects, row by row. `service` is the field of
    a service message. `reactions` says who reacted with what; the key is a user id, or the chat's
    id for an anonymous admin. `history` holds what edits replaced, oldest first. `bot_id` is the
    bot that a private chat is with, `author_bot` the bot that wrote the message.
    """

    chat_id: int
    id: int
    date: int
    sender: User | None
    sender_chat: int | None = None
    text: str = ""
    entities: tuple[Entity, ...] = ()
    document: File | None = None
    keyboard: tuple[tuple[Json, ...], ...] = ()
    force_reply: Json | None = None
    thread_id: int | None = None
    reply_to: int | None = None
    origin: Json | None = None
    service: Json = field(default_factory=dict)
    signature: str = ""
    no_preview: bool = False
    protected: bool = False
    edited_at: int | None = None
    history: tuple[Version, ...] = ()
    reactions: tuple[tuple[int, tuple[str, ...]], ...] = ()
    bot_id: int = 0
    author_bot: int = 0

    @property
    def edits(self) -> int:
        """Return how often it was edited."""
        return len(self.history)

    @property
    def buttons(self) -> tuple[Json, ...]:
        """Return all inline buttons in reading order."""
        return tuple(itertools.chain.from_iterable(self.keyboard))

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the words on the buttons in reading order."""
        return tuple(str(button["text"]) for button in self.buttons)

    def edit(self, at: int, text: str, entities: tuple[Entity, ...], keyboard: tuple[tuple[Json, ...], ...]) -> Message:
        """Return the message after an edit, which remembers what it showed."""
        before = Version(self.text, self.entities, self.keyboard, self.edited_at or self.date)
        return replace(
            self,
            text=text,
            entities=entities,
            keyboard=keyboard,
            edited_at=at,
            history=(*self.history, before),
        )

    def reacted(self, actor: int) -> tuple[str, ...]:
        """Return what this actor reacted with."""
        return dict(self.reactions).get(actor, ())

    def react(self, actor: int, emojis: tuple[str, ...]) -> Message:
        """Return the message with this actor's reactions replaced."""
        others = tuple(one for one in self.reactions if one[0] != actor)
        return replace(self, reactions=(*others, (actor, emojis)) if emojis else others)


@dataclass(slots=True)
class Chat:
    """A chat with its members, topics and messages. A private one belongs to one bot."""

    id: int
    kind: Kind
    title: str = ""
    username: str = ""
    forum: bool = False
    bot_id: int = 0
    members: dict[int, Member] = field(default_factory=dict)
    topics: dict[int, Topic] = field(default_factory=dict)
    messages: dict[int, Message] = field(default_factory=dict)
    deleted: dict[int, Message] = field(default_factory=dict)
    migrated_to: int | None = None
    blocked: bool = False
    last_bot: int | None = None
    ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def key(self) -> tuple[int, int]:
        """Return what tells it from every other chat on the server."""
        return self.bot_id, self.id

    @property
    def instance(self) -> str:
        """Return the chat_instance of callback queries: one per chat, and not its id."""
        return str(0x5AFE_0000_0000 ^ (abs(self.id) * 2654435761 % 2**40))

    def member(self, user_id: int) -> Member | None:
        """Return someone's membership, also a past one."""
        return self.members.get(user_id)

    def has(self, user_id: int) -> bool:
        """Whether someone is in the chat now."""
        member = self.members.get(user_id)
        return member is not None and member.present

    def admin(self, user_id: int) -> bool:
        """Whether someone runs the chat."""
        member = self.members.get(user_id)
        return member is not None and member.admin

    def next_id(self) -> int:
        """Return the next message id: every chat counts from 1, so ids repeat across chats."""
        return next(self.ids)

    def put(self, message: Message) -> Message:
        """Keep a message, new or changed."""
        self.messages[message.id] = message
        return message

    def drop(self, message_id: int) -> Message:
        """Delete a message for everyone; who holds its id can still press its buttons."""
        message = self.messages.pop(message_id)
        self.deleted[message_id] = message
        return message


class World:
    """Everyone and everything on the server."""

    def __init__(self) -> None:
        self.users: dict[int, User] = {one.id: one for one in (ANONYMOUS_ADMIN, CHANNEL_BOT)}
        self.bots: dict[int, Bot] = {}
        self.chats: dict[tuple[int, int], Chat] = {}
        self.files: dict[str, File] = {}
        self._people = itertools.count(501_000_001)
        self._robots = itertools.count(7_100_000_001)
        self._groups = itertools.count(4_200_001)
        self._files = itertools.count(1)

    def new_user_id(self, *, bot: bool) -> int:
        """Return an id that nobody has; bots' ids are beyond 32 bits, as new ones are."""
        return next(self._robots if bot else self._people)

    def new_chat_id(self, kind: Kind) -> int:
        """Return an id for a group (-N) or a supergroup or channel (-100N)."""
        number = next(self._groups)
        return -number if kind == "group" else SUPERGROUP_BASE - number

    def add_user(self, user: User) -> User:
        """Register a person or bot."""
        self.users[user.id] = user
        return user

    def add_bot(self, bot: Bot) -> Bot:
        """Register a bot account."""
        self.add_user(bot.user)
        self.bots[bot.id] = bot
        return bot

    def add_chat(self, chat: Chat) -> Chat:
        """Register a chat."""
        self.chats[chat.key] = chat
        return chat

    def add_file(self, name: str, mime: str, content: bytes) -> File:
        """Keep an uploaded file."""
        file = File(f"BQACAgIAAx{next(self._files):08d}", name, mime, content)
        self.files[file.id] = file
        return file

    def bot_by_token(self, token: str) -> Bot | None:
        """Return the bot with this token."""
        return next((bot for bot in self.bots.values() if bot.token == token), None)

    def chat(self, chat_id: int, bot_id: int = 0) -> Chat | None:
        """Return a chat by its public id; for a private one, the one with this bot."""
        return self.chats.get((bot_id if chat_id > 0 else 0, chat_id))

    def chat_by_username(self, username: str) -> Chat | None:
        """Return a public supergroup or channel."""
        wanted = username.removeprefix("@").lower()
        return next((one for one in self.chats.values() if wanted and one.username.lower() == wanted), None)

    def bots_in(self, chat: Chat) -> list[Bot]:
        """Return the bots that are in the chat, or the one a private chat is with."""
        if chat.kind == "private":
            return [self.bots[chat.bot_id]]
        return [bot for bot in self.bots.values() if chat.has(bot.id)]
