"""What a decision does: who may make it, when, and who wins."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import timedelta
from typing import Any

import pytest

from hitl.call import Action, Decision, PostKind, ReplyKind, Risk, Runs, State, Status, Verb
from hitl.cards.card import card, outcome
from hitl.cards.wording import say, sentence
from hitl.errors import AlreadyDecided, ConfirmationExpired, NotApprover, Unavailable
from hitl.gate.response import Came
from hitl.outcomes import Refusal, Stored, Told, Unfit, fact
from hitl.people import Conversation
from hitl.proof.chain import data_of
from hitl.records import replace
from tests.hitl.world import (
    ANN,
    BOB,
    DROP,
    NOON,
    OLGA,
    ROOM,
    SAM,
    UMA,
    WRITE,
    World,
    code,
    codes,
    directory,
    reply,
)

MINUTES_5 = 300
MICROSECOND = 1e-6


class TestYes:
    """An approval, and what runs by it."""

    async def test_it_leases_the_stored_arguments(self, world: World) -> None:
        """Exactly the bytes that were sealed when it was asked, to this service, for the tool's time and a grace."""
        call = await world.ask(args={"path": "a", "b": [1, 2.5, None]})
        world.clock.advance(10)
        answer = await world.press(call)

        assert (Came.APPROVED, fact(Told.APPROVED, short=call.short)) == (answer.came, answer.fact)
        assert answer.lease is not None
        assert call.args == answer.lease.call.args
        assert call.ref == answer.lease.idempotency_key
        assert NOON + timedelta(seconds=10 + 30 + 10) == answer.lease.until

    async def test_who_and_when_are_kept_with_the_vote(self, world: World) -> None:
        """When the person pressed and when it was committed are both on record, and both policies."""
        call = await world.ask()
        world.clock.advance(7)
        await world.press(call, pressed_at=NOON + timedelta(seconds=5))
        (vote,) = await world.store.votes(call.ref)
        stored = await world.now(call)

        assert (ANN, True, "telegram") == (vote.principal, vote.approve, vote.surface)
        assert (NOON + timedelta(seconds=5), NOON + timedelta(seconds=7)) == (vote.pressed_at, vote.at)
        assert (Decision.APPROVED, ANN, vote.at) == (stored.decision, stored.decided_by, stored.decided_at)
        assert ["asked", "approved"] == await world.events(call)

    async def test_its_cards_are_edited_in_the_same_commit(self, world: World) -> None:
        """The outbox gets an edit for every place of the card."""
        call = await world.ask()
        await world.press(call)
        posts = world.store.changes[-1].posts

        assert [(ROOM, PostKind.EDIT)] == [(post.route, post.kind) for post in posts]

    async def test_a_caller_runs_its_own(self, world: World) -> None:
        """Nothing is leased to this service; the caller has its time to claim."""
        call = await world.ask(runs=Runs.CALLER)
        answer = await world.press(call)
        stored = await world.now(call)

        assert answer.lease is None
        assert (Status.APPROVED, NOON + timedelta(seconds=300)) == (stored.status, stored.due_at)


class TestNo:
    """A rejection."""

    async def test_it_is_over_and_says_why(self, world: World) -> None:
        """With a reason, if one was given; nothing runs."""
        call = await world.ask()
        answer = await world.press(call, verb=Verb.REJECT, reason="not on a Friday")
        stored = await world.now(call)

        told = fact(Told.REJECTED_WITH_REASON, short=call.short, reason="not on a Friday")
        assert (Came.REJECTED, told) == (answer.came, answer.fact)
        assert (State.IDLE, Status.REJECTED, "not on a Friday") == (stored.state, stored.status, stored.reason)
        assert (None, None) == (answer.lease, stored.due_at)

    async def test_without_a_reason(self, world: World) -> None:
        """It needs none."""
        call = await world.ask()
        answer = await world.press(call, verb=Verb.REJECT)

        assert fact(Told.REJECTED, short=call.short, reason="") == answer.fact

    async def test_the_answer_holds_nothing_live(self, world: World) -> None:
        """A reason is said back as visible, masked text; it is stored as it was given."""
        call = await world.ask()
        reason = "key ghp_abcdefghijklmnopqrstuvwxyz0123456789 \x1b[2J"
        answer = await world.press(call, verb=Verb.REJECT, reason=reason)

        assert "ghp_[masked 36]" in answer.text
        assert "\x1b" not in answer.text
        assert reason == (await world.now(call)).reason

    async def test_text_that_cannot_be_kept_is_written_out(self, world: World) -> None:
        """A lone surrogate in what somebody types breaks nothing: the no counts."""
        call = await world.ask()
        await world.press(call, verb=Verb.REJECT, reason="oh \ud800")

        assert "oh \\ud800" == (await world.now(call)).reason


