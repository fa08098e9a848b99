"""Each method of Slack that the service calls, going wrong in each way: the call ends right, the cards are true."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from adapters.slack.checks import report
from adapters.slack.setup import SCOPES
from bot.settings import Settings
from hitl.call import Action, Risk, Status, Verb
from hitl.cards.wording import say
from hitl.people import Conversation
from hitl.platforms import Health
from simulators.slack import DropAnswer, Garbage, Hang, Message, Refuse, Reset, SlackServer, methods
from tests.faults.matrix import HANG_S, TIMEOUT_S, Life, Trouble, check, summary
from tests.hitl.world import verdict
from tests.patience import PATIENCE_S
from tests.scenarios.slack.surface import Room, SlackStage, first
from tests.sentences import says
from tests.wired_slack import slack_settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from hitl.call import Call
    from simulators.slack.faults import Fault
    from tests.wired_slack import Wired

FAULTS: dict[str, Fault] = {
    "429": Refuse("ratelimited", 429, 1),
    "4xx": Refuse("channel_not_found"),
    "403": Refuse("restricted_action"),
    "500": Refuse("internal_error", 500),
    "page": Garbage(200),
    "word": Garbage(200, "OK", "text/plain"),
    "empty": Garbage(200, '{"ok": true}', "application/json"),
    "hang": Hang(HANG_S),
    "reset": Reset(),
    "reply lost": DropAnswer(),
}
#: The one fault that every call of the method meets from then on; a life whose start meets it doesn't begin.
FOR_GOOD, MANY = "for good", 99
COLUMNS = {**FAULTS, FOR_GOOD: Refuse("restricted_action")}


@dataclass(frozen=True, slots=True)
class Row:
    """A method at a moment of a life when it is called, how that life is answered, and what it needs."""

    method: str
    moment: str
    answer: Verb = Verb.APPROVE
    #: Where cards go beside the thread.
    beside: tuple[str, ...] = ()
    #: What else is refused at that moment, so that the method is called at all.
    before: Mapping[str, Fault] = field(default_factory=dict)

    def meets(self, fault: str) -> bool:
        """Whether there is a life to tell of."""
        return fault != FOR_GOOD or self.moment != "start"


ROWS = {
    "auth.test": Row("auth.test", "start"),
    "apps.connections.open": Row("apps.connections.open", "start"),
    "chat.postMessage": Row("chat.postMessage", "ask"),
    "conversations.open": Row("conversations.open", "ask", beside=("approvers",)),
    "chat.postEphemeral": Row("chat.postEphemeral", "refuse"),
    "chat.postEphemeral, without a response_url": Row("chat.postEphemeral", "react"),
    "response_url": Row("response_url", "refuse", before={"chat.postEphemeral": Refuse("not_in_channel")}),
    "users.info": Row("users.info", "react"),
    "views.open, details": Row("views.open", "look"),
    "views.update": Row("views.update", "more"),
    "views.open, why yes": Row("views.open", "answer"),
    "views.open, why no": Row("views.open", "answer", Verb.REJECT),
    "chat.update, yes": Row("chat.update", "why"),
    "chat.update, no": Row("chat.update", "answer", Verb.REJECT),
}

_WELL = {Verb.APPROVE: "succeeded, 1 card, true", Verb.REJECT: "rejected, 1 card, true"}
_TWICE = "succeeded, 2 cards, true"
_NOBODY = "undeliverable, 0 cards, true"
_UNHEARD = "succeeded, 1 card, true, sam refuse untold"

#: What becomes of a call where that isn't one card, its truth, and everybody told.
OTHERWISE: dict[str, dict[str, str]] = {
    "chat.postMessage": {
        # The only card can't be posted: nobody can be asked, and the thread is told so, if it can be.
        "4xx": _NOBODY,
        "403": _NOBODY,
        FOR_GOOD: f"{_NOBODY}, uma ask untold",
        # It was posted although no answer came. The client tries again at once where the connection broke; what it
        # gives up is known by its echo before the outbox would post it again.
        "reply lost": _TWICE,
    },
    # The thread's card, and one to each of two approvers; one whose direct conversation can't be had gets none.
    "conversations.open": dict.fromkeys(COLUMNS, "succeeded, 3 cards, true")
    | {"4xx": _TWICE, "403": _TWICE, FOR_GOOD: _WELL[Verb.APPROVE]},
    # No page says what a `response_url` answers with to what it takes, so that any 200 is believed.
    "response_url": {"page": _UNHEARD, "word": _UNHEARD, "empty": _UNHEARD},
    # A card that can never be edited keeps its buttons; its outcome is said beside it, and a press is told the same.
    "chat.update, yes": {FOR_GOOD: "succeeded, 1 card, said"},
    "chat.update, no": {FOR_GOOD: "rejected, 1 card, said"},
}

COMMAND = "run echo " + "x" * 9_500
WHY = "it is time"


class RoomLife(Life):
    """A call that is asked in a thread, pressed by a stranger, reacted to, looked at and answered, with a reason."""

    def __init__(self, stage: SlackStage, row: Row, trouble: Trouble) -> None:
        super().__init__(stage, stage.surface.server, trouble)
        self._stage = stage
        self._room = stage.surface
        self._row = row
        #: Whose act saw no answer.
        self.untold: list[str] = []

    def wires(self) -> Wired:
        """The room's."""
        assert self._room.wires is not None
        return self._room.wires

    def _hurry(self) -> None:
        """Time goes by only once everything that Slack told was taken in: an echo comes before the next try is due."""
        told = any(one.state == "waiting" for one in self._room.server.platform.deliveries)
        open_ = not all(event.done for event in self._stage.store._inbox.values())  # noqa: SLF001 - the fake's own
        if not (told or open_):
            super()._hurry()

    async def live(self) -> Call:
        """From the start of the service to the end of the call, as it is then."""
        await self.step("start", self._stage.start())
        for method, fault in self._row.before.items():
            await self.server.fail(method, fault)
        await self._told("uma", "ask", self._mention("uma", COMMAND))
        if self.cards():
            await self._told("sam", "refuse", self._press("sam", Verb.APPROVE))
            await self._told("bob", "react", self._react("bob", "eyes"))
            await self._told("ann", "look", self._press("ann", Verb.DETAILS))
            await self._filed()
            await self._told("ann", "more", self._turn("ann"))
            await self._told("ann", "answer", self._press("ann", self._row.answer))
            await self._told("ann", "why", self._explain("ann"))
        for card in self.cards():
            if card.labels:
                await self._room.pressed("bob", first(card), Verb.APPROVE)
        await self.settled()
        return await self._call()

    def cards(self) -> list[Message]:
        """All cards there are, wherever they stand."""
        return [one for one in self.posted() if says(first(one).shown.text, "card.headline")]

    def posted(self) -> list[Message]:
        """All that the app wrote for everybody in some conversation."""
        return [one for room in self._room.server.world.channels.values() for one in self._room.posted(room)]

    async def _told(self, who: str, moment: str, act: Awaitable[object]) -> None:
        """A step of somebody's, who is to see something new after it."""
        before = self._screen(who)
        await self.step(moment, act)
        if before == self._screen(who):
            self.untold.append(f"{who} {moment}")

    async def _filed(self) -> None:
        """Wait until the file stands below the card, or its reader was told that it doesn't.

        The service sends the file by itself, in three requests. On a busy machine one of them may take longer than the
        service waits here.
        """
        world = self._room.server.world

        def ended() -> bool:
            files = [call for call in self._room.server.platform.calls if call.method == "files.completeUploadExternal"]
            return bool(files) or any(says(one.shown.text, "chat.no_file") for one in world.ephemerals)

        await self._room.server.wait_for(ended, PATIENCE_S, "a file below the card")

    def _screen(self, who: str) -> tuple[object, ...]:
        person, world = self._room.people[who].id, self._room.server.world
        windows = [(view.id, view.hash) for view in world.views.values() if view.user_id == person]
        alone = [one.ts for one in world.ephemerals if one.visible_to == person]
        rooms = [room for room in world.channels.values() if room.has(person)]
        return windows, alone, [(one.ts, one.edits) for room in rooms for one in self._room.posted(room)]

    def _card(self) -> Message:
        """The one that people here answer: the newest of the thread."""
        return max(self.cards(), key=lambda one: (one.channel_id == self._room.room.id, one.ts))

    async def _call(self) -> Call:
        ref = next(change.call.ref for change in self._stage.store.changes if change.call)
        stored = await self._stage.store.get(ref)
        assert stored is not None
        return stored

    async def _mention(self, who: str, text: str) -> None:
        await self._room.server.mention(self._room.people[who], self._room.room, text, thread=self._room.root)

    async def _press(self, who: str, verb: Verb) -> None:
        await self._room.pressed(who, first(self._card()), verb)

    async def _react(self, who: str, name: str) -> None:
        await self._room.server.react(self._room.people[who], self._card(), name)

    async def _turn(self, who: str) -> None:
        """To the next page, of the window or of what was whispered in its place."""
        person, server = self._room.people[who], self._room.server
        windows = await server.views(person)
        whispers = [one for one in await server.ephemerals(person) if say("window.page.next") in one.labels]
        await server.press(person, windows[-1] if windows else whispers[-1], say("window.page.next"))

    async def _explain(self, who: str) -> None:
        """In the window, or where there is none by the command that was named in its place."""
        person, server = self._room.people[who], self._room.server
        window = next((one for one in await server.views(person) if one.fields), None)
        if window is not None:
            await server.submit(person, window, {"reason": WHY})
        else:
            words = f"{self._row.answer} {(await self._call()).short} {WHY}"
            await server.command(person, self._room.room, "/sayso", words)


