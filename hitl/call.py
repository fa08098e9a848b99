"""The immutable records that the other modules share: calls, verdicts, replies, votes, claims, audit lines.

Times are aware UTC datetimes. Arguments are kept as canonical JSON bytes (RFC 8785), because the card, the MAC and the
run must all use the same bytes.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hitl.replies.model import Span


class State(StrEnum):
    """The state of a call. Only the table in `lifecycle.py` changes it."""

    IDLE = "idle"
    AWAITING = "awaiting_confirmation"
    EXECUTING = "executing"
    COMPLETED = "completed"
    ERROR = "error"


class Decision(StrEnum):
    """The decision on a call. The call may run only after `allowed` or `approved`."""

    ALLOWED = "allowed"
    DENIED = "denied"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    UNDELIVERABLE = "undeliverable"


#: Decisions after which a call may run.
MAY_RUN = frozenset({Decision.ALLOWED, Decision.APPROVED})


class Result(StrEnum):
    """The outcome of a call that was allowed or approved: how its run ended, or why it didn't run."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    RELEASED = "released"
    REFUSED = "refused"
    LAPSED = "lapsed"
    UNKNOWN = "unknown"


class Action(StrEnum):
    """A policy's verdict on a call: run it, ask a person, or refuse it."""

    ALLOW = "allow"
    APPROVE = "approve"
    DENY = "deny"


