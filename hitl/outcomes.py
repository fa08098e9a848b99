"""Facts about the outcome of a request or a reply. The surfaces turn facts into sentences.

A fact has a code, and values that are called its particulars. Each code is a key of the catalogue of sentences
(`hitl.cards.wording`), and the particulars fill that sentence. So a fact can be expressed in every language that has a
catalogue. For example, the code `answer.approved` with the particular `short` becomes "K7Q2MX approved."
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode


class Fact(Struct, frozen=True):
    """One fact: its code (`what`), and the values that fill its sentence (`particulars`).

    A particular is a text, a number, another fact, or a tuple of these. The sentence shows each member of a tuple on
    its own line. Texts are safe to show, because the code that makes the fact has masked their secrets.
    """

    what: str
    particulars: Mapping[str, object]

    def __hash__(self) -> int:
        """Return a hash of the code alone, because particulars may be unhashable. Equal facts have equal codes."""
        return hash(self.what)


class Person(Struct, frozen=True):
    """A person in a fact: the principal, and the form of the id that is shown if no name is known."""

    principal: str
    shown: str

    def __str__(self) -> str:
        """Return the form of the id that is shown if no name is known."""
        return self.shown


class Stored(Struct, frozen=True):
    """A stored text in a fact.

    If it is an English sentence of the catalogue, it is translated into other languages.
    """

    text: str

    def __str__(self) -> str:
        """Return the stored text."""
        return self.text


def fact(what: str, /, **particulars: object) -> Fact:
    """Return a fact with this code, and with these particulars to fill into its sentence."""
    return Fact(what, particulars)


class Refusal(StrEnum):
    """The reasons for refusing a request or a reply."""

    UNKNOWN = "refused.unknown"
    UNKNOWN_NAME = "refused.unknown.name"
    NOTHING_WAITS = "refused.unknown.none"
    PLACE = "refused.place"
    STRANGER = "refused.stranger"
    OWN = "refused.own"
    AGENT = "refused.agent"
    TOKEN = "refused.token"  # noqa: S105 - a sentence's key, no secret
    SCOPE = "refused.scope"
    ORIGIN = "refused.origin"
    ROUTE = "refused.route"
    BEHALF = "refused.behalf"
    CHANGED = "refused.changed"
    AGAIN = "refused.again"
    WAITING = "refused.waiting"
    CONFIRM = "refused.confirm"
    NOT_PENDING = "refused.not_pending"
    DECIDED = "refused.decided"
    EXPIRED = "refused.expired"
    POLICY = "refused.policy"
    PEER = "refused.peer"
    KEPT = "refused.peer.kept"
    REQUESTER = "refused.requester"
    PENDING = "refused.pending"
    FLOOD = "refused.flood"
    LOOKING = "refused.looking"
    KEY = "refused.key"
    WITHDRAW = "refused.withdraw"
    CLAIM = "refused.claim"
    CLAIMED = "refused.claimed"
    FINISH = "refused.finish"
    REASON_LATE = "refused.reason_late"
    SIZE = "refused.size"
    WORDS = "refused.words"
    PREVIOUS = "refused.previous"
    TIMEOUT = "refused.timeout"
    BUTTON = "refused.button"
    NOT_RUN = "agent.refused"
    DENIED_NOW = "answer.denied_now"


class Misfit(StrEnum):
    """The reasons why a value of a setting or of a policy can't be used."""

    TWO_OWNERS = "misfit.two_owners"
    SHARED = "misfit.shared"
    SELF_APPROVAL = "misfit.self_approval"
    SPAN = "misfit.span"
    ENDLESS = "misfit.span.endless"
    BRACE = "misfit.brace"
    NO_ARGUMENT = "misfit.no_argument"
    HEADLINE = "misfit.headline"
    PATTERN = "misfit.pattern"
    EMPTY_PATTERN = "misfit.pattern.empty"


