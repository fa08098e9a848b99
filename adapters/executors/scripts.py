"""Finds the files of the workspace that a command line runs, as far as the line names them, and reads their bytes.

A person who approves `bash deploy.sh` approves the contents of deploy.sh. Its digest is therefore a precondition of
the call (`script:deploy.sh`) and is compared again before the run. These files are found:

- programs of the workspace (`./run`)
- files that an interpreter gets (`python x.py`, `source x`, `make -f x`), and the file that `make` reads by itself
- scripts that any other program gets, unless that program starts nothing
- every file that the line names, if a shell in it reads commands from a pipe or from a file

Other files are not bound, so they may change after the approval: files that a script starts, imports or reads, files
whose name is made while the line runs, files outside of the workspace, files that this service can't read, and files
beyond `MOST` and `MOST_BYTES`. The card of an unconfined command names files outside of the workspace. If a line runs
unreadable files or files beyond these limits, a person is always asked, and the card names these files.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import shlex
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from adapters.executors import globs
from adapters.executors.base_file import READ_WHOLE, standing
from adapters.executors.folder import ABSENT, Folder, explained
from hitl.errors import InvalidConfirmation

if TYPE_CHECKING:
    from hitl.policy.shell import ShellReading, SimpleCommand

#: A precondition on a script has this prefix and the script's path as its name, such as `script:deploy.sh`.
SCRIPT = "script:"
#: For one command line, at most this many files, and this many bytes of files, are bound. Bound files are read again
#: before the run.
MOST = 200
MOST_BYTES = 1 << 30
#: The texts of at most this many bytes of files are kept, so that a later card can show what has changed in the files.
_MOST_TEXT = 8 << 20
#: At most this many paths are examined for one command line.
_MOST_PATHS = 5_000
#: Folders of the system's programs. No tool changes these files, so a line that runs them needs no warning.
_SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib/", "/lib32/", "/lib64/", "/opt/", "/nix/store/")
_MOST_FOLDERS = 8

#: Programs that run the first file among their arguments.
_INTERPRETER = re.compile(
    r"(?:ba|da|z|k|mk|fi|c|tc)?sh|(?:python|pypy|perl|ruby|php|tclsh)[\d.]*|lua(?:jit)?[\d.]*|node|nodejs|deno|bun|npx"
    r"|ts-node|tsx|Rscript|julia|wish|expect|guile|osascript|pwsh|groovy|jshell|scala|source|\.|pytest|py\.test"
    r"|ansible-playbook|crontab"
)
#: Programs that run the files named by some of their options, such as `-f FILE`. They treat all other files as data.
_BY_OPTION = re.compile(r"[gm]?awk|nawk|sed|g?make|just|task|rake|ninja|ant|gradle|mvn|invoke|nox|tox|psql|at|batch")
_FILE_OPTIONS = frozenset(("-f", "-b", "--file", "--makefile", "--rakefile", "--justfile", "--taskfile"))
#: Programs that may read commands from their standard input.
_SHELL = re.compile(
    r"(?:ba|da|z|k|mk|fi|c|tc)?sh|(?:python|perl|ruby|php|lua)[\d.]*|node|deno|bun|eval|source|\.|psql|mysql|sqlite3|at"
    r"|batch|crontab"
)
#: Files that a program reads from its folder if no argument names a file, such as a Makefile.
_UNTOLD = {
    "make": ("GNUmakefile", "makefile", "Makefile"),
    "gmake": ("GNUmakefile", "makefile", "Makefile"),
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "rake": ("Rakefile", "rakefile"),
    "ninja": ("build.ninja",),
    "ant": ("build.xml",),
    "gradle": ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"),
    "mvn": ("pom.xml",),
    "invoke": ("tasks.py",),
    "nox": ("noxfile.py",),
    "tox": ("tox.ini",),
    "scons": ("SConstruct",),
    "npm": ("package.json",),
    "pnpm": ("package.json",),
    "yarn": ("package.json",),
    "bun": ("package.json",),
    "cargo": ("build.rs",),
}
_SHELLS = (".sh", ".bash", ".zsh", ".fish", ".ps1", ".awk", ".sed", ".mk", ".sql", ".tcl")
_LANGUAGES = (".py", ".pl", ".rb", ".js", ".mjs", ".cjs", ".ts", ".php", ".lua", ".r", ".jl", ".groovy")
_SUFFIXES = frozenset((*_SHELLS, *_LANGUAGES))
_FOLDER_OPTIONS = frozenset(("-C", "--directory", "--chdir", "--cwd", "--prefix"))
_GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Script:
    """A file of the workspace that a command line runs."""

    #: The path, relative to the workspace.
    path: str
    #: The SHA-256 of the file's bytes, in hex.
    digest: str
    #: The text, or None if the file isn't UTF-8 text or is too long.
    text: str | None

    @property
    def precondition(self) -> tuple[str, str]:
        """The name and the value of the precondition that binds the call to this file."""
        return SCRIPT + self.path, self.digest


@dataclass(frozen=True, slots=True)
class Scripts:
    """The files of the workspace that a command line runs."""

    found: tuple[Script, ...]
    #: Whether the command line is one command. In a longer line, an earlier command may change these files on purpose.
    alone: bool
    #: The paths of files that the command line runs and that aren't bound: they exceed the limits `MOST` and
    #: `MOST_BYTES`.
    unbound: tuple[str, ...]
    #: The paths of files that the line runs and that this service can't read, such as pipes. They aren't bound.
    unread: tuple[str, ...]
    #: The paths of files outside of the workspace that the command line runs and names. They aren't bound.
    outside: tuple[str, ...]


def scripts_of(line: str, folder: Folder) -> Scripts:
    """Return the files that a command line runs, in the order in which it names them."""
    from hitl.policy.shell import read_line  # noqa: PLC0415 - slow to import; loaded at the first command

    reading = read_line(line)
    finder = _Finder(folder, reading)
    found, unbound, unread, left = list[Script](), list[str](), list[str](), MOST_BYTES
    for path in islice(finder.paths(), _MOST_PATHS):
        size = _size(folder, path)
        if len(found) == MOST or size > left:
            unbound.append(path)
        elif (script := _read(folder, path)) is not None:
            left -= size
            found.append(script if left >= MOST_BYTES - _MOST_TEXT else replace(script, text=None))
        elif len(unread) < MOST and not finder.leads_out(path):
            unread.append(path)
    outside = tuple(islice(finder.outside(), MOST))
    return Scripts(tuple(found), _is_alone(reading), tuple(unbound), tuple(unread), outside)


def script_now(folder: Folder, precondition: str) -> str:
    """Return the file's current digest, or the reason why the file can't be read. `precondition` names the file."""
    try:
        return digest_of(folder, precondition.removeprefix(SCRIPT))
    except InvalidConfirmation as refusal:
        return refusal.message


def digest_of(folder: Folder, path: str) -> str:
    """Return the SHA-256 of a file's bytes.

    Raises InvalidConfirmation if the path leads out of the workspace or the file can't be read.
    """
    with explained(path):
        return folder.digest(_real(folder, path))


def copied(folder: Folder, path: str, copy: Path) -> tuple[str, int]:
    """Copy a file, and return the SHA-256 of the copied bytes in hex, and the file's mode.

    Raises InvalidConfirmation if the path leads out of the workspace or the file can't be read.
    """
    digest = hashlib.sha256()
    with explained(path), folder.reading(_real(folder, path)) as file, copy.open("wb") as target:
        while chunk := file.read(READ_WHOLE):
            digest.update(chunk)
            target.write(chunk)
        return digest.hexdigest(), stat.S_IMODE(os.fstat(file.fileno()).st_mode)


class _Finder:
    """Finds the files that a line's commands run."""

    def __init__(self, folder: Folder, reading: ShellReading) -> None:
        self._folder = folder
        self._commands = [command for command in reading.commands if not command.unsure]
        self._folders = list(islice(dict.fromkeys(["", *self._gone_to()]), _MOST_FOLDERS))
        self._inputs = _inputs(reading)
        self._composed = reading.tree is not None

    def paths(self) -> Iterator[str]:
        """Yield the paths of the files that the line runs, relative to the workspace. Each path comes once."""
        return iter(dict.fromkeys(self._all()))

    def outside(self) -> Iterator[str]:
        """Yield the paths of the files outside of the workspace that the line runs. Each path comes once."""
        found = (path for command in self._commands for word in _run_words(command) for path in self._beyond(word))
        return iter(dict.fromkeys(found))

    def leads_out(self, path: str) -> bool:
        """Return whether a path in the workspace is a link that leads out of it."""
        return not os.path.realpath(self._folder.root / path).startswith(f"{self._folder.root}/")

    def _beyond(self, word: str) -> Iterator[str]:
        for folder in self._folders:
            path, inside = self._meant(folder, word), self._inside(folder, word)
            if inside is not None and self.leads_out(inside):
                path, inside = os.path.realpath(path), None
            if inside is None and not path.startswith(_SYSTEM) and _is_file(path, closed=True):
                yield path

    def _all(self) -> Iterator[str]:
        for command in self._commands:
            yield from self._run_by(command)
        if self._composed and any(map(self._reads_commands, self._commands)):
            words = [word for command in self._commands for word in command.words[1:] if word is not None]
            yield from self._files([*self._inputs, *words])

    def _gone_to(self) -> Iterator[str]:
        for command in self._commands:
            words = command.words
            if command.base in {"cd", "pushd"}:
                yield from (word for word in words[1:] if word and not word.startswith("-"))
            for option, value in pairwise(words):
                if option in _FOLDER_OPTIONS and value:
                    yield value

    def _run_by(self, command: SimpleCommand) -> Iterator[str]:
        program, *rest = command.words
        if program is not None and ("/" in program or PurePosixPath(program).suffix in _SUFFIXES):
            yield from self._files([program])
        words = [word for word in rest if word is not None]
        base = command.base or ""
        if _INTERPRETER.fullmatch(base):
            yield from self._given(base, words)
        elif _BY_OPTION.fullmatch(base):
            yield from self._behind_options(words)
        elif base not in _only_reading():
            yield from (path for path in self._files(words) if self._is_script(path))
        yield from self._untold(base, words)

    def _given(self, base: str, words: Sequence[str]) -> Iterator[str]:
        """Yield the files that an interpreter runs.

        These are its first file argument, files after options, other arguments that look like scripts, and a module
        (`-m`).
        """
        first = "-c" not in words
        for before, word in zip(["", *words], words, strict=False):
            value = word.partition("=")[2] if word.startswith("--") else word
            for path in self._files([value]):
                if first or before.startswith("-") or word.startswith("--") or self._is_script(path):
                    yield path
                first = first and (before.startswith("-") or word.startswith("--"))
            if before == "-m" and base.startswith(("python", "pypy")):
                module = word.replace(".", "/")
                yield from self._files([f"{module}.py", f"{module}/__main__.py", f"{module}/__init__.py"])

    def _behind_options(self, words: Sequence[str]) -> Iterator[str]:
        for before, word in zip(["", *words], words, strict=False):
            option, equals, value = word.partition("=")
            if before in _FILE_OPTIONS:
                yield from self._files([word])
            elif option in _FILE_OPTIONS and equals:
                yield from self._files([value])
            elif word[:2] in _FILE_OPTIONS and len(word) > 2:  # noqa: PLR2004 - as in `-fFILE`
                yield from self._files([word[2:]])

    def _untold(self, base: str, words: Sequence[str]) -> Iterator[str]:
        told = any(word.startswith(("-f", "--file", "--makefile")) for word in words)
        names = () if told else _UNTOLD.get(base, ())
        for folder in self._folders:
            yield from islice(self._in(folder, names), 1 if base.endswith("make") else len(names))

    def _reads_commands(self, command: SimpleCommand) -> bool:
        """Return whether a program may read commands from its input.

        A shell may read commands if no argument names a file, or if an argument isn't known before the run, such as
        `$FILE`. If the program itself isn't known before the run, return True.
        """
        if command.base is None:
            return True
        words = command.words[1:]
        named = any(self._run_by(command))
        return bool(_SHELL.fullmatch(command.base)) and (None in words or not named)

    def _files(self, words: Iterable[str]) -> Iterator[str]:
        for folder in self._folders:
            yield from self._in(folder, words)

    def _in(self, folder: str, words: Iterable[str]) -> Iterator[str]:
        for word in words:
            path = self._inside(folder, word)
            if path is None:
                continue
            if _GLOB.search(path):
                yield from self._matching(path)
            elif stat.S_ISDIR(_mode(found := self._folder.root / path)):
                yield from [f"{path}/__main__.py"] if _is_file(found / "__main__.py") else []
            elif _is_input(found):
                yield path

    def _inside(self, folder: str, word: str) -> str | None:
        """Return the path of the file that a word of a command names, relative to the workspace.

        `folder` is the command's working folder. Return None if the path leads out of the workspace.
        """
        root, path = str(self._folder.root), self._meant(folder, word)
        if "\0" in word or not path.startswith(root + "/"):
            return None
        return path[len(root) + 1 :]

    def _meant(self, folder: str, word: str) -> str:
        """Return the absolute path that a word of a command names. `folder` is the command's working folder.

        The home folder (`~`) is the workspace.
        """
        root = str(self._folder.root)
        home = (re.sub(r"^~(?=/|$)", root, each) for each in (folder, word))
        return posixpath.normpath(posixpath.join(root, *home))

    def _matching(self, pattern: str) -> Iterator[str]:
        with explained(pattern), self._folder.opened(()) as root:
            for parts in islice(globs.regular_files(tuple(pattern.split("/")), root), _MOST_PATHS):
                yield "/".join(parts)

    def _is_script(self, path: str) -> bool:
        """Return whether a file looks like a script, by its name or by its first two bytes."""
        if PurePosixPath(path).suffix.lower() in _SUFFIXES:
            return True
        try:
            return bytes_start(self._folder, path) == b"#!"
        except InvalidConfirmation:
            return False


