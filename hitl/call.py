"""The records that everything else speaks of: frozen, slotted, free of behaviour beyond small questions.

Times are aware UTC datetimes. Arguments are kept as canonical JSON bytes (RFC 8785), because what was shown,
what was sealed and what runs must be the same bytes.
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

    from hitl.replies import Span


class State(StrEnum):
    """Where a call stands in its life; `lifecycle.py` holds the only table that moves it."""

    IDLE = "idle"
    AWAITING = "awaiting_confirmation"
    EXECUTING = "executing"
    COMPLETED = "completed"
    ERROR = "error"


class Decision(StrEnum):
    """How the asking ended."""

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
    """How the run ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    RELEASED = "released"
    REFUSED = "refused"
    LAPSED = "lapsed"
    UNKNOWN = "unknown"


class Action(StrEnum):
    """What a policy says of a call."""

    ALLOW = "allow"
    APPROVE = "approve"
    DENY = "deny"


class Risk(StrEnum):
    """How bad it would be to be wrong about a call; ordered by `rank`."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """0 for low to 3 for critical."""
        return _RANKS[self]


_RANKS = {risk: rank for rank, risk in enumerate(Risk)}


class Mode(StrEnum):
    """What becomes of the policy's verdicts: kept, only recorded, or not asked for at all."""

    ENFORCE = "enforce"
    MONITOR = "monitor"
    OFF = "off"


class Runs(StrEnum):
    """Who runs an approved call: fixed by the way in, never by what the caller says."""

    SERVICE = "service"
    CALLER = "caller"


class PolicyCall(Struct, frozen=True):
    """The part of a call that policies look at.

    `cwd` is the folder that relative paths are meant from. `annotations` are MCP tool hints, None where the tool
    didn't come over MCP; `trusted_annotations`: the operator trusts that server, so its hints may also loosen.
    """

    tools: str
    tool: str
    args: Mapping[str, Any]
    cwd: str | None = None
    annotations: Mapping[str, Any] | None = None
    trusted_annotations: bool = False
    requester: str | None = None
    origin: str | None = None
    #: What runs is the argument `command` alone, a list of words that a caller starts, whatever the tool is called.
    is_command: bool = False
    #: It runs confined to its folder and without network.
    isolated: bool = False
    #: Another program than a coding agent or this service serves the tool, so its name alone vouches for nothing.
    foreign: bool = False


class Reason(StrEnum):
    """Why a verdict is what it is: a rule, or what holds where no rule does."""

    MATCHED_RULE = "matched_rule"
    FORBIDDEN = "forbidden"
    DEFAULT_ACTION = "default_action"
    POLICY_ERROR = "policy_error"
    MONITOR = "monitor"
    OFF = "off"
    FALLBACK = "fallback"


class CardTerms(Struct, frozen=True):
    """Additions to the card of a request, beside the call and its verdict.

    Most of it is the operator's, from the settings or the tool's definition; the last two say how the caller wrote the
    arguments.
    """

    #: A template over the arguments (`hitl.cards.templates`), '' for none: "Pay {amount} {currency} to {to}".
    headline: str = ""
    #: One sentence about undoing, '' if nobody said anything; what stands between backticks is a command.
    undo: str = ""
    #: The arguments that the card shows below such a headline; None shows all that the headline doesn't name.
    fields: tuple[str, ...] | None = None
    #: The stage of the installation, '' for an installation without stages.
    stage: str = ""
    #: The arguments' names in the order in which they were given, () for the canonical one.
    order: tuple[str, ...] = ()
    #: Numbers with the digits that they were written with, by the name of their argument.
    numbers: tuple[tuple[str, str], ...] = ()


class Verdict(Struct, frozen=True):
    """What the policy said of one call.

    `approvers` None means the conversation's or the installation's list applies. `rule` is None where no rule
    matched. `why` is one short sentence for people: why this risk. `policy` is the digest of the document.
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
    #: None if nothing was said about the card.
    card: CardTerms | None = None


class Ask(Struct, frozen=True):
    """A tool call as a way in hands it over: what the agent wants, and what the credential behind it proves.

    `requester` is a principal. `origin` is the conversation that it was asked in. `note` is the agent's own
    words, shown as such. `must_ask` can only tighten: a person is asked even where the policy would allow.
    `key` is the caller's idempotency key, unique for each requester. `previous` names an ended call that this
    one asks again.
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
    #: Places that get the card beside those of the origin. The way in has checked that its caller may name them.
    routes: tuple[str, ...] = ()


