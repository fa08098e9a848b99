"""The running service: the gate, and the work that it needs in a process.

Surfaces pass calls and replies to the service, not to the gate. The service then runs each call that may run
immediately, so no surface can forget to run an approved call.
"""

from __future__ import annotations

import asyncio
import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from cachetools import FIFOCache

from adapters.http.tokens import Tokens
from bot.journal import Journal
from bot.rolling_back import roll_back
from bot.waiting import Waiting
from bot.wording import say
from bot.workers.expiry import Expiry
from bot.workers.outbox import OutboxWorker
from bot.workers.rights import Rights
from hitl.call import Ask, Decision, Entry, Event, Ran, Result, Runs, State
from hitl.cards.masked import looks_large
from hitl.delivery import Delivery
from hitl.errors import SaysoError, Unavailable
from hitl.faults import reach
from hitl.ports import Change, PlatformError, adding
from hitl.proof import seals

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence

    from hitl.call import Call, Lease, Reply
    from hitl.gate import Gate
    from hitl.gate.response import Answer, Submitted
    from hitl.ports import Chat

T = TypeVar("T")
_log = logging.getLogger(__name__)
_STOP_WITHIN_S = 35.0
#: Seconds after the start at which the reader of replies in words is imported. The first such reply would otherwise
#: wait 20 ms for it. An import during the start would delay everything else.
_READER_AFTER_S = 1.0
_TRIES_TO_RECORD = 10
_TRIES_TO_FOLLOW = 5
#: For at most this many calls, we remember that the service asked for them again, because somebody may still wait for
#: the old call.
_REMEMBERED = 512


