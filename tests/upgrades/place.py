"""The installation that old databases come from: its people, its policy, its Telegram group, and its clock.

A database names principals and chats, so each test that opens one needs the same people in the same chats. Nothing here
depends on who runs the tests, or when: the person on this machine is always `ada`.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from simulators.telegram import Bot, Chat, Message, TelegramServer, User
from simulators.telegram.state import World
from simulators.telegram.updates import UpdateQueue
from tests.acceptance.installation import ME, SAYSO, Installation

TREE = Path(__file__).parents[2]
#: Old databases, a folder each, named by the newest migration that they have.
LANDED = Path(__file__).parent / "landed"
#: What a row that isn't over may be left as, and how it ends if nothing more is done about it.
OPEN = {
    "awaiting_confirmation": "expired",
    "executing, unclaimed": "lapsed",
    "executing, claimed": "unknown",
}
TOKEN = "7100000001:AAtest_" + "0" * 28
#: The ends of the labels of buttons: older cards had a sign before them.
APPROVE, REJECT, DETAILS = "Approve", "Reject", "Details"
#: `ada` asks and decides on this machine, `ann` asks on Telegram, `bob` decides there.
SETTINGS = """
requesters = ["ada", "ann"]
approvers = ["ada", "bob"]
operators = ["ada"]
self_approval_socket = "high"
policy = "landed"
policies = [{folder}]

[principals]
ada = ["{me}"]
ann = ["telegram:{ann}"]
bob = ["telegram:{bob}"]

[conversations.local]
routes = ["telegram:{team}"]
self_approval = "high"

[conversations."telegram:{nobody}"]
approvers = []

[limits]
asks = 1000
again_s = 0

[telegram]
api = "{api}"
pace = 0
"""
POLICY = """
version: 1
defaults: {timeout_s: 604800}
rules:
  - {id: stays, tool: drop_table, action: deny, message: Tables stay.}
  - {id: looks, tool: look, action: allow}
  - {id: moves-money, tool: wire_money, action: approve, risk: critical}
  - {id: explained, tool: rotate_key, action: approve, risk: medium, require_reason: true}
  - {id: large, tool: publish, action: approve, risk: high}
  - {id: retired, tool: retire, action: RETIRE, risk: low}
  - {id: others, tool: "*", action: approve, risk: low}
"""


class Timed(Installation):
    """An installation whose service starts at a given time; at the machine's own time if `at` is None."""

    at: datetime | None = None

    def launch(self, *, dies_at: str = "", open_files: int = 0, **environment: str) -> subprocess.Popen[bytes]:
        """Start the service, without waiting for it; with `dies_at` it dies at that point of `hitl.faults`."""
        assert not open_files, "only a service that starts at the machine's own time takes a limit of files"
        if self.at is None:
            program: list[str | Path] = [SAYSO]
        else:
            program = [sys.executable, "-m", "tests.upgrades.at", self.at.isoformat(), dies_at or "-"]
        with (self.root / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*program, "run", "--config", self.config],
                env=self.surroundings(PYTHONPATH=f"{TREE}:{TREE / 'clients'}", **environment),
                stdin=subprocess.DEVNULL,
                stderr=log,
                cwd=self.root,
            )
        return self.process


