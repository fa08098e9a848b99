"""What an unaddressed yes may be an answer to: only what is known to be the latest word of anyone else."""

from __future__ import annotations

import pytest

from adapters.slack.threads import Threads

PLACE, REF = "slack:T1/C1/1.0", "a-ref"


@pytest.fixture
def threads() -> Threads:
    """We wrote about a call."""
    found = Threads()
    found.wrote(PLACE, "5.0", REF)
    return found


def say(threads: Threads, ts: str, author: str) -> str | None:
    """Somebody writes; what a yes in just that message would be about."""
    threads.heard(PLACE, ts, author)
    return threads.latest(PLACE, ts)


def test_right_below_ours_it_is_ours(threads: Threads) -> None:
    """Also if the same person said something else first."""
    assert [REF, REF] == [say(threads, "6.0", "U1"), say(threads, "7.0", "U1")]


def test_below_somebody_elses_it_is_not(threads: Threads) -> None:
    """A bot is somebody too; until we write again."""
    said = [say(threads, "6.0", "B1"), say(threads, "7.0", "U1")]
    threads.wrote(PLACE, "8.0", REF)

    assert [REF, None, REF] == [*said, say(threads, "9.0", "U1")]


def test_what_came_before_ours_does_not_matter(threads: Threads) -> None:
    """Slack's time stamps tell, not when we hear of it."""
    threads.heard(PLACE, "4.0", "U2")

    assert REF == say(threads, "6.0", "U1")
    assert say(threads, "4.5", "U1") is None


def test_what_is_not_known_counts_as_unknown(threads: Threads) -> None:
    """Another place, a message that we didn't hear, and talk that is too long to remember."""
    for number in range(60):
        threads.heard(PLACE, f"6.{number:02}", "U1")

    assert threads.latest("slack:T1/C1/2.0", "6.0") is None
    assert threads.latest(PLACE, "9.0") is None
    assert say(threads, "7.0", "U1") is None


def test_places_that_were_silent_longest_are_forgotten(threads: Threads) -> None:
    """Memory has a bound."""
    for number in range(10_000):
        threads.wrote(f"slack:T1/C{number}", "1.0", REF)

    assert not threads.known(PLACE)
    assert threads.known("slack:T1/C9999")


def test_what_may_have_been_missed_is_not_known(threads: Threads) -> None:
    """Until we write there again; that we take part there is known all the same."""
    threads.missed()
    unsure = say(threads, "6.0", "U1")
    sure_before, known = threads.is_sure(PLACE), threads.known(PLACE)
    threads.wrote(PLACE, "7.0", REF)

    assert (None, False, True) == (unsure, sure_before, known)
    assert (True, REF) == (threads.is_sure(PLACE), say(threads, "8.0", "U1"))


def test_what_is_told_again_makes_it_known(threads: Threads) -> None:
    """Slack's history, from our message on, however much of it was heard before."""
    threads.heard(PLACE, "6.0", "U1")
    threads.missed()
    threads.wrote(PLACE, "5.0", REF)
    threads.heard(PLACE, "6.0", "U1")

    assert (True, REF) == (threads.is_sure(PLACE), say(threads, "7.0", "U1"))


def test_an_echo_is_ours_about_what_is_not_known_yet(threads: Threads) -> None:
    """It comes before the answer that says which message it is, or after it, or where that answer was lost."""
    threads.echoed(PLACE, "5.0")
    after = say(threads, "6.0", "U1")
    threads.echoed(PLACE, "7.0")
    lost = say(threads, "8.0", "U1")
    threads.wrote(PLACE, "7.0", "another")

    assert [REF, None, "another"] == [after, lost, say(threads, "9.0", "U1")]


def test_an_echo_alone_makes_no_place_known() -> None:
    """What else we wrote there isn't known."""
    threads = Threads()
    threads.echoed(PLACE, "5.0")

    assert (False, False) == (threads.known(PLACE), threads.is_sure(PLACE))


def test_a_file_that_comes_back_is_about_the_call_it_was_sent_for(threads: Threads) -> None:
    """Slack names the message of a file only when it sends that message back; another file stays unknown."""
    threads.shares("F1", REF)
    threads.echoed(PLACE, "6.0", ["F1"])
    known = say(threads, "7.0", "U1")
    threads.echoed(PLACE, "8.0", ["F2"])

    assert [REF, None] == [known, say(threads, "9.0", "U1")]
