"""The protocols through which `hitl` reaches the outside. Adapters implement them; `hitl.testing` has fakes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
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
    """The condition of a swap: the stored row still has this version, and the time test holds.

    If `overdue` is False, the test is `due_at > now`. If it is True, the test is `due_at <= now`. If it is None, there
    is no time test. `now` is the one time that the store reads from its clock for the unit.
    """

    ref: str
    version: int
    overdue: bool | None = None


class Change(Struct, frozen=True):
    """The contents of one unit. `call` is the call's new row, or None if the unit only adds other rows.

    `handled` is the source and id of the inbox event that the unit marks as handled.

    A swap whose call has `erased_at` also overwrites the fields that otherwise never change, and deletes the salt of
    the arguments' hash. Its condition doesn't hold while a message about the call is unsent.
    """

    call: Call | None = None
    votes: Sequence[Vote] = ()
    entries: Sequence[Entry] = ()
    posts: Sequence[Post] = ()
    prompts: Sequence[Prompt] = ()
    handled: tuple[str, str] | None = None


class Unit(Struct, frozen=True):
    """One write that happens as a whole or not at all.

    With `expect`, the unit is a conditional UPDATE. Without `expect`, the unit's call is new, if it has a call. The
    store calls `seal` once, inside the write, with its time. The same time goes into the condition, the recorded times
    and the MACs. `seal` must have no side effects.
    """

    expect: Expect | None
    seal: Callable[[datetime], Change]
    #: Whether the unit stores a new call. A store may write other units first, but keeps new calls in their order.
    new: bool = False


def adding(change: Change) -> Unit:
    """Return a unit that writes this change without a condition: it adds rows and changes no call."""
    return Unit(None, lambda _: change)


T = TypeVar("T")


class ShortTakenError(Exception):
    """The store already holds a call with that short ref."""


class KeyTakenError(Exception):
    """The requester has already used that idempotency key."""


class Calls(Protocol):
    """The calls in a store, with their votes, prompts and record."""

    @property
    def keys(self) -> Keyring:
        """The keys for the store's MACs."""

    @property
    def clock(self) -> Clock:
        """The one clock for all times that are compared with the time of a unit. It never goes below a stored time."""

    async def commit(self, unit: Unit) -> Change | None:
        """Write the unit and return its change. Return None, and write nothing, if its condition didn't hold.

        Raises ShortTakenError or KeyTakenError if a new call has the short ref or the key of another call. Raises
        hitl.errors.Tampered for a swap that decides, claims or ends a call a second time, by the call's chain
        (`hitl.proof.chain.contradicted`): the row was replaced by an older copy.
        """

    async def get(self, ref: str) -> Call | None:
        """Return the call with this ref, or None."""

    async def by_short(self, short: str) -> Call | None:
        """Return the call with this short ref, or None."""

    async def by_key(self, requester: str, key: str) -> Call | None:
        """Return the call that the requester made with this idempotency key, or None."""

    async def page(self, before: str | None, limit: int, *, pending: bool) -> Sequence[Call]:
        """Return at most `limit` calls, newest first: those older than the call `before`, or the newest of all.

        With `pending`, return only pending calls.
        """

    async def votes(self, ref: str) -> Sequence[Vote]:
        """Return the votes on a call, oldest first."""

    async def pending(self, *, origin: str | None = None, limit: int = 1000) -> Sequence[Call]:
        """Return pending calls, oldest first: all of them, or the calls that were asked for in one conversation."""

    async def standing(self, place: str, thread: str | None = None, *, limit: int = 1000) -> Sequence[Call]:
        """Return the pending calls that belong to a conversation, oldest first.

        These are the calls that were asked for there, the calls whose card goes there, and the call whose card is the
        message `thread`.
        """

    async def count_open(self, requester: str, limit: int, agent: str | None = None) -> int:
        """Return the number of the requester's pending calls, or of one of their agents. Counting stops at `limit`."""

    async def askers(self) -> Collection[tuple[str, str]]:
        """Return the requester and the origin of each pending call, each pair once."""

    async def asked_by(self, requester: str, origin: str) -> Sequence[Call]:
        """Return the pending calls that this requester asked for in one conversation, oldest first."""

    async def same_open(self, digest: str, agent: str) -> Call | None:
        """Return the oldest pending call with this digest from this agent, or None."""

    async def due(self, limit: int) -> Sequence[Call]:
        """Return the calls whose `due_at` has passed by the store's clock, the most overdue first."""

    async def next_due(self) -> datetime | None:
        """Return the earliest `due_at` of all calls, or None if nothing is due."""

    async def leased(self, owner: str, limit: int = 1000) -> Sequence[Call]:
        """Return the executing calls whose claimant's name begins with `owner`, oldest first."""

    async def unfinished(self, limit: int = 1000) -> Sequence[Call]:
        """Return the calls that have a `due_at`, oldest first. The clock will end something about each."""

    async def prompt(self, ref: str, principal: str, kind: PromptKind) -> Prompt | None:
        """Return the latest prompt of this kind for this person and call.

        Return None if it is missing or its MAC is wrong.
        """

    async def history(self, ref: str) -> Sequence[Recorded]:
        """Return the record of one call, oldest line first. For ref '' return the service's own record."""

    async def lines_after(self, place: int, limit: int) -> Sequence[tuple[int, Recorded]]:
        """Return the lines after a place in the whole record, oldest first, each with its place."""

    async def last_line(self) -> int:
        """Return the place of the newest line of the whole record, or 0 for an empty record."""


