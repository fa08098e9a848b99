"""What the doctor says of settings and folders, each check by its name."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest

from adapters.database.folder import StateFolder
from adapters.database.sqlite.log import has_reset_fault
from adapters.database.sqlite.store import SqliteStore
from adapters.executors.confinement import Confinement, Sandbox, works
from bot.doctor.checks import _dry_run, run_checks
from bot.settings import Settings, load
from bot.wording import say
from hitl.call import Entry, Event
from hitl.platforms import Check, Health
from hitl.ports import Change, Unit, adding
from hitl.proof import seals
from hitl.testing import SetClock, a_call
from tests.databases import migrated
from tests.hitl.world import NOON
from tests.next_steps import without_a_step
from tests.sentences import says

__all__ = ["migrated"]

ME, OTHER = f"local:{os.getuid()}", "local:4321"
#: Somebody asks, somebody else approves; no tool runs here.
APART = f'requesters = ["{OTHER}"]\napprovers = ["{ME}"]\n'


#: The name of the check of requests from chats that no setting names.
OTHER_CHATS = say("doctor.origin.name.other", platform="Telegram")
#: Nobody else of this machine.
OURS = f'requesters = ["{ME}"]\napprovers = ["{ME}", "telegram:42"]\n'


def token(
    state: Path, name: str, scope: str, owner: str | None, revoked: int | None, *, until: int | None = None
) -> None:
    """A token in the database of that folder."""
    kept = {"name": name, "hash": name, "scope": scope, "owner": owner, "revoked_at": revoked, "until": until}
    rest = {"origins": "[]", "routes": "[]", "created_at": 1, "created_by": ME, "mac": ""}
    row = {**kept, **rest}
    with sqlite3.connect(state / "sayso.db") as database:
        database.execute(
            f"INSERT INTO credentials ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",  # noqa: S608
            list(row.values()),
        )


@pytest.fixture
def checked(tmp_path: Path) -> Callable[..., dict[str, Check]]:
    """The checks of an installation, by their names."""
    (tmp_path / "state").mkdir(mode=0o700)

    def check(
        settings: str = APART, *, tools: str = '["list_files"]', runtime: Path = Path("/run/none-is-here")
    ) -> dict[str, Check]:
        file = tmp_path / "sayso.toml"
        folders = f'state = "{tmp_path}/state"\nworkspace = "{tmp_path}/workspace"\nruntime = "{runtime}"\n'
        file.write_text(f"{folders}tools = {{ allow = {tools} }}\n{settings}")
        checks = run_checks(load(file), file)
        assert [] == without_a_step(checks)
        return {check.name: check for check in checks}

    return check


def test_sound_settings_leave_nothing_red_but_the_service(checked: Callable[..., dict[str, Check]]) -> None:
    """Which isn't up, and that is said with what to start."""
    red = {name: check.text for name, check in checked().items() if check.state is Health.RED}

    assert ["service"] == list(red)
    assert says(red["service"], "reach.none", path="/run/none-is-here/sayso.sock")


@pytest.mark.parametrize(
    ("http", "found"),
    [
        ('host = "0.0.0.0"\nport = 8080\nproxy = true', True),
        ('host = "10.0.0.5"\nport = 8080\nproxy = true', True),
        ("port = 8080\nproxy = true", False),
        ('host = "localhost"\nport = 8080\nproxy = true', False),
        ('host = "0.0.0.0"\nport = 8080', False),
        ('host = "0.0.0.0"\nproxy = true', False),
    ],
)
def test_tokens_that_other_machines_may_send_without_tls_are_yellow(
    checked: Callable[..., dict[str, Check]], http: str, *, found: bool
) -> None:
    """Behind a proxy on another machine nothing here tells the proxy from anybody else who reaches the port."""
    checks = checked(f"{APART}[http]\n{http}\n")

    assert found is ("http" in checks)
    assert not found or Health.YELLOW is checks["http"].state


