"""Patterns with `**`, which some shells take for any number of folders."""

from pathlib import Path

import pytest

from adapters.policies.surroundings import RealPaths
from hitl.policy import PolicyCall, load, presets
from hitl.policy.globs import meets
from hitl.policy.listing import Listing

DEFAULT = load(presets()["default"], name="default").with_ports(RealPaths())


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A working folder with files in folders of folders, and one hidden folder."""
    folder = tmp_path / "work"
    for name in ("docs/a/b/n.txt", "docs/m.txt", "docs/.kept/k.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    return folder


def here(work: Path, command: str) -> str:
    """Return the action of the preset `default` for a command, with the files as they are now."""
    return DEFAULT.judge(PolicyCall("", "Bash", {"command": command}, cwd=str(work))).action


@pytest.mark.parametrize("pattern", ["docs/**/*", "docs/**", "**/*", "docs/a/**/*", "**/b/*", "docs/***/*"])
@pytest.mark.parametrize("closed", ["id_rsa", "server.pem", "token.json"])
def test_a_pattern_of_any_depth_reads_no_closed_file(work: Path, pattern: str, closed: str) -> None:
    """Zsh expands `**/` to folders of folders, so a closed file in any of them counts."""
    (work / "docs" / "a" / "b" / closed).write_text("key")

    assert "approve" == here(work, f"cat {pattern}").replace("deny", "approve")


@pytest.mark.parametrize("pattern", ["docs/**/*.txt", "**/*.txt", "docs/**/n.*", "./**/*.txt"])
def test_a_pattern_of_any_depth_passes_if_every_match_may_be_read(work: Path, pattern: str) -> None:
    """Closed files that the pattern doesn't match, and links in hidden folders, don't count."""
    (work / "docs" / "a" / "id_rsa").write_text("key")
    (work / "docs" / ".kept" / "out").symlink_to("/etc")

    assert "allow" == here(work, f"wc -l {pattern}")


@pytest.mark.parametrize("pattern", ["docs/**/*.txt", "docs/**/*.md", "**/k.txt"])
def test_a_pattern_of_any_depth_follows_no_link_elsewhere(work: Path, pattern: str) -> None:
    """A link may stand for a folder of the pattern, or for a file that it matches."""
    (work / "docs" / "a" / "out").symlink_to("/etc")

    assert "approve" == here(work, f"cat {pattern}")


def test_a_pattern_lists_files_and_folders_at_every_depth(work: Path) -> None:
    """`**` also means no folder; a pattern without it matches at one depth."""
    listing = Listing(str(work), RealPaths())

    assert {"docs/m.txt", "docs/.kept/k.txt", "docs/a/b/n.txt"} == set(listing.expanded("docs/**/*.txt") or ())
    assert ["docs/m.txt"] == listing.expanded("docs/*.txt")
    assert "docs/a/b" in (listing.expanded("docs/**") or ())
    assert listing.expanded("docs/**/../*") is None


@pytest.mark.parametrize(
    ("pattern", "other", "expected"),
    [
        ("/w/**/*.pem", "**/keys/**", True),
        ("/w/**/a", "**/x/y/a", True),
        ("/w/**/a", "/w/a", True),
        ("/w/**", "/w/x/y", True),
        ("/w/**/*.py", "**/*.pem", False),
        ("/w/**/a", "/v/**/a", False),
        ("/w/*/a", "/w/x/y/a", False),
    ],
)
def test_two_patterns_meet_if_one_path_fits_both(pattern: str, other: str, *, expected: bool) -> None:
    """`**` in either pattern means any number of folders."""
    assert expected is meets(pattern, (other,))


@pytest.mark.parametrize(
    "command",
    [
        "nm *.o",
        "cd obj && nm *.o",
        'cd obj && for f in *.o; do strings "$f"; done',
        "cd obj && size -- *.o",
        "cd obj; git ls-files '*.o' | xargs nm",
        "cd obj; find * -name '*.o' -exec readelf -a {} +",
        "find . -name '*.o' | xargs nm",
    ],
)
@pytest.mark.parametrize("name", ["@x.o", "+x.o", "h:x.o"])
def test_a_name_that_a_program_takes_for_something_else_asks(work: Path, command: str, name: str) -> None:
    """Binutils take `@x.o` for a file of options, among them `--plugin`, which loads code."""
    (work / "obj").mkdir()
    for folder in (work, work / "obj"):
        (folder / "a.o").write_text("x")
    before = here(work, command)
    for folder in (work, work / "obj"):
        (folder / name).write_text("--plugin=./x.so")

    assert ("approve" if "find *" in command else "allow", "approve") == (before, here(work, command))


@pytest.mark.parametrize("command", ["cd a && sort *", "cd a; grep -n x *", "cd a && sort [!x]*"])
def test_a_name_that_becomes_an_option_asks_in_every_folder(work: Path, command: str) -> None:
    """The line first goes to the folder, so the shell puts the name there without a folder before it."""
    (work / "a").mkdir()
    (work / "a" / "b.txt").write_text("x")
    before = here(work, command)
    (work / "a" / "-ob.txt").write_text("x")

    assert ("allow", "approve") == (before, here(work, command))