class Outbox(Protocol):
    """Messages to chat platforms that are still to be sent, and the cards that were sent."""

    async def sendings(
        self, *, lease_s: float, limit: int = 20, busy: Collection[str] = (), calm: Collection[str] = ()
    ) -> Sequence[Sending]:
        """Lease the next outbox row of each route that isn't `busy`, if that row may go out now.

        The rows of one call and route go out in order, and several edits of one card become one edit. A notice needs no
        card on its route. A refresh is an edit of a pending call's card. Cards, notices and outcomes go out before
        refreshes, and a route in `calm` gets no refreshes.
        """

    async def sent(self, sending: Sending, message: str | None) -> None:
        """Record that the platform took the message, under the id `message`.

        If `adopt` has recorded another message as this card meanwhile, that other message stays the card.
        """

    async def unsent(self, sending: Sending, error: str, *, retry_s: float | None) -> None:
        """Record that the message didn't go out. Try it again after `retry_s` seconds, or never if that is None."""

    async def hasten(self, platform: str) -> None:
        """Make the rows that `unsent` put off go out at once, on all routes of a platform."""

    async def adopt(self, ref: str, route: str, message: str) -> None:
        """Record that this message on this route is the card of the call."""

    async def by_message(self, message: str) -> tuple[str, str] | None:
        """Return the ref and the route of the card with this message id.

        Return None for no card, or for a card with a wrong MAC.
        """

    async def cards(self, ref: str) -> Mapping[str, str | None]:
        """Return route -> message id for each route that has, or will get, the card of a call."""


class Inbox(Protocol):
    """The raw events from chat platforms that aren't handled yet."""

    async def receive(self, source: str, event: str, order: str, body: bytes) -> bool:
        """Store a raw event. Return False if it was stored already."""

    async def incoming(self, limit: int = 100) -> Sequence[Incoming]:
        """Return the oldest event of each conversation that is neither handled nor set aside.

        An event whose MAC is wrong has `intact` False.
        """

    async def newest(self, source: str) -> Incoming | None:
        """Return the latest event of a source, handled or not, or None before the first event."""

    async def stumble(self, source: str, event: str, error: str, *, aside_after: int) -> bool | None:
        """Count a failure to handle the event. Return whether this failure set the event aside.

        Return None if the event is done or was set aside before. Such an event isn't tried again, and the failure isn't
        counted.
        """


class Conversations(Protocol):
    """Facts about conversations: their moves, our latest message in each, and the call that a message is about."""

    async def moves(self) -> Mapping[str, str]:
        """Return old name -> new name, for each conversation that a platform moved."""

    async def move(self, old: str, new: str) -> None:
        """Record that a platform moved a conversation, and queue the cards of its pending calls again."""

    async def said(self) -> Mapping[str, tuple[str, str | None]]:
        """Return conversation -> (our latest message there, the ref that the message is about or None)."""

    async def say(self, place: str, message: str | None, ref: str | None) -> None:
        """Store our latest message in a conversation, and the ref that it is about (None if that isn't known).

        With `message` None, forget the latest message, because it isn't known.
        """

    async def bind(self, bound: Bound) -> None:
        """Store the call of one of Sayso's messages. The first binding of a message stays."""

    async def bound(self, message: str) -> Bound | None:
        """Return the stored binding of our message to its call, or None. A card has no binding."""


