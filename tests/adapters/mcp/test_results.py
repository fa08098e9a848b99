"""What a server answered, in bounds: for the record, and for the client."""

from __future__ import annotations

from typing import Any

import mcp_types as t

from adapters.mcp.results import DATA_SENT, RECORDED, TEXT_SENT, bounded, ran
from adapters.mcp.targets import Target
from hitl.call import Result

PICTURE = t.ImageContent(type="image", data="AAAA", mime_type="image/png")


def answer(*content: Any, **more: Any) -> t.CallToolResult:
    """A tool's result; a string is a text."""
    blocks = [t.TextContent(type="text", text=each) if isinstance(each, str) else each for each in content]
    return t.CallToolResult(content=blocks, **more)


def plain(text: str) -> str:
    """Nothing to clean."""
    return text


def test_text_is_kept_and_pictures_are_counted_in_the_record() -> None:
    """The client gets the picture itself."""
    found = answer("two lines\nof text", PICTURE)

    assert (Result.SUCCEEDED, "two lines\nof text\n[image/png, 0 kB]") == (ran(found).result, ran(found).output)
    assert [*found.content] == [*bounded(found, plain).content]  # type: ignore[union-attr]


def test_structured_content_is_recorded_where_nothing_else_is_said() -> None:
    """Beside text it would say the same twice."""
    assert '{"size": 3}' == ran(answer(structured_content={"size": 3})).output
    assert "3" == ran(answer("3", structured_content={"size": 3})).output


def test_an_error_of_the_tool_is_a_failure_in_its_words() -> None:
    """With its secrets masked, and with our own words where it says nothing."""
    failed = ran(answer("no such file: ghp_9aK2mXq7Lw4ZtRv8NcYb3Ud6Fg1Hj5Ps0EoI", is_error=True))

    assert Result.FAILED is failed.result
    assert failed.error
    assert "ghp_9aK2" not in failed.error
    assert ran(answer(is_error=True)).error


def test_long_text_is_cut_in_the_middle_and_counted() -> None:
    """The record keeps less of it than the client gets; all blocks together have one bound."""
    found = answer("x" * TEXT_SENT, "y" * 1000)
    sent = bounded(found, plain)
    assert isinstance(sent, t.CallToolResult)

    assert ran(found).cut
    assert len(ran(found).output) <= RECORDED
    assert sum(len(block.text) for block in sent.content if isinstance(block, t.TextContent)) < TEXT_SENT + 100


def test_data_that_is_too_large_becomes_a_line_that_says_so() -> None:
    """What fits beside it stays."""
    sent = bounded(answer(PICTURE, PICTURE.model_copy(update={"data": "A" * DATA_SENT})), plain)
    assert isinstance(sent, t.CallToolResult)

    assert ["image", "text"] == [block.type for block in sent.content]


def test_structured_content_is_whole_or_absent() -> None:
    """Half of a JSON value is none."""
    large, small = answer(structured_content=["x" * TEXT_SENT]), answer(structured_content={"a": [1]})

    assert [None, {"a": [1]}] == [bounded(each, plain).structured_content for each in (large, small)]  # type: ignore[union-attr]


def test_secrets_of_the_server_and_its_name_dont_come_back() -> None:
    """In text, in structured content and in resources; a short value isn't looked for, or words would vanish."""
    target = Target("a", command=("x",), secrets=("hunter2-hunter2", "no"))
    resource = t.TextResourceContents(uri="a://b", text="it is hunter2-hunter2, no")
    embedded = t.EmbeddedResource(type="resource", resource=resource)
    meta = {t.SERVER_INFO_META_KEY: {"name": "a"}, "mine": 1}
    found = answer("hunter2-hunter2", embedded, structured_content={"key": "hunter2-hunter2"}, _meta=meta)
    sent = bounded(found, target.clean)

    assert "hunter2" not in sent.model_dump_json()
    assert ", no" in sent.model_dump_json()
    assert {"mine": 1} == sent.meta


def test_prompts_and_resources_are_recorded_as_text() -> None:
    """Who says what in a prompt, and the text of a resource."""
    said = t.PromptMessage(role="user", content=t.TextContent(type="text", text="Review x"))
    read = t.ReadResourceResult(contents=[t.BlobResourceContents(uri="a://b", blob="AAAA", mime_type="image/png")])

    assert "user: Review x" == ran(t.GetPromptResult(messages=[said])).output
    assert "[image/png, 0 kB]" == ran(read).output


def test_text_that_cant_be_stored_is_written_out() -> None:
    """Lone surrogates and NUL would keep the result out of the record."""
    sent = bounded(answer("a\ud800b\0c"), plain)

    assert r"a\ud800b\x00c" == ran(sent).output
