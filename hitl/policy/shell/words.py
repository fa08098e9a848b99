"""Removes quotes and decodes escapes in the words of a shell line, also the escapes of printf and echo.

The rules are those of POSIX.1-2017, Shell Command Language, section 2.2, and of the ANSI-C quoting in the Bash manual.
"""

import re
import sys
from collections.abc import Callable

from hitl.policy.tables import names

# `plain_line` matches a line of words without quotes, operators, expansions and comments. A split at the line's blanks
# gives its words. `_FIRST` matches the first word, and `_LATER` each further word.
_FIRST, _LATER = r"[A-Za-z0-9_./:,@%+\-]++", r"[A-Za-z0-9_./:,@%+=\-]++"
plain_line = re.compile(rf"{_FIRST}(?: ++{_LATER})*").fullmatch

# Matches a command of unquoted words, ``{}``, and quoted words. In the quotes, nothing is expanded or escaped.
_QUOTED = r"'[^'\x00]*+'|\"[^\"$`\\\x00]*+\""
_SIMPLE = rf"{_FIRST}(?: ++(?:{_LATER}|{_QUOTED}|\{{\}}))*"
_simple_command = re.compile(_SIMPLE).fullmatch
_simple_words = re.compile(rf"{_QUOTED}|[^ ]++").findall

# Matches a list or a pipe of commands that `_simple_command` matches.
_JOINT = r"&&|\|\|?|;"
_simple_list = re.compile(rf"{_SIMPLE}(?: *+(?:{_JOINT}) *+{_SIMPLE})*").fullmatch
_list_parts = re.compile(rf"({_JOINT})|({_QUOTED}|[^ ;&|]++)").findall

# Finds the parts of a line: a text in quotes without expansions, the end of a continued line, or a single character.
_parts = re.compile(
    r"(?P<quoted>'[^']*+'|\"[^\"\\$`]*+\")|(?P<continued>[ \t]\\\n)|[^'\"\\]|\\[^\n]", re.DOTALL
).finditer

RESERVED = names("if then else elif fi do done case esac while until for in select function time coproc { } ! [[ ]]")
_NO_NAMES = frozenset("+,-:@%")
# Builtins that declare variables. They have their own syntax and run no program.
DECLARING = names("declare export local readonly typeset unset unsetenv")

# Finds characters that people can't see, take for a blank, or see in another order than a shell runs them.
unseen = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f"
    r"\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\U000e0000-\U000e0fff]"
)

_UNQUOTED = re.compile(r"\\(\n|.)", re.DOTALL)
_DOUBLE = re.compile(r'\\([$`"\\\n])')
_ESCAPE = re.compile(
    r"\\(?:([abeEfnrtv\\'\"?])|x([0-9A-Fa-f]{1,2})|0?([0-7]{1,3})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.))",
    re.DOTALL,
)
#: Matches an escape in ``$'...'``. Unlike in `_ESCAPE`, an octal number has at most three digits, and ``\\c`` takes two
#: backslashes as one character.
_ANSI_C = re.compile(_ESCAPE.pattern.replace("0?([0-7]", "([0-7]").replace("c(.)", r"c(\\\\|.)"), re.DOTALL)
_BRACED = re.compile(r"\\x\{([0-9A-Fa-f]+)\}?|\\.", re.DOTALL)
_SURROGATES = (0xD800, 0xDFFF)
_NAMED = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}


def joined_lines(line: str) -> str | None:
    """Return a line with its continued lines joined, as a shell does.

    Some backslashes at the end of a line may not continue it: those in quotes, in a comment, in a here-document or in
    the middle of a word. For a line with such a backslash, return None.
    """
    parts = list(_parts(line))
    whole = sum(len(part[0]) for part in parts) == len(line)
    if not whole or "<<" in line or "$'" in line or any("\\\n" in (part["quoted"] or "") for part in parts):
        return None
    if any("#" in one for one in line.split("\n") if one.endswith("\\")):
        return None
    return "".join(" " if part["continued"] else part[0] for part in parts)


def simple_words(command: str) -> list[str] | None:
    """Return the words of a command that has no shell syntax except quotes.

    Return None for any other command, because only the parser can read it.
    """
    return command.split() if plain_line(command) and _read_alike(command) else quoted_words(command)


def quoted_words(command: str) -> list[str] | None:
    """Return the words of a command with or without quotes, or None for a command with other syntax."""
    if _simple_command(command) is None or not _read_alike(command):
        return None
    return [word[1:-1] if word[0] in "'\"" else word for word in _simple_words(command)]


def simple_commands(line: str) -> list[list[str]] | None:
    """Return the words of each command in a list or pipe of commands without syntax except quotes.

    Return None for a line with other syntax.

    Also return None for a line with a bracket and a substitution. If a shell uses a quoted subscript as a number or a
    name, it runs the substitution in spite of the quotes.
    """
    if _simple_list(line) is None or " ==" in line or ("[" in line and ("$(" in line or "`" in line)):
        return None
    found: list[list[str]] = [[]]
    for joint, word in _list_parts(line):
        if joint:
            found.append([])
        else:
            found[-1].append(word[1:-1] if word[0] in "'\"" else word)
    return found if all(_starts(command[0]) for command in found) else None


