"""The compiled policy: it judges a call in microseconds, and explains its verdicts.

On the first call of a tool, the policy selects the rules that can apply to this tool, and caches them. For each call,
``index`` finds those of the tool's rules that may hold, and only they are tried. ``Policy.judge_slowly`` tries every
rule, and must give the same verdict.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Literal

from hitl import call as records
from hitl.cards.text import encodable
from hitl.outcomes import Because, because
from hitl.policy import globs, risk, text, values
from hitl.policy.compose import compose
from hitl.policy.dialects import check
from hitl.policy.document import CONTENOX, UNKNOWN, AnyOf, Checked, Level, Not, Rule, When
from hitl.policy.explain import describe, for_other_tools
from hitl.policy.index import SMALL, Index
from hitl.policy.lint import findings, impossible
from hitl.policy.model import (
    ACTIONS,
    RISKS,
    Action,
    Explanation,
    PolicyCall,
    PolicyInvalid,
    Problem,
    Reason,
    Risk,
    Tried,
    Verdict,
)
from hitl.policy.operators import OPERATORS
from hitl.policy.operators.base import Condition, ConditionUse, Test
from hitl.policy.operators.paths import hints
from hitl.policy.operators.scope import ANYWHERE, ROLE, CallScope, Surroundings, disputed, shape_of
from hitl.policy.ports import Paths, Resolver
from hitl.policy.tables.tools import Shape
from hitl.policy.three_valued import NO, UNSURE, YES, opposite
from hitl.policy.vouching import READ, WRITE, Closed, Vouching
from hitl.records import replace

_STRENGTH = {action: at for at, action in enumerate(ACTIONS)}
_MAX_PLANS = 4096
_MAX_VERDICTS = 256
# A rule's ``asked`` caches at most this many outcomes, because callers may send any number of argument names.
_MAX_NAMES = 32
_MAX_ERROR = 260
_ERRORS = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError, re.error)


def compile_when(when: When, use: ConditionUse) -> Test:
    """Compile a condition, a group or a negation into a function that answers YES, NO or UNSURE for a call."""
    if isinstance(when, Condition):
        return OPERATORS[when.op].build(when, use)
    if isinstance(when, Not):
        inner = compile_when(when.part, use.inside_not())
        return lambda scope: opposite(inner(scope))
    parts = tuple(compile_when(part, use) for part in when.parts)
    if isinstance(when, AnyOf):
        return lambda scope: _any(parts, scope)
    return parts[0] if len(parts) == 1 else lambda scope: _all(parts, scope)


def _all(parts: Iterable[Test], scope: CallScope) -> int:
    result = YES
    for part in parts:
        answer = part(scope)
        if answer == NO:
            return NO
        result = min(result, answer)
    return result


def _any(parts: Iterable[Test], scope: CallScope) -> int:
    result = NO
    for part in parts:
        answer = part(scope)
        if answer == YES:
            return YES
        result = max(result, answer)
    return result


class Outcome:
    """The action on a call, and the rule or the reason for it. ``verdicts`` caches the verdict for each risk
    assessment.

    ``unsure`` says that the rule's test answered UNSURE. ``unseen`` is the name of an argument that the allow rule
    doesn't look at, or None.
    """

    __slots__ = ("action", "reason", "rule", "unseen", "unsure", "verdicts")

    def __init__(
        self, action: Action, rule: Rule | None, reason: Reason, *, unsure: bool = False, unseen: str | None = None
    ) -> None:
        self.action = action
        self.rule = rule
        self.reason = reason
        self.unsure = unsure
        self.unseen = unseen
        self.verdicts: dict[risk.Assessment | tuple[risk.Assessment, tuple[str, ...]], Verdict] = {}


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled rule.

    - ``at`` is the rule's index in its list.
    - ``strength`` orders the actions: allow is 0, approve 1, deny 2.
    - ``level`` is the risk that the rule sets.
    - ``raises`` is the risk to which the rule raises a lower risk.
    - ``outcome`` is the result if the rule holds.
    - ``doubt`` is the result if the rule's test answers UNSURE.
    - ``looks_at`` are the names of the arguments that an allow rule looks at. If a call has further arguments, a person
      is asked. It is None for a rule without this limit.
    - ``asked`` caches the outcomes that ``asking`` returns.
    """

    rule: Rule
    at: int
    test: Test
    strength: int
    level: int | None
    raises: int | None
    outcome: Outcome
    doubt: Outcome
    looks_at: frozenset[str] | None = None
    asked: dict[str, Outcome] = field(default_factory=dict)

    def asking(self, name: str) -> Outcome:
        """Return the outcome that asks a person, because the call has an argument that the rule doesn't look at."""
        found = self.asked.get(name)
        if found is None:
            if len(self.asked) >= _MAX_NAMES:
                self.asked.clear()
            found = self.asked[name] = Outcome("approve", self.rule, Reason.MATCHED_RULE, unseen=name)
        return found

    def unseen(self, scope: CallScope) -> str | None:
        """Return the name of an argument that this rule doesn't look at and that may do harm, or None."""
        if self.looks_at is None or self.looks_at.issuperset(scope.args):
            return None
        names = scope.args.keys() - self.looks_at
        if scope.call.is_command and self.looks_at & _COMMANDS:
            names -= _COMMANDS
        if not names:
            return None
        known = scope.shape
        if known is not None:
            roles = [role[1:] for role in self.looks_at if role[:1] == ROLE]
            seen = {name for role in roles for name in (*getattr(known, role), *_beside(known, role))}
            off = {name for name in names & known.off if scope.args[name] in (False, None)}
            plain = {name for name in names & known.harmless if known.kind == "note" or _is_plain(scope.args[name])}
            names = names - seen - plain - off
        return min(names, default=None)


