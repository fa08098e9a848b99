"""Reads laravel-ai-guardrails: its configuration (sections, or keys with dots), or only a set of destructive tools."""

from __future__ import annotations

from typing import Any, Final

from hitl.policy import text
from hitl.policy.dialects.translation import Translation

#: The destructive tools in the package's default configuration. They count if the given configuration names no tools.
_PUBLISHED: Final = ("refund", "delete", "send_email")
_HITL = ("enabled", "destructive_tools", "fallback", "allowed_tool_classes", "mode")
_AUTHORIZATION = ("enabled", "ability", "owner_key_depth", "destructive_match")
#: Section that is not about tool calls -> the reason, in words, why it is left out.
_ELSEWHERE: Final = {
    "tool_firewall": "Sayso changes no arguments; write your own rules that deny or ask about owner keys",
    "input_screen": "Sayso doesn't screen prompts",
    "output_handler": "Sayso doesn't rewrite answers",
    "normalization": "it prepares prompts, which Sayso doesn't screen",
    "pattern_safety": "patterns in Sayso are RE2, whose time is bounded; if a pattern can't be judged, the call asks",
    "audit": "every call is on Sayso's own record",
    "firewall_log": "every call is on Sayso's own record",
    "output_stats": "every call is on Sayso's own record",
    "hitl_requests": "every call is on Sayso's own record",
    "settings": "settings are read from sayso.toml",
    "settings_audit": "each policy that comes into force is on Sayso's own record",
    "audit_hygiene": "secrets are masked on cards; the record keeps the arguments",
    "retention": "the record is not pruned by the policy",
    "events": "routes in sayso.toml set who is notified",
    "api": "the HTTP listener is set in sayso.toml",
    "mcp": "MCP servers are set in sayso.toml",
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
            writer.refuse(f"/{key}", f"{key!r} is not known")
    for key in ("hitl", "tool_authorization", "modes"):
        if not isinstance(value.get(key, {}), dict):
            writer.refuse(f"/{key}", f"{key!r} takes keys and values")
            return {"version": 1}
    hitl, authorization = value.get("hitl", {}), value.get("tool_authorization", {})
    _switches(writer, value)
    _authorization(writer, authorization)
    for key, why in _ELSEWHERE.items():
        if key in value:
            writer.left_out(key, value[key], why)
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
                writer.refuse(f"/{key}", f"{key!r} and {step!r} contradict each other")
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
        writer.refuse("", "takes {'destructive': [names], 'match': 'exact' or 'substring'}, or the whole configuration")
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
                f"{switch!r} makes the package run every tool unasked; this policy asks, so don't use it for that",
            )
        elif where == "hitl.enabled" and "enabled" in hitl:
            writer.differ(where, "a policy in use asks; it has no switch")
    for key, mode in modes.items():
        where = f"modes.{key}"
        if key != "hitl":
            writer.differ(where, "left out: it guards something other than tool calls")
        elif str(mode).strip().lower() == "monitor":
            writer.differ(
                where,
                "'monitor' makes the package run tools unasked; this policy asks. Set mode = \"monitor\" in sayso.toml",
            )
        elif str(mode).strip().lower() == "off":
            writer.differ(
                where, "'off' makes the package run tools unasked; this policy asks. Set mode = \"off\" in sayso.toml"
            )
        elif mode != "enforce":
            writer.differ(where, f"{mode!r} is read as 'enforce'")
    if "mode" in hitl:
        writer.differ("hitl.mode", f"{hitl['mode']!r} is the setting mode of sayso.toml in Sayso")


def _authorization(writer: Translation, section: dict[str, Any]) -> None:
    for key, entry in section.items():
        where = f"tool_authorization.{key}"
        if key not in _AUTHORIZATION:
            writer.refuse(f"/tool_authorization/{key}", f"{key!r} is not known")
        elif key == "enabled":
            said = "requesters in sayso.toml set who may ask for a tool"
            writer.differ(where, f"{entry!r} is left out: {said}")
        elif key != "destructive_match":
            writer.differ(where, f"{entry!r} is left out: a policy has no such check")


def _destructive(writer: Translation, hitl: dict[str, Any]) -> list[str]:
    """Return the names of the destructive tools. Add a difference for each other key that Sayso doesn't follow."""
    for key in hitl:
        if key not in _HITL:
            writer.refuse(f"/hitl/{key}", f"{key!r} is not known")
    fallback = hitl.get("fallback", "deny")
    if fallback == "pass":
        writer.differ(
            "hitl.fallback",
            "'pass' runs tools if nobody can be asked; in Sayso, fallback in sayso.toml names the tools that pass",
        )
    elif fallback != "deny":
        writer.differ("hitl.fallback", f"{fallback!r} is read as 'deny'")
    if "allowed_tool_classes" in hitl:
        writer.differ("hitl.allowed_tool_classes", _classes(hitl["allowed_tool_classes"]))
    names = hitl.get("destructive_tools", list(_PUBLISHED))
    if "destructive_tools" not in hitl:
        writer.differ(
            "hitl.destructive_tools", f"is missing; the package's default tools are used: {', '.join(_PUBLISHED)}"
        )
    if not _are_names(names):
        writer.refuse("/hitl/destructive_tools", "'destructive_tools' takes a list of names")
        return []
    return [str(name) for name in names]


def _classes(value: Any) -> str:
    if value in ([], None):
        return (
            "an empty list restricts nothing in the package; here an empty list runs nothing. tools.allow in sayso.toml"
            " lists the tools that the service may run; without it, all workspace tools may run"
        )
    shown = ", ".join(map(str, value)) if isinstance(value, list) else repr(value)
    return f"{shown} is left out: tools.allow in sayso.toml lists the tools that may run, by name and not by class"


def _document(writer: Translation, names: list[str], match: Any) -> dict[str, Any]:
    if match not in ("exact", "substring"):
        writer.refuse("/tool_authorization/destructive_match", "'destructive_match' takes 'exact' or 'substring'")
        return {"version": 1}
    document: dict[str, Any] = {"version": 1, "default_action": "allow", "rules": []}
    writer.differ(
        "document",
        "tools outside the set run unasked, as in the package; add actions under 'risk' to ask about risky ones",
    )
    rule: dict[str, Any] = {"id": "destructive", "action": "approve"}
    if match == "substring" and "" in names:
        writer.differ("destructive", "an empty entry covers every tool; the rule has no condition")
    elif kept := [name for name in names if name.strip()]:
        rule["when"] = [{"op": "destructive_set", "value": kept, "match": match}]
        writer.differ("destructive", "upper and lower case count as the same")
    else:
        writer.differ("destructive", "the set is empty: nothing is asked about")
        return document
    document["rules"].append(rule)
    return document
