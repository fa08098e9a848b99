"""`sayso_client`, the library: a function runs once, with what was approved, or not at all."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import pytest

from sayso_client import AsyncSayso, ClientError, NotRun, Planned, Ran, Request, Sayso, configuration
from sayso_client.life import Send
from tests.acceptance.installation import Installation, until

pytestmark = pytest.mark.forked


@pytest.fixture
def sayso(service: Installation) -> Iterator[Sayso]:
    """The client, over the socket."""
    with Sayso(configuration(socket=service.socket)) as client:
        yield client


class Person:
    """Answers each call that comes up, in a thread beside the caller, as `answers` says by its tool."""

    def __init__(self, service: Installation, **answers: tuple[str, str | None]) -> None:
        self._service = service
        self._answers = dict(answers)
        self.seen: dict[str, dict[str, Any]] = {}
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()

    def _work(self) -> None:
        while self._answers:
            for call in until(self._waiting, "a call"):
                verb, reason = self._answers.pop(call["tool"])
                self.seen[call["tool"]] = call
                self._service.call("decide", target=call["ref"], verb=verb, reason=reason)

    def _waiting(self) -> list[dict[str, Any]]:
        return [call for call in self._service.call("pending")["calls"] if call["tool"] in self._answers]


APPROVE, REJECT = ("approve", None), ("reject", "not today")


def test_an_approved_function_runs_once_and_gives_its_value(service: Installation, sayso: Sayso) -> None:
    """People see its arguments by name, with the defaults; the run is on record."""
    ran = []

    @sayso.gated
    def pay(amount: int, to: str = "ada") -> str:
        ran.append((amount, to))
        return "paid"

    with Person(service, pay=APPROVE) as person:
        came = pay(5)

    assert ("paid", [(5, "ada")]) == (came, ran)
    assert {"amount": 5, "to": "ada"} == person.seen["pay"]["args"]
    assert "succeeded" == service.call("show", target=person.seen["pay"]["ref"])["call"]["status"]


def test_a_rejected_function_never_runs_and_the_agent_hears_why(service: Installation, sayso: Sayso) -> None:
    """The result is false, and its text is one sentence with the reason."""
    ran = []

    @sayso.gated(tool="drop", ask=True)
    def drop_table(name: str) -> None:
        ran.append(name)

    with Person(service, drop=REJECT):
        came = drop_table("users")

    assert isinstance(came, NotRun)
    assert (False, "rejected", "not today", []) == (bool(came), came.status, came.reason, ran)
    assert "not today" in str(came)


def test_what_a_function_raises_is_reported_and_raised_again(service: Installation, sayso: Sayso) -> None:
    """The record says that the run failed, and how."""

    @sayso.gated
    def explode() -> None:
        raise LookupError("nothing there")

    with Person(service, explode=APPROVE) as person, pytest.raises(LookupError):
        explode()

    call = service.call("show", target=person.seen["explode"]["ref"])["call"]
    assert "failed" == call["status"]
    assert "nothing there" in call["error"]


@pytest.mark.parametrize(
    "value", [object(), {1, 2}, float("nan"), 2**60, b"x"], ids=["object", "set", "nan", "large", "bytes"]
)
def test_what_cannot_be_shown_exactly_is_not_asked(service: Installation, sayso: Sayso, value: object) -> None:
    """People would approve another thing than what runs."""

    @sayso.gated
    def odd(value: object) -> None:
        del value

    with pytest.raises(ClientError) as refused:
        odd(value)

    assert "ARGUMENTS" == refused.value.code
    assert [] == [call for call in service.call("pending")["calls"] if call["tool"] == "odd"]


def test_a_file_that_changes_after_the_yes_keeps_the_function_from_running(
    service: Installation, sayso: Sayso, tmp_path: Path
) -> None:
    """Its hash is shown with the arguments, and compared once more right before the run."""
    script, ran = tmp_path / "deploy.sh", []
    script.write_text("echo 1")

    @sayso.gated(files=["script"])
    def deploy(script: str) -> None:
        ran.append(script)

    def swapped() -> Any:
        (call,) = until(lambda: service.call("pending")["calls"], "the call")
        script.write_text("echo 2")
        return service.call("decide", target=call["ref"], verb="approve")

    person = threading.Thread(target=swapped)
    person.start()
    came = deploy(str(script))
    person.join()

    assert isinstance(came, NotRun)
    assert ("refused", []) == (came.status, ran)


def test_an_unchanged_file_is_run(service: Installation, sayso: Sayso, tmp_path: Path) -> None:
    """Its hash stands among the arguments."""
    script = tmp_path / "deploy.sh"
    script.write_text("echo 1")

    @sayso.gated(files=["script"])
    def deploy(script: str) -> str:
        return script

    with Person(service, deploy=APPROVE) as person:
        came = deploy(str(script))

    assert str(script) == came
    assert {str(script)} == set(person.seen["deploy"]["args"]["files"])


def test_calls_of_a_batch_are_decided_alone(service: Installation, sayso: Sayso) -> None:
    """One is approved, one rejected, one raises; the order is that of the batch."""
    ran: list[str] = []

    def broken() -> None:
        raise LookupError("no")

    def first_work() -> str:
        ran.append("first")
        return "done"

    planned = [
        Planned(Request("first", {"n": 1}), first_work),
        Planned(Request("second", {"n": 2}), lambda: ran.append("second")),
        Planned(Request("third", {"n": 3}), broken),
    ]
    with Person(service, second=REJECT, first=APPROVE, third=APPROVE):
        first, second, third = sayso.batch(planned)

    assert isinstance(first, Ran)
    assert isinstance(second, NotRun)
    assert isinstance(third, NotRun)
    assert ("done", "rejected", "failed", ["first"]) == (first.value, second.status, third.status, ran)


def test_a_question_is_answered_in_words(service: Installation, sayso: Sayso) -> None:
    """The reason of an approval are the words."""
    with Person(service, ask_human=("approve", "release-7")):
        answer = sayso.ask_human("What shall the branch be called?")

    kept = service.call("show", target=answer.ref)["call"]
    assert ("release-7", "succeeded") == (answer.words, answer.status)
    assert answer.by
    assert answer
    assert ("release-7", []) == (kept["output"], kept["flaws"])


def test_a_question_with_options_is_answered_by_one_of_them(service: Installation, sayso: Sayso) -> None:
    """Whoever approves names the option, or its number."""
    with Person(service, ask_human=("approve", "2")):
        answer = sayso.ask_human("Which stage?", ["staging", "production"])

    assert "production" == answer.words


def test_a_question_and_its_answer_outlive_a_crash(service: Installation) -> None:
    """Killed while the question waits and right after the answer: the answer is there for whoever asked."""
    with Sayso(configuration(socket=service.socket)) as sayso:
        asked = sayso._send(Send("POST", "/v1/questions", {"question": "What shall the branch be called?"}))  # noqa: SLF001 - asks without waiting
    service.kill()
    service.start()
    service.call("decide", target=asked["ref"], verb="approve", reason="release-7")
    service.kill()
    service.start()
    kept = service.call("show", target=asked["ref"])["call"]

    assert ("succeeded", "release-7", []) == (kept["status"], kept["output"], kept["flaws"])


def test_nobody_need_answer_a_question(service: Installation, sayso: Sayso) -> None:
    """Who declines gives no answer."""
    with Person(service, ask_human=REJECT):
        answer = sayso.ask_human("Which stage?")

    assert (None, "rejected") == (answer.words, answer.status)
    assert not answer


async def test_a_coroutine_function_is_gated_on_the_loop(service: Installation) -> None:
    """As a plain one is."""
    async with AsyncSayso(configuration(socket=service.socket)) as sayso:

        @sayso.gated
        async def publish(page: str) -> str:
            return page.upper()

        with Person(service, publish=APPROVE):
            came = await publish("home")

    assert "HOME" == came


async def test_a_cancelled_task_withdraws_its_call(service: Installation) -> None:
    """Nobody waits any more, so nobody is asked any more."""
    async with AsyncSayso(configuration(socket=service.socket)) as sayso:
        task = asyncio.create_task(sayso.call(Request("linger", {}, ask=True), lambda: None))
        (call,) = await asyncio.to_thread(until, lambda: service.call("pending")["calls"], "the call")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert "withdrawn" == service.call("show", target=call["ref"])["call"]["status"]


def test_an_allowed_function_runs_at_once(install: Callable[..., Installation]) -> None:
    """Nobody is asked where the policy allows."""
    service = install(settings='policy = "team"\npolicies = ["policies"]\nrequesters = ["local:0"]\napprovers = []\n')
    (service.root / "policies").mkdir()
    (service.root / "policies" / "team.yaml").write_text(
        "version: 1\nrules: [{id: notes, tool: note, action: allow, harmless: ['*']}]\n"
    )
    service.start()
    with Sayso(configuration(socket=service.socket)) as sayso:
        came = sayso.call(Request("note", {"text": "x"}), lambda: "kept")

    assert isinstance(came, Ran)
    assert "kept" == came.value


def test_a_client_has_no_way_to_decide() -> None:
    """Whoever asks can't answer: there is no method for it."""
    assert [] == [name for name in (*dir(Sayso), *dir(AsyncSayso)) if "approve" in name or "decide" in name]
