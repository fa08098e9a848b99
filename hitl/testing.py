"""Fakes of the ports, for tests that need no database, chat or clock.

They pass the same contract tests as the adapters.
"""

from __future__ import annotations

import secrets
import sys
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

from hitl.call import (
    Action,
    Call,
    Incoming,
    Post,
    PostKind,
    Preparation,
    Ran,
    Reason,
    Result,
    Risk,
    Runs,
    Sending,
    State,
    Verdict,
)
from hitl.changes import Listeners
from hitl.errors import Tampered
from hitl.ports import KeyTakenError, ShortTakenError
from hitl.proof.chain import FIRST, chain, contradicted, steps_held, with_args
from hitl.proof.keyring import Keyring, new_ref, new_short
from hitl.records import replace
from hitl.times import Steady

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime

    from hitl.call import Ask, Bound, Entry, KeptTurn, Lease, Prompt, PromptKind, Recorded, ToolInfo, Vote
    from hitl.credentials import Credential
    from hitl.ports import Change, Clock, Expect, PlatformError, Unit


class SetClock:
    """A clock that stands still until a test calls `advance`."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def now(self) -> datetime:
        """Return the time to which the clock was set."""
        return self._now

    def go_on_from(self, newest: datetime) -> None:
        """Do nothing, because only a test moves this clock."""

    def advance(self, seconds: float) -> None:
        """Move the clock forward by this many seconds."""
        self._now += timedelta(seconds=seconds)


@dataclass(slots=True)
class _Card:
    message: str | None = None
    failed: bool = False


@dataclass(slots=True)
class _Queued:
    post: Post
    not_before: datetime
    attempts: int = 0
    error: str | None = None


@dataclass(slots=True)
class _Event:
    incoming: Incoming
    done: bool = False


class _Memory:
    """The data that all parts of the store in memory share."""

    def __init__(self, clock: Clock) -> None:
        self.keys = Keyring([("memory", secrets.token_bytes(32))])
        self.clock = Steady(clock)
        self._calls: dict[str, Call] = {}
        self._votes: dict[str, list[Vote]] = {}
        self._lines: dict[str, list[Recorded]] = {}
        self._prompts: dict[tuple[str, str, PromptKind], Prompt] = {}
        self._cards: dict[tuple[str, str], _Card] = {}
        self._outbox: dict[int, _Queued] = {}
        self._ids = count(1)
        self._inbox: dict[tuple[str, str], _Event] = {}
        self._moves: dict[str, str] = {}
        self._said: dict[str, tuple[str, str | None]] = {}
        self._bound: dict[str, Bound] = {}
        self._turns: dict[str, KeptTurn] = {}
        self._record: list[Recorded] = []
        self._credentials: dict[str, Credential] = {}
        self._listeners = Listeners()

    def _queue(self, post: Post, now: datetime) -> None:
        if post.kind is PostKind.CARD:
            self._cards.setdefault(_place(post), _Card()).failed = False
        elif post.kind is PostKind.EDIT and self._cards.get(_place(post), _Card(failed=True)).failed:
            return
        self._outbox[next(self._ids)] = _Queued(post, now)

    def _drop(self, place: tuple[str, str], kind: PostKind, but: int | None = None) -> None:
        gone = [
            number
            for number, row in self._outbox.items()
            if _place(row.post) == place and row.post.kind is kind and number != but
        ]
        for number in gone:
            del self._outbox[number]


class MemoryCalls(_Memory):
    """Implements `hitl.ports.Calls` in memory."""

    async def commit(self, unit: Unit) -> Change | None:
        """Write the unit as a whole. Every step that can fail comes before the first change of the data."""
        now = self.clock.now()
        change = unit.seal(now)
        entries = change.entries
        if unit.expect is not None:
            if not self._holds(unit.expect, now):
                return None
            if change.call is not None and change.call.erased_at and self._is_unsent(change.call.ref):
                return None
            said = steps_held((line.event, line.data) for line in self._lines.get(unit.expect.ref, ()))
            if change.call is not None and contradicted(said, entries):
                raise Tampered
        elif change.call is not None:
            self._must_be_new(change.call)
            entries = _tied(change.call, entries)
        lines = self._chained(entries, now)
        self._keep(change, lines, now)
        self._listeners.tell(change)
        return change

    async def get(self, ref: str) -> Call | None:
        """Return the call with this ref, or None."""
        return self._calls.get(ref)

    async def by_short(self, short: str) -> Call | None:
        """Return the call with this short ref, or None."""
        return self._first(lambda call: call.short == short)

    async def by_key(self, requester: str, key: str) -> Call | None:
        """Return the call that the requester made with this idempotency key, or None."""
        return self._first(lambda call: (call.requester, call.key) == (requester, key))

    async def page(self, before: str | None, limit: int, *, pending: bool) -> Sequence[Call]:
        """Return at most `limit` calls, newest first. `before` and `pending` are as in `hitl.ports.Calls`."""

        def older(call: Call) -> bool:
            return (before is None or call.ref < before) and (_waits(call) or not pending)

        return sorted(self._where(older), key=lambda call: call.ref, reverse=True)[:limit]

    async def votes(self, ref: str) -> Sequence[Vote]:
        """Return the votes on a call, oldest first."""
        return list(self._votes.get(ref, ()))

    async def pending(self, *, origin: str | None = None, limit: int = 1000) -> Sequence[Call]:
        """Return pending calls, oldest first."""
        return self._where(lambda call: _waits(call) and origin in {None, call.origin})[:limit]

    async def standing(self, place: str, thread: str | None = None, *, limit: int = 1000) -> Sequence[Call]:
        """Return the pending calls that belong to a conversation, oldest first."""
        cards = self._cards.items()
        here = {ref for (ref, route), card in cards if route == place or (thread and card.message == thread)}
        return self._where(lambda call: _waits(call) and (call.origin == place or call.ref in here))[:limit]

    async def count_open(self, requester: str, limit: int, agent: str | None = None) -> int:
        """Return the number of the requester's pending calls, but at most `limit`.

        With `agent`, count only that agent's calls.
        """
        found = self._where(lambda call: _waits(call) and call.requester == requester and agent in {None, call.agent})
        return len(found[:limit])

    async def pending_refs(self) -> Sequence[str]:
        """Return the refs of all pending calls, oldest first."""
        return [call.ref for call in self._where(_waits)]

    async def same_open(self, digest: str, agent: str) -> Call | None:
        """Return the oldest pending call with this digest from this agent, or None."""
        return self._first(lambda call: _waits(call) and (call.digest, call.agent) == (digest, agent))

    async def due(self, limit: int) -> Sequence[Call]:
        """Return the calls whose `due_at` has passed, the most overdue first."""
        now = self.clock.now()
        return [call for at, call in self._by_due() if at <= now][:limit]

    async def next_due(self) -> datetime | None:
        """Return the earliest `due_at` of all calls, or None."""
        return next((at for at, _ in self._by_due()), None)

    async def leased(self, owner: str, limit: int = 1000) -> Sequence[Call]:
        """Return the executing calls with a claim whose owner's name begins with `owner`, oldest first."""

        def holds(call: Call) -> bool:
            return call.state is State.EXECUTING and call.claim is not None and call.claim.owner.startswith(owner)

        return self._where(holds)[:limit]

    async def unfinished(self, limit: int = 1000) -> Sequence[Call]:
        """Return the calls that have a `due_at`, oldest first."""
        return self._where(lambda call: call.due_at is not None)[:limit]

    async def prompt(self, ref: str, principal: str, kind: PromptKind) -> Prompt | None:
        """Return the latest prompt of this kind for this person and call, or None."""
        return self._prompts.get((ref, principal, kind))

    async def history(self, ref: str) -> Sequence[Recorded]:
        """Return the audit record of one call, oldest line first.

        For the ref '', return the lines about the service itself.
        """
        return list(self._lines.get(ref, ()))

    def _holds(self, expect: Expect, now: datetime) -> bool:
        call = self._calls.get(expect.ref)
        if call is None or call.version != expect.version:
            return False
        return expect.overdue is None or (call.due_at is not None and (call.due_at <= now) == expect.overdue)

    def _is_unsent(self, ref: str) -> bool:
        return any(row.post.ref == ref for row in self._outbox.values())

    def _must_be_new(self, call: Call) -> None:
        if self._first(lambda other: other.short == call.short):
            raise ShortTakenError(call.short)
        if call.key is not None and self._first(lambda other: _key(other) == _key(call)):
            raise KeyTakenError(call.key)

    def _chained(self, entries: Sequence[Entry], now: datetime) -> Sequence[Recorded]:
        lines: list[Recorded] = []
        for entry in entries:
            before = [*self._lines.get(entry.ref, ()), *(line for line in lines if line.ref == entry.ref)]
            lines.append(chain(self.keys, before[-1].hash if before else FIRST, len(before) + 1, now, entry))
        return lines

    def _keep(self, change: Change, lines: Sequence[Recorded], now: datetime) -> None:
        if change.call is not None:
            self._calls[change.call.ref] = change.call
        for vote in change.votes:
            self._votes.setdefault(vote.ref, []).append(vote)
        for line in lines:
            self._lines.setdefault(line.ref, []).append(line)
            self._record.append(line)
        for post in change.posts:
            self._queue(post, now)
        for prompt in change.prompts:
            self._prompts[prompt.ref, prompt.principal, prompt.kind] = prompt
        if change.handled in self._inbox:
            self._inbox[change.handled].done = True

    def _where(self, holds: Callable[[Call], bool]) -> list[Call]:
        return sorted(filter(holds, self._calls.values()), key=lambda call: call.created_at)

    def _first(self, holds: Callable[[Call], bool]) -> Call | None:
        return next(iter(self._where(holds)), None)

    def _by_due(self) -> list[tuple[datetime, Call]]:
        dated = [(call.due_at, call) for call in self._calls.values() if call.due_at is not None]
        return sorted(dated, key=lambda due: due[0])


