"""The files' tools reach one folder and nothing else, and change only what people were shown."""

from __future__ import annotations

import os
import socket
import stat
from hashlib import sha256
from pathlib import Path

import pytest

from adapters.executors.folder import Folder
from adapters.executors.registry import Registry
from adapters.executors.workspace import register_workspace
from hitl.call import Ran, Result
from hitl.cards.wording import say
from hitl.errors import InvalidConfirmation
from tests.adapters.executors.conftest import TOOLS, Run, a_lease, an_ask, names
from tests.sentences import raises, says

FILE_TOOLS: dict[str, dict[str, str]] = {"read_file": {}, "write_file": {"text": "x"}, "delete_file": {}}


def _bytes(count: int | str) -> str:
    """Return a number of bytes, not 1, in words."""
    return say("count.bytes", count=count)


async def test_a_file_is_read(run: Run, root: Path) -> None:
    """By its path in the workspace, or by its whole path."""
    (root / "a").mkdir()
    (root / "a/notes.txt").write_text("hello\n")

    assert Ran(Result.SUCCEEDED, "hello\n") == await run("read_file", path="a/./notes.txt")
    assert "hello\n" == (await run("read_file", path=f"{root}/a/notes.txt")).output


async def test_a_folder_is_listed(run: Run, root: Path) -> None:
    """Folders, sizes and links are told apart, and names can't hide."""
    (root / "sub").mkdir()
    (root / "a.txt").write_text("12345")
    (root / "b\u202e.txt").write_text("1")
    (root / "link").symlink_to("/etc")

    output = (await run("list_files")).output

    files = [f"a.txt  {_bytes(5)}", rf"b\u{{202e}}.txt  {say('count.bytes', count=1)}"]
    assert [*files, say("did.list.link", name="link"), "sub/"] == output.split("\n")


async def test_long_lists_are_counted(run: Run, root: Path) -> None:
    """A thousand names are shown."""
    for number in range(1002):
        (root / f"{number:04}").touch()

    output = (await run("list_files", path=".")).output

    assert output.endswith(f"0999  {_bytes(0)}\n{say('did.list.more', count=2)}")


@pytest.mark.parametrize("tool", FILE_TOOLS)
@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "a/../../secret.txt",
        "/etc/passwd",
        "..",
        "",
        ".",
        "a\0b",
        "x" * 300,
        "{root}/../secret.txt",
        "{root}x/y",
    ],
)
async def test_no_path_leads_out(registry: Registry, root: Path, tool: str, path: str) -> None:
    """Dots, other absolute paths and what no file can be called are refused before anyone is asked."""
    ask = an_ask(tool, path=path.replace("{root}", str(root)), **FILE_TOOLS[tool])
    with pytest.raises(InvalidConfirmation):
        await registry.prepare(ask)


@pytest.mark.parametrize("tool", ["write_file", "delete_file"])
@pytest.mark.parametrize("path", ["link.txt", "linked/secret.txt", "pipe", "socket", "folder", "file/x"])
async def test_only_regular_files_are_touched(registry: Registry, root: Path, tool: str, path: str) -> None:
    """No link is followed, wherever it stands or leads; pipes, sockets and folders aren't files."""
    (root / "link.txt").symlink_to(root.parent / "secret.txt")
    (root / "linked").symlink_to(root.parent)
    (root / "folder").mkdir()
    (root / "file").touch()
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root / "socket"))
        with pytest.raises(InvalidConfirmation):
            await registry.prepare(an_ask(tool, path=path, **FILE_TOOLS[tool]))


@pytest.mark.parametrize("path", ["link.txt", "linked/secret.txt", "pipe"])
async def test_reading_follows_no_link(run: Run, root: Path, path: str) -> None:
    """What stands outside is not read through a link, and a pipe that nobody writes to isn't waited for."""
    (root / "link.txt").symlink_to(root.parent / "secret.txt")
    (root / "linked").symlink_to(root.parent)
    os.mkfifo(root / "pipe")
    ran = await run("read_file", path=path)

    assert Result.FAILED == ran.result
    assert "" == ran.output


async def test_binary_files_are_refused_politely(run: Run, root: Path) -> None:
    """What isn't text is named with its size."""
    (root / "logo.png").write_bytes(b"\x89PNG\0\xff")
    ran = await run("read_file", path="logo.png")

    assert Ran(Result.FAILED, error=say("path.binary", path="logo.png", size=_bytes(6))) == ran


async def test_a_long_file_is_read_at_both_ends(run: Run, root: Path) -> None:
    """No character is split where the ends are cut."""
    (root / "long.txt").write_text("x" + "é" * 1_000_000 + "end")
    output = (await run("read_file", path="long.txt")).output

    assert output.startswith("xééé")
    assert output.endswith("éééend")
    assert says(output, "did.read.left_out")
    assert "�" not in output


