"""Reads named policies from a list of folders: ``production`` is ``production.yaml``, ``.yml`` or ``.json``.

The policies of a tenant are in a subfolder with the tenant's name. The first folder of the list that has the document
wins.

PolicyMissing    no folder has a document of that name, or one folder has two
PolicyWritable   another user could change the document, so it is not read
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from hitl.policy.ports import Document, check_names

_FORMATS = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_MAX_BYTES = 4_000_000


class PolicyMissing(LookupError):
    """There is no usable document with this name. The message names the folders that were searched."""


class PolicyWritable(PermissionError):
    """The document, or its folder, could be changed by another user."""


class FolderSource:
    """Reads named documents. The first folder that has a document wins.

    A user who can write the policy can approve everything. So a file or folder is refused if another user than this
    process's user or root owns it, or if its group or others may write to it. A folder with the sticky bit may be
    writable, because the bit stops other users from replacing the file.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folders)

    def names(self) -> list[str]:
        """Return the sorted names of the documents that are directly in the folders. Documents of tenants aren't
        included.
        """
        found = (path for folder in self._folders if folder.is_dir() for path in folder.iterdir())
        return sorted({path.stem for path in found if path.suffix in _FORMATS})

    def read(self, tenant: str, name: str) -> Document:
        """Return the tenant's document of that name.

        Raises:
            LookupError: the tenant or the name is not a valid name.
            PolicyMissing: there is no such document, or one folder has two.
            PolicyWritable: another user could change the document.
        """
        check_names(tenant, name)
        folders = [folder / tenant for folder in self._folders]
        for folder in folders:
            found = [folder / f"{name}{suffix}" for suffix in _FORMATS if (folder / f"{name}{suffix}").exists()]
            if len(found) > 1:
                raise PolicyMissing(f"{folder} has more than one policy {name!r}: {', '.join(map(str, found))}")
            if found:
                return _read(name, found[0])
        where = ", ".join(map(str, folders)) or "any folder: none is set"
        how = "`policies` lists the folders, `policy` names a file there without its ending"
        raise PolicyMissing(f"no policy {name!r} in {where} ({how})")


def _read(name: str, path: Path) -> Document:
    """Check the document and read it through the same open file, so that nobody can replace the document between the
    check and the reading.
    """
    _refuse_writable(path.resolve().parent, path.resolve().parent.stat(), sticky=True)
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        _refuse_writable(path, os.fstat(descriptor), sticky=False)
        content = file.read(_MAX_BYTES + 1)
    try:
        return Document(name, str(path), content.decode("utf-8-sig"), _FORMATS[path.suffix])
    except UnicodeDecodeError as error:
        raise PolicyMissing(f"{path} is not UTF-8 text") from error


def _refuse_writable(path: Path, status: os.stat_result, *, sticky: bool) -> None:
    if not sticky and not stat.S_ISREG(status.st_mode):
        raise PolicyWritable(f"{path} is not a file")
    if status.st_uid not in (0, os.geteuid()):
        raise PolicyWritable(f"{path} belongs to another user (uid {status.st_uid})")
    protected = sticky and status.st_mode & stat.S_ISVTX
    if status.st_mode & _OTHERS_WRITE and not protected:
        raise PolicyWritable(f"{path} is writable by others; run: chmod go-w {path}")
