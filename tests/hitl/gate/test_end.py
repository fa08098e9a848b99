"""Other ways for a call to end, and what may still be said after it."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from hitl.call import Decision, PostKind, Ran, ReplyKind, Result, Runs, State, Status, Verb
from hitl.cards.card import OUTPUT_CHARS, card, outcome, outcome_for_agent
from hitl.cards.lines import in_utc, plain
from hitl.cards.wording import say, sentence
from hitl.errors import AlreadyDecided, CallUnknown, NotApprover, Tampered, TooManyPending
from hitl.gate.response import Came
from hitl.limits import Flood, Limits, timeout_of
from hitl.outcomes import Refusal, Told, Unfit, fact
from hitl.ports import Change, Unit
from hitl.proof.keyring import new_ref
from tests.hitl.world import ANN, BOB, CLAIM, NOON, OLGA, READ, ROOM, SAM, UMA, World, ask, code, reply
from tests.sentences import says


class TestWithdraw:
    """Taking back what was asked."""

    @pytest.mark.parametrize("who", [UMA, OLGA])
    async def test_by_the_requester_or_an_operator(self, world: World, who: str) -> None:
        """It is over, by whom, and nothing more is due; its cards are edited."""
        call = await world.ask()
        ended = await world.gate.withdraw(call.short, who)

        assert (State.IDLE, Status.WITHDRAWN, who, None) == (ended.state, ended.status, ended.decided_by, ended.due_at)
        assert [ROOM] == world.told(PostKind.EDIT)
        assert ("withdrawn", who) == ((await world.last(call)).event, (await world.last(call)).actor)

    @pytest.mark.parametrize("who", [ANN, SAM, "local:1000"])
    async def test_by_nobody_else(self, world: World, who: str) -> None:
        """Not by approvers either: they can say no. Who tried is on record."""
        call = await world.ask()
        with pytest.raises(NotApprover) as refused:
            await world.gate.withdraw(call.ref, who)
        line = await world.last(call)

        assert fact(Refusal.WITHDRAW, short=call.short) == refused.value.fact
        assert Status.PENDING == (await world.now(call)).status
        assert ("refused", who, "withdraw") == (line.event, line.actor, json.loads(line.data)["wanted"])
        await world.check_record()

    async def test_what_is_not_there_cannot_be(self, world: World) -> None:
        """An unknown ref is an error."""
        with pytest.raises(CallUnknown):
            await world.gate.withdraw(new_ref(NOON), UMA)


class TestSettle:
    """What the clock ends: never before its time, and never twice."""

    async def test_silence_expires(self, world: World) -> None:
        """At the deadline, not before; people and the agent are told that it was nobody's no."""
        call = await world.ask()
        world.clock.advance(300 - 1e-6)
        early = await world.gate.settle(call)
        world.clock.advance(1e-6)
        ended = await world.gate.settle(call)

        assert early is None
        assert ended is not None
        assert (State.IDLE, Status.EXPIRED, "service") == (ended.state, ended.status, ended.decided_by)
        assert say("agent.expired", short=call.short) == outcome_for_agent(ended)

    async def test_what_nobody_saw_says_so(self, world: World) -> None:
        """Where no surface ever showed the card, that is what is told."""
        call = await world.ask()
        world.clock.advance(300)
        ended = await world.gate.settle(call, unseen=True)

        assert ended is not None
        assert say("outcome.expired.unseen") == outcome(ended)

    async def test_an_approval_that_nobody_ran_lapses(self, world: World) -> None:
        """At the end of the window."""
        call = await world.ask(runs=Runs.CALLER)
        await world.press(call)
        world.clock.advance(300)
        ended = await world.gate.settle(await world.now(call))

        assert ended is not None
        assert (State.ERROR, Status.LAPSED) == (ended.state, ended.status)
        assert "lapsed" == (await world.last(call)).event

    async def test_a_lease_that_ran_out_is_unknown(self, world: World) -> None:
        """Nobody knows whether the tool ran; nothing is tried again."""
        call = await world.ask()
        await world.press(call)
        world.clock.advance(40)
        ended = await world.gate.settle(await world.now(call))

        assert ended is not None
        assert (State.ERROR, Status.UNKNOWN, None) == (ended.state, ended.status, ended.due_at)
        assert say("agent.unknown", short=call.short, how="approved") == outcome_for_agent(ended)

    async def test_what_is_over_stays_over(self, world: World) -> None:
        """Settled again, fresh or stale, nothing happens."""
        call = await world.ask()
        world.clock.advance(300)
        await world.gate.settle(call)

        assert await world.gate.settle(call) is None
        assert await world.gate.settle(await world.now(call)) is None

    async def test_a_dead_claimants_call_is_unknown_at_once(self, world: World) -> None:
        """A service that starts again knows that its predecessor's leases are lost, without waiting for their end."""
        submitted = await world.gate.submit(ask(READ))
        ended = await world.gate.orphaned(submitted.call)

        assert ended is not None
        assert Result.UNKNOWN is ended.result
        assert await world.gate.orphaned(submitted.call) is None

    async def test_what_is_due_is_found_in_order(self, world: World) -> None:
        """Deadlines, windows and leases alike, each by its own time."""
        waits = await world.ask(timeout_s=200)
        window = await world.ask(READ, runs=Runs.CALLER)
        lease = await world.ask(READ)
        world.clock.advance(301)

        assert [lease.ref, waits.ref, window.ref] == [call.ref for call in await world.store.due(10)]
        for call in await world.store.due(10):
            await world.gate.settle(call)
        assert ["unknown", "expired", "lapsed"] == [(await world.now(call)).status for call in (lease, waits, window)]


