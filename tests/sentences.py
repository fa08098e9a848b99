"""Which sentences of the catalogue a text holds. Tests name a sentence by its key or fact, and never quote it."""

from __future__ import annotations

import re
import string
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

from bot import wording as process_wording
from hitl.cards import wording
from hitl.policy import wording as policy_wording
from sayso_client import wording as client_wording

if TYPE_CHECKING:
    from collections.abc import Iterator

E = TypeVar("E", bound=BaseException)

#: For each adapter with a catalogue of its own: its sentences.
OWNERS = {
    path.parent.name: import_module(f"adapters.{path.parent.name}.wording").ENGLISH
    for path in sorted((Path(__file__).parents[1] / "adapters").glob("*/wording.py"))
}
#: The service's catalogue, with that of the policy engine, of its process and of each adapter.
SERVICE = {
    **wording.ENGLISH,
    **policy_wording.ENGLISH,
    **process_wording.ENGLISH,
    **{key: text for sentences in OWNERS.values() for key, text in sentences.items()},
}
#: The service's catalogue and the client's.
ENGLISH = {**SERVICE, **client_wording.ENGLISH}


def says(text: str, what: str, /, **particulars: object) -> bool:
    """Whether a text holds that sentence of the catalogue, with these particulars; those not given may be any.

    Line breaks count as blanks, and a sentence may stand without its full stop inside another one.
    """
    wanted = frozenset((name, str(value)) for name, value in particulars.items())
    return _pattern(str(what), wanted).search(" ".join(text.split())) is not None


@contextmanager
def raises(error: type[E], what: str, /, **particulars: object) -> Iterator[pytest.ExceptionInfo[E]]:
    """Expect an error whose text holds that sentence of the catalogue, with these particulars."""
    with pytest.raises(error) as caught:
        yield caught
    assert says(str(caught.value), what, **particulars), str(caught.value)


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
