"""The official client before the gateway, on both transports and both generations of the protocol."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import mcp_types as t
import pytest
from mcp import Client, MCPError
from mcp.shared.subscriptions import ToolsListChanged

from adapters.mcp.definitions import READ_RESOURCE
from adapters.mcp.whole_lines import LONGEST_LINE
from hitl.call import Action, Ask, Decision, Result, Risk, Runs, Status, Verb
from tests.hitl.world import verdict
from tests.patience import PATIENCE_S
from tests.scenarios.mcp.behind import WAYS, Behind, Scripted, final, meta, text, tool
from tests.sentences import says

if TYPE_CHECKING:
    Way = tuple[str, str]

NAMES = ["remove", "stat", "picture", "steps", "die", "fail", "wait", "more"]


async def test_allowed_calls_run_and_answer_whole(behind: Behind, way: Way, files: Scripted) -> None:
    """Tools are listed under their own names, without output schemas; images and structured content arrive."""
    steps: list[Any] = []
    lines: list[Any] = []

    async def step(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total, message))

    async def log(line: Any) -> None:
        lines.append(line.data)

    async with behind.client(*way, logging_callback=log, log_level="info") as client:
        listed = (await client.list_tools()).tools
        stat, picture = await client.call_tool("stat", {}), await client.call_tool("picture", {})
        done = await client.call_tool("steps", {}, progress_callback=step)
        failed = await client.call_tool("fail", {})

    assert [*NAMES, "sayso_status", "sayso_withdraw", "ask_human"] == [each.name for each in listed]
    assert not any(each.output_schema for each in listed)
    assert {"name": "notes", "size": 3} == stat.structured_content
    assert "image" == picture.content[0].type
    assert ("done", [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]) == (text(done), steps)
    assert ["line 1", "line 2", "line 3"] == lines
    assert (True, "it is broken") == (failed.is_error, text(failed))
    assert ["stat {}", "picture {}", "steps {}", "fail {}"] == files.runs


async def test_log_lines_are_dropped_while_a_call_of_nobody_here_runs(
    behind: Behind, way: Way, files: Scripted
) -> None:
    """A log line doesn't name its call, so it could tell one client what the call of another does."""
    lines: list[Any] = []

    async def log(line: Any) -> None:
        lines.append(line.data)

    async with behind.client(*way, logging_callback=log, log_level="info") as client:
        await client.list_tools()
        other = Ask("files", "wait", {}, "bob", "local", Runs.SERVICE, agent="bob")
        running = await behind.service.submit(other)
        async with asyncio.timeout(PATIENCE_S):
            while "wait {}" not in files.runs:  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.01)
        done = await client.call_tool("steps", {})
    (files.folder / "go").touch()
    await behind.service.ended(running.call, PATIENCE_S)

    assert ("done", []) == (text(done), lines)


async def test_a_denied_call_never_reaches_the_server(behind: Behind, way: Way, files: Scripted) -> None:
    """The client hears at once that the policy denies it; nobody is asked. A resource is denied as a call is."""
    behind.rules.verdicts |= {name: verdict(Action.DENY, Risk.HIGH) for name in ("remove", READ_RESOURCE)}
    async with behind.client(*way) as client:
        denied = await client.call_tool("remove", {"path": "a"})
        with pytest.raises(MCPError):
            await client.read_resource("note://a")

    assert denied.is_error
    assert [Status.DENIED] * 2 == [call.status for call in {call.ref: call for call in behind.calls}.values()]
    assert ([], []) == ([*await behind.store.pending()], files.runs)


async def test_an_approved_call_runs_once_and_answers(behind: Behind, way: Way, files: Scripted) -> None:
    """The client waits through several rounds, or learns where to look; nothing runs before the yes."""
    async with behind.client(*way) as client:
        calling = asyncio.create_task(client.call_tool("remove", {"path": "a"}))
        call = await behind.asked()
        await asyncio.sleep(0.8)
        assert [] == files.runs
        await behind.answer(Verb.APPROVE, call)
        result = await calling
        if way[1] == "legacy":
            assert (False, True) == (result.is_error, call.short in text(result))
        result = await final(client, result)

    assert (False, '{"path": "a"}') == (result.is_error, text(result))
    assert ['remove {"path": "a"}'] == files.runs


async def test_a_question_is_answered_in_words(behind: Behind, way: Way) -> None:
    """It waits as a call does; the result is what the person said. Nothing runs."""
    async with behind.client(*way) as client:
        calling = asyncio.create_task(client.call_tool("ask_human", {"question": "Which branch?"}))
        call = await behind.asked("ask_human")
        await behind.answer(Verb.APPROVE, call, reason="release-7")
        result = await final(client, await calling)

    assert (False, "release-7") == (result.is_error, text(result))


