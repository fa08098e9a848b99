"""What retention may do with a call that is over, and what it never touches."""

from __future__ import annotations

import pytest

from hitl.call import Call, Event, PostKind, Ran, Result, Runs, State, Status, Verb
from hitl.cards.card import card, details, headline
from hitl.cards.data import view
from hitl.errors import IllegalTransition, SaysoError, Tampered
from hitl.gate.retain import over_since
from hitl.lifecycle import Trigger, advance
from hitl.proof.integrity import Flaw, flaws_of
from tests.hitl.world import BAN, CLAIM, SECRET, World, ask

#: Stands in every field that may tell of the arguments.
SECRET_TEXT = "the-launch-code"


@pytest.fixture
def world() -> World:
    """A gate, the people around it, and a store that seals with the gate's keys."""
    made = World()
    made.store.keys = made.keys
    return made


async def delivered(world: World) -> None:
    """Let every message go out."""
    while found := await world.store.sendings(lease_s=30):
        for sending in found:
            await world.store.sent(sending, f"m{sending.id}" if sending.post.kind is PostKind.CARD else None)


async def ran(world: World, result: Result = Result.SUCCEEDED) -> Call:
    """A call of a caller that was approved, run and reported, with a secret in all that it says."""
    call = await world.ask(args={"path": SECRET_TEXT}, note=SECRET_TEXT, cwd=f"/{SECRET_TEXT}", runs=Runs.CALLER)
    await world.press(call)
    await world.gate.claim(call.ref, "agent", CLAIM)
    ended = await world.gate.finish(call.ref, SECRET, Ran(result, SECRET_TEXT, SECRET_TEXT))
    await delivered(world)
    return ended


async def flaws(world: World, call: Call) -> list[str]:
    """What the integrity check says of the stored call."""
    lines, votes = await world.store.history(call.ref), await world.store.votes(call.ref)
    return [flaw.what for flaw in flaws_of(world.keys, await world.now(call), votes, lines)]


async def test_erasing_takes_all_that_tells_of_the_arguments(world: World) -> None:
    """Arguments, preview, output, error, note, folder: none is left in the call or in any view of it."""
    call = await world.gate.retire(await ran(world), archive=False)
    assert call is not None
    shown = repr(call) + details(call) + headline(call) + repr(card(call)) + repr(view(call))

    assert SECRET_TEXT not in shown
    assert (Status.SUCCEEDED, world.clock.now(), False) == (call.status, call.erased_at, call.archived)


async def test_an_erased_call_is_erased_on_record(world: World) -> None:
    """The record has a line about it, whose time is the row's, and the integrity check finds nothing wrong."""
    call = await world.gate.retire(await ran(world), archive=False)
    assert call is not None
    last = await world.last(call)

    assert (Event.ERASED, call.erased_at) == (last.event, last.at)
    assert [] == await flaws(world, call)


async def test_archiving_fires_reset_and_erases_too(world: World) -> None:
    """The call keeps its decision and its result, and is idle for good."""
    call = await world.gate.retire(await ran(world), archive=True)
    assert call is not None

    assert (State.IDLE, True, Status.SUCCEEDED) == (call.state, call.archived, call.status)
    assert [Event.ERASED, Event.ARCHIVED] == (await world.events(call))[-2:]
    assert [] == await flaws(world, call)


async def test_a_call_that_was_erased_is_archived_later(world: World) -> None:
    """Each happens once: the date of erasure stays, and a third time nothing is written."""
    erased = await world.gate.retire(await ran(world), archive=False)
    assert erased is not None
    world.clock.advance(3600)
    archived = await world.gate.retire(erased, archive=True)
    assert archived is not None
    again = await world.gate.retire(archived, archive=True)

    assert (erased.erased_at, True, None) == (archived.erased_at, archived.archived, again)
    assert [] == await flaws(world, archived)


async def test_nothing_is_erased_twice(world: World) -> None:
    """A second time there is nothing to do."""
    erased = await world.gate.retire(await ran(world), archive=False)
    assert erased is not None

    assert await world.gate.retire(erased, archive=False) is None


@pytest.mark.parametrize("result", [Result.TIMED_OUT, Result.UNKNOWN])
async def test_a_call_that_a_late_report_may_amend_is_never_touched(world: World, result: Result) -> None:
    """What its tool did isn't known yet. Once it is, the call is as any other."""
    call = await ran(world, result)
    assert await world.gate.retire(call, archive=True) is None
    amended = await world.gate.finish(call.ref, SECRET, Ran(Result.SUCCEEDED, "done"))
    await delivered(world)

    assert await world.gate.retire(amended, archive=True) is not None


