"""`sayso doctor` and `sayso deploy slack` against a Slack server of ours; the manifest; `sayso init slack`."""

from __future__ import annotations

import tomllib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import SecretStr
from typer.testing import CliRunner

from adapters.slack.checks import report
from adapters.slack.settings import SlackSettings
from adapters.slack.setup import SCOPES
from bot.cli.deploying import slack_manifest
from bot.cli.main import application
from bot.errors import SettingsError
from bot.settings import ConversationSettings, HttpSettings, Settings, load
from hitl.platforms import Check, Health
from simulators.slack import App, SlackServer, User
from tests.next_steps import without_a_step
from tests.sentences import says

ALL = ("slack token", "slack scopes", "slack receiving")


@dataclass
class World:
    """A Slack server with one app, and the settings that point at it."""

    slack: SlackServer
    app: App
    ada: User

    def settings(self, **more: Any) -> SlackSettings:
        """As an operator would have them; without more, by Socket Mode."""
        ours: dict[str, Any] = {
            "bot_token": SecretStr(self.app.bot_token),
            "app_token": SecretStr(self.app.app_token),
            "signing_secret": SecretStr(self.app.signing_secret),
            "api": self.slack.api_url,
        }
        return SlackSettings(**(ours | more))

    async def look(self, slack: SlackSettings | None = None, **more: Any) -> dict[str, Check]:
        """What doctor says, by name."""
        settings = Settings(slack=slack or self.settings(), **more)
        checks = await report(settings.section("slack"), settings.directory(), settings.http.port)
        assert len(checks) == len({check.name for check in checks})
        assert [] == without_a_step(checks)
        return {check.name: check for check in checks}


@pytest.fixture
async def world() -> AsyncIterator[World]:
    """Everything as the manifest has it."""
    async with SlackServer() as slack:
        app = await slack.app(scopes=SCOPES, socket_mode=True)
        yield World(slack, app, await slack.user("Ada"))


async def test_when_all_is_well_all_is_green(world: World) -> None:
    """Token, scopes, and how events come in."""
    checks = await world.look()

    assert dict.fromkeys(ALL, Health.GREEN) == {name: check.state for name, check in checks.items()}


async def test_without_the_scope_for_files_alone_requests_still_get_answers(world: World) -> None:
    """Yellow, because only the file below a cut card is missing; with another scope missing too it is red."""
    await world.slack.revoke_scope("files:write", world.app)
    alone = (await world.look())["slack scopes"]
    await world.slack.revoke_scope("reactions:read", world.app)
    both = (await world.look())["slack scopes"]

    assert [Health.YELLOW, Health.RED] == [alone.state, both.state]
    assert all("files:write" in check.text for check in (alone, both))


async def test_without_the_scope_of_the_agent_view_only_conveniences_are_missing(world: World) -> None:
    """Yellow, alone and together with the scope for files; each is named with what is missing."""
    await world.slack.revoke_scope("assistant:write", world.app)
    alone = (await world.look())["slack scopes"]
    await world.slack.revoke_scope("files:write", world.app)
    both = (await world.look())["slack scopes"]

    assert [Health.YELLOW, Health.YELLOW] == [alone.state, both.state]
    assert says(alone.text, "doctor.slack.scopes.view", scope="assistant:write")
    assert all(f"{scope} missing" in both.text for scope in ("assistant:write", "files:write"))


async def test_a_wrong_token_is_named(world: World) -> None:
    """By Slack's own word for it, without the token."""
    (check,) = (await world.look(world.settings(bot_token=SecretStr("xoxb-wrong")))).values()

    assert (Health.RED, True) == (check.state, "invalid_auth" in check.text)
    assert "xoxb" not in check.text


async def test_out_of_reach_is_said(world: World) -> None:
    """With the address that was tried."""
    await world.slack.down()
    (check,) = (await world.look()).values()

    assert (Health.RED, True) == (check.state, world.slack.api_url in check.text)


async def test_missing_scopes_are_named(world: World) -> None:
    """Those that are needed by these settings."""
    await world.slack.revoke_scope("reactions:read", world.app)
    plain, emails = await world.look(), await world.look(world.settings(emails=True))

    assert (Health.RED, True) == (plain["slack scopes"].state, "reactions:read missing" in plain["slack scopes"].text)
    assert "users:read.email" in emails["slack scopes"].text
    assert Health.YELLOW is emails["slack e-mail"].state


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"app_token": None}, "needs an app token"),
        ({"app_token": SecretStr("xapp-wrong")}, "invalid_auth"),
        ({"receive": "http", "signing_secret": None}, "need a signing secret"),
        ({"receive": "http"}, "set http.port"),
    ],
)
async def test_what_is_in_the_way_of_events_is_named(world: World, changes: dict[str, Any], says: str) -> None:
    """A secret, a port, or Slack's own no."""
    check = (await world.look(world.settings(**changes)))["slack receiving"]

    assert (Health.RED, True) == (check.state, says in check.text)


async def test_requests_that_are_listened_for_are_well(world: World) -> None:
    """Slack doesn't tell whether they reach us."""
    checks = await world.look(world.settings(receive="http"), http=HttpSettings(port=8080))

    assert Health.GREEN is checks["slack receiving"].state


