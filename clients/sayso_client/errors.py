"""The error that the client raises if the service refuses a request or can't be reached."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class ClientError(Exception):
    """The service refused a request, or can't be reached.

    `code` is stable, and one of the service's codes (`NOT_APPROVER`, `UNAVAILABLE`, ...). `message` is a sentence for
    people. `ref` names the call that the error is about, if the service has recorded one.
    """

    def __init__(self, code: str, message: str, ref: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.ref = ref


def answered(error: dict[str, Any]) -> ClientError:
    """Return the error that a problem document of the service describes (RFC 9457)."""
    return ClientError(error["code"], error["detail"], error.get("ref"))
