"""The composed service: one winner of many, and no approval after the deadline though no timer runs."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest

from adapters.telegram.surface import SURFACE
from bot.api import serve_api
from bot.compose import Running, compose
from bot.conversation.router import Router
from bot.service import Service
from hitl.call import Ask, Call, Claim, Decision, Reply, ReplyKind, Result, Runs, State, Status, Verb
from hitl.errors import AlreadyDecided, ConfirmationExpired, SaysoError, Unavailable
from hitl.events import Command, Moved
from hitl.gate.response import Answer, Came
from hitl.outcomes import Refusal
from hitl.people import Directory
from hitl.platforms import Talker
from hitl.ports import Change, Chat, Expect, Store, Unit
from hitl.proof.keyring import Keyring
from hitl.records import replace
from hitl.testing import RecordedChat, SetClock
from sayso_client.client import Client
from sayso_client.errors import ClientError
from sayso_client.wire import SOCKET_NAME
from tests.bot.conftest import ASKER, ME, PLACE, default_policy
from tests.patience import PATIENCE_S
from tests.sentences import says

SOCKETS, TERMINALS, PRESSES = 20, 10, 20


def ask(command: str = "echo ran >> out.txt", key: str | None = None) -> Ask:
    """Somebody who doesn't approve wants a command run by the service."""
    return Ask("workspace", "bash", {"command": command}, ASKER, PLACE, Runs.SERVICE, key=key)


def press(call: Call, verb: Verb = Verb.APPROVE, identity: str = ME) -> Reply:
    """A button on the card of a call."""
    return Reply(identity, "terminal", PLACE, ReplyKind.BUTTON, verb, target=call.ref)


async def parked(running: Running) -> Call:
    """A call that waits."""
    call = (await running.service.submit(ask())).call
    assert call.status is Status.PENDING
    return call


async def stored(running: Running, call: Call) -> Call:
    """The call as it is now."""
    found = await running.store.get(call.ref)
    assert found is not None
    return found


async def test_of_fifty_at_once_one_wins_and_the_others_hear_who(running: Running, tmp_path: Path) -> None:
    """Socket clients, attached terminals and presses at the same moment: one run, forty-nine told who won."""
    parts = contextlib.AsyncExitStack()
    await serve_api(running.service, tmp_path / "run", parts, place=PLACE)
    path = tmp_path / "run" / SOCKET_NAME
    call = await parked(running)
    heard: list[str] = []
    decided = [
        *(asyncio.to_thread(over_socket, path, call) for _ in range(SOCKETS)),
        *(asyncio.to_thread(over_terminal, path, call) for _ in range(TERMINALS)),
        *(by_press(running, call) for _ in range(PRESSES)),
    ]
    heard = await asyncio.gather(*decided)
    await running.service.ended(call)
    await parts.aclose()

    losers = [text for text in heard if says(text, Refusal.DECIDED, short=call.short)]
    assert 49 == len(losers)
    name = running.service.gate.names.of(ME)
    assert all(name in text or ME in text for text in losers)
    assert "ran\n" == (tmp_path / "workspace" / "out.txt").read_text()
    events = [line.event for line in await running.store.history(call.ref)]
    assert [1, 49] == [events.count("approved"), events.count("late")]


def over_socket(path: Path, call: Call) -> str:
    """A decision by a command; what it is told."""
    try:
        with Client(path) as client:
            return str(client.call("decide", target=call.ref, verb="approve")["text"])
    except ClientError as error:
        return error.message if error.code == AlreadyDecided.code else error.code


def over_terminal(path: Path, call: Call) -> str:
    """A decision by words in an attached terminal; what it is told."""
    with Client(path) as client:
        client.attach()
        return "\n".join(client.say(f"yes {call.short}"))


async def by_press(running: Running, call: Call) -> str:
    """A decision by a button; what it is told."""
    (answer,) = await running.service.decide(press(call))
    return answer.text


async def test_a_yes_and_a_no_at_once_leave_one_of_them(running: Running, tmp_path: Path) -> None:
    """Whoever is first, the tool ran just when the yes won."""
    call = await parked(running)
    answers = await asyncio.gather(
        *(running.service.decide(press(call, verb)) for verb in (Verb.REJECT, Verb.APPROVE) * 5)
    )
    ended = await running.service.ended(call)

    came = [answer.came for (answer,) in answers]
    assert (9, 1) == (came.count(Came.REFUSED), came.count(Came.APPROVED) + came.count(Came.REJECTED))
    assert (ended.status is Status.SUCCEEDED) is (tmp_path / "workspace" / "out.txt").exists()


def code(answers: tuple[Answer, ...]) -> str | None:
    """The code of the error that a reply ended in, if it did."""
    error: SaysoError | None = answers[0].error
    return error.code if error else None


