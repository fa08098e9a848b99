"""`sayso-hooks`: installs the hook in a host's settings, removes it, and checks an installed hook.

It changes nothing else in the settings, and first writes a backup (mode 0600) into the same folder. The installed
command names an absolute Python, and runs it isolated (`-I`). If the hook fails in any way, the command blocks the
tool.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

from sayso_client.errors import ClientError, why_unread
from sayso_client.hooks.__main__ import HOSTS
from sayso_client.hooks.answering import PROBE, PROBED, REACHED
from sayso_client.hooks.guarding import weak_points
from sayso_client.hooks.reaching import refuse_clear
from sayso_client.terminal import INTERRUPTED
from sayso_client.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

#: The text by which our commands are recognised. Every installed command contains it, and no other text does.
MARK = "sayso_client.hooks"
#: Seconds from the hook's own deadline to its stop by `timeout`, and from that stop to the host's deadline.
_MARGIN_S = 5
#: The types of hooks that Claude Code knows.
_TYPES = frozenset({"command", "http", "prompt", "agent", "mcp_tool"})
DEFAULT_WAIT_S, _SHORTEST_WAIT_S = 600, 30
#: The service holds no call open for longer than 7 days. Timers of JavaScript, which hosts use, overflow after 24 days.
_LONGEST_WAIT_S = 7 * 24 * 3600


class Host(Protocol):
    """The interface of a host's module for the installation (the module also translates the host's events).

    Some hosts also have `LONGEST_S`, the longest wait that they accept in seconds, and `OVER`: settings in other files,
    which override the user's own. Each entry of `OVER` is a file's path (from the folder of the user's settings), the
    name of a setting, and the value of the setting that switches hooks off. `THEN_MANAGED`, if a host has it, is used
    in place of `THEN` after an installation in the managed settings.
    """

    #: The name of the host's program, and its lowest version with which the hook was tried.
    PROGRAM: str
    TRIED: tuple[int, ...]
    #: The path of the user's own settings, below the home folder. The path of the settings that only root can write, or
    #: None if the host has no such settings.
    FILE: str
    MANAGED: str | None
    #: Environment variables that move the user's own settings: pairs of a variable with a folder, and the settings'
    #: path in this folder.
    MOVED: tuple[tuple[str, str], ...]
    #: The catalogue key of a sentence about a step that the user must still do, or None.
    THEN: str | None

    def put(self, text: str, command: str, wait_s: int) -> str:
        """Return the settings with our hook. Raises ValueError if the settings can't be read."""

    def take(self, text: str) -> str:
        """Return the settings without our hook."""

    def ours(self, text: str) -> Any:
        """Return the part of the settings that installs our hook, so that two versions can be compared."""

    def off(self, text: str) -> str | None:
        """Return the name of a setting with which the host runs tools without asking our hook, or None."""


class Pluggable(Host, Protocol):
    """A host that has plugins instead of hooks. Its settings name our plugin, which is in the same folder.

    A host that doesn't find a plugin runs the tools. Our plugin is in the folder of the settings, so it is still there
    if the hook's Python is deleted. It then blocks every tool.
    """

    #: The path of the plugin's program, from the folder of the settings. The path contains MARK.
    BESIDE: str

    def beside(self, command: str, wait_s: int) -> dict[str, str]:
        """Return the plugin's files: their paths from the folder of the settings, and their content."""


@runtime_checkable
class Restoring(Protocol):
    """A host whose `take` can't undo all that `put` changes."""

    def restored(self, text: str, before: str) -> str:
        """Undo the other changes of `put`: return the settings with the earlier values from `before`."""


@runtime_checkable
class Skipping(Protocol):
    """A host that skips an installed hook until a person trusts it."""

    def skipped(self, file: Path, text: str) -> str | None:
        """Return the catalogue key of the reason for which the host skips our hook in these settings, or None."""


@runtime_checkable
class Pinning(Protocol):
    """A host whose users could switch off the hooks of the managed settings, if no line there forbids it."""

    def pinned(self, text: str) -> str:
        """Return the managed settings with this line. Raises ValueError if it can't be added."""


@dataclass(frozen=True)
class Service:
    """The address of the service: a socket and the service's user id, or a URL with files for the token and the CA."""

    socket: str | None = None
    uid: int | None = None
    url: str | None = None
    token_file: str | None = None
    ca_file: str | None = None

    def words(self) -> list[str]:
        """Return the address as options of the hook's command."""
        named = {
            "--socket": self.socket,
            "--uid": self.uid,
            "--url": self.url,
            "--token-file": self.token_file,
            "--ca-file": self.ca_file,
        }
        return [word for option, value in named.items() if value is not None for word in (option, str(value))]


@dataclass
class SettingsChange:
    """A change of one file. `before` is None for a new file, `after` is None for a file that is deleted.

    `first` is the change of another file that must come before this one. `removes` says that the hook is removed.
    """

    file: Path
    before: str | None
    after: str | None
    first: SettingsChange | None = None
    removes: bool = False

    def diff(self) -> str:
        """Return the change as a unified diff, or '' if nothing changes."""
        old, new = (self.before or "").splitlines(keepends=True), (self.after or "").splitlines(keepends=True)
        own = "".join(difflib.unified_diff(old, new, str(self.file), str(self.file)))
        return (self.first.diff() if self.first else "") + own

    def write(self) -> Path | None:
        """Write each file completely or not at all. Return the path of a new backup, or None. Raises OSError.

        The backup contains the file without our hook, so a second installation keeps the first backup. A new file gets
        an empty backup, because a hook counts as `lost` only if there is a backup. A new file outside of the user's
        home can be read by other users, because the host may run as another user.
        """
        if self.first:
            self.first.write()
        if self.after is None:
            self.file.unlink(missing_ok=True)
            if MARK in self.file.parent.name:
                with contextlib.suppress(OSError):  # The folder still has other files.
                    self.file.parent.rmdir()
            self.forget()
            return None
        private = self.file.is_relative_to(Path.home())
        mode = self.file.stat().st_mode & 0o777 if self.file.exists() else 0o600 if private else 0o644
        self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700 if private else 0o755)
        is_plugin = any(MARK in name for name in self.file.parts[-2:])
        is_first = not self.removes and MARK not in (self.before or "") and not is_plugin
        if is_first:
            _put(_backup(self.file), self.before or "", 0o600)
        _put(self.file, self.after, mode)
        self.forget()
        return _backup(self.file) if is_first and self.before else None

    def forget(self) -> None:
        """Delete the backups if the hook is removed, so that the hook doesn't count as `lost`."""
        if self.first:
            self.first.forget()
        if self.removes:
            _backup(self.file).unlink(missing_ok=True)


