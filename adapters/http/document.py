"""`python -m adapters.http.document` writes docs/reference/openapi.json, and docs/reference/http.md from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapters.http.app import api

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
_INTRODUCTION = """\
# HTTP API

This page is generated from [openapi.json](openapi.json), which a running service also serves at `/openapi.json`, and as
a page at `/docs`. [Put any program's calls through Sayso over HTTP](../how-to/http.md) leads through a first call.

One application is behind two listeners. On the Unix socket (`sayso.sock` in the runtime folder) the kernel says which
user calls. On TCP (`http.port`) each request carries `Authorization: Bearer TOKEN`; `sayso token create` makes a token.
A token is an `agent`'s (it asks, claims and reports), an `approver`'s (it decides) or an `operator`'s (it reads and
withdraws everything). No token is two of these, and tokens are made over the Unix socket alone.

Every error is a problem document (RFC 9457) with a stable `code`. A call that the caller may not see is 404, as if it
weren't there. No GET changes anything. Bodies have at most 2 MiB, headers 32 KiB. A request has 5 s to send its headers
and 15 s to send its body. One caller may have 2,000 requests waiting at once, and one user or address a quarter of the
connections for which the service has file descriptors: at most 2,000. Further connections get 429.

`GET /v1/events` is a stream of server-sent events. `ws://HOST/v1/events` is a WebSocket with the same events, one JSON
object a message, for the same credentials or `?ticket=`. Both go on behind a cursor, which survives a restart.

Cards show arguments as the body spells them: names in their order, and 1250.00 as 1250.00. The digest, the policy and
the run have the value alone. If a number has more digits than a double holds, cards show the double that runs:
4.99999999999999999999 as 5. An MCP client's number and a Python program's `float` have no digits, so their card shows
1250. If the digits matter there, send the amount as text.
"""


def text() -> str:
    """Return the text of docs/reference/openapi.json."""
    return json.dumps(api().openapi(), indent=1, ensure_ascii=False) + "\n"


def page() -> str:
    """Return the text of docs/reference/http.md."""
    document = api().openapi()
    return "\n".join([_INTRODUCTION, *_routes(document), *_types(document)])


def _routes(document: Mapping[str, Any]) -> Iterator[str]:
    for path, operations in document["paths"].items():
        for verb, found in operations.items():
            yield f"## {verb.upper()} {path}\n"
            yield f"{_on_one_line(found['description'])}\n"
            yield from _parameters(found.get("parameters", ()))
            if body := found.get("requestBody"):
                yield f"Body: {_named(body)}.\n"
            yield "| status | answer | |\n|---|---|---|"
            yield from (
                f"| {code} | {_named(answer)} | {answer['description']} |"
                for code, answer in sorted(found["responses"].items())
            )
            yield ""


def _parameters(parameters: Any) -> Iterator[str]:
    if parameters:
        yield "| parameter | in | |\n|---|---|---|"
        yield from (f"| `{one['name']}` | {one['in']} | {one.get('description', '')} |" for one in parameters)
        yield ""


def _named(holder: Mapping[str, Any]) -> str:
    """Return links to the schemas of a body, or the media types of a body without a schema."""
    content = holder.get("content", {})
    names = [kind["schema"].get("$ref", "").rpartition("/")[2] or media for media, kind in content.items()]
    return ", ".join(f"[{name}](#{name.lower()})" if "/" not in name else f"`{name}`" for name in names)


def _types(document: Mapping[str, Any]) -> Iterator[str]:
    for name, schema in sorted(document["components"]["schemas"].items()):
        yield f"## {name}\n"
        yield f"{_on_one_line(schema.get('description', ''))}\n"
        if "enum" in schema:
            yield ", ".join(f"`{value}`" for value in schema["enum"]) + "\n"
        if fields := schema.get("properties"):
            required = schema.get("required", ())
            yield "| field | type | |\n|---|---|---|"
            for field, found in fields.items():
                needed = "" if field in required else " (optional)"
                yield f"| `{field}` | {_type(found)}{needed} | {_on_one_line(found.get('description', ''))} |"
            yield ""


def _type(schema: Mapping[str, Any]) -> str:
    """Return a short description of a JSON type, for a table."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(map(_type, schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("format") or schema.get("type") or "any")


def _on_one_line(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


if __name__ == "__main__":
    (_REFERENCE / "openapi.json").write_text(text(), "utf-8")
    (_REFERENCE / "http.md").write_text(page(), "utf-8")
