"""Edits and patches: people see the difference, and exactly that difference is made."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from adapters.executors.patches import applied, parsed
from adapters.executors.registry import Registry
from hitl.call import Result
from hitl.errors import InvalidConfirmation
from tests.adapters.executors.conftest import Run, a_lease, an_ask, names

AGENTS = """*** Begin Patch
*** Add File: new/one.txt
+first
+second
*** Update File: poem.txt
@@ verse two
 a
-b
+B
*** Update File: old.txt
*** Move to: moved.txt
@@
-x
+y
*** Delete File: gone.txt
*** End Patch
"""

UNIFIED = """diff --git a/poem.txt b/poem.txt
index 123..456 100644
--- a/poem.txt
+++ b/poem.txt
@@ -4,3 +4,3 @@ verse two
 verse two
 a
-b
+B
diff --git a/new/one.txt b/new/one.txt
new file mode 100644
--- /dev/null
+++ b/new/one.txt
@@ -0,0 +1,2 @@
+first
+second
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-bye
"""


@pytest.fixture
def files(root: Path) -> Path:
    """A workspace with a few files."""
    (root / "poem.txt").write_text("verse one\na\nb\nverse two\na\nb\n")
    (root / "old.txt").write_text("x")
    (root / "gone.txt").write_text("bye\n")
    return root


def _held(files: Path) -> dict[str, str]:
    return {name: (files / name).read_text() for name in names(files)}


async def test_an_edit_shows_its_difference_and_makes_it(files: Path, registry: Registry, run: Run) -> None:
    """The card has the diff that `write_file` would show, bound to the file as it is."""
    args: dict[str, Any] = {"path": "poem.txt", "old_string": "verse two\na", "new_string": "verse 2\na"}
    prepared = await registry.prepare(an_ask("edit_file", **args))
    ran = await run("edit_file", **args)

    assert "--- poem.txt\n+++ poem.txt\n@@ -1,6 +1,6 @@" == prepared.preview[:41]
    assert {"-verse two", "+verse 2"} <= set(prepared.preview.splitlines())
    assert ["base:poem.txt"] == [name for name, _ in prepared.preconditions]
    assert Result.SUCCEEDED == ran.result
    assert "verse one\na\nb\nverse 2\na\nb\n" == (files / "poem.txt").read_text()


async def test_all_occurrences_are_replaced_only_if_asked(files: Path, registry: Registry, run: Run) -> None:
    """A text that is there twice is ambiguous."""
    with pytest.raises(InvalidConfirmation):
        await registry.prepare(an_ask("edit_file", path="poem.txt", old_string="a\nb", new_string="c"))
    await run("edit_file", path="poem.txt", old_string="a\nb", new_string="c", replace_all=True)

    assert "verse one\nc\nverse two\nc\n" == (files / "poem.txt").read_text()


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("poem.txt", "", "x"),
        ("poem.txt", "a", "a"),
        ("poem.txt", "absent", "x"),
        ("poem.txt", "verse one", "\ud800"),
        ("missing.txt", "a", "b"),
        ("binary", "a", "b"),
        ("link", "a", "b"),
        ("../secret.txt", "out", "in"),
        (".", "a", "b"),
    ],
)
async def test_an_edit_that_cannot_be_made_is_refused_before_anyone_is_asked(
    files: Path, registry: Registry, path: str, old: str, new: str
) -> None:
    """Nothing to replace, nothing to change, no text, or nothing inside the workspace."""
    (files / "binary").write_bytes(b"a\0\xff")
    (files / "link").symlink_to(files.parent / "secret.txt")
    with pytest.raises(InvalidConfirmation):
        await registry.prepare(an_ask("edit_file", path=path, old_string=old, new_string=new))

    assert "out of reach" == (files.parent / "secret.txt").read_text()


async def test_a_file_that_changed_after_it_was_shown_is_not_edited(files: Path, registry: Registry) -> None:
    """Even if the text to replace is still there."""
    ask = an_ask("edit_file", path="poem.txt", old_string="verse one", new_string="x")
    prepared = await registry.prepare(ask)
    (files / "poem.txt").write_text("verse one, and more\n")
    lease = a_lease(registry, ask, prepared)
    ran = await registry.run(lease, limit_s=10)

    assert (Result.REFUSED, "verse one, and more\n") == (ran.result, (files / "poem.txt").read_text())
    assert await registry.still_holds(lease.call)


async def test_a_patch_of_a_coding_agent_adds_changes_moves_and_deletes(
    files: Path, registry: Registry, run: Run
) -> None:
    """All files are on the card, each with its difference and bound to what it is."""
    prepared = await registry.prepare(an_ask("apply_patch", patch=AGENTS))
    ran = await run("apply_patch", patch=AGENTS)

    changed = ["new/one.txt", "poem.txt", "old.txt", "moved.txt", "gone.txt"]
    assert [f"base:{name}" for name in changed] == [name for name, _ in prepared.preconditions]
    assert {"+first", "-b", "+B", "-x", "+y", "-bye"} <= set(prepared.preview.splitlines())
    assert Result.SUCCEEDED == ran.result
    assert "verse one\na\nb\nverse two\na\nB\n" == (files / "poem.txt").read_text()
    assert ["moved.txt", "new", "poem.txt"] == names(files)
    assert ("y\n", "first\nsecond\n") == ((files / "moved.txt").read_text(), (files / "new/one.txt").read_text())


async def test_a_unified_diff_changes_adds_and_deletes(files: Path, run: Run) -> None:
    """As git writes it, with its `a/` and `b/`; the line numbers choose between two equal places."""
    ran = await run("apply_patch", patch=UNIFIED)

    assert Result.SUCCEEDED == ran.result
    assert "verse one\na\nb\nverse two\na\nB\n" == (files / "poem.txt").read_text()
    assert ["new", "old.txt", "poem.txt"] == names(files)


async def test_no_file_of_a_patch_is_changed_if_one_is_not_as_shown(files: Path, registry: Registry) -> None:
    """The files are looked at together before the first is written."""
    ask = an_ask("apply_patch", patch=AGENTS)
    prepared = await registry.prepare(ask)
    (files / "gone.txt").write_text("changed\n")
    ran = await registry.run(a_lease(registry, ask, prepared), limit_s=10)

    assert Result.REFUSED == ran.result
    assert ["gone.txt", "old.txt", "poem.txt"] == names(files)


@pytest.mark.parametrize(
    "patch",
    [
        "",
        "just text",
        "*** Begin Patch\n*** End Patch\n",
        "*** Begin Patch\n*** Delete File: gone.txt\n",
        "*** Begin Patch\n*** Delete File: gone.txt\n*** End Patch\nmore",
        "*** Begin Patch\n*** Rename File: gone.txt\n*** End Patch\n",
        "*** Begin Patch\n*** Add File: poem.txt\n+x\n*** End Patch\n",
        "*** Begin Patch\n*** Add File: x.txt\nx\n*** End Patch\n",
        "*** Begin Patch\n*** Update File: poem.txt\n*** End Patch\n",
        "*** Begin Patch\n*** Update File: poem.txt\n@@\n-nowhere\n+x\n*** End Patch\n",
        "*** Begin Patch\n*** Update File: poem.txt\n@@\n a\n-b\n+x\n*** End Patch\n",
        "*** Begin Patch\n*** Update File: poem.txt\n@@ verse three\n-b\n+x\n*** End Patch\n",
        "*** Begin Patch\n*** Delete File: gone.txt\n*** Delete File: ./gone.txt\n*** End Patch\n",
        "*** Begin Patch\n*** Delete File: ../secret.txt\n*** End Patch\n",
        "*** Begin Patch\n*** Add File: ../new.txt\n+x\n*** End Patch\n",
        "--- a/poem.txt\n+++ b/poem.txt\n",
        "--- a/poem.txt\n+++ b/other.txt\n@@ -1 +1 @@\n-verse one\n+x\n",
        "--- a/poem.txt\n@@ -1 +1 @@\n-verse one\n+x\n",
        "--- a/poem.txt\n+++ b/poem.txt\n@@ -1 +1 @@\n-verse one\n",
        "--- a/poem.txt\n+++ b/poem.txt\n@@ -1 +1 @@\n-verse one\n+x\n+y\n",
        "--- a/poem.txt\n+++ b/poem.txt\n@@ one @@\n-verse one\n+x\n",
        "rename from poem.txt\nrename to x.txt\n",
        "--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-other\n",
        "--- a/poem.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-verse one\n",
        "--- /dev/null\n+++ b/poem.txt\n@@ -0,0 +1 @@\n+x\n",
        "--- a/../secret.txt\n+++ b/../secret.txt\n@@ -1 +1 @@\n-out of reach\n+x\n",
        "GIT binary patch\n",
        "--- a/poem.txt\n+++ b/poem.txt\n@@ -1 +1 @@\n\\ No newline at end of file\n-verse one\n+x\n",
        "--- a/poem.txt\n+++ b/poem.txt\n" + "@@ -1 +1 @@\n-verse one\n+x\n" * 201,
    ],
)
async def test_a_patch_that_is_not_understood_or_does_not_fit_is_refused(
    files: Path, registry: Registry, patch: str
) -> None:
    """Nobody is asked about a patch that would change something else than its text says."""
    before = _held(files)
    with pytest.raises(InvalidConfirmation):
        await registry.prepare(an_ask("apply_patch", patch=patch))

    assert before == _held(files)


@pytest.mark.skipif(shutil.which("diff") is None, reason="diff is not installed")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("a\nb", "a\nb\n"),
        ("a\nb\n", "a\nb"),
        ("a\nb", "a\nc"),
        ("x\n" * 50, "x\n" * 20 + "y\n" + "x\n" * 30),
        ("x\n" * 50, "x\n" * 10 + "y\n" + "x\n" * 30 + "z\n" + "x\n" * 10),
        ("a\n", "a\nb\n"),
        ("a\n", "b\na\n"),
        ("-- a\n++ b\n", "-- b\n++ c\n"),
        ("a\r\nb\r\n", "a\r\nc\r\n"),
        ("a\n\n\nb\n", "a\n\nb\n"),
    ],
)
@pytest.mark.parametrize("around", [0, 3])
def test_what_diff_writes_gives_the_new_text(tmp_path: Path, old: str, new: str, around: int) -> None:
    """With lines around the changes and without, and with files whose last line doesn't end."""
    (tmp_path / "old").write_bytes(old.encode())
    (tmp_path / "new").write_bytes(new.encode())
    command = ["diff", f"-U{around}", "--label", "file", "--label", "file", "old", "new"]
    patch = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).stdout.decode()

    assert new == applied(parsed(patch)[0], old)