class TestTime:
    """The deadline is compared inside the swap, by the store's clock; no timer runs in these tests."""

    async def test_a_microsecond_before_it_counts(self, world: World) -> None:
        """Until the deadline a yes is a yes."""
        call = await world.ask()
        world.clock.advance(MINUTES_5)
        world.clock.advance(-MICROSECOND)

        assert Came.APPROVED is (await world.press(call)).came

    @pytest.mark.parametrize("verb", [Verb.APPROVE, Verb.REJECT])
    @pytest.mark.parametrize("late_s", [0, MICROSECOND, 86400])
    async def test_at_the_deadline_it_is_over(self, world: World, verb: Verb, late_s: float) -> None:
        """At or after it nothing is decided by anybody; the call is ended there and then."""
        call = await world.ask()
        world.clock.advance(MINUTES_5)
        world.clock.advance(late_s)
        answer = await world.press(call, verb=verb, pressed_at=NOON)
        stored = await world.now(call)

        assert "CONF_EXPIRED" == code(answer)
        assert fact(Refusal.EXPIRED, short=call.short, time="12:05:00") == answer.fact
        assert (Status.EXPIRED, "service") == (stored.status, stored.decided_by)
        assert ["asked", "expired", "late"] == await world.events(call)

    async def test_pressed_in_time_but_delivered_late_is_late(self, world: World) -> None:
        """What counts is when it can be committed; when it was pressed is on record."""
        call = await world.ask()
        world.clock.advance(MINUTES_5 + 60)
        await world.press(call, pressed_at=NOON + timedelta(seconds=10))

        assert "2026-11-27T12:00:10+00:00" in (await world.last(call)).data


class TestWhoWins:
    """One decision, however many are made."""

    async def test_fifty_at_once(self) -> None:
        """Fifty people press at once, half of them no: one is told it counts, all others who was first."""
        people = tuple(f"telegram:{number}" for number in range(1000, 1050))
        world = World(approvers=people)
        call = await world.ask()
        presses = [
            world.press(call, who, Verb.REJECT if place % 2 else Verb.APPROVE) for place, who in enumerate(people)
        ]
        answers = await asyncio.gather(*presses)
        won = [answer for answer in answers if answer.error is None]
        stored = await world.now(call)
        await world.check_record()

        assert 1 == len(won)
        assert 49 == codes(answers).count("ALREADY_DECIDED")
        assert all(str(stored.decided_by) in answer.text for answer in answers if answer.error)
        assert 1 == len(await world.store.votes(call.ref))
        assert 49 == (await world.events(call)).count("late")

    async def test_two_places_race_a_withdrawal_and_the_clock(self, world: World) -> None:
        """Whatever comes together, one thing happens."""
        call = await world.ask()
        done = await asyncio.gather(
            world.press(call, ANN),
            world.press(call, BOB, Verb.REJECT),
            world.gate.withdraw(call.ref, UMA),
            world.gate.settle(call),
            return_exceptions=True,
        )
        ended = [event for event in await world.events(call) if event in {"approved", "rejected", "withdrawn"}]

        assert 1 == len(ended)
        assert 4 == len(done)

    async def test_the_second_hears_who_was_first(self, world: World) -> None:
        """With what was decided, and it is on record that they came late."""
        call = await world.ask()
        await world.press(call, ANN, Verb.REJECT, reason="no")
        answer = await world.press(call, BOB)

        rejected = fact("outcome.rejected.reason", by=ANN, reason="no")
        assert sentence(fact(Refusal.DECIDED, short=call.short, outcome=rejected)) == answer.text
        assert "late" == (await world.last(call)).event

    async def test_after_a_withdrawal(self, world: World) -> None:
        """A yes to what was withdrawn decides nothing."""
        call = await world.ask()
        await world.gate.withdraw(call.ref, UMA)
        answer = await world.press(call)

        assert "ALREADY_DECIDED" == code(answer)
        withdrawn = fact("outcome.withdrawn", by=UMA)
        assert sentence(fact(Refusal.DECIDED, short=call.short, outcome=withdrawn)) == answer.text
        assert Status.WITHDRAWN == (await world.now(call)).status


