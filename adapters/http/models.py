"""The types in the OpenAPI document: answers and requests. A request with an unknown field is refused."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, WrapValidator, model_validator

from hitl.call import Action, Result, Risk, State, Status
from hitl.limits import LONGEST_TIMEOUT_S, SHORTEST_TIMEOUT_S
from hitl.question import FEWEST_OPTIONS, LONGEST, LONGEST_OPTION, MOST_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

#: The name of a tool, an agent, an origin or a route. Longer text belongs in the arguments or the note.
Name = Annotated[str, Field(min_length=1, max_length=256)]
Text = Annotated[str, Field(max_length=16_384)]
#: The SHA-256 (hex) of a secret that the claimant keeps.
SecretHash = Annotated[str, Field(pattern="^[0-9a-f]{64}$", examples=["0" * 64])]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
#: The largest number of calls in one batch.
MOST_IN_BATCH = 50
#: The largest number of calls in one page.
MOST_IN_PAGE = 200
#: The longest wait in one request, in seconds. Proxies commonly close a request after 60 seconds.
LONGEST_WAIT_S = 60


def _only_text(value: object) -> object:
    """Refuse a time that isn't text, because a number could mean seconds or milliseconds."""
    if not isinstance(value, str):
        raise ValueError("a time is text in the form of RFC 3339")  # noqa: TRY004 - pydantic expects a ValueError here
    return value


def _whole(value: object) -> object:
    """Return 30 (an int) for 30.0, because 30.0 is an integer in JSON Schema. Return any other value unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _as_written(args: Any, check: Callable[[Any], Any]) -> Any:
    """Validate the arguments of a tool with `check`, and return the arguments unchanged.

    We don't return pydantic's copy, because it would lose digits: 1250.00 would become 1250.0.
    """
    check(args)
    return args


#: The arguments of a tool. `adapters.http.written` keeps each number's digits as the caller wrote them.
Arguments = Annotated[dict[str, JsonValue], WrapValidator(_as_written)]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


# -- bodies of requests -------------------------------------------------------------------------------------------


class CallRequest(_Request):
    """A tool call that the caller will run itself once it is allowed or approved."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [
                {
                    "tools": "deploy",
                    "tool": "release",
                    "args": {"version": "1.4.2", "stage": "production"},
                    "agent": "release-bot",
                    "note": "All checks passed.",
                }
            ]
        },
    )

    tools: Name = Field(description="The group that the tool belongs to.")
    tool: Name
    args: Arguments = Field(
        default={},
        description="The arguments of the tool. An approval binds these values. Cards show the names in this order and "
        "the numbers with these digits. Send integers beyond 2^53 as text.",
    )
    cwd: Annotated[str, Field(max_length=4096)] | None = Field(default=None, description="The working folder.")
    agent: Annotated[str, Field(max_length=256)] = Field(
        default="", description="The agent's own name. The default is the name of the token."
    )
    session: Annotated[str, Field(max_length=256)] = ""
    origin: Name | None = Field(
        default=None,
        description="The conversation that asked. It must be bound to the token, or be a thread of a bound "
        "conversation.",
    )
    routes: list[Name] = Field(
        default=[], max_length=20, description="More routes for the card. Each must be bound to the token."
    )
    on_behalf_of: Name | None = Field(
        default=None, description="The person for whom the agent asks. It must be the owner of the token."
    )
    note: Text = Field(default="", description="The agent's own words. The card shows them as the agent's.")
    ask: bool = Field(default=False, strict=True, description="Ask a person even if the policy would allow the call.")
    timeout_s: (
        Annotated[int, Field(strict=True, ge=SHORTEST_TIMEOUT_S, le=LONGEST_TIMEOUT_S), BeforeValidator(_whole)] | None
    ) = Field(
        default=None, description="The time to wait for people. If the policy's time is shorter, the policy's counts."
    )
    previous: Name | None = Field(
        default=None,
        description="The ref of the ended call that this call repeats: the same caller, tool and arguments. "
        "Any other ref gives 404.",
    )
    secret_hash: SecretHash | None = Field(
        default=None,
        description="Claim the call in the same request if the policy allows it, or if people approve it while the"
        " request waits (`Prefer: wait`).",
    )


