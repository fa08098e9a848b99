"""What a store keeps for others is sealed: what somebody wrote or changed in the file counts as if it weren't there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hitl.call import Entry, Event, KeptTurn, Post, PostKind, Prompt, PromptKind
from hitl.credentials import Credential, Scope
from hitl.errors import Unavailable
from hitl.ports import Change, Unit, adding
from hitl.testing import SetClock, a_call
from tests.databases import tamper

if TYPE_CHECKING:
    from adapters.database.sqlite.store import SqliteStore

Opened = Callable[[], AbstractAsyncContextManager["SqliteStore"]]
ROUTE, ANN, BOB = "telegram:1", "telegram:2", "telegram:3"


async def test_an_event_that_is_as_it_came_says_so(store: SqliteStore) -> None:
    """The others of the same platform don't matter."""
    await store.receive("telegram", "1", "c", b"yes")

    assert [True] == [event.intact for event in await store.incoming()]


@pytest.mark.parametrize(
    ("statement", "values"),
    [
        ("update inbox set body = ?", (b"no",)),
        ("update inbox set ordering = ?", ("d",)),
        ("update inbox set id = ?", ("2",)),
        ("update inbox set received_at = received_at - 1", ()),
        ("update inbox set mac = null", ()),
        ("update inbox set body = 'yes'", ()),
        ("update inbox set received_at = 'soon'", ()),
    ],
)
async def test_an_event_that_was_changed_says_so(
    store: SqliteStore, state: Path, statement: str, values: tuple[Any, ...]
) -> None:
    """Also one that lost its seal: none is kept without."""
    await store.receive("telegram", "1", "c", b"yes")
    tamper(state, statement, *values)

    assert [False] == [event.intact for event in await store.incoming()]


async def test_an_event_that_was_made_up_says_so(store: SqliteStore, state: Path) -> None:
    """With the seal of another, too."""
    await store.receive("telegram", "1", "c", b"yes")
    tamper(
        state,
        "insert into inbox (source, id, ordering, body, received_at, failures, mac)"
        " select source, '2', 'd', body, received_at, 0, mac from inbox",
    )

    assert [True, False] == [event.intact for event in await store.incoming()]


async def test_a_card_under_another_message_stands_nowhere(store: SqliteStore, state: Path, clock: SetClock) -> None:
    """A reply to that message is no answer to the call, and the card isn't edited there."""
    call = a_call(clock.now(), routes=(ROUTE,))
    await store.commit(Unit(None, lambda _: Change(call, posts=(Post(call.ref, ROUTE, PostKind.CARD),))))
    await store.sent((await store.sendings(lease_s=30))[0], "1:5")
    assert (call.ref, ROUTE) == await store.by_message("1:5")

    tamper(state, "update cards set message = '1:9'")
    assert None is await store.by_message("1:9")
    assert {ROUTE: None} == await store.cards(call.ref)

    await store.commit(Unit(None, lambda _: Change(posts=(Post(call.ref, ROUTE, PostKind.EDIT),))))
    assert [None] == [sending.message for sending in await store.sendings(lease_s=30)]


@pytest.mark.parametrize(
    "statement",
    ["update prompts set principal = 'telegram:3'", "update prompts set at = at + 1", "update prompts set mac = null"],
)
async def test_a_first_yes_that_was_changed_is_none(
    store: SqliteStore, state: Path, clock: SetClock, statement: str
) -> None:
    """Nor is one of another person, or of another time."""
    call, now = a_call(clock.now()), clock.now()
    prompt = Prompt(call.ref, ANN, PromptKind.CONFIRM, now)
    await store.commit(Unit(None, lambda _: Change(call, prompts=(prompt,))))
    assert prompt == await store.prompt(call.ref, ANN, PromptKind.CONFIRM)

    tamper(state, statement)
    assert [None, None] == [await store.prompt(call.ref, who, PromptKind.CONFIRM) for who in (ANN, BOB)]


@pytest.mark.parametrize(
    ("statement", "values"),
    [
        ("update credentials set scope = ?", ("approver",)),
        ("update credentials set scope = ?", ("root",)),
        ("update credentials set owner = ?", ("bob",)),
        ("update credentials set origins = ?", ('["slack:T1/C1"]',)),
        ("update credentials set origins = ?", ("every",)),
        ("update credentials set routes = ?", ('["slack:T1/C1"]',)),
        ("update credentials set hash = ?", ("0" * 64,)),
        ("update credentials set name = ?", ("ops",)),
        ("update credentials set until = null", ()),
        ("update credentials set revoked_at = ?", (1,)),
        ("update credentials set mac = ''", ()),
    ],
)
async def test_a_credential_that_was_changed_is_none(
    store: SqliteStore, state: Path, statement: str, values: tuple[Any, ...]
) -> None:
    """A token with other rights than an operator gave it doesn't work at all."""
    await store.keep_credential(_credential(store))
    tamper(state, statement, *values)

    assert [] == list(await store.credentials())


