"""The protocols through which `hitl` reaches the outside. Adapters implement them; `hitl.testing` has fakes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime

    from hitl.call import (
        Ask,
        Bound,
        Call,
        Entry,
        Event,
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
    from hitl.history import RecordQuery
    from hitl.people.names import Names
    from hitl.proof.integrity import Examined
    from hitl.proof.keyring import Keyring


class Expect(Struct, frozen=True):
    """The condition of a conditional write: the stored call still has this version, and its `due_at` passes a test.

    If `overdue` is False, the test is `due_at > now`. If it is True, the test is `due_at <= now`. If it is None,
    `due_at` isn't tested. `now` is the one time that the store reads from its clock for the unit.
    """

    ref: str
    version: int
    overdue: bool | None = None


class Change(Struct, frozen=True):
    """The rows that a `Unit` writes. `call` is the new row of the call, or None if the unit only adds other rows.

    `handled` is the source and id of the inbox event that the unit marks as handled.

    If `call` has `erased_at`, the unit also overwrites the fields that otherwise never change, and deletes the salt of
    the arguments' hash. Such a unit writes nothing while a message about the call is unsent.
    """

    call: Call | None = None
    votes: Sequence[Vote] = ()
    entries: Sequence[Entry] = ()
    posts: Sequence[Post] = ()
    prompts: Sequence[Prompt] = ()
    handled: tuple[str, str] | None = None


class Unit(Struct, frozen=True):
    """One write that happens as a whole or not at all.

    With `expect`, the unit changes a stored call if the condition holds. Without `expect`, the unit adds rows, perhaps
    with a new call. The store calls `seal` once, inside the write, with the time of the write. The same time goes into
    the condition, the recorded times and the MACs. `seal` must have no side effects.
    """

    expect: Expect | None
    seal: Callable[[datetime], Change]
    #: Whether the unit stores a new call. A store may write a unit without a new call before units that came earlier.
    #: It stores new calls in the order in which `commit` was called.
    new: bool = False


def adding(change: Change) -> Unit:
    """Return a unit that writes this change without a condition: it adds rows and changes no call."""
    return Unit(None, lambda _: change)


T = TypeVar("T")


class ShortTakenError(Exception):
    """The store already holds a call with the short ref of the new call."""


class KeyTakenError(Exception):
    """The requester has already used the idempotency key of the new call for another call."""


class Calls(Protocol):
    """The calls in a store, with their votes, prompts and lines of the audit record."""

    @property
    def keys(self) -> Keyring:
        """The keys that make and check the MACs of stored rows."""

    @property
    def clock(self) -> Clock:
        """The store's clock. It gives the time of each write (`Unit`), and never returns a time before a stored time.

        Use it for all times that are compared with stored times.
        """

    async def commit(self, unit: Unit) -> Change | None:
        """Write the unit and return its change. Return None, and write nothing, if its condition didn't hold.

        Raises ShortTakenError or KeyTakenError if another call has the short ref or the idempotency key of a new call.
        Raises hitl.errors.Tampered for a change that decides, claims or ends a call a second time, according to the
        call's hash chain (`hitl.proof.chain.contradicted`). In that case somebody replaced the row with an older copy.
        """

    async def get(self, ref: str) -> Call | None:
        """Return the call with this ref, or None."""

    async def by_short(self, short: str) -> Call | None:
        """Return the call with this short ref, or None."""

    async def by_key(self, requester: str, key: str) -> Call | None:
        """Return the call that the requester made with this idempotency key, or None."""

    async def page(self, before: str | None, limit: int, *, pending: bool) -> Sequence[Call]:
        """Return at most `limit` calls, newest first. With `before` (a ref), return only calls older than that call.

        With `pending`, return only pending calls.
        """

    async def votes(self, ref: str) -> Sequence[Vote]:
        """Return the votes on a call, oldest first."""

    async def pending(self, *, origin: str | None = None, limit: int = 1000) -> Sequence[Call]:
        """Return pending calls, oldest first. With `origin`, return only calls that were asked for in `origin`."""

    async def standing(self, place: str, thread: str | None = None, *, limit: int = 1000) -> Sequence[Call]:
        """Return the pending calls that belong to a conversation, oldest first.

        These are the calls that were asked for in `place`, the calls whose card goes to `place`, and the call whose
        card is the message `thread`.
        """

    async def count_open(self, requester: str, limit: int, agent: str | None = None) -> int:
        """Return the number of the requester's pending calls, but at most `limit`.

        With `agent`, count only that agent's calls.
        """

    async def pending_refs(self) -> Sequence[str]:
        """Return the refs of all pending calls, oldest first."""

    async def same_open(self, digest: str, agent: str) -> Call | None:
        """Return the oldest pending call with this digest from this agent, or None."""

    async def due(self, limit: int) -> Sequence[Call]:
        """Return the calls whose `due_at` has passed by the store's clock, the most overdue first."""

    async def next_due(self) -> datetime | None:
        """Return the earliest `due_at` of all calls, or None if nothing is due."""

    async def leased(self, owner: str, limit: int = 1000) -> Sequence[Call]:
        """Return the executing calls whose claim's owner begins with `owner` (such as `service:`), oldest first."""

    async def unfinished(self, limit: int = 1000) -> Sequence[Call]:
        """Return the calls that have a `due_at` (see `Call`), oldest first."""

    async def prompt(self, ref: str, principal: str, kind: PromptKind) -> Prompt | None:
        """Return the latest prompt of this kind for this person and call.

        Return None if there is no prompt, or if its MAC is wrong.
        """

    async def history(self, ref: str) -> Sequence[Recorded]:
        """Return the audit record of one call, oldest line first.

        For the ref '', return the lines about the service itself.
        """


