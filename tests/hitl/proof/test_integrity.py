"""Whether what the store holds is what was written: of one call, and of the record as a whole."""

from __future__ import annotations

import hashlib
from datetime import timedelta

import pytest
from msgspec.structs import asdict

from hitl.call import Call, Entry, Event, Ran, Recorded, Result, Verb
from hitl.limits import Limits
from hitl.proof.chain import FIRST, chain
from hitl.proof.integrity import Flaw, flaws_of, flaws_of_record
from hitl.proof.keyring import Keyring
from hitl.records import replace
from tests.hitl.world import BOB, NOON, World

KEYS = Keyring([("k1", b"1" * 32)])
NO_MARK = (0, "")


@pytest.fixture
def world() -> World:
    """A gate, the people around it, and a store that seals with the gate's keys."""
    made = World()
    made.store.keys = made.keys
    return made


async def found(world: World, call: Call) -> list[str]:
    """What is wrong with the stored call."""
    ref = call.ref
    lines = await world.store.history(ref)
    return [flaw.what for flaw in flaws_of(world.keys, await world.now(call), await world.store.votes(ref), lines)]


async def ended(world: World) -> Call:
    """A call that was approved, claimed by this service, and run."""
    call = await world.ask()
    answer = await world.press(call)
    assert answer.lease is not None
    return await world.gate.finish_own(answer.lease, await world.executor.run(answer.lease, limit_s=1))


async def test_a_call_is_whole_at_every_step(world: World) -> None:
    """While it waits, when it was rejected, and when it ran."""
    waiting, rejected = await world.ask(), await world.ask(args={"path": "b"})
    await world.press(rejected, verb=Verb.REJECT)
    ran = await ended(world)

    assert [[], [], []] == [await found(world, call) for call in (waiting, rejected, ran)]


async def test_a_call_that_a_late_report_amended_is_whole(world: World) -> None:
    """Its result is another one, and its state is still `error`."""
    call = await world.ask()
    answer = await world.press(call)
    assert answer.lease is not None
    lost = await world.gate.finish_own(answer.lease, Ran(Result.UNKNOWN))
    await world.gate.finish_own(replace(answer.lease, call=lost), Ran(Result.SUCCEEDED))

    assert [] == await found(world, call)


async def test_a_row_that_was_set_back_is_contradicted_by_its_chain(world: World) -> None:
    """Its seals hold, as they did then."""
    call = await world.ask()
    await world.press(call)
    await world.forge(call, **asdict(call))

    assert [Flaw.UNRECORDED] == await found(world, call)


@pytest.mark.parametrize(
    ("change", "flaws"),
    [
        ({"tool": "other"}, [Flaw.ROW]),
        ({"decided_by": "telegram:9"}, [Flaw.DECISION, Flaw.VOTES]),
        ({"output": "other"}, [Flaw.RESULT]),
        ({"decision": None, "decided_by": None}, [Flaw.DECISION, Flaw.UNRECORDED]),
    ],
)
async def test_what_was_changed_of_a_row_is_named(world: World, change: dict[str, object], flaws: list[Flaw]) -> None:
    """The first part whose seal is broken, and what the chain tells otherwise."""
    call = await ended(world)
    await world.forge(call, **change)

    assert flaws == await found(world, call)


@pytest.mark.parametrize("verb", [Verb.APPROVE, Verb.REJECT])
async def test_every_vote_of_an_ended_call_is_held_to_its_seal_and_its_line(verb: Verb) -> None:
    """A vote that was changed, removed or repeated is a flaw, also the vote of somebody who didn't decide the call."""
    world = World(limits=Limits(approvals=2))
    world.store.keys = world.keys
    call = await world.ask()
    await world.press(call)
    await world.press(call, BOB, verb)
    stored, votes, told = await world.now(call), await world.store.votes(call.ref), await world.store.history(call.ref)
    first, last = votes
    forged = [replace(first, at=first.at + timedelta(seconds=1)), last]

    assert [] == flaws_of(world.keys, stored, votes, told)
    for changed in ([first], [last], [first, first, last], forged):
        assert [Flaw.VOTES] == [flaw.what for flaw in flaws_of(world.keys, stored, changed, told)]


