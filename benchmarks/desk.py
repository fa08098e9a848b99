"""The service that is measured: the real one, on a real state folder, with one tool that does nothing."""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from adapters.executors.registry import Context, Registry
from bot.compose import Running, compose
from bot.surfaces import surfaces
from hitl.call import Action, Ask, Call, PolicyCall, Reason, Reply, ReplyKind, Risk, Runs, State, Status, Verb, Verdict
from hitl.limits import Limits
from hitl.people import Conversation, Directory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Self


TOOLS, TOOL = "notes", "write_note"
APPROVER = "local:1000"
#: Each conversation may have 50 calls open; together they must hold 100,000.
PLACES = 4000
ARGUMENT_CHARS = 1000
#: A call that takes longer than this is lost, and so is the measurement.
_LONGEST_S = 30
#: Floods are measured, not refused; the window of 0 s keeps the counter's code on the path and its memory empty.
LIMITS = Limits(asks=1_000_000, asks_within_s=0)


class Patient:
    """A policy that asks about everything and gives people an hour."""

    digest = "0" * 64
    _verdict = Verdict(Action.APPROVE, Risk.MEDIUM, "asks", Reason.MATCHED_RULE, "It writes.", digest, timeout_s=3600)

    def current(self) -> Patient:
        """Itself."""
        return self

    def judge(self, call: PolicyCall) -> Verdict:
        """Always the same."""
        del call
        return self._verdict


@dataclass(frozen=True, slots=True)
class Cycle:
    """One call from asking to its durable result, in seconds: parked, decision to tool start, and all of it."""

    park: float
    decision: float
    whole: float


class Note:
    """The argument of the tool. A pydantic model would be an import that only the service's settings need."""

    schema: Mapping[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}

    def parse(self, args: Mapping[str, Any]) -> Mapping[str, str]:
        """Return the text."""
        return {"text": str(args["text"])}


@dataclass(slots=True)
class Desk:
    """Brings calls and decisions as the socket does. `started` holds when each tool began."""

    running: Running
    started: dict[str, float]
    runs: list[str]
    _numbers: count[int] = field(default_factory=count)

    @classmethod
    async def open(cls, folder: Path, *, tool: Callable[[str], None] | None = None, places: int = PLACES) -> Self:
        """The started service on a state folder, with this many conversations.

        `tool` is called with each ref that runs.
        """
        started: dict[str, float] = {}
        runs: list[str] = []

        async def write_note(context: Context, args: Mapping[str, str]) -> str:
            started[context.ref] = time.perf_counter()
            runs.append(context.ref)
            if tool is not None:
                tool(context.ref)
            return str(len(args["text"]))

        registry = Registry(TOOLS, (TOOL,))
        registry.register(TOOL, write_note, Note(), sentence="Writes a note.")
        people = Directory(
            approvers=(APPROVER,),
            conversations={f"room:{n}": Conversation(f"room:{n}", requesters=(f"agent:{n}",)) for n in range(places)},
            surfaces=surfaces(),
        )
        running = await compose(
            state=folder,
            workspace=folder / "workspace",
            people=people,
            allow=(),
            limits=LIMITS,
            policies=Patient(),
            executor=registry,
        )
        await running.service.start()
        gc.freeze()  # as `sayso run` does, ...
        gc.set_threshold(10_000, 10, 10)  # ... and as every command does
        return cls(running, started, runs)

    async def close(self) -> None:
        """Stop, with everything in the database file."""
        await self.running.close()

    async def park(self, *, timeout_s: int | None = None) -> Call:
        """A call of 1 KB of arguments that nobody made before, parked and durable."""
        number = next(self._numbers)
        place = number % PLACES
        args = {"text": f"{number:020}".ljust(ARGUMENT_CHARS, "x")}
        ask = Ask(TOOLS, TOOL, args, f"agent:{place}", f"room:{place}", Runs.SERVICE, timeout_s=timeout_s)
        call = (await self.running.service.submit(ask)).call
        assert call.state is State.AWAITING
        return call

    async def decide(self, ref: str, event: tuple[str, str] | None = None) -> Call:
        """Approve it, as somebody at the socket does; with an `event`, as a chat does."""
        reply = Reply(APPROVER, "socket", "local", ReplyKind.API, Verb.APPROVE, target=ref, event=event)
        (answer,) = await self.running.service.decide(reply)
        assert answer.lease is not None, answer
        assert answer.call is not None
        return answer.call

    async def receive(self, number: int) -> tuple[str, str]:
        """A chat's event in the inbox, durable."""
        source, event = "telegram", str(number)
        assert await self.running.store.receive(source, event, f"telegram:{number % 7}", b'{"update_id":1}' * 60)
        return source, event

    async def to_tool(self, ref: str, event: tuple[str, str] | None = None) -> float:
        """Seconds from the decision to the start of the tool; the result is durable when this answers."""
        before = time.perf_counter()
        call = await self.decide(ref, event)
        ended = await self.running.service.ended(call, _LONGEST_S)
        assert ended.status is Status.SUCCEEDED
        return self.started.pop(ref) - before

    async def cycle(self) -> Cycle:
        """One call from asking to its durable result."""
        before = time.perf_counter()
        call = await self.park()
        parked = time.perf_counter()
        decision = await self.to_tool(call.ref)
        return Cycle(parked - before, decision, time.perf_counter() - before)
