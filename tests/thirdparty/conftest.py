"""These tests run others' code, which only `make thirdparty` installs; elsewhere they aren't even read."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("aiogram") else ["test_*.py"]
