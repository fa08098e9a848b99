"""What a start doesn't import: the person at the terminal waits for every module."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "module", ["hitl.replies.reader", "bot.settings", "pydantic_settings", "fastapi", "starlette", "uvicorn"]
)
def test_the_demo_starts_without(module: str) -> None:
    """The reader of words is imported after the start, and the demo has no settings."""
    code = f"import sys, bot.demo; print({module!r} in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "False\n" == done.stdout


def test_who_reads_words_finds_all_readers() -> None:
    """The package offers what it names, and nothing else."""
    code = "import hitl.replies as r; print(all(hasattr(r, name) for name in r.__all__), hasattr(r, 'nothing'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "True False\n" == done.stdout
