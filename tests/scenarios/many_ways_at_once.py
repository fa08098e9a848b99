"""Everybody answers at the same moment, each in every way: one decision, and all others are told.

Imported by each platform with cards: the surface must have `command` and `message`.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from hitl.call import Reply, ReplyKind, Status, Verb
from hitl.cards.wording import say
from hitl.outcomes import Refusal
from tests.scenarios.from_a_script import seen
from tests.sentences import says

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator

    from hitl.call import Call
    from hitl.gate.response import Answer

PEOPLE = ("ann", "bob")


def acts(stage: Any, call: Call, who: str, verb: Verb) -> Iterator[Awaitable[Any]]:
    """Every way that a platform has."""
    words, sign = {Verb.APPROVE: ("yes", "👍"), Verb.REJECT: ("no", "👎")}[verb]
    yield stage.surface.press(who, call, verb)
    yield stage.surface.say(who, f"{words} {call.short}")
    yield stage.surface.react(who, call, sign)
    yield stage.surface.command(who, f"{verb} {call.short}")


async def over_the_socket(stage: Any, call: Call, who: str, verb: Verb) -> Answer:
    """And by a command on the machine."""
    reply = Reply(stage.surface.identities[who], "socket", "local", ReplyKind.API, verb=verb, target=call.ref)
    (answer,) = await stage.service.decide(reply)
    found: Answer = answer
    return found


@pytest.mark.parametrize("verbs", [(Verb.APPROVE, Verb.APPROVE), (Verb.APPROVE, Verb.REJECT)])
async def test_one_wins_and_all_others_are_told(stage: Any, verbs: tuple[Verb, Verb]) -> None:
    """At most one run; nine come late, on record, and everybody hears of it where they are."""
    call = await stage.ask()
    ways = [act for who, verb in zip(PEOPLE, verbs, strict=True) for act in acts(stage, call, who, verb)]
    local = [over_the_socket(stage, call, who, verb) for who, verb in zip(PEOPLE, verbs, strict=True)]
    answering = asyncio.ensure_future(asyncio.gather(*local))
    await asyncio.gather(*ways)
    answers = await answering
    status = await stage.status(call)
    events = await stage.events(call)
    late = [answer for answer in answers if answer.fact and answer.fact.what == Refusal.DECIDED]

    assert (1, 9) == (events.count("approved") + events.count("rejected"), events.count("late"))
    assert 1 == len(await stage.store.votes(call.ref))
    assert len(stage.ran()) == (status is Status.SUCCEEDED)
    assert len(late) >= 1
    assert all(stage.surface.told(who, Refusal.DECIDED, short=call.short) for who in PEOPLE)
    assert says(seen(stage, call), "by.approved" if status is Status.SUCCEEDED else "by.rejected")
    assert say("button.approve") not in stage.surface.message(call).labels
