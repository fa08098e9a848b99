"""The Web API with plain HTTP: what methods do, and how they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from simulators.slack import Channel, Refuse, SlackServer, User
from simulators.slack.state import ALL_SCOPES
from tests.simulators.conftest import CARD, RawApp

NOWHERE = "C0000000000"
LONG = [{"type": "section", "text": {"type": "plain_text", "text": "x" * 2900}}] * 5


async def test_who_the_app_is(slack: SlackServer, hands: RawApp) -> None:
    """auth.test names bot, team and user; the scopes stand in a header."""
    answer = await hands.do("auth.test")
    async with hands.http.post(f"{slack.api_url}auth.test", headers=hands.bearer) as response:
        scopes = response.headers["X-OAuth-Scopes"]

    assert (hands.app.user_id, hands.app.bot_id, hands.app.team_id, False) == tuple(
        answer[name] for name in ("user_id", "bot_id", "team_id", "is_enterprise_install")
    )
    assert ",".join(sorted(ALL_SCOPES)) == scopes


async def test_who_an_organisation_wide_app_is(slack: SlackServer, hands: RawApp) -> None:
    """It has an enterprise and no team."""
    wide = await slack.app("Wide", team=await slack.team("Big", enterprise="E1"), org_wide=True)
    answer = await RawApp(slack, wide, hands.http).do("auth.test")

    assert ("E1", None, True) == tuple(answer[name] for name in ("enterprise_id", "team_id", "is_enterprise_install"))


@pytest.mark.parametrize(
    ("headers", "error"),
    [({}, "not_authed"), ({"Authorization": "Bearer xoxb-nobody"}, "invalid_auth")],
)
async def test_tokens(slack: SlackServer, hands: RawApp, headers: dict[str, str], error: str) -> None:
    """Without a token, or with an unknown one, nothing is done."""
    async with hands.http.post(f"{slack.api_url}auth.test", headers=headers) as answer:
        assert {"ok": False, "error": error} == await answer.json()


async def test_the_ways_to_send_arguments(slack: SlackServer, hands: RawApp, ops: Channel) -> None:
    """Form, JSON and query string are read alike; a method that only reads takes no JSON."""
    post, info = f"{slack.api_url}chat.postMessage", f"{slack.api_url}conversations.info"
    said = {"channel": ops.id, "text": "hi"}
    async with hands.http.post(post, json={**said, "blocks": CARD}, headers=hands.bearer) as answer:
        by_json = await answer.json()
    async with hands.http.post(post, data={**said, "token": hands.app.bot_token}) as answer:
        by_form = await answer.json()
    async with hands.http.get(info, params={"channel": ops.id}, headers=hands.bearer) as answer:
        by_query = await answer.json()
    async with hands.http.post(info, json={"channel": ops.id}, headers=hands.bearer) as answer:
        unread = await answer.json()
    async with hands.http.post(post, data="{", headers={**hands.bearer, "Content-Type": "application/json"}) as answer:
        broken = await answer.json()

    assert [True, True, True] == [one["ok"] for one in (by_json, by_form, by_query)]
    assert "decide" == by_json["message"]["blocks"][1]["block_id"]
    assert ("invalid_arguments", "invalid_json") == (unread["error"], broken["error"])


async def test_a_message(hands: RawApp, ops: Channel) -> None:
    """It is the bot's, has a ts of its own, and keeps its flags."""
    first = await hands.send(ops, "one", unfurl_links=False)
    second = await hands.send(ops, "two", thread_ts=first.ts)
    third = await hands.send(ops, "three", thread_ts=second.ts, reply_broadcast=True)
    answer = await hands.do("conversations.replies", channel=ops.id, ts=first.ts)

    assert first.ts < second.ts < third.ts
    assert (hands.app.user_id, hands.app.bot_id, False) == (first.user_id, first.bot_id, first.unfurl_links)
    assert [first.ts] * 2 == [second.thread_ts, third.thread_ts]
    assert (False, True) == (second.broadcast, third.broadcast)
    assert ["one", "two", "three"] == [one["text"] for one in answer["messages"]]
    assert 2 == answer["messages"][0]["reply_count"]


