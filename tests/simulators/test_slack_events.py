"""Events over HTTP: which come, in what shape, signed, repeated."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aiohttp import web
from slack_sdk.signature import SignatureVerifier

from simulators.slack import Channel, SlackServer, User
from tests.simulators.conftest import Endpoint, RawApp

THUMB = "\N{THUMBS UP SIGN}"


async def heard(slack: SlackServer, endpoint: Endpoint, kind: str, subtype: str | None = None) -> list[dict[str, Any]]:
    """Return the delivered events of a kind, when all have come."""
    await slack.wait_drained()
    return [one for one in endpoint.events if (one["type"], one.get("subtype")) == (kind, subtype)]


async def test_a_message_comes_signed(
    slack: SlackServer, hands: RawApp, endpoint: Endpoint, ops: Channel, ada: User
) -> None:
    """The body is an event_callback whose signature the library accepts."""
    said = await slack.say(ada, ops, "yes, do it")
    await slack.wait_drained()
    body = json.loads(endpoint.bodies[0])

    assert SignatureVerifier(hands.app.signing_secret).is_valid_request(endpoint.bodies[0], endpoint.headers[0])
    assert ("event_callback", hands.app.id, hands.app.team_id) == (body["type"], body["api_app_id"], body["team_id"])
    assert [hands.app.user_id] == [one["user_id"] for one in body["authorizations"]]
    assert (said.ts, ada.id, ops.id, "channel", "yes, do it") == tuple(
        body["event"][name] for name in ("ts", "user", "channel", "channel_type", "text")
    )


async def test_what_a_person_typed_has_an_id_of_its_own(
    slack: SlackServer, hands: RawApp, endpoint: Endpoint, ops: Channel, ada: User
) -> None:
    """`client_msg_id`: one for each message, the same wherever that is shown; a bot's has none."""
    await slack.mention(ada, ops, "one")
    await slack.say(ada, ops, "two")
    await hands.do("chat.postMessage", channel=ops.id, text="three")
    one, two, three = await heard(slack, endpoint, "message")
    (mention,) = await heard(slack, endpoint, "app_mention")
    shown = (await hands.do("conversations.history", channel=ops.id))["messages"]

    assert one["client_msg_id"] == mention["client_msg_id"] != two["client_msg_id"]
    assert [None, two["client_msg_id"], one["client_msg_id"]] == [each.get("client_msg_id") for each in shown]
    assert "client_msg_id" not in three


async def test_what_is_typed_is_escaped(
    slack: SlackServer, endpoint: Endpoint, ops: Channel, ada: User, ben: User
) -> None:
    """Special characters come as entities, names as mentions, emoji as codes, addresses in brackets."""
    await slack.say(
        ada, ops, f"<!channel> a&b @ben @here #ops {THUMB}\N{EMOJI MODIFIER FITZPATRICK TYPE-4} https://a.example/?x=1"
    )
    [event] = await heard(slack, endpoint, "message")
    await slack.say(ada, ops, "@ben and @nobody")

    assert (
        f"&lt;!channel&gt; a&amp;b <@{ben.id}> <!here> <#{ops.id}|ops> :+1::skin-tone-4: <https://a.example/?x=1>"
        == event["text"]
    )
    assert ["user", "broadcast", "channel", "emoji", "link"] == [
        one["type"] for one in event["blocks"][0]["elements"][0]["elements"] if one["type"] != "text"
    ]
    assert f"<@{ben.id}> and @nobody" == (await heard(slack, endpoint, "message"))[-1]["text"]


async def test_edits_and_deletions_name_no_user(
    slack: SlackServer, endpoint: Endpoint, ops: Channel, ada: User
) -> None:
    """message_changed and message_deleted carry the messages inside and no user or text of their own."""
    said = await slack.say(ada, ops, "no")
    await slack.edit(ada, said, "approve")
    await slack.delete(ada, said)
    [changed] = await heard(slack, endpoint, "message", "message_changed")
    [deleted] = await heard(slack, endpoint, "message", "message_deleted")

    assert ("approve", "no") == (changed["message"]["text"], changed["previous_message"]["text"])
    assert ada.id == changed["message"]["edited"]["user"]
    assert ("approve", said.ts) == (deleted["previous_message"]["text"], deleted["deleted_ts"])
    assert not {"user", "text"} & (changed.keys() | deleted.keys())


async def test_threads_and_broadcasts(
    slack: SlackServer, hands: RawApp, endpoint: Endpoint, ops: Channel, ada: User
) -> None:
    """A reply names its thread and whose it is; a broadcast one bears the head."""
    head = await hands.send(ops)
    await slack.say(ada, ops, "yes", thread=head)
    await slack.say(ada, ops, "to all", thread=head, broadcast=True)
    reply = (await heard(slack, endpoint, "message"))[-1]
    [broadcast] = await heard(slack, endpoint, "message", "thread_broadcast")

    assert (head.ts, hands.app.user_id) == (reply["thread_ts"], reply["parent_user_id"])
    assert (head.ts, head.ts) == (broadcast["thread_ts"], broadcast["root"]["ts"])


