"""Refs, seals and buttons: what is ours holds, whatever isn't is refused."""

from __future__ import annotations

import hmac
import re
import uuid
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hitl.call import Verb
from hitl.errors import InvalidConfirmation
from hitl.outcomes import Refusal, fact
from hitl.proof.keyring import (
    CROCKFORD,
    ButtonData,
    Keyring,
    Purpose,
    as_short,
    frame,
    new_ref,
    new_secret,
    new_short,
)
from tests.hitl.world import NOON

OLD = ("k1", b"1" * 32)
NEW = ("k2", b"2" * 32)
KEYS = Keyring([OLD])
REF = new_ref(NOON)
SEALED: dict[str, Any] = {"digest": "d" * 64, "deadline": NOON, "place": "telegram:-100"}


def button(verb: Verb = Verb.APPROVE) -> ButtonData:
    """A button of ours."""
    return ButtonData.sealed(KEYS, verb, REF, **SEALED)


@pytest.mark.parametrize("verb", Verb)
def test_a_button_carries_46_characters(verb: Verb) -> None:
    """That fits into Telegram's 64 bytes, and comes back as what was packed."""
    packed = button(verb).pack()

    assert 46 == len(packed.encode())
    assert button(verb) == ButtonData.unpack(packed)
    assert ButtonData.unpack(packed).holds(KEYS, **SEALED)


@pytest.mark.parametrize(
    "change",
    [{"digest": "e" * 64}, {"deadline": NOON + timedelta(microseconds=1)}, {"place": "telegram:-101"}],
)
def test_a_button_holds_for_its_own_call_and_place_only(change: dict[str, Any]) -> None:
    """Another digest, deadline or chat than it was made for: refused."""
    assert not button().holds(KEYS, **(SEALED | change))


@pytest.mark.parametrize(
    "forged",
    [
        ButtonData(Verb.APPROVE, REF, button(Verb.REJECT).mac),
        ButtonData(Verb.REJECT, REF, button().mac),
        ButtonData(Verb.APPROVE, new_ref(NOON), button().mac),
        ButtonData(Verb.APPROVE, REF, bytes(16)),
        ButtonData.sealed(Keyring([NEW]), Verb.APPROVE, REF, **SEALED),
    ],
    ids=["verb", "verb back", "ref", "mac", "key"],
)
def test_a_forged_button_does_not_hold(forged: ButtonData) -> None:
    """Another verb, ref or seal, also when it is packed well: refused."""
    assert not ButtonData.unpack(forged.pack()).holds(KEYS, **SEALED)