def test_the_file_of_the_settings_is_named(checked: Callable[..., dict[str, Check]], tmp_path: Path) -> None:
    """Without one, doctor is red: its lines are about no service then. Settings of the environment are a choice."""
    named = checked()["settings"].text
    none, environment = (run_checks(found, None)[0] for found in (Settings(), Settings(approvers=["local:1"])))

    assert str(tmp_path / "sayso.toml") == named
    assert [Health.RED, Health.YELLOW] == [none.state, environment.state]
    assert all(str(Path.cwd()) in check.text and "--config" in check.text for check in (none, environment))


def test_a_policy_that_can_not_be_used_is_red_in_one_line(
    checked: Callable[..., dict[str, Check]], tmp_path: Path
) -> None:
    """Whatever number of problems it has."""
    (tmp_path / "team.yaml").write_text("version: 1\nrulez: []\ndefault: allow\n")
    check = checked(f'policy = "team"\npolicies = ["{tmp_path}"]\n{APART}')["policy"]

    assert (Health.RED, 1) == (check.state, len(check.text.splitlines()))
    assert "rulez" in check.text


@pytest.mark.parametrize(
    ("settings", "red"),
    [
        (APART.replace(f'approvers = ["{ME}"]', "approvers = []"), "approvers"),
        (APART.replace(f'requesters = ["{OTHER}"]', "requesters = []"), "requesters"),
        (APART.replace(OTHER, ME), "second person"),
        (APART.replace(ME, "telegram:777000"), "people"),
    ],
)
def test_what_leaves_calls_ungated_is_red(checked: Callable[..., dict[str, Check]], settings: str, red: str) -> None:
    """Lists that let nobody answer, or the wrong ones, by name."""
    assert Health.RED is checked(settings)[red].state


@pytest.mark.parametrize(
    ("settings", "yellow"),
    [
        (f'{APART}self_approval_socket = "low"\n', "self_approval_socket"),
        (f'{APART}[conversations.local]\nself_approval = "low"\n', "self_approval in local"),
        (APART.replace(OTHER, ME), "separation"),
        (APART.replace(f'"{OTHER}"', f'"{OTHER}", "{ME}"'), "second person"),
    ],
)
def test_what_weakens_a_promise_is_yellow(checked: Callable[..., dict[str, Check]], settings: str, yellow: str) -> None:
    """Requests are gated all the same, but an agent might answer for a person."""
    assert Health.YELLOW is checked(settings)[yellow].state


@pytest.mark.parametrize(
    "nobody", ["ada", "4321", "@ada", "local:ada", "telegram:42", "slack:T1/U1", "email:ada@corp.example", "carrier:7"]
)
@pytest.mark.parametrize(("who", "role"), [(ME, "unknown approvers"), (OTHER, "unknown requesters")])
def test_somebody_whom_nothing_here_knows_is_told(
    checked: Callable[..., dict[str, Check]], nobody: str, who: str, role: str
) -> None:
    """Red where there is no other, for calls would wait in vain; a name that is mapped to somebody is all right."""
    alone = checked(APART.replace(who, nobody))[role]
    beside = checked(APART.replace(f'["{who}"]', f'["{who}", "{nobody}"]'))[role]
    mapped = checked(f'{APART.replace(who, nobody)}[principals]\n"{nobody}" = ["{who}"]\n')

    assert (Health.RED, Health.YELLOW) == (alone.state, beside.state)
    assert nobody in alone.text
    assert role not in mapped


def test_the_owner_of_a_token_is_somebody(
    checked: Callable[..., dict[str, Check]], tmp_path: Path, migrated: Path
) -> None:
    """With the HTTP API a plain name may be a token's owner: yellow until there is one, then no line."""
    settings = f'requesters = ["bob"]\napprovers = ["{ME}", "token:desk"]\n'
    http = "[http]\nport = 8080\n"

    assert Health.RED is checked(settings)["unknown requesters"].state
    before = checked(settings + http)
    assert (Health.YELLOW, Health.YELLOW) == (before["requesters by token"].state, before["unknown approvers"].state)
    assert "unknown requesters" not in before
    shutil.copy(migrated, tmp_path / "state" / "sayso.db")
    for made in (("ci", "agent", "bob", None), ("desk", "approver", None, None)):
        token(tmp_path / "state", *made)
    after = checked(settings)
    assert not {"unknown requesters", "requesters by token", "unknown approvers"} & set(after)


