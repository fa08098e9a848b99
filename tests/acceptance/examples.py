"""The folders of `examples/`, copied and run as processes, on the service's machine or as a CI runner runs them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.acceptance.installation import SAYSO, Installation
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
#: The shortest time that people can have.
SHORTEST_S = 5


@dataclass(frozen=True)
class Example:
    """A folder of `examples/`: how it is run, and its exit status after a rejection and after silence."""

    name: str
    line: str = ""
    rejected: int = 10
    expired: int = 11
    #: The file that the gated work writes; None if the work removes `report.csv`.
    writes: str | None = "deployed.txt"

    def __str__(self) -> str:
        """Return the name of the folder."""
        return self.name

    def worked(self, folder: Path) -> bool:
        """Return whether the gated work was done, in a copy of the folder."""
        return (folder / self.writes).exists() if self.writes else not (folder / "report.csv").exists()


SHELL, CRON = Example("shell", "./release.sh staging"), Example("cron", "./nightly.sh", 0, 0, "pruned.txt")
GITHUB, GITLAB = Example("github-actions"), Example("gitlab")
MAKE = Example("make", "make deploy STAGE=staging", 2, 2)
PYTHON = Example("python", "python tidy.py report.csv", 10, 10, None)
ALL = (SHELL, MAKE, CRON, GITHUB, GITLAB, PYTHON)


@dataclass(frozen=True)
class Runner:
    """A machine that runs examples.

    `token` is that of its CI jobs. `door` gives their address of the service, and the file of the authority that signed
    its certificate.
    """

    root: Path
    service: Installation
    token: str
    door: Callable[[], tuple[str, Path]]

    def copy(self, example: Example) -> Path:
        """Copy the folder, with files to remove and a home whose client.toml names the service."""
        folder = self.root / example.name
        shutil.copytree(EXAMPLES / example.name, folder)
        (folder / "report.csv").write_text("1\n")
        (folder / "old").mkdir()
        kept = self.root / "home" / ".config" / "sayso"
        kept.mkdir(parents=True, exist_ok=True)
        (kept / "client.toml").write_text(f'socket = "{self.service.socket}"\n')
        (kept / "client.toml").chmod(0o600)
        return folder

    def start(self, example: Example, folder: Path, patience_s: int = 60) -> subprocess.Popen[str]:
        """Start the example in its copy, and give people that many seconds."""
        typed, told = example.line, {"PATIENCE": f"{patience_s}s", "PATIENCE_S": str(patience_s)}
        if example in {GITHUB, GITLAB}:
            url, ca_file = self.door()
            if example is GITHUB:
                typed = self._workflow(url)
                told = {"RUNNER_TEMP": str(self.root), **_GITHUB, "GITHUB_RUN_ID": self.root.name}
            else:
                typed = "\n".join(gitlab_lines())
                told = {**_GITLAB, "CI_JOB_ID": self.root.name, **self._variables(url)}
            typed = typed.replace("sayso-ask deploy", f"sayso-ask deploy --ca-file {ca_file}")
        return subprocess.Popen(
            ["bash", "-eo", "pipefail", "-c", re.sub(r"--timeout \d+m", f"--timeout {patience_s}s", typed)],
            cwd=folder,
            env={**self._environment(), **told},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _workflow(self, url: str) -> str:
        """The steps of GitHub's job: each in a shell of its own, with the environment that the step names."""
        known = {"secrets.SAYSO_TOKEN": self.token.strip(), "vars.SAYSO_URL": url}
        lines = []
        for step in github_steps():
            told = {name: known[value.strip("${ }")] for name, value in step.get("env", {}).items()}
            words = ["env", *(f"{name}={value}" for name, value in told.items()), "bash", "-e", "-c", step["run"]]
            lines.append(shlex.join(words))
        return "\n".join(lines)

    def _variables(self, url: str) -> dict[str, str]:
        """The variables of GitLab's job. A variable of the type File is the path of a file that everybody can read."""
        token = self.root / "token"
        token.write_text(self.token)
        token.chmod(0o666)
        return {"SAYSO_TOKEN": str(token), "SAYSO_URL": url}

    def _environment(self) -> dict[str, str]:
        """The programs of this installation, with a `pip` that installs nothing, and a `date` for each test alone."""
        tools = self.root / "bin"
        if not tools.exists():
            tools.mkdir()
            _program(tools / "pip", "exit 0")
            _program(tools / "date", f"echo {self.root.name}")  # The runs of one day share their answer.
        path = os.pathsep.join([str(tools), str(SAYSO.parent), os.environ["PATH"]])
        return self.service.surroundings(PATH=path, HOME=str(self.root / "home"))


#: What the runners set.
_GITHUB = {
    "GITHUB_ACTOR": "ada",
    "GITHUB_REF_NAME": "v1.4",
    "GITHUB_REPOSITORY": "ada/site",
    "GITHUB_RUN_ATTEMPT": "1",
}
_GITLAB = {"CI_COMMIT_TAG": "v1.4", "CI_PROJECT_PATH": "ada/site", "GITLAB_USER_LOGIN": "ada"}


def github_steps() -> list[Mapping[str, Any]]:
    """The steps of GitHub's job that run something."""
    steps = _read(GITHUB, ".github/workflows/deploy.yml")["jobs"]["deploy"]["steps"]
    return [step for step in steps if "run" in step]


def gitlab_lines() -> list[str]:
    """The lines of GitLab's job, which run in one shell."""
    job = _read(GITLAB, ".gitlab-ci.yml")["deploy"]
    return [*job["before_script"], *job["script"]]


def ends(process: subprocess.Popen[str]) -> tuple[int, str]:
    """The exit status of an example, and everything that it printed."""
    out, _ = process.communicate(timeout=PATIENCE_S)
    return process.returncode, out


def _read(example: Example, name: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((EXAMPLES / example.name / name).read_text())
    return document


def _program(file: Path, line: str) -> None:
    file.write_text(f"#!/bin/sh\n{line}\n")
    file.chmod(0o755)
