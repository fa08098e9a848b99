"""The error that the client raises if the service refuses a request or can't be reached, and the words about files that
can't be read.
"""

from __future__ import annotations

import re

from sayso_client.wording import say

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


def why_unread(error: Exception) -> str:
    """Return a clause that says why a file can't be read: of a parser's message, it has only the line."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    if isinstance(error, UnicodeError):
        return say("unread.utf8")
    place = re.search(r"\bline (\d+),? column (\d+)", str(error))
    return say("unread.line", line=place[1], column=place[2]) if place else say("unread.form")
