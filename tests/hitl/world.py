"""A gate over the fakes, and the people around it, so that a test says only what it is about."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from bot.surfaces import surfaces
from hitl.call import (
    Action,
    Ask,
    Call,
    PolicyCall,
    PostKind,
    Reason,
    Reply,
    ReplyKind,
    Risk,
    Runs,
    ToolInfo,
    Verb,
    Verdict,
)
from hitl.errors import PolicyUnusable
from hitl.gate import Gate, secret_hash
from hitl.outcomes import Because, because
from hitl.people import Conversation, Directory
from hitl.ports import Change, Expect, Unit
from hitl.proof.chain import verify
from hitl.proof.keyring import Keyring
from hitl.question import TOOL
from hitl.records import replace
from hitl.testing import MemoryStore, ScriptedExecutor, SetClock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hitl import ports
    from hitl.call import Recorded
    from hitl.gate.response import Answer
    from hitl.limits import Limits

#: Who is who. Ann and Bob may decide; Uma asks; Olga operates; nobody lists Sam.
ANN, BOB, UMA, OLGA, SAM = "telegram:2", "telegram:3", "telegram:1", "local:0", "telegram:66"
ROOM = "telegram:-100"
GROUP = "files"
NOON = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
SECRET = "a claimant's secret"
CLAIM = secret_hash(SECRET)

READ, WRITE, DROP, WIPE, BAN = "read", "write", "drop", "wipe", "ban"
_RULES = {
    READ: (Action.ALLOW, Risk.LOW),
    WRITE: (Action.APPROVE, Risk.MEDIUM),
    DROP: (Action.APPROVE, Risk.HIGH),
    WIPE: (Action.APPROVE, Risk.CRITICAL),
    BAN: (Action.DENY, Risk.HIGH),
}


def verdict(action: Action, risk: Risk, **terms: Any) -> Verdict:
    """A verdict as a document of rules would give it."""
    why = because(Because.RATED, (Because.RULE_ID, repr(f"rule-{action}")), risk)
    return Verdict(action, risk, f"rule-{action}", Reason.MATCHED_RULE, why, "a" * 64, **terms)


class Rules:
    """A policy, and the source of it, that says of each tool what the test set; `broken` says nothing."""

    digest = "a" * 64

    def __init__(self) -> None:
        self.verdicts = {tool: verdict(*rule) for tool, rule in _RULES.items()}
        self.verdicts[TOOL] = verdict(Action.APPROVE, Risk.MEDIUM)
        self.broken = False
        self.asked: list[PolicyCall] = []

    def set(self, tool: str, **terms: Any) -> None:
        """Change what is said of a tool."""
        self.verdicts[tool] = replace(self.verdicts[tool], **terms)

    def current(self) -> Rules:
        """Itself, unless it is broken."""
        if self.broken:
            raise PolicyUnusable("line 3 makes no sense")
        return self

    def judge(self, call: PolicyCall) -> Verdict:
        """What was set for the tool."""
        self.asked.append(call)
        return self.verdicts[call.tool]


class Store(MemoryStore):
    """Memory that lets others go first before each answer, as a disk does, and remembers what was written."""

    def __init__(self, clock: SetClock) -> None:
        super().__init__(clock)
        self.changes: list[Change] = []

    async def commit(self, unit: Unit) -> Change | None:
        """One write, after everybody else had a turn."""
        await asyncio.sleep(0)
        change = await super().commit(unit)
        if change is not None:
            self.changes.append(change)
        return change

    async def get(self, ref: str) -> Call | None:
        """One look, after everybody else had a turn."""
        await asyncio.sleep(0)
        return await super().get(ref)

    async def check_record(self) -> None:
        """Every chain is whole, and no call changed without a line in the same commit."""
        refs = {entry.ref for change in self.changes for entry in change.entries}
        broken = [ref for ref in refs if verify(self.keys, await self.history(ref)) is not None]
        silent = [change for change in self.changes if change.call and not _tells(change)]
        assert ([], []) == (broken, silent)


class World:
    """A gate with its surroundings. Calls are asked by Uma in the room, and run by the service."""

    def __init__(self, *, limits: Limits | None = None, **people: Any) -> None:
        self.clock = SetClock(NOON)
        self.store = Store(self.clock)
        self.rules = Rules()
        self.executor = ScriptedExecutor({(GROUP, tool): ToolInfo("local", tool * 8) for tool in _RULES})
        self.keys = Keyring([("k1", b"1" * 32)])
        self.gate = Gate(
            store=self.store,
            policies=self.rules,
            people=directory(**people),
            executor=self.executor,
            keys=self.keys,
            owner="service:test",
            limits=limits,
        )

    async def ask(self, tool: str = WRITE, **changes: Any) -> Call:
        """The call that Uma's agent asked for."""
        return (await self.gate.submit(ask(tool, **changes))).call

    async def press(self, call: Call, who: str = ANN, verb: Verb = Verb.APPROVE, **changes: Any) -> Answer:
        """What comes of a press on a button of the card."""
        return await self._only(reply(who, kind=ReplyKind.BUTTON, verb=verb, target=call.ref, **changes))

    async def type(self, text: str, who: str = ANN, **changes: Any) -> Answer:
        """What comes of a text."""
        return await self._only(reply(who, kind=ReplyKind.TEXT, text=text, **changes))

    async def react(self, call: Call, emoji: str, who: str = ANN) -> Answer:
        """What comes of an emoji on the card."""
        return await self._only(reply(who, kind=ReplyKind.REACTION, text=emoji, target=call.ref))

    async def now(self, call: Call) -> Call:
        """The call as it is by now."""
        stored = await self.store.get(call.ref)
        assert stored is not None
        return stored

    async def events(self, call: Call) -> list[str]:
        """What the record says happened to the call."""
        return [line.event for line in await self.store.history(call.ref)]

    async def last(self, call: Call) -> Recorded:
        """The last line of the call's record."""
        return (await self.store.history(call.ref))[-1]

    def told(self, kind: PostKind) -> list[str]:
        """Where the last change is to be told in that way."""
        return [post.route for post in self.store.changes[-1].posts if post.kind is kind]

    async def forge(self, call: Call, **changes: Any) -> Call:
        """Change the stored row as somebody with access to the database would: past the gate."""
        stored = await self.now(call)
        forged = stored.evolve(**changes)
        await MemoryStore.commit(self.store, Unit(Expect(call.ref, stored.version), lambda _now: Change(forged)))
        return forged

    async def check_record(self) -> None:
        """The record is whole."""
        await self.store.check_record()

    async def _only(self, sent: Reply) -> Answer:
        """The one answer to a reply."""
        answers = await self.gate.decide(sent)
        assert 1 == len(answers)
        return answers[0]