class MemoryChanges(_Memory):
    """Implements `hitl.ports.Changes` in memory."""

    def follow(self, hear: Callable[[Change], None]) -> Callable[[], None]:
        """Call `hear` with each change from now on. Return a function that ends this."""
        return self._listeners.add(hear)

    async def lines_after(self, place: int, limit: int) -> Sequence[tuple[int, Recorded]]:
        """Return the lines of the whole audit record after a position, each with its position, oldest first."""
        return list(enumerate(self._record, start=1))[place : place + limit]

    async def last_line(self) -> int:
        """Return the position of the newest line of the whole audit record."""
        return len(self._record)


class MemoryOutbox(_Memory):
    """Implements `hitl.ports.Outbox` in memory."""

    async def sendings(
        self, *, lease_s: float, limit: int = 20, busy: Collection[str] = (), calm: Collection[str] = ()
    ) -> Sequence[Sending]:
        """Lease the next outbox row of each route that isn't busy, if that row may go out now.

        Routes in `calm` get no edits of pending calls' cards.
        """
        now = self.clock.now()
        ready: dict[str, tuple[bool, int, _Queued]] = {}
        for number, row in self._heads():
            route, refreshes = row.post.route, self._refreshes(row.post)
            if row.not_before <= now and route not in busy and not (refreshes and route in calm):
                ready[route] = min(ready.get(route, (True, sys.maxsize, row)), (refreshes, number, row), key=_urgency)
        until = now + timedelta(seconds=lease_s)
        return [self._lease(number, row, until) for _, number, row in sorted(ready.values(), key=_urgency)[:limit]]

    async def sent(self, sending: Sending, message: str | None) -> None:
        """Record that the platform accepted the message, under the id `message`."""
        self._outbox.pop(sending.id, None)
        if sending.post.kind is PostKind.CARD:
            standing = self._cards.get(_place(sending.post), _Card()).message
            self._cards[_place(sending.post)] = _Card(standing or message)

    async def unsent(self, sending: Sending, error: str, *, retry_s: float | None) -> None:
        """Record that the message didn't go out. Try it again after `retry_s` seconds. None means never."""
        row = self._outbox.get(sending.id)
        if row is None:
            return
        if retry_s is not None:
            row.not_before, row.error = self.clock.now() + timedelta(seconds=retry_s), error
            return
        del self._outbox[sending.id]
        if sending.post.kind is PostKind.CARD:
            self._cards[_place(sending.post)].failed = True
            self._drop(_place(sending.post), PostKind.EDIT)

    async def hasten(self, platform: str) -> None:
        """Clear the delay of all outbox rows for a platform, so that they go out immediately."""
        for row in self._outbox.values():
            if row.error is not None and row.post.route.partition(":")[0] == platform:
                row.not_before = self.clock.now()

    async def adopt(self, ref: str, route: str, message: str) -> None:
        """Record that this message is the call's card on this route. No further card of the call is posted on it."""
        self._cards[ref, route] = _Card(message)
        self._drop((ref, route), PostKind.CARD)

    async def by_message(self, message: str) -> tuple[str, str] | None:
        """Return the ref and the route of the card with this message id, or None."""
        return next((place for place, card in self._cards.items() if card.message == message), None)

    async def cards(self, ref: str) -> Mapping[str, str | None]:
        """Return route -> message id of the card, for each route that has or will get the card.

        The id is None if unknown.
        """
        cards = sorted(self._cards.items())
        return {route: card.message for (of, route), card in cards if of == ref and not card.failed}

    def _heads(self) -> Sequence[tuple[int, _Queued]]:
        """Return the oldest outbox row of each card."""
        heads: dict[tuple[str, str], tuple[int, _Queued]] = {}
        for number, row in self._outbox.items():
            heads.setdefault(_place(row.post), (number, row))
        return list(heads.values())

    def _refreshes(self, post: Post) -> bool:
        """Return whether this row edits the card of a pending call."""
        call = self._calls.get(post.ref)
        return post.kind is PostKind.EDIT and call is not None and call.state is State.AWAITING

    def _lease(self, number: int, row: _Queued, until: datetime) -> Sending:
        card = self._cards.get(_place(row.post), _Card())
        sending = Sending(number, row.post, row.attempts, card.message)
        row.not_before, row.attempts, row.error = until, row.attempts + 1, None
        if row.post.kind is PostKind.EDIT:
            self._drop(_place(row.post), PostKind.EDIT, but=number)
        return sending