class TestUndeliverable:
    """A card that no surface could show."""

    async def test_it_ends_at_once_and_says_why(self, world: World) -> None:
        """Nobody is made to wait for an answer that can't come."""
        call = await world.ask()
        ended = await world.gate.undeliverable(call.ref, "gone")

        assert (State.IDLE, Status.UNDELIVERABLE) == (ended.state, ended.status)
        assert sentence(fact("outcome.undeliverable", why=fact(Unfit.UNSHOWN, why="gone"))) == outcome(ended)


class TestLateReason:
    """A reason that follows a rejection."""

    async def test_the_rejecter_may_add_it_for_a_minute(self, world: World) -> None:
        """It is kept, shown, and on record; the cards are edited again."""
        call = await world.ask()
        await world.press(call, verb=Verb.REJECT)
        world.clock.advance(59.9)
        answer = await world.gate.add_reason(call.ref, ANN, "wrong folder")
        stored = await world.now(call)

        assert fact(Told.REASON_ADDED, short=call.short) == answer.fact
        assert say("outcome.rejected.reason", by=ANN, reason="wrong folder") == outcome(stored)
        assert ("reason", ANN) == ((await world.last(call)).event, (await world.last(call)).actor)
        assert [ROOM] == world.told(PostKind.EDIT)

    @pytest.mark.parametrize("who", [BOB, UMA, SAM])
    async def test_nobody_else_may(self, world: World, who: str) -> None:
        """Other approvers, the requester, strangers: refused."""
        call = await world.ask()
        await world.press(call, ANN, Verb.REJECT)

        assert "HITL_001" == code(await world.gate.add_reason(call.ref, who, "because"))
        assert (await world.now(call)).reason is None

    async def test_a_reason_for_a_tampered_call_is_refused(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        """The store finds that the record isn't as it was written: the person is told, and that is on record."""
        call = await world.ask()
        await world.press(call, verb=Verb.REJECT)
        commit = world.store.commit

        async def tampered_with(unit: Unit) -> Change | None:
            if unit.expect is not None:
                raise Tampered
            return await commit(unit)

        monkeypatch.setattr(world.store, "commit", tampered_with)

        assert "TAMPERED" == code(await world.gate.add_reason(call.ref, ANN, "because"))
        assert "tampered" == (await world.last(call)).event

    async def test_after_a_minute_it_is_too_late(self, world: World) -> None:
        """Those who waited were told already."""
        call = await world.ask()
        await world.press(call, verb=Verb.REJECT)
        world.clock.advance(60 + 1e-6)

        assert "HITL_001" == code(await world.gate.add_reason(call.ref, ANN, "because"))

    async def test_after_a_minute_it_is_too_late_though_nobody_asked_for_it(self, world: World) -> None:
        """A rejection by command asks for no reason, so no wait for one ends; a reason still comes within a minute."""
        call = await world.ask()
        await world.gate.decide(reply(kind=ReplyKind.COMMAND, verb=Verb.REJECT, target=call.ref))
        world.clock.advance(60)

        assert "HITL_001" == code(await world.gate.add_reason(call.ref, ANN, "because"))
        assert (await world.now(call)).reason is None

    async def test_a_reason_is_given_once(self, world: World) -> None:
        """What was said isn't replaced; an approval has none to add."""
        said, yes = await world.ask(), await world.ask(args={})
        await world.press(said, verb=Verb.REJECT, reason="first")
        await world.press(yes)
        refused = [await world.gate.add_reason(call.ref, ANN, "second") for call in (said, yes)]

        assert ["HITL_001"] * 2 == [code(answer) for answer in refused]
        assert "first" == (await world.now(said)).reason

    async def test_to_an_unknown_call_it_is_nothing(self, world: World) -> None:
        """No call, no reason."""
        assert "CALL_UNKNOWN" == code(await world.gate.add_reason("ABC234", ANN, "because"))

    async def test_it_may_hold_any_text(self, world: World) -> None:
        """Also what UTF-8 can't carry: it is written out."""
        call = await world.ask()
        await world.press(call, verb=Verb.REJECT)

        assert Came.REJECTED is (await world.gate.add_reason(call.ref, ANN, "\ud800")).came
        assert "\\ud800" == (await world.now(call)).reason

    @pytest.mark.parametrize("blank", ["", " \n"])
    async def test_without_words_it_is_none(self, world: World, blank: str) -> None:
        """A picture in the reply field, blanks in a window: the wait goes on, and words still count."""
        call = await world.ask()
        await world.press(call, verb=Verb.REJECT)
        answer = await world.gate.add_reason(call.ref, ANN, blank)
        waits = (await world.now(call)).awaits_reason

        assert (Came.UNCLEAR, True) == (answer.came, waits)
        assert Came.REJECTED is (await world.gate.add_reason(call.ref, ANN, "wrong folder")).came

    async def test_who_pressed_is_waited_for(self, world: World) -> None:
        """The end of the wait is the next thing due; it comes once, by the store's clock, and is on record."""
        call = await world.ask()
        await world.press(call, verb=Verb.REJECT)
        asked = await world.now(call)
        world.clock.advance(60 - 1e-6)
        early = await world.gate.settle(asked)
        world.clock.advance(1e-6)
        over = await world.gate.settle(asked)
        again = await world.gate.settle(asked)

        assert (NOON + timedelta(seconds=60), True) == (asked.due_at, asked.awaits_reason)
        assert (None, None) == (early, again)
        assert over is not None
        assert ("", None, False) == (over.reason, over.due_at, over.awaits_reason)
        assert ([ROOM], []) == (world.told(PostKind.EDIT), world.told(PostKind.NOTICE))
        assert ["asked", "rejected", "no_reason"] == await world.events(call)

    async def test_an_older_database_waits_for_no_reason(self, world: World) -> None:
        """The call was rejected; nobody is asked why any more, and nothing of it is open."""
        call = await world.ask()
        await world.press(call, verb=Verb.REJECT)
        over = await world.gate.void(await world.now(call))

        assert over is not None
        assert ("", None, False) == (over.reason, over.due_at, over.awaits_reason)
        assert ["asked", "rejected", "no_reason"] == await world.events(call)

    async def test_a_reason_ends_the_wait(self, world: World) -> None:
        """Nothing is due any more."""
        call = await world.ask()
        await world.press(call, verb=Verb.REJECT)
        await world.gate.add_reason(call.ref, ANN, "wrong folder")

        assert None is (await world.now(call)).due_at is await world.store.next_due()

    async def test_who_was_not_asked_is_not_waited_for(self, world: World) -> None:
        """A no in words, by reaction, or with its reason; each can be explained for a minute all the same."""
        calls = [await world.ask(args={"path": name}) for name in "abc"]
        await world.type(f"no {calls[0].short}")
        await world.react(calls[1], "👎")
        await world.press(calls[2], verb=Verb.REJECT, reason="first")

        assert [None] * 3 == [(await world.now(call)).due_at for call in calls]
        assert Came.REJECTED is (await world.gate.add_reason(calls[0].ref, ANN, "wrong folder")).came

    @pytest.mark.parametrize("kind", [ReplyKind.BUTTON, ReplyKind.COMMAND, ReplyKind.API])
    async def test_the_no_once_more_with_its_reason_is_the_reason(self, world: World, kind: ReplyKind) -> None:
        """By any way that can carry one; the decision stays as it was."""
        call = await world.ask()
        await world.press(call, verb=Verb.REJECT)
        before = await world.now(call)
        again = reply(kind=kind, verb=Verb.REJECT, target=call.short, reason="wrong folder")
        (answer,) = await world.gate.decide(again)
        after = await world.now(call)

        assert fact(Told.REASON_ADDED, short=call.short) == answer.fact
        assert ("wrong folder", before.decided_at, before.version) == (after.reason, after.decided_at, after.version)

    async def test_without_a_reason_it_is_late(self, world: World) -> None:
        """A second press is told that it was decided already, and the wait goes on."""
        call = await world.ask()
        await world.press(call, verb=Verb.REJECT)

        assert "ALREADY_DECIDED" == code(await world.press(call, verb=Verb.REJECT))
        assert (await world.now(call)).awaits_reason


class TestTelling:
    """Who hears how it ended, beside those who see the card."""

    async def test_the_conversation_that_asked_is_told(self, world: World) -> None:
        """Of a rejection once, when its reason is known. The card there tells the rest."""
        call = await world.ask()
        parked = world.told(PostKind.NOTICE)
        await world.press(call, verb=Verb.REJECT)
        rejected = world.told(PostKind.NOTICE)
        await world.gate.add_reason(call.ref, ANN, "wrong folder")

        assert ([], [], [ROOM]) == (parked, rejected, world.told(PostKind.NOTICE))

    @pytest.mark.parametrize(("output", "told"), [("done", []), ("x" * (OUTPUT_CHARS + 1), [ROOM])])
    async def test_a_result_is_told_apart_only_if_the_card_has_no_room_for_it(
        self, world: World, output: str, told: list[str]
    ) -> None:
        """The card becomes the outcome with the output; a longer output is sent whole."""
        call = await world.ask()
        answer = await world.press(call)
        approved = world.told(PostKind.NOTICE)
        assert answer.lease is not None
        await world.gate.finish_own(answer.lease, Ran(Result.SUCCEEDED, output))

        assert ([], told) == (approved, world.told(PostKind.NOTICE))

    async def test_a_caller_tells_its_own_people(self, world: World) -> None:
        """What a caller runs is its own to report; a place that is no chat has nowhere to be told."""
        call = await world.ask(runs=Runs.CALLER)
        await world.press(call, verb=Verb.REJECT)

        assert [] == world.told(PostKind.NOTICE)


class TestLimits:
    """The numbers behind it."""

    @pytest.mark.parametrize(("policy", "wanted", "given"), [(300, None, 300), (300, 5, 5), (60, 300, 60)])
    def test_the_shorter_time_wins(self, policy: int, wanted: int | None, given: int) -> None:
        """The policy's, or the caller's if that is less."""
        assert given == timeout_of(policy, wanted)

    def test_a_flood_is_forgotten_after_its_time(self) -> None:
        """A sliding window: room comes back one by one."""
        flood = Flood(Limits(asks=2, asks_within_s=10))
        flood.admit("r", "a", NOON)
        flood.admit("r", "a", NOON + timedelta(seconds=5))
        with pytest.raises(TooManyPending) as at_9:
            flood.admit("r", "a", NOON + timedelta(seconds=9))
        flood.admit("r", "a", NOON + timedelta(seconds=10))
        with pytest.raises(TooManyPending) as at_10:
            flood.admit("r", "a", NOON + timedelta(seconds=10))

        assert fact(Refusal.FLOOD, who="a", count=2, minutes=0, wait=2) == at_9.value.fact
        assert fact(Refusal.FLOOD, who="a", count=2, minutes=0, wait=6) == at_10.value.fact

    def test_it_remembers_five_thousand_requesters_with_an_agent_each(self) -> None:
        """Beyond that the longest silent is forgotten first, so that memory has an end."""
        flood = Flood(Limits(asks=1))
        for number in range(5_001):
            flood.admit(str(number), "a", NOON)
        flood.admit("0", "a", NOON)
        with pytest.raises(TooManyPending):
            flood.admit("5000", "a", NOON)


async def test_a_claimed_call_cannot_be_withdrawn_or_undelivered(world: World) -> None:
    """Once somebody runs it, it can't be taken back."""
    call = await world.ask(READ, runs=Runs.CALLER)
    await world.gate.claim(call.ref, "cli", CLAIM)
    allowed = {"how": fact("outcome.how.allowed"), "by": say("outcome.by_policy")}
    running = fact("outcome.running.caller", until="13:00", **allowed)
    for end in (world.gate.withdraw(call.ref, UMA), world.gate.undeliverable(call.ref, "gone")):
        with pytest.raises(AlreadyDecided) as refused:
            await end
        assert sentence(fact(Refusal.DECIDED, short=call.short, outcome=running)) == refused.value.message

    assert Status.RUNNING == (await world.now(call)).status


class TestTheAskerHasLeft:
    """The program that asked is gone, so nobody would run the call."""

    async def test_a_pending_call_is_withdrawn_with_that_reason(self, world: World) -> None:
        """On the card, in the record, and for a later session of the agent."""
        call = await world.gate.withdraw((await world.ask(runs=Runs.CALLER)).ref, UMA, left=True)

        assert (Status.WITHDRAWN, str(Unfit.LEFT)) == (call.status, call.error)
        assert all(says(text, Unfit.LEFT) for text in (plain(card(call).end_why, in_utc), outcome_for_agent(call)))

    async def test_an_approved_call_that_nobody_claimed_lapses_at_once(self, world: World) -> None:
        """Whoever approved reads that nothing ran, and the call can't be claimed any more."""
        asked = await world.ask(runs=Runs.CALLER)
        await world.press(asked)
        call = await world.gate.withdraw(asked.ref, UMA, left=True)

        assert (Status.LAPSED, Decision.APPROVED, str(Unfit.LEFT)) == (call.status, call.decision, call.error)
        with pytest.raises(AlreadyDecided):
            await world.gate.claim(call.ref, "cli", CLAIM)

    @pytest.mark.parametrize("runs", Runs)
    async def test_a_call_that_runs_goes_on(self, world: World, runs: Runs) -> None:
        """Its effect may be there already; a call of the service's own never waits for a claim."""
        call = await world.ask(READ, runs=runs)
        if runs is Runs.CALLER:
            await world.gate.claim(call.ref, "cli", CLAIM)
        with pytest.raises(AlreadyDecided):
            await world.gate.withdraw(call.ref, UMA, left=True)

        assert Status.RUNNING == (await world.now(call)).status

    async def test_a_stranger_can_not_say_so(self, world: World) -> None:
        """As for any withdrawal."""
        call = await world.ask(runs=Runs.CALLER)
        with pytest.raises(NotApprover):
            await world.gate.withdraw(call.ref, BOB, left=True)

        assert Status.PENDING == (await world.now(call)).status
