"""Serves minutehand's Slack on loopback: its Web API, Socket Mode, and the people who press, write and react there.

Runs in an environment of its own: `python slack_server.py FOLDER EVENTS ROOT SECRET`, where EVENTS is the address that
Slack's requests go to, or `socket`, and ROOT the address under which the app reaches this server. The first line on
standard output is JSON: the port, and who and what is in the workspace.

`POST /people/VERB` makes a person do something and answers when it is delivered: 200 with what came of it, 409 with
what the app did wrong. minutehand's own product drives the same provider by scenarios, behind a proxy of its own. Three
things are changed here, all of them in what surrounds the provider:

- the clock is the machine's, since signatures are good for five minutes;
- the addresses that it hands out lead to ROOT instead of slack.com;
- `mrkdwn: false`, which chat.postMessage documents, is let through instead of being answered with 501.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from minutehand.adapters.providers.slack import app as web_api
from minutehand.adapters.providers.slack import inbound, seed, socket_mode, state
from minutehand.adapters.providers.slack.provider import SlackProvider, build
from minutehand.adapters.providers.slack.state import SlackWorld
from minutehand.adapters.store.sqlite import SqliteStore
from minutehand.application.refusals import AgentFailed
from minutehand.domain.errors import NotServed
from minutehand.domain.people import Delivery, InboundTarget, PersonReply, Press
from minutehand.domain.scenario import (
    FormInput,
    Person,
    PersonCommands,
    PersonPosts,
    PersonReacts,
    Scenario,
    SeededChannel,
)
from minutehand.domain.world import Actor, EntityKind, EntityRef
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.requests import Request

SLACK = "slack"
ROOM = "ops"
PEOPLE = ("ann", "uma", "eve")
#: "Slack itself waits three seconds".
ANSWERED_WITHIN = timedelta(seconds=3)
_SERIAL = itertools.count()


@dataclass(frozen=True)
class Now:
    """The machine's clock, `behind` what it says."""

    behind: timedelta = timedelta(0)

    def now(self) -> datetime:
        """The time that everything done now is stamped with."""
        return datetime.now(UTC) - self.behind

    def wake(self) -> int:
        """Which part of a scenario runs: there is none here."""
        return 1


class Workspace:
    """One workspace with everybody in one channel, and an app that listens at `target`."""

    def __init__(self, folder: Path, events: str, secret: str) -> None:
        self.secret = secret
        self.store = SqliteStore(folder / "slack.sqlite", "flows", Now())
        self.slack: SlackProvider = build()
        self.slack.seed(_scenario(), self.store)
        self.target = _target(events)
        self.slack.listen(self.target, secret)

    @property
    def world(self) -> SlackWorld:
        """What is in it."""
        return SlackWorld(self.store)

    def ids(self) -> dict[str, Any]:
        """Who and what is in it."""
        team = self.world.team
        return {
            "team": team.id,
            "bot": team.bot_user_id,
            "room": state.named_channel_id(ROOM, team.id),
            "people": {who: state.user_id(who, team.id) for who in PEOPLE},
        }

    async def say(self, done: Mapping[str, Any], clock: Now, secret: str) -> dict[str, Any]:
        """A message in the channel, or below another one (`thread`), which may mention the app."""
        key = f"said_{next(_SERIAL)}"
        if thread := done.get("thread"):
            thread = self._remember(str(thread))
        said = PersonPosts(
            provider=SLACK,
            person=done["person"],
            channel=ROOM,
            text=done["text"],
            mentions_agent=done.get("mention", False),
            in_thread_of=thread,
            key=key,
        )
        await self.slack.happen(said, self.target, self.store, clock, secret=secret)
        post = self.world.post(key)
        return {"ts": post.ts if post else ""}

    async def react(self, done: Mapping[str, Any], clock: Now, secret: str) -> dict[str, Any]:
        """A reaction to a message."""
        post = self._remember(done["ts"])
        reacted = PersonReacts(provider=SLACK, person=done["person"], post=post, reaction=done["reaction"])
        await self.slack.happen(reacted, self.target, self.store, clock, secret=secret)
        return {}

    async def press(self, done: Mapping[str, Any], clock: Now, secret: str) -> dict[str, Any]:
        """A press on a message's button; with `reason`, the window that it opens is filled in and sent."""
        form = [FormInput(value=done["reason"])] if "reason" in done else []
        reply = PersonReply(
            person=done["person"],
            in_reply_to=EntityRef(provider=SLACK, kind=EntityKind.MESSAGE, external_id=done["ts"]),
            text="",
            at=clock.now(),
            press=Press(action_id=done["action"], label="", form=form),
        )
        await self.slack.press(reply, self.target, self.store, clock, secret=secret)
        return {}

    async def command(self, done: Mapping[str, Any], clock: Now, secret: str) -> dict[str, Any]:
        """A slash command, in a channel."""
        given = PersonCommands(
            provider=SLACK,
            person=done["person"],
            command="/sayso",
            text=done["text"],
            channel=done.get("channel", ROOM),
        )
        await self.slack.happen(given, self.target, self.store, clock, secret=secret)
        return {}

    async def verify(self, done: Mapping[str, Any], clock: Now, secret: str) -> dict[str, Any]:
        """Slack's own check of a request URL, as when it is saved in the app's settings."""
        at = int(clock.now().timestamp())
        await inbound.verify_url(self.store, self.target, secret, done["challenge"], at=at)
        return {}

    async def fault(self, done: Mapping[str, Any], clock: Now, secret: str) -> dict[str, Any]:
        """The next so many calls of a method are answered with 429."""
        del secret
        answer = {"kind": "rate_limited", "retry_after": f"PT{done['retry_after']}S"}
        fault = {"call": done["call"], "answer": answer, "times": done["times"]}
        self.slack.declare(json.dumps({"faults": [fault]}), self.store, clock)
        return {}

    def _remember(self, ts: str) -> str:
        """A name for a message, by which a scenario's people mean it."""
        located = self.world.located(ts)
        if located is None:
            raise LookupError(f"no message {ts}")
        key = f"known_{next(_SERIAL)}"
        seed.remember_post(self.world, key, located[0], ts, actor=Actor.PERSON)
        return key


