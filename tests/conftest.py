"""What every test stands on."""

from __future__ import annotations

import signal

# A shell that starts something in the background makes it ignore Ctrl-C, and so would every process that a test
# starts to press Ctrl-C in.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
