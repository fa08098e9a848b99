"""What people type, as it goes over the wire.

The apps escape the three characters that mean something, turn @name and #name into mentions, wrap
addresses, write emoji as codes, and send the same as rich_text blocks.
"""

from __future__ import annotations

import re
from typing import Final

from simulators.slack.errors import Json
from simulators.slack.marks import BROADCASTS, EMOJI, SKIN_TONES, escape, unescape
from simulators.slack.state import World

_URL: Final = re.compile(r"https?://[^\s<>|]+")
_AT: Final = re.compile(r"(?<![\w@/])@([\w.-]*\w)")
_HASH: Final = re.compile(r"(?<![\w#/&])#([\w-]*\w)")
_CODES: Final = {sign: name for name, sign in reversed(EMOJI.items())}
_TONES: Final = {sign: name for name, sign in SKIN_TONES.items()}
_EMOJI: Final = re.compile(f"({'|'.join(map(re.escape, sorted(_CODES, key=len, reverse=True)))})([{''.join(_TONES)}]?)")
_TOKEN: Final = re.compile(r"<([^<>]+)>|:([a-z0-9_+'-]+)(?:::skin-tone-([2-6]))?:")


def wire(text: str, world: World, *, named: bool = False) -> str:
    """Return a typed text as it is sent; with `named`, mentions bear names, as in a command's text."""
    sent = _URL.sub(lambda match: f"<{match[0]}>", escape(text))
    sent = _AT.sub(lambda match: _mention(match, world, named=named), sent)
    sent = _HASH.sub(lambda match: _room(match, world), sent)
    return _EMOJI.sub(_code, sent)


def _mention(match: re.Match[str], world: World, *, named: bool) -> str:
    name = match[1].lower()
    if name in BROADCASTS:
        return f"<!{name}>"
    found = next((one for one in world.users.values() if one.name.lower() == name), None)
    if found is None:
        return match[0]
    return f"<@{found.id}|{found.name}>" if named else f"<@{found.id}>"


def _room(match: re.Match[str], world: World) -> str:
    found = next((one for one in world.channels.values() if one.name and one.name == match[1]), None)
    return f"<#{found.id}|{found.name}>" if found else match[0]


def _code(match: re.Match[str]) -> str:
    tone = f":{_TONES[match[2]]}:" if match[2] else ""
    return f":{_CODES[match[1]]}:{tone}"


def rich(sent: str) -> tuple[Json, ...]:
    """Return a sent text as the rich_text block that comes with it."""
    elements: list[Json] = []
    at = 0
    for match in _TOKEN.finditer(sent):
        element = _element(match)
        if element:
            elements += [*_text(sent[at : match.start()]), element]
            at = match.end()
    elements += _text(sent[at:])
    section = {"type": "rich_text_section", "elements": elements}
    return ({"type": "rich_text", "block_id": "typed", "elements": [section]},)


def _text(piece: str) -> list[Json]:
    return [{"type": "text", "text": unescape(piece)}] if piece else []


def _element(match: re.Match[str]) -> Json | None:
    if match[2]:
        return _emoji(match[2], match[3])
    target = match[1].partition("|")[0]
    if target[0] == "@":
        return {"type": "user", "user_id": target[1:]}
    if target[0] == "#":
        return {"type": "channel", "channel_id": target[1:]}
    if target[0] == "!":
        return {"type": "broadcast", "range": target[1:]}
    return {"type": "link", "url": unescape(target)}


def _emoji(name: str, tone: str | None) -> Json | None:
    if name not in EMOJI:
        return None
    code = "-".join(f"{ord(sign):x}" for sign in EMOJI[name])
    return {"type": "emoji", "name": name, "unicode": code, **({"skin_tone": int(tone)} if tone else {})}
