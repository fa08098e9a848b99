"""Reads patches and applies them to texts: unified diffs, and the `*** Begin Patch` format of coding agents.

A unified diff has the format of POSIX diff ("Diff -u Output Format") or of git, without renames and binary files. The
file must hold the removed and kept lines of a change exactly. They must be at the line number that the diff gives. If
they aren't, they must be at exactly one other place. The agents' format gives no line numbers, so the removed and kept
lines must be at only one place. If the `@@` of a change names a line, the change applies at the first place after that
line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hitl.cards.previews import lines_of
from hitl.cards.text import one_line
from hitl.errors import InvalidConfirmation
from hitl.outcomes import fact

#: A patch has at most this many changes. For each change, the whole file may be searched.
_MOST_HUNKS = 200
_RANGE = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@.*")
_PREAMBLE = re.compile(r"diff |index |new file mode |deleted file mode |Index: |=+$|\s*$")
_AGENTS = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVE, _BEGIN, _END, _END_OF_FILE = "*** Move to: ", "*** Begin Patch", "*** End Patch", "*** End of File"
_UNENDED = "\\"
_NO_FILE = "/dev/null"
_WRITTEN = 100


@dataclass(slots=True)
class Hunk:
    """One change of a patch: it replaces the lines `old` by the lines `new`. Each line has its line feed."""

    #: The number of lines above the change in the file, as the patch says, or None if the patch gives no line numbers.
    at: int | None = None
    #: The line that the change comes after, or None if the patch names no such line.
    after: str | None = None
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)

    def take(self, mark: str, line: str) -> None:
        """Add a line to the change: a removed line (`-`), an added line (`+`) or a line that stays."""
        if mark != "+":
            self.old.append(f"{line}\n")
        if mark != "-":
            self.new.append(f"{line}\n")

    def unend(self, mark: str) -> None:
        """Remove the line feed of the last line with this mark (`-`, `+` or kept).

        The patch says that the file ends with this line, and has no line feed after it.
        """
        for lines in ([self.old] if mark != "+" else []) + ([self.new] if mark != "-" else []):
            lines[-1] = lines[-1].removesuffix("\n")


@dataclass(slots=True)
class FilePatch:
    """The changes of a patch to one file."""

    path: str
    #: Whether the patch makes the file. If so, the file must not exist yet.
    makes: bool = False
    #: Whether the patch deletes the file.
    deletes: bool = False
    #: The new path of the file, or None if it keeps its path.
    moves_to: str | None = None
    #: Whether to add a missing line feed after the file's last line, as the `*** Begin Patch` format requires.
    ends_lines: bool = False
    hunks: list[Hunk] = field(default_factory=list)


def parsed(text: str) -> list[FilePatch]:
    """Return the changes of the patch, file by file.

    Raises InvalidConfirmation, which names the first line that can't be understood.
    """
    reader = _Reader(text)
    found = reader.agents() if text.lstrip().startswith(_BEGIN) else reader.unified()
    if not found:
        raise InvalidConfirmation(fact("patch.nothing"))
    if sum(len(each.hunks) for each in found) > _MOST_HUNKS:
        raise reader.unread(f"more than {_MOST_HUNKS} changes")
    return found


def applied(patch: FilePatch, text: str) -> str:
    """Return the text with the patch's changes.

    Raises InvalidConfirmation if a change fits at no place, or at several places.
    """
    if patch.ends_lines and text and not text.endswith("\n"):
        text += "\n"
    lines = lines_of(text)
    result: list[str] = []
    at = 0
    for number, hunk in enumerate(patch.hunks, 1):
        start = _place(lines, hunk, at)
        if not isinstance(start, int):
            raise InvalidConfirmation(fact(start, number=number, path=one_line(patch.path)))
        result += [*lines[at:start], *hunk.new]
        at = start + len(hunk.old)
    return "".join([*result, *lines[at:]])


def _place(lines: list[str], hunk: Hunk, start: int) -> int | str:
    """Return the index of the line at which the change begins.

    If the change fits nowhere, or at several places, return the catalogue key of that reason.
    """
    if hunk.after is not None:
        wanted = hunk.after.strip()
        start = next((at + 1 for at in range(start, len(lines)) if lines[at].strip() == wanted), len(lines) + 1)
    if start > len(lines):
        return "patch.misfit"
    if not hunk.old:
        at = start if hunk.after is not None else len(lines) if hunk.at is None else hunk.at
        return at if start <= at <= len(lines) else "patch.misfit"
    if hunk.at is not None and hunk.at >= start and _is_at(lines, hunk.old, hunk.at):
        return hunk.at
    first = _search(lines, hunk.old, start)
    if first is None:
        return "patch.misfit"
    several = hunk.after is None and _search(lines, hunk.old, first + 1) is not None
    return "patch.several" if several else first


def _search(lines: list[str], wanted: list[str], start: int) -> int | None:
    while True:
        try:
            start = lines.index(wanted[0], start)
        except ValueError:
            return None
        if _is_at(lines, wanted, start):
            return start
        start += 1


def _is_at(lines: list[str], wanted: list[str], at: int) -> bool:
    return lines[at : at + len(wanted)] == wanted


class _Reader:
    """Reads the lines of a patch in order."""

    def __init__(self, text: str) -> None:
        self._lines = text.removesuffix("\n").split("\n")
        self._at = 0

    def unread(self, why: str) -> InvalidConfirmation:
        """Return the error for a patch whose current line can't be understood."""
        return InvalidConfirmation(fact("patch.unread", line=self._at + 1, why=why))

    def _peek(self) -> str | None:
        return self._lines[self._at] if self._at < len(self._lines) else None

    def _next(self) -> str:
        line = self._peek()
        if line is None:
            raise self.unread("the patch ends here")
        self._at += 1
        return line

    def _odd(self, line: str) -> InvalidConfirmation:
        return self.unread(one_line(line, _WRITTEN) or "it is empty")

    def unified(self) -> list[FilePatch]:
        """Return the changes of a unified diff, file by file."""
        found = []
        while (line := self._peek()) is not None:
            if line.startswith("--- "):
                found.append(self._unified_file())
            elif _PREAMBLE.match(line):
                self._at += 1
            else:
                raise self._odd(line)
        return found

    def _unified_file(self) -> FilePatch:
        old = _named(self._next().removeprefix("--- "))
        if not (self._peek() or "").startswith("+++ "):
            raise self.unread("no +++ line follows the --- line")
        new = _named(self._next().removeprefix("+++ "))
        path = _path(old, new)
        if path is None:
            raise self.unread("a file that gets another name")
        patch = FilePatch(path, makes=old == _NO_FILE, deletes=new == _NO_FILE)
        while (self._peek() or "").startswith("@@ "):
            patch.hunks.append(self._unified_hunk())
        if not patch.hunks:
            raise self.unread("no change follows the name of a file")
        return patch

    def _unified_hunk(self) -> Hunk:
        sizes = _RANGE.fullmatch(self._next())
        if sizes is None:
            self._at -= 1
            raise self.unread("not a range of lines")
        old_left, new_left = int(sizes[2] or 1), int(sizes[4] or 1)
        hunk = Hunk(at=int(sizes[1]) - (1 if old_left else 0))
        mark = " "
        while old_left or new_left:
            line = self._next()
            if line.startswith(_UNENDED) and (hunk.old or hunk.new):
                hunk.unend(mark)
                continue
            # Editors remove the blank that marks an empty kept line, so an empty line counts as kept.
            mark = line[:1] or " "
            old_left -= mark != "+"
            new_left -= mark != "-"
            if mark not in " +-" or min(old_left, new_left) < 0:
                self._at -= 1
                raise self._odd(line)
            hunk.take(mark, line[1:])
        if (self._peek() or "").startswith(_UNENDED):
            self._at += 1
            hunk.unend(mark)
        return hunk

    def agents(self) -> list[FilePatch]:
        """Return the changes between `*** Begin Patch` and `*** End Patch`, file by file."""
        while not (self._peek() or "").strip():
            self._at += 1
        self._next()
        found = []
        while (line := self._next()).rstrip() != _END:
            heading = _AGENTS.fullmatch(line.rstrip())
            if heading is None:
                self._at -= 1
                raise self._odd(line)
            found.append(self._agents_file(heading[1], heading[2]))
        if any(line.strip() for line in self._lines[self._at :]):
            raise self.unread("something follows the end of the patch")
        return found

    def _agents_file(self, what: str, path: str) -> FilePatch:
        patch = FilePatch(path, makes=what == "Add", deletes=what == "Delete", ends_lines=True)
        if what == "Add":
            patch.hunks.append(self._agents_hunk(Hunk(at=0), "+"))
        if what == "Update":
            if (self._peek() or "").startswith(_MOVE):
                patch.moves_to = self._next().removeprefix(_MOVE).rstrip()
            while not (self._peek() or _END).startswith("*** "):
                patch.hunks.append(self._agents_hunk(self._agents_heading(first=not patch.hunks), " +-"))
            if not patch.hunks and patch.moves_to is None:
                raise self.unread("no change follows the name of a file")
        return patch

    def _agents_heading(self, *, first: bool) -> Hunk:
        """Read a `@@` line, which may name the line that the change comes after.

        Only the first change may come without a `@@` line.
        """
        line = self._peek() or ""
        if not line.startswith("@@"):
            if not first:
                raise self._odd(line)
            return Hunk()
        self._at += 1
        return Hunk(after=line.removeprefix("@@").strip() or None)

    def _agents_hunk(self, hunk: Hunk, marks: str) -> Hunk:
        while (line := self._peek()) is not None and not line.startswith(("@@", "*** ")):
            mark = line[:1] or " "
            if mark not in marks:
                raise self._odd(line)
            self._at += 1
            hunk.take(mark, line[1:])
        if line is not None and line.rstrip() == _END_OF_FILE:
            self._at += 1
        return hunk


def _named(text: str) -> str:
    """Return the name from a `---` or `+++` line. A tab and a time may follow the name."""
    return text.partition("\t")[0].rstrip("\r")


def _path(old: str, new: str) -> str | None:
    """Return the file that both names mean, without git's prefixes `a/` and `b/`.

    Return None if they mean different files.
    """
    shorter_old, shorter_new = old.removeprefix("a/"), new.removeprefix("b/")
    if old == _NO_FILE:
        return shorter_new
    if new == _NO_FILE:
        return shorter_old
    if old != shorter_old and new != shorter_new and shorter_old == shorter_new:
        return shorter_old
    return old if old == new else None
