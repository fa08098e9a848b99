"""What belongs to a message's author and what doesn't: quoted lines, mail signatures, and tricks with characters."""

import re
from functools import cache
from typing import NamedTuple

_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_HIDDEN = re.compile("(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0000-\U000e007f]")
_STRUCK = re.compile("[\u0334-\u0338\u20d2\u20d3\u20e5]")
_QUOTED = re.compile(r"[ \t]*(?:>(?![:=]?[()])|&gt;|\u203a ).*")
_HEADER = re.compile(
    r"[ \t]*(?:(?:On|Am|Le|El|Il|Em|Op|Den|W dniu|Dnia) .{4,200}(?:wrote|schrieb.*|a \u00e9crit|escribi\u00f3"
    r"|ha scritto|escreveu|schreef.*|skrev|napisa\u0142.*)\s?:|-{2,} ?Original Message ?-{2,})[ \t]*"
)
_DEVICE = (
    r"(?:i?Phone|iPad|Mac|Android(?:[ -](?:phone|device|Handy|Smartphone))?|mobile(?: (?:phone|device))?|phone"
    r"|tablet|Smartphone|Handy|Pixel"
    r"|Samsung(?: Galaxy)?(?: smartphone)?|Galaxy(?: smartphone)?|Huawei|BlackBerry|Outlook(?: for (?:Android"
    r"|iOS))?|Mail(?: for Windows(?: 10)?)?"
    r"|Yahoo Mail(?: on Android)?|Proton ?Mail(?: mobile)?|Gmail(?: Mobile)?)"
)
_SENT_FROM = (
    rf"[ \t]*(?:Sent (?:from|via|using|with) (?:my )?{_DEVICE}|Get Outlook for (?:Android|iOS|Windows"
    rf"|Mac)(?: ?<[^>\s]+>)?"
    rf"|Von meinem {_DEVICE} gesendet|Gesendet (?:von|mit|aus)(?: meinem| der)? {_DEVICE}|Envoy\u00e9 (?:de"
    rf"|depuis) mon {_DEVICE}"
    rf"|Enviado (?:desde|do|de|a partir do) (?:mi |meu )?{_DEVICE}|Inviato da(?:l mio)? {_DEVICE}"
    rf"|Verstuurd vanaf mijn {_DEVICE}"
    rf"|Skickat fr\u00e5n min {_DEVICE}|Sendt fra min {_DEVICE}|Wys\u0142ane z(?: mojego)? {_DEVICE}"
    rf"|\u041e\u0442\u043f\u0440\u0430\u0432\u043b\u0435\u043d\u043e \u0441 (?:\u043c\u043e\u0435\u0433"
    rf"\u043e )?{_DEVICE})[ \t.]*"
)
_OTHERS = f"{_QUOTED.pattern}|{_HEADER.pattern}|{_SENT_FROM}"
_SIGNED = re.compile(r"-- ?")
_NAME = re.compile(r"[ \t]*(?:(?:[A-Z][\w'.\u2019-]{0,20}|[\w.+-]+@[\w.-]+|\+?[\d ()-]{6,20}),?[ \t]*){1,3}")
_LINE = re.compile(r"[^\n]*\n?")
#: Signatures are rare, and their patterns take 3 ms each: they are compiled when a message of several lines comes.
_compiled = cache(re.compile)
_MOST_SIGNATURE_LINES = 4
_MAY_QUOTE = frozenset({">", "&", "\u203a"})


class Message(NamedTuple):
    """The author's own words, [start, end) of the original blanked where they aren't, and what makes them suspect."""

    text: str
    trick: str = ""
    quoted: bool = False
    signature: str = ""


def own_words(text: str) -> Message:
    """Blank quoted lines and the mail signature, keeping every other character in its place."""
    if "\n" not in text and text.lstrip()[:1] not in _MAY_QUOTE:
        return Message(text, _trick(text))
    lines = _LINE.findall(text)
    end = _signature_start(lines)
    rest = lines[end:]
    signature = "".join(line for line in rest if not _compiled(_OTHERS).fullmatch(line.rstrip("\n")))
    kept = [_unquoted(line) for line in lines[:end]]
    own = "".join(kept)
    blank = " " * sum(map(len, rest))
    return Message(own + blank, _trick(text), quoted=own.strip() != "".join(lines[:end]).strip(), signature=signature)


def _trick(text: str) -> str:
    if text.isascii():
        return ""
    if _BIDI.search(text) or _HIDDEN.search(text):
        return "hidden characters"
    return "struck out" if _STRUCK.search(text) else ""


def _unquoted(line: str) -> str:
    return " " * len(line.rstrip("\n")) + "\n" * line.endswith("\n") if _QUOTED.fullmatch(line.rstrip("\n")) else line


def _signature_start(lines: list[str]) -> int:
    bare = [line.rstrip("\n") for line in lines]
    last = len(bare) - 1
    while last > 0 and not bare[last].strip():
        last -= 1
    if last and _compiled(_SENT_FROM).fullmatch(bare[last]):
        return last
    tail = len(bare)
    while tail > 1 and (not bare[tail - 1].strip() or _QUOTED.fullmatch(bare[tail - 1])):
        tail -= 1
    if tail > 1 and _HEADER.fullmatch(bare[tail - 1]):
        return tail - 1
    marks = (at for at in range(max(1, last - _MOST_SIGNATURE_LINES), last) if _SIGNED.fullmatch(bare[at]))
    return next((at for at in marks if _is_name(bare[at + 1 :])), len(lines))


def _is_name(lines: list[str]) -> bool:
    return all(not line.strip() or _NAME.fullmatch(line) for line in lines)
