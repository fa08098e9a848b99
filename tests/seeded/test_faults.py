"""The seeded faults can still be put into the code, and what became of each is on record."""

from __future__ import annotations

import ast

from tests.seeded.faults import AREAS, TREE, caught, load


def test_each_fault_still_has_its_place() -> None:
    """The text that a fault replaces occurs exactly once in its file, and the file is Python with the fault too."""
    lost = []
    for fault in load():
        source = (TREE / fault.file).read_text()
        ast.parse(source.replace(fault.old, fault.new))
        if source.count(fault.old) != 1 or fault.old == fault.new:
            lost.append(fault.name)

    assert [] == lost


def test_each_fault_is_told_apart_and_told_in_a_sentence() -> None:
    """Names are used once; each fault says in a sentence what it breaks, and in which area."""
    faults = load()

    assert len(faults) == len({fault.name for fault in faults})
    assert set(AREAS) == {fault.area for fault in faults}
    assert [] == [fault.name for fault in faults if not (fault.sentence[0].isupper() and fault.sentence.endswith("."))]


def test_each_fault_is_caught_or_said_to_be_none() -> None:
    """The last run tried every fault; one that nothing caught has a reason why that is no hole."""
    found = caught()

    assert [fault.name for fault in load()] == list(found)
    assert [] == [name for name, told in found.items() if not any(told.values())]
