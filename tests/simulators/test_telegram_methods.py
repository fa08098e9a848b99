"""The methods of the Telegram server: limits, shapes and refusals."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from simulators.telegram import Chat, TelegramServer, User
from simulators.telegram.errors import ApiError
from simulators.telegram.methods import MAX_FILE, METHODS, Request, perform
from simulators.telegram.params import Params, Upload
from tests.simulators.conftest import RawBot

NOT_MODIFIED = (
    "Bad Request: message is not modified: specified new message content and reply markup are exactly"
    " the same as a current content and reply markup of the message"
)


def keyboard(*rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return an inline keyboard."""
    return {"inline_keyboard": list(rows)}


async def status_of(raw: RawBot, path: str) -> tuple[int, dict[str, Any]]:
    """Return status and body of a GET below the root."""
    async with raw.http.get(f"{raw.telegram.root_url}{path}") as answer:
        return answer.status, await answer.json()


async def test_a_bot_is_told_who_it_is(raw: RawBot) -> None:
    """GetMe gives the bot's user with what only bots are told of themselves."""
    me = await raw.do("getMe")

    assert (raw.bot.id, True, "sayso_bot", False) == (
        me["id"],
        me["is_bot"],
        me["username"],
        me["can_read_all_group_messages"],
    )


async def test_wrong_tokens_and_methods(raw: RawBot) -> None:
    """An unknown token is 401, an unknown method 404, a method in any case is known."""
    wrong = await status_of(raw, "/bot1:AA/getMe")
    malformed = await status_of(raw, "/botxyz/getMe")
    unknown = await status_of(raw, f"/bot{raw.bot.token}/getNothing")
    lower = await status_of(raw, f"/bot{raw.bot.token}/getme")

    assert (401, {"ok": False, "error_code": 401, "description": "Unauthorized"}) == wrong
    assert 401 == malformed[0]
    assert (404, {"ok": False, "error_code": 404, "description": "Not Found"}) == unknown
    assert 200 == lower[0]


@pytest.mark.parametrize("encoding", ["query", "form", "multipart", "json"])
async def test_every_encoding_of_parameters_is_read(raw: RawBot, private: Chat, encoding: str) -> None:
    """Query string, form, multipart body and JSON say the same."""
    fields = {"chat_id": str(private.id), "text": "hi"}
    url = f"{raw.telegram.base_url}{raw.bot.token}/sendMessage"
    multipart = aiohttp.FormData(fields, default_to_multipart=True)
    sent: dict[str, dict[str, Any]] = {
        "query": {"params": fields},
        "form": {"data": fields},
        "multipart": {"data": multipart},
        "json": {"json": {"chat_id": private.id, "text": "hi"}},
    }
    async with raw.http.post(url, **sent[encoding]) as answer:
        body = await answer.json()

    assert "hi" == body["result"]["text"]


@pytest.mark.parametrize("body", ["{", "[]"])
async def test_a_body_that_is_no_json_object_is_refused(raw: RawBot, body: str) -> None:
    """Malformed JSON is a 400."""
    url = f"{raw.telegram.base_url}{raw.bot.token}/sendMessage"
    async with raw.http.post(url, data=body, headers={"Content-Type": "application/json"}) as answer:
        assert 400 == answer.status


async def test_a_sent_message_is_returned_and_seen(
    raw: RawBot, telegram: TelegramServer, private: Chat, alice: User
) -> None:
    """The result has the documented shape, and the person sees text, buttons and entities."""
    sent = await raw.send(
        private,
        "<b>Run</b> it?",
        parse_mode="HTML",
        reply_markup=keyboard([{"text": "Yes", "callback_data": "y", "style": "success"}]),
    )
    seen = (await telegram.messages(alice))[-1]

    assert sent == {
        "message_id": 1,
        "from": {"id": raw.bot.id, "is_bot": True, "first_name": "Sayso", "username": "sayso_bot"},
        "chat": {"id": alice.id, "first_name": "Alice", "username": "alice_a", "type": "private"},
        "date": sent["date"],
        "text": "Run it?",
        "entities": [{"type": "bold", "offset": 0, "length": 3}],
        "reply_markup": keyboard([{"text": "Yes", "callback_data": "y", "style": "success"}]),
    }
    assert ("Run it?", ("Yes",), 0) == (seen.text, seen.labels, seen.edits)


