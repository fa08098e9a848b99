"""OpenTelemetry traces: one trace for each call, sent when the call has ended.

The id of the trace is the call's ref, so that the ref of a log line or of the audit record finds the trace. Its first
span links to the caller's own trace, if the caller sent `traceparent` over HTTP. Spans are made from the times in the
stored call. So a restart between question and answer loses only the link to the caller's trace.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Self
from uuid import UUID

from cachetools import FIFOCache

from adapters.http.tracing import TRACEPARENT
from bot.errors import SettingsError
from bot.wording import say
from hitl.call import MAY_RUN, Event, Result
from hitl.proof.chain import DECIDED
from hitl.times import micros

try:
    from opentelemetry.context import Context
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
    from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags, set_span_in_context
except ModuleNotFoundError as error:
    raise SettingsError(
        say("setting.extra.or_remove", setting="traces.endpoint", module=error.name, extra="otel")
    ) from error

if TYPE_CHECKING:
    from datetime import datetime

    from hitl.call import Call, Entry
    from hitl.ports import Change

_log = logging.getLogger(__name__)
#: For at most this many calls, the `traceparent` is remembered. For at most this many calls, this module remembers that
#: the trace was sent.
_REMEMBERED = 10_000
_RESULTS = frozenset(map(Event, Result))
_RUNS = frozenset(Event(decision.value) for decision in MAY_RUN)
#: If a call ends with one of these results, its trace is marked as an error.
_FAILED = frozenset({Result.FAILED, Result.TIMED_OUT, Result.UNKNOWN, Result.REFUSED, Result.LAPSED})


class _Refs(RandomIdGenerator):
    """Generates ids of traces: the next trace gets the ref of its call as its id."""

    ref = ""

    def generate_trace_id(self) -> int:
        """Return the call's ref as a number of 128 bits, for the trace's id."""
        return UUID(self.ref).int


class Traces:
    """Writes a trace for each ended call.

    The method `heard` must follow the store (`hitl.ports.Changes`).
    """

    def __init__(self, exporter: SpanExporter) -> None:
        self._ids = _Refs()
        # The standard variables (OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER) apply as usual.
        resource = Resource({SERVICE_NAME: "sayso"}).merge(Resource.create())
        self._provider = TracerProvider(id_generator=self._ids, resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("sayso")
        self._callers: FIFOCache[str, str] = FIFOCache(_REMEMBERED)
        self._sent: FIFOCache[str, bool] = FIFOCache(_REMEMBERED)

    @classmethod
    def to(cls, endpoint: str) -> Self:
        """Return a `Traces` that sends its traces to an OTLP endpoint.

        The variables OTEL_EXPORTER_OTLP_* set its headers and certificates.
        """
        _log.info("traces.ready", {"endpoint": endpoint})
        return cls(OTLPSpanExporter(endpoint=endpoint))

    def heard(self, change: Change) -> None:
        """Remember the caller's trace for each new call in the change, and write the trace of each ended call.

        Never raises: a trace must not make a call fail.
        """
        try:
            for entry in change.entries:
                if change.call is not None:
                    self._follow(entry, change.call)
        except Exception:  # noqa: BLE001 - a trace must not make a call fail
            _log.exception("traces.failed")

    def _follow(self, entry: Entry, call: Call) -> None:
        if entry.event is Event.ASKED and (parent := TRACEPARENT.get()):
            self._callers[call.ref] = parent
        over = entry.event in DECIDED - _RUNS or (entry.event in _RESULTS and call.result is not None)
        if over and call.ref not in self._sent:
            self._sent[call.ref] = True
            self._write(call)

    def _write(self, call: Call) -> None:
        self._ids.ref = call.ref
        decided = call.decided_at or call.created_at
        ended = call.finished_at or decided
        root = self._tracer.start_span(
            "call",
            context=Context(),
            kind=SpanKind.SERVER,
            links=_links(self._callers.pop(call.ref, "")),
            start_time=_nanos(call.created_at),
            attributes=_attributes(call),
        )
        inside = set_span_in_context(root, Context())
        asked = self._tracer.start_span("decision", context=inside, start_time=_nanos(call.created_at))
        asked.end(_nanos(decided))
        if call.finished_at is not None:
            run = self._tracer.start_span("run", context=inside, start_time=_nanos(decided))
            run.end(_nanos(ended))
        if call.result in _FAILED:
            root.set_status(Status(StatusCode.ERROR, call.result.value))
        root.end(_nanos(ended))

    def close(self) -> None:
        """Send the traces that haven't been sent yet."""
        self._provider.shutdown()


def _attributes(call: Call) -> dict[str, str]:
    """Return the attributes of a call's trace. No attribute holds a person, an argument or a text."""
    told = {
        "sayso.ref": call.ref,
        "sayso.tools": call.tools,
        "sayso.tool": call.tool,
        "sayso.verdict": call.verdict.action.value,
        "sayso.risk": call.verdict.risk.value,
        "sayso.rule": call.verdict.rule,
        "sayso.decision": call.decision and call.decision.value,
        "sayso.result": call.result and call.result.value,
        "sayso.runs": call.runs.value,
        "sayso.surface": call.origin.partition(":")[0],
    }
    return {name: value for name, value in told.items() if value}


def _links(traceparent: str) -> list[Link]:
    if not traceparent:
        return []
    _, trace, span, flags = traceparent.split("-")
    return [Link(SpanContext(int(trace, 16), int(span, 16), is_remote=True, trace_flags=TraceFlags(int(flags, 16))))]


def _nanos(at: datetime) -> int:
    return micros(at) * 1000
