"""docs/how-to of coding agents: what they tell to type works, with a stand-in for the host, which only names itself."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sayso_client.hooks.installing import MARK, module
from tests.acceptance.installation import SAYSO, Installation
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.long

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_a_page_installs_checks_and_takes_out_a_hook(install: Callable[..., Installation], host: str) -> None:
    """Its lines as they stand there, but for the question that a terminal is asked."""
    service = install()
    service.start()
    lines = re.findall(r"^(?:sayso (?:init|doctor).*)$", (HOW_TO / f"{host}.md").read_text(), re.MULTILINE)
    assert [f"sayso init {host} --config sayso.toml", "sayso doctor", f"sayso init {host} --remove"] == lines
    programs = service.root / "bin"
    programs.mkdir()
    program = programs / module(host).PROGRAM
    program.write_text(f"#!/bin/sh\necho {'.'.join(map(str, module(host).TRIED))}\n")
    program.chmod(0o755)
    environment = service.surroundings(PATH=f"{programs}:{SAYSO.parent}:{os.environ['PATH']}")
    del environment["SAYSO_CONFIG"]

    def typed(line: str) -> str:
        asks = line.startswith("sayso init")
        done = subprocess.run(
            ["sh", "-c", line + " --yes" * asks],
            env=environment,
            cwd=service.config.parent,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=asks,
        )
        return done.stdout

    installing, checking, removing = lines
    typed(installing)
    assert MARK in (service.root / module(host).FILE).read_text()
    assert f"✔ hook {host}" in typed(checking)
    typed(removing)
    assert not (service.root / module(host).FILE).exists()
