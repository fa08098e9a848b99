"""Raises this process's limit of file descriptors, and says how many connections fit under it."""

from __future__ import annotations

import contextlib
import resource

from hitl.connections import MOST, Connections

#: So many file descriptors are left for the database, tools and platforms.
_RESERVED = 256
_WANTED = 16_384
#: This many connections are allowed even if the limit of file descriptors is too low for them.
_FEWEST = 64


def fitting_connections() -> Connections:
    """Raise this process's limit of file descriptors. Return the limits of connections that fit, which all listeners
    share.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _WANTED if hard == resource.RLIM_INFINITY else hard
    if soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return Connections(max(_FEWEST, min(MOST, soft - _RESERVED)))
