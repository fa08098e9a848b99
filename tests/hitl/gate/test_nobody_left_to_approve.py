"""A pending call that too few people can still approve ends at once: silence would only look like an answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from hitl.call import Action, PostKind, Risk, Status, Verb
from hitl.cards.card import outcome
from hitl.cards.wording import sentence
from hitl.errors import AlreadyDecided
from hitl.limits import Limits
from hitl.outcomes import Unfit, fact
from hitl.people import Conversation
from hitl.question import GROUP, TOOL
from hitl.records import replace
from tests.hitl.world import ANN, BOB, NOON, ROOM, UMA, WRITE, World

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hitl.call import Call

DESK = "token:desk"


def change(world: World, **lists: Any) -> None:
    """Change the directory, as a reload, a revocation or the end of a token does."""
    world.gate.people = replace(world.gate.people, **lists)


async def rechecked(world: World, call: Call) -> tuple[Status, str | None]:
    """Recheck the call, and return its status and the code of the reason."""
    await world.gate.recheck(call)
    now = await world.now(call)
    return now.status, now.error


#: Each way in which the only approver of a medium call loses the right: the lists before, and their change.
LOSSES: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    "revoked": ({"approvers": (ANN,)}, {"revoked": frozenset({ANN})}),
    "off the list": ({"approvers": (ANN,)}, {"approvers": (BOB,)}),
    "off the list of the conversation": (
        {"conversations": {ROOM: Conversation(ROOM, approvers=(ANN,))}},
        {"conversations": {ROOM: Conversation(ROOM, approvers=())}},
    ),
    "without an account": (
        {"approvers": ("ann",), "principals": {"ann": (ANN,)}},
        {"approvers": ("ann",), "principals": {}},
    ),
    "the token has ended": ({"approvers": (DESK,)}, {"token_ends": {DESK: NOON}}),
    "the token's limit is lowered": ({"approvers": (DESK,)}, {"token_limits": {DESK: Risk.LOW}}),
    "the requester may not approve alone now": (
        {"approvers": (UMA,), "conversations": {ROOM: Conversation(ROOM, self_approval=Risk.HIGH)}},
        {"conversations": {ROOM: Conversation(ROOM)}},
    ),
    "the approver is the requester now": (
        {"approvers": ("uma",), "principals": {"uma": (ANN,)}},
        {"principals": {"uma": (ANN, UMA)}, "requesters": ("uma",)},
    ),
}


@pytest.mark.parametrize("loss", LOSSES)
async def test_a_call_that_nobody_can_approve_any_more_is_undeliverable(loss: str) -> None:
    """The card, the record and the agent's answer give the reason."""
    before, later = LOSSES[loss]
    world = World(**before)
    call = await world.ask()
    assert (Status.PENDING, None) == await rechecked(world, call)
    change(world, **later)

    assert (Status.UNDELIVERABLE, Unfit.NOBODY) == await rechecked(world, call)
    assert [ROOM] == world.told(PostKind.EDIT)
    assert sentence(fact("outcome.undeliverable", why=fact(Unfit.NOBODY))) == outcome(await world.now(call))
    assert Unfit.NOBODY in (await world.last(call)).data
    await world.check_record()


@pytest.mark.parametrize("terms", [{"approvers": (BOB,)}, {"approvers": ()}, {"exclude_requester": True}])
async def test_the_current_policy_counts_too(terms: dict[str, Any]) -> None:
    """A rule that names other approvers, or excludes the only approver, leaves nobody who can approve."""
    world = World(approvers=(UMA,), conversations={ROOM: Conversation(ROOM, self_approval=Risk.HIGH)})
    call = await world.ask()
    world.rules.set(WRITE, **terms)
    world.rules.digest = "b" * 64

    assert (Status.UNDELIVERABLE, Unfit.NOBODY) == await rechecked(world, call)