async def test_bots_are_heard_too(slack: SlackServer, hands: RawApp, endpoint: Endpoint, ops: Channel) -> None:
    """One's own, another app's and an old bot's messages come, told apart by bot_id and subtype."""
    other = await slack.app("Other", commands=())
    await slack.join(other, ops)
    await hands.send(ops, "mine")
    await slack.bot_says(other, ops, "approve")
    await slack.bot_says(other, ops, "approve", legacy=True)
    plain = await heard(slack, endpoint, "message")
    [legacy] = await heard(slack, endpoint, "message", "bot_message")

    assert [hands.app.bot_id, other.bot_id] == [one["bot_id"] for one in plain]
    assert (other.bot_id, "Other", False) == (legacy["bot_id"], legacy["username"], "user" in legacy)


async def test_a_mention_is_two_events(
    slack: SlackServer, hands: RawApp, endpoint: Endpoint, ops: Channel, ada: User
) -> None:
    """app_mention comes beside the message, except in a direct conversation."""
    await slack.mention(ada, ops, "deploy")
    await slack.mention(ada, hands.app, "deploy")
    [mention] = await heard(slack, endpoint, "app_mention")
    messages = await heard(slack, endpoint, "message")

    assert f"<@{hands.app.user_id}> deploy" == mention["text"]
    assert ["channel", "im"] == [one["channel_type"] for one in messages]


async def test_reactions(slack: SlackServer, hands: RawApp, endpoint: Endpoint, ops: Channel, ada: User) -> None:
    """A reaction comes and goes once each, by name, with the item and whose it is."""
    card = await hands.send(ops)
    await slack.react(ada, card, THUMB)
    await slack.react(ada, card, "+1")
    await slack.react(ada, card, "+1", remove=True)
    [added] = await heard(slack, endpoint, "reaction_added")
    [removed] = await heard(slack, endpoint, "reaction_removed")

    assert ("+1", {"type": "message", "channel": ops.id, "ts": card.ts}) == (added["reaction"], added["item"])
    assert (ada.id, hands.app.user_id) == (added["user"], added["item_user"])
    assert "+1" == removed["reaction"]


async def test_files_joins_and_the_end(
    slack: SlackServer, hands: RawApp, endpoint: Endpoint, ops: Channel, ada: User
) -> None:
    """A file's message, a new member, an opened home tab and the removal of the app are told."""
    carol = await slack.user("carol")
    await slack.share(ada, ops, "plan.txt", "see this")
    await slack.join(carol, ops, by=ada)
    await slack.open_home(ada)
    await slack.uninstall()
    [shared] = await heard(slack, endpoint, "message", "file_share")
    [joined] = await heard(slack, endpoint, "member_joined_channel")
    kinds = [one["type"] for one in endpoint.events]

    assert (["plan.txt"], "see this") == ([one["name"] for one in shared["files"]], shared["text"])
    assert (carol.id, ada.id) == (joined["user"], joined["inviter"])
    assert {"app_home_opened", "tokens_revoked", "app_uninstalled"} <= set(kinds)
    assert "account_inactive" == await hands.refused("auth.test")


async def test_what_an_app_does_not_hear(
    slack: SlackServer, hands: RawApp, endpoint: Endpoint, ops: Channel, ada: User
) -> None:
    """Without membership, subscription, scope or address nothing comes."""
    elsewhere = await slack.channel("elsewhere", members=[ada])
    for limits in ({"scopes": {"chat:write"}}, {"events": {"reaction_added"}}, {"request_url": ""}):
        await slack.join(await slack.app(str(limits), **{"request_url": endpoint.url, **limits}), ops)  # type: ignore[arg-type]
    await slack.say(ada, elsewhere, "hi")
    await slack.say(ada, ops, "hi")
    told = [one.app_id for one in await slack.deliveries("message")]

    assert [hands.app.id] == told


async def test_an_external_person(slack: SlackServer, endpoint: Endpoint, ops: Channel, ada: User) -> None:
    """Somebody of another workspace bears their own team."""
    partner = await slack.team("Partner")
    eve = await slack.user("eve", team=partner)
    await slack.join(eve, ops)
    await slack.say(eve, ops, "approve")
    await slack.wait_drained()
    body = json.loads(endpoint.bodies[-1])

    assert (ada.team_id, partner.id) == (body["team_id"], body["event"]["user_team"])
    assert body["is_ext_shared_channel"]


async def test_an_organisation_wide_app(slack: SlackServer, hands: RawApp) -> None:
    """An app of the enterprise names no team of its own, and people have ids that begin with W."""
    team = await slack.team("Big", enterprise="E1")
    app = await slack.app("Wide", team=team, org_wide=True, socket_mode=True)
    zoe = await slack.user("zoe", team=team)
    await slack.say(zoe, app, "hi")
    payload = (await slack.deliveries("message"))[-1].payload

    assert "W" == zoe.id[0]
    assert ("E1", None, True) == tuple(
        payload["authorizations"][0][name] for name in ("enterprise_id", "team_id", "is_enterprise_install")
    )
    assert team.id == payload["team_id"]
    assert hands.app.id != payload["api_app_id"]


