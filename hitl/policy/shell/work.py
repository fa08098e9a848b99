"""The budget for reading a line. Once the budget is used up, the rest of the line is not read, and the line counts as
hidden.

The whole reading of a call shares one budget. The budget is counted in units that depend on the text alone, so that the
same line always gives the same answer. A unit takes about 10 µs on a small machine, and the budget about 20 ms.

After a syntax error, the parser's time grows with the square of the number of tokens, and any line may hold an error.
So each parse is charged for its possible tokens before it begins. If the parser did recover from an error, the parse is
also charged for the nodes of the tree: among plain words, recovery may take ten times as long as the tokens suggest.
The parser may also read a long word again for each way to go on, so each parse is charged for its bytes.
"""

from __future__ import annotations

MAX_WORK = 2000  # at most this many units are spent on a call
MAX_WORDS = 2048  # at most this many words of one command are read
MAX_LINE = 65536  # characters
MAX_DEPTH = 8  # at most this many levels of shell texts inside shell texts are read
MAX_COMMANDS = 512
MAX_NAME = 64  # a program's name has at most this many characters
MAX_BRACES = 64  # at most this many words come from one brace expansion
SHORT = 128  # a call's own line of at most this many bytes is always parsed, which costs at most a fifth of the budget

_IN_WORDS = bytes(range(0x80, 0x100)) + b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,@%+-"
_IN_PLAIN_WORDS = bytes(char for char in _IN_WORDS if char not in b"+-/%,:")  # these signs are operators in arithmetic
_WORDS_A_MARK = 4  # measured: four blanks between words cost as much as one other token
_QUADRATIC = 64
_BYTES_A_UNIT = 32  # measured: two words of 130 and 60 kB among 200 short ones took 35 µs for each 100 bytes
RECOVERED_NODE = 3  # units for each node of a tree that was recovered from an error, measured


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
