"""Telegram's error texts for a card that can't be sent, and the remedy for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: For each error text of the official server (`Client.cpp`, in lower case), the catalogue key of the sentence with the
#: remedy.
_REMEDIES: Mapping[str, str] = {
    "bot was kicked": "remedy.telegram.member",
    "bot is not a member": "remedy.telegram.member",
    "chat not found": "remedy.telegram.chat",
    "group chat was deleted": "remedy.telegram.chat",
    "peer_id_invalid": "remedy.telegram.chat",
    "not enough rights": "remedy.telegram.rights",
    "have no rights": "remedy.telegram.rights",
    "chat_write_forbidden": "remedy.telegram.rights",
    "need administrator rights": "remedy.telegram.rights",
    "topic_closed": "remedy.telegram.topic",
    "blocked by the user": "remedy.telegram.blocked",
    "can't initiate conversation": "remedy.telegram.blocked",
    "user is deactivated": "remedy.telegram.gone",
    "can't send messages to bots": "remedy.telegram.gone",
    "unauthorized": "remedy.telegram.token",
    "invalid token": "remedy.telegram.token",
    "was rejected by the server": "remedy.telegram.token",
}
#: Remedies for refusals that apply to every message to that place.
_OF_PLACES = frozenset(
    {"remedy.telegram.member", "remedy.telegram.chat", "remedy.telegram.rights", "remedy.telegram.topic"}
)


def remedy(said: str) -> str:
    """Return the catalogue key of the sentence with the remedy, or '' if the error text is unknown."""
    words = said.casefold()
    return next((key for part, key in _REMEDIES.items() if part in words), "")


def is_of_place(said: str) -> bool:
    """Return whether the error text means that no message at all can be sent to that place."""
    return remedy(said) in _OF_PLACES
