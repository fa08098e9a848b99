"""Two people answer one card at the same moment."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from hitl.call import Status, Verb
from hitl.outcomes import Refusal
from tests.scenarios.harness import saying

if TYPE_CHECKING:
    from tests.scenarios.harness import Stage


@pytest.mark.parametrize("verbs", [(Verb.APPROVE, Verb.REJECT), (Verb.REJECT, Verb.APPROVE), (Verb.APPROVE,) * 2])
async def test_one_wins_and_the_other_hears_who(stage: Stage, verbs: tuple[Verb, Verb]) -> None:
    """One decision, at most one run; the one who was second is told who was first."""
    call = await stage.ask()
    await asyncio.gather(
        stage.surface.press("ann", call, verbs[0]),
        stage.surface.press("bob", call, verbs[1]),
    )
    status = await stage.status(call)
    stored = await stage.store.get(call.ref)
    assert stored is not None
    winner = {name: who for who, name in stage.surface.identities.items()}[str(stored.decided_by)]
    loser = {"ann": "bob", "bob": "ann"}[winner]

    assert status in {Status.SUCCEEDED, Status.REJECTED}
    assert len(stage.ran()) == (status is Status.SUCCEEDED)
    late = saying(stage.surface.heard(loser), Refusal.DECIDED, short=call.short)
    name = stage.service.gate.names.of(str(stored.decided_by))
    assert any(name in text for text in late)
    assert 1 == len(await stage.store.votes(call.ref))
