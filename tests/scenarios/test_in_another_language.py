"""A conversation in another language: everything that people read there is in it, and their words count as ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hitl.call import Risk, Status, Verb
from hitl.cards.languages import LANGUAGES
from hitl.cards.redaction import mask
from hitl.outcomes import Told
from hitl.proof.canonical import digest_mark
from hitl.records import replace
from tests.pseudo import PSEUDO, outside, speak
from tests.scenarios.harness import PEOPLE

if TYPE_CHECKING:
    from tests.scenarios.harness import Stage

#: Values, names, and the words that people type.
KNOWN = (
    *PEOPLE,
    "offline workspace files shown delete_file delete_files bash write_file read_file list_files notes txt path",
    "Uma Ann Bob Sam ops Ops done make clean command pattern Does what its script says Deletes local slack telegram",
    "REF sayso yes no pending show approve reject cancel withdraw status whoami",
)


def speaking(stage: Stage, language: str) -> None:
    """Everybody reads that language."""
    stage.service.gate.people = replace(stage.service.gate.people, language=language)


async def test_nothing_that_people_read_is_outside_the_catalogue(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a pseudo-language: cards, questions, refusals, toasts, windows, details and outcomes."""
    speak(monkeypatch)
    speaking(stage, PSEUDO)
    first = await stage.ask("bash", {"command": "make clean"})
    await stage.surface.press("sam", first, Verb.APPROVE)
    await stage.surface.answer("ann", first, "yes?")
    await stage.surface.press("ann", first, Verb.DETAILS)
    await stage.surface.answer("ann", first, "yes")
    second = await stage.ask("delete_files", {"pattern": "*"})
    await stage.surface.react("ann", second, "👍")
    await stage.surface.press("ann", second, Verb.APPROVE)
    await stage.surface.answer("ann", second, f"no {second.short}")
    await stage.surface.answer("bob", second, "yes")

    assert [Status.SUCCEEDED, Status.REJECTED] == [await stage.status(first), await stage.status(second)]
    known = (
        *KNOWN,
        *stage.surface.identities.values(),
        first.digest,
        digest_mark(first.digest),
        "rule aaaaaaaaaaaa",
        mask(stage.executor.outcome.output),
    )
    for who in PEOPLE:
        assert [] == outside([*stage.surface.heard(who), stage.surface.card(first)], known)


async def test_in_german_the_words_of_the_card_count(stage: Stage) -> None:
    """A reader of the card answers with the words that it names, and hears the answer in German."""
    speaking(stage, "de")
    call = await stage.ask("delete_file")
    card = stage.surface.card(call)
    await stage.surface.answer("ann", call, "ja?")
    asked_back = [text for text in stage.surface.heard("ann") if _german(Told.UNCLEAR, call.short) in text]
    await stage.surface.answer("ann", call, "ja")

    assert Risk.HIGH is call.verdict.risk
    assert LANGUAGES["de"].say("card.risk.high") in card
    assert asked_back
    assert Status.SUCCEEDED == await stage.status(call)


def _german(told: Told, short: str) -> str:
    return LANGUAGES["de"].say(told, short=short, why="(").partition("((")[0]