async def test_a_start_ends_the_leases_of_the_dead_alone(running: Running, clock: SetClock) -> None:
    """Those of whoever worked in this state folder before, as older versions did under no folder's id.

    Another service may live, so its lease ends by its time.
    """
    place = running.service.gate.owner.rpartition(":")[0]
    owners = (f"{place}:1", "service:0a1b2c3d", "service:elsewhere:1", "caller:local:7")
    calls = [await leased_by(running, owner, clock) for owner in owners]
    await running.service.start()
    after_start = [(await stored(running, call)).status for call in calls]
    clock.advance(61)
    await running.service.expiry.sweep()

    assert [Status.UNKNOWN, Status.UNKNOWN, Status.RUNNING, Status.RUNNING] == after_start
    assert [Status.UNKNOWN] * 4 == [(await stored(running, call)).status for call in calls]


async def test_a_start_on_an_older_database_lets_nothing_of_it_run(running: Running) -> None:
    """What was open in it is ended, its events are set aside as handled, and the record says so last."""
    call = await parked(running)
    for number, chat in enumerate(("telegram:1", "telegram:1", "telegram:2")):
        await running.store.receive("telegram", str(number), chat, b"{}")
    older = Service(running.service.gate, older=True)
    await older.start()
    await older.stop()

    assert Status.WITHDRAWN is (await stored(running, call)).status
    assert [] == list(await running.store.incoming())
    assert "rolled_back" == (await running.store.history(""))[-1].event


async def test_conversations_that_were_moved_in_a_circle_are_followed_once(running: Running) -> None:
    """A group that got its first name back: what is said in it is handled, under one of its names."""
    chat = Mock(spec=Talker)
    router = Router(running.service, chat, SURFACE)
    for old, new in (("telegram:-1", "telegram:-2"), ("telegram:-2", "telegram:-1")):
        await running.store.move(old, new)
    await router.handle(Command(identity=ME, conversation="telegram:-1", name="help"))

    assert ["telegram:-1"] == [told.args[0] for told in chat.tell.await_args_list]


async def test_a_conversation_that_got_its_first_name_back_is_known_by_it(running: Running) -> None:
    """The platform renames a group and renames it back: no name leads away from itself."""
    chat = Mock(spec=Talker)
    router = Router(running.service, chat, SURFACE)
    for old, new in (("telegram:-1", "telegram:-2"), ("telegram:-2", "telegram:-1")):
        await router.handle(Moved(conversation=old, moved_to=new))
    await router.handle(Command(identity=ME, conversation="telegram:-1", name="help"))

    assert {"telegram:-1": "telegram:-1"} == await running.store.moves()
    assert ["telegram:-1"] == [told.args[0] for told in chat.tell.await_args_list]


async def leased_by(running: Running, owner: str, clock: SetClock) -> Call:
    """A call of the service that somebody claimed for a minute."""
    call = await parked(running)
    until = clock.now() + timedelta(seconds=60)
    changed = call.evolve(
        state=State.EXECUTING,
        version=call.version + 1,
        decision=Decision.APPROVED,
        claim=Claim(owner, "h" * 64, until),
        due_at=until,
    )
    await running.store.commit(Unit(Expect(call.ref, call.version), lambda _: Change(changed)))
    return changed


@pytest.mark.parametrize("late_s", [0, 0.001, 3600])
@pytest.mark.parametrize("verb", [Verb.APPROVE, Verb.REJECT])
async def test_no_decision_counts_at_or_after_the_deadline(
    running: Running, clock: SetClock, tmp_path: Path, late_s: float, verb: Verb
) -> None:
    """Though no timer runs: CONF_EXPIRED, nothing runs, and the call is over by that."""
    call = await parked(running)
    clock.advance((call.deadline - call.created_at).total_seconds() + late_s)
    answers = await running.service.decide(press(call, verb))

    assert ConfirmationExpired.code == code(answers)
    assert Status.EXPIRED is (await stored(running, call)).status
    assert not (tmp_path / "workspace" / "out.txt").exists()


async def test_a_decision_just_before_the_deadline_counts(running: Running, clock: SetClock) -> None:
    """The last millisecond belongs to the person."""
    call = await parked(running)
    clock.advance((call.deadline - call.created_at).total_seconds() - 0.001)
    await running.service.decide(press(call))

    assert Status.SUCCEEDED is (await running.service.ended(call)).status


async def test_what_became_due_while_nobody_looked_ends_at_the_start(running: Running, clock: SetClock) -> None:
    """The first thing that a started service does about a call is to end it in time."""
    call = await parked(running)
    clock.advance(301)
    await running.service.start()

    assert Status.EXPIRED is (await stored(running, call)).status
    assert ["asked", "expired"] == [line.event for line in await running.store.history(call.ref)]