class Told(StrEnum):
    """The answers to replies, except refusals (see `Refusal`)."""

    APPROVED = "answer.approved"
    NOT_RUN = "answer.approved.late_hold"
    COUNTED = "answer.counted"
    REJECTED = "answer.rejected"
    REJECTED_WITH_REASON = "answer.rejected.reason"
    CONFIRM = "answer.confirm"
    CONFIRM_RAISED = "answer.confirm.raised"
    CONFIRM_SOON = "answer.confirm.soon"
    CONFIRM_BY_API = "answer.confirm.api"
    REASON_NEEDED = "answer.reason_needed"
    DETAILS_NEEDED = "answer.details_needed"
    NAME_IT = "answer.name_it"
    NO_REACTION = "answer.no_reaction"
    UNCLEAR = "answer.unclear"
    UNCLEAR_OTHER = "answer.unclear.other"
    ALL = "answer.all"
    ALL_LINE = "answer.all.line"
    WHICH = "answer.which"
    POINT = "answer.point"
    TWO_TARGETS = "answer.two_targets"
    NO_WORDS = "answer.no_words"
    REASON_ADDED = "answer.reason_added"
    ANSWERED = "answer.answered"
    ANSWERED_MASKED = "answer.answered.masked"
    ANSWER_NEEDED = "answer.question.needed"
    ANSWER_HOW = "answer.question.how"
    CHOOSE = "answer.question.choose"
    OPTION = "answer.question.option"
    POINT_ANSWER = "answer.question.point"
    QUESTION_OTHER = "answer.question.other"


class Doubt(StrEnum):
    """The reasons why the words of a reply count as neither yes nor no.

    If the value of a code ends in `.words`, its fact has the particular `said`: words of the reply, which the sentence
    quotes.
    """

    QUESTION = "reading.question"
    QUESTION_WORDS = "reading.question.words"
    CONDITION = "reading.condition.words"
    LATER = "reading.later.words"
    HEDGE = "reading.hedge.words"
    NO_ANSWER = "reading.no_answer.words"
    REMARK = "reading.remark.words"
    OPENS = "reading.opens.words"
    WORD = "reading.word.words"
    NUMBER = "reading.number.words"
    EMOJI = "reading.emoji.words"
    ANOTHER = "reading.another.words"
    #: The reply was compared with only a few exact phrases of one language, whose code is `said`. A reading with this
    #: code may still be an approval or a rejection.
    UNMEASURED = "reading.unmeasured.words"
    SPEAKER = "reading.speaker"
    CHOICE = "reading.choice"
    AROUND = "reading.around"
    ONE = "reading.one"
    NOTHING = "reading.nothing"
    BOTH = "reading.both"
    NONE = "reading.none"
    LONG = "reading.long"
    PROGRAM = "reading.program"
    QUOTATION = "reading.quotation"
    SIGNATURE = "reading.signature"
    UNFINISHED = "reading.unfinished"
    TWO = "reading.two"
    SPELLED = "reading.spelled"
    DIFFERS = "reading.differs"
    SOMEBODY = "reading.somebody"
    HIDDEN = "reading.hidden"
    STRUCK = "reading.struck"


class Noted(StrEnum):
    """The codes of facts that are stored with a new call: about its action, its warnings, or the reason of its verdict.

    The same columns of the call's row may hold a sentence of an executor or a policy instead of a fact.
    """

    COMMAND = "card.does.command"
    #: The call's effects aren't known, only the name of its tool: `tool`.
    TOOL = "card.does.fallback"
    #: The same call is already pending, with the short ref `short`.
    SAME = "card.same"
    #: The mode of the installation, if that isn't `enforce`: `mode`.
    MODE = "card.mode"
    #: The call is an agent's question to people.
    QUESTION = "question.does"
    NO_TOOL = "why.no_tool"
    POLICY_ERROR = "why.policy_error"
    FLOOR = "why.floor"
    UNBOUND = "why.unbound"
    #: A newer version stored a code that this version doesn't know: `code`. `STRANGE_ACTION` is for codes about the
    #: call's effects, and `STRANGE` is for all other codes.
    STRANGE_ACTION = "card.does.strange"
    STRANGE = "card.strange"
    MUST_ASK = "why.must_ask"
    OFF = "why.off"


