"""Tools on the files of one folder, and a shell in it.

Every tool that changes a file is bound to the bytes that people were shown: the precondition `base:PATH`
holds their SHA-256, or `absent`, and is read again at the moment of writing. Nothing outside the folder
is reached.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from adapters.executors import globs
from adapters.executors.folder import ABSENT, Folder, explained
from adapters.executors.previews import PREVIEW_KEPT, change
from adapters.executors.registry import Context, NotAsShown, Registry
from hitl.errors import InvalidConfirmation
from hitl.model import Preparation
from hitl.text import cut_middle, one_line, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from io import BufferedReader

#: Bytes of a file that is read, or compared line by line, whole.
READ_WHOLE = 1 << 20
#: Bytes that are read of each end of a longer file.
READ_EDGE = 1 << 15
#: Files that one call may delete, and entries that a list shows.
MANY = 1_000

_BASE = "base:"
_CONTINUATION = bytes(range(0x80, 0xC0))


@dataclass(frozen=True, slots=True)
class _Standing:
    """A file as it is: its digest or `absent`, its bytes, and its text where it is text and not too long."""

    base: str
    size: int
    text: str | None


class Workspace:
    """The files' tools. `look_at_...` finds what a call would do, the method of the tool's name does it."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        # Between the last look at a file and its change no other call of ours may come.
        self._changing = threading.Lock()

    def list_files(self, _context: Context, path: str = ".") -> str:
        """The names in a folder, one a line: a folder ends in a slash, a file has its size in bytes."""
        parts = self._folder.parts(path)
        with explained(path), self._folder.opened(parts) as folder, os.scandir(folder) as entries:
            shown = sorted(map(_entry, entries))
        more = [f"… {len(shown) - MANY:,} more"] if len(shown) > MANY else []
        return "\n".join([*shown[:MANY], *more])

    def read_file(self, _context: Context, path: str) -> str:
        """The text of a file; of a long one its start and its end. A file that isn't UTF-8 text is
        refused.
        """
        with explained(path), self._folder.reading(self._file(path)) as file:
            return _read_text(file, path)

    def write_file(self, context: Context, path: str, text: str) -> str:
        """Write a text file whole, in place of what was there; folders on the way are made."""
        parts, data = self._file(path), _encoded(text)
        base = context.preconditions.get(_key(parts), "")
        with _as_shown("written"), self._changing, explained(path):
            if not self._folder.replace(parts, data, base):
                raise _changed(path)
        return f"Wrote {_size(len(data))} to {one_line(path)}."

    def delete_file(self, context: Context, path: str) -> str:
        """Delete one file."""
        parts = self._file(path)
        self._delete({parts: context.preconditions.get(_key(parts), "")})
        return f"Deleted {one_line(path)}."

    def delete_files(self, context: Context, pattern: str) -> str:
        """Delete the files that match a pattern: `*`, `?`, `[...]` within a name, `**` for any folders."""
        bases = context.preconditions.items()
        self._delete({tuple(key.removeprefix(_BASE).split("/")): base for key, base in bases})
        lines = [key.removeprefix(_BASE) for key, _ in bases]
        return "\n".join([f"Deleted {_files(len(lines))} for {one_line(pattern)}:", *lines])

    def look_at_list(self, args: Mapping[str, Any]) -> Preparation:
        """Only the path is checked: what is listed may change."""
        path = args.get("path", ".")
        parts = self._folder.parts(path)
        return self._prepared(f"Lists the files in {_shown(parts) or 'the workspace'}.")

    def look_at_read(self, args: Mapping[str, Any]) -> Preparation:
        """Only the path is checked: what is read may change."""
        return self._prepared(f"Reads {_shown(self._file(args['path']))}.")

    def look_at_write(self, args: Mapping[str, Any]) -> Preparation:
        """The file as it is, and the difference that writing would make."""
        parts, data = self._file(args["path"]), _encoded(args["text"])
        with explained(args["path"]):
            old = self._standing(parts)
        sentence, preview = _written(_shown(parts), old, data)
        return self._prepared(sentence, {_key(parts): old.base}, preview)

    def look_at_delete(self, args: Mapping[str, Any]) -> Preparation:
        """The file as it is."""
        parts = self._file(args["path"])
        with explained(args["path"]):
            old = self._standing(parts)
        if old.base == ABSENT:
            raise InvalidConfirmation(f"{_shown(parts)} is not there.")
        return self._prepared(
            f"Deletes {_shown(parts)} ({_size(old.size)}). It can't be undone.", {_key(parts): old.base}
        )

    def look_at_delete_many(self, args: Mapping[str, Any]) -> Preparation:
        """The files that match now: these are shown, and no others are deleted."""
        pattern = args["pattern"]
        with explained(pattern), self._folder.opened(()) as root:
            found = list(islice(globs.regular_files(self._folder.parts(pattern), root), MANY + 1))
        if not 0 < len(found) <= MANY:
            many = f"more than {MANY:,} files; name fewer" if found else "no file"
            raise InvalidConfirmation(f"{one_line(pattern)} matches {many}. Nothing was asked.")
        bases = {_key(parts): self._digest(parts) for parts in found}
        sentence = f"Deletes {_files(len(found))} that match {one_line(pattern)}. It can't be undone."
        return self._prepared(sentence, bases, "\n".join(map(_shown, found)))

    def now(self, precondition: str) -> str:
        """A file's base as it is now; why not, where it can't be read."""
        try:
            return self._digest(tuple(precondition.removeprefix(_BASE).split("/")))
        except InvalidConfirmation as refusal:
            return refusal.message

    def _file(self, path: str) -> tuple[str, ...]:
        parts = self._folder.parts(path)
        if not parts:
            raise InvalidConfirmation(f"{one_line(path)} is the workspace itself.")
        return parts

    def _digest(self, parts: tuple[str, ...]) -> str:
        with explained("/".join(parts)):
            return self._folder.digest(parts)

    def _standing(self, parts: tuple[str, ...]) -> _Standing:
        try:
            with self._folder.reading(parts) as file:
                start = file.read(READ_WHOLE)
                digest, size = hashlib.sha256(start), len(start)
                for chunk in _chunks(file):
                    digest.update(chunk)
                    size += len(chunk)
                return _Standing(digest.hexdigest(), size, _as_text(start) if size == len(start) else None)
        except FileNotFoundError:
            return _Standing(ABSENT, 0, "")

    def _delete(self, shown: Mapping[tuple[str, ...], str]) -> None:
        """Delete these files if all of them are as shown; else none."""
        with self._changing:
            with _as_shown("deleted"):
                for parts, base in shown.items():
                    if base == ABSENT or self._digest(parts) != base:
                        raise _changed("/".join(parts))
            for done, (parts, base) in enumerate(shown.items()):
                with explained("/".join(parts)):
                    if not self._folder.delete(parts, base):
                        raise InvalidConfirmation(f"{_shown(parts)} changed; {_files(done)} deleted before it.")

    def _prepared(self, sentence: str, bases: Mapping[str, str] | None = None, preview: str = "") -> Preparation:
        return Preparation(
            sentence, cwd=str(self._folder.root), preconditions=tuple((bases or {}).items()), preview=preview
        )


