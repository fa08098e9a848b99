"""The old databases, one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.upgrades.place import LANDED


@pytest.fixture(params=sorted(LANDED.iterdir()), ids=lambda folder: folder.name)
def landed(request: pytest.FixtureRequest) -> Path:
    """The folder of an old database."""
    folder: Path = request.param
    return folder
