"""What every Store keeps to, whatever it keeps calls in."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from hitl.call import (
    Action,
    Bound,
    Call,
    Claim,
    Decision,
    Entry,
    Event,
    Incoming,
    KeptTurn,
    Post,
    PostKind,
    Prompt,
    PromptKind,
    Reason,
    Result,
    Risk,
    Runs,
    Sending,
    State,
    Verdict,
    Vote,
)
from hitl.credentials import Credential, Scope
from hitl.errors import Tampered
from hitl.ports import Change, Expect, KeyTakenError, ShortTakenError, Store, Unit
from hitl.proof.chain import verify
from hitl.records import replace
from hitl.testing import SetClock, a_call

if TYPE_CHECKING:
    from collections.abc import Sequence

CHAT = "telegram:-100/7"


def new(call: Call, **more: Any) -> Unit:
    """The unit that keeps a new call."""
    return Unit(None, lambda _now: Change(call=call, **more))


def move(call: Call, *, overdue: bool | None = None, **more: Any) -> Unit:
    """The unit that writes the next version of a call."""
    return Unit(Expect(call.ref, call.version - 1, overdue), lambda _now: Change(call=call, **more))


def add(**more: Any) -> Unit:
    """The unit that adds records only."""
    return Unit(None, lambda _now: Change(**more))


def entry(call: Call, event: str = "asked", **data: Any) -> Entry:
    """A line for the record."""
    return Entry(call.ref, Event(event), "local:1000", data)


def approved(call: Call, by: str = "local:1000") -> Call:
    """The call, approved."""
    return call.evolve(state=State.EXECUTING, version=call.version + 1, decision=Decision.APPROVED, decided_by=by)


async def parked(store: Store, clock: SetClock, **changes: Any) -> Call:
    """A new call, kept."""
    call = a_call(clock.now(), **changes)
    await store.commit(new(call))
    return call


async def carded(store: Store, clock: SetClock, *routes: str) -> Call:
    """A new call, kept, and its cards queued."""
    call = a_call(clock.now(), routes=routes)
    await store.commit(new(call, posts=[Post(call.ref, route, PostKind.CARD) for route in routes]))
    return call


async def edited(store: Store, call: Call, route: str = CHAT) -> None:
    """An edit of a card, queued."""
    await store.commit(add(posts=[Post(call.ref, route, PostKind.EDIT)]))


async def standing(store: Store, clock: SetClock) -> Call:
    """A new call whose card stands on a chat."""
    call = await carded(store, clock, CHAT)
    await store.sent((await store.sendings(lease_s=30))[0], "m1")
    return call


def refs(calls: Sequence[Call]) -> list[str]:
    """The refs of calls."""
    return [call.ref for call in calls]


def posts(sendings: Sequence[Sending]) -> list[tuple[str, PostKind]]:
    """Where what is sent."""
    return [(sending.post.route, sending.post.kind) for sending in sendings]


class TestCalls:
    """Calls are kept as they are, and found."""

    async def test_a_call_comes_back_as_it_was_kept(self, store: Store, clock: SetClock) -> None:
        """Every field, also text of other scripts, microseconds and empty values, comes back equal."""
        call = a_call(
            clock.now(),
            args='{"path":"Müller \\"✅\\" 日本 \U0001f680.txt"}'.encode(),
            cwd="/srv/a b",
            preconditions=(("base:notes.txt", "ab" * 32), ("base:ü", "")),
            preview="-a\n+b\n\tc\x00",
            notes=("not confined", 'a "quoted" one'),
            note="é",
            session="s",
            runs=Runs.CALLER,
            key="k-1",
            previous="018f0000-0000-7000-8000-000000000000",
            verdict=Verdict(
                Action.APPROVE,
                Risk.CRITICAL,
                None,
                Reason.FALLBACK,
                "",
                "q" * 64,
                7,
                9,
                ("slack:T/U",),
                exclude_requester=True,
                require_reason=True,
                message="say \\ so",
                programs=("rm", "git"),
            ),
            approvers=(),
            routes=(CHAT, "slack:T/C"),
        )

        await store.commit(new(call))

        assert call == await store.get(call.ref)

    async def test_every_field_that_changes_comes_back(self, store: Store, clock: SetClock) -> None:
        """A swap writes all that may change in a call's life."""
        call, later = await parked(store, clock), clock.now() + timedelta(microseconds=1)
        moved = call.evolve(
            state=State.ERROR,
            version=2,
            decision=Decision.APPROVED,
            decided_at=later,
            decided_by="telegram:42",
            reason="go on",
            decision_mac="k:1",
            claim=Claim("service", "h" * 64, later),
            result=Result.TIMED_OUT,
            output="half",
            error="too slow",
            finished_at=later,
            due_at=None,
            archived=True,
        )

        await store.commit(move(moved))

        assert moved == await store.get(call.ref)

    async def test_verdicts_without_approvers_stay_apart_from_those_with_none(
        self, store: Store, clock: SetClock
    ) -> None:
        """None means that another list applies, an empty list means nobody; neither becomes the other."""
        verdicts = [
            Verdict(Action.APPROVE, Risk.LOW, "r", Reason.MATCHED_RULE, "", "p" * 64, approvers=each)
            for each in (None, ())
        ]
        calls = [await parked(store, clock, verdict=verdict) for verdict in verdicts]

        kept = [await store.get(call.ref) for call in calls]

        assert verdicts == [call.verdict for call in kept if call]

    async def test_an_unknown_call_is_none(self, store: Store) -> None:
        """Nothing is found where nothing is."""
        assert None is await store.get("nothing")
        assert None is await store.by_short("AAAAA1")
        assert None is await store.by_key("local:1000", "k")
        assert None is await store.same_open("d", "demo")

    async def test_a_call_is_found_by_its_short_ref_and_key(self, store: Store, clock: SetClock) -> None:
        """Both name one call; the key only with its requester."""
        call = await parked(store, clock, key="k")

        assert call == await store.by_short(call.short)
        assert call == await store.by_key("local:1000", "k")
        assert None is await store.by_key("local:1001", "k")

    async def test_a_short_ref_is_given_once(self, store: Store, clock: SetClock) -> None:
        """A second call with it is refused, and nothing of its unit is kept."""
        first, second = await parked(store, clock), a_call(clock.now())
        second = second.evolve(short=first.short)

        with pytest.raises(ShortTakenError):
            await store.commit(new(second, entries=[entry(second)]))

        assert None is await store.get(second.ref)
        assert [] == await store.history(second.ref)

    async def test_an_idempotency_key_is_used_once_by_each_requester(self, store: Store, clock: SetClock) -> None:
        """The same key of another requester, and calls without one, are no collision."""
        await parked(store, clock, key="k")
        await parked(store, clock, key="k", requester="local:1001")
        await parked(store, clock)
        await parked(store, clock)

        with pytest.raises(KeyTakenError):
            await parked(store, clock, key="k")

    async def test_what_is_sealed_with_the_stores_time_is_what_is_kept(self, store: Store, clock: SetClock) -> None:
        """The unit gets the clock's time once; the answer is what it made of it."""
        times: list[datetime] = []

        def seal(now: datetime) -> Change:
            times.append(now)
            return Change(call=a_call(now))

        change = await store.commit(Unit(None, seal))

        assert [clock.now()] == times
        assert change is not None
        assert change.call is not None
        assert change.call == await store.get(change.call.ref)

    async def test_a_unit_that_raises_leaves_nothing(self, store: Store, clock: SetClock) -> None:
        """Whatever the unit raises reaches its asker, and the store goes on."""

        def broken(_now: datetime) -> Change:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await store.commit(Unit(None, broken))

        assert await store.get((await parked(store, clock)).ref)


