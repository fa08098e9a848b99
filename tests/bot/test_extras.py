"""A platform that is configured, but whose extra isn't installed: one line says which one is missing."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sayso_client.wire import SOCKET_NAME
from tests.clients.answering import serving
from tests.clients.test_asking import Service, Talk

SECRETS = {
    "telegram": {"SAYSO_TELEGRAM__TOKEN": "1:x"},
    "slack": {"SAYSO_SLACK__BOT_TOKEN": "xoxb-x", "SAYSO_SLACK__APP_TOKEN": "xapp-x"},
}
LIBRARIES = [("telegram", "telegram"), ("slack", "slack_sdk"), ("slack", "slack_bolt"), ("slack", "aiohttp")]


def run(
    folder: Path,
    library: str,
    command: str = "run",
    *,
    setting: str = "",
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """The command line with that setting, in a process that can't import the library; None: in our environment."""
    file = folder / "sayso.toml"
    file.write_text(f'state = "{folder}/state"\nruntime = "{folder}/run"\nworkspace = "{folder}/w"\n{setting}')
    start = f"import sys; sys.modules[{library!r}] = None; from bot.cli.main import main; main()"
    argv = [sys.executable, "-c", start, *command.split(), "--config", str(file)]
    return subprocess.run(argv, capture_output=True, text=True, env=environment, timeout=60, check=False)


@pytest.mark.parametrize(("platform", "library"), LIBRARIES)
def test_the_service_says_which_extra_it_needs(tmp_path: Path, platform: str, library: str) -> None:
    """And doesn't start."""
    done = run(tmp_path, library, setting=f"[{platform}]\n", environment=SECRETS[platform])

    assert done.returncode
    assert re.search(rf"{library}[.\w]* .* sayso\[{platform}\]", done.stderr)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("platform", "library"), LIBRARIES)
def test_doctor_says_so_too(tmp_path: Path, platform: str, library: str) -> None:
    """Among everything else."""
    done = run(tmp_path, library, "doctor", setting=f"[{platform}]\n", environment=SECRETS[platform])

    assert re.search(rf"{library}[.\w]* .* sayso\[{platform}\]", done.stdout)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("platform", "library"), [("telegram", "telegram"), ("slack", "slack_sdk")])
def test_deploy_says_so_too(tmp_path: Path, platform: str, library: str) -> None:
    """In one line, and nothing is sent."""
    done = run(tmp_path, library, f"deploy {platform}", setting=f"[{platform}]\n", environment=SECRETS[platform])

    assert (2, "", 1) == (done.returncode, done.stdout, len(done.stderr.splitlines()))
    assert re.search(rf"{library}[.\w]* .* sayso\[{platform}\]", done.stderr)


@pytest.mark.parametrize("platform", SECRETS)
def test_without_its_secrets_it_says_where_they_belong(tmp_path: Path, platform: str) -> None:
    """The name of the setting, and of the variable."""
    file = tmp_path / "sayso.toml"
    file.write_text(
        f'state = "{tmp_path}/state"\nruntime = "{tmp_path}/run"\nworkspace = "{tmp_path}/w"\n[{platform}]\n'
    )
    argv = [sys.executable, "-c", "from bot.cli.main import main; main()", "run", "--config", str(file)]
    done = subprocess.run(argv, capture_output=True, text=True, env={}, timeout=60, check=False)

    assert done.returncode
    assert f"SAYSO_{platform.upper()}__" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("library", ["fastapi", "uvicorn", "httptools"])
def test_the_service_needs_the_extra_that_serves_http(tmp_path: Path, library: str) -> None:
    """`sayso run` names the extra in one line, and leaves no socket behind."""
    done = run(tmp_path, library)

    assert done.returncode
    assert re.search(rf"{library}[.\w]* .* sayso\[http\]", done.stderr)
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run" / "sayso.sock").exists()


