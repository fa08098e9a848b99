"""Checks stored data against its MACs and hash chains: one call with its audit record, or the whole audit record."""

from __future__ import annotations

import hashlib
import json
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from hitl.call import MAY_RUN, Event, State
from hitl.lifecycle import RESULTS, Trigger
from hitl.outcomes import Fact, fact
from hitl.proof import seals
from hitl.proof.chain import DECIDED, FIRST, steps_held, verify

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hitl.call import Call, Recorded, Vote
    from hitl.proof.keyring import Keyring


#: The events of the lines that each report one vote.
_VOTES = frozenset({Event.VOTED, Event.APPROVED, Event.REJECTED})


class Flaw(StrEnum):
    """The kinds of damage that the check can find. Each value is the key of a sentence for people."""

    ROW = "flaw.row"
    DECISION = "flaw.decision"
    CLAIM = "flaw.claim"
    RESULT = "flaw.result"
    VOTES = "flaw.votes"
    LINE = "flaw.line"
    PLAIN = "flaw.plain"
    UNRECORDED = "flaw.unrecorded"
    NO_CALL = "flaw.no_call"
    GAP = "flaw.gap"
    CUT = "flaw.cut"
    SUMMARY = "flaw.summary"
    EVENT = "flaw.event"
    CARD = "flaw.card"
    PROMPT = "flaw.prompt"
    MESSAGE = "flaw.message"
    MOVE = "flaw.move"
    TALK = "flaw.talk"
    CREDENTIAL = "flaw.credential"
    TURN = "flaw.turn"
    NO_KEY = "flaw.no_key"
    FILE = "flaw.file"


class Examined(Struct, frozen=True):
    """The result of an examination of everything that is stored."""

    #: The number of examined lines of the audit record.
    lines: int
    #: The number of examined calls.
    calls: int
    flaws: tuple[Fact, ...]
    #: Whether there is a mark. If there is a mark, the end of the audit record was compared with it.
    marked: bool
    #: The number of calls that retention archived. Calls that were tampered with aren't counted.
    archived: int
    #: The number of calls whose arguments retention erased. Calls that were tampered with aren't counted.
    erased: int


def flaws_of(keys: Keyring, call: Call, votes: Sequence[Vote], lines: Sequence[Recorded]) -> list[Fact]:
    """Return the flaws of a call, of its votes and of its chain.

    Of a chain with several wrong lines, the first is named.
    """
    found = []
    if part := seals.broken(keys, call):
        found.append(fact(Flaw[part.upper()], short=call.short))
    seq, told = verify(keys, lines), _tells(call, lines)
    # Lines that are wrong or missing can't say which votes there must be.
    if not seals.votes_hold(keys, call, votes) or (not seq and told and not _tells_votes(votes, lines)):
        found.append(fact(Flaw.VOTES, short=call.short))
    if seq:
        found.append(fact(Flaw.LINE, short=call.short, seq=seq))
    if not told:
        found.append(fact(Flaw.UNRECORDED, short=call.short))
    return found


def _tells_votes(votes: Iterable[Vote], lines: Iterable[Recorded]) -> bool:
    """Return whether the chain has one line for each vote: by the same person, with the same yes or no."""
    told = sorted((line.actor, line.event != Event.REJECTED) for line in lines if line.event in _VOTES)
    return told == sorted((said.principal, said.approve) for said in votes)


def _tells(call: Call, lines: Sequence[Recorded]) -> bool:
    """Return whether the chain and the row agree about the request, decision, result, state, erasure and archiving.

    Also return False if `due_at` doesn't fit the row: such a call is ended too early, or never.
    """
    if not lines or lines[0].event != Event.ASKED:
        return False
    decided = [line.event for line in lines if line.event in DECIDED]
    ended = [line.event for line in lines if "result" in steps_held([(line.event, line.data)]).done]
    wanted = ([call.decision.value] if call.decision else [], call.result.value if call.result else None)
    is_told = (decided, ended[-1] if ended else None) == wanted
    state = _state(call, amended=len(ended) > 1)
    return is_told and call.state is state and _is_due(call) and _tells_retention(call, lines)


