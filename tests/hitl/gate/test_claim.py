"""The one permission to run: who gets it, once, and what must still be true."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from hitl.call import Action, Call, Decision, Event, PostKind, Ran, Result, Runs, State, Status
from hitl.cards.wording import sentence
from hitl.errors import (
    AlreadyDecided,
    CallUnknown,
    IllegalTransition,
    InvalidConfirmation,
    NotApprover,
    StillPending,
    Tampered,
)
from hitl.gate import secret_hash
from hitl.gate.context import Claimant
from hitl.outcomes import Fact, Refusal, Stored, Unfit, fact
from hitl.ports import Change, Unit
from hitl.proof.keyring import new_ref
from hitl.records import replace
from hitl.testing import MemoryStore
from tests.hitl.world import ANN, BOB, CLAIM, NOON, READ, ROOM, SECRET, UMA, WRITE, World, code, directory

OTHER = secret_hash("another secret")
WINDOW_S = 300
RAN = Ran(Result.SUCCEEDED, "done")


async def approved(world: World, **changes: Any) -> Call:
    """A call that its caller may run now."""
    call = await world.ask(runs=Runs.CALLER, **changes)
    await world.press(call)
    return await world.now(call)


def not_run(call: Call, why: Fact) -> Fact:
    """What the claimant of an approved call is told if the call may not run."""
    return fact(Refusal.NOT_RUN, short=call.short, how="approved", error=why)


class TestClaim:
    """Claiming an approved call."""

    async def test_it_gives_the_stored_arguments_and_an_end(self, world: World) -> None:
        """The lease is on what was approved, and ends an hour and a grace later."""
        call = await approved(world, args={"path": "a"})
        lease = await world.gate.claim(call.short, "cli", CLAIM)

        assert (call.args, "cli") == (lease.call.args, lease.owner)
        assert NOON + timedelta(seconds=3600 + 10) == lease.until == lease.call.due_at
        assert Status.RUNNING == lease.call.status
        assert "claimed" == (await world.last(call)).event

    async def test_the_same_claimant_gets_the_same_again(self, world: World) -> None:
        """An answer that was lost on its way can be asked for again, with the same secret."""
        call = await approved(world)
        one = await world.gate.claim(call.ref, "cli", CLAIM)
        world.clock.advance(30)
        again = await world.gate.claim(call.ref, "cli", CLAIM)

        assert one == again
        assert 1 == (await world.events(call)).count("claimed")

    @pytest.mark.parametrize("put_off", [False, True])
    async def test_a_lease_that_is_over_is_given_to_nobody_again(self, world: World, *, put_off: bool) -> None:
        """The claimant may have run the call before a crash. From the end of the lease on, it gets no permission again,
        even if no timer has ended the call, or if somebody put off the stored time at which it is due.
        """
        call = await approved(world)
        lease = await world.gate.claim(call.ref, "cli", CLAIM)
        if put_off:
            await world.forge(call, due_at=lease.until + timedelta(days=1))
        world.clock.advance((lease.until - NOON).total_seconds())
        with pytest.raises(AlreadyDecided):
            await world.gate.claim(call.ref, "cli", CLAIM)

        assert (Status.RUNNING if put_off else Status.UNKNOWN) == (await world.now(call)).status
        assert 1 == (await world.events(call)).count("claimed")

    @pytest.mark.parametrize(("owner", "secret"), [("cli", OTHER), ("other", CLAIM)])
    async def test_another_claimant_is_refused(self, world: World, owner: str, secret: str) -> None:
        """Another secret or another owner: it was handed out already."""
        call = await approved(world)
        await world.gate.claim(call.ref, "cli", CLAIM)
        with pytest.raises(AlreadyDecided) as refused:
            await world.gate.claim(call.ref, owner, secret)

        assert fact(Refusal.CLAIMED, short=call.short) == refused.value.fact

    async def test_ten_at_once_are_one(self, world: World) -> None:
        """Ten claimants that overtake each other: one lease."""
        call = await approved(world)
        claims = (world.gate.claim(call.ref, f"cli {n}", secret_hash(str(n))) for n in range(10))
        done = await asyncio.gather(*claims, return_exceptions=True)

        assert 9 == sum(isinstance(one, AlreadyDecided) for one in done)
        assert 1 == (await world.events(call)).count("claimed")

    async def test_what_the_service_runs_is_not_to_be_had(self, world: World) -> None:
        """Its lease was taken with the decision."""
        call = await world.ask()
        await world.press(call)
        with pytest.raises(AlreadyDecided):
            await world.gate.claim(call.ref, "cli", CLAIM)

    async def test_the_approval_claims_for_a_claimant_that_waits(self, world: World) -> None:
        """One commit decides and claims. The record has a line for each step, and the claimant gets its lease."""
        call = await world.ask(runs=Runs.CALLER)
        with world.gate.claimants.waiting(call, Claimant("cli", CLAIM, lambda: True)):
            answer = await world.press(call)
        now = await world.now(call)

        assert (now, None) == (answer.call, answer.lease)
        assert now.claim is not None
        assert (Status.RUNNING, "cli", CLAIM) == (now.status, now.claim.owner, now.claim.secret_hash)
        assert ["approved", "claimed"] == [entry.event for entry in world.store.changes[-1].entries]
        assert now == (await world.gate.claim(call.ref, "cli", CLAIM)).call
        assert Result.SUCCEEDED is (await world.gate.finish(call.ref, SECRET, RAN)).result
        with pytest.raises(AlreadyDecided):
            await world.gate.claim(call.ref, "cli", OTHER)

    async def test_the_approval_claims_nothing_for_a_claimant_that_left(self, world: World) -> None:
        """The connection is looked at in the commit: who left since the decision arrived gets nothing."""
        call, answers = await world.ask(runs=Runs.CALLER), [False, True]
        with world.gate.claimants.waiting(call, Claimant("cli", CLAIM, answers.pop)):
            await world.press(call)

        assert not answers
        assert (Status.APPROVED, None) == ((await world.now(call)).status, (await world.now(call)).claim)
        assert "approved" == (await world.events(call))[-1]

    async def test_a_claimant_that_waits_gets_nothing_that_is_unfit(self, world: World) -> None:
        """The commit that decides makes the same checks as a claim: here, that no other user can read the keys."""
        call = await world.ask(runs=Runs.CALLER)
        world.gate.exposed = lambda: "the keys can be read"
        with world.gate.claimants.waiting(call, Claimant("cli", CLAIM, lambda: True)):
            await world.press(call)

        assert ["approved", "refused"] == (await world.events(call))[-2:]
        assert (Result.REFUSED, None) == ((await world.now(call)).result, (await world.now(call)).claim)

    async def test_of_two_claimants_that_wait_the_first_gets_the_claim(self, world: World) -> None:
        """The second leaves without taking the first one's place."""
        call = await world.ask(runs=Runs.CALLER)
        with world.gate.claimants.waiting(call, Claimant("cli", CLAIM, lambda: True)):
            with world.gate.claimants.waiting(call, Claimant("other", OTHER, lambda: True)):
                pass
            await world.press(call)

        claim = (await world.now(call)).claim
        assert ("cli", CLAIM) == (claim and claim.owner, claim and claim.secret_hash)

    async def test_a_claimant_that_waits_never_gets_what_the_service_runs(self, world: World) -> None:
        """The service's own lease stays its own."""
        call = await world.ask()
        with world.gate.claimants.waiting(call, Claimant("cli", CLAIM, lambda: True)):
            answer = await world.press(call)

        assert answer.lease is not None
        assert world.gate.owner == answer.lease.owner

    async def test_a_claimant_that_waits_gets_nothing_at_a_rejection(self, world: World) -> None:
        """Only an approval claims."""
        call = await world.ask(runs=Runs.CALLER)
        with world.gate.claimants.waiting(call, Claimant("cli", CLAIM, lambda: True)):
            await world.type("no because I say so", target=call.ref)

        assert (Status.REJECTED, None) == ((await world.now(call)).status, (await world.now(call)).claim)

    async def test_what_waits_cannot_be_claimed(self, world: World) -> None:
        """Before a decision there is nothing to run."""
        call = await world.ask(runs=Runs.CALLER)
        with pytest.raises(StillPending) as refused:
            await world.gate.claim(call.ref, "cli", CLAIM)

        assert fact(Refusal.CLAIM, short=call.short, status="pending") == refused.value.fact
        assert Status.PENDING == (await world.now(call)).status

    async def test_what_was_rejected_cannot_be_claimed(self, world: World) -> None:
        """The error says how it ended."""
        call = await world.ask(runs=Runs.CALLER)
        await world.type("no because I say so", target=call.ref)
        with pytest.raises(AlreadyDecided) as refused:
            await world.gate.claim(call.ref, "cli", CLAIM)

        rejected = fact("outcome.rejected.reason", by=ANN, reason="I say so")
        assert sentence(fact(Refusal.DECIDED, short=call.short, outcome=rejected)) == refused.value.message

    async def test_what_is_not_there_cannot(self, world: World) -> None:
        """By any name."""
        for target in (new_ref(NOON), "ABC234", ""):
            with pytest.raises(CallUnknown):
                await world.gate.claim(target, "cli", CLAIM)

    @pytest.mark.parametrize("late_s", [0, 1e-6, 3600])
    async def test_the_window_closes(self, world: World, late_s: float) -> None:
        """From its end on nobody may claim, timers or not: approved, never ran."""
        call = await approved(world)
        world.clock.advance(WINDOW_S + late_s)
        with pytest.raises(AlreadyDecided) as refused:
            await world.gate.claim(call.ref, "cli", CLAIM)
        stored = await world.now(call)

        approval = fact("outcome.how.approved")
        lapsed = fact(Refusal.DECIDED, short=call.short, outcome=fact("outcome.lapsed", how=approval, by=ANN))
        assert sentence(lapsed) == refused.value.message
        assert (State.ERROR, Status.LAPSED, None) == (stored.state, stored.status, stored.due_at)

    async def test_the_last_microsecond_is_in_time(self, world: World) -> None:
        """The window is open until its end."""
        call = await approved(world)
        world.clock.advance(WINDOW_S - 1e-6)

        assert (await world.gate.claim(call.ref, "cli", CLAIM)).owner