@pytest.mark.parametrize(
    ("params", "refusal"),
    [
        ({"text": ""}, "message text is empty"),
        ({"text": " \n "}, "message text is empty"),
        ({"text": "<b></b>", "parse_mode": "HTML"}, "message text is empty"),
        ({"text": "x" * 4097}, "message is too long"),
        ({"text": "\N{CAT FACE}" * 2049}, "message is too long"),
        ({"text": "x", "parse_mode": "Org"}, "unsupported parse_mode"),
        (
            {"text": "<x>", "parse_mode": "HTML"},
            'can\'t parse entities: Unsupported start tag "x" at byte offset 0',
        ),
        ({"chat_id": ""}, "chat_id is empty"),
        ({"chat_id": 12345}, "chat not found"),
        ({"chat_id": "@nobody_here"}, "chat not found"),
        ({"message_thread_id": 5}, "message thread not found"),
        ({"reply_parameters": {"message_id": 99}}, "message to be replied not found"),
        ({"reply_to_message_id": 99}, "message to be replied not found"),
        ({"reply_parameters": "{"}, "can't parse reply parameters JSON object"),
        ({"reply_markup": "{"}, "can't parse reply keyboard markup JSON object"),
        ({"reply_markup": []}, "object expected as reply markup"),
        (
            {"reply_markup": {"inline_keyboard": [{}]}},
            'field "inline_keyboard" of the InlineKeyboardMarkup must be an Array of Arrays',
        ),
        (
            {"reply_markup": {"inline_keyboard": [["x"]]}},
            "can't parse inline keyboard button: InlineKeyboardButton must be an Object",
        ),
        (
            {"reply_markup": keyboard([{"callback_data": "x"}])},
            'can\'t parse inline keyboard button: Field "text" must be of type String',
        ),
        (
            {"reply_markup": keyboard([{"text": "x"}])},
            "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
        ),
        ({"reply_markup": keyboard([{"text": "x", "callback_data": "x" * 65}])}, "BUTTON_DATA_INVALID"),
        ({"reply_markup": keyboard([{"text": "x", "callback_data": "é" * 33}])}, "BUTTON_DATA_INVALID"),
        (
            {"reply_markup": keyboard(*[[{"text": "x", "callback_data": "x"}]] * 101)},
            "reply markup is too long",
        ),
        (
            {"reply_markup": keyboard([{"text": "x", "url": "http://localhost/"}])},
            "inline keyboard button URL 'http://localhost/' is invalid: Wrong HTTP URL",
        ),
    ],
)
async def test_a_wrong_message_is_refused(raw: RawBot, private: Chat, params: dict[str, Any], refusal: str) -> None:
    """Each rule of sendMessage is enforced in the official words, and nothing is written."""
    description = await raw.refused("sendMessage", **{"chat_id": private.id, "text": "x", **params})

    assert f"Bad Request: {refusal}" == description
    assert {} == private.messages


async def test_limits_are_allowed_to_the_last_unit(raw: RawBot, private: Chat) -> None:
    """4096 units, 64 bytes of data and 100 buttons pass."""
    rows = [[{"text": "x", "callback_data": "x" * 64}] * 8] * 12 + [[{"text": "x", "callback_data": "y"}] * 4]
    sent = await raw.send(private, "\N{CAT FACE}" * 2048, reply_markup={"inline_keyboard": rows})

    assert 100 == sum(map(len, sent["reply_markup"]["inline_keyboard"]))


