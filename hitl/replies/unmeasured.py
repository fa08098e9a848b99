"""Languages without a file of their own: a few exact phrases each, and nothing else."""

from collections.abc import Sequence
from functools import cache

from hitl.replies import data
from hitl.replies.model import Verdict
from hitl.replies.spelling import pieces

_SIGNS = (("yes", Verdict.APPROVE), ("no", Verdict.REJECT))


def signs(words: Sequence[str]) -> dict[str, Verdict]:
    """Give the languages in which these words, and nothing but them, are a known answer, with what it says there."""
    return _table().get("".join(words), {})


@cache
def _table() -> dict[str, dict[str, Verdict]]:
    table: dict[str, dict[str, Verdict]] = {}
    for line in data.lines("unmeasured.txt"):
        code, _, *answers = (field.strip() for field in line.split("|"))
        for (label, verdict), answer in zip(_SIGNS, answers, strict=True):
            for phrase in answer.removeprefix(f"{label}:").split(","):
                table.setdefault(_key(phrase), {})[code] = verdict
    return table


def _key(phrase: str) -> str:
    return "".join(piece for word in phrase.split() for piece in pieces(word))
