"""The rules of Block Kit, and what people see of blocks and markup."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.models.blocks import (
    ActionsBlock,
    ButtonElement,
    ContextBlock,
    DividerBlock,
    HeaderBlock,
    InputBlock,
    PlainTextInputElement,
    PlainTextObject,
    SectionBlock,
)
from slack_sdk.models.blocks.basic_components import ConfirmObject
from slack_sdk.models.views import View as LibraryView

from simulators.slack.blocks import block_problems, named, total, view_problems
from simulators.slack.marks import mrkdwn, plain
from simulators.slack.sight import shown

Json = dict[str, Any]


def text(words: str, kind: str = "plain_text") -> Json:
    """Return a text object."""
    return {"type": kind, "text": words}


def button(action_id: str = "a", **fields: Any) -> Json:
    """Return a button."""
    return {"type": "button", "text": text("Approve"), "action_id": action_id, **fields}


def rich(*elements: Json) -> Json:
    """Return a rich_text block."""
    return {"type": "rich_text", "elements": list(elements)}


def section(*inline: Json) -> Json:
    """Return a rich_text_section."""
    return {"type": "rich_text_section", "elements": list(inline)}


def form(**fields: Any) -> Json:
    """Return a modal with one field."""
    asked = {"type": "plain_text_input", "action_id": "t"}
    block = {"type": "input", "block_id": "b", "label": text("Why"), "element": asked}
    return {"type": "modal", "title": text("Form"), "submit": text("Send"), "blocks": [block], **fields}


def actions(*elements: Json) -> Json:
    """Return a block of buttons."""
    return {"type": "actions", "elements": list(elements)}


def literal(*inline: Json, **fields: Any) -> Json:
    """Return a rich_text block of preformatted text."""
    return rich({"type": "rich_text_preformatted", "elements": list(inline), **fields})


def longer(most: int) -> str:
    """Return what Slack says of a text with more characters than these."""
    return f"must be less than {most + 1} characters"


@pytest.mark.parametrize(
    ("block", "problem", "place"),
    [
        ({"type": "section", "text": text("x" * 3001)}, longer(3000), "/text/text"),
        ({"type": "section", "text": text("x" * 3001)}, "failed to match all allowed schemas", "/text"),
        ({"type": "section", "text": text("")}, "must be more than 0 characters", "/text/text"),
        ({"type": "section"}, "missing required field: text", ""),
        ({"type": "section", "text": "plain"}, "must provide an object", "/text"),
        ({"type": "section", "text": text("x", "html")}, "unsupported type: html", "/text/type"),
        ({"type": "section", "fields": [text("x")] * 11}, "no more than 10 items allowed", "/fields"),
        ({"type": "section", "fields": [text("x" * 2001)]}, longer(2000), "/fields/0/text"),
        ({"type": "header", "text": text("x" * 151)}, longer(150), "/text/text"),
        ({"type": "header", "text": text("x", "mrkdwn")}, "unsupported type: mrkdwn", "/text/type"),
        ({"type": "context", "elements": [text("x")] * 11}, "no more than 10 items allowed", "/elements"),
        ({"type": "divider", "block_id": "x" * 256}, longer(255), "/block_id"),
        ({"type": "hologram"}, "unsupported type: hologram", "/type"),
        ({}, "missing required field: type", ""),
        ("text", "must provide an object", ""),
        (actions(*(button(str(n)) for n in range(26))), "no more than 25 items allowed", "/elements"),
        (actions(), "no less than 1 items allowed", "/elements"),
        (actions(button(), button()), '`action_id` "a" already exists', "/elements/1/action_id"),
        (actions(button("x" * 256)), longer(255), "/elements/0/action_id"),
        (actions(button(value="x" * 2001)), longer(2000), "/elements/0/value"),
        (actions(button(text=text("x" * 76))), longer(75), "/elements/0/text/text"),
        (actions(button(text=text("x", "mrkdwn"))), "unsupported type: mrkdwn", "/elements/0/text/type"),
        (actions(button(style="loud")), "must be one of primary, danger", "/elements/0/style"),
        (actions(button(colour="red")), "invalid additional property: colour", "/elements/0"),
        (rich(section({"type": "text", "text": ""})), "must be more than 0 characters", "/elements/0/elements/0/text"),
        (rich(section({"type": "shout"})), "unsupported type: shout", "/elements/0/elements/0/type"),
        (literal({"type": "user", "user_id": "U1"}), "unsupported type: user", "/elements/0/elements/0/type"),
        (literal(border=2), "must be a number from 0 to 1", "/elements/0/border"),
        (
            rich(section({"type": "text", "text": "x", "style": {"bold": "yes"}})),
            "must be a valid boolean",
            "/elements/0/elements/0/style/bold",
        ),
    ],
)
def test_what_blocks_may_not_be(block: Any, problem: str, place: str) -> None:
    """Each broken rule is reported at its place."""
    assert f"{problem} [json-pointer:/blocks/0{place}]" in block_problems([block])


def test_blocks_as_a_whole() -> None:
    """At most fifty, ids once each."""
    divider = {"type": "divider"}

    assert [] == block_problems([divider] * 50)
    assert ["no more than 50 items allowed [json-pointer:/blocks]"] == block_problems([divider] * 51)
    assert ['`block_id` "x" already exists [json-pointer:/blocks/1/block_id]'] == block_problems(
        [{**divider, "block_id": "x"}] * 2
    )
    assert ["must provide an array [json-pointer:/blocks]"] == block_problems({"type": "divider"})


def test_the_same_action_in_two_blocks_is_fine() -> None:
    """Only within a block an action_id must be the only one."""
    assert [] == block_problems([{"type": "actions", "elements": [button()]}] * 2)


def test_a_long_text_is_counted_in_utf_16() -> None:
    """An emoji beyond the first plane is two."""
    assert [] == block_problems([{"type": "header", "text": text("\N{FIRE}" * 75)}])
    assert 1 == len(block_problems([{"type": "header", "text": text("\N{FIRE}" * 76)}]))


def test_what_the_library_makes_is_right() -> None:
    """The library's own blocks and views pass."""
    confirm = ConfirmObject(title="Sure?", text="Really", confirm="Yes", deny="No")
    blocks = [
        HeaderBlock(text="Head"),
        SectionBlock(text="*mrkdwn*", fields=["one"]),
        DividerBlock(),
        ContextBlock(elements=[PlainTextObject(text="small")]),
        ActionsBlock(elements=[ButtonElement(text="Go", action_id="go", value="1", style="danger", confirm=confirm)]),
        InputBlock(label="Why", element=PlainTextInputElement(action_id="t", multiline=True, max_length=3000)),
    ]
    view = LibraryView(type="modal", title="Form", submit="Send", close="No", blocks=blocks, private_metadata="x")

    assert [] == block_problems([one.to_dict() for one in blocks])
    assert [] == view_problems(view.to_dict())


