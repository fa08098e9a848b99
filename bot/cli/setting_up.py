"""`init` and `doctor`: write a first configuration, and check everything that a call needs."""

from __future__ import annotations

import contextlib
import json as json_module
import os
import secrets
import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, NoReturn

import typer

from bot.cli.common import AsJson, Config, exit_if_red, fail, folded, print_checks, print_json, settings
from bot.wording import say
from sayso_client.terminal import INTERRUPTED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: The end of a prompt for yes or no, as Typer prints it.
_YES_OR_NO = " [y/N]: "
_TEMPLATE = """\
# Sayso. Every setting: docs/reference/configuration.md. Unknown keys are errors.
state = {state}
{runtime}workspace = {workspace}

# Who may start calls, who may approve them, who runs the service. Empty lists mean nobody.
requesters = [{requesters}]
approvers = [{approvers}]
operators = [{operators}]

# A requester's own yes never counts over the socket unless this names a risk (off, low, medium, high).
self_approval_socket = {self_approval}
"""


#: Settings that `init` adds for a person who is the only approver. With them, that person can also approve their own
#: requests in their private chat, where the cards for `approvers` go.
_ALONE = """
# Cards of requests from this machine go to each approver's private chat, once a chat platform is set up.
routes = ["approvers"]

# You are the only approver, so your own yes counts for requests from this machine, up to this risk.
[conversations.local]
self_approval = {limit}
"""


class Platform(StrEnum):
    """The things that `init` can set up: chat platforms, the servers of an MCP client, and coding agents."""

    TELEGRAM = "telegram"
    SLACK = "slack"
    MCP = "mcp"
    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    COPILOT = "copilot"
    GEMINI = "gemini"
    OPENCLAW = "openclaw"
    OPENCODE = "opencode"
    QWEN = "qwen"


class Limit(StrEnum):
    """The highest risk at which a requester may approve their own request."""

    OFF = "off"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Receive(StrEnum):
    """The ways in which a chat platform can send its events to the service.

    Telegram has `polling` and `webhook`; Slack has `socket` and `http`.
    """

    POLLING = "polling"
    WEBHOOK = "webhook"
    SOCKET = "socket"
    HTTP = "http"


def register(app: typer.Typer) -> None:
    """Add the commands `init` and `doctor`."""
    app.command()(init)
    app.command()(doctor)


