"""Errors as a client of the socket gets them: a code and a sentence."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from sayso_client.errors import ClientError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hitl.errors import SaysoError


@contextmanager
def answers(*errors: type[SaysoError], match: str | None = None) -> Iterator[pytest.ExceptionInfo[ClientError]]:
    """Expect that the service answers with the code of one of these errors, and a sentence that matches."""
    with pytest.raises(ClientError, match=match) as caught:
        yield caught
    assert caught.value.code in {error.code for error in errors}
