"""`sayso_client` against a service that lies, fails or isn't one: whatever is unclear, nothing runs."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import rfc8785

from sayso_client import AsyncSayso, ClientError, NotRun, Planned, Ran, Request, Sayso, configuration
from sayso_client.gating import Tool
from sayso_client.life import Pause, Send, after_push_back
from tests.sentences import says

TOKEN = "sayso_test_token"
ARGS = {"amount": 5}


class Wire:
    """A scripted HTTP server. Each request gets the next answer: (status, document or bytes). The last answer repeats.

    With the status 0 it interrupts this process and says nothing.
    """

    def __init__(self) -> None:
        self.answers: list[tuple[int, Any]] = []
        self.heard: list[tuple[str, str, dict[str, str], Any]] = []
        wire = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                body = json.loads(self.rfile.read(length) or b"null")
                wire.heard.append((self.command, self.path, dict(self.headers), body))
                status, document = wire.answers.pop(0) if len(wire.answers) > 1 else wire.answers[0]
                if not status:
                    os.kill(os.getpid(), signal.SIGINT)
                    return
                raw = document if isinstance(document, bytes) else json.dumps(document).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(raw)))
                if status == 302:
                    self.send_header("Location", "/elsewhere")
                self.end_headers()
                self.wfile.write(raw)

            do_GET = do_POST = answer  # noqa: N815 - the standard library's names

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        """Stop."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def wire() -> Iterator[Wire]:
    """A server to script."""
    server = Wire()
    yield server
    server.close()


def digest(args: dict[str, Any]) -> str:
    """What an honest service computes over these arguments."""
    whole: dict[str, Any] = {
        "args": args,
        "cwd": None,
        "definition": "",
        "executor": "caller:token:ci",
        "preconditions": [],
        "tool": "pay",
        "tools": "python",
    }
    return hashlib.sha256(rfc8785.dumps(whole)).hexdigest()


def call(status: str, **changes: Any) -> dict[str, Any]:
    """A call as the API shows it."""
    return {
        "ref": "r1",
        "short": "ABC123",
        "status": status,
        "requester": "token:ci",
        "digest": digest(ARGS),
        "reason": None,
        "reason_until": None,
        "decided_by": "ada",
        "message": f"It is {status}.",
        "claim": None,
        **changes,
    }


def claimed(**changes: Any) -> tuple[int, dict[str, Any]]:
    """The answer to a claim."""
    return 200, {"call": call("running"), "args": ARGS, "until": "2026-01-31T12:00:00Z"} | changes


def asked(wire: Wire, *answers: tuple[int, Any]) -> tuple[Ran[str] | NotRun, int]:
    """The outcome of one call with these answers, and how often its function ran."""
    wire.answers = [*answers]
    ran = []

    def pay() -> str:
        ran.append(1)
        return "paid"

    with Sayso(configuration(url=wire.url, token=TOKEN)) as sayso:
        return sayso.call(Request("pay", ARGS), pay), len(ran)


def test_what_was_approved_runs(wire: Wire) -> None:
    """The honest case, which the others differ from in one thing each."""
    came, ran = asked(wire, (202, call("pending")), claimed(), (200, call("succeeded")))

    assert isinstance(came, Ran)
    assert ("paid", 1) == (came.value, ran)
    assert ["/v1/calls", "/v1/calls/r1/claim", "/v1/calls/r1/finish"] == [path for _, path, _, _ in wire.heard]
    assert "wait=30, attended" == wire.heard[1][2]["Prefer"]
    assert {f"Bearer {TOKEN}"} == {headers["Authorization"] for _, _, headers, _ in wire.heard}


def test_a_call_with_a_key_stays_when_this_program_is_killed(wire: Wire) -> None:
    """Another process can come back for it with the key. Without one, the service withdraws the call."""
    wire.answers = [(202, call("pending")), claimed(), (200, call("succeeded"))]
    with Sayso(configuration(url=wire.url, token=TOKEN)) as sayso:
        sayso.call(Request("pay", ARGS, key="k"), lambda: "paid")

    assert "wait=30" == wire.heard[1][2]["Prefer"]


