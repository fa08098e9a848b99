"""The service's log: what a line says, and what it never does."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

from bot.logs import JsonLine, Line


def line(message: str, *, logger: str = "bot.service", exc_info: Any = None, **facts: object) -> str:
    """The line of an event at the epoch."""
    record = logging.makeLogRecord(
        {"name": logger, "levelname": "WARNING", "msg": message, "args": facts, "created": 0.0, "exc_info": exc_info}
    )
    return Line().format(record)


def test_an_event_is_one_line_of_names_and_values() -> None:
    """When, how grave, what, and the event's own facts."""
    expected = (
        "timestamp='1970-01-01T00:00:00.000000Z' level='warning' event='outbox.postponed' why='disk full' tries=3"
    )

    assert expected == line("outbox.postponed", why="disk full", tries=3)


def test_a_library_is_named() -> None:
    """Its lines look as ours do, and say whose they are."""
    assert "event='connection lost' logger='botany.http'" in line("connection lost", logger="botany.http")


def test_no_value_begins_a_line() -> None:
    """What somebody sent can't pass for a line of the log."""
    assert 1 == len(line("intake.failed", why="x\nlevel='info' event='approved'").splitlines())


def test_a_message_that_its_facts_do_not_fit_is_masked_too() -> None:
    """Logging itself would write both beside the log, as they are."""
    token = "ghp_" + "Z9" * 18
    record = logging.makeLogRecord({"name": "lib", "levelname": "WARNING", "msg": "%d tries", "args": (token,)})

    assert "event=\"%d tries ('ghp_[masked 36]',)\"" in Line().format(record)


def test_secrets_are_masked() -> None:
    """In facts, messages and tracebacks."""
    token = "ghp_" + "Z9" * 18
    try:
        int(token)
    except ValueError:
        text = line(f"got {token}", why=f"it was {token}", exc_info=sys.exc_info())

    assert token not in text
    assert 3 == text.count("ghp_[masked 36]")
    assert "ValueError" in text


def as_json(message: str, *, logger: str = "bot.service", **facts: object) -> dict[str, Any]:
    """The line of an event at the epoch, as a program reads it."""
    record = logging.makeLogRecord(
        {"name": logger, "levelname": "WARNING", "msg": message, "args": facts, "created": 0.0}
    )
    text = JsonLine().format(record)
    assert 1 == len(text.splitlines())
    read: dict[str, Any] = json.loads(text)
    return read


def test_json_has_the_same_facts() -> None:
    """One object a line, with numbers as numbers and the call's ref as its correlation id too."""
    expected = {
        "timestamp": "1970-01-01T00:00:00.000000Z",
        "level": "warning",
        "event": "outbox.refused",
        "ref": "0198",
        "tries": 3,
        "correlation_id": "0198",
    }

    assert expected == as_json("outbox.refused", ref="0198", tries=3)


def test_json_masks_at_any_depth() -> None:
    """In lists and mappings, and in what has no JSON form of its own."""
    token = "ghp_" + "Z9" * 18

    text = json.dumps(as_json("x", why=[{"deep": token}], error=ValueError(token), lines="a\nb\u2028c"))

    assert token not in text
    assert 2 == text.count("ghp_[masked 36]")


def test_the_core_speaks_like_the_rest() -> None:
    """What the decision logs carries its facts."""
    assert "0198" == as_json("outbox.refused", logger="hitl.delivery", ref="0198")["ref"]
