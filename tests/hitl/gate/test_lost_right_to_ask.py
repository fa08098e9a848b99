"""A call whose requester lost the right to ask since: no approval and no claim lets it run."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from hitl.call import Runs, Status, Verb
from hitl.cards.card import outcome, outcome_for_agent
from hitl.cards.wording import say
from hitl.errors import AlreadyDecided, InvalidConfirmation
from hitl.gate.context import Claimant
from hitl.outcomes import Refusal, Unfit, fact
from hitl.question import GROUP, TOOL
from hitl.records import replace
from tests.hitl.world import ANN, CLAIM, NOON, READ, UMA, World, code

if TYPE_CHECKING:
    from hitl.ports import Policy

CI = "token:ci"
WHY = say(Unfit.REQUESTER)

#: Each way in which the requester `token:ci` loses the right to ask, as a change of the directory.
LOSSES: dict[str, dict[str, Any]] = {
    "the token is revoked as a person": {"revoked": frozenset({CI})},
    "its owner is revoked": {"revoked": frozenset({UMA})},
    "its owner is off the list": {"requesters": (ANN,)},
    "the token has an end in the past": {"token_ends": {CI: NOON}},
}


@pytest.fixture
def world() -> World:
    """Uma asks by her agent's token."""
    return World(owners={CI: UMA})


def lose(world: World, change: dict[str, Any]) -> None:
    """Apply a change of the directory."""
    world.gate.people = replace(world.gate.people, **change)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("runs", Runs)
async def test_an_approval_withdraws_the_call_instead(world: World, loss: str, runs: Runs) -> None:
    """A person who approves hears that the call is withdrawn, and why. Nothing runs, and the record says why."""
    call = await world.ask(requester=CI, runs=runs)
    lose(world, LOSSES[loss])
    answer = await world.press(call)
    now = await world.now(call)

    assert (AlreadyDecided.code, None) == (code(answer), answer.lease)
    assert WHY in answer.text
    assert Status.WITHDRAWN is now.status
    assert Unfit.REQUESTER in (await world.last(call)).data
    assert WHY in outcome(now)
    assert WHY in outcome_for_agent(now)
    await world.check_record()


async def test_a_rejection_still_counts(world: World) -> None:
    """A person may reject the call of a requester who lost the right to ask."""
    call = await world.ask(requester=CI)
    lose(world, {"revoked": frozenset({CI})})
    await world.press(call, verb=Verb.REJECT)

    assert Status.REJECTED is (await world.now(call)).status


async def test_a_question_takes_no_answer(world: World) -> None:
    """A question of an agent whose token was revoked is withdrawn by an answer to it."""
    call = await world.ask(TOOL, tools=GROUP, args={"question": "Ship it?"}, requester=CI)
    lose(world, {"token_ends": {CI: NOON}})
    await world.type("on Monday", private=True, follows=call.ref)

    assert Status.WITHDRAWN is (await world.now(call)).status


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("take", ["claim", "release"])
async def test_an_approved_call_is_not_handed_out(world: World, loss: str, take: str) -> None:
    """A claim after the approval is refused with the reason, and the result is `refused`."""
    call = await world.ask(requester=CI, runs=Runs.CALLER)
    await world.press(call)
    lose(world, LOSSES[loss])
    with pytest.raises(InvalidConfirmation) as refused:
        await (world.gate.claim(call.ref, CI, CLAIM) if take == "claim" else world.gate.release(call.ref, CI))

    told = fact(Refusal.NOT_RUN, short=call.short, how="approved", error=fact(Unfit.REQUESTER))
    assert told == refused.value.fact
    assert Status.REFUSED is (await world.now(call)).status


async def test_an_allowed_call_is_not_handed_out(world: World) -> None:
    """The same holds for a call that the policy allowed."""
    call = await world.ask(READ, requester=CI, runs=Runs.CALLER)
    lose(world, {"token_ends": {CI: NOON}})
    with pytest.raises(InvalidConfirmation):
        await world.gate.claim(call.ref, CI, CLAIM)

    assert Status.REFUSED is (await world.now(call)).status


@pytest.mark.parametrize("runs", Runs)
async def test_the_right_is_checked_again_beside_the_other_conditions_of_a_run(world: World, runs: Runs) -> None:
    """A requester who loses the right while the approval is being checked gets no lease in its commit."""
    call = await world.ask(requester=CI, runs=runs)
    world.gate.policies = _LosingMeanwhile(world)
    with world.gate.claimants.waiting(call, Claimant(CI, CLAIM, lambda: True)):
        answer = await world.press(call)

    assert answer.lease is None
    assert Status.REFUSED is (await world.now(call)).status


class _LosingMeanwhile:
    """A policy source. The requester loses the right to ask while the policy judges."""

    def __init__(self, world: World) -> None:
        self._world = world

    def current(self) -> Policy:
        """Return the rules of the world."""
        lose(self._world, {"token_ends": {CI: NOON}})
        return self._world.rules


async def test_a_token_with_an_end_ahead_may_ask_until_then(world: World) -> None:
    """An approval counts up to the end of the token, and not at it."""
    lose(world, {"token_ends": {CI: NOON + timedelta(seconds=10)}})
    early, late = [await world.ask(requester=CI, args={"n": number}) for number in (1, 2)]
    world.clock.advance(10 - 1e-6)
    await world.press(early)
    world.clock.advance(1e-6)
    await world.press(late)

    assert [Status.RUNNING, Status.WITHDRAWN] == [(await world.now(call)).status for call in (early, late)]


async def test_the_vote_of_a_token_that_was_revoked_since_does_not_count(world: World) -> None:
    """An approval by a token that is revoked before the claim counts no more, as that of a revoked person."""
    lose(world, {"approvers": ("token:boss",), "token_ends": {}})
    call = await world.ask(requester=CI, runs=Runs.CALLER)
    await world.press(call, who="token:boss")
    lose(world, {"token_ends": {"token:boss": NOON}})
    with pytest.raises(InvalidConfirmation) as refused:
        await world.gate.claim(call.ref, CI, CLAIM)

    told = fact(Refusal.NOT_RUN, short=call.short, how="approved", error=fact(Unfit.APPROVERS))
    assert told == refused.value.fact
