"""What an approved command tries against the service that runs it, in every sandbox that this machine can make.

The table of what holds where, which docs/reference/threat-model.md has, is these tests. A sandbox that doesn't work
here is skipped; so is another user where the tests don't run as root.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from adapters.executors.bash import Bash, Shell
from adapters.executors.confinement import Confinement, Sandbox, User, works
from adapters.executors.confining.plan import Bounds
from adapters.executors.registry import Context
from hitl.call import Ran, Result
from hitl.cards.wording import say

OTHER = "another-user"
CONFINED = [way for way in Confinement if way is not Confinement.NONE]
SANDBOXES = [*CONFINED, *(f"{way}-{OTHER}" for way in CONFINED)]
BOUNDS = Bounds(memory=256 << 20, processes=40, file=8 << 20)

#: Prints one line for each attempt: its name, and `through` or `stopped`.
ATTEMPTS = """
import ctypes, os, socket, sys
state, door, service = sys.argv[1], sys.argv[2], int(sys.argv[3])
keys = state + "/keys.json"
call = ctypes.CDLL(None, use_errno=True).syscall

def attempt(name, act):
    try:
        act()
        print(name, "through")
    except Exception as error:
        print(name, "stopped", type(error).__name__, error)

def connected(address, kind=socket.AF_UNIX, how=socket.SOCK_STREAM):
    with socket.socket(kind, how) as made:
        made.connect(address)

