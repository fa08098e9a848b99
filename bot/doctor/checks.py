"""The checks of `sayso doctor`: one for each part of the installation that a call depends on."""

from __future__ import annotations

import asyncio
import importlib
import os
import shlex
import shutil
import stat
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.http.surface import HTTP
from adapters.terminal.surface import LOCAL
from bot.database import library, surveyed
from bot.errors import explained
from bot.revoking import older_file, revoked_file
from bot.surfaces import module, surfaces
from bot.wording import say
from hitl.call import Mode, State
from hitl.credentials import Scope
from hitl.errors import NotApprover, SaysoError, Unavailable
from hitl.people import APPROVERS, ORIGIN
from hitl.platforms import Check, Health
from hitl.proof.keyring import Keyring
from hitl.records import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from adapters.executors.confinement import Sandbox
    from bot.settings import Settings
    from hitl.credentials import Credential
    from hitl.people import Directory
    from hitl.ports import Survey
    from hitl.surfaces import Surface

_LEAST_FREE_BYTES = 100 * 1024 * 1024
#: At most this many open calls are verified, each with its votes (the approvals so far) and its record. This takes
#: about a second.
_MOST_VERIFIED = 1000
#: A clock that NTP corrects is never this many seconds behind.
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
        ("sqlite", lambda: library(database)),
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
    """Yield the checks that `look` makes. If a file can't be read, yield a red check with this name instead of an
    error.
    """
    try:
        found = look()
        yield from [found] if isinstance(found, Check) else found
    except OSError as error:
        yield Check(name, Health.RED, explained(error))


def _mcp(settings: Settings) -> Iterator[Check]:
    """Check without starting the MCP servers that their settings are right and their programs are installed."""
    from bot.errors import SettingsError

    if settings.mcp is None:
        return
    try:
        importlib.import_module("mcp")
        servers = importlib.import_module("bot.mcp").build_servers(settings).upstreams
    except ModuleNotFoundError as error:
        yield Check("mcp", Health.RED, say("setting.extra", what="[mcp]", module=error.name, extra="mcp"))
    except SettingsError as error:
        yield Check("mcp", Health.RED, str(error))
    else:
        targets = [upstream.target for upstream in servers.values()]
        missing = [each.name for each in targets if each.command and shutil.which(each.command[0]) is None]
        if missing:
            yield Check("mcp", Health.RED, say("doctor.mcp.missing", servers=", ".join(missing)))
        else:
            yield Check("mcp", Health.GREEN, say("doctor.mcp", servers=len(targets)))
        yield from _mcp_user(settings, {each.name: each.command for each in targets if each.command})


def _mcp_user(settings: Settings, commands: Mapping[str, Sequence[str]]) -> Iterator[Check]:
    """Yield a check if tools run as a separate user, but the MCP servers that the service starts don't."""
    as_tools = ["-u", settings.tools_user, "--"]
    started = [
        name
        for name, (program, *words) in commands.items()
        if Path(program).name != "runuser" or words[: len(as_tools)] != as_tools
    ]
    if settings.tools_user and started:
        text = say("doctor.mcp.user", servers=", ".join(started), user=settings.tools_user)
        yield Check("mcp user", Health.YELLOW, text)


def _hooks(settings: Settings) -> Iterator[Check]:
    """Run each installed hook of a coding agent once, and yield its checks. There is no check for a coding agent
    without a hook.
    """
    from bot.doctor.coding_agents import hooks
    from bot.errors import SettingsError

    try:
        people = settings.directory()
    except SettingsError:
        return  # The check of people reports an error in the lists of people.
    kinds = (identity.partition(":") for name in _names(people, "requesters") for identity in people.identities(name))
    for host, state, text in hooks(int(uid) for kind, _, uid in kinds if kind == LOCAL and uid.isdecimal()):
        yield Check(f"hook {host}", Health(state), text)


def _source(settings: Settings, path: Path | None) -> Check:
    """Check that there is a settings file.

    Without a file, the check is yellow if environment variables set something, else red.
    """
    if path is not None:
        return Check("settings", Health.GREEN, str(path.absolute()))
    state, key = (Health.YELLOW, "environment") if settings.model_fields_set else (Health.RED, "none")
    return Check("settings", state, say(f"doctor.settings.{key}", folder=Path.cwd()))


