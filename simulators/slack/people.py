"""What people do on Slack: open channels, write, press, fill in forms, react, give commands.

Every act is refused with `ControlError` where the apps would not offer it. The exceptions are on
purpose: a press may come from anyone in a workspace who knows the message, from a window that shows
an older state of it, or with a forged value, so that apps can be tested against all three.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from hitl.records import replace
from simulators.common.lookup import ControlError
from simulators.slack import interactions
from simulators.slack.errors import Json
from simulators.slack.lookup import AppRef, ChannelRef, Lookup, MessageRef, TeamRef, UserRef, ViewRef
from simulators.slack.marks import EMOJI
from simulators.slack.platform import Delivery, DeliveryKind
from simulators.slack.shapes import ASSISTANT_HEAD
from simulators.slack.sight import Button
from simulators.slack.state import (
    ALL_EVENTS,
    ALL_SCOPES,
    PREFIXES,
    App,
    Channel,
    File,
    Kind,
    Message,
    Pane,
    Team,
    User,
    View,
)
from simulators.slack.typed import rich, wire

RENAMED: Final = {sign: name for name, sign in reversed(EMOJI.items())}


class People(Lookup):
    """The acts of people, on one platform; `Lookup` says how they and things are named."""

    # Who and where -------------------------------------------------------------------------

    async def team(self, name: str = "Acme", *, enterprise: str = "", id: str = "") -> Team:
        """Open a workspace, in an enterprise if one is named by its id."""
        number = id or self.world.new_id("T")
        self.world.teams[number] = Team(number, name, name.lower().replace(" ", "-"), enterprise)
        self.platform.touch()
        return self.world.teams[number]

    async def user(
        self,
        name: str,
        *,
        team: TeamRef | None = None,
        real_name: str = "",
        email: str | None = None,
        id: str = "",
    ) -> User:
        """Add a person to a workspace; in another than the app's, they are an external one."""
        home = await self._home(team)
        number = id or self.world.new_id("W" if home.enterprise_id else "U")
        address = f"{name.lower()}@{home.domain}.example" if email is None else email
        user = User(number, home.id, name.lower(), real_name or name, address, enterprise_id=home.enterprise_id)
        self.world.users[number] = user
        self.platform.touch()
        return user

    async def app(
        self,
        name: str = "Sayso",
        *,
        team: TeamRef | None = None,
        scopes: Iterable[str] = ALL_SCOPES,
        events: Iterable[str] = ALL_EVENTS,
        commands: Iterable[str] = ("/sayso",),
        request_url: str = "",
        socket_mode: bool = False,
        org_wide: bool = False,
        pane: Pane = "",
        bot_token: str = "",
        app_token: str = "",
        signing_secret: str = "",
    ) -> App:
        """Make and install an app; its tokens and secret are made up unless given."""
        home = await self._home(team)
        number, user_id, bot_id = (self.world.new_id(prefix) for prefix in "AUB")
        bot = User(user_id, home.id, name.lower().replace(" ", "_"), name, is_bot=True, bot_id=bot_id, app_id=number)
        self.world.users[user_id] = bot
        secret = f"{self.platform.number():032x}"
        app = App(
            number,
            name,
            home.id,
            bot,
            bot_id,
            bot_token or f"xoxb-{number.lower()}-{secret[-12:]}",
            app_token or f"xapp-1-{number}-{secret[-12:]}",
            signing_secret or secret,
            f"verify-{number.lower()}",
            frozenset(scopes),
            events=frozenset(events),
            commands=frozenset(commands),
            request_url=request_url,
            socket_mode=socket_mode,
            org_wide=org_wide,
            pane=pane,
        )
        self.world.apps[number] = app
        self.platform.touch()
        return app

    async def _home(self, ref: TeamRef | None) -> Team:
        if ref is None and not self.world.teams:
            return await self.team()
        return self._team(ref)

    async def channel(
        self,
        name: str,
        *,
        members: Iterable[UserRef] = (),
        private: bool = False,
        team: TeamRef | None = None,
    ) -> Channel:
        """Open a channel with these people and apps in it; nobody is told who came."""
        kind: Kind = "private" if private else "channel"
        home = await self._home(team)
        channel = Channel(self.world.new_id(PREFIXES[kind]), kind, home.id, name)
        channel.members = [self._user(one).id for one in members]
        self.world.channels[channel.id] = channel
        self._share(channel)
        return channel

    async def direct(self, user: UserRef, app: AppRef | None = None) -> Channel:
        """Open a person's direct conversation with an app."""
        return self._direct(self._user(user), self._app(app))

    async def join(self, user: UserRef, channel: ChannelRef, *, by: UserRef | None = None) -> Channel:
        """Let a person or an app come in, on somebody's invitation if one is named."""
        room, person = self._channel(channel), self._user(user)
        self.platform.join(room, person.id, self._user(by).id if by else "")
        self._share(room)
        return room

    def _share(self, channel: Channel) -> None:
        homes = {self.world.users[one].team_id for one in channel.members}
        channel.shared_with = tuple(sorted(homes - {channel.team_id}))
        self.platform.touch()

    async def leave(self, user: UserRef, channel: ChannelRef) -> Channel:
        """Let someone go, an app too."""
        room = self._channel(channel)
        self.platform.leave(room, self._user(user).id)
        return room

    async def archive(self, channel: ChannelRef) -> Channel:
        """Close a channel for good."""
        room = self._channel(channel)
        room.archived = True
        kind = "channel_archive" if room.kind == "channel" else "group_archive"
        event = {
            "type": kind,
            "channel": room.id,
            "user": next(iter(room.members), ""),
            "event_ts": self.platform.next_ts(),
        }
        self.platform.tell(kind, event, room)
        return room

    async def deactivate(self, user: UserRef) -> User:
        """Take away a person's account."""
        gone = replace(self._user(user), deleted=True)
        self.world.users[gone.id] = gone
        self.platform.tell("user_change", {"type": "user_change", "user": {"id": gone.id, "deleted": True}})
        return gone

    async def uninstall(self, app: AppRef | None = None) -> App:
        """Remove an app: it is told, and its tokens are worth nothing any more."""
        gone = self._app(app)
        self.platform.tell_app(gone, "tokens_revoked", {"type": "tokens_revoked", "tokens": {"bot": [gone.user_id]}})
        self.platform.tell_app(gone, "app_uninstalled", {"type": "app_uninstalled"})
        gone.installed = False
        return gone

    async def open_home(self, user: UserRef, app: AppRef | None = None, tab: str = "home") -> None:
        """Look at an app's home or messages tab."""
        target, person = self._app(app), self._user(user)
        event = {
            "type": "app_home_opened",
            "user": person.id,
            "channel": self._direct(person, target).id,
            "tab": tab,
            "event_ts": self.platform.next_ts(),
        }
        self.platform.tell_app(target, "app_home_opened", event)

    async def open_pane(self, user: UserRef, app: AppRef | None = None, *, beside: ChannelRef | None = None) -> Message:
        """Open a new thread in the pane of an app with the assistant view, beside a channel if one is named.

        Return the head of the thread, which Slack writes in the app's name.
        """
        target, person = self._app(app), self._user(user)
        if target.pane != "assistant":
            raise ControlError(f"{target.name} has no assistant view")
        room = self._direct(person, target)
        head = self.platform.post(
            room, target.user_id, "New chat", subtype=ASSISTANT_HEAD, app_id=target.id, bot_id=target.bot_id
        )
        self._tell_of_pane("assistant_thread_started", target, person, head, beside)
        return head

    async def look_beside(self, user: UserRef, head: Message, beside: ChannelRef, app: AppRef | None = None) -> None:
        """Look at another channel while the pane of the assistant view is open."""
        self._tell_of_pane("assistant_thread_context_changed", self._app(app), self._user(user), head, beside)

    def _tell_of_pane(self, kind: str, app: App, person: User, head: Message, beside: ChannelRef | None) -> None:
        seen = {"channel_id": self._channel(beside).id, "team_id": person.team_id} if beside else {}
        thread = {"user_id": person.id, "context": seen, "channel_id": head.channel_id, "thread_ts": head.ts}
        self.platform.tell_app(
            app, kind, {"type": kind, "assistant_thread": thread, "event_ts": self.platform.next_ts()}
        )

    async def choose_prompt(
        self, user: UserRef, title: str, app: AppRef | None = None, *, thread: Message | None = None
    ) -> Message:
        """Press a suggested prompt, which sends its message in the person's name."""
        room = self._direct(self._user(user), self._app(app))
        prompts = room.prompts.get(thread.ts if thread else "", {})
        if title not in prompts:
            raise ControlError(f"there is no prompt {title!r}, only {sorted(prompts)}")
        return await self.say(user, room, prompts[title], thread=thread)

    # Messages ------------------------------------------------------------------------------

    async def say(
        self,
        user: UserRef,
        channel: ChannelRef,
        text: str,
        *,
        thread: MessageRef | None = None,
        broadcast: bool = False,
        raw: bool = False,
        blocks: Sequence[Json] | None = None,
    ) -> Message:
        """Write a message, in a thread if one is named, and to the channel as well with `broadcast`.

        `text` is what is typed (@name mentions); `raw` is what goes over the wire as it is. `blocks` stand in place of
        those that the apps send with such a text. An app as the channel is the direct conversation with it.
        """
        person = self._user(user)
        room = self._place(person, channel)
        self._check_writable(person, room)
        sent = text if raw else wire(text, self.world)
        return self.platform.post(
            room,
            person.id,
            sent,
            blocks=rich(sent) if blocks is None else tuple(blocks),
            thread_ts=self._head(room, thread),
            broadcast=broadcast,
        )

    async def mention(
        self,
        user: UserRef,
        channel: ChannelRef,
        text: str,
        *,
        app: AppRef | None = None,
        thread: MessageRef | None = None,
    ) -> Message:
        """Write a message that begins with an app's name."""
        return await self.say(user, channel, f"@{self._app(app).bot.name} {text}", thread=thread)

    async def bot_says(
        self,
        app: AppRef,
        channel: ChannelRef,
        text: str,
        *,
        thread: MessageRef | None = None,
        legacy: bool = False,
    ) -> Message:
        """Let an app write; with `legacy`, as bots did that have a name only (`bot_message`)."""
        bot, room = self._app(app), self._channel(channel)
        fields: Json = {"app_id": bot.id, "bot_id": bot.bot_id, "thread_ts": self._head(room, thread)}
        if legacy:
            return self.platform.post(room, "", text, subtype="bot_message", username=bot.name, **fields)
        return self.platform.post(room, bot.user_id, text, **fields)

    async def share(
        self,
        user: UserRef,
        channel: ChannelRef,
        name: str,
        text: str = "",
        *,
        thread: MessageRef | None = None,
    ) -> Message:
        """Write a message with a file."""
        person = self._user(user)
        room = self._place(person, channel)
        self._check_writable(person, room)
        file = File(self.world.new_id("F"), name, b"x", user_id=person.id)
        self.world.files[file.id] = file
        sent = wire(text, self.world)
        head = self._head(room, thread)
        return self.platform.post(room, person.id, sent, subtype="file_share", files=(file,), thread_ts=head)

    async def edit(
        self, user: UserRef, message: MessageRef, text: str, *, channel: ChannelRef | None = None
    ) -> Message:
        """Change what one wrote."""
        old, person = self._message(message, channel), self._user(user)
        if old.user_id != person.id or old.bot_id:
            raise ControlError("people edit their own messages only")
        sent = wire(text, self.world)
        return self.platform.revise(old, person.id, sent, rich(sent))

    async def delete(self, user: UserRef, message: MessageRef, *, channel: ChannelRef | None = None) -> Message:
        """Delete what one wrote; an app's message can be deleted by whoever runs the workspace, so by anyone here."""
        old, person = self._message(message, channel), self._user(user)
        if not old.bot_id and old.user_id != person.id:
            raise ControlError("people delete their own messages only")
        return self.platform.remove(old)

    async def unfurl(self, message: MessageRef, *, channel: ChannelRef | None = None, times: int = 1) -> Message:
        """Let Slack change a message itself, as a link's preview or a new reply do: same words, new events."""
        found = self._message(message, channel)
        for _ in range(times):
            self.platform.keep(found, found)
        return found

    async def react(
        self,
        user: UserRef,
        message: MessageRef,
        name: str,
        *,
        channel: ChannelRef | None = None,
        remove: bool = False,
    ) -> Message:
        """React to a message, or take that back (`remove`); `name` is an emoji or its name, with skin tone or not."""
        target, person = self._message(message, channel), self._user(user)
        room = self.world.channels[target.channel_id]
        self._check_present(person, room)
        emoji = RENAMED.get(name, name.strip(":"))
        if (person.id in target.reacted(emoji)) is not remove:
            return target
        return self.platform.react(target, person.id, emoji, added=not remove)

    def _check_writable(self, person: User, room: Channel) -> None:
        self._check_present(person, room)
        if room.archived:
            raise ControlError(f"{room.name} is archived")
        self._check_account(person)

    def _check_account(self, person: User) -> None:
        if person.deleted:
            raise ControlError(f"{person.name} has no account any more")

    def _head(self, room: Channel, thread: MessageRef | None) -> str:
        if thread is None:
            return ""
        named = self._message(thread, room, gone=True)
        return named.thread_ts or named.ts

    # Presses, forms, commands --------------------------------------------------------------

    async def press(
        self,
        user: UserRef,
        target: MessageRef | View,
        button: str = "",
        *,
        channel: ChannelRef | None = None,
        confirm: bool = True,
        forged: Mapping[str, Any] | None = None,
    ) -> Delivery | None:
        """Press a button, named by its words, action_id or value, of a message or a view.

        A message's record stands for a window that still shows that record. `confirm=False` says no
        to the button's question, if it has one: nothing happens then. `forged` overrides what is sent
        of the button.
        """
        person = self._user(user)
        self._check_account(person)
        shown = target if isinstance(target, Message | View) else self._message(target, channel, gone=True)
        found = _pressable(shown.shown.buttons, button, person)
        if found.confirm and not confirm:
            return None
        pressed = {**interactions.action(found, self.platform.next_ts()), **(forged or {})}
        app = self._app_of(shown)
        if isinstance(shown, View):
            self._check_view(shown, person)
            return self._interact(app, interactions.view_press(self.platform, app, person, shown, pressed))
        return self._interact(app, interactions.message_press(self.platform, app, person, shown, pressed))

    async def submit(self, user: UserRef, view: ViewRef, values: Mapping[str, Any] | None = None) -> Delivery:
        """Send a form, filled in by its fields' labels, block_ids or action_ids."""
        shown, person = self._view(view), self._user(user)
        self._check_view(shown, person)
        app = self.world.apps[shown.app_id]
        state = interactions.entered(shown, values or {})
        return self._interact(app, interactions.submission(self.platform, app, person, shown, state))

    async def close(self, user: UserRef, view: ViewRef, *, whole_stack: bool = False) -> Delivery | None:
        """Close a form, or all of its stack; the app hears if it asked to."""
        shown, person = self._view(view), self._user(user)
        self._check_view(shown, person)
        app = self.world.apps[shown.app_id]
        cleared = whole_stack or bool(shown.body.get("clear_on_close"))
        self.platform.close_view(shown, whole_stack=cleared)
        if not shown.body.get("notify_on_close"):
            return None
        return self._interact(app, interactions.closing(self.platform, app, person, shown, cleared=cleared))

    async def command(self, user: UserRef, channel: ChannelRef, name: str, text: str = "") -> Delivery:
        """Give a slash command."""
        person = self._user(user)
        room = self._place(person, channel)
        self._check_writable(person, room)
        apps = (one for one in self.world.apps.values() if name in one.commands and one.installed)
        app = next(apps, None)
        if app is None or "commands" not in app.scopes:
            raise ControlError(f"{name} is not a valid command")
        typed = wire(text, self.world, named=True)
        return self._interact(
            app, interactions.command(self.platform, app, person, room, name, typed), "slash_commands"
        )

    def _interact(self, app: App, payload: Json, kind: DeliveryKind = "interactive") -> Delivery:
        return self.platform.deliver(Delivery(f"In{self.platform.number():08X}", app.id, kind, payload))

    def _app_of(self, shown: Message | View) -> App:
        app = self.world.apps.get(shown.app_id)
        if app is None or not app.installed:
            raise ControlError("there is no app behind these buttons")
        return app

    def _check_view(self, view: View, person: User) -> None:
        if not view.open or view.user_id != person.id:
            raise ControlError(f"{person.name} has no such view open")


def _pressable(buttons: tuple[Button, ...], wanted: str, person: User) -> Button:
    """Return the one button that this names, among those that the person is shown."""
    offered = [one for one in buttons if one.visible(person.id)]
    exact = [one for one in offered if wanted in {one.label, one.action_id, one.value}]
    near = [one for one in offered if wanted and wanted.lower() in one.label.lower()]
    found = exact or near
    if len(found) != 1:
        raise ControlError(f"{len(found)} buttons match {wanted!r} among {[one.label for one in offered]}")
    return found[0]
