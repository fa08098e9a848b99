"""What people see of a call: rendered from the call alone, before any platform gives it a form.

Everything in a Card is visible, masked text: nothing that an agent wrote can hide, reorder, or pose as ours.
Surfaces add their own escaping and layout, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hitl.canonical import digest_mark
from hitl.masked import masked
from hitl.model import Call, Decision, Result, Risk, Status
from hitl.outcomes import Fact, fact, unkept
from hitl.redaction import mask
from hitl.text import Cut, cut_lines, cut_middle, one_line, visible
from hitl.wording import SIGNS, clause, say, sentence

if TYPE_CHECKING:
    from datetime import datetime

#: What a card shows of the arguments and of a preview; more is cut in the middle, counted, and under Details.
ARGUMENT_CHARS = 1200
PREVIEW_CHARS = 1600
PREVIEW_LINES = 40
#: What arguments, preview and all other words of a card have together, so that the narrowest surface shows a card
#: whole: Telegram takes 4096 UTF-16 units, of which labels and instructions need the rest.
_CARD_UNITS = 3600
_LINE = 200
_NAME = 60
_LEAST_PER_ARGUMENT = 120
#: An executor has a warning or two, and the terms add one; more than these are under Details.
_NOTES = 4
_DONE = frozenset({Status.SUCCEEDED, Status.RELEASED, Status.APPROVED, Status.RUNNING})


@dataclass(frozen=True, slots=True)
class Card:
    """A card's parts, in the order in which surfaces show them. `left_out` counts characters that aren't shown."""

    title: str
    sign: str
    risk: Risk
    short: str
    mark: str
    sentence: str
    why: str
    arguments: tuple[tuple[str, str], ...]
    preview: str
    warnings: tuple[str, ...]
    who: str
    note: str | None
    deadline: datetime
    ends: str
    ends_at: str
    how: str
    outcome: str
    output: str
    open: bool
    done: bool
    left_out: int


def card(call: Call) -> Card:
    """The card of a call as it is now."""
    arguments, preview, left_out = _body(call)
    risk = call.verdict.risk
    return Card(
        title=say("card.title", sign=SIGNS[risk], risk=risk.value, tool=one_line(call.tool, 60)),
        sign=SIGNS[risk],
        risk=risk,
        short=call.short,
        mark=digest_mark(call.digest),
        sentence=_told(call.sentence),
        why=one_line(call.verdict.message or call.verdict.why, _LINE),
        arguments=arguments,
        preview=preview,
        warnings=_warnings(call, left_out),
        who=_who(call),
        note=say("card.note", note=_told(call.note)) if call.note else None,
        deadline=call.deadline,
        ends=say("card.ends", time=_time(call)),
        ends_at=_time(call),
        how=how_to_answer(call),
        outcome=outcome(call),
        output=mask(visible(call.output or "")),
        open=call.status is Status.PENDING,
        done=call.status in _DONE,
        left_out=left_out,
    )


def details(call: Call) -> str:
    """Everything about a call, whole: what Details opens. Secrets stay masked.

    Only lines of ours begin at the margin, so that no argument can pose as one.
    """
    lines = [
        say("answer.details", short=call.short),
        say("details.tool", tools=_whole(call.tools), tool=_whole(call.tool)),
        say("details.does", sentence=_whole(call.sentence)),
        say("details.digest", digest=call.digest),
        say("details.why", why=one_line(call.verdict.why, _LINE), rule=call.verdict.rule or call.verdict.reason),
        say("details.approvers", approvers=", ".join(call.approvers)),
    ]
    if call.cwd:
        lines.append(say("details.folder", folder=_whole(call.cwd)))
    if call.verdict.programs:
        lines.append(say("card.programs", programs=_whole(", ".join(call.verdict.programs))))
    lines += [say("card.warning", note=_whole(note)) for note in call.notes]
    if call.note:
        lines.append(say("card.note", note=_whole(call.note)))
    lines += [f"  {name}: {_indented(text, 4)}" for name, text in _arguments(call, None)[0]]
    if call.preview:
        lines += ["", f"  {_indented(masked(call).preview, 2)}"]
    return "\n".join(lines)


def is_cut(call: Call) -> bool:
    """Whether the card leaves something out that a yes to a dangerous call must have seen."""
    return _body(call)[2] > 0


def how_to_answer(call: Call) -> str:
    """The line that says how to answer."""
    if call.verdict.risk is Risk.CRITICAL:
        return say("card.how.critical", short=call.short)
    if call.verdict.require_reason:
        return say("card.how.reason", short=call.short)
    return say("card.how")


def outcome(call: Call) -> str:
    """How it stands or ended, in one sentence for people."""
    return sentence(outcome_fact(call))


def outcome_fact(call: Call) -> Fact:
    """The call's status as a fact."""
    status = call.status
    key = f"outcome.{status.value}"
    if status is Status.REJECTED and call.reason:
        key = "outcome.rejected.reason"
    if status is Status.EXPIRED and call.error:
        key = "outcome.expired.unseen"
    return fact(key, **_facts(call))


def outcome_for_agent(call: Call) -> str:
    """The same for the agent that asked: a person's no, silence, and failure are told apart."""
    key = f"agent.{call.status.value}"
    if call.status is Status.REJECTED:
        key = _rejected_key(call)
    return say(key, short=call.short, tool=one_line(call.tool, 60), **_facts(call))


