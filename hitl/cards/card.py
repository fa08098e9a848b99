"""Makes the card of a request from the call alone. Each surface then shows the card in its platform's form.

A pending card names the requester, the action and the folder. Then it shows the action itself, the risk and the
warnings, and at the end the approvers and the ways to answer. A decided card has two lines. All texts in a `Card` are
visible and masked. So a text from an agent can't hide itself, change the order of other text, or look like Sayso's
words. Surfaces add only escaping and layout.
"""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from cachetools import FIFOCache
from msgspec import Struct

from hitl.call import Call, Decision, Result, Risk, Runs, Status, Verb
from hitl.cards.lines import Code, Moment, Strong, Who, coded, either, line
from hitl.cards.masked import is_large, key_of, masked
from hitl.cards.redaction import mask
from hitl.cards.shown import (
    ARGUMENT_CHARS,
    PREVIEW_CHARS,
    Part,
    PartKind,
    Shown,
    labels,
    masked_arguments,
    show,
)
from hitl.cards.text import cut_middle, one_line, quoted, visible
from hitl.cards.wording import ENGLISH, IN_ENGLISH, SIGNS, clause
from hitl.cards.written import spelled
from hitl.outcomes import Fact, Person, Stored, fact, revised, unkept
from hitl.people import Access
from hitl.people.names import NOBODY, Names
from hitl.proof.canonical import digest_mark
from hitl.question import is_question, options

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from hitl.cards.lines import Line
    from hitl.cards.wording import Wording

#: The highest number of UTF-16 units of all texts of a card together, without labels and instructions. The shortest
#: messages are Telegram's, with 4096 units; labels and instructions fit into the difference.
_CARD_UNITS = 3400
_LINE = 200
#: The number of the executor's warnings that a card shows. The details show all of them.
_NOTES = 4
_MOST_NAMED = 3
#: The number of characters of output that a decided card shows. If the output is longer, the conversation that asked
#: for the call also gets a notice with all of it.
OUTPUT_CHARS = 600
_PUSH = 240
_A_DAY = timedelta(days=1)
_RUNNING = frozenset({Status.APPROVED, Status.ALLOWED, Status.RUNNING})
#: The statuses of calls that didn't run. Their error may be a reason of Sayso's own (`Unfit`) instead of a tool's text.
_UNFIT = frozenset({Status.WITHDRAWN, Status.LAPSED})
_UNASKED = frozenset({Status.DENIED, Status.UNDELIVERABLE})
_DONE = frozenset({Status.SUCCEEDED, Status.RELEASED, *_RUNNING})
#: The forms of large calls, by the hash of the call and the language. A form has a few thousand characters. The cache
#: of masked texts is too small for so many calls. Without this cache, each list of the calls would mask all texts
#: again.
_forms: FIFOCache[tuple[int, str], Shown] = FIFOCache(1000)
#: The values of `agent` in requests that a person makes without an agent, for example with `sayso ask`.
_BY_HAND = frozenset({"", "ask"})


class Way(StrEnum):
    """The way in which people answer a card in one conversation. The card's instructions depend on the way."""

    #: People answer by buttons, or in words that reply to the card's message.
    REPLY = "reply"
    #: People answer by buttons, or in words in the card's thread.
    THREAD = "thread"
    #: People answer by buttons only, because their words in this conversation don't reach Sayso.
    BUTTONS = "buttons"
    #: People press keys in a terminal. The terminal's bottom line names the keys.
    KEYS = "keys"
    #: People answer by typed lines only.
    WORDS = "words"


