"""Looks for faults in what a world left behind: its database, its tools' log, and what people did and were told.

    python -I tests/matrix/checker.py FOLDER

It shares no code with the service: it imports the standard library alone, reads the database with plain `sqlite3`, and
runs as a program of its own in Python's isolated mode. It prints one JSON list of faults, each as [kind, sentence].

FOLDER holds
- `sayso.db`, the database;
- `runs.log`, to which a tool appends `MARK REF AMOUNT` as the first thing that it does. A mark names one request of
  the harness, and stands in the arguments of its call;
- `history.json`, an object of two lists.
  - `asks`, what was requested: `mark`, `amount`, `recorded` if the platform or the socket answered for it, `exits` of
    the `sayso ask` processes, and of programs over HTTP the same numbers for what they were told.
  - `acts`, who decided what: `mark`, `by`, `verb`, `at` in Unix seconds, `answered` if the service acknowledged it to
    the platform or answered on the socket, `trace`, a part of the raw event, for chats, `decided` if `decide` reported
    a decision, `told` if the person saw that it was taken, `calm` if the service lived on long enough for that.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MICROSECONDS = 1_000_000
#: No restart of the harness takes this long, so an act that came so many seconds before the deadline was in time.
RESTART_S = 60.0
DECISIONS = {"approve": "approved", "reject": "rejected"}
#: What an exit status of `sayso ask -- CMD` claims about the decision; other statuses claim nothing about it.
EXITS = {0: "approved", 10: "rejected", 11: "expired", 15: "approved"}
KINDS = ("double", "unapproved", "lost", "late", "dead")

#: A kind of KINDS and a sentence.
Fault = tuple[str, str]
Row = Mapping[str, Any]


@dataclass
class Evidence:
    """All that is looked at.

    `shown` holds the messages that are recorded as cards, as the platform numbers them.
    """

    calls: list[Row]
    votes: list[Row]
    inbox: list[Row]
    shown: frozenset[str]
    runs: list[tuple[str, str, str]]
    asks: list[Row]
    acts: list[Row]
    by_mark: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    acts_by_mark: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        """Find each call by the mark in its arguments, and each act by its mark."""
        for call in self.calls:
            for mark in {ask["mark"] for ask in self.asks if _holds(call["args"], ask["mark"])}:
                self.by_mark[mark].append(call)
        for act in self.acts:
            self.acts_by_mark[act["mark"]].append(act)


def gather(folder: Path) -> Evidence:
    """Read the folder. Raises OSError or sqlite3.Error where that can't be done."""
    database = sqlite3.connect(f"file:{folder / 'sayso.db'}?mode=ro", uri=True)
    database.row_factory = sqlite3.Row
    log, history = folder / "runs.log", json.loads((folder / "history.json").read_text())
    lines = log.read_text().splitlines() if log.exists() else []
    return Evidence(
        calls=database.execute("select * from calls").fetchall(),
        votes=database.execute("select * from votes").fetchall(),
        inbox=database.execute("select * from inbox").fetchall(),
        shown=frozenset(
            str(json.loads(line["data"])["message"])
            for line in database.execute("select data from audit where event = 'shown'")
        ),
        runs=[_run(line) for line in lines],
        asks=history["asks"],
        acts=history["acts"],
    )


def check(evidence: Evidence) -> list[Fault]:
    """Every fault found, in the order of KINDS."""
    looks = (doubles, unapproved, lost, late, dead)
    return [(kind, what) for kind, look in zip(KINDS, looks, strict=True) for what in look(evidence)]


def doubles(evidence: Evidence) -> Iterator[str]:
    """Tools that were started twice for one call or one request, and requests that became two calls."""
    for place, name in enumerate(("request", "call")):
        for what, times in Counter(run[place] for run in evidence.runs).items():
            if times > 1:
                yield f"the tool ran {times} times for {name} {what}"
    for mark, calls in evidence.by_mark.items():
        if len(calls) > 1:
            yield f"request {mark} became {len(calls)} calls"


def unapproved(evidence: Evidence) -> Iterator[str]:
    """Runs that no decision allows, runs with other arguments, and decisions that nobody made."""
    calls = {call["ref"]: call for call in evidence.calls}
    asked = {ask["mark"]: str(ask["amount"]) for ask in evidence.asks}
    for mark, ref, amount in evidence.runs:
        call = calls.get(ref)
        if call is None:
            yield f"a run of {mark} names call {ref}, which isn't in the database"
        elif call["decision"] != "approved" or call["claim_owner"] is None:
            yield f"{mark} ran: its decision is {call['decision']}, its claim {call['claim_owner']}"
        elif asked.get(mark) != amount or not _holds(call["args"], mark, amount):
            yield f"{mark} ran with {amount}; {asked.get(mark)} was requested, and the call holds {call['args']!r}"
    for mark, call in _decided(evidence):
        verb = next((verb for verb, decision in DECISIONS.items() if decision == call["decision"]), None)
        acts = evidence.acts_by_mark[mark]
        if verb and not any((act["by"], act["verb"]) == (call["decided_by"], verb) for act in acts):
            yield f"{mark} is {call['decision']} by {call['decided_by']}, who never said so"
        voters = [vote["principal"] for vote in evidence.votes if (vote["ref"], vote["approve"]) == (call["ref"], 1)]
        if verb == "approve" and call["decided_by"] not in voters:
            yield f"{mark} is approved without a vote of {call['decided_by']}"


