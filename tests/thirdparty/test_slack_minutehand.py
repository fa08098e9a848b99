"""Approvals on a Slack that others wrote, minutehand's: `sayso run` beside it, over HTTP and over Socket Mode.

The third party stands in for everything on Slack's side: it keeps the messages, signs and repeats the requests, sends
the envelopes, opens the windows and answers the Web API. What it can't do isn't tried here:

- press a button that is gone: our own server does (tests/scenarios/slack);
- repeat a press: like Slack it sends those once, so the go-between repeats them here;
- slash commands over Socket Mode: it says that it doesn't serve them;
- ask for another connection (`disconnect`): it never does, so the go-between breaks them;
- refuse a token, a ticket or a scope: it refuses none.

Where it isn't as Slack's documentation says stands in README.md beside this file.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from hitl.outcomes import Fact, fact
from tests.acceptance.installation import until
from tests.thirdparty.between import Fault, Passed
from tests.thirdparty.stand import Asked, Stand, standing
from tests.thirdparty.third_slack import needed

pytestmark = [pytest.mark.thirdparty, needed]

#: How an event comes to be sent again: nobody hears that it was taken.
UNHEARD = {"http": Fault.FAILED, "socket": Fault.LOST}
DONE = fact("by.approved")


def rejected(reason: str) -> Fact:
    """The outcome of a rejection for that reason."""
    return fact("ending.rejected.reason", reason=f"“{reason}”")


@pytest.fixture(scope="module")
def stands() -> Iterator[Callable[[str], Stand]]:
    """Both ways in, each started when the first test wants it, whatever the order of the tests."""
    up: dict[str, Stand] = {}
    with ExitStack() as parts:

        def stand(receive: str) -> Stand:
            if receive not in up:
                up[receive] = parts.enter_context(standing(receive))
            return up[receive]

        yield stand


@pytest.fixture(params=["http", "socket"])
def stand(request: pytest.FixtureRequest, stands: Callable[[str], Stand]) -> Iterator[Stand]:
    """The two sides; each test leaves them with nothing to say, and every fault that it ordered met."""
    found = stands(request.param)
    yield found
    found.settle()

    assert found.inward.spent()
    assert found.outward.spent()


only_http = pytest.mark.parametrize("stand", ["http"], indirect=True)
only_socket = pytest.mark.parametrize("stand", ["socket"], indirect=True)


def retries(sent: list[Passed]) -> list[int]:
    """The number of the retry that each delivery says it is."""
    headers = [one.headers.get("X-Slack-Retry-Num") for one in sent]
    envelopes = [json.loads(one.body) if one.body.startswith("{") else {} for one in sent]
    return [int(said or told.get("retry_attempt", 0)) for said, told in zip(headers, envelopes, strict=True)]


def decisions(stand: Stand, call: Asked) -> list[str]:
    """The decisions on record, each as often as it is there."""
    return [event for event in stand.record(call) if event in {"approved", "rejected", "expired"}]


# -- what people do ---------------------------------------------------------------------------------------------


def test_a_press_approves(stand: Stand) -> None:
    """The tool runs once, and the card in the thread is edited to the outcome."""
    call = stand.asks()
    told = stand.press("ann", call, "approve")
    stand.ends(call, DONE)

    assert {} == told
    assert 1 == stand.ran(call)
    assert ["approved"] == decisions(stand, call)


def test_a_press_rejects_and_the_window_asks_why(stand: Stand) -> None:
    """The press counts; what is written into the window that it opened is the reason on record, and on the card."""
    call = stand.asks()
    told = stand.press("ann", call, "reject", reason="Not on a Friday & never <here>.")
    stand.ends(call, rejected("Not on a Friday & never <here>."))

    assert {} == told
    assert "Not on a Friday & never <here>." == stand.reason(call)
    assert ["rejected"] == decisions(stand, call)
    assert 0 == stand.ran(call)


def test_a_yes_in_the_thread_approves(stand: Stand) -> None:
    """It need not name the only card there, nor mention the app."""
    call = stand.asks()
    stand.writes("ann", call, "yes")
    stand.ends(call, DONE)

    assert 1 == stand.ran(call)
    assert ["approved"] == decisions(stand, call)


def test_a_no_in_the_thread_rejects_with_its_reason(stand: Stand) -> None:
    """In the same message."""
    call = stand.asks()
    stand.writes("ann", call, "no because it is too late")
    stand.ends(call, rejected("it is too late"))

    assert "it is too late" == stand.reason(call)
    assert ["rejected"] == decisions(stand, call)
    assert 0 == stand.ran(call)


@pytest.mark.parametrize(("name", "outcome", "runs"), [("+1", DONE, 1), ("x", fact("by.rejected"), 0)])
def test_a_reaction_to_the_card_decides(stand: Stand, name: str, outcome: Fact, runs: int) -> None:
    """Of somebody whom Slack's directory calls no bot; such calls aren't critical."""
    call = stand.asks()
    stand.slack.does("ann", "react", ts=call.card, reaction=name)
    stand.ends(call, outcome)

    assert runs == stand.ran(call)


def test_who_is_not_listed_decides_nothing(stand: Stand) -> None:
    """Neither by a press nor by words nor by a reaction. They are told so once, alone: by the way that came first."""
    call = stand.asks()
    stand.press("eve", call, "approve")
    stand.writes("eve", call, f"yes {call.short}")
    stand.slack.does("eve", "react", ts=call.card, reaction="+1")
    stand.settle()
    eve, alone = stand.slack.people["eve"], ("chat.postEphemeral", "chat.postMessage")
    told = until(lambda: [one for method in alone for one in stand.posted(method, eve)], "a word to Eve")

    assert stand.is_open(call)
    assert [] == decisions(stand, call)
    assert 0 == stand.ran(call)
    assert 1 == len(told)


@only_http
def test_a_command_decides(stand: Stand) -> None:
    """Over HTTP; over Socket Mode minutehand serves none."""
    call = stand.asks()
    stand.slack.does("ann", "command", text=f"reject {call.short} because of the audit")
    stand.ends(call, rejected("of the audit"))

    assert ["rejected"] == decisions(stand, call)


@only_http
def test_who_is_where_we_are_not_is_answered_by_the_address_that_came(stand: Stand) -> None:
    """In a channel that the app isn't in nobody can be whispered to; a command brings a `response_url`, which can."""
    stand.slack.does("ann", "command", text="whoami", channel="elsewhere")
    until(lambda: stand.outward.seen("/commands/"), "an answer")
    (answer,) = stand.outward.seen("/commands/")

    assert 200 == answer.status
    assert f"slack:{stand.slack.team}/{stand.slack.people['ann']}" in answer.body


