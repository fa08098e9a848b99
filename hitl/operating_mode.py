"""Changes a policy's verdict: by rules that no policy can loosen, and by the operator's settings.

The stage and the mode belong to the installation, not to a policy document. Only a restart changes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from hitl.call import Action, CardTerms, Mode, Reason, Risk, Runs, Verdict
from hitl.errors import PolicyUnusable
from hitl.limits import timeout_of
from hitl.outcomes import Noted, fact, kept, noted
from hitl.records import replace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hitl.call import Ask, Call, PolicyCall, Preparation
    from hitl.cards.written import Form
    from hitl.limits import Limits
    from hitl.ports import PolicySource

#: The name of the argument that binds a caller's command to the contents of its script files. Its value maps paths to
#: digests. The client computes the digests, and checks them before the run.
SCRIPTS = "script_sha256"
_SHA256 = 64
#: The reasons of verdicts that let a call run although the policy didn't allow it.
UNASKED = frozenset({Reason.MONITOR, Reason.OFF, Reason.FALLBACK})


class Terms(Struct, frozen=True):
    """The operator's settings that change verdicts and cards.

    `stage` is the name of the installation's environment. In mode `monitor`, Sayso runs a call without asking anybody
    even if the policy demands an approval, and the audit record says that nobody was asked. A denied call stays denied.
    In mode `off` no policy is asked. If a caller demands that a person is asked, a person is asked in every mode.
    `passes` holds the tools (`TOOLS.TOOL`) whose calls run unasked if no surface that could show a card is set up, or
    if no such surface can be reached.
    """

    stage: str = ""
    mode: Mode = Mode.ENFORCE
    passes: frozenset[str] = frozenset()
    #: `TOOL` or `TOOLS.TOOL` -> the operator's additions to the cards of this tool's calls. `TOOLS.TOOL` has
    #: precedence.
    cards: Mapping[str, CardTerms] = field(default_factory=dict)
    #: The longest time in seconds that a call stays pending. None means that only the policy sets this time.
    timeout_s: int | None = None

    def verdict(self, policies: PolicySource, call: PolicyCall) -> Verdict:
        """Return the verdict on a call by the policy that applies now, or by the mode `off`.

        Raises PolicyUnusable if the policy can't judge the call.
        """
        if self.mode is Mode.OFF:
            return _off()
        verdict = policies.current().judge(call)
        if verdict.reason == Reason.POLICY_ERROR:
            why = verdict.message or verdict.why
            raise PolicyUnusable(noted(why) or why)
        return verdict

    def applied(self, verdict: Verdict, ask: Ask) -> Verdict:
        """Return the verdict, changed by the mode and by the operator's longest pending time."""
        if self.timeout_s is not None and self.timeout_s < verdict.timeout_s:
            verdict = replace(verdict, timeout_s=timeout_of(verdict.timeout_s, self.timeout_s))
        if self.mode is Mode.ENFORCE or ask.must_ask or verdict.action is not Action.APPROVE:
            return verdict
        return replace(verdict, action=Action.ALLOW, reason=Reason(self.mode))

    def may_pass(self, call: Call) -> bool:
        """Return whether a call may run although its card can't be shown to anybody.

        The operator must have named its tool in `passes`, this service must run it, and its risk must not be critical.
        """
        named = f"{call.tools}.{call.tool}" in self.passes
        return named and call.runs is Runs.SERVICE and call.verdict.risk is not Risk.CRITICAL

    def marked(self, prepared: Preparation) -> Preparation:
        """Return the preparation with a warning on the card about the mode. In mode `enforce`, return it unchanged."""
        if self.mode is Mode.ENFORCE:
            return prepared
        return replace(prepared, notes=(*prepared.notes, kept(fact(Noted.MODE, mode=self.mode.value))))

    def on_card(self, verdict: Verdict, ask: Ask, prepared: Preparation, form: Form) -> Verdict:
        """Return the verdict with the additions to the call's card.

        The headline and its fields come from the operator's settings, or else from the policy. The sentence about
        undoing comes from the settings, or else from the policy, or else from the tool's definition. The settings have
        precedence, because they belong to this installation, and a policy may be shared. The additions also hold
        `form`, the form in which the caller wrote the arguments.
        """
        own = self.cards.get(f"{ask.tools}.{ask.tool}") or self.cards.get(ask.tool) or CardTerms()
        policy = verdict.card or CardTerms()
        said = own if own.headline else policy
        undo = own.undo or policy.undo or prepared.undo
        said = replace(said, undo=undo, stage=self.stage, **form._asdict())
        return verdict if said == CardTerms() else replace(verdict, card=said)


