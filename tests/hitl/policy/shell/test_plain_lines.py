"""Lines without any syntax are split without a parser: that must be the same as parsing them."""

import string

from hypothesis import given, settings
from hypothesis import strategies as st

from hitl.policy.shell.reading import Reading
from hitl.policy.shell.syntax import Reader, read_line

WORD = st.text(alphabet=string.ascii_letters + string.digits + "_./:,@%+-=", min_size=1, max_size=12)
KNOWN = st.sampled_from(
    [
        "ls",
        "rm",
        "git",
        "sh",
        "-c",
        "env",
        "push",
        "if",
        "then",
        "time",
        "sudo",
        "xargs",
        "find",
        "-exec",
        "python3",
        "A=1",
    ]
)


PROGRAM = st.from_regex(r"[a-z/.][a-z0-9_./\-]{0,12}", fullmatch=True)


@settings(deadline=None)
@given(PROGRAM | KNOWN, st.lists(WORD | KNOWN, max_size=5))
def test_a_plain_line_reads_as_the_parser_reads_it(program: str, parts: list[str]) -> None:
    """Both ways find the same commands, with the same doubts."""
    line = " ".join((program, *parts))
    quick, parsed = read_line(line), Reading()
    Reader(parsed, 0, {}).parse(line)
    found = [tuple(command.words) for command in parsed.commands if not command.guessed]

    assert quick.tree is not None or (
        [tuple(command.words) for command in quick.commands] == found and quick.doubts == parsed.doubts
    )
