"""`python -I -m sayso_client.hooks HOST ...`: the command that a host starts for each tool call.

The service's address comes only from these arguments, never from the environment or the working folder. The answer is
one JSON object on stdout, with the exit status 0; a denial's reason is on stderr too. If the command can't answer, it
ends with the exit status 2 and a sentence on stderr: hosts then block the tool. After `--patience` seconds, it writes a
denial and ends with the status 2. `--reader` is a file descriptor at whose other end the host reads the answer.
"""

from __future__ import annotations

import json
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

#: The module for each host (coding agent).
HOSTS = {
    "claude-code": "claude_code",
    "codex": "codex",
    "copilot": "copilot",
    "gemini": "gemini",
    "openclaw": "openclaw",
    "opencode": "opencode",
    "qwen": "qwen",
}
_BLOCK = 2
#: Variables with which the host's environment could choose the code or the settings of TLS.
_UNTRUSTED = ("OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES")
_OPTIONS = ("--socket", "--uid", "--url", "--token-file", "--ca-file", "--reader", "--patience")


def main(arguments: list[str]) -> int:
    """Answer the event on stdin. Return the exit status."""
    from importlib import import_module

    host, *rest = arguments
    defers = "--defer" in rest
    rest = [word for word in rest if word != "--defer"]
    options = dict(zip(rest[::2], rest[1::2], strict=True))
    if host not in HOSTS or not options.keys() <= set(_OPTIONS):
        raise ValueError("usage")
    patience_s = float(options["--patience"])
    module = import_module(f"sayso_client.hooks.{HOSTS[host]}")
    _end_after(patience_s, module)

    from sayso_client.hooks.answering import Hook
    from sayso_client.hooks.reaching import connector

    for name in _UNTRUSTED:
        os.environ.pop(name, None)
    connect = connector({name.removeprefix("--").replace("-", "_"): value for name, value in options.items()})
    readers = (1, int(options["--reader"])) if "--reader" in options else (1,)
    answer = Hook(module, connect, patience_s, defers=defers, readers=readers).answer(sys.stdin.buffer.read())
    said = json.dumps(answer)
    signal.setitimer(signal.ITIMER_REAL, 0)
    if "deny" in said:
        sys.stderr.write(f"{_reason(answer)}\n")
    sys.stdout.write(said)
    sys.stdout.flush()
    return 0


def _end_after(patience_s: float, host: ModuleType) -> None:
    """Block the tool after this many seconds, even if this process still waits for something.

    The hook's own waits end earlier. But a service may accept a connection and never answer, and a host may never end
    its event. If the host's limit came first, the host would run the tool.
    """

    def end(*_: object) -> None:
        from sayso_client.wording import say

        try:
            why = say("hook.no_answer")
            os.write(2, f"{why}\n".encode())
            os.write(1, json.dumps(host.denied({}, why)).encode())
        finally:
            os._exit(_BLOCK)

    signal.signal(signal.SIGALRM, end)
    # The host may have blocked the signal, and a child process inherits the blocked signals.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
    signal.setitimer(signal.ITIMER_REAL, max(patience_s, 0.001))


def _reason(answer: object) -> str:
    """Return the longest text in an answer. In a denial, this is the reason."""
    if isinstance(answer, dict):
        return max((_reason(value) for value in answer.values()), key=len, default="")
    return answer if isinstance(answer, str) else ""


def guarded() -> None:
    """Run `main`. If it raises, end with the status that blocks the tool.

    Exit immediately, so that nothing changes the status.
    """
    try:
        status = main(sys.argv[1:])
        sys.stderr.flush()
    except BaseException as error:  # noqa: BLE001 - without our denial, the host runs the tool
        status = _BLOCK
        why = getattr(error, "message", type(error).__name__)
        os.write(2, f"The gate gave no answer ({why}). The tool must not run.\n".encode())
    os._exit(status)


if __name__ == "__main__":
    guarded()