class TestTampering:
    """Rows that somebody changed behind the gate run nothing, and say so."""

    @pytest.mark.parametrize(
        "changes",
        [
            {"args": b'{"path":"/etc/passwd"}'},
            {"tool": READ},
            {"digest": "e" * 64},
            {"requester": BOB},
            {"runs": Runs.SERVICE},
            {"approvers": (ANN, "telegram:666")},
            {"deadline": NOON + timedelta(days=1)},
            {"preconditions": (("base:x", "1"),)},
            {"decided_by": BOB},
            {"decided_at": NOON + timedelta(seconds=1)},
            {"decision": Decision.ALLOWED},
            {"decision_mac": None},
            {"row_mac": "k1:" + "0" * 64},
        ],
        ids=lambda changes: next(iter(changes)),
    )
    async def test_a_changed_row_is_refused(self, world: World, changes: dict[str, Any]) -> None:
        """TAMPERED, ended as refused, on record; it can't be claimed again."""
        call = await approved(world)
        await world.forge(call, **changes)
        with pytest.raises(Tampered):
            await world.gate.claim(call.ref, "cli", CLAIM)
        stored = await world.now(call)

        assert (State.ERROR, Result.REFUSED, None) == (stored.state, stored.result, stored.claim)
        assert "refused" == (await world.last(call)).event
        with pytest.raises(AlreadyDecided):
            await world.gate.claim(call.ref, "cli", CLAIM)

    async def test_a_window_that_was_put_off_is_closed(self, world: World) -> None:
        """The MAC doesn't cover `due_at`, so moving it in the database gains no time to claim."""
        call = await approved(world)
        await world.forge(call, due_at=NOON + timedelta(days=9))
        world.clock.advance(WINDOW_S + 1)
        with pytest.raises(InvalidConfirmation):
            await world.gate.claim(call.ref, "cli", CLAIM)

        assert Status.REFUSED == (await world.now(call)).status

    async def test_an_approval_that_nobody_gave(self, world: World) -> None:
        """A waiting row set to approved, without a decision of ours: nothing runs."""
        call = await world.ask(runs=Runs.CALLER)
        await world.forge(call, state=State.EXECUTING, decision=Decision.APPROVED, decided_by=ANN, decided_at=NOON)
        with pytest.raises(Tampered):
            await world.gate.claim(call.ref, "cli", CLAIM)

    async def test_a_decision_of_another_call(self, world: World) -> None:
        """A sealed approval copied onto another row is none."""
        good = await approved(world)
        call = await world.ask(runs=Runs.CALLER, args={"path": "other"})
        copied = {name: getattr(good, name) for name in ("state", "decision", "decided_by", "decided_at")}
        await world.forge(call, **copied, decision_mac=good.decision_mac)
        with pytest.raises(Tampered):
            await world.gate.claim(call.ref, "cli", CLAIM)

    async def test_a_forged_vote(self, world: World) -> None:
        """One more vote without its seal, and none of them is believed."""
        call = await approved(world)
        (vote,) = await world.store.votes(call.ref)
        forged = replace(vote, principal=BOB)
        await MemoryStore.commit(world.store, Unit(None, lambda _now: Change(votes=(forged,))))
        with pytest.raises(Tampered):
            await world.gate.claim(call.ref, "cli", CLAIM)

    @pytest.mark.parametrize(
        "changes",
        [
            {"args": b"{}"},
            {"deadline": NOON + timedelta(days=9)},
            {"due_at": NOON + timedelta(days=9)},
            {"note": "urgent"},
        ],
        ids=lambda changes: next(iter(changes)),
    )
    async def test_a_changed_waiting_row_takes_no_vote(self, world: World, changes: dict[str, Any]) -> None:
        """A press on it is refused as TAMPERED, on record, and nothing is decided or run."""
        call = await world.ask()
        await world.forge(call, **changes)
        answer = await world.press(call)

        assert ("TAMPERED", None) == (code(answer), answer.lease)
        assert "tampered" == (await world.last(call)).event
        assert [] == await world.store.votes(call.ref)


