"""`ask` and `wait` for scripts: wait for people, and then run exactly the command that they saw.

`sayso ask` and `sayso wait` use this module for the service of this machine. The commands `sayso-ask` and `sayso-wait`
do the same without the service's package, for machines that have no service, such as a CI runner.
"""

from __future__ import annotations

import contextlib
import json as jsonlib
import os
import sys

from sayso_client.commands import NOT_STARTED
from sayso_client.errors import ClientError, why_unread
from sayso_client.terminal import INTERRUPTED, carry_any_text, clock_of, interrupted, tell, visible
from sayso_client.wording import say
from sayso_client.written import read, spelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, NoReturn

    from sayso_client.asking import Asking, Call
    from sayso_client.client import Client

#: The command's exit statuses by the status of a call that this command didn't run. If the call has a status that isn't
#: listed here, another process has claimed the call.
STATUSES: Mapping[str, int] = {
    "rejected": 10,
    "expired": 11,
    "denied": 12,
    "undeliverable": 13,
    "refused": 13,
    "withdrawn": 14,
    "lapsed": 17,
}
USAGE, UNAVAILABLE, RELEASED_ALREADY, NOT_WAITED = 2, 13, 15, 16
#: Exit statuses by error code. Any other error means that the service can't be used now.
_FAILURES: Mapping[str, int] = {
    "ALREADY_DECIDED": RELEASED_ALREADY,
    "CALL_DENIED": STATUSES["denied"],
    "CALL_UNKNOWN": USAGE,
    "CONFIGURATION": USAGE,
    "HITL_001": USAGE,
    "KEY_CONFLICT": USAGE,
    "NOT_APPROVER": STATUSES["denied"],
    "NOT_STARTED": NOT_STARTED,
    "REJECTED_RECENTLY": STATUSES["rejected"],
    "UNAUTHENTICATED": STATUSES["denied"],
    "USAGE": USAGE,
}
#: The statuses of an approved call whose run hasn't ended yet.
_GRANTED = frozenset({"approved", "running"})
#: The line about a pending request names at most this many approvers, with at most this many characters of each name.
_MOST_NAMED, _LONGEST_NAME = 4, 40
#: The least and the most seconds that people may have to answer. The service has the same limits.
_LEAST_S, _MOST_S = 5, 7 * 86400
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def request(
    tool: str, command: Sequence[str], *, tools: str, args: str, note: str, key: str | None, timeout: str | None
) -> dict[str, Any]:
    """Return the fields of a request.

    If a command is given, the request holds its words, this folder and the hashes of the scripts.

    Raises ClientError with the code USAGE for an option that makes no sense.
    """
    return {
        "tools": tools,
        "tool": tool,
        "args": _arguments(args, command),
        "cwd": os.getcwd(),
        "note": note,
        "key": key,
        "timeout_s": _seconds(timeout),
    }


