"""The servers of an MCP client move behind the gateway, and back to the byte."""

from __future__ import annotations

import json
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.cli.main import application
from bot.errors import SettingsError
from bot.mcp import build_servers
from bot.mcp_clients import McpClient, Move, carry_out, plan, take_back
from bot.settings import load

RELAY = ["/usr/bin/sayso", "mcp", "--config", "/etc/sayso.toml"]
KEY = "sk-made-up-for-this-test-only"
SERVERS: dict[str, Any] = {
    "My Files": {"command": "npx", "args": ["-y", "files", "/srv"], "env": {"LEVEL": "info", "API_KEY": KEY}},
    "remote": {"url": "https://example.org/mcp", "headers": {"Authorization": f"Bearer {KEY}"}},
    "old": {"type": "sse", "url": "https://example.org/sse"},
    "filled": {"command": "npx", "args": ["${input:token}"]},
}
CODEX = f"""# mine
model = "o5"

[mcp_servers.files]
command = "npx"
args = ["-y", "files"]

[mcp_servers.files.env]
API_KEY = "{KEY}"

[profiles.fast]
model = "o5-mini"  # quick
"""


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    """A configuration without servers."""
    file = tmp_path / "sayso.toml"
    file.write_text(f'state = "{tmp_path}/state"\n')
    return file


def client_file(folder: Path, client: McpClient = McpClient.CURSOR) -> Path:
    """The file of a client with a few servers and other things."""
    key = "servers" if client is McpClient.VSCODE else "mcpServers"
    file = folder / "client.json"
    file.write_text(CODEX if client is McpClient.CODEX else json.dumps({"theme": "ä", key: SERVERS}))
    file.chmod(0o640)
    return file


@pytest.mark.parametrize("client", McpClient)
def test_a_client_keeps_the_relay_alone_and_gets_everything_back(
    client: McpClient, tmp_path: Path, settings: Path
) -> None:
    """Its file, with its mode, and the settings are as they were; the secrets' files are gone."""
    file, folder = client_file(tmp_path, client), tmp_path / "secrets"
    before, settings_before = file.read_bytes(), settings.read_bytes()
    carry_out(plan(client, file, settings, folder, RELAY))
    moved = file.read_text()

    assert KEY not in moved
    assert RELAY[0] in moved
    assert all(0o600 == stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir())
    assert 0o640 == stat.S_IMODE(file.stat().st_mode)
    assert (file, True) == take_back(client, folder)
    assert (before, settings_before) == (file.read_bytes(), settings.read_bytes())
    assert ([], 0o640) == (list(folder.iterdir()), stat.S_IMODE(file.stat().st_mode))


def test_the_settings_get_the_servers_and_files_get_the_secrets(tmp_path: Path, settings: Path) -> None:
    """The service can start them with what they had."""
    move = plan(McpClient.CURSOR, client_file(tmp_path), settings, tmp_path / "secrets", RELAY)
    carry_out(move)
    targets = {name: each.target for name, each in build_servers(load(settings)).upstreams.items()}

    assert {"My Files", "remote"} == SERVERS.keys() - move.left.keys()
    assert ("npx", "-y", "files", "/srv") == targets["my-files"].command
    assert {"LEVEL": "info", "API_KEY": KEY} == targets["my-files"].env
    assert {"Authorization": f"Bearer {KEY}"} == targets["remote"].headers
    assert KEY not in settings.read_text()


def test_values_whose_names_differ_in_case_alone_keep_their_own_files(tmp_path: Path, settings: Path) -> None:
    """The service hands each value to the server under its own name."""
    file, env = tmp_path / "client.json", {"token": "first", "TOKEN": "second", "to_ken": "third", "to-ken": "fourth"}
    file.write_text(json.dumps({"mcpServers": {"files": {"command": "npx", "env": env}}}))
    carry_out(plan(McpClient.CURSOR, file, settings, tmp_path / "secrets", RELAY))

    assert env == build_servers(load(settings)).upstreams["files"].target.env


def test_a_move_that_ended_before_the_clients_file_is_taken_back(tmp_path: Path, settings: Path) -> None:
    """The client's file is as it was, so only the settings and the secrets go."""
    file, folder = client_file(tmp_path), tmp_path / "secrets"
    before, settings_before = file.read_bytes(), settings.read_bytes()
    carry_out(plan(McpClient.CURSOR, file, settings, folder, RELAY))
    file.write_bytes(before)

    assert (file, True) == take_back(McpClient.CURSOR, folder)
    assert (before, settings_before, []) == (file.read_bytes(), settings.read_bytes(), list(folder.iterdir()))


