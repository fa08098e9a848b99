"""What the decision needs from the outside worlds, as protocols. Adapters implement them; `hitl.testing` fakes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime

    from hitl.call import (
        Ask,
        Bound,
        Call,
        Entry,
        Incoming,
        KeptTurn,
        Lease,
        PolicyCall,
        Post,
        Preparation,
        Prompt,
        PromptKind,
        Ran,
        Recorded,
        Sending,
        ToolInfo,
        Verdict,
        Vote,
    )
    from hitl.cards.wording import Wording
    from hitl.credentials import Credential
    from hitl.proof.keyring import Keyring


class Expect(Struct, frozen=True):
    """The condition of a swap. It holds where the row still has this version and the time test holds.

    `overdue` None makes no time test; False demands `due_at > now`, True demands `due_at <= now`, where now is
    the store's one reading of its clock for the unit.
    """

    ref: str
    version: int
    overdue: bool | None = None


class Change(Struct, frozen=True):
    """What one unit writes. `call` is the row as it shall be; None where only records are added."""

    call: Call | None = None
    votes: Sequence[Vote] = ()
    entries: Sequence[Entry] = ()
    posts: Sequence[Post] = ()
    prompts: Sequence[Prompt] = ()
    handled: tuple[str, str] | None = None


class Unit(Struct, frozen=True):
    """One all-or-nothing write. With `expect`, a conditional UPDATE; without, the call (if any) is new.

    `seal` is pure and is called once, inside the write, with the store's time: one value for the condition,
    for what is recorded as the time, and for the seals.
    """

    expect: Expect | None
    seal: Callable[[datetime], Change]
    #: Whether it begins a call. A store may let other units pass such ones, and keeps their own order.
    new: bool = False


def adding(change: Change) -> Unit:
    """The unit that writes just this, whatever the time: more for the record, nothing about a call."""
    return Unit(None, lambda _: change)


T = TypeVar("T")


class ShortTakenError(Exception):
    """The store holds a call with that short ref already."""


class KeyTakenError(Exception):
    """The requester used that idempotency key already."""


class Calls(Protocol):
    """Calls with their votes, prompts and record. Each method asks one question."""

    @property
    def keys(self) -> Keyring:
        """What the store seals with."""

    @property
    def clock(self) -> Clock:
        """The one clock for all that is compared with the time of a unit. It never goes below a recorded time."""

    async def commit(self, unit: Unit) -> Change | None:
        """Do the unit, or None where its condition didn't hold (then nothing was written).

        Raises ShortTakenError or KeyTakenError for a new call that would collide, and hitl.errors.Tampered for a swap
        that decides, claims or ends what the call's chain says was decided, claimed or ended (`audit.contradicted`).
        """

    async def get(self, ref: str) -> Call | None:
        """The call with that ref."""

    async def by_short(self, short: str) -> Call | None:
        """The call with that short ref."""

    async def by_key(self, requester: str, key: str) -> Call | None:
        """The call that the requester made with that idempotency key."""

    async def page(self, before: str | None, limit: int, *, pending: bool) -> Sequence[Call]:
        """Return at most `limit` calls, newest first: those older than the call `before`, or from the newest on."""

    async def votes(self, ref: str) -> Sequence[Vote]:
        """The votes on a call, oldest first."""

    async def pending(self, *, origin: str | None = None, limit: int = 1000) -> Sequence[Call]:
        """Calls that wait for people, oldest first; of one conversation, or all."""

    async def standing(self, place: str, thread: str | None = None, *, limit: int = 1000) -> Sequence[Call]:
        """The waiting calls whose cards stand in a conversation, oldest first.

        Those are the calls that were asked there, those whose card goes there, and the one whose card is the message
        `thread`.
        """

    async def count_open(self, requester: str, limit: int) -> int:
        """How many calls of the requester wait for people; counting stops at the limit."""

    async def same_open(self, digest: str, agent: str) -> Call | None:
        """The oldest waiting call with that digest from that agent."""

    async def due(self, limit: int) -> Sequence[Call]:
        """Calls whose `due_at` is over by the store's clock, the most overdue first."""

    async def next_due(self) -> datetime | None:
        """When something must happen next."""

    async def leased(self, owner: str, limit: int = 1000) -> Sequence[Call]:
        """Calls whose claimant's name begins with `owner` and whose end isn't known yet, oldest first."""

    async def unfinished(self, limit: int = 1000) -> Sequence[Call]:
        """Calls to which something is yet to happen by the clock (`due_at`), oldest first."""

    async def prompt(self, ref: str, principal: str, kind: PromptKind) -> Prompt | None:
        """What was last left open of that kind with that person about that call, if it is as it was kept."""

    async def history(self, ref: str) -> Sequence[Recorded]:
        """The record of one call, oldest first; of the service itself for ref ''."""

    async def lines_after(self, place: int, limit: int) -> Sequence[tuple[int, Recorded]]:
        """Return the lines behind a place of the whole record, oldest first, each with its place."""

    async def last_line(self) -> int:
        """Return the place of the newest line of the whole record, or 0 for an empty record."""


