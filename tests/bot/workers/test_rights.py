"""A pending call ends without anybody's press if its requester may no longer ask, or nobody can still approve it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from adapters.http.callers import Caller
from bot.service import Service
from hitl.call import Action, Ask, Risk, Runs, Status
from hitl.credentials import Credential, Scope, bearer_hash
from hitl.outcomes import Unfit
from hitl.records import replace
from tests.bot.conftest import ASKER, ME, PLACE
from tests.hitl.world import verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.compose import Running
    from hitl.call import Call, PolicyCall, Verdict
    from hitl.testing import SetClock

CI = "token:ci"
PATIENCE_S = 20.0
LOSSES: dict[str, dict[str, Any]] = {
    "revoked": {"revoked": frozenset({ASKER})},
    "off the list": {"requesters": (ME,)},
}


async def asked(running: Running, requester: str, command: str = "true") -> Call:
    """A pending call."""
    ask = Ask("caller", "deploy", {"argv": command.split()}, requester, PLACE, Runs.CALLER, agent="ci", must_ask=True)
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


DESK = "token:desk"


def change(running: Running, **lists: Any) -> None:
    """Change the directory, as a reload does."""
    gate = running.service.gate
    gate.people = replace(gate.people, **lists)


async def why(running: Running, call: Call) -> str | None:
    """The code of the reason with which the call ended."""
    stored = await running.store.get(call.ref)
    return stored.error if stored else None


#: Each change of the lists after which the only approver can't approve any more.
GONE: dict[str, dict[str, Any]] = {
    "revoked": {"revoked": frozenset({DESK})},
    "off the list": {"approvers": (ME,)},
    "with a lower limit": {"token_limits": {DESK: Risk.LOW}},
}


@pytest.mark.parametrize("change_of_lists", GONE)
async def test_a_change_of_the_lists_ends_the_calls_that_nobody_can_approve(
    running: Running, change_of_lists: str
) -> None:
    """A call for which another approver is left stays pending."""
    await running.service.start()
    change(running, approvers=(DESK,), token_limits={DESK: Risk.HIGH})
    theirs = await asked(running, ASKER, "rm notes.txt")
    change(running, approvers=(DESK, ME))
    both = await asked(running, ASKER)
    change(running, **({"approvers": (DESK, ME)} | GONE[change_of_lists]))

    assert [Status.UNDELIVERABLE, Status.PENDING] == await ends(running, theirs, [both])
    assert Unfit.NOBODY == await why(running, theirs)


async def test_the_end_of_the_only_approvers_token_ends_the_call(running: Running, clock: SetClock) -> None:
    """The call ends when the token ends, without a change of the lists. A moment before, it is pending."""
    token = Credential(
        "desk", bearer_hash("d"), Scope.APPROVER, None, (), (), clock.now(), ME, clock.now() + timedelta(seconds=0.2)
    )
    await running.store.keep_credential(token)
    await running.service.start()
    change(running, approvers=(DESK,), token_limits={DESK: Risk.HIGH})
    call = await asked(running, ASKER)
    assert Status.PENDING is (await running.service.ended(call, 0.5)).status
    clock.advance(0.2)

    assert [Status.UNDELIVERABLE] == await ends(running, call)


async def test_a_start_ends_what_nobody_can_approve_any_more(running: Running) -> None:
    """A right of an approver that ended while no service ran ends the pending call at the start."""
    call = await asked(running, ASKER)
    change(running, approvers=(DESK,))
    await running.service.start()

    assert [Status.UNDELIVERABLE] == await ends(running, call)


async def test_a_new_policy_ends_what_nobody_can_approve_any_more(running: Running) -> None:
    """A policy whose rule names other approvers applies to the pending calls, without a change of the lists."""
    await running.service.start()
    call = await asked(running, ASKER)
    running.service.gate.policies = _Others()

    assert [Status.UNDELIVERABLE] == await ends(running, call)


class _Others:
    """A policy source whose policy names an approver that the call doesn't know."""

    digest = "b" * 64

    def current(self) -> _Others:
        """Return the policy."""
        return self

    def judge(self, _call: PolicyCall) -> Verdict:
        """Ask the other approver."""
        return verdict(Action.APPROVE, Risk.LOW, approvers=(DESK,))


async def test_a_call_that_is_stored_after_the_first_check_is_found(running: Running) -> None:
    """A call may be on its way to the disk when the rights change. The worker looks a second time."""
    await running.service.start()
    call = await asked(running, ASKER)
    listed = running.store.pending_refs
    hidden: list[str] = []

    async def late() -> Sequence[str]:
        """Return no pending call at the first look, as if the call weren't stored yet."""
        if not hidden:
            hidden.append(call.ref)
            return []
        return await listed()

    running.store.pending_refs = late  # type: ignore[method-assign]
    change(running, approvers=(DESK,))

    assert [Status.UNDELIVERABLE] == await ends(running, call)
    assert [call.ref] == hidden
