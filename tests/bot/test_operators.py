"""An operator's own handlers: which file or module they come from, and which is refused."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from bot.errors import SettingsError
from bot.operators import register_of
from bot.settings import Settings
from tests.sentences import raises

if TYPE_CHECKING:
    from pathlib import Path


def handlers(folder: Path, text: str) -> Path:
    """A file of an operator's."""
    path = folder / "mine.py"
    path.write_text(text)
    return path


def test_a_file_or_a_module_may_be_named(tmp_path: Path) -> None:
    """Its function `register` gets the application; without a name there is none."""
    path = handlers(tmp_path, "def register(app):\n    app.append('mine')\n")
    app: list[str] = []
    register = register_of("telegram", str(path))
    assert register
    register(app)

    assert ["mine"] == app
    assert None is register_of("telegram", "")
    with raises(SettingsError, "setting.handlers.none", section="slack", named="json"):
        register_of("slack", "json")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def register(app:", "SyntaxError"),
        ("import nothing_of_that_name", "ModuleNotFoundError"),
        ("x = 1", "register"),
    ],
)
def test_a_file_that_cannot_be_used_stops_the_start(tmp_path: Path, text: str, why: str) -> None:
    """The setting is named, and what is wrong."""
    with pytest.raises(SettingsError, match=rf"telegram\.handlers .*{why}"):
        register_of("telegram", str(handlers(tmp_path, text)))


def test_a_file_that_is_not_there_stops_the_start(tmp_path: Path) -> None:
    """Nothing is started without handlers that somebody counts on."""
    with pytest.raises(SettingsError, match=r"telegram\.handlers .*can't be loaded"):
        register_of("telegram", str(tmp_path / "none.py"))


def test_a_file_that_others_may_write_is_refused(tmp_path: Path) -> None:
    """It runs inside the service: whoever can write it could decide."""
    path = handlers(tmp_path, "def register(app):\n    raise SystemExit\n")
    path.chmod(path.stat().st_mode | stat.S_IWOTH)

    with raises(SettingsError, "setting.writable", path=path):
        register_of("telegram", str(path))


def test_a_file_in_the_workspace_is_told(tmp_path: Path) -> None:
    """An approved tool could rewrite it."""
    path = handlers(tmp_path, "")
    settings = Settings.model_validate(
        {"state": tmp_path.parent / "state", "workspace": tmp_path, "telegram": {"handlers": str(path)}}
    )

    assert [path] == settings.exposed()
