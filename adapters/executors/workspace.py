"""Tools for the files of one folder.

A precondition `base:PATH` binds every change of a file to the bytes that people saw. The precondition holds the SHA-256
of those bytes, or `absent`, and is compared again at the moment of writing. No tool reaches a file outside of the
folder.
"""

from __future__ import annotations

import codecs
import os
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from adapters.executors import globs
from adapters.executors.arguments import Arguments, Declared
from adapters.executors.base_file import (
    BASE,
    READ_WHOLE,
    as_shown,
    as_text,
    base_key,
    base_now,
    changed_since,
    encoded,
    file_parts,
    files_text,
    named_path,
    shown_path,
    size_text,
    standing,
    written,
)
from adapters.executors.edits import ApplyPatch, EditFile, Edits
from adapters.executors.folder import ABSENT, Folder, explained
from adapters.executors.registry import Context, Registry
from hitl.call import Preparation
from hitl.cards.redaction import mask
from hitl.cards.text import one_line, quoted, visible
from hitl.cards.wording import say
from hitl.errors import InvalidConfirmation
from hitl.outcomes import Stored, fact

if TYPE_CHECKING:
    from collections.abc import Mapping
    from io import BufferedReader

#: The bytes that are read at each end of a file that is longer than `READ_WHOLE`.
READ_EDGE = 1 << 15
#: One call deletes at most this many files, and a list shows at most this many entries.
MANY = 1_000

_CONTINUATION = bytes(range(0x80, 0xC0))


class ListFiles(Arguments):
    """The folder to list."""

    path: str = "."


class ReadFile(Arguments):
    """The file to read."""

    path: str


class WriteFile(Arguments):
    """The file to write, and its new text."""

    path: str
    text: str


class DeleteFile(Arguments):
    """The file to delete."""

    path: str


class DeleteFiles(Arguments):
    """A pattern for paths: `*`, `?` and `[...]` match within a name, `**` matches any number of folders."""

    pattern: str


class Workspace:
    """The tools for files. `look_at_...` describes a call for people; the method with the tool's name carries it out.

    The docstring of a tool's method is its description for agents, and a part of the tool's definition.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def list_files(self, _context: Context, args: ListFiles) -> str:
        """The names in a folder, one a line: a folder ends in a slash, a file has its size in bytes."""
        parts = self._folder.parts(args.path)
        with explained(args.path), self._folder.opened(parts) as folder, os.scandir(folder) as entries:
            shown = sorted(map(_entry, entries))
        more = [say("did.list.more", count=len(shown) - MANY)] if len(shown) > MANY else []
        return "\n".join([*shown[:MANY], *more]) or say("did.list.none")

    def read_file(self, _context: Context, args: ReadFile) -> str:
        """The text of a file; of a long one its start and its end. A file that isn't UTF-8 text is
        refused.
        """
        with explained(args.path), self._folder.reading(self._parts(args.path)) as file:
            return _read_text(file, args.path)

    def write_file(self, context: Context, args: WriteFile) -> str:
        """Write a text file whole, in place of what was there; folders on the way are made."""
        parts, data = self._parts(args.path), encoded(args.text)
        base = context.preconditions.get(base_key(parts), "")
        with as_shown("path.not_written"), self._folder.changing, explained(args.path):
            if not self._folder.replace(parts, data, base):
                raise changed_since(args.path)
        return say("did.write", size=size_text(len(data)), path=one_line(args.path))

    def delete_file(self, context: Context, args: DeleteFile) -> str:
        """Delete one file."""
        parts = self._parts(args.path)
        self._delete({parts: context.preconditions.get(base_key(parts), "")})
        return say("did.delete", path=one_line(args.path))

    def delete_files(self, context: Context, args: DeleteFiles) -> str:
        """Delete the files that match a pattern: `*`, `?`, `[...]` within a name, `**` for any folders."""
        bases = context.preconditions.items()
        self._delete({tuple(key.removeprefix(BASE).split("/")): base for key, base in bases})
        lines = [key.removeprefix(BASE) for key, _ in bases]
        told = say("did.delete.many", files=files_text(len(lines)), pattern=one_line(args.pattern))
        return "\n".join([told, *lines])

    def look_at_list(self, args: ListFiles) -> Preparation:
        """Check only the path and describe the call. The folder's contents may change before the run."""
        parts = self._folder.parts(args.path)
        return self._prepared(say("does.list", path=named_path(parts)) if parts else say("does.list.all"))

    def look_at_read(self, args: ReadFile) -> Preparation:
        """Check only the path and describe the call. The file's contents may change before the run."""
        return self._prepared(say("does.read", path=named_path(self._parts(args.path))))

    def look_at_write(self, args: WriteFile) -> Preparation:
        """Return a description of the call: the file's current state, and the difference that writing would make."""
        parts, data = self._parts(args.path), encoded(args.text)
        with explained(args.path):
            old = standing(self._folder, parts)
        sentence, preview = written(parts, old, data)
        return self._prepared(sentence, {base_key(parts): old.base}, preview)

    def look_at_delete(self, args: DeleteFile) -> Preparation:
        """Return a description of the call with the file's current state.

        Raises InvalidConfirmation if there is no file.
        """
        parts = self._parts(args.path)
        with explained(args.path):
            old = standing(self._folder, parts)
        if old.base == ABSENT:
            raise InvalidConfirmation(fact("path.absent", path=shown_path(parts)))
        sentence = say("does.delete", path=named_path(parts), size=size_text(old.size))
        return self._prepared(sentence, {base_key(parts): old.base}, deletes=True)

    def look_at_delete_many(self, args: DeleteFiles) -> Preparation:
        """Return a description of the call with the files that match now.

        The call deletes only the files that people saw.

        Raises InvalidConfirmation if no file matches, or more than `MANY`.
        """
        pattern = args.pattern
        with explained(pattern), self._folder.opened(()) as root:
            found = list(islice(globs.regular_files(self._folder.parts(pattern), root), MANY + 1))
        if not found:
            raise InvalidConfirmation(fact("path.matches.none", pattern=one_line(pattern)))
        if len(found) > MANY:
            raise InvalidConfirmation(fact("path.matches.many", pattern=one_line(pattern), most=MANY))
        bases = {base_key(parts): self._digest(parts) for parts in found}
        sentence = say("does.delete.many", files=files_text(len(found)), pattern=quoted(mask(pattern)))
        return self._prepared(sentence, bases, "\n".join(map(shown_path, found)), deletes=True)

    def now(self, precondition: str) -> str:
        """Return the file's current digest, or the reason why the file can't be read. `precondition` names the file."""
        return base_now(self._folder, precondition)

    def _parts(self, path: str) -> tuple[str, ...]:
        return file_parts(self._folder, path)

    def _digest(self, parts: tuple[str, ...]) -> str:
        with explained("/".join(parts)):
            return self._folder.digest(parts)

    def _delete(self, shown: Mapping[tuple[str, ...], str]) -> None:
        """Delete these files if each of them is still as people saw it. Otherwise delete no file."""
        with self._folder.changing:
            with as_shown("path.not_deleted"):
                for parts, base in shown.items():
                    if base == ABSENT or self._digest(parts) != base:
                        raise changed_since("/".join(parts))
            for done, (parts, base) in enumerate(shown.items()):
                with explained("/".join(parts)):
                    if not self._folder.delete(parts, base):
                        told = say("path.changed.midway", path=shown_path(parts), files=files_text(done))
                        raise InvalidConfirmation(told)

    def _prepared(
        self, sentence: str, bases: Mapping[str, str] | None = None, preview: str = "", *, deletes: bool = False
    ) -> Preparation:
        undo = say("undo.deleted") if deletes else ""
        preconditions = tuple((bases or {}).items())
        return Preparation(
            sentence, cwd=str(self._folder.root), preconditions=preconditions, preview=preview, undo=undo
        )


