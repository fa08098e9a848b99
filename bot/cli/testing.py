"""`sayso test`: sends a harmless request to every approver on every surface, and shows who answers."""

from __future__ import annotations

import json as jsonlib
import time
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.common import AsJson, Config, SocketFile, connect, print_json, settings
from bot.wording import say
from sayso_client.errors import ClientError
from sayso_client.terminal import clock_of, interrupted, painted, tell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from sayso_client.client import Client

FAILED, NOTHING = 1, 2
_POLL_S = 0.5
_DECIDED = ("approved", "rejected")


def register(app: typer.Typer) -> None:
    """Add the command `test`."""
    app.command("test")(try_out)


def try_out(
    wait: Annotated[int, typer.Option("--wait", min=5, max=3600, help="Seconds that each approver has.")] = 120,
    config: Config = None,
    socket: SocketFile = None,
    json: AsJson = False,
) -> None:
    """Send each approver a harmless request, and see who answers.

    Each approver of each conversation gets a request of their own on each chat platform where the conversation's cards
    go and where the approver has an account. The approver presses Approve or Reject there, and nothing runs. Only an
    operator who may also ask can run it.

    It exits with 0 if each card arrived, each approver answered each request on its platform, and each platform in the
    settings got a card. Otherwise it exits with 1. Other statuses are 2 if nobody is an approver, and 13 if the service
    can't be reached. Ctrl-C withdraws the pending requests and exits with 130.

    Example: sayso test --wait 60
    """
    with connect(config, socket) as client:
        tests = [_Test(client, one) for one in client.call("test", timeout_s=wait)["tests"]]
        if not tests:
            tell(say("test.nobody"), "red")
            raise typer.Exit(NOTHING)
        try:
            _watch(tests, quiet=json)
        except KeyboardInterrupt:
            raise typer.Exit(interrupted()) from None
        finally:
            # The command ends now and can't show later answers. So it withdraws the requests.
            _withdraw(tests)
    untried = _untried(config, socket, tests)
    if json:
        print_json({"tests": [one.told() for one in tests], "untried": untried})
    _print((say("test.untried", platform=name) for name in untried), quiet=json)
    raise typer.Exit(0 if all(one.passed for one in tests) and not untried else FAILED)


def _untried(config: Path | None, socket: Path | None, tests: list[_Test]) -> list[str]:
    """Return the names of the chat platforms that are in the settings and got no card of these tests.

    Return [] if the user named a socket, because the command then reads no settings.
    """
    from sayso_client.settings import named_socket

    if socket is not None or named_socket():
        return []
    tried = {route.partition(":")[0] for one in tests for route in one.routes}
    return [name for name in settings(config).set_up() if name not in tried]


def _withdraw(tests: list[_Test]) -> None:
    """Withdraw the requests of these tests that are pending."""
    for one in tests:
        one.withdraw()


def _watch(tests: list[_Test], *, quiet: bool) -> None:
    """Wait until all tests are over, and print each answer when it comes."""
    for one in tests:
        _print(one.begun(), quiet=quiet)
    left = list(tests)
    while left:
        for one in [one for one in left if one.is_over()]:
            left.remove(one)
            _print(one.lines(), quiet=quiet)
        if left:
            time.sleep(_POLL_S)


def _print(lines: Iterable[str], *, quiet: bool) -> None:
    for line in lines:
        if not quiet:
            typer.echo(painted(line, {"✓": "green", "✗": "red"}.get(line[:1], "")))


