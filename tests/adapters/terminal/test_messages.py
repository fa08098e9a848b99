"""Cards as text: every line of a box as wide as the box, whatever an agent wrote, and no colour where none is."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from wcwidth import wcswidth

from adapters.terminal.messages import box, countdown, ended, plain, wrapped
from hitl.model import Action, Call, Decision, Reason, Risk, State, Verdict
from hitl.testing import a_call
from hitl.wording import say
from tests.sentences import says

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
def test_every_line_is_as_wide_as_the_box(width: int, colour: bool, text: str) -> None:  # noqa: FBT001
    """Wherever the text stands: argument, name, note, sentence, preview, tool."""
    shown = call(
        args={"text": text, text[:40]: 1},
        note=text,
        sentence=text,
        preview=f"--- a\n+++ b\n-{text}\n+{text}",
        tool=text[:80] or "x",
        notes=(text,),
    )

    assert {width} == widths(box(shown, width=width, colour=colour))


@pytest.mark.parametrize(("width", "lines"), [(1, 40), (39, 40), (89, 88), (500, 88)])
def test_a_box_is_neither_too_narrow_nor_too_wide_to_read(width: int, lines: int) -> None:
    """Forty to eighty-eight columns, whatever the window."""
    assert {lines} == widths(box(call(), width=width, colour=False))


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
    assert len(Risk) == len({box(call(risk), width=60, colour=True).split("╭")[0] for risk in Risk})


def test_the_card_says_what_who_and_how() -> None:
    """Risk, tool, ref, arguments, asker, digest, the end, and how to answer; plain and in the box."""
    told = call(args={"path": "notes.txt"}, short="K7Q2MX", note="please")
    for shown in (box(told, width=88, colour=False), plain(told)):
        for part in ("K7Q2MX", "path: notes.txt", "local:1000", "12:05:00 UTC", "please"):
            assert part in shown
        assert says(shown, "card.title", risk=Risk.HIGH, tool="write_file")
        assert says(shown, "card.how")


def test_differences_are_coloured_by_their_sign() -> None:
    """What goes is red, what comes green."""
    shown = box(call(preview="-old\n+new\n same"), width=60, colour=True)

    assert "\x1b[31m-old\x1b[0m" in shown
    assert "\x1b[32m+new\x1b[0m" in shown


def test_nothing_is_dropped_by_breaking_lines() -> None:
    """All words of a long argument stand in the box, in their order."""
    words = [f"word{number}" for number in range(60)]
    shown = box(call(args={"text": " ".join(words)}), width=50, colour=False)

    assert words == re.findall(r"word\d+", shown)


def test_text_is_wrapped_to_the_window() -> None:
    """Between words where it can be; line breaks stay."""
    assert "one two\nthree\n\nfour" == wrapped("one two three\n\nfour", 8)
    assert {10} == {wcswidth(line) for line in wrapped("漢" * 20, 10).split("\n")}


def test_plain_lines_end_in_no_blanks() -> None:
    """A line between the parts of a card is empty."""
    shown = plain(call()).split("\n")

    assert "" in shown
    assert [line.rstrip() for line in shown] == shown


def test_an_ended_card_is_one_line() -> None:
    """The ref, the tool and the outcome, faint where there is colour."""
    over = call(short="K7Q2MX").evolve(
        state=State.IDLE, decision=Decision.REJECTED, decided_by="local:1", reason="too\nrisky"
    )
    shown = ended(over, colour=False)

    assert shown.startswith("K7Q2MX write_file: ")
    assert f"\x1b[2m{shown}\x1b[0m" == ended(over, colour=True)


def _bottom(left: str, first: Call, others: int = 0, keys: str = "") -> str:
    """Return the bottom line with so much time left for the first of the waiting calls."""
    if others:
        return say("terminal.left.more", left=left, short=first.short, count=others, keys=keys)
    return say("terminal.left", left=left, short=first.short, keys=keys)


@pytest.mark.parametrize(("left_s", "told"), [(300, "5:00"), (61, "1:01"), (9, "0:09"), (0, "0:00"), (-5, "0:00")])
def test_the_countdown_says_what_is_left(left_s: int, told: str) -> None:
    """Minutes and seconds, never less than nothing."""
    waiting = call(deadline=NOW + timedelta(seconds=left_s))

    assert countdown([waiting], NOW, 80).startswith(_bottom(told, waiting).rstrip())


def test_the_countdown_is_of_the_one_that_ends_first() -> None:
    """And counts the others; with nothing waiting there is none."""
    first, second = call(deadline=NOW + timedelta(seconds=10)), call(deadline=NOW + timedelta(seconds=20))

    assert "" == countdown([], NOW, 80)
    assert countdown([second, first], NOW, 80).startswith(_bottom("0:10", first, 1).rstrip())


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("count", [1, 2])
def test_the_countdown_names_all_keys_or_none_by_its_word(width: int, count: int) -> None:
    """However narrow the window is, it doesn't show the yes and cut off the no."""
    waiting = call(deadline=NOW + timedelta(seconds=300))
    shown = countdown([waiting] * count, NOW, width)
    whole = (say("terminal.keys"), say("terminal.keys.short"), "")

    assert wcswidth(shown) <= width
    assert shown in {_bottom("5:00", waiting, count - 1, keys) for keys in whole}
