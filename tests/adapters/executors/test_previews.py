"""A preview shows what a change does to a file, whatever its size."""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from adapters.executors.previews import PREVIEW_KEPT, FileChange, change
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
