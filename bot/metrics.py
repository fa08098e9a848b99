"""Metrics for Prometheus: calls, decisions, runs, durations, open calls, unsent messages, events set aside.

Counters and durations are updated after this process has committed lines to the audit record. Gauges are read from the
database at each scrape. No label holds a person, a tool, a place or a text, so the number of time series is limited.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from typing import TYPE_CHECKING

from bot.database import surveyed
from bot.errors import SettingsError
from bot.surfaces import surfaces
from bot.wording import say
from hitl.call import Decision, Event, Result, Risk, State
from hitl.errors import Unavailable
from hitl.proof.chain import DECIDED

try:
    from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
    from prometheus_client.exposition import choose_encoder
    from prometheus_client.process_collector import ProcessCollector
except ModuleNotFoundError as error:
    raise SettingsError(
        say("setting.extra.or_remove", setting="metrics.port", module=error.name, extra="metrics")
    ) from error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from contextlib import AsyncExitStack
    from datetime import datetime

    from starlette.requests import Request

    from adapters.http.listeners import Server
    from bot.compose import Running
    from bot.settings import MetricsSettings
    from hitl.call import Call, Entry
    from hitl.connections import Connections
    from hitl.ports import Change, Clock, Survey

_log = logging.getLogger(__name__)
#: Buckets for the seconds until a decision. People take seconds to days (the longest timeout is 7 days).
_DECIDING_S = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 21600, 86400, 604800)
#: Buckets for the seconds until a tool starts. A tool that the service runs starts within milliseconds; a tool that the
#: caller runs may take the whole claim window.
_STARTING_S = (0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300)
_LATE_S = (0.005, 0.02, 0.1, 0.5, 1, 5, 30, 60)
#: Recorded events that an operator should look into if their number rises.
_INCIDENTS = (
    *(Event.REFUSED_PEER, Event.BARRED, Event.FORGED, Event.TAMPERED, Event.LATE, Event.UNCLEAR, Event.NOT_SHOWN),
    *(Event.ROLLED_BACK, Event.POLICY_REFUSED),
)
#: The alert SaysoNobodyAnswers compares these two groups: decisions that nobody made, and decisions that people made.
_UNANSWERED = (Decision.EXPIRED, Decision.UNDELIVERABLE)
_ANSWERED = (Decision.APPROVED, Decision.REJECTED)
_CLAIMS = frozenset({Event.CLAIMED, Event.RELEASED})
#: The value of the label `surface` for decisions that were made on no surface, such as decisions of the policy.
_NOWHERE = "none"


class Metrics:
    """The metrics of this process.

    The caller must make the method `heard` follow the store (`hitl.ports.Changes`), so that each change is counted.
    """

    def __init__(self, clock: Clock, known: Sequence[str]) -> None:
        """`known` are the names of the surfaces. In labels, any other surface is named `other`."""
        # The series have no creation times, because these would only repeat the start time of the process.
        disable_created_metrics()  # type: ignore[no-untyped-call] # prometheus_client has no types for it
        self.registry = CollectorRegistry()
        self._clock = clock
        self._surfaces = frozenset(known)
        here = self.registry
        self._asked = Counter(
            "sayso_calls", "New calls, by the policy's verdict.", ("verdict", "risk", "surface"), registry=here
        )
        self._decided = Counter(
            "sayso_decisions",
            "Decisions, by the surface on which each was made.",
            ("decision", "risk", "surface"),
            registry=here,
        )
        self._ended = Counter(
            "sayso_results",
            "Results of runs. A late report counts as another result.",
            ("result", "risk"),
            registry=here,
        )
        self._incidents = Counter(
            "sayso_incidents", "Events that an operator should look at.", ("event",), registry=here
        )
        self._deciding = Histogram(
            "sayso_decision_seconds",
            "Time from the request to its decision.",
            ("decision",),
            buckets=_DECIDING_S,
            registry=here,
        )
        self._starting = Histogram(
            "sayso_start_seconds", "Time from the decision to the claim.", ("runs",), buckets=_STARTING_S, registry=here
        )
        self._late = Histogram(
            "sayso_expiry_lag_seconds", "Time from a deadline to its expiry.", buckets=_LATE_S, registry=here
        )
        self._open = Gauge("sayso_open_calls", "Calls that have not ended.", ("state",), registry=here)
        self._overdue = Gauge("sayso_overdue_seconds", "Age of the oldest deadline that passed.", registry=here)
        self._unsent = Gauge("sayso_outbox_messages", "Messages that are not sent yet.", registry=here)
        self._outbox = Gauge(
            "sayso_outbox_age_seconds", "Age of the oldest card or outcome that is not sent yet.", registry=here
        )
        self._aside = Gauge("sayso_inbox_set_aside", "Events that failed five times.", registry=here)
        self._troubles = Gauge("sayso_troubles", "Troubles that /readyz reports.", registry=here)
        ProcessCollector(registry=here)
        # Create each series with the value 0. Prometheus sees no increase in a series that begins with 1, so an alert
        # would miss the first event.
        for event in _INCIDENTS:
            self._incidents.labels(event.value)
        for result, risk in itertools.product(Result, Risk):
            self._ended.labels(result.value, risk.value)
        for decision, risk in itertools.product(_UNANSWERED, Risk):
            self._decided.labels(decision.value, risk.value, _NOWHERE)
        for decision, risk, surface in itertools.product(_ANSWERED, Risk, known):
            self._decided.labels(decision.value, risk.value, surface)

    def heard(self, change: Change) -> None:
        """Count a committed change. Never raises: a metric must not make a call fail."""
        try:
            for entry in change.entries:
                self._count(entry, change.call)
        except Exception:  # noqa: BLE001 - a metric must not make a call fail
            _log.exception("metrics.failed")

    def _count(self, entry: Entry, call: Call | None) -> None:
        if entry.event in _INCIDENTS:
            self._incidents.labels(entry.event.value).inc()
        if call is None:
            return
        risk = call.verdict.risk.value
        if entry.event is Event.ASKED:
            self._asked.labels(call.verdict.action.value, risk, self._surface(call.origin)).inc()
        elif entry.event in DECIDED:
            self._decided.labels(entry.event.value, risk, self._surface(str(entry.data.get("surface", "")))).inc()
            self._timed(entry, call)
        if entry.event in _CLAIMS or "claimed_by" in entry.data:
            self._started(call)
        if call.result is not None and entry.event.value == call.result.value:
            self._ended.labels(entry.event.value, risk).inc()

    def _timed(self, entry: Entry, call: Call) -> None:
        """Record the time from the question to its end. A decision that the policy made alone isn't counted."""
        if call.decided_at is None or entry.actor == "policy":
            return
        self._deciding.labels(entry.event.value).observe(_seconds(call.created_at, call.decided_at))
        if entry.event is Event.EXPIRED:
            self._late.observe(_seconds(call.deadline, call.decided_at))

    def _started(self, call: Call) -> None:
        if call.decided_at is not None:
            self._starting.labels(call.runs.value).observe(_seconds(call.decided_at, self._clock.now()))

    def _surface(self, place: str) -> str:
        name = place.partition(":")[0]
        return name if name in self._surfaces else "other" if name else _NOWHERE

    def look(self, survey: Survey) -> None:
        """Set the gauges to the numbers in the survey. This takes some milliseconds."""
        now = self._clock.now()
        open_calls = survey.open_calls()
        due, (unsent, oldest), aside = survey.most_overdue(), survey.unsent(), survey.set_aside()
        for state in (State.AWAITING, State.EXECUTING):
            self._open.labels(state.value).set(open_calls.get(state.value, 0))
        self._overdue.set(_seconds(due, now) if due else 0)
        self._unsent.set(unsent)
        self._outbox.set(_seconds(oldest, now) if oldest else 0)
        self._aside.set(aside)

    def stands(self, troubles: int) -> None:
        """Set the gauge for the number of troubles that keep the service from gating calls."""
        self._troubles.set(troubles)