def register_workspace(registry: Registry, folder: Folder) -> None:
    """Register the tools for files: list, read, write, edit, patch and delete."""
    files, edits = Workspace(folder), Edits(folder)

    change = partial(registry.register, now=files.now, open_world=False)
    read = partial(change, read_only=True, destructive=False, idempotent=True)
    read("list_files", files.list_files, Declared(ListFiles), look=files.look_at_list)
    read("read_file", files.read_file, Declared(ReadFile), look=files.look_at_read)
    change("write_file", files.write_file, Declared(WriteFile), look=files.look_at_write)
    change("edit_file", edits.edit_file, Declared(EditFile), look=edits.look_at_edit)
    change("apply_patch", edits.apply_patch, Declared(ApplyPatch), look=edits.look_at_patch)
    change("delete_file", files.delete_file, Declared(DeleteFile), look=files.look_at_delete)
    change("delete_files", files.delete_files, Declared(DeleteFiles), look=files.look_at_delete_many)


def _read_text(file: BufferedReader, path: str) -> str:
    size = os.fstat(file.fileno()).st_size
    text = as_text(file.read()) if size <= READ_WHOLE else _read_edges(file, size)
    if text is None:
        raise InvalidConfirmation(fact("path.binary", path=one_line(path), size=Stored(size_text(size))))
    return text


def _read_edges(file: BufferedReader, size: int) -> str | None:
    """Return the start and the end of a long file without the incomplete characters at the cuts.

    Return None if it isn't text.
    """
    head = file.read(READ_EDGE)
    file.seek(size - READ_EDGE)
    tail = file.read(READ_EDGE).lstrip(_CONTINUATION)
    if b"\0" in head + tail:
        return None
    try:
        start = codecs.getincrementaldecoder("utf-8")().decode(head)
        between = say("did.read.left_out", count=size - len(head) - len(tail))
        return f"{start}\n{between}\n{tail.decode()}"
    except UnicodeDecodeError:
        return None


def _entry(entry: os.DirEntry[str]) -> str:
    shown = visible(entry.name, keep_newlines=False)
    if entry.is_dir(follow_symlinks=False):
        return f"{shown}/"
    if entry.is_file(follow_symlinks=False):
        return f"{shown}  {size_text(entry.stat(follow_symlinks=False).st_size)}"
    return say("did.list.link", name=shown) if entry.is_symlink() else say("did.list.other", name=shown)
