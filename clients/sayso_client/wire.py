"""HTTP/1.1 over the Unix socket, as far as commands need it: builds the request of each operation and reads answers.

Little more than `socket` and `json` is used: `http.client` takes 25 ms to import, and a hook starts for each tool call.
"""

from __future__ import annotations

from sayso_client.errors import answered
from sayso_client.written import spelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

#: The name of the socket's file in the runtime folder.
SOCKET_NAME = "sayso.sock"
#: The lowest HTTP status of a refusal.
REFUSED = 400
#: The longest line of an answer's head, and the longest answer, in bytes.
_LONGEST_LINE = 64 * 1024
_LONGEST_ANSWER = 64 * 1024 * 1024


class BrokenError(Exception):
    """The answer ended early, isn't HTTP, or doesn't come from the service."""


class Answer:
    """The head of an answer: its status, and its fields with names in lower case."""

    def __init__(self, status: int, fields: dict[bytes, bytes]) -> None:
        self.status = status
        self._fields = fields

    @property
    def last(self) -> bool:
        """Return whether the service closes the connection after this answer."""
        return self._fields.get(b"connection", b"").lower() == b"close"

    @property
    def chunked(self) -> bool:
        """Return whether the body comes in chunks."""
        return self._fields.get(b"transfer-encoding", b"").lower() == b"chunked"

    @property
    def length(self) -> int:
        """Return the length of a body without chunks.

        Raises BrokenError if the answer doesn't say its length, or if the body is too long.
        """
        length = self._fields.get(b"content-length", b"")
        if not length.isdigit() or int(length) > _LONGEST_ANSWER:
            raise BrokenError
        return int(length)


def request(op: str, fields: dict[str, Any], host: str = "sayso", token: str = "", under: str = "") -> bytes:
    """Return the HTTP request of an operation. `fields` are the fields of its path, query and body.

    A field that is None is left out. `under` is the path at which a proxy serves the API, without a slash at its end.
    """
    verb, path, *shape = _OPERATIONS[op]
    named = {name: value for name, value in fields.items() if value is not None}
    for prepare in shape:
        prepare(named)
    head = [f"{verb} {under}{path.format_map(_Taken(named))} HTTP/1.1", f"Host: {host}", "Accept: application/json"]
    head += [f"Authorization: Bearer {token}"] if token else []
    if (key := named.pop("key", None)) is not None:
        head.append(f"Idempotency-Key: {_printable(key)}")
    preferred = preference(named.pop("limit_s", None), attended=named.pop("attended", False))
    head += [f"{name}: {value}" for name, value in preferred.items()]
    body = _body(named) if named else b""
    head += ["Content-Type: application/json", f"Content-Length: {len(body)}"] if verb != "GET" else []
    return "\r\n".join([*head, "", ""]).encode() + body


def answer(op: str, status: int, document: Any) -> dict[str, Any]:
    """Return the answer to an operation: `{"call": ...}` for one call, else the service's JSON document.

    The operation `pending` returns the oldest call first, although the service sends the newest first. Raises
    ClientError if the service refuses the request, and BrokenError if the answer isn't the service's.
    """
    needed = _REFUSAL if status >= REFUSED else _NEEDED.get(op, frozenset())
    if not isinstance(document, dict) or not document.keys() >= needed:
        raise BrokenError
    if status >= REFUSED:
        raise answered(document)
    if op in _CALLS:
        return {"call": document}
    if op == "pending":
        return {"calls": document["calls"][::-1]}
    return document


def read_head(lines: BinaryIO) -> Answer:
    """Read the head of an answer. Raises BrokenError, and the connection's OSError."""
    version, _, rest = _line(lines).partition(b" ")
    if not version.startswith(b"HTTP/1.1") or not rest[:3].isdigit():
        raise BrokenError
    fields: dict[bytes, bytes] = {}
    while line := _line(lines):
        name, _, value = line.partition(b":")
        fields[name.strip().lower()] = value.strip()
    return Answer(int(rest[:3]), fields)


def read_body(lines: BinaryIO, head: Answer) -> bytes:
    """Read the body of an answer to its end. Raises BrokenError if it isn't complete."""
    if head.chunked:
        return b"".join(read_chunks(lines))
    body = lines.read(head.length)
    if len(body) != head.length:
        raise BrokenError
    return body


def read_chunks(lines: BinaryIO) -> Iterator[bytes]:
    """Yield the chunks of an answer as they arrive. Raises BrokenError if the last chunk is missing."""
    while True:
        size = _line(lines).partition(b";")[0]
        try:
            length = int(size, 16)
        except ValueError as error:
            raise BrokenError from error
        if not 0 <= length <= _LONGEST_ANSWER:
            raise BrokenError
        chunk = lines.read(length)
        if len(chunk) != length or _line(lines):
            raise BrokenError
        if not length:
            return
        yield chunk


