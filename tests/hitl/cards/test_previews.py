"""A preview shows what a change does to a file, whatever its size."""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from hitl.cards.previews import PREVIEW_KEPT, FileChange, change, is_diff, sides
from tests.sentences import says

if TYPE_CHECKING:
    from pathlib import Path


def test_a_change_is_a_unified_diff() -> None:
    """With its lines counted. The line feed that ends the last line begins none."""
    assert FileChange("--- a\n+++ a\n@@ -1,2 +1,2 @@\n x\n-y\n+z", 1, 1) == change("a", "x\ny\n", "x\nz\n")


def test_a_missing_last_line_feed_is_marked() -> None:
    """In the old text, in the new one, in both: texts that differ in nothing else differ."""
    mark = "\n\\ No newline at end of file"

    assert FileChange(f"--- a\n+++ a\n@@ -1 +1 @@\n-x{mark}\n+x", 1, 1) == change("a", "x", "x\n")
    assert FileChange(f"--- a\n+++ a\n@@ -1 +1 @@\n-x\n+x{mark}", 1, 1) == change("a", "x\n", "x")
    assert FileChange(f"--- a\n+++ a\n@@ -1,2 +1,2 @@\n-x\n+z\n y{mark}", 1, 1) == change("a", "x\ny", "z\ny")


def test_a_new_file_has_only_added_lines() -> None:
    """It comes from nowhere."""
    assert FileChange("--- /dev/null\n+++ a\n@@ -0,0 +1,2 @@\n+x\n+y", 2, 0) == change("a", None, "x\ny\n")
    assert FileChange("", 0, 0) == change("a", None, "")


def test_an_empty_file_has_no_line() -> None:
    """What is written into it is only added, and emptying a file only removes."""
    assert FileChange("--- a\n+++ a\n@@ -0,0 +1 @@\n+x", 1, 0) == change("a", "", "x\n")
    assert FileChange("--- a\n+++ a\n@@ -1 +0,0 @@\n-x", 0, 1) == change("a", "x\n", "")


@pytest.mark.parametrize(
    ("old", "new"),
    [("", "a\nb"), ("a\nb\n", "a\n\n"), ("\n", ""), ("a\n\nb", "a\n\n\nb\n"), ("x\r\n", "x\n"), ("\n\n\n", "\n\n")],
)
@pytest.mark.parametrize("around", ["", "same\n" * 2500])
def test_it_says_what_diff_says(tmp_path: Path, old: str, new: str, around: str) -> None:
    """The lines of `diff -u`, but for the context of long texts, and but for the names' times."""
    texts = (around + old, around + new)
    for name, text in zip("ab", texts, strict=True):
        (tmp_path / name).write_text(text, newline="")
    said = subprocess.run(
        ["diff", "-U0" if around else "-u", "a", "b"], cwd=tmp_path, capture_output=True, check=False
    ).stdout.decode()

    assert said.removesuffix("\n").split("\n")[2:] == change("a", *texts).diff.split("\n")[2:]


def test_only_line_feeds_end_lines() -> None:
    """A line separator in the new text starts no line that could pass for another."""
    made = change("a", "", "x\u2028-y")

    assert "--- a\n+++ a\n@@ -0,0 +1 @@\n+x\u2028-y\n\\ No newline at end of file" == made.diff


def test_long_texts_are_told_apart_by_what_their_ends_share() -> None:
    """Beyond what is compared line by line, everything between the common ends is shown as replaced."""
    old = [str(number) for number in range(5000)]
    new = [*old[:2500], "new", *old[2501:]]
    made = change("a", "\n".join(old), "\n".join(new))

    assert FileChange("--- a\n+++ a\n@@ -2501 +2501 @@\n-2500\n+new", 1, 1) == made


def test_a_long_diff_is_cut_in_the_middle() -> None:
    """And the counts are of the whole."""
    made = change("a", "", "x\n" * 100_000)

    assert PREVIEW_KEPT >= len(made.diff)
    assert says(made.diff, "card.left_out")
    assert (100_000, 0) == (made.added, made.removed)


def test_any_two_texts_are_compared_in_time() -> None:
    """A megabyte of lines that differ everywhere takes seconds of the processor, not minutes."""
    old = "\n".join(f"{number % 7}" for number in range(300_000))
    started = time.process_time()
    change("a", old, old.replace("3", "8"))

    assert time.process_time() - started < 10


KEY = "\n".join(
    [
        "-----BEGIN PRIVATE KEY-----",
        *(f"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJ{at:02}" for at in range(20)),
    ]
)
END = "\n-----END PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (KEY + END + "x\n", "x\n"),
        ("x\n", KEY + END + "x\n"),
        (KEY + END, KEY + "0a" + END),
        (KEY + END, KEY.replace("MIIEvQ", "MIIEvR") + END),
        (KEY + END + "a\n" * 2500, "b\n" + KEY + END),
    ],
    ids=["removed", "added", "its last line", "every line", "of a long text"],
)
def test_no_line_of_a_private_key_is_in_a_preview(old: str, new: str) -> None:
    """Each line is masked by itself, also where the key's first line is too far above the change to be shown."""
    made = change("key.pem", old, new)

    assert "MIIE" not in made.diff
    assert "[masked 56]" in made.diff
    assert made.added + made.removed > 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x = 1\n-- keep users\ny", "x = 1\n++n; system(evil)\ny"),
        ("-- a\n", "++ b\n"),
        ("@@ -1 +1 @@\n", "\\ No newline at end of file\n"),
        ("a\r\nb\n", "a\nb\n"),
        ("a\nb\n", "a\u2028b\n"),
        ("", "--- a\n+++ b\n@@ -1 +1 @@\n"),
        ("a", "a\n"),
    ],
)
def test_the_sides_of_a_diff_hold_every_line(old: str, new: str) -> None:
    """Also a line that looks like a header, has another line break in it, or ends in a carriage return."""
    made = change("a", old, new).diff

    assert (old.removesuffix("\n"), new.removesuffix("\n")) == sides(made)


def test_the_sides_of_several_diffs_leave_out_the_names_of_files() -> None:
    """A header stands where the hunk above it has ended by its own count."""
    both = "\n".join(change(name, "-- a\nx\n", "++ b\nx\n").diff for name in "ab")

    assert ("-- a\nx\n-- a\nx", "++ b\nx\n++ b\nx") == sides(both)


def test_the_sides_of_a_diff_that_was_cut_leave_out_nothing_that_it_shows() -> None:
    """Where lines are missing, their count is on both sides, and each line below is still there."""
    lines = [f"-- {number}" for number in range(20_000)]
    made = change("a", "\n".join(lines), "\n".join(line.replace("--", "++") for line in lines)).diff
    old, new = sides(made)

    assert old.startswith("-- 0\n-- 1\n")
    assert new.endswith("++ 19998\n++ 19999")
    assert {line[1:] for line in made.split("\n")[3:] if line.startswith("-")} <= set(old.split("\n"))
    assert {line[1:] for line in made.split("\n")[3:] if line.startswith("+")} <= set(new.split("\n"))


def test_only_a_unified_diff_counts_as_one() -> None:
    """A text that holds `@@` somewhere is no diff."""
    assert is_diff(change("a", "x", "y").diff)
    assert not is_diff("SELECT @@ -1")