#: A file descriptor of the shell's output, which the host reads. The hook needs it to check whether the host still
#: reads, because the hook's own output goes to the shell.
_READER = 3


def command(host: str, service: Service, wait_s: int, *, defer: bool = False, python: str = sys.executable) -> str:
    """Return the shell line that a host runs for each tool call.

    If the hook ends in time, without an error and with a JSON object as its output, the line prints this object.
    Otherwise the line blocks the tool, with a reason.
    """
    reader, patience = ["--reader", str(_READER)], ["--patience", str(wait_s - 2 * _MARGIN_S)]
    hook = [python, "-I", "-m", MARK, host, *service.words(), *reader, *patience]
    hook += ["--defer"] * defer
    if limit := _program("timeout"):
        hook = [limit, *_limit(wait_s), *hook]
    return _shell_line(_program("sh") or "/bin/sh", hook)


def _limit(wait_s: int) -> list[str]:
    return ["-k", "1", str(wait_s - _MARGIN_S)]


def _shell_line(shell: str, hook: list[str]) -> str:
    no_answer = shlex.quote(say("hook.no_answer"))
    pass_on = f'{{ o=$({shlex.join(hook)}) && case $o in "{{"*"}}") printf %s "$o" && exit 0;; esac; }} {_READER}>&1'
    return shlex.join([shell, "-c", f"{pass_on}; echo {no_answer} >&2; exit 2"])


