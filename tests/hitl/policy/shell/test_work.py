"""What a line may cost to read: units that depend on the text alone, a limit in time, and a search for slow lines."""

import random
import time
from collections.abc import Callable

import pytest

from hitl.policy.shell import ShellReading, read_argv, read_line
from hitl.policy.shell.braces import COMMA, OPEN, expand, template
from hitl.policy.shell.lists import Prefixes, Programs
from hitl.policy.shell.work import MAX_BRACES, MAX_COMMANDS, MAX_LINE, MAX_WORDS, MAX_WORK, of_parse
from hitl.policy.three_valued import NO, YES

DENIED = Programs.of(("rm", "mkfs.*"))
ASKED = Programs.of(("git push", "npm publish"))
PREFIXES = Prefixes.of(["git log", "ls"])
LIMIT_S = 0.05
#: How much longer than alone a line may take beside other tests.
BESIDE_OTHERS = 10

# What is repeated to make a line long, and what nests.
PIECES = (
    "a|", "a;", "a&&", "a\n", "a\r\n", "a \\\n", "a=b ", "a=(", "a=(b);", "a[", "a[0]=", "${a[", "${a:-", "${a%",
    "$((", "1+", "1?",
    "$(", "`", "\\`", "'", '"', '"$(', '"`', "$'", "<(", ">", "<", "<<<", "<<E ", "<<E\n", "2>&1 ", "(", "((", "{",
    "{a,", "{a,b}",
    "{1..9}", "}", "[", "[[ ", "[[ (", "[[ a =~ ", "@(", "@(a|b)", "!", "! ", "if a; then ", "for a in b; do ",
    "while a; do ",
    "case a in b) ", "f(){ ", "$a ", "$a", '"$a"', '"$@" ', "~ ", "* ", "é", "\u200b", "\x00", "\x01", "#", "# ",
    "a # ", "::",
    "-exec rm {} ; ", "env ", "env -S ", "sh -c ", "eval ", "sudo ", "xargs ", "find ", "git -c a.b=c ", "npm ",
    "acme rm ",
    "acme 'a;b' ", "echo rm | sh; ", " | sh", "sed 's/a/b/' ", "awk '/a/' ", "printf %s ", "alias a=b ", "trap a b ",
    "tmux -x ",
)  # fmt: skip
HEADS = (
    "", "ls ", "a=rm; ", "cat <<E\n", "sed 's/", "awk '", "printf '", "echo ${x:-", 'echo "', "find . ", "env -S '",
    "sh -c '",
    "$x '[", "[[ ", "export ", "git ", "acme ", "xargs -I", "compgen -W '", "a=(", "case a in ", "for a in ", "a='",
)  # fmt: skip
TAILS = ("", "'", '"', "\nE\n", ")", "}", " | sh", "; $a", '\'; eval "$a$a$a"', "]]", " rm x")


def judged(line: str | list[str]) -> ShellReading:
    """Read and compare, as a policy does."""
    reading = read_argv(line) if isinstance(line, list) else read_line(line)
    DENIED.judge(reading)
    ASKED.judge(reading)
    PREFIXES.judge(None, reading)
    reading.programs()
    return reading


def seconds(line: str | list[str]) -> float:
    """The processor's time that a line takes, the best of a few runs."""
    best = 9.0
    for _ in range(5):
        started = time.process_time()
        judged(line)
        best = min(best, time.process_time() - started)
        if best < LIMIT_S:
            break
    return best


def test_a_line_within_the_budget_is_read_whole() -> None:
    """An ordinary line costs a small part of the budget."""
    reading = read_line('for f in *.log; do if [ -f "$f" ]; then gzip "$f" && echo "$(date) $f" >> done.txt; fi; done')

    assert reading.work < MAX_WORK / 10
    assert not reading.hidden


@pytest.mark.parametrize("piece", PIECES)
def test_a_long_line_of_any_shape_is_read_up_to_the_budget(piece: str) -> None:
    """No parse begins that the budget doesn't pay for, and a line that isn't read whole is never allowed."""
    line = (piece * MAX_LINE)[:MAX_LINE]
    reading = judged(line)

    assert len(reading.commands) <= 2 * MAX_COMMANDS + 2
    assert reading.hidden or reading.doubts or reading.work <= MAX_WORK
    assert seconds(line) < LIMIT_S * BESIDE_OTHERS


@pytest.mark.parametrize(
    "argv",
    [
        ["ls", *["a"] * 100_000],
        ["find", ".", *["-exec", "rm", ";"] * 33_000],
        ["env", *["A=1"] * 100_000, "rm"],
        ["acme", *["a"] * 100_000, "rm"],
        ["npm", *["p"] * 100_000],
        ["ls", "a" * 10_000_000],
        ["git", "-c", "a " * 1_000_000],
    ],
    ids=range(7),
)
def test_a_long_list_of_arguments_is_cut_and_asked_about(argv: list[str]) -> None:
    """The words past the limit are not read, so the call as a whole can't be told."""
    reading = judged(argv)

    assert reading.hidden
    assert all(len(command.words) <= MAX_WORDS for command in reading.commands)
    assert seconds(argv) < LIMIT_S * BESIDE_OTHERS


