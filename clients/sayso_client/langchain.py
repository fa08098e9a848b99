"""LangChain and LangGraph: a middleware that puts every tool call of an agent through the gate, and a helper for nodes.

The middleware also gates tools that nobody listed: the service's policy decides, and asks people about unknown tools.
Put it last in `middleware=[...]`, so that no other middleware changes or repeats a call after people have seen it.

With a checkpointer, a call is identified by its thread, its step, and the id that the model gave it. A step that is
executed again, after an interrupt or a crash, finds its earlier call: that call isn't shown twice and never runs twice.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias, TypeVar, Unpack, cast

from sayso_client.calls import AsyncSayso, Sayso
from sayso_client.life import Request
from sayso_client.outcomes import NotRun, Ran
from sayso_client.turns import Terms, apending, arun_gated, key_of, missing, pending, run_gated
from sayso_client.wording import say

try:
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.messages import ToolMessage
    from langchain_core.tools import BaseTool
    from langgraph.config import get_config
    from langgraph.prebuilt.tool_node import ToolCallRequest
    from langgraph.types import Command, interrupt
    from pydantic import BaseModel
except ImportError as error:
    raise missing("langchain", error) from error

T = TypeVar("T")
#: The type of the result of a tool call.
Answer: TypeAlias = ToolMessage | Command[Any]


class SaysoMiddleware(AgentMiddleware):
    """Asks before each tool call of `create_agent`. It needs a `Sayso` for `invoke`, and an `AsyncSayso` for `ainvoke`.

    By default the step waits for people. With `parks`, it interrupts the graph: nothing has to run until people have
    decided, and `Command(resume=...)` with any value continues. The value decides nothing: each time, the service is
    asked for the call's state.
    """

    def __init__(self, sayso: Sayso | AsyncSayso, *, parks: bool = False, **terms: Unpack[Terms]) -> None:
        super().__init__()
        self._sayso = sayso
        self._terms: dict[str, Any] = {"tools": "langchain", **terms}
        self._parks = parks

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Answer]) -> Answer:
        """Run one tool call if it may run, with the arguments that people saw. Raises the tool's errors."""
        if not isinstance(self._sayso, Sayso):
            raise TypeError(say("framework.client", method="invoke", client="Sayso"))
        asked = self._asked(request)
        if isinstance(asked, NotRun):
            return _answer(request, asked)
        while self._parks and (call := pending(self._sayso, asked)):
            interrupt(call)
        return _answer(request, run_gated(self._sayso, asked, lambda: _Told(handler(_approved(request, asked)))))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Answer]]
    ) -> Answer:
        """Run one tool call, as `wrap_tool_call` does, on an event loop."""
        if not isinstance(self._sayso, AsyncSayso):
            raise TypeError(say("framework.client", method="ainvoke", client="AsyncSayso"))
        asked = self._asked(request)
        if isinstance(asked, NotRun):
            return _answer(request, asked)
        while self._parks and (call := await apending(self._sayso, asked)):
            interrupt(call)

        async def work() -> _Told:
            return _Told(await handler(_approved(request, asked)))

        return _answer(request, await arun_gated(self._sayso, asked, work))

    def _asked(self, request: ToolCallRequest) -> Request | NotRun:
        call = request.tool_call
        thread, step = _place(request.runtime.config if request.runtime else {})
        if self._parks and not step:
            raise ValueError(say("framework.key"))
        try:
            args = _coerced(request.tool, call["args"])
        except ValueError as error:
            return NotRun("arguments", say("framework.arguments", tool=call["name"], error=error))
        key = key_of("langgraph", thread, step, call["id"] or "") if step else None
        return Request(call["name"], args, session=thread or None, key=key, **self._terms)


def gated(
    sayso: Sayso, tool: str, args: Mapping[str, Any], work: Callable[[], T], *, name: str = "", **terms: Any
) -> Ran[T] | NotRun:
    """Put one piece of work of a LangGraph node through the gate. The graph is interrupted while people decide.

    The graph needs a checkpointer. When the graph continues, the node is executed from its beginning. The call is found
    again by thread, step, tool, `args` and `name`, so give two equal calls of one node different names. Work that has
    run before is not run again: the result is a NotRun with the status `succeeded` and the recorded output as text.
    `terms` are fields of `Request`.
    """
    thread, step = _place(get_config())
    if not step:
        raise ValueError(say("framework.key"))
    key = key_of("langgraph", thread, step, tool, json.dumps(args, sort_keys=True, default=repr), name)
    request = Request(tool, args, session=thread, key=key, **{"tools": "langgraph", **terms})
    while call := pending(sayso, request):
        interrupt(call)
    return run_gated(sayso, request, work)


class _Told:
    """Wraps a tool's answer so that its text can be put into the record."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer

    def __str__(self) -> str:
        """Return the text of the tool's message, or '' if the tool didn't return a message."""
        return str(self.answer.content) if isinstance(self.answer, ToolMessage) else ""


def _answer(request: ToolCallRequest, came: Ran[_Told] | NotRun) -> Answer:
    if isinstance(came, Ran):
        answer: Answer = came.value.answer
        return answer
    call = request.tool_call
    status = "success" if came.status == "succeeded" else "error"
    return ToolMessage(content=str(came), name=call["name"], tool_call_id=call["id"], status=status)


def _approved(request: ToolCallRequest, asked: Request) -> ToolCallRequest:
    """Return the tool call with the arguments that people saw, even if the original call was changed since."""
    return request.override(tool_call=cast("Any", {**request.tool_call, "args": json.loads(json.dumps(asked.args))}))


def _place(config: Mapping[str, Any]) -> tuple[str, str]:
    """Return the thread's id, and the step's name, which contains the id of LangGraph's task.

    Without a checkpointer, the step's name is ''.
    """
    known = config.get("configurable", {})
    thread, step = str(known.get("thread_id") or ""), str(known.get("checkpoint_ns") or "")
    return (thread, step) if thread and step else (thread, "")


def _coerced(tool: BaseTool | None, args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments as the tool will read them, with its default values. People see these values.

    Raises ValueError if the tool refuses the arguments, or would read the returned arguments in another way the next
    time.
    """
    schema = tool.tool_call_schema if tool else {}
    if isinstance(schema, dict):
        return json.loads(json.dumps(args))  # type: ignore[no-any-return]
    if not issubclass(schema, BaseModel):
        raise ValueError(say("framework.unstable", tool=tool.name if tool else ""))  # noqa: TRY004 - the model gets the text of this error
    once: dict[str, Any] = schema.model_validate(args).model_dump(mode="json", by_alias=True)
    if once != schema.model_validate(once).model_dump(mode="json", by_alias=True):
        raise ValueError(say("framework.unstable", tool=tool.name if tool else ""))
    return once