async def test_a_person_who_never_wrote_cannot_be_written_to(raw: RawBot, bob: User, alice: User) -> None:
    """A known person without a chat, another bot, a blocker and a deleted account are four refusals."""
    telegram = raw.telegram
    other = await telegram.bot("other_bot")
    stranger = await raw.refused("sendMessage", chat_id=bob.id, text="x")
    to_bot = await raw.refused("sendMessage", chat_id=other.id, text="x")
    await telegram.block(alice, raw.bot)
    blocked = await raw.call("sendMessage", chat_id=alice.id, text="x")
    await telegram.unblock(alice, raw.bot)
    await telegram.deactivate(alice)
    gone = await raw.refused("sendMessage", chat_id=alice.id, text="x")

    assert "Forbidden: bot can't initiate conversation with a user" == stranger
    assert "Forbidden: bots can't send messages to bots" == to_bot
    assert (403, "Forbidden: bot was blocked by the user") == (blocked["error_code"], blocked["description"])
    assert "Forbidden: user is deactivated" == gone


async def test_a_bot_outside_or_muted_cannot_write(raw: RawBot, group: Chat) -> None:
    """Muted, kicked, never in, and no admin of a channel are refused each in their words."""
    telegram = raw.telegram
    elsewhere = await telegram.group("Elsewhere", members=[await telegram.user("Carol")])
    channel = await telegram.channel("News", members=["Carol"], bots=[raw.bot])
    await telegram.mute(group, raw.bot)
    muted = await raw.refused("sendMessage", chat_id=group.id, text="x")
    await telegram.kick(group, raw.bot)
    kicked = await raw.refused("sendMessage", chat_id=group.id, text="x")
    outside = await raw.refused("sendMessage", chat_id=elsewhere.id, text="x")
    await telegram.demote(channel, raw.bot)
    no_admin = await raw.refused("sendMessage", chat_id=channel.id, text="x")

    assert "Bad Request: not enough rights to send text messages to the chat" == muted
    assert "Forbidden: bot was kicked from the supergroup chat" == kicked
    assert "Forbidden: bot is not a member of the group chat" == outside
    assert "Bad Request: need administrator rights in the channel chat" == no_admin


@pytest.mark.usefixtures("alice")
async def test_topics(raw: RawBot, forum: Chat) -> None:
    """A topic is named by its id, General by none; deleted and closed ones are refused."""
    telegram = raw.telegram
    topic = await telegram.topic(forum, "deploys")
    inside = await raw.send(forum, message_thread_id=topic.id)
    general = await raw.send(forum)
    refused = await raw.refused("sendMessage", chat_id=forum.id, text="x", message_thread_id=1)
    await telegram.close_topic(forum, topic)
    closed = await raw.refused("sendMessage", chat_id=forum.id, text="x", message_thread_id=topic.id)
    await telegram.delete_topic(forum, topic)
    deleted = await raw.refused("sendMessage", chat_id=forum.id, text="x", message_thread_id=topic.id)
    edited = await raw.refused("editMessageText", chat_id=forum.id, message_id=inside["message_id"], text="y")

    assert (topic.id, True) == (inside["message_thread_id"], inside["is_topic_message"])
    assert "forum_topic_created" in inside["reply_to_message"]
    assert "message_thread_id" not in general
    assert "Bad Request: message thread not found" == refused == deleted
    assert "Bad Request: TOPIC_CLOSED" == closed
    assert "Bad Request: message to edit not found" == edited


async def test_an_answer_follows_into_the_topic(raw: RawBot, forum: Chat, alice: User) -> None:
    """A reply without a topic goes where the answered message is; across topics it is refused."""
    telegram = raw.telegram
    topic, other = await telegram.topic(forum, "deploys"), await telegram.topic(forum, "other")
    asked = await telegram.say(alice, forum, "please", thread=topic)
    answer = await raw.send(forum, reply_parameters={"message_id": asked.id})
    across = await raw.refused(
        "sendMessage",
        chat_id=forum.id,
        text="x",
        message_thread_id=other.id,
        reply_parameters={"message_id": asked.id, "allow_sending_without_reply": True},
    )

    assert (topic.id, asked.id) == (answer["message_thread_id"], answer["reply_to_message"]["message_id"])
    assert "Bad Request: message to be replied not found" == across


async def test_a_reply_may_forgive_a_deleted_message(raw: RawBot, private: Chat) -> None:
    """With allow_sending_without_reply the message goes out without one."""
    sent = await raw.send(private, reply_parameters={"message_id": 77, "allow_sending_without_reply": True})

    assert "reply_to_message" not in sent