class TestWho:
    """Who may decide: the lists as stored with the call, and as they are now."""

    @pytest.mark.parametrize("verb", Verb)
    async def test_a_stranger(self, world: World, verb: Verb) -> None:
        """Nobody who isn't listed decides, or sees the details; the refusal says nothing of the call."""
        call = await world.ask(DROP, args={"path": "secret-plan"})
        answer = await world.press(call, SAM, verb)

        assert "NOT_APPROVER" == code(answer)
        assert "secret-plan" not in answer.text
        assert ("refused", SAM) == ((await world.last(call)).event, (await world.last(call)).actor)
        assert Status.PENDING == (await world.now(call)).status

    async def test_a_program_cannot_fill_the_record_with_refusals(self, world: World) -> None:
        """Of one person's refused attempts on a call, one a minute is recorded, with the number of the others."""
        call = await world.ask(WRITE)
        for _ in range(5):
            assert Came.REFUSED is (await world.press(call, SAM)).came
        with contextlib.suppress(NotApprover):
            await world.gate.withdraw(call.ref, SAM)
        with contextlib.suppress(NotApprover):
            await world.gate.withdraw(call.ref, SAM)
        world.clock.advance(60)
        await world.press(call, SAM)

        assert ["asked", "refused", "refused", "refused"] == await world.events(call)
        assert 4 == data_of((await world.last(call)).data)["unrecorded"]

    async def test_each_refusal_in_a_chat_is_on_record(self, world: World) -> None:
        """Its line says that the event of the chat was handled, so none is left out."""
        call = await world.ask(WRITE)
        for number in range(3):
            await world.press(call, SAM, event=("telegram", str(number)))

        assert 3 == (await world.events(call)).count("refused")

    @pytest.mark.parametrize("verb", Verb)
    async def test_a_listed_one_from_another_conversation(self, world: World, verb: Verb) -> None:
        """A card is decided where it stands; a ref that was carried elsewhere decides nothing."""
        call = await world.ask()
        answer = await world.press(call, ANN, verb, conversation="telegram:-999")

        assert "NOT_APPROVER" == code(answer)
        assert fact(Refusal.PLACE, short=call.short) == answer.fact
        assert "refused" == (await world.last(call)).event

    @pytest.mark.parametrize("surface", ["socket", "http"])
    async def test_a_list_of_all_calls_is_everywhere(self, surface: str) -> None:
        """The pending list shows every call, wherever its cards stand."""
        world = World(approvers=(OLGA,))
        call = await world.ask()
        (answer,) = await world.gate.decide(
            reply(OLGA, kind=ReplyKind.API, verb=Verb.APPROVE, target=call.short, surface=surface, conversation="")
        )

        assert Came.APPROVED is answer.came

    async def test_the_requesters_own_yes(self) -> None:
        """Refused unless the conversation allows it; a requester on the list may always say no."""
        world = World(approvers=(UMA, ANN))
        one, other = await world.ask(), await world.ask()
        refused = await world.press(one, UMA)
        rejected = await world.press(other, UMA, Verb.REJECT)

        assert fact(Refusal.OWN, short=one.short) == refused.fact
        assert ("NOT_APPROVER", Came.REJECTED) == (code(refused), rejected.came)

    @pytest.mark.parametrize(("tool", "came"), [(WRITE, Came.APPROVED), (DROP, Came.REFUSED)])
    async def test_ones_own_up_to_the_limit(self, tool: str, came: Came) -> None:
        """With the conversation's limit at medium, a medium call passes and a high one doesn't."""
        own = Conversation(ROOM, self_approval=Risk.MEDIUM)
        world = World(approvers=(UMA, ANN), conversations={ROOM: own})
        call = await world.ask(tool)

        assert came is (await world.press(call, UMA)).came

    async def test_as_stored_and_still_listed(self, world: World) -> None:
        """Who came onto the list later may not decide an earlier call; who left it may not any more."""
        call = await world.ask()
        world.gate.people = World(approvers=(BOB, SAM)).gate.people

        assert "NOT_APPROVER" == code(await world.press(call, SAM))
        assert "NOT_APPROVER" == code(await world.press(call, ANN))
        assert Came.APPROVED is (await world.press(call, BOB)).came

    async def test_the_rules_list_wins(self, world: World) -> None:
        """Where the rule names approvers, the installation's are strangers."""
        world.rules.set(WRITE, approvers=(SAM,))
        call = await world.ask()

        assert "NOT_APPROVER" == code(await world.press(call, ANN))
        assert Came.APPROVED is (await world.press(call, SAM)).came

    async def test_the_rule_as_it_is_now_counts_too(self, world: World) -> None:
        """A rule that names other approvers by now: who was right to ask then may not say yes any more."""
        call = await world.ask()
        world.rules.set(WRITE, approvers=(BOB,))

        assert "NOT_APPROVER" == code(await world.press(call, ANN))
        assert Came.APPROVED is (await world.press(call, BOB)).came

    @pytest.mark.parametrize("terms", [{"risk": Risk.HIGH}, {"exclude_requester": True}])
    async def test_ones_own_by_the_stricter_rule(self, terms: dict[str, Any]) -> None:
        """A rule that counts the call higher, or shuts the requester out, by now: the own yes is refused."""
        own = Conversation(ROOM, self_approval=Risk.MEDIUM)
        world = World(approvers=(UMA, ANN), conversations={ROOM: own})
        call = await world.ask()
        world.rules.set(WRITE, **terms)

        assert "NOT_APPROVER" == code(await world.press(call, UMA))

    async def test_many_identities_are_one_person(self) -> None:
        """Ann asks in Slack and presses in Telegram: it is her own call."""
        world = World(principals={"ann": (ANN, "slack:T1/U2")}, approvers=("ann", "bob"), requesters=("ann",))
        call = await world.ask(requester="ann")

        assert "NOT_APPROVER" == code(await world.press(call, ANN))

    async def test_who_is_who_counts_as_it_is_listed_now(self) -> None:
        """Asked by an account that nobody knew to be Ann's: now that it is, it is her own call."""
        world = World(principals={"ann": (ANN,)}, approvers=("ann", "bob"))
        call = await world.ask()
        world.gate.people = directory(principals={"ann": (ANN, UMA)}, approvers=("ann", "bob"), requesters=("ann",))

        assert "NOT_APPROVER" == code(await world.press(call, ANN))
        assert Status.WITHDRAWN is (await world.gate.withdraw(call.ref, ANN)).status


