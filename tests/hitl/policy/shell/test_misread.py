"""Lines that the grammar reads otherwise than a shell does: what the shell runs counts."""

import pytest

from hitl.policy import PolicyCall, load, presets
from hitl.policy.shell import read_line
from hitl.policy.shell.lists import Programs
from hitl.policy.three_valued import YES

DEFAULT = load(presets()["default"], name="default")
DENIED = Programs.of(["rm"])


def action(line: str) -> str:
    """What the preset `default` says of a line, by its text alone."""
    return DEFAULT.judge(PolicyCall("", "Bash", {"command": line}, cwd="/srv/app")).action


BRACKETS = (
    "[ b || touch q ]",
    "[ -e x && ./go == 1 ]",
    "[ p | bash ]",
    "[ -z q<(./go) ]",
    "[ -n <(./go) ]",
    "[ k == (./go) ]",
    "[ k > out.txt ]",
    "[ 7 > 3 ] && pwd",
    "[ k >> notes ] || ls",
    "[ k 2>errors ]",
    "[ k &>all ]",
    "[ k < list ]",
    '[ "$(ls | wc -l)" > 9 ]',
    "if [ -e dist || ./build == dist ]; then ls; fi",
    "while [ -e lock | ./go ]; do ls; done",
    "[k = k ]",
    "[ -n a; ./go ]",
    "[ -n a\n./go ]",
    "[ * ]",
    "[ -? x ]",
)


@pytest.mark.parametrize("line", BRACKETS)
def test_an_operator_between_single_brackets_is_the_shells(line: str) -> None:
    """`[` is an ordinary command: an operator ends its words, and redirects or runs what follows."""
    assert "approve" == action(line)


@pytest.mark.parametrize(
    "line",
    [
        "[ $(cat f) ]",
        "[ $(wc -l f) -gt 3 ]",
        "read -r v < f; [ $v = 1 ]",
        "test $(cat f)",
        "v=$(cat f); [ ! $v ] && ls",
    ],
)
def test_a_test_of_an_unquoted_value_asks(line: str) -> None:
    """A value that is split may come to `-v` and a subscript, in which a substitution runs."""
    assert "approve" == action(line)


@pytest.mark.parametrize(
    "line",
    [
        "x=1 >q", "x=1 y=2 >>q", "x=$(ls) >q", "{ x=1; } >q", "for v in a; do x=$v; done >q", "x=1 </etc/hosts",
        "[[ -n a ]] >q", "if x=1; then y=2; fi >q",
    ],
)  # fmt: skip
def test_a_redirection_without_a_command_asks(line: str) -> None:
    """A shell opens the file of a redirection also where only variables are set."""
    assert "approve" == action(line)


@pytest.mark.parametrize(
    "line",
    [
        "[ $? -eq 0 ] && ls",
        "[ $# -gt 0 ]",
        '[ "$(wc -l f)" = 3 ]',
        "[ a = b ]",
        "[ -f x ] && ls",
        '[ "$(ls | wc -l)" -gt 5 ] && ls',
        "[ ! -d src ] || ls src",
        "[ -f x -a -f y ] && cat x",
        '[ x == "a|b" ]',
        "[ '>' = x ]",
        "[ -e src/*.py ] && ls",
        "if [ -z '' ]; then ls; fi",
    ],
)
def test_a_test_between_single_brackets_passes(line: str) -> None:
    """Words, quoted operators and substitutions that only look are a test and nothing more."""
    assert "allow" == action(line)


@pytest.mark.parametrize("line", ["[ b || rm q ]", "[ b | rm q ]", "if [ b && rm q ]; then ls; fi", "[ -n q<(rm q) ]"])
def test_a_program_between_single_brackets_is_found(line: str) -> None:
    """A rule that denies a program finds it behind an operator in `[ ... ]`."""
    assert YES == DENIED.judge(read_line(line))


@pytest.mark.parametrize(
    "line",
    [
        "ls 8#$(touch q)",
        "wc -l 2#`touch q` f",
        "n=16#$(./go)",
        "n=16#`./go` && ls",
        "tail -n 36#$(./go) f",
        "for n in 1 8#$(./go); do pwd; done",
        "pwd -8#$(./go)",
        "dirname 10#\\ $(./go)",
        "echo 16#${n:=1}",
        'cat "a"8#$(./go)',
    ],
)
def test_an_expansion_behind_a_base_is_seen(line: str) -> None:
    """What follows `10#` may be a substitution, which runs like any other."""
    assert "approve" == action(line)


def test_a_number_with_a_base_passes() -> None:
    """A base in front of digits is part of a word."""
    assert "allow" == action("echo 16#ff 2#101 -8#17")


@pytest.mark.parametrize("line", ["ls 8#$(rm q)", "n=2#`rm q`", "ls 8#$(rm q){a,b}"])
def test_a_program_behind_a_base_is_found(line: str) -> None:
    """A rule that denies a program finds it in a substitution behind `10#`."""
    assert YES == DENIED.judge(read_line(line))


