"""The registry of one tool group: the Python callables that agents may ask for by name, and the code that runs them.

The operator registers everything about a tool: its arguments, its sentence, its effects, and whether it may be retried.
An agent can change none of this. If there is a list of allowed tools, only tools on this list may run.

A tool is called as `function(context, args)`. Its return value is the output, and an exception is the error. A tool
raises `NotAsShown`, and changes nothing, if something changed since people saw the call.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import hashlib
import inspect
import json
import logging
import threading
from string import Formatter
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from weakref import WeakValueDictionary

from msgspec import Struct, field

from adapters.executors.output import ERROR_KEPT, capped, storable
from hitl.call import Preparation, Ran, Result, ToolInfo
from hitl.cards.redaction import mask
from hitl.cards.text import cut_middle, one_line, quoted
from hitl.cards.wording import say
from hitl.errors import InvalidConfirmation, SaysoError, TooManyPending
from hitl.outcomes import Refusal, fact
from hitl.ports import Offer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from hitl.call import Ask, Call, Lease

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_log = logging.getLogger(__name__)

#: Seconds that a cancelled tool gets to clean up.
CLEANUP_S = 2.0
#: At most this many calls of one requester are examined at the same time. A look may hash gigabytes, and each thread
#: that does this takes time from the event loop, which answers everybody.
LOOKS = 2
#: Seconds that a call waits to be looked at (`Tool.look`) while other calls of the same requester are looked at.
LANE_S = 10.0
_SENTENCE_ARGUMENT = 120
_PLAIN = {"string": "str", "boolean": "bool", "integer": "int", "number": "float"}


class Declaration(Protocol[T_co]):
    """Declares the arguments of a tool. `adapters.executors.arguments.Declared` implements this with pydantic."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of the arguments, an object with `properties`."""

    def parse(self, args: Mapping[str, Any]) -> T_co:
        """Return the arguments as the object that the tool's function gets, such as a pydantic model.

        Raises InvalidConfirmation if the tool can't take them.
        """


class NotAsShown(Exception):
    """Something changed since people saw the call, and the tool did nothing. The message names the change."""


class Context(Struct, frozen=True):
    """The information about a call that a tool gets with the call's arguments."""

    #: The requester of the call.
    principal: str
    #: The ref of the call.
    ref: str
    #: The idempotency key that the tool can pass on. The key is the same for every attempt to run this call.
    key: str
    #: The seconds after which the tool is stopped.
    limit_s: float
    #: The preconditions of the call: name -> the value when people saw the call.
    preconditions: Mapping[str, str] = field(default_factory=dict)


class _Shown(dict[str, str]):
    """The arguments as texts for a sentence. An argument is converted to text when the sentence uses it."""

    def __init__(self, args: Mapping[str, Any]) -> None:
        super().__init__()
        self._args = args

    def __missing__(self, name: str) -> str:
        return quoted(mask(_text(self._args[name])), _SENTENCE_ARGUMENT)


class Tool(Struct, frozen=True):
    """A registered tool. `Registry.register` describes the fields."""

    name: str
    function: Callable[[Context, Any], Any]
    arguments: Declaration[Any]
    sentence: str
    look: Callable[[Any], Preparation] | None
    now: Callable[[str], str] | None
    changed: Callable[[Any, Mapping[str, str]], str | None] | None
    grace_s: float
    info: ToolInfo

    def told(self, args: Mapping[str, Any]) -> str:
        """Return the sentence that describes a call with these arguments.

        For a missing argument, the sentence shows the default value.
        """
        declared = self.arguments.schema["properties"].items()
        return self.sentence.format_map(_Shown({name: each.get("default") for name, each in declared} | dict(args)))


