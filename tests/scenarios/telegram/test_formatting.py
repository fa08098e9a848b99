"""Formatted words on Telegram: what their author struck, hid, quoted, linked or set as code is no yes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hitl.call import Status, Verb
from hitl.cards.wording import say
from hitl.outcomes import Told
from tests.sentences import says

if TYPE_CHECKING:
    from hitl.call import Call
    from tests.scenarios.telegram.surface import TelegramStage

HIDDEN = [
    "<s>{}</s>",
    "<tg-spoiler>{}</tg-spoiler>",
    "<code>{}</code>",
    "<pre>{}</pre>",
    "<blockquote>{}</blockquote>",
    "<blockquote expandable>{}</blockquote>",
    '<a href="https://a.test/x">{}</a>',
    '<a href="tg://user?id={bob}">{}</a>',
    "<b><s>{}</s></b>",
]


async def replied(stage: TelegramStage, call: Call, html: str) -> Status:
    """What a call has come to when Ann replied to its card."""
    group = stage.surface
    text = html.replace("{bob}", str(group.people["bob"].id))
    await group.server.say(group.people["ann"], group.room, text, reply_to=group.message(call), html=True)
    await group.settle()
    return await stage.status(call)


@pytest.mark.parametrize("html", HIDDEN)
async def test_formatted_words_run_nothing(stage: TelegramStage, html: str) -> None:
    """The person is asked back, and the plain yes that follows counts."""
    call = await stage.ask()
    formatted = await replied(stage, call, html.replace("{}", "ok"))
    told = stage.last("ann")

    assert [Status.PENDING, Status.SUCCEEDED] == [formatted, await replied(stage, call, "ok")]
    assert says(told, Told.UNCLEAR, short=call.short)


@pytest.mark.parametrize("before", ["\N{PARTY POPPER} ", "\N{THUMBS UP SIGN}\N{EMOJI MODIFIER FITZPATRICK TYPE-4} "])
async def test_formatting_behind_an_emoji_covers_its_words(stage: TelegramStage, before: str) -> None:
    """Telegram counts such an emoji as two units or more."""
    call = await stage.ask()

    assert Status.PENDING == await replied(stage, call, f"{before}<s>yes</s>")


@pytest.mark.parametrize("html", ["<b>ok</b>", "<i>yes</i>", "<u>go ahead</u>", "<b><i>yes</i></b>, please"])
async def test_emphasis_changes_nothing(stage: TelegramStage, html: str) -> None:
    """Bold, italic and underlined words are the person's own."""
    call = await stage.ask()

    assert Status.SUCCEEDED == await replied(stage, call, html)


async def test_a_struck_no_ends_nothing(stage: TelegramStage) -> None:
    """The person took it back."""
    call = await stage.ask()

    assert Status.PENDING == await replied(stage, call, "<s>no</s>")


@pytest.mark.parametrize("text", ["/approved", "/yesx", "/ok", "/ok!", "/run yes"])
async def test_a_command_that_is_not_ours_runs_nothing(stage: TelegramStage, text: str) -> None:
    """Nor does one of ours with letters added to it."""
    call = await stage.ask()

    assert Status.PENDING == await replied(stage, call, text)


@pytest.mark.parametrize("html", ["<s>the disk is full</s>", "<blockquote>the disk is full</blockquote>"])
async def test_a_reason_that_was_taken_back_completes_no_yes(stage: TelegramStage, html: str) -> None:
    """A pressed yes that needs a reason waits for one in plain words."""
    stage.rules.set("delete_file", require_reason=True)
    call = await stage.ask()
    await stage.surface.press("ann", call, Verb.APPROVE)
    group = stage.surface
    question = await group.server.wait_message(group.room, say("answer.why_approved", short=call.short))
    await group.server.say(group.people["ann"], group.room, html, reply_to=question, html=True)
    await group.settle()

    assert Status.PENDING == await stage.status(call)
