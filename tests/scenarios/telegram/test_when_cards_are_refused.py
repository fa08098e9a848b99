"""When Telegram refuses a card for good, everybody hears in Telegram's words what happened, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simulators.telegram import Refuse
from tests.scenarios.refused import everybody_hears

if TYPE_CHECKING:
    from tests.scenarios.telegram.surface import TelegramStage

#: Status and description as the official server answers -> the remedy.
REFUSALS = {
    (403, "Forbidden: bot was kicked from the supergroup chat"): "remedy.telegram.member",
    (403, "Forbidden: bot is not a member of the channel chat"): "remedy.telegram.member",
    (403, "Forbidden: the group chat was deleted"): "remedy.telegram.chat",
    (400, "Bad Request: chat not found"): "remedy.telegram.chat",
    (400, "Bad Request: not enough rights to send text messages to the chat"): "remedy.telegram.rights",
    (400, "Bad Request: need administrator rights in the channel chat"): "remedy.telegram.rights",
    (400, "Bad Request: TOPIC_CLOSED"): "remedy.telegram.topic",
    (403, "Forbidden: bot was blocked by the user"): "remedy.telegram.blocked",
    (403, "Forbidden: user is deactivated"): "remedy.telegram.gone",
    (401, "Unauthorized"): "remedy.telegram.token",
    (400, "Bad Request: BUTTON_TYPE_INVALID"): "remedy.unknown",
}


@pytest.mark.parametrize(("status", "said"), REFUSALS, ids=[said for _, said in REFUSALS])
async def test_a_refused_card_is_everybodys_news(
    stage: TelegramStage, caplog: pytest.LogCaptureFixture, status: int, said: str
) -> None:
    """The log has it once, the record and the requester have it, and the service isn't ready and names the remedy."""
    await stage.surface.server.fail("sendMessage", Refuse(status, said), times=99)

    prefix, words = said.rpartition("Bad Request: ")[1:]
    # The client library leaves that prefix out.
    await everybody_hears(stage, caplog, words.capitalize() if prefix else words, REFUSALS[status, said])