async def test_a_group_that_became_a_supergroup(raw: RawBot, alice: User) -> None:
    """Every call to the old id says the new one, and both chats get a service message."""
    telegram = raw.telegram
    old = await telegram.group("Small", members=[alice], bots=[raw.bot])
    await raw.updates()
    new = await telegram.migrate(old)
    answer = await raw.call("sendMessage", chat_id=old.id, text="x")
    said = [update["message"] for update in await raw.updates()]

    assert (400, "Bad Request: group chat was upgraded to a supergroup chat") == (
        answer["error_code"],
        answer["description"],
    )
    assert {"migrate_to_chat_id": new.id} == answer["parameters"]
    assert [new.id, old.id] == [said[0]["migrate_to_chat_id"], said[1]["migrate_from_chat_id"]]
    assert (await raw.send(new))["chat"]["id"] == new.id


async def test_an_edit_replaces_and_is_remembered(
    raw: RawBot, telegram: TelegramServer, private: Chat, alice: User
) -> None:
    """People see the new text without the old buttons; the server keeps what was there."""
    card = await raw.card(private, "Run?")
    edited = await raw.do("editMessageText", chat_id=private.id, message_id=card, text="Done")
    seen = await telegram.message(card, alice)

    assert ("Done", edited["date"]) == (edited["text"], edited["edit_date"])
    assert "reply_markup" not in edited
    assert ("Done", (), 1) == (seen.text, seen.labels, seen.edits)
    assert ("Run?", 2) == (seen.history[0].text, len(seen.history[0].keyboard[0]))


async def test_edits_that_are_refused(raw: RawBot, telegram: TelegramServer, private: Chat, alice: User) -> None:
    """The same again, nothing, others' messages and documents can't become this text."""
    card = await raw.card(private, "Run?")
    theirs = await telegram.say(alice, private, "hello")
    form = aiohttp.FormData({"chat_id": str(private.id)})
    form.add_field("document", b"bytes", filename="a.txt")
    url = f"{telegram.base_url}{raw.bot.token}/sendDocument"
    async with raw.http.post(url, data=form) as answer:
        document = (await answer.json())["result"]["message_id"]
    at = {"chat_id": private.id}
    same = {"inline_keyboard": [list(row) for row in (await telegram.message(card, alice)).keyboard]}

    assert NOT_MODIFIED == await raw.refused("editMessageText", **at, message_id=card, text="Run?", reply_markup=same)
    assert NOT_MODIFIED == await raw.refused("editMessageReplyMarkup", **at, message_id=card, reply_markup=same)
    assert "Bad Request: message text is empty" == await raw.refused("editMessageText", **at, message_id=card, text="")
    assert "Bad Request: message can't be edited" == await raw.refused(
        "editMessageText", **at, message_id=theirs.id, text="x"
    )
    assert "Bad Request: message identifier is not specified" == await raw.refused("editMessageText", **at, text="x")
    assert "Bad Request: there is no text in the message to edit" == await raw.refused(
        "editMessageText", **at, message_id=document, text="x"
    )


async def test_buttons_go_with_an_empty_markup_edit(
    raw: RawBot, telegram: TelegramServer, private: Chat, alice: User
) -> None:
    """EditMessageReplyMarkup without markup takes the buttons and leaves the text."""
    card = await raw.card(private, "Run?")
    await raw.do("editMessageReplyMarkup", chat_id=private.id, message_id=card)
    seen = await telegram.message(card, alice)

    assert ("Run?", ()) == (seen.text, seen.labels)


async def test_a_forced_reply_is_shown_to_people_only(
    raw: RawBot, telegram: TelegramServer, private: Chat, alice: User
) -> None:
    """ForceReply is not part of the returned message."""
    wish = {"force_reply": True, "input_field_placeholder": "Why?"}
    sent = await raw.send(private, reply_markup=wish)

    assert "reply_markup" not in sent
    assert wish == (await telegram.message(sent["message_id"], alice)).force_reply


