"""Declares Slack as a surface. Makes the names of Slack's places, people and messages, and parses names of places."""

from __future__ import annotations

from adapters.slack.wording import say
from hitl.call import ReplyKind
from hitl.surfaces import Place, Surface

PLATFORM = "slack"
#: The prefix of an identity that is an e-mail address.
EMAIL = "email:"
#: Slack's own bot, which writes messages as if it were a person.
SLACKBOT = "USLACKBOT"
_DIRECT, _PEOPLE = "D", ("U", "W")


def place_of(team: str, channel: str, thread: str | None = None) -> str:
    """Return the name of a channel, or of a thread in it. The name of a direct channel contains the person's id."""
    return f"{PLATFORM}:{team}/{channel}" + (f"/{thread}" if thread else "")


def parse_place(place: str) -> tuple[str, str, str | None]:
    """Return team, channel (or person) and thread (or None) of a place, such as `slack:T1/C1/1700000000.000100`.

    Raises ValueError for another platform's place.
    """
    platform, _, rest = place.partition(":")
    team, channel, thread, *more = *rest.split("/"), "", ""
    if platform != PLATFORM or not (team and channel) or any(more):
        raise ValueError(place)
    return team, channel, thread or None


def channel_of(place: str) -> str:
    """Return the place of the channel that a thread is in. Return any other place unchanged."""
    return place.rpartition("/")[0] if place.count("/") > 1 else place


def identity_of(team: str, user: str) -> str:
    """Return a person's identity: their own team, and their user id."""
    return f"{PLATFORM}:{team}/{user}"


def message_of(channel: str, ts: str) -> str:
    """Return a message's id, which is unique among all chats."""
    return f"{channel}:{ts}"


def is_direct(channel: str) -> bool:
    """Return whether this is a direct channel: a conversation of one person with the bot."""
    return channel.startswith(_DIRECT)


def is_person(found: str) -> bool:
    """Return whether this is the id of a person, and not of a channel."""
    return found.startswith(_PEOPLE)


def _place(name: str) -> Place:
    """Return the `Place` with this name. A thread has the settings and the cards of its channel."""
    channel = channel_of(name)
    return Place(name, chat=channel, room=channel)


SURFACE = Surface(
    name=PLATFORM,
    title="Slack",
    parse=_place,
    proves={PLATFORM: "", "email": "emails"},
    answers={
        ReplyKind.BUTTON: say("answers.slack.button"),
        ReplyKind.TEXT: say("answers.slack.text"),
        ReplyKind.REACTION: say("answers.slack.reaction"),
        ReplyKind.COMMAND: say("answers.slack.command"),
    },
    prefix="/sayso ",
    help="chat.help.sayso",
)