def _scenario() -> Scenario:
    people = [Person(key=who, name=who.title(), email=f"{who}@example.com") for who in PEOPLE]
    room = SeededChannel(provider=SLACK, name=ROOM, members=list(PEOPLE))
    elsewhere = SeededChannel(provider=SLACK, name="elsewhere", members=list(PEOPLE), agent_member=False)
    return Scenario(
        name="flows", starts_at=Now().now(), runs_for=timedelta(days=1), people=people, channels=[room, elsewhere]
    )


def _target(events: str) -> InboundTarget:
    if events == "socket":
        return InboundTarget(provider=SLACK, delivery=Delivery.SOCKET_MODE)
    return InboundTarget(provider=SLACK, url=events, push_timeout=ANSWERED_WITHIN)


def reached_at(root: str) -> None:
    """Have the provider hand out addresses at `root`; it knows no other ones than Slack's own."""
    address, opened = state.response_url, socket_mode.open_connection

    def response_url(*args: Any, **named: Any) -> str:
        return address(*args, **named).replace(f"https://{state.HOOKS_HOST}", root)

    def open_connection(world: SlackWorld) -> Any:
        answer = opened(world)
        url = answer.url.replace(f"wss://{socket_mode.HOST}", root.replace("http", "ws", 1))
        return answer.model_copy(update={"url": url})

    state.response_url, socket_mode.open_connection = response_url, open_connection


def people(workspace: Workspace) -> Starlette:
    """What people do, as requests."""

    async def act(request: Request) -> JSONResponse:
        done = await request.json()
        verb: Callable[..., Awaitable[dict[str, Any]]] = getattr(workspace, request.path_params["verb"])
        clock = Now(timedelta(seconds=done.get("behind_s", 0)))
        try:
            return JSONResponse(await verb(done, clock, done.get("secret", workspace.secret)))
        except (AgentFailed, NotServed, LookupError, ValueError) as error:
            return JSONResponse({"failed": str(error)}, 409)

    return Starlette(routes=[Route("/{verb}", act, methods=["POST"])])


def served(workspace: Workspace) -> Callable[..., Awaitable[None]]:
    """Everything under one address."""
    api: Any = workspace.slack.app(workspace.store, Now())
    # The product's proxy answers so in the provider's place.
    api.add_exception_handler(NotServed, _not_served)
    api.routes.insert(0, Mount("/people", people(workspace)))
    sockets = workspace.slack.sockets(workspace.store, Now())

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await (sockets if scope["type"] == "websocket" else api)(scope, receive, send)

    return app


async def _not_served(_: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"ok": False, "error": "not_implemented", "detail": str(error)}, 501)


def main(folder: str, events: str, root: str, secret: str) -> None:
    """Serve until told to end."""
    del web_api.UNSERVED_ARGUMENTS["chat.postMessage"]["mrkdwn"]
    reached_at(root)
    workspace = Workspace(Path(folder), events, secret)
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(served(workspace), log_level="warning", ws="wsproto", lifespan="off")
    print(json.dumps({"port": listening.getsockname()[1], **workspace.ids()}), flush=True)  # noqa: T201 - its product
    asyncio.run(uvicorn.Server(config).serve(sockets=[listening]))


if __name__ == "__main__":
    main(*sys.argv[1:])