class MemoryInbox(_Memory):
    """Implements `hitl.ports.Inbox` in memory."""

    async def receive(self, source: str, event: str, order: str, body: bytes) -> bool:
        """Store a raw event, and return True. If the event was stored before, return False."""
        if (source, event) in self._inbox:
            return False
        self._inbox[source, event] = _Event(Incoming(source, event, order, body, self.clock.now()))
        return True

    async def incoming(self, limit: int = 100) -> Sequence[Incoming]:
        """Return the oldest open event of each lane (`Incoming.order`): neither handled nor set aside."""
        oldest: dict[tuple[str, str], Incoming] = {}
        for event in self._inbox.values():
            if not event.done:
                oldest.setdefault((event.incoming.source, event.incoming.order), event.incoming)
        return list(oldest.values())[:limit]

    async def newest(self, source: str) -> Incoming | None:
        """Return the latest event of a source, or None."""
        return next((kept.incoming for key, kept in reversed(self._inbox.items()) if key[0] == source), None)

    async def stumble(self, source: str, event: str, error: str, *, aside_after: int) -> bool | None:  # noqa: ARG002
        """Count a failure to handle the event. Return whether this failure set the event aside.

        Return None, without counting, if the event is handled or was set aside before.
        """
        kept = self._inbox.get((source, event))
        if kept is None or kept.done:
            return None
        kept.incoming = replace(kept.incoming, failures=kept.incoming.failures + 1)
        kept.done = kept.incoming.failures >= aside_after
        return kept.done