async def test_an_approval_by_who_is_not_listed_any_more_is_none(running: Running) -> None:
    """Nobody decides a call but those who are listed; the refusal is on record."""
    call = await parked(running)
    answers = await running.service.decide(press(call, identity="local:99"))

    assert "NOT_APPROVER" == code(answers)
    assert Status.PENDING is (await stored(running, call)).status
    assert "refused" == (await running.store.history(call.ref))[-1].event


async def test_one_key_is_one_call_and_one_run(running: Running, tmp_path: Path) -> None:
    """Submitted ten times at once: one call, approved once, run once."""
    submitted = await asyncio.gather(*(running.service.submit(ask(key="k")) for _ in range(10)))
    call = submitted[0].call
    await running.service.decide(press(call))
    await running.service.ended(call)

    assert {call.ref} == {each.call.ref for each in submitted}
    assert 1 == sum(each.fresh for each in submitted)
    assert "ran\n" == (tmp_path / "workspace" / "out.txt").read_text()


@pytest.mark.parametrize(("script", "args"), [("deploy.sh", None), ("notes.txt", "new")])
async def test_what_changed_before_the_yes_is_shown_and_asked_again(
    running: Running, tmp_path: Path, script: str, args: str | None
) -> None:
    """A script, or the file of an edit: the yes runs nothing, a new card shows it as it is, and its yes runs that."""
    file = tmp_path / "workspace" / script
    file.write_text("echo old\n")
    tool, given = (
        ("bash", {"command": f"bash {script}"}) if args is None else ("write_file", {"path": script, "text": args})
    )
    first = (await running.service.submit(Ask("workspace", tool, given, ASKER, PLACE, Runs.SERVICE))).call
    waiting = asyncio.ensure_future(running.service.ended(first))
    file.write_text("echo new\n")
    [answer] = await running.service.decide(press(first))
    await asyncio.wait([running.service._again[first.ref]])  # noqa: SLF001 - nothing else tells
    [again] = await running.store.pending()
    await running.service.decide(press(again))
    last = await waiting

    assert answer.lease is None
    assert Status.REFUSED is (await stored(running, first)).status
    assert (first.short, tool, first.args, ASKER) == (again.previous, again.tool, again.args, again.requester)
    assert "-echo old\n+echo new" in again.preview or args is not None
    assert (again.ref, Status.SUCCEEDED) == (last.ref, last.status)
    assert ("new\n" if args is None else "new") == (last.output if args is None else file.read_text())


async def test_a_call_that_somebody_changed_is_not_asked_again(running: Running) -> None:
    """What a changed row says is nobody's wish, so that nobody is asked about it."""
    call = await parked(running)
    forged = call.evolve(result=Result.REFUSED, decision=Decision.APPROVED, preconditions=(("confinement", "x"),))
    running.service.changed(forged)
    await asyncio.wait([running.service._again[call.ref]])  # noqa: SLF001 - nothing else tells

    assert [call.ref] == [each.ref for each in await running.store.pending()]


async def test_an_open_state_folder_stops_every_run(running: Running, tmp_path: Path) -> None:
    """A command that was approved may have opened it: until it is closed again, no yes runs anything."""
    call = await parked(running)
    (tmp_path / "state").chmod(0o755)
    [answer] = await running.service.decide(press(call))
    with pytest.raises(Unavailable):
        await running.service.submit(ask())
    (tmp_path / "state").chmod(0o700)

    assert answer.lease is None
    assert Status.REFUSED is (await stored(running, call)).status
    assert Status.PENDING is (await parked(running)).status


async def test_a_wait_ends_with_the_decision_or_with_its_time(running: Running) -> None:
    """Who waits is woken by the change, not by looking again; when the time is up they get the call as it is."""
    call = await parked(running)
    assert Status.PENDING is (await running.service.decided(call, 0.01)).status

    waiting = asyncio.create_task(running.service.decided(call))
    await running.service.decide(press(call, Verb.REJECT))
    assert Status.REJECTED is (await waiting).status


async def test_who_comes_late_is_not_kept_waiting(running: Running) -> None:
    """A call that was over before anybody waited is told at once, however many others changed since."""
    call = await parked(running)
    await running.service.decide(press(call, Verb.REJECT))
    for _ in range(2):
        assert Status.REJECTED is (await running.service.ended(call, 5)).status
        for number in range(600):
            running.service.waiting.changed(call.evolve(ref=str(number)))


