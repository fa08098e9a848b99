"""Who people are: by id on every list; by address only if that is switched on; organisations with many workspaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hitl.call import Status
from hitl.records import replace
from simulators.slack import SlackServer
from tests.scenarios.slack.surface import Room, SlackStage, staged

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from simulators.slack import User


@pytest.fixture(params=[True, False])
async def by_address(request: pytest.FixtureRequest) -> AsyncIterator[SlackStage]:
    """The stage, where addresses count or don't; Ann is listed by hers alone."""
    async with staged("socket", emails=request.param) as stage:
        address = stage.surface.people["ann"].email
        await stage.again(approvers=("ann",), principals={"ann": (f"email:{address}",)})
        yield stage


async def test_an_address_counts_only_if_that_is_switched_on(by_address: SlackStage) -> None:
    """By press, words, reaction and command alike."""
    stage, room = by_address, by_address.surface
    calls = [await stage.ask(args={"path": str(number)}) for number in range(4)]
    people = room.people
    await room.server.press(people["ann"], room.message(calls[0]), "sayso:approve")
    await room.write("ann", f"yes {calls[1].short}")
    await room.server.react(people["ann"], room.message(calls[2]), "+1")
    await room.settle()
    await room.command("ann", f"approve {calls[3].short}")
    switched_on = stage.settings["emails"]
    wanted = Status.SUCCEEDED if switched_on else Status.PENDING

    assert [wanted] * 4 == [await stage.status(call) for call in calls]
    assert ["ann"] * 4 == [(await known(stage, call.ref)) for call in calls] or not switched_on


async def known(stage: SlackStage, ref: str) -> str | None:
    """Who decided, as the record has it."""
    stored = await stage.store.get(ref)
    assert stored is not None
    return stored.decided_by


async def test_in_an_organisation_people_keep_their_workspace() -> None:
    """Whatever they do, and wherever: the same id by press, words, reaction and command."""
    async with SlackServer() as server:
        home = await server.team("Acme", enterprise="E1")
        away = await server.team("Labs", enterprise="E1")
        app = await server.app(team=home, org_wide=True)
        people: dict[str, User] = {who: await server.user(who, team=away) for who in ("uma", "ann", "bob", "sam")}
        room = await server.channel("ops", members=[*people.values(), app.bot], team=home)
        surface = Room(server, app, room, people)
        surface.home = "E1"
        stage = SlackStage(surface, "socket")
        await stage.start()
        calls = [await stage.ask(args={"path": str(number)}) for number in range(4)]
        await server.press(people["ann"], stage.surface.message(calls[0]), "sayso:approve")
        await stage.surface.write("ann", f"yes {calls[1].short}")
        await server.react(people["ann"], stage.surface.message(calls[2]), "+1")
        await stage.surface.settle()
        await stage.surface.command("ann", f"approve {calls[3].short}")
        decided = [await known(stage, call.ref) for call in calls]
        await stage.halt()

    assert [f"slack:{away.id}/{people['ann'].id}"] * 4 == decided


async def test_an_address_is_asked_for_again_before_each_decision() -> None:
    """A person who lost the address a moment ago decides nothing by it, though it was known ten minutes long."""
    async with staged("socket", emails=True) as stage:
        room, address = stage.surface, stage.surface.people["ann"].email
        await stage.again(approvers=("ann",), principals={"ann": (f"email:{address}",)})
        first, second = await stage.ask(args={"path": "1"}), await stage.ask(args={"path": "2"})
        await room.command("ann", f"approve {first.short}")
        ann = room.server.world.users[room.people["ann"].id]
        room.server.world.users[ann.id] = replace(ann, email="someone@else.example")
        await room.command("ann", f"approve {second.short}")

        assert [Status.SUCCEEDED, Status.PENDING] == [await stage.status(call) for call in (first, second)]