def _service_uid(settings: Settings) -> int:
    """Return the user id that the service runs with: the owner of its state folder.

    Without such a folder, return the id of this user. Root may run `doctor` for a service that runs as another user.
    """
    try:
        return settings.folder("state").stat().st_uid
    except OSError:
        return os.getuid()


def _reach(settings: Settings, people: Directory) -> Iterator[Check]:
    """Check that the users in the lists can open the socket, and that the client commands of requesters accept its
    folder.
    """
    service, folder = _service_uid(settings), settings.folder("runtime")
    others = _other_users(people, {*people.approvers, *people.requesters, *people.operators}, service)
    closed = [path for path in folder.parents if path.is_dir() and not path.stat().st_mode & stat.S_IXOTH]
    if others and closed:
        text = say("doctor.socket.closed", people=", ".join(others), folder=folder, closed=closed[0])
        yield Check("socket", Health.RED, text)
    # The client refuses such a folder (`sayso_client.client.refuse_foreign`), unless root owns it.
    anybody = folder.parent.is_dir() and folder.parent.stat().st_mode & stat.S_IWOTH
    askers = _other_users(people, _names(people, "requesters"), service)
    if askers and service and anybody:
        text = say("doctor.socket.foreign", people=", ".join(askers), folder=folder, above=folder.parent)
        yield Check("socket for requesters", Health.RED, text)


def _other_users(people: Directory, names: set[str], service: int) -> list[str]:
    """Return the local identities of these people that aren't the service's own user, sorted."""
    identities = {identity for name in names for identity in people.identities(name)}
    return sorted(i for i in identities if i.startswith("local:") and i != f"local:{service}")


def _people(settings: Settings, source: Path | None) -> Iterator[Check]:
    from bot.errors import SettingsError

    try:
        listed = settings.directory()
    except SettingsError as error:
        yield Check("people", Health.RED, str(error))
        return
    tokens, now = _tokens(settings.folder("state") / "sayso.db"), datetime.now(UTC)
    ended = {token.identity: token.revoked_at is not None for token in tokens if not token.works(now)}
    working = [token for token in tokens if token.works(now)]
    people = replace(listed, token_ends=dict.fromkeys(ended, now)).in_force(now)
    yield _listed("requesters", people.requesters, listed.requesters)
    yield _listed("approvers", people.approvers, listed.approvers)
    yield from _revoked(settings, listed, source)
    yield from _ended(listed, ended)
    yield from _unknown(settings, people, working)
    yield from _astray(settings, people)
    yield from _origins(settings, people, working)
    yield from _unanswered(settings, people)
    yield from _reach(settings, people)
    yield from _separation(people, _service_uid(settings))
    if people.self_approval_socket:
        text = say("doctor.self_approval.socket", risk=people.self_approval_socket.value)
        yield Check("self_approval_socket", Health.YELLOW, text)
    attached = people.conversations.get(LOCAL)
    if attached and attached.self_approval:
        text = say("doctor.self_approval.local", risk=attached.self_approval.value)
        yield Check("self_approval in local", Health.YELLOW, text)


def _listed(role: str, in_force: tuple[str, ...], listed: tuple[str, ...]) -> Check:
    """Return the check of a list of people, such as the approvers: it must name somebody who isn't revoked.

    `listed` is the whole list, and `in_force` is the list without revoked people and without tokens that have ended.
    """
    if in_force:
        return Check(role, Health.GREEN, ", ".join(in_force))
    if listed:
        return Check(role, Health.RED, say(f"doctor.list.{role}.revoked", people=", ".join(listed)))
    return Check(role, Health.RED, say(f"doctor.list.{role}.none", uid=os.getuid()))


def _names(people: Directory, role: str) -> set[str]:
    """Return the names on a role's lists (`requesters`, `approvers`): the installation's list and the conversations'
    lists.
    """
    lists = (getattr(people, role), *(getattr(place, role) or () for place in people.conversations.values()))
    return {name for names in lists for name in names}


