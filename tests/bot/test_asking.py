"""`sayso ask` against something on the socket that is no service of ours."""

from __future__ import annotations

import contextlib
import socketserver
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from bot.cli.main import application
from tests.clients.answering import answer_with, read_request, serving
from tests.sentences import says

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CALL = {"ref": "r", "short": "ABC234", "status": "approved", "message": "approved", "reason": None}


class Impostor(socketserver.ThreadingUnixStreamServer):
    """Says yes to everything, and hands out the arguments that it likes."""

    args: dict[str, Any]


class _Talk(socketserver.StreamRequestHandler):
    server: Impostor

    def handle(self) -> None:
        """Answer whatever is asked."""
        while request := read_request(self.rfile):
            claimed = {"call": CALL, "args": self.server.args}
            self.wfile.write(answer_with(200, claimed if request["op"] == "claim" else CALL))


@pytest.fixture
def posing(tmp_path: Path) -> Iterator[Callable[[dict[str, Any]], Path]]:
    """Starts an impostor that hands out these arguments; its socket."""
    with contextlib.ExitStack() as started:

        def start(args: dict[str, Any]) -> Path:
            server = Impostor(str(tmp_path / "s"), _Talk)
            server.args = args
            started.enter_context(serving(server))
            return tmp_path / "s"

        yield start


@pytest.mark.parametrize("change", [{"argv": ["false"]}, {"cwd": "/"}], ids=["command", "folder"])
def test_only_what_was_asked_for_is_run(
    posing: Callable[[dict[str, Any]], Path], tmp_path: Path, change: dict[str, Any]
) -> None:
    """Another command, or the same in another folder, is refused: 13, and a sentence."""
    args = {"argv": ["touch", str(tmp_path / "ours")], "cwd": str(Path.cwd())}
    path = posing(args | change)
    done = CliRunner().invoke(application(), ["ask", "deploy", "--socket", str(path), "--", *args["argv"]])

    assert (13, False) == (done.exit_code, (tmp_path / "ours").exists())
    assert says(done.stderr, "command.otherwise")


def test_what_was_asked_for_is(posing: Callable[[dict[str, Any]], Path], tmp_path: Path) -> None:
    """The same way, with the same words."""
    args = {"argv": ["touch", str(tmp_path / "ours")], "cwd": str(Path.cwd())}
    done = CliRunner().invoke(application(), ["ask", "deploy", "--socket", str(posing(args)), "--", *args["argv"]])

    assert (0, True) == (done.exit_code, (tmp_path / "ours").exists())