@given(st.integers(0, 45), st.sampled_from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"))
def test_no_changed_character_is_taken(place: int, char: str) -> None:
    """A button with one character changed can't be read, or doesn't hold, or carries the very same bytes."""
    packed = button().pack()
    changed = packed[:place] + char + packed[place + 1 :]
    try:
        read = ButtonData.unpack(changed)
    except InvalidConfirmation:
        return

    assert read == button() or not read.holds(KEYS, **SEALED)


@given(st.text(max_size=70) | st.binary(min_size=34, max_size=34).map(lambda raw: raw.hex()))
def test_garbage_is_refused(text: str) -> None:
    """What isn't button data says so, whatever it is."""
    with pytest.raises(InvalidConfirmation) as refused:
        ButtonData.unpack(text)

    assert fact(Refusal.BUTTON) == refused.value.fact


@pytest.mark.parametrize("raw", [bytes(34), b"\x02" + bytes(33), b"\x01\x0b" + bytes(32)])
def test_other_versions_and_verbs_are_refused(raw: bytes) -> None:
    """The right length is not enough: version and verb must be known."""
    import base64  # noqa: PLC0415 - what is packed by hand here only

    with pytest.raises(InvalidConfirmation):
        ButtonData.unpack(base64.urlsafe_b64encode(raw).rstrip(b"=").decode())


def test_a_new_key_signs_and_the_old_one_still_verifies() -> None:
    """Rotation: what was sealed before goes on holding, and what is sealed now names the new key."""
    rotated = Keyring([NEW, OLD])
    before = KEYS.seal(Purpose.ROW, b"row")

    assert rotated.holds(Purpose.ROW, before, b"row")
    assert rotated.seal(Purpose.ROW, b"row").startswith("k2:2:")
    assert button().holds(rotated, **SEALED)
    assert not KEYS.holds(Purpose.ROW, rotated.seal(Purpose.ROW, b"row"), b"row")
    assert {"k1", "k2"} == rotated.ids


@pytest.mark.parametrize("seal", [None, "", "k1", "k1:", "k9:" + "0" * 64, "k1:" + "0" * 64, "k1:\u00e9", ":" * 3])
def test_a_malformed_seal_is_a_no(seal: str | None) -> None:
    """It is compared, never trusted to be well made."""
    assert not KEYS.holds(Purpose.ROW, seal, b"row", lambda: b"row")


@given(st.binary(min_size=32, max_size=64), st.binary(max_size=300))
def test_a_seal_is_an_hmac_of_the_data_under_the_derived_key(master: bytes, data: bytes) -> None:
    """RFC 2104 with SHA-256, as the standard library computes it, so that any other program can verify a seal."""
    derived = hmac.digest(master, b"sayso/2/row", "sha256")

    assert f"k1:2:{hmac.digest(derived, data, 'sha256').hex()}" == Keyring([("k1", master)]).seal(Purpose.ROW, data)


@pytest.mark.parametrize("purpose", Purpose)
def test_a_seal_is_for_one_purpose(purpose: Purpose) -> None:
    """A vote's seal is no decision's, even over the same bytes."""
    seal = KEYS.seal(purpose, b"same")

    assert [purpose] == [other for other in Purpose if KEYS.holds(other, seal, b"same")]


@pytest.mark.parametrize("masters", [[], [("k1", b"short")], [("k:1", b"1" * 32)]])
def test_a_keyring_needs_whole_keys(masters: list[tuple[str, bytes]]) -> None:
    """No key, a short one, or an id that would break a seal: refused when it is built."""
    with pytest.raises(ValueError, match="at least one key"):
        Keyring(masters)


_PARTS = st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"])) | st.binary())


@given(_PARTS, _PARTS)
def test_no_two_lists_of_parts_are_framed_alike(one: list[str | bytes | None], other: list[str | bytes | None]) -> None:
    """Moving a character from one part into the next is seen; None isn't the empty text."""
    assume([_raw(part) for part in one] != [_raw(part) for part in other])

    assert frame(one) != frame(other)


def _raw(part: str | bytes | None) -> bytes | None:
    """The bytes of a part."""
    return part.encode() if isinstance(part, str) else part


def test_a_short_ref_mixes_digits_and_letters() -> None:
    """So it is no word and no amount (`4388HR`, `GM2664`); each is what its own reading gives."""
    shorts = [new_short() for _ in range(3000)]

    assert all(6 == len(short) and set(short) <= set(CROCKFORD) for short in shorts)
    assert [] == [short for short in shorts if re.fullmatch(r"\d*[A-Z]*|[A-Z]*\d*", short)]
    assert shorts == [as_short(short) for short in shorts]


@pytest.mark.parametrize("typed", ["a1b0c1", "A1B0C1", " #a1b0c1 ", "AIBOCL", "alboc1", "aIbOcI", "A1BoCl"])
def test_look_alikes_are_read_as_crockford_says(typed: str) -> None:
    """Case is forgiven, and so are O for 0, I and L for 1."""
    assert "A1B0C1" == as_short(typed)


@pytest.mark.parametrize("typed", ["", "ABCDEF", "A1B2C", "A1B2C34", "A1B2CU", "A1 2C3", "Ä1B2C3", "A1B2C!"])
def test_what_is_no_short_ref_is_none(typed: str) -> None:
    """Too short, too long, a word, a letter that Crockford leaves out."""
    assert as_short(typed) is None


def test_a_ref_is_a_uuid_of_version_7_and_sorts_by_time() -> None:
    """RFC 9562: milliseconds first, then chance."""
    refs = [new_ref(NOON + timedelta(milliseconds=ms)) for ms in range(50)]
    first = uuid.UUID(refs[0])

    assert sorted(refs) == refs
    assert (7, uuid.RFC_4122) == (first.version, first.variant)
    assert int(NOON.timestamp() * 1000) == first.int >> 80


def test_secrets_differ_and_are_long() -> None:
    """32 bytes, base64url."""
    assert 43 == len(new_secret())
    assert new_secret() != new_secret()
