"""What a policy would have said to requests of the past, and which rules the record suggests.

Both judge requests as they were asked, by what paths and hosts are now.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from textwrap import indent
from typing import Any

import yaml
from msgspec import Struct

from hitl.call import Action, Call, Decision, PolicyCall, Risk, Runs
from hitl.cards.text import one_line
from hitl.gate.operating_mode import judged
from hitl.policy.engine import Policy
from hitl.proof.canonical import canonical

#: So many requests of each kind are named.
EXAMPLES = 5
#: An approval that came sooner tells nothing of what the approver thinks.
READ_S = 2.0
_ID_DIGITS = 8
#: A key that begins with one of these is no plain name of an argument.
_KEY_SIGNS = frozenset(("", "/", "@", "*"))
#: Types of values that the condition `eq` compares exactly.
_EXACT = frozenset((str, int, bool, type(None)))


class Shift(Struct, frozen=True):
    """Requests that two policies judge otherwise: what each says, and how people decided them then.

    `decisions` counts the decisions on record; `examples` are up to EXAMPLES short refs, the latest first.
    """

    before: str
    after: str
    rule: str | None
    count: int
    decisions: Mapping[str, int]
    examples: tuple[str, ...]


class Backtest(Struct, frozen=True):
    """How many requests were judged by both policies, and those that differ, most frequent first."""

    judged: int
    shifts: tuple[Shift, ...]


def backtest(before: Policy, after: Policy, calls: Iterable[Call]) -> Backtest:
    """Compare two policies on the requests of the record."""
    count = 0
    groups: dict[tuple[str, str, str | None], list[Call]] = defaultdict(list)
    for call in calls:
        count += 1
        asked = asked_of(call)
        old, new = before.judge(asked), after.judge(asked)
        if old.action != new.action:
            groups[old.action.value, new.action.value, new.rule].append(call)
    shifts = [_shift(key, group) for key, group in groups.items()]
    return Backtest(count, tuple(sorted(shifts, key=lambda shift: -shift.count)))


def asked_of(call: Call) -> PolicyCall:
    """What a policy was asked about a call of the record."""
    seen, is_command = judged(call.runs, call.arguments)
    return PolicyCall(
        call.tools,
        call.tool,
        seen,
        call.cwd,
        requester=call.requester,
        origin=call.origin,
        is_command=is_command,
    )


def _shift(key: tuple[str, str, str | None], group: Sequence[Call]) -> Shift:
    latest = sorted(group, key=lambda call: call.created_at, reverse=True)
    decisions = Counter(call.decision.value for call in group if call.decision)
    return Shift(*key, len(group), dict(decisions), tuple(call.short for call in latest[:EXAMPLES]))


class Suggestion(Struct, frozen=True):
    """A rule that allows what people always approved, and how often and by how many people that was.

    `folder` is the working folder of a command that its caller runs, which no rule can name; else None.
    """

    rule: Mapping[str, Any]
    approved: int
    people: int
    folder: str | None


def suggest(calls: Iterable[Call], *, least: int) -> list[Suggestion]:
    """Rules for requests of low or medium risk that were approved at least `least` times and never ended otherwise.

    A rule allows just that: the tool with just these arguments. An approval that came within READ_S seconds doesn't
    count. What was once rejected, withdrawn or left unanswered is never suggested, and neither is what has an argument
    that isn't a text, a number, true, false or null.
    """
    groups: dict[bytes, list[Call]] = defaultdict(list)
    for call in calls:
        if call.verdict.action is Action.APPROVE:
            groups[canonical([call.tools, call.tool, call.cwd, call.runs.value, call.arguments])].append(call)
    found = [made for group in groups.values() if (made := _suggestion(group, least))]
    return sorted(found, key=lambda suggestion: -suggestion.approved)


def as_yaml(suggestions: Sequence[Suggestion]) -> str:
    """The rules as part of a policy document, each under a comment that says what it rests on."""
    written = ["rules:"]
    for each in suggestions:
        written.append(f"  # approved {each.approved} times by {each.people} people, and never ended otherwise")
        if each.folder is not None:
            written.append(f"  # always in {one_line(each.folder, 200)}; the rule allows it in every folder")
        rule = yaml.safe_dump([dict(each.rule)], sort_keys=False, allow_unicode=True, width=4096)
        written.append(indent(rule.rstrip(), "  "))
    return "\n".join(written) + "\n"


def _suggestion(group: Sequence[Call], least: int) -> Suggestion | None:
    if any(call.decision is not Decision.APPROVED or call.verdict.risk.rank > Risk.MEDIUM.rank for call in group):
        return None
    call, when = group[0], _when(group[0])
    read = [each for each in group if _seconds(each) >= READ_S]
    if len(read) < least or when is None:
        return None
    named = {"tools": call.tools, "tool": call.tool} if call.tools else {"tool": call.tool}
    rule = {"id": f"approved-{call.digest[:_ID_DIGITS]}", **named, "when": when, "action": "allow"}
    people = {each.decided_by for each in read}
    return Suggestion(rule, len(read), len(people), call.cwd if call.runs is Runs.CALLER else None)


def _when(call: Call) -> list[dict[str, Any]] | None:
    """Conditions that hold for these very arguments; None where there are none, or a value has no exact condition.

    The words of a command that its caller runs are compared one by one, and there may be no further one.
    """
    args = dict(call.arguments)
    words = args.pop("argv") if asked_of(call).is_command else []
    keyed = [(f"/argv/{at}", word) for at, word in enumerate(words)] + list(args.items())
    if not keyed or not all(type(value) in _EXACT and name[:1] not in _KEY_SIGNS for name, value in args.items()):
        return None
    end = [{"key": f"/argv/{len(words)}", "op": "exists", "value": False}] if words else []
    return [*({"key": key, "op": "eq", "value": value} for key, value in keyed), *end]


def _seconds(call: Call) -> float:
    return (call.decided_at - call.created_at).total_seconds() if call.decided_at else 0.0
