"""Every way in which a card that people see can come to its end, wherever it is ended from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hitl.model import Action, Kind, Ran, Reply, Result, Status, Verb

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from hitl.model import Call
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
    reply = Reply(stage.surface.identities["bob"], "socket", "local", Kind.API, verb=verb, target=call.short)
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
    """What is done, what becomes of the call, and what its card says then."""

    act: Callable[[Stage, Call], Awaitable[None]]
    status: Status
    says: str


ENDS = {
    "pressed": End(pressed, Status.SUCCEEDED, "done, approved by"),
    "said": End(said, Status.SUCCEEDED, "done, approved by"),
    "reacted": End(reacted, Status.SUCCEEDED, "done, approved by"),
    "commanded": End(commanded, Status.REJECTED, "it is mine"),
    "approved elsewhere": End(approved_elsewhere, Status.SUCCEEDED, "done, approved by"),
    "rejected elsewhere": End(rejected_elsewhere, Status.REJECTED, "rejected by"),
    "withdrawn": End(withdrawn, Status.WITHDRAWN, "withdrawn by"),
    "expired": End(expired, Status.EXPIRED, "expired: nobody answered in time"),
    "found late": End(found_late, Status.EXPIRED, "expired: nobody answered in time"),
    "denied": End(denied, Status.DENIED, "denied by the policy"),
    "changed": End(changed, Status.REFUSED, "but not run"),
    "failed": End(failed, Status.FAILED, "the disk is full"),
    "timed out": End(timed_out, Status.TIMED_OUT, "stopped at its time limit"),
    "lost": End(lost, Status.UNKNOWN, "whether it ran is not known"),
}
