"""The tables of programs: well formed, and without an option that does more than its section says."""

import re
from pathlib import Path

import pytest

from hitl.policy.tables import known

PROGRAMS = known.programs()
JUDGED = frozenset(("path", "named", "out", "folder"))


def _dangerous() -> list[tuple[str, tuple[str, ...], str]]:
    """Each row of dangerous.txt as (section, options, why)."""
    rows = Path(__file__).with_name("dangerous.txt").read_text(encoding="utf-8").splitlines()
    parts = [row.split(" : ") for row in rows if row and not row.startswith("#")]
    return [(section, tuple(options.split()), why) for section, options, why in parts]


def _open(program: known.Program, options: tuple[str, ...]) -> list[str]:
    """The options that the program allows, and whose value isn't judged as a file or folder."""
    return [one for one in options if one in program.options and program.options[one].kind not in JUDGED]


@pytest.mark.parametrize(("section", "options", "why"), _dangerous())
def test_an_option_that_does_more_than_its_program_asks(section: str, options: tuple[str, ...], why: str) -> None:
    """An option that writes, runs, connects or reads elsewhere isn't allowed, or names a file that is judged."""
    assert _open(PROGRAMS[tuple(section.split())], options) == [], why


def test_the_list_of_dangerous_options_is_large_enough() -> None:
    """The list holds at least 300 options, so that a careless edit of the tables meets one of them."""
    assert len({(section, option) for section, options, _ in _dangerous() for option in options}) >= 300


@pytest.mark.parametrize("kind", ["", ":text", "[text]"])
def test_allowing_a_dangerous_option_is_noticed(kind: str) -> None:
    """A table that allows a dangerous option as a flag, or with any text, fails the test above."""
    for section, options, why in _dangerous():
        table = f"[{section}]\nsays = {why}\noptions = {' '.join(one + kind for one in options)}\n"
        assert _open(known.parse(table)[0], options) == list(options)


def test_what_a_program_does_is_a_phrase() -> None:
    """`says` completes the sentence "The command ..." with a verb in the third person and without a full stop."""
    for path, program in PROGRAMS.items():
        if program.subcommands:
            assert program.operands == (), path
        else:
            assert re.fullmatch(r"[a-z]+s(,? .*[^.])?", program.says), path
            assert len(program.says) <= 60, path


def test_keys_of_a_section_name_options_that_it_has() -> None:
    """`needs`, `tree`, `names` and the forms of operands name options of their section."""
    for path, program in PROGRAMS.items():
        given = {option for form in program.operands for option in form.given}
        assert program.needs | given <= program.options.keys(), path
        assert program.tree | program.names <= program.options.keys() | program.asks.keys(), path


def test_a_section_is_reached_by_its_words() -> None:
    """A section is found by its words, whatever follows them, and one of a sub-command lies behind its program's."""
    for path, program in PROGRAMS.items():
        assert known.program(path) is program


def test_interpreters_and_builders_need_a_question() -> None:
    """Without an option, these programs would read a program from standard input or build, so one is needed."""
    for name in ("python3", "node", "ruby", "perl", "php", "java", "psql", "sqlite3", "gdb", "ssh", "curl"):
        program = PROGRAMS[name,]
        assert program.needs == frozenset(program.options)
        assert [form.kinds for form in program.operands] == [()]


@pytest.mark.parametrize("name", ["printenv", "sudo", "eval", "source", "git daemon",
                                  "docker inspect", "docker exec", "docker run", "kubectl exec", "kubectl apply",
                                  "gh api", "systemctl show", "systemctl cat", "ldd", "dc", "export"])  # fmt: skip
def test_what_shows_secrets_or_runs_anything_has_no_section(name: str) -> None:
    """Programs that print environments and settings with tokens, or that run what they are given, aren't listed."""
    assert tuple(name.split()) not in PROGRAMS


@pytest.mark.parametrize(
    ("kind", "yes", "no"),
    [
        ("word(pods,svc)", ("pods", "svc", "pods,svc"), ("secrets", "pods,secrets", "", "pod", "pods/x", "pods,")),
        ("format", ("+%F", "+"), ("12:00", "0101", "-s")),
        ("pretty", ("%h %s", "oneline", "%(refname)"), ("%G?", "%GK", "%+G?", "% GS", "x%-GG", "%(signature)")),
        ("pretty", ("%(*subject)",), ("%(*signature)", "%(*signature:grade)", "%(refname) %(signature:key)")),
        ("order", ("refname", "-committerdate", "*authordate"), ("signature", "-signature:grade", "*signature")),
        ("pretty", ("fuller", "", "format:x", "tformat:%h"), ("mine", "onel", "Format:%G?", "formatted", "short2")),
        ("named", ("a.tar", "./x/y"), ("@options", "+x", "host:file", "a:b")),
        ("number", ("1", "-5", "+3", "2.5s", "10MB"), ("", "x", "1;2", "1 2", "--5", "٣")),
        ("text", ("", "anything"), ()),
    ],
)
def test_a_kind_of_spelling(kind: str, yes: tuple[str, ...], no: tuple[str, ...]) -> None:
    """`accepts` judges kinds that are a matter of spelling alone."""
    assert all(known.accepts(kind, word) for word in yes)
    assert not any(known.accepts(kind, word) for word in no)


def test_a_section_takes_over_another_and_has_the_last_word() -> None:
    """With `like`, options are taken over; what the section itself allows or asks about wins."""
    _, other = known.parse(
        "[a]\nsays = x\noptions = -p --new\nasks = --output=out -z\nstyle = exact\ntree = always\n"
        "[b]\nlike = a\nsays = y\noptions = -z\nasks = --new\noperands = path\n"
    )
    assert other.options.keys() == {"-p", "-z"}
    assert other.asks.keys() == {"--output", "--new"}
    assert (other.style, other.always_tree, other.says) == ("exact", True, "y")


@pytest.mark.parametrize(
    "text",
    [
        "[a]\nsay = x\n",
        "[a]\ndoes = harm\n",
        "[a]\noptions = -x:thing\n",
        "[a]\noptions = -x -x\n",
        "[a]\noptions = -x\nasks = -x\n",
        "[a]\noptions = x\n",
        "[a]\noperands = thing\n",
        "[a]\nlike = b\n",
        "[a]\n[b | a]\n",
    ],
)
def test_a_mistake_in_the_data_is_an_error(text: str) -> None:
    """Unknown keys, effects and kinds, options that come twice or can't be read, and a missing base are errors."""
    with pytest.raises(ValueError, match="a"):
        known.parse(text)
