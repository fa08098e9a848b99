"""No peer takes the place of others: how many connections each may have, and which of them are refused first."""

from __future__ import annotations

from itertools import count, takewhile

import pytest

from hitl.connections import MOST, Connections, Party

#: The least room of a process: under `ulimit -n 400`.
SMALL = 144


def fill(connections: Connections, peer: str, party: Party) -> int:
    """Connect one peer until it is refused, and return how many connections it got."""
    return len(list(takewhile(bool, (connections.enter(peer, party) for _ in count()))))


@pytest.mark.parametrize("most", [SMALL, MOST])
def test_one_peer_takes_a_quarter_of_the_room(most: int) -> None:
    """A listed user who connects without end gets a quarter of all connections, and everybody else is answered."""
    connections = Connections(most)

    assert most // 4 == fill(connections, "uid:1", Party.LISTED)
    assert connections.enter("uid:2", Party.LISTED)
    assert connections.enter("127.0.0.1", Party.REMOTE)


@pytest.mark.parametrize("most", [SMALL, MOST])
def test_users_on_no_list_share_a_small_room(most: int) -> None:
    """However many users who are on no list connect, they take few connections together."""
    connections = Connections(most)
    taken = sum(fill(connections, f"uid:{uid}", Party.UNLISTED) for uid in range(100))

    assert taken == max(8, most // 64)
    assert connections.enter("uid:1000", Party.LISTED)


@pytest.mark.parametrize("most", [SMALL, MOST])
def test_the_last_quarter_is_for_peers_with_few_connections(most: int) -> None:
    """Several peers who connect without end leave room for peers that have at most a few connections."""
    connections = Connections(most)
    taken = sum(fill(connections, f"uid:{uid}", Party.LISTED) for uid in range(3))

    assert taken == most * 3 // 4
    assert 8 == fill(connections, "uid:9", Party.LISTED)


@pytest.mark.parametrize("most", [SMALL, MOST])
def test_the_network_never_takes_the_room_of_the_users_of_this_machine(most: int) -> None:
    """Any number of addresses takes half of all connections, so the Unix socket always answers."""
    connections = Connections(most)
    taken = sum(fill(connections, f"10.0.0.{address}", Party.REMOTE) for address in range(MOST // 8))

    assert taken == most // 2
    assert connections.enter("uid:1", Party.LISTED)


def test_a_command_does_not_take_the_room_of_the_services_own_user() -> None:
    """A command that the service runs has the service's user id, but its connections count apart from that user's."""
    connections = Connections(SMALL)
    fill(connections, "uid:0", Party.COMMAND)

    assert SMALL // 4 == fill(connections, "uid:0", Party.LISTED)


def test_room_that_was_left_is_given_again() -> None:
    """A connection that ends makes room for another one of the same peer."""
    connections = Connections(SMALL)
    fill(connections, "uid:1", Party.LISTED)
    connections.leave("uid:1", Party.LISTED)

    assert 1 == fill(connections, "uid:1", Party.LISTED)


def test_few_refused_connections_wait_for_their_peer() -> None:
    """A refused connection that stays open until its peer has read why holds a descriptor, so only a few may stay."""
    connections = Connections(SMALL)
    stayed = sum(connections.linger() for _ in range(1_000))
    connections.depart()

    assert (16, True, False) == (stayed, connections.linger(), connections.linger())
