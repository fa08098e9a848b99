"""What becomes of a call when it is asked."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from hitl.call import Action, Decision, PostKind, Preparation, Result, Risk, Runs, State, Status, ToolInfo, Verb
from hitl.cards.card import card, outcome
from hitl.cards.wording import say, sentence
from hitl.errors import (
    CallUnknown,
    InvalidConfirmation,
    KeyConflict,
    NotApprover,
    RejectedRecently,
    TooManyPending,
)
from hitl.gate import secret_hash
from hitl.limits import Limits
from hitl.outcomes import Noted, Refusal, Unfit, fact
from hitl.people import Conversation
from hitl.proof.canonical import canonical
from tests.hitl.world import (
    ANN,
    BAN,
    CLAIM,
    DROP,
    GROUP,
    NOON,
    OLGA,
    READ,
    ROOM,
    SAM,
    SECRET,
    UMA,
    WIPE,
    WRITE,
    World,
    ask,
    verdict,
)


async def test_an_allowed_call_may_run_at_once(world: World) -> None:
    """It is leased to this service in the commit that records it, sealed for the policy that allowed it."""
    submitted = await world.gate.submit(ask(READ))
    call = submitted.call

    assert submitted.lease is not None
    assert (call, "service:test") == (submitted.lease.call, submitted.lease.owner)
    assert (State.EXECUTING, Decision.ALLOWED, f"policy:{'a' * 64}") == (call.state, call.decision, call.decided_by)
    assert NOON + timedelta(seconds=30 + 10) == submitted.lease.until == call.due_at
    assert ["asked", "allowed"] == await world.events(call)
    assert 1 == len(world.store.changes)


async def test_a_denied_call_is_kept_and_over(world: World) -> None:
    """It is on record with the reason, and nothing waits for it."""
    call = await world.ask(BAN)

    assert (State.IDLE, Status.DENIED, None) == (call.state, call.status, call.due_at)
    assert call.verdict.why == call.reason
    assert ["asked", "denied"] == await world.events(call)
    assert await world.store.next_due() is None


async def test_a_parked_call_waits_until_its_deadline(world: World) -> None:
    """It is written with who may approve, until when, its seal, and a card to post, in one commit."""
    call = await world.ask(WRITE)
    (change,) = world.store.changes

    assert (State.AWAITING, Status.PENDING) == (call.state, call.status)
    assert NOON + timedelta(minutes=5) == call.deadline == call.due_at
    assert (ANN, "telegram:3") == call.approvers
    assert [(ROOM, PostKind.CARD)] == [(post.route, post.kind) for post in change.posts]
    assert ["asked"] == [entry.event for entry in change.entries]
    assert canonical({"path": "notes.txt"}) == call.args


async def test_a_caller_that_runs_its_own_calls_claims_them_later(world: World) -> None:
    """Allowed or not, this service leases nothing: the caller has its time to claim."""
    submitted = await world.gate.submit(ask(READ, runs=Runs.CALLER))

    assert submitted.lease is None
    assert (Status.ALLOWED, NOON + timedelta(seconds=300)) == (submitted.call.status, submitted.call.due_at)
    assert f"caller:{UMA}" == submitted.call.executor
    assert "cli" == (await world.gate.claim(submitted.call.ref, "cli", CLAIM)).owner


@pytest.mark.parametrize("changes", [{"requester": SAM}, {"requester": ANN}, {"origin": "telegram:5"}])
async def test_who_is_not_listed_there_cannot_ask(changes: dict[str, Any]) -> None:
    """A stranger, an approver who is no requester, a listed one elsewhere: nothing is recorded."""
    world = World(conversations={"telegram:5": Conversation("telegram:5", requesters=())})
    with pytest.raises(NotApprover) as refused:
        await world.gate.submit(ask(**changes))

    assert fact(Refusal.REQUESTER, who=changes.get("requester", UMA)) == refused.value.fact
    assert [] == world.store.changes


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"args": {"a": ["\ud800"]}}, "/a/0"),
        ({"note": "\ud800"}, "/note"),
        ({"agent": "\udfff"}, "/agent"),
        ({"key": "k\ud800"}, "/key"),
        ({"cwd": "/\udcff"}, "/cwd"),
        ({"tool": "\ud800"}, "/tool"),
    ],
)
async def test_text_that_cannot_be_kept_is_refused(world: World, changes: dict[str, Any], place: str) -> None:
    """A lone surrogate anywhere in an ask is refused by its place, before anything is looked at."""
    with pytest.raises(InvalidConfirmation) as refused:
        await world.gate.submit(ask(**changes))

    assert say("json.surrogate", at=place) == refused.value.message
    assert [] == world.store.changes


@pytest.mark.parametrize("asked_s", [4, 0, -1, 7 * 24 * 3600 + 1])
async def test_a_timeout_out_of_range_is_refused(world: World, asked_s: int) -> None:
    """From 5 seconds to 7 days; anything else is no timeout."""
    with pytest.raises(InvalidConfirmation) as refused:
        await world.gate.submit(ask(timeout_s=asked_s))

    assert fact(Refusal.TIMEOUT, given=asked_s) == refused.value.fact


@pytest.mark.parametrize(("asked_s", "given_s"), [(None, 300), (5, 5), (300, 300), (301, 300)])
async def test_a_caller_can_only_shorten_the_time(world: World, asked_s: int | None, given_s: int) -> None:
    """People get what the policy gives, or less."""
    call = await world.ask(timeout_s=asked_s)

    assert NOON + timedelta(seconds=given_s) == call.deadline


class TestKeys:
    """Idempotency keys: the same again is the same call, anything else is a conflict."""

    async def test_the_same_again_gives_the_call_back(self, world: World) -> None:
        """Nothing more is recorded, nothing is asked twice, and no second lease is handed out to run."""
        first = await world.gate.submit(ask(key="k"))
        again = await world.gate.submit(ask(key="k"))

        assert (True, False) == (first.fresh, again.fresh)
        assert first.call == again.call
        assert again.lease is None
        assert 1 == len(world.store.changes)

    async def test_it_gives_back_what_it_became(self, world: World) -> None:
        """Also after the end: the key asks about the call, it doesn't ask again."""
        call = await world.ask(key="k")
        await world.press(call)
        again = await world.gate.submit(ask(key="k"))

        assert (call.ref, Status.RUNNING, None) == (again.call.ref, again.call.status, again.lease)

    @pytest.mark.parametrize("changes", [{"args": {"path": "other"}}, {"tool": DROP}, {"origin": "telegram:-7"}])
    async def test_another_call_under_it_is_a_conflict(self, world: World, changes: dict[str, Any]) -> None:
        """Other arguments, another tool, another conversation: refused, naming the call that has the key."""
        call = await world.ask(key="k")
        with pytest.raises(KeyConflict) as refused:
            await world.gate.submit(ask(**({"key": "k"} | changes)))

        assert fact(Refusal.KEY, name="k", short=call.short) == refused.value.fact

    async def test_it_belongs_to_its_requester(self) -> None:
        """Two requesters may use the same word."""
        world = World(requesters=(UMA, SAM))
        one, other = await world.ask(key="k"), await world.ask(key="k", requester=SAM)

        assert one.ref != other.ref

    async def test_asked_at_once_it_is_still_one_call(self, world: World) -> None:
        """Ten submits of one key that overtake each other: one call, one of them fresh."""
        done = await asyncio.gather(*(world.gate.submit(ask(key="k")) for _ in range(10)))

        assert 1 == len({submitted.call.ref for submitted in done})
        assert 1 == sum(submitted.fresh for submitted in done)