def init(
    platform: Annotated[
        Platform | None, typer.Argument(help="What to add to the file, or a coding agent to gate.")
    ] = None,
    client: Annotated[
        str | None, typer.Argument(help="For mcp: claude-desktop, claude-code, cursor, vscode or codex.")
    ] = None,
    file: Annotated[Path, typer.Option("--file", help="Where to write it.")] = Path("sayso.toml"),
    requester: Annotated[
        list[str] | None, typer.Option("--requester", metavar="PRINCIPAL", help="Who may ask; default: you.")
    ] = None,
    approver: Annotated[
        list[str] | None, typer.Option("--approver", metavar="PRINCIPAL", help="Who may approve; default: you.")
    ] = None,
    state: Annotated[str, typer.Option("--state", help="The state folder.")] = "~/.local/state/sayso",
    runtime: Annotated[
        str | None,
        typer.Option("--runtime", help="The socket's folder, which approvers on this machine must be able to enter."),
    ] = None,
    workspace: Annotated[str, typer.Option("--workspace", help="The folder that tools work in.")] = "~/sayso-workspace",
    self_approval: Annotated[
        Limit, typer.Option("--self-approval", help="Up to which risk a requester's own yes counts over the socket.")
    ] = Limit.OFF,
    alone: Annotated[
        bool | None,
        typer.Option("--alone/--not-alone", help="Whether you are the only approver; asked at a terminal."),
    ] = None,
    token_file: Annotated[
        str, typer.Option("--token-file", help="Telegram: the file that holds the bot's token.")
    ] = "~/.config/sayso/telegram-token",
    receive: Annotated[
        Receive | None,
        typer.Option("--receive", help="How events come in: polling or webhook (Telegram), socket or http (Slack)."),
    ] = None,
    secrets_in: Annotated[
        str, typer.Option("--secrets", help="Slack and MCP: the folder for the files of their secrets.")
    ] = "~/.config/sayso",
    client_file: Annotated[
        Path | None, typer.Option("--from", help="MCP: the client's file, where it isn't the usual one.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="MCP and coding agents: don't ask before writing.")] = False,
    remove: Annotated[
        bool, typer.Option("--remove", help="MCP and coding agents: restore the file as it was.")
    ] = False,
    webhook_url: Annotated[str, typer.Option("--webhook-url", help="Telegram: this service's https address.")] = "",
    config: Config = None,
    managed: Annotated[
        bool, typer.Option("--managed", help="Coding agents: the settings that only root can change.")
    ] = False,
    wait: Annotated[
        int | None, typer.Option("--wait", help="Coding agents: seconds to wait for people, by default 600.")
    ] = None,
    untested: Annotated[
        bool, typer.Option("--untested", help="Coding agents: also for a version that wasn't tried.")
    ] = False,
) -> None:
    """Write a first configuration, or add to one.

    It can add a chat platform or the servers of an MCP client. It can also install a coding agent's hook, so that the
    service decides on the agent's tool calls.

    At a terminal it asks whether you are the only approver. If you are, you may approve your own requests up to high
    risk, here and on your phone; critical requests still need a second person. Then it offers each surface in turn, and
    runs `doctor`. It asks nothing if an option says who may ask or approve.

    Example: sayso init --approver local:1001 --runtime /tmp/sayso

    Example: sayso init telegram --token-file ~/.config/sayso/telegram-token

    Example: sayso init slack --secrets ~/.config/sayso

    Example: sayso init claude-code

    Example: sayso init mcp claude-code
    """
    if platform is Platform.MCP:
        from bot.cli.moving import move

        with _left("init.left.nothing"):
            move(client, client_file, file, Path(secrets_in).expanduser() / "mcp", yes=yes, remove=remove)
        return
    if platform is not None and platform not in _WAYS:
        flags = {"--managed": managed, "--untested": untested, "--yes": yes}
        words = [flag for flag, given in flags.items() if given] + (["--wait", str(wait)] if wait is not None else [])
        _gate(platform.value, config, words, wait, remove=remove)
    if platform is not None:
        way = _way(platform, receive)
        if platform is Platform.SLACK:
            _add_slack(file, secrets_in, way)
        else:
            _add_telegram(file, token_file, way, webhook_url)
        return
    people = _People(requester, approver, self_approval, alone)
    asks = people == _People(None, None, Limit.OFF, None) and sys.stdin.isatty()
    if asks:
        with _left("init.left.nothing"):
            people = people._replace(alone=typer.confirm(folded(say("init.alone"), beside=len(_YES_OR_NO))))
    _first(file, people, state, runtime, workspace, asks=asks)
    if asks:
        from bot.doctor.checks import run_checks

        with _left("init.left", file=file, named=_named(file)):
            _offer(file, token_file, secrets_in)
            typer.echo("\n" + say("init.checks", file=file))
            print_checks(run_checks(settings(file, ruling=True), file))
        typer.echo(folded(say("init.run", named=_named(file))))


@contextlib.contextmanager
def _left(key: str, **facts: object) -> Iterator[None]:
    """If the person leaves with Ctrl-C or Ctrl-D, say with the sentence of this key what was written, and exit 130."""
    try:
        yield
    except (typer.Abort, KeyboardInterrupt):
        typer.echo(err=True)
        fail(say(key, **facts), INTERRUPTED)


def doctor(config: Config = None, json: AsJson = False) -> None:
    """Check everything that a call needs, one line each.

    The exit status is 1 until every check that a call needs succeeds.

    Example: sayso doctor
    """
    from bot.doctor.checks import run_checks
    from bot.finding import find_config

    checks = run_checks(settings(config, ruling=True), find_config(config))
    if json:
        print_json([{"name": c.name, "state": c.state.value, "text": c.text} for c in checks])
    else:
        print_checks(checks)
    exit_if_red(checks)


class _People(NamedTuple):
    """The options of `init` about people.

    `alone` says whether the person is the only approver. It is None if no option and no answer says it.
    """

    requesters: list[str] | None
    approvers: list[str] | None
    self_approval: Limit
    alone: bool | None


def _named(file: Path) -> str:
    """Return the text ` --config FILE` for a command line, or '' if commands find this settings file without it."""
    from bot.finding import CONFIG_NAME

    return "" if file == Path(CONFIG_NAME) else f" --config {shlex.quote(str(file))}"


def _first(file: Path, people: _People, state: str, runtime: str | None, workspace: str, *, asks: bool) -> None:
    """Write a first configuration. Exit 2 if that fails or if the options contradict each other.

    `asks` says that `init` asks more questions afterwards, so it prints no next step yet.
    """
    me = f"local:{os.getuid()}"
    requesters, approvers = people.requesters or [me], people.approvers or [me]
    if not all([*requesters, *approvers]):
        fail(say("init.nobody"), 2)
    own = not people.requesters and not people.approvers
    alone, self_approval = people.alone, people.self_approval
    if alone and not own:
        fail(say("init.not_alone"), 2)
    if alone and self_approval is Limit.OFF:
        self_approval = Limit.HIGH
    text = _TEMPLATE.format(
        state=_toml(state),
        runtime=f"runtime = {_toml(runtime)}\n" if runtime else "",
        workspace=_toml(workspace),
        requesters=_quoted(requesters),
        approvers=_quoted(approvers),
        operators=_quoted([me]),
        self_approval=_toml(self_approval.value),
    ) + (_ALONE.format(limit=_toml(self_approval.value)) if alone else "")
    _write(file, text, "x")
    if alone:
        typer.echo(folded(say("init.shared", limit=self_approval.value)))
    typer.echo(folded(say("init.written" if asks else "init.written.next", file=file, named=_named(file))))
    if len(set(approvers)) == 1 and set(requesters) == set(approvers) and self_approval is Limit.OFF:
        typer.echo(folded(say("init.one_person", name=approvers[0])))


def _offer(file: Path, token_file: str, secrets_in: str) -> None:
    """Offer the surfaces that `init` can add, again and again until the person is done.

    If a surface can't be added, the file stays unchanged.
    """
    from bot.cli.moving import move
    from bot.mcp_clients import McpClient

    agents = [one for one in Platform if one is not Platform.MCP and one not in _WAYS]
    clients = list(McpClient)

    def hook() -> None:
        typer.echo(folded(say("init.hook", host=_chosen(agents), file=file)))

    def mcp() -> None:
        move(_chosen(clients), None, file, Path(secrets_in).expanduser() / "mcp", yes=False, remove=False)

    offered = {
        Platform.TELEGRAM.value.title(): lambda: _add_telegram(file, token_file, Receive.POLLING, ""),
        Platform.SLACK.value.title(): lambda: _add_slack(file, secrets_in, Receive.SOCKET),
        say("init.choice.http"): lambda: _add_http(file),
        say("init.choice.agent", agents=", ".join(agents)): hook,
        say("init.choice.mcp", clients=", ".join(clients)): mcp,
    }
    flows = tuple(offered.values())
    choices = "\n".join(say("init.choice", number=number, what=name) for number, name in enumerate(offered, 1))
    typer.echo("\n" + folded(say("init.surfaces", choices=choices)))
    while choice := typer.prompt(
        folded(say("init.choose", last=len(flows)), beside=3), default="", show_default=False
    ).strip():
        if choice not in map(str, range(1, len(flows) + 1)):
            typer.echo(folded(say("init.choose.other", last=len(flows))))
            continue
        with contextlib.suppress(typer.Exit):
            flows[int(choice) - 1]()


def _chosen(names: Sequence[str]) -> str:
    """Ask the person for one of these names. Ask again after any other answer."""
    while (name := str(typer.prompt(folded(say("init.which", names=", ".join(names)), beside=3))).strip()) not in names:
        pass
    return name


def _add_http(file: Path) -> None:
    """Append the settings for the HTTP API; existing settings stay unchanged."""
    if "http" not in _read(file):
        _write(file, "\n[http]\nport = 8080\n", "a")
    typer.echo(folded(say("init.http", file=file)))


def _gate(host: str, config: Path | None, words: list[str], wait_s: int | None, *, remove: bool) -> NoReturn:
    """Install or remove the hook of a coding agent, and exit with the status of that step."""
    from bot.doctor.coding_agents import set_up, take_out
    from bot.finding import find_config

    if remove:
        raise typer.Exit(take_out(host, words))
    if config is None and (found := find_config(None)) and found.absolute().parent == Path.cwd():
        # The installed hook will always use these settings. The current folder may be somebody else's project, so
        # `init` takes the settings in this folder only if the option `--config` names the file.
        fail(say("init.named", file=found.name), 2)
    raise typer.Exit(set_up(settings(config, ruling=True), host, words, wait_s))


def _add_telegram(file: Path, token_file: str, receive: Receive, webhook_url: str) -> None:
    """Append the settings for Telegram; existing settings stay unchanged."""
    before = _read(file)
    if "telegram" in before:
        fail(say("init.has", file=file, section="telegram"), 2)
    if receive is Receive.WEBHOOK and not _is_https(webhook_url):
        fail(say("init.webhook_url"), 2)
    lines = ["", "[telegram]", f"token_file = {_toml(token_file)}", f"receive = {_toml(receive.value)}"]
    if receive is Receive.WEBHOOK:
        secret_file = f"{token_file}.webhook"
        lines += [f"webhook_url = {_toml(webhook_url)}", f"webhook_secret_file = {_toml(secret_file)}"]
        lines += [] if "http" in before else ["", "[http]", "port = 8080"]
        _make_secret(Path(secret_file).expanduser())
    _write(file, "\n".join(lines) + "\n", "a")
    is_there = os.access(Path(token_file).expanduser(), os.F_OK)
    typer.echo(
        folded(say("init.bot.there" if is_there else "init.bot", section="telegram", file=file, token_file=token_file))
    )


_WAYS = {Platform.TELEGRAM: (Receive.POLLING, Receive.WEBHOOK), Platform.SLACK: (Receive.SOCKET, Receive.HTTP)}


def _way(platform: Platform, receive: Receive | None) -> Receive:
    """Return how the platform sends events: as the option `--receive` says, or else in the platform's usual way.

    Exit 2 if the platform can't send events in that way.
    """
    ways = _WAYS[platform]
    if receive is not None and receive not in ways:
        fail(say("init.receive", platform=platform.value, ways=", ".join(ways), receive=receive.value), 2)
    return receive or ways[0]


def _add_slack(file: Path, secrets_in: str, receive: Receive) -> None:
    """Append the settings for Slack; existing settings stay unchanged."""
    before = _read(file)
    if "slack" in before:
        fail(say("init.has", file=file, section="slack"), 2)
    folder = secrets_in.rstrip("/")
    second = "app_token" if receive is Receive.SOCKET else "signing_secret"
    files = {name: f"{folder}/slack-{name.replace('_', '-')}" for name in ("bot_token", second)}
    lines = ["", "[slack]", *(f"{name}_file = {_toml(path)}" for name, path in files.items())]
    lines.append(f"receive = {_toml(receive.value)}")
    if receive is Receive.HTTP and "http" not in before:
        lines += ["", "[http]", "port = 8080"]
    _write(file, "\n".join(lines) + "\n", "a")
    typer.echo(say("init.app", section="slack", file=file, files=", ".join(files.values())))


def _write(file: Path, text: str, how: Literal["x", "a"]) -> None:
    """Write the text to a new file (`how` is "x"), or append it ("a"). Exit 2 if the file can't be written."""
    from bot.files import create, replace

    try:
        if how == "x":
            create(file, text.encode())
        else:
            replace(file, file.read_bytes() + text.encode())
    except FileExistsError:
        fail(say("init.exists", file=file), 2)
    except OSError as error:
        fail(say("init.unwritable", file=file, why=error.strerror), 2)


def _read(file: Path) -> dict[str, Any]:
    """Return the content of a settings file, or exit 2 if it can't be read."""
    from bot.errors import SettingsError
    from bot.toml import read_toml

    try:
        return read_toml(file)
    except OSError as error:
        fail(say("init.unreadable", file=file, why=error.strerror), 2)
    except SettingsError as error:
        fail(say("init.no_toml", why=error), 2)


def _is_https(url: str) -> bool:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.hostname)


def _make_secret(file: Path) -> None:
    """Make the secret that proves that a webhook request comes from Telegram. An existing secret is kept."""
    if file.exists():
        return
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as handle:
            handle.write(f"{secrets.token_urlsafe(32)}\n")
    except OSError as error:
        fail(say("init.no_secret", file=file, why=error.strerror), 2)


def _toml(text: str) -> str:
    """Return the text as a TOML string in double quotes. It uses JSON's escapes, which are valid in TOML.

    It also escapes DEL (U+007F), as TOML requires.
    """
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        fail(say("init.no_utf8", text=repr(text)), 2)
    return json_module.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _quoted(names: list[str]) -> str:
    return ", ".join(map(_toml, names))