def joined_commands(line: str) -> list[tuple[str, list[str]]] | None:
    """Return the commands of a line as ``simple_commands`` does, each in a pair with the operator before it, such as
    `|`.

    The first command has '' instead of an operator. Return None for a line with other syntax.
    """
    commands = simple_commands(line)
    if commands is None:
        return None
    joints = ["", *(joint for joint, _ in _list_parts(line) if joint)]
    return list(zip(joints, commands, strict=True))


def _starts(name: str) -> bool:
    return name[0] not in _NO_NAMES and "%" not in name and name not in RESERVED and name not in DECLARING


def _read_alike(command: str) -> bool:
    """Return whether a shell and the parser divide the command into the same words.

    The parser takes a word after ``==`` for a pattern, and leaves out a sign such as ``+`` at the beginning of a
    command.
    """
    return " ==" not in command and command[0] not in _NO_NAMES


def _kept(match: re.Match[str]) -> str:
    char = match.group(1)
    return "" if char == "\n" else char


def unquoted(text: str) -> str:
    """Return an unquoted word without its backslashes. A newline after a backslash is removed too."""
    return _UNQUOTED.sub(_kept, text) if "\\" in text else text


def double_quoted(text: str) -> str:
    r"""Decode the inside of double quotes: a backslash is an escape only before ``$ ` " \\`` and a newline."""
    return _DOUBLE.sub(_kept, text) if "\\" in text else text


def _code_point(digits: str) -> str:
    value = int(digits, 16)
    return chr(value) if value <= sys.maxunicode and not _SURROGATES[0] <= value <= _SURROGATES[1] else "\ufffd"


_DECODE: tuple[Callable[[str], str], ...] = (
    lambda c: _NAMED.get(c, c),
    lambda h: chr(int(h, 16)),
    lambda o: chr(int(o, 8) & 0xFF),
    _code_point,
    _code_point,
    lambda c: chr(0x7F if c == "?" else ord(c[0]) & 0x1F),
)


def _decoded(match: re.Match[str]) -> str:
    for group, decode in zip(match.groups(), _DECODE, strict=True):
        if group is not None:
            return decode(group)
    return match.group()


def escapes(text: str) -> str:
    r"""Decode backslash escapes as ``printf`` and ``echo -e`` do (``\x72``, ``\162``, ``\u0072``)."""
    return _ESCAPE.sub(_decoded, text) if "\\" in text else text


def ansi_c(text: str) -> str:
    r"""Decode the text in ``$'...'`` as bash does. bash also decodes ``\x{72}``, and a NUL ends the text."""
    plain = _BRACED.sub(lambda found: f"\\x{int(found[1], 16) & 0xFF:02x}" if found[1] else found[0], text)
    return _ANSI_C.sub(_decoded, plain).partition("\0")[0]


_SPLIT = re.compile(
    r"""
    (?P<blank>(?:[ \t\n\v\f\r]|\\_)+)
    | (?P<stop>\\c) | (?P<comment>\#)
    | '(?P<single>(?:[^'\\]|\\.)*+)'
    | "(?P<double>(?:[^"\\]|\\.)*+)"
    | (?P<bare>(?:[^\ \t\n\v\f\r\\'"]|\\[^_c])+)
    """,
    re.DOTALL | re.VERBOSE,
)
_SPLIT_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_SPLIT_CHARS = {"f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "_": " "}
_SPLIT_KNOWN = frozenset("fnrtv_#$\"'\\")


def split_string(text: str) -> list[str | None] | None:
    """Return the words into which ``env -S`` splits a text (GNU coreutils manual).

    Return None for a text that ``env -S`` refuses.

    A word is None if it holds a variable, because such a word is known only when the command runs.
    """
    found: list[str | None] = []
    at, open_word = 0, False
    while at < len(text):
        part = _SPLIT.match(text, at)
        if part is None:
            return None
        at = part.end()
        kind = part.lastgroup
        if kind == "stop" or (kind == "comment" and not open_word):
            break
        if kind == "blank":
            open_word = False
            continue
        value = _split_part(kind or "", part.group(kind or ""))
        if value is None:
            return None
        if open_word:
            value = [glued(found.pop(), value[0])]
        found += value
        open_word = True
    return found


def _split_part(kind: str, text: str) -> list[str | None] | None:
    """Return a list with the text of a part of a word for ``env -S``, or [None] if the part holds a variable.

    Return None if ``env`` refuses the part.
    """
    if kind == "single":
        return [re.sub(r"\\(['\\])", r"\1", text)]
    if any(char not in _SPLIT_KNOWN for char in _SPLIT_ESCAPE.findall(text)):
        return None
    if "$" in _SPLIT_ESCAPE.sub("", text):
        return [None]
    return [_SPLIT_ESCAPE.sub(lambda found: _SPLIT_CHARS.get(found.group(1), found.group(1)), text)]


def glued(before: str | None, after: str | None) -> str | None:
    """Return two parts of one word joined, or None if a part is known only when the line runs."""
    return None if before is None or after is None else before + after