async def test_deleting(raw: RawBot, telegram: TelegramServer, group: Chat, bob: User) -> None:
    """A bot deletes its own for 48 hours, and everything where it is an admin."""
    own, old = await raw.card(group), await raw.card(group)
    theirs = await telegram.say(bob, group, "hello")
    at = {"chat_id": group.id}
    assert await raw.do("deleteMessage", **at, message_id=own)
    again = await raw.refused("deleteMessage", **at, message_id=own)
    foreign = await raw.refused("deleteMessage", **at, message_id=theirs.id)
    await telegram.advance(48 * 3600 + 5)
    late = await raw.refused("deleteMessage", **at, message_id=old)
    await telegram.promote(group, raw.bot)

    assert "Bad Request: message to delete not found" == again
    assert "Bad Request: message can't be deleted for everyone" == foreign == late
    assert await raw.do("deleteMessage", **at, message_id=old)
    assert await raw.do("deleteMessage", **at, message_id=theirs.id)


@pytest.mark.usefixtures("alice")
async def test_documents_keep_their_bytes(raw: RawBot, telegram: TelegramServer, private: Chat) -> None:
    """An upload is served to the control and to the bot, and can be sent again by id."""
    form = aiohttp.FormData({"chat_id": str(private.id), "caption": "<b>log</b>", "parse_mode": "HTML"})
    form.add_field("document", b"\x00bytes", filename="a.log", content_type="text/plain")
    url = f"{telegram.base_url}{raw.bot.token}/sendDocument"
    async with raw.http.post(url, data=form) as answer:
        sent = (await answer.json())["result"]
    again = await raw.do("sendDocument", chat_id=private.id, document=sent["document"]["file_id"])
    path = (await raw.do("getFile", file_id=sent["document"]["file_id"]))["file_path"]
    async with raw.http.get(f"{telegram.base_file_url}{raw.bot.token}/{path}") as answer:
        fetched = await answer.read()
    async with raw.http.get(f"{telegram.control_url}/files/{sent['document']['file_id']}") as answer:
        controlled = await answer.read()

    assert ("a.log", "text/plain", 6) == tuple(
        sent["document"][name] for name in ("file_name", "mime_type", "file_size")
    )
    assert ("log", [{"type": "bold", "offset": 0, "length": 3}]) == (
        sent["caption"],
        sent["caption_entities"],
    )
    assert b"\x00bytes" == fetched == controlled
    assert sent["document"] == again["document"]
    assert b"\x00bytes" == (await telegram.file(sent["document"]["file_id"])).content


@pytest.mark.parametrize(
    ("params", "refusal"),
    [
        ({}, "there is no document in the request"),
        ({"document": "nothing"}, "invalid file_id"),
    ],
)
async def test_documents_that_are_none(raw: RawBot, private: Chat, params: dict[str, Any], refusal: str) -> None:
    """A document must be an upload or a known id."""
    assert f"Bad Request: {refusal}" == await raw.refused("sendDocument", chat_id=private.id, **params)


@pytest.mark.parametrize(
    ("size", "refusal"),
    [(0, "Bad Request: file must be non-empty"), (MAX_FILE + 1, "Request Entity Too Large")],
)
async def test_the_size_of_a_file(raw: RawBot, private: Chat, size: int, refusal: str) -> None:
    """A document has at least a byte and at most 50 MiB."""
    upload = Upload("a", "text/plain", bytes(size))
    params = Params({"chat_id": private.id}, {"document": upload})
    platform = raw.telegram.platform
    with pytest.raises(ApiError) as caught:
        await perform("sendDocument", Request(platform, platform.desks[raw.bot.id], params))

    assert refusal == caught.value.refusal.description


async def test_unknown_files(raw: RawBot, telegram: TelegramServer) -> None:
    """No file without a known id, and none for a wrong token."""
    file = telegram.world.add_file("a", "text/plain", b"x")

    assert "Bad Request: invalid file_id" == await raw.refused("getFile", file_id="x")
    assert 404 == (await status_of(raw, f"/file/bot{raw.bot.token}/documents/x"))[0]
    assert 404 == (await status_of(raw, f"/file/bot1:AA/documents/{file.id}"))[0]


