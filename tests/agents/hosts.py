"""The real coding agents: where each lies, how it finds a stand-in model, and how it is started without a person.

`make thirdparty-agents` installs them in `.agents`, in the versions that `sayso_client/hooks` were measured with.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sayso_client.hooks.installing import module
from tests.agents.model import Model

AGENTS = Path(__file__).parents[2] / ".agents"
#: An agent that hangs is stopped after so many seconds.
LIMIT_S = 180
_CODEX = """
model = "gpt-5"
model_provider = "standin"
[model_providers.standin]
name = "standin"
base_url = "{url}/v1"
wire_api = "responses"
[analytics]
enabled = false
"""


@dataclass(frozen=True)
class Host:
    """One coding agent. `tool` makes a tool call of a shell command; `settings` writes what points it at the model."""

    program: Path
    arguments: list[str]
    tool: Callable[[str], tuple[str, dict[str, Any]]]
    environment: Callable[[Model], dict[str, str]]
    settings: Callable[[Model, Path], None] = field(default=lambda *_: None)


def _codex(model: Model, file: Path) -> None:
    file.write_text(_CODEX.format(url=model.url))


def _opencode(model: Model, file: Path) -> None:
    options = {"baseURL": f"{model.url}/v1", "apiKey": "x"}
    limit = {"context": 100_000, "output": 8_000}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "standin", "options": options}
    provider["models"] = {"m": {"name": "m", "tool_call": True, "limit": limit}}
    document = {"autoupdate": False, "share": "disabled", "small_model": "standin/m", "provider": {"standin": provider}}
    file.write_text(json.dumps(document))


def _openclaw(model: Model, file: Path) -> None:
    """Let OpenClaw's own rules allow every command, so that only the gate holds one."""
    counts = {"reasoning": False, "input": ["text"], "contextWindow": 100_000, "maxTokens": 4_000}
    costs = {"cost": dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 0)}
    provider = {"baseUrl": f"{model.url}/v1", "apiKey": "x", "api": "openai-completions"}
    models = [{"id": "m", "name": "m", **counts, **costs}]
    workspace = str(file.parents[2] / "project")
    defaults = {"model": {"primary": "standin/m"}, "workspace": workspace, "skipBootstrap": True}
    document = {
        "agents": {"defaults": defaults},
        "tools": {"exec": {"host": "gateway", "security": "full", "ask": "off"}},
        "models": {"mode": "merge", "providers": {"standin": {**provider, "models": models}}},
    }
    file.write_text(json.dumps(document))


def _gemini(_: Model, file: Path) -> None:
    document = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False}}
    file.write_text(json.dumps({**document, "general": {"disableAutoUpdate": True}}))


def _qwen(_: Model, file: Path) -> None:
    document = {"security": {"auth": {"selectedType": "openai"}}, "privacy": {"usageStatisticsEnabled": False}}
    file.write_text(json.dumps({**document, "general": {"enableAutoUpdate": False}, "model": {"name": "m"}}))


HOSTS = {
    "claude-code": Host(
        AGENTS / "claude" / "claude_agent_sdk" / "_bundled" / "claude",
        ["-p", "go", "--model", "claude-sonnet-4-5", "--output-format", "json", "--allowedTools", "Bash"],
        lambda command: ("Bash", {"command": command, "description": "x"}),
        lambda model: {
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "stand-in",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",
        },
    ),
    "codex": Host(
        AGENTS / "node_modules" / ".bin" / "codex",
        [
            "exec",
            "--skip-git-repo-check",
            "--dangerously-bypass-approvals-and-sandbox",
            "--dangerously-bypass-hook-trust",
            "go",
        ],
        lambda command: ("exec_command", {"cmd": command}),
        lambda _: {},
        _codex,
    ),
    "copilot": Host(
        AGENTS / "node_modules" / ".bin" / "copilot",
        ["-p", "go", "--allow-all-tools"],
        lambda command: ("bash", {"command": command, "description": "x"}),
        lambda model: {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": f"{model.url}/v1",
            "COPILOT_PROVIDER_API_KEY": "stand-in",
            "COPILOT_MODEL": "gpt-4.1",
            "COPILOT_AUTO_UPDATE": "false",
        },
    ),
    "gemini": Host(
        AGENTS / "node_modules" / ".bin" / "gemini",
        ["-p", "go", "-m", "gemini-2.5-flash", "--output-format", "json", "--approval-mode", "yolo"],
        lambda command: ("run_shell_command", {"command": command, "description": "x"}),
        lambda model: {
            "GEMINI_API_KEY": "stand-in",
            "GOOGLE_GEMINI_BASE_URL": model.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_TELEMETRY_ENABLED": "false",
            "NO_COLOR": "1",
        },
        _gemini,
    ),
    "openclaw": Host(
        AGENTS / "newer-node" / "node_modules" / ".bin" / "openclaw",
        ["agent", "--local", "--session-id", "s1", "--message", "go", "--timeout", "150", "--json"],
        lambda command: ("exec", {"command": command}),
        lambda _: {"NO_COLOR": "1"},
        _openclaw,
    ),
    "opencode": Host(
        AGENTS / "node_modules" / ".bin" / "opencode",
        ["run", "--model", "standin/m", "--format", "json", "go"],
        lambda command: ("bash", {"command": command, "description": "x"}),
        lambda _: {f"OPENCODE_DISABLE_{name}": "1" for name in ("MODELS_FETCH", "AUTOUPDATE", "LSP_DOWNLOAD", "SHARE")},
        _opencode,
    ),
    "qwen": Host(
        AGENTS / "newer-node" / "node_modules" / ".bin" / "qwen",
        ["--auth-type", "openai", "-m", "m", "--approval-mode", "yolo", "go"],
        lambda command: ("run_shell_command", {"command": command, "description": "x", "is_background": False}),
        lambda model: {
            "OPENAI_API_KEY": "stand-in",
            "OPENAI_BASE_URL": f"{model.url}/v1",
            "OPENAI_MODEL": "m",
            "NO_COLOR": "1",
            "QWEN_TELEMETRY_ENABLED": "false",
        },
        _qwen,
    ),
}