async def test_where_an_app_may_write(slack: SlackServer, hands: RawApp, ada: User) -> None:
    """Public channels from outside with a scope; private ones, and archived ones, not."""
    public = await slack.channel("public", members=[ada])
    private = await slack.channel("private", members=[ada], private=True)
    closed = await slack.channel("closed", members=[hands.app])
    await slack.archive(closed)
    await hands.do("chat.postMessage", channel="#public", text="x")
    direct = await hands.do("chat.postMessage", channel=ada.id, text="x")
    refused = [await hands.refused("chat.postMessage", channel=one.id, text="x") for one in (private, closed)]
    await slack.revoke_scope("chat:write.public")

    assert "D" == direct["channel"][0]
    assert ["channel_not_found", "is_archived"] == refused
    assert "not_in_channel" == await hands.refused("chat.postMessage", channel=public.id, text="x")
    assert "channel_not_found" == await hands.refused("chat.postMessage", channel=NOWHERE, text="x")


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({}, "no_text"),
        ({"text": "", "blocks": []}, "no_text"),
        ({"blocks": "{"}, "invalid_blocks_format"),
        ({"blocks": {"type": "divider"}}, "invalid_blocks_format"),
        ({"blocks": [{"type": "hologram"}]}, "invalid_blocks"),
        ({"blocks": LONG}, "msg_blocks_too_long"),
        ({"text": "x", "thread_ts": "yesterday"}, "invalid_thread_ts"),
    ],
)
async def test_what_may_not_be_written(hands: RawApp, ops: Channel, params: dict[str, Any], error: str) -> None:
    """Empty, broken and too long messages are refused, and nothing is there."""
    assert error == await hands.refused("chat.postMessage", channel=ops.id, **params)
    assert {} == ops.messages


async def test_wrong_blocks_say_where(hands: RawApp, ops: Channel) -> None:
    """The messages stand in the metadata, in Slack's wording."""
    answer = await hands.call("chat.postMessage", channel=ops.id, blocks=[{"type": "hologram"}])

    assert ["[ERROR] unsupported type: hologram [json-pointer:/blocks/0/type]"] == answer["response_metadata"][
        "messages"
    ]


async def test_long_texts(hands: RawApp, ops: Channel) -> None:
    """A new text is cut at 40,000; one put into a message may have 4,000."""
    card = await hands.send(ops, "x" * 40_001)

    assert 40_000 == len(card.text)
    assert "msg_too_long" == await hands.refused("chat.update", channel=ops.id, ts=card.ts, text="x" * 4_001)


async def test_an_update(slack: SlackServer, hands: RawApp, ops: Channel) -> None:
    """A text alone takes the buttons away; the message remembers what it showed."""
    card = await hands.card(ops)
    answer = await hands.do("chat.update", channel=ops.id, ts=card.ts, text="Approved")
    after = await slack.message(card)

    assert ("Approved", "Approved", card.ts) == (answer["text"], after.shown.text, answer["ts"])
    assert (1, (), "Run it?", ("Approve", "Reject")) == (
        after.edits,
        after.labels,
        after.history[0].shown.text,
        after.history[0].shown.labels,
    )


async def test_others_messages_stay(slack: SlackServer, hands: RawApp, ops: Channel, ada: User) -> None:
    """An app changes and deletes its own only, and in a channel, not at a person."""
    said = await slack.say(ada, ops, "mine")
    card = await hands.send(ops)
    where = {"channel": ops.id, "ts": said.ts}
    errors = [
        await hands.refused("chat.update", **where, text="x"),
        await hands.refused("chat.delete", **where),
        await hands.refused("chat.update", channel=ops.id, ts="1.2", text="x"),
        await hands.refused("chat.update", channel=ada.id, ts=card.ts, text="x"),
        await hands.refused("chat.update", channel=ops.id, ts=card.ts),
    ]
    await hands.do("chat.delete", channel=ops.id, ts=card.ts)

    assert ["cant_update_message", "cant_delete_message", "message_not_found", "channel_not_found", "no_text"] == errors
    assert [said] == await slack.messages(ops)


