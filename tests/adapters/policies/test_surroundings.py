"""What conditions on paths and hosts learn of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.policies.surroundings import RealPaths, SystemResolver
from hitl.policy import PolicyCall, load

DATA_ONLY = """
version: 1
forbid:
  - tool: write
    when: [{key: path, op: glob, value: "**/closed/**"}]
rules:
  - tool: write
    when: [{key: path, op: glob, value: "./**"}]
    action: allow
"""


def test_links_and_dots_are_followed(tmp_path: Path) -> None:
    """A path is where it leads, also where the last part isn't there yet."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    found = [RealPaths().resolve(path, str(tmp_path)) for path in ("link/new.txt", "real/../link", "/nowhere/x")]

    assert [str(tmp_path / "real/new.txt"), str(tmp_path / "real"), "/nowhere/x"] == found


@pytest.mark.parametrize("path", ["loop", "loop/x", "nul\0byte"])
def test_what_leads_nowhere_cannot_be_told(tmp_path: Path, path: str) -> None:
    """A loop of links, and what no path can hold."""
    (tmp_path / "loop").symlink_to(tmp_path / "loop")

    assert RealPaths().resolve(path, str(tmp_path)) is None


def test_case_is_the_file_systems(tmp_path: Path) -> None:
    """Told by the nearest name that is there, in both cases."""
    (tmp_path / "Name").touch()
    folds = (tmp_path / "nAME").exists()

    assert folds is RealPaths().case_insensitive(str(tmp_path / "Name"))
    assert folds is RealPaths().case_insensitive(str(tmp_path / "Name" / "not-there"))
    assert not RealPaths().case_insensitive("/")


def test_a_link_out_of_what_is_allowed_is_seen(tmp_path: Path) -> None:
    """The policy judges the file that would be written, not the name that was given."""
    for name in ("closed", "open"):
        (tmp_path / name).mkdir()
    (tmp_path / "open" / "way").symlink_to(tmp_path / "closed")
    (tmp_path / "open" / "out").symlink_to("/usr")
    policy = load(DATA_ONLY, name="test", paths=RealPaths())
    paths = ("open/a.txt", "open/way/a.txt", "open/out/a.txt")
    found = [policy.judge(PolicyCall("fs", "write", {"path": path}, str(tmp_path))).action for path in paths]

    assert ["allow", "deny", "approve"] == found


def test_a_name_has_the_addresses_of_this_machine() -> None:
    """Each once, as text."""
    found = SystemResolver().resolve("localhost")

    assert found is not None
    assert {"127.0.0.1", "::1"} >= set(found) != set()


@pytest.mark.parametrize("host", ["name.invalid", "x" * 300, "\0"])
def test_what_nobody_knows_cannot_be_told(host: str) -> None:
    """RFC 6761 keeps `.invalid` for names that aren't there; the others are none."""
    assert SystemResolver().resolve(host) is None
