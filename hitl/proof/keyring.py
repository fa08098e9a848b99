"""Refs, seals and button data: who made what, checked without asking anybody.

Keys are derived for each purpose from a list of master keys with HMAC-SHA256 as the pseudo-random function
(NIST SP 800-108). The first master key signs, all verify, so that keys can be rotated while calls are open.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from base64 import b64decode, urlsafe_b64encode
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Self
from uuid import UUID

from hitl.call import Verb
from hitl.errors import InvalidConfirmation
from hitl.outcomes import Refusal, fact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

#: Crockford's base32: no I, L, O, U, so that a ref can be read aloud and typed back.
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LOOKALIKES = str.maketrans("ILO", "110")
SHORT_LENGTH = 6
#: Two characters for ten random bits.
_PAIRS = tuple(one + two for one in CROCKFORD for two in CROCKFORD)
#: The digit of a UUID that holds its variant (RFC 9562 section 4.1: the bits 10), for each random digit.
_VARIANTS = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}
_IN_TURN = re.compile(r"\d[A-Z]+\d|[A-Z]\d+[A-Z]")
_MIN_KEY_BYTES = 32
#: The versions of what is sealed, and under which derived key.
_FIRST, _NOW = "1", "2"
#: A row is framed twice on its way to a run, forty parts each time: short lengths are spelled once.
_TABLED = 256
_LENGTHS = tuple(b"%d:" % length for length in range(_TABLED))


class Purpose(StrEnum):
    """What a derived key may be used for."""

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
    """Parts joined so that no two lists of parts give the same bytes: each with its length before it."""
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
    """Signs with the first master key, verifies with all. A seal is `KEYID:2:HEX`, 64 hex digits.

    Seals of the first format are `KEYID:HEX`, over other bytes and under other keys; they verify too. Raises ValueError
    for an empty list, a key under 32 bytes, or a key id with a colon.
    """

    __slots__ = ("_derived", "_signer")

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

    @property
    def ids(self) -> frozenset[str]:
        """The ids of all keys that it verifies with."""
        return frozenset(kid for kid, _, _ in self._derived)

    def seal(self, purpose: Purpose, data: bytes) -> str:
        """A seal over the data."""
        return f"{self._signer}:{_NOW}:{self._mac(self._signer, _NOW, purpose, data).hex()}"

    def holds(self, purpose: Purpose, seal: str | None, data: bytes, first: Callable[[], bytes] | None = None) -> bool:
        """Whether the seal is one of ours over just this data; any malformed seal is a no.

        `first` gives the bytes that a seal of the first format covers; without it there is none of that purpose.
        """
        kid, _, rest = (seal or "").partition(":")
        version, _, given = rest.rpartition(":")
        if version == "" and first is not None:
            version, data = _FIRST, first()
        if (kid, version, purpose) not in self._derived:
            return False
        return hmac.compare_digest(self._mac(kid, version, purpose, data).hex().encode(), given.encode())

    def short_macs(self, purpose: Purpose, data: bytes) -> Iterable[bytes]:
        """The first 16 bytes of the seal under each key, the signing key's first (button data has no key id)."""
        signer_first = sorted(self.ids, key=lambda kid: kid != self._signer)
        return (self._mac(kid, _FIRST, purpose, data)[:16] for kid in signer_first)

    def _mac(self, kid: str, version: str, purpose: Purpose, data: bytes) -> bytes:
        return self._derived[kid, version, purpose].of(data)


class _Mac:
    """HMAC-SHA256 (RFC 2104) under one key. Both paddings of the key are hashed once, not for each MAC.

    A call takes ten MACs of a few hundred bytes, and `hmac.digest` takes twice as long for one.
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
    """A UUID version 7 (RFC 9562 section 5.7): milliseconds first, so that refs sort by time."""
    random = secrets.token_hex(10)
    variant = _VARIANTS[random[3]]
    return f"{ref_at(now)}-7{random[:3]}-{variant}{random[4:7]}-{random[7:19]}"


def ref_at(at: datetime) -> str:
    """Return a text that sorts after the refs that were made before this time, and before all others."""
    when = f"{int(at.timestamp() * 1000):012x}"
    return f"{when[:8]}-{when[8:]}"


def new_short() -> str:
    """Six Crockford characters, digits and letters in turn, so that no short ref is a word or an amount (`4388HR`)."""
    while True:
        number = secrets.randbits(5 * SHORT_LENGTH)
        text = _PAIRS[number >> 20] + _PAIRS[number >> 10 & 1023] + _PAIRS[number & 1023]
        if _IN_TURN.search(text):
            return text


def as_short(text: str) -> str | None:
    """The short ref that somebody typed, read as Crockford says (case and I, L, O forgiven), or None."""
    typed = text.strip().lstrip("#").upper().translate(_LOOKALIKES)
    fits = len(typed) == SHORT_LENGTH and all(char in CROCKFORD for char in typed) and not typed.isalpha()
    return typed if fits else None


def new_secret() -> str:
    """A claimant's secret: 32 random bytes, base64url."""
    return secrets.token_urlsafe(32)


_VERBS = (Verb.APPROVE, Verb.REJECT, Verb.DETAILS)
_VERSION = 1
_PACKED = 34


@dataclass(frozen=True, slots=True)
class ButtonData:
    """The data of a button: 46 characters, because the narrowest platform takes 64 bytes. It finds a call, no more."""

    verb: Verb
    ref: str
    mac: bytes

    @classmethod
    def sealed(cls, keys: Keyring, verb: Verb, ref: str, *, digest: str, deadline: datetime, place: str) -> Self:
        """Button data for one verb of one call on one `place` (platform and chat)."""
        return cls(verb, ref, next(iter(keys.short_macs(Purpose.BUTTON, _said(verb, ref, digest, deadline, place)))))

    @classmethod
    def unpack(cls, packed: str) -> Self:
        """Raises InvalidConfirmation for anything that isn't button data of this version."""
        try:
            raw = b64decode(packed.encode("ascii") + b"==", altchars=b"-_", validate=True)
        except (ValueError, UnicodeEncodeError):
            raw = b""
        if len(raw) != _PACKED or raw[0] != _VERSION or raw[1] >= len(_VERBS):
            raise InvalidConfirmation(fact(Refusal.BUTTON))
        return cls(_VERBS[raw[1]], str(UUID(bytes=raw[2:18])), raw[18:])

    def pack(self) -> str:
        """The characters to put into the button."""
        raw = bytes((_VERSION, _VERBS.index(self.verb))) + UUID(self.ref).bytes + self.mac
        return urlsafe_b64encode(raw).rstrip(b"=").decode()

    def holds(self, keys: Keyring, *, digest: str, deadline: datetime, place: str) -> bool:
        """Whether it was made for just this call, verb and place by one of our keys (constant-time compare)."""
        said = _said(self.verb, self.ref, digest, deadline, place)
        return any(hmac.compare_digest(mac, self.mac) for mac in keys.short_macs(Purpose.BUTTON, said))


def _said(verb: Verb, ref: str, digest: str, deadline: datetime, place: str) -> bytes:
    return frame((verb, ref, digest, deadline.isoformat(), place))


def secret_hash(secret: str) -> str:
    """SHA-256 of a claimant's secret, in hex: all that the store ever sees of it."""
    return hashlib.sha256(secret.encode()).hexdigest()


def same_secret(one: str, other: str) -> bool:
    """Whether two secrets, or their hashes, are one; by a compare in constant time."""
    return hmac.compare_digest(one.encode(), other.encode())
