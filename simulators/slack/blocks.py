"""The rules of Block Kit: which blocks and elements there are, what they hold, and how much.

Limits are those of the reference of blocks, elements, composition objects and views. The total of
13,200 characters over a message's blocks is in no reference: it is what applications report
(`msg_blocks_too_long`). We count every text value in the blocks, which agrees with the reports.
Blocks for media and agents' progress (video, file, table, card, plan and the like) are refused here as
unsupported: no approval needs them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from simulators.slack.errors import Json
from simulators.slack.rules import Check, array, flag, number, one_of, record, say, schema, string, typed, units

MAX_TOTAL: Final = 13_200
MAX_MESSAGE_BLOCKS: Final = 50
MAX_VIEW_BLOCKS: Final = 100
MAX_VIEW_BYTES: Final = 250_000
ANY: Final = 100_000


def plain_text(most: int) -> Check:
    """Return the check of a plain_text object."""
    return typed({"plain_text": record({"text": string(most)}, {"emoji": flag})})


def any_text(most: int, least: int = 1) -> Check:
    """Return the check of a text object of either type."""
    rules = {
        "plain_text": record({"text": string(most, least)}, {"emoji": flag}),
        "mrkdwn": record({"text": string(most, least)}, {"verbatim": flag}),
    }
    return schema(typed(rules))


def _option(value_limit: int) -> Check:
    extras = {"description": any_text(75), "url": string(3000)}
    return record({"text": any_text(75), "value": string(value_limit)}, extras)


_CONFIRM: Final = record(
    {"title": plain_text(100), "text": any_text(300), "confirm": plain_text(30), "deny": plain_text(30)},
    {"style": one_of("primary", "danger")},
)
_ID: Final = string(255)
_DISPATCH: Final = record({}, {"trigger_actions_on": array(one_of("on_enter_pressed", "on_character_entered"), 2)})
_COMMON: Final = {"action_id": _ID, "confirm": _CONFIRM}
_FOCUS: Final = {"focus_on_load": flag}
_ASKED: Final = {**_COMMON, **_FOCUS, "placeholder": plain_text(150)}

_BUTTON: Final = record(
    {"text": plain_text(75)},
    {
        **_COMMON,
        "value": string(2000),
        "url": string(3000),
        "style": one_of("primary", "danger"),
        "accessibility_label": string(75),
        "visible_to_user_ids": array(string(255), 1000),
    },
)
_IMAGE: Final = record({"alt_text": string(2000)}, {"image_url": string(3000)})
_OPTIONS: Final = array(_option(75), 100)
_FEW_OPTIONS: Final = array(_option(150), 10)

ELEMENTS: Final[dict[str, Check]] = {
    "button": _BUTTON,
    "overflow": record({"options": array(_option(75), 5)}, _COMMON),
    "static_select": record({"options": _OPTIONS}, {**_ASKED, "initial_option": _option(75)}),
    "users_select": record({}, {**_ASKED, "initial_user": string(255)}),
    "multi_users_select": record(
        {}, {**_ASKED, "initial_users": array(string(255), 100, 0), "max_selected_items": number(1, 100)}
    ),
    "radio_buttons": record({"options": _FEW_OPTIONS}, {**_COMMON, **_FOCUS, "initial_option": _option(150)}),
    "checkboxes": record({"options": _FEW_OPTIONS}, {**_COMMON, **_FOCUS, "initial_options": array(_option(150), 10)}),
    "datepicker": record({}, {**_ASKED, "initial_date": string(10)}),
    "plain_text_input": record(
        {},
        {
            **_ASKED,
            "initial_value": string(3000, 0),
            "multiline": flag,
            "min_length": number(0, 3000),
            "max_length": number(1, 3000),
            "dispatch_action_config": _DISPATCH,
        },
    ),
}
INPUTS: Final = {name: rule for name, rule in ELEMENTS.items() if name not in {"button", "overflow"}}
ACTIONS: Final = {name: rule for name, rule in ELEMENTS.items() if name != "plain_text_input"}

_STYLE: Final = record({}, dict.fromkeys(("bold", "italic", "strike", "code", "underline"), flag))
_INLINE: Final[dict[str, Check]] = {
    "text": record({"text": string(ANY)}, {"style": _STYLE}),
    "link": record({"url": string(3000)}, {"text": string(ANY), "style": _STYLE, "unsafe": flag}),
    "user": record({"user_id": _ID}, {"style": _STYLE}),
    "usergroup": record({"usergroup_id": _ID}, {"style": _STYLE}),
    "channel": record({"channel_id": _ID}, {"style": _STYLE}),
    "emoji": record({"name": string(255)}, {"unicode": string(255), "skin_tone": number(2, 6), "style": _STYLE}),
    "broadcast": record({"range": one_of("here", "channel", "everyone")}, {"style": _STYLE}),
    "date": record(
        {"timestamp": number(0, 2**53), "format": string(1000)},
        {"url": string(3000), "fallback": string(1000), "style": _STYLE},
    ),
    "color": record({"value": string(7)}, {"style": _STYLE}),
}
_SECTION_OF_TEXT: Final = record({"elements": array(typed(_INLINE), ANY, 0)})
_LITERAL: Final = array(typed({"text": _INLINE["text"], "link": _INLINE["link"]}), ANY, 0)
_BORDER: Final = {"border": number(0, 1)}
_RICH: Final[dict[str, Check]] = {
    "rich_text_section": _SECTION_OF_TEXT,
    "rich_text_preformatted": record({"elements": _LITERAL}, {**_BORDER, "language": string(50)}),
    "rich_text_quote": record({"elements": array(typed(_INLINE), ANY, 0)}, _BORDER),
    "rich_text_list": record(
        {
            "style": one_of("bullet", "ordered"),
            "elements": array(typed({"rich_text_section": _SECTION_OF_TEXT}), ANY),
        },
        {**_BORDER, "indent": number(0, 8), "offset": number(0, ANY)},
    ),
}

_NAMED: Final = {"block_id": _ID}
BLOCKS: Final[dict[str, Check]] = {
    "divider": record({}, _NAMED),
    "header": record({"text": plain_text(150)}, {**_NAMED, "level": number(1, 4)}),
    "section": record(
        {},
        {
            **_NAMED,
            "text": any_text(3000),
            "fields": array(any_text(2000), 10),
            "accessory": typed({**ACTIONS, "image": _IMAGE}),
            "expand": flag,
        },
    ),
    "context": record(
        {
            "elements": array(
                typed(
                    {
                        "image": _IMAGE,
                        "mrkdwn": record({"text": string(3000)}, {"verbatim": flag}),
                        "plain_text": record({"text": string(3000)}, {"emoji": flag}),
                    }
                ),
                10,
            )
        },
        _NAMED,
    ),
    "actions": record({"elements": array(typed(ACTIONS), 25)}, _NAMED),
    "input": record(
        {"label": plain_text(2000), "element": typed(INPUTS)},
        {**_NAMED, "hint": plain_text(2000), "optional": flag, "dispatch_action": flag},
    ),
    "image": record({"alt_text": string(2000), "image_url": string(3000)}, {**_NAMED, "title": plain_text(2000)}),
    "markdown": record({"text": string(12_000)}, _NAMED),
    "rich_text": record({"elements": array(typed(_RICH), ANY)}, _NAMED),
}
_BLOCK: Final = typed(BLOCKS)

_VIEW_TEXTS: Final = {
    "private_metadata": string(3000, 0),
    "callback_id": string(255, 0),
    "external_id": string(255, 0),
}
VIEWS: Final[dict[str, Check]] = {
    "modal": record(
        {"title": plain_text(24), "blocks": array(_BLOCK, MAX_VIEW_BLOCKS, 0)},
        {
            **_VIEW_TEXTS,
            "submit": plain_text(24),
            "close": plain_text(24),
            "clear_on_close": flag,
            "notify_on_close": flag,
        },
    ),
    "home": record({"blocks": array(_BLOCK, MAX_VIEW_BLOCKS, 0)}, _VIEW_TEXTS),
}
_VIEW: Final = schema(typed(VIEWS))


def block_problems(blocks: Any) -> list[str]:
    """Return what is wrong with a message's blocks."""
    problems: list[str] = []
    array(_BLOCK, MAX_MESSAGE_BLOCKS, 0)(blocks, "/blocks", problems)
    return problems or _odd(blocks, "/blocks")


