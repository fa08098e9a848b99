"""Who may do what, from the operator's lists."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bot.surfaces import surfaces
from hitl.call import Action, Risk, Verdict
from hitl.outcomes import Misfit
from hitl.people import Conversation, Directory
from hitl.testing import a_call
from tests.hitl.world import ANN, BOB, NOON, ROOM, SAM, UMA, directory, verdict
from tests.sentences import raises

LOW, MEDIUM, HIGH, CRITICAL = Risk
QUIET = "telegram:-200"


def asked(risk: Risk = MEDIUM, **terms: Any) -> Verdict:
    """A verdict that asks people."""
    return verdict(Action.APPROVE, risk, **terms)


def test_an_empty_list_is_nobody() -> None:
    """Where a rule or a conversation lists nobody, nobody may approve: the wider list doesn't step in."""
    people = directory(conversations={QUIET: Conversation(QUIET, approvers=())})

    assert () == people.approvers_for(ROOM, asked(approvers=()))
    assert () == people.approvers_for(QUIET, asked())
    assert () == Directory().approvers_for(ROOM, asked())


@pytest.mark.parametrize(
    ("place", "owner"),
    [
        ("slack:T1/U1", "ada"),
        ("slack:T1/U1/5.0", "ada"),
        ("telegram:42", "ada"),
        ("telegram:42/7", "ada"),
        ("u:2", "u:2"),
    ],
)
def test_a_thread_of_a_private_conversation_has_the_same_owner(place: str, owner: str) -> None:
    """A private conversation has its person's name, and a thread's name begins with the conversation's."""
    people = directory(principals={"ada": ("slack:T1/U1", "telegram:42")}, languages={"ada": "de"}, surfaces=surfaces())

    assert owner == people.owner(place)
    assert ("de" if owner == "ada" else "en") == people.wording(place).language


def test_the_narrowest_list_wins() -> None:
    """The rule's approvers, else the conversation's, else the installation's."""
    people = directory(conversations={ROOM: Conversation(ROOM, approvers=(BOB,))})

    assert (SAM,) == people.approvers_for(ROOM, asked(approvers=(SAM,)))
    assert (BOB,) == people.approvers_for(ROOM, asked())
    assert (ANN, BOB) == people.approvers_for("telegram:1", asked())


@pytest.mark.parametrize(
    "lists",
    [{"self_approval_socket": CRITICAL}, {"conversations": {ROOM: Conversation(ROOM, self_approval=CRITICAL)}}],
)
def test_self_approval_of_critical_calls_cannot_be_set(lists: dict[str, Any]) -> None:
    """It is refused when the lists are built, so nobody believes that it works."""
    with pytest.raises(ValueError, match="can't be critical"):
        Directory(**lists)


@pytest.mark.parametrize("shared", sorted(surfaces()["telegram"].shared))
@pytest.mark.parametrize(
    "where", ["approvers", "requesters", "operators", "principals", "conversation", "conversation requesters"]
)
def test_an_identity_of_many_people_cannot_be_listed(shared: str, where: str) -> None:
    """Telegram's anonymous admin, channel and forward accounts are refused on every list."""
    lists: dict[str, Any] = {
        "principals": {"principals": {"ann": (shared,)}},
        "conversation": {"conversations": {ROOM: Conversation(ROOM, approvers=(shared,))}},
        "conversation requesters": {"conversations": {ROOM: Conversation(ROOM, requesters=(shared,))}},
    }
    lists = lists.get(where, {where: (shared,)})

    with raises(ValueError, Misfit.SHARED, identity=shared):
        Directory(surfaces=surfaces(), **lists)


def test_an_identity_has_one_owner() -> None:
    """Listed for two principals it could vote twice, or for somebody else: refused, naming both."""
    with pytest.raises(ValueError, match="both ann and bob"):
        Directory(principals={"ann": (ANN, BOB), "bob": (BOB,)})
    with pytest.raises(ValueError, match=f"both {BOB} and ann"):
        Directory(principals={"ann": (ANN, BOB), BOB: ("local:3",)})


