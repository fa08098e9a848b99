"""The languages of the texts in chats, at a terminal and on cards. Each language has one catalogue.

To add a language, write its catalogue as `german.py` and `german_phrases.py` are written, and add it to the table in
this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.cards.german import GERMAN
from hitl.cards.german_phrases import PHRASES
from hitl.cards.wording import IN_ENGLISH, Wording

if TYPE_CHECKING:
    from collections.abc import Mapping

LANGUAGES: Mapping[str, Wording] = {
    IN_ENGLISH.language: IN_ENGLISH,
    "de": Wording("de", GERMAN, phrases=PHRASES, thousands="."),
}


def wording_of(language: str) -> Wording:
    """Return the catalogue of a language, by its ISO 639-1 code.

    For an unknown language, return the English catalogue.
    """
    return LANGUAGES.get(language, IN_ENGLISH)
