"""The record told: each line is of one kind."""

from __future__ import annotations

import pytest

from hitl.call import Event
from hitl.history import EVENT_TYPES


@pytest.mark.parametrize("event", Event)
def test_every_event_is_of_one_kind(event: Event) -> None:
    """A search for a kind neither misses a line nor finds one twice."""
    assert 1 == sum(event in kind for kind in EVENT_TYPES.values())


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (Event.CREDENTIAL_MADE, "hitl_service"),
        (Event.CREDENTIAL_REVOKED, "hitl_service"),
        (Event.NOT_SHOWN, "hitl_delivery"),
        (Event.UNCLEAR, "hitl_reply"),
    ],
)
def test_a_token_or_a_failed_post_is_no_reply(event: Event, kind: str) -> None:
    """Only what a person did with a card is one."""
    assert event in EVENT_TYPES[kind]
