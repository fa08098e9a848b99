"""Named points in the life of a call at which a test may pause, raise an error or kill the process.

In production nothing is planned, so `reach` only looks at an empty dictionary. Only tests and their entry point
(`tests/faults/dying.py`) call `plan`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: Name of each point -> a description of the point: which steps are done, and which aren't yet.
POINTS = {
    "writer.before-begin": "units have queued; the database hasn't been asked for anything",
    "writer.before-commit": "all statements of the group are done; nothing of them is durable",
    "writer.after-commit": "the group is durable; nobody has been told",
    "writer.before-copy": "the log is about to be copied into the database; no group is open",
    "gate.submitted": "a new call is durable; its asker hasn't been told",
    "gate.approved": "an approval is durable; nobody has been told",
    "gate.rejected": "a refusal is durable; nobody has been told",
    "gate.claimed": "a claim is durable; the claimant hasn't been told",
    "gate.finished": "a result is durable; nobody has been told",
    "delivery.sent": "a platform took a card or an edit; that isn't recorded yet",
    "service.leased": "this process holds the claim; the tool hasn't been started",
    "events.received": "events came in from a chat platform; they aren't recorded or acknowledged",
    "events.recorded": "events are in the inbox; they haven't been acknowledged",
    "intake.handling": "an event is about to be handled; nothing came of it yet",
    "intake.handled": "an event led to what it led to, and is done or counted as failed",
    "turn.answered": "a model answered; its answer isn't stored yet",
    "turn.kept": "a model's answer is stored; nothing of it was asked for yet",
    "turn.ended": "a call of a model's answer is over; its outcome isn't stored with the turn yet",
    "service.ran": "the tool is done; its result isn't recorded yet",
}

_planned: dict[str, Callable[[], None]] = {}


def reach(name: str) -> None:
    """Run the action that a test planned for this point. Do nothing if no action is planned."""
    if _planned and (action := _planned.get(name)):
        action()


def plan(name: str, action: Callable[[], None]) -> None:
    """Plan an action: it runs each time that the point is reached, on the same thread, until `clear` is called.

    Raises KeyError for a name that isn't in POINTS, because a test of a point that doesn't exist would test nothing.
    """
    POINTS[name]
    _planned[name] = action


def clear() -> None:
    """Remove all planned actions."""
    _planned.clear()