class TestTarget:
    """Only the call that is named is decided."""

    @pytest.mark.parametrize(
        "target", ["ABC234", "", "not a ref", "01a21ce0-6e00-74b8-966d-9145ba23c4a1", "\ud800", None]
    )
    async def test_an_unknown_one_decides_nothing(self, world: World, target: str | None) -> None:
        """Also while just one call waits: a ref is never guessed."""
        call = await world.ask()
        (answer,) = await world.gate.decide(reply(kind=ReplyKind.BUTTON, verb=Verb.APPROVE, target=target))

        assert "CALL_UNKNOWN" == code(answer)
        assert Status.PENDING == (await world.now(call)).status

    async def test_a_short_ref_is_forgiven_its_look_alikes(self, world: World) -> None:
        """Typed in lower case, with a # before it."""
        call = await world.ask()
        (answer,) = await world.gate.decide(
            reply(kind=ReplyKind.COMMAND, verb=Verb.APPROVE, target=f"#{call.short.lower()}")
        )

        assert call.ref == getattr(answer.call, "ref", None)
        assert Came.APPROVED is answer.came

    @pytest.mark.parametrize("kind", [ReplyKind.BUTTON, ReplyKind.COMMAND, ReplyKind.API])
    async def test_a_reply_without_a_verb_is_none(self, world: World, kind: ReplyKind) -> None:
        """What names a call and says nothing decides nothing."""
        call = await world.ask()
        (answer,) = await world.gate.decide(reply(kind=kind, target=call.ref))

        assert "HITL_001" == code(answer)
        assert Status.PENDING == (await world.now(call)).status


