"""Databases that older versions left behind, killed in the middle of their work, opened by the service of today.

Each test opens a copy with the real `sayso run`. A time in its name is the service's own time, scripted by `at.py`:
`soon` is 15 seconds after the first yes of two, `late` ten minutes after the old process died. `today` is the real
time of the machine, years after that.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import shutil
import sqlite3
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hitl.cards.wording import IN_ENGLISH
from hitl.errors import AlreadyDecided, ConfirmationExpired
from hitl.gate import secret_hash
from hitl.outcomes import Fact, unkept
from hitl.proof.chain import verify
from sayso_client.errors import ClientError
from simulators.telegram import TelegramServer
from tests.sentences import says
from tests.upgrades.make import SECRET
from tests.upgrades.place import APPROVE, OPEN, Place, Timed, kind, unpack

pytestmark = pytest.mark.long

SOON_S, LATE_S = 15, 600
HANDLED = "select 1 where not exists (select 1 from inbox where handled_at is null and aside_at is null)"


@dataclass
class Opened:
    """A copy of an old database, with the service of today over it, and the people around it."""

    place: Place
    service: Timed
    calls: dict[str, dict[str, Any]]

    def ref(self, name: str) -> str:
        """The ref of a call."""
        return str(self.calls[name]["ref"])

    def short(self, name: str) -> str:
        """The short ref of a call."""
        return str(self.calls[name]["short"])

    async def call(self, op: str, **fields: Any) -> dict[str, Any]:
        """Ada's request over the socket."""
        return await asyncio.to_thread(self.service.call, op, **fields)

    async def show(self, name: str) -> dict[str, Any]:
        """A call as Ada sees it."""
        told: dict[str, Any] = (await self.call("show", target=self.ref(name)))["call"]
        return told

    async def becomes(self, name: str, status: str) -> None:
        """Wait until a call has this status."""
        await self.until(
            f"{name}: {status}", "select 1 from calls where ref = ? and ? in (result, decision)", name, status
        )

    async def until(self, what: str, query: str, name: str, *more: str) -> None:
        """Wait until a query with a call's ref finds something."""

        def found() -> bool:
            with self.service.database() as database:
                return database.execute(query, (self.ref(name), *more)).fetchone() is not None

        await self.place.server.wait_for(found, 60, what)

    async def refused(self, op: str, **fields: Any) -> ClientError:
        """The error that Ada's request ends in."""
        with pytest.raises(ClientError) as caught:
            await self.call(op, **fields)
        return caught.value


@contextlib.asynccontextmanager
async def opened(landed: Path, after_s: float | None) -> AsyncIterator[Opened]:
    """Open a copy, so many seconds after the first yes of two, or today if None."""
    told = json.loads((landed / "calls.json").read_text())
    async with at_its_place(landed) as root, TelegramServer() as server:
        place = await Place.first(server)
        place.restore(json.loads((landed / "telegram.json").read_text()))
        service = place.service(root)
        place.rule(root, "deny")
        unpack(landed, service.state)
        if after_s is not None:
            service.at = datetime.fromisoformat(told["first_yes"]) + timedelta(seconds=after_s)
        try:
            await asyncio.to_thread(service.start)
            yield Opened(place, service, told["calls"])
            assert {None} == {verify(service.keys, chain) for chain in service.chains().values()}
            assert "Traceback" not in service.log
        finally:
            await asyncio.to_thread(service.close)


@contextlib.asynccontextmanager
async def at_its_place(landed: Path) -> AsyncIterator[Path]:
    """The folder in which the old service lived, for one test at a time: its cards name the workspace in it."""
    root = workspace_of(landed).parent
    with root.with_suffix(".lock").open("w") as lock:
        await asyncio.to_thread(fcntl.flock, lock, fcntl.LOCK_EX)
        shutil.rmtree(root, ignore_errors=True)  # A test that was killed leaves it.
        root.mkdir(mode=0o700)
        try:
            yield root
        finally:
            shutil.rmtree(root, ignore_errors=True)


@cache
def workspace_of(landed: Path) -> Path:
    """The workspace that the cards of an old database name: one for all its calls."""
    with tempfile.TemporaryDirectory() as folder:
        unpack(landed, Path(folder, "state"))
        with contextlib.closing(sqlite3.connect(Path(folder, "state", "sayso.db"))) as database:
            ((workspace,),) = database.execute("select distinct cwd from calls where cwd is not null")
    return Path(workspace)


