"""The checks of `sayso doctor`: one for each thing that a call depends on."""

from __future__ import annotations

import asyncio
import importlib
import os
import shlex
import shutil
import sqlite3
import stat
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.http.surface import HTTP
from adapters.terminal.surface import LOCAL
from bot.errors import explained
from bot.revoking import older_file, revoked_file
from bot.surfaces import module, surfaces
from hitl.call import Mode, State
from hitl.cards.wording import say
from hitl.errors import NotApprover, SaysoError, Unavailable
from hitl.people import APPROVERS, ORIGIN
from hitl.platforms import Check, Health
from hitl.proof.keyring import Keyring

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from adapters.database.sqlite.survey import Survey
    from adapters.executors.confinement import Sandbox
    from bot.settings import Settings
    from hitl.people import Directory
    from hitl.surfaces import Surface

_LEAST_FREE_BYTES = 100 * 1024 * 1024
#: The next step after a dry run that failed. Other lines of the report name the known causes.
_MEND_DRY_RUN = (
    "Mend the lines above that are red, then the disk and the rights of the state folder, and run doctor again"
)
#: At most this many open calls are verified, with their votes and record. This takes about a second.
_MOST_VERIFIED = 1000
#: Seconds. A clock that NTP corrects is never this far behind.
_MOST_BEHIND_S = 2.0


def run_checks(settings: Settings, source: Path | None) -> list[Check]:
    """Return all checks, in the order in which a call depends on them. `source` is the settings file."""
    state = settings.folder("state")
    database = state / "sayso.db"
    groups: tuple[tuple[str, Callable[[], Check | Iterable[Check]]], ...] = (
        ("settings", lambda: _source(settings, source)),
        ("people", lambda: _people(settings, source)),
        ("state folder", lambda: _folder(state)),
        ("database", lambda: _database(database)),
        ("clock", lambda: _clock(database)),
        ("keys", lambda: _keys(settings)),
        ("record", lambda: _record(settings)),
        ("mark", lambda: _mark(settings)),
        ("sqlite", lambda: _sqlite(database)),
        ("tools", lambda: _tools(settings)),
        ("workspace", lambda: _exposed(settings)),
        ("open port", lambda: _open_port(settings)),
        ("policy", lambda: _policy(settings)),
        ("dry run", lambda: _dry_run(state)),
        ("service", lambda: _service(settings)),
        ("agent", lambda: _agent(settings)),
        *((name, partial(_platform, settings, name)) for name in settings.set_up()),
        ("answers", lambda: _answers(settings)),
        ("mcp", lambda: _mcp(settings)),
        ("hooks", lambda: _hooks(settings)),
    )
    return [check for name, look in groups for check in _looked(name, look)]


def _looked(name: str, look: Callable[[], Check | Iterable[Check]]) -> Iterator[Check]:
    """Yield the checks of one group. A file that can't be read makes a red check, and the other groups go on."""
    try:
        found = look()
        yield from [found] if isinstance(found, Check) else found
    except OSError as error:
        yield Check(name, Health.RED, explained(error))


def _mcp(settings: Settings) -> Iterator[Check]:
    """Check that the MCP servers can be started, as far as that can be found out without starting them."""
    from bot.errors import SettingsError

    if settings.mcp is None:
        return
    try:
        importlib.import_module("mcp")
        servers = importlib.import_module("bot.mcp").build_servers(settings).upstreams
    except ModuleNotFoundError as error:
        text = f"[mcp] is configured, but {error.name} isn't installed: install sayso[mcp]."
        yield Check("mcp", Health.RED, text)
    except SettingsError as error:
        yield Check("mcp", Health.RED, str(error))
    else:
        targets = [upstream.target for upstream in servers.values()]
        missing = [each.name for each in targets if each.command and shutil.which(each.command[0]) is None]
        text = f"servers: {len(targets)}"
        if missing:
            text = f"the command of {', '.join(missing)} isn't installed. Install it, or correct it in [mcp.servers]"
        yield Check("mcp", Health.RED if missing else Health.GREEN, text)
        yield from _mcp_user(settings, {each.name: each.command for each in targets if each.command})


