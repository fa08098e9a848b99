"""Opens a hook's connection: over the Unix socket of a service with a known user id, or over TLS with a token."""

from __future__ import annotations

import socket
import struct
import sys

from sayso_client.client import Client
from sayso_client.errors import ClientError
from sayso_client.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

#: macOS: the option of a Unix socket that names the peer (sys/un.h), and the struct that contains its uid.
_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED = 0, 1, struct.Struct("2I16s")
_CREDENTIALS = struct.Struct("3i")


def connector(options: dict[str, str]) -> Callable[[], Client]:
    """Return a function that opens a connection.

    Raises KeyError or ValueError if the options name no service, and ClientError for an address that can't be used.
    """
    if "url" in options:
        from sayso_client.remote import remote

        refuse_clear(options["url"])
        with open(options["token_file"], encoding="ascii") as file:
            token = file.read().strip()
        return remote(options["url"], token, options.get("ca_file"))
    path, uid = options["socket"], int(options["uid"])

    def connect() -> Client:
        client = Client(path, shown=True)
        try:
            _check_uid(client.socket, uid)
        except BaseException:
            client.close()
            raise
        return client

    return connect


def refuse_clear(url: str) -> None:
    """Raise ClientError for an address without TLS: any process of this machine could listen there and approve."""
    if not url.lower().startswith("https:"):
        raise ClientError("CONFIGURATION", say("hook.clear"))


def _check_uid(connected: socket.socket, uid: int) -> None:
    """Raise ClientError if the service runs as another user than `uid`: such a service could approve everything."""
    if sys.platform == "darwin":
        found = _XUCRED.unpack(connected.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED.size))[1]
    else:
        found = _CREDENTIALS.unpack(connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))[1]
    if found != uid:
        raise ClientError("UNAVAILABLE", say("hook.foreign", uid=uid))
