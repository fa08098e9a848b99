"""How installations come about: in a folder that other users may pass through, from a state folder made once."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.installation import Installation


@dataclass(frozen=True)
class Maker:
    """Makes installations under one root; `template` is a state folder with keys and an empty, migrated database."""

    root: Path
    template: Path

    @contextlib.contextmanager
    def batch(self, *, forked: bool = False) -> Iterator[Callable[..., Installation]]:
        """Makes installations (with the arguments of `Installation`), which end with the context."""
        made: list[Installation] = []

        def make(**terms: Any) -> Installation:
            root = Path(tempfile.mkdtemp(dir=self.root))
            root.chmod(0o711)
            made.append(Installation(root, **{"forked": forked, **terms}))
            shutil.copytree(self.template, root / "state")
            return made[-1]

        try:
            yield make
        finally:
            for installation in made:
                installation.close()
                shutil.rmtree(installation.root, ignore_errors=True)


@pytest.fixture(scope="session")
def maker() -> Iterator[Maker]:
    """Makes installations; their template is made by a first start of the service, which pays for all migrations."""
    with tempfile.TemporaryDirectory(prefix="gated-") as folder:
        root = Path(folder)
        root.chmod(0o711)
        (root / "first").mkdir()
        first = Installation(root / "first")
        try:
            first.start()
            first.stop()
        finally:
            first.close()
        yield Maker(root, first.state)


def is_forked(request: pytest.FixtureRequest) -> bool:
    """Whether the tests are marked `forked`."""
    return request.node.get_closest_marker("forked") is not None


@pytest.fixture
def install(maker: Maker, request: pytest.FixtureRequest) -> Iterator[Callable[..., Installation]]:
    """Makes installations, stopped when the test is over."""
    with maker.batch(forked=is_forked(request)) as make:
        yield make
