"""The pending calls of a requester who loses the right to ask are withdrawn, without anybody's press."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from adapters.http.callers import Caller
from bot.service import Service
from hitl.call import Ask, Runs, Status
from hitl.credentials import Credential, Scope, bearer_hash
from hitl.outcomes import Unfit
from hitl.records import replace
from tests.bot.conftest import ASKER, ME, PLACE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.compose import Running
    from hitl.call import Call
    from hitl.testing import SetClock

CI = "token:ci"
PATIENCE_S = 20.0
LOSSES: dict[str, dict[str, Any]] = {
    "revoked": {"revoked": frozenset({ASKER})},
    "off the list": {"requesters": (ME,)},
}


async def asked(running: Running, requester: str) -> Call:
    """A pending call."""
    ask = Ask("caller", "deploy", {"argv": ["true"]}, requester, PLACE, Runs.CALLER, agent="ci", must_ask=True)
    return (await running.service.submit(ask)).call


async def ends(running: Running, call: Call, others: Sequence[Call] = ()) -> list[Status]:
    """The state of a call when it has ended, and then the states of others."""
    ended = await running.service.ended(call, PATIENCE_S)
    return [ended.status, *[(await running.service.ended(other, 0)).status for other in others]]


async def made(running: Running, clock: SetClock, **more: Any) -> Credential:
    """A token of the asker's agent, in the store before the service starts."""
    token = Credential("ci", bearer_hash("t"), Scope.AGENT, ASKER, (), (), clock.now(), ME, **({"until": None} | more))
    await running.store.keep_credential(token)
    return token


@pytest.mark.parametrize("loss", LOSSES)
async def test_a_change_of_the_lists_withdraws_the_calls_of_who_is_off_them(running: Running, loss: str) -> None:
    """The calls of the person who lost the right end with the reason on record; those of others stay pending."""
    await running.service.start()
    theirs, mine = await asked(running, ASKER), await asked(running, ME)
    gate = running.service.gate
    gate.people = replace(gate.people, **LOSSES[loss])

    assert [Status.WITHDRAWN, Status.PENDING] == await ends(running, theirs, [mine])
    assert Unfit.REQUESTER in (await running.store.history(theirs.ref))[-1].data


async def test_a_start_withdraws_what_was_asked_before_the_lists_changed(running: Running) -> None:
    """A right that ended while no service ran ends the pending calls at the start."""
    call = await asked(running, ASKER)
    gate = running.service.gate
    gate.people = replace(gate.people, revoked=frozenset({ASKER}))
    await running.service.start()

    assert [Status.WITHDRAWN] == await ends(running, call)


async def test_a_revoked_token_withdraws_its_calls(running: Running, clock: SetClock) -> None:
    """The calls of its owner stay pending."""
    token = await made(running, clock)
    await running.service.start()
    agents, owners = await asked(running, CI), await asked(running, ASKER)
    operator = Caller(ME, ME, ME, frozenset({Scope.OPERATOR}), "socket")
    await running.service.tokens.revoke(operator, token.name)

    assert [Status.WITHDRAWN, Status.PENDING] == await ends(running, agents, [owners])


async def test_a_token_that_runs_out_withdraws_its_calls(running: Running, clock: SetClock) -> None:
    """Its calls are withdrawn at its end, without a change of the lists."""
    await made(running, clock, until=clock.now() + timedelta(seconds=0.2))
    await running.service.start()
    call = await asked(running, CI)
    clock.advance(0.2)

    assert [Status.WITHDRAWN] == await ends(running, call)


async def test_the_first_reply_after_a_start_knows_the_tokens(running: Running, clock: SetClock) -> None:
    """A pending call of an agent's token is still asked by that token's owner after a restart."""
    await made(running, clock)
    await running.service.start()
    call = await asked(running, CI)
    again = Service(running.service.gate)
    running.service.gate.people = replace(running.service.gate.people, owners={}, token_ends={})
    await again.start()
    await again.stop()

    assert running.service.gate.access.asked(ASKER, call)
