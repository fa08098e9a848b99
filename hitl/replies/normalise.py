"""Finds the author's own words in a message, without quoted lines and signatures, and detects deceptive characters."""

import re
from functools import cache

from msgspec import Struct

from hitl.outcomes import Doubt
from hitl.records import replace
from hitl.replies import data
from hitl.replies.templates import phrases

#: Characters that change the direction of text, and invisible characters outside of a flag's emoji.
_HIDDEN = re.compile("[\u202a-\u202e\u2066-\u2069]|(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0000-\U000e007f]")
#: Those, and the characters that strike letters out. One search excludes most texts.
_DECEPTIVE = re.compile(f"{_HIDDEN.pattern}|[\u0334-\u0338\u20d2\u20d3\u20e5]")
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
    rf"[ \t]*(?:[-\u2013\u2014]+[ \t]*)?(?:Sent (?:from|via|using|with) (?:my )?{_DEVICE}"
    rf"|Get Outlook for (?:Android|iOS|Windows|Mac)(?: ?<[^>\s]+>)?"
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
_PERSON = (
    "(?:[A-Z\u00c0-\u00de\u0386-\u03ab\u0400-\u042f]|(?![A-Za-z\u00df-\u00ff\u03ac-\u03ce\u0430-\u045f])[^\\W\\d_])"
    "[\\w'.\u2019-]{0,20}"
)
#: Small words within a name or a title: "Head of IT".
_BETWEEN = "(?:of|for|and|de|du|des|von|van|der|den|da|di|del|la|&)(?=[ \\t])"
_NAME = re.compile(rf"[ \t]*(?:(?:{_PERSON}|{_BETWEEN}|[\w.+-]+@[\w.-]+|\+?[\d ()-]{{6,20}}),?[ \t]*){{1,3}}")
_LINE = re.compile(r"[^\n]*\n?")
#: Each pattern for signatures takes 3 ms to compile, and signatures are rare. So a pattern is compiled at its first
#: use.
_compiled = cache(re.compile)
_MOST_SIGNATURE_LINES = 4
#: The number of characters at the end of a text that are searched for a closing formula.
_LONGEST_SIGNATURE = 300
_ALONE = "alone:"
#: The characters before the closing formula of a letter ("Best regards").
_BEFORE_CLOSING = re.compile("\n|[.,!\u3002][ \t]")
_MAY_QUOTE = frozenset({">", "&", "\u203a"})


class OwnWords(Struct, frozen=True):
    """The author's own words in a message, and facts that make a yes in it doubtful.

    - `text` is the message with blanks in place of all words that aren't the author's own, so it has the same length.
    - `trick` is set if deceptive characters were found (hidden or struck).
    - `quoted` says whether quoted lines were removed.
    - `signature` holds the words of the signature.
    - `around` says that own words are on both sides of a quotation, or directly above it.
    """

    text: str
    trick: Doubt | None = None
    quoted: bool = False
    signature: str = ""
    around: bool = False


def own_words(text: str) -> OwnWords:
    """Return the author's own words, with blanks in place of quoted lines and the signature of a mail."""
    if "\n" not in text and text.lstrip()[:1] not in _MAY_QUOTE:
        return OwnWords(text, None if text.isascii() else _trick(text))
    lines = _LINE.findall(text)
    end = _signature_start(lines)
    rest = lines[end:]
    signature = "".join(line for line in rest if not _compiled(_OTHERS).fullmatch(line.rstrip("\n")))
    kept = [_unquoted(line) for line in lines[:end]]
    if end > 1 and _compiled(_SENT_FROM).fullmatch(lines[0].rstrip("\n")):
        kept[0] = " " * (len(lines[0]) - 1) + "\n"
    own = "".join(kept)
    blank = " " * sum(map(len, rest))
    quoted = own.strip() != "".join(lines[:end]).strip()
    return OwnWords(own + blank, _trick(text), quoted, signature, around=_around(kept, lines))


def around(own: str, text: str) -> bool:
    """Return whether own words are directly above a quotation, on both sides of it, or on the same line.

    `own` is `text` with blanks in place of the words that the surface reports as quoted.
    """
    kept, lines = _LINE.findall(own), _LINE.findall(text)
    shared = (mine.strip() and mine.strip() != line.strip() for mine, line in zip(kept, lines, strict=True))
    return any(shared) or _around(kept, lines)


def without_closing(message: OwnWords) -> OwnWords:
    """Return the message without the closing formula of a letter ("Best regards, Ada") and the words after it.

    If the words after the closing formula can't be a name, return the message unchanged.
    """
    text = message.text
    if not _BEFORE_CLOSING.search(text):
        return message
    for found in _closing().finditer(text, max(0, len(text) - _LONGEST_SIGNATURE)):
        start, name = found.start("closing"), text[found.end() :]
        lines = [line for line in name.split("\n") if line.strip()]
        if text[:start].rstrip(" \t").endswith(",") and not name.strip()[:1].isupper():
            continue
        if text[:start].strip() and len(lines) <= _MOST_SIGNATURE_LINES and _is_name(lines):
            blank = " " * (len(text) - start)
            return replace(message, text=text[:start] + blank, signature=name + message.signature)
    return message


@cache
def _closing() -> re.Pattern[str]:
    lines = data.lines("closings.txt")
    always = [form for line in lines if not line.startswith(_ALONE) for form in phrases(line)]
    alone = [form for line in lines if line.startswith(_ALONE) for form in phrases(line.removeprefix(_ALONE))]
    device = f"{_SENT_FROM}(?=\\s*$)"
    return re.compile(
        rf"(?:\n[ \t]*|(?<=[.,!\u3002])[ \t]+)(?P<closing>{device}|(?i:{_any(always)})(?!\w)[ \t]*[,.!\u060c]*"
        rf"|(?<=\n)(?i:{_any(alone)})[ \t]*(?:[,.!\u060c]|(?=\n)|$))"
    )


def _any(formulas: list[str]) -> str:
    """Return a pattern for all formulas. It compares each first letter once, because most texts hold no formula."""
    longest_first = sorted(set(formulas), key=len, reverse=True)
    rests: dict[str, list[str]] = {}
    for formula in longest_first:
        rests.setdefault(formula[0], []).append(re.escape(formula[1:]))
    return "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in rests.items())


def _around(kept: list[str], lines: list[str]) -> bool:
    """Return whether own words are directly above a quoted line, or on both sides of quoted lines."""
    own = [bool(line.strip()) for line in kept]
    gone = [not mine and bool(line.strip()) for mine, line in zip(own, lines, strict=False)]
    if True not in own:
        return False
    below = [at for at in range(own.index(True), len(gone)) if gone[at]]
    return bool(below) and (own[below[0] - 1] or any(own[below[0] :]))


def _trick(text: str) -> Doubt | None:
    if not _DECEPTIVE.search(text):
        return None
    return Doubt.HIDDEN if _HIDDEN.search(text) else Doubt.STRUCK


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
