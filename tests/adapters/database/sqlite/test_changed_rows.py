"""Rows that somebody changed by hand are reported by each reader of the record, and stop none of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from adapters.database.sqlite.survey import surveyed
from bot.doctor.answer_inputs import report
from bot.surfaces import surfaces
from hitl.cards.data import full_view
from hitl.history import RecordQuery
from hitl.proof.chain import data_of
from hitl.proof.integrity import Flaw, flaws_of
from tests.databases import tamper
from tests.hitl.world import ask, gate_over

if TYPE_CHECKING:
    from adapters.database.sqlite.store import SqliteStore
    from hitl.call import Call

Opened = Callable[[], AbstractAsyncContextManager["SqliteStore"]]

DEEP = "[" * 100_000
CHANGES = [
    "data = 'x'",
    "data = '[1]'",
    "data = '{\"n\":NaN}'",
    f"data = '{DEEP}'",
    "data = x'00ff'",
    """data = '{"surface":[1],"kind":[2],"reason":3,"policy_asked":[]}'""",
    "event = 'approvedx'",
    "at = 'soon'",
    "actor = x'00'",
    "hash = x'00'",
]


@pytest.fixture
async def call(store: SqliteStore) -> Call:
    """A pending call."""
    return (await gate_over(store).submit(ask())).call


@pytest.mark.parametrize("change", CHANGES)
async def test_a_changed_line_is_a_flaw_for_every_reader(
    store: SqliteStore, state: Path, call: Call, change: str
) -> None:
    """A line with unreadable data, an unknown event or another type is listed, with a flaw; nothing raises."""
    tamper(state, f"update audit set {change}")  # noqa: S608
    database = state / "sayso.db"

    with surveyed(database) as survey:
        (line,) = survey.lines(store.keys, RecordQuery())
        assert [Flaw.LINE] == [flaw for flaw in line["flaws"] if flaw == Flaw.LINE]
        json.dumps(line)
        (shown,) = survey.requests(store.keys, RecordQuery())
        assert Flaw.LINE in shown["flaws"]
        assert ([call.short], None) == survey.open_flaws(store.keys, 9)
        assert Flaw.LINE in {flaw.what for flaw in survey.examine(store.keys, None).flaws}

    lines = list(await store.history(call.ref))
    assert 1 == len(full_view(call, lines)["record"])
    assert Flaw.LINE in {flaw.what for flaw in flaws_of(store.keys, call, (), lines)}
    report(database, [surfaces()["telegram"]])


@pytest.mark.parametrize(
    ("data", "read"),
    [('{"a":1}', {"a": 1}), ("x", {"unreadable": "x"}), ("[1]", {"unreadable": "[1]"}), ("", {"unreadable": ""})],
)
def test_unreadable_data_is_its_text(data: str, read: dict[str, object]) -> None:
    """People see what is stored, also if it is no JSON object."""
    assert read == data_of(data)


async def test_a_request_that_cannot_be_read_is_counted_and_named(store: SqliteStore, state: Path, call: Call) -> None:
    """A changed request is in no list of results, so a list without it would hide the change."""
    tamper(state, "update calls set state = 'nowhere'")
    named = {"ref": call.ref, "short": call.short, "flaws": [Flaw.ROW]}
    database = state / "sayso.db"

    with surveyed(database) as survey:
        assert [named] == list(survey.requests(store.keys, RecordQuery(tools=frozenset({"other"}))))
        assert [named] == survey.statistics(None, None)["unreadable"]
        assert ([call.short], None) == survey.open_flaws(store.keys, 9)

    tamper(state, "update audit set event = 'shown'")
    with surveyed(database) as survey:
        flaws = survey.examine(store.keys, None).flaws
    assert [Flaw.ROW, Flaw.LINE] == [flaw.what for flaw in flaws]


async def test_a_changed_line_of_the_service_itself_is_a_flaw(store: SqliteStore, state: Path, call: Call) -> None:
    """The service's own record has no request, and is verified as a chain."""
    del call
    tamper(state, "update audit set ref = '', seq = 1")

    with surveyed(state / "sayso.db") as survey:
        assert ([], 1) == survey.open_flaws(store.keys, 0)
        assert [[Flaw.LINE]] == [line["flaws"] for line in survey.lines(store.keys, RecordQuery())]