async def test_a_caption_is_edited(raw: RawBot, telegram: TelegramServer, private: Chat) -> None:
    """EditMessageCaption replaces what stands under a document."""
    file = telegram.world.add_file("a", "text/plain", b"x")
    sent = await raw.do("sendDocument", chat_id=private.id, document=file.id, caption="old")
    edited = await raw.do("editMessageCaption", chat_id=private.id, message_id=sent["message_id"], caption="new")

    assert "new" == edited["caption"]


async def test_being_busy_is_shown_to_nobody(raw: RawBot, private: Chat) -> None:
    """SendChatAction is granted where the bot may write, for the kinds that there are."""
    assert await raw.do("sendChatAction", chat_id=private.id, action="typing")
    assert "wrong parameter action" in await raw.refused("sendChatAction", chat_id=private.id, action="sleeping")


async def test_a_muted_member_is_restricted(raw: RawBot, telegram: TelegramServer, group: Chat) -> None:
    """The bot is told, and so is who asks, until it is an ordinary member again."""
    await telegram.mute(group, raw.bot)
    muted = await raw.do("getChatMember", chat_id=group.id, user_id=raw.bot.id)
    (told,) = await raw.updates()
    await telegram.demote(group, raw.bot)
    again = await raw.do("getChatMember", chat_id=group.id, user_id=raw.bot.id)

    assert ("restricted", True, False) == (muted["status"], muted["is_member"], muted["can_send_messages"])
    assert muted == told["my_chat_member"]["new_chat_member"]
    assert "member" == again["status"]
    assert (await raw.send(group))["text"]


async def test_a_long_caption_is_refused(raw: RawBot, private: Chat, telegram: TelegramServer) -> None:
    """Captions have 1024 units."""
    file = telegram.world.add_file("a", "text/plain", b"x")

    assert "Bad Request: message caption is too long" == await raw.refused(
        "sendDocument", chat_id=private.id, document=file.id, caption="x" * 1025
    )


async def test_commands_by_scope_and_language(raw: RawBot) -> None:
    """Each scope and language has a list of its own."""
    commands = [{"command": "pending", "description": "What waits"}]
    scope = {"type": "all_private_chats"}
    await raw.do("setMyCommands", commands=commands, scope=scope, language_code="de")

    assert commands == await raw.do("getMyCommands", scope=scope, language_code="de")
    assert [] == await raw.do("getMyCommands")
    await raw.do("deleteMyCommands", scope=scope, language_code="de")
    assert [] == await raw.do("getMyCommands", scope=scope, language_code="de")


@pytest.mark.parametrize(
    ("params", "refusal"),
    [
        ({"commands": "{"}, "can't parse commands JSON object"),
        ({"commands": {"a": 1}}, "expected an Array of BotCommand"),
        ({"commands": [{"command": "UPPER", "description": "x"}]}, "BOT_COMMAND_INVALID"),
        ({"commands": [{"command": "x" * 33, "description": "x"}]}, "BOT_COMMAND_INVALID"),
        ({"commands": [{"command": "x", "description": ""}]}, "BOT_COMMAND_DESCRIPTION_INVALID"),
        ({"commands": [{"command": "x", "description": "y"}] * 101}, "BOT_COMMANDS_TOO_MUCH"),
        ({"scope": "{"}, "can't parse BotCommandScope JSON object"),
        ({"scope": []}, None),
        ({"scope": {"type": "x"}}, "can't parse BotCommandScope: Unsupported type specified"),
        ({"scope": {"type": "chat"}}, "can't parse BotCommandScope: Empty chat_id specified"),
        (
            {"scope": {"type": "chat_member", "chat_id": 1}},
            "can't parse BotCommandScope: Invalid user_id specified",
        ),
        ({"language_code": "english"}, "invalid language code specified"),
    ],
)
async def test_wrong_commands(raw: RawBot, params: dict[str, Any], refusal: str | None) -> None:
    """Commands, scopes and languages are checked; an empty scope is the default one."""
    answer = await raw.call("setMyCommands", **params)

    assert (f"Bad Request: {refusal}" if refusal else None) == answer.get("description")