async def test_a_whisper(slack: SlackServer, hands: RawApp, ops: Channel, ada: User, ben: User) -> None:
    """Only one sees it, until their window is loaded anew; nobody can update it."""
    sent = await hands.do("chat.postEphemeral", channel=ops.id, user=ada.id, text="psst")
    seen = [[one.text for one in await slack.ephemerals(person)] for person in (ada, ben)]
    update = await hands.refused("chat.update", channel=ops.id, ts=sent["message_ts"], text="x")
    stranger = await hands.refused("chat.postEphemeral", channel=ops.id, user="U0000000000", text="x")
    await slack.reload(ada)

    assert [["psst"], []] == seen
    assert [] == await slack.messages(ops)
    assert ("message_not_found", "user_not_in_channel") == (update, stranger)
    assert [] == await slack.ephemerals(ada)


async def test_a_permalink(hands: RawApp, ops: Channel) -> None:
    """It has the ts without its dot, and the thread of a reply."""
    head = await hands.send(ops)
    reply = await hands.send(ops, thread_ts=head.ts)
    links = [
        (await hands.do("chat.getPermalink", channel=ops.id, message_ts=one.ts))["permalink"] for one in (head, reply)
    ]

    assert links[0].endswith(f"/archives/{ops.id}/p{head.ts.replace('.', '')}")
    assert links[1].endswith(f"?thread_ts={head.ts}&cid={ops.id}")
    assert "message_not_found" == await hands.refused("chat.getPermalink", channel=ops.id, message_ts="1.2")


async def test_people(slack: SlackServer, hands: RawApp, ops: Channel, ada: User) -> None:
    """People are found by id and address; strangers only once they share a channel; the address has its scope."""
    eve = await slack.user("eve", team=await slack.team("Partner"))
    unseen = await hands.refused("users.info", user=eve.id)
    await slack.join(eve, ops)
    seen = await hands.do("users.info", user=eve.id)
    found = await hands.do("users.lookupByEmail", email=ada.email.upper())
    with_email = await hands.do("users.info", user=ada.id)
    await slack.revoke_scope("users:read.email")
    without = await hands.do("users.info", user=ada.id)

    assert ("user_not_visible", eve.team_id) == (unseen, seen["user"]["team_id"])
    assert ada.id == found["user"]["id"]
    assert [True, False] == ["email" in one["user"]["profile"] for one in (with_email, without)]
    assert "user_not_found" == await hands.refused("users.info", user="U0000000000")
    assert "missing_scope" == await hands.refused("users.lookupByEmail", email="x")


async def test_who_is_not_found_by_address(slack: SlackServer, hands: RawApp, ada: User) -> None:
    """Nobody, somebody of another company, somebody whose account is gone."""
    await slack.user("eve", team=await slack.team("Partner"), email="eve@partner.example")
    await slack.deactivate(ada)

    assert "user_disabled" == await hands.refused("conversations.open", users=ada.id)
    assert ["users_not_found"] * 3 == [
        await hands.refused("users.lookupByEmail", email=one)
        for one in ("nobody@acme.example", "eve@partner.example", ada.email)
    ]


async def test_direct_conversations(slack: SlackServer, hands: RawApp, ada: User, ben: User) -> None:
    """There is one with the same people; a bot has none."""
    other = await slack.app("Other", commands=())
    first = await hands.do("conversations.open", users=ada.id)
    again = await hands.do("conversations.open", users=ada.id, return_im=True)
    group = await hands.do("conversations.open", users=f"{ada.id},{ben.id}")
    info = await hands.do("conversations.info", channel=first["channel"]["id"])

    assert first["channel"]["id"] == again["channel"]["id"] != group["channel"]["id"]
    assert [False, True] == [one["already_open"] for one in (first, again)]
    assert (ada.id, True) == (info["channel"]["user"], info["channel"]["is_im"])
    assert "cannot_dm_bot" == await hands.refused("conversations.open", users=other.user_id)
    assert "users_list_not_supplied" == await hands.refused("conversations.open")


