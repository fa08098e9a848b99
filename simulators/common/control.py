"""The control of any platform: waiting, faults, the clock, and its verbs over HTTP."""

from __future__ import annotations

import abc
import asyncio
import contextlib
import dataclasses
from collections.abc import Callable, Mapping, Reversible, Sequence
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

from simulators.common.lookup import ControlError
from simulators.common.platform import Platform

Json = dict[str, Any]
# A record and its world, to what JSON says of it.
Render = Callable[[Any, Any], Json]

PATIENCE: Final = 5.0
# What is waited for may change elsewhere, where nothing tells us: look again after so many seconds.
GLANCE: Final = 0.02
ALIASES: Final = {"fail": "fail_as"}


class Logged(Protocol):
    """A call, as a platform logs it."""

    @property
    def method(self) -> str:
        """Its method."""


T = TypeVar("T")
P = TypeVar("P", bound=Platform[Any, Any])
C = TypeVar("C", bound=Logged)
F = TypeVar("F")


class Overseer(abc.ABC, Generic[P, C, F]):
    """The view from above. `P` is the platform, `C` its record of a call, `F` its faults.

    `verbs` are those over HTTP (what takes a predicate or a fault object is for Python only), `renderers` turn
    its records into JSON.
    """

    platform: P
    world: Any
    verbs: ClassVar[frozenset[str]]
    renderers: ClassVar[Mapping[type, Render]]

    async def calls(self, method: str | None = None) -> list[C]:
        """Return the log of answered calls, of one method or all, oldest first."""
        wanted = method.lower() if method else None
        return [one for one in self.platform.calls if wanted in {None, one.method.lower()}]

    @abc.abstractmethod
    def last(self) -> str:
        """Return what happened last, for whoever waited in vain."""

    # Waiting -------------------------------------------------------------------------------

    async def wait_for(self, found: Callable[[], T | None], timeout: float = PATIENCE, what: str = "it") -> T:
        """Return the first true value of `found`, asked after every change here, and now and then.

        Raises `TimeoutError` after so many real seconds, with the last calls.
        """
        deadline = asyncio.get_running_loop().time() + timeout
        while True:
            change = self.platform.change()
            value = found()
            if value:
                return value
            if not await _again_before(change, deadline):
                raise TimeoutError(f"no sign of {what} in {timeout} s; {self.last()}")

    async def wait_newest(
        self, those: Callable[[], Reversible[T]], wanted: Callable[[T], bool], timeout: float, what: str
    ) -> T:
        """Return the last of `those` that is wanted, as `wait_for` does."""
        return await self.wait_for(lambda: next(filter(wanted, reversed(those())), None), timeout, what)

    async def wait_calls(self, method: str, count: int = 1, timeout: float = PATIENCE) -> list[C]:
        """Return the calls of a method when there are so many."""

        def enough() -> list[C] | None:
            made = [one for one in self.platform.calls if one.method.lower() == method.lower()]
            return made if len(made) >= count else None

        return await self.wait_for(enough, timeout, f"{count} calls of {method}")

    # Trouble -------------------------------------------------------------------------------

    @abc.abstractmethod
    async def down(self) -> None:
        """Refuse connections and cut those there are; people go on writing."""

    @abc.abstractmethod
    async def up(self) -> None:
        """Listen again, on the same port."""

    async def fail(self, method: str, one: F, times: int = 1) -> None:
        """Let the next calls of a method, or of any ("*"), go wrong."""
        self.platform.faults.add(method, one, times)

    async def fail_as(self, method: str, kind: str, times: int = 1, **fields: Any) -> None:
        """Do the same with a fault named by its kind."""
        self.platform.faults.add(method, self.platform.faults.named(kind, **fields), times)

    async def heal(self) -> None:
        """Let nothing go wrong any more."""
        self.platform.faults.clear()

    async def flood(self, *, enabled: bool = True) -> None:
        """Switch the rate limits on or off."""
        self.platform.flood.enabled = enabled

    async def advance(self, seconds: float) -> float:
        """Move the server's clock forward; return its time."""
        self.platform.clock.advance(seconds)
        self.platform.touch()
        return self.platform.clock.now()

    # Over HTTP -----------------------------------------------------------------------------

    async def obey(self, verb: str, arguments: Json) -> Any:
        """Carry out a verb that came over HTTP and return its result as JSON.

        Raises `ControlError` for an unknown verb, wrong arguments, and what nobody could do.
        """
        name = ALIASES.get(verb, verb)
        if name not in self.verbs | set(ALIASES.values()):
            raise ControlError(f"unknown verb {verb!r}")
        try:
            return self._as_json(await getattr(self, name)(**arguments))
        except (TypeError, KeyError, TimeoutError) as error:
            raise ControlError(f"{verb}: {type(error).__name__}: {error}") from error

    def _as_json(self, value: Any) -> Any:
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [self._as_json(one) for one in value]
        render = self.renderers.get(type(value))
        return render(value, self.world) if render else value


async def _again_before(event: asyncio.Event, deadline: float) -> bool:
    """Wait for the event, but not long; False when the deadline has passed."""
    left = deadline - asyncio.get_running_loop().time()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), min(left, GLANCE))
    return left > 0


def record(value: Any, _world: object) -> Json:
    """Render a record as its fields."""
    return dataclasses.asdict(value)
