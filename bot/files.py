"""Writes files in one step. After Ctrl-C, a crash or a full disk, a file has its old content or the new one, whole."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def write_private(file: Path, held: bytes) -> None:
    """Write a file that only this user may read (mode 0600). This is no single step: use it for files of no reader."""
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as handle:
        os.fchmod(handle.fileno(), 0o600)
        handle.write(held)


def create(file: Path, held: bytes) -> None:
    """Make a file with mode 0600. Raises FileExistsError if it is there already, and OSError if it can't be written."""
    with _beside(file, held) as new:
        os.link(new, file)


def replace(file: Path, held: bytes) -> None:
    """Replace a file's content by `held`, and keep the file's owner and mode. If the file is a link, the link's target
    is replaced. Raises OSError if the file isn't there or can't be written.
    """
    file = file.resolve()
    old = file.stat()
    with _beside(file, held) as new:
        if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
            os.chown(new, old.st_uid, old.st_gid)
        new.chmod(old.st_mode & 0o7777)
        new.replace(file)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back while several files are written that belong together."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _beside(file: Path, held: bytes) -> Iterator[Path]:
    """Write `held` to a new file in the same folder, and remove that file afterwards if it still has its own name."""
    new = file.with_name(f".{file.name}.sayso")
    try:
        write_private(new, held)
        yield new
    finally:
        new.unlink(missing_ok=True)