class Risk(StrEnum):
    """The harm that a wrong decision about a call could do; ordered by `rank`."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """The risk as a number, from 0 for low to 3 for critical."""
        return _RANKS[self]


_RANKS = {risk: rank for rank, risk in enumerate(Risk)}


class Mode(StrEnum):
    """The operating mode of the installation.

    In `enforce`, the policy decides. In `monitor`, calls that need a person run unasked. In `off`, no policy is asked.
    """

    ENFORCE = "enforce"
    MONITOR = "monitor"
    OFF = "off"


class Runs(StrEnum):
    """The program that runs an approved call: this service or the caller.

    The interface that takes the request (HTTP, MCP, ...) sets this value. No field of a request can set it.
    """

    SERVICE = "service"
    CALLER = "caller"


class PolicyCall(Struct, frozen=True):
    """The part of a call that policies look at.

    Relative paths start from the folder `cwd`. `annotations` are MCP tool hints, or None if the tool isn't an MCP tool.
    `trusted_annotations` says that the operator trusts the tool's server, so that the hints may also lower the risk.
    """

    tools: str
    tool: str
    args: Mapping[str, Any]
    cwd: str | None = None
    annotations: Mapping[str, Any] | None = None
    trusted_annotations: bool = False
    requester: str | None = None
    origin: str | None = None
    #: Whether the call starts a command, whatever the tool's name is. In that case `args["command"]` is a list of
    #: words.
    is_command: bool = False
    #: Whether the call runs in a sandbox that allows only its folder and no network.
    isolated: bool = False
    #: Whether a program other than this service or a coding agent serves the tool. The name of such a tool proves
    #: nothing.
    foreign: bool = False


class Reason(StrEnum):
    """The source of a verdict.

    It is a rule, the policy's default, an error of the policy, the mode of the installation, or the operator's setting
    `fallback` (for a call that no surface can show).
    """

    MATCHED_RULE = "matched_rule"
    FORBIDDEN = "forbidden"
    DEFAULT_ACTION = "default_action"
    POLICY_ERROR = "policy_error"
    MONITOR = "monitor"
    OFF = "off"
    FALLBACK = "fallback"


class CardTerms(Struct, frozen=True):
    """Data for the card of a request, in addition to the call and its verdict.

    The operator's settings and the tool's definition give most of the fields. `order` and `numbers` describe how the
    caller wrote the arguments.
    """

    #: A headline for the card, with arguments in braces (`hitl.cards.templates`), such as
    #: "Pay {amount} {currency} to {to}". An empty text means the usual headline.
    headline: str = ""
    #: One sentence about undoing the call, or '' if nothing is known about that. Text between backticks is a command.
    undo: str = ""
    #: The arguments that the card shows below the operator's headline. None means all arguments that the headline
    #: doesn't name.
    fields: tuple[str, ...] | None = None
    #: The stage of the installation, such as "production", or '' if the installation has no stages.
    stage: str = ""
    #: JSON pointers to the members of the arguments, in the caller's order (`hitl.cards.written.Form`). () means the
    #: canonical order.
    order: tuple[str, ...] = ()
    #: For each number with a fraction or an exponent: (JSON pointer, the digits that the caller wrote).
    numbers: tuple[tuple[str, str], ...] = ()


class Verdict(Struct, frozen=True):
    """The policy's verdict on one call, and the conditions under which the call may be approved and run.

    - `approvers`: if it is None, the conversation's list of approvers applies, or else the installation's list.
    - `rule` is None if no rule matched.
    - `why` explains the risk.
    - `message` says why a person is asked, or why the call is denied.
    - `policy` is the digest of the policy document.

    `why` and `message` hold a rule's own words, or a reason as `hitl.outcomes.because` and `kept` write it.
    `Wording.retold` turns such a reason into a sentence.
    """

    action: Action
    risk: Risk
    rule: str | None
    reason: Reason
    why: str
    policy: str
    timeout_s: int = 300
    execution_s: int = 30
    approvers: tuple[str, ...] | None = None
    exclude_requester: bool = False
    require_reason: bool = False
    message: str | None = None
    programs: tuple[str, ...] = ()
    #: The additions to the request's card, or None.
    card: CardTerms | None = None

    @property
    def ground(self) -> str:
        """The name of the rule that decided.

        If no rule decided, it is the reason of the verdict, such as `default_action`.
        """
        return self.rule or self.reason.value


class Ask(Struct, frozen=True):
    """A request for a tool call, before the gate judges it.

    - `requester` is a principal. The caller's credentials prove it.
    - `origin` is the conversation in which the call was asked for.
    - `note` holds the agent's own words. The card marks them as the agent's.
    - `must_ask`: if it is true, a person is asked even if the policy would allow the call. No field demands that a call
      runs unasked.
    - `key` is the caller's idempotency key, unique for each requester.
    - `previous` names an ended call that this call repeats.
    """

    tools: str
    tool: str
    args: Mapping[str, Any]
    requester: str
    origin: str
    runs: Runs
    agent: str = ""
    session: str = ""
    cwd: str | None = None
    key: str | None = None
    note: str = ""
    must_ask: bool = False
    timeout_s: int | None = None
    previous: str | None = None
    #: More routes for the card, in addition to the routes of the origin. The interface that took the request (HTTP,
    #: MCP, ...) has checked that the caller may name them.
    routes: tuple[str, ...] = ()
    #: The one surface that gets the card, for a test of that surface. '' means every surface of the routes.
    surface: str = ""
    #: Data, as JSON types, that came with the request and that the same interface (HTTP, MCP, ...) returns with the
    #: call. They are stored in the first line of the call's audit record, and affect no decision.
    submitted: Mapping[str, Any] = msgspec.field(default_factory=dict)


class ToolInfo(Struct, frozen=True):
    """An executor's description of one of its tools.

    `executor` names the executor. `definition` is the SHA-256 over the tool's definition, so that a changed tool is
    noticed. `idempotent` says that a second run with the same arguments changes nothing more.
    """

    executor: str
    definition: str
    idempotent: bool = False
    #: The JSON Schema of the tool's arguments.
    schema: Mapping[str, Any] = msgspec.field(default_factory=dict)
    #: Hints about the tool's effects. The keys are the names of MCP's tool annotations (`readOnlyHint`, ...).
    annotations: Mapping[str, bool] = msgspec.field(default_factory=dict)
    #: Whether another program, such as an MCP server, serves the tool. The name of such a tool proves nothing.
    foreign: bool = False


#: The preconditions that show that a call runs in a sandbox. The sandbox allows only the call's folder and no network.
ISOLATED: Final = frozenset((("confinement", "bubblewrap"), ("confinement", "namespace")))


class Preparation(Struct, frozen=True):
    """An executor's description of the effects of a call. The executor makes it before any person is asked.

    - `preconditions` are (name, value) pairs that must be the same when the call runs, such as `base:notes.txt` and the
      SHA-256 of that file.
    - `preview` is a unified diff of everything that the call would change. The card shows the diff in place of the text
      arguments, so the diff must show their whole effect.
    - `sentence` is the phrase after "wants to" on the card, such as `delete notes.txt`, without a full stop.
    - `notes` are warnings, such as `not confined`.
    - `floor` is the lowest risk that a policy may give to the call.
    - `undo` is one sentence about undoing the call, or '' if nothing is known about undoing it.
    - `unbound` says that the call runs files that `preconditions` don't cover. Such a call never runs unasked.
    """

    sentence: str
    cwd: str | None = None
    preconditions: tuple[tuple[str, str], ...] = ()
    preview: str = ""
    notes: tuple[str, ...] = ()
    floor: Risk = Risk.LOW
    undo: str = ""
    unbound: bool = False


class Claim(Struct, frozen=True):
    """The stored permission to run a call once.

    `owner` is the claimant, and `until` is the end of the permission. `secret_hash` is the SHA-256 of a random secret.
    The claimant keeps the secret, and proves with it that the claim is its own.
    """

    owner: str
    secret_hash: str
    until: datetime
    mac: str | None = None


class Call(Struct, frozen=True):
    """One stored call: the request, the verdict, the decision, the claim and the result.

    The fields above `row_mac` never change after the call is stored, except that retention erases some. `row_mac` is
    the MAC over them.

    `due_at` is the time at which Sayso changes the call if nobody else has changed it by then. It is None if there is
    no such time. The meaning depends on the call:

    - a pending call: the deadline
    - an approved call: the end of the time to claim it
    - a claimed call: the end of the lease
    - a rejected call for whose reason Sayso asked: the end of the wait for that reason

    `reason` is '' if Sayso asked for a reason and none came.
    """

    ref: str
    short: str
    digest: str
    tools: str
    tool: str
    args: bytes
    executor: str
    definition: str
    cwd: str | None
    preconditions: tuple[tuple[str, str], ...]
    sentence: str
    preview: str
    notes: tuple[str, ...]
    note: str
    requester: str
    agent: str
    session: str
    origin: str
    runs: Runs
    key: str | None
    previous: str | None
    verdict: Verdict
    approvers: tuple[str, ...]
    routes: tuple[str, ...]
    created_at: datetime
    deadline: datetime
    row_mac: str
    state: State
    version: int
    decision: Decision | None = None
    decided_at: datetime | None = None
    decided_by: str | None = None
    reason: str | None = None
    decision_mac: str | None = None
    claim: Claim | None = None
    result: Result | None = None
    output: str | None = None
    error: str | None = None
    finished_at: datetime | None = None
    result_mac: str | None = None
    due_at: datetime | None = None
    #: Whether retention has archived the call. An archived call never runs, and nobody is asked about it again.
    archived: bool = False
    #: The time when retention erased the arguments and the texts that reveal them (`hitl.gate.retain`), or None.
    erased_at: datetime | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        """The stored arguments, decoded from canonical JSON."""
        decoded: dict[str, Any] = msgspec.json.decode(self.args)
        return decoded

    @property
    def status(self) -> Status:
        """The state of the call in one word, for people, agents, events and exit codes."""
        if self.result is not None:
            return _STATUSES[self.result]
        if self.state is State.AWAITING:
            return Status.PENDING
        if self.state is State.EXECUTING and self.claim:
            return Status.RUNNING
        if self.decision is None:
            raise ValueError(self.ref)
        return _STATUSES[self.decision]

    @property
    def ended(self) -> bool:
        """Whether the call has ended.

        After its end, only a late report of the run, the reason for a rejection, or retention changes the call.
        """
        return self.state not in {State.AWAITING, State.EXECUTING}

    @property
    def awaits_reason(self) -> bool:
        """Whether the person who rejected the call was asked for a reason and may still give one."""
        return self.decision is Decision.REJECTED and self.due_at is not None

    def evolve(self, **changes: Any) -> Call:
        """Return a copy with some fields changed. If the copy will be stored, `changes` must raise `version`."""
        return replace(self, **changes)


class Status(StrEnum):
    """The state, decision, claim and result of a call, combined in one word."""

    PENDING = "pending"
    ALLOWED = "allowed"
    APPROVED = "approved"
    RUNNING = "running"
    DENIED = "denied"
    REJECTED = "rejected"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    UNDELIVERABLE = "undeliverable"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    RELEASED = "released"
    REFUSED = "refused"
    LAPSED = "lapsed"
    UNKNOWN = "unknown"


_STATUSES: Mapping[str, Status] = {status.value: status for status in Status}


class Vote(Struct, frozen=True):
    """One approver's approval or rejection of a call, with a MAC.

    `pressed_at` is the time when the person acted. `at` is the time when the vote was committed.

    Earlier versions stored no `identity` and no `risk`.
    """

    ref: str
    principal: str
    approve: bool
    reason: str | None
    surface: str
    pressed_at: datetime | None
    at: datetime
    mac: str
    #: The account that the person used. The claim checks the rights of this account again.
    identity: str | None = None
    #: The risk that the person approved: the higher of the risk on the card and the policy's risk at that time. It is
    #: None for a rejection.
    risk: Risk | None = None


class ReplyKind(StrEnum):
    """The kinds of replies: by a button, by a command, in words, by a reaction, or through the API."""

    BUTTON = "button"
    COMMAND = "command"
    TEXT = "text"
    REACTION = "reaction"
    API = "api"


class Verb(StrEnum):
    """The action that a button, a command or an API decision asks for."""

    APPROVE = "approve"
    REJECT = "reject"
    DETAILS = "details"
    CHOICE_1 = "choice_1"
    CHOICE_2 = "choice_2"
    CHOICE_3 = "choice_3"
    CHOICE_4 = "choice_4"
    CHOICE_5 = "choice_5"
    CHOICE_6 = "choice_6"
    CHOICE_7 = "choice_7"
    CHOICE_8 = "choice_8"


#: The verbs of the buttons for a question's options, in the order of the options.
CHOICES: Final = tuple(verb for verb in Verb if verb.startswith("choice_"))


class Reply(Struct, frozen=True):
    """A person's reply to a card, in the same form for all platforms.

    - `identity`: the sender, as the platform proves it (`local:1000`, `PLATFORM:USER`).
    - `conversation`: the conversation in which the reply was sent.
    - `target`: the ref or short ref that a button or a command holds.
    - `answers`: the platform's id of the message that the reply answers or reacts to.
    - `thread`: the platform's id of the message that began the reply's thread.
    - `private`: whether text that points to no call may decide in this conversation.
    - `follows`: for text that points to no call: the ref of the call that the latest message in the conversation is
      about, not counting the sender's own messages. It is None if that message is about no call or isn't known.
    - `addressed`: whether the text is meant for Sayso rather than for other people in the conversation.
    - `confirmed`: whether the reply says that it is the second of two confirmations (only the API can say this).
    - `event`: source and id of the inbox row that holds the raw event.
    - `received_at`: when that row was written, by the store's clock. The clock of a platform (`pressed_at`) may differ.
    - `spans`: the formatted parts of the text.
    - `language`: the known language of the conversation or person (BCP 47), or None.

    `spans` and `language` aren't stored, because the raw event holds them.
    """

    identity: str
    surface: str
    conversation: str
    kind: ReplyKind
    verb: Verb | None = None
    text: str = ""
    reason: str | None = None
    target: str | None = None
    answers: str | None = None
    thread: str | None = None
    follows: str | None = None
    private: bool = False
    addressed: bool = False
    confirmed: bool = False
    pressed_at: datetime | None = None
    event: tuple[str, str] | None = None
    received_at: datetime | None = None
    spans: tuple[Span, ...] = ()
    language: str | None = None


class Lease(Struct, frozen=True):
    """The claimed call, as its claimant gets it, and the time until which the claimant may run it."""

    call: Call
    owner: str
    until: datetime

    @property
    def idempotency_key(self) -> str:
        """The idempotency key for the services that the tool calls. It is the same for every attempt at this call."""
        return self.call.ref


class Ran(Struct, frozen=True):
    """An executor's report of a run. `cut` is the number of characters of output that were dropped."""

    result: Result
    output: str = ""
    error: str | None = None
    exit_status: int | None = None
    cut: int = 0


