"""Headlines that an operator wrote: which ones are taken, and how arguments fill them."""

from __future__ import annotations

import pytest

from hitl.cards.templates import check, filled


@pytest.mark.parametrize("template", ["Pay {amount} to {to}", "Restart", "Ask {to.name} about {a-b}"])
def test_a_template_names_arguments_or_none(template: str) -> None:
    """Names have letters, digits, _ and -, with dots between them."""
    assert template == check(template)


@pytest.mark.parametrize(
    "template", ["", " ", "Pay {", "Pay }", "Pay {}", "Pay {a b}", "Pay {0.__class__!r}", "x" * 201]
)
def test_anything_else_is_refused(template: str) -> None:
    """Braces that hold no name, formats and attributes of Python, and headlines of any length."""
    with pytest.raises(ValueError, match=r"."):
        check(template)


def test_a_value_inside_an_argument_can_be_named() -> None:
    """Such an argument isn't shown whole, so it is shown below as well."""
    assert ("Ask Ada", frozenset()) == filled("Ask {to.name}", {"to": {"name": "Ada", "id": 7}})


@pytest.mark.parametrize("inside", ["Eve", "Ada", {"name": "Eve"}, 0, False])
def test_a_template_is_not_filled_if_its_name_fits_two_values(inside: object) -> None:
    """The tool may pay `to.name` inside `to`, whatever a second argument with the name `to.name` says."""
    assert filled("Pay {to.name}", {"to.name": "Ada", "to": {"name": inside}}) is None
    assert ("Pay Ada", frozenset({"to.name"})) == filled("Pay {to.name}", {"to.name": "Ada", "to": "Eve"})


@pytest.mark.parametrize("value", [None, [], {}, "", " ", ["x"]])
def test_a_template_without_its_value_is_not_filled(value: object) -> None:
    """A list, an object, a null or a blank text has no place in a sentence."""
    assert filled("Pay {amount}", {"amount": value}) is None


@pytest.mark.parametrize(
    ("value", "shown"), [(True, "true"), (5, "5"), (2.5, "2.5"), ("a.b/c", "a.b/c"), ("a;b", "“a;b”")]
)
def test_values_are_spelled_as_they_are(value: object, shown: str) -> None:
    """Quoted unless it is plainly one value."""
    assert (f"Set {shown}", frozenset({"to"})) == filled("Set {to}", {"to": value})
