"""The reference of messages: generated, whole, and checked in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.sentences import ENGLISH

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reference" / "messages.md").read_text("utf-8")


def test_the_page_is_the_one_that_the_script_writes() -> None:
    """`scripts/messages` writes it again after a sentence changed."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "messages", "--print"], capture_output=True, text=True, check=True
    )

    assert PAGE == done.stdout


def test_every_sentence_is_on_the_page() -> None:
    """None is left out, of no owner."""
    assert [] == [key for key in ENGLISH if f"| `{key}` |" not in PAGE]
