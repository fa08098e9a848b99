"""When Slack refuses a card for good, everybody hears in Slack's words what happened, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simulators.slack import Refuse
from tests.scenarios.refused import everybody_hears
from tests.scenarios.slack.surface import staged

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.scenarios.slack.surface import SlackStage

REFUSALS = {
    "channel_not_found": "remedy.slack.invite",
    "not_in_channel": "remedy.slack.invite",
    "is_archived": "remedy.slack.archived",
    "restricted_action": "remedy.slack.posting",
    "missing_scope": "remedy.slack.scope",
    "no_permission": "remedy.slack.scope",
    "token_revoked": "remedy.slack.token",
    "account_inactive": "remedy.slack.token",
    "invalid_auth": "remedy.slack.token",
    "ekm_access_denied": "remedy.slack.admin",
    "invalid_blocks": "remedy.unknown",
}


@pytest.fixture
async def stage() -> AsyncIterator[SlackStage]:
    """The stage; how events come in plays no part."""
    async with staged("socket") as stage:
        yield stage


@pytest.mark.parametrize("said", REFUSALS)
async def test_a_refused_card_is_everybodys_news(
    stage: SlackStage, caplog: pytest.LogCaptureFixture, said: str
) -> None:
    """The log has it once, the record and the requester have it, and the service isn't ready and names the remedy."""
    await stage.surface.server.fail("chat.postMessage", Refuse(said), times=99)

    await everybody_hears(stage, caplog, said, REFUSALS[said])
