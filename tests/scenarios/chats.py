"""What the chat platforms have in common as surfaces: a service that everybody waits for, and can be restarted."""

from __future__ import annotations

import abc
import contextlib
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

from tests.scenarios.harness import Stage, Surface, saying

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from bot.conversation import StoredTurns
    from bot.service import Service
    from hitl.call import Call, Status


class Wires(Protocol):
    """A service at work, and the platform that it speaks to."""

    @property
    def service(self) -> Service:
        """The service."""

    async def settle(self) -> None:
        """Until nothing is on its way."""


#: Makes the turns of an agent that are stored, once there is a service.
MakeTurns: TypeAlias = "Callable[[Service], StoredTurns]"
M = TypeVar("M")
W = TypeVar("W", bound=Wires)


class ChatRoom(Surface, Generic[M, W]):
    """Implements the half of `Surface` that knows no platform; `M` is a message there, `W` are the wires to it."""

    wires: W | None = None

    def open(self, service: Service) -> None:
        """Everybody is there already."""

    async def begin(self) -> None:
        """What people do once somebody listens."""

    @abc.abstractmethod
    async def send_again(self) -> None:
        """Until the platform has sent once more what nobody took."""

    @abc.abstractmethod
    def cards(self, call: Call) -> list[M]:
        """All cards of the call, oldest first."""

    def told(self, who: str, what: str, /, **particulars: object) -> bool:
        """Whether that person was ever shown this sentence of the catalogue, with these particulars."""
        return bool(saying(self.heard(who), what, **particulars))

    def message(self, call: Call) -> M:
        """The card as it is now."""
        return self.cards(call)[0]

    async def settle(self) -> None:
        """Until everybody has heard everything."""
        assert self.wires is not None
        await self.wires.settle()


class ChatStage(Stage, abc.ABC):
    """A stage whose service speaks to a chat platform, and can be stopped and started again on the same record."""

    surface: ChatRoom[Any, Any]

    def __init__(self, surface: ChatRoom[Any, Any], receive: str, **settings: Any) -> None:
        super().__init__(surface)
        self.settings = settings
        self._receive = receive
        self._parts = contextlib.AsyncExitStack()

    @abc.abstractmethod
    def _wired(self) -> contextlib.AbstractAsyncContextManager[Wires]:
        """The service at work on the platform."""

    async def start(self) -> None:
        """The service comes up."""
        wires = await self._parts.enter_async_context(self._wired())
        self.surface.wires, self.service = wires, wires.service
        await self.surface.begin()

    async def halt(self) -> None:
        """The service goes down, cleanly."""
        await self._parts.aclose()

    @contextlib.asynccontextmanager
    async def played(self) -> AsyncIterator[None]:
        """From start to end; the record is checked then."""
        await self.start()
        try:
            yield
        finally:
            await self.halt()
        await self.store.check_record()

    async def submit(self, **asked: Any) -> Call:
        """As `ask`, without waiting for the card."""
        return await super().ask(**asked)

    async def ask(self, tool: str = "delete_file", args: Mapping[str, Any] | None = None, **more: Any) -> Call:
        """As on every stage, until the card is there."""
        call = await super().ask(tool, args, **more)
        await self.surface.settle()
        return call

    async def question(self, asked: str, *options: str) -> Call:
        """As on every stage, until the card is there."""
        call = await super().question(asked, *options)
        await self.surface.settle()
        return call

    async def status(self, call: Call) -> Status:
        """As on every stage, until it was told."""
        await super().status(call)
        await self.surface.settle()
        return await super().status(call)

    async def wait(self, seconds: float) -> None:
        """As on every stage, until everybody heard of it."""
        await super().wait(seconds)
        await self.surface.settle()

    async def events(self, call: Call) -> list[str]:
        """What the record says happened to the call."""
        return [line.event for line in await self.store.history(call.ref)]
