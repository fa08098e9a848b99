"""The outcome of a call: a value if it ran, or the reason why it didn't run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Ran(Generic[T_co]):
    """The call was allowed or approved, and the function ran once. `ref` is the call's ref.

    `reported` is False if the service couldn't record the run. In that case the call's record says that the result is
    unknown.
    """

    ref: str
    value: T_co
    reported: bool = True


@dataclass(frozen=True, slots=True)
class NotRun:
    """The call didn't run. This object is false, and `str()` of it is one sentence to hand to an agent.

    The sentence says that nothing was done and why, so that an agent has no reason to try the same call again.
    """

    #: `rejected`, `expired`, `denied`, `withdrawn`, `undeliverable`, `lapsed`, `refused`, or another status of the API.
    status: str
    message: str
    #: The call's ref, or '' if the call was never recorded.
    ref: str = ""
    #: The words of the person or of the policy, if there are any.
    reason: str | None = None
    #: The principal who decided, or None.
    decided_by: str | None = None

    def __bool__(self) -> Literal[False]:
        """Return False, so that `if result:` excludes a call that didn't run."""
        return False

    def __str__(self) -> str:
        """Return the sentence for an agent."""
        return self.message


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a question to people. It is false if nobody answered. An answer approves nothing."""

    #: The text that the person wrote, or the option that they chose. It is None if nobody answered.
    words: str | None
    #: The principal who answered or declined to answer.
    by: str | None
    #: `succeeded` (somebody answered), `rejected` (somebody declined), `expired`, `denied` or another status of the
    #: API.
    status: str
    #: One sentence to hand to an agent.
    message: str
    #: The question's ref, or '' if the question was never recorded.
    ref: str = ""

    def __bool__(self) -> bool:
        """Return whether somebody answered."""
        return self.words is not None