async def test_a_revoked_credential_stays_revoked_whatever_its_row_says(store: SqliteStore, state: Path) -> None:
    """Somebody who puts the row back to what it was before doesn't make the token work again."""
    await store.keep_credential(_credential(store))
    (before,) = await store.credentials()
    await store.revoke_credential(before, "local:0")
    tamper(state, "update credentials set revoked_at = null, mac = ?", before.mac)
    (stored,) = await store.credentials()

    assert stored.revoked_at is not None


@pytest.mark.parametrize(
    "change",
    [
        "event = 'credential_made'",
        "event = 'x'",
        "data = 'x'",
        "data = '[1]'",
        """data = '{"name":"cd"}'""",
        "at = 'soon'",
        "actor = x'00'",
    ],
)
async def test_no_token_works_or_is_made_after_the_line_of_a_revocation_was_changed(
    store: SqliteStore, state: Path, change: str
) -> None:
    """The service's own record says which tokens are revoked. If it was changed, every token may be a revoked one."""
    await store.keep_credential(_credential(store))
    (before,) = await store.credentials()
    await store.revoke_credential(before, "local:0")
    tamper(state, "update credentials set revoked_at = null, mac = ?", before.mac)
    tamper(state, f"update audit set {change} where event = 'credential_revoked'")  # noqa: S608

    assert [] == list(await store.credentials())
    with pytest.raises(Unavailable):
        await store.keep_credential(_credential(store))


async def test_no_token_works_after_the_line_of_a_revocation_was_removed(store: SqliteStore, state: Path) -> None:
    """A line that is missing before another line breaks the chain, as a changed line does."""
    await store.keep_credential(_credential(store))
    (before,) = await store.credentials()
    await store.revoke_credential(before, "local:0")
    await store.commit(adding(Change(entries=(Entry("", Event.REFUSED_PEER, "local:7", {}),))))
    tamper(state, "update credentials set revoked_at = null, mac = ?", before.mac)
    tamper(state, "delete from audit where event = 'credential_revoked'")

    assert [] == list(await store.credentials())


def _credential(store: SqliteStore) -> Credential:
    now = store.clock.now()
    return Credential("ci", "a" * 64, Scope.AGENT, "ada", (), (), now, "local:0", now + timedelta(days=1))


@pytest.mark.parametrize(
    ("statement", "values"),
    [
        ("update turns set text = ?", ("delete everything",)),
        ("update turns set identity = ?", (BOB,)),
        ("update turns set requester = ?", ("bob",)),
        ("update turns set state = ?", (b"{}",)),
        ("update turns set said = ?", ('[["ann", "approved"]]',)),
        ("update turns set said = 'no JSON'", ()),
        ("update turns set mac = ''", ()),
    ],
)
async def test_a_turn_that_was_changed_is_not_gone_on_with(
    store: SqliteStore, state: Path, statement: str, values: tuple[Any, ...]
) -> None:
    """An agent would act for somebody who said nothing of the kind."""
    await store.begin_turn(KeptTurn("telegram:1", ROUTE, ANN, "ann", "m1", "clean up", state=b"kept"))
    tamper(state, statement, *values)

    assert [] == await store.open_turns()


@pytest.mark.parametrize("state_of_it", [2**62, -1, "text"])
async def test_a_turn_with_a_state_of_another_type_is_not_gone_on_with(
    store: SqliteStore, state: Path, state_of_it: object
) -> None:
    """Nor does it keep the service from starting."""
    turn = KeptTurn("t1", ROUTE, ANN, "local:1", "1:5", "tidy up", (), b"{}")
    await store.begin_turn(turn)
    assert [turn.id] == [kept.id for kept in await store.open_turns()]

    tamper(state, "update turns set state = ?", state_of_it)
    assert [] == await store.open_turns()


async def test_a_pending_call_that_cannot_be_read_hides_no_other_from_a_page(
    store: SqliteStore, state: Path, clock: SetClock
) -> None:
    """Whoever lists what waits sees the rest."""
    calls = [a_call(clock.now()) for _ in range(3)]
    for call in calls:
        await store.commit(Unit(None, lambda _, call=call: Change(call)))  # type: ignore[misc]
    tamper(state, "update calls set args = cast(args as text) where ref = ?", calls[1].ref)

    assert {calls[0].ref, calls[2].ref} == {call.ref for call in await store.page(None, 9, pending=True)}