async def test_channels(slack: SlackServer, hands: RawApp, ops: Channel, ada: User) -> None:
    """They are listed by kind, told with their members, joined, and read by who is in."""
    secret = await slack.channel("secret", members=[ada, hands.app], private=True)
    lobby = await slack.channel("lobby", members=[ada])
    await slack.say(ada, lobby, "hello")
    listed = await hands.do("conversations.list", types="public_channel,private_channel", limit=2)
    rest = await hands.do(
        "conversations.list",
        types="public_channel,private_channel",
        cursor=listed["response_metadata"]["next_cursor"],
    )
    members = await hands.do("conversations.members", channel=ops.id)
    unread = await hands.refused("conversations.history", channel=lobby.id)
    await hands.do("conversations.join", channel=lobby.id)
    history = await hands.do("conversations.history", channel=lobby.id)

    assert ["ops", "secret", "lobby"] == [one["name"] for one in (*listed["channels"], *rest["channels"])]
    assert ops.members == members["members"]
    assert "not_in_channel" == unread
    assert ["hello"] == [one["text"] for one in history["messages"]]
    assert "method_not_supported_for_channel_type" == await hands.refused("conversations.join", channel=secret.id)
    await slack.revoke_scope("groups:read")
    assert "missing_scope" == await hands.refused("conversations.info", channel=secret.id)


async def test_members_are_counted_where_that_is_asked_for(hands: RawApp, ops: Channel) -> None:
    """A list says how many they are; one channel by itself only with `include_num_members`."""
    plain = await hands.do("conversations.info", channel=ops.id)
    asked = await hands.do("conversations.info", channel=ops.id, include_num_members=True)
    listed = (await hands.do("conversations.list"))["channels"]

    assert "num_members" not in plain["channel"]
    assert len(ops.members) == asked["channel"]["num_members"]
    assert [len(ops.members)] == [one["num_members"] for one in listed if one["id"] == ops.id]


async def test_history_has_bounds(slack: SlackServer, hands: RawApp, ops: Channel, ada: User) -> None:
    """Newest first, from and to a ts, without replies; a thread that isn't there, or that no ts names, is not found."""
    one, two, three = [await slack.say(ada, ops, text) for text in ("1", "2", "3")]
    await slack.say(ada, ops, "reply", thread=one)
    between = await hands.do("conversations.history", channel=ops.id, oldest=one.ts, latest=three.ts)
    from_two = await hands.do("conversations.history", channel=ops.id, oldest=two.ts, inclusive=True)

    assert ["2"] == [each["text"] for each in between["messages"]]
    assert ["3", "2"] == [each["text"] for each in from_two["messages"]]
    for ts in ("1700000000.000001", "1.000001", "yesterday"):
        assert "thread_not_found" == await hands.refused("conversations.replies", channel=ops.id, ts=ts)


async def test_reactions(slack: SlackServer, hands: RawApp, ops: Channel, ada: User) -> None:
    """They are added once, listed with their people, and taken back."""
    card = await hands.send(ops)
    where = {"channel": ops.id, "timestamp": card.ts}
    await slack.react(ada, card, "+1")
    await hands.do("reactions.add", **where, name="+1")
    again = await hands.refused("reactions.add", **where, name="+1")
    listed = await hands.do("reactions.get", **where)
    await hands.do("reactions.remove", **where, name="+1")

    assert [{"name": "+1", "users": [ada.id, hands.app.user_id], "count": 2}] == listed["message"]["reactions"]
    assert ("already_reacted", "no_reaction", "invalid_name") == (
        again,
        await hands.refused("reactions.remove", **where, name="+1"),
        await hands.refused("reactions.add", **where, name="no way"),
    )


