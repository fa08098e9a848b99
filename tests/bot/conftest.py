"""A composed service on a state folder of its own, by the hands of a clock that tests move."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest

from bot.compose import Running, compose, policy_library
from bot.policies import Policies
from bot.surfaces import surfaces
from hitl.call import Risk
from hitl.people import Conversation, Directory
from hitl.testing import SetClock

#: The user that runs these tests, somebody who only asks, and the conversation of both.
ME, ASKER, PLACE = f"local:{os.getuid()}", "local:4321", "local"


@cache
def default_policy() -> Policies:
    """The preset, compiled once for all tests: judging changes nothing in it."""
    return Policies(policy_library(()), "default")


@pytest.fixture
def clock() -> SetClock:
    """Noon, until it is moved."""
    return SetClock(datetime(2026, 11, 27, 12, 0, tzinfo=UTC))


@pytest.fixture
def people() -> Directory:
    """One who asks, one who approves and may answer for their own calls in the conversation."""
    own = Conversation(PLACE, self_approval=Risk.HIGH)
    return Directory(
        approvers=(ME,), requesters=(ASKER, ME), operators=(ME,), conversations={PLACE: own}, surfaces=surfaces()
    )


@pytest.fixture
async def running(tmp_path: Path, clock: SetClock, people: Directory) -> AsyncIterator[Running]:
    """The service, composed and not started: no timer runs."""
    made = await compose(
        state=tmp_path / "state",
        workspace=tmp_path / "workspace",
        people=people,
        allow=["list_files", "read_file", "write_file", "delete_file", "delete_files", "bash"],
        policies=default_policy(),
        clock=clock,
    )
    yield made
    await made.close()