def _is_file(path: Path | str, *, closed: bool = False) -> bool:
    """Return whether a path names a regular file. Return `closed` if the service isn't permitted to find out."""
    return stat.S_ISREG(_mode(path, stat.S_IFREG if closed else 0))


def _is_input(path: Path) -> bool:
    """Return whether a program could read commands from a path: from a file, a pipe or a device such as a terminal.

    Return True if the service isn't permitted to find out.
    """
    mode = _mode(path, stat.S_IFREG)
    return stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def _size(folder: Folder, path: str) -> int:
    """Return the length of a file in bytes, or 0 if the service can't find out."""
    try:
        return (folder.root / path).stat().st_size
    except OSError:
        return 0


def _mode(path: Path | str, closed: int = 0) -> int:
    """Return the mode of a file, 0 if there is no such file, or `closed` if the service isn't permitted to find out.

    The path may be any word of a line, so it may be too long, or have characters that no path can have.
    """
    try:
        return Path(path).stat().st_mode
    except PermissionError:
        return closed
    except (OSError, ValueError):
        return 0


def bytes_start(folder: Folder, path: str) -> bytes:
    """Return the first two bytes of a file.

    Raises InvalidConfirmation if the path leads out of the workspace or the file can't be read.
    """
    with explained(path), folder.reading(_real(folder, path)) as file:
        return file.read(2)