class Outbox(Protocol):
    """Messages to chat platforms that are still to be sent, and the cards that were sent."""

    async def sendings(
        self, *, lease_s: float, limit: int = 20, busy: Collection[str] = (), calm: Collection[str] = ()
    ) -> Sequence[Sending]:
        """Lease the next outbox row of each route that isn't busy, if it may go out now.

        In order for each call and route; several edits of one card are one. A notice goes to a route that needs no
        card. New cards, notices and outcomes go before refreshes, which are edits of pending calls' cards; a calm route
        gets no refresh.
        """

    async def sent(self, sending: Sending, message: str | None) -> None:
        """The platform took it; `message` is the id that it gave. A card that was found standing before stays it."""

    async def unsent(self, sending: Sending, error: str, *, retry_s: float | None) -> None:
        """It didn't go out; try again after so many seconds, or never (None)."""

    async def hasten(self, platform: str) -> None:
        """Let go out at once what was put off on the routes of a platform (`unsent`)."""

    async def adopt(self, ref: str, route: str, message: str) -> None:
        """A card turned out to stand on a route under this message id."""

    async def by_message(self, message: str) -> tuple[str, str] | None:
        """Ref and route of the card that stands under this message id; None where that isn't as it was kept."""

    async def cards(self, ref: str) -> Mapping[str, str | None]:
        """Route -> message id of each surface that has, or is to have, the card of a call."""


class Inbox(Protocol):
    """Raw events from chat platforms, until each is handled."""

    async def receive(self, source: str, event: str, order: str, body: bytes) -> bool:
        """Keep a raw event. False if it was known already."""

    async def incoming(self, limit: int = 100) -> Sequence[Incoming]:
        """Events not yet handled and not set aside: the oldest of each conversation only.

        One that isn't as it was kept says so.
        """

    async def newest(self, source: str) -> Incoming | None:
        """Return the event of a source that was kept last, handled or not; None before the first event."""

    async def stumble(self, source: str, event: str, error: str, *, aside_after: int) -> bool:
        """Count a failure to handle the event; True when that set it aside."""


class Conversations(Protocol):
    """Conversations: where the platform moved each, our latest message there, and which call a message is about."""

    async def moves(self) -> Mapping[str, str]:
        """Conversation -> where the platform moved it last."""

    async def move(self, old: str, new: str) -> None:
        """A platform moved a conversation: the cards of waiting calls there are posted anew."""

    async def said(self) -> Mapping[str, tuple[str, str | None]]:
        """Conversation -> our latest message there and the ref that it is about, where that is known."""

    async def say(self, place: str, message: str | None, ref: str | None) -> None:
        """Our latest message in a conversation, and the ref that it is about; None while that isn't known."""

    async def bind(self, bound: Bound) -> None:
        """Keep which call a message of ours is about. The first binding of a message stays."""

    async def bound(self, message: str) -> Bound | None:
        """Return the binding of a message of ours, as it was stored, or None for a card and for any other message."""