class Card(Struct, frozen=True):
    """The parts of a card, in the order in which surfaces show them. A missing part is '' or ()."""

    sign: str
    risk: Risk
    short: str
    #: The first line, such as "Ada wants to run".
    headline: str
    #: The parts that show the requested action: command, diff, arguments (see `hitl.cards.shown`).
    parts: tuple[Part, ...]
    #: A line with the number of arguments that only the details show, because of the operator's headline.
    below: str
    #: The machine, the folder and the stage in which the call runs.
    place: str
    #: The note of the agent or the requester, with the author's name.
    note: str
    #: The message of the policy's rule, which says why a person must decide.
    rule: str
    #: The risk in words, and perhaps a sentence about undoing the call.
    stakes: Line
    #: Warnings of the executor and of Sayso. Sayso warns of an earlier equal request, of programs that the command
    #: doesn't name, and of hidden or missing text.
    warnings: tuple[str, ...]
    #: The line with the approvers and the deadline.
    approvers: Line
    #: The instructions for answering the card.
    how: Line
    #: The requester, the action and the folder in one line, for lock screens and screen readers.
    push: str
    #: The name of a decided card's sign, such as `done` or `rejected`. Each surface has its own picture for it.
    end_sign: str
    #: The first line of a decided card: the outcome and the action.
    end: Line
    #: The second line of a decided card. It says why the call ended: who decided it, when and for what reason, or
    #: another cause.
    end_why: Line
    #: The output of the run, or '' without output.
    output: str
    deadline: datetime
    #: Whether the request is pending.
    open: bool
    #: For a decided card: true if the run succeeded, and also while the call is running or may still run.
    done: bool
    #: Whether a person needs more than one step to approve the call, such as a second confirmation.
    steps: bool
    #: Whether the request is a question of an agent.
    asks: bool
    #: Whether the reader may approve or answer the request (`may_approve`), and whether the reader may reject it
    #: (`may_reject`). If several people read the card, both are true. Sayso then refuses a reply of a person who may
    #: not decide.
    may_approve: bool
    may_reject: bool
    #: The options that the question offers, or () if people may answer in any words.
    choices: tuple[str, ...]
    #: The number of characters of the call that the card leaves out.
    left_out: int

    def may(self, verb: Verb) -> bool:
        """Return whether the card, while it is pending, has a button with this verb."""
        return verb is Verb.DETAILS or (self.may_reject if verb is Verb.REJECT else self.may_approve)


def card(
    call: Call,
    names: Names = NOBODY,
    way: Way = Way.REPLY,
    *,
    reader: str = "",
    platform: str = "",
    wording: Wording = IN_ENGLISH,
) -> Card:
    """Return the card of a call in its current state.

    - `names` gives the names of people.
    - `way` is the way in which people answer the card.
    - `reader` is the principal whom the card calls "you", because nobody else reads the card. It is '' if several
      people read the card.
    - `platform` is the platform that shows the card. The card shows this platform's names of people.
    - `wording` is the language of the card.
    """
    told = _Teller(call, names, reader, platform, wording)
    shown = _shown(call, wording)
    risk, message, pending = call.verdict.risk, call.verdict.message, call.status is Status.PENDING
    asks = is_question(call)
    may_approve, may_reject = told.may(way)
    return Card(
        sign=SIGNS[risk],
        risk=risk,
        short=call.short,
        headline=told.headline(shown),
        parts=shown.parts,
        below=wording.say("card.below", count=shown.below) if shown.below else "",
        place=told.place(),
        note=told.note(),
        rule=wording.say("card.rule", rule=_told(wording.retold(message))) if message else "",
        stakes=line(wording, "card.never_secret") if asks else _stakes(call, wording),
        warnings=_warnings(call, shown, wording),
        approvers=told.approvers(way),
        how=told.how(shown, way),
        push=told.push(shown),
        end_sign=_SIGN[call.status],
        end=() if pending else _end(call, shown, wording),
        end_why=() if pending else told.end_why(way),
        output=output_of(call),
        deadline=call.deadline,
        open=pending,
        done=call.status in _DONE,
        steps=risk is Risk.CRITICAL or call.verdict.require_reason or _needs_details(call, shown),
        asks=asks,
        may_approve=may_approve,
        may_reject=may_reject,
        choices=labels(call) if asks else (),
        left_out=_left_out(call, shown),
    )


def headline(call: Call, names: Names = NOBODY, wording: Wording = IN_ENGLISH) -> str:
    """Return the headline and the action on one line, for lists of requests."""
    return _Teller(call, names, "", "", wording).summary(_shown(call, wording))


def listed(call: Call, names: Names = NOBODY, wording: Wording = IN_ENGLISH) -> tuple[str, str]:
    """Return two lines for lists of requests: the headline with the action, and the names and values of all arguments.

    The arguments have their own line, because in the headline an argument could look like the action. The options of a
    question aren't arguments.
    """
    shown, told = _shown(call, wording), _Teller(call, names, "", "", wording)
    return told.summary(shown), "" if shown.act == "ask" else one_line(", ".join(_values(shown)), _LINE)