@pytest.mark.parametrize(
    ("extra", "library", "setting"),
    [
        ("metrics", "prometheus_client", "[metrics]\nport = 0\n"),
        ("otel", "opentelemetry.sdk", '[traces]\nendpoint = "http://127.0.0.1:9/v1/traces"\n'),
    ],
)
def test_observing_needs_its_extra(tmp_path: Path, extra: str, library: str, setting: str) -> None:
    """With the setting and without the library, `sayso run` names the extra in one line."""
    done = run(tmp_path, library, setting=setting)

    assert done.returncode
    assert re.search(rf"{library}[.\w]* .* sayso\[{extra}\]", done.stderr)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("module", ["bot.compose", "bot.cli.main"])
def test_what_starts_quickly_loads_nothing_heavy(module: str) -> None:
    """A hook, `sayso --version` and a cold start have no time for what only set-up, schema or pictures need."""
    heavy = {
        "alembic",
        "fastapi",
        "pydantic",
        "pydantic_settings",
        "rich",
        "sqlalchemy",
        "sqlmodel",
        "tree_sitter",
        "re2",
    }
    start = f"import sys, {module}; print(*sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", start], capture_output=True, text=True, check=True, timeout=60)

    assert "" == done.stdout.strip()


_LOADED = """
import sys
before = set(sys.modules)
from bot.cli.main import main
try:
    main()
except SystemExit:
    pass
print(*sys.modules.keys() - before, sep="\\n", file=sys.stderr)
"""
_PENDING = {
    "ref": "r1",
    "short": "K7Q2MX",
    "status": "pending",
    "message": "It waits.",
    "expires_at": "2099-01-01T00:00Z",
}


#: Our packages that any command may load, the parser of the command line with what it loads, and the records.
_LIGHT = {
    *("bot", "hitl", "sayso_client"),
    *("typer", "annotated_doc", "click", "shellingham", "typing_extensions"),
    "msgspec",
}


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["pending"], {"calls": []}),
        (["sessions"], {"sessions": []}),
        (["inbox"], {"calls": []}),
        (["ask", "deploy", "--no-wait", "--quiet"], _PENDING),
        (["wait", "K7Q2MX", "--quiet"], {**_PENDING, "status": "approved"}),
        (["approve", "K7Q2MX"], {"came": "approved", "text": "Approved.", "decided": True}),
        (["reject", "K7Q2MX", "--reason", "late"], {"came": "rejected", "text": "Rejected.", "decided": True}),
        (["withdraw", "K7Q2MX"], {**_PENDING, "status": "withdrawn"}),
    ],
    ids=lambda words: words[0] if isinstance(words, list) else "",
)
def test_a_command_that_asks_the_service_loads_no_more_than_it_needs(
    tmp_path: Path, words: list[str], answer: dict[str, Any]
) -> None:
    """People and scripts wait for its start: it takes 0.15 s of a processor, and took 0.5 s with all settings."""
    service = Service(str(tmp_path / SOCKET_NAME), Talk)
    service.answers, service.requests = [{"call": answer}], []
    file = tmp_path / "sayso.toml"
    file.write_text(f'runtime = "{tmp_path}"\n')
    with serving(service):
        done = subprocess.run(
            [sys.executable, "-c", _LOADED, *words, "--config", str(file)],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
    loaded = set(done.stderr.splitlines())
    packages = {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names

    assert 1 == len(service.requests)
    assert set() == packages - _LIGHT
    assert set() == loaded & {"asyncio", "bot.settings", "email", "http.client", "logging", "ssl"}


def test_a_model_without_its_extra_says_so(tmp_path: Path) -> None:
    """The service doesn't start, and doctor is red."""
    setting = '[agent]\nmodel = "openai:x"\nbase_url = "http://127.0.0.1:9/v1"\n'
    for command in ("run", "doctor"):
        done = run(tmp_path, "pydantic_ai", command, setting=setting, environment={})

        assert re.search(r"pydantic_ai[.\w]* .* sayso\[agent\]", done.stdout + done.stderr)
        assert "Traceback" not in done.stderr
