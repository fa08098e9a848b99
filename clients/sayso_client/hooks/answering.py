"""Answers a coding agent's question about one call: with the decision of people or the policy, else with a denial."""

from __future__ import annotations

import os
import select
import time

from sayso_client.errors import ClientError
from sayso_client.hooks.asked import NotUnderstoodError
from sayso_client.repeating import Repeating
from sayso_client.wording import say
from sayso_client.written import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType
    from typing import Any

    from sayso_client.client import Client
    from sayso_client.hooks.asked import Asked

#: The largest event that is read, in bytes. A host was seen to pass on 200,000 characters.
_LONGEST_EVENT = 16 << 20
#: Seconds that one request to the service waits for people.
_WAIT_S = 30
#: The seconds that are reserved at the end of the wait for withdrawing the call and answering.
_MARGIN_S = 5
#: The shortest and the longest time to wait that the service accepts, in seconds.
_SHORTEST_S, _LONGEST_S = 5, 7 * 24 * 3600

#: The event with which `installing.py` checks an installed hook. Hosts don't send it, and it asks nobody.
PROBE = {"sayso": "probe"}
#: The key in the answer to PROBE. Its value has a code and a reason: the code is REACHED, or the code of the
#: ClientError.
PROBED, REACHED = "sayso", "reached"
#: The seconds in which the service must answer the check.
_PROBE_S = 10

#: The codes of errors of the installation. Their sentences name commands and settings for a person to use. A denial
#: doesn't quote these sentences, because a model reads its reason and could use them too.
_FOR_PEOPLE = frozenset({"UNAVAILABLE", "CONFIGURATION", "NOT_APPROVER", "UNAUTHENTICATED"})

#: The number of characters of a session's id on the card, which distinguish the session from others.
_SHORT_SESSION = 8


class _UnreadError(Exception):
    """Nobody reads the answer any more."""


