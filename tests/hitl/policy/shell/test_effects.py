"""What a plain line does: its steps, the paths that it uses, and what is not understood whole."""

import random

import pytest

from hitl.policy.shell.effects import MAX_WORDS, Effects, effects
from hitl.policy.shell.found import MAX_USES
from hitl.policy.shell.plain import MAX_LINE, steps
from hitl.policy.shell.plain_words import NotPlain


def does(line: str | tuple[str, ...], folder: str = "") -> Effects:
    """The effects of a line that must be understood."""
    found = effects(line, folder)
    assert isinstance(found, Effects), found
    return found


def uses(line: str) -> set[tuple[str, str]]:
    """How a line uses which paths."""
    return {(use.how, use.path) for use in does(line).uses}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cat a b/c", {("read", "a"), ("read", "b/c")}),
        ("cat <a >b", {("read", "a"), ("write", "b")}),
        ("cd src && cat a; cat b", {("read", "src"), ("read", "src/a"), ("read", "b"), ("read", "src/b")}),
        ("(cd src; cat a); cat b", {("read", "src"), ("read", "src/a"), ("read", "a"), ("read", "b")}),
        ("cd src | cat a", {("read", "src"), ("read", "a")}),
        ("for f in a 'b c'; do cat \"$f\"; done", {("read", "a"), ("read", "b c")}),
        ("grep -f list x y", {("read", "list"), ("read", "x"), ("read", "y")}),
        ("grep -r x src", {("tree", "src")}),
        ("find src -name '*.py' -exec cat {} +", {("read", "src"), ("tree", "src")}),
        ("find src -print0 | xargs -0 cat", {("read", "src"), ("tree", "src")}),
        ("git diff -- src/a.py", {("repository", "."), ("former", "src/a.py")}),
        ("git show HEAD:src/b.py", {("repository", "."), ("read", "src/b.py")}),
        ("git log --stat -- src", {("repository", "."), ("read", "src")}),
        ("git diff -- src", {("repository", "."), ("tracked", "src")}),
        ("git -C sub status", {("read", "sub"), ("repository", "sub/.")}),
        ("git show HEAD:src/a.py", {("repository", "."), ("read", "src/a.py")}),
        ("git diff", {("repository", "."), ("tracked", ".")}),
        ("test -f a && echo yes", {("read", "a")}),
        ("sed -i s/a/b/ f", {("write", "f")}),
        ("cp a b", {("read", "a"), ("write", "b"), ("moved", "a")}),
        ("mv a b", {("write", "a"), ("write", "b"), ("moved", "a")}),
        ("ls 2>/dev/null", {("read", ".")}),
    ],
)
def test_each_path_is_told_with_how_it_is_used(line: str, expected: set[tuple[str, str]]) -> None:
    """Operands, options, redirections and the working folder give the paths that a line reads and writes."""
    assert expected == uses(line)


@pytest.mark.parametrize(
    ("line", "strongest"),
    [("cat a", "read"), ("docker ps", "query"), ("echo x > a", "write"), ("pytest -q", "build"), ("rm a", "delete")],
)
def test_the_strongest_effect_counts(line: str, strongest: str) -> None:
    """A line is as strong as the strongest thing that it does."""
    assert strongest == does(line).strongest
    assert strongest == does(f"ls && {line}").strongest


