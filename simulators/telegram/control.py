"""The control of a running server: people's acts, what they see, waiting, faults, the clock.

The same verbs in Python (`await server.say("alice", "Ops", "yes")`) and over HTTP
(`POST /control/say {"user": "alice", "chat": "Ops", "text": "yes"}`); `VERBS` is the table of the latter.
"""

from __future__ import annotations

from typing import Final

from simulators.common.control import PATIENCE, Overseer, Render, record
from simulators.telegram import shapes
from simulators.telegram.errors import Json
from simulators.telegram.faults import Fault
from simulators.telegram.lookup import ChatRef, MessageRef, UserRef
from simulators.telegram.people import People
from simulators.telegram.platform import Answer, Call, Platform, Query
from simulators.telegram.state import Bot, Chat, File, Member, Message, Topic, User

# Over HTTP; what takes a predicate or a fault object is for Python only.
VERBS: Final = frozenset(
    "bot user private group supergroup channel topic close_topic delete_topic add_bot join leave kick promote"
    " demote mute block unblock deactivate migrate say channel_post edit delete forward press react messages"
    " message chat person answer answers calls pending wait_message wait_answer wait_calls wait_polling"
    " wait_drained heal flood advance down up".split()
)
RENDERERS: Final[dict[type, Render]] = {
    User: lambda one, _: shapes.user(one),
    Bot: lambda one, _: {**shapes.me(one), "token": one.token},
    Chat: lambda one, _: shapes.chat(one),
    Member: lambda one, _: shapes.member(one),
    Message: shapes.seen,
    Topic: record,
    Query: record,
    Answer: record,
    Call: record,
}


class Control(People, Overseer[Platform, Call, Fault]):
    """People's acts and the view from above."""

    verbs = VERBS
    renderers = RENDERERS

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

    async def pending(self, bot: UserRef | None = None) -> list[Json]:
        """Return the updates that wait for a bot, acknowledged ones not among them."""
        return [one.as_json() for one in self.platform.desks[self._bot(bot).id].queue.pending()]

    async def file(self, file_id: str) -> File:
        """Return an uploaded file with its bytes."""
        return self.world.files[file_id]

    # Waiting -------------------------------------------------------------------------------

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

        return await self.wait_newest(
            lambda: list(self._chat(chat).messages.values()), wanted, timeout, f"a message with {text!r}"
        )

    async def wait_answer(self, query: Query | str, timeout: float = PATIENCE) -> Answer:
        """Return what the presser was shown, once."""
        found = self._query(query)
        return await self.wait_for(lambda: self._query(found.id).answer, timeout, "an answer")

    async def wait_polling(self, bot: UserRef | None = None, timeout: float = PATIENCE) -> bool:
        """Return when a bot waits in a long poll: it has seen everything before."""
        queue = self.platform.desks[self._bot(bot).id].queue
        return await self.wait_for(lambda: queue.polled, timeout, "a long poll")

    async def wait_drained(self, bot: UserRef | None = None, timeout: float = PATIENCE) -> bool:
        """Return when a bot has acknowledged every update."""
        queue = self.platform.desks[self._bot(bot).id].queue
        return await self.wait_for(lambda: not queue.pending(), timeout, "acknowledgements")

    def last(self) -> str:
        """Return the last calls."""
        calls = [f"{one.method} -> {one.status} {one.description}".strip() for one in self.platform.calls[-6:]]
        return f"last calls: {calls}"

    def _query(self, query: Query | str) -> Query:
        return self.platform.queries[query.id if isinstance(query, Query) else query]
