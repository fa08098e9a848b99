"""A call is bound to the files that its command line runs, as far as the line names them."""

from __future__ import annotations

import asyncio
import errno
import os
import tempfile
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from adapters.executors.bash import Bash, Shell, register_shell
from adapters.executors.confinement import Confinement, Sandbox, works
from adapters.executors.folder import Folder
from adapters.executors.registry import Registry
from adapters.executors.scripts import MOST, MOST_BYTES, SCRIPT, script_now, scripts_of
from hitl.call import Result
from hitl.cards.wording import say
from tests.adapters.executors.conftest import a_lease, an_ask, names, soon
from tests.sentences import says

FILES = (
    "deploy.sh run.py lib.js app.js rules.mk Makefile sub/Makefile sub/go.sh data.csv prog.awk pkg/__main__.py"
    " pkg/tool.py package.json Justfile"
)


@pytest.fixture
def folder(root: Path) -> Folder:
    """A workspace with scripts of many kinds; `tool` names its interpreter, `link` leads to it."""
    for name in FILES.split():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(name)
    (root / "tool").write_text("#!/bin/sh\n")
    (root / "link").symlink_to("tool")
    (root / "outside").symlink_to("../secret.txt")
    return Folder(root)


def _found(folder: Folder, line: str) -> list[str]:
    return [script.path for script in scripts_of(line, folder).found]


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("./tool", "tool"),
        ("./link now", "link"),
        ("bash deploy.sh data.csv", "deploy.sh"),
        ("bash -x ./deploy.sh", "deploy.sh"),
        ("source deploy.sh", "deploy.sh"),
        (". ./deploy.sh", "deploy.sh"),
        ("bash ~/deploy.sh", "deploy.sh"),
        ("python run.py < data.csv", "run.py"),
        ("python -m pkg.tool", "pkg/tool.py"),
        ("python pkg", "pkg/__main__.py"),
        ("node -r ./lib.js app.js", "lib.js app.js"),
        ("make -f rules.mk all", "rules.mk"),
        ("make all", "Makefile"),
        ("make -C sub all", "Makefile sub/Makefile"),
        ("just build", "Justfile"),
        ("npm test", "package.json"),
        ("awk -f prog.awk data.csv", "prog.awk"),
        ("cd sub && ./go.sh", "sub/go.sh"),
        ("cd sub && bash ../deploy.sh", "deploy.sh"),
        ("sudo -u bob env A=1 timeout 5 ./tool", "tool"),
        ("find . -exec ./tool {} ;", "tool"),
        ("bash -c './tool; source deploy.sh'", "tool deploy.sh"),
        ("for f in deploy.sh tool; do bash $f; done", "deploy.sh tool"),
        ("bash *.sh", "deploy.sh"),
        ("cat deploy.sh | bash", "deploy.sh"),
        ("bash < deploy.sh", "deploy.sh"),
        ("python - < 'data.csv'", "data.csv"),
        ('bash -c "$(cat deploy.sh)"', "deploy.sh"),
        ('eval "$(cat data.csv)"', "data.csv"),
        ("acme-run deploy.sh data.csv", "deploy.sh"),
        ("acme-run tool", "tool"),
        ("uv run run.py", "run.py"),
        ("chmod +x tool && ./tool", "tool"),
    ],
)
def test_what_a_line_runs_is_found(folder: Folder, line: str, files: str) -> None:
    """By whatever way it is run, and no data beside it."""
    assert files.split() == _found(folder, line)


@pytest.mark.parametrize(
    "line",
    [
        "cat deploy.sh",
        "git add run.py",
        "sed -i s/a/b/ deploy.sh",
        "awk '{print}' data.csv",
        "python -c 'print(1)' data.csv",
        "./not-there",
        "./outside",
        "bash ../secret.txt",
        "/bin/ls",
        "bash -c 'echo x'",
    ],
)
def test_what_runs_no_file_of_the_workspace_binds_none(folder: Folder, line: str) -> None:
    """A script that is only read or changed is data; the system's programs are no tool's to change."""
    assert [] == _found(folder, line)


def test_a_line_binds_a_bounded_number(folder: Folder) -> None:
    """So that nobody can make the look at a line take long."""
    for number in range(MOST + 10):
        (folder.root / f"s{number}.sh").touch()

    assert MOST == len(_found(folder, "bash *.sh"))


@pytest.mark.parametrize("line", ["bash s*.sh", "; ".join(f"bash s{number}.sh" for number in range(MOST + 1))])
def test_a_card_says_that_further_files_are_not_bound(folder: Folder, line: str) -> None:
    """With one file more than are bound, nobody may believe that all of them stay as they are."""
    for number in range(MOST + 1):
        (folder.root / f"s{number}.sh").touch()
    shell = Shell(folder.root, Sandbox(Confinement.BUBBLEWRAP))

    found, last = shell.look(Bash(command=line)), "s99.sh" if "*" in line else f"s{MOST}.sh"
    few = shell.look(Bash(command="bash s1.sh; bash s2.sh"))

    assert [says(note, "shell.scripts.beyond", scripts=last) for note in found.notes] == [True]
    assert () == few.notes
    assert (True, False) == (found.unbound, few.unbound)