def _mcp_user(settings: Settings, commands: Mapping[str, Sequence[str]]) -> Iterator[Check]:
    """Yield a check if tools have a user of their own, but MCP servers that the service starts don't."""
    as_tools = ["-u", settings.tools_user, "--"]
    started = [
        name
        for name, (program, *words) in commands.items()
        if Path(program).name != "runuser" or words[: len(as_tools)] != as_tools
    ]
    if settings.tools_user and started:
        text = f"{', '.join(started)}: started as the service's user, not as {settings.tools_user}, so able to read the"
        text += f' keys. Let its command begin with "runuser", "-u", "{settings.tools_user}", "--"'
        yield Check("mcp user", Health.YELLOW, f"{text}, or serve it elsewhere and set url")


def _hooks(settings: Settings) -> Iterator[Check]:
    """Run each installed hook of a coding agent once. An agent without a hook gets no line."""
    from bot.doctor.coding_agents import hooks
    from bot.errors import SettingsError

    try:
        people = settings.directory()
    except SettingsError:
        return  # The check of people reports an error of the lists.
    kinds = (identity.partition(":") for name in _names(people, "requesters") for identity in people.identities(name))
    for host, state, text in hooks(int(uid) for kind, _, uid in kinds if kind == LOCAL and uid.isdecimal()):
        yield Check(f"hook {host}", Health(state), text)


def _source(settings: Settings, path: Path | None) -> Check:
    """Check that there is a settings file. Without one, only an environment that sets something is a choice."""
    if path is not None:
        return Check("settings", Health.GREEN, str(path.absolute()))
    where = f"there is no sayso.toml in {Path.cwd()}, in ~/.config/sayso or in /etc/sayso"
    if settings.model_fields_set:
        text = f"{where}, so only the environment counts"
        return Check("settings", Health.YELLOW, f"{text}. Write one with `sayso init`, or name it with --config")
    text = f"{where}. So the lines below are about defaults, not about a service that has settings elsewhere"
    return Check("settings", Health.RED, f"{text}. Name them with --config, or write some with `sayso init`")


def _service_uid(settings: Settings) -> int:
    """Return the user id that the service runs with: the owner of its state folder.

    Without such a folder, return the id of this user. Root may run `doctor` for a service that runs as another user.
    """
    try:
        return settings.folder("state").stat().st_uid
    except OSError:
        return os.getuid()


def _reach(settings: Settings, people: Directory) -> Iterator[Check]:
    """Check that listed users of this machine can open the socket through all folders above it."""
    listed = {*people.approvers, *people.requesters, *people.operators}
    identities = {identity for name in listed for identity in people.identities(name)}
    others = sorted(i for i in identities if i.startswith("local:") and i != f"local:{_service_uid(settings)}")
    folder = settings.folder("runtime")
    closed = [path for path in folder.parents if path.is_dir() and not path.stat().st_mode & stat.S_IXOTH]
    if others and closed:
        text = f"{', '.join(others)} can't reach {folder}, for {closed[0]} is closed to others"
        yield Check(
            "socket", Health.RED, f"{text}. Set runtime to a folder that all may pass through, as in /run or /tmp"
        )


def _people(settings: Settings, source: Path | None) -> Iterator[Check]:
    from bot.errors import SettingsError

    try:
        listed = settings.directory()
    except SettingsError as error:
        yield Check("people", Health.RED, str(error))
        return
    people = listed.in_force()
    yield _listed("requesters", people.requesters, listed.requesters, "nobody may ask")
    yield _listed(
        "approvers", people.approvers, listed.approvers, "nobody can approve, so every question ends undeliverable"
    )
    yield from _revoked(settings, listed, source)
    yield from _unknown(settings, people)
    yield from _astray(settings, people)
    yield from _origins(settings, people)
    yield from _reach(settings, people)
    yield from _separation(people, _service_uid(settings))
    if people.self_approval_socket:
        text = f"a requester's own yes counts over the socket up to {people.self_approval_socket.value}"
        yield Check("self_approval_socket", Health.YELLOW, f"{text}; set it to off where an agent shares the machine")
    attached = people.conversations.get(LOCAL)
    if attached and attached.self_approval:
        text = f"a requester's own yes to a request from this machine counts up to {attached.self_approval.value}, in"
        text += " `sayso chat` and in every chat that gets its card"
        yield Check("self_approval in local", Health.YELLOW, f"{text}; set it to off where an agent shares the machine")