class Registry:
    """Runs the registered callables of one tool group (`hitl.ports.Executor`).

    `allowed` lists the tools that may run. None allows all tools, and an empty list allows no tool. `folder` is the
    folder of the tools, if they work in a folder. `lane_s` is how many seconds a call waits to be looked at while other
    calls of its requester are looked at.
    """

    def __init__(
        self,
        group: str,
        allowed: Collection[str] | None,
        *,
        name: str = "registry",
        folder: Path | None = None,
        lane_s: float = LANE_S,
    ) -> None:
        self.group = group
        self.name = name
        self._allowed = allowed
        self._folder = None if folder is None else str(folder)
        self._tools: dict[str, Tool] = {}
        self._late: set[asyncio.Future[Any]] = set()
        #: Requester -> a semaphore that limits how many of the requester's calls are looked at now.
        self._lanes: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._lane_s = lane_s

    def register(  # noqa: PLR0913  every tool is declared by keywords, once
        self,
        name: str,
        function: Callable[[Context, T], Any],
        arguments: Declaration[T],
        *,
        sentence: str = "",
        read_only: bool = False,
        destructive: bool = True,
        idempotent: bool = False,
        open_world: bool = True,
        look: Callable[[T], Preparation] | None = None,
        now: Callable[[str], str] | None = None,
        changed: Callable[[T, Mapping[str, str]], str | None] | None = None,
        grace_s: float = 0.0,
    ) -> None:
        """Add a tool.

        - `look` finds out what the call would do, before people are asked. It may raise InvalidConfirmation.
        - `sentence` describes the call if there is no `look`. It is a template with the arguments, such as `Deletes
          {path}.`.
        - `now` returns the current value of the precondition with the given name.
        - `changed` checks all preconditions and the current meaning of the arguments. It returns a sentence about the
          first change that it finds, or None.
        - `grace_s` is the time in seconds that the tool has after its time limit, to stop its processes and to report.
        - `read_only`, `destructive`, `idempotent` and `open_world` have the meaning of MCP's annotations with these
          names. The defaults are the worst case.

        Raises ValueError if the name is taken, if the tool has neither `sentence` nor `look`, or if the sentence names
        an argument that the tool doesn't have.
        """
        if name in self._tools:
            raise ValueError(f"{self.group}.{name} is registered already")
        if not sentence and look is None:
            raise ValueError(f"{self.group}.{name} needs a sentence, or a look that finds one")
        for _, named, _, _ in Formatter().parse(sentence):
            if named is not None and named not in arguments.schema["properties"]:
                raise ValueError(f"{self.group}.{name} has no argument {named}, which its sentence names")
        annotations = {
            "readOnlyHint": read_only,
            "destructiveHint": destructive,
            "idempotentHint": idempotent,
            "openWorldHint": open_world,
        }
        parts = [self.group, name, sentence, inspect.getdoc(function) or "", *_described(arguments.schema)]
        definition = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
        info = ToolInfo(self.name, definition, idempotent, arguments.schema, annotations)
        self._tools[name] = Tool(name, function, arguments, sentence, look, now, changed, grace_s, info)

    def offered(self) -> Sequence[str]:
        """Return the names of the tools that may run, in the order in which they were registered."""
        return [name for name in self._tools if self._find(self.group, name)]

    async def offers(self, tools: str) -> Sequence[Offer]:
        """Return the tools that may run, as offers to an agent (`hitl.ports.Offering`)."""
        tells = [self._tools[name] for name in self.offered()]
        return [
            Offer(tools, tool.name, inspect.getdoc(tool.function) or tool.sentence, tool.info.schema) for tool in tells
        ]

    def unknown(self) -> Sequence[str]:
        """Return the names on the list of allowed tools that belong to no registered tool, sorted."""
        return sorted(set(self._allowed or ()) - self._tools.keys())

    def info(self, tools: str, tool: str) -> ToolInfo | None:
        """Return information about a tool, or None if the tool isn't both registered and allowed."""
        found = self._find(tools, tool)
        return found.info if found else None

    async def prepare(self, ask: Ask) -> Preparation:
        """Return a description of what the call would do.

        Raises InvalidConfirmation if the tool isn't allowed or can't take the arguments, and TooManyPending if looking
        at other calls of the requester takes too long.
        """
        tool = self._find(ask.tools, ask.tool)
        if tool is None:
            raise InvalidConfirmation(fact("tool.unlisted", tool=one_line(ask.tool)))
        args = tool.arguments.parse(ask.args)
        if tool.look is None:
            return Preparation(sentence=tool.told(ask.args))
        lane = self._lanes.setdefault(ask.requester, asyncio.Semaphore(LOOKS))
        try:
            async with asyncio.timeout(self._lane_s):
                await lane.acquire()
        except TimeoutError:
            raise TooManyPending(fact(Refusal.LOOKING, who=ask.requester, count=LOOKS)) from None
        try:
            return await _in_thread(tool.look, args)
        finally:
            lane.release()

    async def still_holds(self, call: Call) -> str | None:
        """Return a sentence about the first precondition that no longer holds, or None.

        The folder that people saw is a precondition too, because a database may be moved to a service that works in
        another folder.
        """
        tool = self._find(call.tools, call.tool)
        if tool is None:
            return say("tool.unlisted.now", tool=one_line(call.tool))
        if call.cwd is not None and self._folder is not None and call.cwd != self._folder:
            return say("tool.moved", was=one_line(call.cwd), now=self._folder)
        if tool.changed is not None:
            args = tool.arguments.parse(call.arguments)
            return await _in_thread(tool.changed, args, dict(call.preconditions))
        if tool.now is None:
            return None
        return await _in_thread(_first_change, tool.now, call.preconditions)

    async def run(self, lease: Lease, *, limit_s: float) -> Ran:
        """Run the stored call and return its result. An exception of the tool becomes a failed result.

        The result is `refused` if the tool is no longer allowed, if its definition has changed, or if it no longer
        takes these arguments.
        """
        call = lease.call
        tool = self._find(call.tools, call.tool)
        if tool is None:
            return Ran(Result.REFUSED, error=say("tool.unlisted.run", tool=one_line(call.tool)))
        if tool.info.definition != call.definition:
            return Ran(Result.REFUSED, error=say("tool.changed", tool=tool.name))
        try:
            args = tool.arguments.parse(call.arguments)
        except InvalidConfirmation as refusal:
            return Ran(Result.REFUSED, error=refusal.message)
        context = Context(call.requester, call.ref, lease.idempotency_key, limit_s, dict(call.preconditions))
        if inspect.iscoroutinefunction(tool.function):
            work: asyncio.Future[Any] = asyncio.ensure_future(_contained(tool.function(context, args)))
        else:
            work = _in_thread(tool.function, context, args)
        return await self._watch(tool, context, work)

    def _find(self, tools: str, name: str) -> Tool | None:
        listed = tools == self.group and (self._allowed is None or name in self._allowed)
        return self._tools.get(name) if listed else None

    async def _watch(self, tool: Tool, context: Context, work: asyncio.Future[Any]) -> Ran:
        in_time = False
        try:
            await asyncio.wait({work}, timeout=context.limit_s + tool.grace_s)
            in_time = work.done()
        finally:
            if not in_time:
                await self._stop(tool, context, work)
        if in_time:
            return _outcome(work)
        return Ran(Result.TIMED_OUT, error=say("tool.late", limit=f"{context.limit_s:g}"))

    async def _stop(self, tool: Tool, context: Context, work: asyncio.Future[Any]) -> None:
        """Cancel a tool's coroutine. If the tool still runs afterwards, log that now, and log its end when it ends."""
        if isinstance(work, asyncio.Task):
            work.cancel()
            await asyncio.wait({work}, timeout=CLEANUP_S + tool.grace_s)
        if work.done():
            return
        self._late.add(work)
        _log.warning("tool runs on", {"tools": self.group, "tool": tool.name, "ref": context.ref})
        work.add_done_callback(lambda done: self._ended_late(tool, context, done))

    def _ended_late(self, tool: Tool, context: Context, work: asyncio.Future[Any]) -> None:
        self._late.discard(work)
        failed = work.cancelled() or work.exception() is not None
        _log.warning("tool ended late", {"tools": self.group, "tool": tool.name, "ref": context.ref, "failed": failed})


