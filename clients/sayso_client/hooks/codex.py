"""Codex CLI: the hook PreToolUse (measured with 0.171.0).

Codex shows only the command to the hook. Input to a shell that is open already (`write_stdin`) reaches no hook. The
hook also can't see whether a command leaves Codex's sandbox.
"""

from __future__ import annotations

from sayso_client.hooks.asked import Asked, NotUnderstoodError, arguments, inside, only, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from typing import Any

NAME = "codex"
PROGRAM, TRIED = "codex", (0, 171, 0)
FILE = ".codex/config.toml"
MANAGED = "/etc/codex/requirements.toml"
MOVED = (("CODEX_HOME", "config.toml"),)
#: Each of these settings switched off a trusted hook of the user's own settings (tried with 0.171.0).
OVER = (
    (MANAGED, "features.hooks", False),
    (MANAGED, "features.codex_hooks", False),
    (MANAGED, "allow_managed_hooks_only", True),
    ("/etc/codex/managed_config.toml", "features.hooks", False),
    ("/etc/codex/managed_config.toml", "features.codex_hooks", False),
)
#: The key of the sentence that tells the user to trust the hook: Codex silently skips a hook that isn't trusted.
THEN = "hook.then.codex"
#: The key of the sentence after an installation in the managed settings: Codex trusts the hooks there.
THEN_MANAGED = "hook.then.codex.managed"
_BEGIN, _END = "# sayso: begin\n", "# sayso: end\n"
#: The comment that marks our line in the managed settings, with which users can't switch hooks off. A removal finds the
#: line by this comment. Codex keeps the comment, because it never writes into the managed settings.
_PIN = "  # sayso: nobody can switch hooks off\n"
#: The number of tables that install our hook.
_TABLES = 2
_BEFORE = "PreToolUse"
#: The feature with which Codex asks hooks, and its older name, which counts too.
_FEATURES = ("hooks", "codex_hooks")


def asked(event: Mapping[str, Any]) -> Asked:
    """Return the call that an event is about. Raises NotUnderstoodError for any other event."""
    if event.get("hook_event_name") != _BEFORE:
        raise NotUnderstoodError("hook_event_name")
    only(event, "tool_name")
    session = text(event, "session_id")
    key = f"{NAME}/{session}/{text(event, 'tool_use_id')}"
    tool, args, cwd = text(event, "tool_name"), arguments(event, "tool_input"), text(event, "cwd")
    return Asked(tool, args, cwd, session, key, inside=inside(event, "agent_type", "agent_id"))


def allowed(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer after a person's approval."""
    del event
    return {"hookSpecificOutput": {"hookEventName": _BEFORE, "permissionDecision": "allow"}}


def denied(event: Mapping[str, Any], why: str) -> dict[str, Any]:
    """Return the answer that keeps the tool from running. `why` reaches the model."""
    del event
    told = {"permissionDecision": "deny", "permissionDecisionReason": why}
    return {"hookSpecificOutput": {"hookEventName": _BEFORE, **told}}


def unjudged(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer when the policy allows the call: Codex's own rules decide."""
    del event
    return {}


def put(text: str, command: str, wait_s: int) -> str:
    """Return the settings with our hook at their end, between two comments. Raises ValueError for broken TOML."""
    import json
    import tomllib

    lines = [
        *("[[hooks.PreToolUse]]", 'matcher = ".*"', "[[hooks.PreToolUse.hooks]]", 'type = "command"'),
        *(f"command = {json.dumps(command)}", f"timeout = {wait_s}"),
    ]
    whole = text + ("" if not text or text.endswith("\n") else "\n") + _BEGIN + "\n".join(lines) + "\n" + _END
    tomllib.loads(whole)
    return whole


def take(text: str) -> str:
    """Return the settings without our hook: only our two tables, our two comments and our pin are removed.

    Codex adds tables before the last comment of the file, and so between our comments. Those tables stay.
    """
    text = "".join(line for line in text.splitlines(keepends=True) if not line.endswith(_PIN))
    before, begun, rest = text.partition(_BEGIN)
    block, ended, after = rest.partition(_END)
    if not begun or not ended:
        return text
    lines = block.splitlines(keepends=True)
    tables = [at for at, line in enumerate(lines) if line.startswith("[")]
    added = lines[tables[_TABLES] :] if len(tables) > _TABLES else []
    return before + "".join(added) + after


def pinned(text: str) -> str:
    """Return the managed settings with `features.hooks = true`, or as they are if they name `features.hooks`.

    Without this line, `-c features.hooks=false` and the user's settings switch off managed hooks. Raises ValueError for
    broken TOML, and if the line can't be added.
    """
    import re
    import tomllib

    if "hooks" in tomllib.loads(text).get("features", {}):
        return text
    within = re.sub(r"(?m)^[ \t]*\[features\].*\n", rf"\g<0>hooks = true{_PIN}", text, count=1)
    found = within if within != text else f"features.hooks = true{_PIN}{text}"
    if tomllib.loads(found)["features"].get("hooks") is not True:
        raise ValueError("[features] can't be found")  # The found line was inside a text of several lines.
    return found


def ours(text: str) -> Any:
    """Return the part of the settings that installs our hook, so that two versions of the file can be compared.

    Raises ValueError for broken TOML.
    """
    import tomllib

    from sayso_client.hooks.installing import our_hooks

    return our_hooks(tomllib.loads(text))


def skipped(file: Path, text: str) -> str | None:
    """Return the catalogue key of the reason for which Codex skips our hook, or None.

    Codex records in the same file which hooks a person trusts and which they switched off. The name of such a record
    has the file's path, with the links in its folder resolved, and the hook's position in the file. Codex trusts
    managed hooks, and nobody can switch them off. Raises ValueError for broken TOML.
    """
    import tomllib

    if str(file) == MANAGED:
        return None
    document = tomllib.loads(text)
    records = document.get("hooks", {}).get("state", {})
    for place, digest in trusted_as(document):
        record = records.get(f"{file.parent.resolve() / file.name}:{place}", {})
        if record.get("enabled") is False:
            return "hook.codex.disabled"
        if record.get("trusted_hash") != digest:
            return "hook.codex.changed" if "trusted_hash" in record else "hook.codex.untrusted"
    return None


def trusted_as(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield, for each of our hooks, its position in the settings and its hash.

    Codex records both if a person trusts the hook. A position is, for example, `pre_tool_use:0:1`.
    """
    from sayso_client.hooks.installing import MARK

    for at, group in enumerate(document.get("hooks", {}).get(_BEFORE, [])):
        for within, hook in enumerate(group.get("hooks", [])):
            if MARK in hook.get("command", ""):
                yield f"pre_tool_use:{at}:{within}", _digest(group.get("matcher"), hook)


def _digest(matcher: str | None, hook: Mapping[str, Any]) -> str:
    """Return the hash by which Codex 0.171.0 recognises a hook.

    It is the SHA-256 of the hook as JSON, with sorted keys and without blanks.
    """
    import hashlib
    import json

    named = {"event_name": "pre_tool_use", "matcher": matcher, "hooks": [{"async": False, **hook}]}
    text = json.dumps(named, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def off(text: str) -> str | None:
    """Return the name of a setting with which Codex asks no hook, or None. Raises ValueError for broken TOML."""
    import tomllib

    features = tomllib.loads(text).get("features", {})
    return next((f"features.{name}" for name in _FEATURES if features.get(name, True) is not True), None)