class Changes(Protocol):
    """The feed of changes.

    A listener hears of each change, and a reader continues from a position in the audit record.
    """

    def follow(self, hear: Callable[[Change], None]) -> Callable[[], None]:
        """Call `hear` with each change that `commit` writes from now on. Return a function that ends this.

        `hear` is called when the change is durable, and before `commit` returns. The changes come in the order in which
        they were written, also if the caller of `commit` was cancelled. `hear` must not block. Its errors are only
        logged.

        If several processes write to one store, each process also hears of the changes of the others. Such a change has
        only `call`, so that each line of the audit record is counted by one process.
        """

    async def lines_after(self, place: int, limit: int) -> Sequence[tuple[int, Recorded]]:
        """Return at most `limit` lines of the whole audit record, each with its position, oldest first.

        The lines are those after the position `place`. Positions count the lines of all calls, from 1.
        """

    async def last_line(self) -> int:
        """Return the position of the newest line of the whole audit record, or 0 for an empty record."""


class Outbox(Protocol):
    """Messages to chat platforms that are still to be sent, and the cards that were sent."""

    async def sendings(
        self, *, lease_s: float, limit: int = 20, busy: Collection[str] = (), calm: Collection[str] = ()
    ) -> Sequence[Sending]:
        """Lease the next outbox row of each route that isn't `busy`, if that row may go out now.

        The rows of one call and route go out in order, and several edits of one card become one edit. An edit goes out
        only after its card was sent; a notice doesn't need a card. A refresh is an edit of a pending call's card.
        Cards, notices and the edits that show outcomes go out before refreshes, and a route in `calm` gets no
        refreshes.
        """

    async def sent(self, sending: Sending, message: str | None) -> None:
        """Record that the platform accepted the message, and gave it the id `message`.

        If `adopt` recorded another message as the call's card after this row was leased, that message stays the card.
        """

    async def unsent(self, sending: Sending, error: str, *, retry_s: float | None) -> None:
        """Record that the message didn't go out. Try it again after `retry_s` seconds. None means never."""

    async def hasten(self, platform: str) -> None:
        """Clear the delay that `unsent` set, for all rows of a platform, so that they go out immediately."""

    async def adopt(self, ref: str, route: str, message: str) -> None:
        """Record that this message on this route is the card of the call.

        If a card of the call is still queued for the route, it isn't sent.
        """

    async def by_message(self, message: str) -> tuple[str, str] | None:
        """Return the ref and the route of the card with this message id.

        Return None if no card has this id, or if the card's MAC is wrong.
        """

    async def cards(self, ref: str) -> Mapping[str, str | None]:
        """Return route -> message id of the card, for each route that has or will get the card.

        The id is None if unknown.
        """


class Inbox(Protocol):
    """The raw events from chat platforms that aren't handled yet."""

    async def receive(self, source: str, event: str, order: str, body: bytes) -> bool:
        """Store a raw event, and return True. If the event was stored before, change nothing and return False."""

    async def incoming(self, limit: int = 100) -> Sequence[Incoming]:
        """Return the oldest open event of each lane, such as a conversation (`Incoming.order`). An open event is
        neither handled nor set aside (see `stumble`).

        An event whose MAC is wrong has `intact` False.
        """

    async def newest(self, source: str) -> Incoming | None:
        """Return the latest event of a source, handled or not, or None if the source has sent no event yet."""

    async def stumble(self, source: str, event: str, error: str, *, aside_after: int) -> bool | None:
        """Count a failure to handle the event. Return whether this failure set the event aside.

        After `aside_after` failures an event is set aside: it isn't tried again. Return None, without counting, if the
        event is handled or was set aside before.
        """


