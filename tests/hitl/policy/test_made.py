"""Lines that make a file and then read the folder that holds it."""

import subprocess
from pathlib import Path

import pytest

from adapters.policies.surroundings import RealPaths
from hitl.policy import PolicyCall, load, presets

DEV = load(presets()["dev"], name="dev").with_ports(RealPaths())


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A git repository with a source file, a folder `kit` that is a repository but for its references, and a link."""
    folder = tmp_path / "work"
    for name in ("src", "out", "kit/objects", "docs/a/b"):
        (folder / name).mkdir(parents=True)
    (folder / "src" / "a.py").write_text("x = 1\n")
    (folder / "README.md").write_text("# x\n")
    (folder / "kit" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "kit" / "config").write_text("[core]\nfsmonitor = ./x\n")
    (folder / "docs" / "a" / "b" / "link").symlink_to("../../../README.md")
    subprocess.run(["git", "init", "-q", folder], check=True)
    return folder


def dev(work: Path, command: str) -> str:
    """Return the action of the preset `dev` for a command, with the files as they are now."""
    return DEV.judge(PolicyCall("", "Bash", {"command": command}, cwd=str(work))).action


@pytest.mark.parametrize(
    "making",
    [
        "cp kit/HEAD kit/config out/ && mkdir out/refs out/objects",
        "cp -r kit/. out",
        "cp kit/H* kit/c* out",
        "mv kit/objects kit/HEAD kit/config out",
        "mkdir out/refs",
        "mkdir -p out/objects/info",
        "echo 'ref: refs/heads/main' > out/HEAD",
        "cat README.md | tee out/head",
        "cp README.md out/commondir",
    ],
)
@pytest.mark.parametrize("reading", ["git -C out status", "cd out && git log -3", "git -C out remote -v"])
def test_a_line_that_may_make_a_repository_runs_git_in_it_only_after_a_yes(
    work: Path, making: str, reading: str
) -> None:
    """The configuration of the new repository could name a program, and nobody has examined it."""
    assert ("allow", "allow", "approve") == (dev(work, making), dev(work, reading), dev(work, f"{making}; {reading}"))


@pytest.mark.parametrize(
    "line",
    [
        "sed -i 's/x/y/' src/*.py && git diff",
        "sed -i 's/x/y/' src/a.py && rg y src",
        "mv src/a.py src/b.py && git status",
        "cp -r src lib && git status --short",
        "mkdir -p lib/api && cp README.md lib/api/ && ls lib/api && git status",
        "echo out >> .gitignore && git status",
        "echo x > notes.md && grep -n x *.md",
        "cp README.md 'a b.md' && git status",
        "touch src/-c.py && rg x src",
        "touch src/b.py && find src -name '*.py' | xargs wc -l",
    ],
)
def test_a_line_that_makes_ordinary_files_and_reads_passes(work: Path, line: str) -> None:
    """These names don't change which files the later command reads."""
    assert "allow" == dev(work, line)


@pytest.mark.parametrize("name", [".ignore", ".gitignore", "src/.rgignore", "src/.ign*"])
@pytest.mark.parametrize("making", ["echo '!.token' > {}", "cp README.md {}", "sed -i 's/a/!.b/' {}"])
def test_a_line_that_writes_an_ignore_file_searches_only_after_a_yes(work: Path, making: str, name: str) -> None:
    """An ignore file can make ripgrep read hidden files."""
    line = f"{making.format(name)}; rg x src"

    assert "approve" == dev(work, line)


@pytest.mark.parametrize("making", ["touch -- {}", "echo x > {}", "cp a.py ./{}", "mkdir -p ./{}"])
def test_a_line_that_makes_an_option_for_a_pattern_asks(work: Path, making: str) -> None:
    """The shell puts the new name in place of the pattern, and the program takes it for an option."""
    reading = "sort *"

    assert ("allow", "approve", "approve") == tuple(
        dev(work, f"cd src && {making.format(name)} && {reading}") for name in ("b.py", "-ob.py", "+b.py")
    )


def test_a_line_that_makes_a_file_of_options_asks(work: Path) -> None:
    """The program nm takes `@b.py` for a file of options."""
    reading = "nm *.py"

    assert ("allow", "approve") == tuple(
        dev(work, f"cd src && touch {name} && {reading}") for name in ("b.py", "@b.py")
    )


def test_a_line_that_makes_a_name_with_a_blank_passes_no_names_to_xargs(work: Path) -> None:
    """The program xargs would read `src/x token.json` as two names, and the second name may be a secret."""
    listing = "find src -type f | xargs cat"

    assert ("allow", "approve", "approve") == (
        dev(work, listing),
        dev(work, f"touch 'src/x token.json'; {listing}"),
        dev(work, f'mv README.md "src/\'"; {listing}'),
    )


@pytest.mark.parametrize("line", ["mv docs/a/b/link .", "cp -P docs/a/b/link x", "cp -r docs/a x", "mv docs/a/* src"])
def test_a_link_is_moved_only_after_a_yes(work: Path, line: str) -> None:
    """A relative link leads to another file from its new place, as a new link would."""
    assert "approve" == dev(work, line)
    (work / "docs" / "a" / "b" / "link").unlink()
    (work / "docs" / "a" / "b" / "link").write_text("x")

    assert "allow" == dev(work, line)