class QuestionRequest(_Request):
    """A question to the people who may decide in a conversation."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={"examples": [{"question": "Which stage?", "options": ["staging", "production"]}]},
    )

    question: Annotated[str, Field(min_length=1, max_length=LONGEST)] = Field(
        description="The question. Never ask for a password, key or other secret."
    )
    options: (
        Annotated[
            list[Annotated[str, Field(min_length=1, max_length=LONGEST_OPTION)]],
            Field(min_length=FEWEST_OPTIONS, max_length=MOST_OPTIONS, json_schema_extra={"uniqueItems": True}),
        ]
        | None
    ) = Field(
        default=None,
        description="The answers to choose from. Each must look different. Without options, any words are an answer.",
    )
    agent: Annotated[str, Field(max_length=256)] = Field(
        default="", description="The agent's own name. The default is the name of the token."
    )
    session: Annotated[str, Field(max_length=256)] = ""
    origin: Name | None = Field(
        default=None,
        description="The conversation that asks. It must be bound to the token, or be a thread of a bound "
        "conversation.",
    )
    routes: list[Name] = Field(
        default=[], max_length=20, description="More routes for the card. Each must be bound to the token."
    )
    on_behalf_of: Name | None = Field(
        default=None, description="The person for whom the agent asks. It must be the owner of the token."
    )
    note: Text = Field(default="", description="The agent's own words. The card shows them as the agent's.")
    timeout_s: (
        Annotated[int, Field(strict=True, ge=SHORTEST_TIMEOUT_S, le=LONGEST_TIMEOUT_S), BeforeValidator(_whole)] | None
    ) = Field(
        default=None, description="The time to wait for people. If the policy's time is shorter, the policy's counts."
    )


class BatchItem(CallRequest):
    """One call of a batch, with an `id` that the caller chose."""

    id: Name


class BatchRequest(_Request):
    """The calls of one batch. Each call is recorded, decided and claimed on its own."""

    calls: Annotated[list[BatchItem], Field(min_length=1, max_length=MOST_IN_BATCH)]

    @model_validator(mode="after")
    def _names_each_once(self) -> Self:
        if len({call.id for call in self.calls}) < len(self.calls):
            raise ValueError("two calls of a batch have the same id")
        return self


class DecisionRequest(_Request):
    """An approver's decision on a call."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_extra={"examples": [{"decision": "reject", "reason": "Not today."}]}
    )

    decision: Literal["approve", "reject"]
    reason: Text | None = None
    confirm: Name | None = Field(default=None, description="The ref, typed again: the second yes to a critical call.")
    digest: Digest | None = Field(default=None, description="The digest that was shown. A different digest is refused.")


class ClaimRequest(_Request):
    """A request for the permission to run an approved call, for one claimant."""

    secret_hash: SecretHash
    digest: Digest | None = Field(
        default=None, description="The digest of the call that the caller will run. A different digest is refused."
    )


class WithdrawRequest(_Request):
    """Details of a withdrawal: whether the program that asked for the call has left."""

    left: bool = Field(
        default=False,
        description="The program that asked has left, or won't run the call. The card says so. A call that was approved"
        " and not claimed ends as `lapsed`.",
    )


class FinishRequest(_Request):
    """A report of how the claimant's run ended."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={"examples": [{"secret": "what secret_hash is the hash of", "result": "succeeded"}]},
    )

    secret: Annotated[str, Field(min_length=1, max_length=1024)]
    result: Literal[Result.SUCCEEDED, Result.FAILED, Result.TIMED_OUT, Result.UNKNOWN]
    exit_status: Annotated[int, Field(strict=True, ge=-(2**31), lt=2**31), BeforeValidator(_whole)] | None = None
    output: Annotated[str, Field(max_length=65_536)] = ""
    error: Text | None = None


class EvaluateRequest(_Request):
    """A call for which the caller wants the policy's verdict. The call isn't recorded."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={"examples": [{"tools": "workspace", "tool": "bash", "args": {"command": "ls"}}]},
    )

    tools: Name
    tool: Name
    args: dict[str, JsonValue] = {}
    cwd: Annotated[str, Field(max_length=4096)] | None = None
    origin: Name | None = None


class ParseRequest(_Request):
    """A person's text, to be read as a reply to a card."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_extra={"examples": [{"text": "no, wrong cluster"}]}
    )

    text: Text
    language: Annotated[str, Field(max_length=35)] | None = Field(default=None, description="BCP 47.")


class TestRequest(_Request):
    """A request to send every approver a test card on each of their surfaces (`sayso test`)."""

    __test__ = False

    timeout_s: Annotated[int, Field(ge=5, le=7 * 24 * 3600)] = 120


class TokenRequest(_Request):
    """A bearer token to make. Only an operator may do this, over the Unix socket."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={"examples": [{"name": "ci", "scope": "agent", "owner": "ada"}]},
    )

    name: Annotated[str, Field(pattern="^[a-z0-9][a-z0-9_.-]{0,63}$")]
    scope: Literal["agent", "approver", "operator"]
    owner: Name | None = Field(
        default=None, description="The principal who is responsible for the token. An agent's token needs one."
    )
    origins: list[Name] = Field(default=[], max_length=100)
    routes: list[Name] = Field(default=[], max_length=100)
    until: Annotated[datetime, BeforeValidator(_only_text)] | None = None


