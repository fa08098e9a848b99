"""Presses, forms, commands and response_urls over HTTP."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs

import pytest
from aiohttp import web

from simulators.slack import Channel, ControlError, Message, SlackServer, User, View
from tests.simulators.conftest import CARD, Endpoint, RawApp


def asked(*, block_id: str = "why", **fields: Any) -> dict[str, Any]:
    """Return a form's block with one field."""
    element = {"type": "plain_text_input", "action_id": "text", **fields}
    label = {"type": "plain_text", "text": block_id.title()}
    return {"type": "input", "block_id": block_id, "label": label, "element": element}


def form(*blocks: dict[str, Any], title: str = "Reject", **fields: Any) -> dict[str, Any]:
    """Return a modal."""
    words = {name: {"type": "plain_text", "text": word} for name, word in (("title", title), ("submit", "Send"))}
    return {"type": "modal", "callback_id": "reason", **words, "blocks": list(blocks) or [asked()], **fields}


@pytest.fixture
async def card(hands: RawApp, ops: Channel, endpoint: Endpoint) -> Message:
    """A card in the channel; what came of posting it is forgotten."""
    posted = await hands.card(ops)
    await hands.slack.wait_drained()
    endpoint.bodies.clear()
    return posted


async def press(slack: SlackServer, user: User, target: Message | View, button: str = "Approve", **how: Any) -> Any:
    """Press a button and return what the app was told, when it has answered."""
    pressed = await slack.press(user, target, button, **how)
    assert pressed is not None
    return (await slack.wait_delivery(pressed)).payload


async def opened(slack: SlackServer, hands: RawApp, user: User, card: Message, **fields: Any) -> View:
    """Return a form that a press has opened."""
    payload = await press(slack, user, card, "Reject")
    await hands.do("views.open", trigger_id=payload["trigger_id"], view=form(**fields))
    return await slack.wait_view(user)


async def test_a_press(
    slack: SlackServer, hands: RawApp, endpoint: Endpoint, ops: Channel, ada: User, card: Message
) -> None:
    """The app is told who pressed what on which message, and where to answer."""
    await press(slack, ada, card)
    [payload] = endpoint.payloads
    [action] = payload["actions"]

    assert ("block_actions", ada.id, ada.team_id, hands.app.id) == (
        payload["type"],
        payload["user"]["id"],
        payload["user"]["team_id"],
        payload["api_app_id"],
    )
    assert ("yes", "decide", "v1.yes") == (action["action_id"], action["block_id"], action["value"])
    assert (ops.id, card.ts, False) == tuple(
        payload["container"][name] for name in ("channel_id", "message_ts", "is_ephemeral")
    )
    assert CARD[0]["text"] == payload["message"]["blocks"][0]["text"]
    assert payload["response_url"].startswith("http://127.0.0.1:")


async def test_what_can_be_pressed(slack: SlackServer, hands: RawApp, ops: Channel, ada: User, ben: User) -> None:
    """Buttons are named by words, action or value; one for some people is not there for others."""
    only = {**CARD[1]["elements"][0], "visible_to_user_ids": [ada.id]}
    message = await hands.send(ops, blocks=[{"type": "actions", "elements": [only, CARD[1]["elements"][1]]}])
    pressed = [await slack.press(ada, message, one) for one in ("Approve", "approve", "yes", "v1.yes")]

    assert 4 == len([one for one in pressed if one])
    for user, button in ((ben, "Approve"), (ada, "Maybe"), (ada, "")):
        with pytest.raises(ControlError, match="buttons match"):
            await slack.press(user, message, button)


async def test_a_button_that_asks_back(slack: SlackServer, hands: RawApp, ops: Channel, ada: User) -> None:
    """Who says no to its question sends nothing."""
    words = {name: {"type": "plain_text", "text": name} for name in ("title", "text", "confirm", "deny")}
    sure = {**CARD[1]["elements"][0], "confirm": words}
    message = await hands.send(ops, blocks=[{"type": "actions", "elements": [sure]}])

    assert await slack.press(ada, message, "Approve", confirm=False) is None
    assert await slack.press(ada, message, "Approve") is not None


async def test_a_stale_window(slack: SlackServer, hands: RawApp, ada: User, card: Message) -> None:
    """Buttons that are gone can be pressed where they are still shown, and forged values sent."""
    await hands.do("chat.update", channel=card.channel_id, ts=card.ts, text="Approved")
    late = await press(slack, ada, card)
    forged = await press(slack, ada, card, forged={"value": "v1.other"})
    with pytest.raises(ControlError, match="0 buttons match"):
        await slack.press(ada, card.ts, "Approve", channel=card.channel_id)
    await hands.do("chat.delete", channel=card.channel_id, ts=card.ts)
    gone = await press(slack, ada, card)

    assert ("Approved", "v1.yes") == (late["message"]["text"], late["actions"][0]["value"])
    assert "v1.other" == forged["actions"][0]["value"]
    assert card.ts == gone["container"]["message_ts"]


