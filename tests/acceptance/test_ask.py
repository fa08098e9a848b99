"""`ask` in a shell script, over the socket and over HTTPS: every exit status, and just the command that was shown."""

from __future__ import annotations

import json
import os
import pty
import pwd
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hitl.cards.wording import say
from hitl.outcomes import Refusal, Unfit
from sayso_client import wording as client_wording
from tests.acceptance.doors import Certificate, Door, Doors, by_https, door, doors, kind, over_http, tls
from tests.acceptance.installation import ALONE, ME, Installation, signalled, until
from tests.acceptance.making import Maker
from tests.patience import PATIENCE_S
from tests.sentences import says

pytestmark = pytest.mark.forked

__all__ = ["door", "doors", "kind", "running", "tls"]
#: The name of this user in sentences.
NAME = pwd.getpwuid(os.getuid()).pw_name
SCRIPT = """
sayso ask deploy --quiet --note "release 1.4" --outcome outcome.json -- sh -c 'echo "$SAYSO_REF" >> ran.txt; exit 7'
echo "status $?"
"""


@pytest.fixture(scope="module")
def running(maker: Maker, kind: str) -> Iterator[Installation]:
    """A running service with both doors, for the tests of one kind of door."""
    del kind
    with maker.batch(forked=True) as make:
        made = make(settings=over_http(ALONE))
        made.start()
        yield made


def decided(service: Installation, verb: str, **more: Any) -> dict[str, Any]:
    """Decide the one call that waits; the call."""
    call = service.waiting()[0]
    came: dict[str, Any] = service.call("decide", target=call["ref"], verb=verb, **more)
    assert came["decided"]
    return call