def output_of(call: Call) -> str:
    """Return the output of the run as visible, masked text.

    Return '' for a question, because its output is its answer.
    """
    return "" if is_question(call) else mask(visible(call.output or ""))


def is_cut(call: Call) -> bool:
    """Return whether the card leaves out a part of the call.

    If it does, and the risk is high or critical, a person must open the details before an approval.
    """
    return _left_out(call, _shown(call)) > 0


# -- the lines of a card that name people ---------------------------------------------------------------------------


class _Teller:
    """Makes the lines of a card that name people, so that each person has the same name in every line."""

    def __init__(self, call: Call, names: Names, reader: str, platform: str, wording: Wording) -> None:
        self._call = call
        self._names = names
        self._reader = reader
        self._platform = platform
        self._say = wording.say
        self._wording = wording

    def _who(self, principal: str) -> Who:
        mine = bool(self._reader) and self._names.people.principal(principal) == self._reader
        text = self._say("card.you") if mine else self._names.of(principal, self._platform)
        return Who(principal, text, mine)

    def _requester(self) -> str:
        """Return the requester's name. For a request by an agent, the text says whose agent it is: "Ada's agent"."""
        name = self._names.of(self._call.requester, self._platform)
        return name if self._call.agent in _BY_HAND else self._say("card.agent_of", name=name)

    def headline(self, shown: Shown) -> str:
        if shown.act == "ask":
            return self._say("card.headline.asks", who=self._requester())
        return self._say("card.headline", who=self._requester(), phrase=shown.phrase)

    def summary(self, shown: Shown) -> str:
        """Return the headline and the action on one line."""
        headline = self.headline(shown)
        if shown.act == "ask":
            return f"{headline}: {one_line(shown.line, 120)}"
        if shown.line != shown.phrase:
            return f"{headline}: {shown.line}"
        # If the first part is a text block, it is the command or the preview. Later blocks may be arguments, and an
        # argument could describe another action than the requested one.
        blocks = [part.text for part in shown.parts[:1] if part.kind is PartKind.CODE]
        return f"{headline}: {one_line(blocks[0], 120)}" if blocks else headline

    def place(self) -> str:
        call = self._call
        stage = call.verdict.card.stage if call.verdict.card else ""
        stage = self._say("card.stage", stage=quoted(stage)) if stage else ""
        if not call.cwd:
            return stage
        local = call.runs is Runs.SERVICE or call.requester.startswith("local:")
        folder = self._say("card.folder", folder=quoted(mask(call.cwd), 120))
        if local and self._names.host:
            folder = self._say("card.host", host=quoted(self._names.host), folder=folder)
        return f"{folder}, {stage}" if stage else folder

    def note(self) -> str:
        """Return the note with its author's name, or '' if there is no note."""
        if not (self._call.note or "").strip():
            return ""
        return self.said(_told(self._call.note))

    def said(self, words: str) -> str:
        """Return a note together with the name of its author, which is the agent or the requester.

        The words of the note must already be masked and visible.
        """
        if self._call.agent in _BY_HAND:
            return self._say("card.note", who=self._requester(), note=words)
        return self._say("card.note.agent", who=self._requester(), note=words)

    def push(self, shown: Shown) -> str:
        place = self.place()
        where = self._say("card.push.place", place=place) if place else ""
        room = _PUSH - len(where)
        return f"{SIGNS[self._call.verdict.risk]} {cut_middle(self.summary(shown), room, self._wording).text}{where}"

    def may(self, way: Way) -> tuple[bool, bool]:
        """Return whether the reader may approve the request, and whether the reader may reject it.

        Both values are True if several people read the card, or if the card is at a terminal.
        """
        access, call = Access(self._names.people), self._call
        if not self._reader or way in {Way.KEYS, Way.WORDS}:
            return True, True
        if is_question(call):
            answers = access.may_answer(self._reader, call)
            return answers, answers
        counts = access.counts(self._reader, call, call.verdict)
        return counts and self._reader in access.who_may_approve(call, self._platform), counts

    def approvers(self, way: Way) -> Line:
        """Return the line with those who may approve the request, and with the deadline."""
        call, may = self._call, self.those_who_may("socket" if way is Way.WORDS else "")
        told: list[str | Who | Moment | Code | Strong] = [self._who(one) for one in may[:_MOST_NAMED]]
        if len(may) > _MOST_NAMED:
            told.append(self._say("card.people.more", count=len(may) - _MOST_NAMED))
        # At a terminal, the first line already shows the short ref.
        name = "" if way in {Way.KEYS, Way.WORDS} else self._say("card.name", short=call.short)
        return line(
            self._wording,
            "card.approvers",
            people=either(self._wording, told),
            time=_moment(call, call.deadline, counts_down=True),
            name=name,
        )

    def those_who_may(self, surface: str | None = None) -> tuple[str, ...]:
        """Return the principals who may approve the request (`Access.who_may_approve`), or all approvers if nobody may.

        For example, nobody may approve a request that has only one approver, who was revoked since.
        """
        people = self._names.people
        may = Access(people).who_may_approve(self._call, surface)
        return may or tuple(dict.fromkeys(map(people.principal, self._call.approvers)))

    def how(self, shown: Shown, way: Way) -> Line:
        """Return the instructions for the reader. If the reader may not decide, they say who may."""
        call, asks = self._call, is_question(self._call)
        may_approve, may_reject = self.may(way)
        if not may_approve and may_reject:
            own = Access(self._names.people).asked(self._reader, call)
            return line(self._wording, "card.how.own" if own else "card.how.limit")
        if not may_approve:
            return line(self._wording, "card.how.others.ask" if asks else "card.how.others")
        if asks:
            return _how_to_answer(call, way, self._wording)
        return _how(call, way, self._wording, cut=_needs_details(call, shown))

    def end_why(self, way: Way) -> Line:
        """Return the line that says why the call ended: who decided it, when and for what reason, or another cause."""
        call = self._call
        key = f"ending.{call.status.value}"
        if call.status is Status.REJECTED and call.reason:
            key = "ending.rejected.reason"
        elif call.awaits_reason and way is Way.REPLY:
            key = "ending.rejected.asked"
        elif call.status is Status.EXPIRED and call.error:
            key = "ending.expired.unseen"
        elif variant := _variant(call):
            key = f"ending.{call.status.value}.{variant}"
        facts = _facts(call)
        by_policy = call.decision is Decision.ALLOWED
        by: Line = (self._say("card.by_policy"),) if by_policy else self._decider()
        why = str(self._wording.filled(facts["why" if call.status in _UNASKED else "error"]))
        reason = f"“{one_line(mask(call.reason or ''), _LINE)}”"
        who = self._who(call.decided_by or "")
        if call.reason and call.decision is Decision.APPROVED:
            by = line(self._wording, "card.by_with_reason", by=by, reason=reason)
        time = _moment(call, call.decided_at or call.deadline)
        until = _moment(call, call.claim.until if call.claim else call.deadline)
        return line(self._wording, key, by=by, time=time, reason=reason, why=why, who=who, until=until)

    def _decider(self) -> Line:
        call = self._call
        if not call.decided_by or call.decision not in {Decision.APPROVED, Decision.REJECTED, Decision.WITHDRAWN}:
            return ()
        key = f"by.{call.decision.value}"
        if is_question(call):
            key = {Decision.APPROVED: "by.answered", Decision.REJECTED: "by.declined"}.get(call.decision, key)
        time = _moment(call, call.decided_at or call.deadline)
        return line(self._wording, key, who=self._who(call.decided_by), time=time)


