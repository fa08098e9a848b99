"""Master keys are made once, kept close, and never missed silently."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import pytest

from adapters.database.keys import check_keys, load, read
from hitl.errors import Unavailable
from hitl.ports import Change, Unit
from hitl.proof.keyring import Keyring
from hitl.testing import SetClock, a_call
from tests.sentences import raises

if TYPE_CHECKING:
    from pathlib import Path

    from adapters.database.sqlite.store import SqliteStore

OLD, NEW = ("old", b"o" * 32), ("new", b"n" * 32)


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """Where the keys are to lie."""
    return tmp_path / "keys.json"


async def park(store: SqliteStore, clock: SetClock, kid: str, **changes: object) -> None:
    """Keep a call that is sealed with a key."""
    call = a_call(clock.now(), row_mac=f"{kid}:00", **changes)
    await store.commit(Unit(None, lambda _now: Change(call=call)))


def test_a_key_is_made_on_first_run(keys: Path) -> None:
    """One, of 32 bytes, in a file of our own; the next run loads the same."""
    made = load(keys)

    assert 1 == len(made)
    assert 32 == len(made[0][1])
    assert 0o600 == stat.S_IMODE(keys.stat().st_mode)
    assert made == load(keys)
    assert [keys] == list(keys.parent.iterdir())
    assert {made[0][0]} == Keyring(made).ids


def test_reading_keys_makes_none(keys: Path) -> None:
    """Who only looks at a database changes nothing beside it: no file is made, and no mode is changed."""
    with pytest.raises(Unavailable, match="can't be read"):
        read(keys)
    assert [] == list(keys.parent.iterdir())
    made = load(keys)
    keys.chmod(0o400)

    assert made == read(keys)
    assert 0o400 == stat.S_IMODE(keys.stat().st_mode)


def test_two_installations_have_different_keys(tmp_path: Path) -> None:
    """Neither key nor id is a constant."""
    first, second = load(tmp_path / "a.json")[0], load(tmp_path / "b.json")[0]

    assert first[0] != second[0]
    assert first[1] != second[1]


@pytest.mark.parametrize("mode", [0o400, 0o440, 0o600])
def test_keys_that_were_given_are_read_and_left_alone(keys: Path, mode: int) -> None:
    """A credential is read-only, and a mounted secret belongs to a group."""
    made = load(keys)
    keys.chmod(mode)

    assert made == load(keys, given=True)
    assert mode == stat.S_IMODE(keys.stat().st_mode)


@pytest.mark.parametrize("mode", [0o604, 0o620, 0o660])
def test_keys_that_were_given_and_others_can_use_are_refused(keys: Path, mode: int) -> None:
    """Whoever reads them can forge a yes."""
    load(keys)
    keys.chmod(mode)

    with pytest.raises(Unavailable):
        load(keys, given=True)


def test_keys_that_were_given_are_never_made(keys: Path) -> None:
    """A secret that wasn't mounted must not become new keys, which verify nothing."""
    with pytest.raises(Unavailable):
        load(keys, given=True)

    assert not keys.exists()


def test_a_first_run_that_was_killed_is_done_again(keys: Path) -> None:
    """What it left is no key file yet."""
    keys.with_name("keys.json.new").write_text("half a")

    assert load(keys) == load(keys)


def test_the_order_of_the_file_is_kept(keys: Path) -> None:
    """The first key signs."""
    told = [{"id": kid, "key": "AAAA"} for kid in ("z", "a", "m")]
    keys.write_text(json.dumps({"keys": told}))
    keys.chmod(0o600)

    assert ["z", "a", "m"] == [kid for kid, _ in load(keys)]


@pytest.mark.parametrize("wide", [0o640, 0o604, 0o660, 0o666])
def test_keys_that_others_can_use_are_refused(keys: Path, wide: int) -> None:
    """Reading them is enough to forge an approval."""
    load(keys)
    keys.chmod(wide)

    with raises(Unavailable, "database.keys.open", path=keys):
        load(keys)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "{}",
        "[]",
        '{"keys": []}',
        '{"keys": [{"id": "a"}]}',
        '{"keys": [{"id": "a", "key": "%"}]}',
        '{"keys": [{"id": "a", "key": "AAAA"}, {"id": "a", "key": "BBBB"}]}',
    ],
)
def test_a_file_that_holds_no_keys_is_refused(keys: Path, said: str) -> None:
    """New keys are never made over it: that would shut out every open call."""
    keys.write_text(said)
    keys.chmod(0o600)

    with pytest.raises(Unavailable, match="Restore it"):
        load(keys)

    assert said == keys.read_text()


async def test_the_ids_of_keys_are_remembered(store: SqliteStore) -> None:
    """The ids, once each, and nothing more of a key."""
    await check_keys(store, Keyring([NEW, OLD]))
    await check_keys(store, Keyring([NEW, OLD]))

    assert {"new", "old"} == await store.key_ids() - store.keys.ids


async def test_a_missing_key_with_open_calls_refuses_to_start(store: SqliteStore, clock: SetClock) -> None:
    """It is named; nobody could check these calls."""
    await check_keys(store, Keyring([OLD]))
    await park(store, clock, "old")

    with pytest.raises(Unavailable, match="keys that are missing: old"):
        await check_keys(store, Keyring([NEW]))

    await check_keys(store, Keyring([NEW, OLD]))


async def test_a_decision_sealed_with_a_missing_key_counts_too(store: SqliteStore, clock: SetClock) -> None:
    """A call may be decided under another key than it was asked under."""
    await check_keys(store, Keyring([NEW, OLD]))
    await park(store, clock, "new", decision_mac="old:00")

    with pytest.raises(Unavailable, match="keys that are missing: old"):
        await check_keys(store, Keyring([NEW]))


async def test_a_missing_key_of_calls_that_are_over_is_no_matter(store: SqliteStore, clock: SetClock) -> None:
    """A rotation ends so."""
    await check_keys(store, Keyring([OLD]))
    await park(store, clock, "old", due_at=None)

    await check_keys(store, Keyring([NEW]))
