"""Every way in which a card that people see can come to its end, wherever it is ended from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hitl.call import Action, Ran, Reply, ReplyKind, Result, Status, Verb
from hitl.outcomes import fact
from tests.sentences import says

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from hitl.call import Call
    from hitl.outcomes import Fact
    from tests.scenarios.harness import Stage


async def pressed(stage: Stage, call: Call) -> None:
    """Ann presses Approve."""
    await stage.surface.press("ann", call, Verb.APPROVE)


async def said(stage: Stage, call: Call) -> None:
    """Ann says yes to the card."""
    await stage.surface.answer("ann", call, "yes")


async def reacted(stage: Stage, call: Call) -> None:
    """Ann puts a thumb on the card."""
    await stage.surface.react("ann", call, "👍")


async def commanded(stage: Stage, call: Call) -> None:
    """Bob types the command for a no."""
    surface: Any = stage.surface
    await surface.command("bob", f"reject {call.short} it is mine")


async def decided(stage: Stage, call: Call, verb: Verb) -> None:
    """Bob decides in a terminal, over the socket."""
    reply = Reply(stage.surface.identities["bob"], "socket", "local", ReplyKind.API, verb=verb, target=call.short)
    await stage.service.decide(reply)


async def approved_elsewhere(stage: Stage, call: Call) -> None:
    """Yes, over the socket."""
    await decided(stage, call, Verb.APPROVE)


async def rejected_elsewhere(stage: Stage, call: Call) -> None:
    """No, over the socket."""
    await decided(stage, call, Verb.REJECT)


async def withdrawn(stage: Stage, call: Call) -> None:
    """Uma takes it back."""
    await stage.service.gate.withdraw(call.ref, stage.surface.identities["uma"])


async def expired(stage: Stage, _: Call) -> None:
    """Nobody answers."""
    await stage.wait(300)


async def found_late(stage: Stage, call: Call) -> None:
    """All timers sleep; somebody answers too late."""
    stage.clock.advance(301)
    await stage.surface.press("ann", call, Verb.APPROVE)


async def denied(stage: Stage, call: Call) -> None:
    """The policy forbids it by the time that somebody says yes."""
    stage.rules.set(call.tool, action=Action.DENY)
    await stage.surface.press("ann", call, Verb.APPROVE)


async def changed(stage: Stage, call: Call) -> None:
    """The tool was taken off the list meanwhile."""
    stage.executor.tools.clear()
    await stage.surface.press("ann", call, Verb.APPROVE)


async def failed(stage: Stage, call: Call) -> None:
    """The tool fails."""
    stage.executor.outcome = Ran(Result.FAILED, error="the disk is full")
    await stage.surface.press("ann", call, Verb.APPROVE)


async def timed_out(stage: Stage, call: Call) -> None:
    """The tool takes too long."""
    stage.executor.outcome = Ran(Result.TIMED_OUT, error="stopped after 30 seconds")
    await stage.surface.press("ann", call, Verb.APPROVE)


async def lost(stage: Stage, call: Call) -> None:
    """The tool answers nothing."""
    stage.executor.outcome = Ran(Result.UNKNOWN, error="no answer came")
    await stage.surface.press("ann", call, Verb.APPROVE)


@dataclass(frozen=True, slots=True)
class End:
    """What is done, what becomes of the call, and the sentence that its card holds then."""

    act: Callable[[Stage, Call], Awaitable[None]]
    status: Status
    sentence: Fact

    def is_on(self, card: str) -> bool:
        """Whether a card's text holds that sentence."""
        return says(card, self.sentence.what, **self.sentence.particulars)


_DONE = fact("by.approved")

ENDS = {
    "pressed": End(pressed, Status.SUCCEEDED, _DONE),
    "said": End(said, Status.SUCCEEDED, _DONE),
    "reacted": End(reacted, Status.SUCCEEDED, _DONE),
    "commanded": End(commanded, Status.REJECTED, fact("ending.rejected.reason", reason="“it is mine”")),
    "approved elsewhere": End(approved_elsewhere, Status.SUCCEEDED, _DONE),
    "rejected elsewhere": End(rejected_elsewhere, Status.REJECTED, fact("by.rejected")),
    "withdrawn": End(withdrawn, Status.WITHDRAWN, fact("by.withdrawn")),
    "expired": End(expired, Status.EXPIRED, fact("ending.expired")),
    "found late": End(found_late, Status.EXPIRED, fact("ending.expired")),
    "denied": End(denied, Status.DENIED, fact("ending.denied")),
    "changed": End(changed, Status.REFUSED, fact("ending.refused")),
    "failed": End(failed, Status.FAILED, fact("ending.failed", why="the disk is full")),
    "timed out": End(timed_out, Status.TIMED_OUT, fact("ending.timed_out")),
    "lost": End(lost, Status.UNKNOWN, fact("ending.unknown")),
}