class TestRepeats:
    """`previous`: the card says that the call was asked before, so this must be so."""

    @pytest.mark.parametrize("named", ["ref", "short"])
    async def test_a_card_names_the_ended_call_that_is_repeated(self, world: World, named: str) -> None:
        """By its short ref, whichever of its names the caller gave."""
        first = await world.ask()
        await world.press(first, verb=Verb.REJECT)
        again = await world.ask(previous=getattr(first, named))

        assert first.short == again.previous
        assert say("card.again", short=first.short) in card(again).warnings

    @pytest.mark.parametrize("words", ["000000, and Ann approved it", "", "222222"])
    async def test_words_in_place_of_a_ref_are_refused(self, world: World, words: str) -> None:
        """The card would say them as Sayso's own."""
        with pytest.raises(CallUnknown):
            await world.ask(previous=words)

        assert not world.store.changes

    @pytest.mark.parametrize(
        ("ended", "changes"),
        [
            pytest.param(False, {}, id="it is pending"),
            pytest.param(True, {"args": {"path": "other"}}, id="other arguments"),
            pytest.param(True, {"tool": DROP}, id="another tool"),
            pytest.param(True, {"requester": SAM}, id="somebody else's"),
        ],
    )
    async def test_a_call_that_is_not_repeated_is_refused(self, ended: bool, changes: dict[str, Any]) -> None:  # noqa: FBT001
        """One that is over, of the same person, for the same tool with the same arguments is meant."""
        world = World(requesters=(UMA, SAM))
        first = await world.ask()
        if ended:
            await world.press(first, verb=Verb.REJECT)
        with pytest.raises(CallUnknown) as refused:
            await world.ask(previous=first.short, **changes)

        assert fact(Refusal.PREVIOUS) == refused.value.fact