@only_http
def test_the_address_is_confirmed(stand: Stand) -> None:
    """As when it is saved in the app's settings."""
    assert {} == stand.slack.does("", "verify", challenge="3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P")


# -- what is sent twice -----------------------------------------------------------------------------------------


def test_words_that_are_sent_again_count_once(stand: Stand) -> None:
    """Slack heard nothing of the first delivery; the second says which it is. One decision and one run.

    The card is the answer, so nothing else is said in the thread.
    """
    call = stand.asks()
    stand.events.next(f"yes {call.short}", UNHEARD[stand.receive])
    stand.writes("ann", call, f"yes {call.short}")
    stand.ends(call, DONE)
    ours = [one["ts"] for one in stand.thread(call.thread) if one["user"] == stand.slack.bot]

    assert [0, 1] == retries(stand.delivered(f"yes {call.short}"))
    assert 1 == stand.kept(f"yes {call.short}")
    assert ["approved"] == decisions(stand, call)
    assert 1 == stand.ran(call)
    assert [call.card] == ours


def test_a_reaction_that_is_sent_again_counts_once(stand: Stand) -> None:
    """The same, by its event's id."""
    call = stand.asks()
    stand.events.next("reaction_added", UNHEARD[stand.receive])
    stand.slack.does("ann", "react", ts=call.card, reaction="+1")
    stand.ends(call, DONE)
    sent = [one for one in stand.delivered("reaction_added") if call.card in one.body]

    assert [0, 1] == retries(sent)
    assert 1 == stand.kept(call.card)
    assert ["approved"] == decisions(stand, call)
    assert 1 == stand.ran(call)