def _listed(name: str, in_force: tuple[str, ...], listed: tuple[str, ...], otherwise: str) -> Check:
    """Check that a list names somebody who isn't revoked. `in_force` is the list without the revoked people."""
    if in_force:
        return Check(name, Health.GREEN, ", ".join(in_force))
    if listed:
        text = f"everybody on the list is revoked ({', '.join(listed)}): {otherwise}. Add somebody else"
        return Check(name, Health.RED, f"{text}, or give the rights back as the line `revoked` says")
    return Check(name, Health.RED, f"the list is empty: {otherwise}. Add a principal, such as local:{os.getuid()}.")


def _names(people: Directory, role: str) -> set[str]:
    """Return the names on the installation's list of a role (`requesters`, `approvers`) and on each conversation's."""
    lists = (getattr(people, role), *(getattr(place, role) or () for place in people.conversations.values()))
    return {name for names in lists for name in names}


def _revoked(settings: Settings, people: Directory, source: Path | None) -> Iterator[Check]:
    """Yield a check that names the revoked people. The check is yellow while a list still names a revoked person."""
    if not people.revoked:
        return
    files = [revoked_file(settings.folder("state")), *([older_file(source)] if source else [])]
    kept = " and ".join(str(file) for file in files if os.access(file, os.F_OK))
    named = _names(people, "approvers") | _names(people, "requesters") | {*people.operators}
    if listed := sorted(name for name in named if people.is_revoked(name)):
        text = f"{', '.join(listed)}: listed, but revoked, so without rights. Take the name off the lists, or give the"
        yield Check("revoked", Health.YELLOW, f"{text} rights back: remove its line from {kept}, then sayso reload")
    else:
        yield Check("revoked", Health.GREEN, f"{', '.join(sorted(people.revoked))}; kept in {kept}")


def _unknown(settings: Settings, people: Directory) -> Iterator[Check]:
    """Yield a check for listed people whom no configured surface can identify.

    These are names without an identity, and people of platforms that aren't configured. The owner of a token, and a
    token itself, are known. If tokens can be used, a requester's plain name may still become the owner of one.
    """
    holders = _token_holders(settings.folder("state") / "sayso.db")
    for role in ("requesters", "approvers"):
        listed = _names(people, role)
        unknown = [
            name
            for name in sorted(listed)
            if not any(_known(settings, people, i) or i in holders[role] for i in people.identities(name))
        ]
        later = [
            name for name in unknown if role == "requesters" and settings.http.port is not None and ":" not in name
        ]
        if later:
            text = f"{', '.join(later)}: no agent asks for them yet. Make a token with them as its owner"
            text += f" (sayso token create NAME --scope agent --owner {later[0]}), or map the name in [principals]"
            yield Check("requesters by token", Health.YELLOW, text)
        if strays := [name for name in unknown if name not in later]:
            text = f"{', '.join(strays)}: nobody can be that here. List local:UID, or the id that whoami gives on a"
            text += " platform that is set up, or map the name in [principals]"
            yield Check(f"unknown {role}", Health.RED if listed == set(strays) else Health.YELLOW, text)


def _token_holders(database: Path) -> dict[str, set[str]]:
    """Return who may ask, and who may decide, by a working token. If the database can't be read, nobody may."""
    from adapters.database.sqlite.survey import surveyed

    asking, deciding = set[str](), set[str]()
    if database.exists():
        with suppress(Unavailable), surveyed(database) as survey:
            asking, deciding = survey.token_holders(datetime.now(UTC))
    return {"requesters": asking, "approvers": deciding}


def _astray(settings: Settings, people: Directory) -> Iterator[Check]:
    """Yield a check for places of cards on platforms that aren't configured: cards can't be sent there."""
    set_up = {ORIGIN, APPROVERS, *settings.set_up()}
    if astray := sorted(route for route in people.named_routes() if route.partition(":")[0] not in set_up):
        text = f"{', '.join(astray)}: cards can't go there, for no such platform is set up"
        yield Check("unknown routes", Health.RED, f"{text}. Add it (sayso init), or take them out of routes")


