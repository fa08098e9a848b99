"""What is logged while Slack works, and while it doesn't."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from hitl.call import Verb
from simulators.slack import Reset

if TYPE_CHECKING:
    from tests.scenarios.slack.surface import SlackStage


@pytest.mark.parametrize("level", [logging.INFO, logging.DEBUG])
async def test_no_log_holds_a_secret(
    stage: SlackStage, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], level: int
) -> None:
    """Tokens, signing secret, tickets of connections and addresses for answers; also when everything is logged."""
    for name in ("", *logging.root.manager.loggerDict):
        caplog.set_level(level, logger=name)
    room = stage.surface
    call = await stage.ask()
    await room.server.fail("chat.update", Reset())
    await room.press("ann", call, Verb.REJECT)
    await room.command("ann", "pending")
    await room.server.down()
    await room.server.wait_for(
        lambda: room.wires is None or room.wires.slack.troubles() or not room.app.socket_mode, what="trouble"
    )
    shown = capsys.readouterr()
    logged = caplog.text + shown.out + shown.err
    secrets = (room.app.bot_token, room.app.app_token, room.app.signing_secret, "ticket=", "response_url", "hooks.")

    assert [] == [secret for secret in secrets if secret in logged]