def _rejected_key(call: Call) -> str:
    """A no by whether its reason is known, may still come, was asked for in vain, or was never asked for."""
    if call.reason:
        return "agent.rejected.reason"
    if call.awaits_reason:
        return "agent.rejected.asked"
    return "agent.rejected" if call.reason is None else "agent.rejected.no_reason"


def _facts(call: Call) -> dict[str, str]:
    by = call.decided_by or ""
    if call.decision is Decision.ALLOWED:
        by = say("outcome.by_policy")
    said_why = {Decision.UNDELIVERABLE: error_text(call), Decision.DENIED: call.reason}
    why = said_why.get(call.decision) if call.decision else None
    return {
        "by": one_line(by, 80),
        "how": (Decision.ALLOWED if call.decision is Decision.ALLOWED else Decision.APPROVED).value,
        "reason": clause(mask(visible(call.reason or ""))),
        "why": clause(_told(why or call.verdict.message or call.verdict.why)),
        "error": clause(_told(error_text(call) or str(call.result or Result.UNKNOWN))),
    }


def error_text(call: Call) -> str | None:
    """Return what went wrong, in words: our own where the call was unfit to be asked or run, else those of its tool.

    Only a call that nobody claimed can hold a code of ours; a tool may write anything.
    """
    unfit = unkept(call.error) if call.error and call.claim is None else None
    return sentence(unfit) if unfit else call.error


def _time(call: Call) -> str:
    return f"{call.deadline:%H:%M:%S} UTC"


def _told(text: str) -> str:
    """Somebody's words on one line. Masked before they are cut, so that no half of a secret is left over."""
    return one_line(mask(text), _LINE)


def _indented(text: str, by: int) -> str:
    return text.replace("\n", "\n" + " " * by)


def _whole(text: str) -> str:
    return mask(visible(text, keep_newlines=False))


def _who(call: Call) -> str:
    requester = one_line(call.requester, 80)
    if call.agent:
        return say("card.who.agent", requester=requester, agent=one_line(call.agent, 80))
    return say("card.who", requester=requester)


def _warnings(call: Call, left_out: int) -> tuple[str, ...]:
    found = [say("card.warning", note=note) for note in _notes(call)]
    if call.previous:
        found.append(say("card.again", short=one_line(call.previous, 40)))
    if call.verdict.programs:
        found.append(say("card.programs", programs=one_line(", ".join(call.verdict.programs), _LINE)))
    if count := masked(call).hidden:
        found.append(say("card.hidden", count=count))
    if left_out:
        found.append(say("card.cut", count=left_out))
    return tuple(found)


def _notes(call: Call) -> list[str]:
    """Warnings as the card shows them."""
    return [_within(one_line(note, _LINE), _LINE).text for note in call.notes[:_NOTES]]


def _body(call: Call) -> tuple[tuple[tuple[str, str], ...], str, int]:
    """Arguments and preview as the card shows them, and how many characters it leaves out."""
    share = min(1.0, max(0.1, (_CARD_UNITS - _prose(call)) / (ARGUMENT_CHARS + PREVIEW_CHARS)))
    arguments, argument_rest = _arguments(call, int(ARGUMENT_CHARS * share))
    preview, preview_rest = _preview(call, int(PREVIEW_CHARS * share))
    return arguments, preview, argument_rest + preview_rest + sum(map(len, call.notes[_NOTES:]))


def _prose(call: Call) -> int:
    """How many UTF-16 units the other words of the card take."""
    words = (_told(call.sentence), call.verdict.message or call.verdict.why, call.note, *call.verdict.programs)
    names = (name[:_NAME] for name, _ in masked(call).arguments[: ARGUMENT_CHARS // _LEAST_PER_ARGUMENT])
    lines = (one_line(line, _LINE) for line in (*words, call.requester, call.agent) if line)
    return sum(map(_units, (*lines, *_notes(call), *names)))


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _within(text: str, units: int) -> Cut:
    """The text cut to so many UTF-16 units, which is how chat platforms count; at worst all of it counts double."""
    return cut_middle(text, units if max(text, default="") <= "\uffff" else units // 2)


def _arguments(call: Call, limit: int | None) -> tuple[tuple[tuple[str, str], ...], int]:
    """Names and shown values, and how many characters the limit left out."""
    arguments = masked(call).arguments
    if limit is None:
        return arguments, 0
    room = max(1, limit // _LEAST_PER_ARGUMENT)
    left_out = sum(len(name) + len(text) for name, text in arguments[room:])
    each = limit // max(1, min(room, len(arguments)))
    cuts = [(_within(name, _NAME), _within(text, each)) for name, text in arguments[:room]]
    left_out += sum(name.left_out + text.left_out for name, text in cuts)
    return tuple((name.text, text.text) for name, text in cuts), left_out


def _preview(call: Call, limit: int) -> tuple[str, int]:
    if not call.preview:
        return "", 0
    lines = cut_lines(masked(call).preview, PREVIEW_LINES)
    cut = _within(lines.text, limit)
    return cut.text, cut.left_out + lines.left_out
