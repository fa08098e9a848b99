"""Who must hear when a platform refuses a card for good: the log, the record, the requester and the operator."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hitl.call import Status
from hitl.cards.data import view
from hitl.outcomes import Unfit
from tests.sentences import says

if TYPE_CHECKING:
    import pytest

    from tests.scenarios.harness import Stage


async def everybody_hears(stage: Stage, caplog: pytest.LogCaptureFixture, words: str, remedy: str) -> None:
    """Ask for a call whose card is refused with these words, and look at all who must hear them.

    `/readyz` and `doctor` show the service's troubles as they are.
    """
    call = await stage.ask()
    assert Status.UNDELIVERABLE == await stage.status(call)
    ended = await stage.store.get(call.ref)
    assert ended is not None
    (route,) = call.routes
    (refused,) = [line for line in await stage.store.history(call.ref) if line.event == "not_shown"]
    logged = [line.args for line in caplog.records if line.getMessage().startswith("outbox.refused")]
    troubles = [trouble for trouble in stage.service.troubles() if says(trouble, "trouble.route", route=route)]

    assert [{"ref": call.ref, "route": route, "why": words}] == logged
    assert {"route": route, "why": words} == json.loads(refused.data)
    assert says(view(ended)["message"], Unfit.UNSHOWN, why=f"{route}: {words}")
    assert [True] == [says(trouble, "trouble.route", why=words) and says(trouble, remedy) for trouble in troubles]
