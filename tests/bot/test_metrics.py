"""What Prometheus reads: each number follows the record, and no label names a person, a tool or a text."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from bot.compose import Running
from bot.metrics import Metrics, serve_metrics
from bot.settings import MetricsSettings
from bot.surfaces import surfaces
from hitl.call import Ask, Entry, Event, Ran, Reply, ReplyKind, Result, Runs, Verb
from hitl.connections import Connections
from hitl.gate import secret_hash
from hitl.ports import Change, adding
from hitl.testing import SetClock
from tests.bot.conftest import ASKER, ME, PLACE

ROOT = Path(__file__).parents[2]
Numbers = Mapping[tuple[str, frozenset[tuple[str, str]]], float]


def ask(tool: str = "bash", runs: Runs = Runs.SERVICE, **args: str) -> Ask:
    """A command that the default policy asks about."""
    return Ask("workspace", tool, args or {"command": "echo ran >> out.txt"}, ASKER, PLACE, runs)


def numbers(text: str) -> Numbers:
    """Every sample of an answer, as Prometheus's own parser reads it."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(found: Numbers, name: str, **labels: str) -> float:
    """One sample; 0 if there is none yet."""
    return found.get((name, frozenset(labels.items())), 0.0)


class Scraped:
    """A service that counts, and its `/metrics`."""

    def __init__(self, running: Running, port: int) -> None:
        self.running = running
        self.port = port

    async def get(self, path: str = "/metrics", accept: str = "text/plain") -> tuple[int, str]:
        """Status and body of one request."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\nConnection: close\r\n\r\n".encode())
        head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
        writer.close()
        return int(head.split()[1]), body

    async def numbers(self) -> Numbers:
        """What a scrape gives."""
        status, body = await self.get()
        assert 200 == status
        return numbers(body)

    async def park(self, asked: Ask) -> str:
        """Ask, and return the ref."""
        return (await self.running.service.submit(asked)).call.ref

    async def press(self, ref: str, verb: Verb, identity: str = ME) -> None:
        """A person presses a button at the terminal."""
        await self.running.service.decide(Reply(identity, "local", PLACE, ReplyKind.BUTTON, verb, target=ref))


@pytest.fixture
async def scraped(running: Running) -> AsyncIterator[Scraped]:
    """A composed service with its metrics on a free port."""

    async def troubles() -> list[str]:
        return ["chat: away"]

    async with contextlib.AsyncExitStack() as parts:
        server = await serve_metrics(MetricsSettings(port=0), running, parts, troubles, Connections())
        yield Scraped(running, server.port)


async def test_an_approved_call_is_counted_once_at_each_step(scraped: Scraped, clock: SetClock) -> None:
    """Asked, approved where the button was, claimed, succeeded; and the times between."""
    ref = await scraped.park(ask())
    clock.advance(7)
    await scraped.press(ref, Verb.APPROVE)
    call = await scraped.running.store.get(ref)
    assert call is not None
    await scraped.running.service.ended(call)

    found = await scraped.numbers()

    assert 1 == value(found, "sayso_calls_total", verdict="approve", risk="medium", surface="local")
    assert 1 == value(found, "sayso_decisions_total", decision="approved", risk="medium", surface="local")
    assert 1 == value(found, "sayso_results_total", result="succeeded", risk="medium")
    assert 7 == value(found, "sayso_decision_seconds_sum", decision="approved")
    assert 1 == value(found, "sayso_start_seconds_count", runs="service")
    assert 0 == value(found, "sayso_open_calls", state="awaiting_confirmation")


async def test_a_claim_by_the_caller_is_timed_from_the_decision(scraped: Scraped, clock: SetClock) -> None:
    """A caller claims later than it was approved; the report that follows is counted as the result."""
    ref = await scraped.park(ask("deploy", Runs.CALLER, to="web"))
    await scraped.press(ref, Verb.APPROVE)
    clock.advance(3)
    await scraped.running.service.gate.claim(ref, ASKER, secret_hash("s"))
    await scraped.running.service.gate.finish(ref, "s", Ran(Result.FAILED))

    found = await scraped.numbers()

    assert 3 == value(found, "sayso_start_seconds_sum", runs="caller")
    assert 1 == value(found, "sayso_start_seconds_count", runs="caller")
    assert 1 == sum(number for (name, _), number in found.items() if name == "sayso_results_total")


async def test_what_the_policy_decides_takes_nobodys_time(scraped: Scraped) -> None:
    """An allowed call is counted with its decision on no surface, and not timed."""
    await scraped.running.service.submit(ask("list_files", path="."))

    found = await scraped.numbers()

    assert 1 == value(found, "sayso_decisions_total", decision="allowed", risk="low", surface="none")
    assert 0 == sum(number for (name, _), number in found.items() if name == "sayso_decision_seconds_count")


async def test_a_deadline_that_nobody_ends_shows(scraped: Scraped, clock: SetClock) -> None:
    """Overdue grows while the timers stand, and the lag of an expiry is measured from the deadline."""
    await scraped.park(ask())
    clock.advance(300 + 20)
    before = await scraped.numbers()
    await scraped.running.service.expiry.sweep()
    after = await scraped.numbers()

    assert 20 == value(before, "sayso_overdue_seconds")
    assert 1 == value(before, "sayso_open_calls", state="awaiting_confirmation")
    assert 0 == value(after, "sayso_overdue_seconds")
    assert 20 == value(after, "sayso_expiry_lag_seconds_sum")
    assert 1 == value(after, "sayso_decisions_total", decision="expired", risk="medium", surface="none")


async def test_incidents_are_there_before_they_happen(scraped: Scraped) -> None:
    """A rate over a series that appears with its first event would miss that event."""
    before = await scraped.numbers()
    entry = Entry("", Event.REFUSED_PEER, "local:666", {})
    await scraped.running.store.commit(adding(Change(entries=(entry,))))
    after = await scraped.numbers()

    key = ("sayso_incidents_total", frozenset({("event", "refused_peer")}))
    assert (0, 1) == (before[key], after[key])
    assert 1 == value(after, "sayso_troubles")
    assert not [name for name, _ in after if name.endswith("_created")]


async def test_decisions_are_there_before_the_first_of_them(scraped: Scraped, clock: SetClock) -> None:
    """The alert about requests that nobody answers compares them, and would miss the first one of each series."""
    before = await scraped.numbers()
    await scraped.park(ask())
    clock.advance(300)
    await scraped.running.service.expiry.sweep()
    ref = await scraped.park(ask(command="echo two >> out.txt"))
    await scraped.press(ref, Verb.REJECT)
    after = await scraped.numbers()
    counted = [key for key, number in after.items() if key[0] == "sayso_decisions_total" and number]
    none = frozenset({("decision", "undeliverable"), ("risk", "critical"), ("surface", "none")})

    assert 2 == len(counted)
    assert [0, 0] == [before[key] for key in counted]
    assert 0 == before["sayso_decisions_total", none]


async def test_no_label_is_anybodys_to_choose(scraped: Scraped) -> None:
    """Names of tools, people, agents and places that callers make up never become series."""
    for number in range(20):
        asked = Ask("made-up", f"tool-{number}", {}, ASKER, f"telegram:{number}", Runs.CALLER, agent=f"agent-{number}")
        with contextlib.suppress(Exception):
            await scraped.running.service.submit(asked)
        await scraped.running.service.submit(
            Ask("made-up", f"tool-{number}", {}, ASKER, PLACE, Runs.CALLER, agent=f"agent-{number}")
        )

    _, text = await scraped.get()

    assert not re.search(r"made-up|tool-\d|agent-\d|telegram:\d|local:\d", text)


def test_a_surface_that_nobody_declared_is_other(clock: SetClock) -> None:
    """The surface of a place is one of those that are declared, so a made-up place adds no series."""
    metrics = Metrics(clock, tuple(surfaces()))

    assert ["telegram", "other", "none"] == [metrics._surface(place) for place in ("telegram:1", "x:1", "")]  # noqa: SLF001


def test_a_fault_in_counting_fails_no_call(clock: SetClock, caplog: pytest.LogCaptureFixture) -> None:
    """What can't be counted is logged."""
    broken: Any = Change(entries=(None,))  # type: ignore[arg-type]

    Metrics(clock, ()).heard(broken)

    assert "metrics.failed" in caplog.text


