"""What a person may do with a call, by the lists as they are now."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from hitl.call import Action, Call, Reply, ReplyKind, Risk, Runs, Verb, Verdict
from hitl.outcomes import Refusal
from hitl.people import Access, Conversation
from hitl.testing import a_call
from tests.hitl.world import ANN, BOB, NOON, ROOM, SAM, UMA, directory, verdict

LOW, MEDIUM, HIGH, CRITICAL = Risk


def asked(risk: Risk = MEDIUM, **terms: Any) -> Verdict:
    """A verdict that asks a person."""
    return verdict(Action.APPROVE, risk, **terms)


def the_call(**told: Any) -> Call:
    """A call that Uma asked in the room, for Ann and Bob to decide."""
    return a_call(NOON, **{"requester": UMA, "origin": ROOM, "approvers": (ANN, BOB), "verdict": asked(), **told})


def yes(identity: str, *, surface: str = "telegram", conversation: str = ROOM) -> Reply:
    """A press on Approve."""
    return Reply(identity, surface, conversation, ReplyKind.BUTTON, verb=Verb.APPROVE)


def test_requesters_are_listed_too() -> None:
    """A conversation's requesters replace the installation's; nobody else starts a call."""
    people = directory(conversations={ROOM: Conversation(ROOM, requesters=(SAM,))})

    assert Access(people).may_ask(SAM, ROOM)
    assert not Access(people).may_ask(UMA, ROOM)
    assert Access(people).may_ask(UMA, "telegram:1")
    assert not Access(people).may_ask(SAM, "telegram:1")


@pytest.mark.parametrize("limit", [None, LOW, MEDIUM, HIGH])
@pytest.mark.parametrize("risk", Risk)
def test_one_may_approve_ones_own_up_to_a_limit(limit: Risk | None, risk: Risk) -> None:
    """The conversation's limit counts; without one it is never, and critical is never."""
    people = directory(conversations={ROOM: Conversation(ROOM, self_approval=limit)})
    allowed = limit is not None and risk is not CRITICAL and list(Risk).index(risk) <= list(Risk).index(limit)

    assert allowed is Access(people).may_approve_own(asked(risk), ROOM, "telegram")
    assert not Access(people).may_approve_own(asked(risk), "telegram:1", "telegram")
    assert not Access(people).may_approve_own(asked(risk, exclude_requester=True), ROOM, "telegram")


def test_over_the_socket_ones_own_needs_its_own_setting() -> None:
    """A conversation's setting says nothing for the socket, nor the socket's for a conversation."""
    here = directory(conversations={ROOM: Conversation(ROOM, self_approval=HIGH)})
    socket = directory(self_approval_socket=LOW)

    assert not Access(here).may_approve_own(asked(LOW), ROOM, "socket")
    assert Access(socket).may_approve_own(asked(LOW), ROOM, "socket")
    assert not Access(socket).may_approve_own(asked(MEDIUM), ROOM, "socket")
    assert not Access(socket).may_approve_own(asked(LOW), ROOM, "telegram")


@pytest.mark.parametrize(
    ("approvers", "self_approval", "socket", "may"),
    [
        ((ANN,), None, None, (ANN,)),
        ((UMA, ANN), None, None, (ANN,)),
        ((UMA,), None, None, ()),
        ((UMA,), MEDIUM, None, (UMA,)),
        ((UMA, ANN), MEDIUM, None, (UMA, ANN)),
        ((UMA,), LOW, None, ()),
        ((UMA,), None, MEDIUM, (UMA,)),
        ((), HIGH, HIGH, ()),
    ],
)
def test_a_requester_may_approve_up_to_the_limit_and_others_always(
    approvers: tuple[str, ...], self_approval: Risk | None, socket: Risk | None, may: tuple[str, ...]
) -> None:
    """The people who may approve are the others on the list, and the requester where that is allowed up to this
    risk.
    """
    own = Conversation(ROOM, self_approval=self_approval)
    people = directory(conversations={ROOM: own}, self_approval_socket=socket)

    assert may == Access(people).who_may_approve(the_call(approvers=approvers, verdict=asked(MEDIUM)))


