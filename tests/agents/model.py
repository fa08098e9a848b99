"""A stand-in for a coding agent's model: it asks for one tool call, and is done when it has heard what came of it.

Four wire formats over HTTP on loopback, streamed: Anthropic Messages, Google's Gemini, OpenAI Responses, OpenAI Chat
Completions.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

Events = Iterable[tuple[str, dict[str, Any] | str]]


class Model:
    """What the model asks for, and what it was told."""

    def __init__(self) -> None:
        self.tool = ""
        self.args: dict[str, Any] = {}
        #: What came of its calls, as text.
        self.told: list[str] = []
        #: How often it asked for a call.
        self.asked = 0
        self.url = ""

    def wants(self, told: list[str], body: dict[str, Any]) -> bool:
        """Whether to ask for the tool now; `told` are the results that the conversation holds."""
        if told:
            self.told = told
        wants = bool(body.get("tools")) and not told
        self.asked += wants
        return wants


@contextmanager
def serving() -> Iterator[Model]:
    """A model on a free port."""
    model = Model()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Name the one model there is."""
            self._json({"data": [{"id": "stand-in", "object": "model"}], "models": []})

        def do_POST(self) -> None:
            """Answer in the format of the path."""
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
            path = self.path.partition("?")[0]
            if path.endswith("/count_tokens"):
                self._json({"input_tokens": 1})
                return
            formats = {"/messages": anthropic, "/responses": responses, "/completions": completions}
            formats[":streamGenerateContent"] = gemini
            answer = next((form for end, form in formats.items() if path.endswith(end)), None)
            if answer is None:
                self.send_error(404)
                return
            self._stream(answer(model, body))

        def _json(self, document: dict[str, Any]) -> None:
            raw = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def _stream(self, events: Events) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for name, data in events:
                head = f"event: {name}\n" if name else ""
                text = data if isinstance(data, str) else json.dumps(data)
                self.wfile.write(f"{head}data: {text}\n\n".encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content)


def anthropic(model: Model, body: dict[str, Any]) -> Events:
    """Anthropic Messages, streamed."""
    blocks = [block for message in body.get("messages", []) for block in message["content"] if isinstance(block, dict)]
    told = [_text(block.get("content")) for block in blocks if block.get("type") == "tool_result"]
    message = {"id": f"msg_{uuid4().hex}", "type": "message", "role": "assistant", "model": body.get("model")}
    counts = {"input_tokens": 1, "output_tokens": 1}
    start: dict[str, Any] = {**message, "content": [], "stop_reason": None, "stop_sequence": None, "usage": counts}
    if model.wants(told, body):
        stop = "tool_use"
        block = {"type": "tool_use", "id": f"toolu_{uuid4().hex}", "name": model.tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(model.args)}
    else:
        stop, block, delta = "end_turn", {"type": "text", "text": ""}, {"type": "text_delta", "text": "done"}
    yield "message_start", {"type": "message_start", "message": start}
    yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}
    yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": 0}
    ended = {"stop_reason": stop, "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 1}}
    yield "message_stop", {"type": "message_stop"}


def responses(model: Model, body: dict[str, Any]) -> Events:
    """OpenAI Responses, streamed."""
    given = body.get("input", [])
    told = [_text(item["output"]) for item in given if item.get("type") == "function_call_output"]
    item: dict[str, Any]
    if model.wants(told, body):
        item = {"type": "function_call", "id": "fc_1", "call_id": f"call_{uuid4().hex}", "name": model.tool}
        item |= {"arguments": json.dumps(model.args), "status": "completed"}
    else:
        text = {"type": "output_text", "text": "done", "annotations": []}
        item = {"type": "message", "role": "assistant", "id": "m1", "status": "completed", "content": [text]}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, **details}
    whole = {"id": "r1", "object": "response", "model": body.get("model"), "output": [item], "usage": usage}
    steps: list[tuple[str, dict[str, Any]]] = [
        ("response.created", {"response": {**whole, "status": "in_progress", "output": []}}),
        ("response.output_item.added", {"output_index": 0, "item": item}),
        ("response.output_item.done", {"output_index": 0, "item": item}),
        ("response.completed", {"response": {**whole, "status": "completed"}}),
    ]
    return [(name, {"type": name, "sequence_number": at, **more}) for at, (name, more) in enumerate(steps)]


def completions(model: Model, body: dict[str, Any]) -> Events:
    """OpenAI Chat Completions, streamed."""
    told = [_text(message.get("content")) for message in body.get("messages", []) if message["role"] == "tool"]
    delta: dict[str, Any]
    if model.wants(told, body):
        function = {"name": model.tool, "arguments": json.dumps(model.args)}
        call = {"index": 0, "id": f"call_{uuid4().hex}", "type": "function", "function": function}
        delta, stop = {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"
    else:
        delta, stop = {"role": "assistant", "content": "done"}, "stop"
    chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": body.get("model")}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return [
        ("", {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}),
        ("", {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}], "usage": usage}),
        ("", "[DONE]"),
    ]


def gemini(model: Model, body: dict[str, Any]) -> Events:
    """Google's `streamGenerateContent`, as server-sent events."""
    parts = [part for content in body.get("contents", []) for part in content.get("parts", [])]
    told = [_text(part["functionResponse"]["response"]) for part in parts if "functionResponse" in part]
    if model.wants(told, body):
        part: dict[str, Any] = {"functionCall": {"id": uuid4().hex, "name": model.tool, "args": model.args}}
    else:
        part = {"text": "done"}
    counts = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    return [("", {"candidates": [candidate], "usageMetadata": counts})]
