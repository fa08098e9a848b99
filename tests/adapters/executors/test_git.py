"""Git in the workspace's shell runs nothing that files of the workspace name."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from adapters.executors.bash import Bash, Shell
from adapters.executors.confinement import Confinement, Sandbox, works
from adapters.executors.registry import Context
from hitl.call import Ran, Result

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

# What git is told to run leaves this behind, in the folder that git is in or one below.
MARK = "ran"
EVIL = f"#!/bin/sh\necho $0 $* >> $EVIL_ROOT/{MARK}\nexit 0\n"


def _plainly(root: Path, line: str) -> None:
    """Runs a line as a person would who has no settings: hooks, pagers and all run."""
    env = {"PATH": os.environ["PATH"], "HOME": str(root), "GIT_CONFIG_NOSYSTEM": "1", "EVIL_ROOT": str(root)}
    subprocess.run(["bash", "-c", line], cwd=root, env=env, capture_output=True, timeout=10, check=False)


async def _disarmed(root: Path, line: str) -> Ran:
    """Runs a line as the service's shell does."""
    shell, args = Shell(root, Sandbox(Confinement.NONE)), Bash(command=f"export EVIL_ROOT={root}; {line}")
    context = Context("token:agent", "ref-1", "ref-1", 10, dict(shell.look(args).preconditions))
    return await shell.bash(context, args)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A repository with two commits, a changed file, and a program that says when it ran."""
    root = tmp_path.resolve() / "work"
    root.mkdir()
    _plainly(
        root,
        "git init -q -b main; git config user.name A; git config user.email a@example.org;"
        "echo one > file; git add .; git commit -qm first; echo two >> file; git commit -qam second",
    )
    (root / "file").write_text("changed\n")
    (root / "evil").write_text(EVIL)
    (root / "evil").chmod(0o755)
    return root


HOSTILE = [
    ("core.fsmonitor", "{evil}", "git status"),
    ("core.fsmonitor", "{evil}", "git diff --stat"),
    ("core.editor", "{evil}", "git commit --allow-empty"),
    ("sequence.editor", "{evil}", "git stash -q; git rebase -i HEAD~1"),
    ("core.sshCommand", "{evil}", "git ls-remote ssh://127.0.0.1:1/x"),
    ("core.gitProxy", "{evil}", "git ls-remote git://127.0.0.1:1/x"),
    ("core.askPass", "{evil}", "printf 'protocol=https\\nhost=x\\n\\n' | git credential fill"),
    ("credential.helper", "{evil}", "printf 'protocol=https\\nhost=x\\n\\n' | git credential fill"),
    ("credential.https://x.helper", "{evil}", "printf 'protocol=https\\nhost=x\\n\\n' | git credential fill"),
    ("protocol.ext.allow", "always", "git ls-remote 'ext::{evil} %S'"),
    ("gpg.program", "{evil}", "git commit --allow-empty -S -m signed"),
    ("gpg.openpgp.program", "{evil}", "git commit --allow-empty -S -m signed"),
    ("gpg.x509.program", "{evil}", "git -c gpg.format=x509 commit --allow-empty -S -m signed"),
    ("gpg.ssh.program", "{evil}", "git -c gpg.format=ssh -c user.signingKey=key::x commit --allow-empty -S -m signed"),
    ("gpg.ssh.defaultKeyCommand", "{evil}", "git -c gpg.format=ssh commit --allow-empty -S -m signed"),
    ("commit.gpgSign", "true", "git -c gpg.program={evil} commit --allow-empty -m unsigned"),
    ("tag.gpgSign", "true", "git -c gpg.program={evil} tag -a v1 -m unsigned; git tag -d v1"),
    (
        "core.alternateRefsCommand",
        "{evil}",
        "git clone -q --bare . ../other; echo $PWD/../other/objects > .git/objects/info/alternates; git fetch ../other",
    ),
]


@pytest.mark.parametrize(("key", "value", "line"), HOSTILE)
async def test_no_program_that_a_repositorys_settings_name_runs(work: Path, key: str, value: str, line: str) -> None:
    """The same line, run plainly, runs the program."""
    evil, mark = str(work / "evil"), work / MARK
    _plainly(work, f"git config '{key}' '{value.format(evil=evil)}'")
    await _disarmed(work, line.format(evil=evil))
    disarmed = mark.exists()
    _plainly(work, f"git reset -q --hard; echo changed > file; {line.format(evil=evil)}")

    assert (False, True) == (disarmed, mark.exists())


@pytest.mark.skipif(shutil.which("script") is None, reason="nothing here makes a terminal")
@pytest.mark.parametrize(
    ("key", "command"), [("core.pager", "log"), ("pager.log", "log"), ("interactive.diffFilter", "add -p")]
)
async def test_no_pager_or_filter_runs_even_on_a_terminal(work: Path, key: str, command: str) -> None:
    """A command can give git a terminal, where git would show its output through another program."""
    line = f"echo q | TERM=xterm script -qec 'git {command}' /dev/null"
    _plainly(work, f"git config {key} '{work}/evil'")
    ran = await _disarmed(work, line)
    disarmed = (work / MARK).exists()
    _plainly(work, line)

    assert (Result.SUCCEEDED, False, True) == (ran.result, disarmed, (work / MARK).exists())


@pytest.mark.parametrize("place", ["config", "included", "home"])
async def test_every_file_that_git_would_read_is_disarmed(work: Path, place: str) -> None:
    """The repository's own settings, a file that they include, and a `.gitconfig` in the shell's home."""
    text = f"[core]\nfsmonitor = {work}/evil\n"
    if place == "home":
        (work / ".gitconfig").write_text(text)
    else:
        (work / "settings").write_text(text)
        _plainly(
            work, f"git config include.path {work}/settings" if place == "included" else "cat settings>>.git/config"
        )
    await _disarmed(work, "git status; git diff; git log -1")
    disarmed = (work / MARK).exists()
    _plainly(work, "git status")

    assert (False, True) == (disarmed, (work / MARK).exists())


@pytest.mark.parametrize("name", ["post-index-change", "pre-commit", "reference-transaction"])
async def test_no_hook_runs(work: Path, name: str) -> None:
    """Neither one that `git status` may run nor those of a commit; the commit is made."""
    (work / "evil").rename(work / ".git/hooks" / name)
    line = "touch file; git status; git commit -qam third"
    ran = await _disarmed(work, line)
    disarmed = (work / MARK).exists()
    (work / "file").write_text("again\n")
    _plainly(work, line)

    assert (Result.SUCCEEDED, False, True) == (ran.result, disarmed, (work / MARK).exists())


async def test_a_submodules_settings_run_nothing(work: Path) -> None:
    """Git runs itself in each submodule; what disarms it goes along."""
    _plainly(work, "git init -q sub; cd sub; git -c user.name=A -c user.email=a@b commit -q --allow-empty -m x")
    _plainly(work, "git add sub; cd sub; git config core.fsmonitor $EVIL_ROOT/evil")
    await _disarmed(work, "git status; git diff")
    disarmed = (work / MARK).exists()
    _plainly(work, "git status")

    assert (False, True) == (disarmed, (work / MARK).exists())


async def test_a_missing_object_is_not_fetched(work: Path) -> None:
    """A promised object would be fetched by a program of the remote's settings."""
    _plainly(
        work,
        "git config extensions.partialClone o; git config remote.o.promisor true; git config remote.o.url ../other;"
        "git config remote.o.uploadpack $EVIL_ROOT/evil; git rm -q --cached file; git gc -q --prune=now;"
        "rm -f .git/objects/$(git rev-parse HEAD:file | sed 's|^..|&/|') .git/objects/pack/*",
    )
    line = "git cat-file -e 1111111111111111111111111111111111111111"
    await _disarmed(work, line)
    disarmed = (work / MARK).exists()
    _plainly(work, line)

    assert (False, True) == (disarmed, (work / MARK).exists())