def _origins(settings: Settings, people: Directory) -> Iterator[Check]:
    """Yield a check for each place where calls are asked for: who may ask and approve there, and where the cards go."""
    listed = (place for place in people.conversations if place != LOCAL)
    for origin in dict.fromkeys((LOCAL, *listed, *_origins_of_tokens(settings))):
        requesters = people.requesters_for(origin)
        if not requesters or (origin == LOCAL and not any(map(people.is_local, requesters))):
            continue
        # If all requesters are on chat platforms, they ask in their chats, and nobody needs this origin.
        if origin == HTTP.name and all(people.is_chat(i) for name in requesters for i in people.identities(name)):
            continue
        place = people.conversations.get(origin)
        approvers = people.approvers if place is None or place.approvers is None else place.approvers
        if approvers or (place is not None and place.approvers is not None):
            yield _origin(
                people, f"requests from {origin}", requesters, approvers, people.routes_for(origin, approvers)
            )
    for surface in (people.surfaces[name] for name in settings.set_up()):
        requesters, approvers = (
            tuple(name for name in names if _is_on(surface, people, name))
            for names in (people.requesters, people.approvers)
        )
        if requesters and people.approvers:
            where = ("the chat where it was asked",) if approvers else ()
            name = f"requests from other chats on {surface.title}"
            yield _origin(people, name, requesters, people.approvers, where)


def _is_on(surface: Surface, people: Directory, name: str) -> bool:
    """Return whether the surface can prove an identity of this person."""
    return any(identity.partition(":")[0] in surface.proves for identity in people.identities(name))


def _origin(
    people: Directory, name: str, requesters: Sequence[str], approvers: Sequence[str], routes: Sequence[str]
) -> Check:
    """Return the check of one origin of calls."""
    shown = [*routes, *(["the pending list here"] if any(map(people.is_local, approvers)) else [])]
    if not approvers:
        text = "approvers is empty there, so every request from it ends undeliverable"
        return Check(name, Health.RED, f"{text}. List an approver for it, or take the line out")
    if not shown:
        text = "no approver is on this machine and no card goes to a chat of theirs, so nobody sees a request from it"
        return Check(name, Health.RED, f'{text}. Set routes, for example routes = ["approvers"]')
    who = f"may ask: {', '.join(requesters)}; may approve: {', '.join(approvers)}"
    return Check(name, Health.GREEN, f"{who}; cards go to: {', '.join(shown)}")


def _origins_of_tokens(settings: Settings) -> Iterator[str]:
    """Yield the origins of requests over HTTP, including those of MCP clients with a token.

    These are the origins to which tokens are bound. A token that is bound to no origin asks from `http`. MCP clients on
    this machine's socket ask from `local`.
    """
    from adapters.database.sqlite.survey import surveyed

    database = settings.folder("state") / "sayso.db"
    if settings.http.port is not None:
        yield HTTP.name
    if database.exists():
        with suppress(Unavailable), surveyed(database) as survey:
            for origins in survey.origins_of_agents(datetime.now(UTC)):
                yield from origins or (HTTP.name,)


def _known(settings: Settings, people: Directory, identity: str) -> bool:
    """Return whether a configured surface can prove this identity."""
    kind, _, rest = identity.partition(":")
    sections = settings.set_up()
    for surface in people.surfaces.values():
        switch = surface.proves.get(kind)
        if switch is None or (surface.is_chat and surface.name not in sections):
            continue
        if switch == "" or getattr(sections[surface.name], switch):
            return surface.is_chat or rest.isdecimal()
    return False


def _separation(people: Directory, uid: int) -> Iterator[Check]:
    own = f"local:{uid}"
    askers = {name for name in people.requesters if own in {name, *people.principals.get(name, ())}}
    if askers:
        text = f"{', '.join(sorted(askers))} may ask with the service's own user id, and could change its files"
        yield Check("separation", Health.YELLOW, f"{text}; run agents as another user, or the service as its own")
    approvers, requesters = (
        {people.principal(name) for name in each} for each in (people.approvers, people.requesters)
    )
    counts = people.self_approval_socket or any(place.self_approval for place in people.conversations.values())
    if len(approvers) == 1 and approvers <= requesters and not counts:
        (name,) = approvers
        text = f"{name} is the only approver, so nobody can approve what {name} requests: their own yes doesn't count"
        state = Health.RED if requesters == approvers else Health.YELLOW
        yield Check("second person", state, f"{text}. List somebody else, or set self_approval")