class TestSwaps:
    """One conditional write decides who was first."""

    async def test_an_event_that_the_chain_of_a_call_names_changes_it_no_more(
        self, store: Store, clock: SetClock
    ) -> None:
        """A reply that was held or refused was handled for the call, so its event can't decide the call later."""
        call = await parked(store, clock)
        held = Entry(call.ref, Event.HELD, "ann", {"event": "telegram:1"})
        await store.commit(Unit(None, lambda _: Change(entries=(held,))))
        moved = call.evolve(version=call.version + 1)
        again = Entry(call.ref, Event.APPROVED, "ann", {"event": "telegram:1"})

        with pytest.raises(Tampered):
            await store.commit(move(moved, entries=[again]))
        assert call == await store.get(call.ref)

    @pytest.mark.parametrize(
        ("first", "again"), [("approved", "rejected"), ("claimed", "released"), ("succeeded", "failed")]
    )
    async def test_what_the_chain_of_a_call_holds_is_not_done_once_more(
        self, store: Store, clock: SetClock, first: str, again: str
    ) -> None:
        """The call is decided, claimed and ended once, whatever its row says; nothing is written then."""
        call = await parked(store, clock)
        moved = call.evolve(version=call.version + 1)
        await store.commit(move(moved, entries=[entry(call, first)]))

        with pytest.raises(Tampered):
            await store.commit(move(moved.evolve(version=moved.version + 1), entries=[entry(call, again)]))
        assert moved == await store.get(call.ref)
        assert [first] == [line.event for line in await store.history(call.ref)]

    async def test_one_of_fifty_wins(self, store: Store, clock: SetClock) -> None:
        """Fifty decide at once: one swap holds, the others are told None, and one vote and line is there."""
        call = await parked(store, clock)

        def unit(by: str) -> Unit:
            vote = Vote(call.ref, by, True, None, "terminal", None, clock.now(), "mac")  # noqa: FBT003
            return move(approved(call, by), overdue=False, votes=[vote], entries=[entry(call, "approved", by=by)])

        changes = await asyncio.gather(*(store.commit(unit(f"local:{number}")) for number in range(50)))

        won = [change for change in changes if change]
        assert 1 == len(won)
        kept = await store.get(call.ref)
        assert kept == won[0].call
        assert [won[0].votes[0]] == await store.votes(call.ref)
        assert 1 == len(await store.history(call.ref))

    async def test_a_lost_swap_writes_nothing(self, store: Store, clock: SetClock) -> None:
        """Neither the row nor anything else of the unit."""
        call = await parked(store, clock)
        await store.commit(move(approved(call)))
        await store.receive("telegram", "1", "chat", b"{}")
        prompt = Prompt(call.ref, "local:2", PromptKind.CONFIRM, clock.now())

        lost = await store.commit(
            move(
                approved(call, "local:2"),
                votes=[Vote(call.ref, "local:2", True, None, "t", None, clock.now(), "m")],  # noqa: FBT003
                entries=[entry(call)],
                posts=[Post(call.ref, CHAT, PostKind.CARD)],
                prompts=[prompt],
                handled=("telegram", "1"),
            )
        )

        assert None is lost
        assert [] == await store.votes(call.ref)
        assert [] == await store.history(call.ref)
        assert {} == await store.cards(call.ref)
        assert None is await store.prompt(call.ref, "local:2", PromptKind.CONFIRM)
        assert 1 == len(await store.incoming())

    @pytest.mark.parametrize(
        ("late_by", "in_time"), [(-0.000001, True), (0.0, False), (0.000001, False), (3600.0, False)]
    )
    async def test_time_is_up_at_the_deadline_to_the_microsecond(
        self, store: Store, clock: SetClock, late_by: float, *, in_time: bool
    ) -> None:
        """`overdue` False holds before `due_at`; True holds at and after it. The store's clock is what counts."""
        first, second = await parked(store, clock), await parked(store, clock)
        clock.advance(300 + late_by)

        before = await store.commit(move(approved(first), overdue=False))
        after = await store.commit(move(approved(second), overdue=True))

        assert (in_time, not in_time) == (before is not None, after is not None)

    async def test_a_call_with_nothing_due_passes_no_time_test(self, store: Store, clock: SetClock) -> None:
        """It is neither in time nor overdue; without a time test it moves."""
        call = await parked(store, clock, due_at=None)

        assert None is await store.commit(move(approved(call), overdue=False))
        assert None is await store.commit(move(approved(call), overdue=True))
        assert await store.commit(move(approved(call)))

    async def test_a_condition_without_a_row_guards_records(self, store: Store, clock: SetClock) -> None:
        """Records can be added on condition that the call is still as it was."""
        call = await parked(store, clock)
        held = Unit(Expect(call.ref, 1, overdue=False), lambda _now: Change(entries=[entry(call, "held")]))
        stale = Unit(Expect(call.ref, 2), lambda _now: Change(entries=[entry(call, "held")]))

        assert await store.commit(held)
        assert None is await store.commit(stale)
        assert 1 == len(await store.history(call.ref))

    async def test_a_swap_of_an_unknown_call_is_lost(self, store: Store, clock: SetClock) -> None:
        """Nothing comes into being by a swap."""
        call = a_call(clock.now())

        assert None is await store.commit(move(approved(call)))
        assert None is await store.get(call.ref)


