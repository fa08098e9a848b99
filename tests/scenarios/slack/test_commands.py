"""`/sayso`: what waits, one call whole, yes and no, taking back, who I am. Everything is answered alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hitl.call import Status
from hitl.cards.wording import say
from hitl.outcomes import Refusal
from tests.scenarios.harness import saying
from tests.scenarios.slack.surface import in_one
from tests.sentences import says

if TYPE_CHECKING:
    from tests.scenarios.slack.surface import SlackStage


async def whispered(stage: SlackStage, who: str, text: str) -> str:
    """What that person is told, alone, to a command."""
    before = len(stage.surface.whispers(who))
    posted = len(stage.surface.posted())
    await stage.surface.command(who, text)
    assert posted == len(stage.surface.posted()) or text.startswith(("approve", "reject", "withdraw"))
    return "\n".join(stage.surface.whispers(who)[before:])


@pytest.mark.parametrize("text", ["", "help", "what?", "HELP me"])
async def test_help_names_every_command(stage: SlackStage, text: str) -> None:
    """Also to what is no command."""
    told = await whispered(stage, "sam", text)

    assert all(
        f"/sayso {word}" in told for word in ("pending", "sessions", "show", "approve", "reject", "withdraw", "whoami")
    )


async def test_whoami_tells_the_id_for_the_configuration(stage: SlackStage) -> None:
    """Team and user."""
    assert stage.surface.identities["sam"] in await whispered(stage, "sam", "whoami")


async def test_pending_lists_what_waits_for_one(stage: SlackStage) -> None:
    """Those who may see it; nobody else."""
    call = await stage.ask()

    assert call.short in await whispered(stage, "ann", "pending")
    assert call.short in await whispered(stage, "uma", "pending")
    assert say("chat.pending.none") == await whispered(stage, "sam", "pending")


async def test_agents_that_wait_are_listed_by_their_sessions(stage: SlackStage) -> None:
    """`/sayso sessions` names agent, session and folder to those who may see the requests, and to nobody else."""
    call = await stage.ask(session="s-17", cwd="/srv/shop")
    told = await whispered(stage, "ann", "sessions")

    assert all(part in told for part in ("offline", "shop", "s-17", "/srv/shop", call.short))
    assert call.short in await whispered(stage, "uma", "sessions")
    assert say("chat.sessions.none") == await whispered(stage, "sam", "sessions")


async def test_the_home_tab_lists_what_waits_for_one_anywhere(stage: SlackStage) -> None:
    """Whoever opens it sees each pending request that concerns them, with a link to its card."""
    call = await stage.ask()
    room = stage.surface
    for who in ("ann", "sam"):
        await room.server.open_home(room.people[who])
    await room.settle()
    homes = {view.user_id: view for view in room.server.world.views.values() if view.kind == "home"}
    for_ann, for_sam = (str(homes[room.people[who].id].body) for who in ("ann", "sam"))
    (message,) = (await stage.store.cards(call.ref)).values()

    assert call.short in for_ann
    assert f"/archives/{room.room.id}/p{str(message).partition(':')[2].replace('.', '')}" in for_ann
    assert call.short not in for_sam
    assert says(for_sam, "chat.pending.nowhere")


async def test_status_counts_what_pending_lists(stage: SlackStage) -> None:
    """The cards in a channel's threads are its own."""
    await stage.ask()

    assert says(await whispered(stage, "ann", "status"), "chat.status", count=1)
    assert says(await whispered(stage, "sam", "status"), "chat.status", count=0)


async def test_show_opens_a_window(stage: SlackStage) -> None:
    """For those who may see it."""
    call = await stage.ask(args={"path": "a/long/way.txt"})
    await stage.surface.command("uma", f"show {call.short.lower()}")
    (window,) = await stage.surface.server.views(stage.surface.people["uma"])

    assert "a/long/way.txt" in in_one(window)
    assert says(await whispered(stage, "sam", f"show {call.short}"), Refusal.UNKNOWN, short=call.short)
    assert says(await whispered(stage, "ann", "show it"), "chat.usage", command="/sayso show")


@pytest.mark.parametrize(("verb", "status"), [("approve", Status.SUCCEEDED), ("reject", Status.REJECTED)])
async def test_a_call_is_decided_by_its_name(stage: SlackStage, verb: str, status: Status) -> None:
    """Given in the channel, for a card in one of its threads."""
    call = await stage.ask()
    await stage.surface.command("ann", f"{verb} {call.short}")

    assert status == await stage.status(call)


async def test_not_from_another_channel(stage: SlackStage) -> None:
    """There it isn't asked about."""
    call = await stage.ask()
    room = stage.surface
    other = await room.server.channel("other", members=[*room.people.values(), room.app.bot])
    await room.server.command(room.people["ann"], other, "/sayso", f"approve {call.short}")
    await room.settle()

    assert Status.PENDING == await stage.status(call)
    assert saying(room.whispers("ann"), Refusal.PLACE, short=call.short)


async def test_whoever_asked_takes_it_back(stage: SlackStage) -> None:
    """Nobody else."""
    call = await stage.ask()
    told = await whispered(stage, "ann", f"withdraw {call.short}")
    between = await stage.status(call)
    await stage.surface.command("uma", f"withdraw {call.short}")

    assert says(told, Refusal.WITHDRAW, short=call.short)
    assert [Status.PENDING, Status.WITHDRAWN] == [between, await stage.status(call)]


async def test_it_works_where_the_app_is_no_member(stage: SlackStage) -> None:
    """The answer takes the way that came with the command."""
    room = stage.surface
    away = await room.server.channel("away", members=list(room.people.values()))
    await room.server.command(room.people["ann"], away, "/sayso", "whoami")
    await room.settle()

    assert any(room.identities["ann"] in text for text in room.whispers("ann"))