@pytest.mark.parametrize(
    ("risk", "told", "may"),
    [
        (MEDIUM, {}, ("token:desk", "ann")),
        (HIGH, {}, ("ann",)),
        (HIGH, {"token_limits": {"token:desk": HIGH}}, ("token:desk", "ann")),
        (LOW, {"token_limits": {"token:desk": LOW}}, ("token:desk", "ann")),
        (MEDIUM, {"token_ends": {"token:desk": NOON}}, ("ann",)),
        (MEDIUM, {"token_ends": {"token:desk": NOON + timedelta(seconds=1)}}, ("token:desk", "ann")),
        (MEDIUM, {"owners": {"token:desk": SAM}}, ("ann",)),
        (MEDIUM, {"token_ends": {"token:ann": NOON}}, ("token:desk", "ann")),
        (MEDIUM, {"token_ends": {"token:ann": NOON}, "principals": {"ann": ("token:ann",)}}, ("token:desk",)),
        (HIGH, {"principals": {"ann": ("token:ann",)}}, ()),
        (MEDIUM, {"revoked": frozenset({"token:desk"})}, ("ann",)),
    ],
)
def test_a_token_may_approve_up_to_its_limit_and_its_end(
    risk: Risk, told: dict[str, Any], may: tuple[str, ...]
) -> None:
    """An agent's token never may. A person who has another account may by that account."""
    people = directory(**{"principals": {"ann": (ANN, "token:ann")}, **told})
    call = the_call(approvers=("token:desk", "ann"), verdict=asked(risk))

    assert may == Access(people).who_may_approve(call)


def test_the_owner_of_an_agents_token_may_not_approve_its_calls() -> None:
    """What an agent asks for its owner is the owner's own call."""
    call = the_call(requester="token:ci", approvers=(UMA, ANN))

    assert (ANN,) == Access(directory(owners={"token:ci": UMA})).who_may_approve(call)


@pytest.mark.parametrize(
    ("who", "see", "withdraw", "claim"),
    [(UMA, True, True, True), (ANN, True, False, False), (SAM, True, True, False), ("local:9", False, False, False)],
)
def test_a_call_is_for_whoever_asked_may_decide_or_operates(
    who: str, *, see: bool, withdraw: bool, claim: bool
) -> None:
    """To read it, to take it back, and to run it, where its caller runs it."""
    access = Access(directory(operators=(SAM,)))
    call = the_call(runs=Runs.CALLER)

    assert (see, withdraw, claim) == (
        access.may_see(who, call),
        access.may_withdraw(who, call),
        access.may_claim(who, call),
    )


def test_nobody_claims_what_the_service_runs() -> None:
    """Its claim is the service's own."""
    assert not Access(directory()).may_claim(UMA, the_call(runs=Runs.SERVICE))


def test_whoever_got_a_name_since_is_the_same_person() -> None:
    """The call knows them as they were: they see, take back and decide it all the same."""
    people = directory(approvers=("ann", "uma"), principals={"ann": (ANN, "slack:T/ANN"), "uma": (UMA,)})
    access, call = Access(people), the_call(approvers=(ANN, UMA))

    assert access.may_see("uma", call)
    assert access.may_withdraw("uma", call)
    assert access.is_approver("ann", call)
    assert access.why_not_decide(yes(ANN), call, call.verdict, NOON, approve=True) is None
    assert Refusal.OWN is access.why_not_decide(yes(UMA), call, call.verdict, NOON, approve=True)


def test_the_lists_of_now_count_beside_those_of_then() -> None:
    """Who was taken off the list since decides nothing, and who was put on it wasn't shown the call."""
    call = the_call(approvers=(ANN,))

    assert Refusal.STRANGER is Access(directory(approvers=(BOB,))).why_not_decide(
        yes(ANN), call, call.verdict, NOON, approve=True
    )
    assert Refusal.STRANGER is Access(directory(approvers=(ANN, BOB))).why_not_decide(
        yes(BOB), call, call.verdict, NOON, approve=True
    )


def test_a_list_that_names_an_identity_means_the_person_behind_it() -> None:
    """On every surface, and for whatever they may do."""
    access = Access(
        directory(approvers=(ANN,), requesters=(ANN,), operators=(ANN,), principals={"ann": (ANN, "slack:T/ANN")})
    )
    call = the_call(approvers=(ANN,))

    assert access.may_ask("ann", ROOM)
    assert access.operates("ann")
    assert ("ann",) == access.who_may_approve(call)
    assert access.why_not_decide(yes(ANN), call, call.verdict, NOON, approve=True) is None


def test_a_call_is_decided_where_its_card_stands() -> None:
    """Elsewhere even an approver hears only that; the socket shows every call, so there is no elsewhere there."""
    access, call = Access(directory()), the_call()

    assert Refusal.PLACE is access.why_not_decide(
        yes(ANN, conversation="telegram:5"), call, call.verdict, NOON, approve=True
    )
    elsewhere = yes(ANN, surface="socket", conversation="local")
    assert access.why_not_decide(elsewhere, call, call.verdict, NOON, approve=True) is None


def test_ones_own_call_may_be_rejected() -> None:
    """Only the yes needs somebody else."""
    access, call = Access(directory(approvers=(UMA,))), the_call(approvers=(UMA,))

    assert access.why_not_decide(yes(UMA), call, call.verdict, NOON, approve=False) is None
    assert Refusal.OWN is access.why_not_decide(yes(UMA), call, call.verdict, NOON, approve=True)
