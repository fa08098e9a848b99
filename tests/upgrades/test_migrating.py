"""Databases of every schema, brought up to date: each call goes on from where it was left, once.

`landed/` holds a database for each schema that a service of this repository has written. The last version of the
service with that schema made it, with its own libraries, and was killed. Schemas 0005, 0006 and 0007 were each the
newest one for some hours only, but a service that ran had each of them.

`test_landed.py` opens the same databases with the real service and a chat. That takes longer.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from adapters.database.sqlite.schema import REVISIONS
from hitl.call import Event, Result
from hitl.errors import AlreadyDecided, ConfirmationExpired
from hitl.gate.response import Came
from tests.upgrades.opened import PENDING, Opened
from tests.upgrades.place import LANDED, OPEN, kind

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

OVER = ("idle", "completed", "error", "executing, claimed")


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