class Service:
    """Submits, decides, runs, expires and delivers calls. `bot.compose.compose` builds it.

    `older` says that the database was restored from an older copy: it is older than its mark
    (`adapters.database.mark`). Then the calls that are open in it never run.
    """

    def __init__(self, gate: Gate, chats: Mapping[str, Chat] | None = None, *, older: bool = False) -> None:
        self.gate = gate
        self.store = gate.store
        self.waiting = Waiting(gate.store)
        self.tokens = Tokens(gate, gate.store)
        self.expiry = Expiry(gate.store, gate, gate.clock)
        self._rights = Rights(gate)
        self.outbox = OutboxWorker(Delivery(gate.store, gate, chats or {}), self._start)
        self._chats = bool(chats)
        self._older = older
        self._large = asyncio.Lock()
        self._posting: asyncio.Task[None] | None = None
        self._import: asyncio.TimerHandle | None = None
        self._running: set[asyncio.Task[Any]] = set()
        self._following: set[asyncio.Task[None]] = set()
        self._again: FIFOCache[str, asyncio.Task[Call | None]] = FIFOCache(_REMEMBERED)
        listeners = (self.waiting, self.expiry, self, Journal())
        self._unfollow = [gate.follow(listener.changed) for listener in listeners]

    async def start(self) -> None:
        """Load the tokens, and continue the work of the last process: lost leases, overdue calls, unsent messages.

        A lease that was taken in this state folder belongs to a dead process. A lease that another service took stays
        valid until its end.
        """
        self._import = asyncio.get_running_loop().call_later(_READER_AFTER_S, _import_reader)
        # An agent's right to ask depends on its token, so the tokens are loaded before the first reply is read.
        await self.tokens.load()
        if self._older:
            await roll_back(self.gate)
        for call in await self.store.leased("service:"):
            if call.runs is Runs.SERVICE and call.claim and self._took_here(call.claim.owner):
                await self.gate.orphaned(call)
        await self.expiry.start()
        await self._rights.start()
        if self._chats:
            self._posting = asyncio.create_task(self.outbox.run())

    def _took_here(self, owner: str) -> bool:
        """Return whether the owner of a lease was a service on this state folder.

        In the owner's name, the part before the last colon names the folder.

        Older versions recorded no folder (`service:0a1b2c3d`). Such an owner was on this state folder too, because the
        database couldn't be moved then.
        """
        place, _, _process = owner.rpartition(":")
        return place in {"service", self.gate.owner.rpartition(":")[0]}

    async def stop(self) -> None:
        """Wait a short time for running tools, then stop them and record `unknown`. Then stop the timers. The store
        stays open.
        """
        if self._running:
            await asyncio.wait(self._running, timeout=_STOP_WITHIN_S)
        others = [*self._following, *filter(None, [self._posting])]
        for task in [*self._running, *others]:
            task.cancel()
        await asyncio.gather(*self._running, *others, return_exceptions=True)
        if self._import is not None:
            self._import.cancel()
        await self._rights.stop()
        await self.expiry.stop()
        while self._unfollow:
            self._unfollow.pop()()

    async def submit(self, ask: Ask) -> Submitted:
        """Record a call, and run it if it is allowed and the service runs it. Raises the errors of `Gate.submit`.

        Large calls are handled one after the other, so that the service can answer other callers between them.
        """
        if not looks_large(ask.args):
            return await self._whole(self._submitted(ask))
        async with self._large:
            return await self._whole(self._submitted(ask))

    async def decide(self, reply: Reply) -> tuple[Answer, ...]:
        """Pass a reply to the gate, and run the calls that it approved. Raises the errors of `Gate.decide`."""
        return await self._whole(self._answered(reply))

    async def ended(self, call: Call, limit_s: float | None = None) -> Call:
        """Return the call when it has ended, or its current state after `limit_s` seconds.

        If the service asked for the call again because a file or the sandbox had changed, wait for the end of the new
        call.
        """
        ended = await self.waiting.until(call, lambda c: c.ended, limit_s)
        again = self._again.get(ended.ref)
        # Other code may wait for the same task. The shield keeps the task from being cancelled when one waiter gives
        # up.
        successor = await asyncio.shield(again) if again else None
        return await self.ended(successor, limit_s) if successor else await self._ready(ended)

    async def decided(self, call: Call, limit_s: float | None = None) -> Call:
        """Return the call when it can't be decided any more, or its current state after `limit_s` seconds."""
        return await self._ready(await self.waiting.until(call, lambda c: c.state is not State.AWAITING, limit_s))

    async def explained(self, call: Call, limit_s: float | None = None) -> Call:
        """Return the call when no decision and no reason can come any more, or its current state after `limit_s`
        seconds.
        """
        answered = await self.waiting.until(
            call, lambda c: c.state is not State.AWAITING and not c.awaits_reason, limit_s
        )
        return await self._ready(answered)

    async def _ready(self, call: Call) -> Call:
        """Mask the call's texts outside the event loop if they are large, so that it can be shown immediately. Return
        the call.
        """
        await self.gate.ready(call)
        return call

    def follow(self, call: Call, tell: Callable[[Call], Awaitable[None]]) -> None:
        """Call `tell` with the call when it has ended.

        This is in memory only, unlike the outbox. If this process ends first, `tell` is never called.
        """
        self.accompany(self._followed(call, tell))

    @property
    def idle(self) -> bool:
        """Whether the service has nothing to do: it sends no message, and handles and runs no call."""
        return self.outbox.idle and not self._running

    def accompany(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run work that isn't part of a call, such as an agent's turn, and return its task. The work is cancelled when
        the service stops.
        """
        task = asyncio.get_running_loop().create_task(work)
        self._following.add(task)
        task.add_done_callback(self._following.discard)
        return task

    async def _followed(self, call: Call, tell: Callable[[Call], Awaitable[None]]) -> None:
        try:
            await _told(await self.ended(call), tell)
        except (PlatformError, Unavailable) as error:
            _log.warning("follower.not_told", {"ref": call.ref, "why": str(error)})

    def changed(self, call: Call) -> None:
        """Wake the outbox, because there may be a message about the call to send.

        If an approved call was refused because a file or the sandbox changed, ask for it again.
        """
        if call.routes or self.gate.people.is_chat(call.origin):
            self.outbox.wake()
        if call.result is Result.REFUSED and call.decision is Decision.APPROVED and call.runs is Runs.SERVICE:
            self._again[call.ref] = self._start(self._ask_again(call))

    async def _ask_again(self, call: Call) -> Call | None:
        """If a changed file or sandbox kept an approved call from running, submit it again, and return the new call.

        The new card shows the change. Return None if nothing changed or the new call can't be submitted.
        """
        try:
            known = self.gate.executor.info(call.tools, call.tool) is not None
            if not known or not seals.row_holds(self.gate.keys, call):
                return None
            if await self.gate.executor.still_holds(call) is None:
                return None
            ask = Ask(
                call.tools,
                call.tool,
                call.arguments,
                call.requester,
                call.origin,
                call.runs,
                agent=call.agent,
                session=call.session,
                note=call.note,
                must_ask=True,
                previous=call.short,
            )
            return (await self.submit(ask)).call
        except SaysoError as error:
            _log.warning("call.not_asked_again", {"ref": call.ref, "why": error.message})
            return None

    async def _submitted(self, ask: Ask) -> tuple[Submitted, list[Lease]]:
        submitted = await self.gate.submit(ask)
        return submitted, [submitted.lease] if submitted.lease and submitted.fresh else []

    async def _answered(self, reply: Reply) -> tuple[tuple[Answer, ...], list[Lease]]:
        answers = await self.gate.decide(reply)
        return answers, [answer.lease for answer in answers if answer.lease]

    async def _whole(self, use_case: Coroutine[Any, Any, tuple[T, list[Lease]]]) -> T:
        """Run a use case of the gate, and the calls that it leases, even if its caller is cancelled. Return the use
        case's answer.
        """
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        whole = self._start(self._through(use_case, answer))
        whole.add_done_callback(lambda _: answer.cancel())
        return await answer

    async def _through(self, use_case: Coroutine[Any, Any, tuple[T, list[Lease]]], answer: asyncio.Future[T]) -> None:
        """Run the use case and set `answer`. Then run the calls that the use case leased, the first of them in this
        task.
        """
        try:
            value, leases = await use_case
        except Exception as error:  # noqa: BLE001 - the caller that waits gets the error
            if not answer.done():
                answer.set_exception(error)
            return
        if not answer.done():
            answer.set_result(value)
        for lease in leases[1:]:
            self._start(self._execute(lease))
        if leases:
            await self._execute(leases[0])

    def _start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start work as a task, and return the task. Keep the task until it ends, because the loop has only a weak
        reference to it.
        """
        task = asyncio.get_running_loop().create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def _execute(self, lease: Lease) -> None:
        reach("service.leased")
        try:
            ran = await self.gate.executor.run(lease, limit_s=lease.call.verdict.execution_s)
        except asyncio.CancelledError:
            ran = Ran(Result.UNKNOWN, error=say("tool.stopped"))
        reach("service.ran")
        await self._record(lease, ran)

    async def _record(self, lease: Lease, ran: Ran) -> None:
        """Store how a run ended. If the store fails, try several times.

        After that, the lease runs out, and the result becomes `unknown`.
        """
        for attempt in range(_TRIES_TO_RECORD):
            try:
                await self.gate.finish_own(lease, ran)
            except Unavailable as error:
                _log.error(
                    "result.not_recorded",
                    {"ref": lease.call.ref, "result": ran.result.value, "why": error.message},
                )
                await asyncio.sleep(min(2.0**attempt / 10, 5.0))
            except SaysoError as error:
                _log.error("result.refused", {"ref": lease.call.ref, "result": ran.result.value, "why": error.message})
                return
            else:
                return

    def troubles(self) -> Sequence[str]:
        """Return a sentence for each route that refused a card: the platform's reason, and the next step."""
        refusals = self.gate.reach.refusals(self.gate.clock.now())
        return [
            say("trouble.route", route=route, why=why, remedy=say(remedy or "remedy.unknown"))
            for route, (why, remedy) in refusals.items()
        ]

    async def moved(self, old: str, new: str) -> None:
        """Handle a conversation that its platform renamed: post its open cards again, under the new name."""
        await self.store.move(old, new)
        await self.store.commit(adding(Change(entries=(Entry("", Event.MOVED, "service", {"old": old, "new": new}),))))
        self.outbox.wake()


async def _told(call: Call, tell: Callable[[Call], Awaitable[None]]) -> None:
    """Call `tell`, and call it again after errors after which a retry may help. Raises PlatformError if a retry can't
    help.
    """
    for attempt in range(_TRIES_TO_FOLLOW):
        try:
            return await tell(call)
        except PlatformError as error:
            if not error.passing or attempt == _TRIES_TO_FOLLOW - 1:
                raise
            await asyncio.sleep(error.retry_s or 2.0**attempt)
    return None


def _import_reader() -> None:
    asyncio.get_running_loop().run_in_executor(None, import_module, "hitl.replies.yes_with_reason")
