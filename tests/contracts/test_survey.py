"""Every survey gives the same answers about the things that a store has written."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from hitl.call import Call, Claim, Entry, Event, Post, PostKind, Ran, ReplyKind, Result, Runs, State, Verb
from hitl.credentials import Credential, Scope
from hitl.history import RecordQuery
from hitl.ports import Change, Unit, adding
from hitl.testing import SetClock, a_call
from tests.hitl.world import CLAIM, SECRET, ask, gate_over, reply

if TYPE_CHECKING:
    from hitl.ports import Store
    from tests.contracts.conftest import Surveyed

CHAT = "telegram:-100/7"


async def stored(store: Store, clock: SetClock, **fields: Any) -> Call:
    """A call with these fields, stored as it is."""
    call = a_call(clock.now(), **fields)
    await store.commit(Unit(None, lambda _: Change(call), new=True))
    return call


async def ended(store: Store) -> Call:
    """A call that was asked for, approved and run."""
    gate = gate_over(store)
    call = (await gate.submit(ask(runs=Runs.CALLER))).call
    await gate.decide(reply(kind=ReplyKind.BUTTON, target=call.ref, verb=Verb.APPROVE))
    await gate.claim(call.ref, "agent", CLAIM)
    return await gate.finish(call.ref, SECRET, Ran(Result.SUCCEEDED, "done"))


def token(name: str, scope: Scope, clock: SetClock, **more: Any) -> Credential:
    """A token that isn't stored yet."""
    fields = {"owner": None, "origins": (), "routes": (), "until": None, **more}
    return Credential(name, name * 8, scope, created_at=clock.now(), created_by="local:1000", **fields)


async def test_an_empty_store_has_nothing_to_tell(surveyed: Surveyed) -> None:
    """Nothing is counted and nothing is oldest. The schema is the newest."""
    with surveyed.open() as survey:
        assert survey.schemas[-1] == survey.schema
        assert ({}, None, None) == (survey.open_calls(), survey.oldest_pending(), survey.most_overdue())
        assert ((0, None), 0, 0) == (survey.unsent(), survey.set_aside(), survey.newest_position())
        assert ([], {}) == (list(survey.latest_lines(9)), survey.latest(Event.RELOADED, 0))
        assert [] == [*survey.lines(surveyed.store.keys, RecordQuery())]
        assert [] == [*survey.requests(surveyed.store.keys, RecordQuery())]
        assert 0 == survey.statistics(None, None)["requests"]
        assert ([], None) == survey.open_flaws(surveyed.store.keys, 9)
        assert () == survey.examine(surveyed.store.keys, None).flaws


async def test_open_calls_are_counted_by_state_and_the_oldest_is_known(surveyed: Surveyed, clock: SetClock) -> None:
    """Pending and running calls count; a call that is over doesn't."""
    first, claim = clock.now(), Claim("owner", "0" * 64, clock.now(), "none:0")
    changes: list[dict[str, Any]] = [
        {},
        {},
        {"state": State.EXECUTING, "claim": claim},
        {"state": State.COMPLETED, "due_at": None},
    ]
    for fields in changes:
        await stored(surveyed.store, clock, **fields)
        clock.advance(60)

    with surveyed.open() as survey:
        assert {"awaiting_confirmation": 2, "executing": 1} == survey.open_calls()
        assert first == survey.oldest_pending()
        assert first + timedelta(seconds=300) == survey.most_overdue()


async def test_people_wait_for_a_card_since_its_call_was_made(surveyed: Surveyed, clock: SetClock) -> None:
    """A refresh of a pending card counts as unsent, but nobody waits for it."""
    call = a_call(clock.now(), routes=(CHAT,))
    card, edit = (Post(call.ref, CHAT, kind) for kind in (PostKind.CARD, PostKind.EDIT))
    await surveyed.store.commit(Unit(None, lambda _: Change(call, posts=(card,)), new=True))
    with surveyed.open() as survey:
        first = survey.unsent()
    clock.advance(60)
    await surveyed.store.sent((await surveyed.store.sendings(lease_s=30))[0], "m1")
    await surveyed.store.commit(adding(Change(posts=(edit,))))

    with surveyed.open() as survey:
        assert ((1, call.created_at), (1, None)) == (first, survey.unsent())


