"""The reader: pure, total, linear in the length of the text."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from hitl.tokens import as_short

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


class Verdict(StrEnum):
    """What a text says."""

    APPROVE = "approve"
    REJECT = "reject"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Reading:
    """One answer found in a text. `why` says why it is unclear; `target` is the ref it names."""

    verdict: Verdict
    reason: str | None = None
    target: str | None = None
    why: str | None = None


_YES = frozenset(
    "y|yes|yep|yeah|sure|ok|okay|approve|approved|accept|confirm|go ahead|do it|yes do it|run|run it|lgtm|"
    "yes please|ok do it|👍|✅|👌|✔|☑".split("|")
)
_NO = frozenset(
    "n|no|nope|nah|reject|decline|refuse|cancel|stop|deny|don't|no thanks|don't do that|👎|❌|🚫|✖|🛑".split("|")
)
_REASONED = re.compile(
    r"(?P<no>no|nope|nah|reject|decline|refuse|cancel|stop|deny|don't do (?:it|that)|👎|❌|🚫|✖|🛑)"
    r"(?:\s*[:,(\n–—-]\s*|\s+)(?:because\s+)?(?P<reason>\S.*)",
    re.DOTALL | re.IGNORECASE,
)
_COMMAND = re.compile(r"/?(?P<verb>approve|reject)\s+#?(?P<ref>\S+)(?P<rest>.*)", re.DOTALL | re.IGNORECASE)
_WITH_REF = re.compile(r"(?P<word>\S+)\s+#?(?P<ref>\S+)")
_EDGE = " \t\r\n.!,;:*_~`\"'"
_TRIMMED = str.maketrans({"’": "'", "‘": "'", "\ufe0f": None, "\u200d": None, "\u200b": None})
_SKIN_TONES = re.compile("[\U0001f3fb-\U0001f3ff]")


def read(text: str, *, known_refs: Collection[str] = (), language: str | None = None) -> list[Reading]:
    """What the text answers, and to which call; one reading, since this reader doesn't split messages."""
    del language
    plain = _plain(text)
    return [_named(plain, known_refs) or _whole(plain) or _reasoned(plain) or _unclear(plain)]


def verdict(readings: Sequence[Reading]) -> Reading:
    """The message as a whole."""
    return readings[0] if len(readings) == 1 else Reading(Verdict.UNCLEAR, why="two answers")


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text.translate(_TRIMMED))
    return _SKIN_TONES.sub("", folded).strip()


def _whole(plain: str) -> Reading | None:
    words = " ".join(plain.casefold().replace(",", " ").split()).strip(_EDGE)
    if words in _YES or (words and set(words) <= _YES):
        return Reading(Verdict.APPROVE) if "?" not in words else None
    if words in _NO:
        return Reading(Verdict.REJECT)
    return None


def _reasoned(plain: str) -> Reading | None:
    found = _REASONED.fullmatch(plain)
    if found is None or plain.endswith("?"):
        return None
    return Reading(Verdict.REJECT, reason=found["reason"].rstrip(" )") if "(" in plain else found["reason"].strip())


def _named(plain: str, known_refs: Collection[str]) -> Reading | None:
    """`approve REF`, `reject REF reason`, `yes REF`: the ref never changes the sign."""
    found = _COMMAND.fullmatch(plain) or _WITH_REF.fullmatch(plain)
    ref = _as_ref(found["ref"], known_refs) if found else None
    if found is None or ref is None:
        return None
    word, rest = found[1], found["rest"].strip() if "rest" in found.groupdict() else ""
    said = _whole(word)
    if said is None or (rest and said.verdict is Verdict.APPROVE):
        return None
    return Reading(said.verdict, reason=rest.removeprefix("because ").lstrip(" :,-") or None, target=ref)


def _as_ref(text: str, known_refs: Collection[str]) -> str | None:
    short = as_short(text)
    return text if text in known_refs or (short is None and "_" in text) else short


def _unclear(plain: str) -> Reading:
    return Reading(Verdict.UNCLEAR, why="question" if "?" in plain else "not a plain yes or no")
