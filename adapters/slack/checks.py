"""The checks of `sayso doctor` and `sayso deploy slack` for Slack: token, scopes, events, channels and people.

A bot can't change its app's settings, so each check names the missing setting and how to add it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.slack.errors import explained, promised
from adapters.slack.platform import make_client
from adapters.slack.setup import FILES_SCOPE, VIEW_SCOPE, scopes
from adapters.slack.surface import EMAIL, PLATFORM, is_person, parse_place
from adapters.slack.webhook import PATH
from adapters.slack.wording import say
from hitl.platforms import Check, Health
from hitl.ports import PlatformError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.settings import SlackSettings
    from hitl.people import Directory

#: Optional scope -> the key of the message that is shown if the scope is missing. Requests work without these scopes.
_CONVENIENCES = {FILES_SCOPE: "doctor.slack.scopes.file", VIEW_SCOPE: "doctor.slack.scopes.view"}


async def report(settings: SlackSettings, people: Directory, port: int | None) -> list[Check]:
    """Return the checks of everything that cards and answers on Slack depend on, if Slack's API shows it.

    `port` is the port of the service's HTTP server, or None without a server. Raises SettingsError.
    """
    client = make_client(settings)
    try:
        return await _checks(client, settings, people, port)
    except PlatformError as error:
        if error.passing:
            return [Check("slack token", Health.RED, say("doctor.slack.unreached", why=error, api=settings.api))]
        return [Check("slack token", Health.RED, say("doctor.slack.token.refused", why=error))]
    finally:
        if client.session is not None:
            await client.session.close()


async def _checks(client: AsyncWebClient, settings: SlackSettings, people: Directory, port: int | None) -> list[Check]:
    async with explained():
        me = await client.auth_test()
        team = str(me.get("team_id") or promised(me, "enterprise_id"))
        granted = set(_header(me, "x-oauth-scopes").split(","))
    return [
        Check("slack token", Health.GREEN, say("doctor.slack.token", name=me["user"], workspace=me["team"], team=team)),
        _scopes(scopes(settings) - {scope.strip() for scope in granted}),
        await _receiving(client, settings, port),
        *[await _place(client, place, team) for place in people.places_on(PLATFORM)],
        *[await _approver(client, identity, team) for identity in people.approvers_on(PLATFORM)],
        *_emails(settings, people),
    ]


def _scopes(missing: AbstractSet[str]) -> Check:
    """Return the check of the scopes. The check is yellow if only optional scopes are missing: requests still work."""
    if not missing:
        return Check("slack scopes", Health.GREEN, say("doctor.slack.scopes"))
    if missing <= _CONVENIENCES.keys():
        lacks = "; ".join(say(_CONVENIENCES[scope], scope=scope) for scope in sorted(missing))
        return Check("slack scopes", Health.YELLOW, say("doctor.slack.scopes.lacks", lacks=lacks))
    return Check("slack scopes", Health.RED, say("doctor.slack.scopes.missing", scopes=", ".join(sorted(missing))))


async def _receiving(client: AsyncWebClient, settings: SlackSettings, port: int | None) -> Check:
    name = "slack receiving"
    if settings.is_pushed:
        return Check(name, *_pushed(settings, port))
    token = settings.secret("app_token")
    if not token:
        return Check(name, Health.RED, say("doctor.slack.socket.token"))
    try:
        async with explained():
            promised(await client.apps_connections_open(app_token=token), "url")
    except PlatformError as error:
        return Check(name, Health.RED, say("doctor.slack.socket.none", why=error))
    return Check(name, Health.GREEN, say("doctor.slack.socket", count=settings.connections))


def _pushed(settings: SlackSettings, port: int | None) -> tuple[Health, str]:
    if not settings.secret("signing_secret"):
        return Health.RED, say("doctor.slack.requests.secret")
    if port is None:
        return Health.RED, say("doctor.slack.requests.port")
    return Health.GREEN, say("doctor.slack.requests", path=PATH, port=port)


async def _place(client: AsyncWebClient, place: str, team: str) -> Check:
    try:
        home, channel, _ = parse_place(place)
    except ValueError:
        return Check(place, Health.RED, say("doctor.slack.place"))
    if home != team:
        return Check(place, Health.RED, say("doctor.slack.place.elsewhere", team=team))
    return await (_person if is_person(channel) else _channel)(client, place, channel)


async def _channel(client: AsyncWebClient, place: str, channel: str) -> Check:
    try:
        async with explained():
            info = promised(await client.conversations_info(channel=channel), "channel")
    except PlatformError as error:
        mend = say(error.remedy or "remedy.slack.invite")
        return Check(place, Health.RED, say("doctor.slack.place.unreached", why=error, remedy=mend))
    return Check(place, *_found(info))


def _found(info: Mapping[str, Any]) -> tuple[Health, str]:
    if info.get("is_archived"):
        return Health.RED, say("doctor.slack.place.archived")
    if not info.get("is_member") and not info.get("is_im"):
        return Health.YELLOW, say("doctor.slack.place.outside")
    if info.get("is_ext_shared"):
        return Health.YELLOW, say("doctor.slack.place.shared")
    return Health.GREEN, say("doctor.slack.place.works")


async def _approver(client: AsyncWebClient, identity: str, team: str) -> Check:
    try:
        home, user, thread = parse_place(identity)
    except ValueError:
        home, user, thread = "", "", ""
    if thread or not is_person(user):
        return Check(identity, Health.RED, say("doctor.slack.approver.nobody"))
    check = await _person(client, identity, user)
    if check.state is Health.GREEN and home != team:
        return Check(identity, Health.YELLOW, say("doctor.slack.approver.outside", found=check.text))
    return check


async def _person(client: AsyncWebClient, name: str, user: str) -> Check:
    try:
        async with explained():
            found = promised(await client.users_info(user=user), "user")
    except PlatformError as error:
        return Check(name, Health.RED, say("doctor.slack.person.unknown", why=error))
    if found.get("deleted"):
        return Check(name, Health.RED, say("doctor.slack.person.gone"))
    if found.get("is_bot"):
        return Check(name, Health.RED, say("doctor.slack.person.bot"))
    return Check(name, Health.GREEN, say("doctor.slack.person", name=found["name"]))


def _emails(settings: SlackSettings, people: Directory) -> Iterator[Check]:
    listed = [*people.approvers, *people.requesters, *(i for owned in people.principals.values() for i in owned)]
    if settings.emails:
        yield Check("slack e-mail", Health.YELLOW, say("doctor.slack.emails.on"))
    elif any(name.startswith(EMAIL) for name in listed):
        yield Check("slack e-mail", Health.RED, say("doctor.slack.emails.off"))


def _header(response: Any, name: str) -> str:
    return str(next((value for key, value in response.headers.items() if key.lower() == name), ""))
