"""The OpenAPI document: checked in, whole, and what `/docs` shows without any other server."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx

from adapters.http import document
from adapters.http.app import api

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"


def operations() -> dict[str, dict[str, Any]]:
    """Every operation of the document by its verb and path."""
    paths = api().openapi()["paths"]
    return {f"{verb} {path}": found for path, verbs in paths.items() for verb, found in verbs.items()}


def test_the_document_that_is_checked_in_is_the_one_that_is_served() -> None:
    """`python -m adapters.http.document` writes it again after a change."""
    assert document.text() == (REFERENCE / "openapi.json").read_text("utf-8")


def test_the_reference_is_generated_from_the_document() -> None:
    """The same command writes it; nobody edits it by hand."""
    assert document.page() == (REFERENCE / "http.md").read_text("utf-8")


def test_every_reference_of_the_document_leads_somewhere() -> None:
    """No schema names a schema that the document doesn't hold, and none is held that nothing names."""
    served = api().openapi()
    named = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(served)))
    websocket_alone = {"EventView", "ChatLine"}

    assert named | websocket_alone == set(served["components"]["schemas"]) | websocket_alone


def test_every_operation_says_what_it_does_and_how_it_refuses() -> None:
    """A summary, a description, one answer of success, and the problems that every route may answer."""
    for name, found in operations().items():
        codes = set(found["responses"])
        assert found["summary"], name
        assert found["description"], name
        assert any(code.startswith("2") for code in codes), name
        assert {"400", "401", "403", "429", "503"} <= codes, name


def test_every_operation_has_a_name_of_its_own() -> None:
    """Generated clients name their functions after it."""
    names = [found["operationId"] for found in operations().values()]

    assert len(names) == len(set(names))


async def test_the_page_of_the_document_loads_nothing() -> None:
    """`/docs` has no script and no address of another server, so it works offline."""
    transport = httpx.ASGITransport(api())
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        page = await client.get("/docs")

    assert 200 == page.status_code
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert not re.search(r"<script|<link|src=|https?://", page.text)
    assert all(path in page.text for path in api().openapi()["paths"])