class MemoryConversations(_Memory):
    """Implements `hitl.ports.Conversations` in memory."""

    async def moves(self) -> Mapping[str, str]:
        """Return old name -> new name, for each conversation that a platform moved."""
        return dict(self._moves)

    async def move(self, old: str, new: str) -> None:
        """Record that a platform moved a conversation, and queue the cards of its pending calls again."""
        self._moves[old] = new
        for ref, route in [place for place in self._cards if place[1] == old and _waits(self._calls[place[0]])]:
            self._cards[ref, route] = _Card()
            self._drop((ref, route), PostKind.CARD)
            self._queue(Post(ref, route, PostKind.CARD), self.clock.now())

    async def said(self) -> Mapping[str, tuple[str, str | None]]:
        """Return conversation -> (id of Sayso's latest message in it, ref of the call that it is about or None)."""
        return dict(self._said)

    async def say(self, place: str, message: str | None, ref: str | None) -> None:
        """Store Sayso's latest message in a conversation. With `message` None, forget the latest message."""
        self._said.pop(place, None)
        if message is not None:
            self._said[place] = message, ref

    async def bind(self, bound: Bound) -> None:
        """Store the link from a message of Sayso to its call. If the message has a link already, change nothing."""
        self._bound.setdefault(bound.message, bound)

    async def bound(self, message: str) -> Bound | None:
        """Return the stored link from this message to its call, or None."""
        return self._bound.get(message)