class LineRequest(_Request):
    """One line of text for the service's own agent."""

    say: Annotated[str, Field(max_length=65_536)]


class HarombeTool(_Request):
    """A tool and its arguments, in the form of MCP's `tools/call`."""

    name: Name
    arguments: Arguments = Field(default={}, description="The arguments of the tool. An approval binds these bytes.")


class HarombeToolCall(_Request):
    """A JSON-RPC request that calls a tool."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [
                {"method": "tools/call", "params": {"name": "send_email", "arguments": {"to": "ada@example.org"}}}
            ]
        },
    )

    method: Literal["tools/call"]
    params: HarombeTool
    jsonrpc: Literal["2.0"] = "2.0"
    id: Annotated[int, Field(strict=True)] | Annotated[str, Field(max_length=256)] | None = None


class HarombeDecision(_Request):
    """A decision with the field names and values of the harombe design."""

    decision: Literal["approve", "approved", "deny", "denied", "reject", "rejected"]
    reason: Text | None = None
    confirm: Name | None = Field(default=None, description="The approval_id again: the second yes to a critical call.")


class AapSubmission(_Request):
    """A tool call with the field names of the Agent Approval Protocol. A field that the client leaves out is absent in
    answers too.
    """

    tool: Name
    arguments: Arguments
    timeout: Annotated[
        str, Field(pattern=f"^(?:[{SHORTEST_TIMEOUT_S}-9]|[1-9][0-9]{{1,6}})s$|^[1-9][0-9]{{0,6}}[mh]$")
    ] = Field(
        description="The time to wait for people. If the policy's time is shorter, the policy's counts.",
        examples=["10m"],
    )
    server: Name = Field(default="", description="The server that has the tool. It is the policy's tool group.")
    agent_reasoning: Annotated[str, Field(min_length=1, max_length=10_000)] = Field(
        default="", description="The agent's own words. The card shows them as the agent's."
    )
    context: dict[str, JsonValue] = Field(
        default={}, description="The answer returns it unchanged, and the audit record holds it."
    )


class AapReport(_Request):
    """The report on the run of a consumed request."""

    status: Literal["succeeded", "failed"]
    note: Annotated[str, Field(min_length=1, max_length=16_384)] = ""


# -- bodies of answers --------------------------------------------------------------------------------------------


class CardPart(_Answer):
    """One part of the requested action: code such as a command, a diff, an argument (with its name), or a sentence of
    ours.
    """

    kind: Literal["code", "diff", "field", "empty", "ours"]
    name: str
    text: str


class CardView(_Answer):
    """The card of a call, as data. In each text, hidden characters are visible and secrets masked. Times are in UTC.

    Empty texts aren't shown.
    """

    sign: str
    risk: Risk
    short: str
    mark: str = Field(description="The 12 characters of the digest.")
    headline: str = Field(description="Who wants to do what.")
    parts: list[CardPart]
    below: str = Field(description="A line with the number of arguments that only the details show.")
    place: str
    note: str
    rule: str = Field(description="The reason of the rule that asks a person.")
    stakes: str = Field(description="The risk in words, and whether it can be undone.")
    warnings: list[str]
    approvers: str
    how: str
    push: str = Field(description="One line for lock screens.")
    asks: bool = Field(description="Whether it is a question: the reason of an approval is the answer.")
    choices: list[str] = Field(description="The answers that a question offers. Without any, words answer it.")
    outcome: str = Field(description="The outcome of the call. Empty while the call is pending.")
    output: str
    left_out: int = Field(description="The number of characters that aren't shown.")


class CardAnswer(_Answer):
    """A card, as data and as text. If the call changes a file and the change is known, the card has a diff."""

    ref: str
    short: str
    digest: str
    card: CardView
    text: str
    diff: str | None = Field(description="A unified diff, masked, at most 16,384 characters.")
    diff_old: str | None = Field(description="The old lines of the diff.")
    diff_new: str | None = Field(description="The new lines of the diff.")


class BriefCall(_Answer):
    """A call for lists, without `args` and `output`, but with the arguments cut to one line."""

    ref: str = Field(description="The public name of the call.", examples=["01992f4e-8a5e-7a3c-9f60-3f2f0c5f7a11"])
    short: str = Field(description="The ref for people.", examples=["K7Q2MX"])
    status: Status
    code: str | None = Field(description="The error code of the outcome, or null.")
    state: State
    tools: str
    tool: str
    cwd: str | None
    digest: str
    mark: str = Field(description="The 12 characters of the digest that cards show.")
    risk: Risk
    why: str
    rule: str | None
    headline: str = Field(description="Who wants to do what.")
    arguments: str = Field(description="The arguments below the action on the card, masked and on one line.")
    choices: list[str] = Field(description="The answers that a question offers.")
    requester: str
    requester_name: str
    on_behalf_of: str = Field(description="The person behind the requester.")
    agent: str
    note: str
    origin: str
    runs: Literal["service", "caller"]
    execution_s: int
    approvers: list[str] = Field(description="The people who may approve the request.")
    approver_names: list[str] = Field(description="The names of the approvers, in the same order.")
    created_at: datetime
    expires_at: datetime
    decided_at: datetime | None
    decided_by: str | None
    decided_by_name: str | None
    reason: str | None
    reason_until: datetime | None
    outcome: str
    message: str = Field(description="One sentence for the agent.")
    error: str | None
    previous: str | None
    archived: bool = Field(description="Whether retention archived the call.")
    args_erased_at: datetime | None = Field(description="When retention erased the arguments, or null.")


class CallView(BriefCall):
    """A call. Secrets in its texts are masked; only the answer to a claim has the arguments as they are stored."""

    args: dict[str, Any]
    output: str | None


class ClaimAnswer(_Answer):
    """The one permission to run, with the stored arguments."""

    call: CallView
    args: dict[str, Any] = Field(description="The arguments as stored. Run these and nothing else.")
    until: datetime


class Claimed(_Answer):
    """The claim of an allowed call, taken in the same HTTP request that asked for the call."""

    args: dict[str, Any]
    until: datetime


class CallAnswer(CallView):
    """The answer to a request for a call."""

    card: CardView
    fresh: bool = Field(
        description="Whether this request made the call. False if an earlier request with the same key made it."
    )
    same_as: str | None = Field(description="The short ref of a pending call with the same digest, if there is one.")
    claim: Claimed | None


class CallPage(_Answer):
    """Calls, newest first. `next` is the cursor of the next page, or null."""

    calls: list[CallView | BriefCall] = Field(description="A `BriefCall` if the request had `view=brief`.")
    next: str | None


class SessionView(_Answer):
    """An agent's session that has pending calls, such as one run of a coding agent."""

    agent: str = Field(description="The agent's own name.", examples=["claude-code"])
    session: str = Field(description="The session, as the agent names it.")
    project: str = Field(description="The last name in the path of the working folder.")
    cwd: str | None = Field(description="The working folder of the newest call.")
    requester: str
    requester_name: str
    pending: int = Field(description="The number of pending calls of the session.")
    since: datetime = Field(description="The time at which the oldest pending call was asked for.")
    newest: str = Field(description="The ref of the newest pending call.")
    newest_short: str
    headline: str = Field(description="Who wants to do what, by the newest call.")
    text: str = Field(description="The session in two lines, for people.")


