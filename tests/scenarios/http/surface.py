"""HTTP as a surface: an agent asks with its token, and people decide with theirs, over TCP.

There are no messages. Uma's agent is a program that asks, waits, claims, runs and reports. Ann, Bob and Sam sit at
clients that list the calls, show each card and each end once, and send decisions. A client reads words and emoji with
`/v1/replies/parse`, and sends what they mean; what is unclear, and what names no call, is never sent.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import secrets
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from adapters.agents.offline import TOOLS, understand
from bot.api import serve_api
from bot.service import Service
from bot.settings import HttpSettings
from hitl.call import Lease, Risk, Status, Verb
from hitl.cards.wording import say
from hitl.records import replace
from sayso_client.wire import SOCKET_NAME
from tests.api_clients import local, remote
from tests.canaries import ARGUMENTS, CANARIES
from tests.patience import PATIENCE_S
from tests.scenarios.harness import PEOPLE, Stage, saying

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from hitl.call import Call
    from hitl.gate import Gate

#: The user of this machine, who operates the service and answers for Uma's agent.
ME = f"local:{os.getuid()}"
#: Who decides at a client. Uma's token is her agent's.
DECIDERS = ("ann", "bob", "sam")
#: Another place where Uma's agent may have cards shown.
ELSEWHERE = "telegram:-100"
#: What an agent's token is bound to.
AGENTS = {"scope": "agent", "owner": ME, "routes": [ELSEWHERE]}
#: How a decision ends the wait of an agent: a request that waits, or a stream of events.
WAYS = ("polling", "streaming")
#: Statuses of calls that nobody has to be told the end of yet.
_UNDER_WAY = {"pending", "approved", "running", "allowed"}


@dataclass(frozen=True)
class Shown:
    """A card as a client shows it now, with the buttons that the client offers."""

    text: str
    labels: tuple[str, ...]


class Desks:
    """Implements `Surface`."""

    conversation = "http"

    def __init__(self, way: str) -> None:
        self.identities: Mapping[str, str] = {who: f"token:{who}" for who in PEOPLE}
        self.agent: Agent
        self.clients: dict[str, httpx.AsyncClient] = {}
        self._way = way
        self._screens: dict[str, list[str]] = {who: [] for who in PEOPLE}
        self._first: dict[str, str] = {}
        self._now: dict[str, Shown] = {}
        self._seen: dict[tuple[str, str], bool] = {}
        self._second_yes: set[tuple[str, str]] = set()

    def open(self, service: Service) -> None:
        """Everybody sits down once there is an address."""

    def sit_down(self, stage: HttpStage, clients: dict[str, httpx.AsyncClient]) -> None:
        """Everybody has a client; Uma's is her agent's."""
        self.clients = clients
        self.agent = Agent(stage, clients["uma"], self._screens["uma"].append, streams=self._way == "streaming")

    async def say(self, who: str, text: str) -> None:
        """Uma tells her agent what to do; what others say must name a call."""
        if who != "uma":
            await self._words(who, text, None)
        elif plan := understand(text):
            await self.agent.ask(tools=TOOLS, tool=plan.tool, args=plan.args)
        await self.settle()

    async def answer(self, who: str, call: Call, text: str) -> None:
        """Words, typed at the call."""
        await self._words(who, text, call.ref)
        await self.settle()

    async def press(self, who: str, call: Call, verb: Verb) -> None:
        """A decision; a second yes to the same call names it, as the answer to the first yes wants."""
        if verb is Verb.DETAILS:
            await self._send(who, f"/v1/calls/{call.ref}/details", {})
        else:
            await self._decide(who, call.ref, verb)
        await self.settle()

    async def react(self, who: str, call: Call, emoji: str) -> None:
        """An emoji, typed at the call."""
        await self.answer(who, call, emoji)

    async def command(self, who: str, text: str) -> None:
        """`approve REF` or `reject REF REASON`, sent by the paths of the harombe design."""
        verb, target, *reason = text.split(maxsplit=2)
        await self._send(who, f"/hitl/decide/{target}", {"decision": verb, "reason": reason[0] if reason else None})
        await self.settle()

    def card(self, call: Call) -> str:
        """The card as the first client showed it."""
        return self._first.get(call.ref, "")

    def message(self, call: Call) -> Shown:
        """The card as it is now."""
        return self._now[call.ref]

    def heard(self, who: str) -> list[str]:
        """The screen of the client; Uma's is what her agent was told."""
        return self._screens[who]

    def told(self, who: str, what: str, /, **particulars: object) -> bool:
        """Whether that person was ever shown this sentence of the catalogue, with these particulars."""
        return bool(saying(self.heard(who), what, **particulars))

    async def settle(self) -> None:
        """Until the agent has done what it can, and each client has listed the calls."""
        await self.agent.settle()
        for who in DECIDERS:
            await self._look(who)

    async def send_again(self) -> None:
        """Clients send again by themselves what no service answered."""

    async def _words(self, who: str, text: str, ref: str | None) -> None:
        read = (await self.clients[who].post("/v1/replies/parse", json={"text": text})).json()
        target = read["target"] or ref
        if read["verdict"] in {"approve", "reject"} and target:
            await self._decide(who, target, Verb(read["verdict"]), read["reason"])

    async def _decide(self, who: str, target: str, verb: Verb, reason: str | None = None) -> None:
        body = {"decision": verb, "reason": reason}
        if (who, target) in self._second_yes:
            body["confirm"] = target
        await self._send(who, f"/v1/calls/{target}/decision", body)

    async def _send(self, who: str, path: str, body: Mapping[str, Any]) -> None:
        answer = (await self.clients[who].post(path, json=body)).json()
        if answer.get("came") == "confirm":
            self._second_yes.add((who, path.split("/")[3]))
        self._screens[who].append(answer.get("text") or answer.get("detail") or answer["message"])

    async def _look(self, who: str) -> None:
        """List the calls, and show each card and each end that wasn't shown before."""
        client = self.clients[who]
        listed = (await client.get("/v1/calls", params={"status": "any", "limit": 100})).json()["calls"]
        for call in reversed(listed):
            known, over = self._seen.get((who, call["ref"])), call["status"] not in _UNDER_WAY
            if known is None or (over and not known):
                self._seen[who, call["ref"]] = over
                await self._show(who, call, over=over)

    async def _show(self, who: str, call: dict[str, Any], *, over: bool) -> None:
        text = read_out((await self.clients[who].get(f"/v1/calls/{call['ref']}/card")).json()["card"])
        labels = () if over else (say("button.approve"), say("button.reject"))
        self._now[call["ref"]] = Shown(text, labels)
        if over:
            self._screens[who].append(f"{text}\n{call['message']}")
        else:
            self._first.setdefault(call["ref"], text)
            self._screens[who].append(text)


