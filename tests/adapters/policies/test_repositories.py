"""Which repository git would use, and what in it could make a command that only reads run a program."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from adapters.policies.surroundings import RealPaths
from hitl.ports import Repository

GIT = shutil.which("git")

pytestmark = pytest.mark.skipif(GIT is None, reason="git is not installed")


def _git(folder: Path, *args: str) -> None:
    """Runs git without the settings of whoever runs the tests; submodules may be local."""
    config = {"protocol.file.allow": "always", "user.name": "A", "user.email": "a@example.org", "gc.auto": "0"}
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    env["GIT_CONFIG_COUNT"] = str(len(config))
    for at, (key, value) in enumerate(config.items()):
        env |= {f"GIT_CONFIG_KEY_{at}": key, f"GIT_CONFIG_VALUE_{at}": value}
    subprocess.run([GIT or "git", *args], cwd=folder, env=env, check=True, capture_output=True)


def _committed(folder: Path) -> Path:
    """A new repository with one commit."""
    folder.mkdir(parents=True, exist_ok=True)
    _git(folder, "init", "-q", "-b", "main")
    (folder / "file").write_text("text\n")
    _git(folder, "add", ".")
    _git(folder, "commit", "-q", "-m", "first")
    return folder


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A repository as git makes it."""
    return _committed(tmp_path.resolve() / "work")


def _at(folder: Path | str) -> Repository | None:
    return RealPaths().repository(str(folder))


def _armed(folder: Path | str) -> str | None:
    found = _at(folder)

    assert found is not None
    return found.armed


def _set(folder: Path, text: str, name: str = "config") -> None:
    with (folder / ".git" / name).open("a") as file:
        file.write(f"{text}\n")


def test_a_repository_that_git_made_is_found_from_below(work: Path) -> None:
    """From its folder, from one below, from one that is yet to be made, and through a link."""
    (work / "a" / "b").mkdir(parents=True)
    (work.parent / "link").symlink_to(work / "a")
    folders = (work, work / "a" / "b", work / "a" / "new" / "er", work.parent / "link")

    assert [Repository(str(work), None)] * 4 == [_at(folder) for folder in folders]


def test_a_folder_outside_every_repository_has_none(tmp_path: Path) -> None:
    """Also one whose `.git` is an empty folder, which git passes by."""
    (tmp_path / "x" / ".git").mkdir(parents=True)

    assert [None, None] == [_at(tmp_path / "x"), _at("/")]


def test_a_clone_with_branches_and_settings_of_a_person_is_harmless(work: Path) -> None:
    """What `git clone`, `git branch` and usual settings write is data."""
    clone = work.parent / "clone"
    _git(work.parent, "clone", "-q", str(work), str(clone))
    _git(clone, "checkout", "-q", "-b", "side/one")
    _git(clone, "push", "-q", "-u", "origin", "side/one")
    _git(clone, "gc", "-q")
    for key, value in (
        *(("user.name", "B"), ("user.email", "b@example.org"), ("pull.rebase", "true"), ("core.autocrlf", "input")),
        *(("color.diff.meta", "red"), ("branch.main.description", "the main one"), ("remote.origin.prune", "true")),
        *(("branch.sort", "-committerdate"), ("tag.sort", "version:refname")),
        ("remote.up.url", "https://example.org/x.git"),
    ):
        _git(clone, "config", key, value)

    assert _armed(clone) is None


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[core]\nfsmonitor = ./x", "core.fsmonitor"),
        ("[CORE]\nFSMonitor = true", "core.fsmonitor"),
        ("[core] hooksPath = hooks", "core.hookspath"),
        ("[core]\npager = x", "core.pager"),
        ("[core]\nworktree = /etc", "core.worktree"),
        ("[core]\nattributesFile = x", "core.attributesfile"),
        ("[core]\nexcludesFile = x", "core.excludesfile"),
        ("[core]\nsshCommand = x", "core.sshcommand"),
        ("[core]\nalternateRefsCommand = x", "core.alternaterefscommand"),
        ("[pager]\nstatus = x", "pager.status"),
        ("[alias]\nst = !x", "alias.st"),
        ("[include]\npath = /x", "include.path"),
        ('[includeIf "gitdir:/"]\npath = /x', "includeif.gitdir:/.path"),
        ('[filter "f"]\nclean = x', "filter.f.clean"),
        ('[filter "f"] process = x', "filter.f.process"),
        ('[diff "d"]\ntextconv = x', "diff.d.textconv"),
        ('[diff "d"]\ncommand = x', "diff.d.command"),
        ("[diff]\nexternal = x", "diff.external"),
        ('[merge "m"]\ndriver = x', "merge.m.driver"),
        ("[gpg]\nprogram = x", "gpg.program"),
        ('[gpg "ssh"]\nprogram = x', "gpg.ssh.program"),
        ("[log]\nshowSignature", "log.showsignature"),
        ("[format]\npretty = %G?", "format.pretty"),
        ("[branch]\nsort = -signature:grade", "branch.sort"),
        ("[tag]\nsort = *signature", "tag.sort"),
        ("[credential]\nhelper = !x", "credential.helper"),
        ('[remote "o"]\npromisor = true', "remote.o.promisor"),
        ('[remote "o"]\nuploadpack = x', "remote.o.uploadpack"),
        ("[extensions]\npartialClone = o", "extensions.partialclone"),
        ('[submodule "s"]\nupdate = !x', "submodule.s.update"),
        ("[status]\nsubmoduleSummary = true", "status.submodulesummary"),
        ('[trailer "t"]\ncommand = x', "trailer.t.command"),
        ("[later]\nkey = x", "later.key"),
        ('# a comment\n[user]\nname = "a" \\\n b ; c\n[core]fsmonitor=x', "core.fsmonitor"),
    ],
)
def test_a_key_that_is_not_known_harmless_arms_the_repository(work: Path, text: str, key: str) -> None:
    """In whatever spelling git reads it, and whether or not we know what it does."""
    _set(work, text)

    assert key == _armed(work)