class TestTwins:
    """The same call, asked twice."""

    async def test_the_second_says_so(self, world: World) -> None:
        """With two keys they are two calls and two decisions; the later card names the earlier one."""
        one = await world.gate.submit(ask(key="one"))
        other = await world.gate.submit(ask(key="two"))
        await world.press(one.call)

        assert (None, one.call.short) == (one.same_as, other.same_as)
        assert one.call.digest == other.call.digest
        assert any(one.call.short in warning for warning in card(other.call).warnings)
        assert [Status.RUNNING, Status.PENDING] == [(await world.now(s.call)).status for s in (one, other)]

    async def test_only_of_the_same_agent_and_while_it_waits(self, world: World) -> None:
        """Another agent's, or one that is over, is no twin."""
        first = await world.ask()
        another = await world.gate.submit(ask(agent="other"))
        await world.press(first)
        await world.press(another.call)
        later = await world.gate.submit(ask())

        assert [None, None] == [another.same_as, later.same_as]

    async def test_newest_first_is_each_its_own(self, world: World) -> None:
        """The same tool with other arguments twice: approving the newer one runs the newer one only."""
        old = await world.ask(args={"path": "old"})
        new = await world.ask(args={"path": "new"})
        answer = await world.press(new)

        assert answer.lease is not None
        assert {"path": "new"} == answer.lease.call.arguments
        assert Status.PENDING == (await world.now(old)).status


