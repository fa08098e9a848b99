"""Updates: polling, acknowledging, expiry, and what a bot gets to see."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from simulators.telegram import Chat, ControlError, TelegramServer, User
from tests.simulators.conftest import RawBot

FORGED = "v1.forged"
THUMB = "\N{THUMBS UP SIGN}"
ALL = ["message", "edited_message", "callback_query", "message_reaction", "my_chat_member", "chat_member"]


def texts(updates: list[dict[str, Any]]) -> list[str]:
    """Return the texts of message updates."""
    return [update["message"]["text"] for update in updates if "text" in update.get("message", {})]


async def test_unacknowledged_updates_come_again(raw: RawBot, telegram: TelegramServer, alice: User) -> None:
    """An update stays until a higher offset is asked for; a limit cuts, ids rise by one."""
    for text in ("one", "two", "three"):
        await telegram.say(alice, alice, text)
    first = await raw.do("getUpdates")
    again = await raw.do("getUpdates", limit=2)
    rest = await raw.do("getUpdates", offset=first[0]["update_id"] + 1)
    last = await raw.do("getUpdates", offset=-1)

    assert ["one", "two", "three"] == texts(first)
    assert ["one", "two"] == texts(again)
    assert ["two", "three"] == texts(rest)
    assert ["three"] == texts(last)
    assert [0, 1, 2] == [update["update_id"] - first[0]["update_id"] for update in first]


async def test_a_long_poll_returns_when_something_happens(raw: RawBot, telegram: TelegramServer, alice: User) -> None:
    """A waiting poll is answered at once, long before its timeout."""
    waiting = asyncio.create_task(raw.do("getUpdates", timeout=30))
    await telegram.wait_polling()
    await telegram.say(alice, alice, "hi")

    assert ["hi"] == texts(await waiting)


async def test_a_long_poll_ends_empty(raw: RawBot) -> None:
    """After its timeout a poll returns nothing."""
    assert [] == await raw.do("getUpdates", timeout=1)


async def test_a_second_poller_ends_the_first(raw: RawBot, telegram: TelegramServer) -> None:
    """The older request gets 409."""
    older = asyncio.create_task(raw.call("getUpdates", timeout=30))
    await telegram.wait_polling()
    newer = asyncio.create_task(raw.call("getUpdates", timeout=1))

    assert (
        409,
        "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
    ) == ((await older)["error_code"], (await older)["description"])
    assert {"ok": True, "result": []} == await newer


async def test_allowed_updates_are_remembered(
    raw: RawBot, telegram: TelegramServer, private: Chat, alice: User
) -> None:
    """What isn't asked for is never queued; the choice holds until another one; empty is the default."""
    await raw.do("getUpdates", allowed_updates=["callback_query"])
    await telegram.say(alice, alice, "unheard")
    card = await raw.card(private)
    await telegram.press(alice, card, "Approve", chat=private)
    pressed = await raw.updates()
    await raw.do("getUpdates", allowed_updates=[])
    await telegram.say(alice, alice, "heard")

    assert [["update_id", "callback_query"]] == [list(one) for one in pressed]
    assert ["heard"] == texts(await raw.updates())


async def test_presses_die_after_150_seconds_and_messages_after_a_day(
    raw: RawBot, telegram: TelegramServer, private: Chat, alice: User
) -> None:
    """A bot that was away loses presses long before messages."""
    card = await raw.card(private)
    await telegram.say(alice, alice, "hi")
    await telegram.press(alice, card, "Approve", chat=private)
    await telegram.advance(149)
    both = await raw.do("getUpdates")
    await telegram.advance(2)
    message_only = await raw.do("getUpdates")
    await telegram.advance(86_400)

    assert [2, 1, 0] == [len(both), len(message_only), len(await raw.do("getUpdates"))]


