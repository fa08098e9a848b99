"""docs/how-to/policy.md, done as written, in an empty home folder."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from bot.settings import load
from tests.acceptance.installation import SAYSO

PAGE = (Path(__file__).parents[2] / "docs/how-to/policy.md").read_text()
BLOCKS = re.findall(r"```(yaml|console|toml)\n(.*?)```", PAGE, re.DOTALL)


def steps(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block, and what the page says that it prints."""
    for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, printed = step.partition("\n")
        yield command, printed


def test_the_page_does_what_it_says(tmp_path: Path) -> None:
    """Every file saved, every command typed, and every line of output as printed there; then the settings load."""
    settings = ""
    surroundings = {"PATH": f"{SAYSO.parent}:{os.environ['PATH']}", "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    for kind, block in BLOCKS:
        if kind == "yaml":
            name = "policy" if block.startswith("version") else "expectations"
            (tmp_path / f"{name}.yaml").write_text(block)
        elif kind == "toml":
            settings += block
        for command, printed in steps(block) if kind == "console" else ():
            done = subprocess.run(
                ["bash", "-euc", f"umask 022; {command}"],
                cwd=tmp_path,
                env=surroundings,
                capture_output=True,
                text=True,
                timeout=30,
                check=True,
            )
            assert (printed, "") == (done.stdout, done.stderr), command
    (tmp_path / "sayso.toml").write_text(settings)
    checked = subprocess.run(
        [SAYSO, "policy", "check"], cwd=tmp_path, env=surroundings, capture_output=True, text=True, check=False
    )

    assert "team" == load(tmp_path / "sayso.toml").policy_name()
    assert f"{tmp_path}/.config/sayso/policies/team.yaml: no problems\n" == checked.stdout