def ends(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Status, stdout and stderr of a command once it is over."""
    out, err = process.communicate(timeout=PATIENCE_S)
    return process.returncode, out, err


def test_in_a_script_the_command_runs_once_and_its_status_is_passed_on(service: Installation, door: Door) -> None:
    """A real shell script sees CMD's status; CMD ran once, knows its ref, and how it ended is on file and on record."""
    script = subprocess.Popen(
        ["/bin/sh", "-c", SCRIPT.replace("sayso ask", shlex.join(door.ask))],
        cwd=service.root,
        env=service.surroundings(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    call = decided(service, "approve")

    assert (0, "status 7\n", "") == ends(script)
    assert f"{call['ref']}\n" == (service.root / "ran.txt").read_text()
    outcome = json.loads((service.root / "outcome.json").read_text())
    assert (call["ref"], "failed", 7) == (outcome["ref"], outcome["status"], outcome["exit_status"])
    assert ["asked", "approved", "claimed", "failed"] == service.events(call["ref"])
    assert says(service.call("show", target=call["ref"])["call"]["error"], "command.status", status=7)


@pytest.mark.parametrize(
    ("command", "status"), [("true", 0), ("exit 3", 3), ("kill -9 $$", 137), ("kill -TERM $$", 143)]
)
def test_the_status_is_the_commands_own(service: Installation, door: Door, command: str, status: int) -> None:
    """What a shell would say of CMD is what `ask` exits with, also for a CMD that a signal ended."""
    asking = door.begin("ask", "--quiet", "build", "--", "sh", "-c", command)
    call = decided(service, "approve")

    assert (status, "", "") == ends(asking)
    assert ("failed" if status else "succeeded") == service.status(call["ref"])


def test_a_command_that_cannot_be_started_is_said(service: Installation, door: Door) -> None:
    """127 as in a shell, and one line that says what can't be run."""
    script = service.root / "build"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    asking = door.begin("ask", "--quiet", "build", "--", "./build")
    decided(service, "approve")

    status, out, err = ends(asking)
    assert (127, "") == (status, out)
    assert says(err, "command.not_started", program="./build", folder=service.root)
    assert 1 == len(err.splitlines())


def test_what_runs_is_the_stored_command_in_the_stored_folder(service: Installation, door: Door) -> None:
    """Arguments with blanks, quotes and line breaks arrive as they were shown, in the folder that was shown."""
    words = ["a b", "c'd\"e", "f\ng", "--", "$HOME", ""]
    asking = door.begin("ask", "--quiet", "build", "--", "sh", "-c", 'pwd; printf "[%s]" "$@"', "sh", *words)
    call = decided(service, "approve")

    shown = call["args"]
    assert ([*words], str(service.root)) == (shown["argv"][4:], shown["cwd"])
    assert (0, f"{service.root}\n" + "".join(f"[{word}]" for word in words), "") == ends(asking)


def test_a_script_that_changed_after_it_was_shown_does_not_run(service: Installation, door: Door) -> None:
    """The card names the script with its digest; with other bytes it isn't run, whoever approved it."""
    script = service.root / "deploy.sh"
    script.write_text("touch shown\n")
    asking = door.begin("ask", "--quiet", "deploy", "--", "sh", "deploy.sh", "prod")
    call = service.waiting()[0]
    script.write_text("touch must-not-be\n")
    decided(service, "approve")
    status, out, err = ends(asking)

    assert ["deploy.sh"] == list(call["args"]["script_sha256"])
    assert (13, "") == (status, out)
    assert says(err, "command.changed", path="deploy.sh")
    assert not list(service.root.glob("must-not-be")) + list(service.root.glob("shown"))


def test_without_a_command_zero_means_released_to_this_one(service: Installation, door: Door) -> None:
    """Approved and handed over: 0, and the record says `released`."""
    asking = door.begin("ask", "--quiet", "deploy", "--args", '{"to": "prod"}', "--json")
    call = decided(service, "approve")

    status, out, err = ends(asking)
    assert (0, "") == (status, err)
    assert "released" == json.loads(out)["status"] == service.status(call["ref"])
    assert {"to": "prod"} == call["args"]


def test_a_card_shows_arguments_as_they_were_typed(service: Installation, door: Door) -> None:
    """Order and digits are those of `--args`, at any depth, also beside a command."""
    typed = '{"to": {"name": "Acme", "iban": "DE02"}, "amount": 1250.00, "big": 1e3}'
    asking = door.begin("ask", "--quiet", "pay", "--args", typed, "--", "true")
    call = service.waiting()[0]
    card = service.call("card", target=call["ref"])["card"]
    decided(service, "approve")

    assert [
        ("", "true"),
        ("to", '{"name": "Acme", "iban": "DE02"}'),
        ("amount", "1250.00"),
        ("big", "1e3"),
    ] == [(part["name"], part["text"]) for part in card["parts"]]
    assert (0, "", "") == ends(asking)


@pytest.mark.parametrize(("wanted", "cut"), [("2d", True), ("300s", False), ("4m", False)])
def test_a_time_above_the_policys_is_cut_and_said(service: Installation, door: Door, wanted: str, *, cut: bool) -> None:
    """The caller can only shorten the policy's time. If it asked for more, one line on stderr says what people have."""
    asking = door.begin("ask", "deploy", "--timeout", wanted, "--no-wait")
    status, out, err = ends(asking)
    (call,) = service.waiting()

    assert (16, call["short"]) == (status, out.strip())
    assert says(err, "ask.shorter", short=call["short"], given="5m", wanted=wanted) is cut
    assert len(err.splitlines()) == cut


@pytest.mark.parametrize("command", [[], ["--", "touch", "must-not-be"]])
def test_a_no_is_ten_with_its_reason(service: Installation, door: Door, command: list[str]) -> None:
    """10, the reason alone on stderr, and nothing runs."""
    asking = door.begin("ask", "--quiet", "deploy", *command)
    decided(service, "reject", reason="not on a Friday")

    assert (10, "", "not on a Friday\n") == ends(asking)
    assert not (service.root / "must-not-be").exists()


def test_a_no_without_a_reason_says_who_said_it(service: Installation, door: Door) -> None:
    """10 all the same, and a sentence."""
    asking = door.begin("ask", "--quiet", "deploy")
    call = decided(service, "reject")

    status, _, err = ends(asking)
    assert (10, 1) == (status, len(err.splitlines()))
    assert says(err, "agent.rejected", short=call["short"])


def pressed(service: Installation, *, why: str = "") -> None:
    """An approver at a terminal presses Reject on the one call that waits, and may say why.

    The key counts once the card is on the screen, which may be after the call is on record: it is pressed till then.
    """
    (call,) = service.waiting()
    with service.client() as desk:
        desk.attach()
        until(lambda: [*desk.say("r")] and service.status(call["ref"]) == "rejected", "the press to count")
        if why:
            assert list(desk.say(f"no {call['short']} because {why}"))


def test_the_reason_of_a_press_is_waited_for(service: Installation, door: Door) -> None:
    """It comes after the no, and is all that stands on stderr; the outcome file holds it."""
    asking = door.begin("ask", "--quiet", "deploy", "--outcome", "outcome.json")
    pressed(service, why="not on a Friday")

    assert (10, "", "not on a Friday\n") == ends(asking)
    assert "not on a Friday" == json.loads((service.root / "outcome.json").read_text())["reason"]


def test_whoever_wants_no_reason_has_the_no_at_once(service: Installation, door: Door) -> None:
    """`--at-once`: 10, and one line that says it."""
    asking = door.begin("ask", "--quiet", "deploy", "--at-once")
    pressed(service)

    status, _, err = ends(asking)
    assert (10, 1) == (status, len(err.splitlines()))
    assert says(err, "agent.rejected.asked")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_watches_sees_the_no_at_once_and_need_not_wait(
    service: Installation, door: Door, number: signal.Signals
) -> None:
    """A terminal shows it; a signal ends the wait for the reason, with the status of the no, and says nothing twice."""
    screen, end = pty.openpty()
    with os.fdopen(screen, "rb", buffering=0) as shown:
        asking = subprocess.Popen(
            door.words("ask", "deploy"), stdin=subprocess.DEVNULL, stderr=end, env=service.surroundings()
        )
        os.close(end)
        pressed(service)
        seen = b""
        while not (seen.endswith(b"\r\n") and says(seen.decode(), "agent.rejected.asked")):
            seen += shown.read(4096)
        signalled(asking, number)

        assert 10 == asking.wait(PATIENCE_S)
        with pytest.raises(OSError, match="Input/output error"):
            shown.read(4096)


def test_a_reason_can_not_play_with_the_terminal(service: Installation, door: Door) -> None:
    """What an approver writes is shown, never obeyed."""
    asking = door.begin("ask", "--quiet", "deploy")
    decided(service, "reject", reason="no\x1b[2J way")

    assert (10, "", "no\\u{1b}[2J way\n") == ends(asking)


def test_off_a_terminal_it_says_at_once_what_waits_and_then_what_came(service: Installation, door: Door) -> None:
    """A log shows the ref, who may approve and until when before anybody decides, and then who approved."""
    asking = door.begin("ask", "deploy")
    call = service.waiting()[0]
    assert asking.stderr is not None
    first = asking.stderr.readline()
    decided(service, "approve")
    status, out, err = ends(asking)

    assert says(first, "command.waits", short=call["short"], until=call["expires_at"][11:19], approvers=NAME)
    assert (0, "") == (status, out)
    assert says(err, "command.decided", short=call["short"])


def test_with_quiet_it_says_nothing_of_a_yes(service: Installation, door: Door) -> None:
    """`--quiet` leaves stderr to errors, and to why a request wasn't run."""
    asking = door.begin("ask", "deploy", "--quiet")
    decided(service, "approve")

    assert (0, "", "") == ends(asking)


@pytest.mark.parametrize(("verb", "status"), [("approve", 0), ("reject", 10)])
def test_another_command_waits_for_a_request(service: Installation, door: Door, verb: str, status: int) -> None:
    """`sayso wait` ends with the status that `ask` would have, and doesn't take the approval over."""
    short = door.run("ask", "deploy", "--no-wait").stdout.strip()
    waiting = door.begin("wait", short)
    assert waiting.stderr is not None
    assert says(waiting.stderr.readline(), "command.waits", short=short)
    decided(service, verb)

    assert status == ends(waiting)[0]
    assert status == door.run("wait", short).returncode
    assert ("approved" if verb == "approve" else "rejected") == service.status(short)


def test_a_wait_for_an_approved_request_says_what_happened_and_what_to_do(service: Installation, door: Door) -> None:
    """`sayso wait` ends at once with 0. It says that nothing ran yet; with `--quiet` it says nothing."""
    short = door.run("ask", "deploy", "--no-wait").stdout.strip()
    decided(service, "approve")
    waited = door.run("wait", short)

    assert 0 == waited.returncode
    assert says(waited.stderr, "command.decided", short=short)
    assert says(waited.stderr, "command.take")
    assert (0, "") == (door.run("wait", short, "--quiet").returncode, door.run("wait", short, "--quiet").stderr)


def test_who_stops_waiting_withdraws_nothing(service: Installation, door: Door) -> None:
    """Ctrl-C ends `sayso wait` with 130, says how to go on, and the request stays pending."""
    short = door.run("ask", "deploy", "--no-wait").stdout.strip()
    waiting = door.begin("wait", short)
    assert waiting.stderr is not None
    waiting.stderr.readline()
    signalled(waiting, signal.SIGINT)
    status, _, err = ends(waiting)

    assert 130 == status
    assert says(err, "command.left", short=short)
    assert "pending" == service.status(short)
    service.call("withdraw", target=short)


def test_at_a_terminal_it_says_what_it_waits_for(service: Installation, door: Door) -> None:
    """The ref, who may approve, until when, and what Ctrl-C does."""
    master, slave = pty.openpty()
    argv = door.words("ask", "deploy")
    asking = subprocess.Popen(argv, stdout=slave, stderr=slave, env=service.surroundings(), cwd=service.root)
    call = service.waiting()[0]
    told = os.read(master, 1000).decode()
    decided(service, "approve")

    assert 0 == asking.wait(PATIENCE_S)
    waits = client_wording.say("command.waits", short=call["short"], until=call["expires_at"][11:19], approvers=NAME)
    assert says(told, "command.withdraws", waits=waits)
    for end in (master, slave):
        os.close(end)


def test_silence_is_eleven(service: Installation, door: Door) -> None:
    """Nobody answers within the shortest time: 11, nothing runs, and a late yes is told so."""
    asking = door.begin("ask", "--quiet", "deploy", "--timeout", "5s", "--", "touch", "must-not-be")
    call = service.waiting()[0]

    status, out, err = ends(asking)
    assert (11, "") == (status, out)
    assert says(err, "agent.expired", short=call["short"])
    late = door.run("decide", call["short"], "approve")
    assert (1, 1) == (late.returncode, len(late.stderr.splitlines()))
    assert says(late.stderr, Refusal.EXPIRED, short=call["short"])
    assert "expired" == service.status(call["ref"])
    assert not (service.root / "must-not-be").exists()


def test_who_may_not_ask_is_told_twelve(install: Callable[..., Installation]) -> None:
    """An approver who isn't a requester can't ask; nothing is recorded but the refusal to them."""
    service = install(settings=f'requesters = ["local:4321"]\napprovers = ["{ME}"]\n')
    service.start()

    refused = service.run("ask", "deploy", "--", "touch", "must-not-be")
    assert (12, "") == (refused.returncode, refused.stdout)
    assert says(refused.stderr, Refusal.REQUESTER, who=ME)
    assert [] == service.call("pending")["calls"]


def test_a_token_that_was_revoked_is_told_twelve(install: Callable[..., Installation], tls: Certificate) -> None:
    """Nothing is asked for it, and nothing runs."""
    service = install(settings=over_http(ALONE))
    service.start()
    with by_https(service, tls) as door:
        service.call("revoke_token", name="ci")
        refused = door.run("ask", "deploy", "--", "touch", "must-not-be")

    assert (12, "", 1) == (refused.returncode, refused.stdout, len(refused.stderr.splitlines()))
    assert [] == service.call("pending")["calls"]
    assert not (service.root / "must-not-be").exists()


def test_without_a_service_it_is_thirteen(install: Callable[..., Installation]) -> None:
    """13, one line that says what to start, and nothing runs; the outcome file says so too."""
    service = install()
    refused = service.run("ask", "deploy", "--outcome", "o.json", "--", "touch", "must-not-be")

    assert (13, "", 1) == (refused.returncode, refused.stdout, len(refused.stderr.splitlines()))
    assert "sayso run" in refused.stderr
    assert "UNAVAILABLE" == json.loads((service.root / "o.json").read_text())["error"]["code"]
    assert not (service.root / "must-not-be").exists()


def test_with_nobody_to_ask_it_is_thirteen(install: Callable[..., Installation], doors: Doors) -> None:
    """Empty approvers mean nobody: undeliverable at once, not at the deadline."""
    service = install(settings=over_http(f'requesters = ["{ME}"]\napprovers = []\n'))
    service.start()
    door = doors(service)

    refused = door.run("ask", "deploy", "--", "touch", "must-not-be")
    assert (13, "") == (refused.returncode, refused.stdout)
    assert says(refused.stderr, "agent.undeliverable", why=say(Unfit.NOBODY))
    assert not (service.root / "must-not-be").exists()


def test_tampered_is_thirteen(service: Installation, door: Door) -> None:
    """The row was changed after it was approved and before it was claimed: nothing runs, and the record says why."""
    key = ["--key", "tampered"]
    door.run("ask", "deploy", *key, "--no-wait", "--", "touch", "must-not-be")
    call = decided(service, "approve")
    service.tamper("UPDATE calls SET decided_by = 'local:99' WHERE ref = ?", call["ref"])

    refused = door.run("ask", "deploy", *key, "--", "touch", "must-not-be")
    assert 13 == refused.returncode
    assert says(refused.stderr, Refusal.NOT_RUN, short=call["short"], error=say(Unfit.DECISION))
    assert "refused" == service.status(call["ref"])
    assert not (service.root / "must-not-be").exists()


def test_withdrawn_is_fourteen(service: Installation, door: Door) -> None:
    """`sayso withdraw` ends the wait."""
    asking = door.begin("ask", "--quiet", "deploy")
    call = service.waiting()[0]

    assert 0 == door.run("withdraw", call["short"]).returncode
    status, _, err = ends(asking)
    assert 14 == status
    assert says(err, "agent.withdrawn", short=call["short"])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_withdraws_what_waits(service: Installation, door: Door, number: signal.Signals) -> None:
    """Who ends the script, or closes its terminal, takes the question back: 14, and a yes comes too late."""
    asking = door.begin("ask", "--quiet", "deploy", "--", "touch", "must-not-be")
    call = service.waiting()[0]
    signalled(asking, number)

    assert 14 == ends(asking)[0]
    assert "withdrawn" == service.status(call["ref"])
    assert not (service.root / "must-not-be").exists()


def test_two_signals_at_once_withdraw_like_one(service: Installation, door: Door) -> None:
    """timeout(1) ends a command and then its group. Both signals are one stop: 14, and the call is withdrawn.

    The kernel merges two equal signals that are pending, so the second one here is another one.
    """
    asking = door.begin("ask", "--quiet", "deploy", "--", "touch", "must-not-be")
    call = service.waiting()[0]
    signalled(asking, signal.SIGTERM)
    signalled(asking, signal.SIGHUP)

    assert 14 == ends(asking)[0]
    assert "withdrawn" == service.status(call["ref"])
    assert not (service.root / "must-not-be").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM])
def test_a_signal_while_the_command_runs_is_the_commands(
    service: Installation, door: Door, number: signal.Signals
) -> None:
    """CMD gets it, says its last word, and its status is reported and passed on."""
    trap = 'trap "echo stopped; exit 5" TERM; touch up; while :; do sleep 0.05; done'
    asking = door.begin("ask", "--quiet", "serve", "--", "sh", "-c", trap)
    call = decided(service, "approve")
    until((service.root / "up").exists, "the command to run")
    signalled(asking, number)

    assert (5, "stopped\n", "") == ends(asking)
    assert "failed" == service.status(call["ref"])


def test_a_terminal_that_is_closed_while_the_command_runs_hides_no_result(service: Installation, door: Door) -> None:
    """CMD hears of it from the terminal itself; how it ended is still reported."""
    # A signal during CMD's start is passed on to CMD. The pause lets `ask` leave the start behind.
    asking = door.begin(
        "ask", "serve", "--", "sh", "-c", "sleep 0.5; touch begun; while [ ! -e go ]; do sleep 0.05; done; exit 6"
    )
    call = decided(service, "approve")
    until((service.root / "begun").exists, "the command to run")
    signalled(asking, signal.SIGHUP)
    (service.root / "go").touch()

    assert 6 == ends(asking)[0]
    assert says(service.call("show", target=call["ref"])["call"]["error"], "command.status", status=6)


def test_what_its_starter_ignores_it_ignores(service: Installation, door: Door) -> None:
    """Under `nohup` a closed terminal takes nothing back."""
    argv = ["nohup", *door.words("ask", "deploy", "--timeout", "1h")]
    asking = subprocess.Popen(
        argv, cwd=service.root, env=service.surroundings(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    service.waiting()
    signalled(asking, signal.SIGHUP)
    decided(service, "approve")

    assert 0 == ends(asking)[0]


@pytest.mark.parametrize("command", [[], ["--", "sh", "-c", "echo ran >> once.txt"]])
def test_the_second_waiter_with_one_key_gets_fifteen(service: Installation, door: Door, command: list[str]) -> None:
    """Two wait for the same call; one gets it, the other is told so."""
    key = f"key-{len(command)}"
    both = [door.begin("ask", "--quiet", "deploy", "--key", key, *command) for _ in range(2)]
    ref = service.waiting()[0]["ref"]
    decided(service, "approve")

    assert [0, 15] == sorted(ends(asking)[0] for asking in both)
    assert not command or "ran\n" == (service.root / "once.txt").read_text()
    assert ("succeeded" if command else "released") == service.status(ref)


def test_not_waiting_is_sixteen(service: Installation, door: Door) -> None:
    """The short ref on stdout, and the call goes on waiting; the same key takes up the wait again."""
    asked = door.run("ask", "deploy", "--key", "later", "--no-wait")
    call = service.waiting()[0]

    assert (16, f"{call['short']}\n", "") == (asked.returncode, asked.stdout, asked.stderr)
    again = door.begin("ask", "--quiet", "deploy", "--key", "later")
    decided(service, "approve")
    assert 0 == ends(again)[0]


def test_what_nobody_claimed_is_seventeen(install: Callable[..., Installation], doors: Doors) -> None:
    """Approved and not claimed in time: lapsed, it never runs."""
    service = install(settings=over_http(f"{ALONE}claim_caller_s = 0.05\n"))
    service.start()
    door = doors(service)
    asked = ["ask", "deploy", "--key", "late"]
    door.run(*asked, "--no-wait", "--", "touch", "must-not-be")
    call = decided(service, "approve")
    until(lambda: "lapsed" == service.status(call["ref"]), "the lapse")

    lapsed = door.run(*asked, "--", "touch", "must-not-be")
    assert (17, "") == (lapsed.returncode, lapsed.stdout)
    assert says(lapsed.stderr, "agent.lapsed", short=call["short"])
    assert not (service.root / "must-not-be").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["--args", "{"],
        ["--timeout", "4s"],
        ["--timeout", "8d"],
        ["--no-such-option"],
    ],
)
def test_usage_is_two(service: Installation, door: Door, words: list[str]) -> None:
    """What can't be asked like that isn't asked."""
    refused = door.run("ask", "deploy", *words)

    assert (2, "") == (refused.returncode, refused.stdout)
    assert "Traceback" not in refused.stderr
    assert [] == service.call("pending")["calls"]


def test_a_key_means_one_call(service: Installation, door: Door) -> None:
    """The same key for another command is a mistake: 2, and it says which call has the key."""
    door.run("ask", "deploy", "--key", "k", "--no-wait", "--", "true")
    call = service.waiting()[0]
    refused = door.run("ask", "deploy", "--key", "k", "--", "false")
    door.run("withdraw", call["short"])

    assert (2, "") == (refused.returncode, refused.stdout)
    assert call["short"] in refused.stderr


def test_by_policy_a_harmless_tool_is_not_asked_about(install: Callable[..., Installation], doors: Doors) -> None:
    """The policy allows reading, and CMD runs at once; without the flag a person is always asked."""
    service = install(settings=over_http(f'policy = "dev"\n{ALONE}'))
    service.start()
    door = doors(service)
    ran = door.run("ask", "read_log", "--by-policy", "--", "echo", "read")

    assert (0, "read\n", "") == (ran.returncode, ran.stdout, ran.stderr)
    asking = door.begin("ask", "--quiet", "read_log", "--", "echo", "read")
    decided(service, "approve")
    assert (0, "read\n", "") == ends(asking)


def test_an_outcome_file_that_can_not_be_written_is_said_before_anybody_is_asked(door: Door) -> None:
    """A script that reads the file couldn't tell how it ended."""
    status, _, err = ends(door.begin("ask", "--quiet", "build", "--outcome", "/proc/none/o.json"))

    assert (2, 1) == (status, len(err.splitlines()))
    assert says(err, "ask.unwritable", file="/proc/none/o.json")


def test_an_outcome_file_that_can_no_longer_be_written_is_said(service: Installation, door: Door) -> None:
    """CMD's status still counts: it has run."""
    (service.root / "out").mkdir()
    take_away = ["sh", "-c", "rm -r out; exit 6"]
    asking = door.begin("ask", "--quiet", "build", "--outcome", "out/o.json", "--", *take_away)
    decided(service, "approve")

    status, _, err = ends(asking)
    assert (6, 1) == (status, len(err.splitlines()))
    assert says(err, "ask.outcome", file="out/o.json")


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_the_service_may_restart_while_a_script_waits(
    install: Callable[..., Installation], doors: Doors, end: str
) -> None:
    """`ask` finds the new process and finishes what it began."""
    service = install(settings=over_http(ALONE))
    service.start()
    door = doors(service)
    asking = door.begin("ask", "--quiet", "deploy", "--", "echo", "ran")
    deadline = service.waiting()[0]["expires_at"]
    getattr(service, end)()
    service.start()

    call = decided(service, "approve")
    assert deadline == call["expires_at"]
    assert (0, "ran\n", "") == ends(asking)
    assert "succeeded" == service.status(call["ref"])


def test_the_commands_of_the_service_reach_another_machine_too(service: Installation, tls: Certificate) -> None:
    """`sayso ask` and `sayso wait` take an address and a token, as the client's commands do."""
    with by_https(service, tls) as door:
        remote = door.ask[1:]
        asking = service.begin("ask", *remote, "--quiet", "deploy", "--", "echo", "ran")
        decided(service, "approve")
        assert (0, "ran\n", "") == ends(asking)

        short = service.run("ask", *remote, "deploy", "--no-wait").stdout.strip()
        decided(service, "approve")
        assert 0 == service.run("wait", *remote, short).returncode