def test_a_person_has_many_identities_and_one_name() -> None:
    """Each identity that was mapped is the principal; any other is itself."""
    people = Directory(principals={"ann": (ANN, "slack:T1/U2", "local:1000")})

    assert ["ann", "ann", "ann", BOB] == [people.principal(who) for who in (ANN, "slack:T1/U2", "local:1000", BOB)]
    assert people.is_local("ann")
    assert not people.is_local(BOB)
    assert people.is_local("local:7")


def test_a_conversation_names_where_its_cards_go() -> None:
    """Its own routes, else itself if it is a chat, else the installation's."""
    people = directory(routes=(QUIET,), conversations={ROOM: Conversation(ROOM, routes=("slack:T1/C1",))})

    assert ("slack:T1/C1",) == people.routes_for(ROOM)
    assert ("telegram:1",) == people.routes_for("telegram:1")
    assert (QUIET,) == people.routes_for("terminal:1")


def test_routes_may_name_what_a_call_tells() -> None:
    """Where it was asked, and each approver in private on the platforms that know them; no place twice."""
    routes = ("origin", "approvers", "slack:T1/C1", "slack:T1/U2")
    people = directory(
        principals={"ann": ("slack:T1/U2", "local:7", "telegram:2")},
        conversations={ROOM: Conversation(ROOM, routes=routes)},
    )

    assert (ROOM, "slack:T1/U2", "telegram:2", "telegram:3", "slack:T1/C1") == people.routes_for(ROOM, ("ann", BOB))
    assert () == directory(routes=("origin",)).routes_for("terminal:1", ("ann",))


def test_a_thread_on_slack_is_as_its_channel() -> None:
    """Unless it is listed itself; a topic on Telegram is a place of its own."""
    channel, thread = "slack:T1/C1", "slack:T1/C1/5.0"
    people = directory(conversations={place: Conversation(place, approvers=(SAM,)) for place in (channel, ROOM)})
    narrower = directory(
        conversations={channel: Conversation(channel, approvers=(SAM,)), thread: Conversation(thread, approvers=())}
    )

    assert (SAM,) == people.approvers_for(thread, asked())
    assert () == narrower.approvers_for(thread, asked())
    assert (ANN, BOB) == people.approvers_for(f"{ROOM}/7", asked())


def test_all_threads_of_a_channel_are_one_place() -> None:
    """A call is decided by its name in any of them, and in no other channel; topics on Telegram are apart."""
    people = directory()
    slack = a_call(NOON, origin="slack:T1/C1/5.0", routes=("slack:T1/C1/5.0",))
    telegram = a_call(NOON, origin="telegram:-1/7", routes=("telegram:-1/7",))

    assert [True] * 3 == [
        people.belongs(slack, place) for place in ("slack:T1/C1", "slack:T1/C1/5.0", "slack:T1/C1/6.0")
    ]
    assert [False] * 2 == [people.belongs(slack, place) for place in ("slack:T1/C2", "slack:T2/C1")]
    assert [True, False] == [people.belongs(telegram, place) for place in ("telegram:-1/7", "telegram:-1")]
    assert ["slack:T1/C1", "telegram:-1"] == [people.place(one.origin).chat for one in (slack, telegram)]


def test_a_card_belongs_where_it_was_asked_and_where_it_stands() -> None:
    """Nowhere else is it decided."""
    call = a_call(NOON, origin=ROOM, routes=(QUIET,))

    assert [True, True, False] == [directory().belongs(call, place) for place in (ROOM, QUIET, "telegram:1")]


def test_on_a_list_is_on_any_list() -> None:
    """Approvers, requesters, operators, and those of a conversation."""
    people = directory(conversations={ROOM: Conversation(ROOM, approvers=("telegram:8",), requesters=("telegram:9",))})

    assert all(people.is_listed(who) for who in (ANN, UMA, "local:0", "telegram:8", "telegram:9"))
    assert not people.is_listed(SAM)


