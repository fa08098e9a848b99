"""`sayso init telegram`: what it adds to a configuration, and what it refuses."""

from __future__ import annotations

import stat
import string
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bot.cli.main import application
from bot.settings import load
from tests.sentences import says

SECRET = "a-secret_of-ours"
#: Bot API, setWebhook, secret_token.
ALLOWED_IN_SECRETS = {*string.ascii_letters, *string.digits, "_", "-"}
NAMES = ['a "quoted" name', "back\\slash", "tab\tand\nline", "gr\u00fcn", "\x7f", "\N{KEY}"]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration without Telegram."""
    file = tmp_path / "sayso.toml"
    file.write_text('requesters = ["local:1000"]\n')
    return file


def init(config: Path, *words: str) -> Result:
    """The command, to its end."""
    return CliRunner().invoke(application(), ["init", "telegram", "--file", str(config), *words])


def webhook(config: Path, url: str = "https://sayso.example") -> Result:
    """The same for a webhook, its secrets beside the configuration."""
    token = str(config.parent / "keys/token")
    return init(config, "--token-file", token, "--receive", "webhook", "--webhook-url", url)


def refused(done: Result, named: str) -> bool:
    """Whether it ended with 2 and one line on stderr that names what is wrong."""
    said = done.stderr.splitlines()
    return (2, "", 1) == (done.exit_code, done.stdout, len(said)) and named in said[0]


def test_a_token_that_is_there_is_not_asked_for_again(config: Path) -> None:
    """Nor another mode for its file: a service's group may have to read it."""
    token = config.parent / "token"
    before = init(config, "--token-file", str(token)).stdout
    config.write_text('requesters = ["local:1000"]\n')
    token.write_text("7:A")
    after = init(config, "--token-file", str(token)).stdout

    assert says(before, "init.bot")
    assert says(after, "init.bot.there", token_file=token)


def test_it_appends_and_says_what_comes_next(config: Path) -> None:
    """What was there stays; the next steps are named in their order."""
    before = config.read_text()
    done = init(config, "--token-file", "token")
    steps = ["into token", "sayso deploy telegram", "sayso run", "/whoami"]

    assert (0, "") == (done.exit_code, done.stderr)
    assert config.read_text().startswith(before)
    assert {"token_file": "token", "receive": "polling"} == tomllib.loads(config.read_text())["telegram"]
    assert sorted(map(done.stdout.index, steps)) == list(map(done.stdout.index, steps))


@pytest.mark.parametrize(
    "written", ["[telegram]\n", "telegram = {}\n", "[ telegram ]\n", 'telegram.receive = "polling"\n']
)
def test_a_second_time_is_refused(config: Path, written: str) -> None:
    """However it is written; the file stays as it is."""
    config.write_text(written)

    assert refused(init(config), "has a [telegram] already")
    assert written == config.read_text()


def test_a_comment_is_not_a_table(config: Path) -> None:
    """Who only wrote about it can still add it; a last line without an end is no trouble."""
    config.write_text("# [telegram] comes later")

    assert 0 == init(config).exit_code
    assert "telegram" in tomllib.loads(config.read_text())


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_written_as_toml(config: Path, name: str) -> None:
    """What TOML writes otherwise comes back as it was given."""
    assert 0 == init(config, "--token-file", name).exit_code
    assert name == tomllib.loads(config.read_text("utf-8"))["telegram"]["token_file"]


def test_a_name_that_is_no_text_is_refused(config: Path) -> None:
    """TOML is UTF-8; a file name of other bytes can't stand in it."""
    before = config.read_text()

    assert refused(init(config, "--token-file", "a\udcffb"), "isn't UTF-8")
    assert before == config.read_text()


def test_a_webhook_gets_a_secret_and_a_port(config: Path) -> None:
    """The secret is made, closed to others, of letters that Telegram takes; and the settings can be used."""
    done = webhook(config)
    secret = config.parent / "keys/token.webhook"
    settings = load(config)

    assert (0, "") == (done.exit_code, done.stderr)
    assert (0o600, 0o700) == (stat.S_IMODE(secret.stat().st_mode), stat.S_IMODE(secret.parent.stat().st_mode))
    (config.parent / "keys/token").write_text("42:AAA")
    assert settings.telegram is not None
    assert secret.read_text().strip() == settings.section("telegram").secret("webhook_secret")
    assert set(secret.read_text().strip()) <= ALLOWED_IN_SECRETS
    assert len(secret.read_text().strip()) >= 43
    assert ("https://sayso.example", 8080) == (settings.telegram.webhook_url, settings.http.port)


def test_a_port_and_a_secret_that_are_there_stay(config: Path) -> None:
    """A second [http] would make the file unreadable, a second secret would need a second deploy."""
    config.write_text("[http]\nport = 9000\n")
    secret = config.parent / "keys/token.webhook"
    secret.parent.mkdir()
    secret.write_text(SECRET)

    assert 0 == webhook(config).exit_code
    assert 9000 == load(config).http.port
    assert SECRET == secret.read_text()


@pytest.mark.parametrize("url", ["", "http://sayso.example", "https://", "sayso.example", "https://["])
def test_a_webhook_needs_an_https_address(config: Path, url: str) -> None:
    """Telegram calls no other; nothing is written."""
    before = config.read_text()

    assert refused(webhook(config, url), "--webhook-url https://")
    assert before == config.read_text()
    assert not (config.parent / "keys").exists()


def test_a_secret_that_can_not_be_kept_adds_nothing(config: Path) -> None:
    """A webhook without its secret would be refused at every start."""
    before = config.read_text()
    (config.parent / "keys").touch()

    assert refused(webhook(config), "Nothing was added")
    assert before == config.read_text()


def test_without_a_file_it_says_what_to_do_first(tmp_path: Path) -> None:
    """`init` alone writes one."""
    none = tmp_path / "none.toml"

    assert refused(init(none), f"sayso init --file {none}")
    assert not none.exists()


@pytest.mark.parametrize(("written", "what"), [(b"[telegram\n", "toml.table"), (b"# \xff\n", "toml.utf8")])
def test_a_file_that_is_not_toml_is_left_alone(config: Path, written: bytes, what: str) -> None:
    """Nobody knows what adding to it would mean."""
    config.write_bytes(written)
    done = init(config)

    assert refused(done, str(config))
    assert says(done.stderr, what, path=config, line=1)
    assert written == config.read_bytes()
