"""Make a database with calls in every state, as the service of today leaves one behind when it is killed.

    python -m tests.upgrades.make

It starts the real `sayso run` beside our Telegram server, at times in the past, and writes `landed/REVISION/`:

- `state.tar.xz`: the state folder, with the database as the killed process left it, and keys made for this alone;
- `telegram.json`: the messages in the two groups, for the next server (`place.py`);
- `calls.json`: each call by a name, its ref and how it was left (columns of its row), and the times to go on from.

Make a new one when a release changes what a database holds, and keep the old ones: upgrades begin at each of them.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from adapters.database.sqlite.schema import REVISIONS
from hitl.gate import secret_hash
from hitl.times import moment
from sayso_client.errors import ClientError
from simulators.telegram import TelegramServer
from simulators.telegram.faults import Refuse
from tests.upgrades.place import APPROVE, DETAILS, LANDED, REJECT, Place, Timed

#: The first start. Any day on which somebody runs the tests is later than all of this.
BEGAN = datetime(2025, 1, 6, 12, 0, tzinfo=UTC)
#: What the claimants keep; tests go on with it.
SECRET = "the claimant's own"
#: What a row says of how its call was left.
LEFT = ("short", "requester", "runs", "state", "decision", "decided_by", "reason", "result", "error", "claim_owner")
#: Passing trouble, for everything that is to stay in the outbox.
TROUBLE = Refuse(500, "Internal Server Error")


class Maker:
    """One installation and its lives; `refs` are its calls by their names."""

    def __init__(self, place: Place, service: Timed) -> None:
        self.place = place
        self.service = service
        self.refs: dict[str, str] = {}

    # What anybody does

    async def request(self, name: str, tool: str = "deploy", **more: Any) -> str:
        """Ada asks over the socket; the ref, also of a call that the policy denies."""
        fields = {"tool": tool, "args": {"argv": ["echo", name]}, **more}
        try:
            ref = (await self.call("ask", **fields))["call"]["ref"]
        except ClientError as denied:
            if denied.ref is None:
                raise
            ref = denied.ref
        self.refs[name] = ref
        return self.refs[name]

    async def chat(self, name: str, text: str) -> str:
        """Ann asks in the team's group; the ref, once the card is posted."""
        known = set(self._refs())
        await self.place.ask(text)
        self.refs[name] = await self.place.server.wait_for(lambda: self._new(known), 60, name)
        await self.place.card(self.short(name))
        return self.refs[name]

    def _refs(self) -> list[str]:
        with self.service.database() as database:
            return [ref for (ref,) in database.execute("select ref from calls")]

    def _new(self, known: Iterable[str]) -> str | None:
        return next(iter(set(self._refs()).difference(known)), None)

    async def call(self, op: str, **fields: Any) -> dict[str, Any]:
        """One request over the socket."""
        return await asyncio.to_thread(self.service.call, op, **fields)

    async def decide(self, name: str, verb: str, reason: str | None = None) -> None:
        """Ada decides over the socket."""
        await self.call("decide", target=self.refs[name], verb=verb, reason=reason)

    async def claim(self, name: str) -> None:
        """Ada's program claims an approved call."""
        await self.call("claim", ref=self.refs[name], secret_hash=secret_hash(SECRET))

    async def press(self, name: str, label: str) -> str:
        """Bob presses a button on the card."""
        return await self.place.press(self.short(name), label)

    def short(self, name: str) -> str:
        """The short ref of a call."""
        return str(self.column(name, "short"))

    def column(self, name: str, column: str) -> Any:
        """What the row of a call says."""
        with self.service.database() as database:
            query = f"select {column} from calls where ref = ?"  # noqa: S608 - ours
            return database.execute(query, (self.refs[name],)).fetchone()[0]

    async def left(self, name: str, column: str, value: str) -> None:
        """Wait until the row says so."""
        await self.place.server.wait_for(lambda: self.column(name, column) == value, 60, f"{name}: {value}")

    async def start(self, at: datetime, dies_at: str = "") -> None:
        """Start the service at that time."""
        self.service.at = at
        await asyncio.to_thread(self.service.start, dies_at=dies_at)

    async def killed(self) -> None:
        """Wait until the service has died of what was planned."""
        assert -9 == await asyncio.to_thread(self.service.wait)

    async def delivered(self) -> None:
        """Wait until nothing is left to be posted or handled."""

        def none() -> bool:
            with self.service.database() as database:
                query = "select 1 from outbox union select 1 from inbox where handled_at is null and aside_at is null"
                return database.execute(query).fetchone() is None

        await self.place.server.wait_for(none, 60, "an empty outbox")

    # The lives

    async def ended(self) -> None:
        """First life: what ends at once, what is to expire, to lapse and to be lost; it dies with a lease."""
        await self.start(BEGAN, "service.leased:2")
        await self._reports()
        await self._refusals()
        await self._in_the_group()
        await self.request("expired", timeout_s=300)
        await self.request("lapsed")
        await self.decide("lapsed", "approve")
        await self.request("lease-lost")
        await self.decide("lease-lost", "approve")
        await self.claim("lease-lost")
        await self.delivered()
        await self.chat("run-lost", "write lost.txt lost")
        await self.place.server.press(self.place.bob, await self.place.card(self.short("run-lost")), APPROVE)
        await self.killed()

    async def _reports(self) -> None:
        for result in ("succeeded", "failed", "timed_out", "unknown"):
            await self.request(result)
            await self.decide(result, "approve")
            await self.claim(result)
            status = {"exit_status": 3, "error": "exit status 3"} if result == "failed" else {}
            await self.call("finish", ref=self.refs[result], secret=SECRET, result=result, **status)
        await self.request("released")
        await self.decide("released", "approve")
        await self.call("release", ref=self.refs["released"])

    async def _refusals(self) -> None:
        await self.request("denied", "drop_table", by_policy=True)
        await self.request("rejected")
        await self.decide("rejected", "reject", "not on a Friday")
        await self.request("rejected-without-a-word")
        await self.decide("rejected-without-a-word", "reject")
        await self.request("withdrawn")
        await self.call("withdraw", target=self.refs["withdrawn"])
        await self.request("denied-later", "retire")
        await self.request("refused", "retire")
        await self.decide("refused", "approve")
        self.place.rule(self.service.root, "deny")
        await self.place.server.wait_for(lambda: self.service.log.count("policy.loaded") > 1, 60, "the new policy")
        with_refusal = await asyncio.gather(
            self.claim("refused"), self.decide("denied-later", "approve"), return_exceptions=True
        )
        assert all(isinstance(one, Exception) for one in with_refusal), with_refusal

    async def _in_the_group(self) -> None:
        await self.chat("ran", "write ran.txt once")
        await self.press("ran", APPROVE)
        await self.left("ran", "result", "succeeded")
        await self.chat("rejected-in-words", "write never.txt never")
        card = await self.place.card(self.short("rejected-in-words"))
        await self.place.server.say(self.place.bob, self.place.team, "no because it is late", reply_to=card)
        await self.left("rejected-in-words", "decision", "rejected")
        known = set(self._refs())
        await self.place.ask("write nowhere.txt nothing", self.place.nobody)
        self.refs["undeliverable"] = await self.place.server.wait_for(lambda: self._new(known), 60, "undeliverable")
        await self.request("twice-approved", "wire_money")
        await self.press("twice-approved", APPROVE)
        await asyncio.sleep(1.2)
        await self.press("twice-approved", APPROVE)
        await self.left("twice-approved", "decision", "approved")
        await self.call("release", ref=self.refs["twice-approved"])

    async def opened(self) -> None:
        """Second life, two hours later: what is overdue ends; calls are asked for, and prompts left open."""
        await self.start(BEGAN + timedelta(hours=2))
        for name in ("expired", "lapsed", "lease-lost", "run-lost"):
            await self.place.server.wait_for(lambda name=name: self.column(name, "due_at") is None, 60, name)  # type: ignore[misc]
        for name in ("pending", "pending-to-reject", "pending-to-withdraw", "withdrawn-unseen", "pressed"):
            await self.request(name)
        await self.request("pending-for-an-hour", timeout_s=3600)
        await self.request("viewed", "publish", args={"argv": ["publish", "a long text " * 400]})
        await self.request("explaining", "rotate_key")
        await self.request("rejected-by-press")
        await self.request("first-yes", "wire_money")
        await self.chat("pending-in-the-group", "write asked.txt asked")
        await self.delivered()
        await self.press("viewed", DETAILS)
        await self.press("explaining", APPROVE)
        await self.press("rejected-by-press", REJECT)
        await self.press("first-yes", APPROVE)
        await self.delivered()
        self.service.kill()

    async def left_open(self) -> None:
        """Third life: Telegram is away, then back for one poll; it dies with events recorded and not yet handled."""
        server, place = self.place.server, self.place
        await server.press(place.bob, await place.card(self.short("pressed")), APPROVE)
        await place.ask("write later.txt later")
        await server.down()
        await self.start(self.first_yes + timedelta(seconds=5), "events.recorded")
        await self.request("approved")
        await self.decide("approved", "approve")
        await self.request("allowed", "look", by_policy=True)
        await self.request("claimed")
        await self.decide("claimed", "approve")
        await self.claim("claimed")
        await self.request("unposted")
        await self.call("withdraw", target=self.refs["withdrawn-unseen"])
        await asyncio.to_thread(self.service.say, "run sleep 600")
        self.refs["executing"] = next(ref for ref in self._refs() if ref not in self.refs.values())
        await self.decide("executing", "approve")
        await self.left("executing", "state", "executing")
        for method in ("sendMessage", "editMessageText"):
            await server.fail(method, TROUBLE, 1000)
        await server.up()
        await self.killed()

    @property
    def first_yes(self) -> datetime:
        """When Bob said the first yes of two."""
        with self.service.database() as database:
            query = "select at from prompts where ref = ? and kind = 'confirm'"
            return moment(database.execute(query, (self.refs["first-yes"],)).fetchone()[0])

    # What is kept

    def keep(self, folder: Path) -> None:
        """Write the folder."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        with self.service.database() as database:
            columns = ", ".join(LEFT)
            rows = {name: self._left(database, columns, ref) for name, ref in self.refs.items()}
        times = {"first_yes": self.first_yes.isoformat(), "killed": self._last().isoformat()}
        (folder / "calls.json").write_text(json.dumps({**times, "calls": rows}, indent=1) + "\n")
        (folder / "telegram.json").write_text(json.dumps(self.place.told(), indent=1, ensure_ascii=False) + "\n")
        with tarfile.open(folder / "state.tar.xz", "w:xz", preset=9) as tar:
            for name in ("sayso.db", "sayso.db-wal", "keys.json"):
                tar.add(self.service.state / name, name, filter=_nobodys)

    def _left(self, database: Any, columns: str, ref: str) -> dict[str, Any]:
        row = database.execute(f"select {columns} from calls where ref = ?", (ref,)).fetchone()  # noqa: S608 - ours
        return {"ref": ref, **dict(zip(LEFT, row, strict=True))}

    def _last(self) -> datetime:
        with self.service.database() as database:
            return moment(database.execute("select max(at) from audit").fetchone()[0])


def _nobodys(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Nothing of who made it."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


async def make(folder: Path) -> None:
    """Live the lives and keep what is left."""
    with tempfile.TemporaryDirectory(prefix="upgrades-") as root:
        async with TelegramServer() as server:
            place = await Place.first(server)
            maker = Maker(place, place.service(Path(root)))
            try:
                await maker.ended()
                await maker.opened()
                await maker.left_open()
                maker.keep(folder)
            except BaseException:
                sys.stderr.write(re.sub(r"(?m)^", "  ", maker.service.log[-5000:]))
                raise
            finally:
                maker.service.close()


if __name__ == "__main__":
    asyncio.run(make(LANDED / REVISIONS[-1]))
