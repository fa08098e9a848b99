"""`sayso init`: what it refuses before it writes, and what it tells whoever is alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli.main import application
from bot.settings import load
from hitl.call import Risk
from hitl.records import replace
from tests.sentences import says

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