@pytest.mark.parametrize(
    "line",
    [
        "printf '0%n' PATH; ls", "command cd a; cat b", "time cd a; cat b", "command read PATH < f; ls",
        "acme", "./ls", "cat --acme a", "$x", "cat $x", "x=a cat b", "PATH=. ls", "ls &", "ls; f(){ ls; }; f",
        "eval ls", "cat $(ls)", "cat >(ls)", "cat <<E\n$(ls)\nE", "echo $((1+a[0]))", "echo ${x:-a}", "cat {a,b}",
        "cat a\\\nb", "x=a; x=b; cat $x", "x=a; if ls; then x=b; fi; cat $x", "for i in 1 2; do cat $x; x=b; done",
        "ls && x=a; echo $x", "while ls; do cd a; done", "cd; ls", "cd -; ls", "cd ~; ls", "echo ls | bash",
        "bash a.sh", "env", "env A=b ls", "read 'a[$(ls)]' < f", "[[ x -gt 0 ]]", "[[ -v 'a[$(ls)]' ]]",
        "[[ $x -eq 1 ]]", "printf -v PATH x; ls", "find . -ls | xargs cat", "find . -print0 | xargs cat",
        'find . | xargs -I "$HOME" cat "$(cat a)"', 'find . | xargs --replace="$(pwd)" cat "$(cat a)"',
        "find . | xargs -I '' cat ''", "ls | xargs cat", "ls | xargs", "find . -execdir cat {} +",
        "find . -fprint a", "find . -exec {} +", "find -L . -exec cat {} +", "sed 'w a' b",
        "sed '1e ls' a", "sed -f a b", 'awk \'{print > "a"}\' b',
        'awk \'{print $1 | "sh"}\' b', 'awk \'BEGIN{ARGV[1]="x"}\' b', 'jq \'import "a" as $a; .\' b',
        "git -c a.b=c status", "git show abc1234", "git cat-file -p abc1234", "git log --output=a",
        "xxd a -u", "uniq a -c", "read -aPATH < f; ls", "read -raIFS < f", "jq '$ ENV' b",
        "true | cd a; cat b", "true | { cd a; }; cat b",
        "git diff --no-index a b", "git diff --ext-diff", "git add a; git status", "git diff HEAD~1", "git acme",
        "git status --acme", "tar xf a", "tar tfv a:b", "tar tfz a:b", "tar t* a",
        "date -s now", "date 0101000020", "sort -o a b",
        "grep -e *", "sort -k *", "head -n *.md", "git log --grep *", "rg -g *.py x", "grep -r x --include *.py .",
        "ss *", "journalctl *", "dpkg -l *", "git tag -l *", "pip show *", "git branch --list ?x",
        "grep -r x --include=* .", "grep -r x --exclude=*.py .", "rg x --glob=*.py",
    ],
)  # fmt: skip
def test_what_is_not_understood_whole_tells_why(line: str) -> None:
    """Unknown programs and options, values known only at run time and syntax with a life of its own are not told."""
    assert isinstance(effects(line), str)


@pytest.mark.parametrize(
    "line",
    ["grep -rn x --include=*.py .", "tr * x", "echo *", "printf '%s' *", "basename *", "git tag -l 'v*'", "ss -t"],
)
def test_a_pattern_of_file_names_that_becomes_no_option_only_reads(line: str) -> None:
    """The program has no option that asks, takes none there, or gets only more endings of names."""
    assert does(line).strongest == "read"


@pytest.mark.parametrize(
    "test", ["{a} {b}", "! {a} {b}", "x -a {a} {b}", "{a} x", "{a} x.md", "{a} -x -a b", "-n {a} {b}", "{a} {b} {c}"]
)
@pytest.mark.parametrize("value", ['"$a"', '"$(cat f)"', '"x$a"'])
def test_a_test_gets_no_value_in_place_of_an_operator(test: str, value: str) -> None:
    """`test -v NAME` and `test -t NUMBER` run a command in a subscript, and values may come from a file."""
    words = test.format(a=value, b='"$b"', c='"$c"')

    assert isinstance(effects(f"read a b c < f; test {words}"), str)
    assert isinstance(effects(f"read a b c < f; [ {words} ]"), str)


@pytest.mark.parametrize("test", ['"$a" = "$b"', '"$a" -gt 3', '-n "$a"', '! -z "$a"', '"$a"', '-n "$a" -o "$b" != x'])
def test_a_test_that_compares_values_only_reads(test: str) -> None:
    """Values on both sides of a written operator, and a value alone, are texts."""
    assert does(f"read a b < f; test {test}").strongest == does(f"read a b < f; [ {test} ]").strongest == "read"


@pytest.mark.parametrize("name", ["FUNCNEST", "OPTIND", "TMOUT", "HISTSIZE", "READNULLCMD"])
@pytest.mark.parametrize("line", ["read {} < a; ls", "{}=$(cat a); ls", "for {} in a b; do ls; done", "{}=1; ls"])
def test_a_variable_that_zsh_computes_is_not_set(name: str, line: str) -> None:
    """A text such as `a[$(ls)]`, which may come from a file, would run a command when zsh makes a number of it."""
    assert isinstance(effects(line.format(name)), str)
    assert does(line.format("name")).strongest == "read"


