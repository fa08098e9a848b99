"""The registry runs what the operator registered and allowed, and tells how it ended, whatever happens."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from adapters.executors.arguments import Arguments, Declared
from adapters.executors.registry import LOOKS, Context, NotAsShown, Registry
from hitl.call import Preparation, Ran, Result
from hitl.cards.wording import say
from hitl.errors import InvalidConfirmation, TooManyPending
from hitl.records import replace
from tests.adapters.executors.conftest import a_lease, an_ask, soon
from tests.sentences import raises, says


class Greeting(Arguments):
    """Whom to greet, and how often."""

    name: str
    times: int = 1


class Nothing(Arguments):
    """No argument."""


def greet(context: Context, args: Greeting) -> str:
    """Says hello."""
    return f"{context.principal} says " + "hello " * args.times + args.name


def _registry(*functions: Callable[..., Any], allowed: list[str] | None = None) -> Registry:
    """The functions as tools of the group `test`, allowed unless said otherwise."""
    names = [function.__name__ for function in functions]
    registry = Registry("test", allowed)
    for name, function in zip(names, functions, strict=True):
        if function is greet:
            registry.register(name, greet, Declared(Greeting), sentence="Greets {name} {times} times.")
        else:
            registry.register(name, function, Declared(Nothing), sentence="Does it.")
    return registry


async def _run(registry: Registry, tool: str, *, limit_s: float = 5, **args: object) -> Ran:
    """Runs a tool as if it had been approved."""
    ask = an_ask(tool, "test", **args)
    return await registry.run(a_lease(registry, ask, Preparation("")), limit_s=limit_s)


async def test_a_tool_runs_with_its_arguments_and_its_context() -> None:
    """It is told who asked, and what it returns is the output."""
    ran = await _run(_registry(greet), "greet", name="Ann", times=2)

    assert Ran(Result.SUCCEEDED, "token:agent says hello hello Ann") == ran


async def test_the_context_names_the_call() -> None:
    """The ref is the idempotency key, the same for every try."""

    def tells(context: Context, _args: Nothing) -> list[str]:
        """Tells what it was told."""
        return [context.ref, context.key]

    ran = await _run(_registry(tells), "tells")

    assert '["0198c0de-1234-7abc-8def-0123456789ab", "0198c0de-1234-7abc-8def-0123456789ab"]' == ran.output


async def test_an_empty_list_runs_nothing() -> None:
    """What isn't allowed doesn't exist: no information, no preparation, no run."""
    registry = _registry(greet, allowed=[])
    ran = await _run(registry, "greet", name="Ann")

    assert registry.info("test", "greet") is None
    assert Result.REFUSED == ran.result
    assert say("tool.unlisted.run", tool="greet") == ran.error
    with raises(InvalidConfirmation, "tool.unlisted", tool="greet"):
        await registry.prepare(an_ask("greet", "test", name="Ann"))


async def test_a_tool_is_prepared_as_a_sentence() -> None:
    """Arguments stand in the sentence quoted and on one line; of those left out, what the tool takes."""
    prepared = await _registry(greet).prepare(an_ask("greet", "test", name="A\u202enn\nx"))

    assert Preparation("Greets “A\\u{202e}nn⏎x” 1 times.") == prepared


async def test_unusable_arguments_are_refused_before_anyone_is_asked() -> None:
    """A wrong type is named."""
    with raises(InvalidConfirmation, "args.type", name="times"):
        await _registry(greet).prepare(an_ask("greet", "test", name="Ann", times="2"))


async def test_a_changed_tool_is_not_run() -> None:
    """The definition covers the declaration: another sentence is another tool."""
    old, new = _registry(greet), Registry("test", None)
    new.register("greet", greet, Declared(Greeting), sentence="Deletes everything of {name}.")
    lease = a_lease(old, an_ask("greet", "test", name="Ann"), Preparation(""))

    assert Result.SUCCEEDED == (await old.run(lease, limit_s=5)).result
    assert say("tool.changed", tool="greet") == (await new.run(lease, limit_s=5)).error


async def test_another_default_is_another_tool() -> None:
    """What fills in an argument that was left out is part of what people were shown."""

    class Often(Arguments):
        """Whom to greet, and how often."""

        name: str
        times: int = 9

    Often.__name__ = Greeting.__name__
    old, new = Registry("test", None), Registry("test", None)
    old.register("greet", greet, Declared(Greeting), sentence="Greets {name} {times} times.")
    new.register("greet", greet, Declared(Often), sentence="Greets {name} {times} times.")  # type: ignore[arg-type]
    lease = a_lease(old, an_ask("greet", "test", name="Ann"), Preparation(""))

    assert say("tool.changed", tool="greet") == (await new.run(lease, limit_s=5)).error


async def test_stored_arguments_are_checked_again() -> None:
    """Arguments that the tool doesn't take refuse the run, they don't break it."""
    registry = _registry(greet)
    lease = a_lease(registry, an_ask("greet", "test", name="Ann"), Preparation(""))
    ran = await registry.run(replace(lease, call=lease.call.evolve(args=b'{"nam":"Ann"}')), limit_s=5)

    assert Result.REFUSED == ran.result


def test_only_the_registration_says_that_a_tool_is_idempotent() -> None:
    """It is false unless the operator says so."""
    registry = _registry(greet)
    registry.register("again", greet, Declared(Greeting), sentence="Greets.", idempotent=True)
    once = registry.info("test", "greet")

    assert once is not None
    assert not once.idempotent
    assert 64 == len(once.definition)


def test_a_tool_tells_its_schema_and_what_it_does() -> None:
    """By the names of MCP; what the registration doesn't say is the worst."""
    registry = _registry(greet)
    registry.register("look", greet, Declared(Greeting), sentence="Looks.", read_only=True, destructive=False)
    worst, looks = registry.info("test", "greet"), registry.info("test", "look")

    assert worst is not None
    assert looks is not None
    assert ["name"] == worst.schema["required"]
    assert not worst.schema["additionalProperties"]
    assert {
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": False,
        "openWorldHint": True,
    } == worst.annotations
    assert (True, False) == (looks.annotations["readOnlyHint"], looks.annotations["destructiveHint"])
    assert worst.definition != looks.definition


