"""Finds the lines that a `sed -i` would change, before people are asked: runs the real sed on the files' bytes.

This works only for a command line that is one plain `sed -i` with substitutions or deletions. The line may have no
variable, file name pattern, redirection or second command. Its sed script may not write files or run programs; GNU
sed's option `--sandbox` ensures that too. sed gets each file's bytes as its input. This run of sed has the same
confinement as the command itself, with bounds on time, memory and output. If anything fails, the result is None, and
the card shows only the command.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.executors.base_file import as_text, base_key, shown_path, standing
from adapters.executors.confinement import Sandbox, environment
from adapters.executors.folder import ABSENT, Folder
from hitl.cards.previews import PREVIEW_KEPT, change
from hitl.cards.text import cut_middle
from hitl.errors import InvalidConfirmation

_MOST_FILES = 10
_MOST_BYTES = 1 << 18
_MOST_OUTPUT = 1 << 20
_LIMIT_S = 1.0
# Bounds on sed for ulimit (bash(1)): kilobytes of memory, seconds of computing, and bytes of a written file.
_BOUNDS = "set -o pipefail; ulimit -v 262144 -t 1 -f 0"

# One argument of a plain `sed -i`: safe characters, and quoted texts in which the shell expands nothing.
_WORD = r"""(?:[\w@%+=:,./-]|'[^']*'|"[^"$`]*")+"""
_PLAIN = re.compile(rf"\s*sed(?:[ \t]+{_WORD})+\s*", re.ASCII)
_IN_PLACE = frozenset({"-i", "--in-place", "-Ei", "-ri"})
_EXTENDED = frozenset({"-E", "-r", "--regexp-extended", "-Ei", "-ri"})
# An address selects the lines that sed changes: a line number, `$` for the last line, or an expression. `_SCRIPT`
# matches up to two addresses, and then the command: `d`, or `s` with three delimiters.
_ADDRESS = r"(?:\d+|\$|/(?:\\.|[^/\\\n])*/)"
_SCRIPT = re.compile(
    rf"(?:{_ADDRESS}(?:,{_ADDRESS})?)?(?:d|s(?P<end>[/|#,@!%:~])(?:(?:\\.|(?!(?P=end))[^\\\n])*(?P=end)){{2}}[0-9gIi]*)"
)


@dataclass(frozen=True, slots=True)
class InPlace:
    """The change that a command would make."""

    #: The lines that would change, as a diff for people.
    preview: str
    #: The preconditions that bind the change to the files' current bytes.
    bases: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Wanted:
    scripts: tuple[str, ...]
    extended: bool
    files: tuple[str, ...]


def in_place(command: str, folder: Folder, sandbox: Sandbox) -> InPlace | None:
    """Return the change that the command would make.

    Return None if it isn't a plain `sed -i`, or its change can't be found.
    """
    wanted = _wanted(command)
    if wanted is None:
        return None
    until = time.monotonic() + _LIMIT_S
    previews, bases = [], []
    try:
        for path in wanted.files:
            parts = folder.parts(path)
            old = standing(folder, parts) if parts else None
            if old is None or old.base == ABSENT or old.text is None or old.size > _MOST_BYTES:
                return None
            new = _edited(wanted, old.text, folder, sandbox, until - time.monotonic())
            if new is None:
                return None
            bases.append((base_key(parts), old.base))
            previews.append(change(shown_path(parts), old.text, new).diff)
    except (OSError, InvalidConfirmation, subprocess.SubprocessError):
        return None
    return InPlace(cut_middle("\n".join(filter(None, previews)), PREVIEW_KEPT).text, tuple(bases))


def _wanted(command: str) -> _Wanted | None:
    """Return the script, the options and the files of a plain `sed -i`, or None if the command line is anything else.

    The line is parsed by the policy's own shell reader.
    """
    if not _PLAIN.fullmatch(command):
        return None
    from hitl.policy.shell import read_line  # noqa: PLC0415 - slow to import; loaded at the first such command

    reading = read_line(command)
    words = reading.commands[0].words if len(reading.commands) == 1 else ()
    plain = [word for word in words if word is not None]
    if len(plain) != len(words) or not plain or plain[0] != "sed" or reading.hidden or reading.writes:
        return None
    return _arguments(plain[1:])


def _arguments(words: Sequence[str]) -> _Wanted | None:
    options, scripts, operands = set(), [], []
    left = iter(words)
    for word in left:
        if word == "-e":
            scripts.append(next(left, ""))
        elif word.startswith("-"):
            options.add(word)
        else:
            operands.append(word)
    if not scripts:
        scripts, operands = operands[:1], operands[1:]
    usable = options <= _IN_PLACE | _EXTENDED and options & _IN_PLACE and 0 < len(operands) <= _MOST_FILES
    if not usable or len(set(operands)) < len(operands) or not all(map(_SCRIPT.fullmatch, scripts)):
        return None
    return _Wanted(tuple(scripts), bool(options & _EXTENDED), tuple(operands))


def _edited(wanted: _Wanted, text: str, folder: Folder, sandbox: Sandbox, left_s: float) -> str | None:
    """Return the text after sed's changes, or None if sed fails or exceeds a bound."""
    options = ["-E"] * wanted.extended + [word for script in wanted.scripts for word in ("-e", script)]
    line = f"{shlex.join(['sed', '--sandbox', *options])} | head -c {_MOST_OUTPUT + 1}"
    output = _output(sandbox.command(f"{_BOUNDS}; {line}", folder.root), text, folder, left_s)
    return None if output is None or len(output) > _MOST_OUTPUT else as_text(output)


def _output(command: Sequence[str], text: str, folder: Folder, left_s: float) -> bytes | None:
    """Return the output of a command that gets the text as its input, or None if it fails. Raises TimeoutExpired."""
    with subprocess.Popen(
        [*command],
        cwd=folder.root,
        env=environment(folder.root, "preview", None),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(text.encode(), timeout=max(left_s, 0))
        except subprocess.TimeoutExpired:
            process.terminate()
            raise
    return output if process.returncode == 0 else None
