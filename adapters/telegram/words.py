"""Reads the words of a message: its text without the bot's name, mentions of the bot, and commands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from telegram import MessageEntity

from adapters.telegram.formatting import cut_off, spans_of
from hitl.events import BEFORE_NAME
from hitl.replies import Span, SpanKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from telegram import Message

_DECIDING = frozenset({"approve", "reject", "withdraw", "cancel"})
#: Characters that may follow the bot's name at the end of a text.
_AFTER_WORDS = " .!"
#: Commands of this bot that the reply reader understands inside a text, such as `/approve REF` after the bot's name.
_OURS = frozenset({"/approve", "/reject"})
_SLASH = re.compile(r"\s*(/\S*)")
_COMMAND = re.compile(r"/(\w+)(?:@(\w+))?(?:\s+(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Me:
    """The bot's own id and user name."""

    id: int
    username: str


def words_of(message: Message, me: Me) -> tuple[str, tuple[Span, ...]]:
    """Return the text and its formatted spans, without the bot's own name at either end.

    At an end of the text, the bot's name only says that the text is for the bot. Between other words, the name stays in
    the text. It isn't returned as a span there, because a span would count as a mention of another person.
    """
    text = message.text or ""
    spans = spans_of(text, (entity for entity in message.entities if not _is_me(message, entity, me)))
    ours = spans_of(text, (entity for entity in message.entities if _is_me(message, entity, me)))
    start, end = 0, len(text)
    for one in ours:
        if one.start == 0:
            start = len(text) - len(text[one.end :].lstrip(" ,:"))
        elif not text[one.end :].strip(_AFTER_WORDS):
            end = len(text[: one.start].rstrip(BEFORE_NAME))
    text = text[start:end] if start < end else ""
    return text, (*cut_off(spans, start), *_foreign_command(text))


def mentions(message: Message, me: Me) -> bool:
    """Return whether a message mentions the bot."""
    return any(_is_me(message, entity, me) for entity in message.entities)


def command_of(text: str, me: Me) -> Mapping[str, str] | None:
    """Return the parts of a command: `name`, `rest`, the bot after the @ (`to`), and `mine` if it is for this bot.

    `to` and `mine` are '' if they are missing. Return None for any other text.
    """
    found = _COMMAND.fullmatch(text)
    if found is None:
        return None
    to = (found[2] or "").casefold()
    mine = "yes" if to in {"", me.username.casefold()} else ""
    return {"name": found[1].casefold(), "rest": (found[3] or "").strip(), "mine": mine, "to": to}


def is_command_for(text: str, me: Me) -> bool:
    """Return whether a text is a command for this bot.

    Such a command decides, as `/approve` does, or names this bot, as `/word@bot` does.
    """
    command = command_of(text, me)
    return command is not None and bool(command["mine"]) and (command["name"] in _DECIDING or bool(command["to"]))


def _foreign_command(text: str) -> tuple[Span, ...]:
    """Return the span of a `/word` at the start of a text, unless the word is a command of this bot.

    Such a word is meant for another bot, so its span has the kind of code, which never decides.
    """
    first = _SLASH.match(text)
    return (Span(first.start(1), first.end(1), SpanKind.CODE),) if first and first[1].casefold() not in _OURS else ()


def _is_me(message: Message, entity: MessageEntity, me: Me) -> bool:
    named = (
        entity.type == MessageEntity.MENTION and message.parse_entity(entity).casefold() == f"@{me.username}".casefold()
    )
    return named or (entity.type == MessageEntity.TEXT_MENTION and entity.user is not None and entity.user.id == me.id)
