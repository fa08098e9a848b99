"""Programs that reach the service over TCP with tokens: some ask and wait through each death of it, one decides."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tests.acceptance.installation import ME
from tests.matrix.line import Line, persistently
from tests.matrix.rooms import MARK
from tests.matrix.world import APPROVERS, Act, Asked, World

#: So many calls of one program wait at once.
AT_ONCE = 3
#: How often the approver's token answers a call that it sees, and how often with a yes. People answer on the platform.
ANSWERED, YES = 0.4, 0.75
#: What an agent is told of a decision, as exit statuses of `sayso ask` tell it.
EXITS = {"approved": 0, "rejected": 10, "expired": 11}


class Callers:
    """An agent's program and an approver's. `new` makes a request, and `leaving` tells that nobody asks for more."""

    def __init__(self, world: World, new: Callable[[str], Asked], leaving: Callable[[], bool]) -> None:
        self._world = world
        self._new = new
        self._leaving = leaving

    async def ask(self) -> None:
        """Have calls waiting, run what is approved, and ask for more, until it is time to leave."""
        token, _ = await self._token("agent", [f"ci{number}" for number in range(100)])
        await asyncio.gather(*(self._ask_again(token) for _ in range(AT_ONCE)))

    async def _ask_again(self, token: str) -> None:
        while not self._leaving():
            await self._see_through(self._new("http"), token)
            await asyncio.sleep(self._world.sure.uniform(0.5, 2.0))

    async def _see_through(self, asked: Asked, token: str) -> None:
        """Ask, wait in requests, claim, run and report; each request is sent until it is answered."""
        send = partial(persistently, self._world, token=token)
        args = {"mark": asked.mark, "amount": asked.amount}
        call = (await send("ask", tool="pay", args=args, key=asked.mark, agent="ci"))["call"]
        asked.recorded = True
        while call["status"] == "pending":
            call = (await send("wait", ref=call["ref"]))["call"]
        if call["status"] in EXITS:
            asked.exits.append(EXITS[call["status"]])
        if call["status"] == "approved":
            await self._run(call["ref"], send)

    async def _run(self, ref: str, send: Callable[..., Any]) -> None:
        secret = hashlib.sha256(ref.encode()).hexdigest()
        claimed = await send("claim", ref=ref, secret_hash=hashlib.sha256(secret.encode()).hexdigest())
        if "args" in claimed:
            with self._world.log.open("a") as log:
                log.write(f"{claimed['args']['mark']} {ref} {claimed['args']['amount']}\n")
            await send("finish", ref=ref, secret=secret, result="succeeded")

    async def decide(self) -> None:
        """Answer some of the calls that wait, once each, until cancelled."""
        token, name = await self._token("approver", APPROVERS)
        seen: set[str] = set()
        while True:
            listed = await persistently(self._world, "pending", token=token)
            for call in listed.get("calls", ()):
                found = MARK.search(str(call["args"]))
                if found and found[0].startswith("http") and call["ref"] not in seen:
                    seen.add(call["ref"])
                    if self._world.sure.random() < ANSWERED:
                        await self._decide(call["ref"], found[0], token, name)
            await asyncio.sleep(self._world.sure.uniform(0.2, 0.6))

    async def _decide(self, ref: str, mark: str, token: str, name: str) -> None:
        verb = "approve" if self._world.sure.random() < YES else "reject"
        act = self._world.did(Act(mark, f"token:{name}", verb, time.time()))
        with contextlib.suppress(OSError):
            async with Line.to(self._world, time.time() + 1, token) as line:
                told = await line.call("decide", target=ref, verb=verb)
            act.decided = bool(told.get("decided"))
            act.answered = act.decided or told.get("code") in {"ALREADY_DECIDED", "CONF_EXPIRED"}

    async def _token(self, scope: str, names: Sequence[str]) -> tuple[str, str]:
        """A token, and its name: the first of the names whose making was answered for. A name is never used again."""
        more = {"owner": ME, "origins": [self._world.room.place]} if scope == "agent" else {}
        for name in names:
            with contextlib.suppress(OSError):
                async with Line.to(self._world, time.time() + 60) as line:
                    made = await line.call("make_token", name=name, scope=scope, **more)
                if "token" in made:
                    return str(made["token"]), name
        raise AssertionError(f"no {scope}'s token could be made")
