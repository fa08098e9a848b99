"""Whether votes suffice: distinct people whose yes counts by now."""

from __future__ import annotations

import asyncio

import pytest

from hitl.call import Event, Status, Verb, Vote
from hitl.gate.response import Came
from hitl.gate.tally import tally
from hitl.limits import Limits
from hitl.outcomes import Told, fact
from hitl.ports import Change, adding
from hitl.records import replace
from hitl.testing import MemoryStore
from tests.hitl.world import ANN, BOB, NOON, OLGA, SAM, World, codes, directory


def person(said: Vote) -> str | None:
    """Ann and Bob count; Ann goes by a second name."""
    return {ANN: ANN, BOB: BOB, "slack:T1/ANN": ANN}.get(said.principal)


def vote(principal: str, *, approve: bool = True) -> Vote:
    """One person's answer."""
    return Vote("ref", principal, approve, None, "telegram", NOON, NOON, "mac")


@pytest.mark.parametrize(
    ("votes", "need", "complete"),
    [
        ([], 1, False),
        ([vote(ANN)], 1, True),
        ([vote(ANN, approve=False)], 1, False),
        ([vote(SAM)], 1, False),
        ([vote(ANN)], 2, False),
        ([vote(ANN), vote(ANN)], 2, False),
        ([vote(ANN), vote("slack:T1/ANN")], 2, False),
        ([vote(ANN), vote(SAM)], 2, False),
        ([vote(ANN), vote(BOB)], 2, True),
    ],
)
def test_it_takes_so_many_people_who_may_approve(votes: list[Vote], need: int, *, complete: bool) -> None:
    """Twice the same person is one, by whichever name; a no is none, and Sam's vote doesn't count by now."""
    assert complete is tally(votes, person, need).complete


def test_it_says_whose_yes_counted() -> None:
    """For the record, and for a card that waits for more."""
    assert {ANN} == tally([vote(ANN), vote(SAM), vote(BOB, approve=False)], person, 1).approved_by


@pytest.fixture
def world() -> World:
    """A gate where each call needs two."""
    return World(limits=Limits(approvals=2))


class TestInTheGate:
    """A call that two people must approve."""

    async def test_the_first_yes_leaves_it_open(self, world: World) -> None:
        """It is kept, sealed and on record, and who gave it hears how many more it takes."""
        call = await world.ask()
        answer = await world.press(call, ANN)

        assert (Came.COUNTED, fact(Told.COUNTED, short=call.short, missing=1)) == (answer.came, answer.fact)
        assert (Status.PENDING, None) == ((await world.now(call)).status, answer.lease)
        assert [ANN] == [vote.principal for vote in await world.store.votes(call.ref)]
        assert Event.VOTED == (await world.last(call)).event

    async def test_the_second_persons_yes_ends_it(self, world: World) -> None:
        """And only a second person's: the first may say it as often as they like."""
        call = await world.ask()
        for _ in range(3):
            assert Came.COUNTED is (await world.press(call, ANN)).came
        answer = await world.press(call, BOB)

        assert Came.APPROVED is answer.came
        assert answer.lease is not None

    async def test_of_two_at_the_same_time_one_ends_it(self, world: World) -> None:
        """Whoever comes second sees the vote of the first."""
        call = await world.ask()
        answers = await asyncio.gather(world.press(call, ANN), world.press(call, BOB))

        assert {Came.COUNTED, Came.APPROVED} == {answer.came for answer in answers}

    async def test_one_no_ends_it(self, world: World) -> None:
        """Whatever was voted before."""
        call = await world.ask()
        await world.press(call, ANN)

        assert Came.REJECTED is (await world.press(call, BOB, Verb.REJECT)).came

    async def test_a_vote_of_somebody_who_was_taken_off_the_list_counts_no_more(self, world: World) -> None:
        """The yes of the other then leaves it open."""
        call = await world.ask()
        await world.press(call, ANN)
        world.gate.people = directory(approvers=(BOB,))

        assert Came.COUNTED is (await world.press(call, BOB)).came

    async def test_a_vote_that_was_changed_is_no_vote(self, world: World) -> None:
        """The call can't be approved any more."""
        call = await world.ask()
        await world.press(call, ANN)
        (kept,) = await world.store.votes(call.ref)
        forged = replace(kept, principal=OLGA)
        await MemoryStore.commit(world.store, adding(Change(votes=(forged,))))

        assert ["TAMPERED"] == codes([await world.press(call, BOB)])
        assert Status.PENDING == (await world.now(call)).status
