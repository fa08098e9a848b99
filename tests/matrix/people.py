"""What people and scripts do in a world, whether the service lives at the moment or not."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from typing import Any

from tests.acceptance.installation import ME
from tests.matrix.callers import Callers
from tests.matrix.line import Line
from tests.matrix.rooms import Sent
from tests.matrix.world import Act, Asked, World

#: So many requests of Ann's are open at once; one that led to no card within so many seconds isn't waited for.
OPEN, CARD_WITHIN_S = 2, 30.0
#: After so many seconds people send again what the platform refused. After each refusal in a row, Ann waits twice as
#: long: Slack delivers a refused message again later, and each of these messages becomes a request.
AGAIN_S = 1.0
#: What becomes of a card: one decider or two at the same moment, by pressing or in words, and how often.
PLANS: tuple[tuple[int, tuple[tuple[str, str], ...]], ...] = (
    (40, (("press", "approve"),)),
    (25, (("press", "approve"), ("press", "approve"))),
    (10, (("press", "approve"), ("press", "reject"))),
    (10, (("press", "reject"),)),
    (15, (("reply", "approve"),)),
)
#: The shortest time that a request may be open (settings), how many are asked at once that end together, and how many
#: such groups there are at a time.
SHORTEST_S, TOGETHER, GROUPS = 5, 8, 2
#: How often the process is stopped between these answers and their deadline, as a suspended machine is.
FROZEN = 0.8
RUN = "echo {mark} $SAYSO_REF {amount} >> {log}"


class People:
    """Ann, Bob and Cy on the platform, a script, programs over TCP, and somebody who answers at the last moment."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._sure = world.sure
        self._answered: dict[str, list[Sent]] = {}
        self._numbers = 0
        self._askers: list[asyncio.Task[None]] = []
        self._all_deciders: list[asyncio.Task[None]] = []
        self.leaving = False

    def at_work(self) -> list[asyncio.Task[None]]:
        """Everybody, until cancelled; once `leaving`, nobody asks for more."""
        last_moments = [self._last_moments] * GROUPS
        callers = Callers(self._world, self._asked, lambda: self.leaving)
        self._askers = [asyncio.create_task(one()) for one in (self._ann, self._script, callers.ask, *last_moments)]
        self._all_deciders = [asyncio.create_task(one()) for one in (self._deciders, callers.decide)]
        return [*self._askers, *self._all_deciders]

    @property
    def gone(self) -> bool:
        """Whether nobody asks for anything any more. Raises what anybody raised."""
        for task in self._all_deciders:
            if task.done():
                task.result()
        return all(task.done() and task.result() is None for task in self._askers)

    def _asked(self, kind: str) -> Asked:
        self._numbers += 1
        self._world.asks.append(Asked(f"{kind}{self._numbers}", self._sure.randrange(10_000, 100_000)))
        return self._world.asks[-1]

    # -- on the platform ------------------------------------------------------------------------------------

    async def _ann(self) -> None:
        """Ask the agent to run something, while not too many requests are open."""
        waiting: dict[str, tuple[Sent, float]] = {}
        again_s = AGAIN_S
        while not self.leaving:
            now, cards = time.monotonic(), self._undecided()
            for mark, (sent, since) in list(waiting.items()):
                refused, answered = sent.refused(), mark in self._answered
                patience_s = again_s if refused else CARD_WITHIN_S
                if mark not in cards and (answered or now - since > patience_s):
                    del waiting[mark]
                    again_s = min(2 * again_s, CARD_WITHIN_S) if refused and not answered else AGAIN_S
            if len(waiting) < OPEN:
                asked = self._asked("chat")
                command = RUN.format(mark=asked.mark, amount=asked.amount, log=self._world.log.name)
                sent = await self._world.room.ask(f"run {command}")
                asked.recorded, waiting[asked.mark] = sent.answered, (sent, now)
            await asyncio.sleep(self._sure.uniform(0.02, 0.3))

    async def _deciders(self) -> None:
        """Answer each card, once, and again a second later if the platform refused all that was sent."""
        last: dict[str, float] = {}
        while True:
            for mark, card in self._undecided().items():
                unheard = all(sent.refused() for sent in self._answered.get(mark, ()))
                if unheard and time.monotonic() - last.get(mark, 0.0) > AGAIN_S:
                    last[mark] = time.monotonic()
                    await self._answer(mark, card)
            await asyncio.sleep(self._sure.uniform(0.01, 0.08))

    def _undecided(self) -> dict[str, Any]:
        """The cards that are for the deciders."""
        return {mark: card for mark, card in self._world.room.cards().items() if not mark.startswith("late")}

    async def _answer(self, mark: str, card: Any) -> None:
        weights, plans = zip(*PLANS, strict=True)
        (plan,) = self._sure.choices(plans, weights)
        deciders = self._sure.sample(self._world.room.deciders, len(plan))
        for who, (how, verb) in zip(deciders, plan, strict=True):
            send = self._world.room.press if how == "press" else self._world.room.reply
            await self._act(mark, who, verb, send(who, card, verb))

    async def _act(self, mark: str, who: str, verb: str, sending: Awaitable[Sent]) -> tuple[Act, Sent]:
        act = Act(mark, who, verb, time.time())
        sent = await sending
        act.trace, act.answered, act.told = sent.trace, sent.answered, sent.told
        self._answered.setdefault(mark, []).append(sent)
        return self._world.did(act), sent

    async def press_calmly(self) -> None:
        """Press a button of an open card, and wait until the person is told; press again if the platform refuses it."""
        who = self._world.room.deciders[0]
        while cards := self._undecided():
            mark = self._sure.choice(sorted(cards))
            act, sent = await self._act(mark, who, "approve", self._world.room.press(who, cards[mark], "approve"))
            await until(partial(_over, sent), self._world.patience_s)
            if not sent.refused():
                act.calm = True
                return
            await asyncio.sleep(AGAIN_S)

    # -- on the socket --------------------------------------------------------------------------------------

    async def _script(self) -> None:
        """`sayso ask` with a command, at times by two processes with one key: a script that was started again."""
        while not self.leaving:
            asked = self._asked("ask")
            processes = [self._ask(asked) for _ in range(self._sure.choice((1, 1, 2)))]
            asked.exits += await asyncio.gather(*processes)
            asked.recorded = any(status in {0, 10, 11, 15} for status in asked.exits)
            await asyncio.sleep(self._sure.uniform(1.0, 4.0))

    async def _ask(self, asked: Asked) -> int:
        command = RUN.format(mark=asked.mark, amount=asked.amount, log=self._world.log)
        words = ("ask", "pay", "--at-once", "--key", asked.mark, "--", "sh", "-c", command)
        return await self._world.sayso(*words).ended()

    async def _last_moments(self) -> None:
        """Do it again and again, as far as the service lives."""
        while not self.leaving:
            with contextlib.suppress(OSError):
                await self.last_moment()
            await asyncio.sleep(0.1)

    async def last_moment(self) -> None:
        """Ask for some things that end together, and answer them right at their end.

        Raises OSError if the service is dead then.
        """
        refs: dict[str, Asked] = {}
        deadline = 0.0
        for asked in [self._asked("late") for _ in range(TOGETHER)]:
            call = await self._asked_for(asked)
            refs[call["ref"]] = asked
            deadline = datetime.fromisoformat(call["expires_at"]).timestamp()
        self._world.deadlines.append(deadline)
        await asyncio.sleep(deadline - time.time() - 0.3)
        async with contextlib.AsyncExitStack() as open_lines:
            lines = [await open_lines.enter_async_context(Line.to(self._world, deadline - 0.1)) for _ in refs]
            over = self._sure.random() < FROZEN
            frozen_at = deadline - 0.1
            answers_at = frozen_at - self._sure.uniform(0.0, 0.02)
            moments = [answers_at if over else deadline + self._sure.uniform(-0.02, 0.005) for _ in refs]
            freezing = asyncio.create_task(self._freeze(frozen_at, deadline) if over else asyncio.sleep(0))
            answers = zip(lines, refs.items(), moments, strict=True)
            await asyncio.gather(*(self._decide(*one) for one in answers), return_exceptions=True)
            await freezing

    async def _asked_for(self, asked: Asked) -> Any:
        """Ask again, with the same key, until the service answers; the call."""
        args = {"mark": asked.mark, "amount": asked.amount}
        while True:
            with contextlib.suppress(OSError):
                async with Line.to(self._world, time.time() + CARD_WITHIN_S) as line:
                    told = await line.call("ask", tool="late", args=args, key=asked.mark, timeout_s=SHORTEST_S)
                asked.recorded = True
                return told["call"]

    async def _freeze(self, at: float, deadline: float) -> None:
        """Stop the process while it handles the answers, until after their deadline."""
        await asyncio.sleep(at - time.time())
        await self._world.frozen(deadline + self._sure.uniform(0.001, 0.03))

    async def _decide(self, line: Line, one: tuple[str, Asked], at: float) -> None:
        ref, asked = one
        await asyncio.sleep(at - time.time())
        act = self._world.did(Act(asked.mark, ME, "approve", time.time()))
        told = await line.call("decide", target=ref, verb="approve")
        act.answered, act.decided = True, bool(told.get("decided"))
        secret = hashlib.sha256(asked.mark.encode()).hexdigest()
        claimed = await line.call("claim", ref=ref, secret_hash=hashlib.sha256(secret.encode()).hexdigest())
        if "args" in claimed:
            with self._world.log.open("a") as log:
                log.write(f"{claimed['args']['mark']} {ref} {claimed['args']['amount']}\n")
            await line.call("finish", ref=ref, secret=secret, result="succeeded")


def _over(sent: Sent) -> bool:
    return sent.told() or sent.refused()


async def until(holds: Callable[[], bool], patience_s: float) -> bool:
    """Whether it holds before so many seconds are over."""
    give_up = time.monotonic() + patience_s
    while not holds():
        if time.monotonic() > give_up:
            return False
        await asyncio.sleep(0.02)
    return True
