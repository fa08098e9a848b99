"""The scenarios of every surface, over HTTP.

What looks another way over HTTP is said again here, under the same name: a decision always names its call, so words
that name none are never sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from adapters.agents.offline import TOOLS
from hitl.call import Status, Verb
from hitl.outcomes import Refusal, Told
from tests.scenarios.test_a_critical_call import *  # noqa: F403 - the scenarios are what is wanted
from tests.scenarios.test_a_stranger_answers import *  # noqa: F403
from tests.scenarios.test_an_agent_lies import *  # noqa: F403
from tests.scenarios.test_huge_arguments import *  # noqa: F403
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
    from tests.scenarios.http.surface import HttpStage


@pytest.mark.parametrize("verb", [Verb.APPROVE, Verb.REJECT])  # type: ignore[no-redef]
async def test_a_press_decides_nothing(stage: HttpStage, verb: Verb) -> None:
    """An agent's token is refused, on record; for an unlisted approver's token there is no such call."""
    call = await stage.ask()
    await stage.surface.press("sam", call, verb)
    before = await stage.events(call)
    await stage.surface.press("uma", call, verb)

    assert says(stage.last("sam"), Refusal.UNKNOWN_NAME)
    assert says(stage.last("uma"), Refusal.AGENT)
    assert [*before, "refused"] == await stage.events(call)
    assert Status.PENDING == await stage.status(call)


async def test_a_strangers_words_start_nothing(stage: HttpStage) -> None:  # type: ignore[no-redef]
    """A token that isn't an agent's asks for nothing, not even for what the policy allows."""
    body = {"tools": TOOLS, "tool": "read_file", "args": {"path": "notes.txt"}}
    refused = [await stage.surface.clients[who].post("/v1/calls", json=body) for who in ("sam", "ann")]

    assert [(403, "NOT_APPROVER")] * 2 == [(answer.status_code, answer.json()["code"]) for answer in refused]
    assert [] == stage.ran()


@pytest.mark.parametrize("text", ["yes", "ok", "👍"])  # type: ignore[no-redef]
async def test_a_word_is_not_enough(stage: HttpStage, text: str) -> None:
    """Typed at the call, it asks for a second yes that names the call."""
    call = await stage.ask("delete_files", {"pattern": "*"})
    await stage.surface.answer("ann", call, text)

    assert Status.PENDING == await stage.status(call)
    assert says(stage.last("ann"), Told.CONFIRM, short=call.short)


async def test_its_name_is(stage: HttpStage) -> None:  # type: ignore[no-redef]
    """Over HTTP, also a yes that names the call is given twice, with a second between both."""
    call = await stage.ask("delete_files", {"pattern": "*"})
    between = []
    for seconds in (0.5, 0.6):
        await stage.surface.say("ann", f"yes {call.short}")
        between.append(await stage.status(call))
        await stage.wait(seconds)
    await stage.surface.say("ann", f"yes {call.short}")

    assert [Status.PENDING] * 2 == between
    assert Status.SUCCEEDED == await stage.status(call)


async def test_a_new_card_between_takes_the_place_of_the_old(stage: HttpStage) -> None:  # type: ignore[no-redef]
    """A yes that names none of two calls is sent to neither."""
    calls = [await stage.ask(args={"path": path}) for path in ("first", "second")]
    await stage.surface.say("ann", "yes")

    assert [Status.PENDING] * 2 == [await stage.status(call) for call in calls]


@pytest.mark.parametrize("text", ["hm, not sure about that", "yes?", "yes but only the old ones"])  # type: ignore[no-redef]
async def test_it_is_asked_back_and_then_answered(stage: HttpStage, text: str) -> None:
    """Words that are read as unclear decide nothing; the yes that follows counts."""
    call = await stage.ask()
    await stage.surface.answer("ann", call, text)
    between = await stage.status(call)
    await stage.surface.answer("ann", call, "yes")

    assert [Status.PENDING, Status.SUCCEEDED] == [between, await stage.status(call)]


async def test_of_two_programs_with_one_key_one_runs_it(stage: HttpStage) -> None:
    """A request that comes again with the same key is the same call; only the first of two claimants may run it."""
    call = await stage.ask(key="deploy 7")
    again = [await stage.ask(key="deploy 7")]
    await stage.surface.press("ann", call, Verb.APPROVE)
    assert Status.SUCCEEDED == await stage.status(call)
    again.append(await stage.ask(key="deploy 7"))

    assert [call.ref] * 2 == [one.ref for one in again]
    assert 1 == len(stage.ran())
