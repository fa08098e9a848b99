"""`graph` and `replies`: print the states of a call as a diagram, and show how Sayso understands replies."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.cli.common import fail
from bot.wording import say


def register(app: typer.Typer) -> None:
    """Add the command `graph` and the command group `replies`."""
    app.command()(graph)
    replies = typer.Typer(help="What people's answers are understood as.", no_args_is_help=True)
    replies.command("parse")(parse)
    replies.command("eval")(evaluate)
    replies.callback()(lambda: None)
    app.add_typer(replies, name="replies")


def graph() -> None:
    """Print the states of a call, as a Mermaid state diagram.

    Example: sayso graph > states.mmd
    """
    from hitl.lifecycle import diagram

    typer.echo(diagram(), nl=False)


def parse(
    text: Annotated[str | None, typer.Argument(help="The text to read; else stdin.")] = None,
    jsonl: Annotated[
        bool,
        typer.Option("--jsonl", help='One {"text", "language"?, "refs"?, "spans"?} a line in, one answer a line out.'),
    ] = False,
) -> None:
    """Show how Sayso understands a reply.

    Example: sayso replies parse "no because risky"
    """
    if not jsonl:
        typer.echo(json.dumps(_parsed({"text": sys.stdin.read() if text is None else text}), ensure_ascii=False))
        return
    for number, line in enumerate(sys.stdin, start=1):
        if line.strip():
            sys.stdout.write(json.dumps(_parsed(_asked(line, number))) + "\n")


def evaluate(
    file: Annotated[Path, typer.Argument(help='Labelled replies: {"text", "label", "also_ok"?, "reason"?} a line.')],
) -> None:
    """Measure how many replies of a labelled file Sayso understands. The result is one JSON object of numbers.

    Example: sayso replies eval corpus.jsonl
    """
    from hitl.replies import read, verdict
    from hitl.replies.scoring import score

    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines if line.strip()]
        figures = score(rows, (verdict(read(row["text"])) for row in rows))
    except OSError as error:
        fail(say("cli.unreadable", file=file, why=error.strerror), 2)
    except (ValueError, KeyError, TypeError) as error:
        fail(say("replies.unread", file=file, why=f"{type(error).__name__} {error}"), 2)
    typer.echo(json.dumps(figures))


def _asked(line: str, number: int) -> dict[str, Any]:
    """Return the arguments for `hitl.replies.read` from a line of JSON. `number` is the line's number, for errors."""
    from hitl.replies import Span, SpanKind

    try:
        value = json.loads(line)
    except ValueError as error:
        fail(say("replies.line", number=number, why=error), 2)
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        fail(say("replies.text", number=number), 2)
    try:
        spans = [Span(int(start), int(end), SpanKind(kind)) for start, end, kind in value.get("spans") or ()]
        refs, language = [str(ref) for ref in value.get("refs") or ()], value.get("language")
    except (TypeError, ValueError) as error:
        fail(say("replies.spans", number=number, why=error), 2)
    return {
        "text": value["text"],
        "known_refs": refs,
        "language": language if isinstance(language, str) else None,
        "spans": spans,
    }


def _parsed(asked: dict[str, Any]) -> dict[str, Any]:
    """Return, as JSON types, how Sayso understands a reply: the verdict on the whole reply, and its readings."""
    from hitl.cards.wording import sentence
    from hitl.replies import Reading, read, verdict

    def shown(reading: Reading) -> dict[str, Any]:
        return {
            "verdict": reading.verdict.value,
            "reason": reading.reason,
            "target": reading.target,
            "why": reading.why and sentence(reading.why),
        }

    readings = read(**asked)
    return {**shown(verdict(readings)), "readings": [shown(reading) for reading in readings]}
