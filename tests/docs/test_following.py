"""The pages of the phone, followed after `sayso init`, whichever answer it got."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli.main import application
from bot.doctor.checks import run_checks
from bot.settings import load
from hitl.platforms import Health
from tests.acceptance.page import Page

#: A block of settings, with the paragraph before it.
_BLOCK = re.compile(r"([^\n]+(?:\n[^\n]+)*)\n\n```toml\n(.*?)```", re.DOTALL)
SECTIONS = {"telegram": "3. A configuration", "slack": "2. A configuration"}


def lines_at_the_top(platform: str) -> list[tuple[str, str]]:
    """The page's lines for the top of `sayso.toml`, each with the paragraph that says where it goes."""
    text = Page(f"{platform}.md").text.partition(f"## {SECTIONS[platform]}\n")[2].partition("\n## ")[0]
    tops = [(said, re.split(r"^\[", block, flags=re.MULTILINE)[0]) for said, block in _BLOCK.findall(text)]
    return [(said, line) for said, top in tops for line in top.splitlines() if line]


@pytest.mark.parametrize("answer", ["--alone", "--not-alone"])
@pytest.mark.parametrize("platform", list(SECTIONS))
def test_a_page_can_be_followed_after_init(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, answer: str
) -> None:
    """The page says of each line that `sayso init` may have written it, and with all of its lines the settings load."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "sayso.toml"
    for words in (["init", answer], ["init", platform]):
        assert 0 == CliRunner().invoke(application(), words).exit_code
    lines = lines_at_the_top(platform)
    for said, line in lines:
        key, text = line.partition(" = ")[0], file.read_text()
        if key in tomllib.loads(text):
            assert "`sayso init`" in said
            text = re.sub(rf"^{key} = .*\n", "", text, flags=re.MULTILINE)
        file.write_text(f"{line}\n{text}")
    load(file)

    assert {"requesters", "approvers", "routes"} == {line.partition(" = ")[0] for _, line in lines}


def test_two_users_leave_doctor_nothing_to_say_about_people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the page's settings, the requester isn't the service's user, and every listed user reaches the socket."""
    monkeypatch.chdir(tmp_path)
    (init,) = re.findall(r"^sayso (init .+)$", Page("install.md").text, re.MULTILINE)
    words = init.replace("local:1000", f"local:{os.getuid()}").split()
    assert 0 == CliRunner().invoke(application(), [*words, "--state", str(tmp_path / "state")]).exit_code
    file = tmp_path / "sayso.toml"
    found = {check.name: check.state for check in run_checks(load(file), file)}

    assert not {"separation", "second person", "socket"} & set(found)
    assert Health.GREEN is found["requests from local"]