def as_told(error: str | None) -> str | None:
    """The sentence for an error of a row: schemas up to 0003 hold sentences, later ones what `kept` wrote.

    A policy's reason in it is a sentence up to schema 0008, and what `kept` wrote since then.
    """
    unfit = unkept(error) if error else None
    if unfit is None:
        return error
    return IN_ENGLISH.sentence(
        Fact(unfit.what, {name: IN_ENGLISH.retold(str(value)) for name, value in unfit.particulars.items()})
    )


async def test_what_had_ended_reads_as_it_ended_today(landed: Path) -> None:
    """Each ended call has the decision, the result and the reason that it had, and can't be decided again."""
    async with opened(landed, None) as old:
        ended = {name: row for name, row in old.calls.items() if kind(row) not in OPEN and name != "rejected-by-press"}
        shown = {name: await old.show(name) for name in ended}
        codes = {(await old.refused("decide", target=row["ref"], verb="approve")).code for row in ended.values()}
        checks = json.loads((await asyncio.to_thread(old.service.run, "doctor", "--json")).stdout)

        assert {name: row["result"] or row["decision"] for name, row in ended.items()} == {
            name: one["status"] for name, one in shown.items()
        }
        for told in ("decided_by", "requester", "state", "runs"):
            assert {name: row[told] for name, row in ended.items()} == {name: one[told] for name, one in shown.items()}
        assert {name: row["reason"] and IN_ENGLISH.retold(row["reason"]) for name, row in ended.items()} == {
            name: one["reason"] for name, one in shown.items()
        }
        assert {name: as_told(row["error"]) for name, row in ended.items()} == {
            name: one["error"] for name, one in shown.items()
        }
        assert codes <= {"ALREADY_DECIDED", "CONF_EXPIRED", "NOT_APPROVER"}
        assert ["green"] == [check["state"] for check in checks if check["name"] == "database"]


async def test_what_was_open_is_over_today(landed: Path) -> None:
    """After all deadlines: pending calls are expired, approved ones lapsed, started ones unknown; nothing runs.

    A press that was recorded in time, but is handled after the deadline, approves nothing.
    """
    async with opened(landed, None) as old:
        await old.until("the recorded press", "select 1 from audit where ref = ? and event = 'late'", "pressed")
        left = {name: row for name, row in old.calls.items() if kind(row) in OPEN}
        after = {name: (await old.show(name))["status"] for name in left}

        assert {name: OPEN[kind(row)] for name, row in left.items()} == after
        assert ConfirmationExpired.code == (await old.refused("decide", target=old.ref("pending"), verb="approve")).code
        assert (await old.refused("claim", ref=old.ref("approved"), secret_hash=secret_hash(SECRET))).code
        assert not old.service.lines("asked.txt")


async def test_open_calls_go_on_soon(landed: Path) -> None:
    """Pending calls are approved by an old card's button and on this machine, rejected and withdrawn."""
    async with opened(landed, SOON_S) as old:
        await old.place.press(old.short("pending-in-the-group"), APPROVE)
        await old.becomes("pending-in-the-group", "succeeded")
        again = await old.refused("decide", target=old.ref("pending-in-the-group"), verb="approve")
        assert (await old.call("decide", target=old.ref("pending"), verb="approve"))["decided"]
        await old.call("claim", ref=old.ref("pending"), secret_hash=secret_hash(SECRET))
        twice = await old.refused("claim", ref=old.ref("pending"), secret_hash=secret_hash("another's"))
        await old.call("finish", ref=old.ref("pending"), secret=SECRET, result="succeeded")
        await old.call("decide", target=old.ref("pending-to-reject"), verb="reject", reason="too late")
        await old.call("withdraw", target=old.ref("pending-to-withdraw"))
        names = ("pending-in-the-group", "pending", "pending-to-reject", "pending-to-withdraw", "pending-for-an-hour")
        after = [(await old.show(name))["status"] for name in names]

        assert ["succeeded", "succeeded", "rejected", "withdrawn", "pending"] == after
        assert [AlreadyDecided.code] * 2 == [again.code, twice.code]
        assert ["asked"] == old.service.lines("asked.txt")


async def test_approved_calls_are_claimed_soon(landed: Path) -> None:
    """Within its window an approved call, and an allowed one, is claimed; a claimed call is its claimant's alone."""
    async with opened(landed, SOON_S) as old:
        for name in ("approved", "allowed"):
            await old.call("claim", ref=old.ref(name), secret_hash=secret_hash(SECRET))
            await old.call("finish", ref=old.ref(name), secret=SECRET, result="succeeded")
        again = await old.call("claim", ref=old.ref("claimed"), secret_hash=secret_hash(SECRET))
        taken = await old.refused("claim", ref=old.ref("claimed"), secret_hash=secret_hash("another's"))
        foreign = await old.refused("finish", ref=old.ref("claimed"), secret="another's", result="succeeded")
        await old.call("finish", ref=old.ref("claimed"), secret=SECRET, result="failed")
        await old.call("finish", ref=old.ref("unknown"), secret=SECRET, result="succeeded")
        names = ("approved", "allowed", "claimed", "unknown", "executing")

        assert {"argv": ["echo", "claimed"]} == again["args"]
        assert ["ALREADY_DECIDED", "NOT_APPROVER"] == [taken.code, foreign.code]
        after = [(await old.show(name))["status"] for name in names]
        # A service whose lease names no place worked here. Another place's lease ends by its time.
        placed = old.calls["executing"]["claim_owner"].count(":") > 1
        assert ["succeeded", "succeeded", "failed", "succeeded", "running" if placed else "unknown"] == after