def _is_plain(value: Any) -> bool:
    """Return whether the value of a harmless argument is plain, so that the rule needn't look at it.

    A plain value is a scalar, a list of scalars, or an object with only true, false and null.
    """
    if type(value) in values.SCALARS:
        return True
    if isinstance(value, Mapping):
        return all(part is None or type(part) is bool for part in value.values())
    return isinstance(value, list | tuple) and all(type(part) in values.SCALARS for part in value)


#: The keys by which a condition can name the command that the caller runs. All three mean the words of this command.
_COMMANDS = frozenset(("argv", "command", f"{ROLE}command"))


def _beside(known: Shape, role: str) -> tuple[str, ...]:
    """Return the arguments that a condition on a role looks at, besides the arguments with this role.

    A condition on ``@command`` also looks at the command's working folder. For any other role, return ().
    """
    return known.folder if role == "command" else ()


def _looked_at(rule: Rule) -> frozenset[str] | None:
    """Return the arguments that an allow rule looks at, or None if the rule accepts every argument.

    A rule accepts every argument in these cases:

    - It isn't an allow rule.
    - It comes from contenox.
    - It tests all arguments.
    - It lists ``*`` in ``harmless``.
    - It has neither a condition on an argument nor a kind.
    """
    if rule.action != "allow" or rule.literal or "*" in rule.harmless:
        return None
    found = {condition.key for condition in conditions(rule.when) if condition.key}
    if ANYWHERE in found or (not found and not rule.kind):
        return None
    steps = {values.pointer(key)[0] if not key.startswith(ROLE) else key for key in found}
    return frozenset((*steps, *rule.harmless))


def conditions(when: When) -> Iterator[Condition]:
    """Yield every condition of a rule, at any depth."""
    if isinstance(when, Condition):
        yield when
    elif isinstance(when, Not):
        yield from conditions(when.part)
    else:
        for part in when.parts:
            yield from conditions(part)


def _compile(rule: Rule, at: int, *, contenox: bool, reason: Reason = Reason.MATCHED_RULE) -> Compiled:
    level = None if rule.risk is None else RISKS.index(rule.risk)
    raises = None if rule.at_least is None else RISKS.index(rule.at_least)
    action = rule.action or "approve"
    return Compiled(
        rule,
        at,
        compile_when(rule.when, _use(rule, contenox=contenox)),
        _STRENGTH[action],
        level,
        raises,
        Outcome(action, rule, reason),
        Outcome("approve", rule, Reason.MATCHED_RULE, unsure=True),
        _looked_at(rule),
    )