class Turns(Protocol):
    """Stored turns of agents. Another process can continue a stored turn."""

    async def begin_turn(self, turn: KeptTurn) -> bool:
        """Store a new turn. If a turn with that id is stored already, change nothing and return False.

        Of the finished turns in that conversation, only the newest is kept.
        """

    async def keep_turn(self, turn: KeptTurn) -> None:
        """Store the new state of a turn, and whether it is done."""

    async def open_turns(self) -> Sequence[KeptTurn]:
        """Return the turns that aren't done, the oldest first."""

    async def last_turn(self, place: str) -> KeptTurn | None:
        """Return the newest finished turn in a conversation, or None."""


class Credentials(Protocol):
    """Bearer tokens. A row with a wrong MAC is never returned, and is reported in the log."""

    async def credentials(self) -> Sequence[Credential]:
        """Return all tokens, including revoked tokens."""

    async def keep_credential(self, credential: Credential) -> bool:
        """Store a new token and its line of the record. Return False if its name was used before."""

    async def revoke_credential(self, credential: Credential, by: str) -> Credential:
        """Revoke a token, add a line about that to the record, and return the revoked token."""

    async def used_credential(self, name: str, at: datetime) -> None:
        """Store the time at which a token was last used."""


class CallsAndCards(Calls, Outbox, Protocol):
    """The part of the store for posting cards, and for ending calls whose cards nobody saw."""


class CallsAndEvents(Calls, Inbox, Protocol):
    """The part of the store for handling events."""


class Store(Calls, Outbox, Inbox, Conversations, Credentials, Turns, Protocol):
    """The whole store. Every write is durable before its method returns.

    Any method raises `hitl.errors.Unavailable` if the store can't be read or written. In that case nothing was changed.
    Events, cards, prompts, turns, bindings and lines of the record carry MACs by `keys`. A card, a prompt or a turn
    with a wrong MAC is never returned. An event with a wrong MAC is returned with `intact` False. The readers of
    bindings and of the record check the MACs themselves.
    """


class PlatformError(Exception):
    """A chat platform refused a message, or failed.

    `passing` says whether another attempt may help, and `retry_s` after how many seconds. `lost` says that no message
    at all can be sent to that place, because the place or our access to it is gone. `lost` is False if one person alone
    caused that, for example by blocking the bot. If it were True, that person could make `fallback` run a call unasked.
    `remedy` is the key of the sentence that names the remedy, or '' if no remedy is known.
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
    """The platform's rate limits allow no edit before `retry_s` seconds are over. Nothing was sent."""

    def __init__(self, seconds: float) -> None:
        super().__init__("paced", passing=True, retry_s=seconds)
        self.seconds = seconds


class Chat(Protocol):
    """The messages about a call that a chat platform can send. Each method raises PlatformError.

    A message is named by its route and the id that the platform gave it. The adapter renders each message from the
    call alone.
    """

    async def post(self, route: str, call: Call) -> str:
        """Post the card, and return the id of the message."""

    async def update(self, route: str, message: str, call: Call) -> None:
        """Edit the card so that it shows the call's current state."""

    async def spare(self, route: str, message: str, call: Call) -> None:
        """Edit a second copy of a card. The copy then says that the other copy counts or, after the call's end, shows
        the outcome.

        A copy that can't be edited stays unchanged.
        """

    async def notify(self, route: str, call: Call) -> None:
        """Send a notice about the end of the call to the conversation that asked for the call."""


@dataclass(frozen=True, slots=True)
class Line:
    """One message in a conversation with an agent. `by` is the principal who said it, or None for the agent."""

    by: str | None
    text: str


class Turn(Protocol):
    """One turn of an agent: a person's message, and the calls that the agent makes for it."""

    @property
    def text(self) -> str:
        """The person's message to the agent."""

    @property
    def on_behalf_of(self) -> str:
        """The principal who sent the message, and for whom the agent acts."""

    @property
    def history(self) -> Sequence[Line]:
        """The earlier messages and actions in that conversation, the oldest first."""

    async def call(self, tools: str, tool: str, args: Mapping[str, object]) -> Call:
        """Make a call, and return it with its output once it is over: run, denied, or not approved.

        This may take as long as people take to answer. Raises hitl.errors.SaysoError if the call can't be asked for.
        """