@pytest.mark.parametrize(
    ("view", "problem", "place"),
    [
        (form(title=text("x" * 25)), longer(24), "/title/text"),
        (form(submit=text("x" * 25)), longer(24), "/submit/text"),
        (form(close=text("x" * 25)), longer(24), "/close/text"),
        (form(private_metadata="x" * 3001), longer(3000), "/private_metadata"),
        (form(callback_id="x" * 256), longer(255), "/callback_id"),
        (form(submit_disabled=True), "invalid additional property: submit_disabled", ""),
        (form(type="window"), "unsupported type: window", "/type"),
        (form(blocks=form()["blocks"] * 2), '`block_id` "b" already exists', "/blocks/1/block_id"),
        (form(blocks=[{"type": "divider"}] * 101), "no more than 100 items allowed", "/blocks"),
        (
            {name: one for name, one in form().items() if name != "submit"},
            "missing required field: submit",
            "",
        ),
        (None, "must provide an object", ""),
    ],
)
def test_what_views_may_not_be(view: Any, problem: str, place: str) -> None:
    """Each broken rule is reported at its place."""
    assert f"{problem} [json-pointer:/view{place}]" in view_problems(view)


def test_the_total_counts_every_text() -> None:
    """Types, ids and values count as well as words."""
    assert len("section" + "plain_text" + "words") == total([{"type": "section", "text": text("words")}])


def test_ids_are_made_up_where_none_are_given() -> None:
    """Blocks get a block_id, elements an action_id; what was given stays."""
    kept = named([{"type": "actions", "elements": [{"type": "button", "text": text("x")}, button("mine")]}], "p")

    assert "p0" == kept[0]["block_id"]
    assert ["p0/0", "mine"] == [one["action_id"] for one in kept[0]["elements"]]