class Agent:
    """A program that puts calls through Sayso with its token. `tell` gets each sentence that it is told."""

    def __init__(
        self, stage: HttpStage, client: httpx.AsyncClient, tell: Callable[[str], None], *, streams: bool
    ) -> None:
        self._stage = stage
        self._client = client
        self._tell = tell
        self._streams = streams
        self._changed: dict[str, asyncio.Event] = {}
        self._told: dict[str, tuple[str, str | None, bool]] = {}
        self._running: set[str] = set()
        self._tasks: list[asyncio.Task[None]] = [asyncio.create_task(self._listen())] if streams else []

    async def ask(self, key: str | None = None, **body: Any) -> str:
        """Ask for a call, and see to it from now on, with a secret of its own. Returns the call's ref."""
        secret = secrets.token_urlsafe()
        headers = {"Idempotency-Key": key} if key else {}
        answer = await self._client.post("/v1/calls", json={**body, **_hash_of(secret)}, headers=headers)
        call = answer.json()
        assert call.get("ref"), answer.text
        self._heard(call)
        self._tasks.append(asyncio.create_task(self._see_to(call, call.get("claim"), secret)))
        return str(call["ref"])

    async def _see_to(self, call: dict[str, Any], claim: dict[str, Any] | None, secret: str) -> None:
        ref = call["ref"]
        if claim is None:
            call = self._say(await self._until(ref, "decided", lambda seen: seen["status"] != "pending"))
            if call["status"] == "rejected" and call["reason_until"]:
                self._say(await self._until(ref, "explained", lambda seen: not seen["reason_until"]))
            if call["status"] != "approved":
                return
            claim = await self._claim(ref, secret)
        if claim is not None:
            await self._run(ref, claim["args"], secret)

    async def _claim(self, ref: str, secret: str) -> dict[str, Any] | None:
        answer = await self._persistently("POST", f"/v1/calls/{ref}/claim", json=_hash_of(secret))
        if answer.is_success:
            claimed: dict[str, Any] = answer.json()
            return claimed
        self._say(await self._until(ref, "ended", lambda seen: seen["status"] not in _UNDER_WAY))
        return None

    async def _run(self, ref: str, args: dict[str, Any], secret: str) -> None:
        stored = await self._stage.store.get(ref)
        assert stored is not None
        assert args == stored.arguments
        self._running.add(ref)
        lease = Lease(stored, "agent", stored.deadline)
        ran = await self._stage.executor.run(lease, limit_s=PATIENCE_S)
        report = {"secret": secret, "result": ran.result, "output": ran.output or "", "error": ran.error or None}
        self._say((await self._persistently("POST", f"/v1/calls/{ref}/finish", json=report)).json())

    async def _until(self, ref: str, until: str, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait in the agent's way. A service that is down, or stops, is asked again."""
        query = {} if self._streams else {"wait": "30", "until": until}
        changed = self._changed.setdefault(ref, asyncio.Event())
        while True:
            changed.clear()
            call: dict[str, Any] = (await self._persistently("GET", f"/v1/calls/{ref}", params=query)).json()
            if holds(call):
                return call
            if self._streams:
                await changed.wait()

    async def _persistently(self, verb: str, path: str, **more: Any) -> httpx.Response:
        while True:
            with contextlib.suppress(httpx.TransportError):
                return await self._client.request(verb, path, **more)
            await asyncio.sleep(0.01)

    async def _listen(self) -> None:
        """Follow the events from the first one on; a stream that breaks goes on behind the last event."""
        cursor = "0"
        while True:
            with contextlib.suppress(httpx.TransportError):
                async with self._client.stream("GET", "/v1/events", headers={"Last-Event-ID": cursor}) as answer:
                    async for line in answer.aiter_lines():
                        cursor = line.removeprefix("id: ") if line.startswith("id: ") else cursor
                        if line.startswith("data: ") and "ref" in (told := json.loads(line.removeprefix("data: "))):
                            self._changed.setdefault(told["ref"], asyncio.Event()).set()
            await asyncio.sleep(0.01)

    def _say(self, call: dict[str, Any]) -> dict[str, Any]:
        self._tell(call["message"])
        self._heard(call)
        return call

    def _heard(self, call: dict[str, Any]) -> None:
        self._told[call["ref"]] = (call.get("status", ""), call.get("reason"), bool(call.get("reason_until")))

    async def settle(self) -> None:
        """Until the agent was told how each of its calls stands, and runs what it may run."""
        async with asyncio.timeout(PATIENCE_S):
            while not all([await self._is_settled(ref) for ref in self._told]):  # noqa: ASYNC110 - it polls the store
                await asyncio.sleep(0.005)

    async def _is_settled(self, ref: str) -> bool:
        for task in self._tasks:
            if task.done():
                task.result()
        call = await self._stage.store.get(ref)
        assert call is not None
        if call.status in {Status.PENDING, Status.DENIED}:
            return True
        if call.status is Status.APPROVED:
            return False
        if call.status is Status.RUNNING:
            return ref in self._running and not self._stage.runs_at_once
        return self._told[ref] == (call.status, call.reason or None, call.awaits_reason)

    async def leave(self) -> None:
        """The program ends."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _hash_of(secret: str) -> dict[str, str]:
    """The field of a request that names the hash of a claimant's secret."""
    return {"secret_hash": hashlib.sha256(secret.encode()).hexdigest()}


class HttpStage(Stage):
    """A stage whose service serves HTTP, and can be stopped and started again on the same record and port."""

    surface: Desks

    def __init__(self, surface: Desks) -> None:
        super().__init__(surface)
        self._life = contextlib.AsyncExitStack()
        self._whole = contextlib.AsyncExitStack()
        self._port = 0
        self._socket = Path()

    @property
    def runs_at_once(self) -> bool:
        """Whether no run takes longer than it takes to start it."""
        return not hasattr(self.executor, "gates")

    def _gate(self) -> Gate:
        """The gate of every stage. The operator lets the tokens of Ann and Bob decide calls of any risk."""
        gate = super()._gate()
        limits = {self.surface.identities[who]: Risk.CRITICAL for who in ("ann", "bob")}
        askers = (ME, self.surface.identities["uma"])
        gate.people = replace(gate.people, requesters=askers, operators=(ME,), token_limits=limits)
        return gate

    async def start(self) -> None:
        """The service comes up; everybody gets a token the first time."""
        self.service = Service(self._gate())
        self._life.push_async_callback(self.service.stop)
        await self.service.start()
        folder = Path(self._life.enter_context(tempfile.TemporaryDirectory(prefix="api-"))) / "run"
        server = await serve_api(self.service, folder, self._life, http=HttpSettings(port=self._port))
        self._socket = folder / SOCKET_NAME
        if not self._port:
            self._port = server.port
            self.surface.sit_down(
                self, {who: await self._client(who, AGENTS if who == "uma" else {}) for who in PEOPLE}
            )
            self._whole.push_async_callback(self.surface.agent.leave)

    async def _client(self, name: str, more: Mapping[str, Any]) -> httpx.AsyncClient:
        """A client with a token of that name, which the operator makes on the Unix socket; by default an approver's."""
        async with local(self._socket) as owner:
            made = await owner.post("/v1/tokens", json={"name": name, "scope": "approver", **more})
        token = CANARIES.plant(f"the token of {name}", made.json()["token"])
        client = remote(f"http://127.0.0.1:{self._port}", token, timeout=PATIENCE_S)
        self._whole.push_async_callback(client.aclose)
        return client

    async def agent_named(self, name: str) -> None:
        """Another agent of the same owner gets a token, and sits down."""
        self.surface.clients[name] = await self._client(name, AGENTS)

    async def halt(self) -> None:
        """The service goes down, cleanly."""
        await self._life.aclose()

    async def ask(self, tool: str = "delete_file", args: Mapping[str, Any] | None = None, **more: Any) -> Call:
        """As on every stage, over HTTP, until each client shows the card."""
        asked = ARGUMENTS if args is None else args
        ref = await self.surface.agent.ask(tools=TOOLS, tool=tool, args=asked, **more)
        await self.surface.settle()
        call = await self.store.get(ref)
        assert call is not None
        return call

    async def status(self, call: Call) -> Status:
        """As on every stage, until everybody heard of it."""
        await self.surface.settle()
        return await super().status(call)

    async def wait(self, seconds: float) -> None:
        """As on every stage, until everybody heard of it."""
        await super().wait(seconds)
        await self.surface.settle()

    async def events(self, call: Call) -> list[str]:
        """What the record says happened to the call."""
        return [line.event for line in await self.store.history(call.ref)]

    @contextlib.asynccontextmanager
    async def played(self) -> AsyncIterator[None]:
        """From start to end; the record is checked then."""
        await self.start()
        async with self._whole:
            try:
                yield
            finally:
                await self.halt()
        await self.store.check_record()


@contextlib.asynccontextmanager
async def staged(way: str) -> AsyncIterator[HttpStage]:
    """A stage behind HTTP, whose agent waits in that way; its record is checked at the end."""
    stage = HttpStage(Desks(way))
    async with stage.played():
        yield stage


def read_out(card: Mapping[str, Any]) -> str:
    """A card as a client shows it: the name before each part, and further lines of a text behind a bar."""
    parts = [f"{part['name']}: {part['text']}".rstrip() if part["name"] else part["text"] for part in card["parts"]]
    lines = ("headline", "below", "place", "note", "rule", "stakes", "outcome", "output", "approvers", "how")
    texts = [*(card[name] for name in lines[:1]), *parts, *(card[name] for name in lines[1:]), *card["warnings"]]
    return "\n".join(text.replace("\n", "\n┃ ") for text in texts if text)
