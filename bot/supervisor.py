"""Sends systemd, or another program that started the service, a message when the service is ready and when it stops."""

from __future__ import annotations

import logging
import os
import socket

_log = logging.getLogger(__name__)
#: Seconds for which the service waits until the supervisor accepts a message. Meanwhile the service serves nobody.
_PATIENCE_S = 1.0


def tell(state: str) -> None:
    """Send `state` (``READY=1`` or ``STOPPING=1``) to the socket that ``NOTIFY_SOCKET`` names, as sd_notify(3) defines.

    Without that variable, no supervisor wants the message, and nothing is sent. A message that can't be delivered is
    only logged, because the service works without it.
    """
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    # Linux's abstract names begin with a zero byte, which the variable writes as "@".
    name = f"\0{address[1:]}" if address.startswith("@") else address
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
            sender.settimeout(_PATIENCE_S)
            sender.sendto(state.encode(), name)
    except OSError as error:
        _log.warning("service.not_announced", {"state": state, "socket": address, "why": str(error)})