async def test_a_private_message(raw: RawBot, telegram: TelegramServer, private: Chat, alice: User) -> None:
    """It bears the person, the chat, entities and the message it answers."""
    card = await raw.card(private, "Run?")
    await telegram.say(alice, private, "/no because @bob", reply_to=card)
    (update,) = await raw.updates()
    message = update["message"]

    assert {
        "id": alice.id,
        "is_bot": False,
        "first_name": "Alice",
        "username": "alice_a",
        "language_code": "en",
    } == (message["from"])
    assert "private" == message["chat"]["type"]
    assert [("bot_command", 0, 3), ("mention", 12, 4)] == [
        (one["type"], one["offset"], one["length"]) for one in message["entities"]
    ]
    assert (card, "Run?") == (message["reply_to_message"]["message_id"], message["reply_to_message"]["text"])


async def test_edits_and_forwards_of_people(
    raw: RawBot, telegram: TelegramServer, private: Chat, alice: User, group: Chat
) -> None:
    """An edit comes as edited_message, a forward with its origin and without buttons."""
    said = await telegram.say(alice, private, "yse")
    await telegram.edit(alice, said, "yes")
    card = await raw.card(group)
    await telegram.forward(alice, card, private, chat=group)
    first, edited, forwarded = await raw.updates()

    assert "yse" == first["message"]["text"]
    assert ("yes", said.id) == (edited["edited_message"]["text"], edited["edited_message"]["message_id"])
    assert edited["edited_message"]["edit_date"]
    assert raw.bot.id == forwarded["message"]["forward_origin"]["sender_user"]["id"]
    assert "reply_markup" not in forwarded["message"]


async def test_topic_messages(raw: RawBot, telegram: TelegramServer, forum: Chat, alice: User) -> None:
    """A topic's message names the topic and answers its opening; General's does neither."""
    await telegram.promote(forum, raw.bot)
    topic = await telegram.topic(forum, "deploys")
    await telegram.say(alice, forum, "in", thread=topic)
    await telegram.say(alice, forum, "general")
    opened, inside, general = [one["message"] for one in await raw.updates() if "message" in one]

    assert {"name": "deploys", "icon_color": 7322096} == opened["forum_topic_created"]
    assert (topic.id, True, topic.id) == (
        inside["message_thread_id"],
        inside["is_topic_message"],
        inside["reply_to_message"]["message_id"],
    )
    assert {"message_thread_id", "is_topic_message", "reply_to_message"}.isdisjoint(general)
    assert general["chat"]["is_forum"]


async def test_replies_in_a_plain_supergroup_have_a_thread(
    raw: RawBot, telegram: TelegramServer, group: Chat, bob: User
) -> None:
    """The thread is the first message of the chain; it is no topic, and can't be written to."""
    card = await raw.card(group)
    first = await telegram.say(bob, group, "why?", reply_to=card)
    answer = await raw.send(group, reply_parameters={"message_id": first.id})
    (update,) = await raw.updates()

    assert card == update["message"]["message_thread_id"] == answer["message_thread_id"]
    assert "is_topic_message" not in update["message"]
    assert "Bad Request: message thread not found" == await raw.refused(
        "sendMessage", chat_id=group.id, text="x", message_thread_id=card
    )


async def test_privacy_mode(raw: RawBot, telegram: TelegramServer, group: Chat, bob: User) -> None:
    """With privacy on a bot sees what is meant for it, and everything once it is an admin."""
    other = await telegram.bot("other_bot")
    await telegram.add_bot(group, other)
    await raw.updates()
    card = await raw.card(group)
    await telegram.say(bob, group, "chatter")
    await telegram.say(bob, group, "reply", reply_to=card)
    await telegram.say(bob, group, "hey @Sayso_Bot")
    await telegram.say(bob, group, "/pending")
    await telegram.say(bob, group, "/pending@sayso_bot")
    await telegram.say(bob, group, "/pending@other_bot")
    group.last_bot = other.id
    await telegram.say(bob, group, "/late")
    meant = texts(await raw.updates())
    await telegram.promote(group, raw.bot)
    await telegram.say(bob, group, "chatter")

    assert ["reply", "hey @Sayso_Bot", "/pending", "/pending@sayso_bot"] == meant
    assert ["chatter"] == texts(await raw.updates())


