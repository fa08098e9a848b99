"""A text client: act as people on a running server by typed lines, and see what they see.

ada: yes                   write (in the chosen channel, or to the app with `in private`)
ada mention deploy it      write to the app by its name
ada press 12 Approve       press a button of message 12 (without a number: of the newest with it)
ada reply 12 no, wait      write in the thread of message 12 (without a number: of the app's newest)
ada react 12 +1            react to it (the same without a number; -1, ok_hand, an emoji)
ada unreact 12 +1          take that back
ada edit 12 text           change one's message
ada delete 12              delete it
ada command pending        give the app's slash command
ada submit reason text     send the form in front of her, its fields filled in: one, or label=text;label=text
ada close                  close it
in ops / in private        choose the channel to act in
show                       print all channels
advance 150                move the clock
down / up                  refuse connections / listen again
help / quit
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final

from simulators.common.client import PRIVATE, Say, Terminal, at_terminal, numbered, parser, play
from simulators.common.lookup import ControlError
from simulators.slack.server import SlackServer
from simulators.slack.state import App, Channel, Message, User, View

MANUAL: Final = __doc__ or ""
PEOPLE: Final = ("Ada", "Ben")


class SlackTerminal(Terminal[User]):
    """Acts on a Slack of ours, and prints messages, edits, whispers and forms."""

    server: SlackServer
    manual = MANUAL

    def __init__(self, server: SlackServer, say: Say, place: str = PRIVATE) -> None:
        super().__init__(server, say, place)
        self._numbers: dict[str, int] = {}
        self._printed: dict[str, object] = {}
        self._acts = {
            "mention": self._mention,
            "press": self._press,
            "reply": self._reply,
            "react": self._react,
            "unreact": self._unreact,
            "edit": self._edit,
            "delete": self._delete,
            "command": self._command,
            "submit": self._submit,
            "close": self._close,
        }

    def look(self) -> None:
        """Print what was not printed yet."""
        for channel in list(self.server.world.channels.values()):
            for message in list(channel.messages.values()):
                self._print(message.ts, message.edits, lambda m=message: self._line(m))  # type: ignore[misc]
        for message in list(self.server.world.ephemerals):
            self._print(message.ts, message.edits, lambda m=message: self._line(m))  # type: ignore[misc]
        for view in list(self.server.world.views.values()):
            if view.open:
                state = view.hash, tuple(view.errors.items())
                self._print(view.id, state, lambda v=view: self._form(v))  # type: ignore[misc]

    def _print(self, key: str, state: object, line: Callable[[], str]) -> None:
        if key not in self._printed or self._printed[key] != state:
            self._printed[key] = state
            self._say(line())

    def _line(self, message: Message) -> str:
        channel = self.server.world.channels[message.channel_id]
        author = self.server.world.users.get(message.user_id)
        number = self._numbers.setdefault(message.ts, len(self._numbers) + 1)
        return line_of(channel, message, number, author.real_name if author else message.username)

    def _form(self, view: View) -> str:
        person = self.server.world.users[view.user_id].real_name
        fields = ", ".join(one.label for one in view.fields)
        errors = "".join(f" ! {text}" for text in view.errors.values())
        return f"  ({person} has the form {view.title!r} with {fields or 'no fields'}{errors})"

    async def _person(self, name: str) -> User:
        return await self.server.person(name)

    async def _write(self, person: User, text: str) -> None:
        await self.server.say(person, self._room(person), text)

    @property
    def _app(self) -> App:
        return next(iter(self.server.world.apps.values()))

    def _room(self, person: User) -> Channel:
        everyone = frozenset({person.id, self._app.user_id})
        if self.place == PRIVATE:
            return self.server.platform.direct(everyone, person.team_id)[0]
        found = self.server.world.channel_called(self.place, person.team_id)
        if found is None:
            raise ControlError(f"there is no channel {self.place}")
        return found

    def _seen(self, person: User) -> list[Message]:
        """Return what a person sees of apps where they are, newest first."""
        room = self._room(person)
        whispered = [one for one in self.server.world.ephemerals if one.visible_to == person.id]
        return sorted([*room.messages.values(), *whispered], key=lambda one: one.ts, reverse=True)

    def _named(self, person: User, words: list[str], button: str = "") -> tuple[Message, str]:
        """Return the message that the words begin with the number of, or the app's newest; and the rest."""
        number, rest = numbered(words)
        wanted = button or rest.lower()
        for message in self._seen(person):
            meant = self._numbers.get(message.ts) == number
            newest = message.bot_id and (not button or wanted in " ".join(message.labels).lower())
            if meant if number else newest:
                return message, rest
        raise ControlError(
            f"there is no such message in {self.place}; `show` prints all, `in ...` chooses another place"
        )

    async def _mention(self, person: User, words: list[str]) -> None:
        await self.server.mention(person, self._room(person), " ".join(words))

    async def _press(self, person: User, words: list[str]) -> None:
        _, label = numbered(words)
        message, _ = self._named(person, words, label.lower())
        await self.server.press(person, message, label)

    async def _reply(self, person: User, words: list[str]) -> None:
        message, text = self._named(person, words)
        await self.server.say(person, self.server.world.channels[message.channel_id], text, thread=message)

    async def _react(self, person: User, words: list[str]) -> None:
        message, emoji = self._named(person, words)
        await self.server.react(person, message, emoji)

    async def _unreact(self, person: User, words: list[str]) -> None:
        message, emoji = self._named(person, words)
        await self.server.react(person, message, emoji, remove=True)

    async def _edit(self, person: User, words: list[str]) -> None:
        message, text = self._named(person, words)
        await self.server.edit(person, message, text)

    async def _delete(self, person: User, words: list[str]) -> None:
        message, _ = self._named(person, words)
        await self.server.delete(person, message)

    async def _command(self, person: User, words: list[str]) -> None:
        name = min(self._app.commands, default="")
        await self.server.command(person, self._room(person), name, " ".join(words))

    async def _submit(self, person: User, words: list[str]) -> None:
        view = await self._top(person)
        text = " ".join(words)
        labels = [one.label for one in view.fields]
        pairs = [one.split("=", 1) for one in text.split(";")] if "=" in text else []
        values = {name.strip(): value for name, value in pairs} or dict.fromkeys(labels[:1], text)
        await self.server.submit(person, view, values)

    async def _close(self, person: User, _words: list[str]) -> None:
        await self.server.close(person, await self._top(person))

    async def _top(self, person: User) -> View:
        views = await self.server.views(person)
        if not views:
            raise ControlError("there is no form")
        return views[-1]

    async def _in(self, words: list[str]) -> None:
        if words[0] != PRIVATE:
            await self.server.room(words[0])
        self.place = words[0].removeprefix("#")

    async def _show(self, _words: list[str]) -> None:
        for channel in self.server.world.channels.values():
            for message in channel.messages.values():
                self._say(self._line(message))


