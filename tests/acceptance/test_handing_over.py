"""A service is replaced by a newer one on the same state folder: nothing is lost, and nothing runs twice."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from simulators.telegram import TelegramServer
from tests.acceptance.installation import ME, Installation, until
from tests.patience import PATIENCE_S
from tests.upgrades.place import APPROVE, Place

pytestmark = pytest.mark.long

WAITS = 50


def second(first: Installation) -> Installation:
    """The newer service, started beside the first one and waiting for it. Both have the same settings and log."""
    newer = replace(first, process=None)
    newer.launch()
    until(lambda: "service.waiting" in first.log, "the newer service to wait")
    return newer


def long_poll(service: Installation, ref: str) -> socket.socket:
    """A connection whose request waits for the end of the call."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(PATIENCE_S)
    connection.connect(str(service.socket))
    connection.sendall(f"GET /v1/calls/{ref}?wait=60 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    return connection


def answer(connection: socket.socket) -> bytes:
    """All that comes until the service closes the connection."""
    with connection:
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_fifty_who_wait_are_answered_and_the_next_service_goes_on(install: Callable[..., Installation]) -> None:
    """SIGTERM with 50 long-polls open: each hears that the request is pending. The newer service lets it run, once."""
    first = install()
    first.start()
    first.say("run echo ran >> out.txt")
    ref = first.waiting()[0]["ref"]
    polls = [long_poll(first, ref) for _ in range(WAITS)]
    first.call("ping")  # answered after all of them were accepted
    newer = second(first)
    try:
        status = first.stop()
        answers = [answer(poll) for poll in polls]
        until(newer.answers, "the newer service to answer")
        newer.call("decide", target=ref, verb="approve")
        until(lambda: "succeeded" in newer.events(ref), "the command to run")
        events, stopped = newer.events(ref), newer.stop()
    finally:
        newer.close()

    assert (0, 0) == (status, stopped)
    assert WAITS == sum(b" 200 " in each and b'"status":"pending"' in each for each in answers)
    assert (["ran"], 1) == (newer.lines(), events.count("succeeded"))
    assert "Traceback" not in newer.log


def test_the_next_service_waits_until_a_running_tool_has_ended(install: Callable[..., Installation]) -> None:
    """The first one drains: its command ends as it would have. The newer one doesn't run it again."""
    first = install()
    first.start()
    first.say("run touch up; while [ ! -e go ]; do sleep 0.02; done; echo ran >> out.txt")
    ref = first.waiting()[0]["ref"]
    approving = threading.Thread(target=first.call, args=("decide",), kwargs={"target": ref, "verb": "approve"})
    approving.start()
    until((first.workspace / "up").exists, "the command to run")
    newer = second(first)
    try:
        assert first.process is not None
        first.process.terminate()
        until(lambda: "service.stopping" in first.log, "the first service to begin its stop")
        (first.workspace / "go").touch()
        status = first.wait()
        approving.join()
        until(newer.answers, "the newer service to answer")
        shown = newer.status(ref)
    finally:
        newer.close()

    assert (0, "succeeded", ["ran"]) == (status, shown, newer.lines())


async def test_a_press_between_two_services_counts_once(tmp_path: Path) -> None:
    """Whichever service the platform hands it to, the call runs once, and the person is answered."""
    async with TelegramServer() as server:
        place = await Place.first(server)
        first = place.service(tmp_path)
        await asyncio.to_thread(first.start)
        await place.ask("write out.txt once")
        call = (await asyncio.to_thread(first.waiting))[0]
        card = await place.card(call["short"])
        newer = await asyncio.to_thread(second, first)
        try:
            assert first.process is not None
            first.process.terminate()
            button = next(label for label in card.labels if label.endswith(APPROVE))
            query = await server.press(place.bob, card, button)
            status = await asyncio.to_thread(first.wait)
            told = (await server.wait_answer(query, timeout=PATIENCE_S)).text
            await asyncio.to_thread(until, lambda: "succeeded" in newer.events(call["ref"]), "the run")
        finally:
            newer.close()
    events = newer.events(call["ref"])

    assert 0 == status
    assert told
    assert (1, 1, ["once"]) == (events.count("approved"), events.count("succeeded"), newer.lines())


def test_the_wait_is_bounded(service: Installation) -> None:
    """When the time is up, the second says who uses the folder, and ends with 1. The first lives on."""
    assert service.process is not None
    late = service.run("run", "--wait", "0.3")

    assert 1 == late.returncode
    assert f"(pid {service.process.pid})" in late.stderr.splitlines()[-1]
    assert "service.waiting" in late.stderr
    assert ME == service.call("ping")["identity"]


def test_a_service_that_waits_can_be_stopped(install: Callable[..., Installation]) -> None:
    """At once, with 0, and without a trace in the other's folders."""
    first = install()
    first.start()
    newer = second(first)
    status = newer.stop()

    assert 0 == status
    assert ME == first.call("ping")["identity"]
