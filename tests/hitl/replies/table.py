"""Reads the tables of replies beside the tests."""

from collections.abc import Iterator
from pathlib import Path

CASES = Path(__file__).parent / "cases"
SIGNS = ("approve", "reject", "unclear")


def languages() -> list[str]:
    """Give the languages that have a table."""
    return sorted(path.stem for path in CASES.glob("*.txt"))


def rows(language: str) -> Iterator[tuple[str, str]]:
    """Give sign and reply for each line of a table; a section begins with `= sign`, a remark with `# `."""
    sign = ""
    for line in (CASES / f"{language}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            sign = line.removeprefix("= ")
        elif line.strip() and not line.startswith("# "):
            yield sign, line.replace("\\n", "\n")


def replies(sign: str) -> list[tuple[str, str]]:
    """Give language and text of all replies with a sign."""
    return [(language, text) for language in languages() for found, text in rows(language) if found == sign]