class Conversations(Protocol):
    """Data about conversations: their new names after a move, Sayso's latest message in each, and links from messages.

    Such a link connects a message of Sayso, other than a card, with the call that the message is about.
    """

    async def moves(self) -> Mapping[str, str]:
        """Return old name -> new name, for each conversation that a platform moved."""

    async def move(self, old: str, new: str) -> None:
        """Record that a platform moved a conversation, and queue the cards of its pending calls again."""

    async def said(self) -> Mapping[str, tuple[str, str | None]]:
        """Return conversation -> (id of Sayso's latest message in it, ref of the call that it is about or None)."""

    async def say(self, place: str, message: str | None, ref: str | None) -> None:
        """Store Sayso's latest message in a conversation, and the ref that it is about (None if that isn't known).

        With `message` None, forget the latest message, because its id isn't known.
        """

    async def bind(self, bound: Bound) -> None:
        """Store the link from a message of Sayso to its call. If the message has a link already, change nothing."""

    async def bound(self, message: str) -> Bound | None:
        """Return the stored link from a message of Sayso to its call, or None.

        Cards have no such link (see `by_message`).
        """


class Turns(Protocol):
    """Stored turns of agents. If this process dies, another process can continue a stored turn."""

    async def begin_turn(self, turn: KeptTurn) -> bool:
        """Store a new turn, and return True. If a turn with that id is stored already, change nothing and return False.

        Of the finished turns in a conversation, the store keeps only the newest.
        """

    async def keep_turn(self, turn: KeptTurn) -> None:
        """Store the new state of a turn, and whether it is done."""

    async def open_turns(self) -> Sequence[KeptTurn]:
        """Return the turns that aren't done, oldest first."""

    async def last_turn(self, place: str) -> KeptTurn | None:
        """Return the newest finished turn in a conversation, or None."""


class Credentials(Protocol):
    """Bearer tokens. A row with a wrong MAC is never returned, but a log line reports it."""

    async def credentials(self) -> Sequence[Credential]:
        """Return all tokens, including revoked tokens."""

    async def keep_credential(self, credential: Credential) -> bool:
        """Store a new token and a line of the audit record.

        Return False, and store nothing, if its name was used before.
        """

    async def revoke_credential(self, credential: Credential, by: str) -> Credential:
        """Revoke a token, add a line about that to the audit record, and return the revoked token."""

    async def used_credential(self, name: str, at: datetime) -> None:
        """Store the time at which a token was last used."""


