"""What people do on Telegram: open chats, write, press, react, forward, block, run groups.

Every act is refused with `ControlError` where the apps would not offer it. The exceptions are on
purpose: a press may carry forged data and come from anyone who knows the message, as clients that
people write themselves can do.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any, Final, Literal

from hitl.records import replace
from simulators.common.lookup import ControlError
from simulators.telegram import shapes
from simulators.telegram.entities import detect
from simulators.telegram.errors import Json
from simulators.telegram.html import Formatted, parse_html, trim
from simulators.telegram.lookup import (
    ChatRef,
    Lookup,
    MessageRef,
    TopicRef,
    UserRef,
    means,
    topic_id,
)
from simulators.telegram.platform import Platform, Query
from simulators.telegram.state import (
    ANONYMOUS_ADMIN,
    GENERAL_TOPIC,
    REACTIONS,
    Bot,
    Chat,
    Kind,
    Member,
    Message,
    Status,
    Topic,
    User,
    plain_emoji,
)

Shape = Literal["message", "inaccessible", "inline"]

TOPIC_COLOR: Final = 7322096


class People(Lookup):
    """The acts of people, on one platform; `Lookup` says how they and things are named."""

    def __init__(self, platform: Platform) -> None:
        super().__init__(platform)
        self._tokens = itertools.count(1)

    # Who and where -------------------------------------------------------------------------

    async def bot(
        self,
        username: str = "sayso_bot",
        *,
        token: str = "",
        first_name: str = "Sayso",
        privacy: bool = True,
        sees_bots: bool = False,
    ) -> Bot:
        """Register a bot, as with BotFather; its token is made up unless given."""
        number = int(token.partition(":")[0]) if token else self.world.new_user_id(bot=True)
        user = User(number, first_name, username=username, is_bot=True)
        made_up = f"{number}:AAtest_{next(self._tokens):028d}"
        bot = Bot(token or made_up, user, privacy, sees_bots)
        self.platform.open_desk(bot)
        return bot

    async def user(
        self,
        first_name: str,
        *,
        username: str = "",
        last_name: str = "",
        language: str = "en",
        id: int = 0,
    ) -> User:
        """Add a person."""
        number = id or self.world.new_user_id(bot=False)
        return self.world.add_user(User(number, first_name, last_name, username, language))

    async def private(self, user: UserRef, bot: UserRef | None = None) -> Chat:
        """Open a person's chat with a bot, as the Start button does (without its message)."""
        person, robot = self._user(user), self._bot(bot)
        known = self.world.chat(person.id, robot.id)
        if known:
            return known
        room = Chat(person.id, "private", bot_id=robot.id)
        room.members = {one.id: Member(one) for one in (person, robot.user)}
        return self.world.add_chat(room)

    async def group(self, title: str, *, members: Iterable[UserRef] = (), bots: Iterable[UserRef] = ()) -> Chat:
        """Open a basic group; the first member owns it."""
        return await self._room("group", title, members, bots)

    async def supergroup(
        self,
        title: str,
        *,
        members: Iterable[UserRef] = (),
        bots: Iterable[UserRef] = (),
        forum: bool = False,
        username: str = "",
    ) -> Chat:
        """Open a supergroup, with topics if `forum`; the first member owns it."""
        room = await self._room("supergroup", title, members, bots, forum=forum, username=username)
        room.topics = {GENERAL_TOPIC: Topic(GENERAL_TOPIC, "General")} if forum else {}
        return room

    async def channel(
        self,
        title: str,
        *,
        members: Iterable[UserRef] = (),
        bots: Iterable[UserRef] = (),
        username: str = "",
    ) -> Chat:
        """Open a channel; the first member owns it, bots run it as they must."""
        return await self._room("channel", title, members, bots, username=username)

    async def _room(
        self,
        kind: Kind,
        title: str,
        members: Iterable[UserRef],
        bots: Iterable[UserRef],
        *,
        forum: bool = False,
        username: str = "",
    ) -> Chat:
        room = Chat(self.world.new_chat_id(kind), kind, title, username, forum)
        self.world.add_chat(room)
        people = [self._user(one) for one in members]
        for person in people:
            room.members[person.id] = Member(person, "creator" if person is people[0] else "member")
        for bot in bots:
            await self.add_bot(room, bot)
        return room

    async def topic(self, chat: ChatRef, name: str, by: UserRef | None = None) -> Topic:
        """Open a topic in a forum."""
        room = self._chat(chat)
        if not room.forum:
            raise ControlError(f"{room.title} has no topics")
        number = room.next_id()
        topic = room.topics.setdefault(number, Topic(number, name))
        created = {"forum_topic_created": {"name": name, "icon_color": TOPIC_COLOR}}
        self.platform.post(room, self._runner(room, by), id=number, thread_id=number, service=created)
        return topic

    async def close_topic(self, chat: ChatRef, topic: TopicRef) -> Topic:
        """Close a topic: only those who run the chat can write there."""
        room = self._chat(chat)
        closed = replace(room.topics[topic_id(topic)], closed=True)
        room.topics[closed.id] = closed
        service: Json = {"forum_topic_closed": {}}
        self.platform.post(room, self._runner(room, None), thread_id=closed.id, service=service)
        return closed

    async def delete_topic(self, chat: ChatRef, topic: TopicRef) -> None:
        """Delete a topic and every message in it."""
        room = self._chat(chat)
        number = topic_id(topic)
        del room.topics[number]
        for message in [one for one in room.messages.values() if one.thread_id == number]:
            room.drop(message.id)
        self.platform.touch()

    # Membership ----------------------------------------------------------------------------

    async def add_bot(self, chat: ChatRef, bot: UserRef, *, admin: bool = False) -> Member:
        """Add a bot to a group or channel."""
        room, robot = self._chat(chat), self._bot(bot)
        by = self._runner(room, None)
        status: Status = "administrator" if admin or room.kind == "channel" else "member"
        member = self.platform.set_status(room, robot.user, status, by)
        if room.kind != "channel":
            self.platform.post(room, by, service={"new_chat_members": [shapes.user(robot.user)]})
        return member

    async def join(self, user: UserRef, chat: ChatRef) -> Member:
        """Let a person come in."""
        room, person = self._chat(chat), self._user(user)
        member = self.platform.set_status(room, person, "member", person)
        if room.kind != "channel":
            self.platform.post(room, person, service={"new_chat_members": [shapes.user(person)]})
        return member

    async def leave(self, user: UserRef, chat: ChatRef) -> Member:
        """Let someone go."""
        return self._gone(self._user(user), self._chat(chat), "left")

    async def kick(self, chat: ChatRef, user: UserRef) -> Member:
        """Throw someone out, a bot too."""
        return self._gone(self._user(user), self._chat(chat), "kicked")

    def _gone(self, user: User, room: Chat, status: Status) -> Member:
        by = user if status == "left" else self._runner(room, None)
        if room.kind != "channel":
            self.platform.post(room, by, service={"left_chat_member": shapes.user(user)})
        return self.platform.set_status(room, user, status, by)

    async def promote(self, chat: ChatRef, user: UserRef, *, anonymous: bool = False, title: str = "") -> Member:
        """Make someone run the chat, unseen if `anonymous`."""
        room, member = self._chat(chat), self._member(chat, user)
        status: Status = "creator" if member.status == "creator" else "administrator"
        by = self._runner(room, None)
        return self.platform.set_status(room, member.user, status, by, anonymous=anonymous, title=title)

    async def demote(self, chat: ChatRef, user: UserRef) -> Member:
        """Make someone an ordinary member again."""
        room, member = self._chat(chat), self._member(chat, user)
        return self.platform.set_status(room, member.user, "member", self._runner(room, None), silent=False)

    async def mute(self, chat: ChatRef, user: UserRef) -> Member:
        """Take away someone's right to write."""
        room, member = self._chat(chat), self._member(chat, user)
        return self.platform.set_status(room, member.user, "restricted", self._runner(room, None), silent=True)

    async def block(self, user: UserRef, bot: UserRef | None = None) -> None:
        """Block a bot in the private chat with it."""
        await self._set_blocked(user, bot, blocked=True)

    async def unblock(self, user: UserRef, bot: UserRef | None = None) -> None:
        """Let a bot write again."""
        await self._set_blocked(user, bot, blocked=False)

    async def _set_blocked(self, user: UserRef, bot: UserRef | None, *, blocked: bool) -> None:
        room = await self.private(user, bot)
        room.blocked = blocked
        status: Status = "kicked" if blocked else "member"
        robot = self.world.bots[room.bot_id]
        self.platform.set_status(room, robot.user, status, self._user(user))

    async def deactivate(self, user: UserRef) -> User:
        """Delete a person's account."""
        return self.world.add_user(replace(self._user(user), deactivated=True))

    async def migrate(self, chat: ChatRef) -> Chat:
        """Turn a group into a supergroup: a new chat with a new id and no old messages."""
        old = self._chat(chat)
        if old.kind != "group":
            raise ControlError(f"{old.title} is no basic group")
        new = Chat(self.world.new_chat_id("supergroup"), "supergroup", old.title)
        new.members = dict(old.members)
        self.world.add_chat(new)
        self.platform.post(old, self._runner(old, None), service={"migrate_to_chat_id": new.id})
        old.migrated_to = new.id
        came = {"migrate_from_chat_id": old.id}
        self.platform.post(new, ANONYMOUS_ADMIN, sender_chat=new.id, service=came)
        return new

    # Messages ------------------------------------------------------------------------------

    async def say(
        self,
        user: UserRef,
        chat: ChatRef,
        text: str,
        *,
        reply_to: MessageRef | None = None,
        thread: TopicRef | None = None,
        anonymous: bool = False,
        html: bool = False,
    ) -> Message:
        """Write a message. A bot as the chat, or oneself, is the private chat with it."""
        person = self._user(user)
        room = await self._place(person, chat)
        self._check_present(person, room)
        target = self._target(room, reply_to)
        written = detect(parse_html(text) if html else trim(Formatted(text)))
        return self.platform.post(
            room,
            author_bot=person.id if person.is_bot else 0,
            **self._identity(person, room, anonymous=anonymous),
            text=written.text,
            entities=written.entities,
            thread_id=self._thread(room, thread, target),
            reply_to=target.id if target else None,
        )

    async def channel_post(self, chat: ChatRef, text: str, *, signature: str = "") -> Message:
        """Post in a channel."""
        room = self._chat(chat)
        written = detect(trim(Formatted(text)))
        return self.platform.post(
            room,
            None,
            sender_chat=room.id,
            text=written.text,
            entities=written.entities,
            signature=signature,
        )

    async def edit(self, user: UserRef, message: MessageRef, text: str, *, chat: ChatRef | None = None) -> Message:
        """Change what one wrote."""
        old = self._message(message, chat)
        if old.sender is None or old.sender.id != self._user(user).id:
            raise ControlError("people edit their own messages only")
        written = detect(trim(Formatted(text)))
        date = self.platform.clock.date()
        new = self.platform.keep(old.edit(date, written.text, written.entities, old.keyboard))
        self.platform.announce(new, edited=True)
        return new

    async def delete(self, message: MessageRef, *, chat: ChatRef | None = None) -> Message:
        """Delete a message for everyone; bots are not told."""
        found = self._message(message, chat)
        dropped = self.platform.room_of(found).drop(found.id)
        self.platform.touch()
        return dropped

    async def forward(self, user: UserRef, message: MessageRef, to: ChatRef, *, chat: ChatRef | None = None) -> Message:
        """Forward a message, without its buttons, as the apps do."""
        original, person, room = self._message(message, chat), self._user(user), self._chat(to)
        self._check_present(person, room)
        return self.platform.post(
            room,
            person,
            text=original.text,
            entities=original.entities,
            document=original.document,
            origin=shapes.origin(original, self.world),
        )

    async def press(
        self,
        user: UserRef,
        message: MessageRef,
        button: str = "",
        *,
        data: str | None = None,
        chat: ChatRef | None = None,
        anonymous: bool = False,
        shape: Shape = "message",
    ) -> Query:
        """Press a button, named by its words or its data; or send forged `data`.

        Bots get to know who pressed even of anonymous admins; `anonymous` hides it all the same,
        for a bot that must not rely on it. The message comes as `inaccessible` when it was
        deleted, or on demand, and not at all as `inline`.
        """
        target = self._message(message, chat, deleted=True)
        room = self.platform.room_of(target)
        sent = data if data is not None else _pressable(target, button)
        presser = ANONYMOUS_ADMIN if anonymous else self._user(user)
        fields = {"bot_id": self._author(target, room).id, "chat_id": room.id, "message_id": target.id}
        payload = {**self._shown(target, room, shape), "chat_instance": room.instance, "data": sent}
        return self.platform.press({**fields, "data": sent}, payload, presser)

    async def react(
        self,
        user: UserRef,
        message: MessageRef,
        emoji: str = "",
        *,
        chat: ChatRef | None = None,
        remove: bool = False,
        anonymous: bool = False,
        any_emoji: bool = False,
    ) -> Message:
        """React to a message in place of one's last reaction, or take it back (`remove`)."""
        target, person = self._message(message, chat), self._user(user)
        room = self.platform.room_of(target)
        self._check_present(person, room)
        if not any_emoji and not remove and plain_emoji(emoji) not in REACTIONS:
            raise ControlError(f"nobody can react with {emoji!r}")
        actor, shape = self._actor(person, room, anonymous=anonymous)
        before = target.reacted(actor)
        after = self.platform.keep(target.react(actor, () if remove else (emoji,)))
        if after.reacted(actor) != before:
            self.platform.announce_reaction(after, shape, actor, before)
        return after

    async def _place(self, person: User, ref: ChatRef) -> Chat:
        """Return the chat that a person means, opening the private one with a bot."""
        if isinstance(ref, Chat):
            return ref
        named = [person.id, *self.world.bots]
        meant = [self.world.users[one] for one in named if means(ref, self.world.users[one])]
        if not meant:
            return self._chat(ref)
        return await self.private(person, None if meant[0] == person else meant[0].id)

    def _author(self, message: Message, room: Chat) -> Bot:
        """Return the bot whose message it is; in a channel, the first that runs it."""
        if message.author_bot:
            return self.world.bots[message.author_bot]
        return self.world.bots_in(room)[0]

    def _identity(self, person: User, room: Chat, *, anonymous: bool) -> dict[str, Any]:
        if not anonymous:
            return {"sender": person}
        self._check_admin(person, room)
        return {"sender": ANONYMOUS_ADMIN, "sender_chat": room.id}

    def _actor(self, person: User, room: Chat, *, anonymous: bool) -> tuple[int, Json]:
        if not anonymous:
            return person.id, {"user": shapes.user(person)}
        self._check_admin(person, room)
        return room.id, {"actor_chat": shapes.chat(room)}

    def _check_admin(self, person: User, room: Chat) -> None:
        if not room.admin(person.id):
            raise ControlError(f"{person.first_name} does not run {room.title}")

    def _target(self, room: Chat, ref: MessageRef | None) -> Message | None:
        return None if ref is None else self._message(ref, room)

    def _thread(self, room: Chat, ref: TopicRef | None, target: Message | None) -> int | None:
        if ref is None:
            return target.thread_id if target else None
        number = topic_id(ref)
        if number not in room.topics:
            raise ControlError(f"there is no topic {number} in {room.title}")
        return None if number == GENERAL_TOPIC else number

    def _shown(self, message: Message, room: Chat, shape: Shape) -> Json:
        if shape == "inline":
            return {"inline_message_id": f"AAA{room.instance}{message.id}"}
        if shape == "inaccessible" or message.id not in room.messages:
            return {"message": shapes.inaccessible(message, self.world)}
        return {"message": shapes.message(message, self.world)}


def _pressable(message: Message, wanted: str) -> str:
    """Return the data of the one button that this names, and that can be pressed."""
    exact = [one for one in message.buttons if wanted in {one["text"], one.get("callback_data")}]
    near = [one for one in message.buttons if wanted and wanted.lower() in one["text"].lower()]
    found = exact or near
    if len(found) != 1:
        raise ControlError(f"{len(found)} buttons match {wanted!r} among {list(message.labels)}")
    if "callback_data" not in found[0] or "disabled" in found[0]:
        raise ControlError(f"{found[0]['text']!r} can't be pressed")
    return str(found[0]["callback_data"])
