"""The whole of a cut call as a file, in the thread of its card."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from hitl.call import Event, Status, Verb
from hitl.cards.card import whole
from hitl.people import Conversation
from simulators.slack import Garbage, Refuse
from tests.patience import PATIENCE_S
from tests.scenarios.harness import saying

if TYPE_CHECKING:
    from hitl.call import Call
    from simulators.slack import Channel, Message
    from simulators.slack.faults import Fault
    from tests.scenarios.slack.surface import SlackStage

GET, SEND, COMPLETE = "files.getUploadURLExternal", "upload", "files.completeUploadExternal"
#: A value of the form that a provider gives its keys; nothing opens with it.
SECRET = "ghp_" + "a1B2" * 9
LONG = {"command": "\n".join([f"echo line-{number}" for number in range(400)] + [f"export TOKEN={SECRET}"])}


def files(stage: SlackStage, room: Channel | None = None) -> list[Message]:
    """The app's messages that carry a file."""
    return [one for one in stage.surface.posted(room) if one.files]


async def recorded(stage: SlackStage, call: Call, count: int = 1) -> None:
    """Wait until the record says so many times that a file was sent."""

    def sent() -> bool:
        entries = [entry for change in stage.store.changes for entry in change.entries]
        return count <= sum(entry.ref == call.ref and entry.event is Event.ATTACHED for entry in entries)

    await stage.surface.server.wait_for(sent, timeout=PATIENCE_S, what="a file on record")
    await stage.surface.settle()


async def test_details_of_a_cut_card_put_the_whole_call_below_it_once(stage: SlackStage) -> None:
    """The first press sends one snippet into the card's thread; another person's press and a second one send none."""
    room = stage.surface
    call = await stage.ask("bash", LONG)
    for who in ("ann", "bob", "ann"):
        await room.press(who, call, Verb.DETAILS)
    await recorded(stage, call)
    (below,) = files(stage)
    (file,) = below.files
    (begun,) = await room.server.calls(GET)

    assert whole(call).text == file.content.decode()
    assert (f"{call.short}.txt", "text") == (file.name, file.snippet)
    assert str(len(file.content)) == str(begun.params["length"])
    assert room.root.ts == below.thread_ts


async def test_a_file_is_masked_as_its_card_is(stage: SlackStage) -> None:
    """A secret that the card masks doesn't appear in the file either."""
    call = await stage.ask("bash", LONG)
    await stage.surface.press("ann", call, Verb.DETAILS)
    await recorded(stage, call)
    (below,) = files(stage)

    assert "line-399" in below.files[0].content.decode()
    assert SECRET not in below.files[0].content.decode()


async def test_a_card_that_shows_everything_has_no_file(stage: SlackStage) -> None:
    """Nothing is left out, so nothing is uploaded; an ended call gets no file either."""
    room = stage.surface
    short, long = await stage.ask(), await stage.ask("bash", LONG)
    await room.press("ann", short, Verb.DETAILS)
    await room.press("ann", long, Verb.REJECT)
    await room.press("ann", long, Verb.DETAILS)

    assert [] == await room.server.calls(GET)


async def test_a_restart_sends_no_file_again(stage: SlackStage) -> None:
    """The record knows which card has its file."""
    room = stage.surface
    call = await stage.ask("bash", LONG)
    await room.press("ann", call, Verb.DETAILS)
    await recorded(stage, call)
    await stage.again()
    await room.press("ann", call, Verb.DETAILS)

    assert 1 == len(files(stage))


async def test_each_card_has_its_own_file(stage: SlackStage) -> None:
    """Where the card goes to each approver in private, each finds the file in the thread of their own card."""
    room = stage.surface
    place = f"slack:{room.app.team_id}/{room.room.id}"
    await stage.again(conversations={place: Conversation(place, routes=("approvers",))})
    call = await stage.ask("bash", LONG)
    await room.settle()
    rooms = {who: await room.server.direct(room.people[who], room.app) for who in ("ann", "bob")}
    cards = {who: next(one for one in room.posted(rooms[who]) if one.labels) for who in rooms}
    for number, (who, card) in enumerate(cards.items(), 1):
        await room.pressed(who, card, Verb.DETAILS)
        await recorded(stage, call, number)

    assert {who: [card.ts] for who, card in cards.items()} == {
        who: [one.thread_ts for one in files(stage, rooms[who])] for who in rooms
    }


@pytest.mark.parametrize("bare", ["yes", "no"])
async def test_a_bare_answer_below_the_file_still_counts(stage: SlackStage, bare: str) -> None:
    """The file is ours and about the call, so an answer right below it answers the card."""
    room = stage.surface
    call = await stage.ask("bash", LONG)
    await room.press("ann", call, Verb.DETAILS)
    await recorded(stage, call)
    await room.write("ann", bare)

    assert {"yes": Status.SUCCEEDED, "no": Status.REJECTED}[bare] == await stage.status(call)


@pytest.mark.parametrize("step", [GET, SEND, COMPLETE])
@pytest.mark.parametrize("fault", [Refuse("missing_scope"), Refuse("internal_error", 500), Garbage(404)])
async def test_a_refused_upload_is_told_and_harms_no_card(stage: SlackStage, step: str, fault: Fault) -> None:
    """The person who pressed is told alone; their yes counts, because they saw the details in the window."""
    room = stage.surface
    call = await stage.ask("bash", LONG)
    # A refusal of the upload's own address is a status: this address answers with text, not with a method's JSON.
    refusal = Refuse("missing_scope", 403) if step == SEND and fault == Refuse("missing_scope") else fault
    await room.server.fail(step, refusal, times=9)
    await room.press("ann", call, Verb.DETAILS)
    await room.server.wait_for(
        lambda: saying(room.whispers("ann"), "chat.no_file", short=call.short), timeout=PATIENCE_S, what="an answer"
    )
    await room.press("ann", call, Verb.APPROVE)

    assert [] == files(stage)
    assert [] == saying(room.whispers("bob"), "chat.no_file")
    assert Status.SUCCEEDED == await stage.status(call)


async def test_the_next_press_tries_a_refused_upload_again(stage: SlackStage) -> None:
    """A file that wasn't sent isn't on record as sent."""
    room = stage.surface
    call = await stage.ask("bash", LONG)
    await room.server.fail(COMPLETE, Refuse("channel_not_found"))
    await room.press("ann", call, Verb.DETAILS)
    await room.server.wait_for(
        lambda: saying(room.whispers("ann"), "chat.no_file"), timeout=PATIENCE_S, what="an answer"
    )
    await room.press("ann", call, Verb.DETAILS)
    await recorded(stage, call)
    (line,) = [one for one in await stage.store.history(call.ref) if one.event == Event.ATTACHED]

    assert 1 == len(files(stage))
    assert {"card": stage.surface.message(call).ts} == {
        "card": json.loads(line.data)["card"].partition(":")[2],
    }
