"""Cuts a message into tokens. Each token has its place in the message, so that a reason can be quoted unchanged."""

import re
from collections.abc import Callable
from enum import IntEnum
from functools import partial
from typing import NamedTuple

from hitl.replies import emoji, targets
from hitl.replies.scripts import scripts
from hitl.replies.spelling import fold, pieces


class TokenKind(IntEnum):
    """The kinds of tokens. An approval may contain only some of these kinds."""

    WORD = 0
    BREAK = 1
    MENTION = 2
    EMOJI = 3
    TARGET = 4
    NUMBER = 5
    ASKS = 6
    OTHER = 7


#: The kinds get their own names here, because Python 3.11 takes ten times as long to look up a member of an enum.
WORD, BREAK, MENTION, EMOJI, TARGET, NUMBER, ASKS, OTHER = TokenKind


class Token(NamedTuple):
    """A piece of the message: its kind, its folded text, and its place in the message (`end` is excluded)."""

    kind: TokenKind
    text: str
    start: int
    end: int
    sign: emoji.Sign | None = None


#: Makes a token from its fields in two thirds of the time that `Token` takes.
_new = partial(tuple.__new__, Token)

_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0900-\u0963\u0971-\u0df3\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ecd"
    "\u0f71-\u0f84\u0f90-\u0fbc\u102b-\u103e\u1056-\u109d\u17b4-\u17d3\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
    "\ufe20-\ufe2f\U00011100-\U00011134"
)
_UNSEEN = "\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff"
_LETTER = f"[\\w{_MARKS}{_UNSEEN}]"
_APOSTROPHE = "['\u2018\u2019\u201b\u02bc\u02bb\u02b9\u2032\u00b4`\uff07\u05f3]"
_JOIN = f"(?:\u00b7(?=\\w)|{_APOSTROPHE}(?=\\w)|[-\u2010\u2011](?=\\w))"
#: The question marks of all scripts, according to Unicode's names of characters.
_ASKS = (
    "?\u00bf\u037e\u055e\u061f\u1367\u1945\u2047-\u2049\u203d\u2cfa\u2cfb\u2e18\u2e2e\u2e54\ua60f\ua6f7"
    "\ufe16\ufe56\uff1f\U00011143\U0001e95f\u2753\u2754"
)
#: The letters after which a semicolon is a question mark, because Unicode normalises the Greek question mark to it.
_GREEK = "\u0370-\u03ff\u1f00-\u1fff"
_SCANNER = re.compile(
    "(?P<plain>[A-Za-z]+(?:'[A-Za-z]+)*(?=[ ,!?]|\\.?(?:\\s|$)))(?: (?=[A-Za-z]))?"
    "|(?P<mark>[,?]|(?<=[A-Za-z])[.!](?=\\s|$))(?: (?=[A-Za-z]))?"
    "|(?P<line>[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+)"
    f"|(?P<space>\\s+|(?<=[{_GREEK}])['\u2019](?=\\s))"
    "|(?P<mention><@[^<>\n]{1,80}>|@\\w[\\w.-]*)"
    "|(?P<struck>~~[^\n]+?~~|~[^~\n]+~|<(?:s|del|strike)>[^\n<]*</(?:s|del|strike)>|\\|\\|[^|\n]+\\|\\|)"
    "|(?P<code>```.*?```|`[^`\n]*`)"
    "|(?P<box>\\[[ \t_.-]*\\]|(?<!\\w)[(\uff08][ \t_.\u3000-]*[)\uff09]|[\u2610\u25a1\u25a2])"
    "|(?P<comment>//+|/\\*|\\*/|\\A\\s*(?:--+|;)(?=\\s))"
    "|(?P<bang>(?<!\\S)[!.\uff01](?=[^\\W\\d_]))"
    "|(?P<flag>\\A\\s*-(?=[^\\W\\d_])|(?<!\\S)-[A-Za-z](?!\\w))"
    "|(?P<program>(?<!\\S)--\\w\\S*|(?<![\\w.])[A-Za-z_]\\w*\\([^\\w\\n()]*\\)|(?<![\\w:]):(?!skin-tone)[\\w+-]+(?!:)(?![\\w+:-]))"
    "|(?P<slashed>(?<![\\w/])[A-Za-z]/[A-Za-z](?![\\w/]))"
    "|(?P<link><[^<>\n]+>|(?:https?|ftp|file|mailto):\\S+|\\w+(?:\\.\\w+){2,}|\\w[\\w.+-]{0,63}@\\w[\\w.-]*)"
    "|(?P<arrow>[-=]{1,3}>|[\u2192\u21d2])"
    f"|(?P<emoji>{emoji.PATTERN})"
    "|(?P<dotted>(?<![\\w.])[oO]\\.[kK](?:\\.|(?!\\.))(?!\\w))"
    "|(?P<vote>(?<![\\w.:])(?:[+-][12]|[rR][+-]|10-4|100%)(?![\\w+=.:-]))"
    "|(?P<ref>\\#\\w+)"
    f"|(?P<number>[$\u20ac\u00a3]?\\d+(?:[.,:/-]\\d+)*%?(?!{_LETTER}|-\\w))"
    "|(?P<command>(?<!\\S)/(?=\\w)[^\\s,.;:!?]*)"
    f"|(?P<word>{_LETTER}+(?:{_JOIN}{_LETTER}+)*)"
    f"|(?P<asks>[{_ASKS}]|(?<=[{_GREEK}]);|(?<=[{_GREEK}])[ ];)"
    "|(?P<stop>[.,;:!()\\[\\]*/|~\u2026\u2013\u2014\u2012\u2015\u2212\\-\u3002\u3001\uff0c\uff0e\uff01"
    "\uff1b\uff1a\u30fb\uff08\uff09"
    "\u060c\u061b\u06d4\u0964\u0965\u00a1\u00b7\u0589\u104b\u17d4\u17d6\uff61"
    "\uff5e\u301c\ufe0f])"
    "|(?P<other>.)",
    re.DOTALL,
)
_KINDS = {
    "line": BREAK,
    "mention": MENTION,
    "asks": ASKS,
    "number": NUMBER,
}
#: The names of Sayso's commands that decide a call, without the slash.
_COMMANDS = frozenset({"approve", "reject", "cancel", "withdraw", "deny"})
#: Sayso's name, which may follow a command. If another name follows, the command is for another bot.
_TO_US = "@sayso"
_WELL = "well"
_VOTES = {"+2": "+1", "-2": "-1"}
_WORDS: dict[str, Callable[[str], str]] = {
    "vote": lambda text: _VOTES.get(text, text.lower()),
    "slashed": str.lower,
    "dotted": lambda text: text.replace(".", "").lower(),
}


