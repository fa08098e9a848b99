"""Commands that read the record, as a user of this machine who may not read it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from adapters.database.sqlite.backup import back_up
from bot.cli.common import kept_files
from bot.settings import load
from tests.acceptance.installation import OTHER_UID, STRANGER_UID, Installation, acting_as
from tests.patience import PATIENCE_S

# Most tests run as root on a build machine. Anybody else can't give files to another user or run commands as one.
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")

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


def test_a_backup_by_root_belongs_to_the_services_user(install: Callable[..., Installation]) -> None:
    """So that user can restore it, and root's own attempt to restore it says what to do."""
    here = install()
    for path in (here.state, *here.state.iterdir()):
        os.chown(path, OTHER_UID, OTHER_UID)
    copy = here.root / "copy.db"
    kept = kept_files(load(here.config))
    back_up(kept.database, copy, kept.keys, kept.mark)
    with acting_as(OTHER_UID):
        owner, readable = copy.stat(), copy.read_bytes()
    as_root = here.run("restore", "copy.db")

    assert (OTHER_UID, OTHER_UID, 0o600) == (owner.st_uid, owner.st_gid, owner.st_mode & 0o777)
    assert readable.startswith(b"SQLite format 3")
    assert (1, True) == (as_root.returncode, f"sudo -u '#{OTHER_UID}'" in as_root.stderr)