class ToolInfo(Struct, frozen=True):
    """What an executor knows of one of its tools. `definition` is a SHA-256 over its declaration."""

    executor: str
    definition: str
    idempotent: bool = False
    #: The JSON Schema of its arguments.
    schema: Mapping[str, Any] = msgspec.field(default_factory=dict)
    #: What it does, by the names of MCP's tool annotations (`readOnlyHint`, ...).
    annotations: Mapping[str, bool] = msgspec.field(default_factory=dict)
    #: Whether another program serves it, such as an MCP server: its name alone says nothing of what it does.
    foreign: bool = False


#: Any of these is the precondition of a call that its executor runs confined to its folder and without network.
ISOLATED: Final = frozenset((("confinement", "bubblewrap"), ("confinement", "namespace")))


class Preparation(Struct, frozen=True):
    """What an executor finds when it looks at a call before anyone is asked.

    `preconditions` are facts that must still hold when it runs (`base:notes.txt` -> SHA-256 of the file).
    `preview` is a unified diff of everything that the call would change, with all that its text arguments would do.
    `sentence` follows "wants to" on the card: `delete notes.txt`, without a full stop.
    `notes` are warnings (`not confined`). `floor` is a risk that no policy may go below. `undo` is one sentence about
    undoing the call, '' if nobody can say.
    """

    sentence: str
    cwd: str | None = None
    preconditions: tuple[tuple[str, str], ...] = ()
    preview: str = ""
    notes: tuple[str, ...] = ()
    floor: Risk = Risk.LOW
    undo: str = ""


class Claim(Struct, frozen=True):
    """The one permission to run: who holds it, the SHA-256 of the secret that proves it, its end, and its seal."""

    owner: str
    secret_hash: str
    until: datetime
    mac: str | None = None


class Call(Struct, frozen=True):
    """One call: what was asked, on what terms, and how it went on.

    The fields down to `row_mac` never change after the call is stored; `row_mac` seals them. `due_at` is when
    something must happen to it next: the deadline while people are asked, the end of the claim window while
    nobody has claimed it, the end of the lease while it runs, the end of the wait for a reason where who rejected
    it was asked for one, None once nothing more is due. `reason` '' tells that one was asked for and none came.
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
    #: Whether retention has archived the call: it is never asked or run again.
    archived: bool = False
    #: When retention erased the arguments and what tells of them (`hitl.gate.retain`), None for a whole call.
    erased_at: datetime | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        """The stored arguments, decoded."""
        decoded: dict[str, Any] = msgspec.json.decode(self.args)
        return decoded

    @property
    def status(self) -> Status:
        """The one word that people, agents, events and exit codes are told."""
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
        """Whether nothing more can happen to it but a late report or archiving."""
        return self.state not in {State.AWAITING, State.EXECUTING}

    @property
    def awaits_reason(self) -> bool:
        """Whether it was rejected by someone who was asked why, and may still say."""
        return self.decision is Decision.REJECTED and self.due_at is not None

    def evolve(self, **changes: Any) -> Call:
        """A copy with some fields changed; the version is the caller's to move."""
        return replace(self, **changes)


class Status(StrEnum):
    """A call's state, decision, claim and result in one word."""

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
    """One approver's answer, sealed. `pressed_at` is when the person acted, `at` when it was committed."""

    ref: str
    principal: str
    approve: bool
    reason: str | None
    surface: str
    pressed_at: datetime | None
    at: datetime
    mac: str


class ReplyKind(StrEnum):
    """How a reply came: each names its call in another way."""

    BUTTON = "button"
    COMMAND = "command"
    TEXT = "text"
    REACTION = "reaction"
    API = "api"


class Verb(StrEnum):
    """What a button, command or API decision asks for."""

    APPROVE = "approve"
    REJECT = "reject"
    DETAILS = "details"