class TestUnfit:
    """What was approved may not be fit to run by the time it is claimed."""

    async def test_the_policy_denies_it_by_now(self, world: World) -> None:
        """Refused, with today's reason."""
        call = await approved(world)
        world.rules.set(WRITE, action=Action.DENY, why="Frozen.")
        with pytest.raises(InvalidConfirmation) as refused:
            await world.gate.claim(call.ref, "cli", CLAIM)

        assert not_run(call, fact(Unfit.POLICY, why=Stored("Frozen."))) == refused.value.fact
        assert Status.REFUSED == (await world.now(call)).status
        assert [ROOM] == world.told(PostKind.EDIT)

    async def test_whoever_approved_it_may_not_any_more(self, world: World) -> None:
        """A vote of somebody who was taken off the list counts no more: not approved, not run."""
        call = await approved(world)
        world.gate.people = directory(approvers=(BOB,))
        with pytest.raises(InvalidConfirmation) as refused:
            await world.gate.claim(call.ref, "cli", CLAIM)

        assert not_run(call, fact(Unfit.APPROVERS)) == refused.value.fact
        assert Status.REFUSED == (await world.now(call)).status

    async def test_the_rule_names_others_by_now(self, world: World) -> None:
        """The list of the rule in force counts, as it does for a vote."""
        call = await approved(world)
        world.rules.set(WRITE, approvers=(BOB,))
        with pytest.raises(InvalidConfirmation) as refused:
            await world.gate.claim(call.ref, "cli", CLAIM)

        assert not_run(call, fact(Unfit.APPROVERS)) == refused.value.fact

    async def test_whoever_approved_it_has_a_name_by_now(self, world: World) -> None:
        """It is the same person, whose vote counts."""
        call = await approved(world)
        world.gate.people = directory(principals={"ann": (ANN,)}, approvers=("ann",))

        assert Status.RUNNING is (await world.gate.claim(call.ref, "cli", CLAIM)).call.status

    async def test_the_policy_cannot_be_evaluated(self, world: World) -> None:
        """No policy, no run."""
        call = await approved(world)
        world.rules.broken = True
        with pytest.raises(InvalidConfirmation) as refused:
            await world.gate.claim(call.ref, "cli", CLAIM)

        assert not_run(call, fact(Unfit.POLICY_ERROR)) == refused.value.fact

    async def test_also_for_what_was_allowed(self, world: World) -> None:
        """An allowed call is judged again, too, before its caller runs it."""
        call = await world.ask(READ, runs=Runs.CALLER)
        world.rules.set(READ, action=Action.DENY)
        with pytest.raises(InvalidConfirmation):
            await world.gate.claim(call.ref, "cli", CLAIM)


