"""The registry: which Python callables may be asked for by name, and how one of them is run.

A tool is what the operator registered, never what an agent says: its signature, its sentence, whether it
may be tried again. Only tools on the list of those allowed exist; an empty list runs nothing. A tool is
called as `function(context, **args)`. What it returns is its output, what it raises is its error; a
`NotAsShown` says that what people were shown is no longer so, and that nothing was done.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import hashlib
import inspect
import json
import logging
import threading
from dataclasses import dataclass, field
from string import Formatter
from typing import TYPE_CHECKING, Any, TypeVar

from adapters.executors.arguments import Parameter, check, parameters_of
from adapters.executors.output import ERROR_KEPT, capped, storable
from hitl.errors import InvalidConfirmation, SaysoError
from hitl.model import Preparation, Ran, Result, ToolInfo
from hitl.redaction import mask
from hitl.text import cut_middle, one_line
from hitl.wording import say

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping

    from hitl.model import Ask, Call, Lease

T = TypeVar("T")

_log = logging.getLogger(__name__)

#: Seconds that a cancelled tool gets to put its things in order.
CLEANUP_S = 2.0
_SENTENCE_ARGUMENT = 120


class NotAsShown(Exception):
    """What was shown is no longer so. The tool did nothing; its message says what changed."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a tool is told beside its arguments.

    `principal` asked for the call, `ref` names it, `key` is the idempotency key to hand on (the same for
    every try at this call), `preconditions` is what people were shown, `limit_s` is how long the tool may
    run.
    """

    principal: str
    ref: str
    key: str
    limit_s: float
    preconditions: Mapping[str, str] = field(default_factory=dict)


class _Shown(dict[str, str]):
    """Arguments as a sentence shows them, each made fit for it only if the sentence names it."""

    def __init__(self, args: Mapping[str, Any]) -> None:
        super().__init__()
        self._args = args

    def __missing__(self, name: str) -> str:
        return one_line(_text(self._args[name]), _SENTENCE_ARGUMENT)


@dataclass(frozen=True, slots=True)
class Tool:
    """A registered tool.

    `look` finds, before people are asked, what the call would do; it may raise InvalidConfirmation. Where
    there is none, `sentence` tells of it: a template over the arguments in the operator's own words,
    `Deletes {path}.`. `now` reads one precondition again by its name. `grace_s` is how long past the limit
    the tool may take to stop what it started and to tell of it.
    """

    tools: str
    name: str
    function: Callable[..., Any]
    sentence: str
    parameters: tuple[Parameter, ...]
    idempotent: bool
    look: Callable[[Mapping[str, Any]], Preparation] | None
    now: Callable[[str], str] | None
    grace_s: float
    definition: str = field(init=False)

    def __post_init__(self) -> None:
        """SHA-256 over the tool's names, parameters, sentence and documentation, 64 hex digits."""
        object.__setattr__(self, "definition", self._definition())

    def _definition(self) -> str:
        parts = [self.tools, self.name, self.sentence, inspect.getdoc(self.function) or ""]
        declared = [*parts, *(each.describe() for each in self.parameters)]
        return hashlib.sha256(json.dumps(declared).encode()).hexdigest()

    def told(self, args: Mapping[str, Any]) -> str:
        """The sentence for these arguments; those that were left out are what the tool takes in their place."""
        taken = {each.name: each.default for each in self.parameters} | dict(args)
        return self.sentence.format_map(_Shown(taken))