class TestTime:
    """The time of a store never goes back."""

    async def test_a_clock_that_is_set_back_gives_no_call_more_time(self, store: Store, clock: SetClock) -> None:
        """What was overdue stays overdue, for a swap and for the list of what is due."""
        call = await parked(store, clock)
        clock.advance(300)
        await parked(store, clock)
        clock.advance(-200)

        assert refs([call]) == refs(await store.due(10))
        assert None is await store.commit(move(approved(call), overdue=False))
        assert await store.commit(move(approved(call), overdue=True))

    async def test_a_clock_that_is_set_back_never_reorders_the_record(self, store: Store, clock: SetClock) -> None:
        """A unit gets the newest time that the store knows, until the clock is past it again."""
        call, start = await parked(store, clock), clock.now()
        for moved_s in (60, -40, -1000, 990, 60):
            clock.advance(moved_s)
            await store.commit(add(entries=[entry(call)]))

        after = [(line.at - start).total_seconds() for line in await store.history(call.ref)]
        assert [60, 60, 60, 60, 70] == after
        assert clock.now() == store.clock.now()

    async def test_what_is_put_off_is_put_off_by_the_same_time(self, store: Store, clock: SetClock) -> None:
        """A lease of the outbox that was taken before the clock was set back ends when it would have."""
        await carded(store, clock, CHAT)
        await store.sendings(lease_s=30)
        clock.advance(29)
        assert [] == list(await store.sendings(lease_s=30))
        clock.advance(-1000)
        assert [] == list(await store.sendings(lease_s=30))
        clock.advance(1001)

        assert [(CHAT, PostKind.CARD)] == posts(await store.sendings(lease_s=30))


class TestLists:
    """Questions about many calls."""

    async def test_pending_is_what_waits_oldest_first(self, store: Store, clock: SetClock) -> None:
        """All, or those that one conversation asked for, not those that it only shows. Decided ones are gone."""
        calls = []
        for origin in ("terminal:1", CHAT, "terminal:1", CHAT):
            calls.append(await parked(store, clock, origin=origin))
            clock.advance(1)
        await store.commit(move(approved(calls[0])))

        assert refs(calls[1:]) == refs(await store.pending())
        assert refs(calls[1:3]) == refs(await store.pending(limit=2))
        assert refs([calls[1], calls[3]]) == refs(await store.pending(origin=CHAT))
        assert refs([calls[1]]) == refs(await store.pending(origin=CHAT, limit=1))
        assert [] == await store.pending(origin="nowhere")
        await carded(store, clock, "slack:T1/C1", CHAT)
        assert refs([calls[1], calls[3]]) == refs(await store.pending(origin=CHAT))

    async def test_cards_stand_where_calls_were_asked_where_they_go_and_above_their_thread(
        self, store: Store, clock: SetClock
    ) -> None:
        """Each call once, the oldest first; what is decided stands nowhere, and no thread is a thread of nothing."""
        asked = await parked(store, clock, origin=CHAT)
        clock.advance(1)
        sent = await carded(store, clock, "slack:T1/C1", CHAT)
        clock.advance(1)
        over = await carded(store, clock, CHAT)
        await store.commit(move(approved(over)))
        await store.adopt(sent.ref, "slack:T1/C1", "C1:5.0")

        assert refs([asked, sent]) == refs(await store.standing(CHAT))
        assert refs([asked]) == refs(await store.standing(CHAT, limit=1))
        assert refs([sent]) == refs(await store.standing("slack:T1/C1", "C1:5.0"))
        assert refs([sent]) == refs(await store.standing("slack:T1/C1/5.0", "C1:5.0"))
        assert [] == await store.standing("slack:T1/C1/6.0", "C1:6.0")

    async def test_open_calls_are_counted_up_to_the_limit(self, store: Store, clock: SetClock) -> None:
        """Those of one requester that wait, or those of one of their agents."""
        calls = [await parked(store, clock) for _ in range(3)]
        await parked(store, clock, requester="local:1001")
        await parked(store, clock, agent="second")
        await store.commit(move(approved(calls[0])))

        assert 3 == await store.count_open("local:1000", 10)
        assert [2, 1, 0] == [await store.count_open("local:1000", 10, name) for name in ("demo", "second", "")]
        assert 1 == await store.count_open("local:1000", 1)
        assert 0 == await store.count_open("local:7", 10)

    async def test_the_refs_of_all_pending_calls_are_found(self, store: Store, clock: SetClock) -> None:
        """The oldest comes first, also with another origin or requester. Calls that are over aren't found."""
        first = await parked(store, clock, origin=CHAT)
        over = await parked(store, clock, origin="local")
        other = await parked(store, clock, origin="local", requester="token:ci")
        await store.commit(move(approved(over)))

        assert [first.ref, other.ref] == list(await store.pending_refs())

    async def test_the_same_call_is_found_while_it_waits(self, store: Store, clock: SetClock) -> None:
        """By digest and agent, the oldest; not another agent's, not a decided one."""
        first = await parked(store, clock, digest="d" * 64)
        clock.advance(1)
        second = await parked(store, clock, digest="d" * 64)

        assert first == await store.same_open("d" * 64, "demo")
        assert None is await store.same_open("d" * 64, "other")
        await store.commit(move(approved(first)))
        assert second == await store.same_open("d" * 64, "demo")

    async def test_due_is_what_time_is_up_for_most_overdue_first(self, store: Store, clock: SetClock) -> None:
        """By the store's clock; the next time is the earliest of all, due or not."""
        now = clock.now()
        calls = [await parked(store, clock, due_at=now + timedelta(seconds=at)) for at in (30, 10, 20)]
        await parked(store, clock, due_at=None)

        assert now + timedelta(seconds=10) == await store.next_due()
        assert [] == await store.due(10)
        clock.advance(20)
        assert refs([calls[1], calls[2]]) == refs(await store.due(10))
        assert refs([calls[1]]) == refs(await store.due(1))

    async def test_nothing_is_due_in_an_empty_store(self, store: Store) -> None:
        """There is no next time."""
        assert None is await store.next_due()
        assert [] == await store.due(10)

    async def test_leased_is_what_runs_under_a_claim(self, store: Store, clock: SetClock) -> None:
        """Not what waits, not what nobody claimed, not what is over, not what somebody of another name claimed."""
        calls = []
        for _ in range(5):
            calls.append(await parked(store, clock))
            clock.advance(1)
        claim, other = (Claim(f"service:{place}:1", "h" * 64, clock.now()) for place in ("a", "b"))
        await store.commit(move(approved(calls[1])))
        for call in calls[2:]:
            await store.commit(move(approved(call).evolve(claim=other if call is calls[4] else claim)))
        ended = approved(calls[3]).evolve(claim=claim, version=3, state=State.COMPLETED, due_at=None)
        await store.commit(move(ended))

        assert refs([calls[2]]) == refs(await store.leased("service:a:"))
        assert refs([calls[2], calls[4]]) == refs(await store.leased("service:"))
        assert refs([calls[2]]) == refs(await store.leased("service:", limit=1))
        assert [] == await store.leased("service:a:1:")

    async def test_votes_come_oldest_first(self, store: Store, clock: SetClock) -> None:
        """Each as it was kept, also two of one person."""
        call = await parked(store, clock)
        kept = [
            Vote(call.ref, by, approve, reason, "telegram", pressed, clock.now(), "mac")
            for by, approve, reason, pressed in (
                ("telegram:2", True, None, clock.now() - timedelta(seconds=1)),
                ("telegram:1", True, None, None),
                ("telegram:2", False, "no, wait", None),
            )
        ]
        for vote in kept:
            await store.commit(add(votes=[vote]))

        assert kept == await store.votes(call.ref)

    async def test_a_prompt_is_replaced_by_the_next_of_its_kind(self, store: Store, clock: SetClock) -> None:
        """What was last left open with a person about a call; other kinds and people are apart."""
        call = await parked(store, clock)
        first = Prompt(call.ref, "local:1", PromptKind.CONFIRM, clock.now())
        second = Prompt(call.ref, "local:1", PromptKind.CONFIRM, clock.now() + timedelta(seconds=1))
        await store.commit(add(prompts=[first]))

        assert first == await store.prompt(call.ref, "local:1", PromptKind.CONFIRM)
        await store.commit(add(prompts=[second]))
        assert second == await store.prompt(call.ref, "local:1", PromptKind.CONFIRM)
        assert None is await store.prompt(call.ref, "local:1", PromptKind.VIEWED)
        assert None is await store.prompt(call.ref, "local:2", PromptKind.CONFIRM)


