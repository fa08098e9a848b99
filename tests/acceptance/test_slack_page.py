"""docs/how-to/slack.md, done as written: without an account, and with the simulator as the account."""

from __future__ import annotations

import os
import re
import socket
import stat
import subprocess
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from adapters.slack.setup import SCOPES
from bot.settings import load
from hitl.cards.wording import say
from hitl.outcomes import Refusal
from tests.acceptance.installation import SAYSO, until
from tests.acceptance.page import Page, exporting, following, newcomer
from tests.acceptance.simulator import Simulator
from tests.sentences import ENGLISH

pytestmark = pytest.mark.long

PAGE = Page("slack.md")
TRIAL = "Without an account"
ROOT = Path(__file__).parents[2]
#: The people of the page's configuration, in the order in which it names their ids.
CAST = ("cyd", "ben", "ada")
#: Not the page's: these tests needn't wait a second between messages, as on Slack.
HURRY = {"SAYSO_SLACK__PACE": "0"}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A new user's."""
    return newcomer(tmp_path)


@dataclass
class Checkout:
    """A checkout after `make setup`, where commands are typed; its environment is ours, only looked at."""

    folder: Path
    environment: Mapping[str, str]

    def type(self, line: str, given: str = "") -> str:
        """Type a line, and what it asks for; what it printed. It must end well."""
        done = subprocess.run(
            ["bash", "-euc", line],
            env=self.environment,
            cwd=self.folder,
            input=given,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        assert 0 == done.returncode, f"{line}: {done.stdout}{done.stderr}"
        return done.stdout

    @property
    def config(self) -> Path:
        """What `sayso init` writes."""
        return self.folder / "sayso.toml"


@pytest.fixture
def checkout(tmp_path: Path, environment: dict[str, str]) -> Checkout:
    """Links to what is there, so that nothing is written into it."""
    folder = tmp_path / "checkout"
    (folder / ".venv").mkdir(parents=True)
    for name in ("Makefile", "deploy", "scripts", "requirements.txt", "pyproject.toml"):
        (folder / name).symlink_to(ROOT / name)
    for name in ("bin", "lib", "pyvenv.cfg"):
        (folder / ".venv" / name).symlink_to(SAYSO.parents[1] / name)
    (folder / ".venv/.made").touch()
    return Checkout(folder, environment)


# -- without an account ---------------------------------------------------------------------------------------


def test_the_trial_goes_as_the_page_says(environment: dict[str, str], tmp_path: Path) -> None:
    """Both terminals: the asker's own press is refused, another's runs the call, a window takes why the next isn't."""
    _, second, typed = PAGE.blocks(TRIAL)
    notes = tmp_path / "home/sayso-trial/workspace/notes.txt"
    with PAGE.simulator(TRIAL, environment, tmp_path) as simulator:
        told = simulator.opening()
        with following(exporting(second, told), environment, tmp_path) as service:
            service.says("slack.connected")
            follow_trial(simulator, typed.splitlines(), notes)
        ids = [line.split()[-1] for line in simulator.printed if line.startswith("person")]
        ended = simulator.quit()

    assert 4 == len(told)
    assert set(ids) == set(re.findall(r"slack:\S+", second))
    assert "hello" == notes.read_text()
    assert 0 == ended


def follow_trial(simulator: Simulator, typed: list[str], notes: Path) -> None:
    """Type the page's lines, each when the one before has had its effect."""
    ask, own, other, again, no, why = typed
    simulator.type(ask)
    simulator.sees("[Approve]")
    simulator.type(own)
    simulator.sees("(only for one): ", Refusal.OWN)
    assert not notes.exists()
    simulator.type(other)
    simulator.sees("(edited)")
    simulator.type(again)
    simulator.sees("[Approve]")
    simulator.type(no)
    simulator.sees("(ben has the form 'Why?'")
    simulator.type(why)
    simulator.sees(what="agent.rejected.reason", reason="we need it")


# -- with one: the simulator is it ----------------------------------------------------------------------------


@dataclass
class Account:
    """A workspace, and what its pages tell: the app's secrets, people's ids."""

    simulator: Simulator
    told: Mapping[str, str]

    def place(self, name: str) -> str:
        """Somebody's id, or a channel's."""
        return next(line.split()[-1] for line in self.simulator.printed if line.split()[1:2] == [name])

    def does(self, act: str, part: str = "", what: str = "", **particulars: object) -> str:
        """Somebody's act, and the line that shows its effect, named as `Simulator.sees` wants it."""
        self.simulator.type(act)
        return self.simulator.sees(part, what, **particulars)


@pytest.fixture
def account(environment: dict[str, str], tmp_path: Path) -> Iterator[Account]:
    """Three people and a channel of them and the app."""
    with PAGE.simulator(TRIAL, environment, tmp_path, "--person=cyd") as simulator:
        told = simulator.opening()
        environment.update(HURRY, SAYSO_SLACK__API=told["SAYSO_SLACK__API"])
        yield Account(simulator, told)
        assert 0 == simulator.quit()


def test_the_way_from_an_app_to_answers(checkout: Checkout, account: Account) -> None:
    """Sections 1 to 4: manifest, secrets, configuration, lists, a card in its thread, and every way to answer it."""
    make_app(checkout, account)
    init, add, check, run = PAGE.blocks("2. A configuration")[0].splitlines()
    checkout.type(init)
    checkout.type(add)
    report = checkout.type(check)
    with following(run.split("#")[0].strip(), checkout.environment, checkout.folder) as service:
        service.says("slack.connected")
        account.does("ada command whoami", "(only for one): ", "chat.whoami", identity=account.place("ada"))
    list_people(checkout, account)
    with following(run.split("#")[0].strip(), checkout.environment, checkout.folder) as service:
        service.says("slack.connected")
        answer(account)
        answer_by_command(account)
        doctored = checkout.type("sayso doctor")

    assert ["slack token", "slack scopes", "slack receiving"] == greens(report)
    assert {account.place("ben"), account.place("ada")} <= set(greens(doctored))


def make_app(checkout: Checkout, account: Account) -> None:
    """Section 1: the manifest asks for what is needed, the secrets are readable by their owner only."""
    manifest, secrets = PAGE.blocks("1. An app")
    wanted = yaml.safe_load(checkout.type(manifest))
    folder, bot, app = secrets.splitlines()
    checkout.type(folder)
    checkout.type(bot, account.told["SAYSO_SLACK__BOT_TOKEN"] + "\n")
    checkout.type(app, account.told["SAYSO_SLACK__APP_TOKEN"] + "\n")
    kept = list((Path(checkout.environment["HOME"]) / ".config/sayso").iterdir())

    assert SCOPES == set(wanted["oauth_config"]["scopes"]["bot"])
    assert wanted["settings"]["socket_mode_enabled"]
    assert {"slack-bot-token", "slack-app-token"} == {file.name for file in kept}
    assert {0o600} == {stat.S_IMODE(file.stat().st_mode) for file in kept}


def greens(report: str) -> list[str]:
    """The checks that are well, of Slack, in their order; all must be."""
    lines = [line.partition(": ")[0] for line in report.splitlines() if "slack" in line]
    assert {"✔"} == {line[0] for line in lines}, report
    return [line[2:] for line in lines]


def list_people(checkout: Checkout, account: Account) -> None:
    """Section 2: the page's lines at the top, its table at the end, with the ids of people who are there."""
    lists, routes = PAGE.blocks("2. A configuration")[1:3]
    top, _, table = named(lists, account).partition("\n\n")
    text = routes + checkout.config.read_text()
    for line in top.splitlines():
        name = line.partition(" = ")[0]
        text, count = re.subn(rf"^{name} = .*", line, text, flags=re.MULTILINE)
        assert 1 == count
    checkout.config.write_text(f"{text}\n{table}")


def named(shown: str, account: Account) -> str:
    """A block with people who are there in place of the page's, those of Slack in the order of `CAST`."""
    shown = shown.replace("local:1000", f"local:{os.getuid()}")
    for there, name in zip(dict.fromkeys(re.findall(r"slack:\w+/U\w+", shown)), CAST, strict=True):
        shown = shown.replace(there, account.place(name))
    return shown


def answer(account: Account) -> None:
    """Section 2's end, and 3: the card stands in a thread and names who may answer; each way to answer it counts."""
    account.does("cyd mention write notes.txt hello", "Sayso (thread): ")
    account.simulator.sees("[Approve] [Reject] [Details]")
    shown = "\n".join(account.simulator.printed)
    assert all(f"@{account.place(name).rpartition('/')[2]}" in shown for name in ("ben", "ada"))
    assert "(only for one): " in account.does("cyd press Approve", what=Refusal.STRANGER)
    account.does("ada press Approve", f"{say('end.sign.done')} {say('end.done.do')}")
    ask(account)
    account.does("ben press Reject", "(ben has the form 'Why?'")
    account.does("ben close", "(edited)")
    ask(account)
    account.does("ben press Details", "(ben has the form 'Details'")
    account.simulator.type("ben close")
    account.does("ben reply no because we need it", what="agent.rejected.reason", reason="we need it")
    account.does(f"ben reply no {ask(account)}", "(edited)")
    ask(account)
    account.does("ben react -1", "(edited)")
    ask(account, "write more.txt text")
    account.does("ada react white_check_mark", "(edited)")


def ask(account: Account, words: str = "delete notes.txt") -> str:
    """Cyd asks for a call in the thread, without naming the app; its short reference, once its buttons are there."""
    account.simulator.type(f"cyd reply {words}")
    account.simulator.sees("[Approve]")
    return str(re.findall(r"· ([0-9A-Z]{6})\b", "\n".join(account.simulator.printed))[-1])


def effects(ref: str, ben: str) -> dict[str, str]:
    """What shows the effect of each command that the page names, given by Ben on the call with that reference."""
    return {
        "pending": ref,
        "sessions": f"(only for one): {say('chat.sessions.none')}",
        "show REF": "(ben has the form 'Details'",
        "approve REF": "(edited)",
        "reject REF REASON": say("agent.rejected.reason", short=ref, reason="REASON"),
        "withdraw REF": say("chat.withdrawn", short=ref),
        "whoami": f"(only for one): {say('chat.whoami', identity=ben, principal=ben)}",
        "help": f"(only for one): {say('chat.help.sayso').splitlines()[0]}",
    }


def answer_by_command(account: Account) -> None:
    """Every command of section 3: one that ends its call is followed by a new one; who asked withdraws."""
    (row,) = re.findall(r"^\| `/sayso` \| (.*) \|$", PAGE.text, re.MULTILINE)
    commands = re.findall(r"`([^`]+)`", row)
    ref, ben = ask(account), account.place("ben")
    assert list(effects(ref, ben)) == commands
    for command in commands:
        who = "cyd" if command.startswith("withdraw") else "ben"
        account.does(f"{who} command {command.replace('REF', ref, 1)}", effects(ref, ben)[command])
        if command.split()[0] in {"approve", "reject"}:
            ref = ask(account, "write more.txt again")


def test_where_cards_go_is_as_the_page_says(checkout: Checkout) -> None:
    """Section 4: a channel's settings are its threads' too; `origin` is where it was asked."""
    for line in ("sayso init", "sayso init slack"):
        checkout.type(line)
    (shown,) = PAGE.blocks("4. Where cards go")
    checkout.config.write_text(f"{checkout.config.read_text()}\n{shown}")
    people = load(checkout.config).directory()
    (channel,) = people.conversations
    thread = f"{channel}/1795834648.604714"
    _, *others = tomllib.loads(shown)["conversations"][channel]["routes"]

    assert (thread, *others) == people.routes_for(thread)
    assert ("ada",) == people.conversations[channel].approvers


def test_requests_are_taken_as_the_page_says(checkout: Checkout, tmp_path: Path) -> None:
    """Section 5: the manifest's address, the secret's file; what is signed is answered, what isn't is refused."""
    add, manifest = PAGE.blocks("5. Socket Mode or requests")[0].splitlines()
    wanted = yaml.safe_load(checkout.type(manifest))
    port = free_port()
    url = f"http://127.0.0.1:{port}/slack/events"
    with PAGE.simulator(TRIAL, checkout.environment, tmp_path, f"--request-url={url}") as simulator:
        told = simulator.opening()
        keep(checkout, told)
        checkout.type("sayso init")
        checkout.type(add)
        more = {**HURRY, "SAYSO_SLACK__API": told["SAYSO_SLACK__API"], "SAYSO_HTTP__PORT": str(port)}
        with following("sayso run", {**checkout.environment, **more}, checkout.folder) as service:
            service.says("slack.ready")
            until(lambda: status(f"http://127.0.0.1:{port}/readyz") == 200, "readiness")
            refused = status(url, b"{}")
            simulator.type("ada command whoami")
            simulator.sees("(only for one): ", "chat.whoami")
        simulator.quit()

    assert "https://sayso.example.org/slack/events" == wanted["settings"]["event_subscriptions"]["request_url"]
    assert (
        wanted["settings"]["event_subscriptions"]["request_url"] == wanted["settings"]["interactivity"]["request_url"]
    )
    assert not wanted["settings"]["socket_mode_enabled"]
    assert 401 == refused


def keep(checkout: Checkout, told: Mapping[str, str]) -> None:
    """The bot token as section 1 has it kept, and the signing secret as section 5 says."""
    folder, bot, _ = PAGE.blocks("1. An app")[1].splitlines()
    checkout.type(folder)
    checkout.type(bot, told["SAYSO_SLACK__BOT_TOKEN"])
    checkout.type(bot.replace("slack-bot-token", "slack-signing-secret"), told["SAYSO_SLACK__SIGNING_SECRET"])


def test_while_nothing_comes_in_readyz_says_so(checkout: Checkout, account: Account) -> None:
    """Section 7: 503 while Slack is out of reach, 200 before and after; section 6: `doctor` reminds of addresses."""
    make_app(checkout, account)
    for line in ("sayso init", "sayso init slack"):
        checkout.type(line)
    with checkout.config.open("a") as config:
        config.write("emails = true\n")
    port = free_port()
    url = f"http://127.0.0.1:{port}/readyz"
    environment = {**checkout.environment, "SAYSO_HTTP__PORT": str(port)}
    with following("sayso run", environment, checkout.folder):
        until(lambda: status(url) == 200, "readiness")
        account.simulator.type("down")
        until(lambda: status(url) == 503, "the lack of it")
        account.simulator.type("up")
        until(lambda: status(url) == 200, "readiness again")
    doctored = checkout.type("sayso doctor || true")
    manifest = checkout.type(PAGE.blocks("1. An app")[0])

    assert "! slack e-mail: " in doctored
    assert "users:read.email" in yaml.safe_load(manifest)["oauth_config"]["scopes"]["bot"]


def test_what_the_page_quotes_is_said() -> None:
    """Section 7: whatever stands under "you see" is a text of ours, but for what Slack itself shows."""
    table = PAGE.text.partition("| you see |")[2].partition("\n\n")[0]
    seen = [line.split(" | ")[0].removeprefix("| ") for line in table.splitlines()[2:]]
    texts = [*ENGLISH.values(), "slack scopes: im:read missing"]
    quoted = [line.removeprefix("`doctor`: ") for line in seen]
    patterns = [".*".join(map(re.escape, line.split("..."))) for line in quoted]
    ours = [
        line for line, pattern in zip(quoted, patterns, strict=True) if any(re.search(pattern, one) for one in texts)
    ]

    theirs = ["Buttons work", "A warning sign at a button; `doctor`"]
    assert theirs == [re.split(r", |: ", line)[0] for line in quoted if line not in ours]


def free_port() -> int:
    """A port on loopback that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def status(url: str, body: bytes | None = None) -> int:
    """How an address answers; 0 where nobody does."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body), timeout=5) as answer:  # noqa: S310 - loopback
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0
