"""Ends all open calls and turns in a database that was restored from an older copy, and skips its unhandled events."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from bot.wording import say
from hitl.call import Entry, Event
from hitl.errors import SaysoError
from hitl.ports import Change, adding
from hitl.records import replace

if TYPE_CHECKING:
    from hitl.call import Call
    from hitl.gate import Gate

_log = logging.getLogger(__name__)


async def roll_back(gate: Gate) -> None:
    """End all open calls and turns, and mark all events of the inbox as handled.

    This is done when the database is older than its mark (`adapters.database.mark`): people may have decided these
    calls already. The record gets a line about it.
    """
    _log.error("store.older", {"why": say("start.older")})
    while any([await _voided(gate, call) for call in await gate.store.unfinished()]):
        pass
    while events := await gate.store.incoming():
        for event in events:
            await gate.store.commit(adding(Change(handled=(event.source, event.id))))
    for turn in await gate.store.open_turns():
        await gate.store.keep_turn(replace(turn, done=True))
    # This commit comes last because it moves the mark to the restored database. If a start fails before this commit,
    # the next start repeats all steps.
    await gate.store.commit(adding(Change(entries=(Entry("", Event.ROLLED_BACK, "service", {}),))))


async def _voided(gate: Gate, call: Call) -> Call | None:
    """End the call, and return it. If this fails, log the error and return None, so that the service starts anyway."""
    try:
        return await gate.void(call)
    except SaysoError as error:
        _log.error("call.not_ended", {"ref": call.ref, "why": error.message})
        return None
    except Exception:  # noqa: BLE001 - somebody may have written any value into the row
        _log.exception("call.not_ended", {"ref": call.ref})
        return None
