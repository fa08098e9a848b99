"""What people can ask the bot for, and who gets an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from adapters.agents.offline import TOOLS
from hitl.call import Ask, Entry, Event, Runs, Status
from hitl.cards.masked import masked
from hitl.cards.wording import say
from hitl.outcomes import Refusal, Told
from hitl.ports import Change, adding
from hitl.testing import a_call
from tests.hitl.large import Beside
from tests.sentences import says

if TYPE_CHECKING:
    from tests.scenarios.telegram.surface import TelegramStage


async def said(stage: TelegramStage, who: str, text: str) -> str:
    """What the bot answers to a message in the group."""
    group = stage.surface
    before = len(group.posted())
    await group.server.say(group.people[who], group.room, text)
    await group.settle()
    return "\n".join(message.text for message in group.posted()[before:])


async def test_a_call_can_be_decided_by_its_ref(stage: TelegramStage) -> None:
    """However it is typed; a no takes its reason along."""
    one, other = await stage.ask(args={"path": "a"}), await stage.ask(args={"path": "b"})
    yes = await said(stage, "ann", f"/approve #{one.short.lower()}")
    no = await said(stage, "bob", f"/reject {other.short}\nbecause it is mine")
    stored = await stage.store.get(other.ref)

    assert says(yes, Told.APPROVED, short=one.short)
    assert says(no, Told.REJECTED_WITH_REASON, short=other.short, reason="it is mine")
    assert stored is not None
    assert [Status.SUCCEEDED, Status.REJECTED] == [await stage.status(one), await stage.status(other)]
    assert "it is mine" == stored.reason


async def test_new_makes_the_agent_forget_for_those_who_may_ask(stage: TelegramStage) -> None:
    """`/new` is a command; anybody else hears that they may not ask here."""
    assert say("model.forgotten") == await said(stage, "uma", "/new")
    assert not says(await said(stage, "sam", "/new"), "model.forgotten")


async def test_what_waits_is_listed_for_those_whom_it_concerns(stage: TelegramStage) -> None:
    """One line each; a stranger sees nothing of it, nor its details."""
    calls = [await stage.ask(args={"path": name}) for name in "ab"]
    listed = await said(stage, "ann", "/pending")
    for_sam = await said(stage, "sam", "/pending")
    shown_sam = await said(stage, "sam", f"/show {calls[0].short}")
    explained = await said(stage, "sam", f"@{stage.surface.bot.user.username} details?")

    assert [call.short for call in calls] == [line.split()[0] for line in listed.split("\n")]
    assert say("chat.pending.none") == for_sam
    assert say(Refusal.UNKNOWN, short=calls[0].short) == shown_sam
    assert say("chat.pending.none") == explained


async def test_in_private_all_that_waits_for_one_is_listed_with_where(stage: TelegramStage) -> None:
    """`/pending` in private lists requests of every chat by headline, with the address of a card in a supergroup."""
    here = await stage.ask(args={"path": "a"})
    group = stage.surface
    forum = await group.server.supergroup("Other", members=group.people.values(), bots=[group.bot.user])
    place, uma = f"telegram:{forum.id}", group.identities["uma"]
    there = (await stage.service.submit(Ask(TOOLS, "delete_file", {"path": "b"}, uma, place, Runs.SERVICE))).call
    await group.settle()
    listed = await told_in_private(stage, "ann", "/pending")
    for_sam = await told_in_private(stage, "sam", "/pending")

    assert [here.short, there.short] == [line.split()[0] for line in listed.split("\n") if "·" in line]
    (message,) = (await stage.store.cards(there.ref)).values()
    assert f"https://t.me/c/{str(forum.id).removeprefix('-100')}/{str(message).partition(':')[2]}" in listed
    assert say("chat.pending.nowhere") == for_sam


async def test_agents_that_wait_are_listed_by_their_sessions(stage: TelegramStage) -> None:
    """`/sessions` names agent, session and folder; in private with the address of a card. A stranger sees nothing."""
    group = stage.surface
    for path in "ab":
        last = await stage.ask(args={"path": path}, session="s-17", cwd="/srv/shop")
    unnamed = await stage.ask(args={"path": "c"})
    forum = await group.server.supergroup("Other", members=group.people.values(), bots=[group.bot.user])
    place, uma = f"telegram:{forum.id}", group.identities["uma"]
    asked = Ask(TOOLS, "delete_file", {"path": "d"}, uma, place, Runs.SERVICE, agent="codex", session="s-18")
    there = (await stage.service.submit(asked)).call
    await group.settle()
    here, private = await said(stage, "ann", "/sessions"), await told_in_private(stage, "ann", "/sessions")

    assert all(part in here for part in ("offline", "shop", "s-17", "/srv/shop", last.short))
    assert not any(part in here for part in ("s-18", unnamed.short))
    assert all(part in private for part in ("s-17", "s-18", "codex", there.short))
    (message,) = (await stage.store.cards(there.ref)).values()
    assert f"https://t.me/c/{str(forum.id).removeprefix('-100')}/{str(message).partition(':')[2]}" in private
    assert say("chat.sessions.nowhere") == await told_in_private(stage, "sam", "/sessions")


@pytest.mark.parametrize("words", ["/pending", "/sessions", "/show REF", "@BOT details?"])
async def test_a_large_request_is_masked_outside_the_event_loop(stage: TelegramStage, words: str) -> None:
    """The texts of a request from before a restart are made where nobody else waits for them."""
    place, people = stage.surface.conversation, stage.surface.identities
    args = msgspec.json.encode({"path": f"{words} " * 5000})
    asked = {"requester": people["uma"], "origin": place, "approvers": (people["ann"],), "session": "s-17"}
    call = a_call(stage.clock.now(), args=args, **asked)
    await stage.store.commit(adding(Change(call, entries=(Entry(call.ref, Event.ASKED, people["uma"], {}),))))
    stage.service.gate.beside = beside = Beside()
    await said(stage, "ann", words.replace("REF", call.short).replace("@BOT", f"@{stage.surface.bot.user.username}"))

    assert [masked(call)] == beside.made


async def test_status_counts_what_pending_lists(stage: TelegramStage) -> None:
    """In a group and in private."""
    await stage.ask()

    assert says(await said(stage, "ann", "/status"), "chat.status", count=1)
    assert says(await told_in_private(stage, "ann", "/status"), "chat.status", count=1)
    assert says(await told_in_private(stage, "sam", "/status"), "chat.status", count=0)


async def told_in_private(stage: TelegramStage, who: str, text: str) -> str:
    """What the bot answers to a person in private."""
    group = stage.surface
    room = await group.server.private(group.people[who], group.bot.id)
    before = len(room.messages)
    await group.server.say(group.people[who], room, text)
    await group.settle()
    return "\n".join(one.text for one in list(room.messages.values())[before:] if one.author_bot)


async def test_a_call_is_shown_whole(stage: TelegramStage) -> None:
    """With how it stands."""
    call = await stage.ask(args={"path": "notes.txt"})
    shown = await said(stage, "bob", f"/show {call.short}")

    assert '"path": "notes.txt"' in shown
    assert call.digest in shown
    assert shown.endswith(say("outcome.pending"))


async def test_a_call_is_shown_only_where_its_card_is(stage: TelegramStage) -> None:
    """An approver who asks in a private chat about a call of the group sees nothing of the call there."""
    call = await stage.ask(args={"path": "notes.txt"})
    group = stage.surface
    room = await group.server.private(group.people["bob"], group.bot.id)
    await group.server.say(group.people["bob"], room, f"/show {call.short}")
    await group.settle()

    assert [say("refused.unknown", short=call.short)] == [one.text for one in room.messages.values() if one.author_bot]


@pytest.mark.parametrize("command", ["/withdraw", "/cancel"])
async def test_the_requester_withdraws_a_call_and_nobody_else(stage: TelegramStage, command: str) -> None:
    """The card says so. `/cancel` is another name of `/withdraw`."""
    call = await stage.ask()
    refused = await said(stage, "bob", f"{command} {call.short}")
    taken = await said(stage, "uma", f"{command} {call.short}")

    assert says(refused, Refusal.WITHDRAW, short=call.short)
    assert says(taken, "chat.withdrawn", short=call.short)
    assert Status.WITHDRAWN == await stage.status(call)
    assert says(stage.surface.message(call).text, "by.withdrawn")


async def test_everybody_can_ask_for_their_id(stage: TelegramStage) -> None:
    """That is how people come onto the lists."""
    ann = stage.surface.identities["ann"]
    sam = stage.surface.identities["sam"]

    assert say("chat.whoami", identity=ann, principal=ann) == await said(stage, "ann", "/whoami")
    assert sam in await said(stage, "sam", "/whoami")
    assert "" == await said(stage, "sam", "/whoami")


@pytest.mark.parametrize(
    "text", ["/approve", "/reject", "/show", "/withdraw", "/cancel", "/approve nonsense", "/show x" * 50]
)
async def test_a_command_without_a_ref_is_explained(stage: TelegramStage, text: str) -> None:
    """And decides nothing, however few calls wait."""
    call = await stage.ask()
    answer = await said(stage, "ann", text)

    assert says(answer, "chat.usage")
    assert Status.PENDING == await stage.status(call)


@pytest.mark.parametrize("text", ["/help", "/start", "/status", "/unheard_of"])
async def test_the_others_help(stage: TelegramStage, text: str) -> None:
    """In a few lines."""
    answer = await said(stage, "ann", text)

    assert says(answer, "chat.status" if text == "/status" else "chat.help")


async def test_an_unknown_ref_is_told(stage: TelegramStage) -> None:
    """And no other call is taken for it, though just one waits."""
    call = await stage.ask()

    assert says(await said(stage, "ann", "/approve ABC234"), Refusal.UNKNOWN, short="ABC234")
    assert Status.PENDING == await stage.status(call)


async def test_a_turn_of_the_agent_is_asked_about_where_it_was_said(stage: TelegramStage) -> None:
    """In its topic, by mention; two answers keep apart by their refs."""
    group = stage.surface
    forum = await group.server.supergroup("Forum", members=group.people.values(), bots=[group.bot.user], forum=True)
    topic = await group.server.topic(forum, "Deploys")
    group.room = forum
    text = f"@{group.bot.user.username} delete notes.txt"
    await group.server.say(group.people["uma"], forum, text, thread=topic)
    await group.settle()
    (call,) = await stage.store.pending()

    assert f"telegram:{forum.id}/{topic.id}" == call.origin
    assert topic.id == group.message(call).thread_id
    await group.answer("ann", call, "yes")
    assert Status.SUCCEEDED == await stage.status(call)
