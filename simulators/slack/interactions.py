"""What an app is told of presses, forms and commands: the payloads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from simulators.common.lookup import ControlError
from simulators.slack import shapes
from simulators.slack.errors import Json
from simulators.slack.platform import Platform
from simulators.slack.sight import Button, Field
from simulators.slack.state import App, Channel, Message, User, View

FROM_VIEWS: Final = frozenset({"view_submission", "view_closed"})
NAMELESS: Final = {"im": "directmessage", "private": "privategroup", "mpim": "mpdm"}


def head(kind: str, platform: Platform, app: App, user: User) -> Json:
    """Return what all interactions begin with.

    The team is the app's; a form that an external person sends bears theirs, and says in
    `view.app_installed_team_id` where the app is at home.
    """
    own = user.team_id in platform.world.teams_of(app) or kind in FROM_VIEWS
    team = platform.world.teams[user.team_id if own else app.team_id]
    enterprise = {"id": team.enterprise_id, "name": team.name} if team.enterprise_id else None
    return {
        "type": kind,
        "team": None if app.org_wide else {"id": team.id, "domain": team.domain},
        "user": {"id": user.id, "username": user.name, "name": user.name, "team_id": user.team_id},
        "api_app_id": app.id,
        "token": app.verification_token,
        "enterprise": enterprise,
        "is_enterprise_install": app.org_wide,
    }


def channel_name(channel: Channel) -> str:
    """Return a channel's name as interactions give it."""
    return NAMELESS.get(channel.kind, channel.name)


def action(button: Button, ts: str) -> Json:
    """Return what was pressed."""
    return {
        "type": "button",
        "action_id": button.action_id,
        "block_id": button.block_id,
        "text": {"type": "plain_text", "text": button.label, "emoji": True},
        **shapes.filled(value=button.value, style=button.style, url=button.url, confirm=button.confirm),
        "action_ts": ts,
    }


def message_press(platform: Platform, app: App, user: User, message: Message, pressed: Json) -> Json:
    """Return the payload of a press on a message, as it is now; a whispered one comes without its words."""
    channel = platform.world.channels[message.channel_id]
    now = channel.messages.get(message.ts, message)
    container = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": channel.id,
        "is_ephemeral": bool(message.visible_to),
        **shapes.filled(thread_ts=message.thread_ts),
    }
    shape = {} if message.visible_to else {"message": shapes.message(now, platform.world, platform.root)}
    return {
        **head("block_actions", platform, app, user),
        "container": container,
        "trigger_id": platform.trigger(app, user),
        "channel": {"id": channel.id, "name": channel_name(channel)},
        **shape,
        "state": {"values": {}},
        "response_url": platform.response_url(app, user, channel, message.ts),
        "actions": [pressed],
    }


def view_press(platform: Platform, app: App, user: User, view: View, pressed: Json) -> Json:
    """Return the payload of a press in a view."""
    return {
        **head("block_actions", platform, app, user),
        "container": {"type": "view", "view_id": view.id},
        "trigger_id": platform.trigger(app, user, view),
        "view": shapes.view(view, platform.world),
        "actions": [pressed],
    }


def submission(platform: Platform, app: App, user: User, view: View, values: Json) -> Json:
    """Return the payload of a form that was sent."""
    return {
        **head("view_submission", platform, app, user),
        "trigger_id": platform.trigger(app, user, view),
        "view": shapes.view(view, platform.world, values),
        "response_urls": [],
    }


def closing(platform: Platform, app: App, user: User, view: View, *, cleared: bool) -> Json:
    """Return the payload of a form that was closed."""
    shape = shapes.view(view, platform.world)
    return {**head("view_closed", platform, app, user), "view": shape, "is_cleared": cleared}


def command(platform: Platform, app: App, user: User, channel: Channel, name: str, text: str) -> Json:
    """Return the payload of a slash command: a flat form."""
    team = platform.world.teams[app.team_id]
    enterprise = {"enterprise_id": team.enterprise_id, "enterprise_name": team.name} if team.enterprise_id else {}
    return {
        "token": app.verification_token,
        "team_id": team.id,
        "team_domain": team.domain,
        **enterprise,
        "channel_id": channel.id,
        "channel_name": channel_name(channel),
        "user_id": user.id,
        "user_name": user.name,
        "command": name,
        "text": text,
        "api_app_id": app.id,
        "is_enterprise_install": str(app.org_wide).lower(),
        "response_url": platform.response_url(app, user, channel),
        "trigger_id": platform.trigger(app, user),
    }


def entered(view: View, values: Mapping[str, Any]) -> Json:
    """Return a form's state when a person has filled it in, or refuse what the form would not take.

    Fields are named by label, block_id or action_id; those not named keep what stands in them.
    """
    unknown = set(values) - {name for one in view.fields for name in _names(one)}
    if unknown:
        raise ControlError(f"the form has no field {sorted(unknown)}")
    return {one.block_id: {one.action_id: _entry(view, one, values)} for one in view.fields}


def _names(field: Field) -> tuple[str, str, str]:
    return field.label, field.block_id, field.action_id


def _entry(view: View, field: Field, values: Mapping[str, Any]) -> Json:
    given = next((values[name] for name in _names(field) if name in values), field.initial) or None
    if given is None and not field.optional:
        raise ControlError(f"{field.label!r} can't be empty")
    if field.kind == "plain_text_input" and given and not field.min_length <= len(given) <= field.max_length:
        raise ControlError(f"{field.label!r} takes {field.min_length} to {field.max_length} characters")
    return {"type": field.kind, **_value(view, field, given)}


def _value(view: View, field: Field, given: Any) -> Json:
    if field.kind == "plain_text_input":
        return {"value": given}
    if field.kind in {"static_select", "radio_buttons"}:
        return {"selected_option": _option(view, field, given) if given else None}
    if field.kind == "checkboxes":
        return {"selected_options": [_option(view, field, one) for one in given or ()]}
    return {_SELECTED[field.kind]: given}


_SELECTED: Final = {
    "users_select": "selected_user",
    "multi_users_select": "selected_users",
    "datepicker": "selected_date",
}


def _option(view: View, field: Field, wanted: str) -> Json:
    block = next(one for one in view.blocks if one["block_id"] == field.block_id)
    for option in block["element"]["options"]:
        if wanted in {option["value"], option["text"]["text"]}:
            return dict(option)
    raise ControlError(f"{field.label!r} has no option {wanted!r}")
