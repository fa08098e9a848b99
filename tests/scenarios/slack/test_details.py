"""The whole of a call, page by page, for one person alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.call import Status, Verb
from hitl.cards.wording import say
from hitl.outcomes import Refusal
from simulators.slack import Refuse
from tests.scenarios.harness import saying
from tests.scenarios.slack.surface import in_one
from tests.sentences import says

if TYPE_CHECKING:
    from simulators.slack import Message, View
    from tests.scenarios.slack.surface import SlackStage

_NO_WAY = {
    "views.open": Refuse("missing_scope"),
    "chat.postEphemeral": Refuse("not_in_channel"),
    "response_url": Refuse("used_url", 404),
}
MORE, BACK = say("window.page.next"), say("window.page.before")
LONG = {"command": "\n".join(f"echo line-{number} {'🗑' * 9}" for number in range(900))}


async def turned(stage: SlackStage, shown: View | Message, label: str) -> View:
    """The page after that button was pressed."""
    room = stage.surface
    await room.server.press(room.people["ann"], shown, label)
    await room.settle()
    return (await room.server.views(room.people["ann"]))[-1]


async def test_every_line_is_on_some_page(stage: SlackStage) -> None:
    """In order, there and back; nobody else sees any of it."""
    call = await stage.ask("bash", LONG)
    room = stage.surface
    await room.press("ann", call, Verb.DETAILS)
    pages = [(await room.server.views(room.people["ann"]))[-1]]
    while MORE in pages[-1].shown.labels:
        pages.append(await turned(stage, pages[-1], MORE))
    back = await turned(stage, pages[-1], BACK)
    text = "".join(in_one(page) for page in pages)

    assert 3 <= len(pages)
    assert in_one(pages[-2]) == in_one(back)
    assert all(f"line-{number} " in text for number in range(900))
    assert [] == await room.server.views(room.people["bob"])
    assert not any("line-500" in one.shown.text for one in room.posted())


async def test_who_may_not_decide_is_shown_nothing(stage: SlackStage) -> None:
    """A stranger who presses is refused, alone."""
    call = await stage.ask("bash", LONG)
    await stage.surface.press("sam", call, Verb.DETAILS)

    assert [] == await stage.surface.server.views(stage.surface.people["sam"])
    assert saying(stage.surface.whispers("sam"), Refusal.STRANGER, who=stage.name("sam"), short=call.short)


async def test_where_no_window_opens_they_are_whispered(stage: SlackStage) -> None:
    """The pages that follow are windows again; what was whispered counts as shown."""
    call = await stage.ask("bash", LONG)
    room = stage.surface
    await room.server.fail("views.open", Refuse("expired_trigger_id"))
    await room.press("ann", call, Verb.DETAILS)
    whispered = await room.server.wait_ephemeral(room.people["ann"], button=MORE)
    second = await turned(stage, whispered, MORE)
    await room.press("ann", call, Verb.APPROVE)

    assert "line-0 " in whispered.shown.text
    assert says(second.shown.text, "window.page", page=2)
    assert Status.SUCCEEDED == await stage.status(call)


async def test_what_could_not_be_shown_does_not_count_as_seen(stage: SlackStage) -> None:
    """No window, no whisper, no other way: that is said in private, and a yes still wants the details."""
    call = await stage.ask("bash", LONG)
    room = stage.surface
    for method, refusal in _NO_WAY.items():
        await room.server.fail(method, refusal, times=30)
    await room.press("ann", call, Verb.DETAILS)
    await room.press("ann", call, Verb.APPROVE)
    blind = await stage.status(call)
    await room.server.heal()
    await room.press("ann", call, Verb.DETAILS)
    await room.press("ann", call, Verb.APPROVE)
    private = room.posted(await room.server.direct(room.people["ann"], room.app))

    assert saying((one.shown.text for one in private), "chat.not_shown", short=call.short)
    assert [Status.PENDING, Status.SUCCEEDED] == [blind, await stage.status(call)]
