"""Requests that Slack didn't sign, or signed too long ago: refused unread, and nothing is kept of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from adapters.slack.receiver import SIGNATURE_HEADER, TIMESTAMP_HEADER
from hitl.call import Status, Verb
from simulators.slack.signing import FORGERIES
from tests.scenarios.slack.surface import staged

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from hitl.call import Call
    from tests.scenarios.slack.surface import SlackStage

FLAWS = sorted(set(FORGERIES) - {"none"})


@pytest.fixture
async def stage() -> AsyncIterator[SlackStage]:
    """The stage, its events received as requests."""
    async with staged("http") as stage:
        yield stage


async def pressed(stage: SlackStage, call: Call) -> dict[str, Any]:
    """The payload of a press that would approve the call; it isn't delivered."""
    room = stage.surface
    button = next(one for one in room.message(call).buttons if one.action_id == "sayso:approve")
    return {
        "type": "block_actions",
        "user": {"id": room.people["ann"].id, "team_id": room.people["ann"].team_id},
        "team": {"id": room.app.team_id},
        "container": {"type": "message", "message_ts": room.message(call).ts, "channel_id": room.room.id},
        "channel": {"id": room.room.id},
        "actions": [{"action_id": button.action_id, "value": button.value, "action_ts": "1.0"}],
    }


@pytest.mark.parametrize("flaw", FLAWS)
async def test_a_flawed_proof_is_refused(
    stage: SlackStage, flaw: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """401; nothing is recorded, nothing decided, and the log says no more than that it happened."""
    call = await stage.ask()
    payload = await pressed(stage, call)
    capfd.readouterr()
    caplog.clear()
    outcome = await stage.surface.server.forge("interactive", payload, flaw=flaw)
    await stage.surface.settle()
    logged = repr([*capfd.readouterr(), *((line.message, line.args) for line in caplog.records)])

    assert 401 == outcome.status
    assert Status.PENDING == await stage.status(call)
    assert [] == [event for event in stage.store._inbox.values() if not event.done]  # noqa: SLF001 - the fake's own
    assert "slack.unsigned" in logged
    assert not any(secret in logged for secret in (call.ref, stage.surface.app.signing_secret, "block_actions"))


async def test_the_same_with_a_right_proof_counts(stage: SlackStage) -> None:
    """So the refusals above are for their flaw."""
    call = await stage.ask()
    outcome = await stage.surface.server.forge("interactive", await pressed(stage, call), flaw="none")
    await stage.surface.settle()

    assert (200, "") == (outcome.status, outcome.answer or "")
    assert Status.SUCCEEDED == await stage.status(call)


async def test_slacks_own_check_of_the_address_is_answered(stage: SlackStage) -> None:
    """As saving it in the app's settings does."""
    assert await stage.surface.server.challenge(stage.surface.app)


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b'"x"', b"payload=%7B", b"{}", b"\xff", b'{"event": {"type": "message"}}']
)
async def test_a_signed_body_that_is_none_of_slacks_is_refused(stage: SlackStage, body: bytes) -> None:
    """It can't be handled, so it isn't kept."""
    room = stage.surface
    proof = FORGERIES["none"](room.app.signing_secret, int(room.server.platform.clock.now()), body)
    async with (
        aiohttp.ClientSession() as session,
        session.post(room.app.request_url, data=body, headers=proof) as answer,
    ):
        assert 400 == answer.status


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT"])
async def test_nothing_changes_by_looking(stage: SlackStage, method: str) -> None:
    """Robots that fetch every link find nothing there."""
    async with aiohttp.ClientSession() as session, session.request(method, stage.surface.app.request_url) as answer:
        assert 405 == answer.status


async def test_a_press_is_answered_empty(stage: SlackStage) -> None:
    """An answer with a body would be taken for a new message or a form's errors."""
    call = await stage.ask()
    delivery = await stage.surface.pressed("ann", stage.surface.message(call), Verb.APPROVE)
    await stage.surface.settle()

    assert delivery is not None
    assert [(200, "")] == [(attempt.status, attempt.answer or "") for attempt in delivery.attempts]


def test_the_headers_are_slacks() -> None:
    """As "Verifying requests from Slack" names them."""
    assert ("X-Slack-Signature", "X-Slack-Request-Timestamp") == (SIGNATURE_HEADER, TIMESTAMP_HEADER)