class TestRecord:
    """Every line is chained to the one before it."""

    async def test_a_calls_lines_make_an_unbroken_chain(self, store: Store, clock: SetClock) -> None:
        """From the first to the last, over several units and within one."""
        call = a_call(clock.now())
        await store.commit(new(call, entries=[entry(call, "asked", risk="high"), entry(call, "shown")]))
        clock.advance(1)
        await store.commit(move(approved(call), entries=[entry(call, "approved", why="ok ✅")]))

        lines = await store.history(call.ref)

        assert ["asked", "shown", "approved"] == [line.event for line in lines]
        assert [1, 2, 3] == [line.seq for line in lines]
        assert lines[0].at + timedelta(seconds=1) == lines[2].at
        assert None is verify(store.keys, lines)

    async def test_the_first_line_names_the_arguments_by_a_hash_that_tells_nothing(
        self, store: Store, clock: SetClock
    ) -> None:
        """Two calls with the same arguments have different ones, because each is salted."""
        calls = [a_call(clock.now()) for _ in range(2)]
        for call in calls:
            await store.commit(new(call, entries=[entry(call, risk="low"), entry(call, "shown")]))

        lines = [await store.history(call.ref) for call in calls]

        assert lines[0][0].data != lines[1][0].data
        assert '","risk":"low"}' == lines[0][0].data[-len('","risk":"low"}') :]
        assert '{"args_hash":"' == lines[0][0].data[: len('{"args_hash":"')]
        assert "{}" == lines[0][1].data

    async def test_each_call_and_the_service_have_a_chain_of_their_own(self, store: Store, clock: SetClock) -> None:
        """Lines for several chains in one unit go to their own."""
        call = await parked(store, clock)
        own = Entry("", Event.POLICY_LOADED, "service", {"mode": "enforce"})
        await store.commit(add(entries=[own, entry(call), Entry("", Event.POLICY_REFUSED, "service", {})]))

        assert ["policy_loaded", "policy_refused"] == [line.event for line in await store.history("")]
        assert ["asked"] == [line.event for line in await store.history(call.ref)]
        assert None is verify(store.keys, await store.history(""))

    async def test_an_unknown_call_has_no_record(self, store: Store) -> None:
        """An empty chain."""
        assert [] == await store.history("nothing")


class TestInbox:
    """Events are kept before they are decided, once, in order."""

    async def test_an_event_is_kept_once(self, store: Store, clock: SetClock) -> None:
        """By source and id; the first body stays."""
        assert await store.receive("telegram", "1", "chat", b"first")
        assert not await store.receive("telegram", "1", "chat", b"second")
        assert await store.receive("slack", "1", "chat", b"other")

        assert [
            Incoming("telegram", "1", "chat", b"first", clock.now()),
            Incoming("slack", "1", "chat", b"other", clock.now()),
        ] == await store.incoming()

    async def test_each_conversation_gives_its_oldest_only(self, store: Store) -> None:
        """The next comes when it is done; other conversations don't wait for it."""
        for number, chat in enumerate(("a", "a", "b", "a")):
            await store.receive("telegram", str(number), chat, b"{}")

        assert ["0", "2"] == [event.id for event in await store.incoming()]
        assert ["0"] == [event.id for event in await store.incoming(limit=1)]
        await store.commit(add(handled=("telegram", "0")))
        assert ["1", "2"] == [event.id for event in await store.incoming()]

    async def test_an_event_of_another_source_with_its_id_stays_open(self, store: Store) -> None:
        """Platforms number their events on their own: to handle one says nothing about another's."""
        for source in ("telegram", "slack"):
            await store.receive(source, "1", "chat", b"{}")
        await store.commit(add(handled=("telegram", "1")))

        assert ["slack"] == [event.source for event in await store.incoming()]

    async def test_an_event_is_done_in_the_deciding_commit(self, store: Store, clock: SetClock) -> None:
        """Decision and event move together; a handled event stays known."""
        call = await parked(store, clock)
        await store.receive("telegram", "1", "chat", b"{}")

        await store.commit(move(approved(call), handled=("telegram", "1")))

        assert [] == await store.incoming()
        assert not await store.receive("telegram", "1", "chat", b"{}")

    async def test_the_newest_event_of_a_source_is_told(self, store: Store) -> None:
        """Whether it was handled or not, and none of another source."""
        assert await store.newest("slack") is None
        for source, event in (("slack", "1"), ("slack", "2"), ("telegram", "3")):
            await store.receive(source, event, "chat", b"{}")
        await store.commit(add(handled=("slack", "2")))
        found = await store.newest("slack")

        assert found is not None
        assert ("slack", "2") == (found.source, found.id)

    async def test_an_event_that_keeps_failing_is_set_aside(self, store: Store) -> None:
        """After so many failures; then the next of its conversation gets its turn."""
        await store.receive("telegram", "1", "chat", b"bad")
        await store.receive("telegram", "2", "chat", b"good")

        assert False is await store.stumble("telegram", "1", "unreadable", aside_after=2)
        assert [1] == [event.failures for event in await store.incoming()]
        assert await store.stumble("telegram", "1", "unreadable", aside_after=2)
        assert ["2"] == [event.id for event in await store.incoming()]
        assert None is await store.stumble("telegram", "1", "unreadable", aside_after=2)
        assert None is await store.stumble("telegram", "9", "unknown", aside_after=1)