class _Test:
    """One approver's test request, and the answer to it."""

    def __init__(self, client: Client, made: dict[str, Any]) -> None:
        self._client = client
        self._made = made
        self.call: dict[str, Any] | None = made["call"]

    @property
    def passed(self) -> bool:
        """Whether the approver answered on the tested surface, and every card arrived."""
        return self._answered() and not self._missed()

    def begun(self) -> Iterator[str]:
        """Yield one line of text: the approver, the deadline, and the places to which the cards go."""
        if call := self.call:
            routes = ", ".join(self.routes) or say("test.local", short=call["short"])
            until = clock_of(call["expires_at"])
            yield say("test.begun", short=call["short"], name=self._name, until=until, routes=routes)

    def is_over(self) -> bool:
        """Ask the service for the request's state. Return whether the request is no longer pending.

        Report an approved request as released at once. Otherwise it would lapse, because nobody runs it.
        """
        if self.call is None:
            return True
        self.call = self._client.call("show", target=self.call["ref"])["call"]
        if self.call["status"] == "approved":
            try:
                self._client.call("release", ref=self.call["ref"])
            except ClientError as error:
                # The test is only about the approver's answer, which has arrived. The request isn't run, even if the
                # service refuses the release.
                tell(error.message, "red")
        return bool(self.call["status"] != "pending")

    def withdraw(self) -> None:
        """Withdraw the request if it is pending."""
        if self.call is not None and self.call["status"] == "pending":
            try:
                self._client.call("withdraw", target=self.call["ref"])
            except ClientError as error:
                tell(error.message)

    def lines(self) -> Iterator[str]:
        """Yield lines of text: one about the answer to the request, and one about the cards that didn't arrive."""
        name, call, line = self._name, self.call, self._decision()
        if call is None:
            yield say("test.failed", name=name, error=self._made["error"])
            return
        missed = self._missed()
        if line is not None:
            told = {"status": line["event"], "surface": _surface(line), "short": call["short"]}
            if self._answered():
                yield say("test.pressed", name=name, seconds=self._seconds(line), **told)
            else:
                yield say("test.other", name=name, who=call["decided_by"], **told)
        elif self.routes and not missed and call["status"] == "expired":
            yield say("test.silent", name=name, short=call["short"])
        else:
            yield say("test.ended", name=name, outcome=call["outcome"], short=call["short"])
        if missed:
            yield say("test.unseen", short=call["short"], routes=", ".join(missed))

    def told(self) -> dict[str, Any]:
        """Return the result of the test as JSON types, for the option `--json`."""
        line, call = self._decision(), self.call or {}
        return {
            "place": self._made["place"],
            "approver": self._made["approver"],
            "asked_on": self._made["surface"],
            "passed": self.passed,
            "ref": call.get("ref"),
            "status": call.get("status"),
            "by": call.get("decided_by") if line else None,
            "surface": _surface(line) if line else None,
            "after_s": self._seconds(line) if line else None,
            "routes": self.routes,
            "missed": self._missed(),
            "error": self._made["error"],
        }

    @property
    def _name(self) -> str:
        """The approver's name. If the request tests one surface, the text also names the surface."""
        name, surface = self._made["approver"], self._made["surface"]
        return say("test.name", name=name, surface=surface) if surface else str(name)

    def _answered(self) -> bool:
        """Return whether the approver gave the answer.

        If the request tests one surface, the answer must come from that surface. Other requests may be answered
        anywhere.
        """
        line = self._decision()
        there = line is not None and self._made["surface"] in {None, _surface(line)}
        return there and (self.call or {})["decided_by"] == self._made["approver"]

    def _decision(self) -> dict[str, Any] | None:
        """Return the line of the record that reports the answer, or None if there is no answer."""
        record = (self.call or {}).get("record", ())
        return next((line for line in record if line["event"] in _DECIDED), None)

    @property
    def routes(self) -> list[str]:
        """The places to which the cards of the request go."""
        return list(self._made["routes"])

    def _missed(self) -> list[str]:
        """Return the places at which no card arrived."""
        record = (self.call or {}).get("record", ())
        shown = {jsonlib.loads(line["data"]).get("route") for line in record if line["event"] == "shown"}
        return [route for route in self.routes if route not in shown]

    def _seconds(self, line: dict[str, Any]) -> int:
        asked = datetime.fromisoformat((self.call or {})["created_at"])
        return round((datetime.fromisoformat(line["at"]) - asked).total_seconds())


def _surface(line: dict[str, Any]) -> str:
    return str(jsonlib.loads(line["data"]).get("surface", ""))