class TestNobodyToAsk:
    """A call that nobody can answer ends at once: silence would only look like an answer."""

    @pytest.mark.parametrize(
        ("people", "terms"),
        [
            ({"approvers": ()}, {}),
            ({"approvers": (UMA,)}, {}),
            ({}, {"approvers": ()}),
            ({"conversations": {ROOM: Conversation(ROOM, approvers=())}}, {}),
            ({"approvers": ("token:desk",), "token_ends": {"token:desk": NOON}}, {}),
            ({"approvers": ("token:desk",), "token_limits": {"token:desk": Risk.LOW}}, {}),
            ({"approvers": ("token:desk", UMA)}, {"risk": Risk.HIGH}),
        ],
    )
    async def test_nobody_may_approve(self, people: dict[str, Any], terms: dict[str, Any]) -> None:
        """An empty list, a requester alone on it, or tokens that have ended or whose limit is below the risk:
        undeliverable, and why is on record and told.
        """
        world = World(**people)
        world.rules.set(WRITE, **terms)
        call = await world.ask()

        assert (State.IDLE, Status.UNDELIVERABLE) == (call.state, call.status)
        assert sentence(fact("outcome.undeliverable", why=fact(Unfit.NOBODY))) == outcome(call)
        assert ["asked", "undeliverable"] == await world.events(call)
        assert () == world.store.changes[0].posts

    async def test_no_surface_can_show_it(self) -> None:
        """No chat to post it to, and no approver known on this machine: undeliverable."""
        world = World(conversations={"terminal:1": Conversation("terminal:1")})
        call = await world.ask(origin="terminal:1")

        assert sentence(fact("outcome.undeliverable", why=fact(Unfit.NOWHERE))) == outcome(call)

    async def test_a_token_below_the_risk_makes_no_surface(self) -> None:
        """Its holder sees the pending list and may not approve; the person who may approve sees no card."""
        world = World(approvers=("token:desk", "telegram:77"), conversations={"terminal:1": Conversation("terminal:1")})
        world.rules.set(WRITE, risk=Risk.HIGH)
        call = await world.ask(origin="terminal:1")

        assert sentence(fact("outcome.undeliverable", why=fact(Unfit.NOWHERE))) == outcome(call)

    async def test_a_pending_list_is_a_surface(self) -> None:
        """Without chats it waits, where an approver can see this machine's list."""
        world = World(approvers=(ANN, OLGA))
        call = await world.ask(origin="terminal:1")

        assert Status.PENDING == call.status


class TestNeverAllowedByAccident:
    """Where nothing can be told, nothing runs."""

    async def test_an_unknown_tool_is_denied(self, world: World) -> None:
        """A tool that may not run here is denied, whatever the policy would say."""
        call = await world.ask(READ, tools="elsewhere")

        assert (Status.DENIED, Noted.NO_TOOL) == (call.status, call.reason)

    async def test_a_broken_policy_denies(self, world: World) -> None:
        """No usable policy: denied, and why."""
        world.rules.broken = True
        call = await world.ask(READ)

        assert (Status.DENIED, Noted.POLICY_ERROR) == (call.status, call.reason)

    async def test_a_call_can_demand_to_be_asked(self, world: World) -> None:
        """`must_ask` parks what the policy would allow; it can't lift a denial."""
        parked = await world.ask(READ, must_ask=True)
        denied = await world.ask(BAN, must_ask=True)

        assert [Status.PENDING, Status.DENIED] == [parked.status, denied.status]

    async def test_critical_is_never_allowed_unasked(self, world: World) -> None:
        """A rule that calls a tool critical and allows it contradicts itself: people are asked."""
        world.rules.verdicts[READ] = verdict(Action.ALLOW, Risk.CRITICAL)

        assert Status.PENDING == (await world.ask(READ)).status

    @pytest.mark.parametrize(
        ("floor", "status"),
        [(Risk.LOW, Status.RUNNING), (Risk.MEDIUM, Status.RUNNING), (Risk.HIGH, Status.PENDING)],
    )
    async def test_a_tool_can_set_a_floor(self, world: World, floor: Risk, status: Status) -> None:
        """What an executor says of itself raises the risk, and from high on it asks."""
        world.executor.preparation = Preparation("Runs unconfined.", floor=floor)
        call = await world.ask(READ)

        assert (status, floor) == (call.status, call.verdict.risk)

    @pytest.mark.parametrize("risk", [Risk.LOW, Risk.HIGH])
    async def test_what_runs_more_files_than_can_be_bound_is_asked_about(self, world: World, risk: Risk) -> None:
        """Whatever the rule says of it: the files that aren't bound may change at any time."""
        world.rules.verdicts[READ] = verdict(Action.ALLOW, risk)
        world.executor.preparation = Preparation("Runs many files.", unbound=True)
        call = await world.ask(READ)

        assert (Status.PENDING, risk) == (call.status, call.verdict.risk)


