"""Compares two policies on past requests, and suggests rules from past approvals.

Each policy judges the recorded arguments of a request. It looks up paths and host names at the time of the comparison.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from hitl.call import Action, Call, Decision, PolicyCall, Risk, Runs, Verdict
from hitl.operating_mode import judged
from hitl.policy.engine import Policy
from hitl.policy.globs import is_pattern
from hitl.proof.canonical import canonical

#: The number of requests that a Shift names as examples.
EXAMPLES = 5
#: Seconds. An approval that comes sooner after its request doesn't count: nobody can have read the card.
READ_S = 2.0
#: The parts of a verdict that two policies may set differently for the same action.
_PARTS = ("risk", "approvers", "exclude_requester", "require_reason", "timeout_s")
_ID_DIGITS = 8
#: No rule is suggested for an argument whose name begins with one of these signs, because such a key of a condition has
#: another meaning: `/` begins a JSON pointer, `@` a role, and `*` means every argument. '' is here for the empty name,
#: which can't be a key.
_KEY_SIGNS = frozenset(("", "/", "@", "*"))
#: Types of values that the condition `eq` compares exactly.
_EXACT = frozenset((str, int, bool, type(None)))


class Shift(Struct, frozen=True):
    """A group of requests on which two policies differ in the same way.

    - `before` and `after` are the actions of the old and the new policy.
    - `rule` is the new policy's deciding rule. If no rule decided, it is the verdict's reason, such as
      `default_action`.
    - `changes`, if the actions are equal, holds the other parts of the verdict that differ: name, old value, new value.
    - `count` is the number of requests.
    - `decisions` counts the recorded decisions on these requests: `{"approved": 3}`.
    - `examples` are up to EXAMPLES short refs, the latest first.
    """

    before: str
    after: str
    rule: str
    changes: tuple[tuple[str, Any, Any], ...]
    count: int
    decisions: Mapping[str, int]
    examples: tuple[str, ...]


class Backtest(Struct, frozen=True):
    """The number of requests that both policies judged, and the groups on which they differ, largest first."""

    judged: int
    shifts: tuple[Shift, ...]


def backtest(before: Policy, after: Policy, calls: Iterable[Call]) -> Backtest:
    """Judge recorded requests by two policies, and return a Backtest: the requests on which the two verdicts differ."""
    count = 0
    groups: dict[tuple[str, str, str, tuple[tuple[str, Any, Any], ...]], list[Call]] = defaultdict(list)
    for call in calls:
        count += 1
        asked = asked_of(call)
        old, new = before.judge(asked), after.judge(asked)
        changes = _changes(old, new)
        if old.action != new.action or changes:
            groups[old.action.value, new.action.value, new.ground, changes].append(call)
    shifts = [_shift(key, group) for key, group in groups.items()]
    return Backtest(count, tuple(sorted(shifts, key=lambda shift: -shift.count)))


def asked_of(call: Call) -> PolicyCall:
    """Return the policy input for a recorded call, so that another policy can judge that call."""
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


def _changes(old: Verdict, new: Verdict) -> tuple[tuple[str, Any, Any], ...]:
    """Return (name, old value, new value) for each differing part of two verdicts with the same action.

    Return () for two denials, because only the action of a denial matters.
    """
    if old.action != new.action or new.action is Action.DENY:
        return ()
    pairs = ((name, getattr(old, name), getattr(new, name)) for name in _PARTS)
    return tuple((name, was, now) for name, was, now in pairs if was != now)


def _shift(key: tuple[str, str, str, tuple[tuple[str, Any, Any], ...]], group: Sequence[Call]) -> Shift:
    latest = sorted(group, key=lambda call: call.created_at, reverse=True)
    decisions = Counter(call.decision.value for call in group if call.decision)
    return Shift(*key, len(group), dict(decisions), tuple(call.short for call in latest[:EXAMPLES]))


class Suggestion(Struct, frozen=True):
    """A rule that allows a request that people always approved, with the number of approvals and of approvers.

    `folders` are the working folders of the requests, or () if the gate runs the tool. The rule has no condition on the
    folder.
    """

    rule: Mapping[str, Any]
    approved: int
    people: int
    folders: tuple[str, ...]


class LeftOut(StrEnum):
    """The reasons why no rule is suggested for a kind of request. If several reasons hold, the first one counts."""

    RISK = "risk"
    ENDED = "ended"
    ALLOWED = "allowed"
    QUICK = "quick"
    RARE = "rare"
    INEXACT = "inexact"
    #: The rule would cover a rule of the policy, or another suggested rule.
    COVERS = "covers"


def suggest(calls: Iterable[Call], policy: Policy, *, least: int) -> tuple[list[Suggestion], Counter[LeftOut]]:
    """Return suggested rules for requests of low or medium risk that were approved at least `least` times.

    Also return the number of the other kinds of requests, by the reason why there is no rule for them. Requests of one
    kind have the same tool and the same arguments.

    `policy` is the policy that applies now. It must still ask about at least one of the requests. A suggested rule
    allows one tool with exactly the approved arguments. An approval less than READ_S seconds after its request doesn't
    count.

    No rule is suggested for a request that was once rejected, withdrawn or left unanswered, even in another folder. No
    rule is suggested if an argument isn't a text, a whole number, true, false or null. No rule is suggested if the name
    of the tool or of its group is a pattern, such as `*`. Callers choose these names, and the rule would allow other
    tools too.
    """
    groups: dict[bytes, list[Call]] = defaultdict(list)
    for call in calls:
        if call.verdict.action is Action.APPROVE:
            groups[canonical([call.tools, call.tool, call.runs.value, call.arguments])].append(call)
    made = [_suggestion(group, policy, least) for group in groups.values()]
    found = [each for each in made if isinstance(each, Suggestion)]
    left_out = Counter(each for each in made if isinstance(each, LeftOut))
    return sorted(found, key=lambda suggestion: -suggestion.approved), left_out


def _suggestion(group: Sequence[Call], policy: Policy, least: int) -> Suggestion | LeftOut:
    if any(call.verdict.risk.rank > Risk.MEDIUM.rank for call in group):
        return LeftOut.RISK
    if any(call.decision is not Decision.APPROVED for call in group):
        return LeftOut.ENDED
    if all(policy.judge(asked_of(call)).action is not Action.APPROVE for call in group):
        return LeftOut.ALLOWED
    call, when = group[0], _when(group[0])
    read = [each for each in group if _seconds(each) >= READ_S]
    if len(read) < least:
        return LeftOut.QUICK if len(group) >= least else LeftOut.RARE
    if when is None or is_pattern(call.tools) or is_pattern(call.tool):
        return LeftOut.INEXACT
    named = {"tools": call.tools, "tool": call.tool} if call.tools else {"tool": call.tool}
    rule = {"id": f"approved-{call.digest[:_ID_DIGITS]}", **named, "when": when, "action": "allow"}
    people = {each.decided_by for each in read}
    folders = {each.cwd for each in group if each.cwd} if call.runs is Runs.CALLER else ()
    return Suggestion(rule, len(read), len(people), tuple(sorted(folders)))


def _when(call: Call) -> list[dict[str, Any]] | None:
    """Return the conditions of a rule that holds only for the arguments of this call.

    Return None if the call has no arguments, if a value's type isn't in _EXACT (such as a list), or if a key begins
    with a sign in _KEY_SIGNS. For a command that the caller runs, there is a condition for each word, and a last
    condition that no word follows.
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
