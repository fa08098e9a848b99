"""`sayso audit query`, `audit export` and `stats`: what happened is found, told whole, and counted."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.acceptance.installation import ME, Installation
from tests.acceptance.making import Maker

pytestmark = pytest.mark.forked

#: A token in a known format, which is masked wherever a call is shown.
TOKEN = "ghp_" + "a1B2" * 9
#: A reason that a spreadsheet would take for a formula.
FORMULA = "=HYPERLINK(1)"


@pytest.fixture(scope="module")
def worked(maker: Maker) -> Iterator[Installation]:
    """A service, stopped, that was asked for three calls: one was rejected, one withdrawn, and one is pending."""
    with maker.batch(forked=True) as make:
        made = make()
        made.start()
        rejected = asked(made, ["rm", "-r", "build"])
        made.call("decide", target=rejected, verb="reject", reason=FORMULA)
        made.call("withdraw", target=asked(made, ["curl", TOKEN]))
        asked(made, ["make"])
        made.stop()
        yield made


def asked(service: Installation, argv: list[str]) -> str:
    """The ref of a new call."""
    ref: str = service.call("ask", tool="deploy", args={"argv": argv})["call"]["ref"]
    return ref


def queried(service: Installation, *options: str) -> list[dict[str, Any]]:
    """What `audit query` prints."""
    done = service.run("audit", "query", "--json", *options)
    assert 0 == done.returncode, done.stderr
    lines: list[dict[str, Any]] = json.loads(done.stdout)
    return lines


def test_a_decision_is_told_with_what_it_is_about(worked: Installation) -> None:
    """The fields of the harombe design's log entry are there under its names, beside ours."""
    (line,) = queried(worked, "--event-type", "hitl_decision", "--status", "rejected")

    assert ("hitl_decision", "deny", "rejected") == (line["event_type"], line["decision"], line["event"])
    assert {"tool_name": "deploy", "params": {"argv": ["rm", "-r", "build"]}} == line["operation"]
    assert (FORMULA, 300, []) == (line["reason"], line["timeout_seconds"], line["flaws"])
    assert line["correlation_id"]
    assert line["digest"]
    assert line["hash"]


def test_the_newest_lines_come_first(worked: Installation) -> None:
    """A limit keeps the newest."""
    every = queried(worked)

    assert every[:2] == queried(worked, "--limit", "2")
    assert sorted((line["timestamp"] for line in every), reverse=True) == [line["timestamp"] for line in every]


@pytest.mark.parametrize(
    ("options", "events"),
    [
        (("--event", "withdrawn"), ["withdrawn"]),
        (("--status", "pending", "--event", "asked"), ["asked"]),
        (("--tool", "deploy", "--event", "rejected", "--event", "withdrawn"), ["withdrawn", "rejected"]),
        (("--tool", "bash"), []),
        (("--risk", "critical"), []),
        (("--person", "local:1"), []),
        (("--person", ME, "--event", "rejected"), ["rejected"]),
        (("--surface", "telegram"), []),
        (("--text", "HYPERLINK"), ["rejected"]),
        (("--text", TOKEN), []),
        (("--since", "2h", "--until", "1h"), []),
        (("--since", "2000-01-01", "--event", "rejected"), ["rejected"]),
        (("--since", "yesterday", "--event", "rejected"), ["rejected"]),
        (("--until", "yesterday"), []),
    ],
    ids=lambda value: " ".join(value) or "nothing",
)
def test_only_what_is_asked_for_is_told(worked: Installation, options: tuple[str, ...], events: list[str]) -> None:
    """Each kind of option narrows; the same option twice widens. A masked secret can't be searched for."""
    assert events == [line["event"] for line in queried(worked, *options)]


@pytest.mark.parametrize("option", [("--event", "made-up"), ("--since", "soon"), ("--risk", "none")], ids=" ".join)
def test_a_value_that_nothing_has_is_refused(worked: Installation, option: tuple[str, str]) -> None:
    """A misspelt filter would otherwise look like an empty record."""
    done = worked.run("audit", "query", *option)

    assert (2, "") == (done.returncode, done.stdout)
    assert option[1] in done.stderr


