"""The checks of `sayso doctor` and `sayso deploy slack` for Slack: token, scopes, events, channels and people.

A bot can't change its app's settings, so each check names the missing setting and how to add it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.slack.errors import explained, promised
from adapters.slack.platform import make_client
from adapters.slack.setup import FILES_SCOPE, VIEW_SCOPE, scopes
from adapters.slack.surface import EMAIL, PLATFORM, parse_place
from adapters.slack.webhook import PATH
from hitl.platforms import Check, Health
from hitl.ports import PlatformError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.settings import SlackSettings
    from hitl.people import Directory

_INSTALL = "and install the app again"
#: Scope -> what doesn't work without it, for scopes without which every request still gets its answer.
_CONVENIENCES = {
    FILES_SCOPE: "no whole request appears as a file below its card",
    VIEW_SCOPE: "conversations with the agent have no suggested prompts and no titles",
}
_REINSTALL = "Install the app again"
_INVITE = "Invite the app: /invite @sayso"
_OUTSIDE = "Take them off the lists if nobody outside may approve"
_ADDRESSES = "addresses are listed, but slack.emails is off, so they are nobody"
_AGAIN = "compare the app's settings with: sayso deploy slack --manifest"


async def report(settings: SlackSettings, people: Directory, port: int | None) -> list[Check]:
    """Check everything that cards and answers on Slack depend on, as far as Slack's API shows it.

    `port` is the port of the service's HTTP server, or None without a server. Raises SettingsError.
    """
    client = make_client(settings)
    try:
        return await _checks(client, settings, people, port)
    except PlatformError as error:
        said = (
            f"{error}. Look whether {settings.api} is within reach"
            if error.passing
            else f"Slack refuses it: {error}. {_REINSTALL}"
        )
        return [Check("slack token", Health.RED, said)]
    finally:
        if client.session is not None:
            await client.session.close()


async def _checks(client: AsyncWebClient, settings: SlackSettings, people: Directory, port: int | None) -> list[Check]:
    async with explained():
        me = await client.auth_test()
        team = str(me.get("team_id") or promised(me, "enterprise_id"))
        granted = set(_header(me, "x-oauth-scopes").split(","))
    return [
        Check("slack token", Health.GREEN, f"belongs to @{me['user']} in {me['team']} ({team})"),
        _scopes(scopes(settings) - {scope.strip() for scope in granted}),
        await _receiving(client, settings, port),
        *[await _place(client, place, team) for place in people.places_on(PLATFORM)],
        *[await _approver(client, identity, team) for identity in people.approvers_on(PLATFORM)],
        *_emails(settings, people),
    ]


def _scopes(missing: AbstractSet[str]) -> Check:
    """Return the check of the scopes. If only scopes for conveniences are missing, no request is blocked."""
    if not missing:
        return Check("slack scopes", Health.GREEN, "all that are needed")
    if missing <= _CONVENIENCES.keys():
        lacks = "; ".join(f"{scope} missing, so {_CONVENIENCES[scope]}" for scope in sorted(missing))
        return Check("slack scopes", Health.YELLOW, f"{lacks}. To add it, {_AGAIN}, {_INSTALL}")
    return Check("slack scopes", Health.RED, f"{', '.join(sorted(missing))} missing; {_AGAIN}, {_INSTALL}")


async def _receiving(client: AsyncWebClient, settings: SlackSettings, port: int | None) -> Check:
    name = "slack receiving"
    if settings.is_pushed:
        return Check(name, *_pushed(settings, port))
    token = settings.secret("app_token")
    if not token:
        return Check(name, Health.RED, "Socket Mode needs an app token: name its file in slack.app_token_file")
    try:
        async with explained():
            promised(await client.apps_connections_open(app_token=token), "url")
    except PlatformError as error:
        return Check(name, Health.RED, f"no connection by Socket Mode: {error}. {_SOCKET_HELP}")
    return Check(name, Health.GREEN, f"by Socket Mode, {settings.connections} connections")


_SOCKET_HELP = "Switch Socket Mode on, and give the app token connections:write"


def _pushed(settings: SlackSettings, port: int | None) -> tuple[Health, str]:
    if not settings.secret("signing_secret"):
        return Health.RED, "requests need a signing secret: name its file in slack.signing_secret_file"
    if port is None:
        return Health.RED, "by requests, but nothing listens for them: set http.port"
    return Health.GREEN, f"by requests to {PATH} on port {port}"


async def _place(client: AsyncWebClient, place: str, team: str) -> Check:
    try:
        home, channel, _ = parse_place(place)
    except ValueError:
        return Check(place, Health.RED, "isn't a place on Slack. Write slack:TEAM/CHANNEL or slack:TEAM/CHANNEL/THREAD")
    if home != team:
        return Check(
            place,
            Health.RED,
            f"is in another workspace than the app, which is in {team}. Name a place there, or take it out",
        )
    return await (_person if channel.startswith(("U", "W")) else _channel)(client, place, channel)


async def _channel(client: AsyncWebClient, place: str, channel: str) -> Check:
    try:
        async with explained():
            info = promised(await client.conversations_info(channel=channel), "channel")
    except PlatformError as error:
        return Check(place, Health.RED, f"cards can't reach it: {error}. {_INVITE}")
    return Check(place, *_found(info))


def _found(info: Mapping[str, Any]) -> tuple[Health, str]:
    if info.get("is_archived"):
        return Health.RED, "cards can't reach it: it is archived. Unarchive the channel, or take it out of the settings"
    if not info.get("is_member") and not info.get("is_im"):
        return Health.YELLOW, f"cards and buttons work there; words and reactions don't. {_INVITE}"
    if info.get("is_ext_shared"):
        return (
            Health.YELLOW,
            "is shared with another organisation: its people read the cards too. Name another channel if they may not",
        )
    return Health.GREEN, "cards, buttons, words and reactions work there"


async def _approver(client: AsyncWebClient, identity: str, team: str) -> Check:
    try:
        home, user, thread = parse_place(identity)
    except ValueError:
        home, user, thread = "", "", ""
    if thread or not user.startswith(("U", "W")):
        return Check(identity, Health.RED, "isn't anybody on Slack. Write slack:TEAM/USER, as whoami says")
    check = await _person(client, identity, user)
    if check.state is Health.GREEN and home != team:
        return Check(identity, Health.YELLOW, f"{check.text}; belongs to another workspace or organisation. {_OUTSIDE}")
    return check


async def _person(client: AsyncWebClient, name: str, user: str) -> Check:
    try:
        async with explained():
            found = promised(await client.users_info(user=user), "user")
    except PlatformError as error:
        return Check(name, Health.RED, f"isn't known there: {error}. Compare the id with what /sayso whoami says")
    if found.get("deleted"):
        return Check(name, Health.RED, "has no account any more; take them off the lists")
    if found.get("is_bot"):
        return Check(name, Health.RED, "is a bot, and bots never decide; take it off the lists")
    return Check(name, Health.GREEN, f"is @{found['name']}, can be written to")


def _emails(settings: SlackSettings, people: Directory) -> Iterator[Check]:
    listed = [*people.approvers, *people.requesters, *(i for owned in people.principals.values() for i in owned)]
    if settings.emails:
        text = "people are known by address too: whoever runs the workspace's directory decides who they are. List"
        text += " people by id and set slack.emails = false, unless you trust that directory"
        yield Check("slack e-mail", Health.YELLOW, text)
    elif any(name.startswith(EMAIL) for name in listed):
        yield Check("slack e-mail", Health.RED, f"{_ADDRESSES}. Set slack.emails = true, or list people by id")


def _header(response: Any, name: str) -> str:
    return str(next((value for key, value in response.headers.items() if key.lower() == name), ""))