@pytest.mark.parametrize(
    "line",
    [
        "pwd \\ #; touch q",
        "pwd \\\t#; ./go",
        "ls a \\ # b; ./go",
        'ls "a"\\ #; ./go',
        "n=1; echo $n\\ #; ./go",
        "ls && \\ #; ./go",
        "(ls \\ #\n); ./go",
        "n=\\  ./go",
        "n=\\\t ./go a",
        "LANG=\\  ./go",
        "m=1 n=\\  ./go",
        "echo `ls \\ #; ./go`",
        'echo "$(ls \\ #; ./go)"',
    ],
)
def test_an_escaped_blank_is_a_letter(line: str) -> None:
    """A backslash and a blank are a word of their own: no comment begins behind them, and no value ends before them."""
    assert "approve" == action(line)


@pytest.mark.parametrize(
    "line", ["ls my\\ dir", "grep a\\ b f", "grep 'a \\ b' f", "echo a\\\\ # b", "ls # a \\ b", 'echo "a\\ b"']
)
def test_an_escaped_blank_inside_a_word_passes(line: str) -> None:
    """Inside a word, in quotes and in a comment an escaped blank changes nothing."""
    assert "allow" == action(line)


@pytest.mark.parametrize("line", ["pwd \\ #; rm q", "n=\\  rm q", "LANG=\\\t rm q", "ls && \\ #; rm q"])
def test_a_program_behind_an_escaped_blank_is_found(line: str) -> None:
    """A rule that denies a program finds it where the escaped blank is a letter."""
    assert YES == DENIED.judge(read_line(line))


DOCUMENTS = (
    'cat <<"A\\B"\nx\nA\\B\nrm q\nAB',
    "cat <<'A B'\nA B\nrm q\nA",
    "wc -l <<\"A'\"\nA'\nrm q\nA",
    'wc -l <<"A$"\nA$\nrm q\nA',
    "cat <<-'A'\n A\ncat <<'B'\nA\nrm q\nB",
    "cat <<-'A'\nx\n\tA\nrm q\nA",
    "cat <<'A\\B'\nA\\B\nrm q\nAB",
)


@pytest.mark.parametrize("line", DOCUMENTS)
def test_a_here_document_ends_where_a_shell_ends_it(line: str) -> None:
    """Lines behind the shell's own end of the document are commands, also if the grammar takes them for text."""
    reading = read_line(line)

    assert "approve" == action(line)
    assert reading.hidden or YES == DENIED.judge(reading)


@pytest.mark.parametrize(
    "line",
    ["cat <<'END'\nrm q\nEND", 'wc -l <<"A-B"\nx\nA-B\nls', "cat <<-'A'\n\tx\n\tA", "cat <<'A'\nB A\nA\nls"],
)
def test_a_here_document_with_a_plain_quoted_delimiter_passes(line: str) -> None:
    """Its lines are text, up to the line that is the delimiter and nothing else."""
    assert "allow" == action(line)


@pytest.mark.parametrize(
    "line",
    [
        r"""awk $'{print "\0"}'' "; print "x" > "q"} # "' f""",
        r"""awk $'{print \0420\042 > "q"}' f""",
        r"""cat $'\x{2e}env'""",
        r"""cat $'f\c@.md'""",
        r"""cat $'\1012'""",
        r"""grep $'\xff' f""",
        r"""echo $'say \"hi\"'""",
    ],
)
def test_an_escape_that_shells_read_in_different_ways_asks(line: str) -> None:
    """A NUL ends the text in bash, an octal number has three digits at most, and braces may hold a number."""
    assert "approve" == action(line)


@pytest.mark.parametrize(
    "line",
    [
        r"""sed $'s|a|\x5c|w q|' f""",
        r"""sed -e$'p' f""",
        r"""x=$'p'; sed -n "$x" f""",
        r"""for x in $'p'; do sed -n "$x" f; done""",
        r"""timeout 5 awk $'{print}' f""",
        r"""bash -c $'echo touch q'""",
    ],
)
def test_a_script_in_escapes_asks(line: str) -> None:
    """A shell without this syntax keeps the dollar and the backslashes, so that another script runs."""
    assert "approve" == action(line)


@pytest.mark.parametrize("line", [r"printf %s $'a\tb\n'", r"grep $'\x41\u0042\103' f", r"awk -F $'\t' '{print $1}' f"])
def test_a_plain_escape_passes(line: str) -> None:
    """Tabs, newlines and whole numbers mean the same to every shell."""
    assert "allow" == action(line)


@pytest.mark.parametrize("line", [r"$'rm\0x' q", r"$'\x{72}m' q", r"$'\162m' q", r"$'\x72\155' q", r"$'rm\c@' q"])
def test_a_program_behind_escapes_is_found(line: str) -> None:
    """A rule that denies a program finds it as bash decodes it."""
    assert YES == DENIED.judge(read_line(line))