def test_servers_that_cant_be_moved_stay(tmp_path: Path, settings: Path) -> None:
    """Beside the relay, as they were."""
    file = client_file(tmp_path)
    carry_out(plan(McpClient.CURSOR, file, settings, tmp_path / "secrets", RELAY))
    held = json.loads(file.read_text())

    assert "ä" == held["theme"]
    assert {"old": SERVERS["old"], "filled": SERVERS["filled"]} == {
        name: server for name, server in held["mcpServers"].items() if name != "sayso"
    }


def test_other_tables_and_comments_of_toml_stay(tmp_path: Path, settings: Path) -> None:
    """A table of a server goes with all that is below it."""
    file = client_file(tmp_path, McpClient.CODEX)
    carry_out(plan(McpClient.CODEX, file, settings, tmp_path / "secrets", RELAY))
    held = file.read_text()

    assert "# mine" in held
    assert "# quick" in held
    assert {"sayso": {"command": RELAY[0], "args": RELAY[1:]}} == tomllib.loads(held)["mcp_servers"]


def moved(file: Path, settings: Path, client: McpClient = McpClient.CURSOR) -> Move:
    """A move that is carried out, with its secrets beside the settings."""
    move = plan(client, file, settings, settings.parent / "secrets", RELAY)
    carry_out(move)
    return move


def test_servers_of_claude_codes_projects_move_too(tmp_path: Path, settings: Path) -> None:
    """They run in the project's folder, and get its name if theirs is taken. Everything comes back to the byte."""
    file, first, second = tmp_path / "claude.json", {"command": "npx", "args": ["first"]}, {"command": "npx"}
    projects = {
        "/srv/shop": {"mcpServers": {"db": first}, "history": ["x"]},
        "/srv/blog": {"mcpServers": {"db": second}},
        "/srv/none": {"history": []},
    }
    file.write_text(json.dumps({"projects": projects}))
    before = file.read_bytes()
    moved(file, settings, McpClient.CLAUDE_CODE)
    held, targets = json.loads(file.read_text()), build_servers(load(settings)).upstreams

    assert ["sayso"] == list(held["mcpServers"])
    assert [{}, {}] == [held["projects"][name]["mcpServers"] for name in ("/srv/shop", "/srv/blog")]
    assert ["x"] == held["projects"]["/srv/shop"]["history"]
    assert ("/srv/shop", "/srv/blog") == tuple(str(targets[name].target.cwd) for name in ("db", "db-blog"))
    take_back(McpClient.CLAUDE_CODE, tmp_path / "secrets")
    assert before == file.read_bytes()


@pytest.mark.parametrize(
    ("client", "name"),
    [
        (McpClient.CLAUDE_CODE, ".mcp.json"),
        (McpClient.CURSOR, ".cursor/mcp.json"),
        (McpClient.VSCODE, ".vscode/mcp.json"),
    ],
)
def test_a_projects_own_file_is_named_as_ungated(
    client: McpClient, name: str, tmp_path: Path, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stays as it is. A file that can't be read is named too."""
    held = tmp_path / "project" / name
    held.parent.mkdir(parents=True)
    held.write_text(json.dumps({"servers" if client is McpClient.VSCODE else "mcpServers": {"db": {"command": "x"}}}))
    monkeypatch.chdir(tmp_path / "project")
    file = client_file(tmp_path, client)

    assert f"db (in {held})" in plan(client, file, settings, tmp_path / "secrets", RELAY).left
    held.write_text("// mine")
    assert str(held) in plan(client, file, settings, tmp_path / "secrets", RELAY).left


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("enabled", False),
        ("disabled", True),
        ("disabled_tools", ["delete_repo"]),
        ("enabled_tools", ["read"]),
        ("envFile", "/home/ada/.env"),
        ("bearer_token_env_var", "GH_TEST_UNSET"),
        ("headersHelper", "print-headers"),
    ],
)
def test_a_server_with_a_key_that_would_be_lost_stays(key: str, value: object, tmp_path: Path, settings: Path) -> None:
    """The reason names what can't be moved."""
    file = tmp_path / "client.json"
    file.write_text(json.dumps({"mcpServers": {"other": {"command": "x"}, "db": {"command": "npx", key: value}}}))
    why = plan(McpClient.CURSOR, file, settings, tmp_path / "secrets", RELAY).left

    assert {"db"} == set(why)
    assert key in why["db"] or isinstance(value, bool) or str(value) in why["db"]