class TestPolicyNow:
    """For a yes the policy is judged again."""

    async def test_a_denial_by_now_wins(self, world: World) -> None:
        """The call ends as denied, with today's reason, and whose yes met it is on record."""
        call = await world.ask()
        world.rules.set(WRITE, action=Action.DENY, why="Frozen for the release.")
        answer = await world.press(call)
        stored = await world.now(call)

        assert "CALL_DENIED" == code(answer)
        assert (Status.DENIED, "Frozen for the release.") == (stored.status, stored.reason)
        assert say("outcome.denied", why="Frozen for the release") == outcome(stored)
        assert fact(Refusal.DENIED_NOW, short=call.short, why=Stored("Frozen for the release")) == answer.fact
        assert ANN in (await world.last(call)).data

    async def test_a_no_needs_no_policy(self, world: World) -> None:
        """Whatever the policy says or fails to say, a no is a no."""
        one, other = await world.ask(), await world.ask(args={})
        world.rules.set(WRITE, action=Action.DENY)
        await world.press(one, verb=Verb.REJECT)
        world.rules.broken = True
        await world.press(other, verb=Verb.REJECT)

        assert [Status.REJECTED] * 2 == [(await world.now(call)).status for call in (one, other)]

    async def test_an_error_refuses_the_vote_and_leaves_it_open(self, world: World) -> None:
        """Nothing is decided while the policy can't be evaluated; once it can, the same press works."""
        call = await world.ask()
        world.rules.broken = True
        answer = await world.press(call)

        assert "POLICY_INVALID" == code(answer)
        assert fact(Refusal.POLICY, short=call.short, why="line 3 makes no sense") == answer.fact
        assert "refused" == (await world.last(call)).event
        world.rules.broken = False
        assert Came.APPROVED is (await world.press(call)).came

    async def test_a_stricter_one_asks_again(self, world: World) -> None:
        """Counted higher by now: the first yes is told so, a second thought of the same person counts."""
        call = await world.ask()
        world.rules.set(WRITE, risk=Risk.HIGH)
        first = await world.press(call)
        world.clock.advance(5)
        second = await world.press(call)

        assert (Came.CONFIRM, Came.APPROVED) == (first.came, second.came)
        assert fact(Told.CONFIRM_RAISED, short=call.short, how="", risk=Risk.HIGH) == first.fact

    async def test_a_milder_one_changes_nothing(self, world: World) -> None:
        """The terms on which people were asked stand."""
        call = await world.ask(DROP)
        world.rules.set(DROP, risk=Risk.LOW, action=Action.ALLOW)

        assert Came.APPROVED is (await world.press(call)).came
        assert Risk.HIGH is (await world.now(call)).verdict.risk

    async def test_critical_by_now_takes_no_reaction(self, world: World) -> None:
        """The rules for critical calls hold for what is critical by now, too."""
        call = await world.ask()
        world.rules.set(WRITE, risk=Risk.CRITICAL)
        for _ in range(2):
            answer = await world.react(call, "👍")
            world.clock.advance(5)

        assert Came.UNCLEAR is answer.came
        assert Status.PENDING == (await world.now(call)).status

    @pytest.mark.parametrize("when", ["as asked", "by now"])
    async def test_a_reason_may_be_required(self, world: World, when: str) -> None:
        """If the rule requires a reason now, or required one at the time of asking, an approval needs it."""
        world.rules.set(WRITE, require_reason=when == "as asked")
        call = await world.ask()
        world.rules.set(WRITE, require_reason=when == "by now")
        bare = await world.press(call)

        assert (Came.REASON_NEEDED, "held") == (bare.came, (await world.last(call)).event)
        assert Status.PENDING == (await world.now(call)).status
        assert Came.APPROVED is (await world.press(call, reason="the release needs it")).came
        assert "the release needs it" == (await world.now(call)).reason


