"""The errors of a call, split by who must act: the person or agent who sent a request, or the operator.

    SaysoError
    ├── Refused                  the person or agent who asked or answered must do something else
    │   ├── InvalidConfirmation  400 HITL_001          the reply or request can't be used
    │   ├── Unauthenticated      401 UNAUTHENTICATED   no working bearer token came with the request
    │   ├── CallDenied           403 CALL_DENIED       the policy says no
    │   ├── NotApprover          403 NOT_APPROVER      this person may not decide this call
    │   ├── CallUnknown          404 CALL_UNKNOWN      no such call
    │   ├── AlreadyDecided       409 ALREADY_DECIDED   somebody else was first
    │   ├── StillPending         409 STILL_PENDING     nobody has decided yet
    │   ├── RejectedRecently     409 REJECTED_RECENTLY a person rejected the same call less than a minute ago
    │   ├── CallChanged          409 CALL_CHANGED      the stored call's digest differs from the shown digest
    │   ├── KeyConflict          409 KEY_CONFLICT      the idempotency key was used for another call
    │   ├── ConfirmationExpired  410 CONF_EXPIRED      time was up
    │   ├── PolicyUnusable       422 POLICY_INVALID    the policy document can't be used
    │   └── TooManyPending       429 TOO_MANY_PENDING  ask fewer, or later
    ├── ExecutionTimeout         408 EXEC_TIMEOUT      the tool took too long
    └── Failed                   the operator must mend the service or its surroundings
        ├── OutcomeUnknown       500 OUTCOME_UNKNOWN   the tool may have run
        ├── Tampered             500 TAMPERED          a stored row fails its integrity check
        ├── Unavailable          503 UNAVAILABLE       nothing was recorded; try again
        └── IllegalTransition    500 ILLEGAL_TRANSITION  a bug of ours

Each class has a stable code, an HTTP status (RFC 9110), and a docstring that is its default message for people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from hitl.cards.wording import IN_ENGLISH
from hitl.outcomes import Fact, fact

if TYPE_CHECKING:
    from hitl.cards.wording import Wording
    from hitl.outcomes import Misfit
    from hitl.people.names import Names


class SaysoError(Exception):
    """Something went wrong."""

    code: ClassVar[str] = "ERROR"
    status: ClassVar[int] = 500

    def __init__(self, why: Fact | str | None = None) -> None:
        super().__init__(why or (self.__doc__ or "").strip())

    def __str__(self) -> str:
        """Return the sentence for people, in English."""
        return self.message

    @property
    def fact(self) -> Fact | None:
        """The error as a `Fact`: the key of its sentence, and the values that fill the sentence.

        It is None if the error was raised with a finished sentence instead.
        """
        why = self.args[0]
        return why if isinstance(why, Fact) else None

    @property
    def message(self) -> str:
        """The sentence for people, in English. Programs and the log get this sentence."""
        return self.told(IN_ENGLISH)

    def told(self, wording: Wording, names: Names | None = None) -> str:
        """Return the sentence in the language of `wording`. A finished sentence stays in its language."""
        return wording.sentence(self.fact, names) if self.fact else str(self.args[0])


class Refused(SaysoError):
    """The request can't be carried out in this form."""

    code = "REFUSED"
    status = 400


class InvalidConfirmation(Refused):
    """This reply can't be used as an answer. Nothing was decided."""

    code = "HITL_001"


class Unauthenticated(Refused):
    """A bearer token is needed: `Authorization: Bearer ...`. Nothing was done."""

    code = "UNAUTHENTICATED"
    status = 401


class CallDenied(Refused):
    """The policy denies this call. It was not run."""

    code = "CALL_DENIED"
    status = 403


class NotApprover(Refused):
    """You may not decide this call. Nothing was decided."""

    code = "NOT_APPROVER"
    status = 403


class CallUnknown(Refused):
    """There is no such call. Nothing was decided."""

    code = "CALL_UNKNOWN"
    status = 404


class AlreadyDecided(Refused):
    """This call was decided already."""

    code = "ALREADY_DECIDED"
    status = 409


class StillPending(Refused):
    """This call is still pending. Nothing was run."""

    code = "STILL_PENDING"
    status = 409


class RejectedRecently(Refused):
    """A person rejected the same request less than a minute ago. It was not asked again."""

    code = "REJECTED_RECENTLY"
    status = 409


class CallChanged(Refused):
    """The digest of the call isn't the digest that you named. Nothing was done."""

    code = "CALL_CHANGED"
    status = 409


class KeyConflict(Refused):
    """This idempotency key was used for another call. Use a new key for a new call."""

    code = "KEY_CONFLICT"
    status = 409


class ConfirmationExpired(Refused):
    """The time to answer is over, and silence means no. Nothing ran."""

    code = "CONF_EXPIRED"
    status = 410


class PolicyUnusable(Refused):
    """The policy document can't be used."""

    code = "POLICY_INVALID"
    status = 422


class ReloadRefused(Refused):
    """The settings can't be used. Everything stays as it was."""

    code = "RELOAD_REFUSED"
    status = 422


class TooManyPending(Refused):
    """Too many calls are pending. Nothing was recorded. Ask again after some of them are decided."""

    code = "TOO_MANY_PENDING"
    status = 429


class ExecutionTimeout(SaysoError):
    """The tool took longer than its time limit and was stopped. Changes that it had already made remain."""

    code = "EXEC_TIMEOUT"
    status = 408


class Failed(SaysoError):
    """Something on our side failed."""

    code = "FAILED"


class OutcomeUnknown(Failed):
    """The tool may or may not have run. It is not tried again. Check what it did before you ask again."""

    code = "OUTCOME_UNKNOWN"


class Tampered(Failed):
    """The integrity check failed: the stored call was changed. Nothing was run; the record names the call."""

    code = "TAMPERED"


class Unavailable(Failed):
    """The service can't record this now. Nothing was changed; try again."""

    code = "UNAVAILABLE"
    status = 503


class IllegalTransition(Failed):
    """The lifecycle forbids this change. Nothing was changed."""

    code = "ILLEGAL_TRANSITION"


class MisfitError(ValueError):
    """A value of a setting or of a policy can't be used. `str` returns the sentence for people."""

    def __init__(self, why: Misfit, /, **particulars: object) -> None:
        super().__init__(fact(why, **particulars))

    def __str__(self) -> str:
        """Return the sentence for people, in English."""
        return IN_ENGLISH.sentence(self.args[0])


class SettingsError(Exception):
    """The settings can't be used. The message names the file, the key and the mistake. No call is involved."""
