"""Sends requests over a connection that may break, as when the service restarts. It then connects and sends again."""

from __future__ import annotations

import time
from math import inf

from sayso_client.errors import ClientError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sayso_client.client import Client

#: Seconds for which a request is sent again, and seconds between two attempts.
PATIENCE_S = 30
_PAUSE_S = 0.2


class Repeating:
    """Sends requests, one at a time, and sends a request again over another connection if the connection breaks.

    A request is sent again only if the service may have recorded the call; otherwise the first failure is raised
    immediately. Sending again is safe, because asking has an idempotency key, and claiming and reporting have the
    claimant's secret.

    `connect` opens a connection. `until` is the time (`time.monotonic`) after which nothing is sent again. With
    `keeps`, all requests go over one connection until it breaks, and the caller must call `close`. Otherwise each
    request has a separate connection.
    """

    def __init__(self, connect: Callable[[], Client], until: float = inf, *, keeps: bool = False) -> None:
        self._connect = connect
        self._keeps = keeps
        self._until = until
        self._client: Client | None = None
        #: Whether the service has recorded a call, or may have done so.
        self.recorded = False
        #: Called before a request is sent again for the first time, with the error and the seconds for which it is sent
        #: again.
        self.lost: Callable[[ClientError, int], object] = lambda _error, _seconds: None

    def send(self, op: str, **fields: Any) -> dict[str, Any]:
        """Send one request, and return its answer.

        Raises ClientError for a refusal, and with UNAVAILABLE if the service can't be reached for `PATIENCE_S` seconds.
        """
        give_up, is_told = min(time.monotonic() + PATIENCE_S, self._until), False
        while True:
            try:
                answer = self._sent(op, fields)
            except ClientError as error:
                left_s = give_up - time.monotonic()
                if error.code != "UNAVAILABLE" or not self.recorded or left_s <= 0:
                    raise
                if not is_told:
                    self.lost(error, round(left_s))
                is_told = True
                time.sleep(_PAUSE_S)
            else:
                self.recorded = True
                return answer

    def close(self) -> None:
        """Close the connection, if one is open. The next request opens another one."""
        if self._client is not None:
            self._client.close()
        self._client = None

    def _sent(self, op: str, fields: dict[str, Any]) -> dict[str, Any]:
        client, is_whole = None, False
        try:
            client = self._client = self._client or self._connect()
            answer, is_whole = client.call(op, **fields), True
        except ClientError as error:
            self.recorded = self.recorded or (client is not None and client.broken)
            is_whole = error.code != "UNAVAILABLE"
            raise
        finally:
            if not (self._keeps and is_whole):
                self.close()  # After an interruption, the answer would be read as the answer to the next request.
        return answer
