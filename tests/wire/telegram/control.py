"""The control of a running server: people's acts, what they see, waiting, faults, the clock.

The same verbs in Python (`await server.say("alice", "Ops", "yes")`) and over HTTP
(`POST /control/say {"user": "alice", "chat": "Ops", "text": "yes"}`); `VERBS` is the table of the latter.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from . import shapes
from .errors import Json
from .faults import Fault, fault
from .lookup import ChatRef, ControlError, MessageRef, UserRef
from .people import People
from .platform import Answer, Call, Query
from .state import Bot, Chat, File, Member, Message, Topic, User, World

T = TypeVar("T")

PATIENCE: Final = 5.0
# What is waited for may change elsewhere, where nothing tells us: look again after so many seconds.
GLANCE: Final = 0.02


class Control(People):
    """People's acts and the view from above."""

    async def messages(self, chat: ChatRef) -> list[Message]:
        """Return what people see in a chat, oldest first; what was deleted is not there."""
        return list(self._chat(chat).messages.values())

    async def message(self, message: MessageRef, chat: ChatRef | None = None) -> Message:
        """Return one message as it is now, with its edits in `history`."""
        return self._message(message, chat)

    async def chat(self, chat: ChatRef) -> Chat:
        """Return a chat as it is now."""
        return self._chat(chat)

    async def person(self, user: UserRef) -> User:
        """Return a person or bot."""
        return self._user(user)

    async def answer(self, query: Query | str) -> Answer | None:
        """Return what the presser was shown, None so far."""
        return self._query(query).answer

    async def answers(self) -> list[Query]:
        """Return all presses with their answers, oldest first."""
        return list(self.platform.queries.values())

    async def calls(self, method: str | None = None) -> list[Call]:
        """Return the log of answered calls, of one method or all, oldest first."""
        wanted = method.lower() if method else None
        return [one for one in self.platform.calls if wanted in {None, one.method.lower()}]

    async def pending(self, bot: UserRef | None = None) -> list[Json]:
        """Return the updates that wait for a bot, acknowledged ones not among them."""
        return [one.as_json() for one in self.platform.desks[self._bot(bot).id].queue.pending()]

    async def file(self, file_id: str) -> File:
        """Return an uploaded file with its bytes."""
        return self.world.files[file_id]

    # Waiting -------------------------------------------------------------------------------

    async def wait_for(self, found: Callable[[], T | None], timeout: float = PATIENCE, what: str = "it") -> T:
        """Return the first true value of `found`, asked after every change here, and now and then.

        Raises `TimeoutError` after so many real seconds, with the last calls.
        """
        deadline = asyncio.get_running_loop().time() + timeout
        while True:
            change = self.platform.change()
            value = found()
            if value:
                return value
            if not await _again_before(change, deadline):
                raise TimeoutError(f"no sign of {what} in {timeout} s; last calls: {self._last_calls()}")

    async def wait_message(
        self,
        chat: ChatRef,
        text: str = "",
        *,
        button: str = "",
        edits: int = 0,
        after: int = 0,
        timeout: float = PATIENCE,
    ) -> Message:
        """Return the newest bot's message in the chat that has all of these.

        `text` is a part of the text, `button` a label, `edits` the least number of edits, `after`
        a message id that it must be beyond.
        """

        def wanted(one: Message) -> bool:
            fits = text in one.text and (not button or button in one.labels)
            return bool(one.author_bot) and fits and one.edits >= edits and one.id > after

        def newest() -> Message | None:
            room = self._chat(chat)
            return next((one for one in reversed(room.messages.values()) if wanted(one)), None)

        return await self.wait_for(newest, timeout, f"a message with {text!r}")

    async def wait_answer(self, query: Query | str, timeout: float = PATIENCE) -> Answer:
        """Return what the presser was shown, once."""
        found = self._query(query)
        return await self.wait_for(lambda: self._query(found.id).answer, timeout, "an answer")

    async def wait_calls(self, method: str, count: int = 1, timeout: float = PATIENCE) -> list[Call]:
        """Return the calls of a method when there are so many."""

        def enough() -> list[Call] | None:
            made = [one for one in self.platform.calls if one.method.lower() == method.lower()]
            return made if len(made) >= count else None

        return await self.wait_for(enough, timeout, f"{count} calls of {method}")

    async def wait_polling(self, bot: UserRef | None = None, timeout: float = PATIENCE) -> bool:
        """Return when a bot waits in a long poll: it has seen everything before."""
        queue = self.platform.desks[self._bot(bot).id].queue
        return await self.wait_for(lambda: queue.polled, timeout, "a long poll")

    async def wait_drained(self, bot: UserRef | None = None, timeout: float = PATIENCE) -> bool:
        """Return when a bot has acknowledged every update."""
        queue = self.platform.desks[self._bot(bot).id].queue
        return await self.wait_for(lambda: not queue.pending(), timeout, "acknowledgements")

    def _last_calls(self) -> list[str]:
        return [f"{one.method} -> {one.status} {one.description}".strip() for one in self.platform.calls[-6:]]

    def _query(self, query: Query | str) -> Query:
        return self.platform.queries[query.id if isinstance(query, Query) else query]

    # Trouble -------------------------------------------------------------------------------

    async def fail(self, method: str, one: Fault, times: int = 1) -> None:
        """Let the next calls of a method, or of any ("*"), go wrong."""
        self.platform.faults.add(method, one, times)

    async def fail_as(self, method: str, kind: str, times: int = 1, **fields: Any) -> None:
        """Do the same with a fault named by its kind."""
        self.platform.faults.add(method, fault(kind, **fields), times)

    async def heal(self) -> None:
        """Let nothing go wrong any more."""
        self.platform.faults.clear()

    async def flood(self, *, enabled: bool = True) -> None:
        """Switch the rate limits on or off."""
        self.platform.flood.enabled = enabled

    async def advance(self, seconds: float) -> float:
        """Move the server's clock forward; return its time."""
        self.platform.clock.advance(seconds)
        self.platform.touch()
        return self.platform.clock.now()