async def test_openmetrics_is_spoken_too(scraped: Scraped) -> None:
    """Prometheus asks for it first; its parser takes what is answered."""
    await scraped.park(ask())
    status, text = await scraped.get(accept="application/openmetrics-text; version=1.0.0")

    assert 200 == status
    assert {"sayso_calls", "sayso_open_calls"} <= {one.name for one in openmetrics.text_string_to_metric_families(text)}  # type: ignore[no-untyped-call]


async def test_there_is_nothing_else_on_that_port(scraped: Scraped) -> None:
    """The API, which decides calls, isn't reachable there."""
    assert 404 == (await scraped.get("/v1/calls"))[0]


# -- the alert rules and the dashboard ----------------------------------------------------------------------------

RULES = yaml.safe_load((ROOT / "deploy" / "prometheus" / "rules.yaml").read_text())
BOARD = json.loads((ROOT / "deploy" / "grafana" / "sayso.json").read_text())
QUERIES = [
    *(rule["expr"] for group in RULES["groups"] for rule in group["rules"]),
    *(target["expr"] for panel in BOARD["panels"] for target in panel.get("targets", ())),
]


@pytest.fixture(scope="module")
def series() -> Mapping[str, frozenset[str]]:
    """Every sample that can be there, with the names of its labels."""
    metrics = Metrics(SetClock(datetime(2026, 11, 27, tzinfo=UTC)), ())
    found = {sample.name: frozenset[str]() for family in metrics.registry.collect() for sample in family.samples}
    for collector, names in metrics.registry._collector_to_names.items():  # noqa: SLF001 - the one list of all names
        labels = frozenset(getattr(collector, "_labelnames", ()))
        written = [name for name in names if not name.endswith("_created")]
        found.update({name: labels | ({"le"} if name.endswith("_bucket") else set()) for name in written})
    return found


