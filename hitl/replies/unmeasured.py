"""Languages without a file of their own: a few exact phrases each, and nothing else."""

from collections.abc import Sequence
from functools import cache

from hitl.replies import data
from hitl.replies.model import Verdict
from hitl.replies.spelling import pieces

_SIGNS = (("yes", Verdict.APPROVE), ("no", Verdict.REJECT))


#: Longer messages aren't looked up.
_MOST_WORDS = 8


def signs(words: Sequence[str]) -> dict[str, Verdict]:
    """Give the languages in which these words are known answers that agree, with what they say there.

    "áno, súhlasím" is two of them. The same phrase twice is none: "bye bye" is Basque's yes by its sound alone.
    """
    table, count = _table(), len(words)
    if count > _MOST_WORDS or len(set(words)) < count:
        return {}
    found: list[dict[str, Verdict]] = [{}]
    for end in range(1, count + 1):
        hits = [(start, table.get("".join(words[start:end]), {})) for start in range(end)]
        agreed = (hit for start, said in hits for hit in said.items() if not start or hit in found[start].items())
        found.append(dict(agreed))
    return found[-1]


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
