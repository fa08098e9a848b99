"""The state folder is closed to others and used by one service at a time."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from adapters.database.folder import StateFolder, private_file
from hitl.errors import Unavailable
from tests.sentences import raises


def mode(path: Path) -> int:
    """The permission bits."""
    return stat.S_IMODE(path.stat().st_mode)


def test_a_folder_is_made_for_us_alone(tmp_path: Path) -> None:
    """With its parents; 0700, and 0600 for what is made in it, whatever the umask says."""
    before = os.umask(0)
    try:
        folder = StateFolder.open(tmp_path / "a" / "b")
        made = [mode(folder.path), mode(folder.database), mode(folder.path / "sayso.lock")]
        folder.close()
    finally:
        os.umask(before)

    assert [0o700, 0o600, 0o600] == made


def test_a_folder_that_others_can_read_is_closed(tmp_path: Path) -> None:
    """As service managers make them by default."""
    tmp_path.chmod(0o755)

    StateFolder.open(tmp_path).close()

    assert 0o700 == mode(tmp_path)


@pytest.mark.parametrize("wide", [0o770, 0o707, 0o777])
def test_a_folder_that_others_can_write_is_refused(tmp_path: Path, wide: int) -> None:
    """What it holds can't be trusted; the refusal says what to run, and nothing is changed."""
    tmp_path.chmod(wide)

    with raises(Unavailable, "database.folder.writable", path=tmp_path, mode="700"):
        StateFolder.open(tmp_path)

    assert wide == mode(tmp_path)
    assert [] == list(tmp_path.iterdir())


def test_a_file_that_others_can_write_is_refused(tmp_path: Path) -> None:
    """Also where the folder is ours."""
    (tmp_path / "file").touch()
    (tmp_path / "file").chmod(0o666)

    with pytest.raises(Unavailable, match="chmod 600"):
        private_file(tmp_path / "file")


def test_a_link_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    """It could lead anywhere."""
    (tmp_path / "elsewhere").touch()
    (tmp_path / "file").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(Unavailable, match="can't be used"):
        private_file(tmp_path / "file")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    """Its owner could change what it holds at any time."""
    os.chown(tmp_path, 65534, 65534)

    with pytest.raises(Unavailable, match="uid 65534"):
        StateFolder.open(tmp_path)


@pytest.mark.parametrize("place", ["/proc/sayso-state", "/sys/sayso-state", "/dev/null/state"])
def test_a_folder_that_cant_be_made_is_refused(place: str) -> None:
    """Said in a sentence. The kernel's own file systems refuse root too, which file modes don't."""
    with pytest.raises(Unavailable, match=f"The state folder {place} can't be used"):
        StateFolder.open(Path(place))


def test_a_second_service_is_refused_by_name_of_the_first(tmp_path: Path) -> None:
    """Its pid is said; once the first is gone, the folder is free."""
    first = StateFolder.open(tmp_path)

    with raises(Unavailable, "database.folder.used", pid=os.getpid(), path=tmp_path):
        StateFolder.open(tmp_path)

    first.close()
    StateFolder.open(tmp_path).close()


def test_a_service_that_was_killed_leaves_the_folder_free(tmp_path: Path) -> None:
    """The lock is the kernel's: whatever pid the file names, it went with its process."""
    code = f"""
import os, signal
from pathlib import Path
from adapters.database.folder import StateFolder
folder = StateFolder.open(Path({str(tmp_path)!r}))
os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", code], check=False)

    assert -9 == killed.returncode
    StateFolder.open(tmp_path).close()


def test_a_folder_keeps_its_id_and_shares_it_with_no_other(tmp_path: Path) -> None:
    """Whoever has the folder's lock knows that those who worked under its id before are dead."""
    ids = []
    for name in ("a", "a", "b"):
        folder = StateFolder.open(tmp_path / name)
        ids.append(folder.id)
        folder.close()

    assert ids[0] == ids[1]
    assert ids[0] != ids[2]