class Event(StrEnum):
    """The events in the audit record. Each is about a call, a reply, a card, or the service itself."""

    ASKED = "asked"
    ALLOWED = "allowed"
    DENIED = "denied"
    VOTED = "voted"
    APPROVED = "approved"
    REJECTED = "rejected"
    REASON = "reason"
    NO_REASON = "no_reason"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    UNDELIVERABLE = "undeliverable"
    CLAIMED = "claimed"
    RELEASED = "released"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    REFUSED = "refused"
    LAPSED = "lapsed"
    UNKNOWN = "unknown"
    ERASED = "erased"
    ARCHIVED = "archived"
    SHOWN = "shown"
    NOT_SHOWN = "not_shown"
    ATTACHED = "attached"
    VIEWED = "viewed"
    CONFIRM = "confirm"
    HELD = "held"
    UNCLEAR = "unclear"
    LATE = "late"
    TAMPERED = "tampered"
    BARRED = "barred"
    FORGED = "forged"
    REFUSED_PEER = "refused_peer"
    SEALED = "sealed"
    ROLLED_BACK = "rolled_back"
    MOVED = "moved"
    POLICY_LOADED = "policy_loaded"
    POLICY_REFUSED = "policy_refused"
    RELOADED = "reloaded"
    RELOAD_REFUSED = "reload_refused"
    CREDENTIAL_MADE = "credential_made"
    CREDENTIAL_REVOKED = "credential_revoked"


