"""`examples/`: each folder runs as it is, with an approval, a rejection with a reason, and silence."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.doors import OWNER, Certificate, over_http, port_of, tls
from tests.acceptance.examples import (
    ALL,
    CRON,
    EXAMPLES,
    ROOT,
    SHORTEST_S,
    Example,
    Runner,
    ends,
    github_steps,
    gitlab_lines,
)
from tests.acceptance.installation import ALONE, Installation
from tests.acceptance.making import Maker

pytestmark = pytest.mark.long

__all__ = ["running", "tls"]
REASON = "not on a Friday"


@pytest.fixture(scope="module")
def running(maker: Maker) -> Iterator[Installation]:
    """A service that also takes tokens, for CI jobs of ada."""
    with maker.batch() as make:
        made = make(settings=over_http(ALONE))
        made.start()
        yield made


@pytest.fixture(scope="module")
def token(running: Installation) -> str:
    """A token for CI jobs, as the READMEs of the examples make it."""
    done = running.run(*f"token create ci --scope agent --owner {OWNER} --until 90d".split())
    assert 0 == done.returncode, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def url(running: Installation, tls: Certificate) -> Iterator[str]:
    """The service's HTTPS address."""
    with tls.serving(port_of(running)) as address:
        yield address


@pytest.fixture
def runner(service: Installation, token: str, tmp_path: Path, request: pytest.FixtureRequest) -> Runner:
    """A machine that runs examples. Only its CI jobs need the address, and so a certificate."""
    return Runner(
        tmp_path, service, token, lambda: (request.getfixturevalue("url"), request.getfixturevalue("tls").file)
    )


@pytest.mark.parametrize("example", ALL, ids=str)
def test_after_a_yes_the_work_is_done(runner: Runner, example: Example) -> None:
    """The example waits for one request, and ends with 0 after the approved work."""
    folder = runner.copy(example)
    process = runner.start(example, folder)
    (call,) = runner.service.waiting()
    assert not example.worked(folder)
    runner.service.call("decide", target=call["ref"], verb="approve")

    status, printed = ends(process)
    assert (0, True) == (status, example.worked(folder)), printed
    assert "succeeded" == runner.service.status(call["ref"])


@pytest.mark.parametrize("example", ALL, ids=str)
def test_after_a_no_nothing_is_done_and_the_reason_is_printed(runner: Runner, example: Example) -> None:
    """The example ends as its README says, and whoever reads its output learns why."""
    folder = runner.copy(example)
    process = runner.start(example, folder)
    (call,) = runner.service.waiting()
    runner.service.call("decide", target=call["ref"], verb="reject", reason=REASON)

    status, printed = ends(process)
    assert (example.rejected, False) == (status, example.worked(folder)), printed
    assert REASON in printed


def test_after_silence_nothing_is_done(runner: Runner) -> None:
    """All examples wait beside each other; none does its work when nobody answers in time."""
    folders = {example: runner.copy(example) for example in ALL}
    begun = {example: runner.start(example, folder, SHORTEST_S) for example, folder in folders.items()}

    for example, process in begun.items():
        status, printed = ends(process)
        assert (example.expired, False) == (status, example.worked(folders[example])), f"{example}: {printed}"


def test_two_runs_of_a_cron_job_on_one_day_ask_once(runner: Runner) -> None:
    """The second run finds the first one's request by its key: people are asked once, and the work is done once."""
    folder = runner.copy(CRON)
    first, second = runner.start(CRON, folder), runner.start(CRON, folder)
    (call,) = runner.service.waiting()
    runner.service.call("decide", target=call["ref"], verb="approve")

    assert [0, 0, 0] == [ends(process)[0] for process in (first, second, runner.start(CRON, folder))]
    assert "pruned\n" == (folder / "pruned.txt").read_text()


def test_the_crontab_names_the_script_at_times_that_cron_knows() -> None:
    """Each line of the crontab is a setting, or five fields and the script."""
    lines = (EXAMPLES / CRON.name / "crontab").read_text().splitlines()
    jobs = [line for line in lines if line and not re.match(r"#|[A-Z_]+=", line)]

    assert jobs
    assert all(re.fullmatch(r"(?:[\d*]+ ){5}/srv/prune/nightly\.sh", job) for job in jobs)


def test_a_ci_job_installs_the_client_in_this_version() -> None:
    """The version is pinned, and it is the version of this repository."""
    version = tomllib.loads((ROOT / "clients" / "pyproject.toml").read_text())["project"]["version"]
    lines = [*(step["run"] for step in github_steps()), *gitlab_lines()]

    assert [f"pip install ./ci/sayso_client-{version}-py3-none-any.whl"] * 2 == [
        line for line in lines if line.startswith("pip ")
    ]


def test_only_the_step_that_keeps_the_token_has_it_in_its_environment() -> None:
    """The deploy itself never has the token in its environment."""
    holding = [step["name"] for step in github_steps() if "secrets." in str(step.get("env", ""))]

    assert ["Keep the token in a file"] == holding


def test_every_folder_is_run_and_has_a_readme() -> None:
    """A folder without a test or an explanation isn't an example."""
    folders = {file.name for file in EXAMPLES.iterdir() if file.is_dir()}

    assert {str(example) for example in ALL} == folders
    assert all((EXAMPLES / name / "README.md").exists() for name in folders)
