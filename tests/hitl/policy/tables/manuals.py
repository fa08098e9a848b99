"""The options that an installed program's own help and manual page name."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from functools import cache

from hitl.policy.tables.known import Program

_LINE = re.compile(r"[\s|]*(?:\* )?(--?[A-Za-z0-9?#@\[].*)")
_OPTION = re.compile(r"(?<![\w\-=<'\"/.:])(--(?:\[no-\])?[A-Za-z0-9][\w-]*\w|-[A-Za-z0-9?#@](?![\w-]))")
_EXAMPLES = frozenset(("--foo", "--bar", "--baz", "--qux"))  # git-rev-parse(1) explains --parseopt with these
_BACKSPACE = re.compile(".\b")


def unlisted(program: Program) -> list[str]:
    """The options that the manuals of this program know and the table neither allows nor lists in `asks`."""
    known = program.options.keys() | program.asks.keys()
    return sorted(one for one in _documented(program) - known if not ("-NUM" in known and one[1:].isdigit()))


def _documented(program: Program) -> frozenset[str]:
    name, *words = program.path
    if shutil.which(name) is None:
        return frozenset()
    if name == "git":
        # git-config(1) explains the variables of all commands behind this headline, with the options of those commands.
        manual = _output("man", "-".join(program.path[:2])).partition("\nCONFIGURATION FILE\n")[0]
        return _options(_output("git", *words, "-h") + manual)
    manual = "" if words or program.subcommands else _output("man", name)
    return _options(_output(name, *words, "--help") + manual)


def _options(text: str) -> frozenset[str]:
    """The options in front of a line, before the wide gap that sets off their explanation."""
    found: set[str] = set()
    for line in text.splitlines():
        if match := _LINE.fullmatch(line):
            for name in _OPTION.findall(re.split(r"\s{2,}(?!-)", match[1])[0]):
                found |= {name.replace("[no-]", ""), name.replace("[no-]", "no-")}
    return frozenset(found) - _EXAMPLES


@cache
def _output(*command: str) -> str:
    """What the command prints, run in an empty folder and without settings; '' if it takes over 5 s."""
    if shutil.which(command[0]) is None:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        plain = {"LC_ALL": "C", "HOME": folder, "TERM": "dumb", "PAGER": "cat", "MANPAGER": "cat", "MANWIDTH": "250"}
        try:
            done = subprocess.run(
                command,
                env={"PATH": os.environ["PATH"], "COLUMNS": "250", **plain},
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=5,
                check=False,
            )
        except (subprocess.TimeoutExpired, OSError):
            return ""
    return _BACKSPACE.sub("", done.stdout.decode(errors="replace")) + "\n"


def version(program: str) -> str:
    """What the program says about its version."""
    return _output(program, "--version")
