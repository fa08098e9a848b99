"""The settings of languages."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest

from bot.cli import running
from bot.errors import SettingsError
from bot.settings import Language, load
from hitl.cards.languages import LANGUAGES

if TYPE_CHECKING:
    from pathlib import Path


def test_each_language_of_the_settings_has_a_catalogue() -> None:
    """And each catalogue can be set, for the demo too."""
    assert list(LANGUAGES) == list(get_args(Language)) == [each.value for each in running.Language]


def test_an_installation_a_person_and_a_conversation_have_a_language(tmp_path: Path) -> None:
    """Each is set by itself."""
    file = tmp_path / "sayso.toml"
    file.write_text(
        'language = "de"\n[languages]\nada = "en"\n[principals]\nada = ["telegram:42"]\n'
        '[conversations."telegram:-100"]\nlanguage = "en"\n'
    )
    people = load(file).directory()

    assert ["de", "en", "en"] == [people.wording(place).language for place in ("local", "telegram:42", "telegram:-100")]


def test_an_unknown_language_is_refused(tmp_path: Path) -> None:
    """With the name of the setting, before anything starts."""
    file = tmp_path / "sayso.toml"
    file.write_text('language = "xx"\n')

    with pytest.raises(SettingsError, match="language"):
        load(file)
