"""The tables hold every option that the manuals of installed programs know."""

from pathlib import Path

import pytest

from hitl.policy.tables import known
from tests.hitl.policy.tables.manuals import unlisted, version

PROGRAMS = known.programs()


def _complete() -> list[str]:
    """The sections that must list every option: those of programs that read.

    A long option may be shortened for many of them, so that an option that isn't listed could be taken for a listed
    one. Where options are whole words (`style = words`), and for programs that change things, it just asks. Names of
    one sub-command (`pip list` and `pip3 list`) are compared once.
    """
    found: dict[object, str] = {}
    for path, one in PROGRAMS.items():
        if one.does == "read" and one.style != "words":
            same = (one.says, *one.options, *one.asks) if len(path) > 1 else path
            found.setdefault(same, " ".join(path))
    return list(found.values())


def _checked() -> dict[str, str]:
    """The version of each program with which its table was compared."""
    rows = Path(__file__).with_name("versions.txt").read_text(encoding="utf-8").splitlines()
    parts = [row.split(": ") for row in rows if row and not row.startswith("#")]
    return {program: number for number, programs in parts for program in programs.split()}


@pytest.mark.parametrize("name", _complete())
def test_every_option_of_the_manual_is_allowed_or_asks(name: str) -> None:
    """What a program's help and manual page know is in `options` or `asks`.

    Programs that aren't installed are skipped, and so is another version than the one that the table was compared with:
    its new options aren't in the table, so they ask.
    """
    program = PROGRAMS[tuple(name.split())]
    left = unlisted(program)
    if left and _is_another_version(program.path[0]):
        pytest.skip(f"another version; not in the table: {' '.join(left)}")
    assert left == []


@pytest.mark.parametrize("name", ["head", "sort", "grep", "diff", "git log"])
def test_an_option_that_is_dropped_from_the_table_is_noticed(name: str) -> None:
    """The comparison finds an option that the table lacks, if the program is installed."""
    program = PROGRAMS[tuple(name.split())]
    bare = known.parse(f"[{name}]\nsays = reads\noperands = none\n")[0]
    missing = set(unlisted(bare))
    if not missing:
        pytest.skip("not installed")
    assert missing & program.options.keys()
    assert missing <= program.options.keys() | program.asks.keys() or _is_another_version(program.path[0])


def _is_another_version(program: str) -> bool:
    number = _checked().get(program)
    return number is None or number not in version(program)