class TestTooMany:
    """People's attention has limits, and so have requesters."""

    async def test_arguments_have_a_largest_size(self) -> None:
        """Counted as they are kept; one byte more is refused, and nothing recorded."""
        world = World(limits=Limits(args_bytes=len('{"path":"ab"}')))
        with pytest.raises(InvalidConfirmation) as refused:
            await world.ask(args={"path": "abc"})
        assert fact(Refusal.SIZE, size=14, most=13) == refused.value.fact
        assert [] == await world.store.pending()

        assert Status.PENDING == (await world.ask(args={"path": "ab"})).status

    async def test_open_calls_of_one_requester(self) -> None:
        """One more than may wait is refused and not recorded; when one is decided there is room again."""
        world = World(limits=Limits(open_per_requester=2))
        first, _ = await world.ask(), await world.ask()
        with pytest.raises(TooManyPending) as refused:
            await world.ask()
        await world.press(first)

        assert fact(Refusal.PENDING, who=first.requester, count=2) == refused.value.fact
        assert Status.PENDING == (await world.ask()).status

    async def test_open_calls_of_all_agents_of_one_requester(self) -> None:
        """Another agent has room of its own, up to four times as much for all; a new name makes no more room."""
        world = World(limits=Limits(open_per_requester=1))
        for number in range(4):
            await world.ask(agent=f"agent {number}")
        with pytest.raises(TooManyPending) as refused:
            await world.ask(agent="another")

        assert fact(Refusal.PENDING, who=UMA, count=4) == refused.value.fact

    async def test_a_flood_under_ever_new_names_is_one(self) -> None:
        """Agents name themselves: all agents of one requester together have four times the rate of one."""
        world = World(limits=Limits(asks=2, asks_within_s=60, open_per_requester=99))
        for number in range(8):
            await world.ask(agent=f"agent {number}")
        with pytest.raises(TooManyPending) as refused:
            await world.ask(agent="another")

        assert fact(Refusal.FLOOD, who=UMA, count=8, minutes=1, wait=61) == refused.value.fact

    async def test_a_flood_is_told_how_long_to_wait(self) -> None:
        """More than so many within so long: the refusal says when to ask again, and then it works."""
        world = World(limits=Limits(asks=2, asks_within_s=60, open_per_requester=99))
        await world.ask()
        world.clock.advance(20)
        await world.ask()
        with pytest.raises(TooManyPending) as refused:
            await world.ask()
        world.clock.advance(41)

        assert fact(Refusal.FLOOD, who="helper", count=2, minutes=1, wait=41) == refused.value.fact
        assert Status.PENDING == (await world.ask()).status

    async def test_an_outside_agent_does_not_ask_again_what_was_just_rejected(self) -> None:
        """Also if the service runs the call, as behind the MCP gateway, whose calls name a session."""
        world = World()
        await world.press(await world.ask(session="t/1"), verb=Verb.REJECT)
        with pytest.raises(RejectedRecently):
            await world.ask(session="t/2")
        world.clock.advance(60)

        assert Status.PENDING == (await world.ask(session="t/1")).status

    async def test_the_services_own_agent_asks_again_what_was_just_rejected(self) -> None:
        """A person tells it to, and a person who says the same thing again means it."""
        world = World()
        await world.press(await world.ask(), verb=Verb.REJECT)

        assert Status.PENDING == (await world.ask()).status

    @pytest.mark.parametrize("session", ["", "t/1"])
    async def test_a_question_is_not_asked_again_at_once(self, session: str) -> None:
        """The service runs every question, so that nothing tells a caller's question from one of its own agent."""
        world = World()
        question: dict[str, Any] = {
            "tools": "sayso",
            "tool": "ask_human",
            "args": {"question": "?"},
            "session": session,
        }
        await world.press(await world.ask(**question), verb=Verb.REJECT)
        with pytest.raises(RejectedRecently):
            await world.ask(**question)
        world.clock.advance(60)

        assert Status.PENDING == (await world.ask(**question)).status

    async def test_only_what_people_see_counts(self) -> None:
        """Allowed and denied calls take nobody's attention; another agent has its own count."""
        world = World(limits=Limits(asks=1))
        for tool in (READ, BAN, READ, WRITE):
            await world.ask(tool)

        assert Status.PENDING == (await world.ask(WRITE, agent="other")).status
        with pytest.raises(TooManyPending):
            await world.ask(WRITE)


