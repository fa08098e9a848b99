"""The dialect ``version: 1``. It is strict: an entry with a wrong value, or a rule that can never fire, is a problem.

The tables at the end of this module are the grammar. The reader follows the tables, and the JSON Schema (2020-12) is
made from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from hitl.call import CardTerms
from hitl.cards.templates import LONGEST_TEMPLATE, LONGEST_UNDO, PATTERN
from hitl.cards.templates import check as check_headline
from hitl.policy.document import OURS, UNKNOWN, All, AnyOf, Checked, Level, Not, Rule, When
from hitl.policy.globs import BadName, check_name, is_pattern
from hitl.policy.grammar import (
    FLAG,
    MAX_ENTRIES,
    TEXT,
    EntryKind,
    Notes,
    choice,
    closed,
    closest,
    described,
    one_or_some,
    record,
    seconds,
    some,
    spelled,
    texts,
)
from hitl.policy.model import (
    ACTIONS,
    DEFAULT_EXECUTION_S,
    DEFAULT_TIMEOUT_S,
    MAX_TIMEOUT_S,
    MIN_TIMEOUT_S,
    RISKS,
)
from hitl.policy.operators import OPERATORS
from hitl.policy.operators.base import BadValue, Condition, Operator
from hitl.policy.operators.scope import ANYWHERE, ROLE
from hitl.policy.operators.tool import HINTS, MATCHES
from hitl.policy.presets import NAMES as PRESETS
from hitl.policy.tables import tools
from hitl.policy.wording import say
from hitl.proof.canonical import pointer_below

_MAX_EXECUTION_S: Final = 24 * 60 * 60
CONDITION_KEYS = ("key", "op", "value", "match")


class Reader(Notes):
    """Reads a document into a Checked: its settings, rules and conditions. Each method reads one kind of entry."""

    def document(self) -> Checked:
        """Return the checked document. Problems are in ``problems``."""
        self.version(self.parsed.value)
        found = self.record(self.parsed.value, "", DOCUMENT)
        defaults = found.get("defaults", {})
        return Checked(
            dialect=OURS,
            default_action=found.get("default_action", "approve"),
            timeout_s=defaults.get("timeout_s") or DEFAULT_TIMEOUT_S,
            execution_s=defaults.get("execution_s") or DEFAULT_EXECUTION_S,
            risk=found.get("risk", {}),
            risk_rules=found.get("risk_rules", ()),
            forbid=found.get("forbid", ()),
            rules=found.get("rules", ()),
            cards=found.get("cards", {}),
            warnings=tuple(self.warnings),
            content=self.parsed.value,
        )

    def version(self, value: Mapping[str, Any]) -> None:
        """Add a problem if the document's version isn't 1."""
        version = value.get("version")
        if type(version) is not int or version != OURS:
            missing = "version" not in value
            said = say("fault.version.none") if missing else say("fault.version", version=spelled(version))
            self.refuse("" if missing else "/version", said, say("fault.do.version"))

    def presets(self, value: Any, path: str) -> None:
        """Add a problem for an unknown preset, an empty list, or a list that names a preset twice."""
        listed = value if isinstance(value, list) else [value]
        if not listed:
            self.refuse(path, say("fault.empty.list"), say("fault.do.leave_out"))
        for one in listed:
            self.choice(one, path, PRESETS, "")
        if len(listed) > len({str(one) for one in listed}):
            self.refuse(path, say("fault.preset.twice"))

    # --- reading the additions to cards

    def cards(self, value: Any, path: str) -> dict[str, CardTerms]:
        """Return the additions to cards: name of the tool -> additions."""
        if not isinstance(value, dict):
            self.refuse(path, say("fault.cards"))
            return {}
        for tool in value:
            self.name(tool, pointer_below(path, tool))
            if isinstance(tool, str) and is_pattern(tool):
                self.refuse(pointer_below(path, tool), say("fault.cards.pattern"), say("fault.do.name_tool"))
        return {tool: self.card(entry, pointer_below(path, tool)) for tool, entry in value.items()}

    def card(self, value: Any, path: str) -> CardTerms:
        """Return the additions to the cards of one tool: headline, fields, and the sentence about undoing."""
        if not isinstance(value, dict) or not value:
            self.refuse(path, say("fault.do.takes", options=", ".join(CARD)))
            return CardTerms()
        if "fields" in value and "headline" not in value:
            self.refuse(pointer_below(path, "fields"), say("fault.cards.headline"), say("fault.do.headline"))
        return CardTerms(**self.record(value, path, CARD))

    def headline(self, value: Any, path: str) -> str:
        """Return the template of a headline, or '' with a problem if the template is malformed."""
        template = self.text(value, path) or ""
        try:
            return template and check_headline(template)
        except ValueError as error:
            self.refuse(path, str(error))
            return ""

    def undo(self, value: Any, path: str) -> str:
        """Return the sentence that says how to undo the call. Add a problem if it is too long."""
        sentence = self.text(value, path) or ""
        if len(sentence) > LONGEST_UNDO:
            self.refuse(path, say("fault.cards.long", most=LONGEST_UNDO))
        return sentence

    def fields(self, value: Any, path: str) -> tuple[str, ...]:
        """Return the names of the arguments that a card shows below its headline. The list may be empty."""
        found = self.items(value, path)
        if not all(isinstance(name, str) and name for name in found):
            self.refuse(path, say("fault.takes.names"), say("fault.do.such_as_note"))
        return tuple(found)

    # --- reading rules

    def rules(self, value: Any, path: str, read: Callable[[dict[str, Any], str], dict[str, Any]]) -> tuple[Rule, ...]:
        """Return the rules of one list of the document. ``read`` makes the fields of a ``Rule`` from an entry."""
        found: list[Rule] = []
        names = set()
        for at, entry in enumerate(self.items(value, path)):
            where = pointer_below(path, at)
            if not isinstance(entry, dict):
                self.refuse(where, say("fault.takes.rule"))
                continue
            fields = {"tools": (), "tool": (), "when": All(()), **read(entry, where)}
            name = fields.pop("id", None) or f"{path[1:]}[{at}]"
            if name in names:
                self.refuse(pointer_below(where, "id"), say("fault.id.twice", name=repr(name)))
            names.add(name)
            found.append(Rule(name=name, path=where, line=self.parsed.line(where), content=entry, **fields))
        return tuple(found)

    def rule(self, value: dict[str, Any], path: str) -> dict[str, Any]:
        """Return the fields of a ``Rule`` record, read from an entry of the list ``rules``."""
        found = self.record(value, path, RULE, ("action",))
        found.pop("on_timeout", None)
        return {**found, "harmless": found.get("harmless") or ()}

    def forbidding(self, value: dict[str, Any], path: str) -> dict[str, Any]:
        """Return the fields of a ``Rule`` record, read from an entry of the list ``forbid``. Its action is deny."""
        return {"action": "deny", **self.record(value, path, FORBID)}

    def risk_rule(self, value: dict[str, Any], path: str) -> dict[str, Any]:
        """Return the fields of a ``Rule`` record, read from an entry of the list ``risk_rules``. It sets or raises a
        risk.
        """
        if ("risk" in value) == ("at_least" in value):
            self.refuse(path, say("fault.risk_rule"))
        return self.record(value, path, RISK_RULE)

    def on_timeout(self, value: Any, path: str) -> None:
        """Add a problem if the value of ``on_timeout`` isn't ``deny``, because silence is never an approval."""
        if value != "deny":
            said = say("fault.on_timeout", value=spelled(value))
            self.refuse(path, said, say("fault.do.on_timeout"))

    def names(self, value: Any, path: str) -> tuple[str, ...]:
        """Return a rule's ``tools`` or ``tool`` as a tuple of names and patterns, or () if it is for every name."""
        listed = value if isinstance(value, list) else [value]
        if not listed:
            self.refuse(path, say("fault.empty.list"), say("fault.do.every_name"))
        for one in listed:
            self.name(one, path)
        named = tuple(one for one in listed if isinstance(one, str) and one not in ("", "*"))
        return named if len(named) == len(listed) else ()

    def name(self, value: Any, path: str) -> None:
        """Add a problem for a name that no tool can have."""
        if not isinstance(value, str):
            self.refuse(path, say("fault.takes.name"))
        elif not value.strip():
            self.refuse(path, say("fault.empty"), say("fault.do.star"))
        else:
            self.possible(value, path)

    def possible(self, value: str, path: str) -> None:
        """Add a problem, or in a lenient dialect a warning, if no tool can have this name."""
        try:
            check_name(value)
        except BadName as error:
            self.strictly(path, say("fault.name", value=repr(value), why=error), error.suggestion)

    def kinds(self, value: Any, path: str) -> tuple[str, ...]:
        """Return a rule's ``kind`` as a tuple of kinds of tools, such as ``read``."""
        found = value if isinstance(value, list) else [value]
        if not found:
            self.refuse(path, say("fault.empty.list"), say("fault.do.every_kind"))
        return tuple(self.choice(one, path, _TOOL_KINDS, UNKNOWN) for one in found)

    # --- reading conditions

    def whens(self, value: Any, path: str) -> All:
        """Return the group of a rule's conditions. The rule holds only if all of them hold."""
        if not value and isinstance(value, list):
            self.refuse(path, say("fault.empty.list"), say("fault.do.every_call"))
        return All(tuple(self.when(entry, pointer_below(path, at)) for at, entry in enumerate(self.items(value, path))))

    def when(self, value: Any, path: str) -> When:
        """Return a checked condition, or a group of conditions."""
        if not isinstance(value, dict):
            self.refuse(path, say("fault.takes.condition"))
            return All(())
        if len(value) != 1:
            return self.condition(value, path)
        ((key, inner),) = value.items()
        where = pointer_below(path, key)
        if key == "not":
            return Not(All(self.group(inner, where)) if isinstance(inner, list) else self.when(inner, where))
        if key in ("any", "all"):
            parts = self.group(inner, where)
            return AnyOf(parts) if key == "any" else All(parts)
        return self.condition(value, path)

    def group(self, value: Any, path: str) -> tuple[When, ...]:
        """Return the conditions inside ``any``, ``all`` or ``not``."""
        found = self.items(value, path)
        if not found and isinstance(value, list):
            self.refuse(path, say("fault.empty.list"))
        return tuple(self.when(entry, pointer_below(path, at)) for at, entry in enumerate(found))

    def condition(self, value: dict[str, Any], path: str) -> When:
        """Return one checked condition: an operator with its key and its value."""
        self.keys(value, path, CONDITION_KEYS)
        name = value.get("op")
        operator = OPERATORS.get(name) if isinstance(name, str) else None
        if operator is None or not isinstance(name, str):
            hint = closest(name, OPERATORS) or say("fault.do.one_of", options=", ".join(OPERATORS))
            said = say("fault.operator.none") if name is None else say("fault.operator", name=spelled(name))
            self.refuse(pointer_below(path, "op"), said, hint)
            return All(())
        key = self.key(value, path, name, operator)
        match = self.choice(value.get("match", MATCHES[0]), pointer_below(path, "match"), MATCHES, MATCHES[0])
        if "match" in value and not operator.matches:
            self.strictly(pointer_below(path, "match"), say("fault.operator.match"))
        where = pointer_below(path, "value") if "value" in value else path
        if operator.matches and match == MATCHES[0]:
            self.whole_names(value.get("value"), pointer_below(path, "value"))
        return Condition(key, name, self.value(value, where, name, operator), match)

    def key(self, value: dict[str, Any], path: str, op: str, operator: Operator) -> str:
        """Return the key of a condition, or '' if the operator takes no key."""
        where, key = pointer_below(path, "key"), value.get("key", "")
        if not isinstance(key, str):
            self.refuse(where, say("fault.takes.text"))
            return ""
        if not operator.keyed:
            if key:
                self.unkeyed(where, op)
            return key
        if key == "":
            self.strictly(where, say("fault.condition.key"), say("fault.do.key"))
        self.role(key, where)
        if op == "annotation" and key not in HINTS:
            self.refuse(where, say("fault.condition.hint", key=repr(key)), closest(key, HINTS))
        if key == ANYWHERE and operator.one_argument:
            self.refuse(where, say("fault.condition.one", op=op))
        return key

    def unkeyed(self, path: str, op: str) -> None:
        """Add a problem for a key of an operator that takes no key."""
        self.refuse(path, say("fault.condition.tool", op=op))

    def role(self, key: str, path: str) -> None:
        """Add a problem for a key that begins with ``@`` and doesn't name a known role of arguments."""
        if key.startswith(ROLE) and key[1:] not in tools.ROLES:
            known = [f"{ROLE}{role}" for role in tools.ROLES]
            self.refuse(path, say("fault.condition.role", key=repr(key), roles=", ".join(known)), closest(key, known))

    def value(self, value: dict[str, Any], path: str, op: str, operator: Operator) -> Any:
        """Return the checked value of a condition, or None with a problem if the operator doesn't take the value."""
        if "value" not in value and operator.valued:
            self.refuse(path, say("fault.condition.value", op=op), say("fault.do.it_takes", takes=operator.takes))
            return None
        return self.checked(value.get("value"), path, op, operator, operator.check)

    def checked(self, given: Any, path: str, op: str, operator: Operator, check: Callable[[Any], Any]) -> Any:
        """Return the result of an operator's check on a value. If the check refuses, add a problem and return None."""
        try:
            found = check(given)
        except BadValue as error:
            self.refuse(path, str(error), say("fault.condition.takes", op=op, takes=operator.takes))
            return None
        if op == "command_prefix_allowlist" and (wild := [one for one in found if is_pattern(one)]):
            self.warn(path, say("fault.condition.words", word=repr(wild[0])), say("fault.do.beginning"))
        return found

    def whole_names(self, value: Any, path: str) -> None:
        """Add a problem for a pattern in a list of tool names that are compared as whole names.

        Such a pattern would match no tool.
        """
        for one in value if isinstance(value, list) else str(value or "").split(","):
            if isinstance(one, str) and is_pattern(one):
                said = say("fault.condition.set", name=repr(one))
                self.refuse(path, said, say("fault.do.substring", name=repr(one.strip("*?"))))


