"""The sentences that only Telegram needs. `refusals` adds them to the catalogue (`hitl.cards.wording`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    # remedies for cards that can't be sent
    "remedy.telegram.member": "Add the bot to that chat again",
    "remedy.telegram.chat": "Compare the number with what /whoami says in that chat, or take the place out of routes",
    "remedy.telegram.rights": "Let the bot send messages there: the chat's permissions, or its administrators, forbid it",
    "remedy.telegram.topic": "Reopen the topic, or name another one in routes",
    "remedy.telegram.blocked": "They must open the bot's chat and send /start",
    "remedy.telegram.gone": "Take them off the lists of approvers and requesters",
    "remedy.telegram.token": "Compare the token with what BotFather says, and start the service again",
}