class Turns(Protocol):
    """Turns of agents that outlive a process."""

    async def begin_turn(self, turn: KeptTurn) -> bool:
        """Store a new turn. False if a turn with that id is stored already; that one stays as it is.

        Of the turns that are done in that conversation, only the newest is kept.
        """

    async def keep_turn(self, turn: KeptTurn) -> None:
        """Store what became of a turn: its state, and whether it is done."""

    async def open_turns(self) -> Sequence[KeptTurn]:
        """Turns that aren't done, the oldest first."""

    async def last_turn(self, place: str) -> KeptTurn | None:
        """Return the newest turn that is done in a conversation."""


class Credentials(Protocol):
    """Bearer tokens. A row that isn't as it was stored is never answered, and the log says so."""

    async def credentials(self) -> Sequence[Credential]:
        """Return all tokens, revoked ones too."""

    async def keep_credential(self, credential: Credential) -> bool:
        """Keep a new token with its line of the record. Return False if its name was used before."""

    async def revoke_credential(self, credential: Credential, by: str) -> Credential:
        """Revoke a token with its line of the record, and return the revoked token."""

    async def used_credential(self, name: str, at: datetime) -> None:
        """Keep when a token was last used."""


class CallsAndCards(Calls, Outbox, Protocol):
    """What posting cards needs, and ending calls whose cards nobody saw."""


class CallsAndEvents(Calls, Inbox, Protocol):
    """What handling events needs."""


class Store(Calls, Outbox, Inbox, Conversations, Credentials, Turns, Protocol):
    """Everything that is kept. Every write is durable before it answers.

    Any method raises `hitl.errors.Unavailable` when the store can't be read or written; nothing was changed then.
    Events, cards, prompts, turns and lines of the record are sealed with `keys`; what isn't as it was kept is never
    answered.
    """


class PlatformError(Exception):
    """A chat platform refused or failed. `passing` tells whether another try may help, `retry_s` when.

    `lost` tells that nothing at all can be sent there: the place or the access to it is gone, whatever the message, and
    not by the doing of one person alone (who blocks us, say), who could get by that what `fallback` lets run.
    `remedy` is the key of the sentence that names the remedy, '' if none is known.
    """

    def __init__(
        self, message: str, *, passing: bool, retry_s: float | None = None, lost: bool = False, remedy: str = ""
    ) -> None:
        super().__init__(message)
        self.remedy = remedy
        self.passing = passing
        self.retry_s = retry_s
        self.lost = lost


class NotYetError(PlatformError):
    """The platform's limits leave no room for an edit for so many seconds. Nothing was sent."""

    def __init__(self, seconds: float) -> None:
        super().__init__("paced", passing=True, retry_s=seconds)
        self.seconds = seconds


class Chat(Protocol):
    """A chat platform, as a handful of verbs. A message is its route and the id that the platform gave it.

    Each raises PlatformError. All rendering is the adapter's, from the call alone.
    """

    async def post(self, route: str, call: Call) -> str:
        """Post the card; the message id."""

    async def update(self, route: str, message: str, call: Call) -> None:
        """Edit the card to what the call is now."""

    async def spare(self, route: str, message: str, call: Call) -> None:
        """Make a second copy of a card say that another one counts, or how the call ended, if it did.

        One that can't be edited is left alone.
        """

    async def notify(self, route: str, call: Call) -> None:
        """Tell the conversation that asked how its call ended."""


@dataclass(frozen=True, slots=True)
class Line:
    """What was said in a conversation with an agent: by a principal, or by the agent (None)."""

    by: str | None
    text: str