def _program(name: str) -> str | None:
    """Return the absolute path of a program of the system, or None. The PATH of a later run could lead to another
    program.
    """
    found = shutil.which(name, path=os.defpath) or shutil.which(name)
    return found and os.path.abspath(found)


def module(host: str) -> Host:
    """Return the module of a coding agent (a host), by its name."""
    return cast("Host", import_module(f"sayso_client.hooks.{HOSTS[host]}"))


def planned(host: str, file: Path, line: str, wait_s: int) -> SettingsChange:
    """Return the change that installs the hook. `line` is the shell line that `command` returned.

    Raises ClientError if the settings can't be read, or if they would keep the host from asking the hook.
    """
    before, known, plugin = _read(file), module(host), _plugin(host, file)
    with _understood(file):
        told = plugin.as_uri() if plugin else line
        after = _pinned(known, file, known.put(known.take(before or ""), told, wait_s))
        found = _switch(known, file, after)
    if found:
        raise _wrong("hook.refused", file=found[0], host=host, switch=found[1])
    first = None
    for path, content in _beside(host, file, line, wait_s).items():
        first = SettingsChange(path, _read(path), content, first)
    return SettingsChange(file, before, after, first)


def unplanned(host: str, file: Path) -> SettingsChange:
    """Return the change that removes the hook. Raises ClientError if the settings can't be read.

    If nothing else has changed since the installation, the file gets exactly its former text. A file that the
    installation made is deleted.
    """
    before, known = _read(file), module(host)
    after: str | None
    with _understood(file):
        # The backup of a file that the installation made is empty.
        after, kept = known.take(before or ""), _read(_backup(file)) or None
        made = known.take(known.put("", MARK, _SHORTEST_WAIT_S))
        if isinstance(known, Restoring) and after != before:
            after, made = (known.restored(text, kept or "") for text in (after, made))
        if kept is None and before is not None and (after == made or _same(after, made)):
            after = None
        elif kept is not None and kept != after and _same(kept, after):
            after = kept
    change = SettingsChange(file, before, after, removes=True)
    # The settings come first, so that they never name a plugin that doesn't exist.
    for path in _beside(host, file):
        change = SettingsChange(path, _read(path), None, change, removes=True)
    return change


def own_file(known: Host) -> Path:
    """Return the path of the user's own settings. The environment variables of `MOVED` may have moved them."""
    for variable, below in known.MOVED:
        if folder := os.environ.get(variable):
            return Path(folder).expanduser().absolute() / below
    return Path.home() / known.FILE


def lost(file: Path) -> bool:
    """Return whether a hook was installed in these settings, and not removed by us. Raises OSError."""
    return _backup(file).exists()


@contextlib.contextmanager
def _understood(file: Path) -> Iterator[None]:
    """A context manager that raises ClientError instead of the errors that settings in a wrong form cause."""
    try:
        yield
    except (ValueError, AttributeError, TypeError, LookupError) as error:
        raise _wrong("hook.settings", file=file, error=why_unread(error)) from error


def _plugin(host: str, file: Path) -> Path | None:
    """Return the path of the plugin's program, or None for a host without plugins."""
    name = getattr(module(host), "BESIDE", None)
    return file.parent / name if name else None


def _beside(host: str, file: Path, line: str = "", wait_s: int = 0) -> dict[Path, str]:
    """Return the plugin's files with the content that `planned` writes, or {} for a host without plugins."""
    known = module(host)
    made = cast("Pluggable", known).beside(line, wait_s) if hasattr(known, "beside") else {}
    return {file.parent / name: content for name, content in made.items()}


def _backup(file: Path) -> Path:
    return file.with_name(f"{file.name}.before-sayso")


def _same(one: str, other: str) -> bool:
    """Return whether two texts are the same JSON document."""
    try:
        return bool(json.loads(one) == json.loads(other))
    except ValueError:
        return False


