"""The scenarios of every surface, in a group on Telegram.

Left out are those of the terminal alone: of keys, lines and boxes, and of texts that answer the line above them.
What looks another way on Telegram is said again here, under the same name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.call import Status, Verb
from hitl.cards.wording import say
from hitl.outcomes import Told
from tests.scenarios.harness import FAKE_STATUS
from tests.scenarios.test_a_critical_call import *  # noqa: F403 - the scenarios are what is wanted
from tests.scenarios.test_a_question import *  # noqa: F403
from tests.scenarios.test_a_reason_follows import *  # noqa: F403
from tests.scenarios.test_a_stranger_answers import *  # noqa: F403
from tests.scenarios.test_an_agent_lies import *  # noqa: F403
from tests.scenarios.test_huge_arguments import *  # noqa: F403
from tests.scenarios.test_in_another_language import *  # noqa: F403
from tests.scenarios.test_nobody_answers import *  # noqa: F403
from tests.scenarios.test_one_runs_for_long import *  # noqa: F403
from tests.scenarios.test_people_talk_between import *  # noqa: F403
from tests.scenarios.test_several_cards_are_open import *  # noqa: F403
from tests.scenarios.test_somebody_approves import *  # noqa: F403
from tests.scenarios.test_somebody_is_unclear import *  # noqa: F403
from tests.scenarios.test_somebody_rejects import *  # noqa: F403
from tests.scenarios.test_two_people_at_once import *  # noqa: F403
from tests.sentences import says

if TYPE_CHECKING:
    from tests.scenarios.telegram.surface import TelegramStage


async def test_a_press_is_enough(stage: TelegramStage) -> None:  # type: ignore[no-redef]
    """Nothing runs; who pressed hears that it counts, and is asked why."""
    call = await stage.ask()
    await stage.surface.press("ann", call, Verb.REJECT)

    assert Status.REJECTED == await stage.status(call)
    assert say(Told.REJECTED, short=call.short) in stage.surface.heard("ann")
    assert says(stage.surface.message(call).text, "ending.rejected.asked", who="Ann")
    assert [] == stage.ran()


async def test_a_fake_status_line_is_seen_to_be_the_agents(stage: TelegramStage) -> None:  # type: ignore[no-redef]
    """Lines in an argument stand in a block of their own, those of the note on the line that says whose they are."""
    call = await stage.ask(args={"path": FAKE_STATUS}, note=FAKE_STATUS)
    card = stage.surface.message(call)
    blocks = [_within(card.text, entity.offset, entity.length) for entity in card.entities if entity.type == "pre"]

    assert [FAKE_STATUS] == blocks
    assert says(card.text.replace(FAKE_STATUS, ""), "card.note.agent")
    assert "\nABC234" not in card.text.replace(FAKE_STATUS, "")


def _within(text: str, offset: int, length: int) -> str:
    return text.encode("utf-16-le")[2 * offset : 2 * (offset + length)].decode("utf-16-le")