@only_http
def test_what_is_sent_four_times_counts_once(stand: Stand) -> None:
    """As often as Slack sends an event whose answer came too late, or was an error."""
    call = stand.asks()
    stand.events.next(f"yes {call.short}", Fault.LATE, Fault.FAILED, Fault.FAILED)
    stand.writes("ann", call, f"yes {call.short}")
    stand.ends(call, DONE)
    sent = stand.delivered(f"yes {call.short}")
    reasons = [one.headers.get("X-Slack-Retry-Reason") for one in sent]

    assert [0, 1, 2, 3] == retries(sent)
    assert [None, "http_timeout", "http_error", "http_error"] == reasons
    assert 1 == stand.kept(f"yes {call.short}")
    assert ["approved"] == decisions(stand, call)
    assert 1 == stand.ran(call)


def test_a_press_that_is_sent_twice_counts_once(stand: Stand) -> None:
    """The go-between repeats it, the second time with the headers of a repeated request."""
    call = stand.asks()
    stand.events.next("block_actions", Fault.TWICE)
    told = stand.press("ann", call, "approve")
    stand.ends(call, DONE)
    sent = [one for one in stand.delivered("block_actions") if call.card in one.body]

    assert {} == told
    assert 2 == len(sent)
    assert 1 == stand.kept(call.card)
    assert ["approved"] == decisions(stand, call)
    assert 1 == stand.ran(call)


def test_a_question_that_is_sent_again_is_one_call(stand: Stand) -> None:
    """A message that mentions the app comes as two events, and here the first of them twice: one call, one card."""
    file = stand.file()
    stand.events.next(file, UNHEARD[stand.receive])
    thread = stand.begins(file)
    until(lambda: stand.cards(thread), "the card")
    stand.settle()

    assert [0, 1, 0] == retries(stand.delivered(file)[:3])
    assert 1 == stand.kept(file)
    assert 1 == len(stand.cards(thread))


# -- what Slack asks to wait for --------------------------------------------------------------------------------


def gaps(sent: list[Passed]) -> list[float]:
    """The seconds between them."""
    return [after.at - before.at for before, after in itertools.pairwise(sent)]


def test_a_card_waits_as_long_as_it_is_told(stand: Stand) -> None:
    """Two 429 in a row on chat.postMessage, one more than the client sits out by itself: both waits are kept."""
    file = stand.file()
    stand.slack.does("", "fault", call="chat.postMessage", times=2, retry_after=2)
    thread = stand.begins(file)
    until(lambda: stand.cards(thread), "the card")
    stand.settle()
    sent = stand.posted("chat.postMessage", file)

    assert [429, 429, 200] == [one.status for one in sent]
    assert all(gap >= 2 for gap in gaps(sent))
    assert 1 == len(stand.cards(thread))


def test_an_edit_waits_as_long_as_it_is_told(stand: Stand) -> None:
    """The same on chat.update: the outcome comes late, not never, and nothing runs again for it."""
    call = stand.asks()
    stand.settle()
    stand.slack.does("", "fault", call="chat.update", times=2, retry_after=2)
    stand.press("ann", call, "approve")
    stand.ends(call, DONE)
    stand.settle()
    sent = stand.posted("chat.update", call.card)

    assert [429, 429, 200] == [one.status for one in sent][:3]
    assert all(gap >= 2 for gap in gaps(sent[:3]))
    assert 1 == stand.ran(call)
    assert ["approved"] == decisions(stand, call)


# -- what is lost on its way back -------------------------------------------------------------------------------