@pytest.mark.parametrize(
    "answer",
    [
        claimed(args={"amount": 500}),
        claimed(call=call("running", digest=digest({"amount": 500}))),
        claimed(call=call("running", requester="token:other")),
        claimed(args={"amount": 5.5}),
        claimed(args={}),
    ],
    ids=["other arguments", "another digest", "another requester", "another number", "no arguments"],
)
def test_what_people_saw_must_be_what_runs(wire: Wire, answer: tuple[int, Any]) -> None:
    """The client computes the digest from what it is about to run; the service hears that it didn't run."""
    came, ran = asked(wire, (202, call("pending")), answer, (200, call("failed")))

    assert isinstance(came, NotRun)
    assert ("refused", 0) == (came.status, ran)
    assert "failed" == wire.heard[-1][3]["result"]


@pytest.mark.parametrize("status", ["rejected", "expired", "denied", "withdrawn", "undeliverable", "lapsed", "unheard"])
def test_no_other_status_runs(wire: Wire, status: str) -> None:
    """Also not one that a newer service may have."""
    came, ran = asked(wire, (202, call("pending")), problem("ALREADY_DECIDED", 409), (200, call(status, reason="No.")))

    assert isinstance(came, NotRun)
    assert (status, "No.", 0) == (came.status, came.reason, ran)


def test_a_service_that_does_not_wait_in_a_claim_is_waited_for_in_a_read(wire: Wire) -> None:
    """An older service answers at once that the call is pending. Then the client waits as before, and claims again."""
    early = problem("STILL_PENDING", 409)
    came, ran = asked(wire, (202, call("pending")), early, (200, call("approved")), claimed(), (200, call("succeeded")))

    assert isinstance(came, Ran)
    assert 1 == ran
    assert ["POST", "POST", "GET", "POST", "POST"] == [method for method, _, _, _ in wire.heard]


def problem(code: str, status: int) -> tuple[int, dict[str, Any]]:
    """A problem document."""
    return status, {"code": code, "detail": "Because.", "status": status, "ref": "r1"}


def test_a_denied_call_is_an_outcome(wire: Wire) -> None:
    """With the policy's words."""
    came, ran = asked(wire, problem("CALL_DENIED", 403))

    assert isinstance(came, NotRun)
    assert ("denied", "Because.", "r1", 0) == (came.status, came.reason, came.ref, ran)


def test_a_call_that_was_rejected_a_moment_ago_is_an_outcome(wire: Wire) -> None:
    """The service asks nobody again. The client gets a rejection, for a single call and for a call of a batch."""
    code, document = problem("REJECTED_RECENTLY", 409)
    came, ran = asked(wire, (code, document))
    in_batch = after_push_back(Request("pay", ARGS), document)
    with pytest.raises(StopIteration) as end:
        next(in_batch)

    assert isinstance(came, NotRun)
    assert ("rejected", "Because.", "r1", 0) == (came.status, came.message, came.ref, ran)
    assert came == end.value.value


