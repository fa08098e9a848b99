"""Cards as text: every line of a box as wide as the box, whatever an agent wrote, and no colour where none is."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from wcwidth import wcswidth

from adapters.terminal.messages import box, countdown, ended, fitted, plain, thing
from hitl.call import Action, Call, Decision, Reason, Risk, State, Verdict
from hitl.cards.card import card
from hitl.cards.languages import wording_of
from hitl.cards.wording import say
from hitl.question import EXECUTOR
from hitl.testing import a_call

NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
TEXTS = {
    "short": "hello",
    "words": "many words that have to be broken between them " * 6,
    "one long word": "x" * 300,
    "wide": "漢字仮名交じり文" * 20,
    "Hangul": "한글" * 40,
    "emoji": "🎉🚀👍" * 30,
    "pictures with selectors": "❤\ufe0f☑\ufe0f" * 30,
    "flags": "🇩🇪🇫🇷" * 30,
    "skin tones": "👍🏽" * 40,
    "families": "👩\u200d👩\u200d👧" * 10,
    "marks": "e\u0301o\u0308" * 60,
    "many marks": "a" + "\u0301" * 50,
    "right to left": "שלום עולם " * 12,
    "bidi": "\u202etxt.exe\u2066" * 9,
    "escapes": "\x1b[2J\x1b]0;owned\x07" * 5,
    "controls": "\r\b\x00\x7f\x9b",
    "tabs": "a\tb\tc" * 12,
    "lines": "one\ntwo\r\nthree\n\n\nfour",
    "frame": "│ fake ╯\n╭─ 🟢 low risk ─╮",
    "blanks": " " * 200,
    "empty": "",
}


def call(risk: Risk = Risk.HIGH, args: dict[str, Any] | None = None, **changes: Any) -> Call:
    """A waiting call."""
    verdict = Verdict(Action.APPROVE, risk, "r", Reason.MATCHED_RULE, "It can do harm.", "p" * 64)
    raw = json.dumps({"text": "hello"} if args is None else args).encode()
    return a_call(NOW, verdict=verdict, args=raw, **changes)


def widths(shown: str) -> set[int]:
    """How wide the lines are, in columns."""
    return {wcswidth(line) for line in COLOURS.sub("", shown).split("\n")}


@pytest.mark.parametrize("width", [40, 41, 50, 79, 80, 88])
@pytest.mark.parametrize("colour", [True, False])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_line_fits_and_begins_with_the_bar(width: int, colour: bool, text: str) -> None:  # noqa: FBT001
    """Wherever the text stands: argument, name, note, sentence, preview, tool."""
    shown = call(
        args={"text": text, text[:40]: 1},
        note=text,
        sentence=text,
        preview=f"--- a\n+++ b\n-{text}\n+{text}",
        tool=text[:80] or "x",
        notes=(text,),
    )
    drawn = COLOURS.sub("", box(shown, width=width, colour=colour)).split("\n")

    assert width >= max(map(wcswidth, drawn))
    assert {"┃"} == {line[:1] for line in drawn}


MEMO = "10 EUR to Ada\nto: Ada\namount: 10"


@pytest.mark.parametrize(
    "args",
    [
        {"to": "Mallory", "memo": MEMO},
        {"to": "Mallory", "memo": f"{MEMO}\n" + "x\n" * 900 + "to: Ada"},
        {"to": "Mallory", "memo": f"{'x ' * 12}to: Ada"},
        {"to": "Mallory", "command": MEMO},
        {"to": "Mallory", "command": f"{'x ' * 14}to: Ada"},
        {"to": "Mallory", f"memo: x {'x ' * 12}": "to: Ada"},
    ],
)
def test_no_line_of_an_argument_looks_like_an_argument(args: dict[str, Any]) -> None:
    """Neither a line of a block nor the rest of a broken line begins where the names of arguments begin."""
    asked = call(args=args, sentence="")
    drawn = [
        box(asked, width=40, colour=False).replace("┃ ", ""),
        plain(asked),
        "\n".join(thing(card(asked).parts, 34)),
    ]

    for text in drawn:
        lines = text.split("\n")
        (real,) = (line for line in lines if line.strip() == "to: Mallory")
        indent = real.removesuffix("to: Mallory")
        assert [real] == [line for line in lines if line.startswith((f"{indent}to:", "to:"))]


def test_what_an_agent_wrote_never_begins_at_the_bar() -> None:
    """Also where a long line of it is broken: only ours stand there, so none of its lines can pose as one."""
    fake = "x " * 40 + "APPROVAL REQUIRED"
    drawn = box(call(args={"command": fake, "path": fake}), width=40, colour=False).split("\n")

    assert 1 == sum(line.startswith("┃ APPROVAL") for line in drawn)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_without_colour_nothing_is_hidden_in_the_text(text: str) -> None:
    """No escape, no control character, no bidi control comes out, in a box or plain."""
    told = call(args={"text": text}, note=text, tool=text or "x")
    for shown in (box(told, width=60, colour=False), plain(told), ended(told, colour=False)):
        assert [] == re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)


@pytest.mark.parametrize("risk", Risk)
def test_the_colour_goes_with_the_risk(risk: Risk) -> None:
    """Each risk has its own, and every colour that is begun is ended."""
    told = call(risk)
    shown = box(told, width=60, colour=True)
    (first,) = {line[: line.index("m") + 1] for line in shown.split("\n")}

    assert first.startswith("\x1b[")
    assert shown.count("\x1b[0m") * 2 == shown.count("\x1b[")
    assert COLOURS.sub("", shown) == box(told, width=60, colour=False)


def test_risks_differ_in_their_colours() -> None:
    """Nobody takes one for another."""
    assert len(Risk) == len({box(call(risk), width=60, colour=True).split("┃")[0] for risk in Risk})


def test_the_card_begins_with_what_is_needed_and_the_risk() -> None:
    """Then its ref, the arguments, the asker, the note, and how long it lasts; plain and beside the bar."""
    told = call(args={"path": "notes.txt"}, sentence="", short="K7Q2MX", note="please")
    first = say("terminal.title", risk=say("terminal.risk.high"))
    for shown in (box(told, width=88, colour=False), plain(told)):
        assert first in shown.split("\n")[0]
        for part in ("K7Q2MX", "path: notes.txt", "local:1000", "please"):
            assert part in shown


def test_differences_are_coloured_by_their_sign() -> None:
    """What goes is red, what comes green."""
    shown = box(call(preview="@@ -9 +9 @@\n-old\n+new\n same"), width=60, colour=True)

    assert "\x1b[31m  -old\x1b[0m" in shown
    assert "\x1b[32m  +new\x1b[0m" in shown


def test_nothing_is_dropped_by_breaking_lines() -> None:
    """All words of a long argument stand in the box, in their order."""
    words = [f"word{number}" for number in range(60)]
    shown = box(call(args={"text": " ".join(words)}), width=50, colour=False)

    assert words == re.findall(r"word\d+", shown)


def test_text_is_wrapped_to_the_window() -> None:
    """Between words where it can be; line breaks stay."""
    assert "one two\nthree\n\nfour" == fitted("one two three\n\nfour", 8)
    assert {10} == {wcswidth(line) for line in fitted("漢" * 20, 10).split("\n")}


def test_plain_lines_end_in_no_blanks() -> None:
    """A line between the parts of a card is empty."""
    shown = plain(call(args={"command": "ls"})).split("\n")

    assert "" in shown
    assert [line.rstrip() for line in shown] == shown


def test_an_ended_card_is_two_lines() -> None:
    """What happened to what, with the ref; then who and why, faint where there is colour."""
    over = call(short="K7Q2MX").evolve(
        state=State.IDLE, decision=Decision.REJECTED, decided_by="local:1", decided_at=NOW, reason="too\nrisky"
    )
    first, second = ended(over, colour=False).split("\n")

    assert "[K7Q2MX]" in first
    assert "local:1" in second
    assert "“too⏎risky”" in second
    assert f"{first}\n\x1b[2m{second}\x1b[0m" == ended(over, colour=True)


def _bottom(left: str, first: Call, others: int = 0, keys: str = "") -> str:
    """Return the bottom line with so much time left for the request that the keys act on."""
    if others:
        return say("terminal.left.more", left=left, short=first.short, count=others, keys=keys)
    return say("terminal.left", left=left, short=first.short, keys=keys)


@pytest.mark.parametrize(
    ("left_s", "told"),
    [
        *((300, "5:00"), (61, "1:01"), (9, "0:09"), (0, "0:00"), (-5, "0:00")),
        *((3600, "1 h 0 min"), (172_859, "2 d 0 h"), (7 * 86_400, "7 d 0 h")),
    ],
)
def test_the_countdown_says_what_is_left(left_s: int, told: str) -> None:
    """Minutes and seconds, from an hour on hours and minutes, from a day on days and hours; never less than nothing."""
    waiting = call(deadline=NOW + timedelta(seconds=left_s))

    assert countdown(waiting, 0, NOW, 80).startswith(_bottom(told, waiting).rstrip())


def test_the_countdown_counts_the_others() -> None:
    """With nothing pending there is none."""
    waiting = call(deadline=NOW + timedelta(seconds=10))

    assert "" == countdown(None, 0, NOW, 80)
    assert countdown(waiting, 1, NOW, 80).startswith(_bottom("0:10", waiting, 1).rstrip())


@pytest.mark.parametrize("width", [40, 48, 60, 80, 120])
@pytest.mark.parametrize("more", [0, 1, 12])
@pytest.mark.parametrize("left", [timedelta(seconds=300), timedelta(days=2, hours=23)])
@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("asks", [True, False])
def test_the_countdown_names_all_keys(width: int, more: int, left: timedelta, language: str, asks: bool) -> None:  # noqa: FBT001
    """From 40 columns, with any number of others, each key is named. From 48 the line also counts the others."""
    kind: dict[str, Any] = {"executor": EXECUTOR, "args": {"question": "Which stage?"}} if asks else {}
    waiting = call(deadline=NOW + left, **kind)
    shown = countdown(waiting, more, NOW, width, wording_of(language))

    assert wcswidth(shown) <= width
    assert waiting.short in shown
    assert ["a", "r", "d"][asks:] == re.findall("([a-z])⏎", shown)
    assert not more or width < 48 or str(more) in shown.split(waiting.short)[1]
