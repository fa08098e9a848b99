"""The scopes and the manifest from which a person makes the Slack app. A bot can't change its own app's settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.slack.webhook import PATH
from adapters.slack.wording import say
from hitl.errors import SettingsError

if TYPE_CHECKING:
    from adapters.slack.settings import SlackSettings

#: The scope for files below cards. Without it, only these files are missing.
FILES_SCOPE = "files:write"
#: The scope for suggested prompts and titles in the agent view. Without it, only these are missing.
VIEW_SCOPE = "assistant:write"
#: The scopes of the methods and events that this adapter uses. The manifest asks for the same scopes.
SCOPES = frozenset(
    {
        "app_mentions:read",
        VIEW_SCOPE,
        "channels:history",
        "channels:read",
        "chat:write",
        "chat:write.public",
        "commands",
        FILES_SCOPE,
        "groups:history",
        "groups:read",
        "im:history",
        "im:read",
        "im:write",
        "mpim:history",
        "mpim:read",
        "reactions:read",
        "users:read",
    }
)
EMAIL_SCOPE = "users:read.email"


def scopes(settings: SlackSettings) -> frozenset[str]:
    """Return the scopes that the bot token needs."""
    return SCOPES | (frozenset({EMAIL_SCOPE}) if settings.emails else frozenset())


def manifest(base: dict[str, Any], settings: SlackSettings, url: str = "") -> dict[str, Any]:
    """Return the manifest for an app with these settings. `base` is the manifest that comes with the program; it is
    changed and returned.

    Raises SettingsError if the app needs an address and `url` isn't an https address.
    """
    if settings.emails:
        base["oauth_config"]["scopes"]["bot"].append(EMAIL_SCOPE)
    if url or settings.is_pushed:
        if not url.startswith("https://"):
            raise SettingsError(say("setting.slack.address"))
        _push(base, url.rstrip("/") + PATH)
    return base


def _push(wanted: dict[str, Any], url: str) -> None:
    """Change the manifest `wanted` so that Slack sends requests to `url` instead of using Socket Mode."""
    part = wanted["settings"]
    part["socket_mode_enabled"] = False
    part["event_subscriptions"]["request_url"] = url
    part["interactivity"]["request_url"] = url
    for command in wanted["features"]["slash_commands"]:
        command["url"] = url