class Because(StrEnum):
    """The reasons that the policy engine gives: for a call's risk, and for a verdict that no rule explains.

    `because` writes such a reason with its values, for `Verdict.why` and `Verdict.message`.
    """

    NAME_NOTHING = "why.name.nothing"
    NAME_PROPERTY = "why.name.property"
    WORD_READS = "why.word.reads"
    WORD_CHANGES = "why.word.changes"
    WORD_ACTS = "why.word.acts"
    WORD_FINAL = "why.word.final"
    WORD_LOSES = "why.word.loses"
    TOOL_UNKNOWN = "why.tool.unknown"
    TOOL_READS = "why.tool.reads"
    TOOL_CHANGES = "why.tool.changes"
    TOOL_DELETES = "why.tool.deletes"
    TOOL_SYSTEM = "why.tool.system"
    COMMAND = "why.command"
    COMMAND_UNKNOWN = "why.command.unknown"
    COMMAND_SYSTEM = "why.command.system"
    SERVER_READS = "why.server.reads"
    SERVER_CHANGES = "why.server.changes"
    SERVER_DESTROYS = "why.server.destroys"
    SERVER_SILENT = "why.server.silent"
    ARGUMENT = "why.argument"
    ARGUMENT_DROPS = "why.argument.drops"
    ARGUMENT_EVERY_ROW = "why.argument.every_row"
    ARGUMENT_CHANGES_DATA = "why.argument.changes_data"
    ARGUMENT_WRITES_DATA = "why.argument.writes_data"
    ARGUMENT_FOLDERS = "why.argument.folders"
    ARGUMENT_ERASES = "why.argument.erases"
    ARGUMENT_DISK = "why.argument.disk"
    ARGUMENT_DESTROYS = "why.argument.destroys"
    ARGUMENT_STOPS = "why.argument.stops"
    ARGUMENT_FORCED = "why.argument.forced"
    MANY_ARGUMENTS = "why.many.arguments"
    MANY_VALUES = "why.many.values"
    RATED = "why.rated"
    UNSEEN = "why.unseen"
    UNSURE = "why.unsure"
    DENIES = "why.denies"
    NO_RULE = "why.no_rule"
    NO_RULE_LEVEL = "why.no_rule.level"
    UNJUDGED = "why.unjudged"
    UNJUDGED_ERROR = "why.unjudged.error"
    #: The names of a rule, as a value of another reason.
    RULE_ID = "why.rule.id"
    RULE_LINE = "why.rule.line"
    RULE_PRESET = "why.rule.preset"


class Unfit(StrEnum):
    """The reasons why nobody could be asked about a call, or why an approved call was not run."""

    ROW = "unfit.row"
    DECISION = "unfit.decision"
    VOTES = "unfit.votes"
    APPROVERS = "unfit.approvers"
    STRICTER = "unfit.stricter"
    REQUESTER = "unfit.requester"
    POLICY = "unfit.policy"
    POLICY_ASKS = "unfit.policy_asks"
    POLICY_ERROR = "unfit.policy_error"
    LATE = "unfit.late"
    TOOL = "unfit.tool"
    CHANGED = "unfit.changed"
    EXPOSED = "unfit.exposed"
    NOBODY = "unfit.nobody"
    TOO_FEW = "unfit.too_few"
    NOWHERE = "unfit.nowhere"
    OLDER = "unfit.older"
    LEFT = "unfit.left"
    #: Older versions stored this code instead of `UNSHOWN`, without the platform's error message.
    SURFACES = "unfit.surfaces"
    UNSHOWN = "unfit.unshown"
    UNSEEN = "unfit.unseen"
    #: A newer version stored a code that this version doesn't know. `why` holds the whole stored text.
    STRANGE = "unfit.strange"


#: The codes for a stored row, decision or vote that somebody changed. Its contents can't be trusted.
BROKEN = frozenset({Unfit.ROW, Unfit.DECISION, Unfit.VOTES})


def kept(told: Fact) -> str:
    """Return the text in which a row and the audit record store a fact: `CODE`, or `CODE: VALUE` if the fact has a
    value.
    """
    value = next(iter(told.particulars.values()), "")
    return f"{told.what}: {value}" if value else str(told.what)


def unkept(text: str) -> Fact | None:
    """Return the fact in a text that `kept` wrote about an unfit call. Return None for any other text."""
    what, _, why = text.partition(": ")
    if what in _CODES:
        return fact(Unfit(what), why=why)
    return fact(Unfit.STRANGE, why=text) if _STRANGE_UNFIT.fullmatch(what) else None


