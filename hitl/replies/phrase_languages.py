"""Reads answers in the languages that have no file of their own.

For each of these languages, only a few exact phrases are known.
"""

from collections.abc import Sequence
from functools import cache

from hitl.replies import data
from hitl.replies.model import Meaning
from hitl.replies.spelling import pieces

_SIGNS = (("yes", Meaning.APPROVE), ("no", Meaning.REJECT))


#: The highest number of words of a message that is compared with the phrases.
_MOST_WORDS = 8


def signs(words: Sequence[str]) -> dict[str, Meaning]:
    """Return code -> verdict for each language in which all the words are one known answer, or several equal answers.

    "áno, súhlasím" is two answers that agree. Repeated words are no answer: "bai bai" may be Basque for yes, or the
    sound of "bye bye".
    """
    table, count = _table(), len(words)
    if count > _MOST_WORDS or len(set(words)) < count:
        return {}
    found: dict[int, dict[str, Meaning]] = {0: {}}
    for end in range(1, count + 1):
        agreed: dict[str, Meaning] = {}
        for start, before in found.items():
            said = table.get("".join(words[start:end]))
            if said:
                agreed |= {code: said[code] for code in said if not start or before.get(code) is said[code]}
        if agreed:
            found[end] = agreed
    return found.get(count, {}) if count else {}


@cache
def _table() -> dict[str, dict[str, Meaning]]:
    table: dict[str, dict[str, Meaning]] = {}
    for line in data.lines("unmeasured.txt"):
        code, _, *answers = (field.strip() for field in line.split("|"))
        for (label, verdict), answer in zip(_SIGNS, answers, strict=True):
            for phrase in answer.removeprefix(f"{label}:").split(","):
                table.setdefault(_key(phrase), {})[code] = verdict
    return table


def _key(phrase: str) -> str:
    return "".join(piece for word in phrase.split() for piece in pieces(word))