# --- the tables of the grammar

_TOOL_KINDS: Final = (*tools.KINDS, UNKNOWN)
_WHEN: Final = {"$ref": "#/$defs/when"}
_ACTION = choice(ACTIONS, "deny")
_WAIT = seconds(MIN_TIMEOUT_S, MAX_TIMEOUT_S)
_RISK = choice(RISKS, "critical")
_NAMES = EntryKind(Reader.names, one_or_some(TEXT.schema))
_SCOPE: Final = {
    "id": TEXT,
    "tools": _NAMES,
    "tool": _NAMES,
    "kind": EntryKind(Reader.kinds, one_or_some({"enum": list(_TOOL_KINDS)})),
    "when": EntryKind(Reader.whens, some(_WHEN)),
    "message": TEXT,
}
_ASKING: Final[Mapping[str, EntryKind]] = {
    "on_timeout": EntryKind(Reader.on_timeout, {"const": "deny"}),
    "timeout_s": EntryKind(
        lambda reader, value, path: None if value is None else _WAIT.read(reader, value, path),
        {**_WAIT.schema, "type": ["integer", "null"]},
    ),
    "approvers": texts(say("fault.takes.approvers"), say("fault.do.such_as_person"), blank=False),
    "exclude_requester": FLAG,
    "require_reason": FLAG,
}
CARD: Final = {
    "headline": EntryKind(Reader.headline, {**TEXT.schema, "maxLength": LONGEST_TEMPLATE, "pattern": PATTERN}),
    "fields": EntryKind(Reader.fields, {"type": "array", "items": TEXT.schema, "maxItems": MAX_ENTRIES}),
    "undo": EntryKind(Reader.undo, {**TEXT.schema, "maxLength": LONGEST_UNDO}),
}
RULE: Final = {
    "action": _ACTION,
    **_SCOPE,
    "risk": _RISK,
    **{key: kind.for_action("approve") for key, kind in _ASKING.items()},
    "harmless": texts(say("fault.takes.names"), say("fault.do.such_as_note"), blank=True).for_action("allow"),
}
FORBID: Final = {**_SCOPE, "risk": _RISK}
RISK_RULE: Final = {**_SCOPE, "risk": _RISK, "at_least": _RISK}
_LEVEL: Final = {"action": _ACTION, "timeout_s": _WAIT, "require_reason": FLAG}
_DEFAULTS: Final = {"timeout_s": _WAIT, "execution_s": seconds(1, _MAX_EXECUTION_S)}


