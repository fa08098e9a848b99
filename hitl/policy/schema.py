"""The JSON Schema (2020-12) of ``version: 1`` documents, from the same tables that the checks use."""

from __future__ import annotations

from typing import Any

from hitl.policy.document import MAX_EXECUTION_S, MAX_RULES, TOOL_KINDS
from hitl.policy.hosts import CLASSES
from hitl.policy.model import ACTIONS, MAX_TIMEOUT_S, MIN_TIMEOUT_S, RISKS
from hitl.policy.operators import OPERATORS
from hitl.policy.presets import presets

_TEXT = {"type": "string", "minLength": 1}
_TEXTS = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1}]}
_SCALAR = {"type": ["string", "number", "boolean", "null"]}
_NUMBER = {"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^\s*[-+]?[0-9.]+([eE][-+]?[0-9]+)?\s*$"}]}
_FLAG = {"enum": [True, False, "true", "false"]}
_COUNT = {"type": "integer", "minimum": 0}
_SECONDS = {"type": "integer", "minimum": MIN_TIMEOUT_S, "maximum": MAX_TIMEOUT_S}

_VALUES: dict[str, dict[str, Any]] = {
    "eq": _SCALAR,
    "ne": _SCALAR,
    "in": {"anyOf": [_TEXT, {"type": "array", "items": _SCALAR, "minItems": 1}]},
    "matches": _TEXT,
    "path_matches": _TEXT,
    "lt": _NUMBER,
    "le": _NUMBER,
    "gt": _NUMBER,
    "ge": _NUMBER,
    "exists": _FLAG,
    "size": {
        "anyOf": [
            _COUNT,
            {
                "type": "object",
                "properties": dict.fromkeys(("lt", "le", "gt", "ge"), _COUNT),
                "additionalProperties": False,
                "minProperties": 1,
            },
        ]
    },
    "host_class": {"anyOf": [_TEXT, {"type": "array", "items": {"enum": sorted(CLASSES)}, "minItems": 1}]},
    "url_port": {
        "anyOf": [
            _TEXT,
            {"type": "integer", "minimum": 0, "maximum": 65535},
            {"type": "array", "minItems": 1},
        ]
    },
    "command_resolvable": _FLAG,
    "no_command_substitution": {"enum": [True, "true", "", None]},
    "annotation": _FLAG,
    "isolated": _FLAG,
    "open_tree": _FLAG,
}


def _object(properties: dict[str, Any], required: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "required": list(required),
    }


def _condition(name: str) -> dict[str, Any]:
    operator = OPERATORS[name]
    properties: dict[str, Any] = {
        "op": {"const": name},
        "value": {**_VALUES.get(name, _TEXTS), "description": f"Takes {operator.takes}."},
    }
    if operator.keyed:
        properties["key"] = {
            **_TEXT,
            "description": "The name of an argument, a JSON pointer, @ and a role of arguments, or * for any value.",
        }
    if name == "destructive_set":
        properties["match"] = {"enum": ["exact", "substring"]}
    needs = (
        "op",
        *(("key",) if operator.keyed else ()),
        *(() if name == "no_command_substitution" else ("value",)),
    )
    return _object(properties, needs)


def json_schema() -> dict[str, Any]:
    """The schema. It says what a document may look like; ``load`` also refuses what can never fire."""
    parts = {"type": "array", "items": {"$ref": "#/$defs/when"}, "minItems": 1}
    kind = {"enum": list(TOOL_KINDS)}
    kinds = {"anyOf": [kind, {"type": "array", "items": kind, "minItems": 1}]}
    scope = {"id": _TEXT, "tools": _TEXTS, "tool": _TEXTS, "kind": kinds, "when": parts, "message": _TEXT}
    risk = {"enum": list(RISKS)}
    asking = {
        "timeout_s": _SECONDS,
        "on_timeout": {"const": "deny"},
        "approvers": {"type": "array", "items": _TEXT, "minItems": 1},
        "exclude_requester": {"type": "boolean"},
        "require_reason": {"type": "boolean"},
    }
    vouching = {"harmless": {"type": "array", "items": _TEXT, "minItems": 1}}
    level = {
        **_object({"action": {"enum": list(ACTIONS)}, "timeout_s": _SECONDS, "require_reason": {"type": "boolean"}}),
        "minProperties": 1,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Sayso policy",
        **_object(
            {
                "version": {"const": 1},
                "description": _TEXT,
                "preset": {
                    "anyOf": [
                        {"enum": list(presets())},
                        {"type": "array", "items": {"enum": list(presets())}, "minItems": 1, "uniqueItems": True},
                    ]
                },
                "default_action": {"enum": list(ACTIONS), "default": "approve"},
                "defaults": _object(
                    {
                        "timeout_s": _SECONDS,
                        "execution_s": {"type": "integer", "minimum": 1, "maximum": MAX_EXECUTION_S},
                    }
                ),
                "risk": _object(dict.fromkeys(RISKS, level)),
                "risk_rules": {
                    "type": "array",
                    "maxItems": MAX_RULES,
                    "items": {
                        **_object({**scope, "risk": risk, "at_least": risk}),
                        "oneOf": [{"required": ["risk"]}, {"required": ["at_least"]}],
                    },
                },
                "forbid": {"type": "array", "maxItems": MAX_RULES, "items": _object({**scope, "risk": risk})},
                "rules": {
                    "type": "array",
                    "maxItems": MAX_RULES,
                    "items": {
                        **_object(
                            {**scope, **asking, **vouching, "action": {"enum": list(ACTIONS)}, "risk": risk},
                            ("action",),
                        ),
                        "if": {"properties": {"action": {"const": "allow"}}},
                        "then": {"properties": dict.fromkeys(asking, False)},
                        "else": {"properties": dict.fromkeys(vouching, False)},
                        "allOf": [
                            {
                                "if": {"properties": {"action": {"const": "deny"}}},
                                "then": {"properties": dict.fromkeys(asking, False)},
                            }
                        ],
                    },
                },
            },
            ("version",),
        ),
        "$defs": {
            "when": {
                "anyOf": [
                    _object({"any": parts}, ("any",)),
                    _object({"all": parts}, ("all",)),
                    _object({"not": {"anyOf": [{"$ref": "#/$defs/when"}, parts]}}, ("not",)),
                    *(_condition(name) for name in OPERATORS),
                ]
            }
        },
    }
