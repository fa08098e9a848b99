"""What is looked up about a person before they can decide."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.slack.bodies import Me
from adapters.slack.lookups import Lookups
from adapters.slack.workspace import SlackPerson
from bot.surfaces import surfaces
from hitl.events import Command, Reaction
from hitl.people import Directory
from hitl.people.names import Names
from hitl.platforms import Core
from hitl.proof.keyring import Keyring
from hitl.testing import MemoryStore, SetClock
from tests.hitl.world import NOON

ANN, ADDRESS = "slack:T1/U1", "ann@acme.example"


class Told:
    """A chat and its workspace. It gives the same facts about each person, and counts the questions to Slack."""

    def __init__(self, who: SlackPerson, people: Directory) -> None:
        self._who = who
        self.names = Names(people)
        self.workspace = self
        self.again: list[bool] = []

    async def who(self, user: str, *, again: bool = False) -> SlackPerson:
        """What Slack says."""
        assert user == "U1"
        self.again.append(again)
        return self._who


def lookups(who: SlackPerson, *, emails: bool = True) -> tuple[Lookups, Told]:
    """The lookups of an app in workspace T1, where Ann is listed by her address."""
    people = Directory(approvers=("ann",), principals={"ann": (f"email:{ADDRESS}",)}, surfaces=surfaces())
    chat: Any = Told(who, people)
    core = Core(MemoryStore(SetClock(NOON)), Keyring([("k1", b"1" * 32)]), people)
    return Lookups(chat, core, Me("T1", "UBOT"), emails=emails), chat


COMMAND = Command(identity=ANN, conversation="slack:T1/C1", name="approve")


@pytest.mark.parametrize(("team", "identity"), [("T1", f"email:{ADDRESS}"), ("T2", ANN), ("", ANN)])
async def test_an_address_counts_only_of_a_member_of_our_own_workspace(team: str, identity: str) -> None:
    """Another workspace confirms addresses of its own choice; the event alone doesn't tell whose member it is."""
    looking, _ = lookups(SlackPerson(team, bot=False, email=ADDRESS))
    found = await looking.complete(COMMAND, {})

    assert found is not None
    assert identity == found.identity


async def test_an_address_that_names_somebody_is_asked_for_again() -> None:
    """One that names nobody isn't: most people are listed by their id, or not at all."""
    looking, told = lookups(SlackPerson("T1", bot=False, email=ADDRESS))
    strange, other = lookups(SlackPerson("T1", bot=False, email="sam@acme.example"))
    await looking.complete(COMMAND, {})
    await strange.complete(COMMAND, {})

    assert ([False, True], [False]) == (told.again, other.again)


async def test_the_team_that_slack_names_for_a_person_counts() -> None:
    """A reaction to a card claims a team; the person's own is another one, and so is their identity."""
    looking, _ = lookups(SlackPerson("T2", bot=False, email=""), emails=False)
    body = {"is_ext_shared_channel": True}
    found = await looking.complete(COMMAND, body)
    reaction = Reaction(identity=ANN, conversation="slack:T1/C1", message="C1:5.0", text="👍")

    assert found is not None
    assert "slack:T2/U1" == found.identity
    assert reaction == await looking.complete(reaction, {})
