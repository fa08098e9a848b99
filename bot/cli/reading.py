"""`graph` and `replies`: the diagram, and what words are understood as."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer


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
    for line in sys.stdin:
        if line.strip():
            sys.stdout.write(json.dumps(_parsed(json.loads(line)["text"]), ensure_ascii=False) + "\n")


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
