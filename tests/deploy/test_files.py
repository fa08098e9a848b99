"""The files of `deploy/` agree with the program: its settings, its pins, its two probes, and one instance."""

from __future__ import annotations

import os
import re
import shutil
import site
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.errors import SettingsError
from bot.settings import Settings, ToolSettings, load, refuse_foreign
from tests.acceptance.installation import acting_as

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "docker" / "Dockerfile").read_text()
INSTALLER = (DEPLOY / "linux" / "install.sh").read_text()
README = (DEPLOY / "README.md").read_text()
UNIT = (DEPLOY / "systemd" / "sayso.service").read_text()
COMPOSE = yaml.safe_load((DEPLOY / "docker" / "compose.yaml").read_text())["services"]["sayso"]
KUBERNETES = {each["kind"]: each for each in yaml.safe_load_all((DEPLOY / "kubernetes" / "sayso.yaml").read_text())}
FLY = tomllib.loads((DEPLOY / "fly" / "fly.toml").read_text())
POD: dict[str, Any] = KUBERNETES["Deployment"]["spec"]["template"]["spec"]
#: All that says SAYSO_ anywhere; SAYSO_CONFIG names the file of the settings and is none itself.
NAMED = {
    name
    for path in DEPLOY.rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
    for name in re.findall(r"\bSAYSO_[A-Z_]+[A-Z]", path.read_text())
} - {"SAYSO_CONFIG"}


def setting(name: str) -> Any:
    """The field that a variable sets. Raises KeyError where there is none."""
    fields: Any = Settings.model_fields
    found = None
    for part in name.removeprefix("SAYSO_").lower().split("__"):
        found = fields[part]
        kinds = [found.annotation, *getattr(found.annotation, "__args__", ())]
        fields = next((kind.model_fields for kind in kinds if hasattr(kind, "model_fields")), {})
    return found


@pytest.mark.parametrize("name", sorted(NAMED))
def test_every_variable_is_a_setting(name: str) -> None:
    """The service refuses to start with a variable that names none."""
    assert setting(name)


def test_a_host_runs_what_was_tested() -> None:
    """requirements.txt has each pin of the image and of the demo, with the same hashes."""
    tested = (ROOT / "requirements.txt").read_text().split("\n")
    image = DEPLOY / "docker"
    files = (image / "requirements.txt", image / "build-requirements.txt", ROOT / "scripts" / "demo-requirements.txt")
    for file in files:
        assert [] == [line for line in file.read_text().split("\n") if line not in tested]


def test_nothing_runs_as_root() -> None:
    """The image, the unit and the pod name another user."""
    assert "USER 10001:10001" in DOCKERFILE
    assert "User=sayso" in UNIT
    assert POD["securityContext"]["runAsNonRoot"]