class MemoryTurns(_Memory):
    """Implements `hitl.ports.Turns` in memory."""

    async def begin_turn(self, turn: KeptTurn) -> bool:
        """Store a new turn, and return True. If a turn with that id is stored already, return False."""
        if turn.id in self._turns:
            return False
        old = [kept.id for kept in self._turns.values() if kept.place == turn.place and kept.done]
        for gone in old[:-1]:
            del self._turns[gone]
        self._turns[turn.id] = turn
        return True

    async def keep_turn(self, turn: KeptTurn) -> None:
        """Store the new state of a turn."""
        self._turns[turn.id] = turn

    async def open_turns(self) -> Sequence[KeptTurn]:
        """Return the turns that aren't done, oldest first."""
        return [kept for kept in self._turns.values() if not kept.done]

    async def last_turn(self, place: str) -> KeptTurn | None:
        """Return the newest finished turn in a conversation, or None."""
        found = [kept for kept in self._turns.values() if kept.place == place and kept.done]
        return found[-1] if found else None


class MemoryCredentials(_Memory):
    """Implements `hitl.ports.Credentials` in memory."""

    async def credentials(self) -> Sequence[Credential]:
        """Return all tokens, including revoked tokens."""
        return list(self._credentials.values())

    async def keep_credential(self, credential: Credential) -> bool:
        """Store a new token, and return True. Return False if its name was used before."""
        if credential.name in self._credentials:
            return False
        self._credentials[credential.name] = credential
        return True

    async def revoke_credential(self, credential: Credential, by: str) -> Credential:  # noqa: ARG002
        """Revoke a token, and return the revoked token."""
        stored = self._credentials[credential.name]
        self._credentials[credential.name] = replace(stored, revoked_at=self.clock.now())
        return self._credentials[credential.name]

    async def used_credential(self, name: str, at: datetime) -> None:
        """Store the time at which a token was last used."""
        self._credentials[name] = replace(self._credentials[name], used_at=at)


class MemoryStore(
    MemoryCalls,
    MemoryChanges,
    MemoryOutbox,
    MemoryInbox,
    MemoryConversations,
    MemoryCredentials,
    MemoryTurns,
):
    """A whole store in memory, for tests and experiments. Its data are lost when the process ends."""


def _urgency(numbered: tuple[bool, int, _Queued]) -> tuple[bool, int]:
    return numbered[:2]


@dataclass(frozen=True, slots=True)
class ShownCard:
    """A message that a chat got: its route, its id ('' for a notice), and the call that it shows."""

    route: str
    message: str
    call: Call


@dataclass(slots=True)
class _Trouble:
    error: PlatformError
    route: str | None
    left: int
    applied: bool


class RecordedChat:
    """A chat platform that remembers its messages. A test can make it fail (`fail`).

    `posts`, `updates`, `spares` and `notices` hold the messages that it accepted, oldest first. `messages` holds the
    messages that its routes show now.
    """

    def __init__(self) -> None:
        self.posts: list[ShownCard] = []
        self.updates: list[ShownCard] = []
        self.spares: list[ShownCard] = []
        self.notices: list[ShownCard] = []
        self.messages: dict[tuple[str, str], Call] = {}
        self._troubles: list[_Trouble] = []
        self._ids = count(1)

    def fail(self, error: PlatformError, *, times: int = 1, route: str | None = None, applied: bool = False) -> None:
        """Make the chat raise `error` for each of the next `times` messages, on one route or on all routes.

        With `applied`, the chat still shows the message, as if only the platform's answer had been lost.
        """
        self._troubles.append(_Trouble(error, route, times, applied))

    async def post(self, route: str, call: Call) -> str:
        """Post the card, and return the id of the message."""
        shown = ShownCard(route, f"m{next(self._ids)}", call)
        self._take(self.posts, shown)
        return shown.message

    async def notify(self, route: str, call: Call) -> None:
        """Send a notice about the end of the call to the conversation that asked for the call."""
        self._take(self.notices, ShownCard(route, "", call))

    async def update(self, route: str, message: str, call: Call) -> None:
        """Edit the card so that it shows the call's current state."""
        self._take(self.updates, ShownCard(route, message, call))

    async def spare(self, route: str, message: str, call: Call) -> None:
        """Edit a second copy of a card so that it says that the other copy is the card."""
        self._take(self.spares, ShownCard(route, message, call))

    def _take(self, taken: list[ShownCard], shown: ShownCard) -> None:
        trouble = next((t for t in self._troubles if t.left and t.route in {None, shown.route}), None)
        if trouble is None or trouble.applied:
            taken.append(shown)
            if shown.message:
                self.messages[shown.route, shown.message] = shown.call
        if trouble is not None:
            trouble.left -= 1
            raise trouble.error