@pytest.mark.parametrize(
    "made", [("ci", "approver", "bob", None), ("ci", "agent", "ada", None), ("ci", "agent", "bob", 1)]
)
def test_only_an_agents_token_that_works_makes_its_owner_somebody(
    checked: Callable[..., dict[str, Check]], tmp_path: Path, migrated: Path, made: tuple[str, str, str, int | None]
) -> None:
    """With a token of another scope, of another owner or that was revoked, nobody can be this requester."""
    shutil.copy(migrated, tmp_path / "state" / "sayso.db")
    token(tmp_path / "state", *made)

    assert "unknown requesters" in checked(f'requesters = ["bob"]\napprovers = ["{ME}"]\n')


def test_listed_users_must_get_to_the_socket(checked: Callable[..., dict[str, Check]], tmp_path: Path) -> None:
    """Others of this machine are kept out by any folder above it that is closed; ours alone need not pass."""
    tmp_path.chmod(0o700)
    kept_out = checked(runtime=tmp_path / "run")["socket"]

    assert Health.RED is kept_out.state
    assert kept_out.text.startswith(f"{OTHER} can't reach {tmp_path / 'run'}")
    assert "socket" not in checked()
    assert "socket" not in checked(OURS, runtime=tmp_path / "run")


def test_requesters_of_other_users_need_a_folder_that_nobody_else_could_make(
    checked: Callable[..., dict[str, Check]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder where everybody may make folders, another user could pose as the service, so `sayso ask` refuses."""
    monkeypatch.setattr("bot.doctor.checks._service_uid", lambda _: 4242)
    tmp_path.chmod(0o1777)
    asking = f'requesters = ["{OTHER}"]\napprovers = ["local:4242"]\n'
    answering = f'requesters = ["local:4242"]\napprovers = ["{OTHER}"]\n'

    assert Health.RED is checked(asking, runtime=tmp_path / "run")["socket for requesters"].state
    assert "socket for requesters" not in checked(answering, runtime=tmp_path / "run")
    assert "socket for requesters" not in checked(asking)


@pytest.mark.parametrize(
    ("setting", "exposed"),
    [
        ('policies = ["{root}/workspace/rules"]', "workspace/rules"),
        ('telegram.token_file = "{root}/workspace/.token"', "workspace/.token"),
        ('telegram.webhook_secret_file = "{root}/state/../workspace/secret"', "state/../workspace/secret"),
        ('slack.app_token_file = "{root}/link/app"', "link/app"),
    ],
)
def test_what_tools_could_read_is_red(
    checked: Callable[..., dict[str, Check]], tmp_path: Path, setting: str, exposed: str
) -> None:
    """Secrets and policies in the workspace, whatever way leads there."""
    (tmp_path / "workspace").mkdir()
    (tmp_path / "link").symlink_to("workspace")
    check = checked(f"{setting.format(root=tmp_path)}\n{APART}")["workspace"]

    assert Health.RED is check.state
    assert check.text.startswith(f"{tmp_path}/{exposed}: ")


def test_a_secret_that_every_user_can_read_is_told(checked: Callable[..., dict[str, Check]], tmp_path: Path) -> None:
    """Yellow, for a container's secrets are so and nobody else is there; one that is closed is all right."""
    file = tmp_path / "token"
    file.touch()
    named = f'telegram.token_file = "{file}"\n{APART}'
    file.chmod(0o644)
    open_ = checked(named)["secrets"]
    file.chmod(0o640)

    assert Health.YELLOW is open_.state
    assert says(open_.text, "doctor.secrets.open", paths=file, files=file)
    assert "secrets" not in checked(named)


@pytest.mark.parametrize("route", ["slack:T1/C1", "telegram:-1001", "matrix:!room", "C1"])
def test_a_route_that_leads_nowhere_is_red(checked: Callable[..., dict[str, Check]], route: str) -> None:
    """Named for all, or for one conversation; words for places that a call tells are all right."""
    for_all = checked(f'{APART}routes = ["{route}", "approvers"]\n')["unknown routes"]
    for_one = checked(f'{APART}[conversations.local]\nroutes = ["origin", "{route}"]\n')["unknown routes"]

    assert [Health.RED] * 2 == [for_all.state, for_one.state]
    assert all(check.text.startswith(f"{route}: ") for check in (for_all, for_one))


def test_a_misspelled_platform_of_a_route_is_told_with_the_one_that_was_meant(
    checked: Callable[..., dict[str, Check]],
) -> None:
    """The whole route, ready to be copied."""
    text = f'{APART}routes = ["telegrm:42"]\n[telegram]\napi = "http://127.0.0.1:9"\n'
    told = checked(text)["unknown routes"].text

    assert says(told, "doctor.unknown.routes", routes=say("near.name", name="telegrm:42", near="telegram:42"))


@pytest.mark.parametrize(("approver", "told"), [("local:4321", True), ("telegram:42", False)])
def test_a_chat_on_which_no_approver_has_an_account_is_yellow(
    checked: Callable[..., dict[str, Check]], approver: str, *, told: bool
) -> None:
    """Everything looks set up there, but no card comes and nobody could answer."""
    checks = checked(f'{APART.replace(ME, approver)}[telegram]\napi = "http://127.0.0.1:9"\n')
    found = checks.get(say("doctor.unanswered.name", platform="Telegram"))

    assert (Health.YELLOW if told else None) == (found and found.state)


def test_the_missing_file_of_a_token_is_to_be_written(checked: Callable[..., dict[str, Check]], tmp_path: Path) -> None:
    """The settings that name it are right, so the line doesn't say to correct them."""
    file = tmp_path / "token"
    text = checked(f'{APART}[telegram]\ntoken_file = "{file}"\n')["telegram"].text

    assert says(f"{text}.", "setting.secret.none", setting="telegram.token_file", file=file)


def test_people_of_a_platform_that_is_set_up_are_known(checked: Callable[..., dict[str, Check]]) -> None:
    """And its places; whether they are there, the platform's own lines say."""
    here = 'routes = ["telegram:-1001"]\n[telegram]\napi = "http://127.0.0.1:9"\n'

    assert not {"unknown approvers", "unknown routes"} & set(checked(APART.replace(ME, "telegram:42") + here))


def test_ones_own_yes_is_an_answer_where_it_counts(checked: Callable[..., dict[str, Check]]) -> None:
    """Somebody alone, whose own yes counts by name, isn't told that nobody can approve."""
    alone = f'{APART.replace(OTHER, ME)}self_approval_socket = "high"\n'

    assert "second person" not in checked(alone)


def test_a_folder_that_is_open_to_others_is_red(checked: Callable[..., dict[str, Check]], tmp_path: Path) -> None:
    """With how to close it; nothing is mended silently."""
    (tmp_path / "state").chmod(0o750)
    check = checked()["state folder"]

    assert (Health.RED, True) == (check.state, f"chmod 700 {tmp_path / 'state'}" in check.text)
    assert 0o750 == stat.S_IMODE((tmp_path / "state").stat().st_mode)


async def test_the_database_says_what_is_still_to_be_done(
    checked: Callable[..., dict[str, Check]], tmp_path: Path
) -> None:
    """Pending and running calls, since when the oldest is pending, and the events that were set aside."""
    folder, clock = StateFolder.open(tmp_path / "state"), SetClock(NOON)
    store = await SqliteStore.open(folder, clock)
    empty = checked()["database"]
    call = a_call(clock.now())
    await store.commit(Unit(None, lambda _: Change(call)))
    await store.receive("telegram", "1", "chat", b"{}")
    await store.stumble("telegram", "1", "KeyError", aside_after=1)
    kept = checked()["database"]
    await store.close()
    folder.close()

    assert [Health.GREEN, Health.YELLOW] == [empty.state, kept.state]
    assert "0 pending, 0 running" in empty.text
    assert says(kept.text, "doctor.database.since", pending=1, oldest="2026-11-27 12:00", running=0)
    assert says(kept.text, "doctor.database.aside", events=1)


def test_a_database_that_is_none_is_red(checked: Callable[..., dict[str, Check]], tmp_path: Path) -> None:
    """A file of other bytes; one that isn't there yet is only to be known."""
    assert Health.YELLOW is checked()["database"].state
    (tmp_path / "state" / "sayso.db").write_bytes(b"not a database" * 300)

    assert Health.RED is checked()["database"].state


def test_the_sqlite_in_use_is_named(checked: Callable[..., dict[str, Check]], tmp_path: Path) -> None:
    """A release with the log-reset fault does no harm here; doctor warns not to write with another program."""
    check = checked()["sqlite"]

    assert (Health.GREEN, True) == (check.state, check.text.startswith(sqlite3.sqlite_version))
    assert has_reset_fault(sqlite3.sqlite_version_info) is (f"{tmp_path}/state/sayso.db" in check.text)


def test_no_tools_is_to_be_known(checked: Callable[..., dict[str, Check]]) -> None:
    """An empty list runs nothing, which may be what somebody wants."""
    assert Health.YELLOW is checked(tools="[]")["tools"].state


def test_a_tool_that_no_executor_has_is_red(checked: Callable[..., dict[str, Check]]) -> None:
    """The service would not start with such a list."""
    unknown = checked(tools='["list_files", "format_disk"]')["tools"]

    assert Health.RED is unknown.state
    assert "format_disk" in unknown.text


def test_the_tools_that_may_run_are_named(checked: Callable[..., dict[str, Check]], tmp_path: Path) -> None:
    """Yellow where nobody chose them: then the service may run every workspace tool."""
    chosen = checked(tools='["list_files"]')["tools"]
    file = tmp_path / "plain.toml"
    file.write_text(APART)
    default = {check.name: check for check in run_checks(load(file), file)}["tools"]

    assert (Health.GREEN, "the service may run list_files") == (chosen.state, chosen.text)
    assert Health.YELLOW is default.state
    assert "tools.allow" in default.text
    assert "bash" in default.text


def _sandbox(way: Confinement) -> Callable[..., Sandbox]:
    return lambda *_: Sandbox(way)


def test_a_command_that_can_reach_the_keys_is_red(
    checked: Callable[..., dict[str, Check]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The doctor has a command try, as it would run: not confined and under the same user, it gets there."""
    monkeypatch.setattr("adapters.executors.confinement.best", _sandbox(Confinement.NONE))
    found = checked(tools='["bash"]')["confinement"]

    assert Health.RED is found.state
    assert "state" in found.text


@pytest.mark.parametrize("way", [way for way in Confinement if way is not Confinement.NONE], ids=str)
def test_the_way_that_commands_are_confined_is_named(
    checked: Callable[..., dict[str, Check]], monkeypatch: pytest.MonkeyPatch, way: Confinement
) -> None:
    """And what one command may use. Under root it is yellow, because root's processes are counted by nobody."""
    if not works(Sandbox(way)):
        pytest.skip(f"{way} doesn't work here")
    monkeypatch.setattr("adapters.executors.confinement.best", _sandbox(way))
    found = checked(tools='["bash"]')["confinement"]

    assert (Health.YELLOW if os.geteuid() == 0 else Health.GREEN) is found.state
    assert way.value in found.text
    assert "4096 MB" in found.text


@pytest.mark.parametrize("name", ["no-such-user-is-here", "root"])
def test_a_user_for_tools_must_be_another_one(checked: Callable[..., dict[str, Check]], name: str) -> None:
    """One that isn't there, and one that can read the keys, are red; the service doesn't start with them."""
    found = checked(f'tools_user = "{name}"\n{APART}', tools='["bash"]')["confinement"]

    assert Health.RED is found.state
    assert name in found.text


@pytest.mark.parametrize(
    ("settings", "origin"),
    [
        (f'requesters = ["{OTHER}"]\napprovers = ["telegram:42"]\n', "local"),
        (f'{APART}[conversations."telegram:-1"]\nrequesters = ["telegram:7"]\napprovers = []\n', "telegram:-1"),
        (
            f"""{APART}[conversations."telegram:-1"]
            requesters = ["telegram:7"]\napprovers = ["telegram:42"]\nroutes = []""",
            "telegram:-1",
        ),
    ],
    ids=["nowhere to show", "nobody to approve", "no route there"],
)
def test_a_place_whose_requests_nobody_can_see_or_answer_is_red(
    checked: Callable[..., dict[str, Check]], settings: str, origin: str
) -> None:
    """Before anybody asks there."""
    assert Health.RED is checked(settings)[f"requests from {origin}"].state


@pytest.mark.parametrize(("user", "told"), [('tools_user = "nobody"\n', True), ("", False)])
def test_an_mcp_server_that_runs_as_the_services_user_is_yellow(
    checked: Callable[..., dict[str, Check]], user: str, *, told: bool
) -> None:
    """`tools_user` keeps commands from the keys, but not the servers that the service starts."""
    pytest.importorskip("mcp")
    server = '[mcp.servers.files]\ncommand = ["cat"]\n[mcp.servers.far]\nurl = "http://127.0.0.1:9/mcp"\n'
    found = checked(f"{user}{APART}{server}").get("mcp user")

    assert told is (found is not None)
    if found is not None:
        assert (Health.YELLOW, True) == (found.state, found.text.startswith("files: "))


NOT_SHOWN = f'requesters = ["{OTHER}"]\napprovers = ["telegram:42"]\n'


@pytest.mark.parametrize(
    ("settings", "red"),
    [
        (f"{NOT_SHOWN}[http]\nport = 8400\n", True),
        (NOT_SHOWN, False),
        (f'{NOT_SHOWN}routes = ["approvers"]\n[http]\nport = 8400\n', False),
        (f"{APART}[http]\nport = 8400\n", False),
        ('requesters = ["telegram:7"]\napprovers = ["telegram:42"]\n[http]\nport = 8400\n', False),
    ],
    ids=["nowhere to show", "no port", "a route", "the pending list", "only people of a chat"],
)
def test_requests_over_http_that_no_surface_shows_are_red(
    checked: Callable[..., dict[str, Check]], settings: str, *, red: bool
) -> None:
    """A token that is bound to no conversation asks from `http`, which is listed nowhere in the settings."""
    line = checked(settings).get("requests from http")

    assert red is (line is not None and line.state is Health.RED)


@pytest.mark.parametrize(
    "settings",
    [
        APART,
        f'{APART}routes = ["telegram:-1"]\n',
        f'requesters = ["{OTHER}"]\napprovers = ["telegram:42"]\nroutes = ["approvers"]\n',
    ],
)
def test_a_place_whose_requests_somebody_sees_is_one_green_line(
    checked: Callable[..., dict[str, Check]], settings: str
) -> None:
    """It says who may ask and approve. An approver on this machine sees every request; others need a route."""
    line = checked(settings)["requests from local"]

    assert Health.GREEN is line.state
    assert OTHER in line.text


@pytest.mark.parametrize(("schema", "health"), [("9999", Health.RED), ("0001", Health.YELLOW)])
async def test_a_newer_schema_is_red_because_the_start_refuses_it(
    checked: Callable[..., dict[str, Check]], tmp_path: Path, schema: str, health: Health
) -> None:
    """An older one is brought up to date by the next start."""
    folder = StateFolder.open(tmp_path / "state")
    await (await SqliteStore.open(folder, SetClock(NOON))).close()
    folder.close()
    with sqlite3.connect(tmp_path / "state" / "sayso.db") as database:
        database.execute("update alembic_version set version_num = ?", (schema,))

    assert health is checked()["database"].state


@pytest.mark.parametrize(("ahead", "health"), [(-60, Health.GREEN), (3600, Health.RED)])
async def test_a_clock_behind_the_record_is_red(
    checked: Callable[..., dict[str, Check]], tmp_path: Path, ahead: int, health: Health
) -> None:
    """The service holds its time at the newest line of the record, so no deadline passes until the clock is there."""
    clock = SetClock(datetime.now(UTC) + timedelta(seconds=ahead))
    checked()
    folder = StateFolder.open(tmp_path / "state")
    store = await SqliteStore.open(folder, clock)
    await store.commit(adding(Change(entries=(Entry("", Event.MOVED, "service", {}),))))
    await store.close()
    folder.close()

    assert health is checked()["clock"].state


def test_a_dry_call_goes_all_the_way_and_leaves_nothing(
    checked: Callable[..., dict[str, Check]], tmp_path: Path
) -> None:
    """A call is asked, approved, run and recorded on a folder of its own, which is gone afterwards."""
    before = sorted(tmp_path.rglob("*"))
    found = checked()["dry run"]

    assert (Health.GREEN, True) == (found.state, " ms" in found.text)
    assert {tmp_path / "sayso.toml"} == set(tmp_path.rglob("*")) - set(before)


def test_a_dry_call_works_before_the_first_start(tmp_path: Path) -> None:
    """It makes no state folder, and says where it was instead."""
    state = tmp_path / "state"
    (check,) = _dry_run(state)

    assert (Health.GREEN, True, False) == (check.state, str(state) in check.text, state.exists())


def test_a_dry_call_that_cannot_be_kept_is_red(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that takes no files is named with the system's own words."""
    monkeypatch.setattr(tempfile, "mkdtemp", Mock(side_effect=OSError(30, "Read-only file system")))
    checked_now = _dry_run(tmp_path)

    assert [(Health.RED, True)] == [(one.state, "Read-only" in one.text) for one in checked_now]


def test_a_dry_run_works_beside_the_state_folder_that_init_names(tmp_path: Path) -> None:
    """The policy denies tools what lies there, so the call that is thrown away works elsewhere."""
    usual = tmp_path / ".local" / "state" / "sayso"
    usual.mkdir(parents=True)

    assert [Health.GREEN] == [check.state for check in _dry_run(usual)]


@pytest.mark.parametrize("named", [OTHER, "telegram:42"])
def test_who_is_listed_but_revoked_is_told(
    checked: Callable[..., dict[str, Check]], tmp_path: Path, named: str
) -> None:
    """The person counts on no list any more, and the line says where the name is kept."""
    kept = tmp_path / "state" / "revoked"
    kept.write_text(f"{named}\n")
    people = f'requesters = ["{OTHER}", "local:7"]\napprovers = ["ada", "{ME}"]\n[principals]\nada = ["telegram:42"]\n'
    found = checked(people)
    role, left = ("requesters", "local:7") if named == OTHER else ("approvers", ME)

    assert Health.YELLOW is found["revoked"].state
    assert found["revoked"].text.startswith(f"{OTHER if named == OTHER else 'ada'}: listed, but revoked")
    assert str(kept) in found["revoked"].text
    assert left == found[role].text


@pytest.mark.parametrize(("until", "revoked", "how"), [(None, 1, "revoked"), (1, None, "over"), (1, 1, "revoked")])
def test_a_listed_token_that_has_ended_is_told(
    checked: Callable[..., dict[str, Check]],
    tmp_path: Path,
    migrated: Path,
    until: int | None,
    revoked: int | None,
    how: str,
) -> None:
    """The line says whether it was revoked or its time is over. It is no unknown person, and may approve nothing."""
    shutil.copy(migrated, tmp_path / "state" / "sayso.db")
    token(tmp_path / "state", "desk", "approver", None, revoked, until=until)
    beside, alone = (
        checked(f'requesters = ["{ME}"]\napprovers = [{names}]\n')
        for names in (f'"token:desk", "{OTHER}"', '"token:desk"')
    )

    assert Health.YELLOW is beside["ended tokens"].state
    told = say(f"doctor.tokens.ended.{how}", token="token:desk")
    assert says(beside["ended tokens"].text, "doctor.tokens.ended", people=told)
    assert (OTHER, Health.RED) == (beside["approvers"].text, alone["approvers"].state)
    assert "unknown approvers" not in beside


def test_a_list_on_which_everybody_is_revoked_is_not_called_empty(
    checked: Callable[..., dict[str, Check]], tmp_path: Path
) -> None:
    """To add the same name again would change nothing, so the line names the people and the line about their rights."""
    (tmp_path / "state" / "revoked").write_text(f"{ME}\n")
    found = checked()["approvers"]

    assert Health.RED is found.state
    assert says(found.text, "doctor.list.approvers.revoked", people=ME)


def test_who_is_revoked_and_on_no_list_is_green(checked: Callable[..., dict[str, Check]], tmp_path: Path) -> None:
    """Nothing is left to do; without revoked people there is no line."""
    none = checked()
    (tmp_path / "state" / "revoked").write_text("telegram:5\n")
    found = checked()["revoked"]

    assert "revoked" not in none
    assert (Health.GREEN, True) == (found.state, found.text.startswith("telegram:5"))


def test_an_approver_who_is_revoked_leaves_nobody_to_approve(
    checked: Callable[..., dict[str, Check]], tmp_path: Path
) -> None:
    """A list of revoked people is as an empty list."""
    (tmp_path / "state" / "revoked").write_text(f"{ME}\n")

    assert Health.RED is checked()["approvers"].state


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")
def test_root_may_check_the_service_of_another_user(checked: Callable[..., dict[str, Check]], tmp_path: Path) -> None:
    """The keys are the service's own if they belong to the owner of the state folder, whoever runs doctor."""
    keys = tmp_path / "state" / "keys.json"
    checked()
    keys.write_text('{"keys": [{"id": "a", "key": "AAAA"}]}')
    keys.chmod(0o600)
    os.chown(keys, 1234, 1234)
    foreign = checked()["keys"]
    os.chown(tmp_path / "state", 1234, 1234)
    own = checked()["keys"]

    assert [Health.RED, Health.GREEN] == [foreign.state, own.state]


def test_each_origin_has_a_line(checked: Callable[..., dict[str, Check]], tmp_path: Path, migrated: Path) -> None:
    """This machine, each conversation of the settings, other chats of a platform, HTTP, and each origin of a token."""
    settings = f"""
    requesters = ["{OTHER}", "telegram:7", "token:ci"]
    approvers = ["{ME}"]
    [conversations."telegram:-1"]
    [telegram]
    api = "http://127.0.0.1:9"
    """
    before = checked(settings)
    shutil.copy(migrated, tmp_path / "state" / "sayso.db")
    token(tmp_path / "state", "ci", "agent", None, None)
    after = checked(settings)
    named = ["requests from local", "requests from telegram:-1", OTHER_CHATS]

    assert named == [name for name in before if name.startswith("requests from")]
    assert "requests from http" in after
    assert "requests from http" in checked(f"{settings}\n[http]\nport = 8080\n")
    assert {Health.GREEN} == {check.state for name, check in after.items() if name.startswith("requests from")}


def test_a_platform_whose_people_all_approve_elsewhere_is_red(checked: Callable[..., dict[str, Check]]) -> None:
    """A card that is shown where it was asked, and to no approver, waits in vain."""
    settings = """
    requesters = ["telegram:7"]
    approvers = ["slack:T1/U1"]
    [telegram]
    api = "http://127.0.0.1:9"
    """

    assert Health.RED is checked(settings)[OTHER_CHATS].state


@pytest.mark.parametrize(
    ("change", "health"),
    [
        ("update calls set state = 'nowhere'", Health.YELLOW),
        ("update calls set tool = 'other'", Health.YELLOW),
        ("update audit set data = 'x' where ref != ''", Health.YELLOW),
        ("update audit set event = 'x' where ref = ''", Health.RED),
        ("update calls set due_at = due_at", Health.GREEN),
    ],
)
async def test_changed_open_requests_and_a_changed_record_of_the_service_are_told(
    checked: Callable[..., dict[str, Check]], tmp_path: Path, change: str, health: Health
) -> None:
    """The counts of open requests are worth nothing if somebody changed the rows, so the rows are verified too."""
    folder = StateFolder.open(tmp_path / "state")
    store = await SqliteStore.open(folder, SetClock(NOON))
    call = a_call(NOON)
    call = call.evolve(row_mac=seals.row(store.keys, call))
    await store.commit(Unit(None, lambda _: Change(call, entries=(Entry(call.ref, Event.ASKED, "ann", {}),))))
    await store.commit(adding(Change(entries=(Entry("", Event.REFUSED_PEER, "local:7", {}),))))
    await store.close()
    folder.close()
    with sqlite3.connect(tmp_path / "state" / "sayso.db") as database:
        database.execute(change)

    assert health is checked()["record"].state
