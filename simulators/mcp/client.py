"""The scripted server as a command: `FOLDER/script.json` says what it offers, `FOLDER/runs` gets a line a call.

The script is read again for each request, so that a test changes a definition by writing the file. It holds `tools`
(declarations as on the wire), and may hold `resources`, `templates` and `prompts`. Beside its declaration a tool has
`does`: what it does when it is called.

    echo       answers its arguments, and `says` if the script gives it (the default)
    structure  answers structured content alone
    picture    answers an image
    long       answers `size` letters
    steps      tells of its progress and logs a line, `count` times
    fails      answers an error
    dies       ends the process in the middle of the call
    waits      answers when FOLDER/go is there
    asks       asks for more input, as the protocol of 2026-07-28 has it
    env        answers the names of its environment variables
    secret     answers the value of the variable `variable`
"""

from __future__ import annotations

import asyncio
import json
import os
import warnings
from pathlib import Path
from typing import Any

import mcp_types as t
from mcp import MCPDeprecationWarning
from mcp.server import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

#: The smallest PNG: one pixel.
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
_LOOK_S = 0.02


class Scripted:
    """The server of one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._bus = InMemorySubscriptionBus()
        self._sessions: set[Any] = set()
        self.server = Server(
            "scripted",
            version="0",
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._prompt,
            on_completion=self._complete,
            on_subscriptions_listen=ListenHandler(self._bus),
        )

    async def serve(self) -> None:
        """Serve the client at the other end of the standard streams."""
        changes = NotificationOptions(tools_changed=True)
        async with stdio_server() as (incoming, outgoing):
            watching = asyncio.create_task(self._watch())
            try:
                await self.server.run(incoming, outgoing, self.server.create_initialization_options(changes))
            finally:
                watching.cancel()

    def _script(self) -> dict[str, Any]:
        return dict(json.loads((self._folder / "script.json").read_text()))

    def _note(self, line: str) -> None:
        with (self._folder / "runs").open("a") as runs:
            runs.write(line + "\n")

    async def _watch(self) -> None:
        """Tell of changed tools, once the script says that it does (`tells`)."""
        before = self._script().get("tools")
        while True:
            await asyncio.sleep(_LOOK_S)
            script = self._script()
            if script.get("tells") and script.get("tools") != before:
                before = script["tools"]
                await self._bus.publish(ToolsListChanged())

    async def _list_tools(self, ctx: Any, params: Any) -> t.ListToolsResult:
        plain = [{key: value for key, value in tool.items() if key != "does"} for tool in self._script()["tools"]]
        for tool in plain:
            tool.setdefault("inputSchema", {"type": "object"})
        return t.ListToolsResult(tools=[t.Tool.model_validate(tool) for tool in plain])

    async def _list_resources(self, ctx: Any, params: Any) -> t.ListResourcesResult:
        return t.ListResourcesResult(resources=self._script().get("resources", []))

    async def _list_templates(self, ctx: Any, params: Any) -> t.ListResourceTemplatesResult:
        return t.ListResourceTemplatesResult(resource_templates=self._script().get("templates", []))

    async def _list_prompts(self, ctx: Any, params: Any) -> t.ListPromptsResult:
        return t.ListPromptsResult(prompts=self._script().get("prompts", []))

    async def _read(self, ctx: Any, params: t.ReadResourceRequestParams) -> t.ReadResourceResult:
        self._note(f"read {params.uri}")
        return t.ReadResourceResult(contents=[t.TextResourceContents(uri=params.uri, text=f"text of {params.uri}")])

    async def _prompt(self, ctx: Any, params: t.GetPromptRequestParams) -> t.GetPromptResult:
        self._note(f"prompt {params.name}")
        said = t.TextContent(type="text", text=f"{params.name} {params.arguments or {}}")
        return t.GetPromptResult(messages=[t.PromptMessage(role="user", content=said)])

    async def _complete(self, ctx: Any, params: t.CompleteRequestParams) -> t.CompleteResult:
        words = [word for word in ("alpha", "beta") if word.startswith(params.argument.value)]
        return t.CompleteResult(completion=t.Completion(values=words))

    async def _call_tool(self, ctx: Any, params: t.CallToolRequestParams) -> Any:
        declared = next((tool for tool in self._script()["tools"] if tool["name"] == params.name), None)
        if declared is None:
            return _said("no such tool", error=True)
        does: dict[str, Any] = {"what": "echo", **declared.get("does", {})}
        self._note(f"{params.name} {json.dumps(params.arguments or {}, sort_keys=True)}")
        return await getattr(self, f"_{does['what']}")(ctx, params, does)

    async def _echo(self, ctx: Any, params: Any, does: dict[str, Any]) -> t.CallToolResult:
        return _said(does.get("says") or json.dumps(params.arguments or {}, sort_keys=True))

    async def _structure(self, ctx: Any, params: Any, does: dict[str, Any]) -> t.CallToolResult:
        return t.CallToolResult(content=[], structured_content={"name": "notes", "size": 3})

    async def _picture(self, ctx: Any, params: Any, does: dict[str, Any]) -> t.CallToolResult:
        return t.CallToolResult(content=[t.ImageContent(type="image", data=PIXEL, mime_type="image/png")])

    async def _long(self, ctx: Any, params: Any, does: dict[str, Any]) -> t.CallToolResult:
        return _said("x" * does["size"])

    async def _steps(self, ctx: Any, params: Any, does: dict[str, Any]) -> t.CallToolResult:
        for step in range(does["count"]):
            await ctx.session.report_progress(step + 1, does["count"], f"step {step + 1}")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MCPDeprecationWarning)
                await ctx.session.send_log_message("info", f"line {step + 1}", related_request_id=ctx.request_id)
        return _said("done")

    async def _fails(self, ctx: Any, params: Any, does: dict[str, Any]) -> t.CallToolResult:
        return _said(does.get("says", "it is broken"), error=True)

    async def _dies(self, ctx: Any, params: Any, does: dict[str, Any]) -> t.CallToolResult:
        os._exit(3)

    async def _waits(self, ctx: Any, params: Any, does: dict[str, Any]) -> t.CallToolResult:
        try:
            while not (self._folder / "go").exists():  # noqa: ASYNC110 - a test makes the file
                await asyncio.sleep(_LOOK_S)
        except asyncio.CancelledError:
            self._note(f"{params.name} cancelled")
            raise
        return _said("went")

    async def _asks(self, ctx: Any, params: Any, does: dict[str, Any]) -> t.InputRequiredResult:
        return t.InputRequiredResult(request_state="of the server")

    async def _env(self, ctx: Any, params: Any, does: dict[str, Any]) -> t.CallToolResult:
        return _said(" ".join(sorted(os.environ)))

    async def _secret(self, ctx: Any, params: Any, does: dict[str, Any]) -> t.CallToolResult:
        return _said(f"the variable is {os.environ[does['variable']]}")


def _said(text: str, *, error: bool = False) -> t.CallToolResult:
    return t.CallToolResult(content=[t.TextContent(type="text", text=text)], is_error=error)


#: What a folder without a script gets.
_FIRST = [
    {"name": "list_notes", "description": "List the notes.", "does": {"what": "echo", "says": "milk, bread"}},
    {
        "name": "delete_note",
        "description": "Delete a note.",
        "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        "does": {"what": "echo", "says": "deleted"},
    },
]


def main(argv: list[str]) -> None:
    """Serve the script of a folder until the client leaves; a folder without one gets two tools for notes."""
    script = Path(argv[0]) / "script.json"
    if not script.exists():
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(json.dumps({"tools": _FIRST}, indent=2) + "\n")
    asyncio.run(Scripted(Path(argv[0])).serve())
