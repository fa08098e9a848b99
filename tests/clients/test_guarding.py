"""Who could switch an installed hook off: whoever can change its settings, its Python or its packages."""

from __future__ import annotations

import os
import pwd
import shutil
import sys
from pathlib import Path

import pytest

from sayso_client.hooks.guarding import weak_points
from sayso_client.wording import say
from tests.sentences import says

ME, NOBODY = os.getuid(), 65534
#: A user id under which no account of this machine runs, and which owns nothing.
STRANGER = 2_000_000_001
WAY = say("hook.close.own")


def hook(service: int | None = ME, python: str = "/nowhere/python") -> list[str]:
    """The command of a hook for a service that runs as this user, or at a URL."""
    address = ["--url", "https://sayso"] if service is None else ["--socket", "/x", "--uid", str(service)]
    return ["timeout", "-k", "1", "9", python, "-I", "-m", "sayso_client.hooks", "codex", *address]


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    """The settings of a host in a folder of its own, which only this user may write."""
    file = tmp_path / "host" / "settings.json"
    file.parent.mkdir(mode=0o755)
    file.write_text("{}")
    file.chmod(0o644)
    return file


def states(file: Path, *users: int, service: int | None = ME) -> list[str]:
    """What is found about these users."""
    return [state for state, _ in weak_points(hook(service), [file], users, WAY)]


@pytest.mark.parametrize(("service", "state"), [(ME, "yellow"), (None, "yellow"), (STRANGER, "red")])
def test_an_agent_that_can_change_its_hook_is_red_where_the_service_is_apart(
    settings: Path, service: int | None, state: str
) -> None:
    """With one user for both, or with the service elsewhere, the page says that this protects against mistakes."""
    assert [state] == states(settings, ME, service=service)


def test_an_agent_that_can_not_change_its_hook_is_not_told_of(settings: Path) -> None:
    """Another user's files are out of its reach, whoever runs the service."""
    assert [] == states(settings, STRANGER, service=STRANGER)
    assert [] == states(settings, STRANGER, service=ME)


@pytest.mark.parametrize("part", ["file", "folder"])
def test_what_everybody_can_change_is_red(settings: Path, part: str) -> None:
    """The file itself, or its folder, where another file could be put in its place."""
    opened = settings if part == "file" else settings.parent
    opened.chmod(0o777)
    ((state, told),) = weak_points(hook(), [settings], [STRANGER], WAY)

    assert "red" == state
    assert str(opened) in told


def test_in_a_sticky_folder_only_the_owner_replaces_a_file(settings: Path) -> None:
    """As in /tmp."""
    settings.parent.chmod(0o1777)

    assert [] == states(settings, STRANGER)


def test_a_link_counts_as_much_as_the_file(tmp_path: Path, settings: Path) -> None:
    """Whoever can change the link chooses the file."""
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    link = tmp_path / "open" / "settings.json"
    link.symlink_to(os.path.relpath(settings, link.parent))
    ((state, told),) = weak_points(hook(), [link], [STRANGER], WAY)

    assert ("red", True) == (state, str(link.parent) in told)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a file to a group that isn't its own")
def test_a_group_of_the_agent_counts(settings: Path) -> None:
    """A file that the agent's group may write is the agent's to write."""
    os.chown(settings, ME, pwd.getpwuid(NOBODY).pw_gid)
    settings.chmod(0o664)

    assert ["red"] == states(settings, NOBODY)


@pytest.mark.parametrize("part", ["client/sayso_client/hooks/answering.py", "client/sayso_client", "client", "python"])
def test_its_python_and_its_packages_count(tmp_path: Path, settings: Path, part: str) -> None:
    """The interpreter, the folders on its path, and each file of our package."""
    shutil.copytree(Path(__file__).parents[2] / "clients" / "sayso_client", tmp_path / "client" / "sayso_client")
    for path in (tmp_path / "client").rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    python = tmp_path / "python"
    python.write_text(
        f"#!/bin/sh\nexec {sys.executable} -S -c \"import sys\nsys.path.insert(0, '{tmp_path}/client')\n$3\"\n"
    )
    python.chmod(0o755)
    assert [] == weak_points(hook(python=str(python)), [settings], [STRANGER], WAY)

    opened = tmp_path / part
    opened.chmod(0o777)
    ((state, told),) = weak_points(hook(python=str(python)), [settings], [STRANGER], WAY)
    assert ("red", True) == (state, str(opened) in told)


@pytest.mark.parametrize("part", ["timeout", "token", "ca"])
def test_the_files_that_the_command_names_count(tmp_path: Path, settings: Path, part: str) -> None:
    """The program that limits its time, the token, and the authority that vouches for the service."""
    for name in ("timeout", "token", "ca"):
        (tmp_path / name).touch(0o644)
    named = ["--url", "https://sayso", "--token-file", f"{tmp_path}/token", "--ca-file", f"{tmp_path}/ca"]
    words = [
        f"{tmp_path}/timeout",
        "-k",
        "1",
        "9",
        "/nowhere/python",
        "-I",
        "-m",
        "sayso_client.hooks",
        "codex",
        *named,
    ]
    assert [] == weak_points(words, [settings], [STRANGER], WAY)

    (tmp_path / part).chmod(0o666)
    ((state, told),) = weak_points(words, [settings], [STRANGER], WAY)
    assert ("red", True) == (state, str(tmp_path / part) in told)


def test_many_places_are_counted(tmp_path: Path) -> None:
    """A sentence names three, and says how many more there are."""
    files = [tmp_path / str(number) for number in range(5)]
    for file in files:
        file.touch()
        file.chmod(0o666)
    ((_, told),) = weak_points(hook(), files, [], WAY)

    assert [True, True, True, False, False] == [str(file) in told for file in files]
    assert says(told, "hook.open.more", count=2)