def _seconds(since: datetime, until: datetime) -> float:
    """Return the seconds from one time to another, or 0 if the clock was set back between them."""
    return max(0.0, (until - since).total_seconds())


async def serve_metrics(
    settings: MetricsSettings,
    running: Running,
    parts: AsyncExitStack,
    troubles: Callable[[], Awaitable[Sequence[str]]],
    connections: Connections,
) -> Server:
    """Count changes from now on, and serve `/metrics` on a separate port, until `parts` is closed.

    The page needs no password, as is usual for exporters: it contains no people, tools or texts, and changes nothing.
    Raises Unavailable if the port can't be used. `connections` limits the connections of all listeners of this process.
    """
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route

    from adapters.http.connection import Limits
    from adapters.http.listeners import Server, tcp_listener

    store, database = running.store, running.folder.database
    metrics = Metrics(store.clock, tuple(surfaces()))
    store.follow(metrics.heard)
    one_at_a_time = asyncio.Lock()

    def look() -> None:
        with surveyed(database) as survey:
            metrics.look(survey)

    async def scrape(request: Request) -> Response:
        encode, kind = choose_encoder(request.headers.get("accept", ""))
        async with one_at_a_time:
            try:
                await asyncio.to_thread(look)
            except Unavailable as error:
                return Response(f"{error.message}\n", 503, media_type="text/plain")
            metrics.stands(len(await troubles()))
            return Response(encode(metrics.registry), headers={"content-type": kind})

    server = Server(
        Starlette(routes=[Route("/metrics", scrape)]),
        [tcp_listener(settings.host, settings.port or 0, "metrics")],
        Limits(connections=connections),
    )
    parts.push_async_callback(server.stop)
    await server.start()
    _log.info("metrics.ready", {"host": settings.host, "port": server.port})
    return server