class Turn(Protocol):
    """One turn of an agent: what it was told, and what it may do. It ends when the agent has nothing more to do."""

    @property
    def text(self) -> str:
        """What was said to the agent."""

    @property
    def on_behalf_of(self) -> str:
        """The principal who said it, for whom the agent acts."""

    @property
    def history(self) -> Sequence[Line]:
        """What was said and done in that conversation before, the oldest first."""

    async def call(self, tools: str, tool: str, args: Mapping[str, object]) -> Call:
        """Have a tool called; the call once it is over, with its output: run, denied, or not approved.

        It may take as long as people take to answer. Raises hitl.errors.SaysoError where it can't be asked for.
        """


class Agent(Protocol):
    """Whoever turns what people say into tool calls. It decides nothing."""

    @property
    def name(self) -> str:
        """What cards and the record call it."""

    def help(self, wording: Wording) -> str:
        """Return what it can be told, as a text for people, in their language."""

    def understands(self, text: str) -> bool:
        """Whether the text is for it, where the same words could also be a failed answer to a card."""

    async def take(self, turn: Turn) -> str:
        """Take one turn; what to say at its end, '' for nothing. It may be cancelled wherever it waits."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool that an agent is offered."""

    tools: str
    tool: str
    description: str
    #: The JSON Schema of its arguments.
    schema: Mapping[str, object]


@runtime_checkable
class Offering(Protocol):
    """An executor whose tools agents can be offered."""

    async def offers(self, tools: str) -> Sequence[Offer]:
        """The tools of a group that may run. Raises hitl.errors.SaysoError while they can't be known."""


class StoredTurn(Protocol):
    """A turn that outlives the process: whatever was kept is there when another process goes on with it."""

    @property
    def text(self) -> str:
        """What was said to the agent."""

    @property
    def on_behalf_of(self) -> str:
        """The principal who said it, for whom the agent acts."""

    @property
    def said(self) -> Sequence[tuple[str, str]]:
        """Who said what in the conversation since the last turn, the oldest first. It is talk, not instructions."""

    @property
    def wording(self) -> Wording:
        """The language of the conversation."""

    @property
    def state(self) -> bytes:
        """What the agent kept of this turn, b'' at its beginning."""

    @property
    def before(self) -> bytes:
        """What the agent kept last of the turn before this one in the conversation, b'' if there was none."""

    async def keep(self, state: bytes) -> None:
        """Store what the agent needs to go on from here."""

    async def say(self, text: str) -> None:
        """Say something, as the agent's words. Raises PlatformError."""

    async def call(self, tools: str, tool: str, args: Mapping[str, object], *, name: str) -> Call:
        """Have a tool called; the call once it is over, and once a reason for its rejection can't follow any more.

        `name` tells the call from others of the turn: a call of that name that was made before is found, not made
        again. Raises hitl.errors.SaysoError where it can't be asked for.
        """


class ResumingAgent(Protocol):
    """An agent whose turns are stored. It decides nothing."""

    @property
    def name(self) -> str:
        """What cards and the record call it."""

    def help(self, wording: Wording) -> str:
        """Return what it can be told, as a text for people, in their language."""

    async def take(self, turn: StoredTurn) -> str:
        """Take a turn to its end, from wherever it is; what to say at last. It may be cancelled wherever it waits."""

    async def close(self) -> None:
        """Let go of what it holds, once no turn is taken any more."""


class Clock(Protocol):
    """The one source of time."""

    def now(self) -> datetime:
        """Aware, UTC."""

    def go_on_from(self, newest: datetime) -> None:
        """Hear of a moment that was recorded: if the clock is behind it, it was set back since."""


class Beside(Protocol):
    """A place for long computing, where it keeps nobody else waiting."""

    async def __call__(self, work: Callable[[], T], /) -> T:
        """Do the work, and return what it returns. Raises what the work raises."""


class Executor(Protocol):
    """Tools that this service runs itself."""

    def info(self, tools: str, tool: str) -> ToolInfo | None:
        """What is known of the tool; None where it isn't on the list of those that may run."""

    async def prepare(self, ask: Ask) -> Preparation:
        """Look at a call before people are asked: what it does, what must still hold when it runs.

        Raises hitl.errors.InvalidConfirmation where the arguments can't be used.
        """

    async def still_holds(self, call: Call) -> str | None:
        """What changed since the call was prepared, as a sentence; None where all preconditions hold."""

    async def run(self, lease: Lease, *, limit_s: float) -> Ran:
        """Run the stored call, within the time limit. Never raises for what the tool does."""


