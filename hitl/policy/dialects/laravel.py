"""Reads laravel-ai-guardrails: its configuration (sections, or keys with dots), or only a set of destructive tools."""

from __future__ import annotations

from typing import Any, Final

from hitl.policy import text
from hitl.policy.dialects.translation import Translation
from hitl.policy.wording import say

#: The destructive tools in the package's default configuration. They count if the given configuration names no tools.
_PUBLISHED: Final = ("refund", "delete", "send_email")
_HITL = ("enabled", "destructive_tools", "fallback", "allowed_tool_classes", "mode")
_AUTHORIZATION = ("enabled", "ability", "owner_key_depth", "destructive_match")
#: Section that is not about tool calls -> the key of the sentence that says why it is left out.
_ELSEWHERE: Final = {
    "tool_firewall": "laravel.arguments",
    "input_screen": "laravel.screen",
    "output_handler": "laravel.answers",
    "normalization": "laravel.prompts",
    "pattern_safety": "laravel.patterns",
    "audit": "laravel.record",
    "firewall_log": "laravel.record",
    "output_stats": "laravel.record",
    "hitl_requests": "laravel.record",
    "settings": "laravel.settings",
    "settings_audit": "laravel.policies",
    "audit_hygiene": "laravel.secrets",
    "retention": "laravel.retention",
    "events": "laravel.routes",
    "api": "laravel.http",
    "mcp": "laravel.mcp",
}


def read(writer: Translation, parsed: text.ParsedDocument) -> dict[str, Any]:
    """Return a ``version: 1`` document that asks about the destructive tools."""
    value = parsed.value if isinstance(parsed.value, dict) else {"destructive": parsed.value}
    value = _nested(writer, value)
    if "destructive" in value or not value:
        return _set_alone(writer, value)
    known = ("enabled", "hitl", "tool_authorization", "modes", *_ELSEWHERE)
    for key in value:
        if key not in known:
            writer.refuse(f"/{key}", say("import.key", key=repr(key)))
    for key in ("hitl", "tool_authorization", "modes"):
        if not isinstance(value.get(key, {}), dict):
            writer.refuse(f"/{key}", say("import.takes.keys", key=repr(key)))
            return {"version": 1}
    hitl, authorization = value.get("hitl", {}), value.get("tool_authorization", {})
    _switches(writer, value)
    _authorization(writer, authorization)
    for key, why in _ELSEWHERE.items():
        if key in value:
            writer.left_out(key, value[key], say(why))
    return _document(writer, _destructive(writer, hitl), authorization.get("destructive_match", "exact"))