@pytest.mark.usefixtures("raw")
async def test_privacy_mode_off(telegram: TelegramServer, group: Chat, bob: User) -> None:
    """A bot without privacy mode says so of itself and sees everything people write."""
    nosy = await telegram.bot("nosy_bot", privacy=False)
    await telegram.add_bot(group, nosy)
    await telegram.say(bob, group, "chatter")
    waiting = await telegram.pending(nosy)

    assert ["chatter"] == texts(waiting)


async def test_other_bots_are_unseen_unless_in_bot_to_bot_mode(
    raw: RawBot, telegram: TelegramServer, group: Chat
) -> None:
    """A bot's message reaches another only if that one sees bots."""
    talker = await telegram.bot("talker_bot")
    listener = await telegram.bot("listener_bot", privacy=False, sees_bots=True)
    await telegram.add_bot(group, talker)
    await telegram.add_bot(group, listener)
    await telegram.promote(group, raw.bot)
    await telegram.say(talker, group, "yes")

    assert [] == texts(await raw.updates())
    heard = [one for one in await telegram.pending(listener) if "text" in one.get("message", {})]
    assert [True] == [one["message"]["from"]["is_bot"] for one in heard]


async def test_anonymous_admins(raw: RawBot, telegram: TelegramServer, group: Chat, alice: User) -> None:
    """Their messages come from a stand-in with the chat as sender, their reactions from the chat."""
    await telegram.promote(group, raw.bot)
    await raw.do("getUpdates", allowed_updates=ALL)
    await raw.updates()
    card = await raw.card(group)
    await telegram.say(alice, group, "yes", reply_to=card, anonymous=True)
    await telegram.react(alice, card, THUMB, chat=group, anonymous=True)
    said, reacted = await raw.updates()

    assert (1087968824, "GroupAnonymousBot", group.id) == (
        said["message"]["from"]["id"],
        said["message"]["from"]["username"],
        said["message"]["sender_chat"]["id"],
    )
    assert "user" not in reacted["message_reaction"]
    assert group.id == reacted["message_reaction"]["actor_chat"]["id"]


async def test_only_admins_are_anonymous(telegram: TelegramServer, group: Chat, bob: User) -> None:
    """An ordinary member can't hide."""
    with pytest.raises(ControlError, match="does not run"):
        await telegram.say(bob, group, "yes", anonymous=True)


async def test_reactions_need_an_admin_bot_that_asked(
    raw: RawBot, telegram: TelegramServer, group: Chat, bob: User
) -> None:
    """No reaction arrives by default, nor for a plain member; then old and new ones do."""
    card = await raw.card(group)
    await telegram.promote(group, raw.bot)
    await telegram.react(bob, card, THUMB, chat=group)
    by_default = [one for one in await raw.updates() if "message_reaction" in one]
    await raw.do("getUpdates", allowed_updates=ALL)
    await telegram.demote(group, raw.bot)
    await telegram.react(bob, card, THUMB, chat=group)
    as_member = [one for one in await raw.updates() if "message_reaction" in one]
    await telegram.promote(group, raw.bot)
    await telegram.react(bob, card, chat=group, remove=True)
    (as_admin,) = [one for one in await raw.updates() if "message_reaction" in one]

    assert [] == by_default == as_member
    assert (card, bob.id, [{"type": "emoji", "emoji": THUMB}], []) == (
        as_admin["message_reaction"]["message_id"],
        as_admin["message_reaction"]["user"]["id"],
        as_admin["message_reaction"]["old_reaction"],
        as_admin["message_reaction"]["new_reaction"],
    )


