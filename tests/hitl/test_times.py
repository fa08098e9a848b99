"""Times as whole microseconds: exact in both directions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl.times import micros, moment, span


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_time_comes_back_to_the_microsecond(at: datetime) -> None:
    """Any that Python can hold, also before 1970."""
    assert at == moment(micros(at))


def test_the_epoch_is_zero() -> None:
    """1970-01-01T00:00:00Z, and the answer is in UTC."""
    assert 0 == micros(datetime(1970, 1, 1, tzinfo=UTC))
    assert UTC is moment(0).tzinfo


def test_another_zone_is_the_same_moment() -> None:
    """What counts is when, not where."""
    here = datetime(2026, 11, 27, 14, 0, tzinfo=timezone(timedelta(hours=2)))

    assert micros(datetime(2026, 11, 27, 12, 0, tzinfo=UTC)) == micros(here)


def test_a_naive_time_is_refused() -> None:
    """It names no moment."""
    with pytest.raises(TypeError):
        micros(datetime(2026, 11, 27))  # noqa: DTZ001


@pytest.mark.parametrize(
    ("text", "meant"), [("90m", timedelta(minutes=90)), ("30d", timedelta(days=30)), ("52w", timedelta(weeks=52))]
)
def test_a_span_is_a_number_with_its_unit(text: str, meant: timedelta) -> None:
    """Options and settings are written alike."""
    assert meant == span(text)


@pytest.mark.parametrize("text", ["", "d", "30", "30x", "-1d", "1.5d", "1 d", "9" * 20 + "d"])
def test_what_is_no_span_is_refused(text: str) -> None:
    """A number without a unit could be days or seconds."""
    with pytest.raises(ValueError, match=r"number|longer"):
        span(text)
