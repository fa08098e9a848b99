"""Random lines, run by a real bash with harmless stubs for programs: what was started is never allowed unseen."""

import contextlib
import os
import random
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hitl.policy.shell import read_line
from hitl.policy.shell.lists import Programs
from hitl.policy.three_valued import NO

BASH = shutil.which("bash")
LISTED = Programs.of(["rm"])
REAL = (
    "bash",
    "sh",
    "env",
    "nohup",
    "timeout",
    "xargs",
    "find",
    "nice",
    "setsid",
    "stdbuf",
    "cat",
    "printf",
    "echo",
    "base64",
    "rev",
    "sleep",
    "tee",
    "awk",
    "sed",
    "flock",
    "chmod",
    "split",
)
LETTERS: tuple[str, ...] = (
    "{}",
    "'{}'",
    '"{}"',
    "\\{}",
    "$'{}'",
    '$"{}"',
    "{}''",
    '""{}',
    "{}\\\n",
    "$(printf %s {})",
    "`echo {}`",
    "${{u}}{}",
    "$u'{}'",
)
ARGUMENTS = ("-f x", "x", "", "-rf -- x", '"$x"', "$HOME/x", "x*", "{a,b}")
BEFORE: tuple[str, ...] = (
    "env ",
    "nohup ",
    "timeout 5 ",
    "nice -n 3 ",
    "setsid ",
    "stdbuf -oL ",
    "command ",
    "builtin command ",
    "exec ",
    "exec -a z ",
    "env A=1 ",
    'env -i PATH="$PATH" ',
    "A=1 ",
    "xargs ",
    "echo x | xargs -n1 ",
    "echo x | xargs -I{} ",
    "time ",
    "! ",
    "coproc ",
    "time A=1 ",
    "flock k ",
    "nohup nice ",
    "env -u A -- ",
    "env -S'A=1 nohup' ",
    "env --spl='-u A' ",
    "env -vS 'nice\\_-n\\_3' ",
    "env {A=1,B=2} ",
    "{env,A=1} ",
    "nice {-n,3} ",
    "nice --adj=3 ",
    "timeout --kil=3 5 ",
    "xargs --max-a=1 ",
    "flock --ex k ",
    "jobs -x ",
    "2>/dev/null ",
    "> o ",
    "env > o ",
    "time < /dev/null ",
    "\\env ",
    '"env" ',
)
QUOTED: tuple[str, ...] = (
    "sh -c {}",
    "eval {}",
    "sh <<< {}",
    "echo {} | sh",
    "printf %s {} | bash",
    "printf '%s\\n' {} | bash -s",
    "! echo {} | sh",
    "trap {} EXIT",
    "find . -maxdepth 0 -exec sh -c {} \\;",
    "echo x | xargs sh -c {}",
    "source <(echo {})",
    "bash <(echo {})",
    'v={}; eval "$v"',
    'v={}; sh -c "$v"',
    'v={}; echo "$v" | sh',
    "echo {} > s; sh s",
    "echo {} > s; . ./s",
    "sh -c 'eval \"$1\"' _ {}",
    'read -r c <<< {}; eval "$c"',
    'printf -v c %s {}; eval "$c"',
    "bash --norc -x -c {}",
    "bash -o errexit -c {}",
    "exec sh -c {}",
    "mapfile -C {} -c 1 m <<< x",
)
AROUND: tuple[str, ...] = (
    "ls && {}",
    "ls; {}",
    "false || {}",
    "ls | {}",
    "({})",
    "{{ {}\n}}",
    "if true; then {}\nfi",
    "for i in 1; do {}\ndone",
    "! for i in 1; do {}\ndone",
    "while {}\nfalse; do :; done",
    "case a in a) {}\n;; esac",
    "f() {{ {}\n}}; f",
    "echo $({}\n)",
    'echo "$({}\n)"',
    "x=$({}\n)",
    "echo ${{u:-$({}\n)}}",
    ": $(( $({}\n) + 1 ))",
    "cat <({}\n)",
    "ls > >({}\n)",
    "[[ -n $({}\n) ]]",
    "cat <<E\n$({}\n)\nE",
    "bash <<'E'\n{}\nE",
    "cat <<'E' | sh\n{}\nE",
    "time {}",
    "{} &\nwait",
    "ls # x\n{}",
    "true\n\n{}\n",
    'set -- {}; "$@"',
    'a=({}); "${{a[@]}}"',
    "export x=$({}\n)",
    "a[$({}\n)0]=1",
    "echo x | while read y; do {}\ndone",
    "coproc {{ {}\n}}; wait",
    "tee >({}\n) <<< x",
    "ls() {{ {}\n}}; ls",
    "compgen -W '$({}\n)'",
)