class SessionList(_Answer):
    """The sessions of agents that wait, the longest wait first."""

    sessions: list[SessionView]


class Line(_Answer):
    """One line of the audit record."""

    seq: int
    at: datetime
    event: str
    actor: str
    data: str
    hash: str


class RecordAnswer(CallView):
    """A call, all its details as text, and its record. `flaws` names the parts of the call that fail their integrity
    check.
    """

    details: str
    record: list[Line]
    flaws: list[str]


class DecisionAnswer(_Answer):
    """The outcome of a decision request. `decided` is false if more is needed, such as a second confirmation."""

    came: str
    text: str
    decided: bool
    call: CallView | None


class Problem(_Answer):
    """An error (RFC 9457). Later versions don't change the meaning of a `code`."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    ref: str | None = None
    errors: list[str] = []
    retry_after: int | None = Field(None, description="Seconds after which the request may work, as in Retry-After.")


class BatchOutcome(_Answer):
    """The outcome of one call of a batch: the recorded call, or the error that prevented its recording."""

    id: str
    call: CallAnswer | None
    problem: Problem | None


class BatchAnswer(_Answer):
    """One outcome for each call of the batch, in its order."""

    calls: list[BatchOutcome]


class VerdictAnswer(_Answer):
    """The current verdict of the policy on a call. It permits nothing."""

    action: Action
    risk: Risk
    rule: str | None
    reason: str
    why: str
    timeout_s: int
    policy: str = Field(description="The digest of the policy document.")


class ReadingAnswer(_Answer):
    """One reading of a person's text: the verdict that the text was understood as, and the reason for it."""

    verdict: str
    reason: str | None
    target: str | None
    why: str | None