class Command:
    """One run of `ask` or `wait`. Its methods return exit statuses.

    On stderr, they print who may approve, until when, and the later steps of the request. With `quiet`, they print only
    errors, and why a request wasn't run. With `at_once`, they don't wait for the reason of a rejection.
    """

    def __init__(self, asking: Asking, *, quiet: bool = False, at_once: bool = False) -> None:
        self._asking = asking
        self._quiet = quiet
        if not quiet:
            asking.line.lost = _say_lost
        self._at_once = at_once
        #: The line that says that people have less time than the caller wanted, else ''.
        self._shorter = ""
        #: The lines of the audit record that were printed because a card couldn't be shown.
        self._unseen: set[str] = set()

    def ask(
        self, command: Sequence[str], *, no_wait: bool = False, json: bool = False, outcome: str | None = None
    ) -> int:
        """Ask, wait, and run the command after an approval. Without a command, leave the run to the caller.

        `no_wait` prints the ref of a pending request instead of waiting. `json` prints the call if no command ran.
        `outcome` is the path of a file that gets the result as JSON.
        """
        if why := _unwritable(outcome):
            tell(say("ask.unwritable", file=outcome, error=why), "red")
            return USAGE
        try:
            with self._asking as asking:
                call = asking.ask()
                self._shorter = _shorter(call, asking.timeout_s)
                if self._shorter and not self._quiet:
                    tell(self._shorter, "yellow")
                if no_wait and call["status"] == "pending":
                    print(_document(call) if json else call["short"])
                    return NOT_WAITED
                said = self._watch("command.withdraws", claims=bool(command))
            ended = self._take(command) if asking.approved else None
        except ClientError as error:
            told = {"code": error.code, "message": error.message}
            _keep(outcome, {"status": "failed", "error": told, "call": self._asking.call or None})
            return failed(error)
        call, ran = asking.call, bool(command) and ended is not None
        _keep(outcome, {**call, "exit_status": ended} if ran else call)
        if json and not ran:
            print(_document(call))
        return self._refused(said) if ended is None else ended

    def wait(self, find: Callable[[], Call], *, json: bool = False) -> int:
        """Wait until the call that `find` returns is decided. Ctrl-C ends the wait, and changes nothing.

        `json` prints the call.
        """
        said, was_open = "", False
        try:
            self._asking.call = find()
            was_open = self._asking.call["status"] == "pending"
            with contextlib.suppress(KeyboardInterrupt):
                said = self._watch("command.stays")
        except ClientError as error:
            return failed(error)
        call = self._asking.call
        if json:
            print(_document(call))
        if call["status"] == "pending":
            tell(say("command.left", short=call["short"]))
            return INTERRUPTED
        if call["status"] in STATUSES:
            return self._refused(said)
        if not self._quiet:
            if not was_open:
                tell(_granted(call), "green")
            if call["status"] == "approved":
                tell(say("command.take"))
        return 0

    def _watch(self, key: str, *, claims: bool = False) -> str:
        """Wait until the call is decided and, after a rejection, until its reason is known or can't arrive any more.

        Return the last message that was printed, or ''. The method prints who may approve and until when, and later
        that the call may run or was rejected. `key` is the catalogue key of the sentence about Ctrl-C, which is printed
        on a terminal. With `claims`, the approval claims the call for this process.
        """
        call = self._asking.call
        if call["status"] != "pending":
            return ""
        if not self._quiet:
            # A service of an earlier version sends no names.
            approvers = _named(call.get("approver_names") or call["approvers"])
            until = clock_of(call["expires_at"])
            waits = say("command.waits", short=call["short"], until=until, approvers=approvers)
            tell(say(key, waits=waits) if sys.stderr.isatty() else waits)
        call = self._asking.wait(None if self._quiet else self._watch_cards, claims=claims)
        if not self._quiet and call["status"] in _GRANTED:
            tell(_granted(call), "green")
        if not call.get("reason_until") or self._at_once or self._asking.interrupted:
            return ""
        if not self._quiet:
            tell(call["message"])
        self._asking.hear_why()
        return "" if self._quiet else str(call["message"])

    def _watch_cards(self, call: Call) -> None:
        """Print, once for each route, that the card couldn't be shown there. People can answer on the other routes."""
        for row in call.get("record", ()):
            if row["event"] == "not_shown" and row["data"] not in self._unseen:
                self._unseen.add(row["data"])
                told = jsonlib.loads(row["data"])
                where, why = visible(told["route"]), visible(told["why"])
                tell(say("command.unseen", short=call["short"], route=where, why=why), "yellow")

    def _take(self, command: Sequence[str]) -> int | None:
        """Run the command. Without a command, take the approved call, so that the caller can run it without a report.

        Return the exit status, or None if another process has taken the call.
        """
        if not command:
            return 0 if self._asking.release() else None
        ended = self._asking.run(command)
        if ended is None:
            return None
        if not ended.started:
            tell(visible(ended.why or ""), "red")
        if not ended.reported:
            tell(say("command.unreported", short=self._asking.call["short"], status=ended.status), "red")
        return ended.status

    def _refused(self, said: str) -> int:
        """Print why the call wasn't run, and return the exit status.

        `said` is the message that was printed last: don't repeat it.
        """
        call = self._asking.call
        if self._shorter and self._quiet and call["status"] == "expired":
            tell(self._shorter, "yellow")
        if call["status"] == "rejected" and call["reason"]:
            print(visible(call["reason"]), file=sys.stderr)
        elif call["message"] != said:
            tell(call["message"], "red")
        return STATUSES.get(call["status"], RELEASED_ALREADY)


def _granted(call: Mapping[str, Any]) -> str:
    """Return the line about a request that may run now.

    If this process has claimed the request, the line names the approver. In this case, the card's own text would
    confuse the reader, because it calls this process "the requester".
    """
    if call["status"] == "running":
        by = call.get("decided_by_name") or call["decided_by"]
        return say("command.running", short=call["short"], by=visible(str(by)))
    return say("command.decided", short=call["short"], outcome=visible(call["outcome"]))


