"""A copy of an old database, opened in process: a gate over it, and what people and callers do there."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Self

import time_machine

from adapters.database.folder import StateFolder
from adapters.database.sqlite.store import SqliteStore
from bot.settings import Settings
from hitl.call import Action, Ran, Reply, ReplyKind, Result, Risk, Verb
from hitl.errors import SaysoError
from hitl.gate import Gate
from hitl.testing import ScriptedExecutor, SetClock
from tests.databases import examined
from tests.hitl.world import CLAIM, SECRET, Rules, verdict
from tests.upgrades.place import unpack

if TYPE_CHECKING:
    from pathlib import Path

    from hitl.gate.response import Came
    from hitl.proof.integrity import Examined

TEAM, BOB = "telegram:-1000004200001", "telegram:3"
#: Ada made the databases as one of these users, and approves her own calls.
PEOPLE = {"ada": ["local:0", "local:1000"], "bob": [BOB]}
TOOLS = dict.fromkeys(("deploy", "publish", "wire_money", "retire"), Action.APPROVE) | {"look": Action.ALLOW}
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
            people=Settings(
                requesters=["ada"], approvers=["ada", "bob"], principals=PEOPLE, self_approval_socket="high"
            ).directory(),
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
        return examined(self.store, self._folder / "mark")