def test_the_export_is_the_whole_record_in_its_order(worked: Installation) -> None:
    """One JSON object a line, oldest first, without secrets."""
    done = worked.run("audit", "export")
    lines = [json.loads(line) for line in done.stdout.splitlines()]

    assert sorted(line["timestamp"] for line in lines) == [line["timestamp"] for line in lines]
    assert ["asked", "rejected", "asked", "withdrawn", "asked"] == [
        line["event"] for line in lines if line["event"] in {"asked", "rejected", "withdrawn"}
    ]
    assert TOKEN not in done.stdout


def test_a_query_and_an_export_have_the_same_columns(worked: Installation) -> None:
    """With the digests of the policies that judged the request, which a report about a policy needs."""
    words = ("--event", "rejected")
    (line,) = queried(worked, *words)
    (queried_row,), (exported_row,) = (
        csv.DictReader(io.StringIO(worked.run("audit", *form, *words).stdout))
        for form in (("query", "--csv"), ("export", "--format", "csv"))
    )

    assert queried_row == exported_row
    assert line["policies"] == queried_row["policies"].split()
    assert line["policies"]
    assert 2 == worked.run("audit", "query", "--csv", "--json").returncode


def test_a_cell_of_csv_is_never_a_formula(worked: Installation) -> None:
    """People and agents write some of the cells, and a spreadsheet would run them."""
    done = worked.run("audit", "export", "--format", "csv", "--event", "rejected")
    (row,) = csv.DictReader(io.StringIO(done.stdout))

    assert ("'" + FORMULA, "deploy") == (row["reason"], row["tool"])


def test_requests_are_counted_by_what_they_came_to(worked: Installation) -> None:
    """In all and by tool; a rejection, however quick, is not hasty."""
    done = worked.run("stats", "--json")
    told = json.loads(done.stdout)

    assert (3, {"rejected": 1, "withdrawn": 1}, 0) == (told["requests"], told["decisions"], told["hasty"])
    assert 3 == told["by_tool"]["deploy"]["requests"]
    assert {"rejected": 0.3333, "withdrawn": 0.3333} == told["rates"]
    assert {ME: 1} == {name: tally["requests"] for name, tally in told["by_approver"].items()}


def test_what_was_changed_is_told_with_a_warning(install: Callable[..., Installation]) -> None:
    """Each line of a changed request says so, and a sentence on stderr names it."""
    service = install()
    service.start()
    ref = asked(service, ["make"])
    service.tamper("UPDATE calls SET args = x'7b7d' WHERE ref = ?", ref)
    (line,) = queried(service, "--event", "asked")
    told = service.run("audit", "query", "--event", "asked")

    assert ["flaw.row"] == line["flaws"]
    assert line["short"] in told.stderr


def test_people_read_a_line_for_each_event(worked: Installation) -> None:
    """Without --json; with no line that fits, nothing is printed and stderr says so."""
    found = worked.run("audit", "query", "--event", "rejected")
    nothing = worked.run("audit", "query", "--tool", "bash")
    counted = worked.run("stats")

    assert (1, 0) == (len(found.stdout.splitlines()), found.returncode)
    assert ("", 0) == (nothing.stdout, nothing.returncode)
    assert nothing.stderr
    assert {"deploy", "(33.3"} <= set(counted.stdout.replace(":", "").split())


def test_a_policy_is_tried_on_the_record(worked: Installation) -> None:
    """What it would have changed is told with how people decided; nothing is changed."""
    tried = worked.root / "tried.yaml"
    tried.write_text("version: 1\ndefault_action: deny\n")
    done = worked.run("policy", "backtest", str(tried), "--json")
    told = json.loads(done.stdout)
    (shift,) = told["shifts"]

    assert (3, 3, "approve", "deny") == (told["judged"], shift["count"], shift["before"], shift["after"])
    assert {"rejected": 1, "withdrawn": 1} == shift["decisions"]


def test_nothing_is_suggested_where_nothing_was_always_approved(worked: Installation) -> None:
    """An empty answer says why on stderr."""
    done = worked.run("policy", "suggest")

    assert (0, "") == (done.returncode, done.stdout)
    assert done.stderr
