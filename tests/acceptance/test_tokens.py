"""`sayso token`: what operators type, and that a token works over TCP until it is revoked, over a restart too."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from hitl.cards.wording import say
from hitl.outcomes import Unfit
from tests.acceptance.installation import ME, Installation, until

pytestmark = pytest.mark.forked

OWNER = "local:4321"
SETTINGS = (
    f'requesters = ["{ME}", "{OWNER}"]\napprovers = ["{ME}", "{OWNER}"]\noperators = ["{ME}"]\n[http]\nport = 0\n'
)


@pytest.fixture
def service(maker: Any) -> Iterator[Installation]:
    """A service that listens on TCP."""
    with maker.batch(forked=True) as make:
        made = make(settings=SETTINGS)
        made.start()
        yield made


def holder(service: Installation, token: str, starts: int = 1) -> httpx.Client:
    """A client with the token, for the port of the newest of so many starts."""

    def ports() -> list[str]:
        found = re.findall(r"http\.ready.* port=(\d+)", service.log)
        return found if len(found) == starts else []

    port = until(ports, "a port")[-1]
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=30, trust_env=False)


def status(service: Installation, token: str, starts: int = 1) -> int:
    """The status that a request with the token gets on the port of the newest of so many starts."""
    with holder(service, token, starts) as client:
        return client.get("/v1/me").status_code


@pytest.mark.parametrize("words", [("token", "revoke", "ci"), ("revoke", OWNER)])
def test_the_pending_requests_of_a_token_end_with_its_rights(service: Installation, words: tuple[str, ...]) -> None:
    """The end of the token's rights, or of its owner's, withdraws its requests. A person who approves hears why."""
    token = service.run("token", "create", "ci", "--scope", "agent", "--owner", OWNER).stdout.strip()
    with holder(service, token) as client:
        asked = client.post(
            "/v1/calls", json={"tools": "caller", "tool": "deploy", "args": {"argv": ["true"]}, "ask": True}
        ).json()
    before = service.status(asked["ref"])
    ended = service.run(*words)
    until(lambda: service.status(asked["ref"]) == "withdrawn" or None, "the withdrawal")
    late = service.run("approve", asked["ref"])

    assert ("pending", 0, 1) == (before, ended.returncode, late.returncode)
    assert say(Unfit.REQUESTER) in service.run("show", asked["ref"]).stdout
    assert say(Unfit.REQUESTER) in late.stderr


def test_a_token_is_made_listed_used_and_revoked(service: Installation) -> None:
    """It is printed once, on stdout alone; its hash is stored, and it survives a restart but not its revocation."""
    made = service.run(
        "token", "create", "ci", "--scope", "agent", "--owner", ME, "--origin", "slack:T1/C1", "--until", "30d"
    )
    token = made.stdout.strip()
    before = status(service, token)
    service.stop()
    service.start()
    after = status(service, token, 2)
    (listed,) = json.loads(service.run("token", "list", "--json").stdout)
    shown = service.run("token", "list").stdout
    revoked = service.run("token", "revoke", "ci")
    again = service.run("token", "create", "ci", "--scope", "agent", "--owner", ME)

    assert re.fullmatch(r"sayso_[\w-]{43}", token)
    assert (200, 200, 401) == (before, after, status(service, token, 2))
    assert ("ci", ME, ["slack:T1/C1"]) == (listed["name"], listed["owner"], listed["origins"])
    assert listed["used_at"] is not None
    assert "slack:T1/C1" in shown
    assert (0, 1) == (revoked.returncode, again.returncode)
    assert not any(token in text for text in (json.dumps(listed), shown, service.log, made.stderr))
    assert all(token.encode() not in file.read_bytes() for file in service.state.iterdir())
    events = [line.event for line in service.chains()[""]]
    assert ["credential_made", "credential_revoked"] == [event for event in events if event.startswith("credential")]


@pytest.mark.parametrize(
    "words",
    [
        ("create", "ci", "--scope", "agent"),
        ("create", "Ci!", "--scope", "approver"),
        ("create", "ci", "--scope", "agent", "--owner", ME, "--until", "soon"),
        ("revoke", "nobody"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(service: Installation, words: tuple[str, ...]) -> None:
    """Non-zero, one line on stderr, and no token."""
    done = service.run("token", *words)

    assert done.returncode
    assert ("", 1) == (done.stdout, len(done.stderr.splitlines()))
    assert "[]" == service.run("token", "list", "--json").stdout.strip()
