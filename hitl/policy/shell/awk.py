"""Decides whether an awk program only prints, or may run a command, write a file or read other files.

First, texts and regular expressions are taken out, because their characters are data: ``print "a;b" > "x"`` writes a
file, but ``/a|b/`` runs nothing. A slash after an operand divides; after anything else it begins a regular expression
(POSIX, awk, "Lexical Conventions"). If both are possible, the rest of the program is searched unchanged.
"""

from __future__ import annotations

import re

from hitl.policy.tables import names

_TOKEN = re.compile(
    r"(?P<blank>(?:[ \t\r]|\\\n|\#[^\n]*)+)"
    r'|(?P<text>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<doubled>\+\+|--)"
    r"|(?P<other>.)",
    re.DOTALL | re.ASCII,
)
#: Matches a regular expression of an awk program. It has no slash and no bracket inside its brackets, so every version
#: of awk ends it at the same slash.
_EXPRESSION = re.compile(
    r"/(?:[^/\\\n\[]|\\[^\n]|\[\^?(?:\[:[a-z]+:\]|[^\]\[/\\\n])(?:\[:[a-z]+:\]|[^\]\[/\\\n]|\\[^\n])*\])*/"
)
#: Words after which a value begins, so that a slash begins a regular expression.
_BEFORE_VALUE = names("print printf return in else do exit delete case and")
#: Words after which a slash may be a division or the beginning of a regular expression.
_EITHER = names("length getline next nextfile break continue func function while if for switch default BEGIN END")
_ACTS = re.compile(
    r"system|getline|ENVIRON|PROCINFO|SYMTAB|FUNCTAB|ARGV|ARGC|ARGIND|close|@|[|`]"
    r"|(?<![A-Za-z_])printf?(?!\w)[^;}]*>",
    re.ASCII,
)


def only_prints(program: str) -> bool:
    """Return whether an awk program only reads its input files and prints. False if this module can't decide."""
    kept = _without_data(program)
    return kept is not None and _ACTS.search(kept.replace("||", " ")) is None


def _without_data(program: str) -> str | None:
    """Return the awk program with a 0 in place of each text and regular expression.

    Return None if a text or regular expression has no end.
    """
    kept: list[str] = []
    at, before, divides = 0, "other", False
    while at < len(program):
        if program[at] == "/" and before in ("doubled", "closed"):
            return "".join(kept) + program[at:]
        found = _TOKEN.match(program, at) if program[at] != "/" or divides else _EXPRESSION.match(program, at)
        if found is None or found[0] == '"':
            return None
        at = found.end()
        kind = found.lastgroup or "text"
        if kind == "blank":
            kept.append(" ")
            continue
        kept.append(" 0 " if kind == "text" else found[0])
        before = "closed" if found[0] == ")" or (kind == "word" and found[0] in _EITHER) else kind
        divides = kind in ("text", "number") or found[0] == "]" or (kind == "word" and found[0] not in _BEFORE_VALUE)
    return "".join(kept)
