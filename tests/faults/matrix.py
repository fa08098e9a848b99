"""What every matrix of methods and faults shares: a life of a call in steps, one thing going wrong in one of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from hitl.call import Decision, Status
from hitl.cards.card import card, outcome
from hitl.cards.lines import in_utc, plain
from hitl.cards.wording import say

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from bot.service import Service
    from hitl.call import Call
    from hitl.testing import SetClock
    from tests.hitl.world import Store

#: How long the service waits for the platform here, and how long a platform that hangs lets it wait.
TIMEOUT_S, HANG_S = 2.0, 2.6
#: How much time goes by on the service's clock in each look at whether it has anything left to do.
HURRY_S = 0.1


class Server(Protocol):
    """A platform's server of ours, as far as things go wrong on it."""

    async def fail(self, method: str, one: Any, times: int = 1) -> None:
        """Let the next calls of a method go wrong."""

    async def calls(self, method: str | None = None) -> Sequence[Any]:
        """The calls of a method so far."""

    async def wait_calls(self, method: str, count: int = 1, timeout: float = ...) -> Sequence[Any]:  # noqa: ASYNC109 - the server's own
        """Wait until there were so many."""


class Wires(Protocol):
    """What connects a service with that server."""

    async def settle(self, between: Callable[[], None] | None = None) -> None:
        """Until nothing is on its way, `between` done while waiting."""


class Stage(Protocol):
    """A service on a stage, which is started once a life begins."""

    clock: SetClock
    store: Store
    service: Service

    def ran(self) -> list[dict[str, Any]]:
        """What was run."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """What goes wrong: the first call, or so many, of a method from the moment on.

    `hangs` if it comes through after all, late.
    """

    method: str
    moment: str
    fault: Any
    hangs: bool
    times: int = 1


class Life:
    """The steps of one life. A platform's own says what they are."""

    def __init__(self, stage: Stage, server: Server, trouble: Trouble) -> None:
        self.stage = stage
        self.server = server
        self._trouble = trouble

    def wires(self) -> Wires:
        """What is waited for, once the service is up."""
        raise NotImplementedError

    async def step(self, moment: str, act: Awaitable[Any]) -> Any:
        """One step, and all that follows from it; a request that hangs comes through before it is repeated."""
        here, method = self._trouble.moment == moment, self._trouble.method
        before = len(await self.server.calls(method))
        if here:
            await self.server.fail(method, self._trouble.fault, self._trouble.times)
        done = await act
        if here and self._trouble.hangs:
            await self.server.wait_calls(method, before + 1)
        await self.settled()
        return done

    async def settled(self) -> None:
        """Until nothing is on its way, with time going by, so that what is to be tried again is."""
        await self.wires().settle(self._hurry)

    def _hurry(self) -> None:
        self.stage.clock.advance(HURRY_S)
        self.stage.service.outbox.wake()  # it looks at the time once a second by itself


class Card(Protocol):
    """A card as it stands on the platform."""

    @property
    def labels(self) -> Sequence[str]:
        """Its buttons."""


async def check(stage: Stage, call: Call) -> None:
    """What holds whatever went wrong: run once or not at all, never without a yes, all of it on record."""
    await stage.store.check_record()
    assert (call.status is Status.SUCCEEDED) == len(stage.ran())
    assert not stage.ran() or call.decision is Decision.APPROVED


def _asks(shown: Card) -> bool:
    """Whether a card still has buttons that decide. A decided card may keep the one for details."""
    return not {say("button.approve"), say("button.approve.steps"), say("button.reject")}.isdisjoint(shown.labels)


def _bare(text: str) -> str:
    """The text without the marks of a platform's markup."""
    return re.sub(r"[*`~]", "", text)


def summary(
    call: Call, cards: Sequence[tuple[Card, str]], texts: Sequence[str] = (), untold: Sequence[str] = ()
) -> str:
    """What became of a call and its cards, and whose act was left without an answer.

    `cards` go with what they show. One that could not be edited is made good by its outcome among the `texts`; a second
    copy of one may say that it is none.
    """
    spare = say("card.spare", short=call.short)
    shown = [text for one, text in cards if not _asks(one) and text != spare]
    end = _bare(plain(card(call).end, in_utc))
    true = not any(_asks(one) for one, _ in cards) and all(end in _bare(text) for text in shown)
    true = true and (bool(shown) or not cards)
    said = any(f"{call.short}: {outcome(call)}" in text for text in texts)
    count = f"{len(cards)} card{'' if len(cards) == 1 else 's'}"
    parts = (str(call.status), count, "true" if true else "said" if said else "UNTRUE")
    return ", ".join((*parts, *(f"{who} untold" for who in untold)))