def test_a_file_that_is_too_long_to_read_is_not_bound(folder: Folder) -> None:
    """Its length alone is looked at. A shorter file after it is bound, and the card names the long one."""
    (folder.root / "short.sh").write_text("ls")
    with (folder.root / "long.sh").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    run = scripts_of("bash long.sh; bash short.sh", folder)

    assert (["short.sh"], ("long.sh",)) == ([script.path for script in run.found], run.unbound)


def test_a_file_of_the_workspace_that_can_not_be_read_is_named(folder: Folder) -> None:
    """A pipe has no bytes to bind: the card names it and says why, and the command never runs unasked."""
    os.mkfifo(folder.root / "pipe.sh")
    found = Shell(folder.root, Sandbox(Confinement.BUBBLEWRAP)).look(Bash(command="bash pipe.sh; bash run.py"))

    assert [True] == [says(note, "shell.scripts.unread", scripts="pipe.sh") for note in found.notes]
    assert (True, ["script:run.py"]) == (found.unbound, [name for name, _ in found.preconditions if "script:" in name])


@pytest.fixture
def closed_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    """This user may not look into folders of the name `closed`.

    The system's refusal is scripted, because root may run the tests, and no mode of a folder keeps root out.
    """
    real = os.stat

    def stat(path: Any, *args: Any, **more: Any) -> os.stat_result:
        if "/closed/" in str(path):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(path, *args, **more)

    monkeypatch.setattr(os, "stat", stat)


@pytest.mark.usefixtures("closed_folders")
def test_a_file_that_this_user_may_not_look_at_is_named(folder: Folder) -> None:
    """Another user's command may run a file in a folder that is closed to this user."""
    assert ("closed/x.sh",) == scripts_of("bash closed/x.sh", folder).unread


def test_a_link_that_leads_out_of_the_workspace_is_named_as_a_file_outside(folder: Folder) -> None:
    """The file that runs is the one outside, and it isn't bound."""
    with tempfile.NamedTemporaryFile(suffix=".sh") as script:
        (folder.root / "link.sh").symlink_to(script.name)
        found = scripts_of("bash link.sh", folder)

    assert ((), (), (script.name,)) == (found.found, found.unread, found.outside)


def test_a_change_of_any_of_many_scripts_is_seen(folder: Folder) -> None:
    """Also of the last one that is bound."""
    for number in range(MOST):
        (folder.root / f"s{number}.sh").touch()
    shell = Shell(folder.root, Sandbox(Confinement.BUBBLEWRAP))
    line = Bash(command="bash s*.sh")
    found = shell.look(line)
    (folder.root / "s99.sh").write_text("rm -rf /")

    assert says(shell.changed(line, dict(found.preconditions)) or "", "path.changed", path="s99.sh")


@pytest.mark.parametrize("line", ["bash {}", "{}", "cd / && bash .{}", "sudo bash {}", "python3 -u {} data.csv"])
def test_a_card_names_files_outside_of_the_workspace_if_a_command_can_reach_them(folder: Folder, line: str) -> None:
    """Such a file isn't bound, and only an unconfined command can run it. The system's own programs aren't named."""
    with tempfile.NamedTemporaryFile(suffix=".sh") as script:
        command = Bash(command=f"/usr/bin/env true; {line.format(script.name)}")
        free, confined = (
            Shell(folder.root, Sandbox(way)).look(command).notes for way in (Confinement.NONE, Confinement.BUBBLEWRAP)
        )

    assert [True] == [says(note, "shell.scripts.outside", scripts=script.name) for note in free[1:]]
    assert () == confined


@pytest.mark.usefixtures("closed_folders")
def test_a_card_names_a_file_outside_that_this_user_may_not_look_at(folder: Folder) -> None:
    """The file may be there, and another user's command may run it."""
    assert ("/closed/x.sh",) == scripts_of("bash /closed/x.sh", folder).outside


@pytest.mark.parametrize(
    "line",
    [
        "bash ../" + "x" * 300,
        "bash " + "x" * 300,
        f"python3 -c '{'x' * 300}'",
        f"python3 -c '{'x' * 300}/[y]*'",
        f"make -C {'x' * 300}",
        "bash a\\\0b",
    ],
    ids=["outside", "inside", "code", "code like a pattern", "folder", "NUL"],
)
def test_a_word_that_can_be_no_name_of_a_file_is_none(folder: Folder, line: str) -> None:
    """Code and other words may be longer than any file's name."""
    found = scripts_of(line, folder)

    assert ((), ()) == (tuple(script for script in found.found if script.path != "Makefile"), found.outside)