async def test_a_raised_risk_above_the_limit_of_the_only_token_leaves_nobody() -> None:
    """A risk that the policy lowers doesn't: the risk on the card counts beside it."""
    world = World(approvers=(DESK,), token_limits={DESK: Risk.HIGH})
    call = await world.ask()
    world.rules.digest = "b" * 64
    world.rules.set(WRITE, risk=Risk.CRITICAL)
    assert (Status.UNDELIVERABLE, Unfit.NOBODY) == await rechecked(world, call)

    world = World(approvers=(DESK,), token_limits={DESK: Risk.HIGH})
    world.rules.set(WRITE, risk=Risk.HIGH)
    call = await world.ask()
    world.rules.digest = "b" * 64
    world.rules.set(WRITE, risk=Risk.LOW)
    assert (Status.PENDING, None) == await rechecked(world, call)
    change(world, token_limits={DESK: Risk.MEDIUM})

    assert (Status.UNDELIVERABLE, Unfit.NOBODY) == await rechecked(world, call)


async def test_a_policy_that_names_nobody_leaves_the_call_pending() -> None:
    """A policy that can't be used, or that denies the call, may be corrected before the deadline."""
    world = World()
    call = await world.ask()
    world.rules.digest = "b" * 64
    world.rules.set(WRITE, action=Action.DENY, approvers=())
    denied = await rechecked(world, call)
    world.rules.broken = True

    assert [(Status.PENDING, None)] * 2 == [denied, await rechecked(world, call)]


@pytest.mark.parametrize("voted", [False, True])
async def test_two_must_approve_and_only_one_still_can(voted: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """It makes no difference whether that one has approved already."""
    world = World(limits=Limits(approvals=2))
    call = await world.ask()
    if voted:
        await world.press(call, ANN)
    assert (Status.PENDING, None) == await rechecked(world, await world.now(call))
    change(world, approvers=(ANN,))

    assert (Status.UNDELIVERABLE, Unfit.TOO_FEW) == await rechecked(world, await world.now(call))


async def test_a_new_call_for_too_few_people_ends_at_once() -> None:
    """A call that two must approve, and of which one may, isn't asked."""
    world = World(limits=Limits(approvals=2), approvers=(ANN,))
    call = await world.ask()

    assert (Status.UNDELIVERABLE, Unfit.TOO_FEW) == (call.status, call.error)


async def test_a_question_waits_while_its_requester_can_answer() -> None:
    """A question takes one answer, also if two people must approve other calls. It ends if nobody can answer it."""
    world = World(limits=Limits(approvals=2))
    call = await world.ask(TOOL, tools=GROUP, args={"question": "Ship it?"})
    change(world, approvers=())

    assert (Status.PENDING, None) == await rechecked(world, call)


async def test_of_an_approval_and_the_check_at_the_same_time_one_wins() -> None:
    """If the approval was first, the check reports that the call is decided, and changes nothing."""
    world = World(approvers=(ANN,))
    call = await world.ask()
    approval = asyncio.create_task(world.press(call))
    await asyncio.sleep(0)
    change(world, revoked=frozenset({ANN}))
    check = await asyncio.gather(world.gate.recheck(call), return_exceptions=True)
    answer = await approval
    now = await world.now(call)

    assert (answer.lease is None) is (now.status is Status.UNDELIVERABLE)
    assert isinstance(check[0], AlreadyDecided) is (answer.lease is not None)
    await world.check_record()


async def test_a_late_press_hears_that_the_call_has_ended() -> None:
    """A person who gets the right back after the end can't approve the call any more."""
    world = World(approvers=(ANN,))
    call = await world.ask()
    change(world, revoked=frozenset({ANN}))
    await world.gate.recheck(call)
    change(world, revoked=frozenset())
    answer = await world.press(call, verb=Verb.APPROVE)

    assert (None, Status.UNDELIVERABLE) == (answer.lease, (await world.now(call)).status)
