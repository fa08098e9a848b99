"""Where paths lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def is_within(path: Path, folder: Path) -> bool:
    """Whether a path lies in a folder, or is it, wherever links lead."""
    return path.resolve().is_relative_to(folder.resolve())
