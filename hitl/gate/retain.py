"""Erases the arguments of calls that have ended, and archives such calls.

The audit record gets a line about each erasure and each archiving.

Erasing removes each field that reveals arguments: the arguments themselves, the preview, the output, the notes, and the
texts of the executor and the policy about this one call. The requester, the decider, the times, the reason and all MACs
stay. The row gets a new MAC that covers the time of erasure, and the call's hash chain gets a line with the same time.
So `sayso audit verify` can distinguish an erased call from a call whose arguments somebody else emptied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.call import MAY_RUN, Call, CardTerms, Event, Result
from hitl.errors import Tampered
from hitl.gate.swap import entry_of
from hitl.lifecycle import Trigger, advance
from hitl.ports import Change, Expect, Unit
from hitl.proof import seals
from hitl.proof.integrity import flaws_of
from hitl.records import replace

if TYPE_CHECKING:
    from datetime import datetime

    from hitl.gate.context import GateContext
    from hitl.proof.keyring import Keyring

#: Results that a late report may amend.
_AMENDABLE = frozenset({Result.TIMED_OUT, Result.UNKNOWN})
_NO_ARGUMENTS = b"{}"


def over_since(call: Call) -> datetime | None:
    """Return the time when the call ended, or None if it may still change, for example by a late report."""
    if not call.ended or call.due_at is not None or call.result in _AMENDABLE:
        return None
    return call.finished_at or call.decided_at


async def retire(gate: GateContext, call: Call, *, archive: bool) -> Call | None:
    """Erase the arguments of an ended call, and perhaps archive it. `Gate.retire` states the contract."""
    archives = archive and not call.archived
    if over_since(call) is None or not (archives or call.erased_at is None):
        return None
    # If somebody changed the row, a new MAC would hide the change forever.
    if flaws_of(gate.keys, call, await gate.store.votes(call.ref), await gate.store.history(call.ref)):
        raise Tampered

    def seal(now: datetime) -> Change:
        kept, entries = call, []
        if archives:
            kept = advance(kept, Trigger.RESET)
            entries.append(entry_of(call, Event.ARCHIVED, "service"))
        if call.erased_at is None:
            kept = _erased(gate.keys, kept, now)
            entries.insert(0, entry_of(call, Event.ERASED, "service"))
        return Change(kept.evolve(version=call.version + 1), entries=entries)

    change = await gate.store.commit(Unit(Expect(call.ref, call.version), seal))
    return change.call if change else None


def _erased(keys: Keyring, call: Call, now: datetime) -> Call:
    """Return the call with new MACs, without its arguments and without the texts that reveal them."""
    card = call.verdict.card
    verdict = replace(call.verdict, why="", programs=(), card=card and CardTerms(stage=card.stage))
    bare = call.evolve(
        args=_NO_ARGUMENTS,
        cwd=None,
        preconditions=(),
        sentence="",
        preview="",
        notes=(),
        note="",
        verdict=verdict,
        output=None,
        # The MAC of the decision covers the error of a call that may not run, so this error stays. This error reveals
        # no argument.
        error=None if call.decision in MAY_RUN else call.error,
        erased_at=now,
    )
    result_mac = seals.result(keys, bare) if bare.result else None
    return bare.evolve(row_mac=seals.row(keys, bare), result_mac=result_mac)
