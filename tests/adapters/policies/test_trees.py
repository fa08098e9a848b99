"""What lies below a folder, as conditions on whole trees learn it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from adapters.policies.surroundings import RealPaths
from hitl.ports import Tree


def _found(path: Path | str, most: int = 1000) -> tuple[str, list[str], bool]:
    tree = RealPaths().tree(str(path), most=most)

    assert tree is not None
    return tree.root, sorted(tree.files), tree.complete


def test_files_and_links_are_listed_and_no_link_is_followed(tmp_path: Path) -> None:
    """A link to a folder is an entry; what is in that folder is not."""
    (tmp_path / "a" / "deep").mkdir(parents=True)
    (tmp_path / "a" / "deep" / "file").touch()
    (tmp_path / ".hidden").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "a" / "up").symlink_to("..")
    (tmp_path / "nowhere").symlink_to("/nonexistent")
    os.mkfifo(tmp_path / "pipe")

    assert (str(tmp_path), [".hidden", "a/deep/file", "a/up", "nowhere", "pipe"], True) == _found(tmp_path)


def test_the_folder_itself_may_be_named_by_a_link(tmp_path: Path) -> None:
    """The tree of a link to a folder is the tree of that folder."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").touch()
    (tmp_path / "link").symlink_to("real")

    assert (str(tmp_path / "real"), ["file"], True) == _found(tmp_path / "link")


def test_a_single_file_is_its_own_only_entry(tmp_path: Path) -> None:
    """The root is the file's folder, so that root and entry together are the file."""
    (tmp_path / "one").touch()
    (tmp_path / "other").touch()

    assert (str(tmp_path), ["one"], True) == _found(tmp_path / "one")
    assert (str(tmp_path), [], False) == _found(tmp_path / "one", most=0)


@pytest.mark.parametrize("name", ["missing", "missing/below", "dangling"])
def test_a_missing_folder_has_no_tree(tmp_path: Path, name: str) -> None:
    """What isn't there may lie elsewhere for the one who runs the command, so nothing is said of it."""
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")

    assert RealPaths().tree(str(tmp_path / name), most=100) is None


def test_more_entries_than_wanted_leave_the_tree_incomplete(tmp_path: Path) -> None:
    """Folders count as entries; as many entries as wanted are still complete."""
    (tmp_path / "folder").mkdir()
    for name in "abcd":
        (tmp_path / "folder" / name).touch()

    assert (4, True) == (len(_found(tmp_path, most=5)[1]), _found(tmp_path, most=5)[2])
    assert (3, False) == (len(_found(tmp_path, most=4)[1]), _found(tmp_path, most=4)[2])


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")
def test_a_folder_that_cannot_be_read_leaves_the_tree_incomplete(tmp_path: Path) -> None:
    """What can be read is listed all the same."""
    (tmp_path / "closed").mkdir(mode=0)
    (tmp_path / "file").touch()

    assert (str(tmp_path), ["file"], False) == _found(tmp_path)


def test_a_folder_too_deep_to_open_leaves_the_tree_incomplete(tmp_path: Path) -> None:
    """A path longer than the system's limit (PATH_MAX) can't be opened, which raises nothing."""
    before = Path.cwd()
    try:
        os.chdir(tmp_path)
        for _ in range(20):
            Path("n" * 250).mkdir()
            os.chdir("n" * 250)
    finally:
        os.chdir(before)

    assert not _found(tmp_path)[2]


def test_what_no_path_can_be_has_no_tree() -> None:
    """A NUL byte is in no path."""
    assert RealPaths().tree("nul\0byte", most=10) is None


def test_a_path_that_leads_round_in_a_circle_is_incomplete(tmp_path: Path) -> None:
    """It can't be told what a command would read there."""
    (tmp_path / "loop").symlink_to("loop")

    assert ([], False) == _found(tmp_path / "loop")[1:]


def test_a_large_tree_is_listed_quickly(tmp_path: Path) -> None:
    """20,000 entries take a part of a second of computing; the best of ten tries counts."""
    for folder in range(199):
        (tmp_path / f"{folder}").mkdir()
        for file in range(100):
            (tmp_path / f"{folder}" / f"{file}").touch()
    took, tree = 1.0, Tree("", (), complete=False)
    for _ in range(10):
        start = time.process_time()
        tree = RealPaths().tree(str(tmp_path), most=30_000) or tree
        took = min(took, time.process_time() - start)

    assert (19_900, True) == (len(tree.files), tree.complete)
    assert took < 0.6
