"""`sayso-ask` and `sayso-wait`: the options of `sayso ask` and `sayso wait`, and which service they ask."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.main import get_command

from bot.cli.main import application
from sayso_client.client import Client
from sayso_client.command import UNAVAILABLE, USAGE, ask_parser, wait_parser
from sayso_client.errors import ClientError
from sayso_client.wire import request
from tests.clients.answering import answer_with, problem
from tests.clients.test_client import Answering, answering
from tests.sentences import raises, says

__all__ = ["answering"]
#: Options of `sayso ask` that find a service on this machine by its settings.
LOCAL = {"--config"}


def asked(
    folder: Path, *options: str, program: str = "sayso-ask", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, with an empty home."""
    name, *words = program.split()
    return subprocess.run(
        [Path(sys.executable).with_name(name), *words, "deploy", *options],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder / "home"), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def kept_token(folder: Path, mode: int = 0o600) -> Path:
    """A file with a token."""
    file = folder / "token"
    file.write_text("sayso_x\n")
    file.chmod(mode)
    return file


@pytest.mark.parametrize(("name", "parser"), [("ask", ask_parser), ("wait", wait_parser)])
def test_the_commands_of_the_client_take_the_options_of_the_services(
    name: str, parser: Callable[[], ArgumentParser]
) -> None:
    """`sayso-ask` and `sayso-wait` lack only the option that names the service's settings."""
    command = get_command(application()).commands[name]  # type: ignore[attr-defined]
    ours = {option for parameter in command.params for option in parameter.opts if option.startswith("-")}
    theirs = set(
        re.findall(r"(?<![\w-])--?[a-z][a-z-]*", parser().format_help().split("options:")[1].split("Example")[0])
    )

    assert ours - LOCAL == theirs - {"-h", "--help"}


@pytest.mark.parametrize("program", ["sayso-ask", "sayso-wait", "sayso ask", "sayso wait"])
@pytest.mark.parametrize("given", ["--url", "--token-file", "--ca-file"])
def test_an_address_and_a_token_belong_together(tmp_path: Path, program: str, given: str) -> None:
    """A token from one place never goes to an address from another place."""
    value = "https://gate.example.org" if given == "--url" else str(kept_token(tmp_path))
    done = asked(tmp_path, given, value, program=program)

    assert (USAGE, 1) == (done.returncode, len(done.stderr.splitlines()))
    assert says(done.stderr, "ask.token")


def test_two_services_are_one_too_many(tmp_path: Path) -> None:
    """`sayso ask` doesn't choose between an address and a socket."""
    remote = ["--url", "https://gate.example.org", "--token-file", str(kept_token(tmp_path))]
    done = asked(tmp_path, *remote, "--socket", "run/sayso.sock", program="sayso ask")

    assert USAGE == done.returncode
    assert says(done.stderr, "ask.both")


@pytest.mark.parametrize(
    "url", ["", "gate.example.org", "ftp://x", "https://[::1", "https://a..b", "https://x:99999", "https://u:p@x"]
)
def test_an_address_that_is_none_is_usage(tmp_path: Path, url: str) -> None:
    """Whatever stands there, the error is one line without the password of an address."""
    done = asked(tmp_path, "--url", url, "--token-file", str(kept_token(tmp_path)))

    assert (USAGE, 1) == (done.returncode, len(done.stderr.splitlines()))
    assert says(done.stderr, "configuration.url" if url else "ask.token")
    assert "u:p" not in done.stderr


@pytest.mark.parametrize("words", [["--no-such-option"], ["--timeout", "soon"], ["--args", "{"], ["--args", "[]"]])
def test_an_option_that_makes_no_sense_is_usage(tmp_path: Path, words: list[str]) -> None:
    """Nothing is asked, and there is no traceback."""
    done = asked(tmp_path, *words)

    assert (USAGE, "") == (done.returncode, done.stdout)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("name", "mode"), [("no-such-program", None), ("./absent", None), ("./plain", 0o644), ("./folder", 0)]
)
def test_nobody_is_asked_about_a_command_that_cannot_be_run(tmp_path: Path, name: str, mode: int | None) -> None:
    """127 as in a shell, at once. The service isn't even looked for."""
    if mode:
        (tmp_path / name).touch(mode)
    elif mode is not None:
        (tmp_path / name).mkdir()
    done = asked(tmp_path, "--", name)

    assert (127, "") == (done.returncode, done.stdout)
    assert says(done.stderr, "ask.program", program=name)


@pytest.mark.parametrize(("time", "within"), [("4s", False), ("8d", False), ("5", True), ("7d", True)])
def test_people_have_five_seconds_to_seven_days(tmp_path: Path, time: str, *, within: bool) -> None:
    """Another time is refused here, in the form of the option. With a time within, the service is looked for."""
    done = asked(tmp_path, "--timeout", time)

    assert (not within) == says(done.stderr, "ask.timeout.bounds", text=time, least="5s", most="7d")