def lost(evidence: Evidence) -> Iterator[str]:
    """What somebody was answered for and the database doesn't have."""
    for ask in evidence.asks:
        if ask["recorded"] and not evidence.by_mark[ask["mark"]]:
            yield f"request {ask['mark']} was acknowledged, and there is no call"
    for act in evidence.acts:
        if act["answered"]:
            yield from _lost_act(evidence, act)
    for ask in evidence.asks:
        for call in evidence.by_mark[ask["mark"]]:
            for status in ask["exits"]:
                if EXITS.get(status, call["decision"]) != call["decision"]:
                    yield f"who asked for {ask['mark']} was told {status}, but it is {call['decision']}"


def _lost_act(evidence: Evidence, act: Row) -> Iterator[str]:
    what = f"{act['verb']} of {act['mark']} by {act['by']}"
    if act["trace"]:
        events = [event for event in evidence.inbox if act["trace"].encode() in event["body"]]
        if not events:
            yield f"{what} was acknowledged, and isn't in the inbox"
        elif any(event["handled_at"] is None for event in events):
            yield f"{what} was acknowledged, and is unhandled in the end"
        elif all(_asked_back(evidence, event) for event in events):
            return
    for call in evidence.by_mark[act["mark"]]:
        in_time = act["at"] + RESTART_S < call["deadline"] / MICROSECONDS
        if act["decided"] and (call["decision"], call["decided_by"]) != (DECISIONS[act["verb"]], act["by"]):
            yield f"{what} was reported as the decision, but it is {call['decision']} by {call['decided_by']}"
        elif call["decision"] is None or (in_time and call["decision"] not in DECISIONS.values()):
            yield f"{what} was acknowledged, but the decision is {call['decision']}"


def _asked_back(evidence: Evidence, event: Row) -> bool:
    """Whether an event is a reply to a message that the service sent but died before it could record it as a card.

    Such a reply names no call that the service can trust, so the person is asked back; the card is posted again.
    """
    try:
        answered = json.loads(event["body"])["message"]["reply_to_message"]
    except (ValueError, KeyError, TypeError):
        return False
    return f"{answered['chat']['id']}:{answered['message_id']}" not in evidence.shown


def late(evidence: Evidence) -> Iterator[str]:
    """Approvals at or after the deadline. A run after expiry is a run that no decision allows."""
    deadlines = {call["ref"]: call["deadline"] for call in evidence.calls}
    for mark, call in _decided(evidence):
        if call["decision"] == "approved" and call["decided_at"] >= call["deadline"]:
            yield f"{mark} was approved {call['decided_at'] - call['deadline']} µs after its deadline"
    for vote in evidence.votes:
        if vote["approve"] and vote["at"] >= deadlines[vote["ref"]]:
            yield f"a vote for {vote['ref']} came {vote['at'] - deadlines[vote['ref']]} µs after the deadline"


def dead(evidence: Evidence) -> Iterator[str]:
    """Presses that a living service left without an answer, and calls that nobody could decide in the end."""
    for act in evidence.acts:
        if act["calm"] and not act["told"]:
            yield f"{act['verb']} of {act['mark']} by {act['by']} got no answer"
    for mark, calls in evidence.by_mark.items():
        for call in calls:
            if call["state"] == "awaiting_confirmation" and not _only_asked_back(evidence, mark):
                yield f"{mark} can't be decided: it is open in the end"


def _only_asked_back(evidence: Evidence, mark: str) -> bool:
    """Whether all that people said about a request were replies that were asked back, so that nobody has decided it."""
    traces = [act["trace"] for act in evidence.acts_by_mark[mark] if act["trace"]]
    events = [event for event in evidence.inbox if any(trace.encode() in event["body"] for trace in traces)]
    return bool(events) and all(_asked_back(evidence, event) for event in events)


def _decided(evidence: Evidence) -> Iterator[tuple[str, Row]]:
    for mark, calls in evidence.by_mark.items():
        for call in calls:
            if call["decision"] is not None:
                yield mark, call


def _run(line: str) -> tuple[str, str, str]:
    mark, ref, amount = line.split()
    return mark, ref, amount


def _holds(args: bytes | str, *words: str) -> bool:
    """Whether these words stand in a call's arguments, each as a word of its own."""
    text = args.decode() if isinstance(args, bytes) else args
    found = "".join(letter if letter.isalnum() else " " for letter in text).split()
    return all(word in found for word in words)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(check(gather(Path(sys.argv[1])))))
