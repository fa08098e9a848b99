"""The server that the MCP project's conformance suite wants to find: its tools, resources and prompts, on stdio.

Names and contents are the suite's own (`conformance list --server`, and the description of each scenario).
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import mcp_types as t
from mcp.server import Server
from mcp.server.stdio import stdio_server

#: One transparent pixel, and a WAV file without sound.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
_NOTHING = {"type": "object", "properties": {}}
_DIALECT = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}
TOOLS = (
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_tool_with_logging",
    "test_tool_with_progress",
    "test_error_handling",
)


def _text(words: str) -> t.TextContent:
    return t.TextContent(type="text", text=words)


def _embedded(uri: str, words: str, kind: str = "text/plain") -> t.EmbeddedResource:
    resource = t.TextResourceContents(uri=uri, mime_type=kind, text=words)
    return t.EmbeddedResource(type="resource", resource=resource)


_IMAGE = t.ImageContent(type="image", data=PNG, mime_type="image/png")
CONTENTS: dict[str, list[Any]] = {
    "test_simple_text": [_text("This is a simple text response for testing.")],
    "test_image_content": [_IMAGE],
    "test_audio_content": [t.AudioContent(type="audio", data=WAV, mime_type="audio/wav")],
    "test_embedded_resource": [_embedded("test://embedded-resource", "This is an embedded resource content.")],
    "test_multiple_content_types": [
        _text("Multiple content types test:"),
        _IMAGE,
        _embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
    ],
    "test_error_handling": [_text("This tool intentionally returns an error for testing")],
}


async def list_tools(_context: Any, _params: Any) -> t.ListToolsResult:
    """Every tool."""
    plain = [t.Tool(name=name, description=f"For the scenario about {name}.", input_schema=_NOTHING) for name in TOOLS]
    dialect = t.Tool(name="json_schema_2020_12_tool", description="Has a dialect.", input_schema=_DIALECT)
    return t.ListToolsResult(tools=[*plain, dialect])


async def call_tool(context: Any, params: t.CallToolRequestParams) -> t.CallToolResult:
    """Answer as the suite says; the slow tools tell what they do."""
    if params.name == "test_tool_with_logging":
        for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            await context.session.send_log_message("info", line, related_request_id=context.request_id)
            await asyncio.sleep(0.05)
    if params.name == "test_tool_with_progress":
        for done in (0, 50, 100):
            await context.session.report_progress(done, 100, None)
            await asyncio.sleep(0.05)
    content = CONTENTS.get(params.name, [_text("Done.")])
    return t.CallToolResult(content=content, is_error=params.name == "test_error_handling")


async def list_resources(_context: Any, _params: Any) -> t.ListResourcesResult:
    """Every resource."""
    kinds = {"static-text": "text/plain", "static-binary": "image/png", "watched-resource": "text/plain"}
    return t.ListResourcesResult(
        resources=[
            t.Resource(uri=f"test://{name}", name=name, description=f"The resource {name}.", mime_type=kind)
            for name, kind in kinds.items()
        ]
    )


async def list_templates(_context: Any, _params: Any) -> t.ListResourceTemplatesResult:
    """The template."""
    template = t.ResourceTemplate(uri_template="test://template/{id}/data", name="template", description="By id.")
    return t.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(_context: Any, params: t.ReadResourceRequestParams) -> t.ReadResourceResult:
    """A resource's contents."""
    uri = str(params.uri)
    contents: t.TextResourceContents | t.BlobResourceContents
    if uri == "test://static-binary":
        contents = t.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)
    elif uri.startswith("test://template/"):
        named = uri.removeprefix("test://template/").removesuffix("/data")
        told = json.dumps({"id": named, "templateTest": True, "data": f"Data for ID: {named}"})
        contents = t.TextResourceContents(uri=uri, mime_type="application/json", text=told)
    else:
        words = "This is the content of the static text resource."
        contents = t.TextResourceContents(uri=uri, mime_type="text/plain", text=words)
    return t.ReadResourceResult(contents=[contents])


async def list_prompts(_context: Any, _params: Any) -> t.ListPromptsResult:
    """Every prompt."""
    arguments = {
        "test_simple_prompt": (),
        "test_prompt_with_arguments": ("arg1", "arg2"),
        "test_prompt_with_embedded_resource": ("resourceUri",),
        "test_prompt_with_image": (),
    }
    return t.ListPromptsResult(
        prompts=[
            t.Prompt(
                name=name,
                description=f"The prompt {name}.",
                arguments=[t.PromptArgument(name=one, description=f"The {one}.", required=True) for one in named],
            )
            for name, named in arguments.items()
        ]
    )


async def get_prompt(_context: Any, params: t.GetPromptRequestParams) -> t.GetPromptResult:
    """A prompt's messages."""
    given = params.arguments or {}
    contents: dict[str, list[Any]] = {
        "test_simple_prompt": [_text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": [
            _text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'")
        ],
        "test_prompt_with_embedded_resource": [
            _embedded(str(given.get("resourceUri")), "Embedded resource content for testing."),
            _text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image": [_IMAGE, _text("Please analyze the image above.")],
    }
    return t.GetPromptResult(
        messages=[t.PromptMessage(role="user", content=content) for content in contents[params.name]]
    )


async def complete(_context: Any, _params: t.CompleteRequestParams) -> t.CompleteResult:
    """A few values."""
    return t.CompleteResult(completion=t.Completion(values=["paris", "park", "party"], total=3, has_more=False))


async def main() -> None:
    """Serve until the client goes away."""
    server: Server[Any] = Server(
        "conformance",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
    )
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