def _is_due(call: Call) -> bool:
    """Return whether `due_at` fits the other fields of the row."""
    if call.state is State.AWAITING:
        return call.due_at == call.deadline
    if call.state is State.EXECUTING:
        # A call that nobody has claimed is due at the end of the claim window, whose length is a setting.
        return call.due_at == call.claim.until if call.claim else call.due_at is not None
    return call.due_at is None or call.awaits_reason


def _tells_retention(call: Call, lines: Sequence[Recorded]) -> bool:
    """Return whether the chain and the row agree about the call's erasure (with its time) and about its archiving.

    If somebody else emptied the arguments, the chain has no line about the erasure. If somebody put erased arguments
    back, the chain has a line that the row contradicts.
    """
    erased = [line.at for line in lines if line.event == Event.ERASED]
    archived = [line.event for line in lines if line.event == Event.ARCHIVED]
    return erased == ([call.erased_at] if call.erased_at else []) and len(archived) == call.archived


def _state(call: Call, *, amended: bool) -> State:
    """Return the state that the decision and the result imply. `amended` says that a late report replaced the result.

    A late report never changes the state.
    """
    if call.archived:
        return State.IDLE
    if call.result is not None:
        return State.COMPLETED if call.result in RESULTS[Trigger.COMPLETE] and not amended else State.ERROR
    if call.decision is None:
        return State.AWAITING
    return State.EXECUTING if call.decision in MAY_RUN else State.IDLE


def flaws_of_record(
    keys: Keyring,
    chains: Mapping[str, Sequence[Recorded]],
    refs: Iterable[str],
    hashes: Mapping[int, str],
    mark: tuple[int, str],
) -> list[Fact]:
    """Return the flaws of the whole audit record.

    - `chains` holds the lines of each chain, by ref.
    - `refs` holds the refs of all calls.
    - `hashes` holds the hash of every line, by its position in the record.
    - `mark` is the position of a line that the record had at an earlier time, and the hash of that line. If the record
      now has no such line, its end was cut off. Position 0 means that there is no mark.
    """
    found = [fact(Flaw.NO_CALL, ref=ref) for ref in sorted(chains.keys() - {"", *refs})]
    service = chains.get("", ())
    if seq := verify(keys, service):
        found.append(fact(Flaw.LINE, short="-", seq=seq))
        service = [line for line in service if line.seq < seq]
    expected = 1
    for position in sorted(hashes):
        if position != expected:
            found.append(fact(Flaw.GAP, first=expected, last=position - 1))
        expected = position + 1
    position, line = mark
    if position and hashes.get(position) != line:
        found.append(fact(Flaw.CUT, last=expected - 1, mark=position))
    return [*found, *_of_first_format(service, hashes)]


def _of_first_format(service: Iterable[Recorded], hashes: Mapping[int, str]) -> list[Fact]:
    """Return the flaws among the lines of the first format, whose hashes need no key.

    When the format changed, the service stored the number of these lines and a digest over their hashes in one line of
    the service's chain. A different digest shows that the lines were changed. Any later line with a plain hash is
    forged.
    """
    found, taken = [], 0
    for line in service:
        if line.event == Event.SEALED:
            told = json.loads(line.data)
            taken = told["lines"]
            before = "".join(hashes.get(position, FIRST) for position in range(1, taken + 1))
            if hashlib.sha256(before.encode()).hexdigest() != told["digest"]:
                found.append(fact(Flaw.SUMMARY, lines=taken))
    plain = [position for position, line in hashes.items() if position > taken and ":" not in line]
    return [*found, *(fact(Flaw.PLAIN, position=position) for position in sorted(plain))]
