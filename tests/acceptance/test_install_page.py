"""docs/how-to/install.md: its wheels, extras and folders are what is built, what there is, and what is left."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from tests.acceptance.installation import Installation
from tests.acceptance.page import Page
from tests.acceptance.test_client import APPROVE, Person

ROOT = Path(__file__).parents[2]
PAGE = Page("install.md")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CLIENT = tomllib.loads((ROOT / "clients/pyproject.toml").read_text())["project"]


def built(target: str, folder: Path, project: Path = ROOT) -> Path:
    """The wheel or the sdist of a project, built as pip builds it, without a network."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    subprocess.run(command, cwd=project, env={"PATH": os.environ["PATH"]}, check=True, capture_output=True, timeout=60)
    (made,) = folder.iterdir()
    return made


def test_the_page_names_the_wheel_that_is_built(tmp_path: Path) -> None:
    """In each of its commands, and in the page about upgrades."""
    name = built("wheel", tmp_path).name
    text = PAGE.text + (ROOT / "docs/how-to/upgrade.md").read_text()

    assert {name} == set(re.findall(r"sayso-[\w.-]+\.whl", text))


@pytest.mark.long
def test_the_installed_program_deploys_without_the_checkout(tmp_path: Path) -> None:
    """The manifest of the Slack app is in the wheel."""
    with zipfile.ZipFile(built("wheel", tmp_path / "dist")) as wheel:
        wheel.extractall(tmp_path / "site")  # noqa: S202 - our own
    (tmp_path / "sayso.toml").write_text("")
    done = subprocess.run(
        [sys.executable, "-c", "from bot.cli.main import main; main()", "deploy", "slack", "--manifest"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path / "site"), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, "") == (done.returncode, done.stderr)
    assert "socket_mode_enabled: true" in done.stdout


#: A program that asks for a call with the client, in an environment that has nothing of the service.
_ASKS = """
import sys
from importlib.util import find_spec
from sayso_client import Sayso, configuration

assert not any(map(find_spec, ("hitl", "adapters", "bot")))
with Sayso(configuration(socket=sys.argv[1])) as sayso:

    @sayso.gated(ask=True)
    def publish(page: str) -> str:
        return page.upper()

    print(publish("home"))
"""


@pytest.mark.long
def test_the_client_works_from_its_wheel_in_an_empty_environment(service: Installation, tmp_path: Path) -> None:
    """The wheel holds the client alone, needs only what it names, and its function and its commands run."""
    wheel = built("wheel", tmp_path / "dist", ROOT / "clients")
    with zipfile.ZipFile(wheel) as packed:
        tops = {name.partition("/")[0] for name in packed.namelist()}
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"

    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, cwd=tmp_path, env=clean, capture_output=True, text=True, check=False, timeout=300)

    needed = run(python, "-m", "pip", "install", "--quiet", *CLIENT["dependencies"])
    if needed.returncode:
        pytest.skip(f"no package registry: {needed.stderr.strip().splitlines()[-1]}")
    installed = run(python, "-m", "pip", "install", "--quiet", "--no-deps", wheel)
    with Person(service, publish=APPROVE):
        asked = run(python, "-I", "-c", _ASKS, str(service.socket))

    assert {"sayso_client", f"sayso_client-{CLIENT['version']}.dist-info"} == tops
    assert [0, 0] == [installed.returncode, run(python, "-m", "pip", "check").returncode]
    assert (0, "HOME\n", "") == (asked.returncode, asked.stdout, asked.stderr)
    for command in CLIENT["scripts"]:
        assert 0 == run(tmp_path / "env" / "bin" / command, "--help").returncode


#: Folders that commands make, and that of git.
MADE = frozenset({"build", "dist", ".git"})


def named_files() -> set[str]:
    """Return all files and folders of the checkout that a page names by their path from its root, or links to."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "deploy").rglob("*.md")]
    named = set[Path]()
    for page in pages:
        text = page.read_text()
        named |= {ROOT / word.rstrip(".") for word in re.findall(r"(?<![\w/~.-])[.\w][\w./-]*[\w/]", text)}
        named |= {page.parent / link for link in re.findall(r"\]\(([^)#:\s]+)", text)}
    found = {path.resolve() for path in named}
    inside = {path.relative_to(ROOT) for path in found if path.is_relative_to(ROOT) and path.exists()} - {Path()}
    return {str(path) for path in inside if path.parts[0] not in MADE and not path.parts[0].startswith(".venv")}


def test_an_sdist_has_all_that_the_pages_name(tmp_path: Path) -> None:
    """The pages themselves, the files for hosts, and what `make demo`, `make lock` and the installer run."""
    with tarfile.open(built("sdist", tmp_path)) as packed:
        files = {Path(name.partition("/")[2]) for name in packed.getnames()}
    there = {str(each) for file in files for each in (file, *file.parents)}
    named = named_files()

    assert {"Makefile", "deploy/linux/install.sh", "scripts/cards", "benchmarks"} <= named
    assert set() == named - there
    assert {"scripts/venv", "scripts/lock", "requirements.txt", "Makefile", "docs/index.md"} <= there


def test_every_extra_is_on_the_page() -> None:
    """With what needs it; the extra of developers is theirs."""
    table = PAGE.text.partition("| extra |")[2].partition("\n\n")[0]

    assert set(PROJECT["optional-dependencies"]) - {"dev"} == set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    assert all(f"`{extra}`" in PAGE.text for extra in CLIENT["optional-dependencies"])


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: str(page.name))
def test_no_page_installs_from_an_index(page: Path) -> None:
    """Nothing is published, so `pip install sayso` would fetch nothing or somebody else's program."""
    if page.name == "messages.md":
        return
    commands = re.findall(r"pip install (?:--\S+ )*['\"]?(sayso\S*)", page.read_text())

    assert [] == commands


def test_the_folders_that_stay_are_the_defaults() -> None:
    """Of the settings, as `init` writes them."""
    from bot.settings import Settings  # noqa: PLC0415 - the other tests of this page need no settings

    fields = Settings.model_fields
    assert all(f"`{fields[name].default}`" in PAGE.text for name in ("state", "workspace"))