class Reply(Struct, frozen=True):
    """Anything a person sends towards a card, with all platform detail gone.

    identity: who sent it as the platform proves it (`local:1000`, `PLATFORM:USER`).
    conversation: where it was sent. target: a ref or short ref that the surface itself knows (of a button or command).
    answers, thread: the platform's ids of the message that it replies or reacts to, and of the one that began the
    thread it is in. private: whether text that points to nothing may decide there; follows: for such text, the ref that
    the latest message of anyone else there is about, else None. addressed: whether text is for us rather than for other
    people there.
    confirmed: an explicit second confirmation. event: (source, id) of the inbox row behind it.
    spans: the formatted stretches of the text. language: the language that the conversation or the person is known to
    use (BCP 47), or None. The raw event holds both, so neither is stored.
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
    spans: tuple[Span, ...] = ()
    language: str | None = None


class Lease(Struct, frozen=True):
    """What a claimant gets: the stored call, and until when it may run it."""

    call: Call
    owner: str
    until: datetime

    @property
    def idempotency_key(self) -> str:
        """The key to hand to whatever the tool calls: the same for every try at this call."""
        return self.call.ref


class Ran(Struct, frozen=True):
    """How a run ended, as its executor tells it. `cut` counts characters of output that were dropped."""

    result: Result
    output: str = ""
    error: str | None = None
    exit_status: int | None = None
    cut: int = 0


class Event(StrEnum):
    """What a line of the record says: of a call, of a reply to it, of its card, or of the service itself."""

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
    """One line of the record, before it is chained."""

    ref: str
    event: Event
    actor: str
    data: Mapping[str, Any]


class Recorded(Struct, frozen=True):
    """One line of the record as stored: its place, its time, and the hash that chains it to the one before."""

    ref: str
    seq: int
    at: datetime
    event: str
    actor: str
    data: str
    prev: str
    hash: str


class PostKind(StrEnum):
    """What the outbox is to do on a route."""

    CARD = "card"
    EDIT = "edit"
    NOTICE = "notice"


class Post(Struct, frozen=True):
    """An outbox row: something a chat surface must be told about a call."""

    ref: str
    route: str
    kind: PostKind


class Sending(Struct, frozen=True):
    """An outbox row under lease: its id, how often it was tried, and the message it concerns, if one is known."""

    id: int
    post: Post
    attempts: int
    message: str | None


class PromptKind(StrEnum):
    """What was left open with one person about one call."""

    CONFIRM = "confirm"
    VIEWED = "viewed"


class Prompt(Struct, frozen=True):
    """An open question to, or a fact about, one person and one call."""

    ref: str
    principal: str
    kind: PromptKind
    at: datetime


class Bound(Struct, frozen=True):
    """A message of ours, other than a card, that is about one call. A reply to it answers that call.

    The platform's id of the message binds it, never its words.
    """

    #: The platform's id of the message among all chats.
    message: str
    #: The ref of the call.
    ref: str
    #: The identity of the person whom the message asks for a reason, '' if it asks nobody.
    asks: str
    #: The MAC over the other fields (`seals.bound`).
    mac: str


class KeptTurn(Struct, frozen=True):
    """A turn of an agent, as it is stored, so that another process can go on with it."""

    #: What the turn was begun by: the source and id of an event, or a made-up id on a surface that keeps none.
    id: str
    #: The conversation.
    place: str
    #: The identity of the person who spoke to the agent.
    identity: str
    #: The principal whom that person counted as when the turn was begun. Its calls are this principal's.
    requester: str
    #: The platform's id of the message that was said to the agent, '' if it has none.
    message: str
    #: What was said to the agent.
    text: str
    #: What was said in the conversation since the last turn, and by which principal, the oldest first.
    said: tuple[tuple[str, str], ...] = ()
    #: What the agent keeps of the turn.
    state: bytes = b""
    #: Whether the turn is over.
    done: bool = False
    #: The MAC over the other fields (`seals.turn`).
    mac: str = ""


class Incoming(Struct, frozen=True):
    """A raw event as a platform sent it, kept until it is decided. `order` is the conversation it belongs to."""

    source: str
    id: str
    order: str
    body: bytes
    received_at: datetime
    failures: int = 0
    #: Whether it is as it came: one that isn't was changed, or made up, in the database.
    intact: bool = True
