"""`sayso ask` and `sayso wait`: their options, and the connection to the service.

`sayso_client.command` sends the requests and waits.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.common import AsJson, Config, SocketFile, Target, about, connect
from sayso_client.errors import ClientError
from sayso_client.wording import say

if TYPE_CHECKING:
    from collections.abc import Callable

    from sayso_client.asking import Call
    from sayso_client.client import Client

Url = Annotated[str | None, typer.Option("--url", help="The service's address, on another machine.")]
TokenFile = Annotated[str | None, typer.Option("--token-file", help="With --url: the file that holds the token.")]
AuthorityFile = Annotated[
    str | None, typer.Option("--ca-file", help="With --url: the authority that signed the service's certificate.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors, and why a request wasn't run.")]


def register(app: typer.Typer) -> None:
    """Add the commands `ask` and `wait`."""
    app.command(context_settings={"allow_interspersed_args": True})(ask)
    app.command()(wait)


def ask(
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="What it is called on the card.")],
    command: Annotated[list[str] | None, typer.Argument(metavar="CMD", help="Behind --: run this if approved.")] = None,
    tools: Annotated[str, typer.Option("--tools", help="The group that the tool belongs to.")] = "shell",
    args: Annotated[str, typer.Option("--args", help="Arguments as a JSON object, shown on the card.")] = "{}",
    timeout: Annotated[
        str | None, typer.Option("--timeout", help="How long to wait, from 5s to 7d: 90s, 5m, 2h.")
    ] = None,
    note: Annotated[str, typer.Option("--note", help="Your words on the card, shown as yours.")] = "",
    key: Annotated[str | None, typer.Option("--key", help="Idempotency key: the same key is the same call.")] = None,
    at_once: Annotated[bool, typer.Option("--at-once", help="On a no, don't wait for its reason.")] = False,
    by_policy: Annotated[bool, typer.Option("--by-policy", help="Let the policy decide whether to ask.")] = False,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="If a person must decide, print the ref and exit 16.")
    ] = False,
    quiet: Quiet = False,
    outcome: Annotated[str | None, typer.Option("--outcome", help="Write how it ended to this file, as JSON.")] = None,
    url: Url = None,
    token_file: TokenFile = None,
    ca_file: AuthorityFile = None,
    config: Config = None,
    socket: SocketFile = None,
    json: AsJson = False,
) -> None:
    """Ask a person, wait, and run CMD only if the answer is yes.

    Exits with CMD's status; without CMD 0 means approved. If CMD didn't run: 10 rejected (the reason is on stderr), 11
    nobody answered in time, 12 denied by the policy, 13 unavailable, undeliverable or tampered, 14 withdrawn, 15
    another process with the same key has the approval, 16 not waited for (--no-wait), 17 approved but not run in time,
    2 usage.

    It says on stderr what it waits for, and each change. After a rejection by a button, that person has 60 seconds to
    give a reason. The command ends with 10 when the reason comes, when that time is over, after Ctrl-C, or at once with
    --at-once.

    Example: sayso ask deploy --note "release 1.4" -- ./deploy.sh prod
    """
    from sayso_client.asking import Asking
    from sayso_client.command import Command, failed, request

    words = command or []
    try:
        asked = request(tool, words, tools=tools, args=args, note=note, key=key, timeout=timeout)
        asking = Asking(_reach(config, socket, url, token_file, ca_file), {**asked, "by_policy": by_policy})
    except ClientError as error:
        raise typer.Exit(failed(error)) from error
    run = Command(asking, quiet=quiet, at_once=at_once)
    raise typer.Exit(run.ask(words, no_wait=no_wait, json=json, outcome=outcome))


def wait(
    target: Target,
    *,
    quiet: Quiet = False,
    url: Url = None,
    token_file: TokenFile = None,
    ca_file: AuthorityFile = None,
    config: Config = None,
    socket: SocketFile = None,
    json: AsJson = False,
) -> None:
    """Wait until a request is decided.

    Exits with 0 if it was approved or allowed, else with the status of `sayso ask`. It doesn't run the request and
    doesn't withdraw it: the requester still runs the request. Ctrl-C ends only the wait, with 130.

    Example: sayso wait K7Q2MX
    """
    from sayso_client.asking import Asking
    from sayso_client.command import Command, failed

    try:
        reach = _reach(config, socket, url, token_file, ca_file)
    except ClientError as error:
        raise typer.Exit(failed(error)) from error

    def find() -> Call:
        with reach() as client:
            call: Call = about(client, "show", target)["call"]
            return call

    raise typer.Exit(Command(Asking(reach, {}), quiet=quiet).wait(find, json=json))


def _reach(
    config: Path | None, socket: Path | None, url: str | None, token_file: str | None, ca_file: str | None
) -> Callable[[], Client]:
    """Return a function that opens a connection to the address of the options, or else to the service's local socket.

    Raises ClientError if the options don't fit together, or if the address can't be used.
    """
    if not (url or token_file or ca_file):
        return lambda: connect(config, socket)
    if config or socket:
        raise ClientError("USAGE", say("ask.both"))
    from sayso_client.command import connector

    return connector(url, token_file, ca_file)