def _say_lost(error: ClientError, seconds: int) -> None:
    """Print that the connection broke, and for how long this command tries again."""
    tell(say("command.lost", why=error.message, seconds=seconds), "yellow")


def failed(error: ClientError) -> int:
    """Print an error, and return its exit status."""
    tell(error.message, "red")
    return _FAILURES.get(error.code, UNAVAILABLE)


def connector(
    url: str | None, token_file: str | None, ca_file: str | None = None, socket: str | None = None
) -> Callable[[], Client]:
    """Return a function that opens a connection: to `url`, to `socket`, or to the service that `configuration` finds.

    Raises ClientError with the code CONFIGURATION if the service can't be used, and with USAGE if an option is missing.
    """
    from sayso_client.client import Client
    from sayso_client.remote import remote
    from sayso_client.settings import configuration

    if bool(url) != bool(token_file) or (ca_file and not url):
        raise _usage("ask.token")
    if url and socket:
        raise _usage("ask.both")
    found = configuration(url, socket=socket, token_file=token_file, ca_file=ca_file)
    if path := found.socket:
        return lambda: Client(path)
    return remote(found.url, found.token or "", found.ca_file)


def main_ask() -> NoReturn:
    """Run `sayso-ask`."""
    given = sys.argv[1:]
    cut = given.index("--") if "--" in given else len(given)
    _main(lambda: _ask(ask_parser().parse_args(given[:cut]), given[cut + 1 :]))


def main_wait() -> NoReturn:
    """Run `sayso-wait`."""
    _main(lambda: _wait(wait_parser().parse_args()))


def _main(command: Callable[[], int]) -> NoReturn:
    carry_any_text()
    try:
        sys.exit(command())
    except ClientError as error:
        sys.exit(failed(error))
    except KeyboardInterrupt:
        sys.exit(interrupted())
    except BrokenPipeError:
        sys.exit(1)


def _ask(given: argparse.Namespace, command: Sequence[str]) -> int:
    from sayso_client.asking import Asking

    fields = {name: getattr(given, name) for name in ("tools", "args", "note", "key", "timeout")}
    asked = {**request(given.tool, command, **fields), "by_policy": given.by_policy}
    asking = Asking(connector(given.url, given.token_file, given.ca_file, given.socket), asked)
    run = Command(asking, quiet=given.quiet, at_once=given.at_once)
    return run.ask(command, no_wait=given.no_wait, json=given.json, outcome=given.outcome)


def _wait(given: argparse.Namespace) -> int:
    from sayso_client.asking import Asking

    connect = connector(given.url, given.token_file, given.ca_file, given.socket)

    def find() -> Call:
        with connect() as client:
            call: Call = client.call("show", target=given.ref)["call"]
            return call

    return Command(Asking(connect, {}), quiet=given.quiet).wait(find, json=given.json)


def ask_parser() -> argparse.ArgumentParser:
    """Return the parser of `sayso-ask`. Its options are those of `sayso ask`."""
    parser = _parser(
        "%(prog)s TOOL [options] [-- CMD ...]",
        "Ask a person, wait, and run CMD only if the answer is yes.",
        'Example: sayso-ask deploy --note "release 1.4" -- ./deploy.sh prod',
    )
    add = parser.add_argument
    add("tool", metavar="TOOL", help="what it is called on the card")
    add("--tools", default="shell", help="the group that the tool belongs to")
    add("--args", default="{}", help="arguments as a JSON object, shown on the card")
    add("--timeout", help="how long to wait, from 5s to 7d: 90s, 5m, 2h")
    add("--note", default="", help="your words on the card, shown as yours")
    add("--key", help="idempotency key: the same key is the same call")
    add("--at-once", action="store_true", help="on a no, don't wait for its reason")
    add("--by-policy", action="store_true", help="let the policy decide whether to ask")
    add("--no-wait", action="store_true", help="if a person must decide, print the ref and exit 16")
    add("--outcome", help="write how it ended to this file, as JSON")
    return parser


def wait_parser() -> argparse.ArgumentParser:
    """Return the parser of `sayso-wait`. Its options are those of `sayso wait`."""
    parser = _parser(
        "%(prog)s REF [options]", "Wait until a request is decided. Nothing is run.", "Example: sayso-wait K7Q2MX"
    )
    parser.add_argument("ref", metavar="REF", help="the ref of the request")
    return parser


