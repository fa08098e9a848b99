"""What each host sends its hook and how it reads the answer, as measured with the real hosts."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE_S

_CLAUDE = {
    "session_id": "s1",
    "transcript_path": "/home/ada/.claude/t.jsonl",
    "cwd": "/srv/shop",
    "permission_mode": "default",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "rm -r build", "description": "clean"},
    "tool_use_id": "toolu_1",
}
#: The event with which each host asks about `rm -r build`.
EVENTS: dict[str, dict[str, Any]] = {
    "claude-code": _CLAUDE,
    "codex": {**_CLAUDE, "turn_id": "t1", "model": "m", "tool_input": {"command": "rm -r build"}},
    "qwen": {**_CLAUDE, "tool_name": "run_shell_command", "timestamp": "2026-01-31T12:00:00Z"},
    "gemini": {
        "session_id": "s1",
        "cwd": "/srv/shop",
        "hook_event_name": "BeforeTool",
        "tool_name": "run_shell_command",
        "tool_input": {"command": "rm -r build", "is_background": True},
    },
    "copilot": {
        "sessionId": "s1",
        "timestamp": 1795856570315,
        "cwd": "/srv/shop",
        "toolName": "bash",
        "toolArgs": {"command": "rm -r build", "mode": "async"},
    },
    "openclaw": {
        "toolName": "exec",
        "params": {"command": "rm -r build"},
        "toolCallId": "c1",
        "runId": "r1",
        "session": "s1",
        "directory": "/srv/shop",
    },
    "opencode": {
        "tool": "bash",
        "sessionID": "s1",
        "callID": "c1",
        "args": {"command": "rm -r build"},
        "directory": "/srv/shop",
    },
}
PROMPT: dict[str, Any] = {
    **{key: value for key, value in _CLAUDE.items() if key != "tool_use_id"},
    "hook_event_name": "PermissionRequest",
    "permission_suggestions": [],
}


#: Scripts in the place of the command that a plugin of ours starts: one that allows a call, and others that don't.
YES = """echo '{"decision": "allow"}'"""
NO_ANSWERS = (
    "exit 1",
    f"{YES}; exit 1",
    f"{YES}; kill -9 $$",
    "true",
    "echo garbage",
    "echo null",
    "echo '[]'",
    """echo '{"decision": "ALLOW"}'""",
    f"{YES}; {YES}",
    "/nowhere/python",
)


def has_ended(pid: int) -> bool:
    """Whether a process that isn't ours to wait for ends soon. One that is only not waited for has ended."""
    ends = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def read(host: str, answer: Any) -> str:
    """What the host does with an answer: `allow`, `deny`, `defer`, `own` (its own rules), or `run` if it ignores it."""
    if answer == {}:
        return "own"
    if host in {"claude-code", "codex", "qwen"}:
        told = answer.get("hookSpecificOutput", {}) if isinstance(answer, dict) else {}
        if told.get("hookEventName") == "PermissionRequest":
            return str(told.get("decision", {}).get("behavior", "deny"))
        word = told.get("permissionDecision")
    elif host == "copilot":
        word = answer.get("permissionDecision") if isinstance(answer, dict) else None
    else:
        word = answer.get("decision") if isinstance(answer, dict) else None
    return word if word in {"allow", "deny", "defer"} else "run"
