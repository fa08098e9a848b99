"""Sends the messages of the outbox to the chat platforms: posts cards, edits them, and handles failures.

Each message is delivered at least once. The rows of one call on one route go out in the order in which they were
queued, and each route gets one message at a time. If every surface refuses a card and retries can't help, its call
becomes `undeliverable` immediately. After a failure that may pass, the message is tried again until the deadline.

A process can die after the platform accepted a card and before the id of the card's message was stored. In that case
the card is posted twice. A press on either copy counts, because its button names the call. The copy whose id is stored
first is the call's card. The other copy is edited, so that it says that another message is the card.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING

from hitl.backoff import pause_after
from hitl.call import Entry, Event, PostKind, Status
from hitl.cards.redaction import mask
from hitl.cards.text import one_line
from hitl.errors import AlreadyDecided, ConfirmationExpired
from hitl.faults import reach
from hitl.ports import Change, NotYetError, PlatformError, adding

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from hitl.call import Call, Sending
    from hitl.gate import Gate
    from hitl.ports import CallsAndCards, Chat

LEASE_S = 30.0
_MENDED_FOR_S = 24 * 3600.0
#: The number of characters of a platform's error message that are kept.
_WORDS = 200
_log = logging.getLogger(__name__)
_PACED = "paced"
_NO_CHAT = "no such chat platform is set up here"


def shown(call: Call, route: str, message: str) -> Entry:
    """Return the line of the audit record that names the route of a card and the id of its message."""
    return Entry(call.ref, Event.SHOWN, "service", {"route": route, "message": message})


def _platform(route: str) -> str:
    return route.partition(":")[0]


class Delivery:
    """Sends the messages of the outbox. `chats` maps the first part of a route (`telegram`) to its platform."""

    def __init__(self, store: CallsAndCards, gate: Gate, chats: Mapping[str, Chat]) -> None:
        self._store = store
        self._gate = gate
        self._chats = chats
        self._clock = gate.clock
        #: Route -> the time until which the platform's rate limits stop edits of pending cards on this route.
        self._calm: dict[str, datetime] = {}
        #: The platforms that may be down: after their last failure no message has arrived.
        self._down: set[str] = set()

    async def take(self, busy: Collection[str] = ()) -> Sequence[Sending]:
        """Lease the messages that may go out now, at most one for each route that isn't busy."""
        now = self._clock.now()
        self._calm = {route: until for route, until in self._calm.items() if until > now}
        return await self._store.sendings(lease_s=LEASE_S, busy=busy, calm=self._calm)

    async def run_once(self) -> int:
        """Send the messages that may go out now, one after the other. Return their number."""
        taken = await self.take()
        for sending in taken:
            await self.send(sending)
        return len(taken)

    async def send(self, sending: Sending) -> None:
        """Send one leased message to its platform, and record whether the platform took it."""
        call = await self._store.get(sending.post.ref)
        if call is None:
            return await self._store.unsent(sending, "its call is gone", retry_s=None)
        await self._gate.ready(call)
        try:
            message = await self._put(self._chat(sending.post.route), sending, call)
        except NotYetError as error:
            return await self._paced(sending, call, error.seconds)
        except PlatformError as error:
            return await self._failed(sending, call, error)
        reach("delivery.sent")
        if message is not None or sending.post.kind is PostKind.NOTICE:
            await self._arrived(sending.post.route)
        if sending.post.kind is PostKind.CARD and message is not None:
            return await self._posted(sending, call, message)
        return await self._store.sent(sending, message)

    async def _posted(self, sending: Sending, call: Call, message: str) -> None:
        """Record the message id of a card that was just posted, and handle a second copy.

        An earlier process may have posted the card too, and died before it recorded the message. If somebody has
        pressed a button of that earlier copy since, the press made Sayso record the earlier copy as the card. In that
        case the new copy is edited, so that it says that another message is the card.
        """
        route = sending.post.route
        known = await self._store.by_message(message) is not None
        await self._store.sent(sending, message)
        if not known:
            await self._store.commit(adding(Change(entries=(shown(call, route, message),))))
        if (await self._store.cards(call.ref)).get(route) != message:
            await self._spare(route, message, call)

    async def _spare(self, route: str, message: str, call: Call) -> None:
        try:
            await self._chat(route).spare(route, message, call)
        except PlatformError as error:
            # The route now has two cards of this call, and this copy still looks like the only one. A press on this
            # copy counts, and makes Sayso try the edit again.
            _log.warning("outbox.two_cards", {"ref": call.ref, "route": route, "why": str(error)})

    def _chat(self, route: str) -> Chat:
        chat = self._chats.get(_platform(route))
        if chat is None:
            raise PlatformError(_NO_CHAT, passing=False, lost=True)
        return chat

    async def _put(self, chat: Chat, sending: Sending, call: Call) -> str | None:
        post = sending.post
        if post.kind is PostKind.NOTICE:
            await chat.notify(post.route, call)
            return None
        if sending.message is not None:
            await chat.update(post.route, sending.message, call)
            return sending.message
        if post.kind is PostKind.CARD and call.status is Status.PENDING:
            return await chat.post(post.route, call)
        return None

    def _stale(self, call: Call) -> bool:
        """Return whether the call ended more than a day ago. Failed edits of such a call's cards aren't retried."""
        ended = call.finished_at or call.decided_at
        return call.ended and ended is not None and (self._clock.now() - ended).total_seconds() > _MENDED_FOR_S

    async def _paced(self, sending: Sending, call: Call, seconds: float) -> None:
        """Put off an edit by `seconds`, because of the platform's rate limits.

        Until then, no card of a pending call is edited on that route. Other messages are still sent.
        """
        if sending.post.kind is PostKind.EDIT and call.status is Status.PENDING:
            # The row of this edit gets no delay (0.0), because `_calm` delays the edit. A later time in the row would
            # also delay the next row, with the call's outcome, because the rows of a call go out in order.
            self._calm[sending.post.route] = self._clock.now() + timedelta(seconds=seconds)
            seconds = 0.0
        await self._store.unsent(sending, _PACED, retry_s=seconds)

    async def _arrived(self, route: str) -> None:
        """Note in memory that the route works, because a message arrived.

        If its platform seemed down, all delayed messages to the platform may now go out immediately.
        """
        self._gate.reach.found(route)
        platform = _platform(route)
        if platform in self._down:
            self._down.remove(platform)
            await self._store.hasten(platform)

    async def _failed(self, sending: Sending, call: Call, error: PlatformError) -> None:
        retry_s = None
        if error.passing and not self._stale(call):
            retry_s = error.retry_s or pause_after(sending.attempts)
            if error.retry_s is None:
                self._down.add(_platform(sending.post.route))
        await self._store.unsent(sending, str(error), retry_s=retry_s)
        if error.lost:
            self._gate.reach.lost(sending.post.route, self._clock.now())
        if retry_s is None and sending.post.kind is PostKind.CARD and call.status is Status.PENDING:
            await self._refused(sending.post.route, call, error)

    async def _refused(self, route: str, call: Call, error: PlatformError) -> None:
        """Report, in the log and the audit record, that a route will never show this card.

        If no surface can show the call, end it as undeliverable.
        """
        said = one_line(mask(str(error)), _WORDS)
        unseen = not await self._store.cards(call.ref) and not self._gate.seen_locally(call)
        # Any person can block the bot in a private chat. Such a block alone must not make the service unready
        # (`/readyz`).
        alarming = error.lost or unseen
        if self._gate.reach.refused(route, said, self._clock.now(), alarming=alarming, remedy=error.remedy):
            _log.error("outbox.refused", {"ref": call.ref, "route": route, "why": said})
        entry = Entry(call.ref, Event.NOT_SHOWN, "service", {"route": route, "why": said})
        await self._store.commit(adding(Change(entries=(entry,))))
        if unseen:
            try:
                await self._gate.undeliverable(call.ref, f"{route}: {said}")
            except (AlreadyDecided, ConfirmationExpired):
                return  # an answer on another surface came first, and that decision counts