class TestDetails:
    """What the card can't show whole."""

    async def test_they_are_opened_by_those_who_may_decide(self, world: World) -> None:
        """The whole call, on record."""
        call = await world.ask()
        answer = await world.press(call, verb=Verb.DETAILS)

        assert Came.DETAILS is answer.came
        assert '"path": "notes.txt"' in answer.text
        assert ("viewed", ANN) == ((await world.last(call)).event, (await world.last(call)).actor)

    async def test_a_cut_dangerous_call_needs_them_first(self, world: World) -> None:
        """Who hasn't opened them can't say yes, whoever else has; a no is free."""
        call = await world.ask(DROP, args={"path": "x" * 5000})
        early = await world.press(call, ANN)
        await world.press(call, ANN, Verb.DETAILS)

        assert (Came.DETAILS_NEEDED, "viewed") == (early.came, (await world.last(call)).event)
        assert Came.DETAILS_NEEDED is (await world.press(call, BOB)).came
        assert Came.APPROVED is (await world.press(call, ANN)).came

    async def test_a_harmless_cut_call_does_not(self, world: World) -> None:
        """Below high the card says that it is cut, and a yes counts."""
        call = await world.ask(WRITE, args={"path": "x" * 5000})

        assert card(call).left_out
        assert Came.APPROVED is (await world.press(call)).came

    async def test_what_is_cut_out_of_a_name_counts_too(self, world: World) -> None:
        """Arguments hidden in an endless name are no way around it."""
        call = await world.ask(DROP, args={"n" * 5000: 1})

        assert Came.DETAILS_NEEDED is (await world.press(call)).came

    async def test_to_peek_is_not_to_have_seen(self, world: World) -> None:
        """The same text, for those who may; it counts for nothing until it was shown, and is refused to others."""
        call = await world.ask(DROP, args={"path": "x" * 5000})
        asked = reply(ANN, kind=ReplyKind.BUTTON, verb=Verb.DETAILS, target=call.ref)
        answer, others = await world.gate.peek(asked), await world.gate.peek(replace(asked, identity=SAM))
        unknown = await world.gate.peek(replace(asked, target="ABC234"))

        assert [Came.DETAILS, Came.REFUSED, Came.REFUSED] == [answer.came, others.came, unknown.came]
        assert "x" * 5000 in answer.text
        assert Came.DETAILS_NEEDED is (await world.press(call, ANN)).came

    async def test_of_an_ended_call(self, world: World) -> None:
        """They can still be read, and nothing is recorded of it."""
        call = await world.ask()
        await world.press(call, verb=Verb.REJECT)
        before = await world.events(call)
        answer = await world.press(call, verb=Verb.DETAILS)

        assert (Came.DETAILS, before) == (answer.came, await world.events(call))