def test_a_token_in_a_variable_and_the_time_to_start_move(
    tmp_path: Path, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The token gets a file, as any header."""
    monkeypatch.setenv("GH_TEST_TOKEN", KEY)
    file = tmp_path / "config.toml"
    file.write_text(
        '[mcp_servers.gh]\nurl = "https://example.org/mcp"\nbearer_token_env_var = "GH_TEST_TOKEN"\n'
        "startup_timeout_sec = 90\ntool_timeout_sec = 900\nenabled = true\n"
    )
    moved(file, settings, McpClient.CODEX)
    server = build_servers(load(settings)).upstreams["gh"].target

    assert ({"Authorization": f"Bearer {KEY}"}, 90) == (server.headers, server.start_s)
    assert KEY not in settings.read_text() + file.read_text()


def test_a_relay_that_was_added_by_hand_is_replaced(tmp_path: Path, settings: Path) -> None:
    """And comes back with the rest."""
    file = client_file(tmp_path, McpClient.CODEX)
    file.write_text('[mcp_servers.sayso]\ncommand = "sayso"\nargs = ["mcp"]\n\n' + CODEX)
    before = file.read_bytes()
    moved(file, settings, McpClient.CODEX)

    assert {"sayso": {"command": RELAY[0], "args": RELAY[1:]}} == tomllib.loads(file.read_text())["mcp_servers"]
    take_back(McpClient.CODEX, tmp_path / "secrets")
    assert before == file.read_bytes()


def test_a_move_is_taken_back_from_any_folder(tmp_path: Path, settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The backup names whole paths, whatever the command was given."""
    file, before = client_file(tmp_path), client_file(tmp_path).read_bytes()
    settings_before = settings.read_bytes()
    monkeypatch.chdir(tmp_path)
    carry_out(plan(McpClient.CURSOR, Path(file.name), Path(settings.name), Path("secrets"), RELAY))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    assert (file, True) == take_back(McpClient.CURSOR, tmp_path / "secrets")
    assert (before, settings_before) == (file.read_bytes(), settings.read_bytes())


def test_settings_that_cant_be_read_restore_nothing(tmp_path: Path, settings: Path) -> None:
    """The client's file stays too. Settings that are gone don't keep the servers from coming back."""
    file, before = client_file(tmp_path), client_file(tmp_path).read_bytes()
    moved(file, settings)
    after = file.read_bytes()
    settings.write_bytes(b"\xff")
    with pytest.raises(SettingsError, match="Nothing was restored"):
        take_back(McpClient.CURSOR, tmp_path / "secrets")
    assert after == file.read_bytes()

    settings.unlink()
    assert (file, False) == take_back(McpClient.CURSOR, tmp_path / "secrets")
    assert before == file.read_bytes()


@pytest.mark.parametrize("quote", ['"', "'"])
@pytest.mark.parametrize(
    "form", ["--api-key=hunter2-is-private", "--api-key hunter2-is-private", "-e DB_PASSWORD=hunter2"]
)
def test_a_secret_in_an_argument_is_hidden_and_warned_about(
    form: str, quote: str, tmp_path: Path, settings: Path
) -> None:
    """It would stay in the settings, which the warning says."""
    file = tmp_path / "config.toml"
    arguments = ", ".join(f"{quote}{each}{quote}" for each in form.split())
    file.write_text(f'[mcp_servers.notes]\ncommand = "npx"\nargs = [{arguments}]\n')
    shown = CliRunner().invoke(
        application(),
        ["init", "mcp", "codex", "--from", str(file), "--file", str(settings), "--secrets", str(tmp_path), "--yes"],
    )

    assert 0 == shown.exit_code
    assert "hunter2" not in shown.output
    assert "Warning" in shown.output


def test_the_values_of_a_server_that_stays_arent_shown(tmp_path: Path, settings: Path) -> None:
    """A diff has the lines around a change."""
    file = tmp_path / "client.json"
    servers = {"a": {"command": "x"}, "b": {"type": "sse", "url": "https://example.org", "headers": {"K": "hunter2"}}}
    file.write_text(json.dumps({"mcpServers": servers}))
    shown = CliRunner().invoke(
        application(),
        ["init", "mcp", "cursor", "--from", str(file), "--file", str(settings), "--secrets", str(tmp_path), "--yes"],
    )

    assert "b stays" in shown.output
    assert "hunter2" not in shown.output


@pytest.mark.parametrize(
    "held", ["{", "// mine\n{}", "{}", '{"mcpServers": {}}', '{"mcpServers": {"sayso": {"command": "sayso"}}}', "[]"]
)
def test_a_file_without_servers_to_move_is_left_alone(held: str, tmp_path: Path, settings: Path) -> None:
    """So is one that can't be read."""
    file = tmp_path / "client.json"
    file.write_text(held)

    with pytest.raises(SettingsError):
        plan(McpClient.CURSOR, file, settings, tmp_path / "secrets", RELAY)


def test_a_name_that_is_taken_moves_nothing(tmp_path: Path, settings: Path) -> None:
    """Neither that of a server, nor that of a group of this service; nor two names that become one."""
    file = client_file(tmp_path)
    for taken in ("my-files", "remote"):
        settings.write_text(f'[mcp.servers.{taken}]\ncommand = ["x"]\n')
        with pytest.raises(SettingsError):
            plan(McpClient.CURSOR, file, settings, tmp_path / "secrets", RELAY)
    settings.write_text("")
    for names in (["workspace"], ["a b", "a-b"]):
        file.write_text(json.dumps({"mcpServers": {name: {"command": "x"} for name in names}}))
        with pytest.raises(SettingsError):
            plan(McpClient.CURSOR, file, settings, tmp_path / "secrets", RELAY)


def test_servers_move_once(tmp_path: Path, settings: Path) -> None:
    """A second backup would take the place of the one that restores the file."""
    file, folder = client_file(tmp_path), tmp_path / "secrets"
    carry_out(plan(McpClient.CURSOR, file, settings, folder, RELAY))

    with pytest.raises(SettingsError, match="--remove"):
        plan(McpClient.CURSOR, file, settings, folder, RELAY)


def test_what_somebody_changed_since_is_not_overwritten(tmp_path: Path, settings: Path) -> None:
    """The client's file stays; tables of the settings that were edited stay, with their secrets."""
    file, folder = client_file(tmp_path), tmp_path / "secrets"
    carry_out(plan(McpClient.CURSOR, file, settings, folder, RELAY))
    moved = file.read_bytes()
    file.write_bytes(moved + b" ")
    with pytest.raises(SettingsError, match="changed"):
        take_back(McpClient.CURSOR, folder)
    file.write_bytes(moved)
    settings.write_text(settings.read_text().replace("npx", "bunx"))

    assert (file, False) == take_back(McpClient.CURSOR, folder)
    assert "bunx" in settings.read_text()


def test_the_shown_change_says_where_each_secret_goes(tmp_path: Path, settings: Path) -> None:
    """A path beside the name of a secret is no secret, and whoever agrees to the move must know it."""
    folder = tmp_path / "schlüssel"
    words = ["init", "mcp", "cursor", "--from", str(client_file(tmp_path)), "--file", str(settings)]
    shown = CliRunner().invoke(application(), [*words, "--secrets", str(folder)]).stdout
    files = plan(McpClient.CURSOR, client_file(tmp_path), settings, folder / "mcp", RELAY).secrets

    assert files
    assert all(f'"{file}"' in shown for file in files)
    assert KEY not in shown


def test_the_command_shows_the_change_without_secrets_and_asks(tmp_path: Path, settings: Path) -> None:
    """Without a terminal and without --yes nothing is written."""
    file, before = client_file(tmp_path), client_file(tmp_path).read_bytes()
    arguments = ["init", "mcp", "cursor", "--from", str(file), "--file", str(settings), "--secrets", str(tmp_path)]
    shown = CliRunner().invoke(application(), arguments)
    written = CliRunner().invoke(application(), [*arguments, "--yes"])
    back = CliRunner().invoke(application(), [*arguments, "--remove"])

    assert (2, 0, 0) == (shown.exit_code, written.exit_code, back.exit_code)
    assert "-" in shown.output
    assert KEY not in shown.output + written.output + back.output
    assert before == file.read_bytes()


def test_an_unknown_client_is_told_which_are_known(tmp_path: Path) -> None:
    """And nothing is written."""
    done = CliRunner().invoke(application(), ["init", "mcp", "emacs", "--secrets", str(tmp_path)])

    assert 2 == done.exit_code
    assert "cursor" in done.output
