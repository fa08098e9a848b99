"""What people see of blocks: one text, what is alive in it, the buttons and the fields.

rich_text and plain_text never parse markup; mrkdwn does. Buttons' words are not part of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from simulators.slack.errors import Json
from simulators.slack.marks import Mark, Seen, emoji_of, joined, markdown, mrkdwn, plain

STYLES: Final = ("bold", "italic", "strike", "code", "underline")


@dataclass(frozen=True, slots=True)
class Button:
    """A button as people see it, with what a press sends."""

    label: str
    action_id: str
    block_id: str
    value: str | None = None
    style: str = ""
    url: str = ""
    confirm: Json | None = None
    visible_to: tuple[str, ...] = ()

    def visible(self, user_id: str) -> bool:
        """Whether a person is shown the button."""
        return not self.visible_to or user_id in self.visible_to


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form: its label, what kind of element it is, and what stands in it at first."""

    label: str
    block_id: str
    action_id: str
    kind: str
    initial: str = ""
    optional: bool = False
    min_length: int = 0
    max_length: int = 3000


@dataclass(frozen=True, slots=True)
class Shown:
    """A message or view as people see it."""

    text: str
    marks: tuple[Mark, ...]
    buttons: tuple[Button, ...] = ()
    fields: tuple[Field, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the words on the buttons in reading order."""
        return tuple(one.label for one in self.buttons)

    def of(self, *kinds: str) -> tuple[Mark, ...]:
        """Return what is alive, of these kinds."""
        return Seen(self.text, self.marks).of(*kinds)


def shown(text: str, blocks: Iterable[Json]) -> Shown:
    """Return what people see of a message: its blocks, or its text where it has none."""
    found = list(blocks)
    seen = joined((_block(one) for one in found if one["type"] in _BLOCKS), "\n") if found else mrkdwn(text)
    return Shown(seen.text, seen.marks, tuple(_buttons(found)), tuple(_fields(found)))


def _block(block: Json) -> Seen:
    return _BLOCKS[block["type"]](block)


def _text(value: Json | None) -> Seen:
    if not value:
        return Seen()
    if value["type"] == "mrkdwn":
        return mrkdwn(value["text"], verbatim=bool(value.get("verbatim")))
    return plain(value["text"], emoji=value.get("emoji", True))


def _section(block: Json) -> Seen:
    texts = [block["text"]] if "text" in block else []
    return joined((_text(one) for one in [*texts, *block.get("fields", ())]), "\n")


def _context(block: Json) -> Seen:
    return joined((Seen(one["alt_text"]) if one["type"] == "image" else _text(one) for one in block["elements"]), " ")


def _input(block: Json) -> Seen:
    return joined((_text(one) for one in (block["label"], block.get("hint")) if one), "\n")


def _rich_text(block: Json) -> Seen:
    return joined((_RICH[one["type"]](one) for one in block["elements"]), "\n")


def _line(element: Json) -> Seen:
    return joined(_INLINE[one["type"]](one) for one in element["elements"])


def _framed(kind: str) -> Callable[[Json], Seen]:
    def read(element: Json) -> Seen:
        inside = _line(element)
        return Seen(inside.text, (*inside.marks, Mark(kind, inside.text)))

    return read


def _list(element: Json) -> Seen:
    lines = (_line(one) for one in element["elements"])
    return joined((Seen(f"\N{BULLET} {one.text}", one.marks) for one in lines), "\n")


def _inline(kind: str, text: Callable[[Json], str], target: Callable[[Json], Any]) -> Callable[[Json], Seen]:
    def read(element: Json) -> Seen:
        words = text(element)
        styles = [Mark(name, words) for name in STYLES if element.get("style", {}).get(name)]
        alive = [Mark(kind, words, str(target(element)))] if kind else []
        return Seen(words, (*alive, *styles))

    return read


def _emoji_name(element: Json) -> str:
    tone = element.get("skin_tone")
    return f"{element['name']}::skin-tone-{tone}" if tone else str(element["name"])


_INLINE: Final[dict[str, Callable[[Json], Seen]]] = {
    "text": _inline("", lambda one: str(one["text"]), str),
    "link": _inline("link", lambda one: str(one.get("text") or one["url"]), lambda one: one["url"]),
    "user": _inline("user", lambda one: f"@{one['user_id']}", lambda one: one["user_id"]),
    "usergroup": _inline("usergroup", lambda one: f"@{one['usergroup_id']}", lambda one: one["usergroup_id"]),
    "channel": _inline("channel", lambda one: f"#{one['channel_id']}", lambda one: one["channel_id"]),
    "broadcast": _inline("broadcast", lambda one: f"@{one['range']}", lambda one: one["range"]),
    "emoji": _inline("emoji", lambda one: emoji_of(_emoji_name(one)), _emoji_name),
    "date": _inline("date", lambda one: str(one.get("fallback", one["timestamp"])), lambda one: one["timestamp"]),
    "color": _inline("color", lambda one: str(one["value"]), lambda one: one["value"]),
}
_RICH: Final[dict[str, Callable[[Json], Seen]]] = {
    "rich_text_section": _line,
    "rich_text_preformatted": _framed("pre"),
    "rich_text_quote": _framed("quote"),
    "rich_text_list": _list,
}
# Blocks that are words; the others are only drawn, or buttons.
_BLOCKS: Final[dict[str, Callable[[Json], Seen]]] = {
    "header": lambda block: _text(block["text"]),
    "section": _section,
    "context": _context,
    "input": _input,
    "image": lambda block: Seen(block["alt_text"]),
    "markdown": lambda block: markdown(block["text"]),
    "rich_text": _rich_text,
}


def _buttons(blocks: Iterable[Json]) -> Iterable[Button]:
    for block in blocks:
        for element in [*block.get("elements", ()), block.get("accessory", {})]:
            if element.get("type") == "button":
                yield _button(block, element)


def _button(block: Json, element: Json) -> Button:
    return Button(
        label=_text(element["text"]).text,
        action_id=element["action_id"],
        block_id=block["block_id"],
        value=element.get("value"),
        style=element.get("style", ""),
        url=element.get("url", ""),
        confirm=element.get("confirm"),
        visible_to=tuple(element.get("visible_to_user_ids", ())),
    )


def _fields(blocks: Iterable[Json]) -> Iterable[Field]:
    for block in blocks:
        if block["type"] == "input":
            element = block["element"]
            yield Field(
                label=_text(block["label"]).text,
                block_id=block["block_id"],
                action_id=element["action_id"],
                kind=element["type"],
                initial=element.get("initial_value", ""),
                optional=block.get("optional", False),
                min_length=element.get("min_length", 0),
                max_length=element.get("max_length", 3000),
            )
