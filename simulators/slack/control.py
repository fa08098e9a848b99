"""The control of a running server: people's acts, what they see, waiting, faults, the clock.

The same verbs in Python (`await server.say("ada", "ops", "yes")`) and over HTTP
(`POST /control/say {"user": "ada", "channel": "ops", "text": "yes"}`); `VERBS` is the table of the latter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from simulators.common.control import PATIENCE, Overseer, Render, record
from simulators.slack import shapes
from simulators.slack.answers import settle
from simulators.slack.couriers import Couriers, Outcome
from simulators.slack.errors import Json
from simulators.slack.faults import Fault
from simulators.slack.lookup import AppRef, ChannelRef, DeliveryRef, MessageRef, UserRef, ViewRef
from simulators.slack.people import People
from simulators.slack.platform import Call, Delivery, Platform
from simulators.slack.signing import CONTENT_TYPE, FORGERIES, encoded
from simulators.slack.sockets import Link, Sockets
from simulators.slack.state import App, Channel, File, Message, Team, User, View

# Over HTTP; what takes a predicate or a fault object is for Python only.
VERBS: Final = frozenset(
    "team user app channel direct join leave archive deactivate uninstall open_home open_pane look_beside"
    " choose_prompt say mention bot_says share edit delete unfurl react press submit close command messages"
    " message thread ephemerals reload views view room person calls deliveries wait_message wait_ephemeral"
    " wait_view wait_delivery wait_calls wait_drained wait_connected point socket_mode revoke_scope challenge"
    " forge replay disconnect cut deafen heal flood advance down up".split()
)


def _app(value: App, _world: object) -> Json:
    return {
        "id": value.id,
        "name": value.name,
        "team_id": value.team_id,
        "user_id": value.user_id,
        "bot_id": value.bot_id,
        "bot_token": value.bot_token,
        "app_token": value.app_token,
        "signing_secret": value.signing_secret,
        "scopes": sorted(value.scopes),
        "request_url": value.request_url,
        "socket_mode": value.socket_mode,
        "installed": value.installed,
    }


def _channel(value: Channel, _world: object) -> Json:
    return {
        "id": value.id,
        "kind": value.kind,
        "name": value.name,
        "team_id": value.team_id,
        "members": list(value.members),
        "archived": value.archived,
    }


RENDERERS: Final[dict[type, Render]] = {
    Team: record,
    User: record,
    App: _app,
    Channel: _channel,
    Message: shapes.seen,
    View: shapes.seen_view,
    Call: record,
    Delivery: record,
    Outcome: record,
}


class Control(People, Overseer[Platform, Call, Fault]):
    """People's acts and the view from above."""

    verbs = VERBS
    renderers = RENDERERS

    def __init__(self, platform: Platform) -> None:
        super().__init__(platform)
        self.sockets = Sockets(platform)
        self.couriers = Couriers(platform, self.sockets, self._settle)

    def _settle(self, delivery: Delivery) -> None:
        settle(self.platform, delivery)

    # Seeing --------------------------------------------------------------------------------

    async def messages(self, channel: ChannelRef) -> list[Message]:
        """Return what everyone in a channel sees, oldest first, threads among it; what was deleted is not there."""
        return list(self._channel(channel).messages.values())

    async def message(self, message: MessageRef, channel: ChannelRef | None = None) -> Message:
        """Return one message as it is now, with its edits in `history`."""
        return self._message(message, channel)

    async def thread(self, message: MessageRef, channel: ChannelRef | None = None) -> list[Message]:
        """Return the replies in a message's thread, oldest first."""
        head = self._message(message, channel, gone=True)
        ts = head.thread_ts or head.ts
        found = self.world.channels[head.channel_id].thread(ts)
        return [one for one in found if one.ts != ts]

    async def ephemerals(self, user: UserRef, channel: ChannelRef | None = None) -> list[Message]:
        """Return what only this person sees, oldest first."""
        person = self._user(user)
        room = self._channel(channel).id if channel else ""
        mine = [one for one in self.world.ephemerals if one.visible_to == person.id]
        return [one for one in mine if room in {"", one.channel_id}]

    async def reload(self, user: UserRef) -> None:
        """Let a person's window be loaded anew: what only they saw is gone."""
        person = self._user(user)
        self.world.ephemerals = [one for one in self.world.ephemerals if one.visible_to != person.id]
        self.platform.touch()

    async def views(self, user: UserRef) -> list[View]:
        """Return the forms in front of a person, the topmost last."""
        person = self._user(user)
        return [one for one in self.world.views.values() if one.open and one.user_id == person.id]

    async def view(self, view: ViewRef) -> View:
        """Return one view as it is, or was."""
        return self._view(view)

    async def room(self, channel: ChannelRef) -> Channel:
        """Return a channel as it is now."""
        return self._channel(channel)

    async def person(self, user: UserRef) -> User:
        """Return a person or bot."""
        return self._user(user)

    async def file(self, file_id: str) -> File:
        """Return an uploaded file with its bytes."""
        return self.world.files[file_id]

    async def deliveries(self, kind: str | None = None) -> list[Delivery]:
        """Return what apps were told, of one kind (an event's type, or interactive, slash_commands) or all."""
        return [one for one in self.platform.deliveries if kind in {None, *_kinds(one)}]

    async def links(self, app: AppRef | None = None) -> list[Link]:
        """Return an app's sockets."""
        return self.sockets.of(self._app(app).id)

    # Waiting -------------------------------------------------------------------------------

    async def wait_message(
        self,
        channel: ChannelRef,
        text: str = "",
        *,
        button: str = "",
        edits: int = 0,
        after: str = "",
        thread: MessageRef | None = None,
        timeout: float = PATIENCE,
    ) -> Message:
        """Return the newest app's message in the channel that has all of these.

        `text` is a part of what is seen, `button` a label, `edits` the least number of edits, `after` a
        ts that it must be beyond, `thread` the message that it must be a reply to.
        """
        head = "" if thread is None else self._head(self._channel(channel), thread)

        def wanted(one: Message) -> bool:
            fits = text in one.shown.text and (not button or button in one.labels)
            placed = not head or (one.is_reply and one.thread_ts == head)
            return bool(one.bot_id) and fits and placed and one.edits >= edits and one.ts > after

        return await self.wait_newest(
            lambda: list(self._channel(channel).messages.values()), wanted, timeout, f"a message with {text!r}"
        )

    async def wait_ephemeral(
        self,
        user: UserRef,
        text: str = "",
        *,
        button: str = "",
        after: str = "",
        timeout: float = PATIENCE,
    ) -> Message:
        """Return the newest message that only this person sees and that has all of these."""
        person = self._user(user)

        def wanted(one: Message) -> bool:
            fits = text in one.shown.text and (not button or button in one.labels)
            return fits and one.visible_to == person.id and one.ts > after

        return await self.wait_newest(lambda: self.world.ephemerals, wanted, timeout, f"a whisper with {text!r}")

    async def wait_view(
        self,
        user: UserRef,
        text: str = "",
        *,
        kind: str = "modal",
        timeout: float = PATIENCE,
    ) -> View:
        """Return the topmost view of this kind in front of a person, with this in its title or words."""
        person = self._user(user)

        def wanted(one: View) -> bool:
            return (
                one.open and (one.user_id, one.kind) == (person.id, kind) and text in f"{one.title}\n{one.shown.text}"
            )

        return await self.wait_newest(lambda: list(self.world.views.values()), wanted, timeout, f"a view with {text!r}")

    async def wait_delivery(self, delivery: DeliveryRef, timeout: float = PATIENCE) -> Delivery:
        """Return a delivery when it has come to its end, well or not."""
        found = self._delivery(delivery)
        return await self.wait_for(lambda: found if found.state != "waiting" else None, timeout, "the delivery's end")

    async def wait_drained(self, timeout: float = PATIENCE) -> bool:
        """Return when every delivery has come to its end."""
        deliveries = self.platform.deliveries
        return await self.wait_for(
            lambda: all(one.state != "waiting" for one in deliveries), timeout, "the end of all deliveries"
        )

    async def wait_connected(self, app: AppRef | None = None, count: int = 1, timeout: float = PATIENCE) -> bool:
        """Return when an app holds so many sockets."""
        number = self._app(app).id
        return await self.wait_for(lambda: len(self.sockets.of(number)) >= count, timeout, "a socket")

    def last(self) -> str:
        """Return the last calls and deliveries."""
        calls = [f"{one.method} -> {one.status} {one.error}".strip() for one in self.platform.calls[-6:]]
        told = [f"{_kinds(one)[-1]} {one.state} {one.error}".strip() for one in self.platform.deliveries[-6:]]
        return f"last calls: {calls}; last deliveries: {told}"

    # An app's settings ---------------------------------------------------------------------

    async def point(self, app: AppRef | None = None, request_url: str = "") -> App:
        """Set where an app's events, interactions and commands are posted."""
        found = self._app(app)
        found.request_url, found.socket_mode = request_url, False
        return found

    async def socket_mode(self, app: AppRef | None = None, *, enabled: bool = True) -> App:
        """Switch an app's Socket Mode; its sockets are told to go when it ends."""
        found = self._app(app)
        found.socket_mode = enabled
        if not enabled:
            await self.sockets.disconnect(found.id, "link_disabled")
        return found

    async def revoke_scope(self, scope: str, app: AppRef | None = None) -> App:
        """Take a scope away from an app, as a new installation with fewer does."""
        found = self._app(app)
        found.scopes -= {scope}
        return found

    async def challenge(self, app: AppRef | None = None) -> bool:
        """Verify an app's request URL, as saving it does; True when it returns the challenge."""
        found = self._app(app)
        word = f"challenge-{self.platform.number()}"
        payload = {"token": found.verification_token, "challenge": word, "type": "url_verification"}
        outcome = await self.forge("events_api", payload, app=found, flaw="none")
        return outcome.answer == word or (isinstance(outcome.answer, dict) and outcome.answer.get("challenge") == word)

    # Trouble -------------------------------------------------------------------------------

    async def forge(
        self,
        kind: str,
        payload: Mapping[str, Any],
        *,
        flaw: str = "bad_signature",
        app: AppRef | None = None,
        url: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Post a request of ours to an app, with something wrong with its proof; `signing.FORGERIES` has the flaws.

        `kind` is events_api, interactive or slash_commands and says how the payload is written.
        """
        found = self._app(app)
        body, mime = encoded(kind, dict(payload))
        proof = FORGERIES[flaw](found.signing_secret, int(self.platform.signing_clock()), body)
        return await self.couriers.send(
            url or found.request_url, body, {CONTENT_TYPE: mime, **proof, **(headers or {})}
        )

    async def replay(self, delivery: DeliveryRef) -> Delivery:
        """Deliver something once more, with the same ids."""
        old = self._delivery(delivery)
        return self.platform.deliver(Delivery(old.id, old.app_id, old.kind, old.payload))

    async def disconnect(self, app: AppRef | None = None, reason: str = "refresh_requested") -> None:
        """Tell an app's sockets to go: warning, refresh_requested or link_disabled."""
        await self.sockets.disconnect(self._app(app).id, reason)

    async def cut(self, app: AppRef | None = None) -> None:
        """Break an app's sockets without a word."""
        self.sockets.cut(self._app(app).id)

    async def deafen(self, app: AppRef | None = None) -> None:
        """Let an app's sockets stay open, and nothing come over them any more, no answer to a ping either."""
        for link in self.sockets.of(self._app(app).id):
            link.deaf = True

    async def obey(self, verb: str, arguments: Json) -> Any:
        """Carry out a verb that came over HTTP, where a press may name a view as well as a message."""
        if verb == "press" and str(arguments.get("target", "")).startswith("V"):
            arguments = {**arguments, "target": await self.view(arguments["target"])}
        return await super().obey(verb, arguments)


def _kinds(delivery: Delivery) -> tuple[str, str]:
    event = delivery.payload.get("event", {})
    return delivery.kind, str(event.get("type") or delivery.payload.get("type") or delivery.payload.get("command"))