async def test_large_calls_are_not_kept_in_memory(running: Running) -> None:
    """One agent can't fill it with a few hundred of them; who waits for one is told all the same."""
    call = (await running.service.submit(ask("echo " + "x" * 50_000))).call
    long = [call.evolve(ref="args"), call.evolve(ref="output", args=b"{}", output="x" * 50_000)]
    for each in long:
        running.service.waiting.changed(each)
    waiting = asyncio.create_task(running.service.decided(call))
    await running.service.decide(press(call, Verb.REJECT))
    del each
    long.clear()
    gc.collect()

    refs = {each.ref for each in gc.get_objects() if isinstance(each, Call)}
    assert refs.isdisjoint({"args", "output"})
    assert Status.REJECTED is (await waiting).status


@pytest.fixture
async def posting(tmp_path: Path, clock: SetClock, people: Directory) -> AsyncIterator[tuple[Running, RecordedChat]]:
    """The service with a chat platform, composed and not started."""
    chat = RecordedChat()

    async def chats(_store: Store, _keys: Keyring) -> Mapping[str, Chat]:
        return {"telegram": chat}

    made = await compose(
        state=tmp_path / "state",
        workspace=tmp_path / "workspace",
        people=replace(people, routes=("telegram:-1",)),
        allow=["bash"],
        policies=default_policy(),
        clock=clock,
        chats=chats,
    )
    yield made, chat
    await made.close()


async def test_the_outbox_outlives_a_row_that_it_cannot_read(
    posting: tuple[Running, RecordedChat], tmp_path: Path, clock: SetClock, caplog: pytest.LogCaptureFixture
) -> None:
    """It says so in the log, and cards go out once the row is mended: no bug may look like silence."""
    running, chat = posting
    call = await parked(running)
    with closing(sqlite3.connect(tmp_path / "state" / "sayso.db", isolation_level=None)) as other:
        other.execute("update outbox set kind = 'nonsense'")
        await running.service.start()
        await until(lambda: "store.tampered" in caplog.messages)
        other.execute("update outbox set kind = 'card'")
        clock.advance(2)
        await until(lambda: chat.posts)

    assert [call.ref] == [shown.call.ref for shown in chat.posts]


async def until(seen: Callable[[], object]) -> None:
    """Waits until it is true, for a while."""
    async with asyncio.timeout(PATIENCE_S):
        while not seen():  # noqa: ASYNC110 - nothing else tells
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("moments", range(6))
async def test_who_hangs_up_stops_no_decision_halfway(running: Running, tmp_path: Path, moments: int) -> None:
    """Cancelled at any moment after it was handed in, a yes counts whole: decided, run once, on record."""
    call = await parked(running)
    deciding = asyncio.create_task(running.service.decide(press(call)))
    for _ in range(1 + moments):
        await asyncio.sleep(0)
    deciding.cancel()
    await asyncio.gather(deciding, return_exceptions=True)
    ended = await running.service.ended(call, 5.0)

    assert Status.SUCCEEDED is ended.status
    assert "ran\n" == (tmp_path / "workspace" / "out.txt").read_text()
    assert ["asked", "approved", "succeeded"] == [line.event for line in await running.store.history(call.ref)]


@pytest.mark.parametrize("moments", range(6))
async def test_who_hangs_up_after_asking_finds_the_same_call(running: Running, moments: int) -> None:
    """Asked again under the same key, it is there, once; what was allowed ran once."""
    allowed = Ask("workspace", "list_files", {"path": "."}, ASKER, PLACE, Runs.SERVICE, key="k")
    asking = asyncio.create_task(running.service.submit(allowed))
    for _ in range(1 + moments):
        await asyncio.sleep(0)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    again = (await running.service.submit(allowed)).call
    ended = await running.service.ended(again, 5.0)

    assert Status.SUCCEEDED is ended.status
    assert ["asked", "allowed", "succeeded"] == [line.event for line in await running.store.history(again.ref)]


@pytest.mark.parametrize(("reason", "told"), [("too many files", "too many files"), (None, "")])
async def test_who_waits_for_a_no_can_wait_for_why(
    running: Running, clock: SetClock, reason: str | None, told: str
) -> None:
    """Until the reason comes, or its time is over; nothing is due then."""
    call = await parked(running)
    await running.service.decide(press(call, Verb.REJECT))
    waiting = asyncio.create_task(running.service.explained(call))
    decided = await running.service.decided(call)
    if reason:
        await running.service.gate.add_reason(call.ref, ME, reason)
    else:
        clock.advance(60)
        await running.service.expiry.sweep()
    async with asyncio.timeout(PATIENCE_S):
        explained = await waiting

    assert (None, True) == (decided.reason, decided.awaits_reason)
    assert (told, False) == (explained.reason, explained.awaits_reason)
    assert explained == await stored(running, call)
    assert None is await running.store.next_due()
