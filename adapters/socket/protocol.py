"""The requests that the service takes over its socket: what each may hold, and which types.

How lines, answers and refusals look is `sayso_client/wire.py`'s. Requests are checked here before anything else sees
them; unknown operations and keys are refused.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from hitl.model import Result


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AskFor(_Request):
    """A script asks for a call, which it will run itself."""

    op: Literal["ask"]
    tools: str = "shell"
    tool: str
    args: dict[str, Any]
    cwd: str | None = None
    note: str = ""
    key: str | None = None
    timeout_s: int | None = None
    by_policy: bool = False
    previous: str | None = None


class Wait(_Request):
    """Answer when people have decided, or also said why not where they were asked, or the call is over, or time is."""

    op: Literal["wait"]
    ref: str
    until: Literal["decided", "explained", "ended"] = "decided"
    limit_s: float = Field(30, ge=0, le=3600)


class ClaimIt(_Request):
    """The permission to run; `secret_hash` is the SHA-256 (hex) of a secret that the claimant keeps."""

    op: Literal["claim"]
    ref: str
    secret_hash: str = Field(pattern="^[0-9a-f]{64}$")


class Finish(_Request):
    """How the claimant's run ended."""

    op: Literal["finish"]
    ref: str
    secret: str
    result: Literal[Result.SUCCEEDED, Result.FAILED, Result.TIMED_OUT, Result.UNKNOWN]
    exit_status: int | None = None
    error: str | None = None


class Release(_Request):
    """Hand an approved call to this caller, who won't report."""

    op: Literal["release"]
    ref: str


class Pending(_Request):
    """What waits for people."""

    op: Literal["pending"]


class Show(_Request):
    """One call with its record."""

    op: Literal["show"]
    target: str


class Decide(_Request):
    """An approver's decision."""

    op: Literal["decide"]
    target: str
    verb: Literal["approve", "reject", "details"]
    reason: str | None = None
    confirmed: bool = False


class Withdraw(_Request):
    """Take a waiting call back."""

    op: Literal["withdraw"]
    target: str


class Attach(_Request):
    """Turn this connection into a conversation with the agent: lines in, `{"show": text}` lines out."""

    op: Literal["attach"]


class Line(_Request):
    """After `attach`: one line to the agent."""

    say: str


class Ping(_Request):
    """Whether the service lives."""

    op: Literal["ping"]


Request = AskFor | Wait | ClaimIt | Finish | Release | Pending | Show | Decide | Withdraw | Attach | Ping
LINE: TypeAdapter[Line] = TypeAdapter(Line)
REQUEST: TypeAdapter[Request] = TypeAdapter(Annotated[Request, Field(discriminator="op")])
