"""Counts the open connections of this process, and refuses a connection if too few would be left for other peers.

All listeners share one `Connections`: the API's socket and port, the MCP socket, and the port for metrics. With a count
for each listener, one peer could use up the file descriptors of the whole process.
"""

from __future__ import annotations

from collections import Counter
from enum import Enum

#: The highest number of connections of a process, if it may open enough files. One peer may have a quarter of them.
#: This is enough for 1,000 waiting agents, and for other callers behind the same address.
MOST = 8_000
#: The last quarter of all connections is reserved for peers that have fewer connections than this. A command-line
#: program needs one or two, and a browser six.
_FEW = 8
#: The highest number of refused connections that stay open so that their peers can read the refusal.
_MOST_LINGERING = 16


class Party(Enum):
    """The kinds of peers, which have different shares of the connections."""

    #: A user of this machine whom the operator's lists of people name.
    LISTED = "listed"
    #: A network address. Sayso doesn't know the caller behind it before it reads a request.
    REMOTE = "remote"
    #: A user of this machine whom no list of people names. Each of their requests is refused.
    UNLISTED = "unlisted"
    #: A command that this service runs. Each of its requests is refused.
    COMMAND = "command"


#: The share of all connections that the peers of a kind may have together. Half of all connections is always left for
#: users of this machine.
_SHARES = {Party.LISTED: 1.0, Party.REMOTE: 0.5, Party.UNLISTED: 1 / 64, Party.COMMAND: 1 / 64}


class Connections:
    """Counts the open connections of each peer, of each kind of peers, and of all peers together."""

    def __init__(self, most: int = MOST) -> None:
        """`most` is the highest number of connections for which the process has file descriptors."""
        self.most = most
        self._counts: Counter[tuple[str, Party] | Party] = Counter()
        self._all = 0
        self._lingering = 0

    def enter(self, peer: str, party: Party) -> bool:
        """Count one more connection of a peer, and return True. Return False if that would be too many connections.

        After True, the caller must call `leave` when the connection closes.
        """
        own, kind = self._counts[peer, party], self._counts[party]
        of_kind = max(_FEW, int(self.most * _SHARES[party]))
        if own >= self.most // 4 or kind >= of_kind or self._all >= self.most:
            return False
        if own >= _FEW and (kind >= of_kind * 3 // 4 or self._all >= self.most * 3 // 4):
            return False
        for key in ((peer, party), party):
            self._counts[key] += 1
        self._all += 1
        return True

    def leave(self, peer: str, party: Party) -> None:
        """Stop counting a connection for which `enter` returned True."""
        for key in ((peer, party), party):
            self._counts[key] -= 1
            if not self._counts[key]:
                del self._counts[key]
        self._all -= 1

    def linger(self) -> bool:
        """Count a refused connection that stays open so that its peer can read the refusal, and return True.

        Return False if too many such connections are open. After True, `depart` must follow.
        """
        if self._lingering >= _MOST_LINGERING:
            return False
        self._lingering += 1
        return True

    def depart(self) -> None:
        """Stop counting a refused connection for which `linger` returned True."""
        self._lingering -= 1
