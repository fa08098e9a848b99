"""An installation of its own: settings, folders, and the real `sayso run`, started as a person would start it.

Where tests are marked `forked`, it is a fork with its modules loaded (`tests/forks.py`).
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from adapters.database.keys import load
from hitl.call import Recorded
from hitl.proof.keyring import Keyring
from hitl.times import moment
from sayso_client.client import Client
from sayso_client.errors import ClientError
from tests.forks import Fork
from tests.patience import PATIENCE_S

T = TypeVar("T")

SAYSO = Path(sys.executable).with_name("sayso")
#: The entry point of tests that end the service at a named point.
DYING = Path(__file__).parents[1] / "faults" / "dying.py"
#: The user that runs these tests, as the socket knows them.
ME = f"local:{os.getuid()}"
#: Somebody else on this machine, whose part only root can play.
OTHER_UID = 1234
OTHER = f"local:{OTHER_UID}"
STRANGER_UID = 65534
#: One person who may do everything, also answer for their own calls, and ask as often as tests do.
ALONE = f"""
requesters = ["{ME}"]
approvers = ["{ME}"]
operators = ["{ME}"]
self_approval_socket = "high"

[conversations.local]
self_approval = "high"

[limits]
asks = 1000
again_s = 0
"""


def until(seen: Callable[[], T | None], what: str) -> T:
    """What `seen` returns once it is true; fails, naming what was waited for, when that takes too long."""
    give_up = time.monotonic() + PATIENCE_S
    while True:
        if found := seen():
            return found
        assert time.monotonic() < give_up, f"in vain waited for {what}"
        time.sleep(0.01)


@dataclass
class Installation:
    """Settings, state, runtime and workspace under one root, and the service, if it runs."""

    root: Path
    settings: str = ALONE
    environment: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | Fork | None = None
    #: Whether the service and the commands are forks.
    forked: bool = False

    def __post_init__(self) -> None:
        """Write the settings file."""
        folders = {"state": self.state, "runtime": self.runtime, "workspace": self.workspace}
        told = "".join(f"{name} = {json.dumps(str(path))}\n" for name, path in folders.items())
        self.config.write_text(told + self.settings)

    @property
    def config(self) -> Path:
        """The settings file."""
        return self.root / "sayso.toml"

    @property
    def state(self) -> Path:
        """Where the record lies."""
        return self.root / "state"

    @property
    def runtime(self) -> Path:
        """Where the socket lies."""
        return self.root / "run"

    @property
    def socket(self) -> Path:
        """The socket."""
        return self.runtime / "sayso.sock"

    @property
    def workspace(self) -> Path:
        """Where tools work."""
        return self.root / "workspace"

    @property
    def log(self) -> str:
        """What the service said on stderr so far, over all its starts."""
        return (self.root / "log").read_text()

    def surroundings(self, **more: str) -> dict[str, str]:
        """The environment of everything started here: nothing of whoever runs the tests."""
        clean = {"PATH": os.environ["PATH"], "HOME": str(self.root), "TMPDIR": str(self.root), "LANG": "C.UTF-8"}
        return {**clean, "SAYSO_CONFIG": str(self.config), **self.environment, **more}

    def launch(self, *, dies_at: str = "", open_files: int = 0, **environment: str) -> subprocess.Popen[bytes] | Fork:
        """Start the service, without waiting for it; with `dies_at` it ends at that point of `hitl.faults`.

        `open_files` is the service's limit of open files (`ulimit -n`).
        """
        if self._may_fork(environment) and not open_files:
            words, errors = ["run", "--config", str(self.config)], self.root / "log"
            self.process = Fork(words, self.surroundings(**environment), self.root, errors, dies_at=dies_at)
            return self.process
        program = [sys.executable, DYING, dies_at] if dies_at else [SAYSO]
        if open_files:
            program = ["sh", "-c", f'ulimit -n {open_files}; exec "$@"', "sh", *program]
        with (self.root / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*program, "run", "--config", self.config],
                env=self.surroundings(**environment),
                stdin=subprocess.DEVNULL,
                stderr=log,
                cwd=self.root,
            )
        return self.process

    def start(self, *, dies_at: str = "", open_files: int = 0, **environment: str) -> None:
        """Start the service and wait until it answers. Takes what `launch` takes."""
        self.launch(dies_at=dies_at, open_files=open_files, **environment)
        until(self._started, "the service to answer")

    def _started(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.log
        return self.answers()

    def answers(self) -> bool:
        """Return whether a service takes connections. It makes the socket a little earlier."""
        with contextlib.suppress(ClientError), self.client():
            return True
        return False

    def stop(self) -> int:
        """SIGTERM; the exit status."""
        assert self.process is not None
        self.process.terminate()
        return self.wait()

    def kill(self) -> None:
        """End the service without giving it time for anything."""
        assert self.process is not None
        self.process.kill()
        self.wait()

    def wait(self) -> int:
        """The exit status of the service once it is over."""
        assert self.process is not None
        return self.process.wait(PATIENCE_S)

    def close(self) -> None:
        """Leave nothing running."""
        if self.process is not None and self.process.poll() is None:
            self.kill()

    def client(self) -> Client:
        """A connection to the service."""
        return Client(self.socket)

    def call(self, op: str, **fields: Any) -> dict[str, Any]:
        """One request over a connection of its own."""
        with self.client() as client:
            return client.call(op, **fields)

    def say(self, *lines: str) -> list[str]:
        """Lines to the service's agent, one after another in one conversation; all that it showed."""
        with self.client() as client:
            client.attach()
            return [text for line in lines for text in client.say(line)]

    def run(
        self, *words: str, given: str | bytes = "", program: str | Path = SAYSO, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """A command, by default of `sayso`, to its end."""
        if program == SAYSO and self._may_fork(environment):
            return self._run_fork(words, given, environment)
        done = subprocess.run(
            [program, *words],
            input=given.encode() if isinstance(given, str) else given,
            capture_output=True,
            env=self.surroundings(**environment),
            cwd=self.root,
            timeout=PATIENCE_S,
            check=False,
        )
        return subprocess.CompletedProcess(words, done.returncode, done.stdout.decode(), done.stderr.decode())

    def _may_fork(self, environment: Mapping[str, str]) -> bool:
        """Whether a fork does the same: it reads no variables of Python's, and has the user of these tests."""
        read_at_the_start = any(name.startswith(("PYTHON", "LANG", "LC_")) for name in environment)
        return self.forked and not read_at_the_start and os.geteuid() == os.getuid()

    def _run_fork(
        self, words: Sequence[str], given: str | bytes, environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as folder:
            asked, printed, errors = (Path(folder, name) for name in ("in", "out", "err"))
            asked.write_bytes(given.encode() if isinstance(given, str) else given)
            fork = Fork(words, self.surroundings(**environment), self.root, errors, given=asked, printed=printed)
            try:
                status = fork.wait(PATIENCE_S)
            finally:
                fork.kill()
            return subprocess.CompletedProcess(words, status, printed.read_text(), errors.read_text())

    def begin(self, *words: str, program: str | Path = SAYSO, **environment: str) -> subprocess.Popen[str]:
        """A command, by default of `sayso`, that is still to end."""
        return subprocess.Popen(
            [program, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.surroundings(**environment),
            cwd=self.root,
            text=True,
        )

    def waiting(self, count: int = 1) -> list[dict[str, Any]]:
        """The calls that wait for people, once there are so many."""

        def seen() -> list[dict[str, Any]] | None:
            calls: list[dict[str, Any]] = self.call("pending")["calls"]
            return calls if len(calls) == count else None

        return until(seen, f"{count} waiting calls")

    def status(self, target: str) -> str:
        """How a call stands."""
        told: str = self.call("show", target=target)["call"]["status"]
        return told

    @contextlib.contextmanager
    def database(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """The database, read-only unless somebody is to tamper with it."""
        mode = "rw" if write else "ro"
        connection = sqlite3.connect(f"file:{self.state / 'sayso.db'}?mode={mode}", uri=True, timeout=PATIENCE_S)
        try:
            yield connection
            connection.commit()
        finally:
            connection.close()

    def tamper(self, statement: str, *values: object) -> None:
        """Change the database behind the service's back."""
        with self.database(write=True) as database:
            assert database.execute(statement, values).rowcount == 1

    @property
    def keys(self) -> Keyring:
        """What the service seals with."""
        return Keyring(load(self.state / "keys.json"))

    def chains(self) -> dict[str, list[Recorded]]:
        """The record as it lies in the database: the lines of each chain in their order."""
        columns = "ref, seq, at, event, actor, data, prev, hash"
        chains: dict[str, list[Recorded]] = {}
        with self.database() as database:
            for row in database.execute(f"SELECT {columns} FROM audit ORDER BY ref, seq"):  # noqa: S608 - ours
                chains.setdefault(row[0], []).append(_line(row))
        return chains

    def events(self, ref: str) -> list[str]:
        """What the record says of a call, in order; of the service itself for ''."""
        return [line.event for line in self.chains().get(ref, [])]

    def lines(self, name: str = "out.txt") -> list[str]:
        """The lines of a file in the workspace; none where there is no such file."""
        file = self.workspace / name
        return file.read_text().splitlines() if file.exists() else []


def _line(row: tuple[Any, ...]) -> Recorded:
    ref, seq, at, event, actor, data, prev, own = row
    return Recorded(ref, seq, moment(at), event, actor, data, prev, own)


@contextlib.contextmanager
def acting_as(uid: int) -> Iterator[None]:
    """Connect as another user: the kernel notes who connects at that moment (unix(7), SO_PEERCRED)."""
    mine = os.geteuid()
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(mine)


def signalled(process: subprocess.Popen[Any] | Fork, number: signal.Signals) -> None:
    """Send a signal to one process, and to nothing that it started."""
    os.kill(process.pid, number)
