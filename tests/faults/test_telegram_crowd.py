"""A thousand cards in one group: paced as Telegram wants it, none lost, in order, and nothing piles up."""

from __future__ import annotations

import gc
import re
from typing import TYPE_CHECKING

import pytest

from adapters.telegram.pace import PER_GROUP, PER_GROUP_S
from hitl.call import Verb
from hitl.limits import Flood, Limits
from simulators.telegram import TelegramServer
from tests.scenarios.telegram.surface import Group, TelegramStage

if TYPE_CHECKING:
    from hitl.gate import Gate

CARDS = 1000
#: When memory is looked at first: everything that is made once has been made by then.
WARM = 300
#: One of Telegram's seconds here.
SECOND = 0.002
PATIENCE_S = 120.0
#: How many more objects may live after 700 more cards, of all that sends them: a tenth of one a card.
SLACK = 70
WATCHED = ("adapters.", "bot.", "telegram.", "httpx.", "httpcore.")


class Crowd(TelegramStage):
    """A stage whose agent may ask as much as it likes."""

    def _gate(self) -> Gate:
        gate = super()._gate()
        gate.limits = Limits(open_per_requester=2 * CARDS, asks=2 * CARDS)
        gate.flood = Flood(gate.limits)
        return gate


@pytest.mark.long
async def test_a_thousand_cards_in_one_group() -> None:
    """All stand there once, in the order in which they were asked; it took as long as it must, and no memory."""
    async with TelegramServer() as server:
        stage = Crowd(await Group.gather(server), "polling", pace=SECOND)
        await stage.start()
        try:
            calls = [await stage.submit(args={"path": f"{number}.txt"}) for number in range(CARDS)]
            warm = await held_after(stage, WARM)
            grown = await held_after(stage, CARDS) - warm
            await stage.surface.press("ann", calls[-1], Verb.REJECT)
            ended = await stage.store.get(calls[-1].ref)
        finally:
            await stage.halt()

    assert [call.short for call in calls] == shorts(stage.surface)[:CARDS]
    assert grown < SLACK
    assert ended is not None
    assert ended.ended
    check_pace([call.at for call in server.platform.calls if call.method == "sendMessage"][:CARDS])


async def held_after(stage: Crowd, count: int) -> int:
    """How many objects everything that sends cards holds, once so many were sent."""
    await stage.surface.server.wait_calls("sendMessage", count, PATIENCE_S)
    gc.collect()
    return sum(str(type(one).__module__).startswith(WATCHED) for one in gc.get_objects())


def shorts(group: Group) -> list[str]:
    """The short refs of the cards in a group, in their order."""
    found = (re.search(r"· ([0-9A-Z]{6})$", message.text, re.MULTILINE) for message in group.posted())
    return [each[1] for each in found if each]


def check_pace(times: list[float]) -> None:
    """Twenty a minute, on the whole and, but for a late packet, at any time."""
    minutes = len(times) / PER_GROUP
    spans = [times[n + PER_GROUP] - times[n] for n in range(len(times) - PER_GROUP)]

    assert times[-1] - times[0] > (minutes - 1) * PER_GROUP_S * SECOND
    assert min(spans) > PER_GROUP_S * SECOND / 2