def _folder(path: Path) -> Check:
    if not path.is_dir():
        if os.path.lexists(path):
            return Check("state folder", Health.RED, f"{path} is no folder. Name another one: state in sayso.toml")
        return Check("state folder", Health.YELLOW, f"{path} isn't there yet. Start the service, which makes it")
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        return Check("state folder", Health.RED, f"{path} is open to others ({mode:04o}); run: chmod 700 {path}")
    free = shutil.disk_usage(path).free
    if free < _LEAST_FREE_BYTES:
        return Check(
            "state folder",
            Health.RED,
            f"{path} has only {free // 2**20} MiB left; nothing is approved unrecorded. Free at least"
            f" {_LEAST_FREE_BYTES // 2**20} MiB on that disk, or move the folder",
        )
    return Check("state folder", Health.GREEN, f"{path}, {free // 2**30} GiB free")


def _keys(settings: Settings) -> Check:
    from adapters.database.keys import lost, read
    from adapters.database.sqlite.folder import KEYS

    given = settings.given_keys()
    state = settings.folder("state")
    path = given or state / KEYS
    if given is None and (why := lost(path, state / "sayso.db")):
        return Check("keys", Health.RED, why)
    if given is None and not path.exists():
        return Check("keys", Health.YELLOW, f"{path} isn't there yet. Start the service, which makes it")
    try:
        count = len(read(path, given=given is not None))
        if given is None and (owner := path.stat().st_uid) != _service_uid(settings):
            text = f"{path} belongs to another user (uid {owner}) than its folder, so the service won't start"
            return Check("keys", Health.RED, f"{text}. Run: chown {_service_uid(settings)} {path}")
    except Unavailable as error:
        return Check("keys", Health.RED, error.message)
    return Check("keys", Health.GREEN, f"{path}, {count} {'key' if count == 1 else 'keys'}")


def _record(settings: Settings) -> Iterator[Check]:
    """Verify the calls that aren't over, and the service's own record. Another check counts those calls."""
    from adapters.database.keys import read
    from adapters.database.sqlite.folder import KEYS
    from adapters.database.sqlite.history import open_flaws

    state, given = settings.folder("state"), settings.given_keys()
    if not (state / "sayso.db").exists():
        return
    try:
        keys = Keyring(read(given or state / KEYS, given=given is not None))
        changed, line = open_flaws(state / "sayso.db", keys, _MOST_VERIFIED)
    except (Unavailable, OSError):
        return  # The checks of the database and of the keys report an error here.
    if line is not None:
        yield Check("record", Health.RED, say("start.tokens", seq=line))
    elif changed:
        yield Check("record", Health.YELLOW, say("audit.flawed", shorts=", ".join(changed)))
    else:
        yield Check("record", Health.GREEN, "open requests and the service's own record are as they were written")


def _mark(settings: Settings) -> Check:
    if (mark := settings.mark_file()) is not None:
        return Check("mark", Health.GREEN, str(mark))
    text = "it lies beside the state folder, so who restores both from a copy has approved calls run again"
    return Check("mark", Health.YELLOW, f"{text}; name a file elsewhere: mark = ...")


def _database(path: Path) -> Check:
    from adapters.database.sqlite.schema import REVISIONS
    from adapters.database.sqlite.survey import surveyed

    if not path.exists():
        return Check("database", Health.YELLOW, f"{path} isn't there yet. Start the service, which makes it")
    try:
        with surveyed(path) as survey:
            if survey.schema is None:
                return Check("database", Health.RED, f"{path} has no tables of Sayso. Restore it from a backup.")
            if survey.schema not in REVISIONS:
                text = f"schema {survey.schema} is newer than this program, which ends at {REVISIONS[-1]}, so it won't"
                return Check(
                    "database", Health.RED, f"{text} start. Install the version that wrote {path}, or a newer one"
                )
            if survey.schema != REVISIONS[-1]:
                text = f"schema {survey.schema}; the next start brings it to {REVISIONS[-1]}. Keep a backup of {path}"
                return Check("database", Health.YELLOW, text)
            aside = survey.set_aside()
            health = Health.YELLOW if aside else Health.GREEN
            return Check("database", health, f"schema {survey.schema}, {_kept(survey, aside)}")
    except Unavailable as error:
        return Check("database", Health.RED, error.message)


