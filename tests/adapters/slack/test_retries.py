"""How often the client itself asks again, on a Slack server of ours; and what it says when that didn't help."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.errors import LONGEST_PAUSE_S, explained, pause_of, promised
from adapters.slack.retries import Soon
from hitl.ports import PlatformError
from simulators.slack import Garbage, Refuse, SlackServer

if TYPE_CHECKING:
    from simulators.slack.faults import Fault

LIST, BROKEN_JSON = Garbage(200, "[]", "application/json"), Garbage(200, "{", "application/json")


async def ask(fault: Fault, times: int) -> tuple[int, PlatformError | None]:
    """How often a method was called that goes wrong so many times, and what came of it."""
    async with SlackServer() as server, aiohttp.ClientSession() as session:
        app = await server.app()
        await server.fail("auth.test", fault, times)
        client = AsyncWebClient(app.bot_token, base_url=server.api_url, session=session, retry_handlers=[Soon()])
        try:
            async with explained():
                promised(await client.auth_test(), "user_id")
        except PlatformError as error:
            return len(await server.calls("auth.test")), error
        return len(await server.calls("auth.test")), None


@pytest.mark.parametrize("fault", [Refuse("internal_error", 502), Garbage(), LIST, BROKEN_JSON], ids=str)
async def test_what_may_pass_soon_is_tried_again(fault: Fault) -> None:
    """Once more, and well."""
    assert (2, None) == await ask(fault, 1)


async def test_it_ends_after_three_tries() -> None:
    """What still doesn't answer as Slack does may pass later."""
    tries, error = await ask(LIST, 9)

    assert error is not None
    assert (3, True) == (tries, error.passing)
    assert "something else answers" in str(error)


async def test_a_long_pause_is_left_to_whoever_called() -> None:
    """A press waits for its answer, and a lane for its turn: nothing sleeps that long here."""
    tries, error = await ask(Refuse("ratelimited", 429, 30), 1)

    assert error is not None
    assert (1, True, 30.0) == (tries, error.passing, error.retry_s)


async def test_a_no_is_taken_at_once() -> None:
    """Nothing but somebody's act changes it."""
    tries, error = await ask(Refuse("missing_scope"), 1)

    assert error is not None
    assert (1, False, "missing_scope") == (tries, error.passing, str(error))


@pytest.mark.parametrize(
    ("said", "pause"),
    [
        ("30", 30.0),
        (["7"], 7.0),
        ("9" * 400, LONGEST_PAUSE_S),
        ("inf", None),
        ("nan", None),
        ("-1", None),
        ("Fri, 27 Nov 2026 12:00:00 GMT", None),
        ([], None),
    ],
)
def test_a_pause_has_an_end(said: object, pause: float | None) -> None:
    """Slack sends whole seconds. An answer from another server can't silence Sayso without an end."""
    assert pause == pause_of({"Retry-After": said})
