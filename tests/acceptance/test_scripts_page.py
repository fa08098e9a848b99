"""docs/how-to/scripts.md: typed as written by somebody new, and its files are those of `examples/`."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from sayso_client.client import Client
from tests.acceptance.examples import EXAMPLES, ends
from tests.acceptance.installation import until
from tests.acceptance.page import Page, following, newcomer
from tests.acceptance.test_http_page import PORT, free_port
from tests.sentences import says

PAGE = Page("scripts.md")
DEPLOYED = "deploying to staging\n"


class Reader:
    """Somebody who follows the page in a folder with a running service."""

    def __init__(self, folder: Path, environment: Mapping[str, str], port: str) -> None:
        self._folder = folder
        self._environment = environment
        self._port = port

    def types(self, block: str) -> subprocess.Popen[str]:
        """Type a block into a terminal."""
        return subprocess.Popen(
            ["bash", "-uc", block.replace(PORT, self._port)],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def decides(self, answer: str = "approve") -> None:
        """Type the block of step 3 about the one pending request, with this answer."""
        (call,) = until(self._pending, "a request")
        (block,) = PAGE.blocks("3. Decide")
        status, printed = ends(self.types(block.replace("REF", call["short"]).replace("approve", answer)))
        assert 0 == status, printed

    def withdraws(self) -> None:
        """Withdraw every pending request."""
        for call in self._pending():
            status, printed = ends(self.types(f"sayso withdraw {call['short']}"))
            assert 0 == status, printed

    def _pending(self) -> list[dict[str, Any]]:
        (socket,) = self._folder.rglob("sayso.sock")
        with Client(socket) as client:
            calls: list[dict[str, Any]] = client.call("pending")["calls"]
            return calls


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """The page is followed up to the running service."""
    folder, port = tmp_path_factory.mktemp("page"), free_port()
    environment = newcomer(folder)
    (start,) = PAGE.blocks("1. Start a service")
    with following(start.replace(PORT, port), environment, folder) as service:
        service.says("service.ready")
        yield Reader(folder, environment, port)


@pytest.fixture(scope="module", autouse=True)
def asked(reader: Reader) -> tuple[int, str]:
    """Steps 2 and 3: status and output of the second terminal."""
    (block,) = PAGE.blocks("2. Ask")
    asking = reader.types(block)
    reader.decides()
    return ends(asking)


def test_the_page_leads_from_nothing_to_a_decided_script(asked: tuple[int, str]) -> None:
    """The script runs after the approval, with its own status."""
    status, printed = asked

    assert (0, True) == (status, printed.endswith(DEPLOYED)), printed


def test_each_answer_has_a_branch_of_the_shell_script(reader: Reader) -> None:
    """The first block of the section prints what happened. A request is refused for a minute after its rejection."""
    approved, rejected = PAGE.blocks("Shell")[0], PAGE.blocks("Shell")[0].replace("staging", "production")
    for block, answer, last in ((approved, "approve", f"{DEPLOYED}deployed\n"), (rejected, "reject", "reason above\n")):
        asking = reader.types(block)
        reader.decides(answer)
        _, printed = ends(asking)

        assert printed.endswith(last), printed


def test_a_script_asks_now_and_takes_the_approval_later(reader: Reader) -> None:
    """The second block of the section asks people once, and runs the command once."""
    asking = reader.types(PAGE.blocks("Shell")[1])
    reader.decides()
    status, printed = ends(asking)

    assert (0, True, 1) == (status, printed.endswith(DEPLOYED), printed.count(DEPLOYED)), printed


def test_a_policy_allows_the_longer_times_of_the_page(reader: Reader) -> None:
    """Before the section is followed, 8 hours are cut to 5 minutes, and that is said. After it, they count."""
    ask = "sayso ask prune --no-wait --args '{\"n\": %d}' --timeout 8h"
    _, before = ends(reader.types(ask % 1))
    (block,) = PAGE.blocks("Longer than five minutes")
    status, printed = ends(reader.types(block))
    assert 0 == status, printed
    _, after = ends(reader.types(ask % 2))
    reader.withdraws()

    assert says(before, "ask.shorter", given="5m", wanted="8h"), before
    assert 1 == len(after.splitlines()), after


def test_the_client_asks_with_the_token_of_the_page(reader: Reader) -> None:
    """`sayso-ask` over HTTP does what `sayso ask` does over the socket."""
    make, ask = PAGE.blocks("Another machine")
    status, printed = ends(reader.types(make))
    assert 0 == status, printed
    asking = reader.types(ask)
    reader.decides()
    status, printed = ends(asking)

    assert (0, True) == (status, printed.endswith(DEPLOYED)), printed


@pytest.mark.parametrize(
    ("section", "files"),
    [
        ("Make", ["make/Makefile"]),
        ("cron", ["cron/nightly.sh", "cron/crontab"]),
        ("GitHub Actions", ["github-actions/.github/workflows/deploy.yml"]),
        ("GitLab CI", ["gitlab/.gitlab-ci.yml"]),
    ],
)
def test_the_files_of_the_page_are_those_of_the_examples(section: str, files: list[str]) -> None:
    """The tests of `examples/` run them."""
    assert [(EXAMPLES / file).read_text() for file in files] == PAGE.blocks(section)