class TestOutbox:
    """What chats are to be told goes out in order, under lease, and is never lost."""

    async def test_a_card_goes_out_and_stands(self, store: Store, clock: SetClock) -> None:
        """Queued in the commit of the call; once sent, its message is known and nothing is left."""
        call = await carded(store, clock, CHAT, "slack:T/C")

        leased = await store.sendings(lease_s=30)

        assert [(CHAT, PostKind.CARD), ("slack:T/C", PostKind.CARD)] == posts(leased)
        assert [(0, None), (0, None)] == [(each.attempts, each.message) for each in leased]
        assert {CHAT: None, "slack:T/C": None} == await store.cards(call.ref)
        await store.sent(leased[0], "m1")
        assert {CHAT: "m1", "slack:T/C": None} == await store.cards(call.ref)
        clock.advance(31)
        assert [("slack:T/C", PostKind.CARD)] == posts(await store.sendings(lease_s=30))

    async def test_a_lease_keeps_others_away_until_it_is_over(self, store: Store, clock: SetClock) -> None:
        """Who died under lease is followed by another, who sees that it was tried."""
        await carded(store, clock, CHAT)
        assert 1 == len(await store.sendings(lease_s=30))

        clock.advance(29.999999)
        assert [] == list(await store.sendings(lease_s=30))
        clock.advance(0.000001)
        assert [1] == [each.attempts for each in await store.sendings(lease_s=30)]

    async def test_an_edit_waits_for_its_card(self, store: Store, clock: SetClock) -> None:
        """It goes out after the card does, with the card's message; other cards don't wait."""
        call = await carded(store, clock, CHAT)
        await edited(store, call)
        other = await standing_elsewhere(store, clock)
        await edited(store, other, "slack:T/C")

        first = await store.sendings(lease_s=30)

        assert [(CHAT, PostKind.CARD), ("slack:T/C", PostKind.EDIT)] == posts(first)
        assert "m9" == first[1].message
        assert [] == list(await store.sendings(lease_s=30))
        await store.sent(first[0], "m1")
        assert [(CHAT, PostKind.EDIT, "m1")] == [
            (each.post.route, each.post.kind, each.message) for each in await store.sendings(lease_s=30)
        ]

    async def test_cards_and_outcomes_go_before_refreshes(self, store: Store, clock: SetClock) -> None:
        """However many refreshes of pending calls are queued, a new card and an outcome go out first on their route."""
        old, ending = await standing(store, clock), await standing(store, clock)
        for call in (old, ending):
            await edited(store, call)
        new_card = await carded(store, clock, CHAT)
        await store.commit(move(approved(ending)))

        order = []
        while leased := await store.sendings(lease_s=30):
            order.append((leased[0].post.ref, leased[0].post.kind))
            await store.sent(leased[0], "m5")

        assert [(ending.ref, PostKind.EDIT), (new_card.ref, PostKind.CARD), (old.ref, PostKind.EDIT)] == order

    async def test_a_calm_route_gets_everything_but_refreshes(self, store: Store, clock: SetClock) -> None:
        """A refresh waits until its route isn't calm any more, and holds up no new card there."""
        call = await standing(store, clock)
        await edited(store, call)
        before = await store.sendings(lease_s=30, calm=(CHAT,))
        await carded(store, clock, CHAT)
        leased = await store.sendings(lease_s=30, calm=(CHAT,))

        assert ([], [(CHAT, PostKind.CARD)]) == (list(before), posts(leased))
        assert [(CHAT, PostKind.EDIT)] == posts(await store.sendings(lease_s=30))

    async def test_what_was_put_off_goes_out_at_once_when_its_platform_is_back(
        self, store: Store, clock: SetClock
    ) -> None:
        """What failed on that platform is due again; a lease, and what failed on another platform, stay as they are."""
        for route in (CHAT, f"{CHAT}1", "slack:T/C"):
            await carded(store, clock, route)
        leased = {sending.post.route: sending for sending in await store.sendings(lease_s=30)}
        for route in (CHAT, "slack:T/C"):
            await store.unsent(leased[route], "down", retry_s=15)
        await store.hasten(CHAT.partition(":")[0])
        again = await store.sendings(lease_s=30)

        assert [(CHAT, PostKind.CARD)] == posts(again)
        assert [1] == [sending.attempts for sending in again]

    async def test_several_edits_of_one_card_are_one(self, store: Store, clock: SetClock) -> None:
        """The one that goes out says it all."""
        call = await standing(store, clock)
        for _ in range(3):
            await edited(store, call)

        leased = await store.sendings(lease_s=30)

        assert [(CHAT, PostKind.EDIT)] == posts(leased)
        await store.sent(leased[0], "m1")
        assert [] == list(await store.sendings(lease_s=30))

    async def test_an_edit_that_comes_while_one_is_on_its_way_goes_after_it(
        self, store: Store, clock: SetClock
    ) -> None:
        """What is on its way may not say it."""
        call = await standing(store, clock)
        await edited(store, call)
        leased = await store.sendings(lease_s=30)
        await edited(store, call)

        assert [] == list(await store.sendings(lease_s=30))
        await store.sent(leased[0], "m1")
        assert [(CHAT, PostKind.EDIT)] == posts(await store.sendings(lease_s=30))

    async def test_what_failed_for_now_is_tried_again_when_it_was_put_off_to(
        self, store: Store, clock: SetClock
    ) -> None:
        """Not before; what comes after it keeps waiting."""
        call = await carded(store, clock, CHAT)
        await store.unsent((await store.sendings(lease_s=30))[0], "too many requests", retry_s=60)
        await edited(store, call)

        clock.advance(59)
        assert [] == list(await store.sendings(lease_s=30))
        clock.advance(1)
        again = await store.sendings(lease_s=30)
        assert [(CHAT, PostKind.CARD)] == posts(again)
        assert 1 == again[0].attempts

    async def test_a_card_that_failed_for_good_is_no_surface(self, store: Store, clock: SetClock) -> None:
        """It isn't listed any more, and nothing is edited there: neither what was queued nor what comes."""
        call = await carded(store, clock, CHAT, "slack:T/C")
        await edited(store, call)
        failed, fine = await store.sendings(lease_s=30)

        await store.unsent(failed, "chat not found", retry_s=None)

        assert {"slack:T/C": None} == await store.cards(call.ref)
        await edited(store, call)
        await store.sent(fine, "m2")
        clock.advance(60)
        assert [] == list(await store.sendings(lease_s=30))

    async def test_an_edit_that_failed_for_good_leaves_the_card(self, store: Store, clock: SetClock) -> None:
        """The card stands as it was; a later edit is tried."""
        call = await standing(store, clock)
        await edited(store, call)
        await store.unsent((await store.sendings(lease_s=30))[0], "message is too old", retry_s=None)

        assert {CHAT: "m1"} == await store.cards(call.ref)
        assert [] == list(await store.sendings(lease_s=30))
        await edited(store, call)
        assert [(CHAT, PostKind.EDIT)] == posts(await store.sendings(lease_s=30))

    async def test_a_route_without_a_card_has_nothing_to_edit(self, store: Store, clock: SetClock) -> None:
        """An edit for it is no row."""
        call = await parked(store, clock)
        await edited(store, call)

        assert [] == list(await store.sendings(lease_s=30))

    async def test_a_card_that_was_found_standing_is_adopted(self, store: Store, clock: SetClock) -> None:
        """Its message is known then, and it isn't posted again; also where posting had failed for good."""
        call = await carded(store, clock, CHAT, "slack:T/C")
        lost, failed = await store.sendings(lease_s=30)
        await store.unsent(failed, "timed out", retry_s=None)

        await store.adopt(call.ref, lost.post.route, "m7")
        await store.adopt(call.ref, failed.post.route, "m8")

        assert {CHAT: "m7", "slack:T/C": "m8"} == await store.cards(call.ref)
        clock.advance(60)
        assert [] == list(await store.sendings(lease_s=30))

    async def test_a_card_that_was_found_standing_stays_the_card(self, store: Store, clock: SetClock) -> None:
        """A second copy that was on its way meanwhile is told of later: it doesn't take its place."""
        call = await carded(store, clock, CHAT)
        (second,) = await store.sendings(lease_s=30)

        await store.adopt(call.ref, CHAT, "m7")
        await store.sent(second, "m8")

        assert {CHAT: "m7"} == await store.cards(call.ref)
        assert (None, (call.ref, CHAT)) == (await store.by_message("m8"), await store.by_message("m7"))

    async def test_an_answer_that_comes_after_its_lease_changes_no_other_row(
        self, store: Store, clock: SetClock
    ) -> None:
        """Its row went with whoever had it next; the row that came since is another."""
        call = await standing(store, clock)
        await edited(store, call)
        late = (await store.sendings(lease_s=30))[0]
        clock.advance(30)
        await store.sent((await store.sendings(lease_s=30))[0], "m1")
        await edited(store, call)

        await store.unsent(late, "gone", retry_s=None)
        await store.sent(late, "m1")

        assert [(CHAT, PostKind.EDIT)] == posts(await store.sendings(lease_s=30))

    async def test_a_failure_that_is_told_late_leaves_the_card_that_was_sent_since(
        self, store: Store, clock: SetClock
    ) -> None:
        """Two had it in turn; the second got it through."""
        call = await carded(store, clock, CHAT)
        late = (await store.sendings(lease_s=30))[0]
        clock.advance(30)
        await store.sent((await store.sendings(lease_s=30))[0], "m1")

        await store.unsent(late, "timed out", retry_s=None)

        assert {CHAT: "m1"} == await store.cards(call.ref)

    async def test_a_route_gets_one_at_a_time_and_none_while_it_is_busy(self, store: Store, clock: SetClock) -> None:
        """The oldest that may go out; what is put off doesn't hold up another card on its route."""
        calls = [await carded(store, clock, CHAT) for _ in range(3)]
        await carded(store, clock, "slack:T/C")

        first = await store.sendings(lease_s=30)
        assert [(calls[0].ref, CHAT)] == [(each.post.ref, each.post.route) for each in first[:1]]
        assert [(CHAT, PostKind.CARD), ("slack:T/C", PostKind.CARD)] == posts(first)
        assert [] == list(await store.sendings(lease_s=30, busy=[CHAT, "slack:T/C"]))
        await store.unsent(first[0], "too many requests", retry_s=60)
        assert [calls[1].ref] == [each.post.ref for each in await store.sendings(lease_s=30)]

    async def test_only_so_many_are_leased_at_once(self, store: Store, clock: SetClock) -> None:
        """The oldest; the rest stays for the next time."""
        await carded(store, clock, "telegram:1", "telegram:2", "telegram:3")

        assert ["telegram:1", "telegram:2"] == [each.post.route for each in await store.sendings(lease_s=30, limit=2)]
        assert ["telegram:3"] == [each.post.route for each in await store.sendings(lease_s=30, limit=2)]

    async def test_a_notice_needs_no_card(self, store: Store, clock: SetClock) -> None:
        """It goes out once, and whether it does or not leaves cards alone."""
        call = await parked(store, clock)
        for route in (CHAT, "slack:T/C"):
            await store.commit(add(posts=[Post(call.ref, route, PostKind.NOTICE)]))

        leased = await store.sendings(lease_s=30)

        assert [(CHAT, PostKind.NOTICE), ("slack:T/C", PostKind.NOTICE)] == posts(leased)
        await store.sent(leased[0], None)
        await store.unsent(leased[1], "channel is archived", retry_s=None)
        clock.advance(60)
        assert [] == list(await store.sendings(lease_s=30))
        assert {} == await store.cards(call.ref)

    async def test_a_notice_that_failed_leaves_the_card_of_its_route(self, store: Store, clock: SetClock) -> None:
        """What ends there is the notice."""
        call = await standing(store, clock)
        await store.commit(add(posts=[Post(call.ref, CHAT, PostKind.NOTICE)]))
        await store.unsent((await store.sendings(lease_s=30))[0], "gone", retry_s=None)

        assert {CHAT: "m1"} == await store.cards(call.ref)

    async def test_a_card_is_found_by_its_message(self, store: Store, clock: SetClock) -> None:
        """Sent or adopted; an unknown message is None."""
        sent, adopted = await standing(store, clock), await standing_elsewhere(store, clock)

        assert (sent.ref, CHAT) == await store.by_message("m1")
        assert (adopted.ref, "slack:T/C") == await store.by_message("m9")
        assert None is await store.by_message("m2")

    async def test_cards_are_posted_anew_where_a_conversation_was_moved(self, store: Store, clock: SetClock) -> None:
        """Those of calls that wait, also ones that had failed; others stay. The last move is known."""
        ended, live = await standing(store, clock), await standing(store, clock)
        failed, elsewhere = await carded(store, clock, CHAT), await standing_elsewhere(store, clock)
        await store.unsent((await store.sendings(lease_s=30))[0], "migrated", retry_s=None)
        await store.commit(move(approved(ended)))

        await store.move(CHAT, "telegram:-1001")

        assert {CHAT: "telegram:-1001"} == await store.moves()
        assert {CHAT: "m1"} == await store.cards(ended.ref)
        assert [{CHAT: None}, {CHAT: None}] == [await store.cards(call.ref) for call in (live, failed)]
        assert {"slack:T/C": "m9"} == await store.cards(elsewhere.ref)
        posted = [each for _ in range(3) for each in await store.sendings(lease_s=30)]
        assert [live.ref, failed.ref] == [each.post.ref for each in posted]