async def test_events_that_were_set_aside_are_counted(surveyed: Surveyed) -> None:
    """An event that is still tried doesn't count."""
    for number in ("1", "2"):
        await surveyed.store.receive("telegram", number, number, b"{}")
    await surveyed.store.stumble("telegram", "1", "KeyError", aside_after=1)
    await surveyed.store.stumble("telegram", "2", "KeyError", aside_after=2)

    with surveyed.open() as survey:
        assert 1 == survey.set_aside()


async def test_the_latest_lines_come_first(surveyed: Surveyed, clock: SetClock) -> None:
    """Only as many as were asked for, from all chains."""
    start = clock.now()
    for number in range(3):
        entry = Entry("", Event.BARRED, "somebody", {"number": number})
        await surveyed.store.commit(adding(Change(entries=(entry,))))
        clock.advance(1)

    with surveyed.open() as survey:
        lines = list(survey.latest_lines(2))
        assert [(start + timedelta(seconds=2), '{"number":2}'), (start + timedelta(seconds=1), '{"number":1}')] == lines
        assert 3 == survey.newest_position()
        assert {"number": 2} == survey.latest(Event.BARRED, 2)
        assert {} == survey.latest(Event.BARRED, 3)


async def test_all_tokens_are_known(surveyed: Surveyed, clock: SetClock) -> None:
    """Tokens that are revoked or over are returned too. A survey doesn't check the MAC, so it tells who has a token."""
    store, over = surveyed.store, clock.now()
    agent = token("agent", Scope.AGENT, clock, owner="uma", origins=("telegram:-1",))
    gone = token("gone", Scope.APPROVER, clock)
    for each in (agent, gone, token("old", Scope.AGENT, clock, until=over), token("ann", Scope.APPROVER, clock)):
        assert await store.keep_credential(each)
    await store.revoke_credential(gone, "local:1000")

    with surveyed.open() as survey:
        found = survey.credentials()
        works = {each.name: each.works(clock.now()) for each in found}
        assert {"agent": True, "ann": True, "gone": False, "old": False} == works
        assert ["gone"] == [each.name for each in found if each.revoked_at]
        assert [("uma", ("telegram:-1",))] == [(each.owner, each.origins) for each in found if each.owner]


async def test_requests_and_lines_are_found_and_verified(surveyed: Surveyed, clock: SetClock) -> None:
    """A survey gives the view of each request, and each line with its request. Both name the changed parts."""
    store, keys = surveyed.store, surveyed.store.keys
    first = await ended(store)
    clock.advance(60)
    second = await ended(store)
    since = RecordQuery(since=second.created_at)

    with surveyed.open() as survey:
        requests = list(survey.requests(keys, RecordQuery()))
        events = [line["event"] for line in survey.lines(keys, RecordQuery())]
        assert [(second.ref, []), (first.ref, [])] == [(each["ref"], each["flaws"]) for each in requests]
        assert [second.ref] == [each["ref"] for each in survey.requests(keys, since)]
        assert [second.ref] == [each["ref"] for each in survey.requests(keys, RecordQuery(), limit=1)]
        assert events[::-1] == [line["event"] for line in survey.lines(keys, RecordQuery(), newest_first=True)]
        assert events[:2] == [line["event"] for line in survey.lines(keys, RecordQuery(), limit=2)]
        assert {first.short, second.short} == {line["short"] for line in survey.lines(keys, RecordQuery())}
        assert (2, 1) == tuple(survey.statistics(at, None)["requests"] for at in (None, second.created_at))
        assert [second.ref] == [call.ref for call in survey.sound_calls(keys, second.created_at)]


async def test_an_examination_counts_all_and_compares_the_mark(surveyed: Surveyed) -> None:
    """A sound store has no flaw. A mark that the record doesn't reach shows that the record was cut."""
    await ended(surveyed.store)
    last = await surveyed.store.last_line()

    with surveyed.open() as survey:
        examined = survey.examine(surveyed.store.keys, None)
        cut = survey.examine(surveyed.store.keys, (last + 1, "a line that is gone"))
        assert (last, 1, (), False) == (examined.lines, examined.calls, examined.flaws, examined.marked)
        assert (1, True) == (len(cut.flaws), cut.marked)


async def test_a_survey_shows_one_state(surveyed: Surveyed, clock: SetClock) -> None:
    """Calls that are written after its first answer aren't in its later answers."""
    await stored(surveyed.store, clock)
    with surveyed.open() as survey:
        before = survey.open_calls()
        await stored(surveyed.store, clock)

        assert {"awaiting_confirmation": 1} == before == survey.open_calls()