def expected(name: str, fault: str) -> str:
    """What the tables say."""
    return OTHERWISE.get(name, {}).get(fault, _WELL[ROWS[name].answer])


@pytest.fixture
def patient_slack(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a press open a window for as long as a test waits.

    Slack gives a service three seconds. Many lives at once on a busy machine take longer. A window that couldn't be
    opened then would change which methods a life calls, and the fault of a row would meet no call.
    """
    monkeypatch.setattr(methods, "TRIGGER_SECONDS", PATIENCE_S)


@pytest.mark.usefixtures("patient_slack")
@pytest.mark.parametrize("fault", COLUMNS)
async def test_each_way_to_go_wrong_ends_as_the_table_says(fault: str) -> None:
    """It runs once or not at all, the cards are true, people are told, and nothing is left to be done."""
    rows = {name: row for name, row in ROWS.items() if row.meets(fault)}
    ended = await asyncio.gather(*(lived(row, COLUMNS[fault], fault == FOR_GOOD) for row in rows.values()))

    assert {name: expected(name, fault) for name in rows} == dict(zip(rows, ended, strict=True))


async def lived(row: Row, fault: Fault, for_good: bool) -> str:  # noqa: FBT001 - the last of three, from a table
    """One life on a stage of its own; what came of it. Only a service that meets a hanging Slack stops waiting soon."""
    async with SlackServer() as server:
        room = await Room.gather(server)
        place = f"slack:{room.home}/{room.room.id}"
        there = {place: Conversation(place, routes=("origin", *row.beside))}
        hangs = isinstance(fault, Hang)
        timeout_s = TIMEOUT_S if hangs else PATIENCE_S
        stage = SlackStage(room, "socket", lists={"conversations": there}, timeout_s=timeout_s, connections=1)
        stage.rules.verdicts["bash"] = verdict(Action.APPROVE, Risk.HIGH, require_reason=True, timeout_s=86_400)
        times = MANY if for_good else 1
        life = RoomLife(stage, row, Trouble(row.method, row.moment, fault, hangs, times))
        try:
            call = await life.live()
        finally:
            await stage.halt()
        await check(stage, call)
        assert server.platform.faults.left() < times
        cards = [(card, card.shown.text) for card in life.cards()]
        return summary(call, cards, [one.shown.text for one in life.posted()], life.untold)


#: What `doctor` asks Slack, and the check that tells of it.
ASKED = {
    "auth.test": "slack token",
    "apps.connections.open": "slack receiving",
    "conversations.info": "channel",
    "users.info": "person",
}
#: What another try soon mends; the rest is said in its own line, and keeps no other check from being made.
MENDED = frozenset({"429", "500", "page", "word", "reset", "reply lost"})


@pytest.mark.parametrize("fault", FAULTS)
async def test_doctor_says_what_went_wrong(fault: str) -> None:
    """One red line where it went wrong and didn't pass, and all the others; without the token none can be asked."""
    reds = await asyncio.gather(*(asked(method, FAULTS[fault]) for method in ASKED))

    assert [set() if fault in MENDED else {name} for name in ASKED.values()] == list(reds)


async def asked(method: str, fault: Fault) -> set[str]:
    """The checks that are red where one thing goes wrong."""
    async with SlackServer() as server:
        app, ann = await server.app(scopes=SCOPES, socket_mode=True), await server.user("Ann")
        room = await server.channel("ops", members=[ann, app.bot])
        places = {f"slack:{app.team_id}/{room.id}": "channel", f"slack:{app.team_id}/{ann.id}": "person"}
        channel, person = places
        slack = slack_settings(server, app, timeout_s=TIMEOUT_S)
        await server.fail(method, fault)
        people = Settings(routes=[channel], approvers=[person]).directory()
        checks = await report(slack, people, None)
        return {places.get(one.name, one.name) for one in checks if one.state is not Health.GREEN}


#: What is asked after a restart before a bare yes is read: of a thread, or of a conversation in private.
READ = frozenset({"conversations.replies", "conversations.history"})


@pytest.mark.parametrize("method", sorted(READ))
async def test_a_bare_yes_after_a_restart_counts_only_if_slack_tells_who_wrote_last(method: str) -> None:
    """What another try soon mends does no harm; else it is asked back, and named it counts."""
    faults = list(FAULTS)
    ended = await asyncio.gather(*(said_after_a_restart(method, FAULTS[fault]) for fault in faults))

    assert {fault: (fault in MENDED, True) for fault in faults} == dict(zip(faults, ended, strict=True))


async def said_after_a_restart(method: str, fault: Fault) -> tuple[bool, bool]:
    """Whether a yes right below a card decided, bare and then by name."""
    async with SlackServer() as server:
        room = await Room.gather(server)
        stage = SlackStage(room, "socket", timeout_s=TIMEOUT_S, connections=1)
        async with stage.played():
            ann, private = room.people["ann"], method == "conversations.history"
            if private:
                room.conversation = f"slack:{room.home}/{ann.id}"
            call = await stage.ask()
            await stage.again()
            await server.fail(method, fault)
            decided = []
            for text in ("yes", f"yes {call.short}"):
                if private:
                    await server.say(ann, room.app, text)
                else:
                    await server.say(ann, room.room, text, thread=room.root)
                await room.settle()
                decided.append(await stage.status(call) is Status.SUCCEEDED)
            return decided[0], decided[1]


def test_every_method_that_is_called_goes_wrong_here() -> None:
    """One that is called from now on must be added to the tables."""
    root = Path(__file__).parents[2]
    sources = [path.read_text() for name in ("adapters/slack", "bot") for path in (root / name).rglob("*.py")]
    called = {name.replace("_", ".") for text in sources for name in re.findall(r"client\.([a-z]+_\w+)\(", text)}

    # What is missed is fetched after a start; `test_what_was_missed.py` has it go wrong.
    missed = {"users.conversations"}
    # The Home tab is no part of a call's life: an answer that fails is asked for again with the next visit.
    home = {"views.publish"}
    # Signs that the agent works, prompts and titles are a courtesy: `tests/scenarios/agent` has them refused, and the
    # turn goes on.
    status = {f"assistant.threads.{name}" for name in ("setStatus", "setSuggestedPrompts", "setTitle")}
    # A file below a card is no part of the answer: `tests/scenarios/slack/test_files.py` has each step refused.
    files = {"files.getUploadURLExternal", "files.completeUploadExternal"}

    others = set(ASKED) | READ | missed | home | status | files
    assert called == {row.method for row in ROWS.values()} - {"response_url"} | others
