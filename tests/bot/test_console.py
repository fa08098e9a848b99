"""A conversation with the offline agent: what a line leads to, and what is shown."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from bot.compose import Running
from bot.console import Console
from hitl.call import Decision
from hitl.cards.wording import say
from hitl.outcomes import Refusal
from hitl.testing import SetClock
from tests.bot.conftest import ASKER, ME, PLACE
from tests.sentences import says


class Screen:
    """What was shown to one person."""

    def __init__(self, running: Running, identity: str) -> None:
        self.shown: list[str] = []
        self.console = Console(running.service, identity=identity, conversation=PLACE, show=self.shown.append)

    async def type(self, *lines: str) -> str:
        """Type lines; what was shown after the last of them."""
        for line in lines:
            before = len(self.shown)
            await self.console.hear(line)
        return "\n".join(self.shown[before:])

    async def shorts(self) -> list[str]:
        """The short refs of what waits."""
        return [call.short for call in await self.console.open_calls()]


@pytest.fixture
def screen(running: Running) -> Callable[..., Screen]:
    """Screens of people."""
    return lambda identity=ME: Screen(running, identity)


async def test_what_only_reads_is_answered_at_once(screen: Callable[..., Screen], tmp_path: Path) -> None:
    """Nobody is asked."""
    (tmp_path / "workspace" / "a.txt").write_text("hello\n")

    assert "hello" == await screen().type("read a.txt")


async def test_what_is_not_understood_is_helped_with(screen: Callable[..., Screen]) -> None:
    """The agent says what it can."""
    assert say("offline.help") == await screen().type("please tidy up")
    assert say("offline.help") == await screen().type("maybe")


async def test_an_empty_line_is_nothing(screen: Callable[..., Screen]) -> None:
    """No answer, no call."""
    assert "" == await screen().type("   ")


async def test_a_yes_with_nothing_to_answer_starts_nothing(screen: Callable[..., Screen]) -> None:
    """It is said that nothing waits, or what can be asked."""
    only = screen()

    assert await only.type("yes")
    assert [] == await only.shorts()


async def test_with_two_cards_a_bare_yes_decides_neither(screen: Callable[..., Screen], tmp_path: Path) -> None:
    """Both are named; a yes that names one decides that one."""
    only = screen()
    await only.type("write a.txt one", "write b.txt two")
    first, second = await only.shorts()
    asked_back = await only.type("yes")
    assert first in asked_back
    assert second in asked_back
    assert [first, second] == await only.shorts()

    await only.type(f"yes {second}")
    assert [first] == await only.shorts()
    assert ["b.txt"] == [file.name for file in (tmp_path / "workspace").iterdir()]


async def test_after_other_talk_a_yes_is_about_what_was_said_last(screen: Callable[..., Screen]) -> None:
    """While a card waits the agent still answers, then says what still waits, so that a yes is about that."""
    only = screen()
    await only.type("write a.txt one")
    (short,) = await only.shorts()

    assert says(await only.type("list"), "offline.still", short=short)
    assert says(await only.type("yes"), "agent.succeeded", short=short, how=Decision.APPROVED)


async def test_a_line_begun_before_the_card_decides_nothing(screen: Callable[..., Screen], clock: SetClock) -> None:
    """Whenever it is finished."""
    only = screen()
    begun_at = clock.now() - timedelta(seconds=1)
    await only.type("write a.txt one")
    await only.console.hear("yes", begun_at=begun_at)
    await only.console.hear("a", begun_at=begun_at)

    assert 1 == len(await only.shorts())


async def test_two_people_see_the_card_and_one_may_answer(screen: Callable[..., Screen]) -> None:
    """The asker sees their own card and can't answer it; the approver can."""
    asker, approver = screen(ASKER), screen(ME)
    card = await asker.type("write a.txt one")
    assert card.split("\n")[0] == approver.shown[-1].split("\n")[0]
    (short,) = await approver.shorts()
    assert says(await asker.type("yes"), Refusal.STRANGER, who=ASKER, short=short)

    assert says(await approver.type("yes"), "agent.succeeded", short=short, how=Decision.APPROVED)


async def test_whoever_asked_hears_once_how_it_ended_elsewhere(screen: Callable[..., Screen], running: Running) -> None:
    """Approved and run, or taken back, by another way: they are told when it happens, and so is whoever was asked."""
    asker, approver = screen(ASKER), screen(ME)
    await asker.type("write a.txt one")
    (short,) = await approver.shorts()
    await approver.type("yes")

    told = [text for text in asker.shown if says(text, "agent.succeeded", short=short)]
    assert (1, 1) == (len(told), len([text for text in approver.shown if says(text, "agent.succeeded", short=short)]))

    await asker.type("write b.txt two")
    (short,) = await approver.shorts()
    await running.service.gate.withdraw(short, ASKER)

    assert says(asker.shown[-1], "agent.withdrawn", short=short)
    assert says(approver.shown[-1], "by.withdrawn")


async def test_an_asker_sees_no_calls_of_others(screen: Callable[..., Screen]) -> None:
    """Neither their cards nor their details."""
    asker, approver = screen(ASKER), screen(ME)
    await approver.type("write secret-plan.txt one")

    assert [] == asker.shown
    assert "secret-plan" not in await asker.type("what does it do?")
    assert [] == await asker.shorts()


async def test_an_expired_card_is_said(screen: Callable[..., Screen], running: Running, clock: SetClock) -> None:
    """When its time is up the person hears it."""
    only = screen()
    await only.type("write a.txt one")
    clock.advance(301)
    await running.service.expiry.sweep()

    assert says(only.shown[-1], "ending.expired")


async def test_who_leaves_is_shown_nothing_more(screen: Callable[..., Screen]) -> None:
    """The call goes on waiting."""
    gone, here = screen(), screen()
    gone.console.leave()
    await here.type("write a.txt one")

    assert [] == gone.shown
    assert 1 == len(await here.shorts())


async def test_at_the_end_ones_own_calls_are_withdrawn(screen: Callable[..., Screen]) -> None:
    """And those of others wait on."""
    asker, approver = screen(ASKER), screen(ME)
    await approver.type("write mine.txt one")
    await asker.type("write theirs.txt two")
    await asker.console.withdraw_all()

    assert says(asker.shown[-1], "by.withdrawn")
    assert 1 == len(await approver.shorts())


async def test_what_can_not_be_asked_is_said(screen: Callable[..., Screen]) -> None:
    """Text that no record can carry is refused in words."""
    assert says(await screen().type("read \udcff"), "json.surrogate", at="/path")
