"""The budget for parsing a call's shell lines. If it is used up, the rest is skipped and may run an unknown program.

All lines of a call share one budget. It is counted in units that depend on the text alone, so that the same line always
gives the same answer. A unit takes about 10 µs on a small machine, and the whole budget about 20 ms.

After a syntax error, the parser's time grows with the square of the number of tokens, and any line may hold an error.
So each parse is charged for its possible tokens before it begins. After an error, the nodes of the tree are charged
too: among plain words, recovery may take ten times as long as the tokens suggest. The parser may read a long word
several times, once for each way to continue, so each parse is also charged for its bytes.
"""

from __future__ import annotations

MAX_WORK = 2000  # at most this many units are spent on a call
MAX_WORDS = 2048  # at most this many words of one command are read
MAX_LINE = 65536  # at most this many characters of one shell text are parsed
MAX_DEPTH = 8  # at most this many levels of shell texts inside shell texts are parsed
MAX_COMMANDS = 512
MAX_NAME = 64  # a program's name has at most this many characters
MAX_BRACES = 64  # at most this many words come from one brace expansion
SHORT = 128  # bytes; a call's own line up to this length is always parsed, for at most a fifth of the budget

_IN_WORDS = bytes(range(0x80, 0x100)) + b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,@%+-"
# The characters of `_IN_WORDS` without the signs that are operators in arithmetic, such as `+`.
_IN_PLAIN_WORDS = bytes(char for char in _IN_WORDS if char not in b"+-/%,:")
_WORDS_A_MARK = 4  # measured: the parser needs as long for four blanks as for one token
_QUADRATIC = 64
_BYTES_A_UNIT = 32  # measured: 35 µs (3.5 units) for 100 bytes, for two words of 130 and 60 kB
RECOVERED_NODE = 3  # measured: units for each node of a tree after a syntax error


def of_parse(source: bytes) -> int:
    """Return the highest cost of a parse of this text, in units."""
    calculates = b"[" in source or b"((" in source or b"${" in source
    rest = source.translate(None, _IN_PLAIN_WORDS if calculates else _IN_WORDS)
    blanks = rest.count(b" ") + rest.count(b"\t")
    tokens = len(rest) - blanks + blanks // _WORDS_A_MARK
    return 2 + tokens + tokens * tokens // _QUADRATIC + len(source) // _BYTES_A_UNIT


def of_text(length: int) -> int:
    """Return the cost of reading a text once, in units."""
    return 1 + length // 256
