"""Cuts a server's answer down to the size limits for the record and for the client."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import mcp_types as t

from hitl.call import Ran, Result
from hitl.cards.redaction import mask
from hitl.cards.text import cut_middle
from hitl.cards.wording import say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: The record keeps at most this many characters of the text of one result, and of an error.
RECORDED, ERROR_RECORDED = 64_000, 2_000
#: A client gets at most this many characters of text, and of base64 (images, sound, files), of one result.
TEXT_SENT, DATA_SENT = 1_000_000, 6_000_000
#: If a result contains only structured content, the record keeps at most this many characters of it.
_STRUCTURE_RECORDED = 4_000
_KILO = 1024

Answer = t.CallToolResult | t.ReadResourceResult | t.GetPromptResult


class _Room:
    """The room that is left under the size limits of one result, and the function that removes secrets."""

    def __init__(self, clean: Callable[[str], str]) -> None:
        self.text, self.data = TEXT_SENT, DATA_SENT
        self._clean = clean

    def words(self, text: str) -> str:
        """Return the text without the server's secrets. A text that exceeds the room left is cut in its middle."""
        cut = cut_middle(self._clean(_storable(text)), self.text).text
        self.text = max(0, self.text - len(cut))
        return cut

    def takes(self, data: str) -> bool:
        """Return whether there is room for this base64 text, and if so, count it."""
        if len(data) > self.data:
            return False
        self.data -= len(data)
        return True


def bounded(answer: Answer, clean: Callable[[str], str]) -> Answer:
    """Return the answer for a client: cut to the limits, with secrets masked, without the server's name in `meta`."""
    room = _Room(clean)
    meta = {key: value for key, value in (answer.meta or {}).items() if key != t.SERVER_INFO_META_KEY} or None
    if isinstance(answer, t.CallToolResult):
        content = [_block(block, room) for block in answer.content]
        kept = {"content": content, "structured_content": _structure(answer.structured_content, room), "meta": meta}
        return answer.model_copy(update=kept)
    if isinstance(answer, t.ReadResourceResult):
        return answer.model_copy(update={"contents": [_contents(part, room) for part in answer.contents], "meta": meta})
    messages = [each.model_copy(update={"content": _block(each.content, room)}) for each in answer.messages]
    return answer.model_copy(update={"messages": messages, "meta": meta})


def ran(answer: Answer) -> Ran:
    """Return the result of the run in the form that the record keeps."""
    told = "\n".join(_told(answer))
    cut = cut_middle(told, RECORDED)
    if isinstance(answer, t.CallToolResult) and answer.is_error:
        error = cut_middle(mask(told), ERROR_RECORDED).text or say("mcp.failed")
        return Ran(Result.FAILED, cut.text, error, cut=cut.left_out)
    return Ran(Result.SUCCEEDED, cut.text, cut=cut.left_out)


def _block(block: Any, room: _Room) -> Any:
    """Return one content block within the limits. If data doesn't fit, a line of text replaces the data."""
    if isinstance(block, t.TextContent):
        return block.model_copy(update={"text": room.words(block.text)})
    if isinstance(block, t.ImageContent | t.AudioContent) and not room.takes(block.data):
        return t.TextContent(type="text", text=_left_out(block.mime_type, block.data))
    if isinstance(block, t.EmbeddedResource):
        return block.model_copy(update={"resource": _contents(block.resource, room)})
    return block


def _contents(part: t.TextResourceContents | t.BlobResourceContents, room: _Room) -> Any:
    if isinstance(part, t.TextResourceContents):
        return part.model_copy(update={"text": room.words(part.text)})
    if room.takes(part.blob):
        return part
    return t.TextResourceContents(uri=part.uri, mime_type="text/plain", text=_left_out(part.mime_type, part.blob))


def _structure(structure: Any, room: _Room) -> Any:
    """Return structured content unchanged if it fits.

    Otherwise return None, because half of a JSON value can't be parsed.
    """
    if structure is None or len(text := json.dumps(structure)) > room.text:
        return None
    try:
        return json.loads(room.words(text))
    except ValueError:
        return None


def _told(answer: Answer) -> Iterator[str]:
    """Yield the lines of an answer for the record: text unchanged, and a short line for everything else."""
    if isinstance(answer, t.ReadResourceResult):
        for part in answer.contents:
            yield _line(part)
    elif isinstance(answer, t.GetPromptResult):
        for message in answer.messages:
            yield f"{message.role}: {_line(message.content)}"
    else:
        yield from map(_line, answer.content)
        if not answer.content and answer.structured_content is not None:
            yield cut_middle(json.dumps(answer.structured_content, ensure_ascii=False), _STRUCTURE_RECORDED).text


def _line(block: Any) -> str:
    if isinstance(block, t.TextContent | t.TextResourceContents):
        return block.text
    if isinstance(block, t.ImageContent | t.AudioContent):
        return _held(block.mime_type, block.data)
    if isinstance(block, t.BlobResourceContents):
        return _held(block.mime_type, block.blob)
    if isinstance(block, t.EmbeddedResource):
        return _line(block.resource)
    return f"[{getattr(block, 'uri', block.type)}]"


def _held(kind: str | None, data: str) -> str:
    return f"[{kind or 'data'}, {_size(data)}]"


def _left_out(kind: str | None, data: str) -> str:
    return say("mcp.too_large", kind=kind or "data", size=_size(data))


def _size(data: str) -> str:
    return f"{len(data) * 3 // 4 // _KILO} kB"


def _storable(text: str) -> str:
    """Return the text with lone surrogates and NUL escaped, because they can't be stored."""
    return text.encode(errors="backslashreplace").decode().replace("\0", r"\x00")
