"""A pseudo-language: every sentence of the catalogue in fullwidth letters, so that any other sentence stands out."""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING

from hitl.cards import languages
from hitl.cards.german_phrases import PHRASES
from hitl.cards.wording import IN_ENGLISH, Wording
from tests.sentences import SERVICE

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest

#: The code of the pseudo-language.
PSEUDO = "xx"
_WIDE = {ord(letter): ord(letter) + 0xFEE0 for letter in string.ascii_letters}
#: A ref or a digest in hex. A part of it may have letters alone.
_HEX = re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b[0-9a-f]{64}\b")
#: Words of ASCII letters. Short refs and times hold digits.
_WORDS = re.compile(r"(?<![\w{])[A-Za-z]{2,}(?![\w}])")


def speak(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the pseudo-language to those that there are."""
    sentences = {key: _widened(text) for key, text in SERVICE.items()}
    phrases = {text: text.translate(_WIDE) for text in PHRASES}
    monkeypatch.setitem(languages.LANGUAGES, PSEUDO, Wording(PSEUDO, sentences, phrases=phrases))


def speak_in_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have everything that commands say, which is English, be said in the pseudo-language."""
    monkeypatch.setattr(IN_ENGLISH, "_sentences", {key: _widened(text) for key, text in SERVICE.items()})


def outside(texts: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return the texts that hold words which are neither of the catalogue nor known (a value, a name), behind those."""
    expected = {word for text in (*known, "UTC") for word in _WORDS.findall(text)}
    seen = ((text, set(_WORDS.findall(_HEX.sub("", text)))) for text in texts)
    return [f"{found}: {text}" for text, words in seen if (found := sorted(words - expected))]


def _widened(template: str) -> str:
    pieces = re.split(r"(\{[^{}]*\})", template)
    return "".join(_widened_piece(piece) for piece in pieces)


def _widened_piece(piece: str) -> str:
    """Return a part of a template with its words widened, also those of a place (`{count:file|files}`)."""
    if not piece.startswith("{"):
        return piece.translate(_WIDE)
    name, colon, spec = piece.partition(":")
    return f"{name}{colon}{spec.translate(_WIDE)}" if "|" in spec else piece