def _revoked(settings: Settings, people: Directory, source: Path | None) -> Iterator[Check]:
    """Yield a check that names the revoked people, if there are any. It is yellow while a list names one of them."""
    if not people.revoked:
        return
    files = [revoked_file(settings.folder("state")), *([older_file(source)] if source else [])]
    there = [file for file in files if os.access(file, os.F_OK)]
    kept = say("doctor.revoked.files", first=there[0], second=there[1]) if len(there) > 1 else "".join(map(str, there))
    named = _names(people, "approvers") | _names(people, "requesters") | {*people.operators}
    if listed := sorted(name for name in named if people.is_revoked(name)):
        text = say("doctor.revoked.listed", people=", ".join(listed), files=kept)
        yield Check("revoked", Health.YELLOW, text)
    else:
        text = say("doctor.revoked", people=", ".join(sorted(people.revoked)), files=kept)
        yield Check("revoked", Health.GREEN, text)


def _ended(people: Directory, ended: Mapping[str, bool]) -> Iterator[Check]:
    """Yield a yellow check that names the tokens that a list names although they don't work any more, if any."""
    named = _names(people, "approvers") | _names(people, "requesters") | {*people.operators}
    if found := sorted({i for name in named for i in people.identities(people.principal(name))} & ended.keys()):
        told = [say(f"doctor.tokens.ended.{'revoked' if ended[token] else 'over'}", token=token) for token in found]
        yield Check("ended tokens", Health.YELLOW, say("doctor.tokens.ended", people=", ".join(told)))


def _tokens(database: Path) -> Sequence[Credential]:
    """Return all bearer tokens, including those that don't work any more. Return () if they are unknown."""
    if database.exists():
        with suppress(Unavailable), surveyed(database) as survey:
            return survey.credentials()
    return ()


def _unknown(settings: Settings, people: Directory, working: Sequence[Credential]) -> Iterator[Check]:
    """Yield a check for listed people whom no configured surface can identify.

    Unknown are names without an identity, and people of platforms that aren't configured. Tokens and their owners are
    known. If tokens can be used, somebody may still make a token for a requester who has only a plain name.
    """
    agents = [token for token in working if token.scope is Scope.AGENT]
    # An agent asks with its token for the token's owner.
    holders: dict[str, set[str | None]] = {
        "requesters": {holder for token in agents for holder in (token.identity, token.owner)},
        "approvers": {token.identity for token in working if token.scope is Scope.APPROVER},
    }
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
            text = say("doctor.unknown.later", people=", ".join(later), first=later[0])
            yield Check("requesters by token", Health.YELLOW, text)
        if strays := [name for name in unknown if name not in later]:
            text = say("doctor.unknown.people", people=", ".join(strays))
            yield Check(f"unknown {role}", Health.RED if listed == set(strays) else Health.YELLOW, text)


def _astray(settings: Settings, people: Directory) -> Iterator[Check]:
    """Yield a check for routes on platforms that aren't configured, because cards can't be sent to these routes."""
    set_up = [ORIGIN, APPROVERS, *settings.set_up()]
    if astray := sorted(route for route in people.named_routes() if route.partition(":")[0] not in set_up):
        routes = ", ".join(_with_near(route, set_up) for route in astray)
        yield Check("unknown routes", Health.RED, say("doctor.unknown.routes", routes=routes))


def _with_near(route: str, known: Sequence[str]) -> str:
    """Return a route on an unknown platform, with the route that was probably meant."""
    platform, colon, rest = route.partition(":")
    near = get_close_matches(platform, known, n=1)
    return say("near.name", name=route, near=f"{near[0]}{colon}{rest}") if near else route


def _unanswered(settings: Settings, people: Directory) -> Iterator[Check]:
    """Yield a check for each chat platform on which no approver has an account, so that nobody can answer there."""
    approvers = _names(people, "approvers")
    for surface in (people.surfaces[name] for name in settings.set_up()):
        if approvers and not any(_is_on(surface, people, name) for name in approvers):
            name = say("doctor.unanswered.name", platform=surface.title)
            yield Check(name, Health.YELLOW, say("doctor.unanswered"))


