"""Arguments as their caller wrote them: their order and their digits, beside the values that are bound."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from hitl.cards.card import card, details
from hitl.cards.data import view
from hitl.cards.written import Form, form_of, in_form, plain, read, spelled
from tests.hitl.world import WRITE, World

TEXT = (
    '{"to": {"name": "Acme", "iban": "DE02", "a/b": 1e3}, "amount": 1250.00, "deep": {"all": [1.0, 2], "rate": 0.10}}'
)


def test_digits_and_order_are_kept_beside_ordinary_values() -> None:
    """What a policy judges and a tool gets are ordinary numbers. The form names values by JSON pointers."""
    args = read(TEXT)

    order = ("/to", "/amount", "/deep", "/to/name", "/to/iban", "/to/a~1b")
    numbers = (("/amount", "1250.00"), ("/to/a~1b", "1e3"), ("/deep/rate", "0.10"), ("/deep/all/0", "1.0"))
    assert Form(order, numbers) == form_of(args)
    assert {float} == {type(plain(args)["amount"]), type(plain(args)["deep"]["rate"])}
    assert TEXT == spelled(in_form(plain(args), form_of(args)))


def test_the_canonical_order_is_not_kept() -> None:
    """Nothing is stored for arguments that are sorted anyway, nor for floods of names or numbers."""
    assert Form() == form_of({"a": 1, "b": {"c": 2}}) == form_of({f"n{n}": 1 for n in range(1000, 0, -1)})
    assert 200 == len(form_of({"all": [read("1.0")] * 1_000_000}).numbers)


def test_nothing_below_a_long_name_is_looked_at() -> None:
    """Its pointer would be repeated for each value below it."""
    args = {"n" * 1_000_000: [read("1.0")] * 20_000}
    tracemalloc.start()
    form = form_of(args)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert Form() == form
    assert most < 10_000_000


@pytest.mark.parametrize("text", ["1.00", "1250.00 EUR", "nan", "1_250", "١٢٥٠", "+1250.0", " 1250"])
def test_a_form_never_shows_another_value(text: str) -> None:
    """Digits of another number, other words, names and places that aren't in the arguments change nothing."""
    args = {"amount": 1250, "to": ["Acme"], "sure": True}
    form = Form(("/gone", "/to/5"), (("/amount", text), ("/to", "1"), ("/sure", "1.0"), ("/gone", "1.0")))

    assert args == in_form(args, form)
    assert '{"amount": 1250, "to": ["Acme"], "sure": true}' == spelled(in_form(args, form))


@pytest.mark.parametrize(
    "text", ["4.99999999999999999999999", "1e-400", "0.1000000000000000055511151231", "1e-99999999999999999999"]
)
def test_digits_that_the_number_cannot_hold_are_not_shown(text: str) -> None:
    """A double rounds them away, so the card shows the number that runs."""
    args = read(f'{{"amount": {text}}}')

    assert plain(args) == in_form(plain(args), form_of(args))
    assert text not in spelled(in_form(plain(args), form_of(args)))


async def test_a_card_shows_them_as_they_were_written() -> None:
    """From the request to card, details and view, at any depth; the digest is that of the canonical form."""
    world = World()
    written, ordinary = await world.ask(WRITE, args=read(TEXT)), await world.ask(WRITE, args=plain(read(TEXT)))

    assert {
        "to": '{"name": "Acme", "iban": "DE02", "a/b": 1e3}',
        "amount": "1250.00",
        "deep": '{"all": [1.0, 2], "rate": 0.10}',
    } == (shown := {part.name: part.text for part in card(written).parts})
    assert ["to", "amount", "deep"] == list(shown)
    assert '"amount": 1250.00,' in details(written)
    assert ["name", "iban", "a/b"] == list(view(written)["args"]["to"])
    assert written.digest == ordinary.digest


async def test_a_secret_stays_masked_in_its_callers_form() -> None:
    """A number under the name of a secret shows no digits."""
    world = World()
    args: dict[str, Any] = read('{"to": "x", "deep": {"pin": 1, "api_key": 12345678.50}}')

    assert "12345678" not in details(await world.ask(WRITE, args=args))
