"""How much work a line may cost to read. Past the budget the rest is not read, and the line counts as hidden.

The whole reading of a call shares one budget, counted in units that depend on the text alone, so that the same line
always gives the same answer. A unit takes about 10 µs on a small machine, and the budget about 20 ms.

The parser recovers from a syntax error in time that grows with the square of the tokens, and a line may hold an error
at any place. So a parse is paid for by the tokens that it may have, before it begins. One that did recover also pays
for the nodes of its tree: among words alone it may take ten times as long as their number says.
"""

from __future__ import annotations

MAX_WORK = 2000
MAX_WORDS = 2048  # of one command
MAX_LINE = 65536  # characters
MAX_DEPTH = 8  # of shell texts inside shell texts
MAX_COMMANDS = 512
MAX_NAME = 64  # characters of a program's name
MAX_BRACES = 64  # words that braces expand to
SHORT = 128  # bytes of a call's own line that are parsed whatever they hold: a fifth of the budget at most

_IN_WORDS = bytes(range(0x80, 0x100)) + b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,@%+-"
_IN_PLAIN_WORDS = bytes(char for char in _IN_WORDS if char not in b"+-/%,:")  # these are operators in arithmetic
_WORDS_A_MARK = 4  # measured: words are cheap to recover from
_QUADRATIC = 64
RECOVERED_NODE = 3  # units, measured


def of_parse(source: bytes) -> int:
    """The units that a parse of this text may cost."""
    calculates = b"[" in source or b"((" in source or b"${" in source
    rest = source.translate(None, _IN_PLAIN_WORDS if calculates else _IN_WORDS)
    blanks = rest.count(b" ") + rest.count(b"\t")
    tokens = len(rest) - blanks + blanks // _WORDS_A_MARK
    return 2 + tokens + tokens * tokens // _QUADRATIC


def of_text(length: int) -> int:
    """The units that a pass over a text costs."""
    return 1 + length // 256
