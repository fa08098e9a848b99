"""A claim checks each stored approval by the same rules as a new approval: the account, the risk and the reason."""

from __future__ import annotations

import contextlib
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from hitl.call import Call, ReplyKind, Risk, Runs, Status, Verb
from hitl.errors import InvalidConfirmation
from hitl.gate.response import Came
from hitl.limits import Limits
from hitl.outcomes import Unfit
from hitl.people import Conversation
from hitl.proof import seals
from hitl.records import replace
from tests.hitl.world import ANN, BOB, CLAIM, NOON, ROOM, UMA, WRITE, World, reply

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hitl.gate.response import Answer

DESK = "token:desk"
#: Ann has a chat account and a token. The token may approve calls up to high.
PEOPLE: dict[str, Any] = {
    "approvers": ("ann", BOB),
    "principals": {"ann": (ANN, DESK)},
    "token_limits": {DESK: Risk.HIGH},
}


@pytest.fixture
def world() -> World:
    """Ann approves by her chat account or by her token."""
    return World(**PEOPLE)


async def by_token(world: World, call: Call) -> Answer:
    """Ann's approval by her token, over HTTP."""
    said = reply(DESK, surface="http", conversation="", kind=ReplyKind.API, text="", target=call.ref)
    (answer,) = await world.gate.decide(replace(said, verb=Verb.APPROVE))
    return answer


async def approved_by_token(world: World) -> Call:
    """A call that its caller runs, approved by Ann's token."""
    call = await world.ask(runs=Runs.CALLER)
    assert Came.APPROVED is (await by_token(world, call)).came
    return call


def change(world: World, **lists: Any) -> None:
    """Change the directory, as a reload or a revoked token does."""
    world.gate.people = replace(world.gate.people, **lists)


async def refused(world: World, call: Call) -> str | None:
    """Claim the call, and return the code of the reason why the claim was refused, or None if it wasn't."""
    with contextlib.suppress(InvalidConfirmation):
        await world.gate.claim(call.ref, "cli", CLAIM)
    now = await world.now(call)
    return now.error if now.status is Status.REFUSED else None


#: Changes after which an approval by Ann's token counts no more, although she may still approve by her chat account.
LOSSES: Mapping[str, Mapping[str, Any]] = {
    "the token is revoked": {"token_ends": {DESK: NOON}},
    "its limit is lowered": {"token_limits": {DESK: Risk.LOW}},
    "the account is no longer hers": {"principals": {"ann": (ANN,)}},
    "the account is another approver's": {
        "principals": {"ann": (ANN,), "bob": (BOB, DESK)},
        "approvers": ("ann", "bob"),
    },
}


@pytest.mark.parametrize("loss", LOSSES)
async def test_the_account_that_approved_must_still_have_the_right(world: World, loss: str) -> None:
    """The right of another account of the same person doesn't replace the right of the account that approved."""
    call = await approved_by_token(world)
    change(world, **LOSSES[loss])

    assert Unfit.APPROVERS == await refused(world, call)


@pytest.mark.parametrize("loss", LOSSES)
async def test_an_approval_by_another_account_still_counts(world: World, loss: str) -> None:
    """If Ann's token loses its right, her approval by her chat account counts."""
    call = await world.ask(runs=Runs.CALLER)
    await world.press(call)
    change(world, **LOSSES[loss])

    assert None is await refused(world, call)


@pytest.mark.parametrize(
    ("risk", "why"), [(Risk.MEDIUM, None), (Risk.HIGH, Unfit.STRICTER), (Risk.CRITICAL, Unfit.APPROVERS)]
)
async def test_a_token_below_the_raised_risk_has_approved_nothing(world: World, risk: Risk, why: Unfit | None) -> None:
    """A risk above the confirmed risk refuses the claim, and so does a risk above the token's limit."""
    call = await approved_by_token(world)
    world.rules.set(WRITE, risk=risk)

    assert why == await refused(world, call)


async def test_the_risk_on_the_card_counts_beside_the_current_risk(world: World) -> None:
    """A policy that lowers the risk doesn't let a token count whose limit was lowered below the risk on the card."""
    world.rules.set(WRITE, risk=Risk.HIGH)
    call = await approved_by_token(world)
    change(world, token_limits={DESK: Risk.MEDIUM})
    world.rules.set(WRITE, risk=Risk.MEDIUM)

    assert Unfit.APPROVERS == await refused(world, call)


async def test_a_raised_risk_that_was_confirmed_is_claimed(world: World) -> None:
    """The second yes confirms the risk that applied when it was given, and no higher risk."""
    call = await world.ask(runs=Runs.CALLER)
    other = await world.ask(args={"path": "other"}, runs=Runs.CALLER)
    world.rules.set(WRITE, risk=Risk.HIGH)
    for each in (call, other):
        assert Came.CONFIRM is (await world.press(each)).came
    world.clock.advance(2)
    for each in (call, other):
        assert Came.APPROVED is (await world.press(each)).came

    assert None is await refused(world, call)
    world.rules.set(WRITE, risk=Risk.CRITICAL)
    assert Unfit.STRICTER == await refused(world, other)


