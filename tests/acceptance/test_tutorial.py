"""docs/tutorial.md, done as written in three terminals, in an empty home folder."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import shlex
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.acceptance.installation import until
from tests.acceptance.page import Page, exporting, newcomer
from tests.acceptance.simulator import Simulator, simulating
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.long

PAGE = Page("tutorial.md", folder="docs")
_FILE = re.compile(r"[Ss]ave this as `([^`]+)`:\n\n```\w+\n(.*?)```", re.DOTALL)
_PART = re.compile(rf"{_FILE.pattern}|```(console|text)\n(.*?)```", re.DOTALL)
_STEP = re.compile(r"^(you\$|script\$|phone\$|phone>) ?", re.MULTILINE)
_REF = re.compile(r"\b(?=[0-9A-Z]*[0-9])[0-9A-HJKMNP-TV-Z]{6}\b")
#: What differs from run to run, and from machine to machine.
_CHANGING = (
    (_REF, "REF"),
    (re.compile(r"\bexpires \d{2}:\d{2}\b"), "expires TIME"),
    (re.compile(r"^  \S+'s agent ", re.MULTILINE), "  SOMEBODY's agent "),
    (re.compile(r"\b\S+ wants to run"), "SOMEBODY wants to run"),
    (re.compile(r"\bapproved by \S+"), "approved by SOMEBODY"),
    (re.compile(r"\bWho may approve: \S+\."), "Who may approve: SOMEBODY."),
    (re.compile(r"^sayso: \S+ can't approve", re.MULTILINE), "sayso: SOMEBODY can't approve"),
    (re.compile(r"^  on \S+, in \S+$", re.MULTILINE), "  on HOST, in FOLDER"),
    (re.compile(r"\b\d{2}:\d{2}:\d{2} UTC\b"), "TIME"),
    (re.compile(r"\b\d:\d\d left\b"), "LEFT"),
    (re.compile(r"\blocal:\d+"), "local:UID"),
    (re.compile(r"/\S+/sayso\.sock"), "SOCKET"),
    (re.compile(r"http://127\.0\.0\.1:\d+"), "ADDRESS"),
)
#: What a shell says of a job that was killed; the page leaves it out.
_JOB = re.compile(r"^bash: line \d+: +\d+ Killed .*\n", re.MULTILINE)
#: Ends what one command printed, followed by its status; no command of the page prints it.
_END = "\x1e"


def settled(text: str) -> str:
    """A text with what changes replaced."""
    for pattern, instead in _CHANGING:
        text = pattern.sub(instead, text)
    return text.strip()


class Shell:
    """A terminal with a shell in it: it stays open, so that `cd`, `export` and `wait` mean what they mean there."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        screen, end = pty.openpty()
        fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self._shell = subprocess.Popen(
            ["bash", "--norc"],
            stdin=subprocess.PIPE,
            stdout=end,
            stderr=end,
            env=environment,
            cwd=folder,
            start_new_session=True,
        )
        os.close(end)
        self._printed = _END
        self._expected = ""
        self._reader = threading.Thread(target=self._read, args=(screen,))
        self._reader.start()

    def _read(self, screen: int) -> None:
        # A terminal that nobody writes to any more ends with an error (Linux, pty(7)).
        with os.fdopen(screen, encoding="utf-8", newline="") as shown, contextlib.suppress(OSError):
            while text := shown.read(1):
                self._printed += text.replace("\r", "")

    @property
    def text(self) -> str:
        """What the last command printed."""
        return _JOB.sub("", self._printed.replace(_END, ""))

    def type(self, command: str) -> None:
        """Type a command, once the one before is over."""
        self.ends()
        self._printed = self._expected = ""
        assert self._shell.stdin is not None
        self._shell.stdin.write(f"{{ {command}\n}} </dev/null; printf '{_END}'\n".encode())
        self._shell.stdin.flush()

    def shows(self, expected: str) -> str:
        """Wait until the last command has printed this after what it is known to have printed; all of that."""
        self._expected += expected
        self._wait(lambda: settled(self._expected) == settled(self.text))
        return self.text

    def ends(self) -> None:
        """Wait until the last command is over; it has printed just what was expected of it."""
        self._wait(lambda: _END in self._printed)

    def _wait(self, seen: Callable[[], bool]) -> None:
        with contextlib.suppress(AssertionError):
            until(seen, "the terminal")

        assert settled(self._expected) == settled(self.text)
        assert seen(), "the command doesn't end"

    def close(self) -> None:
        """End the shell, and what it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._shell.pid, signal.SIGKILL)
        self._shell.communicate()
        self._reader.join(PATIENCE_S)


@dataclass
class Reader:
    """Somebody who does what the page says: saves files, types commands, and compares what is printed."""

    environment: dict[str, str]
    folder: Path
    stack: contextlib.ExitStack
    shells: dict[str, Shell] = field(init=False)
    told: dict[str, str] = field(default_factory=dict)
    #: The page's short refs, and what those calls are called here.
    refs: dict[str, str] = field(default_factory=dict)
    phone: Simulator = field(init=False)

    def __post_init__(self) -> None:
        """Open two terminals."""
        self.shells = {name: Shell(self.environment, self.folder) for name in ("you$", "script$")}
        for shell in self.shells.values():
            self.stack.callback(shell.close)

    @property
    def work(self) -> Path:
        """The folder that the page works in."""
        return Path(self.environment["HOME"], "sayso-tutorial")

    def here(self, text: str) -> str:
        """A text of the page with the refs, and the variables, as they are here."""
        return exporting(_REF.sub(lambda found: self.refs.get(found[0], found[0]), text), self.told)

    def learn(self, expected: str, actual: str) -> None:
        """Note what the page's calls are called here, from two texts that are otherwise the same."""
        self.refs.update(zip(_REF.findall(expected), _REF.findall(actual), strict=True))

    def follow(self, page: str) -> None:
        """Everything, in its order."""
        for name, text, kind, block in _PART.findall(page):
            if name:
                (self.work / name).write_text(text)
            elif kind == "text":
                self.shells["script$"].shows(self.here(block))
            else:
                self.steps(block)

    def steps(self, block: str) -> None:
        """Each line behind a prompt, and what the page says that it prints."""
        _, *parts = _STEP.split(block)
        for prompt, step in zip(parts[::2], parts[1::2], strict=True):
            command, _, printed = step.partition("\n")
            _ACTS[prompt](self, prompt, self.here(command), printed)

    def run(self, prompt: str, command: str, printed: str) -> None:
        """A command in one of the shells."""
        log = self.work / "service.log"
        if starts := command.startswith("sayso run "):
            log.unlink(missing_ok=True)
        given = re.findall("^> (.*)\n", printed, re.MULTILINE)
        printed = re.sub("^> .*\n", "", printed, flags=re.MULTILINE)
        shell = self.shells[prompt]
        shell.type(f"printf '%s\\n' {shlex.join(given)} | {command} | cat" if given else command)
        self.learn(printed, shell.shows(printed))
        if starts:
            until(lambda: log.exists() and "service.ready" in log.read_text(), "the service")

    def simulate(self, _: str, command: str, printed: str) -> None:
        """The third terminal; the port is a free one, as others may sit on the usual one."""
        self.phone = self.stack.enter_context(
            simulating([*shlex.split(command), "--port", "0"], self.environment, self.folder)
        )
        self.told = self.phone.opening()
        opening = [settled(line) for line in self.phone.printed]

        assert [line for line in map(settled, printed.splitlines()) if line not in opening] == []

    def tap(self, _: str, act: str, printed: str) -> None:
        """What somebody does on the phone, if anything, and the lines that it shows, among others."""
        if act:
            self.phone.type(act)
        for line in printed.splitlines():
            while settled(line) != settled(self.phone.sees("")):
                pass


#: What a prompt of the page stands for.
_ACTS: Mapping[str, Callable[[Reader, str, str, str], None]] = {
    "you$": Reader.run,
    "script$": Reader.run,
    "phone$": Reader.simulate,
    "phone>": Reader.tap,
}


def test_the_page_does_what_it_says(tmp_path: Path) -> None:
    """Every file saved, every line typed, and every line of output as printed there; nothing but its folder is left."""
    with contextlib.ExitStack() as stack:
        reader = Reader({**newcomer(tmp_path), "NO_COLOR": "1"}, tmp_path, stack)
        reader.follow(PAGE.text)
        for shell in reader.shells.values():
            shell.ends()
        ended = reader.phone.quit()

    assert 0 == ended
    assert [reader.work] == list(reader.work.parent.iterdir())
    assert ["staging", "staging", "staging", "prod"] == (reader.work / "deployed.txt").read_text().split()
    assert "Traceback" not in (reader.work / "service.log").read_text()
