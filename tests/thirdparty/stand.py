"""Sayso as a process, minutehand's Slack as another, and a go-between on each way between them.

`sayso run` knows nothing of it: it is pointed at an address, as at Slack's own. The cards are read over the Web API
with Slack's own client, what people do is told to minutehand.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slack_sdk import WebClient

from adapters.slack.messages import APPROVE
from adapters.slack.webhook import PATH
from hitl.cards.wording import say
from hitl.outcomes import Fact
from simulators.slack.sight import Shown, shown
from tests.acceptance.installation import ME, Installation, until
from tests.sentences import says
from tests.thirdparty.between import LINK, Between, Passed
from tests.thirdparty.third_slack import SECRET, Minutehand, running

SETTINGS = """
requesters = ["slack:{slack.team}/{slack.people[uma]}"]
approvers = ["slack:{slack.team}/{slack.people[ann]}"]
operators = ["{me}"]

[limits]
asks = 1000
again_s = 0

[slack]
receive = "{receive}"
api = "{api}"
pace = 0.02
timeout_s = 5

[http]
port = 0
"""
_UNDER_WAY = (
    "SELECT (SELECT count(*) FROM outbox) + (SELECT count(*) FROM calls WHERE state = 'executing')"
    " + (SELECT count(*) FROM inbox WHERE handled_at IS NULL AND aside_at IS NULL)"
)
_TOKENS = {"BOT_TOKEN": "xoxb-1", "APP_TOKEN": "xapp-1", "SIGNING_SECRET": SECRET}
ENVIRONMENT = {f"SAYSO_SLACK__{name}": value for name, value in _TOKENS.items()}
#: Where a card names its request.
_SHORT = re.compile("\N{MIDDLE DOT} ([0-9A-Z]{6})\\b")


@dataclass(frozen=True)
class Asked:
    """A call that somebody asked for in a thread of its own: its names, the thread, its first card, its file."""

    ref: str
    short: str
    thread: str
    card: str
    file: str


class Stand:
    """Both sides. `inward` stands before Sayso's port, `outward` before Slack's."""

    def __init__(self, receive: str, service: Installation, slack: Minutehand, ways: tuple[Between, Between]) -> None:
        self.receive = receive
        self.service = service
        self.slack = slack
        self.inward, self.outward = ways
        #: The way that events take: requests come in, a socket's messages come over a connection that went out.
        self.events = self.inward if receive == "http" else self.outward
        self._web = WebClient("xoxb-reader", base_url=f"{slack.url}/api/")
        self._count = 0

    # -- what people do -------------------------------------------------------------------------------------

    def file(self) -> str:
        """A file that no other call writes to, and by which what is about its call can be told."""
        self._count += 1
        return f"ran-{self._count}.txt"

    def begins(self, file: str) -> str:
        """Uma asks, in a thread of its own, for a line in a file: the thread."""
        return str(self.slack.does("uma", "say", text=f"run echo ran >> {file}", mention=True)["ts"])

    def asks(self) -> Asked:
        """The same, until its card is there, and known to us too."""
        file = self.file()
        call = self.found(file, self.begins(file))
        self.settle()
        return call

    def found(self, file: str, thread: str) -> Asked:
        """The call that was asked for there."""
        card, *_ = until(lambda: self.cards(thread), f"the card of {file}")
        short = self.short(card)
        ref = self.service.call("show", target=short)["call"]["ref"]
        return Asked(ref, short, thread, card["ts"], file)

    def press(self, person: str, call: Asked, verb: str, **more: Any) -> dict[str, Any]:
        """A press on the call's first card."""
        return self.slack.attempts(person, "press", ts=call.card, action=f"sayso:{verb}", **more)

    def writes(self, person: str, call: Asked, text: str) -> dict[str, Any]:
        """A message in the call's thread."""
        return self.slack.does(person, "say", text=text, thread=call.thread)

    def settle(self) -> None:
        """Until nothing is left to handle, and nothing to tell."""
        until(lambda: not self._under_way(), "an end of all that is under way")

    def _under_way(self) -> int:
        with self.service.database() as database:
            (count,) = database.execute(_UNDER_WAY).fetchone()
        return int(count)

    # -- what there is to see -------------------------------------------------------------------------------

    def thread(self, ts: str) -> list[dict[str, Any]]:
        """The messages below that one, as Slack has them now."""
        return list(self._web.conversations_replies(channel=self.slack.room, ts=ts)["messages"])

    def cards(self, thread: str) -> list[dict[str, Any]]:
        """The cards there, open or closed."""
        return [one for one in self.thread(thread) if _SHORT.search(seen(one).text)]

    def card(self, call: Asked, number: int = 0) -> Shown:
        """A card of the call as people see it now."""
        return seen(self.cards(call.thread)[number])

    def is_open(self, call: Asked, number: int = 0) -> bool:
        """Whether a card of the call has the button that approves."""
        return APPROVE in [button.action_id for button in self.card(call, number).buttons]

    def short(self, card: dict[str, Any]) -> str:
        """The call that the card names in its last line."""
        return str(_SHORT.findall(seen(card).text)[-1])

    def ends(self, call: Asked, outcome: Fact, number: int = 0) -> None:
        """A card is edited to the outcome, with these particulars of it, says what ran, and can't be answered."""
        what, particulars = outcome.what, outcome.particulars
        until(lambda: says(self.card(call, number).text, what, **particulars), f"a card that says {outcome}")

        # The card says who approved while the tool still runs.
        self.settle()
        happened = say("end.done.run" if self.ran(call) else "end.not.run")

        assert says(self.card(call, number).text, "card.ended", what=happened)
        assert not says(self.card(call, number).text, "ending.running")
        assert not self.is_open(call, number)

    def ran(self, call: Asked) -> int:
        """How often the tool ran: each run leaves a line."""
        return len(self.service.lines(call.file))

    def record(self, call: Asked) -> list[str]:
        """What the record says of it."""
        return self.service.events(call.ref)

    def kept(self, mark: str) -> int:
        """How many events that hold this were taken in, each once however often it came."""
        with self.service.database() as database:
            (count,) = database.execute("SELECT count(*) FROM inbox WHERE instr(body, ?)", (mark.encode(),)).fetchone()
        return int(count)

    def reason(self, call: Asked) -> str | None:
        """The reason on record."""
        with self.service.database() as database:
            (found,) = database.execute("SELECT reason FROM calls WHERE ref = ?", (call.ref,)).fetchone()
        return None if found is None else str(found)

    def delivered(self, mark: str) -> list[Passed]:
        """The events, presses and windows that came with this in them, in order."""
        return [one for one in self.events.seen(mark) if one.path in {PATH, LINK}]

    def posted(self, method: str, mark: str) -> list[Passed]:
        """The calls of a method that were about something, in order."""
        return [one for one in self.outward.seen(mark) if one.path == f"/api/{method}"]


