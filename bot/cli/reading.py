"""`graph` and `replies`: the diagram, and what words are understood as."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from bot.cli.common import fail


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command()(graph)
    replies = typer.Typer(help="What people's answers are understood as.", no_args_is_help=True)
    replies.command("parse")(parse)
    replies.callback()(lambda: None)
    app.add_typer(replies, name="replies")


def graph() -> None:
    """The life of a call, as a Mermaid state diagram.

    Example: sayso graph > states.mmd
    """
    from hitl.lifecycle import diagram

    typer.echo(diagram(), nl=False)


def parse(
    text: Annotated[str | None, typer.Argument(help="The text to read; else stdin.")] = None,
    jsonl: Annotated[bool, typer.Option("--jsonl", help='One {"text": ...} a line in, one answer a line out.')] = False,
) -> None:
    """What a text is understood as.

    Example: sayso replies parse "no because risky"
    """
    if not jsonl:
        typer.echo(json.dumps(_parsed(sys.stdin.read() if text is None else text), ensure_ascii=False))
        return
    for number, line in enumerate(sys.stdin, start=1):
        if line.strip():
            sys.stdout.write(json.dumps(_parsed(_text_of(line, number)), ensure_ascii=False) + "\n")


def _text_of(line: str, number: int) -> str:
    try:
        value = json.loads(line)
    except ValueError as error:
        fail(f"line {number} isn't JSON: {error}", 2)
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        fail(f'line {number} isn\'t an object with a "text"', 2)
    return str(value["text"])


def _parsed(text: str) -> dict[str, Any]:
    from hitl.replies import Reading, read, verdict

    def shown(reading: Reading) -> dict[str, Any]:
        return {
            "verdict": reading.verdict.value,
            "reason": reading.reason,
            "target": reading.target,
            "why": reading.why,
        }

    readings = read(text)
    return {**shown(verdict(readings)), "readings": [shown(reading) for reading in readings]}