async def _again_before(event: asyncio.Event, deadline: float) -> bool:
    """Wait for the event, but not long; False when the deadline has passed."""
    left = deadline - asyncio.get_running_loop().time()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), min(left, GLANCE))
    return left > 0


# Verbs over HTTP; those not here (a predicate, a fault object) are for Python only.
VERBS: Final = frozenset(
    "bot user private group supergroup channel topic close_topic delete_topic add_bot join leave kick promote"
    " demote mute block unblock deactivate migrate say channel_post edit delete forward press react messages"
    " message chat person answer answers calls pending wait_message wait_answer wait_calls wait_polling"
    " wait_drained heal flood advance down up".split()
)
ALIASES: Final = {"fail": "fail_as"}


async def obey(control: Control, verb: str, arguments: Json) -> Any:
    """Carry out a verb that came over HTTP and return its result as JSON.

    Raises `ControlError` for an unknown verb, wrong arguments, and what nobody could do.
    """
    name = ALIASES.get(verb, verb)
    if name not in VERBS | set(ALIASES.values()):
        raise ControlError(f"unknown verb {verb!r}")
    try:
        return as_json(await getattr(control, name)(**arguments), control.world)
    except (TypeError, KeyError, TimeoutError) as error:
        raise ControlError(f"{verb}: {type(error).__name__}: {error}") from error


def as_json(value: Any, world: World) -> Any:
    """Return a result of the control as JSON."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [as_json(one, world) for one in value]
    render = _RENDERERS.get(type(value))
    return render(value, world) if render else value


def _record(value: Any, _world: World) -> Json:
    return dataclasses.asdict(value)


_RENDERERS: Final[dict[type, Callable[[Any, World], Json]]] = {
    User: lambda one, _: shapes.user(one),
    Bot: lambda one, _: {**shapes.me(one), "token": one.token},
    Chat: lambda one, _: shapes.chat(one),
    Member: lambda one, _: shapes.member(one),
    Message: shapes.seen,
    Topic: _record,
    Query: _record,
    Answer: _record,
    Call: _record,
}