@pytest.mark.parametrize("status", [404, 500])
async def test_a_failed_press_is_not_repeated(
    slack: SlackServer, endpoint: Endpoint, ada: User, card: Message, status: int
) -> None:
    """The presser sees a warning; the app is asked once."""
    endpoint.answers = [web.Response(status=status)]
    pressed = await slack.press(ada, card, "Approve")
    assert pressed is not None
    await slack.wait_delivery(pressed)

    assert ("failed", "http_error", 1) == (pressed.state, pressed.error, len(endpoint.bodies))


async def test_a_late_answer_to_a_press(slack: SlackServer, endpoint: Endpoint, ada: User, card: Message) -> None:
    """After three seconds it has failed."""
    endpoint.gate.clear()
    pressed = await slack.press(ada, card, "Approve")
    await slack.wait_for(lambda: endpoint.bodies)
    await slack.advance(3.5)
    assert pressed is not None

    assert "http_timeout" == (await slack.wait_delivery(pressed)).error


async def test_a_trigger_opens_one_form_in_time(slack: SlackServer, hands: RawApp, ada: User, card: Message) -> None:
    """Once, within three seconds, and with a form that keeps the rules, which costs no trigger."""
    first, second = [(await press(slack, ada, card))["trigger_id"] for _ in range(2)]
    too_wide = form(title="x" * 25)
    errors = [await hands.refused("views.open", trigger_id=first, view=too_wide)]
    answer = await hands.do("views.open", trigger_id=first, view=form())
    errors += [await hands.refused("views.open", trigger_id=first, view=form())]
    await slack.advance(3.1)
    errors += [await hands.refused("views.open", trigger_id=one, view=form()) for one in (second, "1.2.3")]

    assert ["invalid_arguments", "exchanged_trigger_id", "expired_trigger_id", "invalid_trigger_id"] == errors
    assert ("reason", hands.app.id, {}) == (
        answer["view"]["callback_id"],
        answer["view"]["app_id"],
        answer["view"]["state"]["values"],
    )
    assert [answer["view"]["id"]] == [one.id for one in await slack.views(ada)]


async def test_a_form_is_sent(slack: SlackServer, hands: RawApp, endpoint: Endpoint, ada: User, card: Message) -> None:
    """The app is told what stands in the fields; no answer closes the form."""
    view = await opened(slack, hands, ada, card, private_metadata="r1")
    await slack.wait_delivery(await slack.submit(ada, view, {"Why": "too risky"}))
    payload = endpoint.payloads[-1]

    assert ("view_submission", "r1", ada.id) == (
        payload["type"],
        payload["view"]["private_metadata"],
        payload["user"]["id"],
    )
    assert {"why": {"text": {"type": "plain_text_input", "value": "too risky"}}} == payload["view"]["state"]["values"]
    assert [] == await slack.views(ada)


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ({"response_action": "errors", "errors": {"why": "More"}}, {"Reject": {"why": "More"}}),
        ({"response_action": "clear"}, {}),
        ({"response_action": "update", "view": form(title="Again")}, {"Again": {}}),
        ({"response_action": "push", "view": form(title="Next")}, {"Reject": {}, "Next": {}}),
    ],
)
async def test_answers_to_a_form(
    hands: RawApp, endpoint: Endpoint, ada: User, card: Message, answer: dict[str, Any], left: dict[str, Any]
) -> None:
    """Errors keep it, clear closes all, update changes it, push puts another on top."""
    view = await opened(hands.slack, hands, ada, card)
    endpoint.answers = [web.json_response(answer)]
    sent = await hands.slack.wait_delivery(await hands.slack.submit(ada, view, {"why": "x"}))

    assert "delivered" == sent.state
    assert left == {one.title: one.errors for one in await hands.slack.views(ada)}


@pytest.mark.parametrize(
    "answer",
    [
        {"response_action": "errors", "errors": {"nowhere": "x"}},
        {"response_action": "dance"},
        {"response_action": "update", "view": form(title="x" * 25)},
        {"something": "else"},
    ],
)
async def test_nonsense_in_answer_to_a_form(
    slack: SlackServer, hands: RawApp, endpoint: Endpoint, ada: User, card: Message, answer: dict[str, Any]
) -> None:
    """The person sees that something went wrong, and the form stays."""
    view = await opened(slack, hands, ada, card)
    endpoint.answers = [web.json_response(answer)]
    sent = await slack.wait_delivery(await slack.submit(ada, view, {"why": "x"}))

    assert ("failed", "invalid_response") == (sent.state, sent.error.partition(":")[0])
    assert [view] == await slack.views(ada)