def noted(text: str) -> Fact | None:
    """Return the fact in a text that `kept` or `because` wrote about a new call. Return None for any other text."""
    what, _, value = text.partition(": ")
    if what in _NOTED:
        name = _PARTICULARS.get(Noted(what))
        return fact(Noted(what), **{name: value}) if name else fact(Noted(what))
    if what in _REASONS and (told := _reason([what, *_values(value)])):
        return told
    if not _STRANGE.fullmatch(what):
        return None
    return fact(Noted.STRANGE_ACTION if ".does" in what else Noted.STRANGE, code=text)


def because(what: Because, /, *values: object) -> str:
    """Return the text in which a verdict, the row and the audit record store a reason: `CODE`, or `CODE: [VALUES]`.

    The values are texts and numbers, in the order of `_VALUES`. The value for a rule is a list: a code and its values.
    """
    return f"{what}: {encode(values).decode()}" if values else str(what)


def revised(text: str, change: Callable[[str], str]) -> str:
    """Return a stored text after `change`, such as a function that masks secrets.

    If `because` wrote the text, each of its values is changed, so that the text stays readable for `noted`.
    """
    what, _, value = text.partition(": ")
    return because(Because(what), *_revised(_values(value), change)) if what in _REASONS else change(text)


def _revised(values: list[Any], change: Callable[[str], str]) -> list[Any]:
    return [
        [value[0], *_revised(value[1:], change)]
        if isinstance(value, list)
        else change(value)
        if isinstance(value, str)
        else value
        for value in values
    ]


def _values(text: str) -> list[Any]:
    """Return the values that `because` wrote, or [] for any other text."""
    try:
        return decode(text, type=list[Any])
    except (DecodeError, UnicodeEncodeError):
        return []


def _reason(packed: list[Any]) -> Fact | None:
    """Return the fact in a list of a reason's code and its values. Return None if a value is missing or strange."""
    what, *values = packed
    names = _VALUES.get(what, ())
    if what not in _REASONS or len(values) != len(names):
        return None
    told = {name: _particular(name, value) for name, value in zip(names, values, strict=True)}
    return None if None in told.values() else fact(Because(what), **told)


def _particular(name: str, value: Any) -> object:
    """Return a value of a reason in the form that its fact holds. Return None if the value has an unexpected form."""
    if name == "called":
        return _reason(value) if isinstance(value, list) and value else None
    if name == "risk":
        return fact(f"details.risk.{value}") if value in _RISKS else None
    if name == "does":
        return Stored(str(value))
    return value if isinstance(value, str | int) else None


_CODES = frozenset(map(str, Unfit))
_NOTED = frozenset(map(str, Noted))
_PARTICULARS = {Noted.TOOL: "tool", Noted.SAME: "short", Noted.MODE: "mode"} | dict.fromkeys(
    (Noted.STRANGE, Noted.STRANGE_ACTION), "code"
)
_REASONS = frozenset(map(str, Because))
_RISKS = frozenset({"low", "medium", "high", "critical"})
#: The names of the values of a reason. `called` is the name of a rule: a reason with its own values. `does` is the
#: effect of a program, in the words of the table of programs.
_VALUES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys((Because.WORD_READS, Because.WORD_CHANGES, Because.WORD_ACTS, Because.WORD_FINAL), ("word",)),
    Because.WORD_LOSES: ("word", "noun"),
    **dict.fromkeys((Because.TOOL_SYSTEM, Because.COMMAND_SYSTEM), ("path",)),
    Because.COMMAND: ("does",),
    Because.ARGUMENT: ("name", "word"),
    Because.RATED: ("called", "risk"),
    Because.UNSEEN: ("rule", "name"),
    Because.UNSURE: ("called",),
    Because.DENIES: ("called",),
    Because.NO_RULE_LEVEL: ("risk",),
    Because.UNJUDGED_ERROR: ("error",),
    Because.RULE_ID: ("name",),
    Because.RULE_LINE: ("line",),
    Because.RULE_PRESET: ("line", "preset"),
}
#: The forms of the codes of `Noted`, `Because` and `Unfit`. After a rollback, the database may hold codes of a newer
#: version. This version recognises them by their form.
_STRANGE = re.compile(r"(?:card|question|why)(?:\.[a-z_]+)+")
_STRANGE_UNFIT = re.compile(r"unfit(?:\.[a-z_]+)+")
