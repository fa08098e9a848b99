"""Finds the programs that a command would run: by shells, wrappers such as ``sudo``, ``xargs``, ``find -exec``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from hitl.policy.shell import programs, running_arguments, scripts, subcommand_names, words, wrappers
from hitl.policy.shell.reading import PayloadReader, SimpleCommand, Words, base_name
from hitl.policy.shell.starts_nothing import STARTS_NOTHING
from hitl.policy.shell.stdin import standard_input, written
from hitl.policy.shell.subcommands import Positionals
from hitl.policy.shell.work import MAX_NAME, MAX_WORDS, of_text
from hitl.policy.shell.wrappers import Options, Wrapper

if TYPE_CHECKING:
    from tree_sitter import Node


_KEYWORDS = words.RESERVED - {"time", "coproc", "[[", "]]"}
_WORDS_A_UNIT = 32
_MAX_STARTED = 8
_MAX_GUESSED = 1024  # at most this many characters of a word are searched for names of programs
_NAMES = re.compile(
    r"(?:(?<=^-\w)|(?<![^\s;&|<>()`$\"'{},=:]))[^\s;&|<>()`$\"'{},=:\[\]*?\\-][^\s;&|<>()`$\"'{},=:\[\]*?\\]*"
)
_SAME_FOLDER = re.compile(r"/(?:\./|/)+")
_ODD_NAME = re.compile(r"[^\w.+@%:,\[\]\-]|(?!^)\[", re.ASCII)
_READ_SETTINGS = frozenset(
    {
        "--get",
        "--get-all",
        "--get-regexp",
        "--get-urlmatch",
        "--list",
        "-l",
        "get",
        "list",
        "--unset",
        "--show-origin",
    }
)
_REPLACES = re.compile(r"--r(?:e(?:p(?:l(?:a(?:c(?:e)?)?)?)?)?)?(?=$|=)|-[0oprtx]*[Ii]")
_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"})
_FD = frozenset({"fd", "fdfind"})
_FD_CLUSTER = re.compile(
    r"(?:--exec(?:-batch)?=|-(?!-)[^dteESocj=]*[xX](?=.)|-(?!-)[^dteESocj=xX]+[xX])(.*)", re.DOTALL
)
_FIND_WRITES = frozenset({"-delete", "-fprint", "-fprint0", "-fprintf", "-fls"})


@dataclass(slots=True)
class Run:
    """A command that may run other commands.

    ``reader`` records these commands. ``base`` is the base name of the program, ``words`` are all words, and ``origin``
    is the command's node in the syntax tree, or None.
    """

    reader: PayloadReader
    base: str
    words: Words
    origin: Node | None
    _positionals: Positionals | None = None

    @property
    def positionals(self) -> Positionals:
        """The positional words of the command: the words that are neither options nor their values."""
        if self._positionals is None:
            self._positionals = Positionals(self.words)
        return self._positionals

    def hide(self, why: str) -> None:
        """Record that the command may run a program that the line doesn't name.

        ``why`` is the reason, as the end of a sentence that begins with the program's name.
        """
        self.reader.reading.hide(f"{self.base} {why}")

    def doubt(self, why: str) -> None:
        """Record a doubt about the effect of the command.

        ``why`` is the reason, as the end of a sentence that begins with the program's name.
        """
        self.reader.reading.doubts.append(f"{self.base} {why}")

    def only_asks(self) -> bool:
        """Return whether the command is only a program and an option for its version or help."""
        return len(self.words) == 2 and self.words[1] in programs.HARMLESS_FLAGS  # noqa: PLR2004 - the program and the option


Handler = Callable[[Run], None]


def run(reader: PayloadReader, command: Words, origin: Node | None) -> None:
    """Record a command and all commands that it would run, in the reading of ``reader``.

    ``origin`` is the command's node in the syntax tree, or None.
    """
    reading = reader.reading
    if reading.exhausted(1 + len(command) // _WORDS_A_UNIT):
        return
    if len(command) > MAX_WORDS:
        reading.hide("has too many words to read")
        command = command[:MAX_WORDS]
    found = SimpleCommand(command)
    reading.commands.append(found)
    base = found.base
    if base is None:
        reading.hide("the program is known only when it runs")
        return
    if base is not command[0]:
        _pathed(reader, command[0] or "")
    if base in _KEYWORDS:
        reading.hide("is not read as shell syntax")
        reader.nested(command[1:], origin)
        return
    handle = _known_handler(base)
    if handle is not None:
        handle(Run(reader, base if base in _HANDLERS else programs.plain_name(base), command, origin))


def _pathed(reader: PayloadReader, name: str) -> None:
    if _SAME_FOLDER.sub("/", name).rpartition("/")[0] not in programs.TRUSTED_FOLDERS:
        reader.reading.doubts.append(f"{name[:MAX_NAME]} lies outside the system's program folders")


def by_argument(program: str | None) -> bool:
    """Return whether a single argument can make this program run another program or delete files.

    If it can, an unknown word in the command is a doubt.
    """
    return base_name(program or "") in running_arguments.STEERED


def depends(program: str | None) -> bool:
    """Return whether the programs that this program runs may depend on the value of a variable."""
    if program is None:
        return True
    base = base_name(program)
    return base in subcommand_names.GLOBAL_OPTIONS or _handler(base) is not None


def may_listen(command: Words) -> bool:
    """Return whether the programs that a command runs may depend on its piped input.

    If so, the line needs the parser, because only the syntax tree shows the input.
    """
    handle = _handler(base_name(command[0] or ""))
    if handle is _git and len(command) > 1 and command[1] in programs.GIT_OWN:
        return command[1] == "bisect" or command[1] in _WRAPPING["git"]
    return handle not in _DEAF


# --- shells, and builtins that run text as shell code


def _shell(run: Run) -> None:
    at, code, listens = 1, False, False
    while at < len(run.words):
        word = run.words[at]
        if word is None:
            run.hide("gets words known only when it runs")
            _written(run)
            return
        if word in ("-", "--"):
            at += 1
            break
        if len(word) < 2 or word[0] not in "-+":  # noqa: PLR2004 - a sign and a letter
            break
        if moved := _long_option(run, word, run.words[at + 1 : at + 2]):
            at += moved
            continue
        cluster = word[1:] if word[1] != "-" else ""
        code |= (word[0] == "-" and "c" in cluster) or word.lower() in ("-command", "--command")
        listens |= "s" in cluster
        at += 2 if programs.SHELL_OPTIONS.takes(word) else 1
    _shell_runs(run, run.words[at:], code=code, listens=listens)


def _long_option(run: Run, word: str, following: Words) -> int:
    """Return the number of words of a shell's long option, with its value, or 0 for an unknown option."""
    name, equals, value = word.lstrip("-").partition("=")
    starts = name in programs.SHELL_START_UPS or (run.base == "fish" and word == "-C")
    if not starts and not (name == "command" and equals):
        return 1 if len(name) > 1 and f"--{name}" in programs.SHELL_OPTIONS.flags else 0
    run.hide("runs a start-up file, or code in an option")
    code = value if equals else next(iter(following), None)
    if code and run.base == "fish":
        run.reader.source(code)
    return 1 if equals else 2