def _origins(settings: Settings, people: Directory, working: Sequence[Credential]) -> Iterator[Check]:
    """Yield a check for each origin of calls: who may ask and approve there, and to which routes the cards go."""
    listed = (place for place in people.conversations if place != LOCAL)
    for origin in dict.fromkeys((LOCAL, *listed, *_origins_of_tokens(settings, working))):
        requesters = people.requesters_for(origin)
        if not requesters or (origin == LOCAL and not any(map(people.is_local, requesters))):
            continue
        # If all requesters are on chat platforms, they ask in their chats. So nobody asks over HTTP.
        if origin == HTTP.name and all(people.is_chat(i) for name in requesters for i in people.identities(name)):
            continue
        place = people.conversations.get(origin)
        approvers = people.approvers if place is None or place.approvers is None else place.approvers
        if approvers or (place is not None and place.approvers is not None):
            name = say("doctor.origin.name", origin=origin)
            yield _origin(people, name, requesters, approvers, people.routes_for(origin, approvers))
    for surface in (people.surfaces[name] for name in settings.set_up()):
        requesters, approvers = (
            tuple(name for name in names if _is_on(surface, people, name))
            for names in (people.requesters, people.approvers)
        )
        if requesters and people.approvers:
            where = (say("doctor.origin.asked"),) if approvers else ()
            name = say("doctor.origin.name.other", platform=surface.title)
            yield _origin(people, name, requesters, people.approvers, where)


def _is_on(surface: Surface, people: Directory, name: str) -> bool:
    """Return whether the surface can prove who this person is, by one of the person's identities."""
    return any(identity.partition(":")[0] in surface.proves for identity in people.identities(name))


def _origin(
    people: Directory, name: str, requesters: Sequence[str], approvers: Sequence[str], routes: Sequence[str]
) -> Check:
    """Return the check of one origin of calls."""
    shown = [*routes, *([say("doctor.origin.pending")] if any(map(people.is_local, approvers)) else [])]
    if not approvers:
        return Check(name, Health.RED, say("doctor.origin.nobody"))
    if not shown:
        return Check(name, Health.RED, say("doctor.origin.unseen"))
    listed = {"requesters": requesters, "approvers": approvers, "routes": shown}
    return Check(name, Health.GREEN, say("doctor.origin", **{each: ", ".join(names) for each, names in listed.items()}))


def _origins_of_tokens(settings: Settings, working: Sequence[Credential]) -> Iterator[str]:
    """Yield the origins of requests over HTTP, including the requests of MCP clients with a token.

    These are the origins to which tokens are bound. A token that is bound to no origin asks from `http`. MCP clients on
    this machine's socket ask from `local`.
    """
    if settings.http.port is not None:
        yield HTTP.name
    for token in working:
        if token.scope is Scope.AGENT:
            yield from token.origins or (HTTP.name,)


def _known(settings: Settings, people: Directory, identity: str) -> bool:
    """Return whether a surface that is set up can prove that somebody has this identity."""
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
        yield Check("separation", Health.YELLOW, say("doctor.separation", people=", ".join(sorted(askers))))
    approvers, requesters = (
        {people.principal(name) for name in each} for each in (people.approvers, people.requesters)
    )
    counts = people.self_approval_socket or any(place.self_approval for place in people.conversations.values())
    if len(approvers) == 1 and approvers <= requesters and not counts:
        (name,) = approvers
        state = Health.RED if requesters == approvers else Health.YELLOW
        yield Check("second person", state, say("doctor.second_person", name=name))


