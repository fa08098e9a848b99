"""The files of `deploy/` agree with the program: its settings, its pins, its two probes, and one instance."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.settings import Settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "docker" / "Dockerfile").read_text()
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
    """Each pin of the image stands in requirements.txt, with the same hashes."""
    tested = (ROOT / "requirements.txt").read_text().split("\n")
    for name in ("requirements.txt", "build-requirements.txt"):
        pins = (DEPLOY / "docker" / name).read_text().split("\n")
        assert [] == [line for line in pins if line not in tested]


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
    """Longer than the 30 s that a running tool is given to end."""
    given = [
        int(COMPOSE["stop_grace_period"].removesuffix("s")),
        POD["terminationGracePeriodSeconds"],
        FLY["kill_timeout"],
        int(re.findall(r"TimeoutStopSec=(\d+)s", UNIT)[0]),
    ]

    assert min(given) > 30


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
