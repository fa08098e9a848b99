"""The commands of people and programs: what they print, and how they fail."""

from __future__ import annotations

import json
import os
import pwd
import re
import subprocess
from collections.abc import Callable, Iterator

import pytest

from hitl.cards.wording import say
from hitl.lifecycle import TABLE
from hitl.outcomes import Refusal, Told
from tests.acceptance.installation import Installation
from tests.sentences import says

pytestmark = pytest.mark.forked


@pytest.fixture
def waiting(service: Installation) -> Iterator[str]:
    """The short ref of a call that waits."""
    short = service.call("ask", tool="deploy", args={"argv": ["echo", "ran"]}, note="release")["call"]["short"]
    yield short
    if "pending" == service.status(short):
        service.call("withdraw", target=short)


def is_one_line(done: subprocess.CompletedProcess[str]) -> bool:
    """Whether a failure was told in one line on stderr, and nowhere else."""
    return not done.stdout and 1 == len(done.stderr.splitlines()) and done.stderr.startswith("sayso: ")


@pytest.mark.parametrize("command", [[], ["ask"]])
def test_a_command_explains_itself(service: Installation, command: list[str]) -> None:
    """`--help` says what it is for, with 0."""
    done = service.run(*command, "--help")

    assert (0, "") == (done.returncode, done.stderr)
    assert "Usage: sayso" in done.stdout


def test_the_version_is_told(service: Installation) -> None:
    """Name and number."""
    done = service.run("--version")

    assert 0 == done.returncode
    assert re.fullmatch(r"sayso \d+\.\d+\.\d+\n", done.stdout)


def test_pending_lists_what_waits(service: Installation, waiting: str) -> None:
    """The short ref, the risk, the headline of its card and the time that is left; below, the note."""
    line, note = service.run("pending").stdout.splitlines()
    call = service.call("show", target=waiting)["call"]

    left = say("pending.left", left="LEFT")
    told = say("pending.request", short=waiting, risk="low     ", headline=call["headline"], left=left)
    assert re.fullmatch(re.escape(told).replace("LEFT", r"[45]:\d\d"), line)
    assert say("pending.note", note="release") == note


def test_pending_shows_the_arguments_of_a_tool_that_the_service_does_not_know(service: Installation) -> None:
    """Below the headline, as the card shows them: masked, each with its name."""
    args = {"to": "Mallory & Co", "amount": 99, "password": "hunter2"}
    ref = service.call("ask", tools="billing", tool="pay", args=args)["call"]["ref"]
    listed = service.run("pending").stdout.splitlines()
    service.call("withdraw", target=ref)

    assert "pay" in listed[0]
    assert "with to “Mallory & Co”, amount 99, password “[masked 7]”" == listed[1].strip()


def test_pending_for_programs_is_json(service: Installation, waiting: str) -> None:
    """The same as data, with the arguments, on one line in a pipe."""
    done = service.run("pending", "--json")
    (call,) = json.loads(done.stdout)

    assert 1 == len(done.stdout.splitlines())
    assert (waiting, ["echo", "ran"]) == (call["short"], call["args"]["argv"])


def test_with_nothing_to_answer_pending_says_so(service: Installation) -> None:
    """People get a sentence, programs an empty list."""
    assert f"{say('pending.none')}\n" == service.run("pending").stdout
    assert [] == json.loads(service.run("pending", "--json").stdout)


def test_show_tells_all_of_a_call_with_its_record(service: Installation, waiting: str) -> None:
    """The arguments, the programs, the digest, and each line of the record."""
    done = service.run("show", waiting.lower())

    assert 0 == done.returncode
    assert '"argv"' in done.stdout
    assert say("details.programs", programs="echo") in done.stdout
    assert re.search(r"^Digest: [A-Z2-7]{12} \([0-9a-f]{64}\)$", done.stdout, re.MULTILINE)
    assert ["asked"] == re.findall(r"^  [-0-9]{10} [:0-9]{8} UTC  (\S+)", done.stdout, re.MULTILINE)