def test_every_configuration_file_of_a_worktree_is_read(work: Path) -> None:
    """A linked worktree has the shared configuration and one of its own."""
    side = work.parent / "side"
    _git(work, "worktree", "add", "-q", str(side))

    assert Repository(str(side), None) == _at(side)

    own = work / ".git" / "worktrees" / "side" / "config.worktree"
    own.write_text("[core]\nfsmonitor = x\n")

    assert ("core.fsmonitor", None) == (_armed(side), _armed(work))

    own.unlink()
    _set(work, "[diff]\nexternal = x")

    assert ("diff.external", "diff.external") == (_armed(side), _armed(work))


def test_the_main_worktrees_own_file_is_read(work: Path) -> None:
    """Whether git reads it depends on an extension; that it holds something is enough."""
    _set(work, "[core]\nfsmonitor = x", "config.worktree")

    assert "core.fsmonitor" == _armed(work)


def test_a_configuration_that_cannot_be_read_arms(work: Path) -> None:
    """Broken, too long, a folder, or a link to another file."""
    config = work / ".git" / "config"
    kept = config.read_bytes()
    found = []
    for data in (b"[core\n", b"[core]\nx = \\q\n", kept + b"# \0\n", kept + b"#" * (256 * 1024)):
        config.write_bytes(data)
        found.append(_armed(work))
    config.unlink()
    config.mkdir()
    found.append(_armed(work))
    config.rmdir()
    (work / "other").write_bytes(kept)
    config.symlink_to(work / "other")
    found.append(_armed(work))

    assert [*["config can't be parsed"] * 3, "config is too long", *["config is no file"] * 2] == found


@pytest.mark.parametrize("name", ["post-index-change", "reference-transaction"])
def test_a_hook_that_a_reading_command_may_run_arms(work: Path, name: str) -> None:
    """`git status` writes the index anew. The samples that git puts there, and hooks of commits, are harmless."""
    hooks = work / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "pre-commit").write_text("#!/bin/sh\n")
    before = _armed(work)
    (hooks / name).write_text("#!/bin/sh\n")

    assert (None, f"hooks/{name}") == (before, _armed(work))


def _with_alternates(work: Path) -> None:
    (work / ".git/objects/info/alternates").write_text("/x/objects\n")


def _with_linked_objects(work: Path) -> None:
    (work / ".git/objects").rename(work / "moved")
    (work / ".git/objects").symlink_to(work / "moved")


def _with_linked_packs(work: Path) -> None:
    shutil.rmtree(work / ".git/objects/pack")
    (work / ".git/objects/pack").symlink_to("/x")


def _with_odd_head(work: Path) -> None:
    (work / ".git/HEAD").write_text("nothing\n")


def _with_common_folder(work: Path) -> None:
    other = _committed(work.parent / "other")
    (work / ".git/commondir").write_text(f"{other}/.git\n")


def _with_linked_git(work: Path) -> None:
    (work / ".git").rename(work.parent / "moved")
    (work / ".git").symlink_to(work.parent / "moved")


def _with_moved_git(work: Path) -> None:
    (work / ".git").rename(work.parent / "moved")
    (work / ".git").write_text(f"gitdir: {work.parent}/moved\n")


