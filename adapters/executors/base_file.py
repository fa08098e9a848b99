"""Reads a file before a change, describes it to people, and makes the precondition that binds the change to it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from adapters.executors.folder import ABSENT, Folder, explained
from adapters.executors.registry import NotAsShown
from hitl.cards.previews import PREVIEW_KEPT, change
from hitl.cards.redaction import mask
from hitl.cards.text import cut_middle, one_line, quoted, visible
from hitl.cards.wording import say
from hitl.errors import InvalidConfirmation
from hitl.outcomes import fact

#: Files up to this many bytes are read whole, and compared line by line.
READ_WHOLE = 1 << 20
#: A precondition on a file has this prefix and the file's path as its name, such as `base:notes/todo.txt`.
BASE = "base:"


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a file at one moment."""

    #: The SHA-256 of the bytes in hex, or `absent` if there is no file.
    base: str
    #: The length of the file in bytes.
    size: int
    #: The text, or None if the file isn't UTF-8 text or is longer than `READ_WHOLE`.
    text: str | None


def standing(folder: Folder, parts: tuple[str, ...]) -> Standing:
    """Return the current state of a file. Raises OSError, or InvalidConfirmation if it isn't a regular file."""
    try:
        with folder.reading(parts) as file:
            start = file.read(READ_WHOLE)
            digest, size = hashlib.sha256(start), len(start)
            while chunk := file.read(READ_WHOLE):
                digest.update(chunk)
                size += len(chunk)
            return Standing(digest.hexdigest(), size, as_text(start) if size == len(start) else None)
    except FileNotFoundError:
        return Standing(ABSENT, 0, "")


def file_parts(folder: Folder, path: str) -> tuple[str, ...]:
    """Return the parts of a file's path.

    Raises InvalidConfirmation for a path outside of the folder, and for the folder itself.
    """
    parts = folder.parts(path)
    if not parts:
        raise InvalidConfirmation(fact("path.workspace", path=one_line(path)))
    return parts


@contextmanager
def as_shown(otherwise: str) -> Iterator[None]:
    """A context manager that turns InvalidConfirmation into NotAsShown: the file became unusable since people saw it.

    `otherwise` is the catalogue key of the sentence for people.
    """
    try:
        yield
    except InvalidConfirmation as refusal:
        raise NotAsShown(say(otherwise, why=refusal.message)) from refusal


def changed_since(path: str) -> InvalidConfirmation:
    """Return the error for a change to a file whose contents differ from the contents that people saw."""
    return InvalidConfirmation(fact("path.changed", path=one_line(path)))


def base_key(parts: tuple[str, ...]) -> str:
    """Return the name of the precondition that holds the file's digest, such as `base:notes/todo.txt`."""
    return BASE + "/".join(parts)


def base_now(folder: Folder, precondition: str) -> str:
    """Return the file's current digest, or the reason why the file can't be read. `precondition` names the file."""
    path = precondition.removeprefix(BASE)
    try:
        with explained(path):
            return folder.digest(tuple(path.split("/")))
    except InvalidConfirmation as refusal:
        return refusal.message


def shown_path(parts: tuple[str, ...]) -> str:
    """Return the path as text for people, with invisible characters made visible."""
    return visible("/".join(parts), keep_newlines=False)


def named_path(parts: tuple[str, ...]) -> str:
    """Return the path for the inside of a sentence for people. Secrets are masked, and unusual names are in quotes."""
    return quoted(mask("/".join(parts)))


def size_text(count: int) -> str:
    """Return a number of bytes as text for people, such as "1 byte"."""
    return say("count.bytes", count=count)


def files_text(count: int) -> str:
    """Return a number of files as text for people, such as "2 files"."""
    return say("count.files", count=count)


def lines_text(count: int) -> str:
    """Return a number of lines as text for people, such as "2 lines"."""
    return say("count.lines", count=count)


def encoded(text: str) -> bytes:
    """Return the text as UTF-8. Raises InvalidConfirmation if it has half of a surrogate pair."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InvalidConfirmation(fact("args.surrogate")) from None


def written(parts: tuple[str, ...], old: Standing, new: bytes) -> tuple[str, str]:
    """Return the sentence that says how writing `new` changes the file, and a preview of the change."""
    path, named = shown_path(parts), named_path(parts)
    if old.base == hashlib.sha256(new).hexdigest():
        return say("does.write.same", path=named, size=size_text(len(new))), ""
    if old.text is None or len(new) > READ_WHOLE:
        preview = cut_middle(new.decode().removesuffix("\n"), PREVIEW_KEPT).text
        return say("does.write.whole", path=named, old=size_text(old.size), new=size_text(len(new))), preview
    if old.base == ABSENT:
        return say("does.write.new", path=named, size=size_text(len(new))), change(path, None, new.decode()).diff
    made = change(path, old.text, new.decode())
    sentence = say("does.write.lines", path=named, added=lines_text(made.added), removed=lines_text(made.removed))
    return sentence, made.diff


def as_text(data: bytes) -> str | None:
    """Return the bytes as text, or None if they aren't UTF-8 or have a NUL byte."""
    try:
        return None if b"\0" in data else data.decode()
    except UnicodeDecodeError:
        return None
