"""An event from a chat counts once for a call, also if somebody opens it again in the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hitl.call import Call, Event, PromptKind, Reply, ReplyKind, State, Verb
from hitl.gate import Gate
from hitl.gate.response import Answer, Came
from hitl.testing import SetClock
from tests.hitl.world import ANN, DROP, ROOM, WIPE, WRITE, ask, gate_over

if TYPE_CHECKING:
    from adapters.database.sqlite.store import SqliteStore

Opened = Callable[[], AbstractAsyncContextManager["SqliteStore"]]


def gate_of(store: SqliteStore) -> Gate:
    """A gate over a store, as a service that starts has it."""
    return gate_over(store, WIPE, WRITE, DROP)


async def press(store: SqliteStore, call: Call, verb: Verb = Verb.APPROVE) -> Answer:
    """The gate's answer to the open event, which is a press on the card."""
    (event,) = await store.incoming()
    assert event.intact
    came = {"event": (event.source, event.id), "received_at": event.received_at, "pressed_at": event.received_at}
    pressed = Reply(ANN, "telegram", ROOM, ReplyKind.BUTTON, verb, target=call.ref, **came)  # type: ignore[arg-type]
    (answer,) = await gate_of(store).decide(pressed)
    return answer


def edit(state: Path, *statements: str) -> None:
    """Change the database as somebody with access to its file would."""
    with closing(sqlite3.connect(state / "sayso.db", isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


AGAIN = "update inbox set handled_at = null"


@pytest.mark.parametrize("edits", [(AGAIN,), (AGAIN, "delete from audit where event = 'confirm'")])
async def test_one_press_is_no_second_yes_after_its_event_is_opened_again(
    opened: Opened, clock: SetClock, state: Path, edits: tuple[str, ...]
) -> None:
    """A critical call needs two presses, also if somebody opens the first press again and cuts its line off."""
    async with opened() as store:
        call = (await gate_of(store).submit(ask(WIPE))).call
        await store.receive("telegram", "1", ROOM, b"{}")
        assert Came.CONFIRM is (await press(store, call)).came
    edit(state, *edits)
    clock.advance(8)
    async with opened() as store:
        again = await press(store, call)
        kept = await store.get(call.ref)

    assert Came.CONFIRM is again.came
    assert kept is not None
    assert State.AWAITING is kept.state


async def test_a_press_that_was_held_decides_nothing_after_its_event_is_opened_again(
    opened: Opened, clock: SetClock, state: Path
) -> None:
    """A press that was refused stays refused: the reason of its refusal may have gone, but nobody pressed again."""
    async with opened() as store:
        gate = gate_of(store)
        call = (await gate.submit(ask(WRITE))).call
        await store.receive("telegram", "1", ROOM, b"{}")
        gate.policies.broken = True  # type: ignore[attr-defined]
        (event,) = await store.incoming()
        pressed = Reply(
            ANN, "telegram", ROOM, ReplyKind.BUTTON, Verb.APPROVE, target=call.ref, event=(event.source, event.id)
        )
        assert Came.REFUSED is (await gate.decide(pressed))[0].came
    edit(state, AGAIN)
    clock.advance(8)
    async with opened() as store:
        again = await press(store, call)
        kept = await store.get(call.ref)
        said = [line.event for line in await store.history(call.ref)]

    assert "TAMPERED" == (again.error.code if again.error else None)
    assert kept is not None
    assert State.AWAITING is kept.state
    assert [Event.ASKED, Event.REFUSED, Event.TAMPERED] == said


async def test_details_that_were_opened_after_a_press_do_not_let_it_count(
    opened: Opened, clock: SetClock, state: Path
) -> None:
    """A cut card needs opened details before the press, also if the line about the held press is gone."""
    async with opened() as store:
        gate = gate_of(store)
        call = (await gate.submit(ask(DROP, args={"path": "f", "content": "x\n" * 9_000}))).call
        await store.receive("telegram", "1", ROOM, b"{}")
        assert Came.DETAILS_NEEDED is (await press(store, call)).came
        clock.advance(1)
        looked = Reply(ANN, "telegram", ROOM, ReplyKind.BUTTON, Verb.DETAILS, target=call.ref)
        await gate.decide(looked)
        assert await store.prompt(call.ref, ANN, PromptKind.VIEWED)
    edit(state, AGAIN, "delete from audit where event = 'held'", "delete from audit where event = 'viewed'")
    async with opened() as store:
        assert Came.DETAILS_NEEDED is (await press(store, call)).came
