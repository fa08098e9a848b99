"""Offers tools to a model: names each tool for the model, and checks arguments against the tool's schema.

No tool runs here. The library returns each call that the model wants, unchanged; the gate then asks people and runs it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import jsonschema
from pydantic_ai import CallDeferred, ModelRetry
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets.abstract import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema
from referencing import Registry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic_ai import RunContext

    from hitl.ports import Offer

#: Checks arguments without converting them, so that the values that run are the values that people see.
_AS_THEY_ARE = SchemaValidator(core_schema.any_schema())
#: The number of times that a model may correct a call's arguments before its run ends.
_REPAIRS = 2
#: The longest tool name that every provider accepts.
_LONGEST = 64
_MISFIT = re.compile(r"[^A-Za-z0-9_-]")
#: The keywords of a schema that are not checked, because a regular expression from outside could take forever to match.
_PATTERNS = frozenset({"pattern", "patternProperties", "format"})


class Offered(AbstractToolset[None]):
    """The definitions of the offered tools.

    `call_tool` checks the arguments, and returns the call to the agent by raising CallDeferred. It runs no tool.
    """

    def __init__(self, offers: Sequence[Offer]) -> None:
        self.by_name = named(offers)

    @property
    def id(self) -> str:
        """The name of this toolset, which the library requires."""
        return "gate"

    async def get_tools(self, ctx: RunContext[None]) -> dict[str, ToolsetTool[None]]:  # noqa: ARG002 - the library passes this argument
        """Return every offered tool by its name."""
        return {
            name: ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(
                    name=name, description=offer.description, parameters_json_schema=_schema(offer.schema)
                ),
                max_retries=_REPAIRS,
                args_validator=_AS_THEY_ARE,
            )
            for name, offer in self.by_name.items()
        }

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[None],  # noqa: ARG002 - the library passes this argument
        tool: ToolsetTool[None],  # noqa: ARG002
    ) -> Any:
        """Raise ModelRetry if the arguments don't fit the schema, else CallDeferred. The tool isn't run."""
        if why := misfit(tool_args, self.by_name[name].schema):
            raise ModelRetry(why)
        raise CallDeferred


def named(offers: Sequence[Offer]) -> dict[str, Offer]:
    """Return the offers by names that every provider accepts, such as `files__read_file`: the tool's group and its
    name.

    If two names are equal, a number makes them different (`files__read_file_2`).
    """
    found: dict[str, Offer] = {}
    for offer in offers:
        name = _MISFIT.sub("_", f"{offer.tools}__{offer.tool}")[:_LONGEST]
        number = 2
        while name in found:
            name = f"{name[: _LONGEST - 4]}_{number}"
            number += 1
        found[name] = offer
    return found


def misfit(args: Any, schema: Mapping[str, Any]) -> str:
    """Return a sentence that says where and why the arguments don't fit the schema, or '' if they fit.

    If the schema refers to another document, that document isn't fetched, and no arguments fit the schema.
    """
    if not isinstance(args, dict):
        return "The arguments must be a JSON object."
    try:
        checker = jsonschema.Draft202012Validator(_without_patterns(_schema(schema)), registry=Registry())
        wrong = next(checker.iter_errors(args), None)
    except Exception:  # noqa: BLE001 - the schema comes from outside, and the library may fail on it in any way
        return "The schema of this tool can't be used. Use another tool."
    return f"{wrong.json_path}: {wrong.message[:500]}" if wrong else ""


def _schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {}} | dict(schema)


def _without_patterns(schema: Any) -> Any:
    """Return the schema without the keywords in `_PATTERNS`. A property that has the name of a keyword stays."""
    if isinstance(schema, list):
        return [_without_patterns(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: value for name, value in schema.items() if name not in _PATTERNS}
    return {
        name: {key: _without_patterns(each) for key, each in value.items()}
        if name in {"properties", "$defs"} and isinstance(value, dict)
        else _without_patterns(value)
        for name, value in kept.items()
    }
