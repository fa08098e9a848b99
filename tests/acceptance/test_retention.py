"""Retention as an operator sees it: a service with ages set, and every command that reads the record."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.acceptance.installation import ALONE, until
from tests.upgrades.place import Timed

pytestmark = pytest.mark.long

#: Stands in the arguments, and in the output.
CANARY = "the-launch-code"
SETTINGS = ALONE + '\n[retention]\narguments = "30d"\ncalls = "365d"\n'


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Timed]:
    """A service whose database has one request of 2 years ago, one of 60 days ago, and one of now, after a pass."""
    service = Timed(tmp_path_factory.mktemp("kept"), SETTINGS)
    for days, command in ((730, f"run echo {CANARY} old"), (60, f"run echo {CANARY} recent")):
        service.at = datetime.now(UTC) - timedelta(days=days)
        service.start(SAYSO_RETENTION__ARGUMENTS="1000d", SAYSO_RETENTION__CALLS="1000d")
        service.say(command, "yes")
        assert service.stop() == 0
    service.at = None
    service.start()
    until(lambda: "retention.done" in service.log, "a pass of retention")
    service.say("run echo whole", "yes")
    yield service
    service.close()


def requests(service: Timed) -> list[dict[str, object]]:
    """The requests, the newest first, as `sayso history --json` prints them."""
    found: list[dict[str, object]] = json.loads(service.run("history", "--json").stdout)
    return found


def test_the_record_verifies_and_says_how_much_is_archived(kept: Timed) -> None:
    """Exit 0, no flaw, and the counts."""
    done = kept.run("audit", "verify", "--json")
    told = json.loads(done.stdout)

    assert (0, [], 3, 1, 2) == (done.returncode, told["flaws"], told["calls"], told["archived"], told["erased"])
    assert "1 " in kept.run("audit", "verify").stdout.splitlines()[1]


def test_history_says_what_was_erased_and_archived(kept: Timed) -> None:
    """All three are listed, with what became of them."""
    whole, erased, archived = requests(kept)
    lines = kept.run("history").stdout.splitlines()

    assert [False, False, True] == [each["archived"] for each in (whole, erased, archived)]
    assert [True, False, False] == [each["args_erased_at"] is None for each in (whole, erased, archived)]
    assert [False, True, True] == [f"{datetime.now(UTC):%Y-%m}" in line[20:] for line in lines]


def test_show_says_when_instead_of_failing(kept: Timed) -> None:
    """The details have the date and the record, and no flaw."""
    _, erased, archived = requests(kept)
    for each in (erased, archived):
        done = kept.run("show", str(each["short"]))

        assert (0, "") == (done.returncode, done.stderr)
        assert str(each["args_erased_at"])[:10] in done.stdout
        assert "erased" in done.stdout


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_export_says_when(kept: Timed, form: str) -> None:
    """Each line of an erased request has the date, in both formats, and no argument."""
    done = kept.run("audit", "export", "--format", form)
    (_, erased, _) = requests(kept)

    assert 0 == done.returncode
    assert str(erased["args_erased_at"]) in done.stdout


def test_nothing_that_a_command_prints_tells_of_the_arguments(kept: Timed) -> None:
    """Neither arguments nor output are left in the record."""
    commands = ("history", "history --json", "audit query", "audit export", "stats", "audit export --format csv")
    printed = "".join(kept.run(*command.split()).stdout for command in commands)

    assert CANARY not in printed


def test_arguments_that_somebody_empties_are_named(tmp_path: Path) -> None:
    """The same bytes as after an erasure, by somebody without the keys: exit 1, and the request is named."""
    service = Timed(tmp_path, ALONE)
    service.start()
    service.say("run echo whole", "yes")
    service.tamper("update calls set args = x'7b7d', salt = null, erased_at = 1, note = '', output = null")
    done = service.run("audit", "verify", "--json")
    service.close()

    assert 1 == done.returncode
    assert "flaw.row" in [flaw["what"] for flaw in json.loads(done.stdout)["flaws"]]
