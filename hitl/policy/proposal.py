"""Writes a policy document that adds suggested rules to the policy that applies now.

If the policy is a preset, the new document names that preset. Otherwise the new document is a copy of the policy's
document with the new rules before the old rules. The copy keeps the comments if the rules are a YAML list in block
style. If not, it is written again from the values, without comments.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from textwrap import indent
from typing import Any, Literal

import yaml

from hitl.cards.text import one_line
from hitl.policy import text
from hitl.policy.backtest import Backtest, Shift, Suggestion
from hitl.policy.dialects import contenox
from hitl.policy.document import OURS
from hitl.policy.engine import load
from hitl.policy.model import PolicyInvalid, Problem
from hitl.policy.ports import Document
from hitl.policy.presets import NAMES
from hitl.policy.wording import say

_LISTS = ("rules", "forbid", "risk_rules")
#: A comment has at most this many characters. A longer comment, with a long working folder or rule's name, is cut.
_COMMENT = 200


def proposed(document: Document, suggestions: Sequence[Suggestion]) -> str:
    """Return the text of a YAML document: the policy `document` with the suggested rules before all other rules.

    A comment above each rule gives its number of approvals. If the document already uses a rule's id, the rule gets
    another id.

    Raises:
        PolicyInvalid: the document is in the format of another system, which can't express these rules.
    """
    if document.fixed and document.name in NAMES:
        return f"version: {OURS}\npreset: {document.name}\nrules:\n{_rules(suggestions, ())}"
    form: Literal["yaml", "json"] = "json" if document.format == "json" else "yaml"
    parsed = text.parse(document.text, name=document.origin, format=form)
    if contenox.is_contenox(parsed):
        told = say("fault.suggest")
        raise PolicyInvalid(document.origin, [Problem(1, "", told, say("fault.suggest.do"))])
    own: Mapping[str, Any] = parsed.value
    taken = {rule["id"] for name in _LISTS for rule in own.get(name) or () if "id" in rule}
    rules = _rules(suggestions, taken)
    wanted = {**own, "rules": [*_value(f"rules:\n{rules}")["rules"], *(own.get("rules") or ())]}
    for kept in (_inserted(document.text, parsed, rules), f"{document.text.rstrip()}\nrules:\n{rules}"):
        if _same(kept, wanted):
            return kept
    rest = {name: value for name, value in own.items() if name not in ("version", "rules")}
    later = own.get("rules")
    return "".join(
        [
            f"version: {OURS}\n",
            _yaml(rest) if rest else "",
            f"rules:\n{rules}",
            indent(_yaml(later), "  ") if later else "",
        ]
    )


def usable(document: Document, suggestions: Sequence[Suggestion]) -> list[Suggestion]:
    """Return the suggestions whose rules can be added to the document.

    A suggested rule must not cover a rule of the document. A person wrote that rule, and with the suggested rule before
    it, it could never fire. If one suggested rule covers another, only one of the two can be added.

    Raises:
        PolicyInvalid: the document is in the format of another system.
    """
    if not suggestions or _loads(document, suggestions):
        return list(suggestions)
    kept: list[Suggestion] = []
    for each in suggestions:
        if _loads(document, [*kept, each]):
            kept.append(each)
    return kept


def _loads(document: Document, suggestions: Sequence[Suggestion]) -> bool:
    proposal = proposed(document, suggestions)
    try:
        load(proposal, name=document.origin, format="yaml")
    except PolicyInvalid:
        return False
    return True


def headed(proposal: str, document: Document, compared: Backtest) -> str:
    """Return the text of the proposed document with the result of its backtest before it, as comments."""
    shifted = sum(shift.count for shift in compared.shifts)
    lines = [
        say("suggest.head", origin=document.origin),
        say("backtest.judged", judged=compared.judged, shifted=shifted),
        *(shift_line(shift) for shift in compared.shifts),
        say("suggest.next"),
    ]
    return "".join(f"# {one_line(line, 2 * _COMMENT)}\n" for line in lines) + proposal


def shift_line(shift: Shift) -> str:
    """Return one line of text about a group of requests on which two policies differ."""
    decided = ", ".join(f"{count} {name}" for name, count in shift.decisions.items()) or "-"
    action = shift.before if shift.before == shift.after else _changed("", shift.before, shift.after)
    changes = ", ".join([action, *(_changed(f"{name} ", was, now) for name, was, now in shift.changes)])
    told = {"changes": changes, "rule": shift.rule, "count": shift.count, "decided": decided}
    return say("backtest.shift", **told, examples=" ".join(shift.examples))


def _changed(head: str, was: Any, now: Any) -> str:
    return say("backtest.change", what=head, was=_told(was), now=_told(now))


def _told(value: Any) -> str:
    """Return the value of one part of a verdict, such as `timeout_s`, as text for people.

    Names are joined by "+". A part that isn't set is "-". Booleans are as in JSON.
    """
    if isinstance(value, tuple):
        return "+".join(value) or "nobody"
    return {None: "-", True: "true", False: "false"}.get(value, str(value))


def _rules(suggestions: Sequence[Suggestion], taken: Collection[str]) -> str:
    """Return the suggested rules as entries of a YAML list, each below its comments. `taken` are the ids already in
    use.
    """
    written: list[str] = []
    used = set(taken)
    for each in suggestions:
        name = str(each.rule["id"])
        unused = next(one for number in range(1, len(used) + 2) if (one := _numbered(name, number)) not in used)
        used.add(unused)
        written.append(f"  # {say('suggest.approved', approved=each.approved, people=each.people)}")
        if each.folders:
            written.append(f"  # {say('suggest.folder', folders=one_line(', '.join(each.folders), _COMMENT))}")
        written.append(indent(_yaml([{**each.rule, "id": unused}]).rstrip("\n"), "  "))
    return "\n".join(written) + "\n"


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}-{number}"


def _inserted(document: str, parsed: text.ParsedDocument, rules: str) -> str:
    """Return the document's text with the new rules directly below its line `rules:`.

    The text is inserted without a parser. So the caller must check that the result, when parsed, has the new and the
    old rules.
    """
    lines = document.splitlines(keepends=True)
    at = next((number for number, line in enumerate(lines) if line.startswith("rules:")), None)
    if at is None or parsed.format != "yaml" or not lines[at].endswith("\n"):
        return document
    following = next((line for line in lines[at + 1 :] if line.lstrip().startswith("-")), "")
    margin = len(following) - len(following.lstrip())
    fitted = "".join(f"{' ' * margin}{line[2:]}" for line in rules.splitlines(keepends=True))
    return "".join([*lines[: at + 1], fitted, *lines[at + 1 :]])


def _same(document: str, wanted: Mapping[str, Any]) -> bool:
    try:
        return bool(_value(document) == wanted)
    except PolicyInvalid:
        return False


def _value(document: str) -> Any:
    """Return the content of a YAML text. Raises PolicyInvalid."""
    return text.parse(document, name="proposal", format="yaml").value


class _Dumper(yaml.SafeDumper):
    """Writes YAML without anchors, because `text.parse` refuses anchors."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML passes the value
        """Return True, so that a value that occurs twice is written twice, and not as an alias."""
        return True


# A text that begins like a number is quoted. PyYAML leaves some spellings of numbers, such as `1e3`, unquoted, and YAML
# 1.2 would read them as numbers.
_Dumper.add_representer(
    str,
    lambda dumper, value: dumper.represent_scalar(
        "tag:yaml.org,2002:str", value, style='"' if value[:1] in "0123456789+-." else None
    ),
)
_Dumper.add_representer(
    Decimal, lambda dumper, value: dumper.represent_scalar("tag:yaml.org,2002:float", _decimal(value))
)


def _decimal(value: Decimal) -> str:
    plain = str(value)
    return plain if "." in plain or "E" in plain else f"{plain}.0"


def _yaml(value: Any) -> str:
    written: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=4096)
    return written