def _use(rule: Rule, *, contenox: bool) -> ConditionUse:
    """Return the use of a rule's conditions: to allow calls, to set a risk, or to ask. Operators need the use to
    compile the conditions.
    """
    return ConditionUse(
        loosen=_loosens(rule), textual=contenox, rating=rule.action is None, asking=rule.action == "approve"
    )


def _loosens(rule: Rule) -> bool:
    """Return whether a rule lets more calls run when it holds: it allows calls, or sets a risk below high."""
    if rule.action is not None:
        return rule.action == "allow"
    return rule.at_least is None and (rule.risk is None or RISKS.index(rule.risk) < risk.HIGH)


def _named(patterns: tuple[str, ...], name: str, *, literal: bool) -> bool:
    if not patterns:
        return True
    return any(
        pattern == name
        or (not literal and globs.is_pattern(pattern) and globs.name_pattern(pattern).match(name) is not None)
        for pattern in patterns
    )


def _applies(rule: Rule, call: PolicyCall) -> bool:
    if rule.kind and not _of_kind(rule, call):
        return False
    return _named(rule.tools, call.tools, literal=rule.literal) and _named(rule.tool, call.tool, literal=rule.literal)


def _of_kind(rule: Rule, call: PolicyCall) -> bool:
    """Return whether one of a rule's kinds is the kind of the call's tool.

    If the tool contradicts its kind in the table of tools (`disputed`), return False for a rule that allows calls or
    lowers a risk. For any other rule, return True if its kinds include the tool's kind in the table, or ``unknown``.
    """
    if disputed(call):
        return not _loosens(rule) and not {_kind(call), UNKNOWN}.isdisjoint(rule.kind)
    return _kind(call) in rule.kind


def _kind(call: PolicyCall) -> str:
    known = shape_of(call)
    return UNKNOWN if known is None else known.kind


class _Group:
    """The rules of one list of a document.

    If more than SMALL rules are for every tool, these rules have one index, which all tools share.
    """

    __slots__ = ("_own", "_plain_paths", "_shared", "rules")

    def __init__(self, rules: Sequence[Compiled], *, plain_paths: bool) -> None:
        wide = [one for one in rules if _is_wide(one.rule)]
        shares = len(wide) > SMALL
        self.rules = tuple(rules)
        self._plain_paths = plain_paths
        self._shared = Index(wide, plain_paths=plain_paths) if shares else None
        self._own = [one for one in rules if not _is_wide(one.rule)] if shares else self.rules

    def of(self, call: PolicyCall) -> Index[Compiled] | None:
        """Return an index of the rules for this call's tool that aren't in the shared index. Return None if there are
        no such rules.
        """
        own = [one for one in self._own if _applies(one.rule, call)]
        return Index(own, plain_paths=self._plain_paths) if own else None

    def candidates(self, own: Index[Compiled] | None, args: Mapping[str, Any]) -> Sequence[Compiled]:
        """Return the rules that may hold for a call, in order. ``own`` is the index that ``of`` gives for the call."""
        narrow = () if own is None else own.candidates(args)
        if self._shared is None:
            return narrow
        wide = self._shared.candidates(args)
        if not wide or not narrow:
            return wide or narrow
        return sorted((*wide, *narrow), key=_place)

    def applying(self, call: PolicyCall) -> list[Compiled]:
        """Return every rule for this call's tool, found without the index."""
        return [one for one in self.rules if _applies(one.rule, call)]


def _is_wide(rule: Rule) -> bool:
    return not rule.tools and not rule.tool and not rule.kind


_place = attrgetter("at")


