"""Finds the service's address and the token: in arguments, else in a file of the user's own, else a socket's path.

The working folder is never used. The environment is used only if that file doesn't exist, except HOME, which says where
the file is. An agent that can change the working folder or the environment could name a false service, which approves
everything.
"""

from __future__ import annotations

import os
import stat
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from sayso_client.errors import ClientError, why_unread
from sayso_client.remote import address
from sayso_client.wire import SOCKET_NAME
from sayso_client.wording import say

_KEYS = frozenset({"url", "socket", "token_file", "ca_file"})
#: The base URL of requests over a Unix socket. The host in it is only a name.
_ON_SOCKET = "http://sayso"
#: The folder of the socket of a service that `deploy/linux/install.sh` installed.
_SYSTEM_RUNTIME = Path("/run/sayso")


@dataclass(frozen=True, slots=True, repr=False)
class Configuration:
    """The service's address, the token and the certificate authority. If `socket` is set, the Unix socket is used."""

    url: str
    token: str | None = None
    socket: str | None = None
    ca_file: str | None = None


def configuration(
    url: str | None = None,
    token: str | None = None,
    *,
    socket: str | os.PathLike[str] | None = None,
    token_file: str | os.PathLike[str] | None = None,
    ca_file: str | os.PathLike[str] | None = None,
    file: str | os.PathLike[str] | None = None,
) -> Configuration:
    """Return the address and the token. Without `url` and `socket`, both are read from `file` or from `default_file()`.

    If `file` isn't given and `default_file()` doesn't exist, the address is the socket that SAYSO_SOCKET names. Without
    this variable, it is the socket of this user's own service, or else the socket of this machine's service. Paths in
    the file are relative to its folder.

    Raises ClientError with the code CONFIGURATION if there is no address, if a token would cross a network unencrypted,
    or if another user could have written a file.
    """
    own = Path(file) if file else default_file()
    told: dict[str, str] = {}
    if not (url or socket):
        told = _read(own) if file or own.exists() else {"socket": _found(own)}
    url, socket = url or told.get("url"), socket or told.get("socket")
    ca_file = ca_file or told.get("ca_file")
    if token is None and (named := token_file or told.get("token_file")):
        token = _secret(Path(named).expanduser())
    if socket:
        return Configuration(_ON_SOCKET, token, str(Path(socket).expanduser()))
    if not url:
        raise _wrong("configuration.none", file=own, socket=user_runtime() / SOCKET_NAME)
    address(url)
    return Configuration(url.rstrip("/"), token, None, _readable(Path(ca_file).expanduser()) if ca_file else None)


def default_file() -> Path:
    """Return the path of the user's own file: `client.toml` in this system's usual folder for configuration."""
    if sys.platform == "win32":
        return Path.home() / "AppData" / "Roaming" / "sayso" / "client.toml"
    return Path.home() / ".config" / "sayso" / "client.toml"


def named_socket() -> str | None:
    """Return the socket that the variable SAYSO_SOCKET names, or None."""
    return os.environ.get("SAYSO_SOCKET") or None


def user_runtime() -> Path:
    """Return the folder of the socket of a service that this user runs with the default settings."""
    if given := os.environ.get("XDG_RUNTIME_DIR"):
        return Path(given) / "sayso"
    return Path(f"/tmp/sayso-{os.getuid()}") if sys.platform != "win32" else default_file().parent  # noqa: S108 - `refuse_foreign` checks its owner


def _found(file: Path) -> str:
    """Return the socket of a service on this machine. If there is none, raise ClientError, which names `file`."""
    if named := named_socket():
        return named
    usual = [folder / SOCKET_NAME for folder in (user_runtime(), _SYSTEM_RUNTIME)]
    found = next((path for path in usual if path.exists()), None)
    if found is None:
        raise _wrong("configuration.none", file=file, socket=usual[0])
    return str(found)


def _read(file: Path) -> dict[str, str]:
    if not file.exists():
        raise _wrong("configuration.none", file=file, socket=user_runtime() / SOCKET_NAME)
    _refuse_foreign(file)
    try:
        told = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise _wrong("configuration.unreadable", file=file, error=why_unread(error)) from error
    if unknown := sorted(set(told) - _KEYS):
        raise _wrong("configuration.unknown", file=file, key=unknown[0], keys=", ".join(sorted(_KEYS)))
    return {key: str(value) if key == "url" else _beside(file, str(value)) for key, value in told.items()}


def _beside(file: Path, path: str) -> str:
    """Return a path that the file names, relative to the file's folder and not to the working folder.

    An absolute path stays. An empty path stays empty, because it names no file.
    """
    return str(file.absolute().parent / Path(path).expanduser()) if path else ""


def _readable(file: Path) -> str:
    try:
        file.open("rb").close()
    except OSError as error:
        raise _wrong("configuration.unreadable", file=file, error=why_unread(error)) from error
    return str(file)


def _secret(file: Path) -> str:
    _refuse_foreign(file, readable=False)
    try:
        return file.read_text("utf-8").strip()
    except (OSError, ValueError) as error:
        raise _wrong("configuration.unreadable", file=file, error=why_unread(error)) from error


def _refuse_foreign(file: Path, *, readable: bool = True) -> None:
    """Raise ClientError for a file that another user owns or can write.

    If `readable` is false, others may not read it either.
    """
    if sys.platform == "win32":
        return  # On Windows this isn't checked, because the user's own folder is closed to other users.
    try:
        found = file.stat()
    except OSError as error:
        raise _wrong("configuration.unreadable", file=file, error=why_unread(error)) from error
    others = stat.S_IWGRP | stat.S_IWOTH | (0 if readable else stat.S_IRGRP | stat.S_IROTH)
    if found.st_uid not in {0, os.getuid()} or found.st_mode & others:
        raise _wrong("configuration.foreign", file=file)


def _wrong(sentence: str, /, **facts: object) -> ClientError:
    return ClientError("CONFIGURATION", say(sentence, **facts))