@pytest.mark.parametrize(("reason", "why"), [(None, Unfit.STRICTER), ("the disk is full", None)])
async def test_a_reason_that_the_policy_demands_now_must_be_there(
    world: World, reason: str | None, why: Unfit | None
) -> None:
    """An approval without a reason counts no more after the rule begins to demand a reason."""
    call = await world.ask(runs=Runs.CALLER)
    await world.press(call, reason=reason)
    world.rules.set(WRITE, require_reason=True)

    assert why == await refused(world, call)


#: Each change after which a requester may not approve their own medium call any more.
OWN: Mapping[str, Mapping[str, Any]] = {
    "the limit is lowered": {"people": {"conversations": {ROOM: Conversation(ROOM, self_approval=Risk.LOW)}}},
    "self-approval is off": {"people": {"conversations": {ROOM: Conversation(ROOM)}}},
    "the rule excludes the requester": {"rule": {"exclude_requester": True}},
}


@pytest.mark.parametrize("loss", OWN)
async def test_a_requester_who_may_not_approve_alone_any_more_has_not_approved(loss: str) -> None:
    """The claim checks self-approval again."""
    world = World(approvers=(UMA,), conversations={ROOM: Conversation(ROOM, self_approval=Risk.HIGH)})
    call = await world.ask(runs=Runs.CALLER)
    assert Came.APPROVED is (await world.press(call, UMA)).came
    change(world, **OWN[loss].get("people", {}))
    world.rules.set(WRITE, **OWN[loss].get("rule", {}))

    assert Unfit.APPROVERS == await refused(world, call)


async def test_an_approver_who_turns_out_to_be_the_requester_has_not_approved(world: World) -> None:
    """If the operator says after the approval that both accounts are one person's, nobody else has approved."""
    call = await world.ask(runs=Runs.CALLER)
    await world.press(call, BOB)
    change(world, principals={"ann": (ANN, DESK), "bob": (BOB, UMA)}, approvers=("ann", "bob"), requesters=("bob",))

    assert Unfit.APPROVERS == await refused(world, call)


@pytest.mark.parametrize(("later_s", "came"), [(10 - 1e-6, Came.APPROVED), (10, Came.REFUSED)])
async def test_a_token_approves_until_its_end_and_not_at_it(world: World, later_s: float, came: Came) -> None:
    """An approval in the microsecond of the token's end is refused, even if the service let the request in before."""
    call = await world.ask(runs=Runs.CALLER)
    change(world, token_ends={DESK: NOON + timedelta(seconds=10)})
    world.clock.advance(later_s)

    assert came is (await by_token(world, call)).came


async def test_a_token_that_ends_at_the_claim_has_not_approved(world: World) -> None:
    """An approval before the token's end counts for a claim before the end, and not for a claim at the end."""
    early, late = await approved_by_token(world), await approved_by_token(world)
    change(world, token_ends={DESK: NOON + timedelta(seconds=10)})
    world.clock.advance(10 - 1e-6)
    assert None is await refused(world, early)
    world.clock.advance(1e-6)

    assert Unfit.APPROVERS == await refused(world, late)


class TestQuorum:
    """Two people must approve, and each stored approval is checked again at the next."""

    @pytest.fixture
    def world(self) -> World:
        """A gate where each call needs two."""
        return World(limits=Limits(approvals=2), **PEOPLE)

    async def test_a_first_approval_under_a_lower_risk_does_not_count(self, world: World) -> None:
        """The person must approve again under the raised risk."""
        call = await world.ask(runs=Runs.CALLER)
        await world.press(call, ANN)
        world.rules.set(WRITE, risk=Risk.HIGH)
        for who in (BOB, ANN):
            await world.press(call, who)
        world.clock.advance(2)

        assert [Came.COUNTED, Came.APPROVED] == [(await world.press(call, who)).came for who in (BOB, ANN)]

    async def test_a_first_approval_by_an_ended_token_does_not_count(self, world: World) -> None:
        """Ann's other account doesn't give its right to the approval by her token."""
        call = await world.ask(runs=Runs.CALLER)
        assert Came.COUNTED is (await by_token(world, call)).came
        change(world, token_ends={DESK: NOON})

        assert Came.COUNTED is (await world.press(call, BOB)).came


async def test_a_vote_of_an_earlier_version_counts_by_its_principal(world: World) -> None:
    """Votes without an account and a risk keep their MAC, and confirm the risk on the card."""
    call = await world.ask(runs=Runs.CALLER)
    await world.press(call)
    (vote,) = await world.store.votes(call.ref)
    old = replace(vote, identity=None, risk=None)
    old = replace(old, mac=seals.vote(world.keys, old, call.digest))
    world.store._votes[call.ref] = [old]  # noqa: SLF001 - an earlier version wrote this row

    assert None is await refused(world, call)


@pytest.mark.parametrize("forged", [{"identity": ANN}, {"risk": Risk.CRITICAL}, {"identity": None}, {"risk": None}])
async def test_the_mac_covers_the_account_and_the_risk(world: World, forged: Mapping[str, Any]) -> None:
    """A vote whose account or risk somebody changed in the database fails its integrity check."""
    call = await approved_by_token(world)
    (vote,) = await world.store.votes(call.ref)
    old = replace(vote, identity=None, risk=None)
    old = replace(old, mac=seals.vote(world.keys, old, call.digest))

    assert not seals.votes_hold(world.keys, await world.now(call), [replace(vote, **forged)])
    later = {name: value for name, value in forged.items() if value is not None}
    assert not later or not seals.votes_hold(world.keys, await world.now(call), [replace(old, **later)])
