"""The faults as `faults.toml` describes them, and what `caught.toml` says became of them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
TREE = HERE.parents[1]
FAULTS, CAUGHT = HERE / "faults.toml", HERE / "caught.toml"
AREAS = ("gate", "target", "access", "store")
_HEADER = """\
# What `make seeded` found: for each fault the first test that fails with it. A fault that no test caught has `why`
# instead, written by hand: why that is no hole, or what is still to be done about it.
"""


@dataclass(frozen=True)
class Fault:
    """One thing that breaks when `old` becomes `new` in `file`. `sentence` says what, without naming code."""

    name: str
    area: str
    sentence: str
    file: str
    old: str
    new: str

    def apply(self, tree: Path) -> None:
        """Put the fault into a copy of the tree."""
        file = tree / self.file
        file.write_text(file.read_text().replace(self.old, self.new))


def load() -> list[Fault]:
    """All faults, in their order."""
    return [Fault(**told) for told in tomllib.loads(FAULTS.read_text())["fault"]]


def caught() -> dict[str, dict[str, str]]:
    """By a fault's name: `by`, the test that caught it, or `why` none did."""
    return tomllib.loads(CAUGHT.read_text()) if CAUGHT.exists() else {}


def keep(found: Mapping[str, Mapping[str, str]]) -> None:
    """Write what was found, in the order of the faults; what isn't a fault any more is left out."""
    parts = [_HEADER]
    for fault in load():
        if fault.name in found:
            # A JSON string is a TOML string too.
            lines = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in found[fault.name].items())
            parts.append("\n".join([f"[{fault.name}]", *lines, ""]))
    CAUGHT.write_text("\n".join(parts))
