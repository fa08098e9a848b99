"""The service's log: one line on stderr for each event, as `name=value` pairs or as a JSON object, with secrets masked.

All code uses the standard library's `logging`: the message is the event's name, and the argument is a mapping of the
event's facts, such as `{"ref": ...}`. So the lines of libraries have the same form, and the name of a fact can't clash
with a field of the log record.
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

#: The packages of this project, which log their normal work. Libraries only log problems.
_OURS = ("adapters", "bot", "hitl")


def configure(form: str = "text", level: str = "info") -> None:
    """Write the log to stderr from now on, in the form `text` or `json`.

    Lines below `level` (`debug`, `info` or `warning`) are left out. At `debug`, libraries log their normal work too.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLine() if form == "json" else Line())
    number = logging.getLevelNamesMapping()[level.upper()]
    logging.basicConfig(level=min(number, logging.WARNING), handlers=[handler], force=True)
    logging.getLogger().setLevel(number if number < logging.INFO else logging.WARNING)
    for name in _OURS:
        logging.getLogger(name).setLevel(number)


class Line(logging.Formatter):
    """Formats a record as one line: `timestamp='2026-11-28T12:00:00.000000Z' level='info' event='service.ready' ...`.

    Values are written as Python's `repr`, so that no value can start a new line; a traceback is a value too.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the record on one line."""
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
    """Formats a record as one JSON object on one line.

    A call's `ref` also appears as `correlation_id`. The record (`sayso audit export`) and traces name the call by the
    same id.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as JSON, in ASCII only."""
        facts = {name: _masked(value) for name, value in self._facts(record)}
        if ref := facts.get("ref"):
            facts["correlation_id"] = ref
        return json.dumps(facts, default=lambda value: mask(str(value)))


def _event(record: logging.LogRecord) -> str:
    """Return the message with its arguments. If the arguments don't fit the message's placeholders, return both
    unformatted.

    Otherwise `logging` itself would report the mistake, and print the arguments unmasked.
    """
    try:
        return record.getMessage()
    except (LookupError, TypeError, ValueError):
        return f"{record.msg} {record.args!r}"


def _masked(value: object) -> object:
    """Mask every text in a value, at any depth."""
    return mask_value(value)