class ParseAnswer(ReadingAnswer):
    """The reading of a person's whole text, and the reading of each part of the text."""

    readings: list[ReadingAnswer]


class Tested(_Answer):
    """The test request to one approver of a conversation, or the reason why there is no request to them."""

    place: str
    approver: str
    #: The only surface that gets the test card. Null if the approver has no account on a surface that shows cards.
    surface: str | None
    call: CallView | None
    #: The conversations in which the card of the test request appears.
    routes: list[str]
    error: str | None


class TestAnswer(_Answer):
    """The test requests that were sent to each approver (`sayso test`)."""

    __test__ = False

    tests: list[Tested]


class ReloadAnswer(_Answer):
    """The policy that applies after a reload, and the changed settings that need a restart."""

    policy: str
    digest: str
    restart: list[str]


class MeAnswer(_Answer):
    """The authenticated caller, and sentences about the faults that keep the service from gating calls."""

    identity: str
    principal: str
    on_behalf_of: str
    scopes: list[str]
    origins: list[str]
    routes: list[str]
    troubles: list[str]
    state: str | None = Field(
        description="The identity of the service's state folder, for operators. A copy of the folder has another one."
    )


class EventView(_Answer):
    """One event of the stream: a line of the audit record of a call that the caller may see."""

    id: str = Field(description="The cursor. Send it as Last-Event-ID to continue after this event.")
    ref: str
    short: str
    event: str
    status: Status
    actor: str
    at: datetime


class TicketAnswer(_Answer):
    """A ticket for one WebSocket, valid for 30 seconds."""

    ticket: str
    expires_in: int


class TokenView(_Answer):
    """A token, without its secret."""

    name: str
    scope: Literal["agent", "approver", "operator"]
    owner: str | None
    origins: list[str]
    routes: list[str]
    created_at: datetime
    created_by: str
    until: datetime | None
    used_at: datetime | None
    revoked_at: datetime | None


class TokenMade(TokenView):
    """A new token. `token` is shown only this once."""

    token: str


class TokenList(_Answer):
    """All tokens, including revoked ones."""

    tokens: list[TokenView]


class ChatLine(_Answer):
    """One line of the response to a chat: the conversation's name, a text to show, or the end of an answer (`done`)."""

    chat: str | None = None
    show: str | None = None
    done: bool | None = None


class Heard(_Answer):
    """Says that a line was queued for a conversation."""

    heard: bool


class HarombeApproval(_Answer):
    """A call with the field names and values of the harombe design."""

    approval_id: str
    status: Literal["pending", "approved", "denied", "expired", "auto_approved"]
    tool_name: str
    params: dict[str, Any]
    risk_level: str
    created_at: datetime
    expires_at: datetime
    approved_by: str | None
    approved_at: datetime | None
    decision: Literal["approved", "denied", "expired"] | None
    reason: str | None
    message: str


class AapDecision(_Answer):
    """The decision on a request. Only an approval has `expires_at`, the time at which the approval ends."""

    status: Literal["approved", "denied", "expired", "cancelled"]
    decided_at: datetime
    note: str | None = None
    expires_at: datetime | None = None


class AapOutcome(_Answer):
    """The reported outcome of a run."""

    status: Literal["succeeded", "failed"]
    reported_at: datetime
    note: str | None = None


class AapConsumption(_Answer):
    """The time at which the approved request was consumed, and the outcome of its run once the outcome is reported."""

    consumed_at: datetime
    outcome: AapOutcome | None = None


class AapRequest(AapSubmission):
    """A request: the submitted fields, unchanged, and its state. An answer leaves out the fields that have no value."""

    id: str
    status: Literal["pending", "approved", "denied", "expired", "cancelled"]
    created_at: datetime
    deadline_at: datetime
    decision: AapDecision | None = None
    consumption: AapConsumption | None = None


class AapFault(_Answer):
    """The reason why a request of the Agent Approval Protocol was refused."""

    type: str
    code: str
    message: str
    request_id: str


class AapError(_Answer):
    """An error in the form of the Agent Approval Protocol."""

    error: AapFault


class HarombePending(_Answer):
    """The pending calls with the field names and values of the harombe design."""

    pending: list[HarombeApproval]
    count: int


class HarombeResult(HarombeApproval):
    """The state or the result of a call, with the field names and values of the harombe design."""

    result: str | None
    error: str | None