def test_a_listed_name_that_no_tool_has_is_found() -> None:
    """So that a misspelt one is told at the start, not when the tool is missed."""
    registry = _registry(greet, allowed=["greet", "great"])

    assert (["great"], ["greet"]) == (registry.unknown(), registry.offered())


def test_every_tool_is_told_of() -> None:
    """By a sentence, or by a look that finds one: nobody could say yes to a card that says nothing."""
    with pytest.raises(ValueError, match="needs a sentence"):
        Registry("test", ()).register("greet", greet, Declared(Greeting))


def test_a_sentence_names_only_arguments_that_there_are() -> None:
    """A misspelt one would stand on every card as it is."""
    with pytest.raises(ValueError, match=r"test\.greet has no argument nmae, which its sentence names"):
        Registry("test", ()).register("greet", greet, Declared(Greeting), sentence="Greets {nmae}.")


def test_a_name_is_registered_once() -> None:
    """A second tool of the same name would be another than the one that was shown."""
    registry = _registry(greet)
    with pytest.raises(ValueError, match=r"test\.greet is registered already"):
        registry.register("greet", greet, Declared(Greeting), sentence="")


async def test_an_error_is_told_without_its_secrets() -> None:
    """What a tool raises is its error as text; credentials in it are masked."""

    def breaks(_context: Context, _args: Nothing) -> None:
        """Quotes a secret in its error."""
        raise ValueError('refused {"apikey": "sk-INVENTED"}')

    ran = await _run(_registry(breaks), "breaks")

    assert Ran(Result.FAILED, error='ValueError: refused {"apikey": "sk-[masked 8]"}') == ran


async def test_a_tool_that_finds_things_changed_refuses() -> None:
    """NotAsShown says that nothing was done."""

    def looks(_context: Context, _args: Nothing) -> None:
        """Finds things changed."""
        raise NotAsShown("It moved.")

    assert Ran(Result.REFUSED, error="It moved.") == await _run(_registry(looks), "looks")


async def test_no_tool_ends_the_service() -> None:
    """`sys.exit` ends the tool alone, in a thread and in the event loop."""

    def leaves(_context: Context, _args: Nothing) -> None:
        """Would end the process."""
        sys.exit(3)

    async def leaves_too(_context: Context, _args: Nothing) -> None:
        """Would end the event loop."""
        sys.exit(3)

    registry = _registry(leaves, leaves_too)

    assert Ran(Result.FAILED, error="SystemExit: 3") == await _run(registry, "leaves")
    assert says(str((await _run(registry, "leaves_too")).error), "tool.exit", status=3)


async def test_a_tool_that_cancels_itself_failed() -> None:
    """Its cancellation isn't taken for the service's."""

    async def cancels(_context: Context, _args: Nothing) -> None:
        """Cancels itself."""
        raise asyncio.CancelledError

    assert Result.FAILED == (await _run(_registry(cancels), "cancels")).result