def _real(folder: Folder, path: str) -> tuple[str, ...]:
    """Return the components of the path after links are resolved.

    Raises InvalidConfirmation if it leads out of the workspace.
    """
    return folder.parts(os.path.realpath(folder.root / path))


def _read(folder: Folder, path: str) -> Script | None:
    """Read a file. Return None if it is outside of the workspace or can't be read."""
    try:
        with explained(path):
            found = standing(folder, _real(folder, path))
    except InvalidConfirmation:
        return None
    return None if found.base == ABSENT else Script(path, found.base, found.text)


def _run_words(command: SimpleCommand) -> Iterator[str]:
    """Yield the words of a command that may name a file which it runs: the program, and scripts among the arguments."""
    program, *rest = command.words
    if program is not None and "/" in program:
        yield program
    words = [word for word in rest if word is not None and not word.startswith("-")]
    if _INTERPRETER.fullmatch(command.base or ""):
        yield from words[:1]
    if (command.base or "") not in _only_reading():
        yield from (word for word in words if PurePosixPath(word).suffix.lower() in _SUFFIXES)


def _is_alone(reading: ShellReading) -> bool:
    """Return whether the line is one command that redirects no output to a file. A `cd` doesn't count as a command."""
    commands = [command for command in reading.commands if command.base != "cd" and not command.unsure]
    whole = list(commands[0].words) if commands else []
    return not reading.writes and all(whole[-len(each.words) :] == list(each.words) for each in commands)


def _inputs(reading: ShellReading) -> list[str]:
    """Return the names of the files that a line reads through `<`, without their quotes."""
    if reading.tree is None:
        return []
    from hitl.policy.shell.tree import descend, text_of  # noqa: PLC0415

    found = []
    for node in descend(reading.tree):
        if node.type == "file_redirect" and any(child.type == "<" for child in node.children):
            try:
                found += shlex.split(text_of(node.children[-1]))
            except ValueError:
                continue
    return found


def _only_reading() -> frozenset[str]:
    """Return the programs that start no other program. If an argument is a script, they read it and don't run it."""
    from hitl.policy.shell.starts_nothing import STARTS_NOTHING  # noqa: PLC0415

    return frozenset(STARTS_NOTHING)