def _values(shown: Shown) -> Iterator[str]:
    """Yield the name and the value of each argument on a card.

    Texts are quoted, so that a text can't look like another argument.
    """
    name = ""
    for part in shown.parts:
        if part.kind is PartKind.FIELD and not part.text:
            name = part.name  # The next part is a block with the value.
        elif part.kind is PartKind.EMPTY and part.name:
            yield f"{part.name} {part.text}"
        elif part.kind is PartKind.FIELD or (part.kind is PartKind.CODE and name):
            yield f"{part.name or name} {_value(part.text)}"
            name = ""


def _value(text: str) -> str:
    """Return an argument's value on one line: a list or an object as JSON, any other value as `quoted` writes it."""
    try:
        is_text = not isinstance(msgspec.json.decode(text), list | dict)
    except (msgspec.DecodeError, UnicodeEncodeError):
        is_text = True
    return quoted(text) if is_text else one_line(text, 60)


def _moment(call: Call, at: datetime, *, counts_down: bool = False) -> Moment:
    """Return a time for a card. The card also shows the date of a time that is a day or more after the request.

    With `counts_down`, surfaces show the remaining time instead (see `Moment`).
    """
    return Moment(at, counts_down, dated=at - call.created_at >= _A_DAY)


def _how_to_answer(call: Call, way: Way, wording: Wording) -> Line:
    """Return the instructions for answering a question, by a button or in words."""
    key = f"card.choose.{way.value}" if options(call) else f"card.answer.{way.value}"
    return line(wording, key)


