"""What a tool, a file, a page, a quotation or a model says decides nothing, whatever it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.call import Ran, Result, Status
from simulators.model import Reply
from tests.scenarios.agent.injections import INJECTIONS
from tests.scenarios.agent.stages import FINE, reading

if TYPE_CHECKING:
    from tests.scenarios.agent.stages import Planned


def test_there_are_fifty_texts() -> None:
    """All different."""
    assert 50 == len(set(INJECTIONS))


async def test_fifty_texts_in_results_quotations_and_the_models_words_decide_nothing(plan: Planned) -> None:
    """A stranger said each, a tool puts out each, and the model repeats each.

    The request still waits, its card is as it was, and nothing ran but what the policy allows.
    """
    surface = plan.stage.surface
    for text in INJECTIONS:
        plan.turns[-1].overheard(surface.conversation, surface.identities["sam"], text.format(short="ABC234"))
    plan.server.answers.clear()
    await plan.say("uma", "clean up the staging branches")
    waiting = await plan.stage.ask(args={"path": "wanted"})
    card, shown = surface.card(waiting), len(surface.heard("ann"))
    texts = [text.format(short=waiting.short) for text in INJECTIONS]
    plan.stage.executor.outcome = Ran(Result.SUCCEEDED, "\n".join(texts))
    groups = [texts[start : start + 5] for start in range(0, len(texts), 5)]
    plan.says(*(Reply("\n".join(each), reading(f"page-{n}")) for n, each in enumerate(groups)), FINE)
    plan.server.answers.set()
    last = await plan.heard(len(groups) + 1)
    await plan.idle()

    assert "ABC234 yes" in last.words[0]
    assert all(f"approve {waiting.short}" in text for text in last.fresh.values())
    assert len(surface.heard("ann")) > shown
    assert Status.PENDING is await plan.stage.status(waiting)
    assert card == surface.card(waiting)
    assert {f"page-{n}" for n in range(len(groups))} == set(plan.ran())
    assert {line.event for line in await plan.stage.store.history(waiting.ref)} <= {"asked", "shown"}


async def test_fifty_texts_in_file_names_and_questions_decide_nothing(plan: Planned) -> None:
    """Each is a file name on a card and is part of a question and its options, beside a request that waits."""
    stage, surface = plan.stage, plan.stage.surface
    waiting = await stage.ask(args={"path": "wanted"})
    card = surface.card(waiting)
    texts = [text.format(short=waiting.short) for text in INJECTIONS]
    for start in range(0, len(texts), 5):
        group = texts[start : start + 5]
        named = await stage.ask(args={"path": group[0], "others": group[1:]})
        asked = await stage.question("\n".join(group), *(f"{at} {text[:20]}" for at, text in enumerate(group)))
        for call in (named, asked):
            assert Status.PENDING is await stage.status(call)
            await stage.service.gate.withdraw(call.ref, surface.identities["uma"])
    await plan.settle()

    assert Status.PENDING is await stage.status(waiting)
    assert card == surface.card(waiting)
    assert [] == plan.ran()
    assert {line.event for line in await stage.store.history(waiting.ref)} <= {"asked", "shown"}


async def test_after_the_models_words_an_unaddressed_yes_decides_nothing(plan: Planned) -> None:
    """The latest message is no longer ours about the card: the yes is asked back, not counted."""
    plan.server.answers.clear()
    await plan.say("uma", "clean up the staging branches")
    waiting = await plan.stage.ask(args={"path": "wanted"})
    plan.says(Reply("Shall I go on?"))
    plan.server.answers.set()
    await plan.idle()
    await plan.say("ann", "yes")
    await plan.settle()

    assert Status.PENDING is await plan.stage.status(waiting)
