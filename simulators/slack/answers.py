"""What an app's answers to interactions do: at the request itself, or later at the response_url."""

from __future__ import annotations

from typing import Any, Final

from hitl.records import replace
from simulators.slack import errors
from simulators.slack.contents import content, view_body
from simulators.slack.errors import ApiError, Json
from simulators.slack.params import Params
from simulators.slack.platform import Delivery, Platform, ResponseUrl
from simulators.slack.state import App, Channel, Message, View

RESPONSE_SECONDS: Final = 30 * 60.0
RESPONSE_USES: Final = 5


def settle(platform: Platform, delivery: Delivery) -> None:
    """Do what the answer to an interaction says; an answer that says nonsense makes it a failed one."""
    if delivery.state != "delivered" or delivery.kind == "events_api":
        return
    try:
        _settle(platform, delivery)
    except (ApiError, KeyError, TypeError, ValueError, AttributeError) as error:
        delivery.state = "failed"
        delivery.attempts[-1] = replace(delivery.attempts[-1], error=f"invalid_response: {error}")


def _settle(platform: Platform, delivery: Delivery) -> None:
    app, payload = platform.world.apps[delivery.app_id], delivery.payload
    if delivery.kind == "slash_commands":
        _answer_command(platform, app, payload, delivery.answer)
    elif payload["type"] == "view_submission":
        _answer_submission(platform, app, platform.world.views[payload["view"]["id"]], delivery.answer)


def _answer_command(platform: Platform, app: App, payload: Json, answer: Any) -> None:
    said = {"text": answer} if isinstance(answer, str) else answer
    if said:
        channel = platform.world.channels[payload["channel_id"]]
        _say(platform, app, channel, payload["user_id"], said)


def _answer_submission(platform: Platform, app: App, view: View, answer: Any) -> None:
    if not answer:
        platform.close_view(view)
        return
    action = answer["response_action"]
    if action == "clear":
        platform.close_view(view, whole_stack=True)
    elif action == "errors":
        platform.put_view(replace(view, errors=_known_errors(view, answer["errors"])))
    elif action == "update":
        platform.change_view(view, view_body(platform, answer["view"]))
    elif action == "push":
        platform.show(app, view.user_id, view.team_id, view_body(platform, answer["view"]), view)
    else:
        raise ValueError(f"unknown response_action {action}")


def _known_errors(view: View, given: Json) -> Json:
    """Return errors at fields, each of which must be there."""
    unknown = given.keys() - {one.block_id for one in view.fields}
    if unknown or not given:
        raise ValueError(f"errors at no field: {sorted(unknown)}")
    return given


def respond(platform: Platform, token: str, body: Json) -> None:
    """Carry out what was posted to a response_url, or raise `ApiError`."""
    address = platform.response_urls.get(token)
    if address is None:
        raise ApiError(errors.NO_SUCH_URL)
    if platform.clock.now() - address.at > RESPONSE_SECONDS:
        raise ApiError(errors.EXPIRED_URL)
    if address.uses >= RESPONSE_USES:
        raise ApiError(errors.USED_URL)
    address.uses += 1
    app, channel = platform.world.apps[address.app_id], platform.world.channels[address.channel_id]
    original = _original(platform, address)
    if original and body.get("delete_original"):
        _delete(platform, original)
    elif original and body.get("replace_original"):
        _replace(platform, app, original, body)
    else:
        _say(platform, app, channel, address.user_id, body)


def _original(platform: Platform, address: ResponseUrl) -> Message | None:
    whispered = (one for one in platform.world.ephemerals if one.ts == address.message_ts)
    channel = platform.world.channels[address.channel_id]
    return channel.messages.get(address.message_ts) or next(whispered, None)


def _delete(platform: Platform, original: Message) -> None:
    if original.visible_to:
        platform.whispered(original, None)
    else:
        platform.remove(original)


def _replace(platform: Platform, app: App, original: Message, body: Json) -> None:
    shows = content(platform, Params(body))
    if original.visible_to:
        platform.whispered(original, original.edit(platform.next_ts(), app.user_id, shows.text, shows.blocks))
    else:
        platform.revise(original, app.user_id, shows.text, shows.blocks)


def _say(platform: Platform, app: App, channel: Channel, user_id: str, body: Json) -> None:
    """Write as the app, to whoever acted alone unless told otherwise."""
    shows = content(platform, Params(body))
    fields = {
        "blocks": shows.blocks,
        "app_id": app.id,
        "bot_id": app.bot_id,
        "thread_ts": str(body.get("thread_ts", "")),
    }
    if body.get("response_type") == "in_channel":
        platform.post(channel, app.user_id, shows.text, **fields)
    else:
        platform.whisper(channel, user_id, shows.text, user_id=app.user_id, **fields)
