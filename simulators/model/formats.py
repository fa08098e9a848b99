"""The three wire formats: what a request asks, the same for all, and a reply in the format that was asked in."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

#: The paths of the formats.
PATHS = {"/v1/responses": "responses", "/v1/chat/completions": "chat", "/v1/messages": "anthropic"}
_TOKENS = (100, 10)


@dataclass(frozen=True, slots=True)
class Call:
    """A call that the model makes. `args` that are text go out as they are, whatever they are."""

    tool: str
    args: dict[str, Any] | str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model answers: words and calls; or a `status` of HTTP, or a `raw` body. `wait_s` comes first."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    status: int = 200
    raw: bytes | None = None
    wait_s: float = 0.0
    tokens: tuple[int, int] = _TOKENS


@dataclass(frozen=True, slots=True)
class Asked:
    """A request to the model."""

    format: str
    body: dict[str, Any]
    #: What people said, the newest last.
    words: tuple[str, ...] = ()
    #: The results of calls, by the call's id, in their order.
    results: dict[str, str] = field(default_factory=dict)
    #: Those that came with this request.
    fresh: dict[str, str] = field(default_factory=dict)
    #: The names of the tools that are offered.
    tools: tuple[str, ...] = ()


def asked(form: str, body: dict[str, Any]) -> Asked:
    """What a request asks."""
    items = body.get("input") if form == "responses" else body.get("messages")
    items = [{"role": "user", "content": items}] if isinstance(items, str) else items or []
    words: list[str] = []
    results: dict[str, str] = {}
    fresh: dict[str, str] = {}
    for item in items:
        if item.get("role") == "assistant" or item.get("type") == "function_call":
            fresh = {}
        found = _results(item)
        results |= found
        fresh |= found
        if item.get("role") == "user" and (said := _said(item)):
            words.append(said)
    return Asked(form, body, tuple(words), results, fresh, tuple(map(_name, body.get("tools", []))))


def _results(item: dict[str, Any]) -> dict[str, str]:
    if item.get("role") == "tool":
        return {item["tool_call_id"]: _text(item["content"])}
    if item.get("type") == "function_call_output":
        return {item["call_id"]: _text(item["output"])}
    content = item.get("content")
    blocks = content if isinstance(content, list) else []
    return {b["tool_use_id"]: _text(b.get("content")) for b in blocks if b.get("type") == "tool_result"}


def _said(item: dict[str, Any]) -> str:
    content = item.get("content")
    return _text([b for b in content if b.get("type") != "tool_result"] if isinstance(content, list) else content)


def _text(content: Any) -> str:
    if isinstance(content, list):
        return " ".join(str(block.get("text", "")) for block in content)
    return str(content or "")


def _name(tool: dict[str, Any]) -> str:
    return str(tool.get("name") or tool.get("function", {}).get("name", ""))


def written(form: str, reply: Reply, number: int) -> dict[str, Any]:
    """The reply in its format; calls without an id get one of their own."""
    calls = [(call, call.id or f"call_{number}_{place}") for place, call in enumerate(reply.calls)]
    return {"responses": _responses, "chat": _chat, "anthropic": _anthropic}[form](reply, calls, number)


def _args(call: Call) -> str:
    return call.args if isinstance(call.args, str) else json.dumps(call.args)


def _chat(reply: Reply, calls: list[tuple[Call, str]], number: int) -> dict[str, Any]:
    made = [
        {"id": each, "type": "function", "function": {"name": call.tool, "arguments": _args(call)}}
        for call, each in calls
    ]
    message = {"role": "assistant", "content": reply.text or None} | ({"tool_calls": made} if made else {})
    first, second = reply.tokens
    return {
        "id": f"chat_{number}",
        "object": "chat.completion",
        "created": 1,
        "choices": [{"index": 0, "finish_reason": "tool_calls" if made else "stop", "message": message}],
        "usage": {"prompt_tokens": first, "completion_tokens": second, "total_tokens": first + second},
    }


def _responses(reply: Reply, calls: list[tuple[Call, str]], number: int) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    if reply.text:
        block = {"type": "output_text", "text": reply.text, "annotations": []}
        output.append(
            {"id": f"m_{number}", "type": "message", "role": "assistant", "status": "completed", "content": [block]}
        )
    output += [
        {
            "id": f"fc_{each}",
            "type": "function_call",
            "call_id": each,
            "name": call.tool,
            "arguments": _args(call),
            "status": "completed",
        }
        for call, each in calls
    ]
    first, second = reply.tokens
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "output": output,
        "usage": {"input_tokens": first, "output_tokens": second, "total_tokens": first + second} | details,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
    }


def _anthropic(reply: Reply, calls: list[tuple[Call, str]], number: int) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": reply.text}] if reply.text else []
    blocks += [{"type": "tool_use", "id": each, "name": call.tool, "input": call.args} for call, each in calls]
    first, second = reply.tokens
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "content": blocks,
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": first, "output_tokens": second},
    }