def tokenise(text: str, known_refs: frozenset[str] = frozenset()) -> list[Token]:
    """Return the tokens of a message. Everything except blanks is part of a token."""
    tokens: list[Token] = []
    for found in _SCANNER.finditer(text):
        if found.lastindex == 1 and not known_refs:
            start, end = found.span(1)
            word = text[start:end].lower().replace("'", "")
            if word == _WELL:
                tokens += _said(word, start, end)
            else:
                tokens.append(_new((WORD, word, start, end, None)))
            continue
        name = found.lastgroup
        if name == "mark":
            start, end = found.span(2)
            mark = text[start]
            tokens.append(_new((ASKS if mark == "?" else BREAK, mark, start, end, None)))
        elif name in {"word", "plain"}:
            tokens += _words(found[name], found.start(), known_refs)
        elif name in {"stop", "arrow"}:
            tokens.append(Token(BREAK, found[0], *found.span()))
        elif name != "space":
            tokens.append(_token(name or "other", found, known_refs))
    return tokens


def _token(name: str, found: re.Match[str], known_refs: frozenset[str]) -> Token:
    text, (start, end) = found[0], found.span()
    if name == "emoji":
        return Token(EMOJI, text, start, end, emoji.sign(text))
    if name == "command" and (ours := fold(text[1:]).removesuffix(_TO_US)) in _COMMANDS:
        return Token(WORD, ours, start, end)
    if name == "ref" and targets.is_target(text[1:], known_refs):
        return Token(TARGET, text[1:], start, end)
    if name in _WORDS:
        return Token(WORD, _WORDS[name](text), start, end)
    if name == "number" and fold(text) in known_refs:
        return Token(TARGET, text, start, end)
    return Token(_KINDS.get(name, OTHER), text, start, end)


def _said(text: str, start: int, end: int) -> list[Token]:
    """Return the token of a word. For "we'll", return two tokens, because without its apostrophe it would be "well"."""
    if text == _WELL and end - start > len(_WELL):
        we = start + len("we")
        return [Token(WORD, "we", start, we), Token(WORD, "will", we, end)]
    return [Token(WORD, text, start, end)]


def _words(text: str, start: int, known_refs: frozenset[str]) -> list[Token]:
    inner = text.strip("_")
    if not inner:
        return [Token(BREAK, text, start, start + len(text))]
    start += text.index(inner)
    end = start + len(inner)
    if targets.is_target(inner, known_refs):
        return [Token(TARGET, inner, start, end)]
    if inner.isascii():
        return _said(folded, start, end) if (folded := fold(inner)) else []
    parts = pieces(inner)
    if any(len(scripts(part)) > 1 for part in parts):
        return [Token(OTHER, inner, start, end)]
    if len(parts) == 1:
        return _said(parts[0], start, end) if parts[0] else []
    exact = sum(map(len, parts)) == len(inner)
    tokens: list[Token] = []
    at = start
    for part in parts:
        tokens.append(Token(WORD, part, at, at + len(part)) if exact else Token(WORD, part, start, end))
        at += len(part)
    return tokens
