"""Refs, MACs, and the data of buttons.

Each purpose has its own keys: one derived from each master key, with HMAC-SHA256 as the pseudo-random function (NIST SP
800-108). New MACs are made with the first master key. All master keys verify, so that keys can be rotated while calls
are open.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from base64 import b64decode, urlsafe_b64encode
from enum import StrEnum
from typing import TYPE_CHECKING, Self
from uuid import UUID

from msgspec import Struct

from hitl.call import CHOICES, Verb
from hitl.errors import InvalidConfirmation
from hitl.outcomes import Refusal, fact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

#: Crockford's base32 alphabet. It has no I, L, O and U, so that a ref can be read aloud and typed back.
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LOOKALIKES = str.maketrans("ILO", "110")
SHORT_LENGTH = 6
#: The two Crockford characters for each value of ten random bits.
_PAIRS = tuple(one + two for one in CROCKFORD for two in CROCKFORD)
#: Random hex digit -> the first hex digit of a UUID's variant field, which begins with the bits 10 (RFC 9562 section
#: 4.1).
_VARIANTS = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}
_IN_TURN = re.compile(r"\d[A-Z]+\d|[A-Z]\d+[A-Z]")
_MIN_KEY_BYTES = 32
#: The two versions of the format of MACs. Each version has its own derived keys.
_FIRST, _NOW = "1", "2"
#: For parts shorter than this, `frame` takes the length prefix from a table. A call's row has forty parts and is framed
#: twice before each run, so this saves time.
_TABLED = 256
_LENGTHS = tuple(b"%d:" % length for length in range(_TABLED))


class Purpose(StrEnum):
    """The purposes of derived keys. A MAC for one purpose is never valid for another purpose."""

    BUTTON = "button"
    ROW = "row"
    DECISION = "decision"
    VOTE = "vote"
    CLAIM = "claim"
    RESULT = "result"
    INBOX = "inbox"
    CARD = "card"
    PROMPT = "prompt"
    LINE = "line"
    MARK = "mark"
    MOVE = "move"
    TALK = "talk"
    MESSAGE = "message"
    TURN = "turn"
    CREDENTIAL = "credential"


def frame(parts: Iterable[str | bytes | None]) -> bytes:
    """Join parts, each with its length in front, so that different lists of parts always give different bytes."""
    framed: list[bytes] = []
    add = framed.append
    for part in parts:
        if part is None:
            add(b"0-")
            continue
        raw = part.encode() if isinstance(part, str) else part
        add(_LENGTHS[len(raw)] if len(raw) < _TABLED else b"%d:" % len(raw))
        add(raw)
    return b"".join(framed)


class Keyring:
    """Makes MACs with the first master key, and verifies MACs with all master keys.

    A MAC is stored as `KEYID:2:HEX`, with 64 hex digits. The keyring also verifies MACs of the first format,
    `KEYID:HEX`. They cover other bytes and use other derived keys. `masters` holds (key id, key) of each master key.
    Raises ValueError if it is empty, or for a key of less than 32 bytes, or for a key id with a colon.
    """

    __slots__ = ("_derived", "_prefix", "_signer", "_signing")

    def __init__(self, masters: Sequence[tuple[str, bytes]]) -> None:
        if not masters or any(len(key) < _MIN_KEY_BYTES or ":" in kid for kid, key in masters):
            msg = "a keyring needs at least one key of 32 bytes or more, with an id without a colon"
            raise ValueError(msg)
        self._signer = masters[0][0]
        self._derived = {
            (kid, version, purpose): _Mac(hmac.digest(key, f"sayso/{version}/{purpose}".encode(), "sha256"))
            for kid, key in masters
            for version in (_FIRST, _NOW)
            for purpose in Purpose
        }
        self._signing = {purpose: self._derived[self._signer, _NOW, purpose] for purpose in Purpose}
        self._prefix = f"{self._signer}:{_NOW}:"

    @property
    def ids(self) -> frozenset[str]:
        """The ids of all master keys."""
        return frozenset(kid for kid, _, _ in self._derived)

    def seal(self, purpose: Purpose, data: bytes) -> str:
        """Return a MAC over the data, with the id of its key."""
        return self._prefix + self._signing[purpose].of(data).hex()

    def holds(self, purpose: Purpose, seal: str | None, data: bytes, first: Callable[[], bytes] | None = None) -> bool:
        """Return whether the MAC `seal` was made with one of this keyring's keys and covers exactly this data.

        Return False for None and for a malformed MAC. `first` returns the bytes that a MAC of the first format covers.
        Without `first`, a MAC of the first format is never valid.
        """
        kid, _, rest = (seal or "").partition(":")
        version, _, given = rest.rpartition(":")
        if version == "" and first is not None:
            version, data = _FIRST, first()
        mac = self._derived.get((kid, version, purpose))
        return mac is not None and hmac.compare_digest(mac.of(data).hex().encode(), given.encode())

    def short_macs(self, purpose: Purpose, data: bytes) -> Iterable[bytes]:
        """Return the first 16 bytes of the MAC under each master key, beginning with the first key.

        Button data holds no key id, so all keys are tried.
        """
        signer_first = sorted(self.ids, key=lambda kid: kid != self._signer)
        return (self._derived[kid, _FIRST, purpose].of(data)[:16] for kid in signer_first)


class _Mac:
    """HMAC-SHA256 (RFC 2104) under one key. It hashes the key's two paddings only once.

    A call needs ten MACs over a few hundred bytes each. With `hmac.digest` each of them would take twice as long.
    """

    __slots__ = ("_inner", "_outer")

    def __init__(self, key: bytes) -> None:
        padded = key.ljust(hashlib.sha256().block_size, b"\0")
        self._inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in padded))
        self._outer = hashlib.sha256(bytes(byte ^ 0x5C for byte in padded))

    def of(self, data: bytes) -> bytes:
        """Return the MAC of the data, 32 bytes."""
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(data)
        outer.update(inner.digest())
        return outer.digest()


def new_ref(now: datetime) -> str:
    """Return a new ref: a UUID version 7 (RFC 9562 section 5.7).

    It begins with the milliseconds, so refs sort by time.
    """
    random = secrets.token_hex(10)
    variant = _VARIANTS[random[3]]
    return f"{ref_at(now)}-7{random[:3]}-{variant}{random[4:7]}-{random[7:19]}"


def ref_at(at: datetime) -> str:
    """Return the beginning of the refs that are made at `at`. It sorts between all earlier and all later refs."""
    when = f"{int(at.timestamp() * 1000):012x}"
    return f"{when[:8]}-{when[8:]}"


def new_short() -> str:
    """Return a random short ref: six Crockford characters, in which digits and letters alternate at least twice.

    So no short ref is a word, or looks like an amount such as `4388HR`.
    """
    while True:
        number = secrets.randbits(5 * SHORT_LENGTH)
        text = _PAIRS[number >> 20] + _PAIRS[number >> 10 & 1023] + _PAIRS[number & 1023]
        if _IN_TURN.search(text):
            return text


def as_short(text: str) -> str | None:
    """Return a short ref in its normal form, from the text that a person typed.

    Return None if the text isn't a short ref. By Crockford's rules, case doesn't matter, I and L are read as 1, and O
    is read as 0.
    """
    typed = text.strip().lstrip("#").upper().translate(_LOOKALIKES)
    fits = len(typed) == SHORT_LENGTH and all(char in CROCKFORD for char in typed) and not typed.isalpha()
    return typed if fits else None


def new_secret() -> str:
    """Return a new secret for a claimant: 32 random bytes in base64url."""
    return secrets.token_urlsafe(32)


_VERBS = (Verb.APPROVE, Verb.REJECT, Verb.DETAILS, *CHOICES)
_VERSION = 1
_PACKED = 34


class ButtonData(Struct, frozen=True):
    """The data of a button. It only says which call and verb is meant.

    The person who presses must have the right to decide. Packed data takes 46 characters. The platform with the lowest
    limit allows 64 bytes.
    """

    verb: Verb
    ref: str
    mac: bytes

    @classmethod
    def sealed(cls, keys: Keyring, verb: Verb, ref: str, *, digest: str, deadline: datetime, place: str) -> Self:
        """Return button data for one verb of one call in one `place` (platform and chat)."""
        return cls(verb, ref, next(iter(keys.short_macs(Purpose.BUTTON, _said(verb, ref, digest, deadline, place)))))

    @classmethod
    def unpack(cls, packed: str) -> Self:
        """Parse packed button data. Raises InvalidConfirmation for any other text, and for data of another version."""
        try:
            raw = b64decode(packed.encode("ascii") + b"==", altchars=b"-_", validate=True)
        except (ValueError, UnicodeEncodeError):
            raw = b""
        if len(raw) != _PACKED or raw[0] != _VERSION or raw[1] >= len(_VERBS):
            raise InvalidConfirmation(fact(Refusal.BUTTON))
        return cls(_VERBS[raw[1]], str(UUID(bytes=raw[2:18])), raw[18:])

    def pack(self) -> str:
        """Return the data as text, which the platform stores with the button and returns with each press."""
        raw = bytes((_VERSION, _VERBS.index(self.verb))) + UUID(self.ref).bytes + self.mac
        return urlsafe_b64encode(raw).rstrip(b"=").decode()

    def holds(self, keys: Keyring, *, digest: str, deadline: datetime, place: str) -> bool:
        """Return whether one of the keyring's keys made this data for this verb, call and place.

        The comparison takes constant time.
        """
        said = _said(self.verb, self.ref, digest, deadline, place)
        return any(hmac.compare_digest(mac, self.mac) for mac in keys.short_macs(Purpose.BUTTON, said))


def _said(verb: Verb, ref: str, digest: str, deadline: datetime, place: str) -> bytes:
    return frame((verb, ref, digest, deadline.isoformat(), place))


def secret_hash(secret: str) -> str:
    """Return the SHA-256 of a claimant's secret, in hex. The store never gets the secret itself."""
    return hashlib.sha256(secret.encode()).hexdigest()


def same_secret(one: str, other: str) -> bool:
    """Return whether two secrets, or two hashes of secrets, are equal. The comparison takes constant time."""
    return hmac.compare_digest(one.encode(), other.encode())