class TestTalks:
    """What we said last in a private conversation."""

    async def test_the_latest_is_known_until_it_is_not(self, store: Store) -> None:
        """One for each conversation, about a call or about none."""
        await store.say("telegram:1", "1:5", "a-ref")
        await store.say("telegram:2", "2:6", None)
        await store.say("telegram:3", "3:7", "a-ref")
        await store.say("telegram:1", "1:8", "another")
        await store.say("telegram:3", None, None)
        await store.say("telegram:4", None, None)

        assert {"telegram:1": ("1:8", "another"), "telegram:2": ("2:6", None)} == await store.said()


class TestBoundMessages:
    """Which call a message of ours is about."""

    async def test_the_first_binding_of_a_message_stays(self, store: Store, clock: SetClock) -> None:
        """A message is about the call that it was sent for; nothing binds it to another call later."""
        first, second = await parked(store, clock), await parked(store, clock)
        question = Bound("-1:9", first.ref, "telegram:42", "mac")
        await store.bind(question)
        await store.bind(Bound("-1:9", second.ref, "", "other"))

        assert question == await store.bound("-1:9")

    async def test_a_message_that_was_never_bound_has_no_binding(self, store: Store) -> None:
        """A card, or a message about nothing, is bound to no call."""
        assert None is await store.bound("-1:9")


