"""Documents of other systems, as ``version: 1`` documents with the same verdicts, and where they differ on purpose.

    seed1   a set of destructive tools: a list of names, or {"destructive": [...], "match": "exact" | "substring"}
    seed2   risk rules: [{"tools", "risk", "require_approval", "timeout", "conditions": [{"param", "equals" | ...}]}]
    seed3   an envelope: {"default_action", "rules": [{"tools", "tool", "when", "action", ...}]}

A difference only ever makes a call more likely to be asked about or denied.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from hitl.policy import text, values
from hitl.policy.conditions import OPERATORS, BadValue, Condition
from hitl.policy.document import Rule, When, check
from hitl.policy.globs import is_name_glob
from hitl.policy.lint import impossible
from hitl.policy.model import MAX_TIMEOUT_S, MIN_TIMEOUT_S, RISKS, PolicyInvalid, Problem

ForeignFormat = Literal["seed1", "seed2", "seed3"]
_SEED2_TIMEOUT_S: Final = 60


@dataclass(frozen=True, slots=True)
class Imported:
    """A document of ours and each place where it decides differently from the original, in words."""

    document: dict[str, Any]
    differences: tuple[str, ...]

    @property
    def text(self) -> str:
        """The document as YAML, the differences as comments above it."""
        import yaml  # noqa: PLC0415 - only for writing

        notes = "".join(f"# {line}\n" for difference in self.differences for line in difference.splitlines())
        return notes + yaml.safe_dump(self.document, sort_keys=False, allow_unicode=True, width=110)


def import_foreign(document: str, format: ForeignFormat) -> Imported:  # noqa: A002 - the public name
    """Translate another system's document.

    Raises:
        PolicyInvalid: it is not well formed, holds something without a safe meaning here, or the format is not known.
    """
    if format not in _READERS:
        raise PolicyInvalid(
            "import", [Problem(0, "", f"the format {format!r} is not known", f"one of {', '.join(_READERS)}")]
        )
    parsed = text.parse(document, name=format)
    writer = _Writer(parsed)
    found = _READERS[format](writer, parsed)
    if writer.problems:
        raise PolicyInvalid(format, writer.problems)
    return Imported(_without_impossible(_tidy(found), writer), tuple(dict.fromkeys(writer.differences)))


@dataclass(slots=True)
class _Writer:
    parsed: text.Parsed
    differences: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def differ(self, where: str, what: str) -> None:
        self.differences.append(f"{where}: {what}")

    def refuse(self, path: str, what: str) -> None:
        self.problems.append(Problem(self.parsed.line(path), path, what))


def _tidy(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if value not in ([], None)}


def _without_impossible(document: dict[str, Any], writer: _Writer) -> dict[str, Any]:
    """Leave out the rules that our documents refuse because they can never fire."""
    try:
        checked = check(text.Parsed(value=document), "import")
    except PolicyInvalid as error:
        raise PolicyInvalid(
            "import", [replace(one, message=f"once translated, this {one.message}") for one in error.problems]
        ) from error
    never = {problem.path: problem for problem in impossible(checked)}
    for problem in never.values():
        writer.differ(problem.path.lstrip("/"), f"left out: {problem.message}")
    kept = [rule for at, rule in enumerate(document.get("rules", [])) if f"/rules/{at}" not in never]
    return {**document, "rules": kept} if "rules" in document else document


def _timeout(writer: _Writer, where: str, seconds: int) -> int:
    if MIN_TIMEOUT_S <= seconds <= MAX_TIMEOUT_S:
        return seconds
    bounded = MAX_TIMEOUT_S if seconds <= 0 else min(max(seconds, MIN_TIMEOUT_S), MAX_TIMEOUT_S)
    writer.differ(where, f"the timeout {seconds} becomes {bounded} s")
    return bounded


# --- the first seed


def _seed1(writer: _Writer, parsed: text.Parsed) -> dict[str, Any]:
    value = parsed.value if isinstance(parsed.value, dict) else {"destructive": parsed.value}
    names, match = value.get("destructive"), value.get("match", "exact")
    unknown = set(value) - {"destructive", "match"}
    if (
        unknown
        or match not in ("exact", "substring")
        or not isinstance(names, list)
        or not all(isinstance(one, str) for one in names)
    ):
        writer.refuse("", "takes {'destructive': [names], 'match': 'exact' or 'substring'}")
        return {"version": 1}
    document: dict[str, Any] = {"version": 1, "default_action": "allow", "rules": []}
    writer.differ(
        "document",
        "tools outside the set run without a question, as before; give 'risk' actions to ask about risky ones",
    )
    rule: dict[str, Any] = {"id": "destructive", "action": "approve"}
    if match == "substring" and "" in names:
        writer.differ("destructive", "an empty entry covers every tool; the rule has no condition")
    elif kept := [name for name in names if name.strip()]:
        rule["when"] = [{"op": "destructive_set", "value": kept, "match": match}]
        writer.differ("destructive", "upper and lower case are taken for the same")
    else:
        writer.differ("destructive", "the set is empty: nothing is asked about")
        return document
    document["rules"].append(rule)
    return document


# --- the second seed


def _seed2(writer: _Writer, parsed: text.Parsed) -> dict[str, Any]:
    value = parsed.value
    rules = value.get("rules", value.get("hitl_rules")) if isinstance(value, dict) else value
    if not isinstance(rules, list):
        writer.refuse("", "takes a list of rules")
        rules = []
    writer.differ(
        "document",
        "a tool without a rule is asked about as before; its risk is the classifier's (unknown: high), not 'medium'",
    )
    prefix = "/rules" if isinstance(value, dict) else ""
    found = [_seed2_rule(writer, rule, f"{prefix}/{at}", at) for at, rule in enumerate(rules)]
    return {
        "version": 1,
        "default_action": "approve",
        "defaults": {"timeout_s": _SEED2_TIMEOUT_S},
        "rules": [rule for rule in found if rule is not None],
    }


def _seed2_rule(writer: _Writer, rule: Any, path: str, at: int) -> dict[str, Any] | None:
    where = f"rule {at}"
    if not isinstance(rule, dict):
        writer.refuse(path, "a rule takes keys and values")
        return None
    if not _is_seed2_rule(writer, rule, path):
        return None
    asks = rule.get("require_approval", True) is not False
    if not asks and rule["risk"] in ("high", "critical"):
        writer.differ(where, f"runs {rule['risk']} calls without a question; here they are asked about")
        asks = True
    found: dict[str, Any] = {
        "tool": list(rule["tools"]),
        "action": "approve" if asks else "allow",
        "risk": rule["risk"],
    }
    for name in rule["tools"]:
        if isinstance(name, str) and is_name_glob(name):
            writer.differ(where, f"the name {name!r} was compared letter by letter; here it is a pattern")
    place = _Place(writer, path, where, asks)
    when = [part for one in rule.get("conditions") or () for part in _seed2_condition(place, one)]
    if when:
        found["when"] = when
    if asks:
        found["timeout_s"] = _timeout(writer, where, rule.get("timeout", _SEED2_TIMEOUT_S))
    if isinstance(rule.get("description"), str) and rule["description"].strip():
        found["message"] = rule["description"]
    return found


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


#: Each key of a rule: what it may be, and how that is said.
_SEED2_PARTS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "tools": (lambda value: isinstance(value, list) and bool(value) and all(map(_is_name, value)), "names of tools"),
    "risk": (lambda value: value in RISKS, "low, medium, high or critical"),
    "require_approval": (lambda value: isinstance(value, bool), "true or false"),
    "timeout": (lambda value: isinstance(value, int) and not isinstance(value, bool), "a whole number of seconds"),
    "conditions": (lambda value: value is None or isinstance(value, list), "a list of conditions"),
    "description": (lambda _: True, ""),
    "id": (lambda _: True, ""),
    "name": (lambda _: True, ""),
}


def _is_seed2_rule(writer: _Writer, rule: dict[str, Any], path: str) -> bool:
    """Whether each part of a rule is what it must be; what isn't is refused, by its name."""
    wrong = {key: "is missing" for key in ("tools", "risk") if key not in rule}
    for key, value in rule.items():
        fits, takes = _SEED2_PARTS.get(key, (None, ""))
        if fits is None:
            wrong[key] = "is not known"
        elif not fits(value):
            wrong[key] = f"takes {takes}"
    for key, what in wrong.items():
        writer.refuse(f"{path}/{key}", f"{key!r} {what}")
    return not wrong