async def test_a_change_is_shown_and_made(registry: Registry, root: Path) -> None:
    """The card has the diff and is bound to the file's bytes; then just that is written, the mode kept."""
    notes = root / "notes.txt"
    notes.write_text("one\ntwo\n")
    notes.chmod(0o640)
    ask = an_ask("write_file", path="notes.txt", text="one\nthree\n")
    prepared = await registry.prepare(ask)
    ran = await registry.run(a_lease(registry, ask, prepared), limit_s=5)

    one = say("count.lines", count=1)
    assert say("does.write.lines", path="notes.txt", added=one, removed=one) == prepared.sentence
    assert (("base:notes.txt", sha256(b"one\ntwo\n").hexdigest()),) == prepared.preconditions
    assert "--- notes.txt\n+++ notes.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three" == prepared.preview
    assert Ran(Result.SUCCEEDED, say("did.write", path="notes.txt", size=_bytes(10))) == ran
    assert "one\nthree\n" == notes.read_text()
    assert 0o640 == stat.S_IMODE(notes.stat().st_mode)
    assert ["notes.txt"] == names(root)


async def test_a_new_file_is_made_with_its_folders(registry: Registry, root: Path) -> None:
    """Where nothing is, the precondition is that nothing is."""
    ask = an_ask("write_file", path="a/b/new.txt", text="hello")
    prepared = await registry.prepare(ask)
    await registry.run(a_lease(registry, ask, prepared), limit_s=5)

    assert say("does.write.new", path="a/b/new.txt", size=_bytes(5)) == prepared.sentence
    assert (("base:a/b/new.txt", "absent"),) == prepared.preconditions
    assert "hello" == (root / "a/b/new.txt").read_text()


async def test_what_is_not_text_is_replaced_without_a_diff(registry: Registry, root: Path) -> None:
    """The sentence says both sizes, the preview is the new text."""
    (root / "x").write_bytes(b"\0" * 1000)
    prepared = await registry.prepare(an_ask("write_file", path="x", text="new"))

    assert say("does.write.whole", path="x", old=_bytes(1000), new=_bytes(3)) == prepared.sentence
    assert "new" == prepared.preview


async def test_writing_what_is_there_says_so(registry: Registry, root: Path) -> None:
    """No difference, no diff."""
    (root / "x").write_text("same")
    prepared = await registry.prepare(an_ask("write_file", path="x", text="same"))

    assert (say("does.write.same", path="x", size=_bytes(4)), "") == (prepared.sentence, prepared.preview)


async def test_a_file_that_changed_is_not_written(registry: Registry, root: Path) -> None:
    """People agreed to a change of other bytes: the file stays as it is now."""
    notes = root / "notes.txt"
    notes.write_text("one")
    ask = an_ask("write_file", path="notes.txt", text="two")
    lease = a_lease(registry, ask, await registry.prepare(ask))
    notes.write_text("somebody else's")

    assert say("path.changed", path="notes.txt") == await registry.still_holds(lease.call)

    ran = await registry.run(lease, limit_s=5)

    assert Ran(Result.REFUSED, error=say("path.not_written", why=say("path.changed", path="notes.txt"))) == ran
    assert "somebody else's" == notes.read_text()
    assert ["notes.txt"] == names(root)


async def test_a_call_that_was_shown_for_another_folder_runs_no_more(registry: Registry, tmp_path: Path) -> None:
    """A database can be moved to a service that works elsewhere: the card named the folder, so the call is unfit."""
    ask = an_ask("write_file", path="notes.txt", text="once")
    lease = a_lease(registry, ask, await registry.prepare(ask))
    (tmp_path / "elsewhere").mkdir()
    moved = Folder(tmp_path / "elsewhere")
    elsewhere = Registry("workspace", TOOLS, folder=moved.root)
    register_workspace(elsewhere, moved)

    assert await registry.still_holds(lease.call) is None
    told = say("tool.moved", was=lease.call.cwd, now=moved.root)
    assert told == await elsewhere.still_holds(lease.call)


async def test_a_file_that_appeared_is_not_written_over(registry: Registry, root: Path) -> None:
    """A new file is made only where still nothing is."""
    ask = an_ask("write_file", path="new.txt", text="two")
    lease = a_lease(registry, ask, await registry.prepare(ask))
    (root / "new.txt").write_text("somebody else's")
    ran = await registry.run(lease, limit_s=5)

    assert Result.REFUSED == ran.result
    assert "somebody else's" == (root / "new.txt").read_text()


@pytest.mark.parametrize("tool", ["write_file", "delete_file"])
async def test_a_file_swapped_for_a_link_is_refused(registry: Registry, root: Path, tool: str) -> None:
    """Between asking and running the file became a link to one outside with the same bytes."""
    secret = root.parent / "secret.txt"
    (root / "notes.txt").write_text("out of reach")
    ask = an_ask(tool, path="notes.txt", **FILE_TOOLS[tool])
    lease = a_lease(registry, ask, await registry.prepare(ask))
    (root / "notes.txt").unlink()
    (root / "notes.txt").symlink_to(secret)
    ran = await registry.run(lease, limit_s=5)

    assert Result.REFUSED == ran.result
    assert say("path.changed", path="notes.txt") == await registry.still_holds(lease.call)
    assert "out of reach" == secret.read_text()
    assert (root / "notes.txt").is_symlink()