@dataclass
class Bench:
    """A home, a project that means no good, and a host whose hook is installed as a person would."""

    name: str
    folder: Path
    model: Model

    def __post_init__(self) -> None:
        """Lay out the folders. The project brings packages with our names, and is on the path of every Python."""
        self.host = HOSTS[self.name]
        for package in ("bot", "sayso_client", "hitl"):
            (self.project / package).mkdir(parents=True)
            (self.project / package / "__init__.py").write_text("raise SystemExit(1)\n")
        (self.project / "json.py").write_text("raise SystemExit(1)\n")
        (self.project / "here.txt").touch()
        self.settings.parent.mkdir(parents=True)
        self.host.settings(self.model, self.settings)
        self.model.tool, self.model.args = self.host.tool(f"touch {self.marker}")

    @property
    def project(self) -> Path:
        """Where the agent works."""
        return self.folder / "project"

    @property
    def settings(self) -> Path:
        """The host's own settings."""
        return self.folder / "home" / module(self.name).FILE

    @property
    def command(self) -> Path:
        """The file that names the hook's Python."""
        beside = getattr(module(self.name), "BESIDE", None)
        return self.settings.parent / beside if beside else self.settings

    @property
    def marker(self) -> Path:
        """The file that the tool call makes."""
        return self.project / "ran.txt"

    @property
    def surroundings(self) -> dict[str, str]:
        """The environment of the host."""
        home = {"HOME": str(self.folder / "home"), "PATH": f"{self.host.program.parent}:{os.environ['PATH']}"}
        plain = {"TERM": "dumb", "LANG": "C.UTF-8", "PYTHONPATH": str(self.project)}
        return {**home, **plain, **self.host.environment(self.model)}

    def install(self, socket: Path, *options: str, wait_s: int = 120) -> None:
        """Install the hook, with further options of `sayso-hooks install`. The host's version is looked at."""
        words = ["install", self.name, "--socket", str(socket), "--uid", str(os.getuid()), "--wait", str(wait_s)]
        subprocess.run(
            [sys.executable, "-I", "-m", "sayso_client.hooks.installing", *words, *options, "--yes"],
            env=self.surroundings,
            check=True,
            stdout=subprocess.DEVNULL,
        )

    def replace_python(self, script: str | None) -> None:
        """Let the installed command start this shell script in place of its Python, or a program that doesn't exist."""
        program = self.folder / "python"
        if script is not None:
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)
        text = self.command.read_text()
        python = text[: text.index(" -I -m sayso_client.hooks")].rpartition(" ")[2].rpartition("(")[2]
        self.command.write_text(text.replace(f"{python} -I", f"{program} -I"))

    def start(self) -> subprocess.Popen[str]:
        """Start the host."""
        return subprocess.Popen(
            [self.host.program, *self.host.arguments],
            cwd=self.project,
            env=self.surroundings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def ended(self, process: subprocess.Popen[str]) -> str:
        """Wait until the host is done, and return what it printed. It must have wanted its tool."""
        try:
            printed = process.communicate(timeout=LIMIT_S)[0]
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        assert self.model.asked, printed
        return printed