class Entry(Struct, frozen=True):
    """One line of the audit record, before it becomes part of a hash chain."""

    ref: str
    event: Event
    actor: str
    data: Mapping[str, Any]


class Recorded(Struct, frozen=True):
    """One stored line of the audit record: its number in its chain, its time, its contents, and its hash.

    `hash` covers this line and `prev`, and `prev` is the `hash` of the line before.
    """

    ref: str
    seq: int
    at: datetime
    event: str
    actor: str
    data: str
    prev: str
    hash: str


class PostKind(StrEnum):
    """The task of an outbox row: post a card, edit a card, or send a notice to the conversation."""

    CARD = "card"
    EDIT = "edit"
    NOTICE = "notice"


class Post(Struct, frozen=True):
    """An outbox row: a message about a call, and the route to which it is to be sent."""

    ref: str
    route: str
    kind: PostKind


class Sending(Struct, frozen=True):
    """A leased outbox row: its id, the number of earlier attempts, and the id of the card's message, if known."""

    id: int
    post: Post
    attempts: int
    message: str | None


class PromptKind(StrEnum):
    """The kinds of prompts.

    `confirm`: the person gave the first of two confirmations. `viewed`: the person opened the details.
    """

    CONFIRM = "confirm"
    VIEWED = "viewed"


