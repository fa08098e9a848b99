"""`inbox`: shows the pending requests one by one, and asks for an answer to each at a prompt."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any

import typer

from bot.cli.approving import RISK_COLOURS
from bot.cli.common import Config, SocketFile, connect, pending_calls
from bot.wording import say
from sayso_client.errors import ClientError
from sayso_client.terminal import painted, tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from sayso_client.client import Client

    #: Prints a question and returns the typed line. Raises EOFError at the end of the input.
    Prompt = Callable[[str], str]

_APPROVE, _REJECT, _DETAILS, _SKIP, _QUIT = "a", "r", "d", "s", "q"
#: The words that mean a key. No other word does, whatever its first letter is: "absolutely not" is no approval.
_WORDS = {"approve": _APPROVE, "reject": _REJECT, "details": _DETAILS, "skip": _SKIP, "quit": _QUIT}


def register(app: typer.Typer) -> None:
    """Add the command `inbox`."""
    app.command()(inbox)


def inbox(config: Config = None, socket: SocketFile = None) -> None:
    """Answer the pending requests, one after another.

    It shows each pending request, oldest first, and asks for a key: a approves, r rejects, d shows the details, s
    skips, q quits. Requests without an answer stay pending.

    Example: sayso inbox
    """
    with connect(config, socket, shown=True) as client:
        calls = pending_calls(client)
        if not calls:
            typer.echo(say("pending.none"))
        try:
            for number, call in enumerate(calls, start=1):
                card = client.call("card", target=call["ref"])
                typer.echo(_shown(card, say("inbox.of", number=number, all=len(calls))))
                if not _Answering(client, call, _ask, asks=card["card"]["asks"]).answer():
                    break
        except EOFError:
            typer.echo()
        except KeyboardInterrupt as error:
            raise typer.Abort from error


class _Answering:
    """Shows one request at the prompt, and sends the person's answers to it."""

    def __init__(self, client: Client, call: dict[str, Any], prompt: Prompt, *, asks: bool) -> None:
        self._client = client
        self._asks = asks
        self._ref = call["ref"]
        self._short = call["short"]
        self._prompt = prompt

    def answer(self) -> bool:
        """Ask until the request is answered or skipped. Return False if the person wants to quit."""
        while True:
            typed = self._prompt(say("inbox.keys.question") if self._asks else say("inbox.keys")).strip().lower()
            key = _WORDS.get(typed, typed)
            if key not in _WORDS.values():
                typer.echo(say("inbox.unknown"))
                continue
            if key in {_SKIP, _QUIT}:
                return key == _SKIP
            try:
                if self._done(key):
                    return True
            except ClientError as error:
                tell(error.message, "red")
                return True

    def _done(self, key: str) -> bool:
        """Run the action of a key, such as `a` for approve. Return whether the prompt is done with the request."""
        if key == _APPROVE:
            return self._approved()
        if key == _REJECT:
            return self._ends(self._sent("reject", reason=self._prompt(say("inbox.why")).strip() or None))
        if key == _DETAILS:
            typer.echo(self._client.call("details", target=self._ref)["text"])
        return False

    def _approved(self) -> bool:
        """Send an approval. If the request is a question, ask for the answer's words and send them too.

        If the request needs a reason or a second approval, ask for it. Return whether the prompt is done with the
        request.
        """
        if self._asks:
            return self._ends(self._sent("approve", reason=self._prompt(say("inbox.answer")).strip() or None))
        came = self._sent("approve")
        if came["came"] == "reason_needed":
            came = self._sent("approve", reason=self._prompt(say("inbox.reason")).strip() or None)
        if came["came"] == "confirm":
            typed = self._prompt(say("inbox.confirm", short=self._short)).strip().lstrip("#").upper()
            if typed != self._short:
                typer.echo(say("inbox.other"))
                return False
            came = self._sent("approve", confirmed=True)
        return self._ends(came)

    def _sent(self, verb: str, **more: Any) -> dict[str, Any]:
        came = self._client.call("decide", target=self._ref, verb=verb, **more)
        typer.echo(came["text"])
        return came

    def _ends(self, came: dict[str, Any]) -> bool:
        """Return whether the service accepted the answer, even if it is only a vote and other people still have to
        agree.
        """
        return bool(came["decided"]) or came["came"] == "counted"


def _ask(question: str) -> str:
    sys.stdout.write(question)
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line


def _shown(answer: dict[str, Any], place: str) -> str:
    """Return a request's card as text. `place` is its number among the pending requests, such as `2/5`."""
    from adapters.terminal.messages import thing
    from hitl.cards.shown import Part, PartKind

    shown, colour = answer["card"], RISK_COLOURS[answer["card"]["risk"]]
    head = say("inbox.head", place=place, sign=shown["sign"], risk=shown["risk"].upper(), short=answer["short"])
    parts = [Part(PartKind(part["kind"]), part["text"], part["name"]) for part in shown["parts"]]
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    below = (shown[name] for name in ("below", "place", "note", "rule", "stakes"))
    lines = [shown["headline"], *thing(parts, width), *below, *shown["warnings"], shown["approvers"]]
    return "\n".join(["", painted(head, colour), *filter(None, lines)])
