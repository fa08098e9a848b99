"""A check of paths that several modules need: whether a path lies in a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def is_within(path: Path, folder: Path) -> bool:
    """Return whether a path lies in a folder or is the folder itself, after all links are resolved."""
    return path.resolve().is_relative_to(folder.resolve())