@dataclass(frozen=True, slots=True)
class _Plan:
    """Everything about the calls of one tool that doesn't depend on the arguments: the rules that may apply, and the
    risk.

    ``quiet`` says that the document has no risk rules and that the tool runs no commands. If no rule may hold for a
    call of a quiet tool, the default action decides, and no argument has to be read.
    """

    named: risk.Named
    forbid: Index[Compiled] | None
    rules: Index[Compiled] | None
    levels: Index[Compiled] | None
    raising: tuple[Compiled, ...]
    shell: str | None
    quiet: bool
    card: records.CardTerms | None


def _plan_key(call: PolicyCall) -> tuple[object, ...]:
    """Return the key of a call's plan in the cache of plans: everything about the call on which the plan depends."""
    if not call.foreign and call.annotations is None:
        return call.tools, call.tool, call.is_command
    return call.tools, call.tool, call.is_command, disputed(call)


_SHELL_TOOLS = re.compile(
    r"(?:^|[_.\-/:])(?:bash|sh|shell|terminal|command|cmd|exec|execute|run_command|console)(?:$|[_.\-/:])",
    re.IGNORECASE,
)


class Policy:
    """A checked and compiled document. Its methods change only caches, so no verdict depends on an earlier call."""

    def __init__(
        self,
        checked: Checked,
        name: str,
        paths: Paths | None = None,
        resolver: Resolver | None = None,
        *,
        looks: bool = True,
    ) -> None:
        self.name = name
        self.checked = checked
        self.digest = digest(checked.content)
        self._surroundings = Surroundings(paths, resolver, self._vouching)
        self._looks = paths if looks else None
        self._forbid = self._group(checked.forbid, reason=Reason.FORBIDDEN)
        self._rules = self._group(checked.rules)
        self._levels = self._group([rule for rule in checked.risk_rules if rule.at_least is None])
        self._raising = self._group([rule for rule in checked.risk_rules if rule.at_least is not None])
        self._plans: dict[tuple[object, ...], _Plan] = {}
        self._unmatched = tuple(Outcome(self._default(level), None, Reason.DEFAULT_ACTION) for level in RISKS)
        self._closed = {tool: closing(checked, tool) for tool in (READ, WRITE)}
        self._by_text: Policy | None = None

    def _group(self, rules: Sequence[Rule], reason: Reason = Reason.MATCHED_RULE) -> _Group:
        contenox = self.checked.dialect == CONTENOX
        compiled = [_compile(rule, at, contenox=contenox, reason=reason) for at, rule in enumerate(rules)]
        return _Group(compiled, plain_paths=self._surroundings.paths is None)

    def with_ports(self, paths: Paths | None = None, resolver: Resolver | None = None) -> Policy:
        """Return the same policy with another file system and another resolver of host names.

        Without ``paths``, the returned policy judges paths by their text alone. Without ``resolver``, it resolves no
        host names.
        """
        return Policy(self.checked, self.name, paths, resolver)

    def elsewhere(self) -> Policy:
        """Return the same policy, for calls whose working folder is on another machine.

        The returned policy never lists the contents of a folder to judge a command.
        """
        return Policy(self.checked, self.name, self._surroundings.paths, self._surroundings.resolver, looks=False)

    def _vouching(self, call: PolicyCall) -> Vouching:
        """Return the object that judges the paths which the call's command uses."""
        if self._by_text is None:
            self._by_text = self if self._surroundings.paths is None else self.with_ports()
        return Vouching(self.judge, self._by_text.judge, call.cwd, self._looks, self._closed)

    # --- judging a call

    def judge(self, call: PolicyCall) -> Verdict:
        """Return the verdict on a call. If the arguments cause an error, the verdict is deny with the reason
        ``policy_error``.
        """
        try:
            plan = self._plans.get(_plan_key(call))
            if plan is None:
                plan = self._plan(call)
            args, assessed = call.args, risk.assess(call, plan.named)
            forbid = self._forbid.candidates(plan.forbid, args) if self._forbid.rules else ()
            rules = self._rules.candidates(plan.rules, args)
            if not rules and not forbid and plan.quiet:
                return _with_card(self._verdict(self._unmatched[assessed[0]], assessed, ()), plan.card)
            scope = CallScope(call, self._surroundings)
            if not plan.quiet:
                levels = self._levels.candidates(plan.levels, args)
                assessed = self._risk(levels, plan.raising, scope, assessed)
            return _with_card(self._judged(plan.shell, forbid, rules, scope, assessed), plan.card)
        except _ERRORS as error:
            return self._failed(error)

    def judge_slowly(self, call: PolicyCall) -> Verdict:
        """Return the verdict on a call by trying every rule in order, without the index. ``judge`` must give the same
        verdict.
        """
        try:
            scope = CallScope(call, self._surroundings)
            groups = (self._forbid, self._rules, self._levels, self._raising)
            forbid, rules, levels, raising = (group.applying(call) for group in groups)
            assessed = self._risk(levels, raising, scope, risk.assess(call))
            verdict = self._judged(_shell_key(call), forbid, rules, scope, assessed)
            return _with_card(verdict, self.checked.card(call.tools, call.tool))
        except _ERRORS as error:
            return self._failed(error)

    def _judged(
        self,
        shell: str | None,
        forbid: Iterable[Compiled],
        rules: Iterable[Compiled],
        scope: CallScope,
        assessed: risk.Assessment,
    ) -> Verdict:
        outcome = self._decide(forbid, rules, scope, assessed[0])
        if shell is not None:
            scope.shell(shell)
        return self._verdict(outcome, assessed, scope.programs())

    def _plan(self, call: PolicyCall) -> _Plan:
        if len(self._plans) >= _MAX_PLANS:
            self._plans.clear()
        shell = _shell_key(call)
        plan = self._plans[_plan_key(call)] = _Plan(
            risk.assess_tool(call),
            self._forbid.of(call),
            self._rules.of(call),
            self._levels.of(call),
            tuple(self._raising.applying(call)),
            shell,
            quiet=shell is None and not self._levels.rules and not self._raising.rules,
            card=self.checked.card(call.tools, call.tool),
        )
        return plan

    def _risk(
        self,
        setting: Iterable[Compiled],
        raising: Iterable[Compiled],
        scope: CallScope,
        assessed: risk.Assessment,
    ) -> risk.Assessment:
        """Return the assessed risk after the document's risk rules.

        The first rule of ``setting`` that holds sets the level. A rule whose test answers UNSURE sets the level only if
        that level is higher than the assessed level. Then each rule of ``raising`` raises a lower level, also if its
        test answers UNSURE.
        """
        for compiled in setting:
            answer = compiled.test(scope)
            if answer == YES or (answer == UNSURE and (compiled.level or 0) > assessed[0]):
                assessed = compiled.level or 0, self._because(compiled)
                break
        for compiled in raising:
            if (compiled.raises or 0) > assessed[0] and compiled.test(scope) != NO:
                assessed = compiled.raises or 0, self._because(compiled)
        return assessed

    def _because(self, compiled: Compiled) -> str:
        rule = compiled.rule
        return rule.message or because(Because.RATED, rule.called, RISKS[compiled.level or compiled.raises or 0])

    def _decide(self, forbid: Iterable[Compiled], rules: Iterable[Compiled], scope: CallScope, level: int) -> Outcome:
        """Return the outcome of a call. The first rule that holds decides; a doubt can only make the outcome stricter.

        A deny or ask rule whose test answers UNSURE leaves a doubt. If an allow rule holds after a doubt, a person is
        asked. If a deny or ask rule holds after a doubt, that rule decides. An allow rule whose test answers UNSURE is
        skipped. An allow rule that holds asks a person if the call has an argument that the rule doesn't look at. If no
        rule holds, the default action for the risk level decides. After a doubt, a default of allow becomes asking.
        """
        doubt: Outcome | None = None
        for compiled in forbid:
            answer = compiled.test(scope)
            if answer == YES:
                return compiled.outcome
            if answer == UNSURE and doubt is None:
                doubt = compiled.doubt
        for compiled in rules:
            answer = compiled.test(scope)
            if answer == YES:
                if not compiled.strength and doubt is None and (name := compiled.unseen(scope)) is not None:
                    return compiled.asking(name)
                return compiled.outcome if doubt is None or compiled.strength else doubt
            if answer == UNSURE and compiled.strength and doubt is None:
                doubt = compiled.doubt
        found = self._unmatched[level]
        if doubt is None or found.action == "deny":
            return found
        return doubt if found.action == "allow" or (doubt.rule is not None and doubt.rule.risk) else found

    def _default(self, level: Risk) -> Action:
        told = self.checked.risk.get(level)
        return told.action if told is not None and told.action is not None else self.checked.default_action

    # --- making the verdict of an outcome

    def _verdict(self, outcome: Outcome, assessed: risk.Assessment, programs: tuple[str, ...]) -> Verdict:
        key = (assessed, programs) if programs else assessed
        found = outcome.verdicts.get(key)
        if found is None:
            if len(outcome.verdicts) >= _MAX_VERDICTS:
                outcome.verdicts.clear()
            found = outcome.verdicts[key] = self._written(outcome, *assessed, programs)
        return found

    def _written(self, outcome: Outcome, level: int, why: str, programs: tuple[str, ...]) -> Verdict:
        rule = None if outcome.unsure or outcome.unseen is not None else outcome.rule
        stated = rule.risk if rule is not None else None
        doubted = outcome.rule.risk if outcome.unsure and outcome.rule is not None else None
        name: Risk = stated or RISKS[max(level, RISKS.index(doubted or "low"))]
        told = self.checked.risk.get(name, Level())
        asked = rule if rule is not None and rule.action == "approve" else None
        return Verdict(
            action=records.Action(outcome.action),
            risk=records.Risk(name),
            rule=outcome.rule.name if outcome.rule is not None else None,
            reason=outcome.reason,
            message=self._message(outcome, name),
            why=because(Because.RATED, rule.called, stated) if rule is not None and stated else why,
            timeout_s=(asked and asked.timeout_s) or told.timeout_s or self.checked.timeout_s,
            execution_s=self.checked.execution_s,
            approvers=asked.approvers if asked is not None else None,
            exclude_requester=asked is not None and asked.exclude_requester,
            require_reason=(asked is not None and asked.require_reason) or told.require_reason,
            programs=programs,
            policy=self.digest,
        )

    def _message(self, outcome: Outcome, level: Risk) -> str | None:
        rule = outcome.rule
        if outcome.unseen is not None and rule is not None:
            return because(Because.UNSEEN, rule.name, repr(outcome.unseen[:40]))
        if outcome.unsure and rule is not None:
            return because(Because.UNSURE, rule.called)
        if rule is None and outcome.reason is Reason.DEFAULT_ACTION and outcome.action == "deny":
            told = self.checked.risk.get(level)
            by_level = told is not None and told.action is not None
            return because(Because.NO_RULE_LEVEL, level) if by_level else because(Because.NO_RULE)
        if rule is None:
            return None
        # The explanation of the risk would be no reason for a denial.
        return rule.message or (because(Because.DENIES, rule.called) if outcome.action == "deny" else None)

    def _failed(self, error: Exception) -> Verdict:
        outcome = Outcome("deny", None, Reason.POLICY_ERROR)
        written = self._written(outcome, risk.HIGH, because(Because.UNJUDGED), ())
        told = encodable(f"{type(error).__name__}: {error}"[:_MAX_ERROR])
        return replace(written, message=because(Because.UNJUDGED_ERROR, told))

    # --- explanations

    def explain(self, call: PolicyCall) -> Explanation:
        """Return the verdict on a call, and each rule up to the deciding rule: whether it held, and why."""
        scope = CallScope(call, self._surroundings)
        levels = sorted((*self._levels.rules, *self._raising.rules), key=_written_at)
        tried = [*self._tried(levels, "risk_rules", scope), *self._tried(self._forbid.rules, "forbid", scope)]
        if not any(one.outcome == "yes" and one.where == "forbid" for one in tried):
            tried += self._tried(self._rules.rules, "rules", scope)
        return Explanation(self.judge(call), tuple(tried))

    def _tried(self, group: Sequence[Compiled], where: str, scope: CallScope) -> list[Tried]:
        found: list[Tried] = []
        for compiled in group:
            rule, call = compiled.rule, scope.call
            if not _applies(rule, call):
                found.append(Tried(rule.name, where, "no", for_other_tools(_names(rule))))
                continue
            answer = compiled.test(scope)
            use = _use(rule, contenox=self.checked.dialect == CONTENOX)
            found.append(Tried(rule.name, where, _OUTCOMES[answer], describe(rule.when, scope, use, compile_when)))
            if answer == YES and where != "risk_rules":
                break
        return found

    def lint(self) -> list[Problem]:
        """Return the probable mistakes of the document: its warnings, and the findings of ``lint``."""
        found = [*self.checked.warnings, *findings(self.checked)]
        if self.checked.dialect == CONTENOX:
            found += impossible(self.checked)
        return sorted(found, key=lambda problem: problem.line)