def _stakes(call: Call, wording: Wording) -> Line:
    risk = Strong(wording.say(f"card.risk.{call.verdict.risk.value}"))
    undo = call.verdict.card.undo if call.verdict.card else ""
    return (
        line(wording, "card.stakes", risk=risk, undo=coded(one_line(mask(wording.retold(undo)), _LINE)))
        if undo
        else (risk,)
    )


def _warnings(call: Call, shown: Shown, wording: Wording) -> tuple[str, ...]:
    found = _notes(call, wording)
    if call.previous:
        found.append(wording.say("card.again", short=one_line(call.previous, 40)))
    if unseen := _unseen_programs(call, shown):
        found.append(wording.say("card.programs", programs=one_line(", ".join(unseen), _LINE)))
    if "?" in call.verdict.programs:
        found.append(wording.say("card.programs.unknown"))
    if count := masked(call).hidden:
        found.append(wording.say("card.hidden", count=count))
    if left_out := _left_out(call, shown):
        found.append(wording.say("card.cut", count=left_out))
    return tuple(found)


def _unseen_programs(call: Call, shown: Shown) -> list[str]:
    """Return the programs that the call would run and whose names don't occur in the shown parts of the action."""
    text = "\n".join(part.text for part in shown.parts)
    return [name for name in call.verdict.programs if name != "?" and name.rpartition("/")[2] not in text]


def _notes(call: Call, wording: Wording = IN_ENGLISH) -> list[str]:
    """Return the executor's warnings in the form in which the card shows them."""
    return [_within(one_line(wording.retold(note), _LINE), _LINE) for note in call.notes[:_NOTES]]


