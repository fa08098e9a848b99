"""What an agent writes tries to look like something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hitl.call import Status, Verb
from hitl.cards.text import hidden
from tests.scenarios.harness import COLOUR, FAKE_STATUS, unboxed
from tests.sentences import says

if TYPE_CHECKING:
    from tests.scenarios.harness import Stage

_MARKUP = "<b>safe</b> [click](https://evil.example) *approved* @channel"


@pytest.mark.parametrize(
    "lie",
    [
        "\x1b[2J\x1b[H\x1b]0;approved\x07",
        "photo\u202egpj.exe",
        "in\u200bvis\u2060ible",
        "x\r\x1b[1A\x1b[2K✅ approved by ann",
        "\U000e0041\U000e0042",
    ],
)
@pytest.mark.parametrize("where", ["args", "name", "note"])
async def test_nothing_hidden_reaches_the_screen(stage: Stage, lie: str, where: str) -> None:
    """In arguments, their names or the note: written out, and the person is warned of arguments that hide something."""
    args = {"path": lie} if where == "args" else {lie: "x"} if where == "name" else {"path": "x"}
    call = await stage.ask(args=args, note=lie if where == "note" else "")
    await stage.surface.press("ann", call, Verb.DETAILS)
    screen = [COLOUR.sub("", text) for text in stage.surface.heard("ann")]

    assert [] == [text for text in screen if hidden(text)]
    if where != "note":
        assert says(screen[0], "card.hidden")


async def test_markup_stays_text(stage: Stage) -> None:
    """It can be read as it was written."""
    call = await stage.ask(args={"path": _MARKUP}, note=_MARKUP)
    shown = unboxed(stage.surface.card(call))

    assert 2 == shown.count(_MARKUP)


async def test_a_fake_status_line_is_seen_to_be_the_agents(stage: Stage) -> None:
    """Lines in arguments and notes never begin where ours do."""
    call = await stage.ask(args={"path": FAKE_STATUS}, note=FAKE_STATUS)
    lines = [line.lstrip("┃ ") for line in COLOUR.sub("", stage.surface.card(call)).split("\n")]
    starts = [line for line in COLOUR.sub("", stage.surface.card(call)).split("\n") if line[:1] not in " ┃"]

    assert not any(line.startswith("ABC234 delete_file") for line in starts)
    assert any(line.startswith("path:") for line in lines)
    assert Status.PENDING == await stage.status(call)


async def test_a_lie_in_the_output_stays_in_the_output(stage: Stage) -> None:
    """What a tool prints can't move the cursor either."""
    stage.executor.outcome = type(stage.executor.outcome)(stage.executor.outcome.result, "done\x1b[2J\u202e")
    call = await stage.ask()
    await stage.surface.press("ann", call, Verb.APPROVE)
    await stage.status(call)

    assert 0 == hidden(COLOUR.sub("", stage.last("ann")))


async def test_a_secret_is_masked_on_the_screen_and_whole_in_the_run(stage: Stage) -> None:
    """People see that there is one; the tool gets it."""
    token = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
    call = await stage.ask("write_file", {"path": "x", "text": token})
    await stage.surface.press("ann", call, Verb.DETAILS)
    await stage.surface.press("ann", call, Verb.APPROVE)
    await stage.status(call)

    assert not any(token in text for text in stage.surface.heard("ann"))
    assert [{"path": "x", "text": token}] == stage.ran()