async def test_descriptions_fall_back_to_the_default_language(raw: RawBot) -> None:
    """A language without its own text shows the default one."""
    await raw.do("setMyDescription", description="Asks people")
    await raw.do("setMyShortDescription", short_description="Fragt", language_code="de")

    assert {"description": "Asks people"} == await raw.do("getMyDescription", language_code="de")
    assert {"short_description": ""} == await raw.do("getMyShortDescription")
    assert {"short_description": "Fragt"} == await raw.do("getMyShortDescription", language_code="de")
    assert not (await raw.call("setMyDescription", description="x" * 513))["ok"]


async def test_chats_and_members(raw: RawBot, group: Chat, alice: User, bob: User) -> None:
    """Who is in a chat, who runs it, and what a stranger is."""
    telegram = raw.telegram
    carol = await telegram.user("Carol")
    at = {"chat_id": group.id}
    await telegram.promote(group, bob, anonymous=True)

    assert ("Ops", "supergroup") == (
        (await raw.do("getChat", **at))["title"],
        (await raw.do("getChat", **at))["type"],
    )
    assert ["creator", "administrator", "member", "left"] == [
        (await raw.do("getChatMember", **at, user_id=one))["status"] for one in (alice.id, bob.id, raw.bot.id, carol.id)
    ]
    assert [alice.id, bob.id] == [one["user"]["id"] for one in await raw.do("getChatAdministrators", **at)]
    assert 3 == await raw.do("getChatMemberCount", **at)
    assert "Bad Request: user not found" == await raw.refused("getChatMember", **at, user_id=1)
    assert "Bad Request: invalid user_id specified" == await raw.refused("getChatMember", **at)


async def test_no_administrators_in_private(raw: RawBot, private: Chat) -> None:
    """A private chat has none to list."""
    assert "Bad Request: there are no administrators in the private chat" == await raw.refused(
        "getChatAdministrators", chat_id=private.id
    )


@pytest.mark.parametrize(
    ("reaction", "refusal"),
    [
        ([{"type": "emoji", "emoji": "\N{WHITE HEAVY CHECK MARK}"}], "REACTION_INVALID"),
        ([{"type": "emoji", "emoji": "\N{FIRE}"}] * 2, "REACTIONS_TOO_MANY"),
        ("x", "can't parse reaction types JSON object"),
        ({"type": "emoji"}, "can't parse reaction types JSON object"),
    ],
)
async def test_reactions_of_bots_are_checked(raw: RawBot, private: Chat, reaction: Any, refusal: str) -> None:
    """A bot has one of the known emoji."""
    card = await raw.card(private)

    assert f"Bad Request: {refusal}" == await raw.refused(
        "setMessageReaction", chat_id=private.id, message_id=card, reaction=reaction
    )


async def test_a_bot_reacts(raw: RawBot, telegram: TelegramServer, private: Chat, alice: User) -> None:
    """People see the bot's reaction; a message that isn't there can't be reacted to."""
    card = await raw.card(private)
    fire = [{"type": "emoji", "emoji": "\N{FIRE}"}]
    await raw.do("setMessageReaction", chat_id=private.id, message_id=card, reaction=fire)
    missing = await raw.refused("setMessageReaction", chat_id=private.id, message_id=99, reaction=fire)

    assert ("\N{FIRE}",) == (await telegram.message(card, alice)).reacted(raw.bot.id)
    assert "Bad Request: message to react not found" == missing


@pytest.mark.usefixtures("alice")
async def test_a_bot_forwards(raw: RawBot, private: Chat, group: Chat) -> None:
    """A forward names its origin and has no buttons."""
    card = await raw.card(private, "Run?")
    sent = await raw.do("forwardMessage", chat_id=group.id, from_chat_id=private.id, message_id=card)

    assert ("user", raw.bot.id) == (
        sent["forward_origin"]["type"],
        sent["forward_origin"]["sender_user"]["id"],
    )
    assert "reply_markup" not in sent
    assert "Bad Request: message to forward not found" == await raw.refused(
        "forwardMessage", chat_id=group.id, from_chat_id=private.id, message_id=99
    )