class Policy(Protocol):
    """A document of rules, ready to judge. `digest` is a SHA-256 over it."""

    @property
    def digest(self) -> str:
        """64 hex digits."""

    def judge(self, call: PolicyCall) -> Verdict:
        """The verdict on a call; a denial for the reason `policy_error` where the rules can't be evaluated on it."""


class PolicySource(Protocol):
    """Where the policy comes from. A broken source raises hitl.errors.PolicyUnusable; it never gives a weaker one."""

    def current(self) -> Policy:
        """The policy in force."""


@dataclass(frozen=True, slots=True)
class Repository:
    """The git repository that git would use from a folder."""

    #: The absolute path of the folder that holds `.git`, or of the bare repository itself.
    root: str
    #: The first thing found that could make a read-only git command run a program or read outside the repository:
    #: a configuration key, or a short name of a file or fault. None if nothing was found.
    armed: str | None
    #: Whether an address in the configuration holds a name or password of somebody.
    secret: bool = False


@dataclass(frozen=True, slots=True)
class Tree:
    """What lies below a folder."""

    #: The absolute path of the folder, after links; for a single file, of the folder that holds it.
    root: str
    #: Everything below `root` that is not a folder, links among it, as paths relative to `root`, in no order.
    files: Sequence[str]
    #: False if a folder could not be read, or if there was more than the caller wanted.
    complete: bool
    #: The path that was asked for is a file, and `files` is its name.
    single: bool = False
    #: The symbolic links among `files`.
    links: Sequence[str] = ()


class Paths(Protocol):
    """Questions about the file system that conditions on paths may ask, at the moment of the call."""

    def resolve(self, path: str, cwd: str) -> str | None:
        """The absolute path with links and dots resolved, or None where that can't be told."""

    def case_insensitive(self, path: str) -> bool:
        """Whether the file system at this path takes `A` and `a` for the same name."""

    def repository(self, path: str) -> Repository | None:
        """Return the repository that git would use from this folder, or None if there is none up to `/`.

        Never runs git and never raises. What can't be read counts as armed.
        """

    def tracked(self, path: str, *, most: int) -> Sequence[str] | None:
        """Return the paths, from its root, that the repository of this folder tracks; None if that can't be told.

        More than `most` can't be told. A folder without a repository tracks nothing.
        """

    def tree(self, path: str, *, most: int, deep: bool = True) -> Tree | None:
        """Return what lies below a folder, after visiting at most `most` entries; None for what isn't there.

        Links are listed and not followed, except `path` itself. A single file is its own only entry. Not `deep`: only
        what lies in the folder itself is listed, folders too. Never raises.
        """


class Resolver(Protocol):
    """Questions about names that conditions on hosts may ask, at the moment of the call."""

    def resolve(self, host: str) -> Sequence[str] | None:
        """Every address of a host name as text, or None where that can't be told."""


class Observer(Protocol):
    """Somebody in this process who wants to hear of every change of a call, after it is durable."""

    def changed(self, call: Call) -> None:
        """Must not block and must not raise."""


__all__ = [
    "Agent",
    "Beside",
    "Calls",
    "CallsAndCards",
    "CallsAndEvents",
    "Change",
    "Chat",
    "Clock",
    "Conversations",
    "Credentials",
    "Executor",
    "Expect",
    "Inbox",
    "KeyTakenError",
    "Line",
    "NotYetError",
    "Observer",
    "Offer",
    "Offering",
    "Outbox",
    "Paths",
    "PlatformError",
    "Policy",
    "PolicySource",
    "Repository",
    "Resolver",
    "ResumingAgent",
    "ShortTakenError",
    "Store",
    "StoredTurn",
    "Tree",
    "Turn",
    "Turns",
    "Unit",
    "adding",
]