async def test_what_a_person_reads_in_the_command_line_counts(work: Path) -> None:
    """`git -c` comes after the environment: a commit whose card shows that it wants its hooks has them."""
    (work / "evil").rename(work / ".git/hooks/pre-commit")
    ran = await _disarmed(work, "git -c core.hooksPath=.git/hooks commit -qam third")

    assert (Result.SUCCEEDED, True) == (ran.result, (work / MARK).exists())


async def test_usual_commands_work_disarmed(work: Path) -> None:
    """Reading, committing, branching and merging, with the output that they have outside."""
    ran = await _disarmed(
        work,
        "set -e; git diff --stat; git commit -qam third; git log --oneline | wc -l; git switch -qc side;"
        "git stash list; git blame -s file | wc -l; git grep -c changed; git tag -a v1 -m v1;"
        "git show -s --format=%G?%an; git merge -q main",
    )

    assert Ran(Result.SUCCEEDED, ran.output, exit_status=0) == ran
    assert ["3", "1", "file:1", "NA"] == [line.strip() for line in ran.output.splitlines()[2:]]


@pytest.mark.parametrize("way", [way for way in Confinement if way is not Confinement.NONE], ids=str)
async def test_a_confined_command_has_the_same_environment(work: Path, way: Confinement) -> None:
    """Git works where it is confined, and is disarmed there too."""
    if not works(Sandbox(way)):
        pytest.skip(f"{way} doesn't work here")
    _plainly(work, f"git config core.fsmonitor {work}/evil")
    context = Context("token:agent", "ref-1", "ref-1", 10, {"confinement": way.value})
    ran = await Shell(work, Sandbox(way)).bash(context, Bash(command=f"export EVIL_ROOT={work}; git status --short"))

    assert (Result.SUCCEEDED, " M file\n?? evil\n", False) == (ran.result, ran.output, (work / MARK).exists())
