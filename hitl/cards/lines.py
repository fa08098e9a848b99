"""Lines of a card, split into segments (people, times, pieces of code) that each surface shows in its own way.

A line is made from a sentence of the catalogue. All texts in it are visible and masked.
"""

from __future__ import annotations

import itertools
import string
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime, timedelta

    from hitl.cards.wording import Wording


_HOURS = 24


class Who(Struct, frozen=True):
    """A person in a line: the principal, and the name to show. `own` is true if this person alone reads the card."""

    principal: str
    text: str
    own: bool = False


class Moment(Struct, frozen=True):
    """A time in a line. With `counts_down`, a surface shows the remaining time rather than the time of day.

    `dated` is true if the surface must also show the date, because the time is a day or more after the request.
    """

    at: datetime
    counts_down: bool = False
    dated: bool = False


class Code(Struct, frozen=True):
    """A text in a line that people may copy or type."""

    text: str


class Strong(Struct, frozen=True):
    """An emphasised word in a line."""

    text: str


Segment: TypeAlias = "str | Who | Moment | Code | Strong"
Line: TypeAlias = "tuple[Segment, ...]"


def line(wording: Wording, key: str, /, **facts: Segment | Line) -> Line:
    """Return the sentence with this key as a line. `facts` are the values for the names in braces of its template.

    Raises KeyError for a missing key or value.
    """
    return _joined(_segments(wording.template(key), facts))


def _segments(template: str, facts: dict[str, Segment | Line]) -> Iterator[Segment]:
    for literal, name, _, _ in string.Formatter().parse(template):
        yield literal
        if name is not None:
            fact = facts[name]
            yield from fact if isinstance(fact, tuple) else (fact,)


def _joined(segments: Iterator[Segment]) -> Line:
    """Return the segments as a line, with neighbouring texts joined and empty texts removed."""
    found: list[Segment] = []
    for words, run in itertools.groupby(segments, lambda segment: isinstance(segment, str)):
        if words:
            text = "".join(map(str, run))
            found += [text] if text else []
        else:
            found += run
    return tuple(found)


def either(wording: Wording, people: Sequence[Segment]) -> Line:
    """Return people as alternatives, in the language of `wording`: `Ben`, `Ben or Omar`, `Ben, Omar or Ada`."""
    if not people:
        return ()
    told: Line = (people[0],)
    for person in people[1:-1]:
        told = line(wording, "card.people.and", people=told, person=person)
    return line(wording, "card.people.or", people=told, person=people[-1]) if people[1:] else told


def coded(text: str) -> Line:
    """Return a sentence as a line. Text between backticks becomes code."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return (text,)
    return tuple(Code(piece) if at % 2 else piece for at, piece in enumerate(pieces) if piece)


def plain(told: Line, time: Callable[[Moment], str]) -> str:
    """Return the line as plain text. The function `time` turns a moment into text."""
    return "".join(_plain(segment, time) for segment in told)


def _plain(segment: Segment, time: Callable[[Moment], str]) -> str:
    if isinstance(segment, Moment):
        return time(segment)
    return segment if isinstance(segment, str) else segment.text


def in_utc(moment: Moment) -> str:
    """Return a moment as a time of day in UTC, for readers whose time zone isn't known."""
    return f"{clock(moment)} UTC"


def clock(moment: Moment, *, local: bool = False) -> str:
    """Return a moment as a time of day, with the date in front if `dated` is true.

    With `local`, the time is in this machine's time zone. Otherwise it is in UTC.
    """
    at = moment.at.astimezone() if local else moment.at
    return f"{at:%Y-%m-%d %H:%M}" if moment.dated else f"{at:%H:%M}"


def time_left(left: timedelta, wording: Wording) -> str:
    """Return the remaining time as text: `4:59`, `5 h 12 min` or `2 d 3 h`. If no time remains, return `0:00`."""
    seconds = max(0, int(left.total_seconds()))
    minutes, hours = seconds // 60, seconds // 3600
    if hours >= _HOURS:
        return wording.say("time.days", days=hours // _HOURS, hours=hours % _HOURS)
    if hours:
        return wording.say("time.hours", hours=hours, minutes=minutes % 60)
    return f"{minutes}:{seconds % 60:02d}"
