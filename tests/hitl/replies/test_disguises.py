"""Markup, quotations, signatures and tricks with characters."""

import pytest

from hitl.replies import Meaning, read, verdict


@pytest.mark.parametrize(
    "text",
    [
        "*yes*",
        "_yes_",
        "**Yes, please**",
        "@sayso yes",
        "@sayso: yes",
        "sayso: yes",
        "yes: thanks",
        "yes @sayso",
        "/approve@sayso",
        "ＹＥＳ",
        "Y\u00adES",
        "ye\u200bs",
        "that’s fine",
        "that`s fine",
        "yes\n\n> do you want that?",
        "Yes please\n\n-- \nAnna",
        "Go ahead.\n\nSent from my iPhone",
        "yes\n\nOn Monday, Bob wrote:\n> shall I?",
    ],
)
def test_dress_does_not_matter(text: str) -> None:
    """Emphasis, our own mention, full-width and invisible characters, quotations of others below, signatures."""
    assert Meaning.APPROVE is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "> yes",
        "&gt; yes",
        "Bob said yes",
        'he wrote "yes"',
        "~yes~",
        "~~yes~~",
        "y\u0336e\u0336s\u0336",
        "`yes`",
        "```\nyes\n```",
        "\u202eyes",
        "\u2066yes\u2069",
        "уes",
        "yеs",
        "<del>yes</del>",
        "||yes||",
        "https://yes.example/ok",
        "yes@example.org",
        "yes\n-- \nnot really",
        "y\ne\ns",
        "",
        " ",
        "\n",
        "<@U024BE7LH> yes",
        "@ada go ahead",
        "yes\n> are you there?",
        "ok\n\n> shall I?\n\nsure",
        "> run it?\nyes\n> and then?\nyes",
        "!yes",
        ".approve",
        "/approve@release_helper",
        "@deploybot yes",
        "@sayso_staging yes",
        "bot: yes",
        "assistant: go ahead",
        "my friend: yes",
        "( ) yes",
        "[_] go ahead",
        "[-] yes",
        "// yes",
        "/* go ahead */",
        "-- yes",
        "-y",
        "-yes",
        "; yes",
    ],
)
def test_what_may_be_another_s_or_hidden_decides_nothing(text: str) -> None:
    """Quotations, reports, struck-out and hidden text, code, links, letters of another script, empty messages.

    Commands and mentions of other bots, lines of a transcript, comments in code, options and boxes that nobody ticked.
    """
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "Approved.\n\nBest regards,\nAda Byron",
        "Yes.\nThanks,\nAda",
        "Go ahead.\n\nKind regards\n\nAda Byron\nHead of Data",
        "Ja, bitte.\n\nViele Grüße\nJana",
        "Oui.\n\nCordialement,\nZoé",
        "Vale.\nUn saludo,\nInés",
        "Да.\n\nС уважением,\nОльга",
        "Approved. Best regards, Ada",
        "Yes, go ahead. Sent from my iPhone",
        "Approved.\n\nBest,\nKim",
        "Yes.\nCheers,\nJo Berg",
        "Yes,\n\nThanks,\nAda",
        "ok\n\nGet Outlook for iOS",
    ],
)
def test_a_letters_end_is_no_part_of_an_approval(text: str) -> None:
    """The formula that ends a letter, the name behind it and a device's line are set aside."""
    assert Meaning.APPROVE is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "No, too early.\n\nBest regards,\nAda",
        "No, too early.\n\nSent from my iPhone",
        "No, too early. Kind regards, Ada",
        "No: too early.\nCheers,\nAda\nHead of Data",
    ],
)
def test_a_letters_end_is_no_part_of_a_reason(text: str) -> None:
    """The reason ends before the formula that ends a letter."""
    assert "too early." == verdict(read(text)).reason


@pytest.mark.parametrize(
    "text",
    [
        "Yes.\nRegards,\nNot today",
        "ok\nThanks,\nbut wait",
        "Yes\nBest,\nonly for staging",
        "Yes.\n\nBest,\nNein",
        "Ja.\n\nViele Grüße\nMorgen",
        "Tamam.\n\nSaygılarımla\nKim",
    ],
)
def test_words_behind_a_letters_end_may_doubt_the_yes(text: str) -> None:
    """A word of doubt where the name should be counts in the message's own language, and a no in any language."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "/ok",
        "/yes",
        "/approved",
        "/approvex",
        "/approve_it",
        "/да",
        "approve()",
        "run(yes)",
        "yes();",
        "--yes",
        "--approve",
        "[ ] yes",
        "- [ ] approve",
        "☐ ok",
        "* [] go ahead",
        ":+1",
        "+1:",
        ":ok",
        ":white_check_mark",
        "no -> yes",
        "yes → no",
    ],
)
def test_what_is_no_reply_decides_nothing(text: str) -> None:
    """Commands of others, code, boxes that nobody ticked, half a short code, and arrows between answers."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "yes,",
        "approve,\n",
        "yes, approve:",
        "ok:",
        "go ahead -",
        "sure \u2014",
        "oui :",
        "ja,",
        "да;",
        "はい、",
        "好，",
        "نعم،",
        "áno,",
    ],
)
def test_a_yes_that_announces_more_words_is_unfinished(text: str) -> None:
    """The missing words may be a condition, so a yes with a comma, colon, semicolon or dash behind it is unclear."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["yes.", "yes!", "- yes", "*yes*", "ok :)", ":+1:", "yes...", "sí, claro ,", "(yes)"])
def test_other_signs_behind_a_yes_leave_it_whole(text: str) -> None:
    """Full stops, emphasis and emoji announce nothing; a comma apart from its word stands in transcripts of speech."""
    assert Meaning.APPROVE is verdict(read(text)).verdict


@pytest.mark.parametrize("text", ["no,", "nein:", "no -"])
def test_an_unfinished_no_rejects(text: str) -> None:
    """A no needs no more words: nothing runs without a yes."""
    assert Meaning.REJECT is verdict(read(text)).verdict
