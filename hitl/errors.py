"""Everything that can go wrong with a call, by whose fault it is.

    SaysoError
    ├── Refused                  the one who asked or answered must do something else
    │   ├── InvalidConfirmation  400 HITL_001          the reply or request can't be used as it is
    │   ├── Unauthenticated      401 UNAUTHENTICATED   no working bearer token came with the request
    │   ├── CallDenied           403 CALL_DENIED       the policy says no
    │   ├── NotApprover          403 NOT_APPROVER      this person may not decide this call
    │   ├── CallUnknown          404 CALL_UNKNOWN      no such call
    │   ├── AlreadyDecided       409 ALREADY_DECIDED   somebody else was first
    │   ├── RejectedRecently     409 REJECTED_RECENTLY the same was rejected less than a minute ago
    │   ├── CallChanged          409 CALL_CHANGED      the digest that was shown is another one
    │   ├── KeyConflict          409 KEY_CONFLICT      the idempotency key was used for another call
    │   ├── ConfirmationExpired  410 CONF_EXPIRED      time was up
    │   ├── PolicyUnusable       422 POLICY_INVALID    the policy document can't be used
    │   └── TooManyPending       429 TOO_MANY_PENDING  ask fewer, or later
    ├── ExecutionTimeout         408 EXEC_TIMEOUT      the tool took too long
    └── Failed                   the service or its surroundings must be mended
        ├── OutcomeUnknown       500 OUTCOME_UNKNOWN   the tool may have run
        ├── Tampered             500 TAMPERED          a stored row doesn't carry its seal
        ├── Unavailable          503 UNAVAILABLE       nothing was recorded; try again
        └── IllegalTransition    500 ILLEGAL_TRANSITION  a bug of ours

Each class has a stable code, an HTTP status (RFC 9110) and a sentence for people, the default message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from hitl.cards.wording import IN_ENGLISH
from hitl.outcomes import Fact

if TYPE_CHECKING:
    from hitl.cards.wording import Wording
    from hitl.people.names import Names


class SaysoError(Exception):
    """Something went wrong."""

    code: ClassVar[str] = "ERROR"
    status: ClassVar[int] = 500

    def __init__(self, why: Fact | str | None = None) -> None:
        super().__init__(why or (self.__doc__ or "").strip())

    def __str__(self) -> str:
        """The sentence for people."""
        return self.message

    @property
    def fact(self) -> Fact | None:
        """The fact that the core raised; None for an error that was raised with a sentence."""
        why = self.args[0]
        return why if isinstance(why, Fact) else None

    @property
    def message(self) -> str:
        """The sentence in English, for programs and the log."""
        return self.told(IN_ENGLISH)

    def told(self, wording: Wording, names: Names | None = None) -> str:
        """Return the sentence in a language; one that was raised with a sentence stays in the language of that."""
        return wording.sentence(self.fact, names) if self.fact else str(self.args[0])


class Refused(SaysoError):
    """That can't be done as asked."""

    code = "REFUSED"
    status = 400


class InvalidConfirmation(Refused):
    """That can't be used as an answer. Nothing was decided."""

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
    """Time was up: silence means no. Nothing ran."""

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
    """Too many calls wait already. Nothing was recorded; ask again when some are decided."""

    code = "TOO_MANY_PENDING"
    status = 429


class ExecutionTimeout(SaysoError):
    """The tool took longer than it may. It was stopped; what it had done by then stays done."""

    code = "EXEC_TIMEOUT"
    status = 408


class Failed(SaysoError):
    """Something on our side failed."""

    code = "FAILED"


class OutcomeUnknown(Failed):
    """The tool may or may not have run. It is not tried again; look before you ask anew."""

    code = "OUTCOME_UNKNOWN"


class Tampered(Failed):
    """The stored call doesn't carry its seal. Nothing was run; the record says which one."""

    code = "TAMPERED"


class Unavailable(Failed):
    """The service can't record this now. Nothing was changed; try again."""

    code = "UNAVAILABLE"
    status = 503


class IllegalTransition(Failed):
    """The lifecycle forbids this change. Nothing was changed."""

    code = "ILLEGAL_TRANSITION"


class SettingsError(Exception):
    """The settings can't be used; the message says which file, which key, and what is wrong. No call is involved."""
