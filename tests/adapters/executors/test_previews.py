"""A preview shows what a change does to a file, whatever its size."""

from __future__ import annotations

import time

from adapters.executors.previews import PREVIEW_KEPT, Change, change


def test_a_change_is_a_unified_diff() -> None:
    """With its lines counted."""
    assert Change("--- a\n+++ a\n@@ -1,2 +1,2 @@\n x\n-y\n+z", 1, 1) == change("a", "x\ny", "x\nz")


def test_only_line_feeds_end_lines() -> None:
    """A line separator in the new text starts no line that could pass for another."""
    made = change("a", "", "x\u2028-y")

    assert "--- a\n+++ a\n@@ -1 +1 @@\n-\n+x\u2028-y" == made.diff


def test_long_texts_are_told_apart_by_what_their_ends_share() -> None:
    """Beyond what is compared line by line, everything between the common ends is shown as replaced."""
    old = [str(number) for number in range(5000)]
    new = [*old[:2500], "new", *old[2501:]]
    made = change("a", "\n".join(old), "\n".join(new))

    assert Change("--- a\n+++ a\n@@ -2501,1 +2501,1 @@\n-2500\n+new", 1, 1) == made


def test_a_long_diff_is_cut_in_the_middle() -> None:
    """And the counts are of the whole."""
    made = change("a", "", "x\n" * 100_000)

    assert PREVIEW_KEPT >= len(made.diff)
    assert " characters left out " in made.diff
    assert (100_000, 0) == (made.added, made.removed)


def test_any_two_texts_are_compared_in_time() -> None:
    """A megabyte of lines that differ everywhere takes under two seconds."""
    old = "\n".join(f"{number % 7}" for number in range(300_000))
    started = time.perf_counter()
    change("a", old, old.replace("3", "8"))

    assert time.perf_counter() - started < 2
