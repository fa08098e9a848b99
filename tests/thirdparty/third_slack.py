"""minutehand's Slack as a process of its own, in the environment that `make thirdparty` makes for it."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

_HERE = Path(__file__).parent
_PYTHON = _HERE.parents[1] / ".venv-slack-server" / "bin" / "python"
SECRET = "a-signing-secret"

needed = pytest.mark.skipif(
    not _PYTHON.exists(),
    reason="minutehand's Slack needs Python 3.12 or later, and none was found: make thirdparty PYTHON312=...",
)


@dataclass(frozen=True)
class Minutehand:
    """A running one: where, and the ids of what is in its workspace. `people` are known by name here."""

    port: int
    team: str
    bot: str
    room: str
    people: Mapping[str, str]

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def does(self, person: str, verb: str, **what: Any) -> dict[str, Any]:
        """Something that a person does, delivered; fails where the app takes it badly."""
        told = self.attempts(person, verb, **what)

        assert "failed" not in told, told
        return told

    def attempts(self, person: str, verb: str, **what: Any) -> dict[str, Any]:
        """The same, where the app may take it badly: then with minutehand's words under `failed`."""
        body = json.dumps({"person": person, **what}).encode()
        url = f"http://127.0.0.1:{self.port}/people/{verb}"
        request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - loopback
                return dict(json.load(answer))
        except urllib.error.HTTPError as refused:
            with refused:
                return dict(json.load(refused))


@contextmanager
def running(folder: Path, events: str, root: str = "http://127.0.0.1:9") -> Iterator[Minutehand]:
    """It, its files in that folder, its events sent to an address or to a `socket`, itself reached at `root`."""
    command: list[str | Path] = [_PYTHON, _HERE / "slack_server.py", folder, events, root, SECRET]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, env=environment, cwd=folder)
    with process:
        try:
            assert process.stdout is not None
            first = process.stdout.readline()

            assert first, (folder / "log").read_text()
            yield Minutehand(**json.loads(first))
        finally:
            process.kill()