def check_version(host: str) -> str | None:
    """Return a sentence if the host is missing, or if its version is unknown or older than the tried version.

    Return None for a version that is known and at least as new.
    """
    known = module(host)
    program = shutil.which(known.PROGRAM)
    if program is None:
        return say("hook.no_host", program=known.PROGRAM)
    try:
        told = subprocess.run(  # noqa: S603 - the host that the user wants gated
            [program, "--version"], capture_output=True, text=True, timeout=30, check=False, stdin=subprocess.DEVNULL
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        told = ""
    found = re.search(r"\d+(?:\.\d+)+", told)
    version = tuple(map(int, found[0].split("."))) if found else ()
    tried = ".".join(map(str, known.TRIED))
    if version < known.TRIED:
        return say("hook.old_host", program=known.PROGRAM, version=found[0] if found else "?", tried=tried)
    return None


def checked(host: str, file: Path, users: Iterable[int] | None = None) -> list[tuple[str, str]]:
    """Check an installed hook. Return pairs of `green`, `yellow` or `red` and a sentence.

    `users` are the ids of the users as whom agents run; by default the user who runs this. Raises ClientError if the
    settings can't be read.
    """
    lines, known = _hook_lines(host, file), module(host)
    if not lines:
        return [("red", say("hook.absent", host=_named(known, host, file), file=file))]
    line = next((line for line in lines if "$(" in line), lines[0])
    found = [_tried(line)]
    with _understood(file):
        if switch := _switch(known, file, _read(file) or ""):
            found.append(("red", say("hook.off", file=switch[0], host=host, switch=switch[1])))
        if not _is_as_written(host, file, line):
            found.append(("red", say("hook.changed", file=file, host=host)))
        if isinstance(known, Skipping) and (reason := known.skipped(file, _read(file) or "")):
            found.append(("red", say(reason, file=file)))
    files = [file, *_beside(host, file)]
    way = say("hook.close.managed") if known.MANAGED not in {None, str(file)} else say("hook.close.own")
    return found + weak_points(_programs(line), files, [os.getuid()] if users is None else users, way)


def _named(known: Host, host: str, file: Path) -> str:
    """Return the arguments of `sayso-hooks` that select this file: the host, and the file if it isn't the default."""
    return host if file == own_file(known) else shlex.join([host, "--file", str(file)])


def _switch(known: Host, file: Path, text: str) -> tuple[Path, str] | None:
    """Return the file and the name of a setting that keeps the host from asking the hook in `file`, or None."""
    if name := known.off(text):
        return file, name
    if _pinned(known, file, text) != text:
        return file, "features.hooks"
    for place, switch, value in getattr(known, "OVER", ()):
        other = file.parent / place
        if str(file) != known.MANAGED and _value(other, switch) is value:
            return other, switch
    return None


def _pinned(known: Host, file: Path, text: str) -> str:
    """Return the settings so that no user can switch hooks off, if the file is the host's managed settings."""
    return known.pinned(text) if isinstance(known, Pinning) and str(file) == known.MANAGED else text


def _value(file: Path, switch: str) -> object:
    """Return the value of a setting such as `hooksConfig.enabled`, or None if it can't be read."""
    try:
        found = _document(file.read_text("utf-8"))
        for name in switch.split("."):
            found = found[name]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return cast("object", found)


def _is_as_written(host: str, file: Path, line: str) -> bool:
    """Return whether the settings install the hook exactly as `planned` does with this command."""
    known, plugin, wait_s = module(host), _plugin(host, file), _wait_of(host, line)
    if wait_s is None or any(_read(path) != text for path, text in _beside(host, file, line, wait_s).items()):
        return False
    wanted = known.put("", plugin.as_uri() if plugin else line, wait_s)
    found, expected = (json.dumps(known.ours(text), sort_keys=True) for text in (_read(file) or "", wanted))
    return found == expected


def _wait_of(host: str, line: str) -> int | None:
    """Return for how many seconds a hook waits, or None if `command` writes no such line for this host."""
    try:
        shell, hook = shlex.split(line)[0], _hook(line)
        python = hook.index("-I") - 1
        wait_s = int(hook[hook.index("--patience") + 1]) + 2 * _MARGIN_S
    except (ValueError, IndexError):
        return None
    is_limited = hook[1:python] in ([], _limit(wait_s))
    is_hook = hook[python + 1 : python + 5] == ["-I", "-m", MARK, host]
    return wait_s if is_limited and is_hook and line == _shell_line(shell, hook) else None


def _hook_lines(host: str, file: Path) -> list[str]:
    """Return the shell lines of our hook, or [] if the settings name none. Raises ClientError for broken settings."""
    text, plugin = _read(file) or "", _plugin(host, file)
    with _understood(file):
        named = {line for line in _strings(text) if MARK in line}
        inside = {line for line in _strings(_read(plugin) or "") if MARK in line} if plugin else named
    return sorted(inside) if named else []


def _hook(line: str) -> list[str]:
    """Return the words of the hook's own command, which `command` put into a shell line, or []."""
    return shlex.split(shlex.split(line)[-1].partition("$(")[2].partition(") &&")[0]) if "$(" in line else []


def _programs(line: str) -> list[str]:
    """Return the shell's program and the words of the hook's command, or [].

    `weak_points` examines who can change them.
    """
    hook = _hook(line)
    return [shlex.split(line)[0], *hook] if hook else []


def main(arguments: list[str] | None = None) -> int:
    """Install, remove or check a hook, as `sayso-hooks --help` says. Return the exit status."""
    options = _parser().parse_args(arguments)
    known = module(options.host)
    options.wait = _capped(options, known)
    file = Path(options.file or known.FILE)
    try:
        if sys.platform == "win32":
            raise _wrong("hook.windows")
        file = _file(options, known)
        if options.action == "check":
            found = checked(options.host, file)
            print("\n".join(f"{state}: {told}" for state, told in found))
            return int(any(state == "red" for state, _ in found))
        if options.action == "remove":
            return _carry_out(unplanned(options.host, file), say("hook.removed", file=file), yes=options.yes)
        if not options.untested and (wrong := check_version(options.host)):
            print(wrong, file=sys.stderr)
            return 1
        line = command(options.host, _service(options), options.wait, defer=options.defer)
        change = planned(options.host, file, line, options.wait)
        done = _carry_out(change, say("hook.installed", file=file), yes=options.yes)
        then = getattr(known, "THEN_MANAGED", known.THEN) if str(file) == known.MANAGED else known.THEN
        if done == 0 and then:
            print(say(then))
    except ClientError as error:
        print(error.message, file=sys.stderr)
        return 1
    except OSError as error:
        print(say("hook.unwritten", file=file, error=error.strerror), file=sys.stderr)
        return 1
    return done


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sayso-hooks", description="Put a coding agent's tool calls behind Sayso.")
    parser.add_argument("action", choices=("install", "remove", "check"))
    parser.add_argument("host", choices=sorted(HOSTS))
    parser.add_argument("--socket", help="the service's Unix socket")
    parser.add_argument("--uid", type=int, help="the user id of the service; by default the socket's owner")
    parser.add_argument("--url", help="the service's address, instead of a socket")
    parser.add_argument("--token-file", help="with --url: the file that holds the token")
    parser.add_argument("--ca-file", help="with --url: the certificate authority of the service")
    parser.add_argument("--wait", type=int, default=DEFAULT_WAIT_S, help="seconds to wait for people (default: 600)")
    parser.add_argument("--defer", action="store_true", help="claude-code, headless: put a pending call off instead")
    parser.add_argument("--managed", action="store_true", help="write the settings that only root can change")
    parser.add_argument("--file", help="other settings")
    parser.add_argument("--untested", action="store_true", help="also for a version that wasn't tried")
    parser.add_argument("--yes", action="store_true", help="write without asking")
    return parser


def _file(options: argparse.Namespace, known: Host) -> Path:
    if options.file:
        return Path(options.file).expanduser().absolute()
    if options.managed and not known.MANAGED:
        raise _wrong("hook.unmanaged", host=options.host)
    return Path(known.MANAGED) if options.managed and known.MANAGED else own_file(known)


def _capped(options: argparse.Namespace, known: Host) -> int:
    """Return the seconds to wait, at most as many as the host takes.

    Print a notice if that is less than the options ask for.
    """
    longest: int = getattr(known, "LONGEST_S", _LONGEST_WAIT_S)
    if options.action == "install" and options.wait > longest:
        print(say("hook.capped", host=options.host, longest=longest), file=sys.stderr)
    return min(int(options.wait), longest)


def _service(options: argparse.Namespace) -> Service:
    if options.wait < _SHORTEST_WAIT_S:
        raise _wrong("hook.wait", least=_SHORTEST_WAIT_S)
    if options.url:
        if not options.token_file:
            raise _wrong("hook.token")
        refuse_clear(options.url)
        files = {name: value and str(Path(value).expanduser().absolute()) for name, value in vars(options).items()}
        return Service(url=options.url, token_file=files["token_file"], ca_file=files["ca_file"])
    if not options.socket:
        raise _wrong("hook.socket")
    path = Path(options.socket).expanduser().absolute()
    try:
        uid = path.stat().st_uid if options.uid is None else options.uid
    except OSError as error:
        raise _wrong("hook.no_socket", path=path, error=error.strerror) from error
    return Service(socket=str(path), uid=uid)


def _carry_out(change: SettingsChange, told: str, *, yes: bool) -> int:
    """Show the change, ask on a terminal, and write it. Return the exit status."""
    diff = change.diff()
    if not diff:
        change.forget()
        print(say("hook.unchanged", file=change.file))
        return 0
    print(diff, end="")
    if not yes:
        if not sys.stdin.isatty():
            print(say("hook.unasked"), file=sys.stderr)
            return 1
        try:
            answer = input(say("hook.ask", file=change.file)).strip().lower()
        except (EOFError, KeyboardInterrupt):
            print(f"\n{say('hook.left', file=change.file)}")
            return INTERRUPTED
        if answer not in {"y", "yes"}:
            print(say("hook.left", file=change.file))
            return 1
    backup = change.write()
    print(told + (say("hook.backup", backup=backup) if backup else ""))
    return 0


def _tried(line: str) -> tuple[str, str]:
    """Run an installed command with the event PROBE, which no host sends. Return a colour and a sentence.

    `green`: the hook works, and the service answers it. `red`: the hook fails, or the service can't be reached or
    refuses the hook's token. `yellow`: the service refuses this user on its socket, but may accept the agent's user.
    """
    try:
        ran = subprocess.run(  # noqa: S602 - the line that the host runs, as the host runs it
            line, shell=True, input=json.dumps(PROBE), capture_output=True, text=True, timeout=60, check=False
        )
        answer = json.loads(ran.stdout or "null") if ran.returncode == 0 else None
        code, why = answer.pop(PROBED) if isinstance(answer, dict) else ("", "")
    except (OSError, ValueError, KeyError, subprocess.TimeoutExpired):
        code, why = "", ""
    if code == REACHED:
        return "green", say("hook.sound")
    if code == "":
        return "red", say("hook.unsound")
    if code in {"UNAVAILABLE", "CONFIGURATION"} or "--token-file" in _hook(line):
        return "red", say("hook.unreached", why=why)
    return "yellow", say("hook.unlisted", why=why)


def _strings(text: str) -> list[str]:
    """Return all strings of a document in JSON or TOML.

    In another format, return the JSON string after the `=` of each line that contains MARK.
    """
    left, found = [_document(text)], []
    if left == [None]:
        return [json.loads(line.partition("=")[2]) for line in text.splitlines() if MARK in line]
    while left:
        value = left.pop()
        if isinstance(value, str):
            found.append(value)
        left += list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return found


def _document(text: str) -> Any:
    for read in (json.loads, tomllib.loads):
        with contextlib.suppress(ValueError):
            return read(text)
    return None


def _read(file: Path) -> str | None:
    try:
        return file.read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _wrong("hook.settings", file=file, error=why_unread(error)) from error


def _put(file: Path, text: str, mode: int) -> None:
    """Write a file under another name, then rename it. A crash leaves the old file, and a link stays a link."""
    file = file.resolve()
    new = file.with_name(f"{file.name}.new-sayso")
    new.unlink(missing_ok=True)
    opened = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(opened, "w", encoding="utf-8") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    new.chmod(mode)
    new.replace(file)


def _wrong(sentence: str, /, **facts: object) -> ClientError:
    return ClientError("CONFIGURATION", say(sentence, **facts))


def entries(document: dict[str, Any], event: str) -> list[dict[str, Any]]:
    """Return the list of hook groups for an event, so that the caller can change it.

    If it is missing, add it to the document.
    """
    hooks = document.setdefault("hooks", {})
    groups: list[dict[str, Any]] = hooks.setdefault(event, [])
    if not isinstance(groups, list):
        raise TypeError(f"hooks.{event} is no list")
    return groups


def our_hooks(document: Any) -> dict[str, list[Any]]:
    """Return, for each event, the hook groups with our commands. Other hooks in these groups are left out."""
    hooks = document.get("hooks", {})
    return {
        event: [_only_ours(group) for group in groups if _has_ours(group)]
        for event, groups in hooks.items()
        if _has_ours(groups)
    }


def our_hooks_in(text: str) -> dict[str, list[Any]]:
    """Return `our_hooks` of settings in JSON. Raises ValueError or TypeError for a text that isn't a JSON object."""
    return our_hooks(from_json(text))


def hooks_off(document: Mapping[str, Any]) -> str | None:
    """Return `disableAllHooks` if the settings have it with any value but false, else None."""
    return "disableAllHooks" if document.get("disableAllHooks", False) is not False else None


def _only_ours(group: Any) -> Any:
    if isinstance(group, dict) and isinstance(group.get("hooks"), list):
        return {**group, "hooks": [hook for hook in group["hooks"] if _has_ours(hook)]}
    return group


def odd_hooks(document: dict[str, Any], events: Iterable[str]) -> str | None:
    """Return the name of an event with a hook group in a form that hosts don't read, or None.

    If the event also has our group, Claude Code drops all hooks of the event without a message.
    """
    for event in events:
        for group in document.get("hooks", {}).get(event, []):
            hooks = group.get("hooks") if isinstance(group, dict) else None
            if not isinstance(hooks, list) or not all(
                isinstance(one, dict) and one.get("type") in _TYPES for one in hooks
            ):
                return f"hooks.{event}"
    return None


def without_hooks(text: str) -> str:
    """Return settings in JSON without our hooks. If they contain none, return exactly the same text.

    Raises ValueError or TypeError for a text that isn't a JSON object.
    """
    document = from_json(text)
    left = _without_ours(document)
    return as_json(left) if left != document else text


def _without_ours(document: dict[str, Any]) -> dict[str, Any]:
    """Return a JSON document of hooks without our commands.

    A group or a list that held only our commands is left out.
    """
    hooks = document.get("hooks", {})
    kept = {event: left for event, groups in hooks.items() if (left := _without(groups)) or not _has_ours(groups)}
    rest = {key: value for key, value in document.items() if key != "hooks"}
    return {**rest, "hooks": kept} if kept or (hooks == {} and "hooks" in document) else rest


def _without(groups: list[Any]) -> list[Any]:
    return [left for group in groups if (left := _group(group)) is not None]


def _group(group: Any) -> Any:
    if not _has_ours(group):
        return group
    if isinstance(group, dict) and isinstance(group.get("hooks"), list):
        left = [hook for hook in group["hooks"] if not _has_ours(hook)]
        return {**group, "hooks": left} if left else None
    return None


def _has_ours(value: Any) -> bool:
    return MARK in json.dumps(value)


def as_json(document: dict[str, Any]) -> str:
    """Return the document as JSON with two spaces for each level, as hosts write their settings."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def from_json(text: str) -> dict[str, Any]:
    """Return the JSON object of a text, or {} for an empty text. Raises ValueError or TypeError."""
    document = json.loads(text) if text.strip() else {}
    if not isinstance(document, dict):
        raise TypeError("it isn't a JSON object")
    return document


if __name__ == "__main__":
    sys.exit(main())
