"""A thing is said once a minute."""

from __future__ import annotations

from hitl.throttle import EVERY_S, Patience


def test_a_thing_is_said_once_a_minute_and_others_meanwhile() -> None:
    """By the clock that it was given."""
    now = [0.0]
    patience = Patience(lambda: now[0])
    first = [patience.admits("a"), patience.admits("a"), patience.admits("b")]
    now[0] = EVERY_S - 0.1
    early = patience.admits("a")
    now[0] = EVERY_S
    late = patience.admits("a")

    assert [True, False, True] == first
    assert [False, True] == [early, late]


def test_it_remembers_ten_thousand_things() -> None:
    """The oldest is forgotten first."""
    patience = Patience(lambda: 0.0)
    for number in range(10_001):
        patience.admits(number)

    assert [True, False] == [patience.admits(0), patience.admits(10_000)]


def test_the_next_message_says_how_many_were_held_back() -> None:
    """A reader of one line of many learns how many there were."""
    now = [0.0]
    patience = Patience(lambda: now[0])
    told = [patience.held_back("a") for _ in range(4)]
    now[0] = EVERY_S

    assert [0, None, None, None] == told
    assert 3 == patience.held_back("a")


def test_a_clock_that_was_put_back_holds_nothing_back() -> None:
    """Else a message could be held back for as long as the clock was wrong."""
    now = [10_000.0]
    patience = Patience(lambda: now[0])
    patience.admits("a")
    now[0] = 0.0

    assert [True, False] == [patience.admits("a"), patience.admits("a")]