class Registry:
    """An executor of registered callables (`hitl.ports.Executor`).

    `allowed` lists what may run, each as `GROUP.TOOL`; an empty list runs nothing.
    """

    def __init__(self, allowed: Collection[str], *, name: str = "registry") -> None:
        self.name = name
        self._allowed = frozenset(allowed)
        self._tools: dict[tuple[str, str], Tool] = {}
        self._late: set[asyncio.Future[Any]] = set()

    def register(  # noqa: PLR0913  a tool is declared once, by keyword
        self,
        tools: str,
        name: str,
        function: Callable[..., Any],
        *,
        sentence: str = "",
        idempotent: bool = False,
        look: Callable[[Mapping[str, Any]], Preparation] | None = None,
        now: Callable[[str], str] | None = None,
        grace_s: float = 0.0,
    ) -> None:
        """Add a tool.

        Raises TypeError for a signature that doesn't declare each argument, ValueError for a name that is
        taken, or a tool that nothing tells of.
        """
        if (tools, name) in self._tools:
            raise ValueError(f"{tools}.{name} is registered already")
        if not sentence and look is None:
            raise ValueError(f"{tools}.{name} needs a sentence, or a look that finds one")
        parameters = parameters_of(function, skip=1)
        for named in _named(sentence).difference(each.name for each in parameters):
            raise ValueError(f"{tools}.{name} has no argument {named}, which its sentence names")
        self._tools[tools, name] = Tool(tools, name, function, sentence, parameters, idempotent, look, now, grace_s)

    def info(self, tools: str, tool: str) -> ToolInfo | None:
        """What is known of the tool; None where it isn't on the list of those that may run."""
        found = self._find(tools, tool)
        return ToolInfo(self.name, found.definition, found.idempotent) if found else None

    async def prepare(self, ask: Ask) -> Preparation:
        """What the call would do. Raises InvalidConfirmation for arguments that can't be used."""
        tool = self._find(ask.tools, ask.tool)
        if tool is None:
            raise InvalidConfirmation(say("tool.unlisted", tool=one_line(ask.tool)))
        check(tool.parameters, ask.args)
        if tool.look is None:
            return Preparation(sentence=tool.told(ask.args))
        return await _in_thread(tool.look, ask.args)

    async def still_holds(self, call: Call) -> str | None:
        """The first precondition that no longer holds, as a sentence."""
        tool = self._find(call.tools, call.tool)
        if tool is None:
            return say("tool.unlisted.now", tool=one_line(call.tool))
        if tool.now is None:
            return None
        return await _in_thread(_first_change, tool.now, call.preconditions)

    async def run(self, lease: Lease, *, limit_s: float) -> Ran:
        """Run the stored call. Never raises for what the tool does; refuses a call that isn't what was
        sealed.
        """
        call = lease.call
        tool = self._find(call.tools, call.tool)
        refusal = _why_not(tool, call)
        if tool is None or refusal:
            return Ran(Result.REFUSED, error=refusal)
        context = Context(call.requester, call.ref, lease.idempotency_key, limit_s, dict(call.preconditions))
        return await self._watch(tool, context, _started(tool, context, call.arguments))

    def _find(self, tools: str, name: str) -> Tool | None:
        return self._tools.get((tools, name)) if f"{tools}.{name}" in self._allowed else None

    async def _watch(self, tool: Tool, context: Context, work: asyncio.Future[Any]) -> Ran:
        in_time = False
        try:
            await asyncio.wait({work}, timeout=context.limit_s + tool.grace_s)
            in_time = work.done()
        finally:
            if not in_time:
                await self._stop(tool, context, work)
        return _outcome(work) if in_time else Ran(Result.TIMED_OUT, error=_took_too_long(context.limit_s))

    async def _stop(self, tool: Tool, context: Context, work: asyncio.Future[Any]) -> None:
        """Cancel what can be cancelled, and listen for the end of what can't."""
        if isinstance(work, asyncio.Task):
            work.cancel()
            await asyncio.wait({work}, timeout=CLEANUP_S + tool.grace_s)
        if work.done():
            return
        self._late.add(work)
        _log.warning("tool runs on", {"tools": tool.tools, "tool": tool.name, "ref": context.ref})
        work.add_done_callback(lambda done: self._ended_late(tool, context, done))

    def _ended_late(self, tool: Tool, context: Context, work: asyncio.Future[Any]) -> None:
        self._late.discard(work)
        failed = work.cancelled() or work.exception() is not None
        _log.warning("tool ended late", {"tools": tool.tools, "tool": tool.name, "ref": context.ref, "failed": failed})


def _named(sentence: str) -> set[str]:
    """The arguments that a template names."""
    return {name for _, name, _, _ in Formatter().parse(sentence) if name is not None}


def _why_not(tool: Tool | None, call: Call) -> str | None:
    if tool is None:
        return say("tool.unlisted.run", tool=one_line(call.tool))
    if tool.definition != call.definition:
        return say("tool.changed", tool=tool.name)
    try:
        check(tool.parameters, call.arguments)
    except InvalidConfirmation as refusal:
        return refusal.message
    return None


def _started(tool: Tool, context: Context, args: Mapping[str, Any]) -> asyncio.Future[Any]:
    if inspect.iscoroutinefunction(tool.function):
        return asyncio.ensure_future(_contained(tool.function(context, **args)))
    return _in_thread(lambda: tool.function(context, **args))


async def _contained(work: Awaitable[T]) -> T:
    """A tool that calls `sys.exit()` ends itself, not the event loop."""
    try:
        return await work
    except SystemExit as end:
        raise RuntimeError(say("tool.exit", status=end.code)) from end


def _in_thread(function: Callable[..., T], *args: Any) -> asyncio.Future[T]:
    """Run a function in a thread of its own: a stuck one blocks no other, nor the end of the process."""
    promise: concurrent.futures.Future[T] = concurrent.futures.Future()

    def body() -> None:
        try:
            promise.set_result(function(*args))
        except BaseException as error:  # noqa: BLE001  whatever it was, it is handed on
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
    return _returned(work.result())


def _returned(value: Any) -> Ran:
    if isinstance(value, Ran):
        return value
    output, cut = capped(_text(value))
    return Ran(Result.SUCCEEDED, output=output, cut=cut)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _error_text(text: str) -> str:
    """Errors like to quote what they choked on, secrets too."""
    return cut_middle(mask(storable(text)), ERROR_KEPT).text


def _took_too_long(limit_s: float) -> str:
    return say("tool.late", limit=f"{limit_s:g}")