async def test_an_external_person_presses_and_answers(
    slack: SlackServer, hands: RawApp, endpoint: Endpoint, ops: Channel, card: Message
) -> None:
    """A press bears the app's team and the person's own; a form bears theirs, and where the app is at home."""
    eve = await slack.user("eve", team=await slack.team("Partner"))
    await slack.join(eve, ops)
    view = await opened(slack, hands, eve, card)
    pressed = endpoint.payloads[-1]
    await slack.wait_delivery(await slack.submit(eve, view, {"why": "x"}))
    sent = endpoint.payloads[-1]

    assert (hands.app.team_id, eve.team_id) == (pressed["team"]["id"], pressed["user"]["team_id"])
    assert (eve.team_id, hands.app.team_id) == (sent["team"]["id"], sent["view"]["app_installed_team_id"])


async def test_what_a_form_does_not_take(
    slack: SlackServer, hands: RawApp, ada: User, ben: User, card: Message
) -> None:
    """Empty, short and unknown fields, and others' forms, are stopped before anybody hears."""
    view = await opened(slack, hands, ada, card, blocks=[asked(min_length=3, max_length=5)])
    for user, values in (
        (ada, {}),
        (ada, {"why": "ab"}),
        (ada, {"why": "abcdef"}),
        (ada, {"how": "abc"}),
        (ben, {"why": "abc"}),
    ):
        with pytest.raises(ControlError):
            await slack.submit(user, view, values)

    assert [] == await slack.deliveries("view_submission")


async def test_fields_of_other_kinds(
    slack: SlackServer, hands: RawApp, endpoint: Endpoint, ada: User, card: Message
) -> None:
    """Choices are sent as their options, people as ids."""
    options = [{"text": {"type": "plain_text", "text": word}, "value": word[0]} for word in ("Low", "High")]
    kinds = ("static_select", "checkboxes", "users_select", "plain_text_input")
    blocks = [{**asked(block_id=kind), "optional": True, "element": {"type": kind, "action_id": "a"}} for kind in kinds]
    for block in blocks[:2]:
        block["element"]["options"] = options
    view = await opened(slack, hands, ada, card, blocks=blocks)
    await slack.wait_delivery(
        await slack.submit(ada, view, {"static_select": "High", "checkboxes": ["L"], "users_select": ada.id})
    )
    values = {name: value["a"] for name, value in endpoint.payloads[-1]["view"]["state"]["values"].items()}

    assert options[1] == values["static_select"]["selected_option"]
    assert options[:1] == values["checkboxes"]["selected_options"]
    assert (ada.id, None) == (values["users_select"]["selected_user"], values["plain_text_input"]["value"])


async def test_closing_is_told_on_demand(
    slack: SlackServer, hands: RawApp, endpoint: Endpoint, ada: User, card: Message
) -> None:
    """view_closed comes only for a form that asks for it."""
    silent = await opened(slack, hands, ada, card)
    told = await opened(slack, hands, ada, card, notify_on_close=True)

    assert await slack.close(ada, silent) is None
    closed = await slack.close(ada, told)
    assert closed is not None
    await slack.wait_delivery(closed)
    payload = endpoint.payloads[-1]
    assert ("view_closed", told.id, False) == (payload["type"], payload["view"]["id"], payload["is_cleared"])


async def test_forms_change_and_stack(slack: SlackServer, hands: RawApp, ada: User, card: Message) -> None:
    """An update needs the hash that it names; a press in a form pushes another, three at most."""
    button = {**CARD[1], "block_id": "more"}
    view = await opened(slack, hands, ada, card, blocks=[asked(), button])
    updated = await hands.do("views.update", view_id=view.id, hash=view.hash, view=form(button, title="New"))
    conflict = await hands.refused("views.update", view_id=view.id, hash=view.hash, view=form())
    pushed = []
    for _ in range(3):
        trigger = (await press(slack, ada, await slack.view(view)))["trigger_id"]
        pushed.append(await hands.call("views.push", trigger_id=trigger, view=form()))

    assert "New" == updated["view"]["title"]["text"]
    assert "hash_conflict" == conflict
    assert [True, True, False] == [one["ok"] for one in pushed]
    assert "push_limit_reached" == pushed[-1]["error"]
    assert (view.id, view.id) == (pushed[0]["view"]["root_view_id"], pushed[0]["view"]["previous_view_id"])
    assert "not_found" == await hands.refused("views.update", view_id="V0", view=form())


