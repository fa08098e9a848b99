"""`sayso init` at a terminal: it asks, offers each surface, and ends with what `doctor` finds."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from bot.settings import load
from hitl.cards.wording import say
from tests.acceptance.installation import SAYSO
from tests.patience import PATIENCE_S


def typed(folder: Path, lines: str, *options: str) -> tuple[int, str]:
    """Run `sayso init` in a window, with these lines typed; return its exit status and all that it showed."""
    master, slave = pty.openpty()
    words = [str(SAYSO), "init", "--state", str(folder / "state"), "--workspace", str(folder / "workspace"), *options]
    surroundings = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "NO_COLOR": "1"}
    asking = subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave, env=surroundings, cwd=folder)
    os.close(slave)
    os.write(master, lines.encode())
    shown = b""
    # Linux reports EIO when the last program has closed the window (pty(7)).
    with contextlib.suppress(OSError):
        while data := os.read(master, 1 << 16):
            shown += data
    os.close(master)
    return asking.wait(PATIENCE_S), shown.decode().replace("\r\n", "\n")


def written(folder: Path) -> dict[str, Any]:
    """Return what the new configuration holds."""
    return tomllib.loads((folder / "sayso.toml").read_text())


def test_each_surface_is_added_by_its_number(tmp_path: Path) -> None:
    """A chat is added as by `init telegram`. A coding agent needs the running service, so its command is shown."""
    status, shown = typed(tmp_path, "n\n1\n2\n3\n4\nnobody\ncodex\n\n")
    made = written(tmp_path)

    assert 0 == status, shown
    assert {"telegram", "slack", "http"} <= made.keys()
    assert say("init.hook", host="codex", file="sayso.toml") in shown
    assert load(tmp_path / "sayso.toml").http.port == made["http"]["port"]
    assert "self_approval" not in made.get("conversations", {})


@pytest.mark.parametrize("lines", ["y\n\n", "n\n9\ntelegram\n\n", "n\n5\ncursor\n\n"])
def test_it_ends_with_the_checks(tmp_path: Path, lines: str) -> None:
    """Whatever was chosen: no surface, no number of one, or a client that isn't here."""
    status, shown = typed(tmp_path, lines)
    checks = shown.partition(say("init.checks", file="sayso.toml"))[2]

    assert 0 == status, shown
    assert {"requesters", "approvers", "policy", "dry run", "service"} <= {
        line[2:].partition(":")[0] for line in checks.splitlines()
    }
    assert not {"telegram", "slack", "http", "mcp"} & written(tmp_path).keys()


def test_another_word_than_a_number_is_answered_and_never_repeated(tmp_path: Path) -> None:
    """Somebody may paste the bot's token there, because the line above says where it goes."""
    _, shown = typed(tmp_path, "n\n1\n7100000001:secret-of-the-bot\n\n")
    after = shown.partition(say("init.choose.other", last=5))

    assert after[1]
    assert "secret-of-the-bot" not in after[2]


def test_options_about_people_leave_nothing_to_ask(tmp_path: Path) -> None:
    """So a script at a terminal goes through."""
    status, shown = typed(tmp_path, "", "--approver", "local:4321")

    assert (0, ["local:4321"]) == (status, written(tmp_path)["approvers"])
    assert say("init.choose", last=5) not in shown
