"""Declares Telegram as a surface, and makes and parses the names of its places and messages."""

from __future__ import annotations

from adapters.telegram.wording import say
from hitl.call import ReplyKind
from hitl.surfaces import Place, Surface

PLATFORM = "telegram"
GENERAL_TOPIC = 1


def place_of(chat_id: int, topic: int | None) -> str:
    """Return the name of a chat, or of a topic in it. The General topic (id 1) is the chat itself."""
    return f"{PLATFORM}:{chat_id}" + (f"/{topic}" if topic and topic != GENERAL_TOPIC else "")


def message_of(chat_id: int, message_id: int) -> str:
    """Return a message's id, which is unique among all chats."""
    return f"{chat_id}:{message_id}"


def parse_place(place: str) -> tuple[int, int | None]:
    """Return chat id and topic of a place. Raises ValueError for another platform's place."""
    platform, _, rest = place.partition(":")
    chat, _, topic = rest.partition("/")
    if platform != PLATFORM:
        raise ValueError(place)
    return int(chat), int(topic) if topic else None


def is_private(place: str) -> bool:
    """Return whether the place is a chat with one person. Groups and channels have negative ids (Bot API, `Chat`)."""
    return parse_place(place)[0] > 0


def _place(name: str) -> Place:
    """Return the `Place` with this name. A topic has its own settings and its own cards."""
    return Place(name, chat=name.partition("/")[0], room=name)


SURFACE = Surface(
    name=PLATFORM,
    title="Telegram",
    parse=_place,
    proves={PLATFORM: ""},
    # Accounts that several people share: the anonymous group admin, the account of channel posts that are forwarded
    # into groups, and the fake sender of channel messages (Bot API, `Message.from`).
    shared=frozenset({f"{PLATFORM}:{number}" for number in (1087968824, 777000, 136817688)}),
    answers={
        ReplyKind.BUTTON: say("answers.telegram.button"),
        ReplyKind.TEXT: say("answers.telegram.text"),
        ReplyKind.REACTION: say("answers.telegram.reaction"),
        ReplyKind.COMMAND: say("answers.telegram.command"),
    },
    prefix="/",
    help="chat.help",
    toasts=True,
    # Telegram keeps a button press for 150 seconds (official server, `add_update`), then drops it.
    loses_presses=True,
)
