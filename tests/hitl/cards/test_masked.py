"""What a call says is masked once, and where that takes long, beside the event loop."""

from __future__ import annotations

from typing import Any

import pytest

from hitl.call import Verb
from hitl.cards import masked
from hitl.cards.card import card, headline, listed
from hitl.cards.languages import wording_of
from tests.hitl.large import Beside, push_out
from tests.hitl.world import ANN, World


@pytest.mark.parametrize(
    ("args", "large"),
    [
        ({}, False),
        ({"text": "x" * 1000}, False),
        ({"text": "x" * 20_000}, True),
        ({"argv": ["w"] * 20_000}, True),
        ({str(n): n for n in range(20_000)}, True),
        ({"a": [[["w" * 100] * 50] * 4]}, True),
        ({"x" * 20_000: 1}, True),
        ({"n": list(range(200))}, False),
    ],
    ids=["none", "a text", "a long text", "many words", "many names", "nested", "a long name", "numbers"],
)
def test_large_arguments_are_seen_before_they_are_read(args: dict[str, Any], large: bool) -> None:  # noqa: FBT001
    """Arguments are large by the characters of their texts and names and by the number of their items, at any depth."""
    assert large is masked.looks_large(args)


async def test_the_texts_of_a_call_are_made_once(world: World) -> None:
    """Cards and views of one call share its texts; a call with other arguments has its own."""
    one, other = await world.ask(args={"path": "a"}), await world.ask(args={"path": "b"})

    assert masked.masked(one) is masked.masked(one)
    assert masked.masked(one).arguments != masked.masked(other).arguments


async def test_many_small_arguments_count_for_the_objects_that_hold_them(world: World) -> None:
    """A call of many tiny arguments takes far more memory than its characters, and counts for that."""
    call = await world.ask(args={str(n): "" for n in range(1000)})

    assert len(masked.masked(call)) > 100 * 1000


async def test_many_names_that_look_the_same_stay_apart(world: World) -> None:
    """Each has a number of its own, so that no search for a free name grows with them."""
    call = await world.ask(args={f"ghp_{n:036}": n for n in range(3)} | {"ghp_[masked 36]'": 3})

    assert {"", "'", "''", "'2"} == {name.removeprefix("ghp_[masked 36]") for name in masked.masked(call).values}


async def test_a_list_needs_the_texts_of_each_large_call_once(world: World) -> None:
    """The masked texts of sixteen of the largest calls are kept, but agents may have more of them pending."""
    call = await world.ask(args={"path": "listed " * 5000})
    shown = listed(call), headline(call)
    push_out(call)
    world.gate.beside = beside = Beside()
    await world.gate.ready_to_list(call)

    assert (shown, []) == ((listed(call), headline(call)), beside.made)


async def test_a_list_masks_a_large_call_that_it_has_not_shown(world: World) -> None:
    """In each language: the headline differs between them."""
    call = await world.ask(args={"path": "in German " * 5000})
    headline(call)
    push_out(call)
    world.gate.beside = beside = Beside()
    await world.gate.ready_to_list(call, wording_of("de"))

    assert [masked.masked(call)] == beside.made


async def test_a_large_call_is_masked_beside_the_loop_before_it_is_decided(world: World) -> None:
    """The gate makes the texts of a large call elsewhere, once, before the first decision looks at the call."""
    world.gate.beside = beside = Beside()
    small, large = await world.ask(args={"path": "small"}), await world.ask(args={"path": "long " * 5000})
    await world.press(small, ANN, Verb.APPROVE)
    await world.press(large, ANN, Verb.APPROVE)
    await world.gate.ready(large)

    assert [masked.masked(large)] == beside.made
    assert card(large).left_out