class TestRelease:
    """Claim and finish in one: for a script that runs it and doesn't report."""

    async def test_it_is_released_once(self, world: World) -> None:
        """Of two who waited, one may go; the other hears that it was handed out."""
        call = await approved(world)
        done = await asyncio.gather(
            world.gate.release(call.ref, "one"), world.gate.release(call.ref, "two"), return_exceptions=True
        )
        released = [one for one in done if isinstance(one, Call)]
        refused = [one for one in done if isinstance(one, AlreadyDecided)]

        assert (1, 1) == (len(released), len(refused))
        assert (State.COMPLETED, Status.RELEASED) == (released[0].state, released[0].status)
        assert "released" == (await world.last(call)).event
        assert [ROOM] == world.told(PostKind.EDIT)

    async def test_a_lease_is_not_released_again(self, world: World) -> None:
        """What somebody claimed is theirs."""
        call = await approved(world)
        await world.gate.claim(call.ref, "cli", CLAIM)
        with pytest.raises(AlreadyDecided):
            await world.gate.release(call.ref, "script")

    async def test_nor_what_waits_or_lapsed_or_was_tampered_with(self, world: World) -> None:
        """The same conditions as for a claim."""
        waiting = await world.ask(runs=Runs.CALLER, args={"n": 1})
        tampered = await approved(world, args={"n": 2})
        await world.forge(tampered, args=b'{"n":3}')
        lapsed = await approved(world, args={"n": 4})
        with pytest.raises(StillPending):
            await world.gate.release(waiting.ref, "script")
        with pytest.raises(Tampered):
            await world.gate.release(tampered.ref, "script")
        world.clock.advance(WINDOW_S)
        with pytest.raises(AlreadyDecided):
            await world.gate.release(lapsed.ref, "script")