async def test_files(slack: SlackServer, hands: RawApp, ops: Channel) -> None:
    """Bytes go to an address, then into a channel; who may read them gets them back."""
    wanted = await hands.do("files.getUploadURLExternal", filename="a.txt", length=5)
    async with hands.http.post(wanted["upload_url"], data=b"bytes") as answer:
        uploaded = await answer.text()
    files = [{"id": wanted["file_id"], "title": "A"}]
    shared = await hands.do("files.completeUploadExternal", files=files, channel_id=ops.id, initial_comment="see")
    [message] = await slack.messages(ops)
    async with hands.http.get(shared["files"][0]["url_private"], headers=hands.bearer) as answer:
        content = await answer.read()

    assert ("OK - 5", b"bytes") == (uploaded, content)
    assert ("see", "file_share", ["a.txt"]) == (message.text, message.subtype, [one.name for one in message.files])
    assert "file_not_found" == await hands.refused("files.completeUploadExternal", files=[{"id": "F0"}])


async def test_a_snippet_goes_into_a_thread(slack: SlackServer, hands: RawApp, ops: Channel) -> None:
    """The file is a snippet, its message is a reply in the thread, and a fault may meet the upload itself."""
    head = await hands.do("chat.postMessage", channel=ops.id, text="head")
    wanted = await hands.do("files.getUploadURLExternal", filename="a.txt", length=5, snippet_type="text")
    await slack.fail("upload", Refuse("internal_error", 500))
    statuses = []
    for _ in range(2):
        async with hands.http.post(wanted["upload_url"], data=b"bytes") as answer:
            statuses.append(answer.status)
    where = {"channel_id": ops.id, "thread_ts": head["ts"]}
    shared = await hands.do("files.completeUploadExternal", files=[{"id": wanted["file_id"]}], **where)
    reply = (await slack.messages(ops))[-1]

    assert [500, 200] == statuses
    assert ["snippet"] == [file["mode"] for file in shared["files"]]
    assert (head["ts"], b"bytes") == (reply.thread_ts, reply.files[0].content)


async def test_a_missing_scope_says_which(slack: SlackServer, hands: RawApp, ops: Channel) -> None:
    """Needed and provided scopes stand beside the error."""
    await slack.revoke_scope("chat:write")
    answer = await hands.call("chat.postMessage", channel=ops.id, text="x")

    assert ("missing_scope", "chat:write") == (answer["error"], answer["needed"])
    assert "chat:write.public" in answer["provided"].split(",")


async def test_rate_limits(slack: SlackServer, hands: RawApp, ops: Channel, ada: User) -> None:
    """With flood control a channel takes one message a second; 429 says how long to wait."""
    await slack.flood()
    await hands.send(ops)
    async with hands.http.post(
        f"{slack.api_url}chat.postMessage", data={"channel": ops.id, "text": "x"}, headers=hands.bearer
    ) as answer:
        refusal = answer.status, answer.headers["Retry-After"], (await answer.json())["error"]
    await hands.do("chat.postMessage", channel=ada.id, text="elsewhere")
    await slack.advance(1.1)
    await hands.send(ops)

    assert (429, "1", "ratelimited") == refusal


async def test_tiers(slack: SlackServer, hands: RawApp) -> None:
    """A method of tier 2 takes twenty calls a minute."""
    await slack.flood()
    for _ in range(20):
        await hands.do("conversations.list")
    refused = await hands.refused("conversations.list")
    await slack.flood(enabled=False)

    assert "ratelimited" == refused
    await hands.do("conversations.list")


async def test_other_methods(slack: SlackServer, hands: RawApp) -> None:
    """Team and bot are told; what isn't there is unknown; api.test needs no token."""
    bot = await hands.do("bots.info", bot=hands.app.bot_id)
    async with hands.http.post(f"{slack.api_url}api.test") as answer:
        tested = await answer.json()

    assert hands.app.id == bot["bot"]["app_id"]
    assert hands.app.team_id == (await hands.do("team.info"))["team"]["id"]
    assert ("bot_not_found", "unknown_method") == (
        await hands.refused("bots.info", bot="B0"),
        await hands.refused("chat.shout"),
    )
    assert {"ok": True} == tested