async def test_a_bots_reaction_is_no_news(raw: RawBot, telegram: TelegramServer, private: Chat, alice: User) -> None:
    """A bot is not told of its own reaction; a person's in a private chat it is told of."""
    await raw.do("getUpdates", allowed_updates=ALL)
    card = await raw.card(private)
    fire = [{"type": "emoji", "emoji": THUMB}]
    await raw.do("setMessageReaction", chat_id=private.id, message_id=card, reaction=fire)
    before = await raw.updates()
    await telegram.react(alice, card, THUMB, chat=private)

    assert [] == before
    assert 1 == len(await raw.updates())


async def test_neither_bots_nor_repetitions_are_reactions(
    raw: RawBot, telegram: TelegramServer, group: Chat, bob: User
) -> None:
    """Another bot's reaction is never told, a person's same one only once."""
    other = await telegram.bot("other_bot")
    await telegram.add_bot(group, other)
    await telegram.promote(group, raw.bot)
    await raw.do("getUpdates", allowed_updates=["message_reaction"])
    await raw.updates()
    card = await raw.card(group)
    await telegram.react(other, card, THUMB, chat=group)
    await telegram.react(bob, card, THUMB, chat=group)
    await telegram.react(bob, card, THUMB, chat=group)

    assert [bob.id] == [one["message_reaction"]["user"]["id"] for one in await raw.updates()]


async def test_a_press(raw: RawBot, telegram: TelegramServer, private: Chat, alice: User) -> None:
    """It names presser, message, chat instance and data, and is answered once."""
    card = await raw.card(private, "Run?")
    query = await telegram.press(alice, card, "Approve", chat=private)
    (update,) = await raw.updates()
    pressed = update["callback_query"]
    await raw.do("answerCallbackQuery", callback_query_id=query.id, text="Approved", show_alert=True)
    again = await raw.refused("answerCallbackQuery", callback_query_id=query.id)
    shown = await telegram.wait_answer(query)

    assert (query.id, alice.id, "v1.yes", card, "Run?") == (
        pressed["id"],
        pressed["from"]["id"],
        pressed["data"],
        pressed["message"]["message_id"],
        pressed["message"]["text"],
    )
    assert isinstance(pressed["chat_instance"], str)
    assert "reply_markup" in pressed["message"]
    assert ("Approved", True) == (shown.text, shown.show_alert)
    assert "Bad Request: query is too old and response timeout expired or query ID is invalid" == again


async def test_answers_that_come_too_late_or_are_too_long(
    raw: RawBot, telegram: TelegramServer, private: Chat, alice: User
) -> None:
    """A press waits some seconds for an answer of at most 200 units; a made-up id has none."""
    card = await raw.card(private)
    query = await telegram.press(alice, card, "Approve", chat=private)
    long = await raw.refused("answerCallbackQuery", callback_query_id=query.id, text="x" * 201)
    await telegram.advance(16)
    late = await raw.refused("answerCallbackQuery", callback_query_id=query.id)
    unknown = await raw.refused("answerCallbackQuery", callback_query_id="1")

    assert "Bad Request: MESSAGE_TOO_LONG" == long
    assert "query is too old" in late
    assert late == unknown
    assert await telegram.answer(query) is None


@pytest.mark.usefixtures("private")
async def test_forged_and_late_presses(raw: RawBot, telegram: TelegramServer, group: Chat, alice: User) -> None:
    """Data may be made up, the message gone or missing, the presser a stranger or hidden."""
    mallory = await telegram.user("Mallory")
    card = await raw.card(group)
    await telegram.press(mallory, card, data=FORGED, chat=group)
    await telegram.press(alice, card, "Approve", chat=group, shape="inline")
    await telegram.press(alice, card, "Approve", chat=group, anonymous=True)
    await telegram.delete(card, chat=group)
    await telegram.press(alice, card, "Approve", chat=group)
    forged, inline, hidden, gone = [one["callback_query"] for one in await raw.updates()]

    assert (FORGED, mallory.id) == (forged["data"], forged["from"]["id"])
    assert "message" not in inline
    assert inline["inline_message_id"]
    assert 1087968824 == hidden["from"]["id"]
    assert {"chat": gone["message"]["chat"], "message_id": card, "date": 0} == gone["message"]