def raw(number, *arguments):
    if call(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")

def by_descriptor():
    os.chmod("/proc/self/fd/%d" % os.open(state, os.O_PATH), 0o777)

def through_a_link():
    os.symlink(state, "link")
    os.chmod("link", 0o777)

def from_inside():
    os.chmod("../state", 0o777)

def changed(change):
    file = os.open("/etc/passwd", os.O_RDONLY)
    change(file, os.fstat(file))

def times(found):
    return found.st_atime_ns, found.st_mtime_ns

attempt("read the keys", lambda: open(keys).read())
attempt("write the keys", lambda: open(keys, "a").write("x"))
attempt("chmod the state", lambda: os.chmod(state, 0o777))
attempt("chmod the keys", lambda: os.chmod(keys, 0o666))
attempt("chmod by descriptor", by_descriptor)
attempt("chmod through a link", through_a_link)
attempt("chmod by way of ..", from_inside)
attempt("chown the keys", lambda: os.chown(keys, -1, os.getgid()))
attempt("utime the keys", lambda: os.utime(keys, (1, 1)))
attempt("touch the keys", lambda: os.utime(keys))
attempt("truncate the keys", lambda: os.truncate(keys, 0))
attempt("setxattr the keys", lambda: os.setxattr(keys, "user.made.up", b"1"))
attempt("fchmod a system file", lambda: changed(lambda file, found: os.fchmod(file, found.st_mode & 0o7777)))
attempt("fchown a system file", lambda: changed(lambda file, found: os.fchown(file, found.st_uid, -1)))
attempt("futimens a system file", lambda: changed(lambda file, found: os.utime(file, ns=times(found))))
attempt("fsetxattr a system file", lambda: changed(lambda file, _: os.setxattr(file, "user.made.up", b"1")))
attempt("remove the keys", lambda: os.remove(keys))
attempt("rename the state", lambda: os.rename(state, state + "2"))
attempt("connect a Unix socket", lambda: connected(door))
attempt("connect an abstract socket", lambda: connected("\\0sayso-attack-%d" % service))
attempt("connect TCP", lambda: connected(("127.0.0.1", int(sys.argv[4])), socket.AF_INET))
attempt("signal the service", lambda: os.kill(service, 0))
attempt("read its environment", lambda: open("/proc/%d/environ" % service, "rb").read(1))
attempt("read its memory", lambda: open("/proc/%d/mem" % service, "rb"))
attempt("set-user-ID by chmod", lambda: (open("x", "w").close(), os.chmod("x", 0o4755)))
attempt("set-user-ID by fchmod", lambda: os.fchmod(os.open("x", os.O_RDWR), 0o6755))
attempt("set-user-ID by open", lambda: os.close(os.open("y", os.O_CREAT | os.O_WRONLY, 0o4755)))
attempt("a new user namespace", lambda: raw(272, 0x10000000) if os.uname().machine == "x86_64" else 1 / 0)
"""
#: What everyday tools must still be able to do.
WANTED = """
set -e
echo a > a; chmod 755 a; test -x a; touch -d @5 a; mkdir d; chmod 700 d; ln a b; ln -s a c; chmod 644 c
cd d; chmod 640 ../a; cd ..; tar cf t.tar a d; mkdir out; tar xf t.tar -C out
python3 -c 'import os; a = os.open("a", os.O_RDONLY); os.fchmod(a, 0o750); os.fchown(a, -1, os.getgid()); os.utime(a)'
t=$(mktemp -d); echo x > $t/x; chmod +x $t/x; cp -p $t/x p; cp -a d e; mv e f; rm -r f
git init -q g; cd g; echo x > x; git add x; git -c user.name=a -c user.email=a@b.example commit -qm x; cd ..
if command -v gcc > /dev/null; then echo 'int main(void){return 0;}' > m.c; gcc m.c -o m; ./m; fi
python3 -m venv --without-pip v; ./v/bin/python -c 'import socket; socket.socketpair()'
echo well
"""


@pytest.fixture(params=SANDBOXES)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """Each sandbox of this machine, with bounds that a test can reach."""
    way, _, other = request.param.partition("-")
    if other and os.geteuid() != 0:
        pytest.skip("only root runs commands as another user")
    nobody = pwd.getpwnam("nobody")
    made = Sandbox(Confinement(way), User("nobody", nobody.pw_uid, nobody.pw_gid) if other else None, BOUNDS)
    if not works(made):
        pytest.skip(f"{request.param} doesn't work here")
    return made


@pytest.fixture
def place(sandbox: Sandbox) -> Iterator[Path]:
    """A folder with a workspace that the commands' user owns, and the service's state and a socket beside it."""
    with tempfile.TemporaryDirectory(prefix="sayso-attacks-") as made:
        place = Path(made)
        place.chmod(0o711)
        workspace, state = place / "workspace", place / "state"
        workspace.mkdir()
        sandbox.give(workspace)
        state.mkdir(0o700)
        (state / "keys.json").touch(0o600)
        (state / "keys.json").write_text("made-up")
        yield place


async def _run(place: Path, sandbox: Sandbox, command: str, limit_s: float = 60) -> Ran:
    shell, args = Shell(place / "workspace", sandbox), Bash(command=command)
    context = Context("token:agent", "ref-1", "ref-1", limit_s, dict(shell.look(args).preconditions))
    return await shell.bash(context, args)


def _python() -> None:
    if not shutil.which("python3", path="/usr/bin:/bin"):
        pytest.skip("the system has no python3 that a confined command could run")


async def test_nothing_of_the_service_is_reached(place: Path, sandbox: Sandbox) -> None:
    """State, keys, sockets and processes of the service are out of reach, by every name that a command can make."""
    _python()
    (place / "workspace" / "attempts.py").write_text(ATTEMPTS)
    with (
        closing(socket.socket(socket.AF_UNIX)) as door,
        closing(socket.socket(socket.AF_UNIX)) as hidden,
        socket.create_server(("127.0.0.1", 0)) as server,
    ):
        door.bind(str(place / "door"))
        (place / "door").chmod(0o666)
        hidden.bind(f"\0sayso-attack-{os.getpid()}")
        door.listen()
        hidden.listen()
        arguments = (place / "state", place / "door", os.getpid(), server.getsockname()[1])
        ran = await _run(place, sandbox, f"python3 attempts.py {' '.join(map(str, arguments))}")
    lines = ran.output.splitlines()
    keys = place / "state" / "keys.json"

    through = [line for line in lines if line.endswith(" through")]
    assert ([], ATTEMPTS.count("\nattempt(")) == (through, len(lines)), ran.output
    assert (0o600, "made-up") == (keys.stat().st_mode & 0o7777, keys.read_text())
    assert 0o700 == (place / "state").stat().st_mode & 0o7777


async def test_everyday_tools_keep_working(place: Path, sandbox: Sandbox) -> None:
    """chmod, git, gcc, tar and venv work in the workspace and in the folder for temporary files."""
    _python()
    if not shutil.which("git"):
        pytest.skip("git isn't installed")
    ran = await _run(place, Sandbox(sandbox.way, sandbox.user), WANTED)

    assert (Result.SUCCEEDED, "well") == (ran.result, ran.output.strip()[-4:]), ran.output


async def test_a_memory_bomb_ends(place: Path, sandbox: Sandbox) -> None:
    """In one process the kernel refuses the memory; in many, the keeper ends the command."""
    one = await _run(place, sandbox, "head -c 1G /dev/zero | tail > /dev/null; echo ${PIPESTATUS[1]}")
    many = await _run(
        place, sandbox, "for i in 1 2 3 4; do (head -c 120M /dev/zero; sleep 60) | tail > /dev/null & done; wait"
    )

    assert "0\n" != one.output[-2:]
    assert (Result.FAILED, say("shell.over.memory")) == (many.result, many.error), many.output


async def test_a_fork_bomb_ends(place: Path, sandbox: Sandbox) -> None:
    """The kernel refuses more processes, or the keeper ends the command, and nothing of it is left."""
    bomb = f"sleep 3.{os.getpid()}"
    ran = await _run(place, sandbox, f"for i in {{1..400}}; do {bomb} & done; wait; echo over")
    left = _running(bomb)

    refused = "Resource temporarily unavailable" in ran.output
    assert refused or ran.error == say("shell.over.processes"), ran
    assert [] == left


async def test_a_file_bomb_ends(place: Path, sandbox: Sandbox) -> None:
    """No file grows over the bound, in the workspace or in memory."""
    ran = await _run(
        place, sandbox, "head -c 20M /dev/zero > big; for d in /tmp /dev/shm; do head -c 20M /dev/zero > $d/big; done"
    )

    assert Result.FAILED == ran.result
    assert _size(place / "workspace" / "big") <= BOUNDS.file


async def test_a_daemon_goes_with_its_command(place: Path, sandbox: Sandbox) -> None:
    """What leaves the session, the group and its parent is ended when the command ends."""
    daemon = f"sleep 97.{os.getpid()}"
    script = f"(setsid sh -c 'trap \"\" TERM HUP; {daemon}; {daemon}' > /dev/null 2>&1 &)\nsleep 0.2; echo done"
    ran = await _run(place, sandbox, script)

    assert ("done\n", []) == (ran.output, _running(daemon))


def _size(path: Path) -> int:
    return path.stat().st_size


def _running(line: str) -> list[Path]:
    """The processes with this command line."""
    found = Path("/proc").glob("[0-9]*/cmdline")
    return [path for path in found if line.encode() in _read(path).replace(b"\0", b" ")]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_the_attempts_are_a_program() -> None:
    """The program that is attacked with compiles, so that no attempt is stopped by a mistake of its own."""
    compile(textwrap.dedent(ATTEMPTS), "attempts.py", "exec")
