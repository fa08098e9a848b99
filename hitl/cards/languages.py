"""The languages of what people see in chats, at a terminal and on cards. One catalogue a language.

To add a language, write its catalogue as `german.py` is written, and name it here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.cards.german import GERMAN
from hitl.cards.wording import IN_ENGLISH, Wording

if TYPE_CHECKING:
    from collections.abc import Mapping

LANGUAGES: Mapping[str, Wording] = {
    IN_ENGLISH.language: IN_ENGLISH,
    "de": Wording("de", GERMAN, thousands="."),
}


def wording_of(language: str) -> Wording:
    """Return the catalogue of a language, as ISO 639-1 names it; of a language that has none, the English one."""
    return LANGUAGES.get(language, IN_ENGLISH)
