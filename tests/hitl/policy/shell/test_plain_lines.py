"""Lines and commands without any syntax are split without a look at a tree: that must be the same as reading it."""

import string

from hypothesis import example, given, settings
from hypothesis import strategies as st

from hitl.policy.shell.lists import Prefixes, cleared
from hitl.policy.shell.reading import ShellReading
from hitl.policy.shell.syntax import LineReader, read_line
from hitl.policy.three_valued import NO, YES

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
    quick, parsed = read_line(line), ShellReading()
    LineReader(parsed, 0, {}).parse(line)
    found = [tuple(command.words) for command in parsed.commands if not command.guessed]

    assert quick.tree is not None or (
        [tuple(command.words) for command in quick.commands if not command.guessed] == found
        and quick.doubts == parsed.doubts
    )


QUOTED = st.sampled_from(
    [
        *r"""'a b'|"a b"|''|""|'a"b'|"a'b"|'a\'|"a\$"|"a\\b"|"a\b"|"$x"|"a`ls`"|"$(ls)"|'$x'|a'b'|'a'b""".split("|"),
        *r"""$'a'|$"a"|"é"|'é'|'{a,b}'|"{a,b}"|'#'|"# a"|'&&'|";"|'{}'|"!"|'a>b'|"a"'b'""".split("|"),
    ]
)
ODD = st.sampled_from(r"{} {a,b} {}x $x *.log ~ a\ b é # ! == =~ ==a a=1 [ ] >out 2>&1 <<<x".split(" "))
COMMAND = st.tuples(PROGRAM | KNOWN, st.lists(WORD | KNOWN | QUOTED | ODD, max_size=4)).map(
    lambda parts: " ".join((parts[0], *parts[1]))
)
JOINT = st.sampled_from([" && ", " | ", "; ", "\n", " & ", "  ||  "])
AROUND = st.sampled_from(
    ["{}", "({})", "if {}; then ls; fi", "for f in a; do {}; done", "x=$({}) ls", "! {}", "f() {{ {}; }}"]
)
LINE = st.builds(
    lambda around, joint, commands: around.format(joint.join(commands)),
    AROUND,
    JOINT,
    st.lists(COMMAND, min_size=1, max_size=3),
)


class Treed(LineReader):
    """A reader that finds the words of every command in the tree."""

    __slots__ = ()

    @property
    def _simple(self) -> bool:
        return False

    @_simple.setter
    def _simple(self, value: bool) -> None:
        """Whatever the text is like."""


def told(reading: ShellReading) -> tuple[object, ...]:
    """Everything that a reading says."""
    commands = [(tuple(command.words), command.guessed) for command in reading.commands]
    return commands, reading.doubts, reading.hidden, reading.substitution, reading.writes


@settings(deadline=None, max_examples=300)
@given(LINE)
@example("(ls == 0 0)")
def test_a_command_of_plain_and_quoted_words_reads_as_its_tree_does(line: str) -> None:
    """In lists, pipes, blocks and substitutions: the same commands, doubts and writes without a look at the tree."""
    quick, treed = ShellReading(), ShellReading()
    Treed(treed, 0, {}).parse(line)
    LineReader(quick, 0, {}).parse(line)

    assert told(treed) == told(quick)


PLAIN = st.one_of(
    WORD, KNOWN, st.sampled_from(["'a b'", '"a b"', "''", "'&&'", '"|"', "{}", "'rm x; ls'", "1", "bash"])
)
LIST = st.lists(
    st.tuples(
        st.sampled_from(["&&", " && ", "||", " | ", " |", "; ", ";"]), PROGRAM | KNOWN, st.lists(PLAIN, max_size=3)
    ),
    min_size=1,
    max_size=4,
).map(lambda parts: "".join(joint + " ".join((name, *rest)) for joint, name, rest in parts).lstrip(" &|;"))


@settings(deadline=None, max_examples=300)
@given(COMMAND | LIST)
@example("- a=1 rm 'x'")
@example("export 'A=1'")
@example("ls && export A")
@example("echo 'rm x' | bash")
@example("ls &&a%1-n")
def test_a_line_of_plain_and_quoted_words_reads_as_the_parser_reads_it(line: str) -> None:
    """Commands in a list or pipe, read without a parser: the same commands, doubts, writes and clearance."""
    quick, parsed = read_line(line), ShellReading()
    Treed(parsed, 0, {}).parse(line)

    assert quick.unparsed is None or (*told(parsed), cleared(parsed)) == (*told(quick), cleared(quick))


def test_what_a_shell_is_given_does_not_stand_for_the_line_itself() -> None:
    """An allowlist of prefixes covers the commands of a line, not those inside a line that a shell is given."""
    listed = Prefixes.of(["git log", "git diff"])

    assert YES == listed.judge(None, read_line("git log 'x y' && git diff"))
    assert NO == listed.judge(None, read_line("sh -c 'git log && git diff'"))
