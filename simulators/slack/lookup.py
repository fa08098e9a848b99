"""Who and what a control's arguments name: people, apps, channels, messages, views, deliveries."""

from __future__ import annotations

from simulators.common.lookup import ControlError, first, only
from simulators.slack.platform import Delivery, Platform
from simulators.slack.state import App, Channel, Message, Team, User, View

UserRef = User | App | str
AppRef = App | str
TeamRef = Team | str
ChannelRef = Channel | User | App | str
MessageRef = Message | str
ViewRef = View | str
DeliveryRef = Delivery | str


class Lookup:
    """Finds what is named, on one platform.

    People are named by record, id, name or real name; apps by record, id or name; channels by record,
    id or name, and a person stands for the direct conversation with the first app. Messages are named
    by record, or by ts with `channel`; views and deliveries by record or id.
    """

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        self.world = platform.world

    def _user(self, ref: UserRef) -> User:
        if isinstance(ref, App):
            return ref.bot
        if isinstance(ref, User):
            return self.world.users[ref.id]
        return only(ref, self.world.users.get(ref), self._users_called(ref))

    def _users_called(self, name: str) -> list[User]:
        wanted = _bare(name)
        return [one for one in self.world.users.values() if wanted in {one.name.lower(), one.real_name.lower()}]

    def _app(self, ref: AppRef | None) -> App:
        if isinstance(ref, App):
            return ref
        if ref is not None:
            called = [one for one in self.world.apps.values() if one.name.lower() == _bare(ref)]
            return only(ref, self.world.apps.get(ref), called)
        return first(self.world.apps.values(), "app")

    def _team(self, ref: TeamRef | None) -> Team:
        if isinstance(ref, Team):
            return ref
        if ref is not None:
            called = [one for one in self.world.teams.values() if one.name.lower() == _bare(ref)]
            return only(ref, self.world.teams.get(ref), called)
        return first(self.world.teams.values(), "team")

    def _channel(self, ref: ChannelRef) -> Channel:
        if isinstance(ref, Channel):
            return ref
        if isinstance(ref, App):
            raise ControlError("an app's direct conversations are named by the people in them")
        if isinstance(ref, User):
            return self._direct(ref, self._app(None))
        named = [one for one in self.world.channels.values() if one.name and one.name == _bare(ref)]
        return only(ref, self.world.channels.get(ref), named or [self._channel(one) for one in self._users_called(ref)])

    def _direct(self, user: User, app: App) -> Channel:
        return self.platform.direct(frozenset({user.id, app.user_id}), app.team_id)[0]

    def _place(self, person: User, ref: ChannelRef) -> Channel:
        """Return the channel that a person means: an app stands for the direct conversation with it."""
        if isinstance(ref, App):
            return self._direct(person, ref)
        app = next(
            (one for one in self.world.apps.values() if isinstance(ref, str) and _bare(ref) in _names(one)), None
        )
        return self._direct(person, app) if app else self._channel(ref)

    def _message(self, ref: MessageRef, channel: ChannelRef | None = None, *, gone: bool = False) -> Message:
        """Return a message as it is now, also one that only one person sees, or with `gone` a deleted one."""
        if channel is None and not isinstance(ref, Message):
            raise ControlError("a message's ts needs its channel")
        room = self.world.channels[ref.channel_id] if isinstance(ref, Message) else self._channel(channel or "")
        ts = ref.ts if isinstance(ref, Message) else ref
        whispered = (one for one in self.world.ephemerals if (one.channel_id, one.ts) == (room.id, ts))
        found = room.messages.get(ts) or (room.deleted.get(ts) if gone else None) or next(whispered, None)
        if found is None:
            raise ControlError(f"there is no message {ts}")
        return found

    def _view(self, ref: ViewRef) -> View:
        number = ref.id if isinstance(ref, View) else ref
        if number not in self.world.views:
            raise ControlError(f"there is no view {number}")
        return self.world.views[number]

    def _delivery(self, ref: DeliveryRef) -> Delivery:
        if isinstance(ref, Delivery):
            return ref
        found = [one for one in self.platform.deliveries if one.id == ref]
        if not found:
            raise ControlError(f"there is no delivery {ref}")
        return found[-1]

    def _check_present(self, person: User, channel: Channel) -> None:
        if not channel.has(person.id):
            raise ControlError(f"{person.name} is not in {channel.name or 'this conversation'}")


def _names(app: App) -> set[str]:
    return {app.name.lower(), app.bot.name.lower(), app.user_id.lower()}


def _bare(ref: str) -> str:
    return ref.removeprefix("@").removeprefix("#").lower()
