"""docs/how-to/policy.md, done as written, in an empty home folder."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.settings import load
from tests.acceptance.installation import ALONE, SAYSO, until
from tests.upgrades.place import Timed

pytestmark = pytest.mark.long

PAGE = (Path(__file__).parents[2] / "docs/how-to/policy.md").read_text()
#: The page without its part about the record, and that part.
BEGINNING, _, RECORD = PAGE.partition("## 7. ")
#: What differs from run to run: short refs, ids of rules, and the folder that the page calls home.
CHANGING = (
    (re.compile(r"\b(?=[0-9A-Z]*[0-9])[0-9A-HJKMNP-TV-Z]{6}\b"), "REF"),
    (re.compile(r"\bapproved-[0-9a-f]{8}\b"), "RULE"),
    (re.compile(r"^#.*(?:/\.config|with rules).*$", re.MULTILINE), "# ORIGIN"),
    (re.compile(r"such as .*"), "such as REFS"),
)


def blocks(text: str) -> list[tuple[str, str]]:
    """The blocks of code, each with its kind."""
    return re.findall(r"```(yaml|console|toml)\n(.*?)```", text, re.DOTALL)


def steps(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block, and what the page says that it prints."""
    for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, printed = step.partition("\n")
        yield command, printed


def settled(text: str) -> str:
    """The text with what changes replaced."""
    for pattern, instead in CHANGING:
        text = pattern.sub(instead, text)
    return text


@dataclass
class Reader:
    """Somebody who follows the page in a home folder."""

    home: Path
    #: The blocks for sayso.toml, so far.
    settings: str = ""
    #: More environment, such as the service's settings.
    more: dict[str, str] = field(default_factory=dict)

    def follow(self, text: str) -> None:
        """Save each file, type each command, and compare each line that a terminal shows."""
        for kind, block in blocks(text):
            if kind == "yaml":
                name = "policy" if block.startswith("version") else "expectations"
                (self.home / f"{name}.yaml").write_text(block)
            elif kind == "toml":
                self.settings += block
            for command, printed in steps(block) if kind == "console" else ():
                done = self.run("bash", "-euc", f"umask 022; {command}")
                assert (settled(printed), 0) == (settled(done.stdout + done.stderr), done.returncode), command

    def run(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        """A command to its end."""
        path = f"{SAYSO.parent}:{os.environ['PATH']}"
        surroundings = {"PATH": path, "HOME": str(self.home), "LANG": "C.UTF-8", **self.more}
        return subprocess.run(
            command, cwd=self.home, env=surroundings, capture_output=True, text=True, timeout=30, check=False
        )


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    """A reader who has followed the page up to the record."""
    reader = Reader(tmp_path)
    reader.follow(BEGINNING)
    return reader


def test_the_page_does_what_it_says(reader: Reader) -> None:
    """Every file saved, every command typed, and every line of output as printed there; then the settings load."""
    (reader.home / "sayso.toml").write_text(reader.settings)
    checked = reader.run(SAYSO, "policy", "check")

    assert "team" == load(reader.home / "sayso.toml").policy_name()
    assert f"{reader.home}/.config/sayso/policies/team.yaml: no problems\n" == checked.stdout


@pytest.fixture
def kept(reader: Reader) -> Iterator[Timed]:
    """A service of yesterday that asked six times, with that policy; five requests were the same, and approved."""
    policy = reader.settings.partition("stage =")[0]
    service = Timed(reader.home, f"{policy}{ALONE}")
    reader.more = {"SAYSO_CONFIG": str(service.config)}
    service.at = datetime.now(UTC) - timedelta(days=1)
    service.start()
    same = [
        service.call("ask", tool="deploy", by_policy=True, args={"argv": ["make", "lint"]})["call"] for _ in range(5)
    ]
    service.call("ask", tool="deploy", by_policy=True, args={"argv": ["make", "ship"]})
    service.stop()
    service.at += timedelta(seconds=30)
    service.start()
    for call in same:
        service.call("decide", target=call["short"], verb="approve")
    service.stop()
    service.at = None
    service.start()
    yield service
    service.close()


def test_what_was_always_approved_passes_once_the_suggested_policy_is_in_place(reader: Reader, kept: Timed) -> None:
    """Suggest, check, backtest, test, put in place and reload, as the page says; then the request isn't asked again."""
    reader.follow(RECORD)
    asked, other = (
        kept.call("ask", tool="deploy", by_policy=True, args={"argv": ["make", target]})["call"]["status"]
        for target in ("lint", "ship")
    )
    again = reader.run(SAYSO, "policy", "suggest")

    assert ("allowed", "pending") == (asked, other)
    assert ("", 0) == (again.stdout, again.returncode)
    until(lambda: "policy.loaded" in kept.log, "the policy in the log")
