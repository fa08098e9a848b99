"""Lines of a card whose parts a surface shows in its own way: a person, a moment, a piece of code.

A line is made from a sentence of the catalogue. Everything in it is visible, masked text.
"""

from __future__ import annotations

import itertools
import string
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from hitl.cards.wording import Wording


class Who(Struct, frozen=True):
    """A person: the principal, and what to call them."""

    principal: str
    text: str


class Moment(Struct, frozen=True):
    """A time. `counts_down`: how long it is until then matters more than the time of day."""

    at: datetime
    counts_down: bool = False


class Code(Struct, frozen=True):
    """A text that somebody may copy or type."""

    text: str


class Strong(Struct, frozen=True):
    """A word that stands out."""

    text: str


Segment: TypeAlias = "str | Who | Moment | Code | Strong"
Line: TypeAlias = "tuple[Segment, ...]"


def line(wording: Wording, key: str, /, **facts: Segment | Line) -> Line:
    """The sentence of that key as a line, with segments or further lines in its places. Raises KeyError as `say`."""
    return _joined(_segments(wording.template(key), facts))


def _segments(template: str, facts: dict[str, Segment | Line]) -> Iterator[Segment]:
    for literal, name, _, _ in string.Formatter().parse(template):
        yield literal
        if name is not None:
            fact = facts[name]
            yield from fact if isinstance(fact, tuple) else (fact,)


def _joined(segments: Iterator[Segment]) -> Line:
    """The segments, with neighbouring texts as one and without empty ones."""
    found: list[Segment] = []
    for words, run in itertools.groupby(segments, lambda segment: isinstance(segment, str)):
        if words:
            text = "".join(map(str, run))
            found += [text] if text else []
        else:
            found += run
    return tuple(found)


def either(wording: Wording, people: Sequence[Segment]) -> Line:
    """`Ben`, `Ben or Omar`, `Ben, Omar or Ada`."""
    if not people:
        return ()
    told: Line = (people[0],)
    for person in people[1:-1]:
        told = line(wording, "card.people.and", people=told, person=person)
    return line(wording, "card.people.or", people=told, person=people[-1]) if people[1:] else told


def coded(text: str) -> Line:
    """A sentence in which what stands between backticks is code."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return (text,)
    return tuple(Code(piece) if at % 2 else piece for at, piece in enumerate(pieces) if piece)


def plain(told: Line, time: Callable[[Moment], str]) -> str:
    """Return the line as text alone; `time` makes the text of a moment."""
    return "".join(_plain(segment, time) for segment in told)


def _plain(segment: Segment, time: Callable[[Moment], str]) -> str:
    if isinstance(segment, Moment):
        return time(segment)
    return segment if isinstance(segment, str) else segment.text


def in_utc(moment: Moment) -> str:
    """The time of day in UTC, for readers whose clock isn't known."""
    return f"{moment.at:%H:%M} UTC"
