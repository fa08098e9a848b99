"""Translates documents of other systems into ``version: 1`` documents, and lists where the verdicts differ on purpose.

    harombe        a configuration with ``security: hitl:`` (rules, policies for risk levels, timeouts), or its rules
    contenox       an envelope: {"default_action", "rules": [{"tools", "tool", "when", "action", ...}]}
    laravel-hitl   the configuration of laravel-ai-guardrails (``hitl``, ``tool_authorization``, ``modes``), or a set of
                   destructive tools: {"destructive": [...], "match": "exact" | "substring"}

Where the verdicts differ, Sayso's verdict is stricter than the original's. Every setting of the document is either
translated or named in the list of differences. A setting that can't be translated safely is a problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from hitl.policy import text
from hitl.policy.dialects import check, contenox
from hitl.policy.dialects.translation import Translation
from hitl.policy.document import All, AnyOf, Checked, Rule
from hitl.policy.lint import covered, impossible
from hitl.policy.model import PolicyInvalid, Problem
from hitl.policy.wording import say
from hitl.records import replace

ForeignFormat = Literal["harombe", "contenox", "laravel-hitl"]


@dataclass(frozen=True, slots=True)
class Imported:
    """A translated document, and one sentence for each difference of its verdicts from the original's."""

    document: dict[str, Any]
    differences: tuple[str, ...]

    @property
    def text(self) -> str:
        """The document as YAML. Comments above it list the differences of its verdicts."""
        import yaml  # noqa: PLC0415 - slow to import, and only writing needs it

        notes = "".join(f"# {line}\n" for difference in self.differences for line in difference.splitlines())
        return notes + yaml.safe_dump(self.document, sort_keys=False, allow_unicode=True, width=110)


def import_foreign(document: str, format: ForeignFormat) -> Imported:  # noqa: A002 - callers pass format=...
    """Return the translation of another system's document, with the differences of the verdicts.

    Raises:
        PolicyInvalid: the document is not well formed or has a setting that can't be translated safely, or the format
            is unknown.
    """
    formats = get_args(ForeignFormat)
    if format not in formats:
        raise PolicyInvalid(
            "import",
            [
                Problem(
                    0, "", say("import.format", name=repr(format)), say("fault.do.one_of", options=", ".join(formats))
                )
            ],
        )
    if document.lstrip().startswith("<?php"):
        raise PolicyInvalid(format, [Problem(1, "", "is PHP", say("import.php.do"))])
    parsed = text.parse(document, name=format)
    writer = Translation(parsed)
    found = _translated(writer, parsed, format)
    if writer.problems:
        raise PolicyInvalid(format, writer.problems)
    return Imported(_without_impossible(_tidy(found), writer), tuple(dict.fromkeys(writer.differences)))


def _translated(writer: Translation, parsed: text.ParsedDocument, format: ForeignFormat) -> dict[str, Any]:  # noqa: A002
    from hitl.policy.dialects import harombe, laravel  # noqa: PLC0415 - these formats are seldom needed

    if format == "contenox":
        return contenox.translated(writer, check(parsed, format))
    return harombe.read(writer, parsed) if format == "harombe" else laravel.read(writer, parsed)


def _tidy(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if value not in ([], {}, None)}


def _without_impossible(document: dict[str, Any], writer: Translation) -> dict[str, Any]:
    """Return the document without rules that can never fire, because ``version: 1`` refuses such rules."""
    checked = _checked(document)
    if "rules" not in document:
        return document
    doubting = _doubting(checked.rules)
    rules = [
        {**written, "when": [{"any": [part]} for part in written["when"]]} if rule.path in doubting else written
        for rule, written in zip(checked.rules, document["rules"], strict=True)
    ]
    apart = tuple(_apart(rule) if rule.path in doubting else rule for rule in checked.rules)
    never = {problem.path: problem for problem in impossible(replace(checked, rules=apart))}
    for problem in never.values():
        writer.differ(problem.path.lstrip("/"), say("import.left_out", why=problem.message))
    return {**document, "rules": [rule for at, rule in enumerate(rules) if f"/rules/{at}" not in never]}


def _doubting(rules: Sequence[Rule]) -> set[str]:
    """Return the paths of deny and ask rules which the linter wrongly takes for rules that never fire.

    For the linter, an earlier allow rule covers such a rule, because the later rule also has all conditions of the
    allow rule. But if a condition answers UNSURE, the allow rule is skipped, and the later rule still applies. To keep
    the later rule, the caller puts each of its conditions into a separate ``any`` group: ``{"any": [condition]}`` means
    the same as the condition, but the linter takes it for another condition.
    """
    return {rule.path for rule, by in covered(rules) if by.action == "allow" != rule.action and by.when.parts}


def _apart(rule: Rule) -> Rule:
    return replace(rule, when=All(tuple(AnyOf((part,)) for part in rule.when.parts)))


def _checked(document: dict[str, Any]) -> Checked:
    try:
        return check(text.ParsedDocument(value=document), "import")
    except PolicyInvalid as error:
        raise PolicyInvalid(
            "import", [replace(one, message=say("import.translated", why=one.message)) for one in error.problems]
        ) from error