def test_a_pending_call_is_logged_once(wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    """The line has the ref and the deadline. A call that nobody is asked about is not logged."""
    caplog.set_level("INFO", "sayso_client")
    pending = call("pending", expires_at="2026-01-01T12:05:00+00:00")
    asked(wire, (202, pending), claimed(), (200, call("succeeded")))
    lines = list(caplog.messages)
    asked(wire, problem("CALL_DENIED", 403))

    assert says(lines[0], "gated.pending", short="ABC123", until=pending["expires_at"])
    assert 1 == len(caplog.messages)


@pytest.mark.parametrize("status", ["approved", "running", "succeeded"])
@pytest.mark.parametrize("code", ["ALREADY_DECIDED", "HITL_001", "CONF_EXPIRED", "TAMPERED"])
def test_a_claim_that_is_refused_runs_nothing(wire: Wire, code: str, status: str) -> None:
    """Somebody else has it, it is over, or it isn't fit."""
    came, ran = asked(wire, (202, call("pending")), problem(code, 409), (200, call(status)))

    assert isinstance(came, NotRun)
    assert ("refused", "Because.", 0) == (came.status, came.message, ran)


@pytest.mark.parametrize(
    "answer",
    [
        (200, b"<html>Welcome to the hotel</html>"),
        (200, b""),
        (200, b"[]"),
        (200, b"{}"),
        (200, b'"approved"'),
        (302, b"{}"),
        problem("NOT_APPROVER", 403),
        problem("UNAUTHENTICATED", 401),
        (500, b"oops"),
    ],
    ids=["page", "empty", "list", "no call", "text", "redirect", "not allowed", "no token", "broken"],
)
def test_what_is_no_answer_raises_and_runs_nothing(wire: Wire, answer: tuple[int, Any]) -> None:
    """A redirect isn't followed, and no error repeats the token."""
    wire.answers = [answer]
    with Sayso(configuration(url=wire.url, token=TOKEN)) as sayso, pytest.raises(ClientError) as refused:
        sayso.call(Request("pay", ARGS), lambda: pytest.fail("it ran"))

    assert TOKEN not in str(refused.value)
    assert 1 == len(wire.heard)


def test_a_request_is_repeated_with_the_same_key(wire: Wire) -> None:
    """Until the service is back; it then knows that both are one call."""
    came, ran = asked(
        wire, (503, b""), (429, b"{}"), (200, call("allowed", claim=claimed()[1])), (200, call("succeeded"))
    )
    keys = {headers["Idempotency-Key"] for _, path, headers, _ in wire.heard if path == "/v1/calls"}

    assert isinstance(came, Ran)
    assert (1, 1) == (ran, len(keys))


def test_a_service_that_stays_away_is_named(wire: Wire) -> None:
    """After a while; nothing ran."""
    wire.answers = [(503, b"")]
    with Sayso(configuration(url=wire.url, token=TOKEN), patience_s=0) as sayso, pytest.raises(ClientError) as refused:
        sayso.call(Request("pay", ARGS), lambda: pytest.fail("it ran"))

    assert "UNAVAILABLE" == refused.value.code


def test_an_interrupted_wait_withdraws_the_call(wire: Wire) -> None:
    """Ctrl-C in the middle of the wait: nobody waits for the answer any more."""
    wire.answers = [(202, call("pending")), (0, b""), (200, call("withdrawn"))]
    with Sayso(configuration(url=wire.url, token=TOKEN)) as sayso, pytest.raises(KeyboardInterrupt):
        sayso.call(Request("pay", ARGS), lambda: pytest.fail("it ran"))

    assert "/v1/calls/r1/withdraw" == wire.heard[-1][1]


@pytest.mark.parametrize(
    ("answer", "end"),
    [((202, call("pending")), "withdraw"), ((200, call("allowed", claim=claimed()[1])), "finish")],
    ids=["pending", "allowed"],
)
def test_a_call_whose_asking_was_interrupted_is_taken_back(wire: Wire, answer: tuple[int, Any], end: str) -> None:
    """The service may have recorded it before it could answer: the same key finds it, and nothing runs."""
    wire.answers = [(0, b""), answer, (200, call("withdrawn"))]
    with Sayso(configuration(url=wire.url, token=TOKEN)) as sayso, pytest.raises(KeyboardInterrupt):
        sayso.call(Request("pay", ARGS), lambda: pytest.fail("it ran"))
    first, again, last = wire.heard

    assert first[2]["Idempotency-Key"] == again[2]["Idempotency-Key"]
    assert f"/v1/calls/r1/{end}" == last[1]


def test_what_cannot_be_withdrawn_does_not_hide_the_interruption(wire: Wire) -> None:
    """Whoever pressed Ctrl-C gets that, not an error about a call that lapses by itself."""
    wire.answers = [(202, call("pending")), (0, b""), (409, {"code": "ALREADY_DECIDED", "detail": "", "ref": "r1"})]
    with Sayso(configuration(url=wire.url, token=TOKEN)) as sayso, pytest.raises(KeyboardInterrupt):
        sayso.call(Request("pay", ARGS), lambda: pytest.fail("it ran"))


def test_a_call_that_was_approved_as_its_wait_was_interrupted_is_reported_as_not_run(wire: Wire) -> None:
    """The approval may have claimed it for the wait, and the answer is lost. The service hears that nothing ran."""
    decided = (409, {"code": "ALREADY_DECIDED", "detail": "", "ref": "r1"})
    wire.answers = [(202, call("pending")), (0, b""), decided, (200, call("failed"))]
    with Sayso(configuration(url=wire.url, token=TOKEN)) as sayso, pytest.raises(KeyboardInterrupt):
        sayso.call(Request("pay", ARGS), lambda: pytest.fail("it ran"))

    _, path, _, body = wire.heard[-1]
    assert ("/v1/calls/r1/finish", "failed") == (path, body["result"])


def test_an_interrupted_run_is_reported_as_unknown(wire: Wire) -> None:
    """What the function had done by then isn't known."""
    wire.answers = [(200, call("allowed", claim=claimed()[1])), (200, call("unknown"))]

    def interrupted() -> None:
        raise KeyboardInterrupt

    with Sayso(configuration(url=wire.url, token=TOKEN)) as sayso, pytest.raises(KeyboardInterrupt):
        sayso.call(Request("pay", ARGS), interrupted)

    assert "unknown" == wire.heard[-1][3]["result"]


@pytest.mark.parametrize(
    "make",
    [
        lambda sayso: sayso.gated(files=["nothing"])(lambda: None),
        lambda sayso: sayso.gated(context=["nothing"])(lambda: None),
    ],
    ids=["files", "context"],
)
def test_terms_name_parameters_that_are_there(wire: Wire, make: Callable[[Sayso], object]) -> None:
    """A misspelt one would bind nothing."""
    with Sayso(configuration(url=wire.url, token=TOKEN)) as sayso, pytest.raises(TypeError):
        make(sayso)


def test_a_coroutine_function_is_gated_by_the_other_client(wire: Wire) -> None:
    """Calling it runs nothing yet, so the gate would report a run that never was."""

    async def work() -> None:
        """Do nothing."""

    with Sayso(configuration(url=wire.url, token=TOKEN)) as sayso, pytest.raises(TypeError) as refused:
        sayso.gated(work)

    assert says(str(refused.value), "gated.coroutine", function="work")


#: What answers the report of a run: nobody, a service that hands the call out no more, or something else.
LOST = pytest.mark.parametrize(
    "report", [(503, b""), problem("CONF_EXPIRED", 410), (200, b"<html>")], ids=["away", "late", "a page"]
)


def allowed(wire: Wire, report: tuple[int, Any]) -> None:
    """Answer that the call is allowed, and its report as given."""
    wire.answers = [(200, call("allowed", claim=claimed()[1])), report]


def client(wire: Wire) -> Sayso:
    """A client that tries once."""
    return Sayso(configuration(url=wire.url, token=TOKEN), patience_s=0)


@LOST
def test_a_report_that_is_lost_keeps_the_value(wire: Wire, report: tuple[int, Any]) -> None:
    """The function ran, so its value comes back, and the outcome says that the service didn't record it."""
    allowed(wire, report)
    with client(wire) as sayso:
        came = sayso.call(Request("pay", ARGS), lambda: "paid")

    assert Ran("r1", "paid", reported=False) == came


@LOST
def test_a_report_that_is_lost_keeps_the_error_of_the_function(wire: Wire, report: tuple[int, Any]) -> None:
    """The caller gets what the function raised, and never that nothing ran."""
    allowed(wire, report)

    def broken() -> None:
        raise LookupError("half done")

    with client(wire) as sayso, pytest.raises(LookupError, match="half done"):
        sayso.call(Request("pay", ARGS), broken)


def test_a_report_that_is_lost_keeps_an_interruption(wire: Wire) -> None:
    """Ctrl-C while the function runs stays Ctrl-C."""
    allowed(wire, (503, b""))

    def interrupted() -> None:
        raise KeyboardInterrupt

    with client(wire) as sayso, pytest.raises(KeyboardInterrupt):
        sayso.call(Request("pay", ARGS), interrupted)


async def test_a_report_that_is_lost_keeps_the_value_on_a_loop(wire: Wire) -> None:
    """`AsyncSayso` returns the value of a coroutine function too, also behind its decorator."""
    allowed(wire, (503, b""))
    async with AsyncSayso(configuration(url=wire.url, token=TOKEN), patience_s=0) as sayso:

        @sayso.gated(tools="python")
        async def pay(amount: int) -> str:
            return f"paid {amount}"

        assert "paid 5" == await pay(5)


def test_a_report_that_is_lost_keeps_the_value_in_a_batch(wire: Wire) -> None:
    """A call of a batch that ran is no NotRun."""
    found = {"id": "0", "call": call("allowed", claim=claimed()[1]), "problem": None}
    wire.answers = [(200, {"calls": [found]}), (503, b"")]
    with client(wire) as sayso:
        (came,) = sayso.batch([Planned(Request("pay", ARGS), lambda: "paid")])

    assert Ran("r1", "paid", reported=False) == came


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_a_call_of_a_batch_without_room_is_asked_again(wire: Wire, kind: str) -> None:
    """After the time that the service named, alone, and with the key that it had in the batch, so that it runs once."""
    refused = {"code": "TOO_MANY_PENDING", "detail": "Too many.", "ref": None, "retry_after": 1}
    wire.answers = [
        (200, {"calls": [{"id": "0", "call": None, "problem": refused}]}),
        (200, call("allowed", claim=claimed()[1])),
        (200, call("succeeded")),
    ]
    planned = [Planned(Request("pay", ARGS), lambda: "paid")]
    if kind == "sync":
        with client(wire) as sayso:
            (came,) = await asyncio.to_thread(sayso.batch, planned)
    else:
        async with AsyncSayso(configuration(url=wire.url, token=TOKEN)) as on_loop:
            (came,) = await on_loop.batch(planned)
    batch, alone, _ = wire.heard

    assert Ran("r1", "paid") == came
    assert ("/v1/batches", "/v1/calls") == (batch[1], alone[1])
    assert f"{batch[2]['Idempotency-Key']}/0" == alone[2]["Idempotency-Key"]


def test_any_other_problem_of_a_batch_is_final(wire: Wire) -> None:
    """It is the outcome of its call, and nothing is asked again."""
    refused = {"code": "NOT_APPROVER", "detail": "Not here.", "ref": None, "retry_after": None}
    wire.answers = [(200, {"calls": [{"id": "0", "call": None, "problem": refused}]})]
    with client(wire) as sayso:
        (came,) = sayso.batch([Planned(Request("pay", ARGS), lambda: pytest.fail("it ran"))])

    assert isinstance(came, NotRun)
    assert ("failed", 1) == (came.status, len(wire.heard))


class Odd:
    """A value that has no text."""

    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize("value", ["\ud800", Odd()], ids=["a lone surrogate", "no text"])
def test_a_value_that_cannot_be_reported_is_returned(wire: Wire, value: object) -> None:
    """The report holds what UTF-8 can hold; the caller gets the value itself."""
    allowed(wire, (200, call("succeeded")))
    with client(wire) as sayso:
        assert Ran("r1", value) == sayso.call(Request("pay", ARGS), lambda: value)

    assert "succeeded" == wire.heard[-1][3]["result"]


def test_a_changed_call_stays_refused_if_that_cannot_be_reported(wire: Wire) -> None:
    """The outcome says why the function didn't run, whether or not the service heard that."""
    wire.answers = [(200, call("allowed", claim=claimed(args={"amount": 500})[1])), (503, b"")]
    with client(wire) as sayso:
        came = sayso.call(Request("pay", ARGS), lambda: pytest.fail("it ran"))

    assert isinstance(came, NotRun)
    assert "refused" == came.status


def _positional(amount: int, /, **meta: object) -> None: ...


def _more(to: str, *args: object, **more: object) -> None: ...


def _own(**meta: object) -> None: ...


@pytest.mark.parametrize(
    ("function", "args", "keyword"), [(_positional, (1_000_000,), "amount"), (_more, ("bob", "x"), "args")]
)
def test_a_keyword_never_hides_a_parameter_of_its_name(
    wire: Wire, function: Callable[..., None], args: tuple[object, ...], keyword: str
) -> None:
    """Python takes both; people would see one of them, so nothing is asked."""
    with client(wire) as sayso, pytest.raises(ClientError) as refused:
        sayso.gated(function)(*args, **{keyword: 1})

    assert ("ARGUMENTS", []) == (refused.value.code, wire.heard)


def test_a_keyword_may_have_the_name_of_the_parameter_that_takes_it() -> None:
    """`**meta` isn't shown by its own name, so `meta=1` hides nothing."""
    assert {"meta": 1} == Tool(_own, {}).request(meta=1).args


@pytest.mark.parametrize("answers", [[(0, b""), (202, None)], [(202, None), (0, b"")]], ids=["asking", "waiting"])
@pytest.mark.parametrize("end", [(200, call("withdrawn")), problem("ALREADY_DECIDED", 409)], ids=["done", "refused"])
def test_an_interrupted_question_is_withdrawn(wire: Wire, answers: list[tuple[int, Any]], end: tuple[int, Any]) -> None:
    """Whoever pressed Ctrl-C gets that, whether it came before the answer to the question or while it waits."""
    wire.answers = [(status, call("pending") if document is None else document) for status, document in answers] + [end]
    with client(wire) as sayso, pytest.raises(KeyboardInterrupt):
        sayso.ask_human("Which stage?")

    assert "/v1/calls/r1/withdraw" == wire.heard[-1][1]


PUSHED_BACK = {"code": "TOO_MANY_PENDING", "detail": "Too many.", "ref": None, "retry_after": 700}


def test_a_call_without_room_is_asked_for_ten_minutes_at_most() -> None:
    """The service's pause and the repeats of one request are cut to the time that is left."""
    now = [0.0]
    one = after_push_back(Request("pay", ARGS), PUSHED_BACK, clock=lambda: now[0])
    assert Pause(600) == next(one)

    now[0] = 600
    asking = one.send(None)
    assert isinstance(asking, Send)
    assert 0 == asking.patience_s
    with pytest.raises(ClientError) as last:
        one.throw(ClientError("TOO_MANY_PENDING", "Too many."))
    assert "TOO_MANY_PENDING" == last.value.code


def test_a_function_that_fails_like_a_full_service_is_not_run_again(wire: Wire) -> None:
    """Only the asking is repeated: the function ran."""
    wire.answers = [
        (200, {"calls": [{"id": "0", "call": None, "problem": PUSHED_BACK | {"retry_after": 1}}]}),
        (200, call("allowed", claim=claimed()[1])),
        (200, call("failed")),
    ]
    ran: list[int] = []

    def pay() -> None:
        ran.append(1)
        raise ClientError("TOO_MANY_PENDING", "Too many.")

    with client(wire) as sayso:
        (came,) = sayso.batch([Planned(Request("pay", ARGS), pay)])

    assert isinstance(came, NotRun)
    assert (1, 3) == (len(ran), len(wire.heard))