async def test_what_cannot_be_forwarded(raw: RawBot, private: Chat, group: Chat) -> None:
    """Protected and service messages stay where they are."""
    sent = await raw.send(private, protect_content=True)
    at = {"chat_id": private.id}

    assert sent["has_protected_content"]
    for source, number in ((private, sent["message_id"]), (group, 1)):
        assert "Bad Request: message can't be forwarded" == await raw.refused(
            "forwardMessage", **at, from_chat_id=source.id, message_id=number
        )


@pytest.mark.usefixtures("raw")
async def test_origins_of_forwards(telegram: TelegramServer, private: Chat, group: Chat, alice: User) -> None:
    """A forward of a forward names the first origin, one of an anonymous admin the chat."""
    hidden = await telegram.say(alice, group, "hidden", anonymous=True)
    once = await telegram.forward(alice, hidden, private)
    twice = await telegram.forward(alice, once, group)

    assert twice.origin is not None
    assert ("chat", group.id) == (twice.origin["type"], twice.origin["sender_chat"]["id"])


async def test_flood_control(raw: RawBot, telegram: TelegramServer, group: Chat) -> None:
    """With limits on, a second message in a second and the 21st in a minute are 429 with a wait."""
    await telegram.flood()
    await raw.send(group)
    soon = await raw.call("sendMessage", chat_id=group.id, text="x")
    for _ in range(19):
        await telegram.advance(1.1)
        await raw.send(group)
    await telegram.advance(1.1)
    many = await raw.call("sendMessage", chat_id=group.id, text="x")
    await telegram.flood(enabled=False)

    assert (429, "Too Many Requests: retry after 1", {"retry_after": 1}) == (
        soon["error_code"],
        soon["description"],
        soon["parameters"],
    )
    assert 30 <= many["parameters"]["retry_after"] <= 60
    assert (await raw.send(group))["text"] == "A card"


async def test_live_parts_of_a_bots_text_are_marked(raw: RawBot, private: Chat) -> None:
    """A bare mention in a bot's own text becomes live unless it stands in code."""
    live = await raw.send(private, "by @alice_a")
    inert = await raw.send(private, "by <code>@alice_a</code>", parse_mode="HTML")

    assert ["mention"] == [one["type"] for one in live["entities"]]
    assert ["code"] == [one["type"] for one in inert["entities"]]


async def test_given_entities_are_kept(raw: RawBot, private: Chat, alice: User) -> None:
    """Entities may be given instead of markup; a mentioned person comes back whole."""
    marks = [{"type": "text_mention", "offset": 0, "length": 1, "user": {"id": alice.id}}]
    sent = await raw.send(private, "x y", entities=marks)

    assert ("text_mention", "Alice") == (
        sent["entities"][0]["type"],
        sent["entities"][0]["user"]["first_name"],
    )


@pytest.mark.parametrize("junk", ["x", "{", "[]", "[1]", "[[]]", "{}", "-1", "1e9", 0, -1, [], {}, [{}], True])
async def test_junk_is_refused_and_not_tripped_over(raw: RawBot, private: Chat, junk: Any) -> None:
    """Whatever stands in a parameter, every method answers with a grant or a refusal of its own."""
    card = await raw.card(private)
    base = {"chat_id": private.id, "message_id": card, "text": "x", "user_id": 5}
    names = (
        "chat_id message_id text user_id parse_mode entities reply_markup reply_parameters offset timeout"
        " message_thread_id link_preview_options reaction commands scope language_code url document"
        " allowed_updates callback_query_id from_chat_id caption"
    ).split()
    statuses = {
        (await raw.call(method, **{**base, name: junk})).get("error_code", 200)
        for method in METHODS
        if method != "getUpdates"
        for name in names
    }

    assert statuses <= {200, 400, 403, 409}


async def test_a_preview_can_be_off(raw: RawBot, private: Chat) -> None:
    """The returned message says so."""
    sent = await raw.send(private, "x", link_preview_options={"is_disabled": True})

    assert {"is_disabled": True} == sent["link_preview_options"]
