"""Serves `/openapi.json`, and at `/docs` the same document as a single page without scripts, which works offline."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, JSONResponse, Response

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

router = APIRouter()
#: The Content-Security-Policy of the page: it loads nothing, runs no script, and can't be shown in a frame.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}
code,pre{font:14px/1.45 ui-monospace,monospace}pre{background:#f4f4f4;padding:.8rem;overflow:auto}
details{border:1px solid #ddd;border-radius:6px;margin:.5rem 0;padding:.4rem .8rem}summary{cursor:pointer}
table{border-collapse:collapse}td,th{border-bottom:1px solid #ddd;padding:.2rem .8rem .2rem 0;text-align:left;
vertical-align:top}
@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#161616}pre{background:#222}details{border-color:#444}}
"""


@router.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request) -> Response:
    """Return the OpenAPI document."""
    return JSONResponse(request.app.openapi())


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> Response:
    """Return the HTML page of the OpenAPI document."""
    headers = {
        "Content-Security-Policy": _POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }
    return HTMLResponse("".join(_page(request.app.openapi())), headers=headers)


def _page(document: Mapping[str, Any]) -> Iterator[str]:
    title = html.escape(document["info"]["title"])
    yield f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
    yield f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
    yield f"<h1>{title} {html.escape(document['info']['version'])}</h1>"
    yield '<p>The same as <a href="/openapi.json">OpenAPI</a>.</p>'
    for path, operations in document["paths"].items():
        for verb, operation in operations.items():
            yield from _operation(f"{verb.upper()} {path}", operation)
    yield "<h2>Types</h2>"
    for name, schema in sorted(document["components"]["schemas"].items()):
        shown = html.escape(name)
        yield f'<details id="{shown}"><summary><code>{shown}</code></summary>{_json(schema)}</details>'
    yield "</body></html>"


def _operation(title: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield f"<details><summary><code>{html.escape(title)}</code> {html.escape(operation.get('summary', ''))}</summary>"
    yield f"<p>{html.escape(operation.get('description', ''))}</p>"
    if parameters := operation.get("parameters"):
        rows = [(found["name"], f"in {found['in']}", found.get("description", "")) for found in parameters]
        yield _table("Parameters", rows)
    if "requestBody" in operation:
        yield f"<p>Body: {_types(operation['requestBody'])}</p>"
    answers = [(code, _types(found), found["description"]) for code, found in operation["responses"].items()]
    yield _table("Answers", answers, linked=True)
    yield "</details>"


def _table(title: str, rows: list[tuple[str, str, str]], *, linked: bool = False) -> str:
    cells = (
        f"<tr><td><code>{html.escape(first)}</code></td><td>{second if linked else html.escape(second)}</td>"
        f"<td>{html.escape(third)}</td></tr>"
        for first, second, third in rows
    )
    return f"<p>{title}</p><table>{''.join(cells)}</table>"


def _types(holder: Mapping[str, Any]) -> str:
    """Return links to the types of a body, or its media types if it has no type."""
    named = (found.get("schema", {}).get("$ref", "") for found in holder.get("content", {}).values())
    names = [name.rpartition("/")[2] for name in named if name]
    if not names:
        return html.escape(", ".join(holder.get("content", {})))
    return ", ".join(f'<a href="#{html.escape(name)}"><code>{html.escape(name)}</code></a>' for name in names)


def _json(value: object) -> str:
    return f"<pre>{html.escape(json.dumps(value, indent=1, ensure_ascii=False))}</pre>"