@pytest.mark.parametrize("pressed", [0, 1], ids=["the first", "the second"])
def test_a_card_whose_answer_was_lost(stand: Stand, pressed: int) -> None:
    """It was posted, nobody told us, so it stands twice. Whichever is pressed counts, once; then the other is late.

    Pressed or not, the one that we know of is edited; the other tells the truth once it was pressed.
    """
    file = stand.file()
    stand.outward.next("sayso:approve", Fault.LOST)
    thread = stand.begins(file)
    until(lambda: len(stand.cards(thread)) == 2, "two cards")
    call = stand.found(file, thread)
    both = [one["ts"] for one in stand.cards(thread)]
    stand.slack.does("ann", "press", ts=both[pressed], action="sayso:approve")
    stand.ends(call, DONE, number=1)
    if stand.is_open(call, 0):
        stand.slack.does("ann", "press", ts=both[0], action="sayso:approve")
    stand.ends(call, DONE, number=0)

    assert 1 == stand.ran(call)
    assert ["approved"] == decisions(stand, call)


def test_an_edit_whose_answer_was_lost(stand: Stand) -> None:
    """It is made again, and the card tells the truth."""
    call = stand.asks()
    stand.settle()
    stand.outward.next("/api/chat.update", Fault.LOST)
    stand.press("ann", call, "approve")
    stand.ends(call, DONE)
    stand.settle()

    assert 2 <= len(stand.posted("chat.update", call.card))
    assert 1 == stand.ran(call)
    assert ["approved"] == decisions(stand, call)
    stand.ends(call, DONE)


def test_a_window_whose_answer_was_lost(stand: Stand) -> None:
    """It is open in front of the one who pressed, and what is written into it counts."""
    call = stand.asks()
    stand.outward.next("/api/views.open", Fault.LOST)
    stand.press("ann", call, "reject", reason="it stood open")
    stand.ends(call, rejected("it stood open"))

    assert "it stood open" == stand.reason(call)
    assert ["rejected"] == decisions(stand, call)


@only_http
def test_a_press_whose_answer_was_lost(stand: Stand) -> None:
    """Slack shows a failure to the one who pressed; it was recorded before it was answered, so it counts."""
    call = stand.asks()
    stand.inward.next("block_actions", Fault.LOST)
    told = stand.press("ann", call, "approve")
    stand.ends(call, DONE)

    assert "failed" in told
    assert 1 == stand.ran(call)


@only_socket
def test_a_press_whose_acknowledgement_was_lost(stand: Stand) -> None:
    """The same over a socket."""
    call = stand.asks()
    stand.outward.next("block_actions", Fault.LOST)
    told = stand.press("ann", call, "approve")
    stand.ends(call, DONE)

    assert "failed" in told
    assert 1 == stand.ran(call)


@only_socket
def test_connections_that_break_are_made_anew(stand: Stand) -> None:
    """All of them at once; the next press counts."""
    call = stand.asks()
    opened = len(stand.outward.seen("/api/apps.connections.open"))
    stand.outward.cut()
    until(lambda: len(stand.outward.seen("/api/apps.connections.open")) >= opened + 2, "two connections")
    until(lambda: not stand.service.call("ping")["troubles"], "Slack")
    stand.press("ann", call, "approve")
    stand.ends(call, DONE)

    assert 1 == stand.ran(call)


# -- who says so ------------------------------------------------------------------------------------------------


@only_http
@pytest.mark.parametrize("flaw", [{"secret": "another secret"}, {"behind_s": 400}], ids=["forged", "old"])
def test_what_is_not_signed_is_refused(stand: Stand, flaw: dict[str, object]) -> None:
    """401 for a signature by another secret, or of six minutes ago, and nothing is kept; the right one counts then.

    Over Socket Mode nothing is signed: what comes over a connection that we opened with our token is Slack's.
    """
    call = stand.asks()
    pressed = stand.press("ann", call, "approve", **flaw)
    stand.slack.does("ann", "press", ts=call.card, action="sayso:details")
    written = stand.slack.attempts("ann", "say", text=f"yes {call.short}", thread=call.thread, **flaw)
    stand.settle()
    refused = [one.status for one in stand.inward.seen(call.short)]

    assert "answered 401" in pressed["failed"]
    assert "answered 401" in written["failed"]
    assert [] == decisions(stand, call)
    assert 401 in refused

    stand.press("ann", call, "approve")
    stand.ends(call, DONE)

    assert 1 == stand.ran(call)