class TestTurns:
    """Turns of agents, which outlive a process."""

    async def test_a_turn_is_begun_once(self, store: Store) -> None:
        """An event that is handled again begins no second turn, and changes nothing of the first."""
        first = a_turn("telegram:1", said=(("ann", "hello"),), state=b"x")

        assert await store.begin_turn(first)
        assert not await store.begin_turn(a_turn("telegram:1", text="other"))
        assert [("telegram:1", "clean up", (("ann", "hello"),), b"x")] == [
            (turn.id, turn.text, turn.said, turn.state) for turn in await store.open_turns()
        ]

    async def test_open_turns_come_in_the_order_in_which_they_were_begun(self, store: Store) -> None:
        """A turn that is done isn't among them."""
        for name in ("b", "a", "c"):
            await store.begin_turn(a_turn(name))
        await store.keep_turn(a_turn("a", done=True))

        assert ["b", "c"] == [turn.id for turn in await store.open_turns()]

    async def test_the_last_turn_of_a_conversation_is_the_newest_that_is_done(self, store: Store) -> None:
        """With what the agent kept; older ones go when the next turn begins."""
        for name in ("a", "b", "c"):
            await store.begin_turn(a_turn(name))
            await store.keep_turn(a_turn(name, state=name.encode(), done=True))
        await store.begin_turn(a_turn("d"))
        last = await store.last_turn("telegram:-1")

        assert last is not None
        assert ("c", b"c") == (last.id, last.state)
        assert None is await store.last_turn("telegram:-2")


def a_turn(name: str, *, text: str = "clean up", **more: Any) -> KeptTurn:
    """A turn in one conversation."""
    return KeptTurn(name, "telegram:-1", "telegram:42", "ann", "m1", text, **more)


async def standing_elsewhere(store: Store, clock: SetClock) -> Call:
    """A new call whose card was found standing on another chat."""
    call = await parked(store, clock)
    await store.adopt(call.ref, "slack:T/C", "m9")
    return call


async def test_pages_go_from_the_newest_call_to_the_oldest(store: Store, clock: SetClock) -> None:
    """A page holds the calls that are older than the named one: all of them, or those that wait."""
    first, second, third = [await parked(store, clock) for _ in range(3)]
    refs = sorted((first.ref, second.ref, third.ref), reverse=True)
    await store.commit(move(approved(second)))
    waiting = [ref for ref in refs if ref != second.ref]
    top = await store.page(None, 2, pending=False)
    rest = await store.page(top[-1].ref, 2, pending=False)

    assert (refs[:2], refs[2:]) == ([call.ref for call in top], [call.ref for call in rest])
    assert waiting == [call.ref for call in await store.page(None, 9, pending=True)]