@pytest.mark.parametrize(
    "name", ["PATH", "path", "fpath", "cdpath", "commands", "BASH_CMDS", "IFS", "'x?y'", "a-b", "3"]
)
@pytest.mark.parametrize("line", ["read {}; ls", "echo src | read {} && ls", "ls | read -r {}", "read a {} || ls"])
def test_what_read_may_set_does_not_hang_on_the_other_words(name: str, line: str) -> None:
    """`read` may set only plain variables, with and without quotes in the line. Zsh keeps them after a pipe."""
    assert isinstance(effects(line.format(name)), str)
    assert isinstance(effects(f"{line.format(name)} ''"), str)
    assert does(line.format("name")).strongest == "read"


@pytest.mark.parametrize(
    "script",
    [
        "s|[|]|;a |w b",
        "s|[]|]|;a |w b",
        "s|[^|]|;a |w b",
        r"s|[a\]|]|;a |w b",
        "s|[[.|.]]|;a |w b",
        "/[/]/;s/x/w b/",
        "i\nw b",
        "1,3a\nw b",
    ],
)
def test_a_sed_script_that_versions_of_sed_split_differently_is_not_told(script: str) -> None:
    """GNU sed goes on behind a delimiter within brackets and behind a bare ``i``, so these scripts write the file b."""
    assert isinstance(effects(("sed", script, "a")), str)


@pytest.mark.parametrize(
    "script",
    [
        "s/[^ ]*//",
        "s/[[:space:]]*$//",
        r"s/[\/]/x/",
        "s/[]a]/x/",
        "/[[]/p",
        r"s/\[[^]]*\]//g",
        "s|[a/b]|x|",
        "1,/^[A-Z]/p",
    ],
)
def test_a_sed_script_with_a_plain_set_of_characters_only_reads(script: str) -> None:
    """A set without the delimiter means the same to every version of sed."""
    assert {"read"} == does(("sed", "-n", script, "a")).does


def test_an_argument_list_is_read_without_a_shell() -> None:
    """Shell syntax in a word of a list is only a word."""
    assert {("read", "a;b"), ("read", "$x")} == {(use.how, use.path) for use in does(("cat", "a;b", "$x")).uses}


def test_paths_are_told_from_the_calls_own_folder() -> None:
    """A command that runs in another folder uses that folder."""
    assert {"sub", "sub/a"} == {use.path for use in does("cat a", "sub").uses}


@pytest.mark.parametrize(
    "command",
    [("cat",) * (MAX_WORDS + 1), "cat " + " ".join(f"a{at}" for at in range(MAX_USES + 1)), "ls " + "a" * MAX_LINE,
     "ls;" * 200 + "ls", "bash -c " * 20 + "ls"],
    ids=["many words", "many paths", "a long line", "many commands", "many shells"],
)  # fmt: skip
def test_what_is_too_much_is_not_told(command: str | tuple[str, ...]) -> None:
    """Lists, lines and nesting have bounds, so that telling takes little time."""
    assert isinstance(effects(command[:5000] if isinstance(command, tuple) else command), str)


PARTS = ["ls", "cd a", "cat 'x y' b", "cd b", "pwd", 'grep "a b" f']
JOINTS = [" && ", " || ", "; ", " | "]


@pytest.mark.parametrize("seed", range(4))
def test_the_quick_way_knows_no_fewer_folders_than_the_tree(seed: int) -> None:
    """A list of simple commands is read without a tree; the steps are those that its tree gives, in as many folders."""
    chance = random.Random(seed)  # noqa: S311 - a fixed sequence
    for _ in range(150):
        line = chance.choice(PARTS)
        for _ in range(chance.randint(1, 4)):
            line += chance.choice(JOINTS) + chance.choice(PARTS)
        try:
            quick, whole = steps(line), steps(f"{line} ''")[: len(steps(line))]
        except NotPlain:
            continue
        for one, other in zip(quick, whole, strict=True):
            assert [word.text for word in one.words] == [word.text for word in other.words][: len(one.words)]
            assert set(one.folders) >= set(other.folders)