@pytest.mark.parametrize(
    "change", [{"decided_by": "telegram:9"}, {"reason": "fine"}, {"decision_mac": "k1:2:00"}, {"output": "done"}]
)
async def test_a_pending_call_has_no_part_of_a_decision_or_a_result(world: World, change: dict[str, object]) -> None:
    """Nobody has written such a part, and no seal covers it."""
    call = await world.ask()
    await world.forge(call, **change)

    assert [Flaw.RESULT if "output" in change else Flaw.DECISION] == await found(world, call)


def lines(ref: str, *events: Event, seq: int = 1, prev: str = FIRST) -> list[Recorded]:
    """A chain."""
    written: list[Recorded] = []
    for place, event in enumerate(events, start=seq):
        last = written[-1].hash if written else prev
        written.append(chain(KEYS, last, place, NOON, Entry(ref, event, "a", {})))
    return written


def numbered(*chains: list[Recorded]) -> dict[int, str]:
    """The hashes of all lines by their position."""
    return dict(enumerate((line.hash for one in chains for line in one), start=1))


def test_a_record_without_gaps_up_to_its_mark_is_whole() -> None:
    """Chains of calls that there are, and of the service."""
    service, call = lines("", Event.POLICY_LOADED), lines("r", Event.ASKED, Event.APPROVED)
    hashes = numbered(service, call)

    assert [] == flaws_of_record(KEYS, {"": service, "r": call}, ["r"], hashes, (3, hashes[3]))


def test_what_is_missing_of_a_record_is_named() -> None:
    """A call, lines in the middle, lines at the end that the mark knows of."""
    call = lines("r", Event.ASKED, Event.SHOWN, Event.APPROVED)
    hashes = numbered(call)
    del hashes[2]
    told = flaws_of_record(KEYS, {"r": call}, [], hashes, (9, "x"))

    assert [Flaw.NO_CALL, Flaw.GAP, Flaw.CUT] == [flaw.what for flaw in told]
    assert {"first": 2, "last": 2} == told[1].particulars


def test_lines_with_plain_hashes_are_held_to_the_line_that_took_them_in() -> None:
    """Whoever writes them anew changes what was sealed then."""
    hashes = {1: "a" * 64, 2: "b" * 64}
    digest = hashlib.sha256(("a" * 64 + "b" * 64).encode()).hexdigest()
    taken = Entry("", Event.SEALED, "service", {"lines": 2, "digest": digest})
    service = [chain(KEYS, FIRST, 1, NOON, taken)]
    hashes[3] = service[0].hash

    assert [] == flaws_of_record(KEYS, {"": service}, [], hashes, NO_MARK)
    rewritten = hashes | {2: "c" * 64}
    assert [Flaw.SUMMARY] == [flaw.what for flaw in flaws_of_record(KEYS, {"": service}, [], rewritten, NO_MARK)]


def test_a_mark_names_a_line_and_not_only_its_place() -> None:
    """A record that was cut there and went on otherwise is as long."""
    call = lines("r", Event.ASKED, Event.REJECTED)
    hashes = numbered(call)

    (flaw,) = flaws_of_record(KEYS, {"r": call}, ["r"], hashes, (2, "x"))
    assert Flaw.CUT == flaw.what


def test_a_line_with_a_plain_hash_is_named_where_none_was_taken_in() -> None:
    """Anyone can compute such a hash. A line that takes lines in counts only where it is what was written."""
    forged = Recorded("", 1, NOON, Event.SEALED, "service", '{"digest":"","lines":2}', FIRST, "k1:2:00")
    hashes = {1: forged.hash, 2: "a" * 64}

    flaws = flaws_of_record(KEYS, {"": [forged]}, [], hashes, NO_MARK)
    assert [Flaw.LINE, Flaw.PLAIN] == [flaw.what for flaw in flaws]
    assert 2 == flaws[1].particulars["position"]


def test_a_changed_line_of_the_service_is_named() -> None:
    """By its place."""
    service = lines("", Event.POLICY_LOADED, Event.MOVED)
    service[1] = replace(service[1], actor="b")

    (flaw,) = flaws_of_record(KEYS, {"": service}, [], numbered(service), NO_MARK)
    assert (Flaw.LINE, 2) == (flaw.what, flaw.particulars["seq"])