class Agent(Protocol):
    """An agent that turns people's messages into tool calls. It decides nothing."""

    @property
    def name(self) -> str:
        """The agent's name on cards and in the record."""

    def help(self, wording: Wording) -> str:
        """Return a text for people that describes the messages which the agent understands, in their language."""

    def understands(self, text: str) -> bool:
        """Return whether a text is meant for the agent. Used if the text may also be an unclear answer."""

    async def take(self, turn: Turn) -> str:
        """Take one turn. Return its last text, or '' to say nothing. The turn may be cancelled at any await."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool that an agent may use."""

    tools: str
    tool: str
    description: str
    #: The JSON Schema of the tool's arguments.
    schema: Mapping[str, object]


@runtime_checkable
class Offering(Protocol):
    """An executor that can list its tools for agents."""

    async def offers(self, tools: str) -> Sequence[Offer]:
        """Return the tools of a group that may run. Raises hitl.errors.SaysoError while they can't be known."""


class StoredTurn(Protocol):
    """A turn that is stored, so that another process can continue it after this process dies."""

    @property
    def text(self) -> str:
        """The person's message to the agent."""

    @property
    def on_behalf_of(self) -> str:
        """The principal who sent the message, and for whom the agent acts."""

    @property
    def asked_by(self) -> str:
        """The name and principal of that person, for the agent. A name is no identity."""

    @property
    def said(self) -> Sequence[tuple[str, str]]:
        """(name and principal, text) of each message in the conversation since the last turn, the oldest first.

        It is talk between people, and no instruction to the agent.
        """

    @property
    def wording(self) -> Wording:
        """The language of the conversation."""

    @property
    def state(self) -> bytes:
        """The state that the agent last stored for this turn, b'' at its beginning."""

    @property
    def before(self) -> bytes:
        """The last state of the conversation's previous turn, b'' if there was no turn before."""

    async def keep(self, state: bytes) -> None:
        """Store the state from which the agent can continue."""

    async def say(self, text: str) -> None:
        """Send a message that is marked as the agent's words. Raises PlatformError."""

    def working(self) -> AbstractAsyncContextManager[None]:
        """Show people, while the context is open, that the agent is making an answer."""

    async def call(self, tools: str, tool: str, args: Mapping[str, object], *, name: str) -> Call:
        """Make a call, and return it once it is over. After a rejection, first wait while a reason may still follow.

        `name` identifies the call within its turn: if the turn made a call of that name before, this returns that call
        and makes none. Raises hitl.errors.SaysoError if the call can't be asked for.
        """


@dataclass(frozen=True, slots=True)
class Explaining:
    """A person's question about a pending call of an agent."""

    #: The person's question, and the principal who asked it.
    text: str
    who: str
    #: The masked text that people see about the call.
    card: str
    #: The agent's stored state of the turn to which the call belongs, b'' if that turn is over.
    state: bytes
    #: The language of the conversation.
    wording: Wording


class ResumingAgent(Protocol):
    """An agent whose turns are stored. It decides nothing."""

    @property
    def name(self) -> str:
        """The agent's name on cards and in the record."""

    def help(self, wording: Wording) -> str:
        """Return a text for people that describes the messages which the agent understands, in their language."""

    async def take(self, turn: StoredTurn) -> str:
        """Take a turn from its stored state to its end. Return the last text to say.

        The turn may be cancelled at any await.
        """

    async def explain(self, asked: Explaining) -> str:
        """Answer a person's question about a pending call, without doing anything. Return the answer as text.

        The answering may be cancelled at any await.
        """

    async def close(self) -> None:
        """Close the connections, after the last turn."""


class Clock(Protocol):
    """The only source of times."""

    def now(self) -> datetime:
        """Return the time as an aware datetime in UTC."""

    def go_on_from(self, newest: datetime) -> None:
        """Show no time before `newest`, the newest recorded time, from now on."""


class Beside(Protocol):
    """Runs long computations outside the event loop, so that nothing else waits for them."""

    async def __call__(self, work: Callable[[], T], /) -> T:
        """Call `work` and return its result. Raises the errors that `work` raises."""