@dataclass(frozen=True, slots=True)
class _Place:
    """A rule that is being translated: where it stands, and whether it asks (or lets pass)."""

    writer: _Writer
    path: str
    where: str
    asks: bool

    def differ(self, what: str) -> None:
        self.writer.differ(self.where, what)

    def refuse(self, what: str) -> None:
        self.writer.refuse(self.path, what)


def _seed2_condition(place: _Place, condition: Any) -> list[dict[str, Any]]:
    if not isinstance(condition, dict) or not _is_name(condition.get("param")):
        place.refuse("a condition takes 'param', the name of a parameter, and one of 'equals', 'in', 'matches'")
        return []
    unknown = set(condition) - {"param", "equals", "in", "matches"}
    if unknown:
        place.refuse(
            f"the operator {min(unknown)!r} is not known; it was ignored, which made the condition hold",
        )
    if wrong := _wrong_value(condition):
        place.refuse(wrong)
        return []
    key = condition["param"]
    found: list[dict[str, Any]] = []
    if "equals" in condition:
        found.append(_equal_to([condition["equals"]], key))
    if "in" in condition:
        found.append(_equal_to(condition["in"], key))
    if "matches" in condition:
        found += _seed2_pattern(place, condition["matches"], key)
    return found or [{"key": key, "op": "exists", "value": True}]