async def test_an_open_call_is_never_touched(world: World) -> None:
    """Pending, approved and not claimed, running, or rejected while the reason may still come."""
    pending, approved, running, rejected = [
        await world.ask(args={"path": name}, runs=Runs.CALLER) for name in ("a", "b", "c", "d")
    ]
    await world.press(approved)
    await world.press(running)
    await world.gate.claim(running.ref, "agent", CLAIM)
    await world.press(rejected, verb=Verb.REJECT)
    await delivered(world)

    assert [None] * 4 == [over_since(await world.now(call)) for call in (pending, approved, running, rejected)]
    for call in (pending, approved, running, rejected):
        assert await world.gate.retire(await world.now(call), archive=True) is None


async def test_a_call_with_an_unsent_message_waits(world: World) -> None:
    """The message is made of the call when it goes out. Afterwards the call is erased."""
    call = await world.ask(note=SECRET_TEXT, runs=Runs.CALLER)
    await world.press(call, verb=Verb.REJECT)
    await world.gate.add_reason(call.ref, "telegram:2", "too risky")
    rejected = await world.now(call)
    assert await world.gate.retire(rejected, archive=True) is None
    await delivered(world)

    assert await world.gate.retire(rejected, archive=True) is not None


async def test_a_denied_call_keeps_its_decision(world: World) -> None:
    """The MAC of a decision that lets nothing run covers the reason, so both stay."""
    call = await world.ask(BAN)
    archived = await world.gate.retire(call, archive=True)
    assert archived is not None

    assert (Status.DENIED, call.reason) == (archived.status, archived.reason)
    assert [] == await flaws(world, archived)


async def test_a_changed_call_is_left_as_it_is(world: World) -> None:
    """Erasing it would give it a new MAC and hide the change. It is evidence."""
    call = await ran(world)
    forged = await world.forge(call, tool="other")
    with pytest.raises(Tampered):
        await world.gate.retire(forged, archive=True)

    assert forged == await world.now(call)
    assert [Flaw.ROW] == await flaws(world, call)


async def test_arguments_that_somebody_else_emptied_are_named(world: World) -> None:
    """Whether or not they write a time of erasure beside it: they can't make the MAC or the line."""
    for changes in ({"args": b"{}"}, {"args": b"{}", "erased_at": world.clock.now()}):
        call = await ran(world)
        await world.forge(call, **changes)

        assert Flaw.ROW in await flaws(world, call)


async def test_an_erased_row_that_is_put_back_is_named(world: World) -> None:
    """The whole row has its old MAC; the record says that it was erased."""
    call = await ran(world)
    await world.gate.retire(call, archive=False)
    await world.forge(call, **{name: getattr(call, name) for name in call.__struct_fields__})

    assert [Flaw.UNRECORDED] == await flaws(world, call)


async def test_another_date_of_erasure_is_named(world: World) -> None:
    """The MAC covers the date."""
    call = await ran(world)
    await world.gate.retire(call, archive=False)
    world.clock.advance(60)
    await world.forge(call, erased_at=world.clock.now())

    assert [Flaw.ROW, Flaw.UNRECORDED] == await flaws(world, call)


async def test_an_archived_call_is_never_asked_or_run_again(world: World) -> None:
    """A press on its old card, a claim and a report are answered with how it ended; no trigger but reset fits."""
    call = await world.gate.retire(await ran(world), archive=True)
    assert call is not None
    pressed = await world.press(call)
    for use in (world.gate.claim(call.ref, "agent", CLAIM), world.gate.withdraw(call.ref, "telegram:1")):
        with pytest.raises(SaysoError):
            await use
    for trigger in set(Trigger) - {Trigger.RESET}:
        with pytest.raises(IllegalTransition):
            advance(call, trigger)

    assert pressed.error is not None
    assert call == await world.now(call)


async def test_the_same_key_finds_an_erased_call(world: World) -> None:
    """The digest stays, so that an agent that asks again under its key doesn't run the call twice."""
    call = await world.ask(BAN, key="k")
    await world.gate.retire(call, archive=True)
    again = await world.gate.submit(ask(BAN, key="k"))

    assert (call.ref, False) == (again.call.ref, again.fresh)
