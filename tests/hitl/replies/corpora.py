"""Finds the labelled corpora, which are no part of the repository."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

_BESIDE_THE_REPO = Path(__file__).resolve().parents[3] / "../shared"


def load(name: str) -> list[dict[str, Any]]:
    """Give the rows of a JSON-lines file below SAYSO_CORPORA; skip the test without it, or fail it in CI."""
    path = Path(os.environ.get("SAYSO_CORPORA", _BESIDE_THE_REPO)) / name
    if not path.is_file():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"no corpus at {path}; set SAYSO_CORPORA")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