def _described(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield each argument as a line of the tool's definition.

    Older versions made these lines from Python's annotations, so the lines still have the form of such annotations. A
    call that is open during an upgrade of the service runs only if its tool has the same definition afterwards.
    """
    for name, declared in schema["properties"].items():
        shape = {key: value for key, value in declared.items() if key not in {"default", "title"}}
        plain = _PLAIN.get(shape["type"]) if shape.keys() == {"type"} else None
        kind = plain or json.dumps(shape, sort_keys=True)
        left_out = "" if name in schema.get("required", ()) else f", else {json.dumps(declared.get('default'))}"
        yield f"{name}: {kind}{left_out}"


async def _contained(work: Awaitable[T]) -> T:
    """Await a tool's work. `sys.exit()` in the tool becomes RuntimeError, so that it doesn't end the event loop."""
    try:
        return await work
    except SystemExit as end:
        raise RuntimeError(say("tool.exit", status=end.code)) from end


def _in_thread(function: Callable[..., T], *args: Any) -> asyncio.Future[T]:
    """Run a function in a separate daemon thread.

    A stuck function blocks neither other tools nor the end of the process.
    """
    promise: concurrent.futures.Future[T] = concurrent.futures.Future()

    def body() -> None:
        try:
            promise.set_result(function(*args))
        except BaseException as error:  # noqa: BLE001  the awaiting code gets the error
            promise.set_exception(error)

    promise.set_running_or_notify_cancel()
    threading.Thread(target=body, name="tool", daemon=True).start()
    return asyncio.wrap_future(promise)


def _first_change(now: Callable[[str], str], preconditions: Collection[tuple[str, str]]) -> str | None:
    changed = next((name for name, value in preconditions if now(name) != value), None)
    return changed and say("path.changed", path=one_line(changed.partition(":")[2] or changed))


def _outcome(work: asyncio.Future[Any]) -> Ran:
    if work.cancelled():
        return Ran(Result.FAILED, error=say("tool.cancelled"))
    error = work.exception()
    if isinstance(error, NotAsShown):
        return Ran(Result.REFUSED, error=_error_text(str(error)))
    if isinstance(error, SaysoError):
        return Ran(Result.FAILED, error=_error_text(error.message))
    if error is not None:
        return Ran(Result.FAILED, error=_error_text(f"{type(error).__name__}: {error}"))
    value = work.result()
    if isinstance(value, Ran):
        return value
    output, cut = capped(_text(value))
    return Ran(Result.SUCCEEDED, output=output, cut=cut)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _error_text(text: str) -> str:
    """Return the text of an error with secrets masked, because errors often quote the value that caused them."""
    return cut_middle(mask(storable(text)), ERROR_KEPT).text
