"""`sayso simulate telegram` as a process, from the checkout and, like Slack's, from a wheel."""

from __future__ import annotations

import os
import pty
import signal
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import aiohttp
import pytest

from tests.acceptance.installation import SAYSO
from tests.acceptance.simulator import simulating
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]
COMMAND = [str(SAYSO), "simulate", "telegram", "--port", "0"]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Nothing of whoever runs the tests."""
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8"}


def run(words: list[str], environment: dict[str, str], given: str = "") -> subprocess.CompletedProcess[str]:
    """A command to its end, without what is in the checkout's folder."""
    return subprocess.run(
        words,
        input=given,
        capture_output=True,
        text=True,
        env=environment,
        cwd=environment["HOME"],
        timeout=PATIENCE_S,
        check=False,
    )


async def test_it_says_how_to_point_a_bot_at_it(environment: dict[str, str], tmp_path: Path) -> None:
    """Token and address are the Bot API's; what people type is what the bot gets, and what it sends is printed."""
    with simulating([*COMMAND, "--person", "Ada", "--group", ""], environment, tmp_path) as simulator:
        told = simulator.opening()
        method = f"{told['SAYSO_TELEGRAM__API']}/bot{told['SAYSO_TELEGRAM__TOKEN']}"
        simulator.type("Ada: hello")
        simulator.sees("Ada #1 Ada: hello")
        async with aiohttp.ClientSession() as http:
            async with http.post(f"{method}/getUpdates", json={"timeout": 5}) as answer:
                (update,) = (await answer.json())["result"]
            async with http.post(f"{method}/sendMessage", json={"chat_id": 501000001, "text": "hi"}) as answer:
                assert (await answer.json())["ok"]
        simulator.sees("Ada #2 Sayso: hi")

        assert "hello" == update["message"]["text"]
        assert ["person   Ada  telegram:501000001"] == [line for line in simulator.printed if "person" in line]
        assert 0 == simulator.quit()


def test_the_token_and_people_are_those_that_were_named(environment: dict[str, str]) -> None:
    """Once each, in a group of that title; the end of input ends it."""
    words = ["--token", "42:AA", "--person", "ada", "--person", "ben", "--person", "ada", "--group", "-1 to many"]
    done = run([*COMMAND, *words], environment, "ben: hi\n")
    said = done.stdout.splitlines()

    assert (0, "") == (done.returncode, done.stderr)
    assert "export SAYSO_TELEGRAM__TOKEN=42:AA" in said
    assert ["ada", "ben"] == [line.split()[1] for line in said if line.startswith("person")]
    assert ["group    -1 to many"] == [line.rpartition("  ")[0] for line in said if line.startswith("group")]
    assert "ben #1 ben: hi" in said


def test_a_taken_port_is_one_line(environment: dict[str, str]) -> None:
    """Exit status 1, naming what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = run([str(SAYSO), "simulate", "telegram", "--port", port], environment)

    assert (1, "", 1) == (done.returncode, done.stdout, len(done.stderr.splitlines()))
    assert f"127.0.0.1:{port}" in done.stderr
    assert "--port" in done.stderr


@pytest.mark.parametrize("words", [["--token", "AA"], ["--token", "4 2:AA"], ["--port", "65536"], ["--port", "x"]])
def test_usage_mistakes_are_two(environment: dict[str, str], words: list[str]) -> None:
    """Told on stderr, without a traceback."""
    done = run([str(SAYSO), "simulate", "telegram", *words], environment)

    assert (2, "") == (done.returncode, done.stdout)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("end", ["quit\n", "\x04", "\x03"])
def test_on_a_terminal_it_ends_quietly(environment: dict[str, str], tmp_path: Path, end: str) -> None:
    """By a word, by the end of input and by Ctrl-C, while it waits for the next line."""
    master, slave = pty.openpty()
    with subprocess.Popen(
        COMMAND,
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        cwd=tmp_path,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        said = next(line for line in process.stdout if "Type help" in line)
        if end == "\x03":
            process.send_signal(signal.SIGINT)
        else:
            os.write(master, end.encode())
        rest = process.stdout.read()
        process.wait(PATIENCE_S)
    os.close(slave)
    os.close(master)

    assert said
    assert 0 == process.returncode
    assert "Error" not in rest
    assert "Traceback" not in rest


def test_a_reader_that_goes_is_no_traceback(environment: dict[str, str], tmp_path: Path) -> None:
    """As `sayso simulate telegram | head -1` has it."""
    with subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, cwd=tmp_path
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        _, errors = process.communicate(b"ada: hello\nshow\n", PATIENCE_S)

    assert b"Traceback" not in errors


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel, built as for an installation, without a network, and unpacked."""
    place = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place / "dist")]
    subprocess.run(build, cwd=ROOT, env={"PATH": os.environ["PATH"]}, check=True, capture_output=True, timeout=60)
    (wheel,) = (place / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(place / "site")
    return place / "site"


def test_a_wheel_holds_the_simulators_and_no_tests(site: Path) -> None:
    """The servers and what they share stand in it, once."""
    simulators = sorted(one.name for one in (site / "simulators").iterdir() if one.is_dir())

    assert ["common", "mcp", "model", "slack", "telegram"] == simulators
    assert not (site / "tests").exists()
    assert not list(site.rglob("__pycache__"))


@pytest.mark.parametrize("platform", ["telegram", "slack"])
def test_a_simulator_runs_from_a_wheel(environment: dict[str, str], site: Path, platform: str) -> None:
    """Without the checkout: the server that runs is the wheel's own, and so is what it shares with the other."""
    place = {**environment, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
    start = "from bot.cli.main import main; main()"
    where = "import sys; print(*{one.__file__ for name, one in sys.modules.items() if 'simulators.' in name})"
    imported = run([sys.executable, "-c", f"import simulators.{platform}.client; {where}"], place)
    ran = run([sys.executable, "-c", start, "simulate", platform, "--port", "0"], place, "help\n")

    assert f"{site}/simulators/common/client.py" in imported.stdout.split()
    assert [] == [one for one in imported.stdout.split() if not one.startswith(f"{site}/simulators/")]
    assert (0, "") == (ran.returncode, ran.stderr)
    assert f"export SAYSO_{platform.upper()}__API=http://127.0.0.1:" in ran.stdout