class TestFinish:
    """How a run ended, told once by the one who ran it."""

    async def test_a_secret_that_was_written_into_the_claim_reports_nothing(self, world: World) -> None:
        """The claim is sealed with the hash of the secret that took it; the attempt is on record."""
        call = await world.ask(runs=Runs.CALLER)
        await world.press(call)
        await world.gate.claim(call.ref, UMA, CLAIM)
        claimed = (await world.now(call)).claim
        assert claimed is not None
        await world.forge(call, claim=replace(claimed, secret_hash=secret_hash("other")))

        with pytest.raises(Tampered):
            await world.gate.finish(call.ref, "other", Ran(Result.SUCCEEDED))
        assert Event.TAMPERED == (await world.last(call)).event

    async def test_it_is_recorded_once(self, world: World) -> None:
        """The result, what it said, and no more deadline; saying the same again changes nothing."""
        call = await approved(world)
        await world.gate.claim(call.ref, "cli", CLAIM)
        ended = await world.gate.finish(call.ref, SECRET, RAN)
        again = await world.gate.finish(call.ref, SECRET, RAN)

        assert (Status.SUCCEEDED, "done", None) == (ended.status, ended.output, ended.due_at)
        assert ended == again
        assert 1 == (await world.events(call)).count("succeeded")

    async def test_another_end_is_refused(self, world: World) -> None:
        """What ended stays ended as it did."""
        call = await approved(world)
        await world.gate.claim(call.ref, "cli", CLAIM)
        await world.gate.finish(call.ref, SECRET, RAN)
        with pytest.raises(AlreadyDecided):
            await world.gate.finish(call.ref, SECRET, Ran(Result.FAILED, error="no"))

        assert Status.SUCCEEDED == (await world.now(call)).status

    @pytest.mark.parametrize("result", [Result.FAILED, Result.TIMED_OUT])
    async def test_a_failed_run_says_why(self, world: World, result: Result) -> None:
        """The error is kept, and the state is one."""
        call = await approved(world)
        await world.gate.claim(call.ref, "cli", CLAIM)
        ended = await world.gate.finish(call.ref, SECRET, Ran(result, error="exit 3"))

        assert (State.ERROR, result, "exit 3") == (ended.state, ended.result, ended.error)

    async def test_a_tool_that_never_began_was_refused(self, world: World) -> None:
        """An executor that found it can't start says so: no failure, and nothing half done."""
        call = await approved(world)
        await world.gate.claim(call.ref, "cli", CLAIM)
        ended = await world.gate.finish(call.ref, SECRET, Ran(Result.REFUSED, error="the folder is gone"))

        assert (State.ERROR, Status.REFUSED) == (ended.state, ended.status)

    @pytest.mark.parametrize("secret", ["another secret", "", CLAIM])
    async def test_only_the_claimant_may_tell(self, world: World, secret: str) -> None:
        """Another secret, none, or its hash: refused."""
        call = await approved(world)
        await world.gate.claim(call.ref, "cli", CLAIM)
        with pytest.raises(NotApprover) as refused:
            await world.gate.finish(call.ref, secret, RAN)

        assert fact(Refusal.FINISH, short=call.short) == refused.value.fact
        assert Status.RUNNING == (await world.now(call)).status

    @pytest.mark.parametrize("secret", ["", SECRET])
    async def test_what_nobody_claimed_is_nobodys_to_tell(self, world: World, secret: str) -> None:
        """Waiting, approved or released: there is no claimant."""
        waiting = await world.ask(runs=Runs.CALLER, args={"n": 1})
        open_one = await approved(world, args={"n": 2})
        released = await approved(world, args={"n": 3})
        await world.gate.release(released.ref, "script")
        for call in (waiting, open_one, released):
            with pytest.raises(NotApprover):
                await world.gate.finish(call.ref, secret, RAN)

    async def test_a_late_report_amends_what_was_not_known(self, world: World) -> None:
        """After the lease the result is unknown; the claimant's word puts it right, on record."""
        call = await approved(world)
        lease = await world.gate.claim(call.ref, "cli", CLAIM)
        world.clock.advance(3600 + 10)
        lost = await world.gate.settle(lease.call)
        amended = await world.gate.finish(call.ref, SECRET, RAN)

        assert lost is not None
        assert [Status.UNKNOWN, Status.SUCCEEDED] == [lost.status, amended.status]
        assert (State.ERROR, "done") == (amended.state, amended.output)
        assert ["unknown", "succeeded"] == (await world.events(call))[-2:]

    async def test_a_stopped_run_may_turn_out_otherwise(self, world: World) -> None:
        """`timed_out` is amended, too, once."""
        call = await approved(world)
        await world.gate.claim(call.ref, "cli", CLAIM)
        await world.gate.finish(call.ref, SECRET, Ran(Result.TIMED_OUT))
        amended = await world.gate.finish(call.ref, SECRET, Ran(Result.FAILED, error="exit 9"))
        with pytest.raises(AlreadyDecided):
            await world.gate.finish(call.ref, SECRET, RAN)

        assert Status.FAILED == amended.status

    async def test_a_report_that_knows_less_amends_nothing(self, world: World) -> None:
        """`unknown` after `timed_out` is refused as any other second report, and the record keeps what it had."""
        call = await approved(world)
        await world.gate.claim(call.ref, "cli", CLAIM)
        stopped = await world.gate.finish(call.ref, SECRET, Ran(Result.TIMED_OUT))
        with pytest.raises(AlreadyDecided):
            await world.gate.finish(call.ref, SECRET, Ran(Result.UNKNOWN))

        assert stopped == await world.now(call)

    async def test_a_lease_that_is_over_may_still_be_told(self, world: World) -> None:
        """A report that comes after the lease but before anybody looked is taken as it is."""
        call = await approved(world)
        await world.gate.claim(call.ref, "cli", CLAIM)
        world.clock.advance(3600 + 11)

        assert Status.SUCCEEDED == (await world.gate.finish(call.ref, SECRET, RAN)).status

    async def test_an_end_that_is_none_is_a_bug(self, world: World) -> None:
        """`lapsed` is nothing that a run ends with; nothing is changed."""
        call = await approved(world)
        await world.gate.claim(call.ref, "cli", CLAIM)
        with pytest.raises(IllegalTransition):
            await world.gate.finish(call.ref, SECRET, Ran(Result.LAPSED))

        assert Status.RUNNING == (await world.now(call)).status
