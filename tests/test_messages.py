"""The reference of messages: generated, whole, and checked in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hitl.cards import wording
from sayso_client import wording as client_wording

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reference" / "messages.md").read_text("utf-8")


def test_the_page_is_the_one_that_the_script_writes() -> None:
    """`scripts/messages` writes it again after a sentence changed."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "messages", "--print"], capture_output=True, text=True, check=True
    )

    assert PAGE == done.stdout


@pytest.mark.parametrize("catalogue", [wording.ENGLISH, client_wording.ENGLISH])
def test_every_sentence_is_on_the_page(catalogue: dict[str, str]) -> None:
    """None is left out, in neither catalogue."""
    assert [] == [key for key in catalogue if f"| `{key}` |" not in PAGE]