async def test_a_home_tab(slack: SlackServer, hands: RawApp, ada: User) -> None:
    """It is published to a person, and published again in its place."""
    for words in ("one", "two"):
        block = {"type": "section", "text": {"type": "plain_text", "text": words}}
        await hands.do("views.publish", user_id=ada.id, view={"type": "home", "blocks": [block]})

    assert "two" == (await slack.wait_view(ada, kind="home")).shown.text
    assert 1 == len(await slack.views(ada))


async def test_a_command(slack: SlackServer, hands: RawApp, endpoint: Endpoint, ops: Channel, ada: User) -> None:
    """It comes as a form, mentions escaped; a text in answer is shown to who gave it."""
    endpoint.answers = [web.Response(text="Nothing waits")]
    await slack.command(ada, ops, "/sayso", "show @ben < 5")
    whisper = await slack.wait_ephemeral(ada, "Nothing waits")
    fields = {name: value[0] for name, value in parse_qs(endpoint.bodies[0].decode()).items()}

    assert ("/sayso", ops.id, "ops", ada.id, hands.app.team_id) == tuple(
        fields[name] for name in ("command", "channel_id", "channel_name", "user_id", "team_id")
    )
    assert f"show <@{(await slack.person('ben')).id}|ben> &lt; 5" == fields["text"]
    assert ops.id == whisper.channel_id
    with pytest.raises(ControlError, match="not a valid command"):
        await slack.command(ada, ops, "/unknown")


async def test_a_command_is_answered_in_the_channel(
    slack: SlackServer, endpoint: Endpoint, ops: Channel, ada: User
) -> None:
    """JSON says for whom."""
    endpoint.answers = [web.json_response({"response_type": "in_channel", "text": "For all", "blocks": CARD})]
    await slack.command(ada, ops, "/sayso")

    assert "" == (await slack.wait_message(ops, button="Approve")).visible_to


async def test_a_response_url(slack: SlackServer, hands: RawApp, ops: Channel, ada: User, card: Message) -> None:
    """It whispers, speaks, replaces and deletes, five times in all."""
    url = (await press(slack, ada, card))["response_url"]
    answers = []
    for body in (
        {"text": "psst"},
        {"text": "aloud", "response_type": "in_channel"},
        {"text": "Approved", "replace_original": True},
        {"text": "", "delete_original": True},
        {"text": "last"},
        {"text": "never"},
    ):
        async with hands.http.post(url, json=body) as answer:
            answers.append((answer.status, await answer.text()))
    texts = [one.text for one in await slack.messages(ops)]
    gone = ops.deleted[card.ts]

    assert ["psst", "last"] == [one.text for one in await slack.ephemerals(ada)]
    assert ["aloud"] == texts
    assert ("Approved", 1) == (gone.text, gone.edits)
    assert [(200, "ok")] * 5 == answers[:5]
    assert (404, "used_url") == (answers[5][0], json.loads(answers[5][1])["error"])


async def test_a_response_url_ends(slack: SlackServer, hands: RawApp, ada: User, card: Message) -> None:
    """After thirty minutes, and an unknown one is unknown; a wrong body is refused."""
    url = (await press(slack, ada, card))["response_url"]
    async with hands.http.post(url, json={"blocks": [{"type": "hologram"}]}) as answer:
        wrong = answer.status, (await answer.json())["error"]
    await slack.advance(30 * 60 + 1)
    async with hands.http.post(url, json={"text": "x"}) as answer:
        late = answer.status, (await answer.json())["error"]
    async with hands.http.post(f"{url}0", json={"text": "x"}) as answer:
        unknown = answer.status

    assert ((400, "invalid_blocks"), (404, "expired_url"), 404) == (wrong, late, unknown)


@pytest.mark.usefixtures("endpoint")
async def test_buttons_of_a_whisper(slack: SlackServer, hands: RawApp, ops: Channel, ada: User) -> None:
    """They work, without the message in the payload; only its response_url can change it."""
    await hands.do("chat.postEphemeral", channel=ops.id, user=ada.id, blocks=CARD, text="Sure?")
    payload = await press(slack, ada, await slack.wait_ephemeral(ada))
    async with hands.http.post(payload["response_url"], json={"text": "Done", "replace_original": True}) as answer:
        assert 200 == answer.status
    replaced = await slack.wait_ephemeral(ada, "Done")
    async with hands.http.post(payload["response_url"], json={"delete_original": True}) as answer:
        assert 200 == answer.status

    assert (True, False) == (payload["container"]["is_ephemeral"], "message" in payload)
    assert 1 == replaced.edits
    assert [] == await slack.ephemerals(ada)