def _parser(usage: str, description: str, example: str) -> argparse.ArgumentParser:
    import argparse

    parser = argparse.ArgumentParser(usage=usage, description=description, epilog=example, allow_abbrev=False)
    add = parser.add_argument
    add("-q", "--quiet", action="store_true", help="say nothing but errors, and why a request wasn't run")
    add("--socket", help="the service's socket; else from your own client.toml, SAYSO_SOCKET, or the usual folder")
    add("--url", help="the service's address, on another machine")
    add("--token-file", help="with --url: the file that holds the token")
    add("--ca-file", help="with --url: the authority that signed the service's certificate")
    add("--json", action="store_true", help="print JSON for programs")
    return parser


def _named(approvers: Sequence[str]) -> str:
    short = [" ".join(visible(name).split())[:_LONGEST_NAME] for name in approvers[:_MOST_NAMED]]
    names, more = ", ".join(short) or say("command.nobody"), len(approvers) - _MOST_NAMED
    return say("command.more", names=names, count=more) if more > 0 else names


def _shorter(call: Call, wanted_s: int | None) -> str:
    """Return a line that says how long people have, if that is less than the caller wanted, else ''."""
    if wanted_s is None or call["status"] != "pending":
        return ""
    from datetime import datetime

    begin, end = (datetime.fromisoformat(call[name]) for name in ("created_at", "expires_at"))
    given_s = round((end - begin).total_seconds())
    if given_s >= wanted_s:
        return ""
    return say("ask.shorter", short=call["short"], given=_span(given_s), wanted=_span(wanted_s))


def _span(seconds: int) -> str:
    """Return a time in the form of the option `--timeout`, such as `2h`: the largest unit with a whole number."""
    unit = max((unit for unit in _UNITS if seconds % _UNITS[unit] == 0), key=_UNITS.__getitem__)
    return f"{seconds // _UNITS[unit]}{unit}"


def _document(call: Call) -> str:
    return jsonlib.dumps(call, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None)


def _unwritable(outcome: str | None) -> str | None:
    """Return why the outcome file can't be written, or None. The file is checked before people are asked."""
    if outcome is None:
        return None
    try:
        with open(outcome, "a", encoding="utf-8"):
            return None
    except OSError as error:
        return error.strerror


def _keep(outcome: str | None, value: dict[str, Any]) -> None:
    """Write the outcome file, if the option `--outcome` names a file."""
    if outcome is None:
        return
    try:
        with open(outcome, "w", encoding="utf-8") as file:
            file.write(jsonlib.dumps(value, ensure_ascii=False, indent=2) + "\n")
    except OSError as error:
        tell(say("ask.outcome", file=outcome, error=error.strerror))


def _arguments(args: str, command: Sequence[str]) -> dict[str, Any]:
    try:
        given = read(args)
        spelled(given)
    except (ValueError, RecursionError) as error:
        raise _usage("ask.args", error=why_unread(error)) from error
    if not isinstance(given, dict):
        raise _usage("ask.object")
    if not command:
        return given
    from sayso_client.scripts import ARGUMENT, digests

    if taken := {"argv", "cwd", ARGUMENT} & set(given):
        raise _usage("ask.taken", names=", ".join(sorted(taken)))
    if not _can_start(command[0]):
        raise ClientError("NOT_STARTED", say("ask.program", program=visible(command[0])))
    folder = os.getcwd()
    scripts = digests(command, folder)
    if scripts is None:
        raise _usage("ask.scripts")
    return {**given, "argv": [*command], "cwd": folder, **({ARGUMENT: scripts} if scripts else {})}


def _seconds(text: str | None) -> int | None:
    if text is None:
        return None
    number, unit = (text[:-1], text[-1]) if text[-1:] in _UNITS else (text, "s")
    if not number.isdecimal():
        raise _usage("ask.timeout", text=text)
    seconds = int(number) * _UNITS[unit]
    if not _LEAST_S <= seconds <= _MOST_S:
        raise _usage("ask.timeout.bounds", text=text, least=_span(_LEAST_S), most=_span(_MOST_S))
    return seconds


def _can_start(program: str) -> bool:
    """Return whether the program is an executable file: at its path, or in a folder of the PATH if it is a name."""
    folders = [""] if "/" in program else os.get_exec_path()
    found = (os.path.join(folder, program) for folder in folders)
    return any(os.path.isfile(path) and os.access(path, os.X_OK) for path in found)


def _usage(key: str, **facts: object) -> ClientError:
    return ClientError("USAGE", say(key, **facts))