def seen(message: dict[str, Any]) -> Shown:
    """A message as people see it."""
    return shown(message["text"], message.get("blocks", ()))


@contextmanager
def standing(receive: str) -> Iterator[Stand]:
    """Both sides up, each hearing the other."""
    with ExitStack() as parts:
        inward, outward = parts.enter_context(Between()), parts.enter_context(Between())
        events = "socket" if receive == "socket" else f"{inward.url}{PATH}"
        # A socket's path may have 107 characters, so the folder must not lie deep.
        folder = Path(parts.enter_context(tempfile.TemporaryDirectory(prefix="gated-")))
        slack = parts.enter_context(running(folder, events, outward.url))
        outward.target = slack.url
        settings = SETTINGS.format(receive=receive, api=f"{outward.url}/api/", me=ME, slack=slack)
        (folder / "sayso").mkdir()
        service = Installation(folder / "sayso", settings, ENVIRONMENT)
        parts.callback(service.close)
        service.start()
        inward.target = f"http://127.0.0.1:{until(lambda: _port(service.log), 'a port')}"
        until(lambda: not service.call("ping")["troubles"], "Slack")
        yield Stand(receive, service, slack, (inward, outward))


def _port(log: str) -> str | None:
    found = re.search(r"http\.ready.* port=(\d+)", log)
    return found[1] if found else None
