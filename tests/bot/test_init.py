"""`sayso init`: what it refuses before it writes, and what it tells whoever is alone."""

from __future__ import annotations

import os
import pty
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli.main import application
from bot.settings import load
from hitl.call import Risk
from hitl.records import replace
from tests.acceptance.installation import until
from tests.sentences import says

CTRL_C, PROMPT, COLUMNS = b"\x03", b": ", 40
ME = f"local:{os.getuid()}"


@pytest.mark.parametrize("words", [["--self-approval", "critical"], ["--approver", ""], ["--requester", ""]])
def test_what_no_service_could_use_is_not_written(tmp_path: Path, words: list[str]) -> None:
    """A risk that there isn't, or up to which nobody may; a name that is nobody's."""
    refused = CliRunner().invoke(application(), ["init", "--file", str(tmp_path / "new.toml"), *words])

    assert 2 == refused.exit_code
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("platform", [[], ["telegram"], ["slack"]])
def test_a_place_that_can_not_be_written_is_one_line(tmp_path: Path, platform: list[str]) -> None:
    """Nothing but what happened, and what to do."""
    refused = CliRunner().invoke(application(), ["init", *platform, "--file", str(tmp_path / "none" / "new.toml")])

    assert (2, 1) == (refused.exit_code, len(refused.output.splitlines()))
    assert "--file" in refused.output


def test_a_single_developers_own_yes_counts_on_the_phone(tmp_path: Path) -> None:
    """With --alone, cards go to the approver's private chat, and the own yes counts there and here up to high."""
    file = tmp_path / "new.toml"
    done = CliRunner().invoke(application(), ["init", "--alone", "--file", str(file)])
    people = load(file).directory()

    assert 0 == done.exit_code
    assert says(done.output, "init.shared", limit="high")
    assert (Risk.HIGH, Risk.HIGH) == (
        people.self_approval("local", "telegram"),
        people.self_approval("local", "socket"),
    )
    assert ("telegram:7",) == replace(people, principals={ME: ("telegram:7",)}).routes_for("local", (ME,))


def test_the_folder_of_the_socket_can_be_named(tmp_path: Path) -> None:
    """Another user of this machine, who is to approve, can't enter the one of a login session."""
    file = tmp_path / "new.toml"
    done = CliRunner().invoke(application(), ["init", "--runtime", str(tmp_path / "run"), "--file", str(file)])

    assert 0 == done.exit_code
    assert tmp_path / "run" == load(file).runtime


@pytest.mark.parametrize("words", [["--approver", "local:4321"], ["--requester", "local:4321"]])
def test_with_others_nobody_is_alone(tmp_path: Path, words: list[str]) -> None:
    """Their lists would let the requester's own yes count beside them."""
    refused = CliRunner().invoke(application(), ["init", "--alone", "--file", str(tmp_path / "new.toml"), *words])

    assert 2 == refused.exit_code
    assert says(refused.output, "init.not_alone")
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "alone"),
    [
        ([], True),
        (["--approver", ME], True),
        (["--approver", "local:4321"], False),
        (["--self-approval", "high"], False),
    ],
)
def test_who_is_alone_is_told(tmp_path: Path, words: list[str], alone: bool) -> None:  # noqa: FBT001
    """Where every question would end undeliverable, for one's own yes doesn't count."""
    done = CliRunner().invoke(application(), ["init", "--file", str(tmp_path / "new.toml"), *words])

    assert 0 == done.exit_code
    assert alone == says(done.output, "init.one_person", name=ME)


@pytest.mark.parametrize("who", [ME, "telegram:42"])
def test_one_person_on_both_lists_is_told_that_nothing_can_be_approved(tmp_path: Path, who: str) -> None:
    """One's own yes doesn't count, so such a configuration needs a second person."""
    names = ["--requester", who, "--approver", who]
    done = CliRunner().invoke(application(), ["init", "--file", str(tmp_path / "new.toml"), *names])

    assert 0 == done.exit_code
    assert says(done.output, "init.one_person", name=who)


def waits(pid: int) -> bool:
    """Return whether the process sleeps, as it does while it waits for a key.

    Python shows its prompt before it begins to wait, and forgets a signal that comes between the two.
    """
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("S")


def at_a_terminal(folder: Path, *keys: bytes) -> tuple[int, str]:
    """Run `sayso init` on a narrow terminal, with one of the keys at each prompt. Return the status and the screen."""
    screen, end = pty.openpty()
    surroundings = {**os.environ, "HOME": str(folder), "COLUMNS": str(COLUMNS), "NO_COLOR": "1"}
    with os.fdopen(screen, "r+b", buffering=0) as shown:
        run = subprocess.Popen(
            [sys.executable, "-m", "bot", "init"],
            cwd=folder,
            env=surroundings | {"PYTHONPATH": str(Path(__file__).parents[2])},
            stdin=end,
            stdout=end,
            stderr=end,
            start_new_session=True,
        )
        os.close(end)
        seen = b""
        for key in keys:
            begin = len(seen)
            while not seen[begin:].endswith(PROMPT):
                seen += shown.read(4096)
            until(lambda: waits(run.pid), "the wait for a key")
            run.send_signal(signal.SIGINT) if key == CTRL_C else shown.write(key)
        try:
            while more := shown.read(4096):
                seen += more
        except OSError:  # the other end of the terminal was closed
            pass
        return run.wait(60), seen.decode().replace("\r\n", "\n")


def test_leaving_before_anything_was_written_leaves_no_file(tmp_path: Path) -> None:
    """Ctrl-C at the first prompt: 130, one sentence, and an empty folder."""
    status, screen = at_a_terminal(tmp_path, CTRL_C)

    assert 130 == status
    assert says(screen, "init.left.nothing")
    assert [] == list(tmp_path.iterdir())


def test_leaving_later_keeps_whole_settings(tmp_path: Path) -> None:
    """Ctrl-C at the second prompt: the file is whole, nobody else can read it, and no other file is left."""
    status, screen = at_a_terminal(tmp_path, b"y\r", CTRL_C)
    (file,) = tmp_path.iterdir()

    assert 130 == status
    assert says(screen, "init.left", file="sayso.toml")
    assert (0o600, (ME,)) == (stat.S_IMODE(file.stat().st_mode), tuple(load(file).approvers))


def test_on_a_narrow_terminal_lines_are_broken_between_words(tmp_path: Path) -> None:
    """A terminal itself would break them within words."""
    _, screen = at_a_terminal(tmp_path, b"y\r", CTRL_C)
    told = screen.rpartition("\n\n")[0]

    assert [] == [line for line in told.split("\n") if len(line) > COLUMNS]