def _folder(path: Path) -> Check:
    if not path.is_dir():
        if os.path.lexists(path):
            return Check("state folder", Health.RED, say("doctor.state.no_folder", path=path))
        return Check("state folder", Health.YELLOW, say("doctor.not_yet", path=path))
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        return Check("state folder", Health.RED, say("doctor.state.open", path=path, mode=f"{mode:04o}"))
    free = shutil.disk_usage(path).free
    if free < _LEAST_FREE_BYTES:
        text = say("doctor.state.full", path=path, free=free // 2**20, least=_LEAST_FREE_BYTES // 2**20)
        return Check("state folder", Health.RED, text)
    return Check("state folder", Health.GREEN, say("doctor.state", path=path, free=free // 2**30))


def _keys(settings: Settings) -> Check:
    from adapters.database.folder import KEYS
    from adapters.database.keys import lost, read

    given = settings.given_keys()
    state = settings.folder("state")
    path = given or state / KEYS
    if given is None and (why := lost(path, state / "sayso.db")):
        return Check("keys", Health.RED, why)
    if given is None and not path.exists():
        return Check("keys", Health.YELLOW, say("doctor.not_yet", path=path))
    try:
        count = len(read(path, given=given is not None))
        if given is None and (owner := path.stat().st_uid) != _service_uid(settings):
            text = say("doctor.keys.foreign", path=path, owner=owner, uid=_service_uid(settings))
            return Check("keys", Health.RED, text)
    except Unavailable as error:
        return Check("keys", Health.RED, error.message)
    return Check("keys", Health.GREEN, say("doctor.keys", path=path, count=count))


def _record(settings: Settings) -> Iterator[Check]:
    """Verify the calls that haven't ended (the check of the database counts them), and the service's own record."""
    from adapters.database.folder import KEYS
    from adapters.database.keys import read

    state, given = settings.folder("state"), settings.given_keys()
    if not (state / "sayso.db").exists():
        return
    try:
        keys = Keyring(read(given or state / KEYS, given=given is not None))
        with surveyed(state / "sayso.db") as survey:
            changed, line = survey.open_flaws(keys, _MOST_VERIFIED)
    except (Unavailable, OSError):
        return  # The checks of the database and of the keys report an error here.
    if line is not None:
        yield Check("record", Health.RED, say("start.tokens", seq=line))
    elif changed:
        yield Check("record", Health.YELLOW, say("audit.flawed", shorts=", ".join(changed)))
    else:
        yield Check("record", Health.GREEN, say("doctor.record"))


def _mark(settings: Settings) -> Check:
    if (mark := settings.mark_file()) is not None:
        return Check("mark", Health.GREEN, str(mark))
    return Check("mark", Health.YELLOW, say("doctor.mark.beside"))


def _database(path: Path) -> Check:
    if not path.exists():
        return Check("database", Health.YELLOW, say("doctor.not_yet", path=path))
    try:
        with surveyed(path) as survey:
            if survey.schema is None:
                return Check("database", Health.RED, say("doctor.database.empty", path=path))
            if survey.schema not in survey.schemas:
                text = say("doctor.database.newer", schema=survey.schema, newest=survey.schemas[-1], path=path)
                return Check("database", Health.RED, text)
            if survey.schema != survey.schemas[-1]:
                text = say("doctor.database.older", schema=survey.schema, newest=survey.schemas[-1], path=path)
                return Check("database", Health.YELLOW, text)
            aside, kept = survey.set_aside(), _kept(survey)
            text = say("doctor.database.aside", kept=kept, events=aside) if aside else kept
            return Check("database", Health.YELLOW if aside else Health.GREEN, text)
    except Unavailable as error:
        return Check("database", Health.RED, error.message)


def _clock(path: Path) -> Iterator[Check]:
    """Check whether this machine's clock is behind the newest time in the audit record.

    If the clock is behind, the service's clock continues from the recorded time.
    """
    if not path.exists():
        return
    try:
        with surveyed(path) as survey:
            newest = next((at for at, _ in survey.latest_lines(1)), None)
    except Unavailable:
        return  # The check of the database reports this error.
    behind = (newest - datetime.now(UTC)).total_seconds() if newest else 0.0
    if behind > _MOST_BEHIND_S:
        yield Check("clock", Health.RED, say("doctor.clock.behind", behind=f"{behind:.0f}"))
    elif newest:
        yield Check("clock", Health.GREEN, say("doctor.clock"))


def _kept(survey: Survey) -> str:
    """Return the text of the database's check: the schema's version, and the numbers of pending and running calls."""
    counted, oldest = survey.open_calls(), survey.oldest_pending()
    pending, running = (counted.get(state, 0) for state in (State.AWAITING, State.EXECUTING))
    if oldest is None:
        return say("doctor.database", schema=survey.schema, pending=pending, running=running)
    since = f"{oldest:%Y-%m-%d %H:%M}"
    return say("doctor.database.since", schema=survey.schema, pending=pending, running=running, oldest=since)


def _agent(settings: Settings) -> Check:
    from bot.agent import make_model
    from bot.errors import SettingsError

    chosen = settings.agent
    if not chosen.model:
        return Check("agent", Health.GREEN, say("doctor.agent.offline"))
    try:
        make_model(chosen)
        chosen.instructions()
    except SettingsError as error:
        return Check("agent", Health.RED, str(error))
    offered = ", ".join(chosen.tools) or say("doctor.agent.no_tool")
    return Check("agent", Health.GREEN, say("doctor.agent", model=chosen.model, tools=offered))


def _tools(settings: Settings) -> Iterator[Check]:
    from bot.compose import workspace_tools

    allow = settings.tools.allow
    try:
        with tempfile.TemporaryDirectory(prefix="sayso-tools-") as anywhere:
            may_run = workspace_tools(Path(anywhere), allow).offered()
    except Unavailable as error:
        yield Check("tools", Health.RED, say("doctor.tools.unknown", why=error.message))
        return
    if not may_run:
        yield Check("tools", Health.YELLOW, say("doctor.tools.none"))
        return
    listed = ", ".join(may_run)
    if allow is not None:
        yield Check("tools", Health.GREEN, say("doctor.tools", tools=listed))
    else:
        yield Check("tools", Health.YELLOW, say("doctor.tools.all", tools=listed))
    if "bash" in may_run:
        yield from _sandbox(settings)


def _sandbox(settings: Settings) -> Iterator[Check]:
    """Check how commands run, and whether a command can read or change the keys and other files of the service."""
    from adapters.executors.confinement import best
    from bot.compose import sandbox_of

    try:
        sandbox = sandbox_of(settings) or best()
    except Unavailable as error:
        yield Check("confinement", Health.RED, _flat(error.message))
        return
    how = _confined(sandbox)
    if reached := _reached(settings, sandbox):
        yield Check("confinement", Health.RED, say("doctor.bash.reaches", how=how, path=reached))
    elif sandbox.way == "none":
        yield Check("confinement", Health.YELLOW, say("doctor.bash.high", how=how))
    elif _service_uid(settings) == 0 and sandbox.user is None:
        yield Check("confinement", Health.YELLOW, say("doctor.bash.root", how=how))
    else:
        yield Check("confinement", Health.GREEN, how)


def _confined(sandbox: Sandbox) -> str:
    """Return a text that says how commands run, and within which limits."""
    how = say("doctor.bash", way=sandbox.way) if sandbox.way != "none" else say("doctor.bash.open")
    if sandbox.user:
        how = say("doctor.bash.user", how=how, user=sandbox.user.name)
    bounds = sandbox.bounds
    return say(
        "doctor.bash.bounds",
        how=how,
        memory=bounds.memory >> 20,
        processes=bounds.processes,
        file=bounds.file >> 20,
    )


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
        yield Check("workspace", Health.RED, say("doctor.workspace.exposed", paths=", ".join(map(str, exposed))))
    if read := [str(path) for path in settings.secret_files() if path.exists() and path.stat().st_mode & stat.S_IROTH]:
        text = say("doctor.secrets.open", paths=", ".join(read), files=" ".join(read))
        yield Check("secrets", Health.YELLOW, text)


def _open_port(settings: Settings) -> Iterator[Check]:
    """Yield a check if other machines may send tokens without TLS.

    Behind a TLS proxy, the port is open to every machine, because the service can't know which machine is the proxy.
    """
    http = settings.http
    if http.port is not None and http.proxy and not http.on_loopback:
        yield Check("http", Health.YELLOW, say("doctor.http.open", host=http.host, port=http.port))


def _policy(settings: Settings) -> Iterator[Check]:
    from bot.errors import SettingsError

    try:
        yield _document(settings)
    except SettingsError as error:
        yield Check("policy", Health.RED, say("doctor.policy.wrong", why=_flat(str(error)).rstrip(".")))
    enforces = settings.mode is Mode.ENFORCE
    mode = say("doctor.mode" if enforces else "doctor.mode.unasked", mode=settings.mode.value)
    if settings.stage:
        mode = say("doctor.mode.stage", stage=settings.stage, mode=mode)
    yield Check("mode", Health.GREEN if enforces else Health.RED, mode)
    if passing := sorted(settings.terms().passes):
        yield Check("fallback", Health.RED, say("doctor.fallback", tools=", ".join(passing)))


def _document(settings: Settings) -> Check:
    """Return the check of the policy that the next start would use. Raises SettingsError if there is no policy with its
    name.
    """
    from bot.compose import policy_library
    from bot.policies import need_engine

    need_engine()
    library = policy_library(settings.policy_folders())
    document = library.read(settings.policy_name())
    policy = library.load(document)
    origin, digest = document.origin, policy.digest[:12]
    if problems := policy.lint():
        text = say("doctor.policy.problem", origin=origin, digest=digest, problem=problems[0])
        return Check("policy", Health.YELLOW, text)
    return Check("policy", Health.GREEN, say("doctor.policy", origin=origin, digest=digest))


def _flat(text: str) -> str:
    """Return the sentences about a policy's problems as one line of text."""
    return text.replace(":\n", ": ").replace("\n", "; ")


def _dry_run(state: Path) -> Iterator[Check]:
    """Check that this machine can ask for, approve, run and record a call.

    The check uses a temporary state folder and deletes it. The temporary folder is in the state folder or, before the
    first start, in the system's folder for temporary files.
    """
    from bot.doctor.dry_run import dry_run
    from bot.errors import SettingsError

    there = state.is_dir()
    try:
        # The dry run gets its own thread, because the caller may have an event loop.
        with ThreadPoolExecutor(1) as beside:
            took, wrong = beside.submit(asyncio.run, dry_run(state if there else Path(tempfile.gettempdir()))).result()
    except PermissionError:
        raise
    except (SaysoError, SettingsError, OSError) as error:
        yield Check("dry run", Health.RED, say("doctor.dry_run.impossible", why=_flat(str(error))))
        return
    millis = f"{took * 1000:.0f}"
    if wrong:
        yield Check("dry run", Health.RED, say("doctor.dry_run.failed", why=_flat(wrong)))
    elif there:
        yield Check("dry run", Health.GREEN, say("doctor.dry_run", took=millis))
    else:
        yield Check("dry run", Health.GREEN, say("doctor.dry_run.elsewhere", took=millis, state=state))


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
            return Check("service", Health.YELLOW, say("doctor.service.stranger", path=path))
        return Check("service", Health.RED, error.message)
    state = settings.folder("state")
    if _is_elsewhere(told.get("state"), state):
        return Check("service", Health.RED, say("doctor.service.elsewhere", path=path, state=state))
    if troubles := "; ".join(told["troubles"]):
        return Check("service", Health.RED, say("doctor.service.troubles", path=path, troubles=_flat(troubles)))
    return Check("service", Health.GREEN, say("doctor.service", path=path, principal=told["principal"]))


def _is_elsewhere(running: str | None, state: Path) -> bool:
    """Return whether the running service uses another state folder than `state`.

    `running` is the id of the running service's folder, which only operators get. Return False if `running` is None, or
    if this user can't read `state`.
    """
    from adapters.database.folder import folder_identity

    try:
        here = folder_identity(state)
    except OSError:
        return False
    return running not in {None, here}


def _platform(settings: Settings, platform: str) -> list[Check]:
    """Return the platform's own checks. They ask the platform directly, so they work while the service is down."""
    from bot.errors import NoSecretError, SettingsError

    try:
        settings.directory()
    except SettingsError:
        return []  # The check of people reports an error in the lists of people.
    try:
        return platform_checks(settings, platform)
    except NoSecretError as error:
        return [Check(platform, Health.RED, str(error).rstrip("."))]
    except SettingsError as error:
        return [Check(platform, Health.RED, say("doctor.correct", why=str(error).rstrip("."), section=platform))]
    except ModuleNotFoundError as error:
        return [Check(platform, Health.RED, say("doctor.extra", module=error.name, extra=platform))]


def platform_checks(settings: Settings, platform: str) -> list[Check]:
    """Return the checks of a chat platform that is set up.

    Raises SettingsError, and ModuleNotFoundError if the platform's extra isn't installed.
    """
    report = module(platform, "checks").report
    found: list[Check] = asyncio.run(
        report(settings.section(platform), settings.directory().in_force(datetime.now(UTC)), settings.http.port)
    )
    return found


def _answers(settings: Settings) -> list[Check]:
    """Return the checks of the kinds of answers that have arrived from the platforms.

    The platforms don't say which kinds they send.
    """
    from bot.doctor.answer_inputs import report

    declared = surfaces()
    return report(settings.folder("state") / "sayso.db", [declared[name] for name in settings.set_up()])