class TestCritical:
    """Critical calls ask twice, by name, of one person."""

    async def test_a_button_counts_the_second_time(self, world: World) -> None:
        """Within a minute, but not at once."""
        call = await world.ask("wipe")
        first = await world.press(call)
        world.clock.advance(1)
        second = await world.press(call)

        assert (Came.CONFIRM, Came.APPROVED) == (first.came, second.came)
        assert fact(Told.CONFIRM, short=call.short, how="", risk=None) == first.fact
        assert ["asked", "confirm", "approved"] == await world.events(call)

    async def test_too_quick_is_no_second_thought(self, world: World) -> None:
        """A double click decides nothing, and doesn't start the minute anew."""
        call = await world.ask("wipe")
        await world.press(call)
        world.clock.advance(0.999999)
        quick = await world.press(call)
        world.clock.advance(59)

        assert fact(Told.CONFIRM_SOON, short=call.short, how="") == quick.fact
        assert "held" == (await world.last(call)).event
        assert Came.APPROVED is (await world.press(call)).came

    async def test_after_a_minute_it_begins_again(self, world: World) -> None:
        """A press 60 seconds later counts, one later than that is a first one."""
        one, other = await world.ask("wipe"), await world.ask("wipe", args={})
        await world.press(one)
        await world.press(other)
        world.clock.advance(60)
        at_60 = await world.press(one)
        world.clock.advance(MICROSECOND)
        after = await world.press(other)
        world.clock.advance(2)

        assert [Came.APPROVED, Came.CONFIRM] == [at_60.came, after.came]
        assert Came.APPROVED is (await world.press(other)).came

    async def test_somebody_elses_second_press_does_not_count(self, world: World) -> None:
        """Two people who each press once have not thought twice."""
        call = await world.ask("wipe")
        await world.press(call, ANN)
        world.clock.advance(5)

        assert Came.CONFIRM is (await world.press(call, BOB)).came
        assert Status.PENDING == (await world.now(call)).status

    async def test_a_no_needs_no_second_one(self, world: World) -> None:
        """Stopping is always quick."""
        call = await world.ask("wipe")

        assert Came.REJECTED is (await world.press(call, verb=Verb.REJECT)).came

    @pytest.mark.parametrize("emoji", ["👍", "👎", "✅"])
    async def test_never_by_a_reaction(self, world: World, emoji: str) -> None:
        """An emoji decides nothing, and it is on record that somebody tried."""
        call = await world.ask("wipe")
        answer = await world.react(call, emoji)

        assert fact(Told.NO_REACTION, short=call.short) == answer.fact
        assert ("held", Status.PENDING) == ((await world.last(call)).event, (await world.now(call)).status)

    @pytest.mark.parametrize("text", ["yes", "no"])
    async def test_text_must_name_it(self, world: World, text: str) -> None:
        """Also as a reply to the card itself."""
        call = await world.ask("wipe")
        answer = await world.type(text, target=call.ref)

        assert fact(Told.NAME_IT, short=call.short) == answer.fact
        assert ("held", Status.PENDING) == ((await world.last(call)).event, (await world.now(call)).status)

    async def test_text_that_names_it_counts(self, world: World) -> None:
        """Typing the ref is the second thought."""
        call = await world.ask("wipe")

        assert Came.APPROVED is (await world.type(f"yes {call.short}")).came

    async def test_a_command_names_it(self, world: World) -> None:
        """A command is typed with its ref, so it counts at once."""
        call = await world.ask("wipe")
        (answer,) = await world.gate.decide(reply(kind=ReplyKind.COMMAND, verb=Verb.APPROVE, target=call.short))

        assert Came.APPROVED is answer.came

    async def test_a_stranger_is_not_told_that_it_is_critical(self, world: World) -> None:
        """Refused as for any other call."""
        call = await world.ask("wipe")

        assert ["NOT_APPROVER"] * 3 == codes(
            [
                await world.react(call, "👍", SAM),
                await world.type("yes", SAM, target=call.ref),
                await world.press(call, SAM),
            ]
        )

    async def test_a_program_must_say_that_it_means_it(self) -> None:
        """Over the socket the second decision carries the confirmation; repeating the first doesn't do."""
        world = World(approvers=(OLGA,))
        call = await world.ask("wipe")

        async def decide(**more: Any) -> Any:
            """What comes of a decision by a program."""
            said = {"kind": ReplyKind.API, "verb": Verb.APPROVE, "target": call.ref, "surface": "socket"}
            return (await world.gate.decide(reply(OLGA, **(said | more))))[0]

        hasty = await decide(confirmed=True)
        world.clock.advance(5)
        bare = await decide()
        world.clock.advance(5)
        meant = await decide(confirmed=True)

        assert [Came.CONFIRM, Came.CONFIRM, Came.APPROVED] == [a.came for a in (hasty, bare, meant)]
        how = fact(Told.CONFIRM_BY_API, short=call.short)
        assert fact(Told.CONFIRM, short=call.short, how=how, risk=None) == bare.fact


