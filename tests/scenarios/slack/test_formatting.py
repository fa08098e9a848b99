"""Formatted words on Slack: what their author struck, quoted, linked or set as code is no yes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hitl.call import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hitl.call import Call
    from tests.scenarios.slack.surface import SlackStage


def rich(*elements: dict[str, Any], kind: str = "rich_text_section") -> list[dict[str, Any]]:
    """A rich text block with one part."""
    return [{"type": "rich_text", "block_id": "b", "elements": [{"type": kind, "elements": list(elements)}]}]


def styled(**style: bool) -> list[dict[str, Any]]:
    """A rich text block whose only words are "ok"."""
    return rich({"type": "text", "text": "ok", "style": style})


async def wrote(stage: SlackStage, call: Call, text: str, blocks: Sequence[dict[str, Any]]) -> Status:
    """What a call has come to when Ann wrote right below its card."""
    room = stage.surface
    await room.server.say(room.people["ann"], room.room, text, thread=room.root, raw=True, blocks=blocks)
    await room.settle()
    return await stage.status(call)


PLAIN = rich({"type": "text", "text": "ok"})
OK = {"type": "text", "text": "ok"}
MRKDWN = [
    "~ok~",
    "`ok`",
    "```ok```",
    "&gt; ok",
    "&gt;&gt;&gt; ok",
    "<https://a.test/x|ok>",
    "<mailto:a@b.test|ok>",
    "<!date^1700000000^{date}|ok>",
    "<#C0|ok>",
    "<@U0|ok>",
    "<!subteam^S0|ok> ok",
    "*~ok~*",
]


@pytest.mark.parametrize("text", MRKDWN)
async def test_formatted_mrkdwn_runs_nothing(stage: SlackStage, text: str) -> None:
    """The person is asked back, and the plain yes that follows counts."""
    call = await stage.ask()
    formatted = await wrote(stage, call, text, ())

    assert [Status.PENDING, Status.SUCCEEDED] == [formatted, await wrote(stage, call, f"ok {call.short}", ())]


RICH = {
    "struck": styled(strike=True),
    "struck and bold": styled(strike=True, bold=True),
    "code": styled(code=True),
    "a quotation": rich(OK, kind="rich_text_quote"),
    "a block of code": rich(OK, kind="rich_text_preformatted"),
    "a link": rich({"type": "link", "url": "https://a.test/x", "text": "ok"}),
    "a date": rich({"type": "date", "timestamp": 1700000000, "format": "{date}", "fallback": "ok"}),
    "a picture of their own": rich({"type": "emoji", "name": "ok"}),
    "said to another": rich({"type": "user", "user_id": "U0"}, OK),
}


@pytest.mark.parametrize("name", RICH)
async def test_formatted_rich_text_runs_nothing(stage: SlackStage, name: str) -> None:
    """Though the message's mrkdwn is a plain yes."""
    call = await stage.ask()
    formatted = await wrote(stage, call, "ok", RICH[name])

    assert [Status.PENDING, Status.SUCCEEDED] == [formatted, await wrote(stage, call, f"ok {call.short}", ())]


@pytest.mark.parametrize("blocks", [PLAIN, styled(bold=True), styled(italic=True), styled(underline=True), ()])
async def test_plain_and_emphasised_words_count(stage: SlackStage, blocks: Sequence[dict[str, Any]]) -> None:
    """Bold, italic and underlined words are the person's own."""
    call = await stage.ask()

    assert Status.SUCCEEDED == await wrote(stage, call, "*ok*", blocks)


async def test_a_struck_no_ends_nothing(stage: SlackStage) -> None:
    """The person took it back."""
    call = await stage.ask()

    assert Status.PENDING == await wrote(stage, call, "~no~", rich({**OK, "text": "no", "style": {"strike": True}}))


async def test_a_reason_is_kept_as_it_was_shown(stage: SlackStage) -> None:
    """Escapes are decoded once, and the label of a link stands in place of its address."""
    call = await stage.ask()
    await wrote(stage, call, "no because a &lt; b &amp;lt; c, see <https://a.test/x|the log>", ())
    stored = await stage.store.get(call.ref)

    assert stored is not None
    assert (Status.REJECTED, "a < b &lt; c, see the log") == (stored.status, stored.reason)