def _with_card(verdict: Verdict, card: records.CardTerms | None) -> Verdict:
    return verdict if card is None else replace(verdict, card=card)


def _written_at(compiled: Compiled) -> int:
    """Return the index of a rule in its list: ``rules``, ``forbid`` or ``risk_rules``."""
    return int(compiled.rule.path.rpartition("/")[2])


_OUTCOMES: dict[int, Literal["yes", "no", "unsure"]] = {NO: "no", UNSURE: "unsure", YES: "yes"}


def _names(rule: Rule) -> str:
    return " ".join(
        f"{key}: {', '.join(names)}"
        for key, names in (("tools", rule.tools), ("tool", rule.tool), ("kind", rule.kind))
        if names
    )


def _shell_key(call: PolicyCall) -> str | None:
    if _kind(call) == "command":
        return f"{ROLE}command"
    return "command" if _SHELL_TOOLS.search(call.tool) or _SHELL_TOOLS.search(call.tools) else None


def closing(checked: Checked, tool: str) -> Closed:
    """Return the path globs of all rules that deny or ask about calls of one tool.

    ``untold`` in the result says that the globs aren't all tests of the path. One of these rules then has a malformed
    glob, or tests the path in another way too, such as by a regular expression.
    """
    call = PolicyCall("", tool, {})
    found: list[globs.Glob] = []
    untold = False
    for rule in (*checked.forbid, *(rule for rule in checked.rules if rule.action != "allow")):
        if not _applies(rule, call):
            continue
        for condition in conditions(rule.when):
            if condition.op == "glob":
                untold |= None in condition.value
                found += [one for one in condition.value if one is not None]
            elif condition.op in _TEXTUAL and condition.key in _PATH_KEYS:
                untold = True
    return Closed(tuple(found), untold, hints(found) if found else lambda _: False)


_TEXTUAL = frozenset(("matches", "path_matches", "eq", "ne", "in"))
_PATH_KEYS = frozenset((ANYWHERE, "path", f"{ROLE}reads", f"{ROLE}writes"))


def digest(content: Any) -> str:
    """Return the SHA-256 of a document's content in hex. Format, layout and the order of keys don't change it."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()


def load(
    document: str,
    *,
    name: str,
    format: text.Format | None = None,  # noqa: A002 - callers pass format=...
    paths: Paths | None = None,
    resolver: Resolver | None = None,
) -> Policy:
    """Return the compiled policy of a document. Without ``format``, the text shows whether it is YAML or JSON.

    Raises:
        PolicyInvalid: the document must not be used; ``problems`` lists everything wrong with it.
    """
    parsed = text.parse(document, name=name, format=format)
    checked = check(parsed, name)
    if checked.dialect != CONTENOX:
        never = impossible(checked)
        if never:
            raise PolicyInvalid(name, never)
    return Policy(compose(checked, parsed, name), name, paths, resolver)
