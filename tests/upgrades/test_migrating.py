"""Databases of every schema, brought up to date: each call goes on from where it was left, once.

`landed/` holds a database for each schema that a service of this repository has written. The last version of the
service with that schema made it, with its own libraries, and was killed. Schemas 0005, 0006 and 0007 were each the
newest one for some hours only, but a service that ran had each of them.

`test_landed.py` opens the same databases with the real service and a chat. That takes longer.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Self

import pytest
import time_machine

from adapters.database.folder import StateFolder
from adapters.database.mark import Mark
from adapters.database.sqlite.schema import REVISIONS
from adapters.database.sqlite.store import SqliteStore
from adapters.database.sqlite.survey import surveyed
from bot.settings import Settings
from hitl.call import Action, Event, Ran, Reply, ReplyKind, Result, Risk, Verb
from hitl.errors import AlreadyDecided, ConfirmationExpired, SaysoError
from hitl.gate import Gate
from hitl.gate.response import Came
from hitl.proof.integrity import Examined
from hitl.testing import ScriptedExecutor, SetClock
from tests.hitl.world import CLAIM, SECRET, Rules, verdict
from tests.upgrades.place import LANDED, OPEN, kind, unpack

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

TEAM, BOB = "telegram:-1000004200001", "telegram:3"
PEOPLE = {"ada": ["local:1000"], "bob": [BOB]}
TOOLS = dict.fromkeys(("deploy", "publish", "wire_money", "retire"), Action.APPROVE) | {"look": Action.ALLOW}
OVER = ("idle", "completed", "error", "executing, claimed")
#: Calls that a single yes of Bob's approves: he has read the details of one, and has said the first yes of another.
PENDING = (
    "pending",
    "pending-to-reject",
    "pending-to-withdraw",
    "pending-for-an-hour",
    "unposted",
    "viewed",
    "first-yes",
)


class Opened:
    """A copy of an old database, brought up to date 15 seconds after Bob's first yes of two."""

    def __init__(self, landed: Path, folder: Path) -> None:
        self.told: dict[str, Any] = json.loads((landed / "calls.json").read_text())
        self.calls: dict[str, dict[str, Any]] = self.told["calls"]
        self.clock = SetClock(datetime.fromisoformat(self.told["first_yes"]) + timedelta(seconds=15))
        self._folder = folder
        unpack(landed, folder)

    async def __aenter__(self) -> Self:
        """Bring it up to date, and put a gate over it."""
        self._kept = StateFolder.open(self._folder)
        with time_machine.travel(self.clock.now(), tick=False):  # Migrations read the machine's clock.
            self.store = await SqliteStore.open(self._kept, self.clock)
        rules = Rules()
        rules.verdicts = {tool: verdict(action, Risk.LOW) for tool, action in TOOLS.items()}
        self.gate = Gate(
            store=self.store,
            policies=rules,
            people=Settings(requesters=["ada"], approvers=["ada", "bob"], principals=PEOPLE).directory(),
            executor=ScriptedExecutor({}),
            keys=self.store.keys,
            owner="service:test",
        )
        return self

    async def __aexit__(self, *error: object) -> None:
        """Close it."""
        await self.store.close()
        self._kept.close()

    async def approve(self, name: str) -> Came:
        """What comes of Bob's press on the button of a card."""
        ref, now = self.calls[name]["ref"], self.clock.now()
        (answer,) = await self.gate.decide(
            Reply(BOB, "telegram", TEAM, ReplyKind.BUTTON, Verb.APPROVE, target=ref, pressed_at=now)
        )
        return answer.came

    async def run(self, name: str) -> Result | str:
        """How the run of a call ended, or the code of the error that refuses to let anybody run it."""
        ref = self.calls[name]["ref"]
        try:
            await self.gate.claim(ref, "ada", CLAIM)
            return (await self.gate.finish(ref, SECRET, Ran(Result.SUCCEEDED))).result or ""
        except SaysoError as error:
            return error.code

    def examined(self) -> Examined:
        """What `sayso audit verify` finds."""
        with surveyed(self.store.database) as survey:
            return survey.examine(self.store.keys, Mark(self._folder / "mark", self.store.keys).read())


@pytest.fixture
async def old(landed: Path, tmp_path: Path) -> AsyncIterator[Opened]:
    """Each old database in turn."""
    async with Opened(landed, tmp_path / "state") as opened:
        yield opened


def test_each_database_is_small_and_holds_every_state(landed: Path) -> None:
    """A database under 300 KB has calls in each state, decision and result that its version knew."""
    rows = json.loads((landed / "calls.json").read_text())["calls"].values()

    assert sum(file.stat().st_size for file in landed.iterdir()) < 300_000
    assert set(OPEN) | {"idle", "completed", "error"} == {kind(row) for row in rows}
    decisions = "allowed denied approved rejected expired withdrawn undeliverable".split()
    assert {None, *decisions} == {row["decision"] for row in rows}
    results = "succeeded failed timed_out released refused lapsed unknown".split()
    assert {None, *results} == {row["result"] for row in rows}


def test_each_schema_has_a_database() -> None:
    """A schema that a service has written is one that somebody may come from."""
    assert list(REVISIONS) == sorted(folder.name for folder in LANDED.iterdir())


async def test_every_row_and_line_is_as_it_was_written(old: Opened, landed: Path) -> None:
    """`audit verify` finds no flaw. A record from before schema 0004 has one line that seals what stood before it.

    That line is the first that is made with a key. What somebody changed before the update can't be seen.
    """
    found = old.examined()
    sealed = [line for line in await old.store.history("") if line.event == Event.SEALED]

    assert ((), len(old.calls)) == (found.flaws, found.calls)
    assert (landed.name < "0004") == (1 == len(sealed))


async def test_pending_calls_are_decided_and_run_once(old: Opened) -> None:
    """A press on an old card approves its call. The call runs once, and all of it is on record."""
    came = {name: await old.approve(name) for name in PENDING}
    first = {name: await old.run(name) for name in PENDING}
    second = {await old.approve(name) for name in PENDING}, {await old.run(name) for name in PENDING}

    assert dict.fromkeys(PENDING, Came.APPROVED) == came
    assert dict.fromkeys(PENDING, Result.SUCCEEDED) == first
    assert ({Came.REFUSED}, {AlreadyDecided.code}) == second
    assert () == old.examined().flaws


async def test_approved_calls_are_run_once(old: Opened) -> None:
    """What was approved or allowed, and not yet claimed, is claimed and run once."""
    names = [name for name, row in old.calls.items() if kind(row) == "executing, unclaimed"]

    assert [Result.SUCCEEDED] * len(names) == [await old.run(name) for name in names]
    assert [AlreadyDecided.code] * len(names) == [await old.run(name) for name in names]
    assert () == old.examined().flaws


async def test_what_ended_or_was_claimed_runs_no_more(old: Opened) -> None:
    """No press approves it and nobody can claim it. Its row stays as it was."""
    names = [name for name, row in old.calls.items() if kind(row) in OVER]
    before = [await old.store.get(old.calls[name]["ref"]) for name in names]
    came = {name: await old.approve(name) for name in names}
    codes = {await old.run(name) for name in names}

    assert dict.fromkeys(names, Came.REFUSED) == came
    assert codes <= {AlreadyDecided.code, ConfirmationExpired.code}
    assert before == [await old.store.get(old.calls[name]["ref"]) for name in names]
    assert () == old.examined().flaws