async def test_prompts_are_answered_soon(landed: Path) -> None:
    """Details that were read, a first yes of two, and two questions for a reason count after the upgrade.

    Before schema 0003, nothing was stored of which call a question for a reason was about. A reply to such a question
    decides nothing. The button of the card asks again.
    """
    async with opened(landed, SOON_S) as old:
        place = old.place
        for name in ("viewed", "first-yes"):
            await place.press(old.short(name), APPROVE)
        await asyncio.gather(*(old.becomes(name, "approved") for name in ("viewed", "first-yes")))
        asked = {"explaining": "the old key leaked", "rejected-by-press": "we are closed"}
        for name, words in asked.items():
            await place.server.say(place.bob, place.team, words, reply_to=question(old, name))
        if landed.name < "0003":
            await old.until("every event handled", f"{HANDLED} and ? is not null", "explaining")
            assert [None, None] == [(await old.show(name))["reason"] for name in asked]
            del asked["rejected-by-press"]
            unbound = question(old, "explaining").id
            await place.press(old.short("explaining"), APPROVE)
            await place.server.wait_for(lambda: question(old, "explaining").id > unbound, 60, "another question")
            await place.server.say(place.bob, place.team, asked["explaining"], reply_to=question(old, "explaining"))
        await old.becomes("explaining", "approved")
        for name in asked:
            await old.until("a reason", "select 1 from calls where ref = ? and reason is not null", name)

        assert asked == {name: (await old.show(name))["reason"] for name in asked}


def question(old: Opened, name: str) -> Any:
    """The message that asks for a reason: a question of its own, or a card that says that the request was rejected."""
    shown = [one for one in old.place.team.messages.values() if one.author_bot and old.short(name) in one.text]
    asking = [one for one in shown if one.force_reply] or [one for one in shown if says(one.text, "by.rejected")]
    return asking[-1]


async def test_what_waited_is_handled_and_posted_once_soon(landed: Path) -> None:
    """A recorded press approves its call, a recorded message asks for one, and unsent cards and edits go out, once."""
    async with opened(landed, SOON_S) as old:
        place = old.place
        await old.becomes("pressed", "approved")
        await place.card(old.short("unposted"))
        asked = await place.server.wait_message(place.team, "later.txt", button=APPROVE, timeout=60)
        unsent = "select 1 where not exists (select 1 from outbox where ref = ?)"
        await asyncio.gather(*(old.until(f"{name} sent", unsent, name) for name in ("unposted", "withdrawn-unseen")))
        cards = {name: place.cards(old.short(name)) for name in ("unposted", "withdrawn-unseen")}

        assert {"unposted": 1, "withdrawn-unseen": 1} == {name: len(cards[name]) for name in cards}
        assert () == cards["withdrawn-unseen"][0].labels
        assert 1 == sum("later.txt" in one.text and one.labels == asked.labels for one in place.team.messages.values())


async def test_what_came_too_late_counts_no_more_late(landed: Path) -> None:
    """After its time an approval lapses, a second yes is a first one again, and no reason is taken."""
    async with opened(landed, LATE_S) as old:
        await old.place.press(old.short("first-yes"), APPROVE)
        after = {name: (await old.show(name))["status"] for name in ("approved", "allowed", "first-yes", "pending")}
        place = old.place
        await place.server.say(place.bob, place.team, "we are closed", reply_to=question(old, "rejected-by-press"))
        await place.server.wait_drained(timeout=60)
        await old.until("every event handled", f"{HANDLED} and ? is not null", "rejected-by-press")
        told = await old.show("rejected-by-press")

        assert {"approved": "lapsed", "allowed": "lapsed", "first-yes": "pending", "pending": "pending"} == after
        assert ("rejected", "") == (told["status"], told["reason"] or "")
        late = await old.refused("claim", ref=old.ref("approved"), secret_hash=secret_hash(SECRET))
        assert late.code in {AlreadyDecided.code, ConfirmationExpired.code}