def _capsh(run: Run) -> None:
    """Record the command that ``capsh`` runs.

    It is bash with the words after ``--``, or ``capsh`` itself with the words after ``==``.
    """
    for at, word in enumerate(run.words[1:], start=1):
        if word is None or word.startswith("--shell"):
            run.hide("may start another shell")
        elif word in ("--", "-+"):
            run.reader.nested(["bash", *run.words[at + 1 :]], run.origin)
            return
        elif word in ("==", "=+"):
            run.reader.nested(["capsh", *run.words[at + 1 :]], run.origin)
            return


def _tmux(run: Run) -> None:
    """Record the commands that ``tmux`` runs. Most of its sub-commands run commands: in a window, or in a format
    (``#(CMD)``).
    """
    _subcommand(run)
    name = next(iter(run.positionals.subcommands()[0]), None)
    several = any((word or ";").endswith(";") for word in run.words)
    if (several or name not in programs.TMUX_PLAIN) and not run.only_asks():
        _started(run, run.words[1:])


def _shell_runs(run: Run, rest: Words, *, code: bool, listens: bool) -> None:
    if run.base in ("pwsh", "powershell"):
        run.hide("runs a language of its own")
    if code:
        _payload(run, rest)
    elif rest and not listens:
        run.hide("runs a script file")
        _written(run)
    elif not run.only_asks():
        texts = standard_input(run.reader, run.origin)
        if not texts:
            run.hide("runs what it reads from standard input")
            _written(run)
        for text in texts:
            run.reader.source(text)


