"""What a call says is masked once, and where that takes long, beside the event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from hitl.call import Verb
from hitl.cards import masked
from hitl.cards.card import card
from tests.hitl.world import ANN, World

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


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


async def test_a_large_call_is_masked_beside_the_loop_before_it_is_decided(world: World) -> None:
    """The gate makes the texts of a large call elsewhere, once, before the first decision looks at the call."""
    made: list[object] = []

    async def beside(work: Callable[[], T], /) -> T:
        made.append(result := work())
        return result

    world.gate.beside = beside
    small, large = await world.ask(args={"path": "small"}), await world.ask(args={"path": "long " * 5000})
    await world.press(small, ANN, Verb.APPROVE)
    await world.press(large, ANN, Verb.APPROVE)
    await world.gate.ready(large)

    assert [masked.masked(large)] == made
    assert card(large).left_out