def line_of(channel: Channel, message: Message, number: int, author: str) -> str:
    """Return a message as one line: channel, number, author, text, buttons."""
    where = f"#{channel.name}" if channel.name else "private"
    thread = " (thread)" if message.is_reply else ""
    edited = " (edited)" if message.edits else ""
    whisper = " (only for one)" if message.visible_to else ""
    buttons = "".join(f" [{label}]" for label in message.labels)
    return f"{where} {number} {author}{thread}{edited}{whisper}: {message.shown.text}{buttons}"


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    made = parser(
        "slack",
        "A Slack of ours on loopback, with people to act as.",
        "--person Ada --person Ben --channel ops",
    )
    made.add_argument("--bot-token", default="", help="xoxb-... of the app (default: made up)")
    made.add_argument("--app-token", default="", help="xapp-... of the app (default: made up)")
    made.add_argument("--signing-secret", default="", help="of the app (default: made up)")
    made.add_argument("--request-url", default="", help="where to post to (default: Socket Mode)")
    made.add_argument("--channel", default="", metavar="NAME", help="a channel with all of them and the app")
    return made.parse_args(argv)


async def furnish(server: SlackServer, options: argparse.Namespace) -> list[str]:
    """Make app, people and channel, and return the lines that say how to point an app at the server."""
    app = await server.app(
        bot_token=options.bot_token,
        app_token=options.app_token,
        signing_secret=options.signing_secret,
        request_url=options.request_url,
        socket_mode=not options.request_url,
    )
    people = [await server.user(name) for name in options.people or PEOPLE]
    rooms = [await server.channel(options.channel, members=[*people, app])] if options.channel else []
    return [
        "In another terminal, before `sayso run` or `sayso doctor`:",
        "",
        f"export SAYSO_SLACK__BOT_TOKEN={app.bot_token}",
        f"export SAYSO_SLACK__APP_TOKEN={app.app_token}",
        f"export SAYSO_SLACK__SIGNING_SECRET={app.signing_secret}",
        f"export SAYSO_SLACK__API={server.api_url}",
        "",
        f"app      {app.name}  @{app.bot.name}  {app.user_id}",
        *(f"person   {one.real_name}  slack:{one.team_id}/{one.id}" for one in people),
        *(f"channel  #{one.name}  slack:{one.team_id}/{one.id}" for one in rooms),
        f"control  {server.control_url}",
        "",
        "Type help for what people can do.",
    ]


async def run(options: argparse.Namespace, lines: AsyncIterator[str], say: Say) -> None:
    """Serve until `quit` or the end of the lines."""
    async with SlackServer(port=options.port, control_port=options.control_port) as server:
        opening = await furnish(server, options)
        await play(SlackTerminal(server, say, options.channel or PRIVATE), opening, lines, say)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the client."""
    at_terminal(functools.partial(run, _arguments(argv)))