def test_what_lies_on_one_platform_is_told_once_and_in_order() -> None:
    """Places with cards or lists of their own, and every identity of those who may approve anywhere."""
    own = Conversation("slack:T/C2", approvers=("bea", "slack:T/U9"), routes=("telegram:-5", "slack:T/C1"))
    people = Directory(
        approvers=("ann", "telegram:7"),
        principals={"ann": ("telegram:3", "slack:T/U1"), "bea": ("slack:T/U2",), "cyd": ("slack:T/U3",)},
        conversations={own.id: own},
        routes=("telegram:-5", "telegram:-6"),
    )

    assert ["slack:T/C1", "slack:T/C2"] == people.places_on("slack")
    assert ["telegram:-5", "telegram:-6"] == people.places_on("telegram")
    assert ["slack:T/U1", "slack:T/U2", "slack:T/U9"] == people.approvers_on("slack")
    assert ["telegram:3", "telegram:7"] == people.approvers_on("telegram")


def test_who_is_revoked_is_not_asked_to_try_the_surfaces() -> None:
    """`sayso test` asks the approvers who are left, in each conversation."""
    lists: dict[str, Any] = {"conversations": {ROOM: Conversation(ROOM, approvers=(ANN, BOB))}}

    tested = directory(**lists).tested(QUIET, NOON)

    assert [(QUIET, ANN), (QUIET, BOB), (ROOM, ANN), (ROOM, BOB)] == [one[:2] for one in tested]
    left = directory(**lists, revoked=frozenset({ANN})).tested(QUIET, NOON)
    assert [(QUIET, BOB), (ROOM, BOB)] == [one[:2] for one in left]


def test_an_approver_tries_each_surface_on_which_cards_reach_an_account_of_theirs() -> None:
    """Somebody without an account there is asked once, and can answer at a terminal or not at all."""
    people = directory(
        approvers=("ann", "bob", "cyd"),
        principals={"ann": ("telegram:42", "slack:T1/U1"), "bob": ("slack:T1/U2",), "cyd": ("local:1000",)},
        conversations={QUIET: Conversation(QUIET, routes=("telegram:-5", "approvers"))},
    )

    assert (
        (QUIET, "ann", "telegram"),
        (QUIET, "ann", "slack"),
        (QUIET, "bob", "slack"),
        (QUIET, "cyd", ""),
    ) == people.tested(QUIET, NOON)


@pytest.mark.parametrize("routes", [("approvers",), ("telegram:42", "telegram:43")])
def test_who_is_revoked_gets_no_card(routes: tuple[str, ...]) -> None:
    """Neither as an approver, also of a rule, nor because the private conversation is listed as a route."""
    people = directory(
        approvers=("ann", "telegram:43"),
        principals={"ann": ("telegram:42",)},
        conversations={"local": Conversation("local", routes=routes)},
        revoked=frozenset({"ann"}),
    )

    assert ("telegram:43",) == people.approvers_for("local", asked())
    assert () == people.approvers_for("local", asked(approvers=("ann",)))
    assert ("telegram:43",) == people.routes_for("local", people.approvers_for("local", asked()))


def test_a_token_that_has_ended_is_on_no_list() -> None:
    """It is left out as a revoked person is. A person who has another account stays on the lists."""
    people = directory(
        approvers=("token:desk", "ann", BOB),
        principals={"ann": (ANN, "token:ann")},
        conversations={QUIET: Conversation(QUIET, approvers=("token:desk",))},
        token_ends={"token:desk": NOON, "token:ann": NOON},
    )
    (early, late), place = [people.in_force(NOON + timedelta(seconds=s)) for s in (-1, 0)], QUIET

    assert (("token:desk", "ann", BOB), ("ann", BOB)) == (early.approvers, late.approvers)
    assert (("token:desk",), ()) == (early.conversations[place].approvers, late.conversations[place].approvers)
    assert {"ann", BOB} == {tried.approver for tried in people.tested(ROOM, NOON)}