@pytest.mark.parametrize(
    ("written", "seen", "marks"),
    [
        ("plain", "plain", []),
        ("*bold* _it_ ~no~ `x` ", "bold it no x ", ["bold", "code", "italic", "strike"]),
        ("2*3*4 snake_case_name a~b~c", "2*3*4 snake_case_name a~b~c", []),
        ("<@U1> <@U1|ann>", "@U1 @ann", ["user", "user"]),
        ("<!channel> <!here|here> <!everyone>", "@channel @here @everyone", ["broadcast"] * 3),
        ("<!subteam^S1|@ops>", "@ops", ["usergroup"]),
        ("<#C1|ops>", "#ops", ["channel"]),
        ("<https://a.example|Approve>", "Approve", ["link"]),
        ("see https://a.example/x", "see https://a.example/x", ["link"]),
        ("&lt;!channel&gt; &amp;amp; &lt;@U1&gt;", "<!channel> &amp; <@U1>", []),
        ("a < b > c <b>", "a < b > c <b>", []),
        ("`<@U1>`", "@U1", ["code", "user"]),
        ("```*not bold* <https://a.example>```", "*not bold* https://a.example", ["link", "pre"]),
        (":white_check_mark: 12:30:45 :nope:", "\N{WHITE HEAVY CHECK MARK} 12:30:45 :nope:", ["emoji"]),
        ("*<https://a.example|x>*", "x", ["bold", "link"]),
        ("&gt; quoted", "quoted", ["quote"]),
        ("<!date^1^{date}|then>", "then", ["date"]),
        ("\x000\x01 *b*", "\N{REPLACEMENT CHARACTER}0\N{REPLACEMENT CHARACTER} b", ["bold"]),
    ],
)
def test_mrkdwn(written: str, seen: str, marks: list[str]) -> None:
    """Markup is read as people see it, and what is alive is named."""
    found = mrkdwn(written)

    assert (seen, marks) == (found.text, sorted(one.kind for one in found.marks))


def test_plain_text_has_emoji_only() -> None:
    """No markup, no entities; codes of emoji unless they are off."""
    assert "*x* <!here> &lt; :x:" == plain("*x* <!here> &lt; :x:", emoji=False).text
    assert ["emoji"] == [one.kind for one in plain("*x* <!here> :x:").marks]


def test_rich_text_is_never_parsed() -> None:
    """Markup in a text element is characters; only elements are alive."""
    hostile = "`x` <https://evil.example|Approve> <!channel> :x: *b*"
    code = {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": hostile}]}
    line = section(
        {"type": "text", "text": hostile, "style": {"bold": True}},
        {"type": "user", "user_id": "U1"},
        {"type": "link", "url": "https://a.example", "text": "here"},
        {"type": "emoji", "name": "+1", "skin_tone": 3},
        {"type": "broadcast", "range": "here"},
    )
    items = {"type": "rich_text_list", "style": "bullet", "elements": [section({"type": "text", "text": "one"})]}
    looks = shown("", [rich(code, line, items)])
    thumb = "\N{THUMBS UP SIGN}\N{EMOJI MODIFIER FITZPATRICK TYPE-3}"

    assert f"{hostile}\n{hostile}@U1here{thumb}@here\n\N{BULLET} one" == looks.text
    assert ["pre", "bold", "user", "link", "emoji", "broadcast"] == [one.kind for one in looks.marks]


def test_blocks_are_seen_instead_of_the_text() -> None:
    """Header, section, context and form labels are the text; buttons stand apart."""
    blocks = named(
        [
            {"type": "header", "text": text("Head")},
            {"type": "section", "text": text("*b*", "mrkdwn"), "fields": [text("f")], "accessory": button("x")},
            {"type": "divider"},
            {"type": "context", "elements": [text("c"), {"type": "image", "alt_text": "i", "image_url": "u"}]},
            {"type": "actions", "elements": [button("y", visible_to_user_ids=["U1"])]},
            *form()["blocks"],
            {"type": "markdown", "text": "[go](https://a.example)"},
        ],
        "p",
    )
    looks = shown("fallback", blocks)

    assert "Head\nb\nf\nc i\nWhy\ngo" == looks.text
    assert (("Approve", "Approve"), ("x", "y")) == (looks.labels, tuple(one.action_id for one in looks.buttons))
    assert [True, False] == [looks.buttons[1].visible(one) for one in ("U1", "U2")]
    assert ("Why", "b", "t") == tuple(getattr(looks.fields[0], name) for name in ("label", "block_id", "action_id"))
    assert "fallback" == shown("fallback", []).text
