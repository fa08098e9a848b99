"""The server as a program: it says how to point the service at it, then runs until it is stopped."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Sequence

from simulators.model.formats import Asked, Reply
from simulators.model.script import Script, ScriptError
from simulators.model.server import ModelServer


def main(argv: Sequence[str] | None = None) -> None:
    """Run the server. A script that can't be used ends the program with status 2."""
    options = argparse.ArgumentParser(prog="model", description=__doc__)
    options.add_argument("script", nargs="?", default="", help="a file of what the model says; a small one without it")
    options.add_argument("--port", type=int, default=8083, help="where it answers; 0 takes a free port")
    given = options.parse_args(argv)
    try:
        script = Script.read(given.script)
    except ScriptError as error:
        sys.exit(f"{error}")
    try:
        asyncio.run(_run(script, given.port))
    except KeyboardInterrupt:
        return


async def _run(script: Callable[[Asked], Reply], port: int) -> None:
    def shown(asked: Asked) -> Reply:
        reply = script(asked)
        calls = ", ".join(f"{call.tool}({call.args})" for call in reply.calls)
        _say(f"asked: {(asked.words or ('',))[-1]} {asked.fresh or ''}\n  -> {reply.text} {calls}".rstrip())
        return reply

    async with ModelServer(shown, port=port) as server:
        _say(f"A model answers at {server.root_url}. Point the agent at it:")
        _say("export SAYSO_AGENT__MODEL=openai:simulated")
        _say(f"export SAYSO_AGENT__BASE_URL={server.base_url('openai')}")
        _say("Ctrl-C ends it.")
        await asyncio.Event().wait()


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