def _line(lines: BinaryIO) -> bytes:
    line = lines.readline(_LONGEST_LINE)
    if not line.endswith(b"\n"):
        raise BrokenError
    return line.rstrip(b"\r\n")


class _Taken(dict[str, "Any"]):
    """The fields for an operation's path. Reading a field quotes it, and removes it from the other fields."""

    def __init__(self, named: dict[str, Any]) -> None:
        super().__init__()
        self._named = named

    def __missing__(self, name: str) -> str:
        return _quoted(str(self._named.pop(name, _DEFAULTS.get(name))))


_DEFAULTS = {"limit_s": 30, "until": "decided", "view": "full"}
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def _quoted(text: str) -> str:
    """Return the text quoted as one segment of a path or one value of a query (RFC 3986).

    The function doesn't use `urllib.parse`, which takes 6 ms to import.
    """
    raw = text.encode("utf-8", "surrogatepass")
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in raw) or "%20"


def _printable(key: str) -> str:
    """Return an idempotency key as a header value. A key with other characters than printable ASCII is escaped."""
    plain = key.isascii() and key.isprintable() and key == key.strip() and "%" not in key
    return key if plain else _quoted(key)


def preference(wait_s: int | None, *, attended: bool) -> dict[str, str]:
    """Return the header Prefer for a request, or {} if no header is needed.

    With `attended`, the service withdraws the call if the connection ends before the answer: nobody waits for it any
    more.
    """
    wait = [] if wait_s is None else [f"wait={wait_s}"]
    preferred = ", ".join(wait + ["attended"] * attended)
    return {"Prefer": preferred} if preferred else {}


def _body(named: dict[str, Any]) -> bytes:
    # Lone surrogates have no UTF-8, so they are sent as escapes. The service refuses them with a sentence.
    try:
        return spelled(named).encode()
    except UnicodeEncodeError:
        return spelled(named, ascii_only=True).encode()


def _asked(named: dict[str, Any]) -> None:
    """Set the field `ask`: true, or false if the caller leaves the decision to the policy (`by_policy`).

    Also set the default tool group and the default name of the agent.
    """
    named["ask"] = not named.pop("by_policy", False)
    named.setdefault("tools", "shell")
    named.setdefault("agent", "ask")


def _decided(named: dict[str, Any]) -> None:
    """Add the ref as `confirm`, for the second approval of a critical call."""
    named["decision"] = named.pop("verb")
    if named.pop("confirmed", False):
        named["confirm"] = named["target"]


#: For each operation: HTTP method, path, and the function that turns the operation's fields into those of the API.
_OPERATIONS: dict[str, tuple[Any, ...]] = {
    "ask": ("POST", "/v1/calls", _asked),
    "wait": ("GET", "/v1/calls/{ref}?wait={limit_s}&until={until}"),
    "claim": ("POST", "/v1/calls/{ref}/claim"),
    "finish": ("POST", "/v1/calls/{ref}/finish"),
    "release": ("POST", "/v1/calls/{ref}/release"),
    "pending": ("GET", "/v1/calls?limit=200&status=pending&view={view}"),
    "sessions": ("GET", "/v1/sessions"),
    "show": ("GET", "/v1/calls/{target}/record"),
    "decide": ("POST", "/v1/calls/{target}/decision", _decided),
    "card": ("GET", "/v1/calls/{target}/card"),
    "details": ("POST", "/v1/calls/{target}/details"),
    "withdraw": ("POST", "/v1/calls/{target}/withdraw"),
    "ping": ("GET", "/v1/me"),
    "reload": ("POST", "/v1/reload"),
    "test": ("POST", "/v1/tests"),
    "chat": ("POST", "/v1/chat"),
    "say": ("POST", "/v1/chat/{chat}"),
    "make_token": ("POST", "/v1/tokens"),
    "tokens": ("GET", "/v1/tokens"),
    "revoke_token": ("DELETE", "/v1/tokens/{name}"),
}
#: Operations whose answer is a call.
_CALLS = frozenset({"ask", "wait", "finish", "release", "show", "withdraw"})
#: The fields without which an answer isn't the service's: the fields of a refusal (RFC 9457), and the fields of an
#: operation.
_REFUSAL = frozenset({"code", "detail"})
_NEEDED = {
    **dict.fromkeys(_CALLS, frozenset({"ref", "status", "message"})),
    "claim": frozenset({"call", "args"}),
    "pending": frozenset({"calls"}),
}
