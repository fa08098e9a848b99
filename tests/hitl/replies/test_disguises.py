"""Markup, quotations, signatures and tricks with characters."""

import pytest

from hitl.replies import Verdict, read, verdict


@pytest.mark.parametrize(
    "text",
    [
        "*yes*", "_yes_", "**Yes, please**", "<@U024BE7LH> yes", "@sayso yes", "yes @sayso", "/approve@sayso_bot",
        "ＹＥＳ", "Y\u00adES", "ye\u200bs", "that’s fine", "that`s fine", "yes\n\n> do you want that?",
        "Yes please\n\n-- \nAnna", "Go ahead.\n\nSent from my iPhone", "yes\n\nOn Monday, Bob wrote:\n> shall I?",
    ],
)  # fmt: skip
def test_dress_does_not_matter(text: str) -> None:
    """Emphasis, mentions, full-width and invisible characters, quotations of others below, signatures."""
    assert Verdict.APPROVE is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "> yes", "&gt; yes", "Bob said yes", 'he wrote "yes"', "~yes~", "~~yes~~", "y\u0336e\u0336s\u0336", "`yes`",
        "```\nyes\n```", "\u202eyes", "\u2066yes\u2069", "уes", "yеs", "<del>yes</del>", "||yes||",
        "https://yes.example/ok", "yes@example.org", "yes\n-- \nnot really", "y\ne\ns", "", " ", "\n",
    ],
)  # fmt: skip
def test_what_may_be_another_s_or_hidden_decides_nothing(text: str) -> None:
    """Quotations, reports, struck-out and hidden text, code, links, letters of another script, empty messages."""
    assert Verdict.UNCLEAR is verdict(read(text)).verdict
