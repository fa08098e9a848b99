"""What an agent may fill a call with: texts that break out of markup, hide, count double or are long."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import strategies as st

from hitl.call import Call
from hitl.proof.canonical import canonical
from hitl.testing import a_call

NOON = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
LETTERS = st.sampled_from("<>&\"'@#!|`*_~:/ \n\tab😀𝔘é\u202e\u200b\u0301\x1b") | st.characters(
    exclude_categories=["Cs"]
)
#: What a platform makes links, mentions and the like of.
LIVELY = st.sampled_from(
    [
        "https://evil.example/x?y=1",
        "tg://resolve?domain=x",
        "README.md",
        "t.me/joinchat/x",
        "10.0.0.1:80/x",
        "@everybody_here",
        "boss@corp.example",
        "/approve_all",
        "(/start@other_bot)",
        "#urgent",
        "$USD",
        "4111 1111 1111 1111",
        "bücher.de",
    ]
)
NASTY = st.text(LETTERS, max_size=60) | st.lists(LIVELY | st.text(LETTERS, max_size=5), max_size=6).map(" ".join)
LONG = st.builds(lambda text, times: text * times, NASTY, st.integers(1, 300))


def parked(**changes: object) -> Call:
    """A call that waits."""
    return a_call(NOON, **changes)


@st.composite
def calls(draw: st.DrawFn) -> Call:
    """Waiting calls that an agent filled with whatever it likes."""
    return parked(
        args=canonical(draw(st.dictionaries(st.text(LETTERS, min_size=1, max_size=80), NASTY | LONG, max_size=14))),
        tool=draw(NASTY),
        sentence=draw(LONG),
        preview=draw(LONG),
        note=draw(st.none() | LONG),
        notes=tuple(draw(st.lists(LONG, max_size=40))),
        requester=draw(NASTY),
        agent=draw(NASTY),
    )