class Survey(Protocol):
    """Questions about one state of everything that is stored, while a service may run. A survey changes nothing.

    A survey reads values as they are stored, because somebody may have changed them by hand. Every method raises
    `hitl.errors.Unavailable` if the stored data can't be read. The methods from `lines` on also raise it if the data
    doesn't have the newest schema.
    """

    @property
    def schema(self) -> str | None:
        """The revision of the stored schema, or None if Sayso didn't make it."""

    @property
    def schemas(self) -> Sequence[str]:
        """The revisions of the schema that this version of Sayso knows, the newest last."""

    def open_calls(self) -> Mapping[str, int]:
        """Count the calls that haven't ended, by their state."""

    def oldest_pending(self) -> datetime | None:
        """Return the time at which the oldest pending call was made, or None if no call is pending."""

    def most_overdue(self) -> datetime | None:
        """Return the earliest `due_at` of all calls, even if that time has passed.

        Return None if no call has a `due_at`.
        """

    def unsent(self) -> tuple[int, datetime | None]:
        """Return the number of unsent messages, and the time since which people wait for the oldest message, or None.

        People wait for a new card since the call was made. They wait for any other message since the call was decided
        or has ended. The number includes refreshes of pending calls' cards. The time doesn't, because nobody waits for
        a refresh.
        """

    def set_aside(self) -> int:
        """Count the events that were set aside because they could not be handled."""

    def credentials(self) -> Sequence[Credential]:
        """Return all bearer tokens, including those that don't work any more.

        Tokens that can't be read are left out, and MACs aren't checked.
        """

    def newest_position(self) -> int:
        """Return the position of the newest line of the audit record, or 0 for an empty record."""

    def latest_lines(self, limit: int) -> Sequence[tuple[datetime, str]]:
        """Return the time and the data (JSON) of the latest lines of the audit record, the latest first.

        Lines without a time are left out.
        """

    def latest(self, event: Event, after: int) -> Mapping[str, Any]:
        """Return the data of the latest line about the service itself (with the ref '') that has this event, or {}.

        Only lines after the position `after` of the audit record are searched.
        """

    def lines(
        self, keys: Keyring, asked: RecordQuery, *, newest_first: bool = False, limit: int | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield the lines of the audit record that match `asked`, at most `limit`, each as `hitl.history.told`.

        The lines come in the order of the audit record, or in the opposite order with `newest_first`.
        """

    def requests(
        self, keys: Keyring, asked: RecordQuery, *, limit: int | None = None, names: Names | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield the calls that match `asked`, at most `limit`, the newest first.

        Each is a dictionary: the call's view (`hitl.cards.data.view`), and under `flaws` the codes of its changed
        parts. `names` has the names of people for the sentences of the views.

        After the matching calls come the calls that can't be read because somebody changed them. Nobody knows whether
        these calls match, so the view of each has only its ref, short ref and flaws.
        """

    def statistics(self, since: datetime | None, until: datetime | None) -> dict[str, Any]:
        """Return the statistics of the calls in a period, from `hitl.history.counted`.

        `unreadable` lists the calls that can't be read because somebody changed them. The numbers don't include these
        calls.
        """

    def sound_calls(self, keys: Keyring, since: datetime | None) -> Sequence[Call]:
        """Return the calls made at or after `since`, except calls with a wrong MAC or erased arguments."""

    def open_flaws(self, keys: Keyring, limit: int) -> tuple[Sequence[str], int | None]:
        """Verify the oldest `limit` calls that haven't ended, and the service's own chain in the audit record.

        Return two values: the short refs of the calls that were changed, and the number of the first line of that chain
        that was changed or is missing (None if the chain is sound).
        """

    def examine(self, keys: Keyring, marked: tuple[int, str] | None) -> Examined:
        """Verify every call, vote, line and other row that has a MAC.

        `marked` is the position and the hash of a line that the audit record had before the survey was opened, or None.
        """


class CallsAndCards(Calls, Outbox, Protocol):
    """The methods of the store that are needed to send cards, and to end calls whose cards nobody saw."""


class CallsAndEvents(Calls, Inbox, Protocol):
    """The methods of the store that are needed to handle chat events."""


class Store(Calls, Changes, Outbox, Inbox, Conversations, Credentials, Turns, Protocol):
    """The whole store. Every write is durable before its method returns.

    Any method raises `hitl.errors.Unavailable` if the store can't be read or written. In that case nothing was changed.
    Events, cards, prompts, turns, links from messages to calls, and lines of the audit record have MACs by `keys`. A
    card, a prompt or a turn with a wrong MAC is never returned. An event with a wrong MAC is returned with `intact`
    False. The callers that read links and lines check their MACs themselves.
    """


class PlatformError(Exception):
    """A chat platform refused a message, or failed.

    - `passing` says whether another attempt may help.
    - `retry_s` says after how many seconds another attempt may help.
    - `lost` says that no message can be sent to that conversation any more, because it is gone or Sayso lost access to
      it. It is False if one person alone caused the loss, for example by blocking the bot: with the setting `fallback`,
      a call may run unasked if all its routes are lost, and one person alone must not be able to cause such a run.
    - `remedy` is the key of the sentence that names the remedy, or '' if no remedy is known.
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
    """The platform's rate limits allow no edit before `retry_s` seconds have passed. Nothing was sent."""

    def __init__(self, seconds: float) -> None:
        super().__init__("paced", passing=True, retry_s=seconds)
        self.seconds = seconds


class Chat(Protocol):
    """Sends messages about calls to one chat platform.

    Each method raises PlatformError if the platform refuses the message or fails. A route and an id from the platform
    identify a message. The adapter renders each message from the call alone.
    """

    async def post(self, route: str, call: Call) -> str:
        """Post the card, and return the id of the message."""

    async def update(self, route: str, message: str, call: Call) -> None:
        """Edit the card so that it shows the call's current state."""

    async def spare(self, route: str, message: str, call: Call) -> None:
        """Edit a second copy of a card, so that it says that another message is the card.

        After the call's end, the copy shows the outcome instead. A copy that can't be edited stays unchanged.
        """

    async def notify(self, route: str, call: Call) -> None:
        """Send a notice about the end of the call to the conversation that asked for the call."""


class Line(Struct, frozen=True):
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
        """The earlier messages and actions in the conversation of the turn, oldest first."""

    async def call(self, tools: str, tool: str, args: Mapping[str, object]) -> Call:
        """Make a call, wait for its end, and return it with its output.

        The returned call may have run, or been denied, or not been approved. The wait may last until the call's
        deadline, and then until the end of the run. Raises hitl.errors.SaysoError if the call can't be asked for.
        """


class Agent(Protocol):
    """An agent that turns people's messages into tool calls. It can't decide calls."""

    @property
    def name(self) -> str:
        """The agent's name on cards and in the audit record."""

    def help(self, wording: Wording) -> str:
        """Return a text for people, in their language, about the messages that the agent understands."""

    def understands(self, text: str) -> bool:
        """Return whether a text is a command to the agent.

        The service asks this about a text that decides nothing. If the text is no such command, the service answers it
        as an unclear reply to a card.
        """

    async def take(self, turn: Turn) -> str:
        """Handle one message of a person. Return the agent's last words, or '' to say nothing.

        The turn may be cancelled at any await.
        """


class Offer(Struct, frozen=True):
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
        """Return those tools of the group `tools` that may run.

        Raises hitl.errors.SaysoError while the group's list of tools can't be read.
        """


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
        """The name and principal of that person, as a text for the agent. A name proves no identity."""

    @property
    def said(self) -> Sequence[tuple[str, str]]:
        """(name and principal, text) of each message in the conversation since the last turn, oldest first.

        These messages are talk between people. The agent must not take them as instructions.
        """

    @property
    def wording(self) -> Wording:
        """The language of the conversation."""

    @property
    def state(self) -> bytes:
        """The state that the agent last stored for this turn. It is b'' at the beginning of the turn."""

    @property
    def before(self) -> bytes:
        """The last state of the previous turn in this conversation, or b'' if there was no previous turn."""

    async def keep(self, state: bytes) -> None:
        """Store the state from which the agent can continue."""

    async def say(self, text: str) -> None:
        """Send a message that is marked as the agent's words. Raises PlatformError."""

    def working(self) -> AbstractAsyncContextManager[None]:
        """Show people that the agent is working on an answer, until the `with` block ends."""

    async def call(self, tools: str, tool: str, args: Mapping[str, object], *, name: str) -> Call:
        """Make a call, and return it when it has ended.

        After a rejection, first wait for a reason if one may still follow. `name` identifies the call within its turn.
        If the turn made a call of that name before, the method returns that call and makes no other. Raises
        hitl.errors.SaysoError if the call can't be asked for.
        """


class Explaining(Struct, frozen=True):
    """A person's question about a pending call of an agent."""

    #: The person's question.
    text: str
    #: The principal who asked the question.
    who: str
    #: The text of the card, with secrets masked.
    card: str
    #: The state that the agent stored for the turn to which the call belongs, or b'' if that turn has ended.
    state: bytes
    #: The language of the conversation.
    wording: Wording


class ResumingAgent(Protocol):
    """An agent whose turns are stored, so that another process can continue them. It can't decide calls."""

    @property
    def name(self) -> str:
        """The agent's name on cards and in the audit record."""

    def help(self, wording: Wording) -> str:
        """Return a text for people, in their language, about the messages that the agent understands."""

    async def take(self, turn: StoredTurn) -> str:
        """Work on a turn from its stored state to its end. Return the agent's last words in the turn.

        The turn may be cancelled at any await.
        """

    async def explain(self, asked: Explaining) -> str:
        """Return the agent's answer to a person's question about a pending call. The agent makes no calls for it.

        The work may be cancelled at any await.
        """

    async def close(self) -> None:
        """Close the agent's connections, after the last turn."""


class Clock(Protocol):
    """The only source of the current time."""

    def now(self) -> datetime:
        """Return the time as an aware datetime in UTC."""

    def go_on_from(self, newest: datetime) -> None:
        """Make `now` return no time before `newest`, the newest stored time."""


class Beside(Protocol):
    """Runs long computations outside the event loop, so that other work continues meanwhile."""

    async def __call__(self, work: Callable[[], T], /) -> T:
        """Run `work` outside the event loop, and return its result. Raises the errors that `work` raises."""


class Executor(Protocol):
    """Runs the tools that this service runs itself."""

    def info(self, tools: str, tool: str) -> ToolInfo | None:
        """Return the description of the tool, or None if it isn't on the list of tools that may run."""

    async def prepare(self, ask: Ask) -> Preparation:
        """Return what the call would do, and which preconditions must hold when it runs.

        People are asked only afterwards. Raises hitl.errors.InvalidConfirmation if the arguments can't be used.
        """

    async def still_holds(self, call: Call) -> str | None:
        """Return None if all preconditions of the call still hold.

        Otherwise return a sentence that names the change.
        """

    async def run(self, lease: Lease, *, limit_s: float) -> Ran:
        """Run the stored call within the time limit, and report how the run ended.

        If the tool fails, the report says so. The method doesn't raise the tool's errors.
        """


class Policy(Protocol):
    """A policy document, loaded, with the function that judges calls by its rules."""

    @property
    def digest(self) -> str:
        """The SHA-256 over the document, as 64 hex digits."""

    def judge(self, call: PolicyCall) -> Verdict:
        """Return the verdict on a call: a denial with the reason `policy_error` if the rules can't be evaluated."""


class PolicySource(Protocol):
    """The source of the policy. For a broken policy, it raises an error and never returns a weaker policy instead."""

    def current(self) -> Policy:
        """Return the policy that applies now. Raises hitl.errors.PolicyUnusable if there is no usable policy."""


class Repository(Struct, frozen=True):
    """The repository that git would use in a folder."""

    #: The absolute path of the folder that holds `.git`, or of the bare repository itself.
    root: str
    #: The reason why even a read-only git command in this repository could run a program or read outside of the
    #: repository: a configuration key, a file or a fault. It is the first reason that was found, or None.
    armed: str | None
    #: Whether a remote address in the git configuration holds a user name or a password.
    secret: bool = False


class Tree(Struct, frozen=True):
    """The files below a folder, or one single file."""

    #: The absolute path of the folder, with all links resolved. For a single file, this is the folder that holds the
    #: file.
    root: str
    #: Everything below `root` that isn't a folder, including links, as paths relative to `root`, in no order.
    files: Sequence[str]
    #: Whether the list is complete. It is incomplete if a folder couldn't be read, or if the caller's limit was
    #: reached.
    complete: bool
    #: Whether the given path is a file. In that case `files` holds only its name.
    single: bool = False
    #: The symbolic links among `files`.
    links: Sequence[str] = ()


class Paths(Protocol):
    """The file system, for the path conditions of a policy. Each method looks at the files as they are now."""

    def resolve(self, path: str, cwd: str) -> str | None:
        """Return the absolute path with links and dots resolved, or None if it can't be resolved."""

    def case_insensitive(self, path: str) -> bool:
        """Return whether the file system at this path treats `A` and `a` as the same name."""

    def repository(self, path: str) -> Repository | None:
        """Return the repository that git would use in this folder, or None if there is no repository up to `/`.

        Never runs git and never raises. If the repository can't be read, `Repository.armed` names the fault.
        """

    def tracked(self, path: str, *, most: int) -> Sequence[str] | None:
        """Return the paths of the files that git tracks in this folder's repository, relative to the repository's root.

        Return () without a repository. Return None if the paths can't be read, or if there are more than `most`.
        """

    def unhidden(self, path: str, files: Sequence[str]) -> Sequence[str] | None:
        """Return the patterns after ``!`` in the ignore files (gitignore(5)) that apply below this folder.

        A search program that obeys ignore files also reads hidden files whose names match such a pattern. `files` holds
        all files below the folder, relative to it. The ignore files of the folders above are read too. Return None if
        an ignore file can't be read.
        """

    def tree(self, path: str, *, most: int, deep: bool = True) -> Tree | None:
        """Return the files below a folder. Return None if nothing is at this path. Never raises.

        After `most` entries the method stops, and the result is incomplete (`Tree.complete`). Links are listed and not
        followed, except `path` itself. If `path` is a file, only that file is listed. Without `deep`, only the entries
        of the folder itself are listed, including its folders.
        """


class Resolver(Protocol):
    """Looks up host names for the host conditions of a policy. Results aren't cached."""

    def resolve(self, host: str) -> Sequence[str] | None:
        """Return every IP address of a host name as text, or None if the lookup failed."""


__all__ = [
    "Agent",
    "Beside",
    "Calls",
    "CallsAndCards",
    "CallsAndEvents",
    "Change",
    "Changes",
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
    "Survey",
    "Tree",
    "Turn",
    "Turns",
    "Unit",
    "adding",
]