def _wrong_value(condition: dict[str, Any]) -> str | None:
    """What is wrong with the value of a condition, if something is."""
    members = condition.get("in", [None])
    if not isinstance(members, list) or not members:
        return "'in' takes a list with at least one entry"
    if any(isinstance(one, list | dict) for one in (condition.get("equals"), *members)):
        return "'equals' and 'in' take texts, numbers, true, false or null"
    pattern = condition.get("matches", ".")
    if not isinstance(pattern, str):
        return "'matches' takes a regular expression"
    if _LOOKAHEAD.fullmatch(pattern) or _LOOKS_AROUND.search(pattern):
        return None
    try:
        OPERATORS["matches"].check(pattern)
    except BadValue as error:
        return f"'matches' {error}"
    return None


def _equal_to(wanted: list[Any], key: str) -> dict[str, Any]:
    """Equality as Python has it: 1 and true are the same."""
    found: list[Any] = []
    for one in wanted:
        found.append(one)
        if isinstance(one, bool):
            found.append(int(one))
        elif one in (0, 1) and not isinstance(one, str):
            found.append(bool(one))
    return {"key": key, "op": "in", "value": found}


_LOOKS_AROUND = re.compile(r"\(\?[=!<]|\\[1-9]")
_LOOKAHEAD = re.compile(r"(\(\?[a-z]+\))?\^?\(\?!([^()]*)\)(.*)", re.DOTALL)
_FOLDER = re.compile(r"\^(/[\w./-]*)/(?:\.\*)?\$?")