def test_a_long_script_is_hashed_without_reading_it_whole(folder: Folder) -> None:
    """The memory for a script is bounded, however long its file is. The card shows no text of a long script."""
    with (folder.root / "long.sh").open("wb") as file:
        file.truncate(64 << 20)
    tracemalloc.start()
    [script] = scripts_of("bash long.sh", folder).found
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert script.text is None
    assert script.digest == script_now(folder, SCRIPT + "long.sh")
    assert peak < 16 << 20


def test_a_file_that_leads_out_by_now_is_no_longer_the_one(folder: Folder) -> None:
    """A bound script that became a link out of the workspace is a change, not an error."""
    [script] = scripts_of("bash deploy.sh", folder).found
    (folder.root / "deploy.sh").unlink()
    (folder.root / "deploy.sh").symlink_to("../secret.txt")

    assert script.digest != script_now(folder, SCRIPT + "deploy.sh")


async def test_a_card_names_the_scripts_and_a_change_stops_the_run(root: Path) -> None:
    """The digest is a precondition; with other bytes nothing runs, and the next look shows the difference."""
    registry = Registry("workspace", None)
    register_shell(registry, Shell(root, Sandbox(Confinement.NONE)))
    (root / "deploy.sh").write_text("touch one\n")
    ask = an_ask("bash", command="bash deploy.sh")
    first = await registry.prepare(ask)
    lease = a_lease(registry, ask, first)
    (root / "deploy.sh").write_text("touch two\n")
    ran = await registry.run(lease, limit_s=10)
    second = await registry.prepare(ask)

    assert says(first.sentence, "shell.does.scripts", scripts="deploy.sh")
    assert "" == first.preview
    assert say("path.changed", path="deploy.sh") == await registry.still_holds(lease.call)
    assert (Result.REFUSED, say("path.changed", path="deploy.sh")) == (ran.result, ran.error)
    assert ["deploy.sh"] == names(root)
    assert "-touch one\n+touch two" in second.preview


@pytest.mark.parametrize("command", ["bash deploy.sh", "bash *.sh", "./deploy.sh", "make"])
async def test_a_script_that_appears_after_the_asking_does_not_run(root: Path, command: str) -> None:
    """People were shown a line that ran no file; the file that somebody put there since is one that nobody approved."""
    registry = Registry("workspace", None)
    register_shell(registry, Shell(root, Sandbox(Confinement.NONE)))
    ask = an_ask("bash", command=command)
    lease = a_lease(registry, ask, await registry.prepare(ask))
    path = "Makefile" if command == "make" else "deploy.sh"
    (root / path).write_text("all:\n\ttouch ran\n")
    ran = await registry.run(lease, limit_s=10)

    assert say("path.changed", path=path) == await registry.still_holds(lease.call)
    assert (Result.REFUSED, [path]) == (ran.result, names(root))


@pytest.mark.parametrize("way", [Confinement.BUBBLEWRAP, Confinement.NAMESPACE], ids=str)
async def test_the_bytes_that_were_hashed_are_those_that_run(root: Path, way: Confinement) -> None:
    """With mounts of its own, a command sees a copy: a change of the file while it runs changes nothing."""
    if not works(Sandbox(way)):
        pytest.skip(f"{way} doesn't work here")
    registry = Registry("workspace", None)
    register_shell(registry, Shell(root, Sandbox(way)))
    (root / "deploy.sh").write_text(
        "#!/bin/sh\ntouch started\nwhile ! test -e go; do sleep 0.02; done\necho approved\n"
    )
    (root / "deploy.sh").chmod(0o755)
    ask = an_ask("bash", command="./deploy.sh")
    lease = a_lease(registry, ask, await registry.prepare(ask))
    running = asyncio.ensure_future(registry.run(lease, limit_s=60))
    await soon((root / "started").exists)
    with (root / "deploy.sh").open("r+") as file:  # the same file, which a shell reads as it goes
        file.write("#!/bin/sh\ntouch started\nwhile ! test -e go; do sleep 0.02; done\necho changed!\n")
    (root / "go").touch()
    ran = await running

    assert "approved\n" == ran.output


@pytest.mark.parametrize("way", [Confinement.BUBBLEWRAP, Confinement.NAMESPACE], ids=str)
async def test_a_line_may_change_what_it_runs(root: Path, way: Confinement) -> None:
    """Where the line itself makes the script ready, the script isn't held in place."""
    if not works(Sandbox(way)):
        pytest.skip(f"{way} doesn't work here")
    registry = Registry("workspace", None)
    register_shell(registry, Shell(root, Sandbox(way)))
    (root / "tool").write_text("#!/bin/sh\necho ran\n")
    ask = an_ask("bash", command="chmod +x tool && ./tool")
    ran = await registry.run(a_lease(registry, ask, await registry.prepare(ask)), limit_s=60)

    assert (Result.SUCCEEDED, "ran\n") == (ran.result, ran.output)
