"""A real service over the fakes, on a Slack server of ours: over HTTP as in life, by Socket Mode or by requests."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adapters.slack.platform import build
from adapters.slack.settings import SlackSettings
from adapters.slack.webhook import PATH
from bot.platform_runner import Connector
from bot.service import Service
from hitl.platforms import Core
from tests.canaries import CANARIES
from tests.patience import PATIENCE_S
from tests.serving import serving
from tests.settling import quieted

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from adapters.http.listeners import Server
    from adapters.slack.chat import SlackChat
    from hitl.gate import Gate
    from hitl.platforms import Register
    from simulators.slack import App, SlackServer
    from tests.scenarios.chats import MakeTurns


@dataclass(slots=True)
class Wired:
    """The two sides and what connects them."""

    server: SlackServer
    app: App
    service: Service
    chat: SlackChat
    slack: Connector
    http: Server | None = None

    async def settle(self, between: Callable[[], None] | None = None) -> None:
        """Until nothing is on its way: no delivery, no event, no run, no message. `between` is done while waiting."""
        await quieted(self._quiet, between, PATIENCE_S)

    async def _quiet(self) -> bool:
        service = self.service
        unsent = service.store._outbox  # type: ignore[attr-defined] # noqa: SLF001 - MemoryStore's
        under_way = any(one.state == "waiting" for one in self.server.platform.deliveries)
        unread = under_way or await service.store.incoming()
        return self.slack.intake.idle and service.idle and not unread and not unsent


def slack_settings(server: SlackServer, account: App, **more: Any) -> SlackSettings:
    """As an operator would set them, but in more of a hurry."""
    for name in ("bot_token", "app_token", "signing_secret"):
        CANARIES.plant(f"the app's {name}", getattr(account, name))
    CANARIES.look("what Slack got", lambda: server.platform.calls)
    fields: dict[str, Any] = {
        "bot_token": account.bot_token,
        "app_token": account.app_token,
        "signing_secret": account.signing_secret,
        "api": server.api_url,
        "pace": 0,
        "timeout_s": 5.0,
    }
    return SlackSettings(**(fields | more))


@contextlib.asynccontextmanager
async def wired(
    server: SlackServer,
    account: App,
    gate: Callable[[], Gate],
    *,
    receive: str = "socket",
    turns: MakeTurns | None = None,
    register: Register | None = None,
    **settings: Any,
) -> AsyncIterator[Wired]:
    """The service at work, for as long as the context lasts; with `turns`, an agent whose turns are stored."""
    chosen = slack_settings(server, account, receive=receive, **settings)
    guard = gate()
    platform = await build(chosen, Core(guard.store, guard.keys, guard.people), register)
    async with contextlib.AsyncExitStack() as parts:
        parts.push_async_callback(platform.close)
        service = Service(guard, {platform.surface.name: platform.chat})
        slack = Connector(platform, service, turns=turns(service) if turns else None)
        wires = Wired(server, account, service, platform.chat, slack)
        if receive == "http":  # before the service's first edits, whose echoes come at once
            wires.http = await serving(parts, slack)
            await server.point(account, f"http://127.0.0.1:{wires.http.port}{PATH}")
        else:
            await server.socket_mode(account)
        parts.push_async_callback(service.stop)
        await service.start()
        parts.push_async_callback(slack.stop)
        await slack.start()
        await up(slack)
        yield wires


async def up(slack: Connector) -> None:
    """Wait until whatever happens on Slack reaches us."""
    async with asyncio.timeout(PATIENCE_S):
        while slack.troubles():  # noqa: ASYNC110 - troubles are asked for, by probes too
            await asyncio.sleep(0.005)