def test_show_for_programs_has_no_token(service: Installation, waiting: str) -> None:
    """Refs, digests and hashes of the record, and nothing that signs."""
    told = json.loads(service.run("show", waiting, "--json").stdout)

    assert ["asked"] == [row["event"] for row in told["record"]]
    assert not {name for name in told if "mac" in name or "secret" in name or "token" in name}


def test_a_tool_name_can_not_play_with_the_terminal(service: Installation) -> None:
    """The name is the asker's words: shown, never obeyed, on every list."""
    short = service.call("ask", tool="\x1b[2Jdeploy", args={})["call"]["short"]
    told = [service.run(*words).stdout for words in (["pending"], ["show", short])]
    service.call("withdraw", target=short)

    assert [] == [text for text in told if "\x1b" in text or "\\u{1b}[2Jdeploy" not in text]


def test_a_decision_is_told_and_the_next_hears_who_won(service: Installation, waiting: str) -> None:
    """The first is told what came of it (0), the second that it was decided, by whom (1)."""
    first = service.run("decide", waiting, "reject", "--reason", "too risky")
    second = service.run("decide", waiting, "approve")

    told = say(Told.REJECTED_WITH_REASON, short=waiting, reason="too risky")
    assert (0, f"{told}\n", "") == (first.returncode, first.stdout, first.stderr)
    assert 1 == second.returncode
    assert is_one_line(second)
    assert pwd.getpwuid(os.getuid()).pw_name in second.stderr


@pytest.mark.parametrize(
    ("words", "what"),
    [(["approve"], Told.APPROVED), (["reject", "--reason", "risky"], Told.REJECTED_WITH_REASON)],
)
def test_each_answer_has_a_command_of_its_own(
    service: Installation, waiting: str, words: list[str], what: Told
) -> None:
    """`sayso approve REF` and `sayso reject REF` do what `sayso decide` does."""
    done = service.run(words[0], waiting, *words[1:])

    assert (0, "") == (done.returncode, done.stderr)
    assert says(done.stdout, what, short=waiting)


@pytest.mark.parametrize("command", ["show", "approve", "reject", "withdraw", "wait"])
def test_a_ref_with_a_slip_is_answered_with_the_pending_one(service: Installation, waiting: str, command: str) -> None:
    """The command names the request that was probably meant, and touches nothing."""
    slip = waiting[:5] + next(letter for letter in "0123456789" if letter != waiting[5])
    refused = service.run(command, slip)

    assert is_one_line(refused)
    assert says(refused.stderr, "near.ref", near=waiting)
    assert "pending" == service.status(waiting)


@pytest.mark.parametrize(
    ("words", "near"),
    [(["pendng"], "pending"), (["ask", "deploy", "--timout", "5s"], "--timeout"), (["show"], "REF"), (["x" * 9], "")],
)
def test_a_command_that_makes_no_sense_is_one_line_and_two(service: Installation, words: list[str], near: str) -> None:
    """Every mistake has the form of every other error, names what was probably meant, and leads to help."""
    refused = service.run(*words)

    assert 2 == refused.returncode
    assert is_one_line(refused)
    assert says(refused.stderr, "command.usage")
    assert near in refused.stderr


def test_a_shell_completes_the_refs_of_pending_requests(service: Installation, waiting: str) -> None:
    """Completion of REF offers what is pending."""
    asked = {"_SAYSO_COMPLETE": "complete_bash", "COMP_WORDS": "sayso show ", "COMP_CWORD": "2"}

    assert waiting in service.run("show", **asked).stdout.split()


def test_decide_for_programs_is_json(service: Installation, waiting: str) -> None:
    """What came of it, as data."""
    told = json.loads(service.run("decide", waiting, "reject", "--json").stdout)

    assert ("rejected", True, waiting) == (told["came"], told["decided"], told["call"]["short"])