def _list_of(read: Callable[[Reader, dict[str, Any], str], dict[str, Any]], schema: Mapping[str, Any]) -> EntryKind:
    return EntryKind(
        lambda reader, value, path: reader.rules(value, path, lambda *rule: read(reader, *rule)),
        {"type": "array", "maxItems": MAX_ENTRIES, "items": schema},
    )


DOCUMENT: Final = {
    "version": EntryKind(lambda *_: None, {"const": OURS}),
    "description": TEXT,
    "preset": EntryKind(Reader.presets, one_or_some({"enum": list(PRESETS)}, uniqueItems=True)),
    "defaults": record(_DEFAULTS, dict, takes=say("fault.takes.keys")),
    "default_action": choice(ACTIONS, "deny", default="approve"),
    "risk": record(
        dict.fromkeys(
            RISKS, record(_LEVEL, Level, takes=say("fault.do.takes", options=", ".join(_LEVEL)), empty=False)
        ),
        dict,
        takes=say("fault.takes.keys"),
    ),
    "risk_rules": _list_of(
        Reader.risk_rule, {**described(RISK_RULE), "oneOf": [{"required": ["risk"]}, {"required": ["at_least"]}]}
    ),
    "forbid": _list_of(Reader.forbidding, described(FORBID)),
    "rules": _list_of(Reader.rule, described(RULE, ("action",))),
    "cards": EntryKind(
        Reader.cards,
        {
            "type": "object",
            "propertyNames": {**TEXT.schema, "pattern": r"^[^*?\[\]]*$"},
            "additionalProperties": {
                **described(CARD),
                "minProperties": 1,
                "dependentRequired": {"fields": ["headline"]},
            },
        },
    ),
}


def _condition(name: str, operator: Operator) -> dict[str, Any]:
    key = "The name of an argument, a JSON pointer, @ and a role of arguments, or * for any value."
    properties = {
        "op": {"const": name},
        "value": {**operator.schema, "description": f"Takes {operator.takes}."},
        **({"key": {**TEXT.schema, "description": key}} if operator.keyed else {}),
        **({"match": {"enum": list(MATCHES)}} if operator.matches else {}),
    }
    return closed(properties, ("op", *["key"] * operator.keyed, *["value"] * operator.valued))


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of policy documents.

    The schema describes only the form. ``load`` also refuses rules that can never fire.
    """
    parts = some(_WHEN)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Sayso policy",
        **described(DOCUMENT, ("version",)),
        "$defs": {
            "when": {
                "anyOf": [
                    closed({"any": parts}, ("any",)),
                    closed({"all": parts}, ("all",)),
                    closed({"not": {"anyOf": [_WHEN, parts]}}, ("not",)),
                    *(_condition(name, operator) for name, operator in OPERATORS.items()),
                ]
            }
        },
    }