def _with_lost_git(work: Path) -> None:
    shutil.rmtree(work / ".git")
    (work / ".git").write_text("gitdir: gone\n")


def _with_other_file(work: Path) -> None:
    shutil.rmtree(work / ".git")
    (work / ".git").write_text("text\n")


@pytest.mark.parametrize(
    ("change", "armed"),
    [
        (_with_alternates, "objects/info/alternates"),
        (_with_linked_objects, "objects"),
        (_with_linked_packs, "objects/pack"),
        (_with_odd_head, "HEAD"),
        (_with_common_folder, "commondir"),
        (_with_linked_git, ".git is a link"),
        (_with_moved_git, ".git leads elsewhere"),
        (_with_lost_git, ".git leads to no repository"),
        (_with_other_file, ".git is no folder"),
    ],
)
def test_a_repository_that_is_not_all_here_is_armed(work: Path, change: Callable[[Path], None], armed: str) -> None:
    """Its files or objects are another's, or git might go on to another repository further up."""
    change(work)

    assert Repository(str(work), armed) == _at(work)


def test_a_folder_that_is_a_bare_repository_is_armed(work: Path) -> None:
    """Three names in a folder of the working tree make git take it for a repository; the insides of `.git` are one."""
    _git(work, "init", "-q", "--bare", "docs/trap")
    places = (work / "docs/trap", work / "docs/trap/hooks", work / ".git", work / ".git/refs")
    found = [_at(place) for place in places]

    assert [Repository(str(at), "a bare repository") for at in (places[0], places[0], places[2], places[2])] == found
    assert _armed(work / "docs") is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("name", [".git", ".git/config", ""])
def test_files_of_another_user_arm(work: Path, name: str) -> None:
    """Whoever owns the folder, `.git` or its configuration can change what git runs."""
    os.chown(work / name, 12345, -1)

    assert "uid 12345" in (_armed(work) or "")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
@pytest.mark.parametrize("name", [".git", ".git/hooks", ".git/objects/info", ".git/config", "."])
def test_files_that_cannot_be_read_arm(work: Path, name: str) -> None:
    """Whoever runs git might be able to read them."""
    (work / name).chmod(0)
    armed = _armed(work)
    (work / name).chmod(0o700)

    assert ".git can't be read" == armed


def _with_submodule(work: Path) -> Path:
    _committed(work.parent / "part")
    _git(work, "submodule", "--quiet", "add", str(work.parent / "part"), "sub")
    _git(work, "commit", "-q", "-m", "a submodule")
    return work / "sub"


def test_a_submodule_is_judged_with_the_repository_that_holds_it(work: Path) -> None:
    """`git status` runs git in each submodule that is there, with the submodule's own configuration."""
    sub = _with_submodule(work)

    assert [Repository(str(work), None), Repository(str(sub), None)] == [_at(work), _at(sub)]

    _git(sub, "config", "core.fsmonitor", "./x")

    assert ["submodule sub: core.fsmonitor", "core.fsmonitor"] == [_armed(work), _armed(sub)]


def test_a_repository_that_was_added_like_a_file_is_a_submodule(work: Path) -> None:
    """The index alone makes it one; no `.gitmodules` is needed."""
    inner = _committed(work / "a" / "inner")
    before = _armed(work)
    _git(work, "add", "a/inner")
    _git(inner, "config", "core.fsmonitor", "./x")

    assert (None, "submodule a/inner: core.fsmonitor") == (before, _armed(work))


def test_a_submodule_that_is_not_checked_out_is_harmless(work: Path) -> None:
    """Git runs nothing in it."""
    _with_submodule(work)
    clone = work.parent / "clone"
    _git(work.parent, "clone", "-q", str(work), str(clone))

    assert _armed(clone) is None


def test_a_submodule_in_an_index_that_shortens_names_arms(work: Path) -> None:
    """Version 4 of the index shortens names; one without submodules is harmless."""
    _git(work, "update-index", "--index-version", "4")
    before = _armed(work)
    _with_submodule(work)

    assert (None, "a submodule in an index of version 4") == (before, _armed(work))


def test_what_no_path_can_be_is_armed() -> None:
    """It isn't told what git would use there."""
    assert Repository("nul\0byte", "the path") == _at("nul\0byte")


def test_a_strange_name_is_made_safe_for_people(work: Path) -> None:
    """A subsection may hold any character; what is shown is one line of bounded length."""
    _set(work, f'[filter "a\u202e{"b" * 5000}"]\nclean = x')
    armed = _armed(work) or ""

    assert (True, False) == (len(armed) <= 120, "\u202e" in armed)