@dataclass
class Place:
    """Telegram as it is around the service: a bot, Ann and Bob, the team's group, and one that nobody decides in."""

    server: TelegramServer
    bot: Bot
    ann: User
    bob: User
    team: Chat
    nobody: Chat

    @classmethod
    async def first(cls, server: TelegramServer) -> Place:
        """Let everybody come in. Nobody waits for the platform's rate limits here."""
        await server.flood(enabled=False)
        bot = await server.bot(token=TOKEN)
        ann, bob = await server.user("Ann"), await server.user("Bob")
        rooms = [await server.supergroup(title, members=[bob, ann], bots=[bot]) for title in ("Team", "Nobody")]
        return cls(server, bot, ann, bob, *rooms)

    def service(self, root: Path) -> Timed:
        """An installation in that folder, with these people; its policy still allows that `retire` is asked for."""
        folder = root / "policies"
        folder.mkdir()
        self.rule(root, "approve")
        people = {"me": ME, "ann": self.ann.id, "bob": self.bob.id}
        places = {"team": self.team.id, "nobody": self.nobody.id, "api": self.server.root_url}
        settings = SETTINGS.format(folder=json.dumps(str(folder)), **people, **places)
        return Timed(root, settings, {"SAYSO_TELEGRAM__TOKEN": TOKEN})

    def rule(self, root: Path, retire: str) -> None:
        """Write the policy: what it says of `retire`, which it denies in the end."""
        (root / "policies" / "landed.yaml").write_text(POLICY.replace("RETIRE", retire))

    async def ask(self, text: str, room: Chat | None = None) -> Message:
        """Ann mentions the bot."""
        return await self.server.say(self.ann, room or self.team, f"@{self.bot.user.username} {text}")

    async def card(self, short: str) -> Message:
        """The card of a call in the team's group, once it has buttons there."""
        return await self.server.wait_message(self.team, short, button=DETAILS, timeout=60)

    def cards(self, short: str) -> list[Message]:
        """All messages of the bot in the team's group that name the call and have, or had, buttons."""
        shown = [one for one in self.team.messages.values() if one.author_bot and short in one.text]
        return [one for one in shown if one.buttons or any(version.keyboard for version in one.history)]

    async def press(self, short: str, label: str) -> str:
        """Bob presses a button of the card; what he is shown."""
        card = await self.card(short)
        button = next(each for each in card.labels if each.removesuffix("…").endswith(label))
        query = await self.server.press(self.bob, card, button)
        return (await self.server.wait_answer(query, timeout=60)).text

    def told(self) -> dict[str, Any]:
        """All that a later server needs to know to go on from here."""
        rooms = (self.team, self.nobody)
        queue = self.server.platform.desks[self.bot.id].queue
        probe = queue.push("message", {}, "probe")
        assert probe is not None
        queue.forget(probe.id)
        return {"next_update": probe.id, "rooms": [[_told(one) for one in room.messages.values()] for room in rooms]}

    def restore(self, told: dict[str, Any]) -> None:
        """Put the messages of `told` into the groups of a new server; what happens next has later ids."""
        platform = self.server.platform
        platform.desks[self.bot.id].queue = UpdateQueue(platform.clock, platform.touch, told["next_update"])
        for room, messages in zip((self.team, self.nobody), told["rooms"], strict=True):
            room.messages.clear()
            for one in messages:
                room.put(_restored(one, room, platform.world))
            room.ids = itertools.count(max(room.messages) + 1)


def _told(one: Message) -> dict[str, Any]:
    return {
        "id": one.id,
        "date": one.date,
        "sender": one.sender.id if one.sender else None,
        "text": one.text,
        "keyboard": [list(row) for row in one.keyboard],
        "force_reply": one.force_reply,
        "reply_to": one.reply_to,
        "author_bot": one.author_bot,
    }


def _restored(told: dict[str, Any], room: Chat, world: World) -> Message:
    keyboard = tuple(tuple(row) for row in told.pop("keyboard"))
    sender = world.users[told.pop("sender")]
    return Message(chat_id=room.id, sender=sender, keyboard=keyboard, bot_id=room.bot_id, **told)


def unpack(landed: Path, state: Path) -> None:
    """Make the state folder as the old process left it."""
    state.mkdir(mode=0o700)
    with tarfile.open(landed / "state.tar.xz") as tar:
        # Python before 3.11.4, such as Debian 12's, has no argument `filter`; later versions warn without a filter.
        tar.extraction_filter = lambda member, _: member
        tar.extractall(state)  # noqa: S202 - our own
    for file in state.iterdir():
        file.chmod(0o600)


def kind(row: dict[str, Any]) -> str:
    """The state of a row; of one that executes, also whether it is claimed."""
    claimed = "claimed" if row["claim_owner"] else "unclaimed"
    return f"{row['state']}, {claimed}" if row["state"] == "executing" else str(row["state"])
