"""A service that only says who asks, which is what the check of an installed hook wants to hear."""

from __future__ import annotations

import json
import socketserver
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import ClassVar

from sayso_client.hooks import codex


class Person(BaseHTTPRequestHandler):
    """The answer to every request."""

    protocol_version = "HTTP/1.1"
    status: ClassVar[int] = 200
    answer: ClassVar[dict[str, object]] = {"principal": "local:1000", "scopes": ["agent"], "troubles": []}

    def do_GET(self) -> None:
        """Answer with a document."""
        body = json.dumps(self.answer).encode()
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def serving(path: Path) -> Iterator[None]:
    """Listen on a Unix socket as this user."""
    with socketserver.ThreadingUnixStreamServer(str(path), Person) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield
        server.shutdown()
        thread.join()


def trust(file: Path) -> None:
    """Record in Codex's settings that a person trusts the hook, as Codex does."""
    ((place, digest),) = codex.trusted_as(tomllib.loads(file.read_text()))
    with file.open("a") as settings:
        settings.write(f'[hooks.state."{file.parent.resolve() / file.name}:{place}"]\ntrusted_hash = "{digest}"\n')