async def test_buttons_that_cannot_be_pressed(
    raw: RawBot, telegram: TelegramServer, private: Chat, alice: User
) -> None:
    """Links, disabled buttons, and what isn't there, are refused to people."""
    rows = [
        [{"text": "Open", "url": "https://a.example/"}],
        [{"text": "Off", "disabled": {}, "callback_data": "x"}],
    ]
    sent = await raw.send(private, reply_markup={"inline_keyboard": rows})

    for label in ("Open", "Off", "None"):
        with pytest.raises(ControlError):
            await telegram.press(alice, sent["message_id"], label, chat=private)


async def test_membership_changes_are_told(raw: RawBot, telegram: TelegramServer, alice: User, bob: User) -> None:
    """Being added, promoted, blocked and thrown out come as my_chat_member; people joining as a message."""
    room = await telegram.group("Small", members=[alice], bots=[raw.bot])
    await telegram.promote(room, raw.bot)
    await telegram.join(bob, room)
    await telegram.leave(bob, room)
    await telegram.kick(room, raw.bot)
    await telegram.block(alice)
    updates = await raw.updates()
    mine = [
        (
            one["my_chat_member"]["old_chat_member"]["status"],
            one["my_chat_member"]["new_chat_member"]["status"],
        )
        for one in updates
        if "my_chat_member" in one
    ]
    services = [one["message"] for one in updates if "message" in one]

    assert [
        ("left", "member"),
        ("member", "administrator"),
        ("administrator", "kicked"),
        ("member", "kicked"),
    ] == mine
    assert [raw.bot.id, bob.id] == [one["new_chat_members"][0]["id"] for one in services if "new_chat_members" in one]
    assert bob.id == next(one["left_chat_member"]["id"] for one in services if "left_chat_member" in one)


async def test_channel_posts(raw: RawBot, telegram: TelegramServer, alice: User, private: Chat) -> None:
    """A post comes without a sender; a forward of it names the channel; a bot's own post is no news."""
    channel = await telegram.channel("News", members=[alice], bots=[raw.bot], username="news")
    await raw.updates()
    post = await telegram.channel_post(channel, "hello", signature="Alice")
    own = await raw.do("sendMessage", chat_id="@news", text="own")
    await telegram.forward(alice, post, private)
    posted, forwarded = await raw.updates()

    assert ("hello", channel.id, "Alice") == (
        posted["channel_post"]["text"],
        posted["channel_post"]["sender_chat"]["id"],
        posted["channel_post"]["author_signature"],
    )
    assert "from" not in posted["channel_post"]
    assert "from" not in own
    assert ("channel", post.id) == (
        forwarded["message"]["forward_origin"]["type"],
        forwarded["message"]["forward_origin"]["message_id"],
    )
    edited = await raw.do("editMessageText", chat_id="@news", message_id=own["message_id"], text="new")
    assert "new" == edited["text"]


async def test_no_getupdates_beside_a_webhook(raw: RawBot) -> None:
    """Polling with a webhook set is 409, until it is deleted; dropping empties the queue."""
    await raw.do("setWebhook", url="http://127.0.0.1:9/hook")
    refused = await raw.call("getUpdates")
    await raw.do("deleteWebhook", drop_pending_updates=True)

    assert (
        409,
        (
            "Conflict: can't use getUpdates method while webhook is active;"
            " use deleteWebhook to delete the webhook first"
        ),
    ) == (refused["error_code"], refused["description"])
    assert [] == await raw.do("getUpdates")


async def test_private_chats_of_two_bots_are_two(telegram: TelegramServer, raw: RawBot, alice: User) -> None:
    """The same person id names another chat for another bot."""
    other = await telegram.bot("other_bot")
    with_other = await telegram.private(alice, other)
    await telegram.say(alice, with_other, "to the other")

    assert [] == await raw.updates()
    assert ["to the other"] == texts(await telegram.pending(other))
