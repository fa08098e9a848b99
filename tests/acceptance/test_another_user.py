"""Commands that read the record, as a user of this machine who may not read it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.acceptance.installation import STRANGER_UID, Installation
from tests.patience import PATIENCE_S

#: Every command that reads the state folder itself.
COMMANDS = (
    *(("history",), ("stats",), ("audit", "verify"), ("audit", "query"), ("audit", "export")),
    *(
        ("backup", "copy.db"),
        ("restore", "copy.db"),
        ("policy", "suggest"),
        ("policy", "backtest"),
        ("doctor", "--json"),
    ),
)
#: Runs all commands twice in one process: first as root, so that all modules are imported, because another user may not
#: be able to read this Python; then as that user. It prints what each second run gave.
TWICE = """
import io, json, os, sys, tempfile
from bot.cli.main import main

def run(words):
    sys.argv, sys.stdout, sys.stderr = ["sayso", *words], io.StringIO(), io.StringIO()
    try:
        main()
    except SystemExit as ended:
        return ended.code, sys.stdout.getvalue(), sys.stderr.getvalue()

commands, out = json.loads(sys.argv[1]), sys.stdout
for words in commands:
    run(words)
os.unlink("copy.db")
os.setgroups([]), os.setgid(UID), os.setuid(UID)
tempfile.tempdir = "/tmp"
json.dump([run(words) for words in commands], out)
"""


def test_whoever_may_not_read_the_record_is_told_in_one_sentence(install: Callable[..., Installation]) -> None:
    """With the file, the user, and no traceback; `doctor` goes on with its other checks."""
    if os.geteuid() != 0:
        pytest.skip("only root can run commands as another user")
    here = install()
    here.config.chmod(0o644)
    ran = subprocess.run(
        [sys.executable, "-c", TWICE.replace("UID", str(STRANGER_UID)), json.dumps(COMMANDS)],
        env=here.surroundings(PYTHONPATH=os.pathsep.join(sys.path)),
        cwd=here.root,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (0, "") == (ran.returncode, ran.stderr)
    *told, doctor = json.loads(ran.stdout)
    checks = {check["name"]: check for check in json.loads(doctor[1])}

    assert [1] * len(told) == [status for status, _, _ in told], told
    assert all(out == "" and str(here.state) in error for _, out, error in told), told
    assert all(error.count("\n") == 1 for _, _, error in told), told
    assert (1, "") == (doctor[0], doctor[2])
    assert all("red" == checks[name]["state"] for name in ("database", "keys"))
    assert "green" == checks["settings"]["state"]
    assert {"tools", "policy", "service"} <= checks.keys()