async def test_a_question_that_nobody_answers_says_so(behind: Behind, way: Way) -> None:
    """Withdrawn, declined and misfit questions are told apart from answers."""
    async with behind.client(*way) as client:
        calling = asyncio.create_task(client.call_tool("ask_human", {"question": "Which?", "options": ["a", "b"]}))
        await behind.answer(Verb.REJECT, await behind.asked("ask_human"))
        declined = await final(client, await calling)
        misfit = await client.call_tool("ask_human", {"question": "Which?", "options": ["a"]})

    assert says(text(declined), "agent.question.rejected")
    assert says(text(misfit), "question.options")
    assert declined.is_error
    assert misfit.is_error


async def test_a_rejected_call_tells_its_reason(behind: Behind, way: Way, files: Scripted) -> None:
    """A rejection is a result, so that the model reads it."""
    async with behind.client(*way) as client:
        calling = asyncio.create_task(client.call_tool("remove", {"path": "a"}))
        await behind.answer(Verb.REJECT, reason="not on a Friday")
        result = await final(client, await calling)

    assert result.is_error
    assert "not on a Friday" in text(result)
    assert [] == files.runs


async def test_a_rejected_call_is_not_asked_again_at_once(behind: Behind, way: Way, files: Scripted) -> None:
    """The model hears that, and no person sees a second card; other arguments are another call."""
    async with behind.client(*way) as client:
        calling = asyncio.create_task(client.call_tool("remove", {"path": "a"}))
        call = await behind.asked()
        await behind.answer(Verb.REJECT, call)
        await final(client, await calling)
        again = await client.call_tool("remove", {"path": "a"})
        other = asyncio.create_task(client.call_tool("remove", {"path": "b"}))
        await behind.answer(Verb.APPROVE)
        done = await final(client, await other)

    assert (True, True) == (again.is_error, call.short in text(again))
    assert [False, ['remove {"path": "b"}']] == [done.is_error, files.runs]


async def test_a_client_that_gave_up_finds_its_call(behind: Behind, way: Way, files: Scripted) -> None:
    """A client with a time limit of its own comes back with the id of its tool use: one request, one run."""
    use: Any = {"sayso/toolUseId": "use-1"}
    async with behind.client(*way) as client:
        calling = asyncio.create_task(client.call_tool("remove", {"path": "a"}, meta=use))
        call = await behind.asked()
        calling.cancel()
    await behind.answer(Verb.APPROVE, call)
    ended = await behind.service.ended(call)
    async with behind.client(*way) as client:
        result = await final(client, await client.call_tool("remove", {"path": "a"}, meta=use))
        status = await client.call_tool("sayso_status", {"ref": call.short})

    assert (Result.SUCCEEDED, '{"path": "a"}', '{"path": "a"}') == (ended.result, text(result), text(status))
    assert ['remove {"path": "a"}'] == files.runs


async def test_a_server_that_dies_leaves_its_call_unknown(behind: Behind, way: Way, files: Scripted) -> None:
    """The call isn't tried again; the next call starts the server again."""
    async with behind.client(*way) as client:
        result = await client.call_tool("die", {})
        again = await client.call_tool("stat", {})

    assert result.is_error
    assert [Result.UNKNOWN] == [call.result for call in behind.calls if call.tool == "die" and call.ended]
    assert {"name": "notes", "size": 3} == again.structured_content
    assert ["die {}", "stat {}"] == files.runs


async def test_a_server_that_answers_without_end_is_ended(behind: Behind, files: Scripted) -> None:
    """Its call is unknown at once, and the next call starts the server again."""
    files.write([tool("stat"), tool("long", {"what": "echo", "says": "x" * (LONGEST_LINE + 1_000_000)})])
    behind.allow("long")
    async with behind.client(*WAYS[0]) as client:
        result = await client.call_tool("long", {})
        again = await client.call_tool("stat", {})

    assert (True, False) == (result.is_error, again.is_error)
    assert [Result.UNKNOWN] == [call.result for call in behind.calls if call.tool == "long" and call.ended]
    assert ["long {}", "stat {}"] == files.runs


async def test_a_changed_tool_is_asked_about_again(behind: Behind, way: Way, files: Scripted) -> None:
    """What was approved is no longer the tool that is there, so it doesn't run; asked again it is another call."""
    async with behind.client(*way) as client:
        calling = asyncio.create_task(client.call_tool("remove", {"path": "a"}))
        call = await behind.asked()
        files.write([tool("remove", annotations={"destructiveHint": True})])
        await behind.answer(Verb.APPROVE, call)
        refused = await final(client, await calling)
        calling = asyncio.create_task(client.call_tool("remove", {"path": "a"}))
        second = await behind.asked()
        await behind.answer(Verb.APPROVE, second)
        result = await final(client, await calling)

    assert (True, False) == (refused.is_error, result.is_error)
    assert Status.REFUSED is (await behind.service.ended(call)).status
    assert call.digest != second.digest
    assert ['remove {"path": "a"}'] == files.runs


