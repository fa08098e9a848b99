"""docs/how-to/python.md: its programs run as they stand there, against a service in the folder beside them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.acceptance.installation import Installation, until
from tests.patience import PATIENCE_S

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "python.md").read_text()
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def ran(service: Installation, program: str, verb: str) -> str:
    """What a program of the page prints when somebody answers its call so."""
    process = subprocess.Popen([sys.executable, "-c", program], cwd=service.root, stdout=subprocess.PIPE, text=True)
    (call,) = until(lambda: service.call("pending")["calls"], "the call")
    service.call("decide", target=call["ref"], verb=verb, reason="keep it" if verb == "reject" else None)
    return process.communicate(timeout=PATIENCE_S)[0]


def test_the_programs_of_the_page_do_what_it_says(install: Callable[..., Installation]) -> None:
    """The first one after a yes and after a no, the second after a yes."""
    service = install()
    service.start()
    first, second = PROGRAMS

    assert "ran: deleted old-login" in ran(service, first, "approve")
    told = ran(service, first, "reject")
    assert told.startswith("not run:")
    assert "keep it" in told
    assert "published" in ran(service, second, "approve")