def test_the_root_folder_may_be_read_only() -> None:
    """What the service writes lies on volumes and in memory."""
    (container,) = POD["containers"]

    assert COMPOSE["read_only"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert "ProtectSystem=strict" in UNIT


def test_there_is_one_instance() -> None:
    """Two would poll at once, and one state folder serves one service."""
    workload = KUBERNETES["Deployment"]["spec"]

    assert (1, "Recreate") == (workload["replicas"], workload["strategy"]["type"])
    assert ("immediate", "off") == (FLY["deploy"]["strategy"], FLY["http_service"]["auto_stop_machines"])


def test_a_stop_is_given_time() -> None:
    """Longer than the 35 s that running tools are given to end, and what the page about upgrades says."""
    given = {
        int(COMPOSE["stop_grace_period"].removesuffix("s")),
        POD["terminationGracePeriodSeconds"],
        FLY["kill_timeout"],
        int(re.findall(r"TimeoutStopSec=(\d+)s", UNIT)[0]),
    }

    assert {45} == given
    assert "A supervisor should give it 45 seconds" in (ROOT / "docs/how-to/upgrade.md").read_text()


#: MiB, and processes with threads, that the service itself needs beside one command at its limits.
_OWN_MIB, _OWN_TASKS = 384, 128
_UNITS = {"m": 1, "mb": 1, "Mi": 1, "g": 1024, "gb": 1024, "G": 1024, "Gi": 1024}


def mib(text: str) -> int:
    """A size of a file of deploy/ in MiB."""
    number, unit = re.fullmatch(r"(\d+)(\w+)", text).groups()  # type: ignore[union-attr]
    return int(number) * _UNITS[unit]


@pytest.mark.parametrize(
    ("memory", "tasks", "environment"),
    [
        pytest.param(COMPOSE["mem_limit"], COMPOSE["pids_limit"], COMPOSE["environment"], id="compose"),
        pytest.param(
            POD["containers"][0]["resources"]["limits"]["memory"],
            None,
            {each["name"]: each["value"] for each in POD["containers"][0]["env"]},
            id="kubernetes",
        ),
        pytest.param(FLY["vm"][0]["memory"], None, FLY["env"], id="fly"),
        pytest.param(
            re.findall(r"MemoryMax=(\w+)", UNIT)[0], int(re.findall(r"TasksMax=(\d+)", UNIT)[0]), {}, id="unit"
        ),
    ],
)
def test_a_command_at_its_limits_fits(memory: str, tasks: int | None, environment: dict[str, Any]) -> None:
    """Where the host's limits end first, a command that may use more ends the whole service."""
    tools = ToolSettings()

    assert mib(memory) >= int(environment.get("SAYSO_TOOLS__MEMORY_MB", tools.memory_mb)) + _OWN_MIB
    if tasks is not None:
        assert tasks >= int(environment.get("SAYSO_TOOLS__PROCESSES", tools.processes)) + _OWN_TASKS


def test_what_must_stay_lies_on_volumes() -> None:
    """Record, mark and workspace outlive the container or the machine."""
    (container,) = POD["containers"]
    kept = ["/var/lib/sayso", "/var/lib/sayso-mark", "/srv/workspace"]
    (volume,) = FLY["mounts"]

    assert set(kept) <= {one.split(":")[1] for one in COMPOSE["volumes"]}
    assert set(kept) <= {one["mountPath"] for one in container["volumeMounts"]}
    for name in ("SAYSO_STATE", "SAYSO_MARK", "SAYSO_WORKSPACE"):
        assert FLY["env"][name].startswith(volume["destination"] + "/")


def test_metrics_can_be_scraped() -> None:
    """The port is published: on the host's loopback, and inside the cluster."""
    (container,) = POD["containers"]

    assert "127.0.0.1:9464:9464" in COMPOSE["ports"]
    assert 9464 in {port["containerPort"] for port in container["ports"]}
    assert "metrics" in {port["targetPort"] for port in KUBERNETES["Service"]["spec"]["ports"]}


def test_the_image_has_one_name() -> None:
    """The tag that the page builds is the one that compose and the manifest run: this version."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    built = re.findall(r"--tag (\S+)", README)

    assert f"sayso:{version}" == COMPOSE["image"] == POD["containers"][0]["image"]
    assert {f"sayso:{version}"} == {name.rpartition("/")[2] for name in built}


def test_the_unit_names_files_that_the_installer_brings() -> None:
    """Its documentation and its program lie below /usr/local/lib/sayso."""
    page = re.findall(r"Documentation=file:/usr/local/lib/sayso/(\S+)", UNIT)[0]

    assert (ROOT / page).is_file()
    assert 'cp -r "$here/docs" "$here/deploy" "$new/"' in INSTALLER


def test_the_hosted_extras_are_named() -> None:
    """The page about installing says which extras the image and the installer lack: just one."""
    extras = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    hosted = set(re.findall(r"--extra (\w+)", (ROOT / "scripts/lock").read_text().partition("built=")[0]))

    assert {"simulate", "dev"} == extras - hosted
    assert "have all extras except `simulate`" in (ROOT / "docs/how-to/install.md").read_text()


def shell(section: str) -> str:
    """The commands of a section of the page."""
    text = README.partition(f"## {section}\n")[2].partition("\n## ")[0]
    found: list[str] = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    return found[0]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")
def test_the_container_can_use_the_files_that_the_page_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's own lines make settings and a token that user 10001 reads, and no other user but root."""
    lines = shell("A container").partition("cd deploy/docker\n")[2].partition("docker compose up")[0]
    typed = lines.replace("sudo ", "").replace("/dev/stdin telegram-token", "token-there telegram-token")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        folder.chmod(0o755)
        (folder / "token-there").write_text("7100000001:AAtest\n")
        subprocess.run(["sh", "-euc", typed], cwd=folder, check=True)
        monkeypatch.setenv("SAYSO_TELEGRAM__TOKEN_FILE", str(folder / "telegram-token"))
        with acting_as(10001):
            refuse_foreign(folder / "sayso.toml")
            found = load(folder / "sayso.toml")
            token = found.section("telegram").token
        with acting_as(10002), pytest.raises(SettingsError, match="Permission denied"):
            found.section("telegram")

    assert "7100000001:AAtest" == token.get_secret_value()
    assert "local:10001" in found.operators


def test_the_installer_refuses_a_python_that_others_cannot_run(tmp_path: Path) -> None:
    """It changes nothing then, and names another one."""
    if os.geteuid() != 0:
        pytest.skip("only root can install")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    python = closed / "python3"
    shutil.copy(Path(sys.executable).resolve(), python)
    done = subprocess.run(
        [DEPLOY / "linux/install.sh", "--prefix", tmp_path],
        env={"PATH": os.environ["PATH"], "PYTHON": str(python), "PYTHONHOME": sys.base_prefix},
        capture_output=True,
        text=True,
        check=False,
    )

    assert 1 == done.returncode
    assert "Nothing was changed" in done.stderr
    assert {"closed"} == {path.name for path in tmp_path.iterdir()}


#: A Python whose pip fetches nothing: it puts the packages of this checkout's environment in the new one, and `sayso`.
#: Whether other users can run this Python isn't asked.
OFFLINE_PYTHON = """#!/bin/sh
case "$*" in
    "-m pip --version" | *os.setuid*) exec true ;;
    "-m pip --python "*" install "*)
        for site in "${4%/bin/python}"/lib/python3*/site-packages; do printf '%s\\n' PATHS > "$site/offline.pth"; done
        printf '#!%s\\nfrom bot.cli.main import main; main()\\n' "$4" > "${4%/python}/sayso"
        exec chmod 755 "${4%/python}/sayso" ;;
esac
exec PYTHON "$@"
"""


def run_installer(*words: str | Path, python: str | Path = sys.executable) -> subprocess.CompletedProcess[str]:
    """Run install.sh with these options. Skip the test unless root runs it."""
    if os.geteuid() != 0:
        pytest.skip("only root can install")
    surroundings = {"PATH": os.environ["PATH"], "PYTHON": str(python)}
    command = [DEPLOY / "linux/install.sh", *words]
    return subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)