class Executor(Protocol):
    """Tools that this service runs itself."""

    def info(self, tools: str, tool: str) -> ToolInfo | None:
        """Return the facts about the tool, or None if it isn't on the list of tools that may run."""

    async def prepare(self, ask: Ask) -> Preparation:
        """Before people are asked, find out what a call does, and which preconditions must hold when it runs.

        Raises hitl.errors.InvalidConfirmation if the arguments can't be used.
        """

    async def still_holds(self, call: Call) -> str | None:
        """Return a sentence about a change since the call was prepared, or None if all preconditions still hold."""

    async def run(self, lease: Lease, *, limit_s: float) -> Ran:
        """Run the stored call within the time limit, and report how the run ended. Errors of the tool never raise."""


class Policy(Protocol):
    """A document of rules that judges calls."""

    @property
    def digest(self) -> str:
        """The SHA-256 over the document, as 64 hex digits."""

    def judge(self, call: PolicyCall) -> Verdict:
        """Return the verdict on a call: a denial with the reason `policy_error` if the rules can't be evaluated."""


class PolicySource(Protocol):
    """The source of the policy. If the policy is broken, it raises an error and never returns a weaker policy."""

    def current(self) -> Policy:
        """Return the policy in force. Raises hitl.errors.PolicyUnusable if it can't be used."""


@dataclass(frozen=True, slots=True)
class Repository:
    """The repository that git would use in a folder."""

    #: The absolute path of the folder that holds `.git`, or of the bare repository itself.
    root: str
    #: The first finding that could make a read-only git command run a program or read outside the repository: a
    #: configuration key, or a short name of a file or fault. It is None if nothing was found.
    armed: str | None
    #: Whether an address in the configuration holds a user name or a password.
    secret: bool = False


@dataclass(frozen=True, slots=True)
class Tree:
    """The files below a folder, or one single file."""

    #: The absolute path of the folder, with all links resolved. For a single file, this is the folder that holds the
    #: file.
    root: str
    #: Everything below `root` that isn't a folder, including links, as paths relative to `root`, in no order.
    files: Sequence[str]
    #: Whether the list is complete. It isn't if a folder could not be read, or if there were more entries than the
    #: caller's limit.
    complete: bool
    #: Whether the given path is a file. In that case `files` holds only its name.
    single: bool = False
    #: The symbolic links among `files`.
    links: Sequence[str] = ()


class Paths(Protocol):
    """The file system, as the path conditions of a policy see it. Each method looks at the current files."""

    def resolve(self, path: str, cwd: str) -> str | None:
        """Return the absolute path with links and dots resolved, or None if that can't be found out."""

    def case_insensitive(self, path: str) -> bool:
        """Return whether the file system at this path treats `A` and `a` as the same name."""

    def repository(self, path: str) -> Repository | None:
        """Return the repository that git would use in this folder, or None if git would find none up to `/`.

        Never runs git and never raises. A repository that can't be read counts as armed.
        """

    def tracked(self, path: str, *, most: int) -> Sequence[str] | None:
        """Return the paths that the repository of this folder tracks, relative to the repository's root.

        Return None if they can't be found out, or if there are more than `most`. Without a repository nothing is
        tracked.
        """

    def unhidden(self, path: str, files: Sequence[str]) -> Sequence[str] | None:
        """Return the patterns after ``!`` in the ignore files that a search below this folder obeys (gitignore(5)).

        A search also reads a hidden file if such a pattern matches the file's name. `files` holds all files below the
        folder, relative to it; the ignore files of the folders above are read too. Return None if an ignore file can't
        be read.
        """

    def tree(self, path: str, *, most: int, deep: bool = True) -> Tree | None:
        """List the files below a folder, visiting at most `most` entries. Return None if nothing is at this path.

        Links are listed and not followed, except `path` itself. For a single file, the file is the only entry. Without
        `deep`, only the entries of the folder itself are listed, including its folders. Never raises.
        """


class Resolver(Protocol):
    """Looks up host names for the host conditions of a policy. Each call looks a name up again."""

    def resolve(self, host: str) -> Sequence[str] | None:
        """Return every address of a host name as text, or None if they can't be found out."""


class Observer(Protocol):
    """A part of this process that is notified of every change of a call, after the change is durable."""

    def changed(self, call: Call) -> None:
        """Handle the changed call. This must not block and must not raise."""


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
    "Explaining",
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
