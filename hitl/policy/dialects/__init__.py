"""Documents of other systems, as ``version: 1`` documents with the same verdicts, and where they differ on purpose.

    harombe        a configuration with ``security: hitl:`` (rules, policies for risk levels, timeouts), or its rules
    contenox       an envelope: {"default_action", "rules": [{"tools", "tool", "when", "action", ...}]}
    laravel-hitl   the configuration of laravel-ai-guardrails (``hitl``, ``tool_authorization``, ``modes``), or a set of
                   destructive tools: {"destructive": [...], "match": "exact" | "substring"}

A difference only ever makes a call more likely to be asked about or denied. Every setting of the document is either
translated or named among the differences; a setting without a safe meaning is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

from hitl.policy import text
from hitl.policy.dialects import contenox, harombe, laravel
from hitl.policy.dialects.writing import Imported, Writer
from hitl.policy.document import Checked, check
from hitl.policy.lint import covered, impossible
from hitl.policy.model import PolicyInvalid, Problem

ForeignFormat = Literal["harombe", "contenox", "laravel-hitl"]
_READERS: Mapping[str, Callable[[Writer, text.Parsed], dict[str, Any]]] = {
    "harombe": harombe.read,
    "contenox": contenox.read,
    "laravel-hitl": laravel.read,
}


def import_foreign(document: str, format: ForeignFormat) -> Imported:  # noqa: A002 - the public name
    """Translate another system's document.

    Raises:
        PolicyInvalid: it is not well formed, holds something without a safe meaning here, or the format is not known.
    """
    if format not in _READERS:
        raise PolicyInvalid(
            "import", [Problem(0, "", f"the format {format!r} is not known", f"one of {', '.join(_READERS)}")]
        )
    if document.lstrip().startswith("<?php"):
        raise PolicyInvalid(
            format, [Problem(1, "", "is PHP", "print the configuration as JSON: json_encode(config(...))")]
        )
    parsed = text.parse(document, name=format)
    writer = Writer(parsed)
    found = _READERS[format](writer, parsed)
    if writer.problems:
        raise PolicyInvalid(format, writer.problems)
    return Imported(_without_impossible(_tidy(found), writer), tuple(dict.fromkeys(writer.differences)))


def _tidy(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if value not in ([], {}, None)}


def _without_impossible(document: dict[str, Any], writer: Writer) -> dict[str, Any]:
    """Leave out the rules that our documents refuse because they can never fire."""
    if "rules" in document:
        document = {**document, "rules": _doubting(document["rules"], _checked(document))}
    never = {problem.path: problem for problem in impossible(_checked(document))}
    for problem in never.values():
        writer.differ(problem.path.lstrip("/"), f"left out: {problem.message}")
    kept = [rule for at, rule in enumerate(document.get("rules", [])) if f"/rules/{at}" not in never]
    return {**document, "rules": kept} if "rules" in document else document


def _doubting(rules: list[dict[str, Any]], checked: Checked) -> list[dict[str, Any]]:
    """The rules; each that a weaker one covers by its conditions is kept for the calls whose arguments can't tell them.

    In a group of their own its conditions say the same, and aren't those of the weaker rule.
    """
    covered_by = {rule.path: by for rule, by in covered(checked.rules)}
    return [
        {**rule, "when": [{"any": [part]} for part in rule["when"]]}
        if (by := covered_by.get(f"/rules/{at}")) and by.action == "allow" != rule["action"] and by.when.parts
        else rule
        for at, rule in enumerate(rules)
    ]


def _checked(document: dict[str, Any]) -> Checked:
    try:
        return check(text.Parsed(value=document), "import")
    except PolicyInvalid as error:
        raise PolicyInvalid(
            "import", [replace(one, message=f"once translated: {one.message}") for one in error.problems]
        ) from error


__all__ = ["ForeignFormat", "Imported", "import_foreign"]