def _payload(run: Run, rest: Words) -> None:
    if not rest or rest[0] is None:
        run.hide("gets code known only when it runs")
        _written(run)
    else:
        run.reader.source(rest[0], rest[1:])


def _written(run: Run) -> None:
    for text in written(run.reader, run.origin):
        run.reader.source(text)


def _eval(run: Run) -> None:
    given = run.words[2:] if run.words[1:2] == ["--"] else run.words[1:]
    rest = [word for word in given if word is not None]
    if len(rest) < len(given):
        run.hide("gets words known only when it runs")
        _written(run)
    if rest:
        run.reader.source(" ".join(rest))


def _alias(run: Run) -> None:
    for word in run.words[1:]:
        if word is None:
            run.hide("gets words known only when it runs")
        elif "=" in word:
            run.reader.source(word.partition("=")[2])


def _trap(run: Run) -> None:
    rest = [word for word in run.words[1:] if word not in ("-l", "-p", "--")]
    if len(rest) > 1 and rest[0] not in ("", "-"):
        _payload(run, rest[:1])


def _reads_into(run: Run) -> None:
    """Record a doubt if a builtin such as ``read`` sets a variable that can change what a program does."""
    _arguments_too(run)
    for word in run.words[1:]:
        if word is None or programs.hijacks(word.partition("[")[0]):
            run.hide(f"sets {'?' if word is None else word[:40]}")


def _declares(run: Run) -> None:
    """Record a doubt if ``export``, ``declare`` or a similar builtin sets a variable that can change what a program
    does.

    With ``-n``, a value may name a variable too.
    """
    for word in run.words[1:]:
        name, _, value = (word or "").partition("=")
        if word is None or programs.hijacks(name.removesuffix("+").partition("[")[0]):
            run.hide(f"sets {name[:40] or 'what is known only when it runs'}")
        elif programs.hijacks(value):
            run.hide(f"may rename {value[:40]}")


def _printf(run: Run) -> None:
    option = run.words[1] if len(run.words) > 1 else None
    if option is not None and option.startswith("-v"):
        _reads_into(Run(run.reader, run.base, [run.base, option[2:], *run.words[2:3]], run.origin))


def _set(run: Run) -> None:
    if "--" in run.words:
        given = run.words[list(run.words).index("--") + 1 :]
        run.reader.positional = {
            "@": list(given),
            **{str(at): [word] for at, word in enumerate(given, start=1)},
        }


# --- programs that run code or commands from elsewhere


def _opaque(run: Run) -> None:
    if not run.only_asks():
        run.doubt("runs code of its own")


def _sourced(run: Run) -> None:
    run.hide("runs a file or other input")
    _written(run)


def _odd(run: Run) -> None:
    run.hide("is an unusual name for a program")
    _guess(run)


def _unknown(run: Run) -> None:
    """Record an unknown program. Any of its words may name a program that it runs."""
    run.reader.reading.doubts.append(f"the program {base_name(run.words[0] or '')[:MAX_NAME]} is not known here")
    _guess(run)


def _guess(run: Run) -> None:
    """Record each argument, and each word inside an argument, as a command that perhaps runs (``unsure``).

    Such a command is a reason to ask a person, but not to deny the call.
    """
    reading = run.reader.reading
    for at, word in enumerate(run.words[1:], start=1):
        if reading.exhausted(of_text(len(word or ""))):
            return
        for one in _NAMES.findall((word or "")[:_MAX_GUESSED]):
            rest = run.words[at + 1 : at + _MAX_STARTED] if (word or "").endswith(one) else [None]
            reading.commands.append(SimpleCommand([one, *rest], unsure=True))
        if len(word or "") > _MAX_GUESSED:
            run.hide("gets a text that is too long to read")