def _tells(change: Change) -> bool:
    """Whether a change of a call has its line."""
    return any(change.call and entry.ref == change.call.ref for entry in change.entries)


def directory(**changes: Any) -> Directory:
    """The lists: Ann and Bob approve, Uma asks, Olga operates."""
    lists: dict[str, Any] = {
        "approvers": (ANN, BOB),
        "requesters": (UMA,),
        "operators": (OLGA,),
        "conversations": {ROOM: Conversation(ROOM)},
        "surfaces": surfaces(),
    }
    return Directory(**(lists | changes))


def gate_over(store: ports.Store, *tools: str) -> Gate:
    """A gate over a store, with the people and the rules of these tests. Its tools are `tools`, or WRITE."""
    return Gate(
        store=store,
        policies=Rules(),
        people=directory(),
        executor=ScriptedExecutor({(GROUP, tool): ToolInfo("local", tool) for tool in tools or (WRITE,)}),
        keys=store.keys,
        owner="service:test",
    )


def ask(tool: str = WRITE, **changes: Any) -> Ask:
    """What Uma's agent wants, in the room."""
    fields: dict[str, Any] = {
        "tools": GROUP,
        "tool": tool,
        "args": {"path": "notes.txt"},
        "requester": UMA,
        "origin": ROOM,
        "runs": Runs.SERVICE,
        "agent": "helper",
    }
    return Ask(**(fields | changes))


def reply(who: str = ANN, **changes: Any) -> Reply:
    """What somebody sends in the room."""
    fields: dict[str, Any] = {
        "identity": who,
        "surface": "telegram",
        "conversation": ROOM,
        "kind": ReplyKind.TEXT,
        "pressed_at": NOON,
    }
    return Reply(**(fields | changes))


def codes(answers: Sequence[Answer]) -> list[str | None]:
    """The code of each answer's error, None for those that aren't one."""
    return [answer.error.code if answer.error else None for answer in answers]


def code(answer: Answer) -> str | None:
    """The code of an answer's error, if it is one."""
    return codes([answer])[0]
