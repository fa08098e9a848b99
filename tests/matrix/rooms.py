"""The platforms' side of a world: one conversation with Ann, who asks, and Bob and Cy, who decide.

Both rooms offer the same few things, so that `people.py` needn't know which platform it is on. The servers are those of
`simulators`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from hitl.cards.wording import say
from simulators.slack import SlackServer
from simulators.telegram import TelegramServer

#: What names a request in every text about it.
MARK = re.compile(r"\b(?:chat|ask|late|http)\d+\b")
LABELS = {verb: say(f"button.{verb}") for verb in ("approve", "reject")}
PATIENCE_S = 180.0


@dataclass(frozen=True)
class Sent:
    """Something that a person sent.

    `trace` is a part of its raw event. `answered` tells whether the service acknowledged it to the platform, `told`
    whether the person sees that it was taken, and `refused` that the person sees that it failed, and may try again.
    """

    trace: str
    answered: Callable[[], bool]
    told: Callable[[], bool]
    refused: Callable[[], bool] = lambda: False


class Room(Protocol):
    """A conversation on a platform."""

    #: Who asks, and who may decide, as the service names them, and the conversation.
    asker: str
    deciders: tuple[str, ...]
    place: str
    settings: str
    environment: dict[str, str]

    async def ask(self, text: str) -> Sent:
        """Ann asks the agent for something."""

    def cards(self) -> dict[str, Any]:
        """The cards that still have buttons, by the mark in them."""

    async def press(self, who: str, card: Any, verb: str) -> Sent:
        """One of the deciders presses."""

    async def reply(self, who: str, card: Any, verb: str) -> Sent:
        """One of the deciders answers in words."""

    def launched(self) -> None:
        """A new process of the service begins; what is left of the one before doesn't count."""

    async def connected(self) -> None:
        """Wait until the new process listens to the platform."""


class TelegramRoom:
    """A group."""

    def __init__(self, server: TelegramServer) -> None:
        self._server = server

    async def open(self) -> None:
        """Let everybody come in. Nobody waits for the platform's rate limits here."""
        await self._server.flood(enabled=False)
        self._bot = await self._server.bot()
        people = [await self._server.user(name) for name in ("Ann", "Bob", "Cy")]
        self._room = await self._server.group("Ops", members=people, bots=[self._bot.id])
        self._ann = people[0]
        self._people = {f"telegram:{one.id}": one for one in people[1:]}
        self.deciders = tuple(self._people)
        self.asker, self.place = f"telegram:{self._ann.id}", f"telegram:{self._room.id}"
        self.settings = f'[telegram]\napi = "{self._server.root_url}"\npace = 0\n'
        self.environment = {"SAYSO_TELEGRAM__TOKEN": self._bot.token}

    async def ask(self, text: str) -> Sent:
        """Ann mentions the bot."""
        await self._server.say(self._ann, self._room, f"@{self._bot.user.username} {text}")
        return await self._sent()

    async def _sent(self, told: Callable[[], bool] = lambda: True) -> Sent:
        """What was sent just now: it is the newest update, and answered for once it no longer waits."""
        number = (await self._server.pending(self._bot.id))[-1]["update_id"]
        queue = self._server.platform.desks[self._bot.id].queue
        return Sent(f'"update_id": {number},', lambda: all(one.id != number for one in queue.pending()), told)

    def cards(self) -> dict[str, Any]:
        """The messages with an Approve button."""
        return {mark: one for one in self._room.messages.values() if (mark := _mark(one, one.text))}

    async def press(self, who: str, card: Any, verb: str) -> Sent:
        """A callback query."""
        query = await self._server.press(self._people[who], card, LABELS[verb])
        return await self._sent(lambda: self._server.platform.queries[query.id].answer is not None)

    async def reply(self, who: str, card: Any, verb: str) -> Sent:
        """A message that replies to the card."""
        words = {"approve": "yes", "reject": "no because it is risky"}
        await self._server.say(self._people[who], self._room, words[verb], reply_to=card)
        return await self._sent()

    def launched(self) -> None:
        """Each process asks once who it is, and then polls."""
        self._before = count(self._server.platform.calls, "getMe")

    async def connected(self) -> None:
        """It knows who it is."""
        await self._server.wait_calls("getMe", self._before + 1, timeout=PATIENCE_S)


class SlackRoom:
    """A channel; each request has a thread of its own."""

    def __init__(self, server: SlackServer) -> None:
        self._server = server
        self._known: dict[tuple[str, int], str] = {}

    async def open(self) -> None:
        """Let everybody come in. Nobody waits for the platform's rate limits here."""
        await self._server.flood(enabled=False)
        self._app = await self._server.app(socket_mode=True)
        people = [await self._server.user(name) for name in ("Ann", "Bob", "Cy")]
        self._room = await self._server.channel("ops", members=[*people, self._app.bot])
        self._ann = people[0]
        self._people = {f"slack:{one.team_id}/{one.id}": one for one in people[1:]}
        self.deciders = tuple(self._people)
        self.asker = f"slack:{self._ann.team_id}/{self._ann.id}"
        self.place = f"slack:{self._app.team_id}/{self._room.id}"
        self.settings = f'[slack]\napi = "{self._server.api_url}"\npace = 0\nconnections = 1\n'
        self.environment = {
            "SAYSO_SLACK__BOT_TOKEN": self._app.bot_token,
            "SAYSO_SLACK__APP_TOKEN": self._app.app_token,
        }

    async def ask(self, text: str) -> Sent:
        """Ann mentions the app. Slack sends that as a message and as a mention, and each is answered for."""
        first = len(self._server.platform.deliveries)
        said = await self._server.mention(self._ann, self._room, text)
        told = self._server.platform.deliveries[first:]

        def taken() -> bool:
            return any(one.state == "delivered" for one in told)

        return Sent(said.ts, taken, taken, lambda: all(one.error for one in told))

    def cards(self) -> dict[str, Any]:
        """The messages with an Approve button."""
        return {mark: one for one in self._room.messages.values() if (mark := self._marks(one))}

    def _marks(self, message: Any) -> str:
        """`_mark`, kept for each state of a message: reading blocks takes long."""
        key = message.ts, message.edits
        if key not in self._known:
            self._known[key] = _mark(message, message.shown.text)
        return self._known[key]

    async def press(self, who: str, card: Any, verb: str) -> Sent:
        """A block action."""
        delivery = await self._server.press(self._people[who], card, LABELS[verb])
        assert delivery is not None

        def taken() -> bool:
            return delivery.state == "delivered"

        return Sent(delivery.payload["trigger_id"], taken, taken, lambda: delivery.state == "failed")

    async def reply(self, who: str, card: Any, verb: str) -> Sent:
        """Words in a thread decide by rules of their own, which scenarios test: here Slack's people press."""
        return await self.press(who, card, verb)

    def launched(self) -> None:
        """Each process asks for the address of its socket."""
        self._before = count(self._server.platform.calls, "apps.connections.open")

    async def connected(self) -> None:
        """It has asked, and holds a socket."""
        await self._server.wait_calls("apps.connections.open", self._before + 1, timeout=PATIENCE_S)
        await self._server.wait_connected(self._app, timeout=PATIENCE_S)


def _mark(message: Any, text: str) -> str:
    """The mark in a message with an Approve button, nothing for any other message."""
    found = MARK.search(text) if LABELS["approve"] in message.labels else None
    return found[0] if found else ""


def count(calls: Iterable[Any], method: str) -> int:
    """How often a method was called."""
    return sum(call.method == method for call in calls)