def files_below(folder: Path) -> set[str]:
    """Return the relative paths of all files and links below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()}


def test_the_installer_removes_all_that_it_installed(tmp_path: Path) -> None:
    """Programs, pages, unit and configuration are below the prefix, and nothing is left of them after --purge."""
    paths = " ".join(repr(path) for path in (str(ROOT), str(ROOT / "clients"), *site.getsitepackages()))
    python, prefix = tmp_path / "python3", tmp_path / "root"
    python.write_text(OFFLINE_PYTHON.replace("PATHS", paths).replace("PYTHON", sys.executable))
    python.chmod(0o755)
    prefix.mkdir()
    there = run_installer("--prefix", prefix, "--approver", "telegram:43", python=python)
    installed = files_below(prefix)
    again = run_installer("--prefix", prefix, python=python)
    kept = run_installer("--uninstall", "--prefix", prefix)
    configuration = files_below(prefix)
    gone = run_installer("--uninstall", "--purge", "--prefix", prefix)

    assert [0, 0, 0, 0] == [each.returncode for each in (there, again, kept, gone)], there.stderr
    assert {
        *("etc/sayso/sayso.toml", "etc/systemd/system/sayso.service", "usr/local/bin/sayso"),
        *("usr/local/lib/sayso/docs/index.md", "usr/local/lib/sayso/deploy/prometheus/rules.yaml"),
    } <= installed
    assert {"etc/sayso/sayso.toml"} == configuration
    assert set() == files_below(prefix)
    assert [] == [*prefix.rglob("*sayso*")]


@pytest.mark.parametrize("folder", ["p q", "p*", "p\tq"])
def test_the_installer_never_removes_a_neighbour(tmp_path: Path, folder: str) -> None:
    """A prefix with a blank or a pattern is refused, and the folder with the first part of that name stays whole."""
    neighbour, prefix = tmp_path / "p", tmp_path / folder
    for each in (neighbour, prefix):
        (each / "etc/sayso").mkdir(parents=True)
        (each / "etc/sayso/sayso.toml").write_text("")
    done = run_installer("--uninstall", "--purge", "--prefix", prefix)

    assert (2, {"etc/sayso/sayso.toml"}) == (done.returncode, files_below(neighbour))
    assert {"etc/sayso/sayso.toml"} == files_below(prefix)


def test_the_installer_refuses_a_relative_prefix(tmp_path: Path) -> None:
    """Whoever means another folder than the working one would remove from the wrong place."""
    (tmp_path / "etc/sayso").mkdir(parents=True)
    done = run_installer("--uninstall", "--purge", "--prefix", os.path.relpath(tmp_path))

    assert 2 == done.returncode
    assert (tmp_path / "etc/sayso").is_dir()


@pytest.mark.parametrize("section", ["A Linux host", "A container"])
def test_the_examples_have_two_people(section: str) -> None:
    """One person on both lists can approve nothing."""
    names = re.findall(r"(requester|approver)s?(?: = \[| )\"?(telegram:\d+)", shell(section))
    lists = {role: {who for named, who in names if named == role} for role in ("requester", "approver")}
    fly = (DEPLOY / "fly/fly.toml").read_text()

    assert all(lists.values())
    assert lists["approver"] - lists["requester"]
    assert {"telegram:42"} == set(re.findall(r"SAYSO_REQUESTERS='\[\"(\S+)\"\]'", fly))
    assert {"telegram:43"} == set(re.findall(r"SAYSO_APPROVERS='\[\"(\S+)\"\]'", fly))


def test_the_probes_are_the_services_own() -> None:
    """Liveness asks whether the process lives, readiness whether calls can be gated; neither touches a chat."""
    (container,) = POD["containers"]

    assert "/healthz" == container["livenessProbe"]["httpGet"]["path"]
    assert "/readyz" == container["readinessProbe"]["httpGet"]["path"] == FLY["http_service"]["checks"][0]["path"]
    assert "/healthz" in DOCKERFILE


def test_the_build_sees_no_secret() -> None:
    """What isn't named stays out of the image: settings, tokens and databases that lie in the checkout."""
    lines = (DEPLOY / "docker" / "Dockerfile.dockerignore").read_text().splitlines()

    assert "*" == next(line for line in lines if not line.startswith("#"))