@pytest.mark.parametrize("way", [("relay", "auto"), ("http", "legacy")], ids="-".join)
async def test_a_hundred_calls_in_flight_each_run_once(behind: Behind, way: Way, files: Scripted) -> None:
    """Half of them approved and half rejected, each answered for itself."""
    async with behind.client(*way) as client:
        async with asyncio.TaskGroup() as work:
            calling = [
                work.create_task(client.call_tool("remove", {"n": n}, meta=meta(**{"sayso/toolUseId": str(n)})))
                for n in range(100)
            ]
            for _ in range(100):
                call = await behind.asked()
                even = call.arguments["n"] % 2 == 0
                await behind.answer(Verb.APPROVE if even else Verb.REJECT, call, None if even else "odd")
        results = [await final(client, task.result()) for task in calling]

    assert [f'{{"n": {n}}}' if n % 2 == 0 else "odd" for n in range(100)] == [
        "odd" if "odd" in text(result) else text(result) for result in results
    ]
    assert sorted(f'remove {{"n": {n}}}' for n in range(0, 100, 2)) == sorted(files.runs)


async def test_resources_and_prompts_are_asked_about_too(behind: Behind, way: Way, files: Scripted) -> None:
    """Whatever can act goes through the gate: reading a resource, and getting a prompt."""
    async with behind.client(*way) as client:
        uris = [str(each.uri) for each in (await client.list_resources()).resources]
        templates = [each.uri_template for each in (await client.list_resource_templates()).resource_templates]
        prompts = [each.name for each in (await client.list_prompts()).prompts]
        reading = asyncio.create_task(client.read_resource("page://one"))
        asked = await behind.answer(Verb.APPROVE)
        read = await reading
        getting = asyncio.create_task(client.get_prompt("review", {"code": "x"}))
        await behind.answer(Verb.REJECT, reason="no")
        with pytest.raises(MCPError, match="no"):
            await getting
        review = t.PromptReference(type="ref/prompt", name="review")
        completed = await client.complete(review, {"name": "code", "value": "al"})

    assert (["note://a"], ["page://{name}"], ["review"]) == (uris, templates, prompts)
    assert ("files", "resources/read", {"uri": "page://one"}) == (asked.tools, asked.tool, asked.arguments)
    assert isinstance(read.contents[0], t.TextResourceContents)
    assert "text of page://one" == read.contents[0].text
    assert ["alpha"] == completed.completion.values
    assert ["read page://one"] == files.runs


async def test_a_cancel_stops_what_only_the_policy_allowed(behind: Behind, way: Way, files: Scripted) -> None:
    """The server hears of it; what became of the work isn't known."""
    async with behind.client(*way) as client:
        calling = asyncio.create_task(client.call_tool("wait", {}))
        async with asyncio.timeout(PATIENCE_S):
            while "wait {}" not in files.runs:  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.01)
        calling.cancel()
        call = next(call for call in behind.calls if call.tool == "wait" and call.claim)
        ended = await behind.service.ended(call, PATIENCE_S)
        async with asyncio.timeout(PATIENCE_S):
            while "wait cancelled" not in files.runs:  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.01)

    assert (Decision.ALLOWED, Result.UNKNOWN) == (ended.decision, ended.result)


async def test_changed_lists_are_told(behind: Behind, way: Way, files: Scripted) -> None:
    """A client hears that the tools of a server behind the gateway have changed, also while it does nothing."""
    heard = asyncio.Event()

    async def hear(message: Any) -> None:
        if isinstance(message, t.ToolListChangedNotification):
            heard.set()

    async def change(client: Client) -> list[str]:
        files.write([tool("remove"), tool("new")], tells=True)
        async with asyncio.timeout(PATIENCE_S):
            await heard.wait()
        return [each.name for each in (await client.list_tools()).tools]

    async with behind.client(*way, message_handler=hear) as client:
        await client.list_tools()
        if way[1] == "auto":
            async with client.listen(tools_list_changed=True) as events:
                changing = asyncio.create_task(change(client))
                assert isinstance(await anext(aiter(events)), ToolsListChanged)
                heard.set()
                names = await changing
        else:
            names = await change(client)

    assert "new" in names


@pytest.mark.parametrize("way", [WAYS[0], WAYS[2]], ids="-".join)
async def test_a_server_that_asks_the_client_is_told_nothing(behind: Behind, way: Way) -> None:
    """More input, sampling and elicitation aren't handed on: the person at the client isn't who approves."""

    async def elicit(_context: Any, _params: Any) -> t.ElicitResult:
        raise AssertionError("a server behind the gateway reached the client's person")

    async with behind.client(*way, elicitation_callback=elicit) as client:
        result = await client.call_tool("more", {})

    assert result.is_error
    assert [Result.FAILED] == [call.result for call in behind.calls if call.tool == "more" and call.ended]