def test_the_same_line_always_costs_the_same() -> None:
    """The units don't depend on the machine, the time or what was read before."""
    line = "a=rm; b='x y'; $a $b; sh -c 'echo $0 | sh' \"$a\"; find . -exec $a {} +"

    assert read_line(line).work == read_line(line).work


def test_a_parse_costs_more_than_its_share_where_there_are_many_tokens() -> None:
    """The parser's recovery from an error takes quadratic time."""
    assert of_parse(b"a|" * 200) > 3 * of_parse(b"a|" * 100)
    assert of_parse(b"word " * 200) < of_parse(b"a|" * 200) / 4
    assert of_parse(b"1+" * 200 + b"((") > of_parse(b"1+" * 200)


def test_long_words_in_a_broken_line_are_paid_for_before_they_are_parsed() -> None:
    """The parser reads a long word again for each way to go on after an error."""
    word = "\N{ZERO WIDTH SPACE}" * 20_000
    line = f"a=(ls echo ${{x:-case a in export {word}{'tmux -x ' * 100}{word}"

    assert read_line(line).hidden
    assert read_line(line).work >= len(line.encode()) / 64
    assert seconds(line) < LIMIT_S * BESIDE_OTHERS


def test_a_parse_that_met_an_error_pays_for_its_tree_too() -> None:
    """The parser takes long to recover among words, which cost little in a complete line."""
    words = "eval " * 100
    complete, broken = f"echo $a {words}", f"([[ {{[x {words}"

    assert read_line(broken).work > 3 * read_line(complete).work


def test_a_denied_program_in_a_line_that_is_too_long_is_still_found() -> None:
    """The words of what is not read are taken for programs."""
    assert YES == DENIED.judge(read_line("true\n" * 3_000 + "rm x"))
    assert YES == DENIED.judge(read_line("true; " * 3_000 + "rm x"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{a,b}c", "ac bc"),
        ("a{b,c{d,e}}f", "abf acdf acef"),
        ("{a,b}{c,d}", "ac ad bc bd"),
        ("{,a}b", "b ab"),
        ("{a}", "{a}"),
        ("{}", "{}"),
        ("{a,b", "{a,b"),
        ("a,b}", "a,b}"),
        ("{{a,b}", "{a {b"),
        ("{-x,{},+}", "-x {} +"),
        ("{1..3}", "1 2 3"),
        ("{3..1..2}", "3 1"),
        ("{08..10}", "08 09 10"),
        ("{a..c}x", "ax bx cx"),
        (r"{a\,b,c}", "a,b c"),
        (r"\{a,b}", "{a,b}"),
    ],
)
def test_braces_expand_as_bash_expands_them(text: str, words: str) -> None:
    """Lists, sequences, nesting, and braces that are letters."""
    assert words.split() == expand(template(text))


@pytest.mark.parametrize(
    "text", ["{a,b}" * 7, "{a,b}" * 500, "{1..65}", "{0..99999999999}", "{a,{b," * 20, "{" + "a," * 70 + "}"]
)
def test_braces_that_stand_for_too_many_words_are_counted_and_not_built(text: str) -> None:
    """The limit is the same however the words are made."""
    found = expand(template(text))

    assert found is None or len(found) <= MAX_BRACES
    assert found is None or text.startswith("{a,{b,")


def test_marks_of_a_template_are_no_letters_of_a_line() -> None:
    """A line can't hold a lone surrogate, so a letter is never taken for a mark."""
    assert read_line(f"env {OPEN}rm{COMMA}x").commands[0].words[0] == "env"
    assert NO == DENIED.judge(read_line("echo 'rm'"))


def grown(chance: random.Random) -> str:
    """A long line made of a few shapes."""
    pieces = chance.sample(PIECES, chance.choice((1, 1, 2, 3)))
    size = chance.choice((200, 600, 2_000, 9_000, MAX_LINE))
    body = "".join(pieces)
    if chance.random() < 0.3:
        body = "".join(chance.choice(PIECES) for _ in range(12))
    line = chance.choice(HEADS) + body * (size // len(body) + 1)
    return line[: size - 20] + chance.choice(TAILS)


def mutated(line: str, chance: random.Random) -> str:
    """The line with a piece put in, cut out or repeated."""
    at = chance.randrange(len(line) + 1)
    end = min(at + chance.choice((1, 5, 40, 400)), len(line))
    change: Callable[[], str] = chance.choice(
        (
            lambda: line[:at] + chance.choice(PIECES) * chance.choice((1, 10, 100)) + line[at:],
            lambda: line[:at] + line[end:],
            lambda: line[:end] + line[at:end] * chance.choice((2, 20)) + line[end:],
            lambda: chance.choice(HEADS) + line + chance.choice(TAILS),
        )
    )
    return change()[:MAX_LINE]


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(8))
def test_no_line_is_slow(seed: int) -> None:
    """A search that keeps and changes the slowest lines finds none over the limit."""
    chance = random.Random(seed)  # noqa: S311 - a fixed sequence
    kept: list[tuple[float, str]] = []
    for _ in range(1_500):
        line = grown(chance) if len(kept) < 20 or chance.random() < 0.5 else mutated(chance.choice(kept)[1], chance)
        took = seconds(line)
        assert took < LIMIT_S, f"{took * 1e3:.0f} ms: {line[:60]!r} ... {line[-30:]!r} ({len(line)} characters)"
        kept = sorted([*kept, (took, line)], reverse=True)[:20]