@pytest.mark.parametrize("query", QUERIES)
def test_rules_and_dashboard_name_what_is_there(query: str, series: Mapping[str, frozenset[str]]) -> None:
    """A metric or label that nobody writes makes an alert that never fires."""
    named = set(re.findall(r"\b(?:sayso|process)_\w+", query))
    known = {label for name in named for label in series.get(name, ())}
    labels = {
        *(label for inside in re.findall(r"\{([^}]*)\}", query) for label in re.findall(r"(\w+)\s*[=!]", inside)),
        *(label for inside in re.findall(r"by\s*\(([^)]*)\)", query) for label in re.findall(r"\w+", inside)),
    }

    assert named <= set(series)
    assert labels - {"job", "instance"} <= known


def test_each_alert_says_what_to_do() -> None:
    """An alert has a severity, what is wrong, and the next step."""
    for group in RULES["groups"]:
        for rule in group["rules"]:
            assert rule["labels"]["severity"] in {"critical", "warning"}
            assert rule["annotations"].keys() >= {"summary", "description"}


def test_each_number_is_on_the_dashboard_or_in_a_rule(series: Mapping[str, frozenset[str]]) -> None:
    """What is measured is also looked at."""
    looked = " ".join(QUERIES)
    ours = {re.sub(r"_(total|sum|count|bucket)$", "", name) for name in series if name.startswith("sayso_")}

    assert {name for name in ours if name not in looked} == set()


def test_panels_do_not_overlap() -> None:
    """Each panel has a place of its own on the grid of 24 columns."""
    taken: set[tuple[int, int]] = set()
    for panel in BOARD["panels"]:
        at = panel["gridPos"]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken
        assert at["x"] + at["w"] <= 24
        taken |= cells


def test_each_number_is_in_the_documentation(series: Mapping[str, frozenset[str]]) -> None:
    """The page about observing the service names every metric that Sayso has, and none that it hasn't."""
    page = (ROOT / "docs" / "how-to" / "observe.md").read_text()
    ours = {name for name in series if name.startswith("sayso_")}

    assert set(re.findall(r"`(sayso_\w+)", page)) <= ours
    assert {re.sub(r"_(total|sum|count|bucket)$", "", name) for name in ours} <= {
        re.sub(r"_total$", "", name) for name in re.findall(r"`(sayso_\w+)", page)
    }
