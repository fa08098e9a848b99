"""What every test stands on."""

from __future__ import annotations

import gc
import signal
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

# What is started in the background ignores Ctrl-C, and under `nohup` the end of its terminal, and so would every
# process that a test starts to try these in.
for ignored, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(ignored) is signal.SIG_IGN:
        signal.signal(ignored, usual)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector away from the modules and tests that are collected, which all stay to the end.

    It would examine them again and again: for a quarter of the time that collecting takes, and later in each full
    collection.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
