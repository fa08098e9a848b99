"""A script on the machine asks, where there is no chat; the card stands where cards go by default.

Scenarios of platforms with cards, imported by each: `stage.surface` must have `command` and `message`.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from adapters.agents.offline import TOOLS
from bot.surfaces import surfaces
from hitl.call import Ask, Ran, Result, Runs, Status, Verb
from hitl.cards.wording import say
from hitl.gate import secret_hash
from hitl.outcomes import Refusal, Told
from hitl.records import replace
from tests.scenarios.harness import saying
from tests.sentences import says

if TYPE_CHECKING:
    from hitl.call import Call

SECRET = "only the script knows"
ARGV = ["env", "TZ=UTC", "xargs", "-a", "old", "gzip"]


async def asked(stage: Any, route: str = "") -> Call:
    """A script of Uma's asks, on a machine whose calls go to this conversation, or another one."""
    gate = stage.service.gate
    gate.people = replace(gate.people, routes=(route or stage.surface.conversation,))
    ask = Ask(TOOLS, "delete_file", {"argv": ARGV}, stage.surface.identities["uma"], "local", Runs.CALLER, agent="ask")
    call: Call = (await stage.service.submit(ask)).call
    await stage.surface.settle()
    return call


async def answered(stage: Any, call: Call, way: str, verb: Verb) -> None:
    """Ann answers in that way."""
    words, sign = {Verb.APPROVE: ("yes", "👍"), Verb.REJECT: ("no", "👎")}[verb]
    ways = {
        "a press": lambda: stage.surface.press("ann", call, verb),
        "a reply": lambda: stage.surface.answer("ann", call, words),
        "its name": lambda: stage.surface.say("ann", f"{words} {call.short}"),
        "a reaction": lambda: stage.surface.react("ann", call, sign),
        "a command": lambda: stage.surface.command("ann", f"{verb} {call.short}"),
    }
    await ways[way]()


WAYS = ("a press", "a reply", "its name", "a reaction", "a command")


@pytest.mark.parametrize("way", WAYS)
async def test_a_yes_comes_back_to_the_script(stage: Any, way: str) -> None:
    """It is woken, claims, runs, and reports; the card says so, and nothing live is left on it."""
    call = await asked(stage)
    waiting = asyncio.create_task(stage.service.decided(call, 5.0))
    await answered(stage, call, way, Verb.APPROVE)

    assert Status.APPROVED == (await waiting).status
    lease = await stage.service.gate.claim(call.ref, "script", secret_hash(SECRET))
    await stage.service.gate.finish(call.ref, SECRET, Ran(Result.SUCCEEDED))
    await stage.surface.settle()
    assert {"argv": ARGV} == lease.call.arguments
    assert says(seen(stage, call), "by.approved")
    assert say("button.approve") not in stage.surface.message(call).labels


@pytest.mark.parametrize("way", WAYS)
async def test_a_no_comes_back_to_the_script(stage: Any, way: str) -> None:
    """It is woken, and there is nothing to claim."""
    call = await asked(stage)
    waiting = asyncio.create_task(stage.service.decided(call, 5.0))
    await answered(stage, call, way, Verb.REJECT)

    assert Status.REJECTED == (await waiting).status
    assert says(seen(stage, call), "by.rejected")


@pytest.mark.parametrize("way", WAYS)
async def test_when_it_was_said_is_on_record(stage: Any, way: str) -> None:
    """With when it counted; where the platform doesn't say, as it came in."""
    call = await asked(stage)
    await answered(stage, call, way, Verb.APPROVE)
    (vote,) = await stage.store.votes(call.ref)
    (approved,) = [line for line in await stage.store.history(call.ref) if line.event == "approved"]

    assert vote.pressed_at is not None
    assert vote.pressed_at.isoformat() == json.loads(approved.data)["pressed_at"]


async def test_its_card_names_what_would_run(stage: Any) -> None:
    """The line as it would be typed, with every program of its command."""
    assert "env TZ=UTC xargs -a old gzip" in " ".join(seen(stage, await asked(stage)).split())


async def test_a_yes_to_the_room_is_asked_about(stage: Any) -> None:
    """Typed where the card stands, and pointing to nothing: approvers are told how to answer, others left alone."""
    call = await asked(stage, room(stage))
    for who in ("sam", "ann"):
        await stage.surface.server.say(stage.surface.people[who], stage.surface.room, "ok, proceed")
        await stage.surface.settle()

    assert Status.PENDING == await stage.status(call)
    assert 1 == len(saying(stage.surface.heard("ann"), Told.POINT, short=call.short))
    assert [] == told_alone(stage, "sam")


async def test_an_approval_that_no_script_takes_lapses(stage: Any) -> None:
    """The script died meanwhile: people are told that nothing ran."""
    call = await asked(stage)
    await answered(stage, call, "a press", Verb.APPROVE)
    await stage.wait(301)

    assert says(seen(stage, call), "ending.lapsed")


async def test_a_script_that_gives_up_takes_its_card_along(stage: Any) -> None:
    """The card says so, and whoever presses what was on its way hears it."""
    call = await asked(stage)
    await stage.service.gate.withdraw(call.ref, stage.surface.identities["uma"])
    await stage.surface.settle()
    await stage.surface.press("ann", call, Verb.APPROVE)
    told = stage.service.gate.names.of(stage.surface.identities["uma"])

    assert says(seen(stage, call), "by.withdrawn")
    assert say("button.approve") not in stage.surface.message(call).labels
    assert stage.surface.told("ann", Refusal.DECIDED, short=call.short, outcome=say("outcome.withdrawn", by=told))


def seen(stage: Any, call: Call) -> str:
    """The card as it is now, as text."""
    message = stage.surface.message(call)
    return str(getattr(message, "shown", message).text)


def room(stage: Any) -> str:
    """The group or channel as a whole."""
    place = stage.surface.conversation
    return surfaces()[place.partition(":")[0]].place(place).room


def told_alone(stage: Any, who: str) -> list[str]:
    """What nobody else saw."""
    return stage.surface.whispers(who) if hasattr(stage.surface, "whispers") else []