class Prompt(Struct, frozen=True):
    """A stored note that a person has done the first of two steps: a first confirmation, or a look at the details.

    Some calls demand such a step before the person's approval counts.
    """

    ref: str
    principal: str
    kind: PromptKind
    at: datetime


class Bound(Struct, frozen=True):
    """A stored link from a message of Sayso, other than a card, to the call that the message is about.

    A reply to the message answers that call. The platform's id of the message makes the link. The words of the message
    never do.
    """

    #: The platform's id of the message, unique among all chats.
    message: str
    #: The ref of the call that the message is about.
    ref: str
    #: The identity of the person whom the message asks for a reason, or '' if it asks nobody.
    asks: str
    #: The MAC over the other fields (`seals.bound`).
    mac: str


class KeptTurn(Struct, frozen=True):
    """A stored turn: an agent's work on one message of a person.

    If this process dies, another process continues the turn.
    """

    #: The source and id of the event that began the turn, or a made-up id on a surface that keeps no events.
    id: str
    #: The conversation in which the turn began.
    place: str
    #: The identity of the person who spoke to the agent.
    identity: str
    #: The principal of that person when the turn began. This principal is the requester of the turn's calls.
    requester: str
    #: The platform's id of the person's message, or '' if the message has no id.
    message: str
    #: The words that the person said to the agent.
    text: str
    #: (principal, text) of each message in the conversation since the last turn, the oldest first.
    said: tuple[tuple[str, str], ...] = ()
    #: The state that the agent stored in order to continue the turn. Only the agent reads it.
    state: bytes = b""
    #: Whether the turn has ended.
    done: bool = False
    #: The MAC over the other fields (`seals.turn`).
    mac: str = ""


class Incoming(Struct, frozen=True):
    """A raw event as a platform sent it, kept until it is handled.

    `order` names a lane, such as a conversation. The events of one lane are handled one after another.
    """

    source: str
    id: str
    order: str
    body: bytes
    received_at: datetime
    failures: int = 0
    #: Whether the MAC of the stored event is valid. If it isn't, somebody changed or forged the event in the database.
    intact: bool = True