def _clock(path: Path) -> Iterator[Check]:
    """Check whether this machine's clock is behind the newest time in the record.

    If the clock is behind, the service's clock continues from the recorded time.
    """
    from adapters.database.sqlite.survey import surveyed

    if not path.exists():
        return
    try:
        with surveyed(path) as survey:
            newest = next((at for at, _ in survey.latest_lines(1)), None)
    except Unavailable:
        return  # The check of the database reports this error.
    behind = (newest - datetime.now(UTC)).total_seconds() if newest else 0.0
    if behind > _MOST_BEHIND_S:
        text = f"the clock of this machine is {behind:.0f} s behind the newest line of the record"
        yield Check("clock", Health.RED, f"{text}; no deadline passes until then. Set the clock, and keep it by NTP")
    elif newest:
        yield Check("clock", Health.GREEN, "not behind the record. A clock that is ahead doesn't show here")


def _kept(survey: Survey, aside: int) -> str:
    """Return a text with the number of open calls and of events that were set aside."""
    counted, oldest = survey.open_calls(), survey.oldest_pending()
    text = f"{counted.get(State.AWAITING, 0)} pending"
    if oldest is not None:
        text += f" (the oldest since {oldest:%Y-%m-%d %H:%M} UTC)"
    text += f", {counted.get(State.EXECUTING, 0)} running"
    if aside:
        text += f"; events set aside because handling them failed: {aside}. Look into the log"
    return text


def _sqlite(path: Path) -> Check:
    from adapters.database.sqlite.log import has_reset_fault

    version = sqlite3.sqlite_version
    if not has_reset_fault(sqlite3.sqlite_version_info):
        return Check("sqlite", Health.GREEN, version)
    text = f"{version} can lose commits when two programs write to one database. The service writes alone: no harm"
    return Check("sqlite", Health.GREEN, f"{text}. Don't write to {path} with another program while it runs")


def _agent(settings: Settings) -> Check:
    from bot.agent import make_model
    from bot.errors import SettingsError

    chosen = settings.agent
    if not chosen.model:
        return Check("agent", Health.GREEN, "offline: agent.model is not set, so it knows a handful of commands")
    try:
        make_model(chosen)
        chosen.instructions()
    except SettingsError as error:
        return Check("agent", Health.RED, str(error))
    return Check("agent", Health.GREEN, f"{chosen.model}, offered {', '.join(chosen.tools) or 'no tool'}")


def _tools(settings: Settings) -> Iterator[Check]:
    from bot.compose import workspace_tools

    allow = settings.tools.allow
    try:
        with tempfile.TemporaryDirectory(prefix="sayso-tools-") as anywhere:
            may_run = workspace_tools(Path(anywhere), allow).offered()
    except Unavailable as error:
        yield Check("tools", Health.RED, f"{error.message} Correct tools.allow")
        return
    if not may_run:
        yield Check(
            "tools",
            Health.YELLOW,
            "the list is empty: the service runs nothing itself. Add the tools that it needs to tools.allow",
        )
        return
    listed = ", ".join(may_run)
    if allow is not None:
        yield Check("tools", Health.GREEN, f"the service may run {listed}")
    else:
        text = f"the service may run {listed}, because tools.allow is not set"
        yield Check("tools", Health.YELLOW, f"{text}; set it to the tools that are needed")
    if "bash" in may_run:
        yield from _sandbox(settings)


def _sandbox(settings: Settings) -> Iterator[Check]:
    """Report how commands run, and let a command try to reach the keys."""
    from adapters.executors.confinement import best
    from bot.compose import sandbox_of

    try:
        sandbox = sandbox_of(settings) or best()
    except Unavailable as error:
        yield Check("confinement", Health.RED, _flat(error.message))
        return
    how = f"bash by {sandbox.way}" if sandbox.way != "none" else "bash is not confined"
    how += f", as {sandbox.user.name}" if sandbox.user else ""
    bounds = sandbox.bounds
    how += (
        f"; at most {bounds.memory >> 20} MB of memory, {bounds.processes} processes, files of {bounds.file >> 20} MB"
    )
    if reached := _reached(settings, sandbox):
        text = f"{how}; a command can reach {reached}. Install bubblewrap, or set tools_user"
        yield Check("confinement", Health.RED, text)
    elif sandbox.way == "none":
        text = f"{how}; its calls never count less than high. Install bubblewrap"
        yield Check("confinement", Health.YELLOW, text)
    elif _service_uid(settings) == 0 and sandbox.user is None:
        text = f"{how}; it runs as root, whom the kernel limits to no number of processes. Set tools_user"
        yield Check("confinement", Health.YELLOW, text)
    else:
        yield Check("confinement", Health.GREEN, how)