@pytest.mark.parametrize("tool", ["write_file", "delete_file"])
async def test_a_folder_swapped_for_a_link_is_refused(registry: Registry, root: Path, tool: str) -> None:
    """Between asking and running a folder on the way became a link to one outside with the same file."""
    (root / "sub").mkdir()
    (root / "sub/secret.txt").write_text("out of reach")
    ask = an_ask(tool, path="sub/secret.txt", **FILE_TOOLS[tool])
    lease = a_lease(registry, ask, await registry.prepare(ask))
    (root / "sub").rename(root / "moved")
    (root / "sub").symlink_to(root.parent)
    ran = await registry.run(lease, limit_s=5)

    assert Result.REFUSED == ran.result
    assert "out of reach" == (root.parent / "secret.txt").read_text()
    assert ["secret.txt", "workspace"] == names(root.parent)


async def test_new_folders_are_not_made_through_a_link(registry: Registry, root: Path) -> None:
    """A folder on the way that appeared as a link is not written through."""
    ask = an_ask("write_file", path="sub/new.txt", text="x")
    lease = a_lease(registry, ask, await registry.prepare(ask))
    (root / "sub").symlink_to(root.parent)
    ran = await registry.run(lease, limit_s=5)

    assert Result.REFUSED == ran.result
    assert ["secret.txt", "workspace"] == names(root.parent)


async def test_a_file_is_deleted_as_shown(registry: Registry, root: Path) -> None:
    """The sentence says what goes and that it is gone for good."""
    (root / "notes.txt").write_text("hello")
    ask = an_ask("delete_file", path="notes.txt")
    prepared = await registry.prepare(ask)
    ran = await registry.run(a_lease(registry, ask, prepared), limit_s=5)

    assert say("does.delete", path="notes.txt", size=_bytes(5)) == prepared.sentence
    assert Ran(Result.SUCCEEDED, say("did.delete", path="notes.txt")) == ran
    assert [] == names(root)


async def test_what_is_not_there_is_not_deleted(registry: Registry) -> None:
    """Nobody is asked about a file that isn't there."""
    with raises(InvalidConfirmation, "path.absent", path="notes.txt"):
        await registry.prepare(an_ask("delete_file", path="notes.txt"))


async def test_just_the_files_shown_are_deleted(registry: Registry, root: Path) -> None:
    """The card lists the files that match; one that matches later stays."""
    for name in ("a.log", "b.log", "c.txt"):
        (root / name).write_text(name)
    (root / "d.log").symlink_to(root.parent / "secret.txt")
    ask = an_ask("delete_files", pattern="*.log")
    prepared = await registry.prepare(ask)
    lease = a_lease(registry, ask, prepared)
    (root / "later.log").touch()
    ran = await registry.run(lease, limit_s=5)

    two = say("count.files", count=2)
    assert say("does.delete.many", files=two, pattern="“*.log”") == prepared.sentence
    assert "a.log\nb.log" == prepared.preview
    assert f"{say('did.delete.many', files=two, pattern='*.log')}\na.log\nb.log" == ran.output
    assert ["c.txt", "d.log", "later.log"] == names(root)


async def test_one_changed_file_keeps_all(registry: Registry, root: Path) -> None:
    """Deleting many is all as shown, or nothing."""
    for name in ("a.log", "b.log"):
        (root / name).write_text(name)
    ask = an_ask("delete_files", pattern="*.log")
    lease = a_lease(registry, ask, await registry.prepare(ask))
    (root / "b.log").write_text("new")
    ran = await registry.run(lease, limit_s=5)

    assert Ran(Result.REFUSED, error=say("path.not_deleted", why=say("path.changed", path="b.log"))) == ran
    assert ["a.log", "b.log"] == names(root)


@pytest.mark.parametrize("pattern", ["*.none", "../*", "/etc/*", "**/../*"])
async def test_a_pattern_that_matches_nothing_inside_is_refused(registry: Registry, pattern: str) -> None:
    """Nobody is asked to delete nothing, nor anything outside."""
    with pytest.raises(InvalidConfirmation):
        await registry.prepare(an_ask("delete_files", pattern=pattern))


async def test_a_file_name_can_not_forge_the_list(registry: Registry, root: Path) -> None:
    """A line break in a name is shown as one, not obeyed."""
    (root / "a\nb.log").touch()
    prepared = await registry.prepare(an_ask("delete_files", pattern="*.log"))

    assert r"a\nb.log" == prepared.preview


@pytest.mark.parametrize("path", ["/", "file"])
def test_a_workspace_is_a_folder_below_the_root(tmp_path: Path, path: str) -> None:
    """The whole file system, or a file, is no workspace."""
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="can't be a workspace"):
        Folder(tmp_path / path)
