"""What every test stands on."""

from __future__ import annotations

import signal

# What is started in the background ignores Ctrl-C, and under `nohup` the end of its terminal, and so would every
# process that a test starts to try these in.
for ignored, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(ignored) is signal.SIG_IGN:
        signal.signal(ignored, usual)