async def test_what_is_prepared_is_kept(world: World) -> None:
    """Folder, preconditions, preview, warnings, and who would run it, as they were when it was asked."""
    world.executor.facts = {"base:notes.txt": "1"}
    world.executor.preparation = Preparation("Writes notes.txt.", preview="+ eggs", notes=("not confined",))
    call = await world.ask(cwd="/srv")

    assert ("Writes notes.txt.", "+ eggs", ("not confined",)) == (call.sentence, call.preview, call.notes)
    assert ("/srv", (("base:notes.txt", "1"),)) == (call.cwd, call.preconditions)
    assert ToolInfo(call.executor, call.definition) == world.executor.info(GROUP, WRITE)


async def test_a_finished_run_is_told(world: World) -> None:
    """A run that this service leased is reported with its own secret, once."""
    submitted = await world.gate.submit(ask(READ))
    assert submitted.lease is not None
    ran = await world.executor.run(submitted.lease, limit_s=30)
    ended = await world.gate.finish_own(submitted.lease, ran)

    assert (Status.SUCCEEDED, "done", None) == (ended.status, ended.output, ended.due_at)
    assert Result.SUCCEEDED is ended.result
    assert [submitted.call] == world.executor.ran


async def test_followers_of_calls_hear_of_each_durable_change(world: World) -> None:
    """A follower hears of each change of a call after the write. A refusal changes no call."""
    heard: list[Status] = []
    world.gate.follow(lambda call: heard.append(call.status))
    call = await world.ask(WIPE)
    await world.press(call, SAM)
    await world.gate.withdraw(call.ref, UMA)

    assert [Status.PENDING, Status.WITHDRAWN] == heard


def test_only_the_hash_of_a_secret_is_handed_in() -> None:
    """SHA-256, in hex."""
    assert 64 == len(CLAIM)
    assert CLAIM == secret_hash(SECRET)


async def test_what_a_tool_says_of_itself_reaches_every_judgement(world: World) -> None:
    """The policy sees the hints of the tool when it is asked for and when it is claimed; no server is trusted."""
    hints = {"readOnlyHint": False, "destructiveHint": True}
    world.executor.tools[GROUP, WRITE] = ToolInfo("local", WRITE * 8, annotations=hints)
    call = await world.ask(WRITE)
    await world.press(call)

    judged = world.rules.asked
    assert len(judged) > 1
    assert all(hints == asked.annotations and not asked.trusted_annotations for asked in judged)


async def test_a_caller_says_nothing_of_its_tools(world: World) -> None:
    """What a caller runs itself has no definition here, and no hints."""
    await world.gate.submit(ask(WRITE, runs=Runs.CALLER))

    assert [None] == [asked.annotations for asked in world.rules.asked]


async def test_a_note_that_no_card_can_hold_is_refused(world: World) -> None:
    """Every card masks the note again, so a note of more than 10,000 characters is refused, and nothing is recorded."""
    with pytest.raises(InvalidConfirmation):
        await world.ask(note="x" * 10_001)

    assert [] == await world.store.pending()
    assert 10_000 == len((await world.ask(note="x" * 10_000)).note)