def _seed2_pattern(place: _Place, pattern: str, key: str) -> list[dict[str, Any]]:
    """A pattern that was tried at the start of the text only: found anywhere where that asks about more."""
    negative = _LOOKAHEAD.fullmatch(pattern)
    if negative is not None:
        flags, without, rest = negative.groups(default="")
        found: list[dict[str, Any]] = [{"key": key, "op": "exists", "value": True}]
        found.append({"not": {"key": key, "op": "matches", "value": f"{flags}^(?:{without})"}})
        return found + (_seed2_pattern(place, f"{flags}^{rest}", key) if rest else [])
    if _LOOKS_AROUND.search(pattern):
        place.refuse(
            f"the pattern {pattern!r} needs look-around or back-references, which a linear-time search does not have",
        )
        return []
    anchored = pattern.startswith("^") or re.match(r"\(\?[a-z]+\)\^", pattern) is not None
    if not place.asks and not anchored:
        return [
            {
                "key": key,
                "op": "matches",
                "value": re.sub(r"^(\(\?[a-z]+\))?(.*)$", r"\1^(?:\2)", pattern, flags=re.DOTALL),
            }
        ]
    if not anchored:
        place.differ(f"{pattern!r} was found only at the start of {key!r}; here anywhere in it")
    folder = _FOLDER.fullmatch(pattern)
    one = {"key": key, "op": "matches", "value": pattern}
    if folder is None or not place.asks:
        return [one]
    place.differ(f"{key!r} is also judged as a path, so that '//' and '..' do not evade {pattern!r}")
    return [{"any": [one, {"key": key, "op": "glob", "value": f"{folder.group(1)}/**/*"}]}]


# --- the third seed


def _seed3(writer: _Writer, parsed: text.Parsed) -> dict[str, Any]:
    checked = check(parsed, "seed3")
    for warning in checked.warnings:
        writer.differ(warning.path.lstrip("/") or "document", warning.message)
    return {
        "version": 1,
        "default_action": checked.default_action,
        "rules": [found for rule in checked.rules if (found := _seed3_rule(writer, rule)) is not None],
    }


def _seed3_rule(writer: _Writer, rule: Rule) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    for key, names in (("tools", rule.tools), ("tool", rule.tool)):
        if names:
            found[key] = names[0]
        if rule.literal and any(is_name_glob(name) for name in names):
            writer.differ(rule.name, f"the name {names[0]!r} matched no tool; the allow is left out")
            return None
    when = [_seed3_condition(writer, part, rule) for part in rule.when.parts]
    if None in when:
        writer.differ(rule.name, "left out: a condition of it can never hold")
        return None
    if when:
        found["when"] = when
    found["action"] = rule.action
    if rule.timeout_s is not None and rule.action == "approve":
        found["timeout_s"] = rule.timeout_s
    return found


def _seed3_condition(writer: _Writer, part: When, rule: Rule) -> dict[str, Any] | None:
    if not isinstance(part, Condition):
        return None
    given: dict[str, Any] = next(
        (one for one in rule.content.get("when", ()) if one.get("key") == part.key and one.get("op") == part.op),
        {},
    )
    value = given.get("value", "")
    if not part.key or (value in ("", None) and part.op not in ("eq", "no_command_substitution")):
        return None
    if part.op == "eq":
        return {"key": part.key, "op": "in", "value": _texts_of(value)}
    if part.op == "glob" and None in part.value:
        writer.refuse(rule.path, f"the glob {value!r} is malformed and never matched")
    if part.op == "host" and rule.action == "allow":
        writer.differ(rule.name, f"allows {value!r} itself, no longer the domains below it; write '*.' for those")
    if part.op == "no_command_substitution":
        return {"key": part.key, "op": part.op}
    return {"key": part.key, "op": part.op, "value": value}


def _texts_of(value: str) -> list[Any]:
    """A text, and the number or truth value that it is the text of."""
    word = {"true": True, "false": False}.get(value)
    number = values.number(value) if re.fullmatch(r"-?(?:0|[1-9]\d*)(?:\.\d+)?", value) else None
    if word is not None:
        return [value, word]
    return [value] if number is None else [value, int(number) if "." not in value else float(number)]


_READERS: Mapping[str, Callable[[_Writer, text.Parsed], dict[str, Any]]] = {
    "seed1": _seed1,
    "seed2": _seed2,
    "seed3": _seed3,
}