def _reached(settings: Settings, sandbox: Sandbox) -> str:
    """Return the path of the first file of the service that a command can read or change, or ''."""
    from adapters.executors.confinement import runs

    own = [settings.folder("state"), *settings.secret_files()]
    with tempfile.TemporaryDirectory(prefix="sayso-tools-") as anywhere:
        place = Path(anywhere).resolve()
        sandbox.give(place)
        for path in filter(Path.exists, own):
            named = shlex.quote(str(path))
            # `test -r` isn't enough, because Landlock refuses only the opening of a file. The attempt changes nothing:
            # it opens a file for appending, or sets a folder's mode to the mode that the folder has. Only a folder's
            # owner may set its mode.
            look = (
                f"ls {named} || chmod {stat.S_IMODE(path.stat().st_mode):o} {named}"
                if path.is_dir()
                else f"cat {named} || : >> {named}"
            )
            if runs(sandbox, place, look):
                return str(path)
    return ""


def _exposed(settings: Settings) -> Iterator[Check]:
    if exposed := settings.exposed():
        text = f"{', '.join(map(str, exposed))}: in the workspace, where tools can read and change it"
        yield Check("workspace", Health.RED, f"{text}; move it out")
    if read := [str(path) for path in settings.secret_files() if path.exists() and path.stat().st_mode & stat.S_IROTH]:
        text = f"{', '.join(read)}: any user of this machine can read it, an agent's too"
        yield Check("secrets", Health.YELLOW, f"{text}; run: chmod 600 {' '.join(read)}")


def _open_port(settings: Settings) -> Iterator[Check]:
    """Yield a check if other machines may send tokens without TLS.

    The service can't know which of the other machines is the TLS proxy.
    """
    http = settings.http
    if http.port is not None and http.proxy and not http.on_loopback:
        text = (
            f"http.proxy is set, and any machine that reaches {http.host} port {http.port} may send tokens without TLS"
        )
        yield Check("http", Health.YELLOW, f"{text}; let only the proxy reach that port, or set http.host to 127.0.0.1")


def _policy(settings: Settings) -> Iterator[Check]:
    from bot.errors import SettingsError

    try:
        yield _document(settings)
    except SettingsError as error:
        yield Check(
            "policy", Health.RED, f"{_flat(str(error)).rstrip('.')}. Correct it: sayso policy check lists all problems"
        )
    where = f"stage {settings.stage}, " if settings.stage else ""
    if settings.mode is Mode.ENFORCE:
        yield Check("mode", Health.GREEN, f"{where}mode enforce")
    else:
        text = f"{where}mode {settings.mode.value}: calls run that nobody was asked about"
        yield Check("mode", Health.RED, f"{text}; set mode to enforce")
    if passing := sorted(settings.terms().passes):
        text = f"{', '.join(passing)} runs unasked where no surface is set up or reachable"
        yield Check("fallback", Health.RED, f"{text}; set fallback to deny")


def _document(settings: Settings) -> Check:
    """Check the policy that the next start would use. Raises SettingsError if there is no policy with that name."""
    from bot.compose import policy_library
    from bot.policies import need_engine

    need_engine()
    library = policy_library(settings.policy_folders())
    document = library.read(settings.policy_name())
    policy = library.load(document)
    found = f"{document.origin}, digest {policy.digest[:12]}"
    if problems := policy.lint():
        return Check("policy", Health.YELLOW, f"{found}: {problems[0]}; see sayso policy check")
    return Check("policy", Health.GREEN, found)


def _flat(text: str) -> str:
    """Return the problems of a policy as one line of text."""
    return text.replace(":\n", ": ").replace("\n", "; ")


