"""The worker that retires old calls: which calls, when, and what keeps it from one."""

from __future__ import annotations

import asyncio
import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from bot.compose import Running
from bot.workers.retention import RetentionWorker
from hitl.call import Ask, Call, Ran, Reply, ReplyKind, Result, Runs, Verb
from hitl.gate import secret_hash
from hitl.testing import SetClock
from tests.bot.conftest import ASKER, ME, PLACE
from tests.patience import PATIENCE_S

DAY_S = 24 * 3600.0
SECRET = "mine"


async def ended(running: Running, name: str, result: Result = Result.SUCCEEDED) -> Call:
    """A request that was approved and run by its caller."""
    ask = Ask("deploy", "release", {"name": name}, ASKER, PLACE, Runs.CALLER)
    call = (await running.service.submit(ask)).call
    await running.service.decide(approval(call))
    await running.service.gate.claim(call.ref, "agent", secret_hash(SECRET))
    return await running.service.gate.finish(call.ref, SECRET, Ran(result, f"ran {name}"))


def approval(call: Call) -> Reply:
    """A yes of somebody who may approve."""
    return Reply(ME, "local", PLACE, ReplyKind.API, Verb.APPROVE, target=call.ref, confirmed=True)


def worker(running: Running, arguments: int | None = None, calls: int | None = None) -> RetentionWorker:
    """The worker with these ages, in days."""
    ages = {"arguments": arguments, "calls": calls}
    return RetentionWorker(
        running.service.gate, **{name: None if age is None else timedelta(days=age) for name, age in ages.items()}
    )


async def look(running: Running, call: Call) -> tuple[bool, bool]:
    """Whether the call is erased, and whether it is archived."""
    stored = await running.store.get(call.ref)
    assert stored is not None
    return stored.erased_at is not None, stored.archived


async def test_arguments_go_sooner_than_calls(running: Running, clock: SetClock) -> None:
    """Each at its own age, counted from the end of the call."""
    call, found = await ended(running, "a"), []
    retention = worker(running, arguments=90, calls=365)
    for days in (89, 1, 274, 1):
        clock.advance(days * DAY_S)
        await retention.sweep()
        found.append(await look(running, call))

    assert [(False, False), (True, False), (True, False), (True, True)] == found


async def test_an_archived_call_is_erased_without_an_age_of_its_own(running: Running, clock: SetClock) -> None:
    """What is archived keeps no arguments."""
    call = await ended(running, "a")
    clock.advance(365 * DAY_S)
    await worker(running, calls=365).sweep()

    assert (True, True) == await look(running, call)


async def test_a_pass_reaches_every_page(running: Running, clock: SetClock) -> None:
    """More calls than a page holds, and a newer one that stays."""
    old = [await ended(running, str(number)) for number in range(23)]
    clock.advance(DAY_S)
    new = await ended(running, "new")
    await worker(running, arguments=1).sweep()

    assert {(True, False)} == {await look(running, call) for call in old}
    assert (False, False) == await look(running, new)


async def test_a_call_without_a_known_result_stays(running: Running, clock: SetClock) -> None:
    """A late report may still say what its tool did."""
    call = await ended(running, "a", Result.UNKNOWN)
    clock.advance(1000 * DAY_S)
    await worker(running, arguments=1, calls=1).sweep()

    assert (False, False) == await look(running, call)


async def test_a_changed_call_stays_and_is_named_once(
    running: Running, clock: SetClock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is evidence. The others are retired all the same."""
    changed, other = await ended(running, "a"), await ended(running, "b")
    with sqlite3.connect(tmp_path / "state" / "sayso.db") as database:
        database.execute("update calls set output = 'nothing' where ref = ?", (changed.ref,))
    clock.advance(DAY_S)
    retention = worker(running, arguments=1)
    await retention.sweep()
    await retention.sweep()

    assert [(False, False), (True, False)] == [await look(running, call) for call in (changed, other)]
    assert ["retention.kept_changed"] == [one.message for one in caplog.records if one.levelname == "ERROR"]


async def test_a_retired_call_is_not_asked_again(running: Running, clock: SetClock, tmp_path: Path) -> None:
    """A call that was refused because its file had changed was asked again then, once, and not when it is archived."""
    file = tmp_path / "workspace" / "a.txt"
    file.write_text("one")
    ask = Ask("workspace", "delete_file", {"path": "a.txt"}, ASKER, PLACE, Runs.SERVICE)
    call = (await running.service.submit(ask)).call
    file.write_text("two")
    await running.service.decide(approval(call))
    async with asyncio.timeout(PATIENCE_S):
        while len(await running.store.page(None, 9, pending=False)) < 2:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.01)
    clock.advance(DAY_S)
    await worker(running, calls=1).sweep()
    calls = {each.ref: each for each in await running.store.page(None, 9, pending=False)}

    assert (Result.REFUSED, True, 2) == (calls[call.ref].result, calls[call.ref].archived, len(calls))


async def test_without_ages_no_pass_begins(running: Running) -> None:
    """By default every call is kept as it is."""
    retention = worker(running)
    retention.start()
    await retention.stop()

    assert retention._task is None  # noqa: SLF001 - nothing else tells


async def test_a_stop_in_the_middle_loses_nothing(running: Running, clock: SetClock) -> None:
    """The next pass goes on with what is left."""
    calls = [await ended(running, str(number)) for number in range(3)]
    clock.advance(DAY_S)
    first = worker(running, arguments=1)
    first.start()
    await first.stop()
    await worker(running, arguments=1).sweep()

    assert {(True, False)} == {await look(running, call) for call in calls}
