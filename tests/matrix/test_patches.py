"""The patches that `make matrix-lite ARGS=--prove` applies still fit the code."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.matrix.__main__ import PATCHES, patch_of
from tests.matrix.checker import KINDS
from tests.matrix.world import TREE


@pytest.mark.parametrize("name", PATCHES)
def test_a_patch_applies(name: str) -> None:
    """A safeguard that moved needs a new patch: one that doesn't apply would prove nothing."""
    checked = subprocess.run(
        ["git", "apply", "--check", patch_of(name)], cwd=TREE, capture_output=True, text=True, check=False
    )

    assert (0, "") == (checked.returncode, checked.stderr)


def test_every_patch_is_run() -> None:
    """Each file in the folder of patches has the kind of fault that it must bring about."""
    folder = Path(__file__).with_name("patches")

    assert {path.stem for path in folder.iterdir()} == set(PATCHES)
    assert set(PATCHES.values()) <= set(KINDS)
