"""Who and what a control's arguments name: people, bots, chats, messages, topics."""

from __future__ import annotations

from simulators.common.lookup import ControlError, first, only
from simulators.telegram.platform import Platform
from simulators.telegram.state import ANONYMOUS_ADMIN, Bot, Chat, Member, Message, Topic, User

UserRef = User | Bot | int | str
ChatRef = Chat | User | Bot | int | str
MessageRef = Message | int
TopicRef = Topic | int


class Lookup:
    """Finds what is named, on one platform.

    People are named by record, id, username or first name; chats by record, id, title or
    username, and a person stands for their private chat with the first bot registered (that with
    another is what `private` returns). Messages are named by record, or by id with `chat`.
    """

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        self.world = platform.world

    def _user(self, ref: UserRef) -> User:
        if isinstance(ref, Bot):
            return ref.user
        if isinstance(ref, User):
            return self.world.users[ref.id]
        return only(ref, self.world.users.get(_number(ref)), self._users_called(str(ref)))

    def _users_called(self, name: str) -> list[User]:
        wanted = _bare(name)
        return [one for one in self.world.users.values() if wanted in _names(one)]

    def _bot(self, ref: UserRef | None) -> Bot:
        if ref is not None:
            return self.world.bots[self._user(ref).id]
        return first(self.world.bots.values(), "bot")

    def _chat(self, ref: ChatRef) -> Chat:
        if isinstance(ref, Chat):
            return ref
        if isinstance(ref, User):
            return self._private(ref)
        if isinstance(ref, Bot):
            raise ControlError("a bot's private chats are named by the people in them")
        room = self.world.chat(_number(ref), self._bot(None).id)
        return only(ref, room, self._rooms_called(str(ref)))

    def _private(self, user: User) -> Chat:
        room = self.world.chat(user.id, self._bot(None).id)
        if room is None:
            raise ControlError(f"{user.first_name} has no chat with the bot")
        return room

    def _rooms_called(self, name: str) -> list[Chat]:
        wanted = _bare(name)
        rooms = self.world.chats.values()
        named = [one for one in rooms if wanted in {one.title.lower(), one.username.lower()}]
        return named or [self._private(user) for user in self._users_called(name)]

    def _message(self, ref: MessageRef, chat: ChatRef | None, *, deleted: bool = False) -> Message:
        room = self.platform.room_of(ref) if isinstance(ref, Message) else self._chat_given(chat)
        number = ref.id if isinstance(ref, Message) else ref
        found = room.messages.get(number) or (room.deleted.get(number) if deleted else None)
        if found is None:
            raise ControlError(f"there is no message {number}")
        return found

    def _chat_given(self, chat: ChatRef | None) -> Chat:
        if chat is None:
            raise ControlError("a message id needs its chat")
        return self._chat(chat)

    def _member(self, chat: ChatRef, user: UserRef) -> Member:
        room, person = self._chat(chat), self._user(user)
        self._check_present(person, room)
        return room.members[person.id]

    def _check_present(self, person: User, room: Chat) -> None:
        if not room.has(person.id):
            raise ControlError(f"{person.first_name} is not in {room.title or 'this chat'}")

    def _runner(self, room: Chat, by: UserRef | None) -> User:
        """Return who does something in a chat: who is named, or its owner."""
        if by is not None:
            return self._user(by)
        people = [one for one in room.members.values() if not one.user.is_bot]
        owners = [one for one in people if one.status == "creator"] or people
        return owners[0].user if owners else ANONYMOUS_ADMIN


def _number(ref: int | str) -> int:
    try:
        return int(ref)
    except ValueError:
        return 0


def means(ref: ChatRef, user: User) -> bool:
    """Whether a reference names this very user."""
    if isinstance(ref, User | Bot):
        return ref.id == user.id
    return isinstance(ref, int | str) and (_number(ref) == user.id or _bare(ref) in _names(user))


def _bare(ref: int | str) -> str:
    return str(ref).removeprefix("@").lower()


def _names(user: User) -> set[str]:
    return {user.first_name.lower(), user.username.lower()} - {""}


def topic_id(ref: TopicRef) -> int:
    """Return a topic's id."""
    return ref.id if isinstance(ref, Topic) else ref
