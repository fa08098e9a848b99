"""On what terms a call goes on: what no policy may loosen, and what the operator says beside the policy.

The stage and the mode are settings of the installation, not of a document, and change only by a restart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hitl.call import Action, CardTerms, Mode, Reason, Risk, Runs, Verdict
from hitl.cards.wording import say
from hitl.cards.written import numbers_of, order_of
from hitl.errors import PolicyUnusable
from hitl.limits import timeout_of
from hitl.records import replace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hitl.call import Ask, Call, PolicyCall, Preparation
    from hitl.limits import Limits
    from hitl.ports import PolicySource

#: The argument in which a caller's command binds its script files: digests by path. Its client makes and checks them.
SCRIPTS = "script_sha256"
_SHA256 = 64
#: The reasons of verdicts that let a call run which a person would have been asked about.
UNASKED = frozenset({Reason.MONITOR, Reason.OFF, Reason.FALLBACK})


@dataclass(frozen=True, slots=True)
class Terms:
    """What the operator says beside the policy.

    `stage` names the installation's surroundings. In mode `monitor` what the policy would ask about runs, and is on
    record as such; what it denies stays denied. In mode `off` no policy is asked. A call that demands a person is
    asked about in every mode. `passes` are the tools (`TOOLS.TOOL`) that run where no surface is set up that could show
    a card, or none that is can be reached.
    """

    stage: str = ""
    mode: Mode = Mode.ENFORCE
    passes: frozenset[str] = frozenset()
    #: The operator's words for the cards of a tool's requests, by `TOOL` or `TOOLS.TOOL`. `TOOLS.TOOL` wins.
    cards: Mapping[str, CardTerms] = field(default_factory=dict)
    #: The longest that a request stays pending, in seconds; None leaves it to the policy.
    timeout_s: int | None = None

    def verdict(self, policies: PolicySource, call: PolicyCall) -> Verdict:
        """What the policy in force says. Raises PolicyUnusable where it can't say anything."""
        if self.mode is Mode.OFF:
            return _off()
        verdict = policies.current().judge(call)
        if verdict.reason == Reason.POLICY_ERROR:
            raise PolicyUnusable(verdict.message or verdict.why)
        return verdict

    def applied(self, verdict: Verdict, ask: Ask) -> Verdict:
        """The verdict as the mode has it, and within the time that a request may stay pending."""
        if self.timeout_s is not None and self.timeout_s < verdict.timeout_s:
            verdict = replace(verdict, timeout_s=timeout_of(verdict.timeout_s, self.timeout_s))
        if self.mode is Mode.ENFORCE or ask.must_ask or verdict.action is not Action.APPROVE:
            return verdict
        return replace(verdict, action=Action.ALLOW, reason=Reason(self.mode))

    def may_pass(self, call: Call) -> bool:
        """Whether a call that nobody can be shown runs all the same: by name, never critical, never a caller's."""
        named = f"{call.tools}.{call.tool}" in self.passes
        return named and call.runs is Runs.SERVICE and call.verdict.risk is not Risk.CRITICAL

    def marked(self, prepared: Preparation) -> Preparation:
        """With the mode among the warnings of the card, unless it is the usual one."""
        if self.mode is Mode.ENFORCE:
            return prepared
        return replace(prepared, notes=(*prepared.notes, say("card.mode", mode=self.mode.value)))

    def on_card(self, verdict: Verdict, ask: Ask, prepared: Preparation) -> Verdict:
        """The verdict with what the operator, or else the tool's definition, wants on the card.

        The arguments are shown as the caller wrote them.
        """
        said = self.cards.get(f"{ask.tools}.{ask.tool}") or self.cards.get(ask.tool) or CardTerms()
        as_written = {"order": order_of(ask.args), "numbers": numbers_of(ask.args)}
        said = replace(said, undo=said.undo or prepared.undo, stage=self.stage, **as_written)
        return verdict if said == CardTerms() else replace(verdict, card=said)


def passed(verdict: Verdict) -> Verdict:
    """The verdict on a call that runs because nobody could be shown it."""
    return replace(verdict, action=Action.ALLOW, reason=Reason.FALLBACK)


def tightened(verdict: Verdict, ask: Ask, prepared: Preparation, limits: Limits) -> Verdict:
    """The verdict with what holds whatever a policy says. Raises InvalidConfirmation for a time out of range."""
    if (argv := _argv(ask.runs, ask.args)) is not None:
        verdict = replace(verdict, programs=_programs(argv))
    if verdict.risk.rank < prepared.floor.rank:
        verdict = replace(verdict, risk=prepared.floor, why=say("why.floor"))
        if verdict.action is Action.ALLOW and prepared.floor.rank >= Risk.HIGH.rank:
            verdict = replace(verdict, action=Action.APPROVE)
    if ask.must_ask and verdict.action is Action.ALLOW:
        verdict = replace(verdict, action=Action.APPROVE, why=say("why.must_ask"))
    if verdict.risk is Risk.CRITICAL and verdict.action is Action.ALLOW:
        verdict = replace(verdict, action=Action.APPROVE)
    timeout_s = timeout_of(verdict.timeout_s, ask.timeout_s)
    execution_s = min(verdict.execution_s, limits.execution_s)
    if (timeout_s, execution_s) == (verdict.timeout_s, verdict.execution_s):
        return verdict
    return replace(verdict, timeout_s=timeout_s, execution_s=execution_s)


def judged(runs: Runs, args: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """The arguments as a policy sees them, and whether they are a caller's command.

    What a caller will start, its `argv`, is the command, and nothing else is. So the rules about commands hold for it,
    and no `command` that stands beside it can pose as what runs. The digests of its scripts only bind it.
    """
    argv = _argv(runs, args)
    if argv is None:
        return args, False
    seen = {name: value for name, value in args.items() if name != SCRIPTS or not _are_digests(value)}
    return {**seen, "command": argv}, True


def _are_digests(value: object) -> bool:
    """Whether these are digests of files by their paths, and nothing that a rule could be about."""
    return isinstance(value, dict) and all(isinstance(each, str) and len(each) == _SHA256 for each in value.values())


def _argv(runs: Runs, args: Mapping[str, Any]) -> list[str] | None:
    """The words that a caller will start, if it says so."""
    argv = args.get("argv") if runs is Runs.CALLER else None
    return list(map(str, argv)) if isinstance(argv, list | tuple) else None


def _programs(argv: list[str]) -> tuple[str, ...]:
    """Which programs they run, also where the policy looks at no command: people are to see it."""
    from hitl.policy.shell import resolved_programs  # noqa: PLC0415 - heavy; loaded with the first command

    return resolved_programs(argv)


def _off() -> Verdict:
    return Verdict(Action.ALLOW, Risk.HIGH, None, Reason.OFF, say("why.off"), Mode.OFF.value)
