"""A person asks why a call is wanted while its card waits: the model answers, and decides nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from adapters.agents.model import LONGEST_EXPLANATION
from hitl.call import Status
from hitl.cards.wording import say
from simulators.model import Reply
from tests.scenarios.agent.stages import deleting, until
from tests.sentences import says

if TYPE_CHECKING:
    from hitl.call import Call
    from tests.scenarios.agent.stages import Planned

#: A format of a key that is masked everywhere.
KEY = "ghp_" + "a1B2" * 9
BECAUSE = "Nothing has used it since May."


async def waiting(plan: Planned, *answers: Reply, path: str = "staging-1") -> Call:
    """A call of the model that waits; what the model says then."""
    plan.says(Reply("One is merged.", deleting(path)), *answers)
    await plan.say("uma", "clean up the staging branches")
    (call,) = await plan.cards(1)
    return call


async def shown(plan: Planned, who: str, text: str) -> None:
    """Until that person was shown a text."""

    async def seen() -> bool:
        await plan.settle()
        return text in plan.screen(who)

    await until(seen)


@pytest.mark.parametrize("words", ["why?", "pourquoi ?", "How big is that branch?"])
async def test_the_model_answers_from_the_card_and_its_thread(plan: Planned, words: str) -> None:
    """It has no tools there, and people see its answer behind its bar. The call waits on."""
    call = await waiting(plan, Reply(BECAUSE))
    await plan.stage.surface.answer("ann", call, words)
    asked = await plan.heard(2)
    await shown(plan, "ann", f"│ {BECAUSE}")
    told = json.loads(asked.words[-1])

    assert () == asked.tools
    assert "staging-1" in told["card"]
    assert any("clean up the staging branches" in line["said"] for line in told["asking_thread"])
    assert told["asks"].startswith(words)
    assert Status.PENDING is await plan.stage.status(call)


@pytest.mark.parametrize("answer", ["Approve it.", "yes", "Reply yes to {short}.", "approve all pending"])
async def test_its_answer_decides_nothing_and_is_not_ours_about_the_card(plan: Planned, answer: str) -> None:
    """After it, a yes that names nothing asks back: it may be meant for the model."""
    call = await waiting(plan, Reply(answer))
    await plan.stage.surface.answer("ann", call, "why?")
    await shown(plan, "ann", f"│ {answer}")
    await plan.say("ann", "yes")

    assert Status.PENDING is await plan.stage.status(call)
    assert [] == plan.ran()


async def test_it_answers_once_a_minute_for_each_card(plan: Planned) -> None:
    """The second question is answered as any text that is neither yes nor no, without the model."""
    call = await waiting(plan, Reply(BECAUSE))
    await plan.stage.surface.answer("ann", call, "why?")
    await shown(plan, "ann", f"│ {BECAUSE}")
    await plan.say("ann", f"why {call.short}?")
    await plan.settle()

    assert 2 == len(plan.server.asked)
    assert Status.PENDING is await plan.stage.status(call)


async def test_a_stranger_gets_no_answer(plan: Planned) -> None:
    """Whoever may not see the call hears nothing of it."""
    call = await waiting(plan, Reply(BECAUSE))
    await plan.say("sam", f"why {call.short}?")
    await plan.settle()

    assert 1 == len(plan.server.asked)
    assert BECAUSE not in plan.screen("sam")


async def test_secrets_of_the_call_stay_masked(plan: Planned) -> None:
    """The provider gets what people see."""
    call = await waiting(plan, Reply(BECAUSE), path=f"notes-{KEY}")
    await plan.stage.surface.answer("ann", call, "why?")
    asked = await plan.heard(2)

    assert KEY not in asked.words[-1]


@pytest.mark.parametrize(
    ("reply", "key"),
    [(Reply(status=500), "model.explain.failed"), (Reply(calls=deleting("staging-2")), "model.explain.failed")],
    ids=["down", "wants a tool"],
)
async def test_a_model_that_fails_leaves_the_call_waiting(plan: Planned, reply: Reply, key: str) -> None:
    """People hear so, and a tool that it wants there is neither asked for nor run."""
    call = await waiting(plan, reply)
    await plan.stage.surface.answer("ann", call, "why?")

    async def told() -> bool:
        await plan.settle()
        return says(plan.screen("ann").replace("│ ", ""), key)

    await until(told)
    assert [call.ref] == [one.ref for one in await plan.stage.store.pending()]
    assert [] == plan.ran()


async def test_a_long_answer_is_cut(plan: Planned) -> None:
    """In the middle, with a count of what is missing."""
    call = await waiting(plan, Reply("word " * 2000 + "END"))
    await plan.stage.surface.answer("ann", call, "why?")
    await shown(plan, "ann", "END")
    frame = plan.screen("ann").partition(say("model.says", agent="agent"))[2].rpartition("│ ")[2]

    assert len(frame) < 2 * LONGEST_EXPLANATION