class ScriptedExecutor:
    """An executor whose tools do nothing. It remembers the calls that were run, in `ran`.

    `tools` holds the tools that may run, by group and name. `facts` maps names to values, which become the
    preconditions of each prepared call. A test changes `facts` to break the preconditions of a pending call.
    `preparation` is the preparation of every call, except its preconditions, and `outcome` is the report of every run.
    """

    def __init__(self, tools: Mapping[tuple[str, str], ToolInfo]) -> None:
        self.tools = dict(tools)
        self.facts: dict[str, str] = {}
        self.preparation = Preparation("Does what its script says.")
        self.outcome = Ran(Result.SUCCEEDED, "done")
        self.ran: list[Call] = []

    def info(self, tools: str, tool: str) -> ToolInfo | None:
        """Return the description of the tool, or None if it may not run."""
        return self.tools.get((tools, tool))

    async def prepare(self, ask: Ask) -> Preparation:
        """Return `preparation`, with the folder of the request, and with the current `facts` as preconditions."""
        return replace(self.preparation, cwd=ask.cwd, preconditions=tuple(sorted(self.facts.items())))

    async def still_holds(self, call: Call) -> str | None:
        """Return a sentence about the first of `facts` that changed since the call was prepared, or None."""
        changed = (name for name, value in call.preconditions if self.facts.get(name) != value)
        return next((f"{name} changed" for name in changed), None)

    async def run(self, lease: Lease, *, limit_s: float) -> Ran:  # noqa: ARG002
        """Remember the call, and return the outcome that the test chose.

        A run takes no time, so it can't exceed the limit.
        """
        self.ran.append(lease.call)
        return self.outcome


def _waits(call: Call) -> bool:
    return call.state is State.AWAITING


def _key(call: Call) -> tuple[str, str | None]:
    return call.requester, call.key


def _place(post: Post) -> tuple[str, str]:
    return post.ref, post.route


def _tied(call: Call, entries: Sequence[Entry]) -> Sequence[Entry]:
    salt = secrets.token_bytes(16)
    return [with_args(entry, salt, call.args) if place == 0 else entry for place, entry in enumerate(entries)]


def a_call(now: datetime, **changes: Any) -> Call:
    """Return a pending call as the gate makes it, created at `now`, with a deadline five minutes later.

    `changes` sets any of its fields. The ref, the short ref and the digest are new each time. The MAC is a dummy.
    """
    deadline = now + timedelta(minutes=5)
    fields: dict[str, Any] = {
        "ref": new_ref(now),
        "short": new_short(),
        "digest": secrets.token_hex(32),
        "tools": "files",
        "tool": "write_file",
        "args": b'{"content":"two eggs","path":"notes.txt"}',
        "executor": "local",
        "definition": "d" * 64,
        "cwd": None,
        "preconditions": (),
        "sentence": "Write notes.txt",
        "preview": "",
        "notes": (),
        "note": "",
        "requester": "local:1000",
        "agent": "demo",
        "session": "",
        "origin": "terminal:1",
        "runs": Runs.SERVICE,
        "key": None,
        "previous": None,
        "verdict": Verdict(Action.APPROVE, Risk.MEDIUM, "writes", Reason.MATCHED_RULE, "It changes a file.", "p" * 64),
        "approvers": ("local:1000",),
        "routes": (),
        "created_at": now,
        "deadline": deadline,
        "row_mac": "none:" + "0" * 64,
        "state": State.AWAITING,
        "version": 1,
        "due_at": deadline,
    }
    return Call(**(fields | changes))
