"""`sayso run` with a collector: what arrives there over OTLP, by the process that people start."""

from __future__ import annotations

import gzip
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import httpx
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.acceptance.installation import ALONE, Installation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
SECRET = "ghp_3Qz2mXk9Lw4ZtRv8NcYb3Ud6Fg1Hj5Ps0EoI"


@contextmanager
def collector() -> Iterator[tuple[str, list[bytes]]]:
    """An address that takes traces, and the bodies that came."""
    bodies: list[bytes] = []

    class Take(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            bodies.append(gzip.decompress(body) if self.headers.get("content-encoding") == "gzip" else body)
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Take) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1/traces", bodies
        server.shutdown()


def test_a_request_over_http_arrives_as_one_trace(install: Callable[..., Installation]) -> None:
    """A stop sends what is left: the trace of the call, linked to the caller's, without its arguments."""
    with collector() as (endpoint, bodies):
        service = install(settings=f'{ALONE}\n[traces]\nendpoint = "{endpoint}"\n')
        service.start()
        transport = httpx.HTTPTransport(uds=str(service.socket))
        with httpx.Client(transport=transport, base_url="http://localhost", timeout=30) as client:
            body = {"tools": "deploy", "tool": "release", "args": {"token": SECRET}}
            asked = client.post("/v1/calls", json=body, headers={"traceparent": PARENT}).json()
            ended = client.post(f"/v1/calls/{asked['ref']}/withdraw", json={}).json()
        status = service.stop()

    found = [ExportTraceServiceRequest.FromString(body) for body in bodies]
    spans = [span for one in found for kind in one.resource_spans for scope in kind.scope_spans for span in scope.spans]
    (root,) = [span for span in spans if span.name == "call"]

    assert (0, "withdrawn") == (status, ended["status"])
    assert asked["ref"].replace("-", "") == root.trace_id.hex()
    assert [PARENT.split("-")[1]] == [link.trace_id.hex() for link in root.links]
    assert not any(SECRET.encode() in body for body in bodies)
