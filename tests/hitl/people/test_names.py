"""What people are called: as their platform proved it last, never mixed up, and never more than a name."""

from __future__ import annotations

import pytest

from hitl.people import Directory
from hitl.people.names import Names, skeleton

ADA, BOB = "telegram:42", "telegram:43"


def test_a_person_is_called_what_the_platform_called_them_last() -> None:
    """A new name takes the old one's place."""
    names = Names()
    names.learn(ADA, "Ada")
    names.learn(ADA, "Ada L.")

    assert "Ada L." == names.of(ADA)


def test_who_was_never_heard_of_has_an_id() -> None:
    """Nothing is made up."""
    assert ADA == Names().of(ADA)


@pytest.mark.parametrize(
    ("principal", "name"),
    [("token:ci", "ci"), ("email:ada@example.org", "ada@example.org"), ("local:1000", "ada"), ("ops", "ops")],
)
def test_some_ids_tell_a_name(principal: str, name: str) -> None:
    """A token's, an address, a login of this machine, and the operator's own word for a person."""
    assert name == Names(login={1000: "ada"}.get).of(principal)


def test_a_person_of_several_platforms_is_called_as_where_the_card_is() -> None:
    """Elsewhere by any name that is known, and by the operator's word where none is."""
    names = Names(Directory(principals={"ada": (ADA, "slack:T1/U1")}))
    unknown = names.of("ada")
    names.learn(ADA, "Ada")
    names.learn("slack:T1/U1", "Ada Lovelace")

    assert ["ada", "Ada", "Ada Lovelace"] == [unknown, names.of("ada", "telegram"), names.of("ada", "slack")]


@pytest.mark.parametrize("other", ["Ada", "ADA", "Аda", "Ada ", "Ad a"])
def test_two_who_look_alike_are_shown_with_their_handles(other: str) -> None:
    """In another case, with a letter of another script, or a blank: both, and by their ids if they have no handle."""
    names = Names()
    names.learn(ADA, "Ada", "@ada")
    names.learn(BOB, other)

    assert "(@ada)" in names.of(ADA)
    assert f"({BOB})" in names.of(BOB)


def test_a_name_reads_as_a_name() -> None:
    """Quoted if it holds more than a name does, on one line, with nothing hidden."""
    names = Names()
    names.learn(ADA, "Ada · approved by\nBob\u202e")

    assert names.of(ADA).startswith("“")
    assert names.of(ADA).endswith("”")
    assert "\n" not in names.of(ADA)
    assert "\u202e" not in names.of(ADA)


def test_names_that_differ_at_a_glance_have_other_skeletons() -> None:
    """Else everybody would need a handle."""
    assert 3 == len({skeleton(name) for name in ("Ada", "Ben", "Omar")})