class TestChanges:
    """The store tells its listeners of each durable change once, in the order of the writes."""

    async def test_a_listener_hears_of_a_change_before_its_writer_goes_on(self, store: Store, clock: SetClock) -> None:
        """It gets the change that was written: the call and the new lines of the record."""
        told: list[Change] = []
        store.follow(told.append)
        call = a_call(clock.now())

        change = await store.commit(new(call, entries=[entry(call)]))

        assert [change] == told
        assert [Change(call=call, entries=[entry(call)])] == told

    async def test_changes_are_told_in_the_order_of_their_writes(self, store: Store, clock: SetClock) -> None:
        """Also if many are written at once."""
        call, told = await parked(store, clock), list[object]()
        store.follow(lambda change: told.extend(each.data["n"] for each in change.entries))

        await asyncio.gather(*(store.commit(add(entries=[entry(call, "viewed", n=n)])) for n in range(20)))

        assert list(range(20)) == told

    async def test_what_was_not_written_is_not_told(self, store: Store, clock: SetClock) -> None:
        """Neither a lost swap nor a unit that raises is a change."""
        call, told = await parked(store, clock), list[Change]()
        await store.commit(move(approved(call)))
        store.follow(told.append)

        def broken(_now: datetime) -> Change:
            raise ZeroDivisionError

        lost = await store.commit(move(approved(call)))
        with pytest.raises(ZeroDivisionError):
            await store.commit(Unit(None, broken))

        assert (None, []) == (lost, told)

    async def test_a_change_is_told_if_its_writer_was_cancelled(self, store: Store, clock: SetClock) -> None:
        """The change is durable, although nobody waits for it any more."""
        told: list[str] = []
        call = a_call(clock.now())
        store.follow(lambda change: told.append(change.call.ref if change.call else ""))

        def seal(_now: datetime) -> Change:
            writing.cancel()
            return Change(call=call)

        async def write() -> None:
            await store.commit(Unit(None, seal))

        writing = asyncio.create_task(write())
        with pytest.raises(asyncio.CancelledError):
            await writing
        other = await parked(store, clock)

        assert [call.ref, other.ref] == told
        assert call == await store.get(call.ref)

    async def test_a_listener_that_fails_disturbs_nobody(self, store: Store, clock: SetClock) -> None:
        """The change is written, its writer gets it, and the other listeners hear of it."""
        told: list[Change] = []

        def broken(_change: Change) -> None:
            raise ZeroDivisionError

        store.follow(broken)
        store.follow(told.append)
        call = a_call(clock.now())

        assert [await store.commit(new(call))] == told
        assert call == await store.get(call.ref)

    async def test_a_listener_that_has_left_hears_nothing(self, store: Store, clock: SetClock) -> None:
        """The function that `follow` returned ends it, for this listener alone."""
        left: list[Change] = []
        stays: list[Change] = []
        leave = store.follow(left.append)
        store.follow(stays.append)
        leave()

        await parked(store, clock)

        assert (0, 1) == (len(left), len(stays))


async def test_the_whole_record_is_read_on_from_any_place(store: Store, clock: SetClock) -> None:
    """Places grow with each line, whichever chain the line is in."""
    call = await parked(store, clock)
    before = await store.last_line()
    await store.commit(add(entries=(entry(call, "viewed"), Entry("", Event.MOVED, "service", {}), entry(call, "late"))))
    lines = await store.lines_after(before, 2)
    rest = await store.lines_after(lines[-1][0], 2)

    assert ["viewed", "moved", "late"] == [line.event for _, line in (*lines, *rest)]
    assert (await store.last_line(), ()) == (rest[-1][0], tuple(await store.lines_after(rest[-1][0], 2)))


async def test_a_credential_is_kept_used_and_revoked(store: Store, clock: SetClock) -> None:
    """A name is kept once, also after its revocation; what was kept comes back as it was."""
    made = Credential(
        name="ci",
        hash="a" * 64,
        scope=Scope.AGENT,
        owner="ada",
        origins=("slack:T1/C1",),
        routes=("slack:T1/C2",),
        created_at=clock.now(),
        created_by="local:0",
        until=clock.now() + timedelta(days=1),
    )
    kept = [await store.keep_credential(made), await store.keep_credential(made)]
    (stored,) = await store.credentials()
    await store.used_credential("ci", clock.now())
    revoked = await store.revoke_credential(stored, "local:0")
    (now,) = await store.credentials()
    again = await store.keep_credential(made)

    assert ([True, False], False) == (kept, again)
    assert made == replace(stored, mac="")
    assert (clock.now(), clock.now(), clock.now()) == (now.used_at, now.revoked_at, revoked.revoked_at)


def erased(call: Call, clock: SetClock) -> Unit:
    """The unit that erases a call's arguments."""
    bare = call.evolve(args=b"{}", preview="", note="", version=call.version + 1, erased_at=clock.now(), row_mac="new")
    return Unit(Expect(call.ref, call.version), lambda _now: Change(call=bare, entries=[entry(call, "erased")]))


async def test_an_erased_call_is_stored_whole(store: Store, clock: SetClock) -> None:
    """Also the fields that never change otherwise; everything else stays."""
    call = await parked(store, clock, preview="+ two eggs", note="for the cake")
    change = await store.commit(erased(call, clock))
    found = await store.get(call.ref)

    assert change is not None
    assert change.call == found
    assert found is not None
    assert (b"{}", "", "", "new", clock.now()) == (
        found.args,
        found.preview,
        found.note,
        found.row_mac,
        found.erased_at,
    )
    assert call.sentence == found.sentence


async def test_a_call_is_not_erased_while_a_message_about_it_is_unsent(store: Store, clock: SetClock) -> None:
    """The unit's condition doesn't hold, and nothing of it is written."""
    call = await carded(store, clock, CHAT)
    refused = await store.commit(erased(call, clock))
    kept, lines = await store.get(call.ref), await store.history(call.ref)
    (sending,) = await store.sendings(lease_s=30)
    await store.sent(sending, "m1")

    assert (None, call) == (refused, kept)
    assert await store.commit(erased(call, clock)) is not None
    assert "erased" not in [line.event for line in lines]


async def test_another_version_is_not_erased(store: Store, clock: SetClock) -> None:
    """Somebody was quicker."""
    call = await parked(store, clock)
    await store.commit(move(approved(call)))

    assert await store.commit(erased(call, clock)) is None
