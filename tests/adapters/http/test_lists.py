"""Lists of calls: what they leave out, and that other callers are answered while the texts of large calls are made."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec
import pytest

from adapters.http.callers import Caller
from adapters.http.reading import Reading
from hitl.cards.masked import masked
from hitl.credentials import Scope
from hitl.ports import Change, adding
from hitl.testing import a_call
from tests.adapters.http.conftest import ME, asked
from tests.adapters.http.test_calls import fits
from tests.hitl.large import Beside
from tests.hitl.world import NOON

if TYPE_CHECKING:
    from tests.adapters.http.conftest import Api

LARGE = {"path": "a.txt", "text": "word " * 20_000}
#: The most characters of a call in a brief list, if nothing but its arguments is long.
BRIEF = 5_000


async def test_a_brief_list_leaves_out_what_may_be_large(api: Api) -> None:
    """Each call has its headline and its arguments on one line, as in the full list, but no `args` and no `output`."""
    agent = await api.agent()
    await asked(agent, args=LARGE)
    full = fits(await agent.get("/v1/calls"), "CallPage")["calls"]
    answer = await agent.get("/v1/calls?view=brief")
    brief = fits(answer, "CallPage")["calls"]

    assert [{name: call[name] for name in call if name not in {"args", "output"}} for call in full] == brief
    assert ([LARGE], True) == ([call["args"] for call in full], len(answer.content) < BRIEF)


async def test_a_list_has_one_of_two_views(api: Api) -> None:
    """Any other view is refused, so that a program that mistypes `brief` doesn't get a megabyte for each call."""
    answer = await (await api.agent()).get("/v1/calls?view=short")

    assert 400 == answer.status_code


async def test_a_page_is_longer_than_one_reading_of_the_store(api: Api) -> None:
    """The calls of a page are read in several steps, newest first, and none is left out between two of them."""
    calls = [a_call(NOON + timedelta(seconds=number), requester=ME) for number in range(120)]
    for call in calls:
        await api.store.commit(adding(Change(call)))
    page = (await api.local().get("/v1/calls?limit=110")).json()
    rest = (await api.local().get(f"/v1/calls?limit=110&cursor={page['next']}")).json()

    assert [110, 10] == [len(found["calls"]) for found in (page, rest)]
    assert [call.ref for call in calls[::-1]] == [call["ref"] for found in (page, rest) for call in found["calls"]]


async def test_others_are_answered_between_any_two_calls_of_a_list(api: Api) -> None:
    """Work that was ready when a list of three calls begins gets its turn after each of them."""
    for number in range(3):
        await api.store.commit(adding(Change(a_call(NOON, requester=ME, args=b'{"n":%d}' % number))))
    caller = Caller(ME, ME, ME, frozenset({Scope.OPERATOR}), "socket")
    reading = Reading(api.service.gate)
    happened: list[str] = []

    async def listing() -> None:
        await reading.page(caller, None, 10, pending=True, brief=False)
        happened.append("listed")

    async def others() -> None:
        for _ in range(3):
            happened.append("other")
            await asyncio.sleep(0)

    await asyncio.gather(listing(), others())

    assert ["other", "other", "other", "listed"] == happened


@pytest.mark.parametrize(
    "path",
    [
        "/v1/calls",
        "/v1/calls?view=brief",
        "/v1/calls/REF",
        "/v1/calls/REF/card",
        "/v1/calls/REF/record",
        "/v1/sessions",
        "/hitl/pending",
        "/hitl/pending/REF",
        "/hitl/result/REF",
    ],
)
async def test_a_large_call_is_masked_outside_the_event_loop(api: Api, path: str) -> None:
    """The texts of a call from before a restart are made where nobody else waits for them, whoever reads it."""
    args = {**LARGE, "path": path}
    call = a_call(NOON, args=msgspec.json.encode(args), requester=ME, session="s")
    await api.store.commit(adding(Change(call)))
    api.gate.beside = beside = Beside()
    answer = await api.local().get(path.replace("REF", call.ref))

    assert 200 == answer.status_code
    assert [masked(call)] == beside.made