class TestUnfitByNow:
    """A yes to what may not run any more: on record as a yes, but nothing runs."""

    async def test_a_changed_precondition(self, world: World) -> None:
        """The file that was shown is another by now: refused in the same commit, and the approver hears why."""
        world.executor.facts = {"base:notes.txt": "1"}
        call = await world.ask()
        world.executor.facts = {"base:notes.txt": "2"}
        answer = await world.press(call)
        stored = await world.now(call)

        assert (Came.APPROVED, None) == (answer.came, answer.lease)
        changed = fact(Unfit.CHANGED, why="base:notes.txt changed")
        assert fact(Told.NOT_RUN, short=call.short, error=changed) == answer.fact
        assert (State.ERROR, Status.REFUSED) == (stored.state, stored.status)
        assert ["asked", "approved", "refused"] == await world.events(call)

    async def test_keys_that_others_may_know(self, world: World) -> None:
        """While the state is open to other users nothing runs and nothing is asked, and both are told why."""
        call = await world.ask()
        world.gate.exposed = lambda: "the keys are open"
        answer = await world.press(call)

        open_keys = fact(Unfit.EXPOSED, why="the keys are open")
        assert answer.lease is None
        assert fact(Told.NOT_RUN, short=call.short, error=open_keys) == answer.fact
        assert Status.REFUSED == (await world.now(call)).status
        with pytest.raises(Unavailable):
            await world.ask()

    @pytest.mark.parametrize("change", ["gone", "another definition"])
    async def test_a_changed_tool(self, world: World, change: str) -> None:
        """Taken off the list, or not the tool that was shown: refused."""
        call = await world.ask()
        info = world.executor.tools.pop(("files", WRITE))
        if change == "another definition":
            world.executor.tools["files", WRITE] = type(info)("local", "new")
        answer = await world.press(call)

        assert answer.lease is None
        assert fact(Told.NOT_RUN, short=call.short, error=fact(Unfit.TOOL)) == answer.fact
        assert Status.REFUSED == (await world.now(call)).status


async def test_errors_say_whose_fault_it_is(world: World) -> None:
    """Asked by a program, the same refusals are errors with a code and an HTTP status."""
    call = await world.ask()
    with pytest.raises(NotApprover) as stranger:
        await world.gate.withdraw(call.ref, SAM)
    world.clock.advance(MINUTES_5)
    with pytest.raises(ConfirmationExpired) as late:
        await world.gate.withdraw(call.ref, UMA)
    with pytest.raises(ConfirmationExpired):
        await world.gate.undeliverable(call.ref, "gone")
    done = await world.ask(args={})
    await world.press(done)
    with pytest.raises(AlreadyDecided) as decided:
        await world.gate.withdraw(done.ref, UMA)

    assert [403, 410, 409] == [error.value.status for error in (stranger, late, decided)]