async def test_long_output_is_kept_at_both_ends() -> None:
    """What is left out is counted, in the text and beside it."""

    def talks(_context: Context, _args: Nothing) -> str:
        """Says much."""
        return "a" * 100_000 + "b" * 100_000

    ran = await _run(_registry(talks), "talks")

    assert ran.output.startswith("aaa")
    assert ran.output.endswith("bbb")
    assert 64_000 >= len(ran.output)
    assert say("card.left_out", count=ran.cut) in ran.output


async def test_output_can_always_be_stored() -> None:
    """What UTF-8 or a database can't carry is escaped."""

    def talks(_context: Context, _args: Nothing) -> str:
        """Says what can't be stored."""
        return "a\ud800b\0c"

    assert r"a\ud800b\x00c" == (await _run(_registry(talks), "talks")).output


async def test_an_async_tool_is_cancelled_at_the_limit() -> None:
    """It gets to put its things in order, and the result says that time was up."""
    tidied = asyncio.Event()

    async def hangs(_context: Context, _args: Nothing) -> None:
        """Takes until it is let go."""
        try:
            await asyncio.Event().wait()
        finally:
            tidied.set()

    ran = await _run(_registry(hangs), "hangs", limit_s=0.05)

    assert tidied.is_set()
    assert Ran(Result.TIMED_OUT, error=say("tool.late", limit=0.05)) == ran


async def test_a_threads_late_end_is_waited_for_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    """A sync tool can't be stopped: the result comes at the limit, its end is heard of in the background."""
    go_on = threading.Event()

    def hangs(_context: Context, _args: Nothing) -> None:
        """Takes until it is let go."""
        go_on.wait()

    ran = await _run(_registry(hangs), "hangs", limit_s=0.05)
    before = list(caplog.messages)
    go_on.set()
    await soon(lambda: len(caplog.messages) == 2)

    assert Result.TIMED_OUT == ran.result
    assert ["tool runs on"] == before
    (late,) = caplog.records[1:]
    assert "tool ended late" == late.message
    assert isinstance(late.args, dict)
    assert ("hangs", False) == (late.args["tool"], late.args["failed"])


async def test_stuck_tools_block_no_other() -> None:
    """Each sync tool has a thread of its own, however many are stuck."""
    go_on = threading.Event()

    def hangs(_context: Context, _args: Nothing) -> None:
        """Takes until it is let go."""
        go_on.wait()

    registry = _registry(hangs, greet)
    stuck = [asyncio.ensure_future(_run(registry, "hangs")) for _ in range(50)]
    ran = await _run(registry, "greet", name="Ann")
    go_on.set()

    assert Result.SUCCEEDED == ran.result
    assert {Result.SUCCEEDED} == {each.result for each in await asyncio.gather(*stuck)}


async def test_few_calls_of_one_requester_are_looked_at_at_once() -> None:
    """A look may read gigabytes. Further calls of that requester wait a moment, then hear why; others don't wait."""
    registry, free, looking = Registry("test", None, lane_s=0.1), threading.Event(), threading.Semaphore(0)

    def look(_: Nothing) -> Preparation:
        looking.release()
        free.wait()
        return Preparation("")

    registry.register("slow", lambda _context, _args: None, Declared(Nothing), look=look)
    ask = an_ask("slow", "test")
    busy = [asyncio.ensure_future(registry.prepare(ask)) for _ in range(LOOKS)]
    for _ in busy:
        await asyncio.to_thread(looking.acquire)
    with pytest.raises(TooManyPending):
        await registry.prepare(ask)
    other = asyncio.ensure_future(registry.prepare(replace(ask, requester="token:other")))
    await asyncio.to_thread(looking.acquire)
    free.set()

    assert [Preparation("")] * (LOOKS + 2) == await asyncio.gather(*busy, other, registry.prepare(ask))


async def test_stopping_the_service_stops_the_tool() -> None:
    """A cancelled run cancels its tool before it is over itself."""
    started, tidied = asyncio.Event(), asyncio.Event()

    async def hangs(_context: Context, _args: Nothing) -> None:
        """Takes until it is let go."""
        try:
            started.set()
            await asyncio.Event().wait()
        finally:
            tidied.set()

    running = asyncio.ensure_future(_run(_registry(hangs), "hangs"))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert tidied.is_set()


async def test_preconditions_are_read_again() -> None:
    """The first one that changed is named; where all hold there is nothing to say."""
    now = {"base:a": "1", "base:b": "2"}
    registry = Registry("test", None)
    registry.register("greet", greet, Declared(Greeting), sentence="Greets {name}.", now=now.__getitem__)
    prepared = Preparation("", preconditions=tuple(now.items()))
    call = a_lease(registry, an_ask("greet", "test", name="Ann"), prepared).call

    assert await registry.still_holds(call) is None

    now["base:b"] = "3"

    assert say("path.changed", path="b") == await registry.still_holds(call)