def view_problems(view: Any) -> list[str]:
    """Return what is wrong with a view."""
    problems: list[str] = []
    _VIEW(view, "/view", problems)
    if problems:
        return problems
    if any(one["type"] == "input" for one in view["blocks"]) and view["type"] == "modal" and "submit" not in view:
        say(problems, "missing required field: submit", "/view")
    return problems + _odd(view["blocks"], "/view/blocks")


def _odd(blocks: list[Json], pointer: str) -> list[str]:
    """Return what no single field shows: empty sections, ids given twice."""
    problems: list[str] = []
    for index, block in enumerate(blocks):
        if block["type"] == "section" and not {"text", "fields"} & block.keys():
            say(problems, "missing required field: text", f"{pointer}/{index}")
    _unique(problems, "block_id", ((one, f"{pointer}/{index}") for index, one in enumerate(blocks)))
    for index, block in enumerate(blocks):
        elements = enumerate(block.get("elements", ()))
        _unique(problems, "action_id", ((one, f"{pointer}/{index}/elements/{at}") for at, one in elements))
    return problems


def _unique(problems: list[str], name: str, found: Iterable[tuple[Json, str]]) -> None:
    known: set[str] = set()
    for one, pointer in found:
        given = one.get(name)
        if given in known:
            say(problems, f'`{name}` "{given}" already exists', f"{pointer}/{name}")
        if given:
            known.add(given)


def total(blocks: list[Json]) -> int:
    """Return how many characters the blocks hold in all."""
    return sum(units(text) for text in _texts(blocks))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def view_bytes(view: Json) -> int:
    """Return how long a view is on the wire."""
    return len(json.dumps(view).encode())


def named(blocks: Iterable[Json], prefix: str) -> tuple[Json, ...]:
    """Return the blocks as Slack keeps them: each with a block_id, each element that acts with an action_id."""
    return tuple(_named(one, f"{prefix}{index}") for index, one in enumerate(blocks))


def _named(block: Json, made_up: str) -> Json:
    kept = {**block, "block_id": block.get("block_id") or made_up}
    if block["type"] == "actions":
        kept["elements"] = [_acting(one, f"{made_up}/{at}") for at, one in enumerate(block["elements"])]
    for name in ("accessory", "element"):
        if name in kept and kept[name]["type"] != "image":
            kept[name] = _acting(kept[name], made_up)
    return kept


def _acting(element: Json, made_up: str) -> Json:
    return {**element, "action_id": element.get("action_id") or made_up}
