"""Start a fork of `forked_commands.py`: python -I -S start_fork.py SOCKET NAME [ARGUMENT...].

It loads few modules, because each start counts.
"""

from __future__ import annotations

import json
import os
import socket
import sys


def main() -> None:
    """Hand over the streams, and wait until the fork has ended."""
    path, name, *words = sys.argv[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as forks:
        forks.connect(path)
        asked = json.dumps([name, words, dict(os.environ), os.getcwd()]).encode()  # noqa: PTH109 - loading pathlib takes longer than all the rest
        socket.send_fds(forks, [asked], [0, 1, 2])
        for stream in (0, 1):
            os.close(stream)
        forks.recv(1)


if __name__ == "__main__":
    main()