def _within(text: str, units: int) -> str:
    return one_line(text, units if max(text, default="") <= "\uffff" else units // 2)


def is_drawn(call: Call, wording: Wording = IN_ENGLISH) -> bool:
    """Return whether the headline of a call can be made immediately: its form is kept, or is made in a few
    milliseconds.
    """
    return not is_large(key_of(call)) or _form_key(call, wording) in _forms


def _shown(call: Call, wording: Wording = IN_ENGLISH) -> Shown:
    """Return the action as the card shows it, from the cache if possible."""
    if not is_large(key_of(call)):
        return _made(call, wording)
    key = _form_key(call, wording)
    if (kept := _forms.get(key)) is None:
        kept = _forms[key] = _made(call, wording)
    return kept


def _form_key(call: Call, wording: Wording) -> tuple[int, str]:
    return hash(call), wording.language


def _made(call: Call, wording: Wording) -> Shown:
    """Return the action as the card shows it, cut to the space that the other texts of the card leave."""
    share = min(1.0, max(0.1, (_CARD_UNITS - _prose(call)) / (ARGUMENT_CHARS + PREVIEW_CHARS)))
    return show(call, share, wording)


def _prose(call: Call) -> int:
    """Return an estimate of the UTF-16 units that all texts of the card need, except the action."""
    undo = call.verdict.card.undo if call.verdict.card else ""
    told = map(IN_ENGLISH.retold, (call.sentence, call.verdict.message or ""))
    words = (*told, call.note, undo, call.cwd, *call.verdict.programs)
    lines = (one_line(word, _LINE) for word in (*words, call.requester, call.tool) if word)
    return sum(len(text.encode("utf-16-le")) // 2 for text in (*lines, *_notes(call)))


def _left_out(call: Call, shown: Shown) -> int:
    return shown.left_out + sum(map(len, map(IN_ENGLISH.retold, call.notes[_NOTES:])))


def _needs_details(call: Call, shown: Shown) -> bool:
    """Return whether an approval counts only after the person has opened the details."""
    return call.verdict.risk.rank >= Risk.HIGH.rank and _left_out(call, shown) > 0


def _how(call: Call, way: Way, wording: Wording, *, cut: bool) -> Line:
    """Return the instructions for deciding a call: the steps before an approval, and the words to type."""
    critical, reasoned = call.verdict.risk is Risk.CRITICAL, call.verdict.require_reason
    if way is Way.BUTTONS:
        return line(wording, "card.how.buttons")
    before = line(wording, "card.how.details") if cut else ()
    kind = ("both" if reasoned else "critical") if critical else ("reason" if reasoned else "plain")
    key = f"card.how.{kind}.{way.value}"
    yes = wording.say("card.how.yes") + (f" {call.short}" if critical else "")
    words = Code(yes + (wording.say("card.how.because") if reasoned else ""))
    told = line(wording, key, words=words)
    return (*before, *told) if before else told


# -- the lines of a decided card ---------------------------------------------------------------------------------


def _end(call: Call, shown: Shown, wording: Wording) -> Line:
    """Return the first line of a decided card: the outcome, and the action or the question."""
    ending = _ENDS[call.status]
    # A question ends only in the ways in `_QUESTION_ENDS`, unless somebody changed the database. After such a change,
    # its card has the same sentence as the card of any other call.
    key = f"end.{ending}.{shown.act if shown.act != 'ask' or ending in _QUESTION_ENDS else 'do'}"
    thing = one_line(shown.line, 120)
    return line(
        wording, "card.ended", what=Strong(wording.say(key)), thing=Code(thing) if shown.act == "run" else thing
    )


_QUESTION_ENDS = frozenset({"pending", "done", "not"})
_ENDS = {
    Status.PENDING: "pending",
    Status.ALLOWED: "going",
    Status.APPROVED: "going",
    Status.RUNNING: "going",
    Status.RELEASED: "going",
    Status.SUCCEEDED: "done",
    Status.FAILED: "failed",
    Status.TIMED_OUT: "stopped",
    Status.UNKNOWN: "unknown",
    **dict.fromkeys(
        (
            *(Status.DENIED, Status.REJECTED, Status.EXPIRED, Status.WITHDRAWN, Status.UNDELIVERABLE),
            *(Status.REFUSED, Status.LAPSED),
        ),
        "not",
    ),
}
_SIGN = {
    **dict.fromkeys(_DONE, "done"),
    Status.PENDING: "done",
    Status.FAILED: "failed",
    Status.TIMED_OUT: "failed",
    Status.UNKNOWN: "unknown",
    Status.DENIED: "rejected",
    Status.REJECTED: "rejected",
    Status.EXPIRED: "expired",
    Status.WITHDRAWN: "withdrawn",
    Status.UNDELIVERABLE: "undeliverable",
    Status.REFUSED: "refused",
    Status.LAPSED: "refused",
}


# -- the details of a call, in words -------------------------------------------------------------------------------


class File(NamedTuple):
    """A text for people. If a surface sends it as a file, the file has this name."""

    name: str
    text: str


def whole(call: Call, names: Names = NOBODY, wording: Wording = IN_ENGLISH) -> File:
    """Return the details of a call, with a name for a file."""
    return File(f"{call.short}.txt", details(call, names, wording))


def file_below(call: Call, names: Names = NOBODY, wording: Wording = IN_ENGLISH) -> File | None:
    """Return the file to send below a card: the details of a pending call whose card leaves out a part, else None."""
    return whole(call, names, wording) if call.status is Status.PENDING and is_cut(call) else None


def details(call: Call, names: Names = NOBODY, wording: Wording = IN_ENGLISH) -> str:
    """Return the details: the whole call in words, with secrets masked.

    Only Sayso's own lines begin in the first column, so that no argument can look like such a line.
    """
    verdict, told, say = call.verdict, _Teller(call, names, "", "", wording), wording.say
    lines = [
        say("answer.details", short=call.short),
        say("details.tool", tools=_whole(call.tools), tool=_whole(call.tool)),
        say("details.action", action=_whole(wording.retold(call.sentence) or call.tool)),
        say(
            "details.risk",
            risk=say(f"details.risk.{verdict.risk.value}"),
            why=_told(wording.retold(verdict.why)),
        ),
        *([] if call.erased_at else [say("details.args", args=_indented(_json(call), 2))]),
        *(say("details.lines", name=_whole(name), text=text.replace("\n", "\n  │ ")) for name, text in _texts(call)),
    ]
    if call.preview:
        lines.append(say("details.preview", preview=_indented(masked(call).preview, 2)))
    lines += _facts_in_details(call, wording)
    if call.note:
        lines.append(told.said(_whole(call.note)))
    lines += [
        say("details.requester", requester=_with_id(call.requester, names)),
        *([say("details.agent", agent=_whole(call.agent))] if call.agent else []),
        *([say("details.session", session=_whole(call.session))] if call.session else []),
        say("details.approvers", approvers=", ".join(_with_id(one, names) for one in told.those_who_may())),
        *([say("details.decided", who=_with_id(call.decided_by, names))] if _by_person(call) else []),
        say("details.rule", rule=one_line(verdict.ground, _LINE), policy=verdict.policy[:12]),
        *([say("details.message", message=_told(wording.retold(verdict.message)))] if verdict.message else []),
        say("details.asked", time=f"{call.created_at:%Y-%m-%d %H:%M:%S} UTC", ref=call.ref),
        say("details.digest", mark=digest_mark(call.digest), digest=call.digest),
        *retained(call, wording),
    ]
    return "\n".join(lines)


def retained(call: Call, wording: Wording = IN_ENGLISH) -> list[str]:
    """Return sentences about retention: when the arguments were erased, and that the call is archived.

    Return [] if neither has happened.
    """
    erased = [wording.say("retained.erased", date=f"{call.erased_at:%Y-%m-%d}")] if call.erased_at else []
    return [*erased, *([wording.say("retained.archived")] if call.archived else [])]


def _facts_in_details(call: Call, wording: Wording) -> list[str]:
    lines, say = [], wording.say
    if call.cwd:
        lines.append(say("details.folder", folder=_whole(call.cwd)))
    if call.verdict.programs:
        lines.append(say("details.programs", programs=_whole(", ".join(call.verdict.programs))))
    lines += [say("details.kept", name=_whole(name), value=_whole(value)) for name, value in call.preconditions]
    return lines + [say("card.warning", note=_whole(wording.retold(note))) for note in call.notes]


def _by_person(call: Call) -> bool:
    return bool(call.decided_by) and call.decision in {Decision.APPROVED, Decision.REJECTED, Decision.WITHDRAWN}


def _with_id(principal: str | None, names: Names) -> str:
    """Return a person's name and id, as in `Ada (telegram:42)`. Return only the id if no name is known."""
    identity = one_line(principal or "", 80)
    return f"{names.of(principal or '')} ({identity})" if principal and names.is_known(principal) else identity


def _json(call: Call) -> str:
    """Return the arguments as indented JSON, with the digits that the caller wrote."""
    return visible(spelled(masked_arguments(call), indent=2))


def _texts(call: Call) -> list[tuple[str, str]]:
    """Return (name, text) of each argument with several lines. JSON would show such a text on a single line."""
    shown = masked_arguments(call).items()
    return [(name, visible(value)) for name, value in shown if isinstance(value, str) and "\n" in value.strip()]


def _indented(text: str, by: int) -> str:
    return text.replace("\n", "\n" + " " * by)


def _whole(text: str) -> str:
    return mask(visible(text, keep_newlines=False))


# -- the outcome of a call in one sentence ------------------------------------------------------------------------


def outcome(call: Call, names: Names | None = None, wording: Wording = IN_ENGLISH) -> str:
    """Return one sentence for people about the state or the end of a call."""
    return wording.sentence(outcome_fact(call), names)


def outcome_fact(call: Call) -> Fact:
    """Return the state or the end of a call as a `Fact`, which `outcome` turns into a sentence."""
    status = call.status
    key = f"outcome.{status.value}"
    if status is Status.REJECTED and call.reason:
        key = "outcome.rejected.reason"
    if status is Status.EXPIRED and call.error:
        key = "outcome.expired.unseen"
    if variant := _variant(call):
        key = f"outcome.{status.value}.{variant}"
    if is_question(call):
        key = _QUESTION_OUTCOMES.get(status, key)
    return fact(key, **_facts(call))


def _variant(call: Call) -> str:
    """Return the last part of the key of the sentence about the call's outcome, or '' if the status alone is the key.

    `unfit` is for a call that ended for one of Sayso's own reasons (`Unfit`). `caller` is for a call that its caller
    runs, because the service can't see whether that caller still works on it.
    """
    if call.status in _UNFIT and _unfit(call):
        return "unfit"
    return "caller" if call.status is Status.RUNNING and call.runs is Runs.CALLER else ""


#: The keys of the sentences about a question's outcome that differ from the sentences about other calls.
_QUESTION_OUTCOMES = {
    Status.SUCCEEDED: "outcome.question.answered",
    Status.REJECTED: "outcome.question.declined",
}


def outcome_for_agent(call: Call, wording: Wording = IN_ENGLISH) -> str:
    """Return one sentence about a call's outcome, for the agent and the conversation that asked for the call.

    An agent gets it in English, and a conversation in its own language (`wording`).
    """
    told = fact(_agent_key(call), short=call.short, tool=one_line(call.tool, 60), **_facts(call))
    return wording.sentence(told)


def _agent_key(call: Call) -> str:
    if variant := _variant(call):
        return f"agent.{call.status.value}.{variant}"
    if is_question(call) and f"agent.question.{call.status.value}" in ENGLISH:
        explained = call.status is Status.REJECTED and call.reason
        return "agent.question.rejected.reason" if explained else f"agent.question.{call.status.value}"
    return _rejected_key(call) if call.status is Status.REJECTED else f"agent.{call.status.value}"


def _rejected_key(call: Call) -> str:
    """Return the key of the sentence about a rejection, which depends on the reason.

    There are four cases: the reason is known, Sayso still waits for it, Sayso asked and got no reason, or Sayso didn't
    ask.
    """
    if call.reason:
        return "agent.rejected.reason"
    if call.awaits_reason:
        return "agent.rejected.asked"
    return "agent.rejected" if call.reason is None else "agent.rejected.no_reason"


def _facts(call: Call) -> dict[str, object]:
    by: object = Person(call.decided_by or "", one_line(call.decided_by or "", 80))
    if call.decision is Decision.ALLOWED:
        by = fact("outcome.by_policy")
    said_why = {Decision.UNDELIVERABLE: call.error, Decision.DENIED: call.reason}
    why = (said_why.get(call.decision) if call.decision else None) or call.verdict.message
    return {
        "by": by,
        "how": fact(f"outcome.how.{Decision.ALLOWED if call.decision is Decision.ALLOWED else Decision.APPROVED}"),
        "reason": clause(mask(visible(call.reason or ""))),
        "why": (call.decision is Decision.UNDELIVERABLE and _unfit(call)) or _clause(why or call.verdict.why),
        "until": f"{call.claim.until:%H:%M}" if call.claim else "",
        "error": _unfit(call) or _clause(call.error or str(call.result or Result.UNKNOWN)),
    }


def error_text(call: Call) -> str | None:
    """Return a call's error in words, or None if the call has no error.

    If nobody could be asked about the call, or if it was unfit to run, `call.error` holds a code of `Unfit`, and this
    function returns the code's sentence. Otherwise `call.error` is a tool's text. If the call was claimed, the error is
    always returned unchanged, because a tool may have written a text that looks like a code.
    """
    unfit = _unfit(call)
    return IN_ENGLISH.sentence(unfit) if unfit else call.error


def reason_text(call: Call) -> str | None:
    """Return the reason of a call's decision in words, or None if there is no reason.

    If the policy denied the call, `call.reason` may hold a code of `Noted`, and this function returns the code's
    sentence. Otherwise it holds a person's own words.
    """
    return IN_ENGLISH.retold(call.reason) if call.reason and call.decision is Decision.DENIED else call.reason


def _unfit(call: Call) -> Fact | None:
    unfit = unkept(call.error) if call.error and call.claim is None else None
    return unfit and Fact(unfit.what, {name: _clause(str(value)) for name, value in unfit.particulars.items()})


def _clause(text: str) -> Stored:
    """Return a stored text, masked and without a full stop, as a value for a fact.

    If the text is a sentence of the catalogue, or a stored fact, `Wording.sentence` makes its sentence.
    """
    return Stored(clause(revised(text, _told)))


def _told(text: str) -> str:
    """Return a stored text on one line of at most `_LINE` characters.

    Secrets are masked before the text is cut, so that no part of a secret shows.
    """
    return one_line(mask(text), _LINE)