class Hook:
    """Answers one event of a host.

    - `connect` opens a connection to the service.
    - `patience_s` is the time for the answer in seconds. This time must end before the host's own deadline.
    - `defers` is for a call that is still pending at the end of this time. With `defers`, the call is deferred, if the
      host can defer calls. Otherwise the call is withdrawn.
    - `readers` are the file descriptors at whose other ends the answer is read. If one of these ends is closed, the
      host or the shell around the hook has ended. Then the call is withdrawn immediately, unless the hook defers calls.
    """

    def __init__(
        self,
        host: ModuleType,
        connect: Callable[[], Client],
        patience_s: float,
        *,
        defers: bool = False,
        readers: Sequence[int] = (1,),
    ) -> None:
        self._host = host
        self._connect = connect
        self._ends = time.monotonic() + patience_s
        self._patience_s = patience_s
        self._defers = defers and hasattr(host, "deferred")
        self._readers = readers
        self._has_asked = False

    def answer(self, raw: bytes) -> dict[str, Any]:
        """Return the answer in the host's form. It raises nothing: every failure is a denial."""
        event: Mapping[str, Any] = {}
        try:
            event = _event(raw)
            if event == PROBE:
                return self._probed()
            return self._judged(event, self._host.asked(event))
        except NotUnderstoodError as error:
            return self._denied(event, say("hook.odd", host=self._host.NAME, what=error))
        except ClientError as error:
            return self._denied(event, say("hook.unable") if error.code in _FOR_PEOPLE else error.message)
        except Exception as error:  # noqa: BLE001 - if a hook crashes, the host runs the tool
            return self._denied(event, say("hook.failed", error=type(error).__name__))

    def _probed(self) -> dict[str, Any]:
        """Return a denial that says whether the service answers, after the same checks as for a tool call."""
        code, why = REACHED, say("hook.reached")
        try:
            with self._connect() as client:
                client.socket.settimeout(_PROBE_S)
                scopes = client.call("ping").get("scopes", ())
            if "agent" not in scopes:
                code, why = "NOT_APPROVER", say("hook.scope")
        except ClientError as error:
            code, why = error.code, error.message
        return {**self._denied({}, why), PROBED: [code, why]}

    def _denied(self, event: Mapping[str, Any], why: str) -> dict[str, Any]:
        told: dict[str, Any] = self._host.denied(event, why)
        return told

    def _judged(self, event: Mapping[str, Any], asked: Asked) -> dict[str, Any]:
        # A deferred call is found again by the host's id. Without an id, a later question could be about another call.
        defers = self._defers and bool(asked.key)
        request = self._request(asked, defers=defers)
        line = Repeating(self._watched, self._ends - _MARGIN_S, keeps=True)
        try:
            return self._decided(event, line, request, defers=defers)
        except _UnreadError:
            if self._has_asked and not defers:
                self._leave(request)
            return self._denied(event, say("hook.unread"))
        finally:
            line.close()

    def _decided(
        self, event: Mapping[str, Any], line: Repeating, request: dict[str, Any], *, defers: bool
    ) -> dict[str, Any]:
        """Ask, wait for the decision, and return the answer. Raises _UnreadError."""
        call = line.send("ask", **request)["call"]
        by_policy = call["status"] == "allowed"
        while call["status"] == "pending" and (left := self._ends - _MARGIN_S - time.monotonic()) > 0:
            fields = {"until": "explained", "limit_s": max(0, min(_WAIT_S, int(left))), "attended": not defers}
            call = line.send("wait", ref=call["ref"], **fields)["call"]
        if call["status"] == "pending" and defers:
            deferred: dict[str, Any] = self._host.deferred()
            return deferred
        if call["status"] == "pending":
            call = line.send("withdraw", target=call["ref"])["call"]
        if call["status"] not in {"allowed", "approved"}:
            return self._denied(event, call["message"])
        self._check_read()
        # The host runs the tool and reports nothing. So the service releases the call to the host, which it does only
        # once.
        released = line.send("release", ref=call["ref"])["call"]
        if released["status"] != "released":
            return self._denied(event, released["message"])
        told: dict[str, Any] = (self._host.unjudged if by_policy else self._host.allowed)(event)
        return told

    def _watched(self) -> Client:
        """Return a connection whose waits end with an _UnreadError if nobody reads the answer any more."""
        self._check_read()
        client = self._connect()

        def before_reading() -> None:
            self._has_asked = True
            self._check_read(client)

        client.before_reading = before_reading
        return client

    def _check_read(self, client: Client | None = None) -> None:
        """Raise _UnreadError if nobody reads the hook's answer any more. With a client, wait until it has data to read.

        An approval must not release the call if nobody reads the answer: a released call counts as run.
        """
        try:
            watched = select.poll()
            for reader in self._readers:
                watched.register(reader, 0)
            if client is not None:
                watched.register(client.socket, select.POLLIN)
            found = watched.poll(0 if client is None or _is_buffered(client) else None)
        except (OSError, AttributeError):
            return
        if any(number in self._readers for number, _ in found):
            raise _UnreadError

    def _leave(self, request: dict[str, Any]) -> None:
        """Notify the service that the host has ended. The hook asks again with the same key, which finds the call."""
        with self._connect() as client:
            call = client.call("ask", **request)["call"]
            client.call("withdraw", target=call["ref"], left=True)

    def _request(self, asked: Asked, *, defers: bool) -> dict[str, Any]:
        within_s = int(self._patience_s) - _MARGIN_S if not defers else _LONGEST_S
        return {
            "tools": asked.tools or self._host.NAME,
            "tool": asked.tool,
            "args": asked.args,
            "cwd": asked.cwd,
            "agent": self._host.NAME,
            "session": asked.session,
            "note": self._note(asked),
            "key": asked.key or os.urandom(16).hex(),
            "by_policy": not asked.must_ask,
            "timeout_s": min(max(within_s, _SHORTEST_S), _LONGEST_S),
        }

    def _note(self, asked: Asked) -> str:
        project = os.path.basename(asked.cwd.rstrip("/\\")) or asked.cwd
        session = asked.session[:_SHORT_SESSION] or "-"
        inside = say("hook.note.inside", agent=asked.inside) if asked.inside else ""
        return say("hook.note", host=self._host.NAME, project=project, session=session, inside=inside)


def _is_buffered(client: Client) -> bool:
    """Return whether TLS has decrypted bytes that weren't read yet.

    In this case, the socket itself may have nothing to read.
    """
    pending = getattr(client.socket, "pending", None)
    return pending is not None and pending() > 0


def _event(raw: bytes) -> Mapping[str, Any]:
    if len(raw) > _LONGEST_EVENT:
        raise NotUnderstoodError("size")
    try:
        event = read(raw, _once)
    except (ValueError, RecursionError) as error:
        raise NotUnderstoodError("JSON") from error
    if not isinstance(event, dict):
        raise NotUnderstoodError("JSON")
    return event


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Raise an error for an object that has a name twice, because readers differ in which value they take."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotUnderstoodError("a name twice")
    return found