async def test_each_channel_is_looked_at(world: World) -> None:
    """Whether cards reach it, and what else does."""
    team = world.app.team_id
    joined = await world.slack.channel("joined", members=[world.ada, world.app.bot])
    public = await world.slack.channel("public", members=[world.ada])
    closed = await world.slack.channel("closed", members=[world.app.bot])
    await world.slack.archive(closed)
    places = [f"slack:{team}/{room.id}" for room in (joined, public, closed)]
    others = [f"slack:{team}/C404", "slack:T404/C1", "slack:nowhere"]
    checks = await world.look(routes=places, conversations={name: ConversationSettings() for name in others})
    states = [checks[place].state for place in (*places, *others)]

    assert [Health.GREEN, Health.YELLOW, Health.RED, Health.RED, Health.RED, Health.RED] == states


async def test_each_approver_is_looked_at(world: World) -> None:
    """Who is there, who left, and what can't be a person."""
    team = world.app.team_id
    gone = await world.slack.deactivate(await world.slack.user("Gone"))
    names = [f"slack:{team}/{number}" for number in (world.ada.id, gone.id, world.app.user_id, "U404")]
    checks = await world.look(approvers=["ada", *names[1:], "slack:ada"], principals={"ada": [names[0]]})

    assert [Health.GREEN, *[Health.RED] * 4] == [checks[name].state for name in (*names, "slack:ada")]


async def test_addresses_that_are_off_are_nobody(world: World) -> None:
    """Who lists one must switch them on."""
    checks = await world.look(approvers=["email:ada@acme.example"])

    assert Health.RED is checks["slack e-mail"].state


def test_the_manifest_asks_for_just_what_is_needed() -> None:
    """The same scopes as doctor looks for; Socket Mode, and no address."""
    made = yaml.safe_load(slack_manifest(SlackSettings()))

    assert SCOPES == set(made["oauth_config"]["scopes"]["bot"])
    assert made["settings"]["socket_mode_enabled"]
    assert "request_url" not in made["settings"]["interactivity"]


def test_the_manifest_for_requests_names_the_address() -> None:
    """Wherever Slack sends something; and the scope for addresses, if they are on."""
    made = yaml.safe_load(slack_manifest(SlackSettings(receive="http", emails=True), "https://sayso.example/"))
    url = "https://sayso.example/slack/events"
    part = made["settings"]
    urls = [part["event_subscriptions"]["request_url"], part["interactivity"]["request_url"]]

    assert [url] * 3 == [*urls, made["features"]["slash_commands"][0]["url"]]
    assert not part["socket_mode_enabled"]
    assert "users:read.email" in made["oauth_config"]["scopes"]["bot"]


@pytest.mark.parametrize("url", ["", "http://sayso.example"])
def test_an_address_must_be_https(url: str) -> None:
    """Slack takes no other."""
    with pytest.raises(SettingsError, match="https"):
        slack_manifest(SlackSettings(receive="http"), url)


def test_deploy_prints_the_manifest(tmp_path: Path) -> None:
    """As YAML on stdout; no app has to exist yet."""
    file = tmp_path / "sayso.toml"
    file.write_text("")
    done = CliRunner().invoke(application(), ["deploy", "slack", "--config", str(file), "--manifest"])

    assert 0 == done.exit_code
    assert yaml.safe_load(done.stdout)["settings"]["socket_mode_enabled"]


def test_deploy_says_what_is_missing(tmp_path: Path) -> None:
    """In one line."""
    file = tmp_path / "sayso.toml"
    file.write_text("")
    done = CliRunner().invoke(application(), ["deploy", "slack", "--config", str(file)])

    assert 2 == done.exit_code
    assert "There is no [slack]" in done.stderr


@pytest.mark.parametrize(("ways", "second"), [([], "app_token"), (["--receive", "http"], "signing_secret")])
def test_init_appends_what_slack_needs(tmp_path: Path, ways: list[str], second: str) -> None:
    """What was there stays; the next steps are named; a second time is refused."""
    file = tmp_path / "sayso.toml"
    file.write_text('requesters = ["local:1000"]\n')
    argv = ["init", "slack", "--file", str(file), "--secrets", str(tmp_path), *ways]
    done, again = [CliRunner().invoke(application(), argv) for _ in range(2)]
    made = load(file).slack

    assert (0, 2) == (done.exit_code, again.exit_code)
    assert made is not None
    assert tomllib.loads(file.read_text())["slack"].keys() == {"bot_token_file", f"{second}_file", "receive"}
    assert all(step in done.stdout for step in ("slack --manifest", "run sayso deploy slack,", "/sayso whoami"))


def test_init_refuses_another_platforms_way(tmp_path: Path) -> None:
    """Nothing is written then."""
    file = tmp_path / "sayso.toml"
    file.write_text("")
    done = CliRunner().invoke(application(), ["init", "slack", "--file", str(file), "--receive", "polling"])

    assert (2, "") == (done.exit_code, file.read_text())


@pytest.mark.parametrize("name", ["bot_token", "app_token", "signing_secret"])
def test_no_secret_stands_in_the_configuration(tmp_path: Path, name: str) -> None:
    """It is said where it belongs."""
    file = tmp_path / "sayso.toml"
    file.write_text(f'[slack]\n{name} = "x"\n')
    with pytest.raises(SettingsError, match=f"SAYSO_SLACK__{name.upper()}"):
        load(file)
