"""Which sentences of the catalogue a text holds. Tests name a sentence by its key or fact, and never quote it."""

from __future__ import annotations

import re
import string
from functools import lru_cache

from hitl.wording import ENGLISH


def says(text: str, what: str, /, **particulars: object) -> bool:
    """Whether a text holds that sentence of the catalogue, with these particulars; those not given may be any.

    Line breaks count as blanks, and a sentence may stand without its full stop inside another one.
    """
    wanted = frozenset((name, str(value)) for name, value in particulars.items())
    return _pattern(str(what), wanted).search(" ".join(text.split())) is not None


@lru_cache(maxsize=4096)
def _pattern(what: str, particulars: frozenset[tuple[str, str]]) -> re.Pattern[str]:
    given = dict(particulars)
    parts: list[str] = []
    for literal, name, form, _ in string.Formatter().parse(ENGLISH[what]):
        parts.append(re.escape(" ".join(literal.split(" ")).replace("\n", " ")))
        if name is not None:
            parts.append(re.escape(" ".join(given[name].split())) if name in given and not form else ".*?")
    assert given.keys() <= set(re.findall(r"\{(\w+)", ENGLISH[what])), f"{what} has no such particular: {given}"
    return re.compile(re.sub(r"\\\.$", r"\\.?", "".join(parts)))
