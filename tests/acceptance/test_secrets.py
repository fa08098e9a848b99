"""Secrets in the service's environment, and in what passes through it, stay there."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.acceptance.installation import Installation

#: Made up, in the formats of those who issue them.
BOT_TOKEN = "8123456789:AAF3k9sPq-Zx7Lw2Vb8NcYt5Rm0Ju4Hd6Eg"
GIT_TOKEN = "ghp_9aK2mXq7Lw4ZtRv8NcYb3Ud6Fg1Hj5Ps0EoI"
SECRETS = {
    "SAYSO_TELEGRAM__TOKEN": BOT_TOKEN,
    "GITHUB_TOKEN": GIT_TOKEN,
    "DATABASE_PASSWORD": "correct-horse-battery-staple",
}


def test_no_secret_of_the_environment_gets_anywhere(install: Callable[..., Installation]) -> None:
    """Not into the environment of a tool, a card, an answer, an error, the log, or the database."""
    service = install(environment={name: value for name, value in SECRETS.items() if not name.startswith("SAYSO_")})
    service.start()
    shown = service.say("run env", "yes", "read no-such-file", "run cat /proc/$PPID/environ | tr '\\0' '\\n'", "yes")
    shown += [service.run("show", "none").stderr, service.run("doctor").stdout, service.log]
    service.stop()
    stored = b"".join(file.read_bytes() for file in service.state.iterdir())

    assert any("SAYSO_REF=" in text for text in shown)
    assert [] == [value for value in SECRETS.values() if value in "".join(shown) or value.encode() in stored]


def test_a_known_secret_is_masked_in_every_view_and_kept_in_the_arguments(service: Installation) -> None:
    """Card, details, lists and outcome hide it; what runs is what was asked."""
    shown = service.say(f"run echo {GIT_TOKEN} > kept.txt; cat kept.txt", "details")
    short = service.waiting()[0]["short"]
    shown += [service.run("show", short).stdout, service.run("pending", "--json").stdout]
    shown += service.say(f"yes {short}")
    shown += [service.run("show", short, "--json").stdout]

    assert [GIT_TOKEN] == service.lines("kept.txt")
    assert [] == [text for text in shown if GIT_TOKEN in text]
    assert "masked" in json.loads(shown[-1])["args"]["command"]
    assert GIT_TOKEN not in service.log


def test_a_secret_in_an_error_is_masked(service: Installation) -> None:
    """A tool that chokes on a secret quotes it to nobody."""
    shown = "".join(service.say(f"read {GIT_TOKEN}", f"{GIT_TOKEN}", f"no because {GIT_TOKEN}"))

    assert GIT_TOKEN not in shown
    assert GIT_TOKEN not in service.log
