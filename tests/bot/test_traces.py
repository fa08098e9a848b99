"""Traces of calls: one for each, with the ref as its id, linked to the caller's own, and without secrets or people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from starlette.datastructures import Headers

from adapters.http import tracing
from bot.traces import Traces
from hitl.call import Ask, Ran, Reply, ReplyKind, Result, Runs, Verb
from hitl.gate import secret_hash
from hitl.ports import Change
from tests.bot.conftest import ASKER, ME, PLACE

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

    from bot.compose import Running
    from hitl.testing import SetClock

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Traced:
    """A service whose traces are kept in memory."""

    def __init__(self, running: Running) -> None:
        self.running = running
        self.exporter = InMemorySpanExporter()
        self.traces = Traces(self.exporter)
        running.store.follow(self.traces.heard)

    async def ask(self) -> str:
        """Somebody asks for a deployment that the caller runs; the ref."""
        asked = Ask("tools", "deploy", {"to": "web"}, ASKER, PLACE, Runs.CALLER, note="hello")
        return (await self.running.service.submit(asked)).call.ref

    async def press(self, ref: str, verb: Verb) -> None:
        """The approver presses a button."""
        await self.running.service.decide(Reply(ME, "local", PLACE, ReplyKind.BUTTON, verb, target=ref))

    def spans(self) -> dict[str, ReadableSpan]:
        """What was sent, by name, once all is sent."""
        self.traces.close()
        return {span.name: span for span in self.exporter.get_finished_spans()}


@pytest.fixture
def traced(running: Running) -> Traced:
    """A composed service with traces."""
    return Traced(running)


def seconds(span: Any) -> float:
    """How long a span took."""
    return float(span.end_time - span.start_time) / 1e9


async def test_a_call_is_one_trace_whose_id_is_its_ref(traced: Traced, clock: SetClock) -> None:
    """The question and the run are its parts, with the times of the record."""
    ref = await traced.ask()
    clock.advance(9)
    await traced.press(ref, Verb.APPROVE)
    await traced.running.service.gate.claim(ref, ASKER, secret_hash("s"))
    clock.advance(4)
    await traced.running.service.gate.finish(ref, "s", Ran(Result.SUCCEEDED))

    spans = traced.spans()

    assert {"call", "decision", "run"} == spans.keys()
    assert {int(ref.replace("-", ""), 16)} == {span.context.trace_id for span in spans.values() if span.context}
    assert (13, 9, 4) == tuple(seconds(spans[name]) for name in ("call", "decision", "run"))


async def test_a_rejected_call_has_no_run(traced: Traced) -> None:
    """Its trace ends with the decision, though a reason may follow."""
    ref = await traced.ask()
    await traced.press(ref, Verb.REJECT)

    spans = traced.spans()

    assert {"call", "decision"} == spans.keys()
    assert "rejected" == (spans["call"].attributes or {})["sayso.decision"]


@pytest.mark.parametrize("given", ["", "00-" + "0" * 32 + "-b7ad6b7169203331-01", "x" * 55, f"{PARENT}-more", PARENT])
async def test_the_callers_trace_is_linked(traced: Traced, given: str) -> None:
    """A caller's `traceparent` becomes a link; what isn't one is ignored (W3C Trace Context, 3.2.2)."""
    tracing.note(Headers({"traceparent": given}))
    ref = await traced.ask()
    tracing.note(Headers({}))
    await traced.press(ref, Verb.REJECT)

    linked = [f"{link.context.trace_id:032x}" for link in traced.spans()["call"].links]

    assert ([PARENT.split("-")[1]] if given.startswith(PARENT) else []) == linked


async def test_a_late_report_makes_no_second_trace(traced: Traced, clock: SetClock) -> None:
    """A call whose run was lost and is reported later has one trace."""
    ref = await traced.ask()
    await traced.press(ref, Verb.APPROVE)
    await traced.running.service.gate.claim(ref, ASKER, secret_hash("s"))
    clock.advance(2 * 3600)
    await traced.running.service.expiry.sweep()
    await traced.running.service.gate.finish(ref, "s", Ran(Result.SUCCEEDED))
    traced.traces.close()

    assert 1 == sum(span.name == "call" for span in traced.exporter.get_finished_spans())


async def test_a_trace_names_no_person_and_no_text(traced: Traced) -> None:
    """Arguments, notes, requesters and approvers stay in the record."""
    ref = await traced.ask()
    await traced.press(ref, Verb.REJECT)
    told = " ".join(str(value) for value in (traced.spans()["call"].attributes or {}).values())

    assert "deploy" in told
    assert not any(secret in told for secret in (ASKER, ME, "web", "hello"))


def test_a_fault_in_tracing_fails_no_call(caplog: pytest.LogCaptureFixture) -> None:
    """What can't be traced is logged."""
    broken: Any = Change(call=object(), entries=(None,))  # type: ignore[arg-type]

    Traces(InMemorySpanExporter()).heard(broken)

    assert "traces.failed" in caplog.text
