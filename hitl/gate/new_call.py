"""A new call before it is stored: its arguments and its verdict are fixed, but it has no ref, time or MAC yet."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from msgspec import Struct

from hitl.call import Action, Ask, Call, Preparation, Reason, Risk, State, ToolInfo, Verdict
from hitl.cards.text import quoted
from hitl.outcomes import Noted, fact, kept
from hitl.proof.keyring import new_ref
from hitl.records import replace

if TYPE_CHECKING:
    from datetime import datetime


class Draft(Struct, frozen=True):
    """A judged call with its canonical arguments and digest, but without ref, time or MAC."""

    ask: Ask
    args: bytes
    digest: str
    info: ToolInfo
    prepared: Preparation
    verdict: Verdict

    def beside(self, twin: Call) -> Draft:
        """Return the draft with a warning that the same call, `twin`, is already pending."""
        notes = (*self.prepared.notes, kept(fact(Noted.SAME, short=twin.short)))
        return replace(self, prepared=replace(self.prepared, notes=notes))

    def call(self, short: str, now: datetime, approvers: tuple[str, ...], routes: tuple[str, ...]) -> Call:
        """Return the call in the state `idle`, before its decision, with an empty `row_mac`."""
        ask, prepared = self.ask, self.prepared
        return Call(
            ref=new_ref(now),
            short=short,
            digest=self.digest,
            tools=ask.tools,
            tool=ask.tool,
            args=self.args,
            executor=self.info.executor,
            definition=self.info.definition,
            cwd=prepared.cwd,
            preconditions=prepared.preconditions,
            sentence=prepared.sentence,
            preview=prepared.preview,
            notes=prepared.notes,
            note=ask.note,
            requester=ask.requester,
            agent=ask.agent,
            session=ask.session,
            origin=ask.origin,
            runs=ask.runs,
            key=ask.key,
            previous=ask.previous,
            verdict=self.verdict,
            approvers=approvers,
            routes=routes,
            created_at=now,
            deadline=now + timedelta(seconds=self.verdict.timeout_s),
            row_mac="",
            state=State.IDLE,
            version=0,
        )


def denial(why: Noted) -> Verdict:
    """Return the verdict for a call that no policy could judge: a denial."""
    return Verdict(Action.DENY, Risk.HIGH, None, Reason.POLICY_ERROR, kept(fact(why)), "")


def does_by_caller(ask: Ask) -> str:
    """Return the text for `Call.sentence` of a call that its caller runs: a fact, as `hitl.outcomes.kept` writes it."""
    return kept(fact(Noted.COMMAND)) if "argv" in ask.args else does_unknown(ask)


def does_unknown(ask: Ask) -> str:
    """Return the text for `Call.sentence` of a call with unknown effects. It names only the tool."""
    return kept(fact(Noted.TOOL, tool=quoted(ask.tool)))


def recorded(call: Call, ask: Ask) -> dict[str, object]:
    """Return the data of the audit record's first line about a call."""
    submitted = {"submitted": ask.submitted} if ask.submitted else {}
    return submitted | {
        "short": call.short,
        "digest": call.digest,
        "tools": call.tools,
        "tool": call.tool,
        "origin": call.origin,
        "agent": call.agent,
        "risk": call.verdict.risk.value,
        "rule": call.verdict.rule,
        "policy": call.verdict.policy,
        "previous": call.previous,
    }
