"""The MCP servers of the settings: what is handed to them, and what stops the start."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from bot.doctor.checks import run_checks
from bot.errors import SettingsError
from bot.mcp import build_servers
from bot.settings import load
from hitl.errors import Unavailable
from hitl.platforms import Health


def written(folder: Path, text: str) -> Path:
    """A settings file."""
    file = folder / "sayso.toml"
    file.write_text(f'state = "{folder}/state"\nworkspace = "{folder}/w"\nruntime = "{folder}/r"\n{text}')
    return file


def test_secrets_come_from_files_and_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are known as secrets, so that none comes back in what the server says."""
    (tmp_path / "key").write_text("made up\n")
    monkeypatch.setenv("MADE_UP_TOKEN", "also made up")
    text = f"""
[mcp.servers.files]
command = ["serve", "/srv"]
env = {{LEVEL = "info"}}
env_files = {{KEY = "{tmp_path}/key"}}
env_pass = ["MADE_UP_TOKEN"]
"""
    target = build_servers(load(written(tmp_path, text))).upstreams["files"].target

    assert {"LEVEL": "info", "KEY": "made up", "MADE_UP_TOKEN": "also made up"} == target.env
    assert {"made up", "also made up"} == set(target.secrets)


async def test_no_log_holds_the_address_of_a_server(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Also when everything is logged: many servers take their key in the address, where no form tells it."""
    for name in ("", "httpx2", "httpcore2", "mcp"):
        caplog.set_level(logging.DEBUG, logger=name)
    servers = build_servers(load(written(tmp_path, '[mcp.servers.far]\nurl = "http://127.0.0.1:9/made-up-key/mcp"\n')))
    with pytest.raises(Unavailable):
        await servers.offers("far")
    await servers.stop()

    assert "upstream.not_started" in caplog.text
    assert "made-up-key" not in caplog.text
    assert "made-up-key" not in str(servers.troubles())


@pytest.mark.parametrize(
    "server",
    [
        "",
        'command = ["x"]\nurl = "https://example.org"',
        'url = "ftp://example.org"',
        'url = "https://example.org"\nenv = {A = "1"}',
        'command = ["x"]\nheaders = {A = "1"}',
        'command = ["x"]\nenv = {API_KEY = "sk-made-up-for-this-test-only-000000"}',
        'url = "https://example.org"\nheaders = {Authorization = "Bearer abcdefghijklmnop"}',
        'command = ["x"]\nenv_files = {A = "/nowhere/at/all"}',
        'command = ["x"]\nenv_pass = ["NOT_SET_ANYWHERE"]',
        'command = ["x"]\nenv_pass = ["SAYSO_TELEGRAM__TOKEN"]',
        'command = ["x"]\nother = 1',
    ],
)
def test_what_cant_be_used_stops_the_start(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two ways or none, what a way doesn't take, secrets in the file itself, and secrets that aren't there."""
    monkeypatch.delenv("SAYSO_TELEGRAM__TOKEN", raising=False)

    with pytest.raises(SettingsError):
        build_servers(load(written(tmp_path, f"[mcp.servers.files]\n{server}\n")))


@pytest.mark.parametrize("name", ["workspace", "shell", "Files", "a_b", "-a"])
def test_a_server_is_named_as_no_other_group(name: str, tmp_path: Path) -> None:
    """Rules for a group of ours must not hold for a server; and names are plain."""
    with pytest.raises(SettingsError):
        build_servers(load(written(tmp_path, f'[mcp.servers.{name}]\ncommand = ["x"]\n')))


@pytest.mark.parametrize(
    ("server", "health"),
    [
        ('command = ["sh"]', Health.GREEN),
        ('command = ["no-such-program-here"]', Health.RED),
        ('command = ["sh"]\nenv_files = {A = "/nowhere/at/all"}', Health.RED),
    ],
)
def test_doctor_looks_at_them(server: str, health: Health, tmp_path: Path) -> None:
    """Without starting one."""
    checks = run_checks(load(written(tmp_path, f"[mcp.servers.files]\n{server}\n")), None)

    assert [health] == [check.state for check in checks if check.name == "mcp"]
