"""A tool takes its time; people go on answering meanwhile."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

from hitl.call import Ran, Result, Status, Verb
from hitl.testing import ScriptedExecutor
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from hitl.call import Call, Lease
    from tests.scenarios.harness import Stage


class Slow(ScriptedExecutor):
    """Each run ends when the test lets it, and tells its own path."""

    def __init__(self, tools: ScriptedExecutor) -> None:
        super().__init__(tools.tools)
        self.gates: dict[str, asyncio.Event] = {}

    async def run(self, lease: Lease, *, limit_s: float) -> Ran:
        """Begun at once, over when its gate is opened."""
        await super().run(lease, limit_s=limit_s)
        path = str(lease.call.arguments["path"])
        await self.gate(path).wait()
        return Ran(Result.SUCCEEDED, f"ran on {path}")

    def gate(self, path: str) -> asyncio.Event:
        """Where the run on a path waits, also one that is yet to begin."""
        return self.gates.setdefault(path, asyncio.Event())


def slowed(stage: Stage) -> Slow:
    """The stage's tools take their time from now on."""
    slow = Slow(stage.executor)
    stage.executor = stage.service.gate.executor = slow
    return slow


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait until the condition holds, at most for a limited time."""
    async with asyncio.timeout(PATIENCE_S):
        while not await holds():  # noqa: ASYNC110 - the record has no event for it
            await asyncio.sleep(0.005)


async def test_the_next_is_decided_meanwhile(stage: Stage) -> None:
    """By words, while the first still runs: a conversation is never busy."""
    slow = slowed(stage)
    one, other, third = [await stage.ask(args={"path": name}) for name in ("one", "other", "third")]

    async def is_over(call: Call, status: Status) -> bool:
        stored = await stage.store.get(call.ref)
        return stored is not None and stored.status is status

    answers = [asyncio.create_task(stage.surface.answer("ann", one, f"yes {one.short}"))]
    await until(lambda: is_over(one, Status.RUNNING))
    answers.append(asyncio.create_task(stage.surface.answer("bob", third, f"no {third.short}")))
    await until(lambda: is_over(third, Status.REJECTED))
    answers.append(asyncio.create_task(stage.surface.answer("ann", other, f"yes {other.short}")))
    await until(lambda: is_over(other, Status.RUNNING))
    for path in ("one", "other"):
        slow.gate(path).set()
    await asyncio.gather(*answers)

    assert [Status.SUCCEEDED] * 2 == [await stage.status(call) for call in (one, other)]
    assert [{"path": "one"}, {"path": "other"}] == stage.ran()


async def test_each_result_comes_to_its_own_call(stage: Stage) -> None:
    """Nine runs end in any order; what was rejected among them never began."""
    slow = slowed(stage)
    calls = [await stage.ask(args={"path": f"{n}"}, key=f"{n}") for n in range(12)]
    chance = random.Random(7)  # noqa: S311 - an order, no secret
    verbs = {call.ref: Verb.REJECT if n % 4 == 3 else Verb.APPROVE for n, call in enumerate(calls)}
    shuffled = chance.sample(calls, len(calls))
    answers = [asyncio.create_task(stage.surface.press("ann", call, verbs[call.ref])) for call in shuffled]

    async def all_began() -> bool:
        return len(stage.ran()) == 9

    await until(all_began)
    for path in chance.sample(sorted(slow.gates), len(slow.gates)):
        slow.gates[path].set()
        await asyncio.sleep(0)
    await asyncio.gather(*answers)
    statuses = [await stage.status(call) for call in calls]
    stored = [await stage.store.get(call.ref) for call in calls]
    outputs = [call.output for call in stored if call is not None]

    assert [Status.REJECTED if n % 4 == 3 else Status.SUCCEEDED for n in range(12)] == statuses
    assert [None if n % 4 == 3 else f"ran on {n}" for n in range(12)] == outputs


async def test_nothing_more_is_asked_once_it_is_answered(stage: Stage) -> None:
    """However long one looks on: one card, one run."""
    call = await stage.ask()
    await stage.surface.press("ann", call, Verb.APPROVE)
    assert Status.SUCCEEDED == await stage.status(call)
    shown = [len(stage.surface.heard(who)) for who in ("ann", "bob", "uma")]
    for _ in range(6):
        await stage.wait(60)

    assert shown == [len(stage.surface.heard(who)) for who in ("ann", "bob", "uma")]
    assert 1 == len(stage.ran())