def _find(run: Run) -> None:
    for at, word in enumerate(run.words):
        if word is not None and run.base in _FD and (attached := _FD_CLUSTER.match(word)):
            run.hide(f"{word[:40]} runs a program")
            run.reader.nested([*filter(None, attached.groups()), *run.words[at + 1 :]], None)
        elif word in _FIND_RUNS:
            end = at + 1
            while end < len(run.words) and run.words[end] not in (";", "+"):
                end += 1
            if run.reader.reading.exhausted(1 + (end - at) // _WORDS_A_UNIT):
                return
            _found_command(run, list(run.words[at + 1 : end]))
        elif word in _FIND_WRITES:
            run.doubt(f"{word} deletes or writes files")


def _found_command(run: Run, command: list[str | None]) -> None:
    """Record a command that ``find`` runs on each found file. ``{}`` in it is the file's name."""
    program = command[0] if command else None
    if program is not None and _handler(base_name(program)) is not None and _holds_names(command):
        run.hide("puts file names into another command")
    run.reader.nested([None if one == "{}" else one for one in command], None)


def _holds_names(command: list[str | None]) -> bool:
    return any(one is not None and "{}" in one and one != "{}" for one in command)


def _awk(run: Run) -> None:
    given = scripts.awk_operands(run.words[1:])
    for program in (*given.scripts, *given.words):
        if program is None:
            run.hide("runs a program that is not written out")
        elif scripts.awk_runs(program):
            run.hide("may run commands")
            for text in scripts.awk_texts(program):
                run.reader.source(words.escapes(text))


def _sed(run: Run) -> None:
    given = scripts.sed_operands(run.words[1:])
    operands = [word for word in given.words if word != ""]
    if None in operands or None in given.scripts:
        run.hide("runs a script that is not written out")
    if given.scripts:
        _sed_script(run, "\n".join(script or "" for script in given.scripts), sure=True)
    for at, word in enumerate(operands):
        _sed_script(run, word or "", sure=not at and not given.scripts)


def _sed_script(run: Run, script: str, *, sure: bool) -> None:
    """Record the commands that a sed script runs.

    If ``sure`` is false, the text in ``script`` may also be the name of a file.
    """
    try:
        commands = scripts.sed_commands(script)
    except scripts.NotUnderstood:
        commands = [""] if sure else []
    if commands:
        run.hide("may run commands")
    for text in commands:
        run.reader.source(text)


def _tar(run: Run) -> None:
    _arguments(run)
    first = run.words[1] if len(run.words) > 1 else None
    if first is not None and first.isalpha() and {"I", "F"} & set(first):
        run.hide(f"{first[:40]} may run another program")


def _arguments(run: Run) -> None:
    bare = run.base in running_arguments.BARE_ARGUMENTS
    for word in run.words[1:]:
        if word and (bare or word[0] == "-" or "::" in word) and running_arguments.runs_by_argument(run.base, word):
            run.hide(f"{word[:40]} may run another program")
            if "=" in word:
                run.reader.source(word.partition("=")[2])
                run.reader.source(word.rpartition("=")[2])
    if run.base in _INTERPRETERS:
        run.doubt("runs code of its own")


def _compgen(run: Run) -> None:
    """Record the commands that ``compgen`` runs. Its option ``-W`` expands a list of words as a shell does, with
    substitutions.
    """
    _arguments(run)
    for word in run.words[1:]:
        if word is not None and ("$(" in word or "`" in word):
            run.reader.source(word)


def _jobs(run: Run) -> None:
    """Record the command that ``jobs`` runs: its arguments after ``-x``."""
    _arguments(run)
    if len(run.words) > 2 and (run.words[1] or "-x").startswith("-"):  # noqa: PLR2004 - `jobs -x PROGRAM`
        run.reader.nested(run.words[2:], run.origin)


def _runner(run: Run) -> None:
    plain = len(run.words) > 1 and run.words[1] in _plain_subcommands(run.base)
    if not plain or run.words[1] in _WRAPPING.get(run.base, ()):
        _subcommand(run)
    _arguments_too(run)
    if plain:  # the usual case: the sub-command runs no program
        return
    for path in programs.SETTING_SUBCOMMANDS.get(run.base, ()):
        if run.positionals.after(path):
            run.doubt(f"{' '.join(path)} stores what may name a program")
    for path in programs.STARTER_SUBCOMMANDS.get(run.base, ()):
        for at in run.positionals.after(path):
            _started(run, run.words[at:])
    runs, own = programs.RUNNER_SUBCOMMANDS.get(run.base, frozenset()), programs.RUNNER_OWN.get(run.base)
    for positional in run.positionals.subcommands():
        name = positional[0] if positional else ""
        if name is None or name in runs or (name and own is not None and name not in own):
            run.doubt(f"{name or '?'} runs what a project file says")


@lru_cache(maxsize=256)
def _plain_subcommands(program: str) -> frozenset[str]:
    """Return the sub-commands that run no program and store no setting. The result has only full names, no shortened
    names.
    """
    known = programs.RUNNER_OWN.get(program) or subcommand_names.ABBREVIATED.get(program, frozenset())
    paths = (*programs.STARTER_SUBCOMMANDS.get(program, ()), *programs.SETTING_SUBCOMMANDS.get(program, ()))
    return known - programs.RUNNER_SUBCOMMANDS.get(program, frozenset()) - {path[0] for path in paths}


def _starter(run: Run) -> None:
    if not run.only_asks():
        _started(run, run.words[1:])


def _started(run: Run, rest: Words) -> None:
    """Record a program that runs another program. Its options are unknown, so each of its first words is a guess."""
    run.hide("runs another program")
    for at, word in enumerate(rest[:_MAX_STARTED]):
        text = word.partition("=")[2] if word is not None and word.startswith("-") else word
        if text and " " in text:
            run.reader.source(text)
        elif text and text == word:
            run.reader.nested(rest[at:], None, guessed=True)


def _git(run: Run) -> None:
    _arguments(run)
    name = run.words[1] if len(run.words) > 1 else None
    if name is None or name.startswith("-"):
        for option, setting in zip(run.words, run.words[1:], strict=False):
            if option == "-c" and setting is not None:
                _setting(run, setting)
        name = next(iter(run.positionals.subcommands()[0]), None)
    _git_command(run, name)
    if name is None or name in _WRAPPING["git"]:
        _subcommand(run)


def _git_command(run: Run, name: str | None) -> None:
    if name is None and len(run.words) > 1 and None in run.words:
        run.doubt("gets a sub-command known only when it runs")
    elif name is not None and name not in programs.GIT_OWN:
        run.doubt(f"{name[:40]} may be an alias")
    elif name in programs.GIT_CONFIGURED:
        run.doubt(f"{name} runs what its configuration names")
    elif name == "clone":
        _clone(run)
    elif name == "bisect":
        _bisect(run)
    elif name == "grep" and any(programs.opens_pager(word or "-O") for word in run.words[2:]):
        run.hide("grep -O runs a pager")
    elif name in ("merge", "pull", "rebase"):
        _strategy(run)
    elif name == "send-pack":
        run.reader.nested(["git", "push"], None)
    elif name == "config" and not _READ_SETTINGS & set(run.words):
        _stored_settings(run)


def _bisect(run: Run) -> None:
    """Record the command that ``git bisect`` runs if the sub-command is unknown.

    The unknown sub-command may be another spelling of ``run``, so the words after it are recorded as a command. The
    table of wrappers covers the sub-command ``run`` itself.
    """
    for at in run.positionals.after(("bisect",)):
        what = run.words[at] if at < len(run.words) else "log"
        if what != "run" and (what is None or what not in programs.GIT_BISECT):
            run.hide(f"bisect {(what or '?')[:40]} may run its arguments")
            run.reader.nested(run.words[at + 1 :], run.origin)


def _strategy(run: Run) -> None:
    """Record a doubt about a merge strategy that git doesn't have: git then runs the program ``git-merge-NAME``."""
    for word, following in zip(run.words, [*run.words[1:], ""], strict=True):
        name, equals, value = (word or "").partition("=")
        short = name.startswith("-s") and not equals
        if short or (name.startswith("--st") and "--strategy".startswith(name)):
            given = (name[2:] or following) if short else value if equals else following
            if given not in programs.GIT_STRATEGIES:
                run.hide(f"{word} may run a strategy of its own")


def _clone(run: Run) -> None:
    for option, following in zip(run.words, [*run.words[1:], ""], strict=True):
        if option in ("-c", "--config") and following is not None:
            _setting(run, following)
        elif option is not None and option.startswith(("--config=", "-c")):
            _setting(run, option.removeprefix("--config=").removeprefix("-c"))
        elif option is not None and option.startswith("-u"):
            run.hide("-u names a program to run")


def _stored_settings(run: Run) -> None:
    for word in run.words:
        if word is not None and programs.names_program(word.lower()):
            run.doubt(f"config {word[:40]} may set a program to run")


def _setting(run: Run, setting: str) -> None:
    key, _, value = setting.partition("=")
    if not programs.names_program(key.lower()):
        return
    run.hide(f"-c {key[:40]} may run another program")
    if key.lower().startswith("alias.") and not value.startswith("!"):
        run.reader.nested(["git", *value.split()], None)
    else:
        run.reader.source(value.removeprefix("!"))


# --- wrappers: programs that run another command


def _subcommand(run: Run) -> None:
    for path, wrapper in wrappers.SUBCOMMAND_WRAPPERS.get(run.base, {}).items():
        for at in run.positionals.after(path):
            _Unwrapping(Run(run.reader, " ".join((run.base, *path)), run.words, run.origin), wrapper, at).unwrap()


def _wrapper(run: Run) -> None:
    if run.only_asks():
        return
    _Unwrapping(run, wrappers.WRAPPERS.get(run.base, wrappers.LOADER), 1).unwrap()
    _arguments_too(run)
    if run.base in _INTERPRETERS:
        _opaque(run)


def _arguments_too(run: Run) -> None:
    if run.base in running_arguments.RUNS_BY_ARGUMENT:
        _arguments(run)


class _Unwrapping:
    """Finds the command that a wrapper runs, after the wrapper's own options and arguments."""

    __slots__ = ("at", "run", "skipped", "sourced", "wrapper")

    def __init__(self, run: Run, wrapper: Wrapper, at: int) -> None:
        self.run = run
        self.wrapper = wrapper
        self.at = at
        self.skipped = 0
        self.sourced = False

    def unwrap(self) -> None:
        words_, wrapper = self.run.words, self.wrapper
        if wrapper.elsewhere:
            self.run.doubt("runs elsewhere")
        while self.at < len(words_):
            word = words_[self.at]
            if word is None:
                self.run.hide("gets words known only when it runs")
                if not self.wrapper.assignments and self.skipped >= self.wrapper.skip:
                    return
                self.skipped += 0 if self.wrapper.assignments else 1
                self.at += 1
                continue
            if word == "--":
                self.at += 1 + (0 if wrapper.bare else wrapper.skip - self.skipped)
                self._assignments()
                break
            if not self._own(word):
                break
        if self.at >= 0:
            self._inner(words_[self.at :])

    def _own(self, word: str) -> bool:
        """Move past a word that belongs to the wrapper. Return False if the word begins the inner command."""
        if word.startswith("-") and len(word) > 1:
            self._option(word)
            return self.at >= 0
        if self.wrapper.assignments and "=" in word:
            self._assignment(word.partition("=")[0])
        elif self.skipped < self.wrapper.skip and not (word == "-" and "-" in self.wrapper.options.flags):
            self.skipped += 1
        elif word != "-" or "-" not in self.wrapper.options.flags:
            return False
        self.at += 1
        return True

    def _assignments(self) -> None:
        """Move past the assignments after ``--``."""
        words_ = self.run.words
        while self.wrapper.assignments and self.at < len(words_) and "=" in (words_[self.at] or ""):
            self._assignment((words_[self.at] or "").partition("=")[0])
            self.at += 1

    def _assignment(self, name: str) -> None:
        if programs.hijacks(name):
            self.run.hide(f"sets {name[:40]}")

    def _option(self, word: str) -> None:
        """Move past an option and its value. Set ``at`` to -1 if no command follows, or if it is already recorded."""
        if word in self.wrapper.lookup:
            self.at = -1
        elif not self._sourced(word):
            if word in self.wrapper.shell_flags:
                self.run.doubt("starts a shell")
            if self.run.base == "xargs":
                self._replaced(word)
            takes = self.wrapper.options.takes(word)
            if takes is None:
                self.run.doubt(f"{word[:40]} is not a known option")
                self.run.reader.nested(self.run.words[self.at + 1 :], self.run.origin)
                self.run.reader.nested(self.run.words[self.at + 2 :], self.run.origin)
            self.at += 2 if takes else 1

    def _sourced(self, word: str) -> bool:
        """Record the shell text of an option such as ``-c TEXT``. Return False if the option has no shell text."""
        name, equals, attached = word.partition("=")
        for option in self.wrapper.source:
            inside = _in_cluster(word, option, self.wrapper.options)
            whole = option.startswith("--") and self.wrapper.options.abbreviates(word, option)
            if word != option and not whole and not (equals and name == option) and not inside:
                continue
            text = attached if equals and (whole or name == option) else word[inside + 1 :] if inside else ""
            self._given(text)
            return True
        return False

    def _given(self, attached: str) -> None:
        self.sourced = True
        following = self.run.words[self.at + 1 :]
        rest = following if attached else following[1:]
        text = attached or (following[0] if following else None)
        if self.run.base == "env":
            self._split_up(text, rest)
            return
        _payload(self.run, [text])
        self.at += 1 if attached else 2

    def _split_up(self, text: str | None, rest: Words) -> None:
        """Record the command that ``env -S TEXT WORDS`` runs. ``env`` gets the words of the text as arguments, and then
        WORDS.
        """
        found = words.split_string(text) if text is not None and len(text) <= scripts.MAX_SCRIPT else None
        if found is None:
            self.run.hide("gets a text that cannot be split")
        self.run.reader.source(text or "")  # ``env`` splits the text without a shell, but people write shell text here
        self.run.reader.nested(["env", *(found or ()), *rest], self.run.origin)
        self.at = -1

    def _replaced(self, word: str) -> None:
        """Record a doubt if the words of standard input that replace MARK in ``xargs -I MARK`` may name a program."""
        found = _REPLACES.match(word)
        if found is None:
            return
        attached = word.partition("=")[2] if word.startswith("--") else word[found.end() :]
        later = self.run.words[self.at + 1 :]
        if found.group().endswith("I") and not attached and later:
            attached, later = later[0] or "", later[1:]
        mark = attached or "{}"
        marked = [part for part in later if part is not None and mark in part]
        if marked and (later[0] in marked or _handler(base_name(later[0] or "?")) is not None):
            self.run.hide("puts its input where a program is named")

    def _inner(self, inner: Words) -> None:
        reader, origin = self.run.reader, self.run.origin
        if self.run.base in ("su", "runuser"):
            self._as_user(inner)
        elif self.run.base == "parallel" and inner[:1] in ([], [":::"], ["::::"]):
            self._each_a_command(inner[1:])
        elif not inner:
            if self._starts_shell():
                _shell_runs(self.run, [], code=False, listens=True)
        elif self.run.base == "xargs":
            reader.nested([*inner, None], origin)
        elif self.run.base == "coproc":
            for rest in _past_reserved(inner):
                reader.nested(rest, origin)
        elif self.wrapper.joined:
            _eval(Run(reader, self.run.base, [self.run.base, *inner], origin))
            if len(inner) > 1 or (inner[0] or "").isalnum():
                reader.nested(inner, origin)
        else:
            reader.nested(inner, origin)

    def _starts_shell(self) -> bool:
        if self.wrapper.joined and self.wrapper.elsewhere:
            return True
        return self.run.base in wrappers.SHELL_WITHOUT_COMMAND and not self.sourced

    def _each_a_command(self, inner: Words) -> None:
        """Record the commands that ``parallel`` without a command runs: its arguments, or the lines of its input."""
        self.run.hide("runs what it is given")
        for word in inner:
            if word is not None:
                self.run.reader.source(word)

    def _as_user(self, inner: Words) -> None:
        """Record the command of ``su`` or ``runuser``.

        ``su USER ARGS`` runs a shell with the arguments, and ``runuser -u USER COMMAND`` runs the command.
        """
        rest = inner if self.run.base == "su" else inner[1:]
        rest = rest[1:] if rest[:1] == ["--"] else rest
        self.run.doubt("starts a shell")
        if rest:
            self.run.reader.nested(["sh", *rest], self.run.origin)
            self.run.reader.nested(rest, self.run.origin)
        if self.run.base == "runuser":
            self.run.reader.nested(inner, self.run.origin)


def _past_reserved(inner: Words) -> list[Words]:
    """Return the possible commands in ``coproc NAME { command``, which the parser takes for plain words."""
    rest = [word for word in inner if word not in words.RESERVED]
    return [rest] if len(rest) == len(inner) else [rest, rest[1:]]


def _in_cluster(word: str, option: str, options: Options) -> int:
    """Return the index of a short option in a word such as ``-qc`` or ``-cTEXT``, or 0 if it isn't there."""
    if word.startswith("--") or option.startswith("--") or word == option:
        return 0
    at = max(word.find(option[1], 1), 0)
    return at if all(f"-{letter}" in options.flags for letter in word[1:at]) else 0


# --- the table of handlers, by program

#: Program -> the first words of its sub-commands that run other commands.
_WRAPPING: Mapping[str, frozenset[str]] = {
    program: frozenset(path[0] for path in paths if path) for program, paths in wrappers.SUBCOMMAND_WRAPPERS.items()
}
_HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(running_arguments.RUNS_BY_ARGUMENT, _arguments),
    **dict.fromkeys(wrappers.SUBCOMMAND_WRAPPERS, _subcommand),
    **dict.fromkeys(programs.STARTER_SUBCOMMANDS, _runner),
    **dict.fromkeys(programs.RUNNER_SUBCOMMANDS, _runner),
    **dict.fromkeys(programs.RUNNER_OWN, _runner),
    **dict.fromkeys(programs.SETTING_SUBCOMMANDS, _runner),
    **dict.fromkeys(programs.STARTERS, _starter),
    **dict.fromkeys(programs.RUNNERS, _opaque),
    **dict.fromkeys(wrappers.WRAPPERS, _wrapper),
    **dict.fromkeys(programs.SHELLS, _shell),
    **dict.fromkeys(("source", ".", "fc", "at", "batch", "run-parts"), _sourced),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk", "original-awk"), _awk),
    **dict.fromkeys(("sed", "gsed"), _sed),
    **dict.fromkeys(("find", "gfind", "fd", "fdfind", "bfs"), _find),
    "eval": _eval,
    "alias": _alias,
    "trap": _trap,
    "set": _set,
    "git": _git,
    **dict.fromkeys(("tar", "gtar", "bsdtar"), _tar),
    "capsh": _capsh,
    "tmux": _tmux,
    "compgen": _compgen,
    "jobs": _jobs,
    "printf": _printf,
    **dict.fromkeys(("export", "declare", "typeset", "readonly", "local"), _declares),
    **dict.fromkeys(("read", "mapfile", "readarray", "getopts"), _reads_into),
}
#: Programs with a handler that are interpreters too.
_INTERPRETERS = frozenset(filter(programs.is_interpreter, _HANDLERS))


@lru_cache(maxsize=4096)
def _known_handler(base: str) -> Handler | None:
    found = _HANDLERS.get(base) or _HANDLERS.get(programs.plain_name(base))
    if found is not None:
        return found
    if base.startswith(("ld-linux", "ld.so")):
        return _wrapper
    if programs.is_interpreter(base) or programs.is_interpreter(programs.plain_name(base)):
        return _opaque
    if base in STARTS_NOTHING:
        return None
    return _odd if _ODD_NAME.search(base) else _unknown


def _handler(base: str) -> Handler | None:
    return _known_handler(base) if len(base) <= MAX_NAME else _odd


#: Handlers that use only the words of a command, not its standard input.
_DEAF = (None, _odd, _unknown, _opaque, _awk, _sed, _arguments, _tar, _compgen)