def test_the_working_folder_names_no_service(tmp_path: Path) -> None:
    """An agent can write there, so its files would name a service that approves everything."""
    for name in ("client.toml", "sayso.toml"):
        (tmp_path / name).write_text('url = "http://127.0.0.1:9"\n')
    done = asked(tmp_path)

    assert USAGE == done.returncode
    assert says(done.stderr, "configuration.none")


@pytest.mark.parametrize("program", ["sayso-ask", "sayso ask", "sayso-wait"])
@pytest.mark.parametrize("given", ["option", "variable"])
def test_a_socket_that_is_not_there_is_named_at_once(tmp_path: Path, program: str, given: str) -> None:
    """The first line names it, and says what to do; a command that was never connected has nothing to wait for."""
    path = tmp_path / "none.sock"
    words, more = (["--socket", str(path)], {}) if given == "option" else ([], {"SAYSO_SOCKET": str(path)})
    done = asked(tmp_path, *words, program=program, **more)

    assert UNAVAILABLE == done.returncode
    assert says(done.stderr.splitlines()[0], "reach.none", path=path)
    assert {"sayso run", "--socket", "SAYSO_SOCKET"} <= set(re.findall(r"sayso run|--socket|SAYSO_SOCKET", done.stderr))


def test_without_an_address_the_error_names_the_file_and_the_socket_that_were_looked_for(tmp_path: Path) -> None:
    """The usual socket of the user's own service counts as an address."""
    done = asked(tmp_path, XDG_RUNTIME_DIR=str(tmp_path))

    assert USAGE == done.returncode
    assert str(tmp_path / "sayso" / "sayso.sock") in done.stderr
    assert str(tmp_path / "home") in done.stderr


def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    """The error names the file and never the token."""
    done = asked(tmp_path, "--url", "https://gate.example.org", "--token-file", str(kept_token(tmp_path, 0o644)))

    assert USAGE == done.returncode
    assert says(done.stderr, "configuration.foreign", file=tmp_path / "token")
    assert "sayso_x" not in done.stderr


def test_a_token_never_crosses_a_network_in_the_clear(tmp_path: Path) -> None:
    """Only https, or http on the machine itself."""
    done = asked(tmp_path, "--url", "http://gate.example.org", "--token-file", str(kept_token(tmp_path)))

    assert USAGE == done.returncode
    assert says(done.stderr, "configuration.clear")


def test_an_authority_that_can_not_be_read_is_named(tmp_path: Path) -> None:
    """The error isn't that of a service that is away."""
    remote = ["--url", "https://gate.example.org", "--token-file", str(kept_token(tmp_path))]
    done = asked(tmp_path, *remote, "--ca-file", "no-such-file")

    assert USAGE == done.returncode
    assert says(done.stderr, "configuration.unreadable", file="no-such-file")


def test_a_service_that_is_away_is_thirteen(tmp_path: Path) -> None:
    """Nothing runs, and the error names the address."""
    url = "http://127.0.0.1:9"
    done = asked(tmp_path, "--url", url, "--token-file", str(kept_token(tmp_path)), "--", "touch", "must-not-be")

    assert UNAVAILABLE == done.returncode
    assert says(done.stderr, "reach.away", path=url)
    assert not (tmp_path / "must-not-be").exists()


@pytest.mark.parametrize(
    ("answer", "again"),
    [
        (answer_with(502, {"error": "bad gateway"}), True),
        (b"HTTP/1.1 504 So\r\ncontent-length: 13\r\n\r\n<html></html>", True),
        (b"HTTP/1.1 404 So\r\ncontent-length: 13\r\n\r\n<html></html>", False),
        (b"HTTP/1.1 301 So\r\nlocation: https://x\r\ncontent-length: 0\r\n\r\n", False),
        (answer_with(200, {"welcome": "to this network"}), False),
        (answer_with(200, {"status": "approved"}), False),
    ],
    ids=["gateway", "page", "site", "moved", "portal", "status"],
)
def test_an_answer_of_something_else_is_never_an_approval(answering: Answering, answer: bytes, *, again: bool) -> None:
    """If a proxy failed to reach the service, the request may be on record, so it may be sent again with its key."""
    with Client(answering(answer)) as client, raises(ClientError, "reach.odd") as caught:
        client.call("ask", tool="deploy", args={})

    assert ("UNAVAILABLE", again) == (caught.value.code, client.broken)


def test_a_refusal_keeps_its_code(answering: Answering) -> None:
    """The service's own refusals are told apart from a proxy's."""
    answer = answer_with(409, problem("KEY_CONFLICT", "No."))
    with Client(answering(answer)) as client, pytest.raises(ClientError) as caught:
        client.call("ask", tool="deploy", args={})

    assert "KEY_CONFLICT" == caught.value.code


def test_a_path_of_the_address_goes_before_the_paths_of_the_api() -> None:
    """A proxy may serve the API below a path of its own."""
    sent = request("ping", {}, host="gate.example.org", under="/sayso")

    assert sent.startswith(b"GET /sayso/v1/me HTTP/1.1\r\nHost: gate.example.org\r\n")
