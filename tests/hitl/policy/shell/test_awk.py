"""Which awk programs only print: what a text or a regular expression holds is data, and hides nothing behind it."""

import pytest

from hitl.policy.shell.awk import only_prints


@pytest.mark.parametrize(
    "program",
    [
        "{print $1}", "$3 > 100", "$3 > 100 {print $1}", "/a|b/ {print}", "!/x|y/", "NR==1 || /x|y/",
        '{print "a|b", $1 "@x"}', '{print "a > b; c"}', '{ if ($1 > 2) print $1; else print "system" }',
        '{s += $1} END {printf "%.2f\\n", s/NR}', '{gsub(/[[:space:]]+/, " "); gsub(/[^a-z\\/]/, ""); print}',
        "function half(x) { return x/2 } {print half($1)}", "BEGIN {print (1+2)/3}", "length > 80",
        '{a = $1/2; b = $2/3; print a "/" b}', "# a | b\n{print}", '{print "a\\"b"}',
    ],
)  # fmt: skip
def test_a_program_that_computes_and_prints_passes(program: str) -> None:
    """Bars, arrows and names of functions in texts, regular expressions and comments are data."""
    assert only_prints(program)


@pytest.mark.parametrize(
    "program",
    [
        # A mark that ends a statement stands in a text before the arrow.
        '{print "a;b" > "out"}', '{print "}" > ".git/hooks/pre-commit"}', '{print("x;y") >> "out"}',
        '{print"a;" >"out"}', '{print ";" "\\n" > FILENAME}', '{printf "%s", "a\\";" > "out"}', '{print $1,\n$2 > "x"}',
        # A slash begins an expression where a division seems to stand, or the other way round.
        "{ print 1 ? /;/ : 3 | c; x = 1 / 2 }", "1 || /;/ { print 5 / 1 | c }", '{ if (1) /"/; print "x" > "y" }',
        '{ x++ /"/ 1; print "x" > "y" }', '{ print length /"/ 1; print "x" > "y" }', "{ print /[/]/ | c }",
        '{ x = /"/ ? 1 : 2; print > "f"; y = "q" }', '{ print a/ /"/; print "|" > "z" }',
        # What runs, reads or writes by its name.
        'BEGIN {system("id")}', '{"id" | getline}', 'BEGIN {print ENVIRON["HOME"]}', 'BEGIN {ARGV[1] = "x"}',
        '@load "filefuncs"', "{print | c}", '{print |& "id"}', 'BEGIN {f = "system"; @f("id")}',
        # Unfinished.
        '{ print "x }', "/x", '{ print 1 \\\n > "x" }',
    ],
)  # fmt: skip
def test_a_program_that_runs_or_writes_never_passes(program: str) -> None:
    """No text, expression or division keeps a redirection, a pipe or a call out of sight."""
    assert not only_prints(program)