ODD = (
    "rm$IFS-f${IFS}x",
    "{rm,-f,x}",
    "rm${IFS}x",
    "{rm,{x,y}}",
    "env {r..r}m x",
    "env {A=1,{B=2,rm}} x",
    "{nice,-n,3,rm} x",
    "{timeout,5}{,} rm",
    "find . -maxdepth 0 {-exec,rm,{},+}",
    "env -S'r\"m\" x'",
    "env -S 'rm\\_x'",
    'env -iS "$(command -v rm) x"',
    "split --f='rm x' <<< y",
)


def spelled(chance: random.Random) -> str:
    """A call of the listed program in one of its many spellings."""
    odd = chance.random()
    if odd < 0.1:
        return chance.choice(ODD)
    name = "rm" if odd < 0.3 else "".join(chance.choice(LETTERS).format(letter) for letter in "rm")
    return f"{name} {chance.choice(ARGUMENTS)}".strip()


def made(chance: random.Random) -> str:
    """A line that runs it, behind a few layers."""
    line = spelled(chance)
    if chance.random() < 0.5:
        line = chance.choice(BEFORE) + line
    for _ in range(chance.randrange(3)):
        if chance.random() < 0.4:
            line = chance.choice(QUOTED).format("'" + line.replace("'", "'\\''") + "'")
        else:
            line = chance.choice(AROUND).format(line)
    return line


@pytest.fixture
def started(tmp_path: Path) -> Callable[[str], bool]:
    """Runs a line in a folder of its own and says whether the listed program's stub was started."""
    log, programs, work = tmp_path / "log", tmp_path / "bin", tmp_path / "work"
    programs.mkdir()
    work.mkdir()
    for name in ("rm", "ls"):
        stub = programs / name
        stub.write_text(f"#!{BASH}\necho {name} >> {log}\n", encoding="utf-8")
        stub.chmod(0o755)
    for name in REAL:
        found = shutil.which(name)
        if found is not None:
            (programs / name).symlink_to(found)

    def run(line: str) -> bool:
        log.write_text("", encoding="utf-8")
        # A function that calls itself in a substitution would start processes without end: bash counts the calls.
        environment = {"PATH": str(programs), "HOME": str(work), "FUNCNEST": "8"}
        process = subprocess.Popen(
            [str(BASH), "-c", line],
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.wait(4)
        except subprocess.TimeoutExpired:
            return False
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return "rm" in log.read_text(encoding="utf-8").split()

    return run


@pytest.mark.skipif(BASH is None, reason="needs bash, to see what it starts")
@pytest.mark.parametrize("seed", range(3))
def test_what_bash_starts_is_never_unseen(seed: int, started: Callable[[str], bool]) -> None:
    """Each line that started the program is denied, or cannot be told; none reads as harmless."""
    chance = random.Random(seed)  # noqa: S311 - a fixed sequence
    lines = [made(chance) for _ in range(40)]
    ran = [line for line in lines if started(line)]
    unseen = [line for line in ran if LISTED.judge(read_line(line)) == NO and not read_line(line).doubts]

    assert [] == unseen
    assert len(ran) > len(lines) // 3
