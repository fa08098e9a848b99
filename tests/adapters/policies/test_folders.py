"""Named policies in folders."""

import os
from pathlib import Path

import pytest

from adapters.policies import FolderSource, PolicyMissing, PolicyWritable
from hitl.policy import load


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that only its owner writes to."""
    made = tmp_path / "policies"
    made.mkdir(mode=0o700)
    return made


def write(folder: Path, name: str, text: str = "version: 1", mode: int = 0o600) -> Path:
    """A file with a mode."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def test_a_document_is_found_by_its_name(folder: Path) -> None:
    """The format follows from the ending, and the text is loaded as it is."""
    write(folder, "one.yaml", "\ufeffversion: 1  # é")
    write(folder, "two.json", '{"version": 1}')
    source = FolderSource([folder])

    assert ("one", str(folder / "one.yaml"), "yaml") == (
        source.read("", "one").name, source.read("", "one").origin, source.read("", "one").format,
    )  # fmt: skip
    assert load(source.read("", "one").text, name="one").digest == load(source.read("", "two").text, name="two").digest


def test_the_first_folder_wins(folder: Path, tmp_path: Path) -> None:
    """A document in an earlier folder hides one of the same name in a later one."""
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    write(folder, "p.yaml", "version: 1")
    write(other, "p.json", "{}")

    assert "yaml" == FolderSource([folder, other]).read("", "p").format
    assert "json" == FolderSource([other, folder]).read("", "p").format


def test_a_missing_name_is_an_error(folder: Path) -> None:
    """No other document takes its place."""
    write(folder, "default.yaml")

    with pytest.raises(PolicyMissing, match="no policy 'production'"):
        FolderSource([folder]).read("", "production")
    with pytest.raises(PolicyMissing, match=r"none is set .*without its ending"):
        FolderSource([]).read("", "production")


def test_two_documents_of_one_name_are_an_error(folder: Path) -> None:
    """Which of the two was meant cannot be told."""
    write(folder, "p.yaml")
    write(folder, "p.json", "{}")

    with pytest.raises(PolicyMissing, match="more than one"):
        FolderSource([folder]).read("", "p")


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666, 0o777])
def test_a_file_that_others_may_write_is_refused(folder: Path, mode: int) -> None:
    """Group and others must not be able to change the policy."""
    write(folder, "p.yaml", mode=mode)

    with pytest.raises(PolicyWritable, match="writable by others"):
        FolderSource([folder]).read("", "p")


@pytest.mark.parametrize("mode", [0o400, 0o600, 0o644, 0o640, 0o755])
def test_a_file_that_others_may_only_read_is_read(folder: Path, mode: int) -> None:
    """Reading is no danger."""
    write(folder, "p.yaml", mode=mode)

    assert "version: 1" == FolderSource([folder]).read("", "p").text


def test_a_folder_that_others_may_write_is_refused(folder: Path) -> None:
    """Who can write the folder can put another file in its place."""
    write(folder, "p.yaml")
    folder.chmod(0o777)

    with pytest.raises(PolicyWritable, match="writable by others"):
        FolderSource([folder]).read("", "p")
    folder.chmod(0o1777)
    assert "version: 1" == FolderSource([folder]).read("", "p").text


def test_a_link_is_judged_by_where_it_leads(folder: Path, tmp_path: Path) -> None:
    """The permissions of the file itself count, and those of the folder that it lies in."""
    loose = tmp_path / "loose"
    loose.mkdir()
    loose.chmod(0o777)
    (folder / "p.yaml").symlink_to(write(loose, "p.yaml"))

    with pytest.raises(PolicyWritable):
        FolderSource([folder]).read("", "p")


def test_what_is_no_text_file_is_refused(folder: Path) -> None:
    """A pipe or bytes that are no text are errors, not an empty policy."""
    os.mkfifo(folder / "pipe.yaml", mode=0o600)
    (folder / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    (folder / "bytes.yaml").chmod(0o600)

    with pytest.raises(PolicyWritable, match="not a file"):
        FolderSource([folder]).read("", "pipe")
    with pytest.raises(PolicyMissing, match="UTF-8"):
        FolderSource([folder]).read("", "bytes")


def test_a_tenant_reads_no_document_of_another(folder: Path) -> None:
    """The documents of a tenant lie in its own folder; those beside it are not its own."""
    write(folder, "p.yaml")
    inner = folder / "acme"
    inner.mkdir(mode=0o700)
    write(inner, "q.yaml")
    source = FolderSource([folder])

    assert str(inner / "q.yaml") == source.read("acme", "q").origin
    for tenant, name in (("acme", "p"), ("", "q"), ("other", "q")):
        with pytest.raises(PolicyMissing, match=f"no policy '{name}'"):
            source.read(tenant, name)