def register_workspace(registry: Registry, folder: Folder, *, tools: str = "workspace") -> None:
    """Register the files' tools under a group name: list, read, write and delete."""
    files = Workspace(folder)
    rows = (
        ("list_files", files.list_files, files.look_at_list, "Lists the files in {path}.", True),
        ("read_file", files.read_file, files.look_at_read, "Reads {path}.", True),
        ("write_file", files.write_file, files.look_at_write, "Writes {path}.", False),
        ("delete_file", files.delete_file, files.look_at_delete, "Deletes {path}.", False),
        ("delete_files", files.delete_files, files.look_at_delete_many, "Deletes {pattern}.", False),
    )
    for name, function, look, sentence, idempotent in rows:
        registry.register(tools, name, function, sentence=sentence, idempotent=idempotent, look=look, now=files.now)


@contextmanager
def _as_shown(done: str) -> Iterator[None]:
    """What can't be used any more, at the moment of the change, is not as it was shown."""
    try:
        yield
    except InvalidConfirmation as refusal:
        raise NotAsShown(f"{refusal.message} Nothing was {done}.") from refusal


def _changed(path: str) -> InvalidConfirmation:
    return InvalidConfirmation(f"{one_line(path)} has changed since it was shown.")


def _key(parts: tuple[str, ...]) -> str:
    return _BASE + "/".join(parts)


def _shown(parts: tuple[str, ...]) -> str:
    return visible("/".join(parts), keep_newlines=False)


def _size(count: int) -> str:
    return "1 byte" if count == 1 else f"{count:,} bytes"


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count:,} lines"


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InvalidConfirmation("The argument text holds a lone surrogate, which UTF-8 can't carry.") from None


def _written(path: str, old: _Standing, new: bytes) -> tuple[str, str]:
    """The sentence for writing a file, and its preview."""
    if old.base == hashlib.sha256(new).hexdigest():
        return f"Writes {path} as it is already ({_size(len(new))}).", ""
    if old.text is None or len(new) > READ_WHOLE:
        preview = cut_middle(new.decode(), PREVIEW_KEPT).text
        return f"Replaces {path}: {_size(old.size)} by {_size(len(new))}.", preview
    made = change(path, old.text, new.decode())
    if old.base == ABSENT:
        return f"Makes the file {path} ({_size(len(new))}).", made.diff
    return f"Changes {path}: {_lines(made.added)} added, {_lines(made.removed)} removed.", made.diff


def _chunks(file: BufferedReader) -> Iterator[bytes]:
    return iter(partial(file.read, READ_WHOLE), b"")


def _as_text(data: bytes) -> str | None:
    try:
        return None if b"\0" in data else data.decode()
    except UnicodeDecodeError:
        return None


def _read_text(file: BufferedReader, path: str) -> str:
    size = os.fstat(file.fileno()).st_size
    text = _as_text(file.read()) if size <= READ_WHOLE else _read_edges(file, size)
    if text is None:
        raise InvalidConfirmation(f"{one_line(path)} is binary ({_size(size)}); only text can be read.")
    return text


def _read_edges(file: BufferedReader, size: int) -> str | None:
    """The start and the end of a long file, without the parts of characters at the cuts."""
    head = file.read(READ_EDGE)
    file.seek(size - READ_EDGE)
    tail = file.read(READ_EDGE).lstrip(_CONTINUATION)
    if b"\0" in head + tail:
        return None
    try:
        start = codecs.getincrementaldecoder("utf-8")().decode(head)
        return f"{start}\n… {size - len(head) - len(tail):,} bytes left out …\n{tail.decode()}"
    except UnicodeDecodeError:
        return None


def _entry(entry: os.DirEntry[str]) -> str:
    shown = visible(entry.name, keep_newlines=False)
    if entry.is_dir(follow_symlinks=False):
        return f"{shown}/"
    if entry.is_file(follow_symlinks=False):
        return f"{shown}  {_size(entry.stat(follow_symlinks=False).st_size)}"
    return f"{shown}  (a link)" if entry.is_symlink() else f"{shown}  (not a file)"
