"""Callers that waited when the service ended: they come back to the next process, or their calls end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from adapters.http.attendance import Attendance
from hitl.call import Decision, State
from hitl.ports import Change, Expect, Unit, adding
from hitl.testing import MemoryStore, SetClock, a_call
from tests.hitl.world import NOON
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from pathlib import Path

    from hitl.call import Call


class Starts:
    """The processes of a service, one after another, with one store and one file. `left` has the calls that ended."""

    def __init__(self, file: Path) -> None:
        self.store = MemoryStore(SetClock(NOON))
        self.left: list[str] = []
        self._file = file
        self._stopping = asyncio.Event()

    async def start(self) -> Attendance:
        """The attendance of another process, when the one before has stopped."""
        self._stopping.set()
        self._stopping = asyncio.Event()
        attendance = Attendance(self.end, self._stopping)
        await attendance.resume(self._file, self.store.get)
        return attendance

    async def call(self) -> Call:
        """A pending call."""
        call = a_call(NOON)
        await self.store.commit(adding(Change(call)))
        return call

    async def end(self, call: Call) -> None:
        """Withdraw a call."""
        over = call.evolve(state=State.IDLE, version=call.version + 1, decision=Decision.WITHDRAWN)
        await self.store.commit(Unit(Expect(call.ref, call.version), lambda _: Change(over)))
        self.left.append(call.ref)

    async def ends(self, count: int) -> list[str]:
        """The calls that ended, as soon as there are so many."""
        async with asyncio.timeout(PATIENCE_S):
            while len(self.left) < count:  # noqa: ASYNC110 - as a reader would
                await asyncio.sleep(0.01)
        return self.left

    def lines(self) -> list[str]:
        """The lines of the file."""
        return self._file.read_text().splitlines()

    def write(self, text: bytes) -> None:
        """What an earlier process left in the file."""
        self._file.write_bytes(text)


@pytest.fixture
def starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Starts:
    """A service whose callers get 0.1 s to come back. The time is the event loop's, which can't be set."""
    monkeypatch.setattr("adapters.http.attendance.RETURN_S", 0.1)
    return Starts(tmp_path / "attended")


async def test_who_does_not_come_back_takes_the_call_along(starts: Starts) -> None:
    """A caller that was killed while no service ran ended no connection."""
    attended, unattended = await starts.call(), await starts.call()
    (await starts.start()).attend(attended, asyncio.Future())
    await starts.start()

    assert [attended.ref] == await starts.ends(1)
    assert unattended == await starts.store.get(unattended.ref)


async def test_who_comes_back_keeps_the_call_and_is_expected_again(starts: Starts) -> None:
    """A caller that lives loses nothing by any number of restarts. Once it has died, its call ends."""
    lives, dies = await starts.call(), await starts.call()
    first = await starts.start()
    for call in (lives, dies):
        first.attend(call, asyncio.Future())
    for _ in range(2):
        (await starts.start()).attend(lives, asyncio.Future())

    assert [dies.ref] == await starts.ends(1)
    assert lives == await starts.store.get(lives.ref)
    await starts.start()
    assert [dies.ref, lives.ref] == await starts.ends(2)


async def test_a_call_that_is_over_is_no_longer_waited_for(starts: Starts) -> None:
    """It ended while the service stopped."""
    call = await starts.call()
    (await starts.start()).attend(call, asyncio.Future())
    await starts.end(call)
    await starts.start()

    assert [] == starts.lines()


async def test_a_file_that_is_odd_is_begun_again(starts: Starts) -> None:
    """Unknown calls and anything else mean nothing. After a start the file names open calls alone, each once."""
    call = await starts.call()
    starts.write(b"\xff\n\n" + f"{call.ref}\n{call.ref}\nno-such-call\n".encode())
    await starts.start()

    assert [call.ref] == starts.lines()


async def test_a_file_that_can_not_be_written_stops_nothing(starts: Starts, tmp_path: Path) -> None:
    """The callers are known as long as the process lives."""
    (tmp_path / "attended").mkdir()
    gone = asyncio.get_running_loop().create_future()
    (await starts.start()).attend(await starts.call(), gone)

    assert not gone.done()


async def test_calls_that_are_over_are_removed_from_a_long_file(
    starts: Starts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file doesn't grow without end."""
    monkeypatch.setattr("adapters.http.attendance._NOTED", 4)
    attendance, calls = await starts.start(), [await starts.call() for _ in range(6)]
    for call in calls:
        attendance.attend(call, asyncio.Future())
        if call is not calls[4]:
            attendance.changed(call.evolve(state=State.IDLE, decision=Decision.REJECTED))

    assert [calls[4].ref, calls[5].ref] == starts.lines()
