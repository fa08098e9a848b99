"""`sayso keys rotate` adds a key without losing the old ones."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from adapters.database.keys import load, read
from bot.cli.main import application
from tests.sentences import says

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The key file of an installation that has started once."""
    monkeypatch.chdir(tmp_path)
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (tmp_path / "sayso.toml").write_text('state = "state"\n')
    load(state / "keys.json")
    return state / "keys.json"


def test_the_new_key_is_first_and_the_old_key_stays(keys: Path) -> None:
    """The new key makes the MACs from the next start on, and the old one still verifies. The file stays closed."""
    (old,) = read(keys)
    ran = CliRunner().invoke(application(), ["keys", "rotate", "--json"])
    new, kept = read(keys)

    assert 0 == ran.exit_code
    assert {"file": str(keys), "id": new[0], "older": 1} == json.loads(ran.stdout)
    assert old == kept
    assert old[0] != new[0]
    assert 0o600 == stat.S_IMODE(keys.stat().st_mode)
    assert [keys] == [*keys.parent.iterdir()]


def test_a_file_that_the_settings_name_is_not_changed(keys: Path) -> None:
    """A credential or a mounted secret has its own source, which would overwrite the change."""
    keys.parent.parent.joinpath("sayso.toml").write_text('state = "state"\nkeys_file = "state/keys.json"\n')
    before = keys.read_bytes()
    ran = CliRunner().invoke(application(), ["keys", "rotate"])

    assert 2 == ran.exit_code
    assert says(ran.stderr, "rotating.given")
    assert before == keys.read_bytes()


def test_a_broken_file_is_left_as_it_is(keys: Path) -> None:
    """A file that isn't a key file may be a restored part of one, so it is never replaced."""
    keys.write_text("{}")
    ran = CliRunner().invoke(application(), ["keys", "rotate"])

    assert 0 != ran.exit_code
    assert "{}" == keys.read_text()
    assert [keys] == [*keys.parent.iterdir()]