async def test_slack_changes_a_message_itself(
    slack: SlackServer, hands: RawApp, endpoint: Endpoint, ops: Channel
) -> None:
    """Previews and the like are message_changed events with fresh ids and the same words."""
    card = await hands.send(ops, "same")
    await slack.unfurl(card, times=3)
    changed = await heard(slack, endpoint, "message", "message_changed")

    assert ["same"] * 3 == [one["message"]["text"] for one in changed]
    assert 3 == len({one["ts"] for one in changed})


async def test_a_failed_event_is_repeated(slack: SlackServer, endpoint: Endpoint, ops: Channel, ada: User) -> None:
    """At once, after a minute, after five; with number and reason; the same event_id."""
    endpoint.answers = [web.Response(status=500) for _ in range(4)]
    await slack.say(ada, ops, "hi")
    [delivery] = await slack.deliveries("message")
    for count, wait in ((2, 61), (3, 301)):
        await slack.wait_for(lambda count=count: len(delivery.attempts) == count)  # type: ignore[misc]
        await slack.advance(wait)
    await slack.wait_delivery(delivery)

    assert [(None, None), *((str(number), "http_error") for number in (1, 2, 3))] == endpoint.retries
    assert {delivery.id} == {json.loads(one)["event_id"] for one in endpoint.bodies}
    assert ("failed", 4) == (delivery.state, len(delivery.attempts))


async def test_no_retry_is_honoured(slack: SlackServer, endpoint: Endpoint, ops: Channel, ada: User) -> None:
    """An error with X-Slack-No-Retry ends it."""
    endpoint.answers = [web.Response(status=404, headers={"X-Slack-No-Retry": "1"})]
    await slack.say(ada, ops, "hi")
    await slack.wait_drained()

    assert 1 == len(endpoint.bodies)


async def test_a_late_answer_is_none(slack: SlackServer, endpoint: Endpoint, ops: Channel, ada: User) -> None:
    """After three seconds the event comes again, before the first was answered."""
    endpoint.gate.clear()
    await slack.say(ada, ops, "hi")
    await slack.wait_for(lambda: endpoint.bodies)
    await slack.advance(3.5)
    await slack.wait_for(lambda: len(endpoint.bodies) == 2)
    endpoint.gate.set()
    await slack.wait_drained()

    assert ("1", "http_timeout") == endpoint.retries[1]


async def test_nobody_listens(slack: SlackServer, ops: Channel, ada: User) -> None:
    """A refused connection is a failure like any other."""
    await slack.point(None, "http://127.0.0.1:9/slack/events")
    await slack.say(ada, ops, "hi")
    [delivery] = await slack.deliveries("message")
    await slack.wait_for(lambda: len(delivery.attempts) == 2)

    assert ["connection_failed"] * 2 == [one.error for one in delivery.attempts]


async def test_an_event_can_be_replayed(
    slack: SlackServer, hands: RawApp, endpoint: Endpoint, ops: Channel, ada: User
) -> None:
    """The same event comes again, much later on the server's clock, with the same id and a good proof."""
    await slack.say(ada, ops, "yes")
    [delivery] = await slack.deliveries("message")
    await slack.wait_delivery(delivery)
    await slack.advance(2400)
    await slack.wait_delivery(await slack.replay(delivery))

    assert [delivery.id] * 2 == [json.loads(one)["event_id"] for one in endpoint.bodies]
    assert SignatureVerifier(hands.app.signing_secret).is_valid_request(endpoint.bodies[1], endpoint.headers[1])


async def test_the_url_is_challenged(slack: SlackServer, endpoint: Endpoint) -> None:
    """An endpoint that returns nothing is not verified."""
    assert not await slack.challenge()
    assert "url_verification" == json.loads(endpoint.bodies[0])["type"]


@pytest.mark.parametrize(
    ("flaw", "right"),
    [
        ("none", True),
        ("bad_signature", False),
        ("other_body", False),
        ("old_version", False),
        ("old", False),
        ("future", False),
        ("no_signature", False),
        ("no_timestamp", False),
        ("no_headers", False),
    ],
)
async def test_forgeries(slack: SlackServer, hands: RawApp, endpoint: Endpoint, flaw: str, *, right: bool) -> None:
    """Each flaw makes the library say no, and "none" makes it say yes."""
    await slack.forge("events_api", {"type": "event_callback"}, flaw=flaw)
    verifier = SignatureVerifier(hands.app.signing_secret)

    assert right is verifier.is_valid_request(endpoint.bodies[0], endpoint.headers[0])


async def test_a_timestamp_that_is_no_number(slack: SlackServer, endpoint: Endpoint) -> None:
    """The proof is right for a time that nobody can read."""
    await slack.forge("slash_commands", {"command": "/sayso"}, flaw="non_numeric")

    assert "yesterday" == endpoint.headers[0]["x-slack-request-timestamp"]
    assert b"command=%2Fsayso" == endpoint.bodies[0]