def _nested(writer: Translation, value: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration as nested sections.

    Outer sections ``ai-guardrails`` and ``settings`` are removed. A key with dots becomes nested sections.
    """
    for wrapper in ("ai-guardrails", "settings"):
        inner = value.get(wrapper)
        if len(value) == 1 and isinstance(inner, dict) and "store" not in inner:
            return _nested(writer, inner)
    found: dict[str, Any] = {}
    for key, entry in value.items():
        path = key.removeprefix("ai-guardrails.").split(".")
        section = found
        for step in path[:-1]:
            inside = section.setdefault(step, {})
            if not isinstance(inside, dict):
                writer.refuse(f"/{key}", say("laravel.contradiction", key=repr(key), step=repr(step)))
                break
            section = inside
        else:
            before = section.get(path[-1])
            joins = isinstance(before, dict) and isinstance(entry, dict)
            section[path[-1]] = {**(before or {}), **entry} if joins else entry
    return found


def _set_alone(writer: Translation, value: dict[str, Any]) -> dict[str, Any]:
    unknown = set(value) - {"destructive", "match"}
    if unknown or not _are_names(value.get("destructive")):
        writer.refuse("", say("laravel.takes"))
        return {"version": 1}
    return _document(writer, value["destructive"], value.get("match", "exact"))


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _switches(writer: Translation, value: dict[str, Any]) -> None:
    """Add a difference for each setting of the original that could let tools run without asking people.

    A policy of Sayso has no such setting. Instead, the setting `mode` in sayso.toml can be `monitor` or `off`.
    """
    hitl, modes = value.get("hitl", {}), value.get("modes", {})
    for where, switch in (("enabled", value.get("enabled", True)), ("hitl.enabled", hitl.get("enabled", True))):
        if switch not in (True, 1, "true", "1"):
            writer.differ(
                where,
                say("laravel.enabled", switch=repr(switch)),
            )
        elif where == "hitl.enabled" and "enabled" in hitl:
            writer.differ(where, say("laravel.switch"))
    for key, mode in modes.items():
        where = f"modes.{key}"
        if key != "hitl":
            writer.differ(where, say("laravel.other"))
        elif str(mode).strip().lower() == "monitor":
            writer.differ(
                where,
                say("laravel.monitor"),
            )
        elif str(mode).strip().lower() == "off":
            writer.differ(where, say("laravel.off"))
        elif mode != "enforce":
            writer.differ(where, say("laravel.enforce", mode=repr(mode)))
    if "mode" in hitl:
        writer.differ("hitl.mode", say("laravel.mode", mode=repr(hitl["mode"])))


def _authorization(writer: Translation, section: dict[str, Any]) -> None:
    for key, entry in section.items():
        where = f"tool_authorization.{key}"
        if key not in _AUTHORIZATION:
            writer.refuse(f"/tool_authorization/{key}", say("import.key", key=repr(key)))
        elif key == "enabled":
            said = say("laravel.requesters")
            writer.differ(where, say("laravel.entry", entry=repr(entry), why=said))
        elif key != "destructive_match":
            writer.differ(where, say("laravel.check", entry=repr(entry)))


def _destructive(writer: Translation, hitl: dict[str, Any]) -> list[str]:
    """Return the names of the destructive tools. Add a difference for each other key that Sayso doesn't follow."""
    for key in hitl:
        if key not in _HITL:
            writer.refuse(f"/hitl/{key}", say("import.key", key=repr(key)))
    fallback = hitl.get("fallback", "deny")
    if fallback == "pass":
        writer.differ(
            "hitl.fallback",
            say("laravel.pass"),
        )
    elif fallback != "deny":
        writer.differ("hitl.fallback", say("laravel.deny", fallback=repr(fallback)))
    if "allowed_tool_classes" in hitl:
        writer.differ("hitl.allowed_tool_classes", _classes(hitl["allowed_tool_classes"]))
    names = hitl.get("destructive_tools", list(_PUBLISHED))
    if "destructive_tools" not in hitl:
        writer.differ("hitl.destructive_tools", say("laravel.defaults", tools=", ".join(_PUBLISHED)))
    if not _are_names(names):
        writer.refuse("/hitl/destructive_tools", say("laravel.names"))
        return []
    return [str(name) for name in names]


def _classes(value: Any) -> str:
    if value in ([], None):
        return say("laravel.classes.empty")
    shown = ", ".join(map(str, value)) if isinstance(value, list) else repr(value)
    return say("laravel.classes", names=shown)


def _document(writer: Translation, names: list[str], match: Any) -> dict[str, Any]:
    if match not in ("exact", "substring"):
        writer.refuse("/tool_authorization/destructive_match", say("laravel.match"))
        return {"version": 1}
    document: dict[str, Any] = {"version": 1, "default_action": "allow", "rules": []}
    writer.differ(
        "document",
        say("laravel.outside"),
    )
    rule: dict[str, Any] = {"id": "destructive", "action": "approve"}
    if match == "substring" and "" in names:
        writer.differ("destructive", say("laravel.empty_entry"))
    elif kept := [name for name in names if name.strip()]:
        rule["when"] = [{"op": "destructive_set", "value": kept, "match": match}]
        writer.differ("destructive", say("laravel.case"))
    else:
        writer.differ("destructive", say("laravel.empty_set"))
        return document
    document["rules"].append(rule)
    return document