def passed(verdict: Verdict) -> Verdict:
    """Return a copy of the verdict that lets the call run unasked, because no surface could show its card."""
    return replace(verdict, action=Action.ALLOW, reason=Reason.FALLBACK)


def tightened(verdict: Verdict, ask: Ask, prepared: Preparation, limits: Limits) -> Verdict:
    """Return the verdict after the rules that no policy can loosen.

    The risk is at least the floor that the executor set. Four kinds of calls never run unasked: critical calls, calls
    whose risk this floor raises to high, calls that run files without a precondition, and calls whose caller demands
    that a person is asked. A caller may ask for a shorter pending time than the policy's, and `limits.execution_s`
    limits the time of the run. Raises InvalidConfirmation if the caller's timeout is out of range.
    """
    if (argv := _argv(ask.runs, ask.args)) is not None:
        verdict = replace(verdict, programs=_programs(argv))
    if verdict.risk.rank < prepared.floor.rank:
        verdict = replace(verdict, risk=prepared.floor, why=kept(fact(Noted.FLOOR)))
        if verdict.action is Action.ALLOW and prepared.floor.rank >= Risk.HIGH.rank:
            verdict = replace(verdict, action=Action.APPROVE)
    if prepared.unbound and verdict.action is Action.ALLOW:
        verdict = replace(verdict, action=Action.APPROVE, why=kept(fact(Noted.UNBOUND)))
    if ask.must_ask and verdict.action is Action.ALLOW:
        verdict = replace(verdict, action=Action.APPROVE, why=kept(fact(Noted.MUST_ASK)))
    if verdict.risk is Risk.CRITICAL and verdict.action is Action.ALLOW:
        verdict = replace(verdict, action=Action.APPROVE)
    timeout_s = timeout_of(verdict.timeout_s, ask.timeout_s)
    execution_s = min(verdict.execution_s, limits.execution_s)
    if (timeout_s, execution_s) == (verdict.timeout_s, verdict.execution_s):
        return verdict
    return replace(verdict, timeout_s=timeout_s, execution_s=execution_s)


def judged(runs: Runs, args: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """Return the arguments in the form that a policy judges, and whether they are a caller's command.

    A caller's command is the list of words in `argv`. The policy sees these words as `command`, so the rules about
    commands apply to them. If the arguments also hold `command`, it is replaced, so it can't pose as the command that
    runs. The digests of script files are left out, because no rule is about them.
    """
    argv = _argv(runs, args)
    if argv is None:
        return args, False
    seen = {name: value for name, value in args.items() if name != SCRIPTS or not _are_digests(value)}
    return {**seen, "command": argv}, True


def _are_digests(value: object) -> bool:
    """Return whether the value maps paths to SHA-256 digests. Only such a value is hidden from the policy's rules."""
    return isinstance(value, dict) and all(isinstance(each, str) and len(each) == _SHA256 for each in value.values())


def _argv(runs: Runs, args: Mapping[str, Any]) -> list[str] | None:
    """Return the words of the command that a caller will start, or None if the call isn't a caller's command."""
    argv = args.get("argv") if runs is Runs.CALLER else None
    return list(map(str, argv)) if isinstance(argv, list | tuple) else None


def _programs(argv: list[str]) -> tuple[str, ...]:
    """Return the programs that a command runs. The card shows them even if no rule is about commands."""
    from hitl.policy.shell import resolved_programs  # noqa: PLC0415 - slow; only commands need it

    return resolved_programs(argv)


def _off() -> Verdict:
    return Verdict(Action.ALLOW, Risk.HIGH, None, Reason.OFF, kept(fact(Noted.OFF)), Mode.OFF.value)
