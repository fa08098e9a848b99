"""The service's log: one line an event on stderr, `name=value` for each fact or one JSON object, secrets masked.

Everything logs by the standard library, an event's name as the message and its facts as a mapping for argument, so
that the libraries' lines come out the same way, and no fact can clash with what every record has.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hitl.cards.redaction import mask, mask_value

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Ours tell what they do, libraries only what is wrong.
_OURS = ("adapters", "bot", "hitl")


def configure(form: str = "text", level: str = "info") -> None:
    """Log to stderr from here on: `text` or `json`; from `debug`, `info` or `warning` on.

    `debug` makes the libraries tell what they do, too.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLine() if form == "json" else Line())
    number = logging.getLevelNamesMapping()[level.upper()]
    logging.basicConfig(level=min(number, logging.WARNING), handlers=[handler], force=True)
    logging.getLogger().setLevel(number if number < logging.INFO else logging.WARNING)
    for name in _OURS:
        logging.getLogger(name).setLevel(number)


class Line(logging.Formatter):
    """`timestamp='2026-11-28T12:00:00.000000Z' level='info' event='service.ready' socket='...'`.

    Values are written as Python's `repr`, so that none can begin a line of its own; a traceback is a value too.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The record on one line."""
        return " ".join(f"{name}={_masked(value)!r}" for name, value in self._facts(record))

    def _facts(self, record: logging.LogRecord) -> Iterator[tuple[str, Any]]:
        at = datetime.fromtimestamp(record.created, UTC)
        yield "timestamp", at.isoformat(timespec="microseconds").replace("+00:00", "Z")
        yield "level", record.levelname.lower()
        yield "event", _event(record)
        if record.name.partition(".")[0] not in _OURS:
            yield "logger", record.name
        elif isinstance(record.args, Mapping):
            yield from record.args.items()
        if record.exc_info:
            yield "exception", self.formatException(record.exc_info)


class JsonLine(Line):
    """The same facts as one JSON object on one line, with `correlation_id` for the `ref` of a call.

    A correlation id names the same call in the record (`sayso audit export`) and in traces.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The record as JSON, ASCII alone."""
        facts = {name: _masked(value) for name, value in self._facts(record)}
        if ref := facts.get("ref"):
            facts["correlation_id"] = ref
        return json.dumps(facts, default=lambda value: mask(str(value)))


def _event(record: logging.LogRecord) -> str:
    """The message; as it came where its facts don't fit it: logging would tell of that on lines that nothing masks."""
    try:
        return record.getMessage()
    except (LookupError, TypeError, ValueError):
        return f"{record.msg} {record.args!r}"


def _masked(value: object) -> object:
    """Mask every text in a value, however deep it lies."""
    return mask_value(value)
