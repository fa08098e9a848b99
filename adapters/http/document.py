"""`python -m adapters.http.document` writes the OpenAPI document into docs/reference/openapi.json."""

from __future__ import annotations

import json
from pathlib import Path

from adapters.http.app import api

FILE = Path(__file__).parents[2] / "docs" / "reference" / "openapi.json"


def text() -> str:
    """The document as it is checked in."""
    return json.dumps(api().openapi(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