def test_confirming_another_call_is_a_mistake(service: Installation, waiting: str) -> None:
    """`--confirm` must name the same call."""
    refused = service.run("decide", waiting, "approve", "--confirm", "K7Q2MX")

    assert 2 == refused.returncode
    assert "pending" == service.status(waiting)


def test_withdraw_takes_a_call_back_once(service: Installation, waiting: str) -> None:
    """Told with 0; the second time there is nothing left to take back."""
    first, second = service.run("withdraw", waiting), service.run("withdraw", waiting)

    assert (0, f"{say('pending.withdrawn', short=waiting)}\n") == (first.returncode, first.stdout)
    assert 1 == second.returncode
    assert is_one_line(second)


@pytest.mark.parametrize("words", [["pending"], ["chat"]])
def test_without_a_service_one_line_says_what_to_start(install: Callable[..., Installation], words: list[str]) -> None:
    """Exit status 1 and no traceback."""
    refused = install().run(*words)

    assert 1 == refused.returncode
    assert is_one_line(refused)
    assert "sayso run" in refused.stderr


@pytest.mark.parametrize("words", [["show", "K7Q2MX"], ["decide", "K7Q2MX", "approve"]])
def test_a_call_that_is_not_there_is_said(service: Installation, words: list[str]) -> None:
    """Exit status 1 and one line that names it."""
    refused = service.run(*words)

    assert 1 == refused.returncode
    assert is_one_line(refused)
    assert says(refused.stderr, Refusal.UNKNOWN, short="K7Q2MX")


def test_the_diagram_is_drawn_from_the_table(service: Installation) -> None:
    """Each transition of the table stands in the Mermaid diagram."""
    done = service.run("graph")

    assert 0 == done.returncode
    assert done.stdout.startswith("stateDiagram-v2")
    assert [] == [event for _, event, _, _ in TABLE if event.value not in done.stdout]


def test_a_text_is_read(service: Installation) -> None:
    """The verdict of the message as a whole, its reason, and each reading in it."""
    told = json.loads(service.run("replies", "parse", "no because risky").stdout)

    assert ("reject", "risky", None) == (told["verdict"], told["reason"], told["target"])
    assert ["reject"] == [reading["verdict"] for reading in told["readings"]]
    assert told == json.loads(service.run("replies", "parse", given="no because risky").stdout)


def test_many_texts_are_read_line_by_line(service: Installation) -> None:
    """One answer a line, in their order; empty lines are none."""
    fed = '{"text": "yes"}\n\n{"text": "maybe", "lang": "en"}\n'
    done = service.run("replies", "parse", "--jsonl", given=fed)

    assert ["approve", "unclear"] == [json.loads(line)["verdict"] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("line", ["yes", '{"txt": "yes"}'])
def test_a_line_that_holds_no_text_is_named(service: Installation, line: str) -> None:
    """A usage error with the number of the line."""
    refused = service.run("replies", "parse", "--jsonl", given=f"\n{line}\n")

    assert 2 == refused.returncode
    assert is_one_line(refused)
    assert "line 2" in refused.stderr


#: Arguments that are nested more deeply than Python writes JSON.
DEEP = f'{{"a": {"[" * 3000}{"]" * 3000}}}'


@pytest.mark.parametrize("words", [["bogus"], ["decide", "K7Q2MX", "perhaps"], ["ask", "deploy", "--args", DEEP]])
def test_usage_mistakes_are_two_without_a_traceback(service: Installation, words: list[str]) -> None:
    """What isn't a command is said on stderr."""
    refused = service.run(*words)

    assert (2, "") == (refused.returncode, refused.stdout)
    assert "Traceback" not in refused.stderr


def test_colour_is_for_terminals(service: Installation, waiting: str) -> None:
    """Nothing in a pipe is coloured."""
    told = [service.run(*words).stdout for words in (["pending"], ["show", waiting], ["doctor"], ["--help"])]

    assert [] == [text for text in told if "\x1b" in text]
