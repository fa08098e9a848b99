"""The gallery of cards: its script makes every picture that the documentation has."""

from __future__ import annotations

import runpy
from pathlib import Path

from hitl.cards.wording import say

ROOT = Path(__file__).parents[2]


def test_the_script_makes_each_picture_from_real_cards() -> None:
    """Without the browser that draws them: each picture has its page, and the pages hold cards."""
    pages = runpy.run_path(str(ROOT / "scripts" / "cards"))["sheets"]()

    assert pages.keys() == {picture.stem for picture in (ROOT / "docs" / "cards").glob("*.png")}
    assert all(say("button.approve") in page for name, page in pages.items() if not name.startswith("terminal"))
    assert all(say("terminal.title", risk="HIGH RISK") in page for name, page in pages.items() if "terminal" in name)
