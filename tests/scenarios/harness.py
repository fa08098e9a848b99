"""One stage for every surface: the same people do the same things, wherever they sit.

A surface is a platform as people know it: they say, press, answer and react, and read what is shown. Scenarios are
written against `Stage` and `Surface` alone, and run on every surface in `conftest.SURFACES`.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any, Protocol

from adapters.agents.offline import TOOLS
from bot.service import Service
from bot.surfaces import surfaces
from hitl import question
from hitl.call import Action, Ask, Call, Ran, Result, Risk, Runs, Status, ToolInfo, Verb
from hitl.cards.data import full_view
from hitl.cards.wording import SIGNS, say
from hitl.gate import Gate
from hitl.history import told as exported
from hitl.people import Directory
from hitl.proof.keyring import Keyring
from hitl.testing import ScriptedExecutor, SetClock
from tests.canaries import ARGUMENTS, CANARIES, KEY, PASSWORD, TOKEN
from tests.hitl.world import NOON, Rules, Store, verdict
from tests.sentences import says

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Who takes part: Uma's agent asks; Ann and Bob may decide; nobody lists Sam.
PEOPLE = ("uma", "ann", "bob", "sam")
#: What an agent writes to look like a line of ours and a card of ours.
FAKE_STATUS = "\n".join(
    (
        "x",
        f"ABC234 delete_file: {say('outcome.succeeded', how=say('outcome.how.approved'), by='ann')}",
        f"{SIGNS[Risk.LOW]} {say('card.headline', who='ann', phrase='read_file')}",
    )
)
#: What colours a terminal.
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_RULES = {
    "list_files": (Action.ALLOW, Risk.LOW),
    "read_file": (Action.ALLOW, Risk.LOW),
    "write_file": (Action.APPROVE, Risk.MEDIUM),
    "delete_file": (Action.APPROVE, Risk.HIGH),
    "delete_files": (Action.APPROVE, Risk.CRITICAL),
    "bash": (Action.APPROVE, Risk.HIGH),
}


def unboxed(shown: str) -> str:
    """What a screen shows, on one line: without colours, and without the bar beside it."""
    return " ".join(COLOUR.sub("", shown).replace("┃", " ").split())


def saying(texts: Iterable[str], what: str, /, **particulars: object) -> list[str]:
    """Those of the texts that hold this sentence of the catalogue, with these particulars."""
    return [text for text in texts if says(text, what, **particulars)]


def told(stage: Any, who: str, call: Call) -> str:
    """What that person sees of how a call ended: on its card as it is now, or on a screen what came last."""
    card = getattr(stage.surface, "message", None)
    if card is None:
        return str(stage.last(who))
    message = card(call)
    return str(getattr(message, "shown", message).text)


def record_of(store: Store) -> list[object]:
    """The record as it is exported, and each call as an operator reads it."""
    calls, lines = store._calls, store._record  # noqa: SLF001 - MemoryStore's
    views = [full_view(call, [line for line in lines if line.ref == ref]) for ref, call in calls.items()]
    return [*views, *(exported(line, calls.get(line.ref)) for line in lines)]


class Surface(Protocol):
    """A conversation on some platform, with the people in it. `who` is a name of `PEOPLE`."""

    #: The identity that the platform proves for each of them.
    identities: Mapping[str, str]
    #: The place, as origins name it.
    conversation: str

    def open(self, service: Service) -> None:
        """Everybody takes a seat, before anything is asked."""

    async def say(self, who: str, text: str) -> None:
        """Somebody sends a message that answers nothing in particular."""

    async def answer(self, who: str, call: Call, text: str) -> None:
        """Somebody answers the card of a call in words, in the way that the platform has for it."""

    async def press(self, who: str, call: Call, verb: Verb) -> None:
        """Somebody presses a button of the card, or what stands for one."""

    async def react(self, who: str, call: Call, emoji: str) -> None:
        """Somebody puts an emoji on the card."""

    def card(self, call: Call) -> str:
        """The card as it was shown first, as text; '' where none was."""

    def heard(self, who: str) -> list[str]:
        """All that was shown to that person, oldest first, as text."""


class Stage:
    """A real service over the fakes, and one surface on it."""

    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        self.clock = SetClock(NOON)
        self.store = Store(self.clock)
        self.rules = Rules()
        self.rules.verdicts |= {tool: verdict(*rule) for tool, rule in _RULES.items()}
        self.executor = ScriptedExecutor({(TOOLS, tool): ToolInfo("workspace", tool) for tool in _RULES})
        self.executor.outcome = Ran(Result.SUCCEEDED, f"done with {TOKEN}")
        CANARIES.look("what people see", lambda: itertools.chain.from_iterable(map(surface.heard, PEOPLE)))
        CANARIES.look("the record", lambda: record_of(self.store))
        self.service = Service(self._gate())
        surface.open(self.service)

    def _gate(self) -> Gate:
        """The gate of this stage."""
        who = self.surface.identities
        return Gate(
            store=self.store,
            policies=self.rules,
            people=Directory(approvers=(who["ann"], who["bob"]), requesters=(who["uma"],), surfaces=surfaces()),
            executor=self.executor,
            keys=Keyring([("k1", KEY)]),
            owner="service:test",
        )

    def name(self, who: str) -> str:
        """The name that sentences have for a person: the platform's name, as soon as it told one."""
        return self.service.gate.names.of(self.surface.identities[who])

    async def ask(self, tool: str = "delete_file", args: Mapping[str, Any] | None = None, **more: Any) -> Call:
        """Uma's agent asks for a call."""
        asked = ARGUMENTS if args is None else args
        who = self.surface.identities["uma"]
        submitted = await self.service.submit(
            Ask(TOOLS, tool, asked, who, self.surface.conversation, Runs.SERVICE, agent="offline", **more)
        )
        return submitted.call

    async def question(self, asked: str, *options: str) -> Call:
        """Uma's agent asks a question."""
        args = {"question": asked} | ({"options": list(options)} if options else {})
        who = self.surface.identities["uma"]
        ask = Ask(question.GROUP, question.TOOL, args, who, self.surface.conversation, Runs.SERVICE, agent="offline")
        return (await self.service.submit(ask)).call

    async def status(self, call: Call) -> Status:
        """What became of a call, once whatever runs has run."""
        stored = await self.store.get(call.ref)
        assert stored is not None
        if stored.status is Status.RUNNING:
            stored = await self.service.ended(stored)
        return stored.status

    async def wait(self, seconds: float) -> None:
        """Time goes by, and what is due happens."""
        self.clock.advance(seconds)
        await self.service.expiry.sweep()

    async def close(self) -> None:
        """The end: nothing runs any more, and the record is whole."""
        await self.service.stop()
        await self.store.check_record()

    def ran(self) -> list[dict[str, Any]]:
        """The arguments of every call that was run, oldest first, without the planted secret."""
        return [
            {name: value for name, value in call.arguments.items() if value != PASSWORD} for call in self.executor.ran
        ]

    def last(self, who: str) -> str:
        """What was shown to that person last."""
        return self.surface.heard(who)[-1]
