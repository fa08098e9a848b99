"""The tools, prompts and resources of all servers together: a unique name for each, and the server that offers it."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

import mcp_types as t
from mcp import MCPError
from mcp.shared.uri_template import InvalidUriTemplate, UriTemplate

from adapters.mcp.definitions import shown_names
from adapters.mcp.upstream import UpstreamDown
from hitl.cards.wording import say
from hitl.question import SCHEMA, TOOL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adapters.mcp.executor import Servers
    from adapters.mcp.upstream import Upstream

_log = logging.getLogger(__name__)

STATUS, WITHDRAW, ASK = "sayso_status", "sayso_withdraw", TOOL
_REF: Final = {"ref": {"type": "string", "description": "The six characters that name the request."}}
_OWN_SCHEMA: Final[dict[str, Any]] = {"type": "object", "properties": _REF, "required": ["ref"]}


def own_tools() -> list[t.Tool]:
    """Return the gateway's own tools."""
    reading = t.ToolAnnotations(read_only_hint=True, open_world_hint=False)
    ending = t.ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
    return [
        t.Tool(name=STATUS, description=say("mcp.tool.status"), input_schema=_OWN_SCHEMA, annotations=reading),
        t.Tool(name=WITHDRAW, description=say("mcp.tool.withdraw"), input_schema=_OWN_SCHEMA, annotations=ending),
        t.Tool(name=ASK, description=say("question.tool"), input_schema=dict(SCHEMA), annotations=reading),
    ]


class Catalogue:
    """The tools, prompts and resources of all servers.

    The tools of a server that is down stay in the list, so that no other server's tool gets one of their names.
    """

    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self._prompts: Mapping[str, tuple[str, str]] = {}

    async def tools(self) -> list[t.Tool]:
        """Return the tools of all servers, which are asked for their lists now, and the gateway's own tools."""
        await self._all("fresh")
        found = []
        for shown, (server, name) in self._tool_names().items():
            tool = self._servers.upstreams[server].tools[name].tool
            # The answer "pending" has no structured content. If the tool listed an output schema, clients would raise
            # an error for such an answer. So no output schema is listed.
            found.append(tool.model_copy(update={"name": shown, "output_schema": None}))
        return found + own_tools()

    async def tool(self, shown: str) -> tuple[str, str] | None:
        """Return the names of a tool's server and of the tool at that server, or None if no server offers the tool.

        `shown` is the tool's name for clients. If that name is unknown, the servers are asked for their lists again
        first.
        """
        if shown not in self._tool_names():
            await self._all("fresh")
        return self._tool_names().get(shown)

    async def prompts(self) -> list[t.Prompt]:
        """Return the prompts of all servers, listed now."""
        listed = await self._lists("list_prompts", "prompts")
        self._prompts = shown_names({server: [each.name for each in found] for server, found in listed.items()})
        named = {(server, each.name): each for server, found in listed.items() for each in found}
        return [named[which].model_copy(update={"name": shown}) for shown, which in self._prompts.items()]

    async def prompt(self, shown: str) -> tuple[str, str] | None:
        """Return the names of a prompt's server and of the prompt at that server, or None if no server offers the
        prompt.

        `shown` is the prompt's name for clients.
        """
        if shown not in self._prompts:
            await self.prompts()
        return self._prompts.get(shown)

    async def resources(self) -> list[t.Resource]:
        """Return the resources of all servers, listed now."""
        return [each for found in (await self._lists("list_resources", "resources")).values() for each in found]

    async def templates(self) -> list[t.ResourceTemplate]:
        """Return the resource templates of all servers, listed now."""
        return [each for found in (await self._templates()).values() for each in found]

    async def owner(self, uri: str) -> str | None:
        """Return the one server whose lists offer a resource, or None if no server or several offer it.

        The URI isn't sent to any other server.
        """
        listed = await self._lists("list_resources", "resources")
        owners = [server for server, found in listed.items() if any(str(each.uri) == uri for each in found)]
        if not owners:
            listed = await self._templates()
            owners = [server for server, found in listed.items() if any(_fits(each, uri) for each in found)]
        return owners[0] if len(owners) == 1 else None

    async def template_owner(self, template: str) -> str | None:
        """Return the one server that offers a resource template, or None if no server or several offer it."""
        listed = await self._templates()
        owners = [server for server, found in listed.items() if any(each.uri_template == template for each in found)]
        return owners[0] if len(owners) == 1 else None

    def _tool_names(self) -> Mapping[str, tuple[str, str]]:
        listed = {name: upstream.tools for name, upstream in self._servers.upstreams.items()}
        return shown_names(listed, (STATUS, WITHDRAW, ASK))

    async def _templates(self) -> Mapping[str, list[t.ResourceTemplate]]:
        return await self._lists("list_resource_templates", "resource_templates")

    async def _lists(self, method: str, key: str) -> Mapping[str, list[Any]]:
        return await self._all("pages", method, key)

    async def _all(self, what: str, *args: str) -> dict[str, Any]:
        """Call the method named `what` for all servers at the same time. Return each server's value, by the server's
        name.

        The value is an empty list for a server that can't be reached, so that the other servers still work.
        """

        async def ask(upstream: Upstream) -> Any:
            try:
                return await getattr(upstream, what)(*args)
            except (UpstreamDown, MCPError) as error:
                _log.warning("upstream.not_listed", {"server": upstream.target.name, "why": str(error)})
                return []

        upstreams = self._servers.upstreams
        found = await asyncio.gather(*map(ask, upstreams.values()))
        return dict(zip(upstreams, found, strict=True))


def _fits(template: t.ResourceTemplate, uri: str) -> bool:
    try:
        return UriTemplate.parse(template.uri_template).match(uri) is not None
    except InvalidUriTemplate:
        return False