def _dry_run(state: Path) -> Iterator[Check]:
    """Check that this machine can ask for, approve, run and record a call.

    The check uses a temporary state folder and deletes it. It makes this folder in the state folder or, before the
    first start, in the system's folder for temporary files.
    """
    from bot.doctor.dry_run import dry_run
    from bot.errors import SettingsError

    there = state.is_dir()
    try:
        # The dry run gets a thread of its own, because the caller may have an event loop.
        with ThreadPoolExecutor(1) as beside:
            took, wrong = beside.submit(asyncio.run, dry_run(state if there else Path(tempfile.gettempdir()))).result()
    except PermissionError:
        raise
    except (SaysoError, SettingsError, OSError) as error:
        text = f"a call that is thrown away can't be made: {_flat(str(error))}"
        yield Check("dry run", Health.RED, f"{text}. {_MEND_DRY_RUN}")
        return
    if wrong:
        yield Check("dry run", Health.RED, f"a call that is thrown away failed: {_flat(wrong)}. {_MEND_DRY_RUN}")
    else:
        text = f"a call was asked, approved, run and recorded in {took * 1000:.0f} ms, and thrown away"
        text += "" if there else f"; in a temporary folder, because {state} isn't there yet"
        yield Check("dry run", Health.GREEN, text)


def _service(settings: Settings) -> Check:
    from sayso_client.client import Client
    from sayso_client.errors import ClientError
    from sayso_client.wire import SOCKET_NAME

    path = settings.folder("runtime") / SOCKET_NAME
    try:
        with Client(path) as client:
            told = client.call("ping")
    except ClientError as error:
        if error.code == NotApprover.code:
            text = f"answers on {path}, but tells you nothing about its troubles, because you are on none of its lists"
            return Check("service", Health.YELLOW, f"{text}. Run this as one of its operators, or ask for /readyz")
        return Check("service", Health.RED, error.message)
    if wrong := _elsewhere(told.get("state"), settings.folder("state")):
        return Check("service", Health.RED, f"answers on {path}, but {wrong}")
    if troubles := "; ".join(told["troubles"]):
        return Check("service", Health.RED, f"answers on {path}, but: {_flat(troubles)}")
    return Check("service", Health.GREEN, f"answers on {path}; you are {told['principal']}")


def _elsewhere(running: str | None, state: Path) -> str:
    """Return a text if the service that answers uses another state folder than `state`, else ''.

    `running` is the identity of that service's folder, which only operators get. Return '' if `running` is None, or if
    this user can't read `state`.
    """
    from adapters.database.sqlite.folder import folder_identity

    try:
        here = folder_identity(state)
    except OSError:
        return ""
    if running is None or running == here:
        return ""
    text = f"it runs on another state folder than {state}, so it has other settings than these"
    return f"{text}. Name that service's settings with --config, or stop it, or set another runtime"


def _platform(settings: Settings, platform: str) -> list[Check]:
    """Return the platform's own checks. They ask the platform directly, so they work while the service is down."""
    from bot.errors import SettingsError

    try:
        settings.directory()
    except SettingsError:
        return []  # The check of people reports an error of the lists.
    try:
        return platform_checks(settings, platform)
    except SettingsError as error:
        return [Check(platform, Health.RED, f"{str(error).rstrip('.')}. Correct [{platform}] in sayso.toml")]
    except ModuleNotFoundError as error:
        return [Check(platform, Health.RED, f"{error.name} isn't installed: install sayso[{platform}]")]


def platform_checks(settings: Settings, platform: str) -> list[Check]:
    """Return the checks of a chat platform that is set up.

    Raises SettingsError, and ModuleNotFoundError if the platform's extra isn't installed.
    """
    report = module(platform, "checks").report
    found: list[Check] = asyncio.run(
        report(settings.section(platform), settings.directory().in_force(), settings.http.port)
    )
    return found


def _answers(settings: Settings) -> list[Check]:
    """Yield checks of the kinds of answers that have arrived from the platforms.

    The platforms don't say which kinds they send.
    """
    from bot.doctor.answer_inputs import report

    declared = surfaces()
    return report(settings.folder("state") / "sayso.db", [declared[name] for name in settings.set_up()])
