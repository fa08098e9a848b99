"""What a service answers, byte for byte, and what it reads of a request."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

if TYPE_CHECKING:
    import socketserver
    from collections.abc import Iterator
    from io import BufferedIOBase
    from typing import BinaryIO


@contextlib.contextmanager
def serving(server: socketserver.BaseServer) -> Iterator[None]:
    """Let a server answer in a thread of its own, and close it at the end."""
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


_CALL = re.compile(r"/v1/calls/(?P<ref>[^/]+)(?:/(?P<op>\w+))?")


def answer_with(status: int, document: dict[str, Any]) -> bytes:
    """An answer with a document."""
    body = json.dumps(document).encode()
    return (
        f"HTTP/1.1 {status} So\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body
    )


def chunked(*lines: dict[str, Any]) -> bytes:
    """An answer whose body comes in chunks, one for each line, and never ends."""
    chunks = [json.dumps(line).encode() + b"\n" for line in lines]
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    return head + b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)


def problem(code: str, detail: str) -> dict[str, Any]:
    """The document of an error."""
    return {"type": "about:blank", "title": "No", "status": 409, "detail": detail, "code": code}


def read_request(lines: BinaryIO | BufferedIOBase) -> dict[str, Any] | None:
    """One request: its operation, its key, and the fields of its path, its query and its body. None at the end."""
    first = lines.readline()
    if not first:
        return None
    _, target, _ = first.decode().split(" ")
    fields: dict[str, str] = {}
    while line := lines.readline().decode().strip():
        name, _, value = line.partition(":")
        fields[name.lower()] = value.strip()
    body = lines.read(int(fields.get("content-length", 0)))
    parts = urlsplit(target)
    found = _CALL.fullmatch(parts.path)
    op = (found["op"] or "wait") if found else {"/v1/calls": "ask"}.get(parts.path, parts.path)
    named = {"ref": unquote(found["ref"])} if found else {}
    query = dict(parse_qsl(parts.query))
    return {"op": op, "key": fields.get("idempotency-key"), **named, **query, "body": json.loads(body) if body else {}}
