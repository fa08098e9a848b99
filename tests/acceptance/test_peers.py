"""Who is at the other end of the socket, as the kernel tells it; only root can play somebody else's part."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.doctor.checks import _service
from bot.settings import load
from hitl.errors import CallUnknown, NotApprover
from hitl.outcomes import Refusal
from hitl.platforms import Health
from sayso_client.client import Client
from tests.acceptance.installation import ME, OTHER, OTHER_UID, STRANGER_UID, Installation, acting_as
from tests.answered import answers
from tests.sentences import says

pytestmark = [pytest.mark.forked, pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")]

#: An asker, an approver, and a third who is both.
ASKER_UID, BOTH_UID = 2001, 2002
ASKER, BOTH = f"local:{ASKER_UID}", f"local:{BOTH_UID}"
LISTS = f"""
requesters = ["{ASKER}", "{BOTH}"]
approvers = ["{OTHER}", "{BOTH}"]
operators = ["{ME}"]
limits = {{again_s = 0}}
"""


@pytest.fixture(scope="module")
def apart(maker: Any) -> Iterator[Installation]:
    """A service with people of different parts."""
    with maker.batch(forked=True) as make:
        made = make(settings=LISTS)
        made.start()
        yield made


def call_as(service: Installation, uid: int, op: str, **fields: Any) -> dict[str, Any]:
    """One request by another user of this machine."""
    with acting_as(uid):
        client = Client(service.socket)
    with client:
        return client.call(op, **fields)


def asked(service: Installation, uid: int = ASKER_UID, **fields: Any) -> str:
    """The ref of a call that somebody asked."""
    ref: str = call_as(service, uid, "ask", tool="deploy", args={}, **fields)["call"]["ref"]
    return ref


@pytest.mark.parametrize("op", ["ping", "pending", "chat"])
def test_a_user_on_no_list_is_refused(apart: Installation, op: str) -> None:
    """Whatever they want."""
    with answers(NotApprover) as refused:
        call_as(apart, STRANGER_UID, op)

    assert says(refused.value.message, Refusal.PEER, who=f"local:{STRANGER_UID}")


def test_refusals_of_one_user_are_recorded_at_a_limited_rate(apart: Installation) -> None:
    """The record names the user once a minute, however many requests they send. Each line is a durable write."""
    before = len(apart.chains().get("", []))
    with acting_as(STRANGER_UID + 1):
        peer = socket.socket(socket.AF_UNIX)
        peer.connect(str(apart.socket))
    with peer, peer.makefile("rb") as lines:
        peer.sendall(b"GET /v1/me HTTP/1.1\r\nHost: x\r\n\r\n" * 99)
        peer.sendall(b"GET /v1/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        refused = lines.read().count(b" 403 ")

    (line,) = apart.chains()[""][before:]
    assert (100, "refused_peer", f"local:{STRANGER_UID + 1}") == (refused, line.event, line.actor)


@pytest.mark.parametrize("uid", [ASKER_UID, STRANGER_UID])
def test_an_approver_is_answered_while_a_user_holds_all_the_connections_they_can(
    install: Callable[..., Installation], uid: int
) -> None:
    """Of 400 descriptors, a user who never ends a request gets a share. The approver and the database have the rest."""
    service = install(settings=LISTS)
    service.start(open_files=400)
    with contextlib.ExitStack() as held:
        for _ in range(318):
            peer = held.enter_context(socket.socket(socket.AF_UNIX))
            with acting_as(uid):
                peer.connect(str(service.socket))
            with contextlib.suppress(ConnectionError):
                peer.sendall(b"GET /v1/me HTTP/1.1\r\n")
        open_files = len(list(Path(f"/proc/{service.process.pid}/fd").iterdir())) if service.process else 0
        answered = [call_as(service, OTHER_UID, "pending")["calls"] for _ in range(6)]

    assert [[]] * 6 == answered
    assert open_files < 200


def test_a_user_on_no_list_is_refused_before_a_word_is_read(apart: Installation) -> None:
    """The refusal doesn't wait for the body of a request."""
    with acting_as(STRANGER_UID):
        peer = socket.socket(socket.AF_UNIX)
        peer.connect(str(apart.socket))
    with peer, peer.makefile("rb") as lines:
        peer.settimeout(10)
        peer.sendall(b"GET /v1/calls HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answer = lines.read()

    assert b" 403 " in answer
    assert b"NOT_APPROVER" in answer


def test_a_doctor_who_is_on_no_list_is_not_told_that_all_is_well(apart: Installation) -> None:
    """The service tells a user on no list nothing about its troubles, so the line about it is yellow."""
    settings = load(apart.config)
    with acting_as(STRANGER_UID):
        check = _service(settings)

    assert Health.YELLOW is check.state


def test_an_asker_can_not_decide(apart: Installation) -> None:
    """Neither yes nor no, and the attempt is on record."""
    ref = asked(apart)
    for verb in ("approve", "reject"):
        with answers(NotApprover) as refused:
            call_as(apart, ASKER_UID, "decide", target=ref, verb=verb)
        assert says(refused.value.message, Refusal.STRANGER, who=ASKER)

    assert ["asked", "refused", "refused"] == apart.events(ref)
    call_as(apart, ASKER_UID, "withdraw", target=ref)


def test_an_approver_decides(apart: Installation) -> None:
    """The kernel's word for who they are is enough."""
    ref = asked(apart)

    assert "approved" == call_as(apart, OTHER_UID, "decide", target=ref, verb="approve")["came"]
    assert OTHER == call_as(apart, ASKER_UID, "wait", ref=ref)["call"]["decided_by"]


@pytest.mark.parametrize("way", ["decide", "attach"])
def test_ones_own_yes_does_not_count(apart: Installation, way: str) -> None:
    """Somebody who asks and approves needs another for their own calls, by request and by words."""
    ref = asked(apart, BOTH_UID)
    if way == "decide":
        with answers(NotApprover) as refused:
            call_as(apart, BOTH_UID, "decide", target=ref, verb="approve")
        told = refused.value.message
    else:
        told = said_as(apart, BOTH_UID, f"yes {short_of(apart, ref)}")

    assert says(told, Refusal.OWN, short=short_of(apart, ref))
    assert "pending" == apart.status(ref)
    assert "rejected" == call_as(apart, BOTH_UID, "decide", target=ref, verb="reject")["came"]


def test_ones_own_yes_counts_where_the_operator_says_so_by_name(install: Callable[..., Installation]) -> None:
    """With `self_approval_socket`, up to that risk."""
    service = install(settings=f'{LISTS}self_approval_socket = "medium"\n')
    service.start()
    low = call_as(service, BOTH_UID, "ask", tool="write_file", args={})["call"]["ref"]
    high = asked(service, BOTH_UID)

    assert "approved" == call_as(service, BOTH_UID, "decide", target=low, verb="approve")["came"]
    with answers(NotApprover) as refused:
        call_as(service, BOTH_UID, "decide", target=high, verb="approve")
    assert says(refused.value.message, Refusal.OWN)


def test_calls_of_others_are_not_readable(apart: Installation) -> None:
    """To an asker, another's call isn't there: not to list, show, wait for, claim, or report on."""
    ref = asked(apart, BOTH_UID, note="confidential")
    assert ref not in [call["ref"] for call in call_as(apart, ASKER_UID, "pending")["calls"]]
    for op, fields in (("show", {"target": ref}), ("wait", {"ref": ref}), ("release", {"ref": ref})):
        with answers(CallUnknown):
            call_as(apart, ASKER_UID, op, **fields)
    with answers(CallUnknown):
        call_as(apart, ASKER_UID, "claim", ref=ref, secret_hash="0" * 64)
    with answers(CallUnknown):
        call_as(apart, ASKER_UID, "finish", ref=ref, secret="guessed", result="succeeded")
    with answers(CallUnknown):
        call_as(apart, ASKER_UID, "withdraw", target=ref)

    assert "pending" == apart.status(ref)
    call_as(apart, BOTH_UID, "withdraw", target=ref)


def test_an_attached_terminal_shows_no_card_of_others(apart: Installation) -> None:
    """The conversation is one; what an asker sees of it is their own calls."""
    with acting_as(ASKER_UID):
        attached = Client(apart.socket)
    with attached:
        attached.attach()
        ref = asked(apart, BOTH_UID, note="confidential")
        short = short_of(apart, ref)
        with acting_as(ASKER_UID):
            told = "".join(text for line in ("hello", "what does it do?") for text in attached.say(line))

    call_as(apart, BOTH_UID, "withdraw", target=ref)
    assert short not in told
    assert "confidential" not in told


def test_approvers_see_the_cards_of_all(apart: Installation) -> None:
    """Whoever may answer a call sees it, attached or by request."""
    with acting_as(OTHER_UID):
        attached = Client(apart.socket)
    with attached:
        attached.attach()
        ref = asked(apart)
        short = short_of(apart, ref)
        with acting_as(OTHER_UID):
            told = "".join(attached.say("hello"))

        assert short in told
        assert ref in [call["ref"] for call in call_as(apart, OTHER_UID, "pending")["calls"]]
    call_as(apart, ASKER_UID, "withdraw", target=ref)


def test_an_approver_who_may_not_ask_starts_nothing(apart: Installation) -> None:
    """Only listed requesters start a turn of the agent, not even for an allowed call."""
    assert says(said_as(apart, OTHER_UID, "list"), Refusal.REQUESTER, who=OTHER)


def said_as(service: Installation, uid: int, line: str) -> str:
    """What an attached terminal shows after one line of its user."""
    with acting_as(uid), Client(service.socket) as client:
        client.attach()
        return "".join(client.say(line))


def short_of(service: Installation, ref: str) -> str:
    """A call's short ref."""
    short: str = service.call("show", target=ref)["call"]["short"]
    return short
