"""Arguments as their caller wrote them: their order and their digits, beside the values that are bound."""

from __future__ import annotations

from hitl.cards.card import card
from hitl.cards.written import numbers_of, order_of, plain, read
from tests.hitl.world import WRITE, World

TEXT = '{"to": "Acme", "amount": 1250.00, "deep": {"rate": 0.10, "all": [1.0]}}'


def test_digits_and_order_are_kept_beside_ordinary_values() -> None:
    """What a policy judges and a tool gets are ordinary numbers."""
    args = read(TEXT)

    assert (("to", "amount", "deep"), (("amount", "1250.00"),)) == (order_of(args), numbers_of(args))
    assert {"to": "Acme", "amount": 1250.0, "deep": {"rate": 0.1, "all": [1.0]}} == plain(args)
    assert {float} == {type(plain(args)["amount"]), type(plain(args)["deep"]["rate"])}


def test_the_canonical_order_is_not_kept() -> None:
    """Nothing is stored for arguments that are sorted anyway, nor for floods of names."""
    assert () == order_of({"a": 1, "b": 2}) == order_of({f"n{n}": 1 for n in range(100, 0, -1)})


async def test_a_card_shows_them_as_they_were_written() -> None:
    """From the request to the card, through the store; the digest is that of the canonical form."""
    world = World()
    written, ordinary = await world.ask(WRITE, args=read(TEXT)), await world.ask(WRITE, args=plain(read(TEXT)))

    assert ["to", "amount", "deep"] == [part.name for part in card(written).parts]
    assert "1250.00" == card(written).parts[1].text
    assert written.digest == ordinary.digest
