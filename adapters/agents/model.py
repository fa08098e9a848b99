"""The model-backed agent: a model plans calls, the gate asks people and runs the calls, and the model gets each
outcome.

A turn goes in steps: ask the model, store its answer, make its calls, store their outcomes, and so on. The stored
thread holds everything that the next step needs, so another process can continue the turn. If a process stops before it
stores a step, the step is taken again. Asking a model again is harmless. A call is not made twice, because each call
has a name that is unique in its turn: a second attempt under that name finds the first call.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic_ai import Agent, DeferredToolRequests, UsageLimits
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    UsageLimitExceeded,
)

from adapters.agents.providers import close_model
from adapters.agents.thread import Thread, Wanted, prompt, transcript
from adapters.agents.tools import Offered
from hitl.call import Status
from hitl.cards.card import outcome_for_agent
from hitl.cards.redaction import mask
from hitl.cards.text import cut_middle
from hitl.cards.wording import say
from hitl.errors import SaysoError, Unavailable
from hitl.faults import reach

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from decimal import Decimal

    from pydantic_ai.models import Model

    from hitl.call import Call
    from hitl.cards.wording import Wording
    from hitl.ports import Explaining, Offer, StoredTurn

_log = logging.getLogger(__name__)
#: The model gets at most this many characters of a tool's output.
MOST_OUTPUT = 20_000
#: Limits of a question about a card: the characters of the question, the characters of the answer, and the tokens that
#: the answer may take.
LONGEST_QUESTION, LONGEST_EXPLANATION, EXPLANATION_TOKENS = 2_000, 1_000, 500
#: Seconds to wait before each retry after a failure of the provider that may be temporary.
PAUSES_S = (1.0, 5.0)
#: The HTTP statuses below 500 of failures that may be temporary: request timeout, conflict, too early, and too many
#: requests.
_PASSING = frozenset({408, 409, 425, 429})
#: The HTTP statuses of a request that may be too long: bad request, and content too large.
_TOO_LONG = frozenset({400, 413})
#: A request that is too long is halved at most this many times.
_HALVINGS = 4
#: The number of characters that count as one token. Four is the usual number for English text.
_CHARACTERS = 4
#: When a turn begins, earlier messages are shortened to one eighth (1 / _SHARE) of the turn's token limit. Each request
#: to the model sends the earlier messages again, so the limit is enough for eight answers. In a language such as
#: Chinese, each character may be one token. The earlier messages then take half of the limit.
_SHARE = 8


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of one turn of the agent, and of one answer of the model.

    A turn ends when it reaches one of the first four limits:

    - `requests`: the number of requests to the model
    - `tokens`: the number of tokens
    - `cost`: the price in US dollars, or None for no limit
    - `turn_s`: the total time of the model's answers, in seconds
    - `answer_s`: the time limit of one answer, in seconds

    No limit here covers the time in which people decide and tools run.
    """

    requests: int = 25
    tokens: int = 200_000
    answer_s: float = 120.0
    cost: Decimal | None = None
    turn_s: float = 1800.0


class _FailedError(Exception):
    """The model gave no usable answer. The exception's text says why, in a sentence for people."""


class ModelAgent:
    """Implements `hitl.ports.ResumingAgent`.

    `offers` is a function that returns the tools that the model may call.
    """

    name = "agent"

    def __init__(
        self,
        model: Model,
        instructions: str,
        offers: Callable[[], Awaitable[Sequence[Offer]]],
        bounds: Bounds | None = None,
        *,
        pauses_s: Sequence[float] = PAUSES_S,
    ) -> None:
        self._model = model
        self._instructions = f"{say('model.instructions')}\n\n{instructions}".strip()
        self._offers = offers
        self._bounds = bounds or Bounds()
        self._pauses_s = pauses_s

    def help(self, wording: Wording) -> str:
        """Return a text for people that says how to talk to this agent."""
        return wording.say("model.help")

    async def close(self) -> None:
        """Close the connections to the provider."""
        await close_model(self._model)

    async def take(self, turn: StoredTurn) -> str:
        """Continue a turn from its stored step to its end. Return the agent's final text, which the service sends to
        people.

        Raises Unavailable.
        """
        thread = Thread.unpacked(turn.state or turn.before)
        if not turn.state:
            most = self._bounds.tokens * _CHARACTERS // _SHARE
            words = prompt(turn.text, turn.asked_by, turn.said)
            thread.begin(words, _result("stopped", say("model.call.stopped")), most)
            await turn.keep(thread.packed())
        try:
            while not thread.over:
                await self._make_calls(turn, thread)
                async with turn.working():
                    await self._ask(thread, turn.wording)
                reach("turn.answered")
                await turn.keep(thread.packed())
                reach("turn.kept")
        except _FailedError as error:
            return str(error)
        return thread.words or turn.wording.say("model.silent")

    async def explain(self, asked: Explaining) -> str:
        """Return the model's answer to a person's question about a pending call.

        The model gets the call's card and the latest messages of the agent's conversation. It gets no tools.
        """
        thread = Thread.unpacked(asked.state)
        told = {
            "card": cut_middle(asked.card, MOST_OUTPUT).text,
            "asking_thread": transcript(thread.conversation.messages),
            "from": asked.who,
            "asks": cut_middle(mask(asked.text), LONGEST_QUESTION).text,
        }
        agent = Agent(self._model, output_type=str, instructions=say("model.explain.instructions"), retries=0)
        limits = UsageLimits(request_limit=1, total_tokens_limit=self._bounds.tokens)
        try:
            async with asyncio.timeout(self._bounds.answer_s):
                ran = await agent.run(
                    json.dumps(told, ensure_ascii=False),
                    usage_limits=limits,
                    model_settings={"max_tokens": EXPLANATION_TOKENS},
                )
        except Exception as error:  # noqa: BLE001 - a provider's library may raise anything
            _log.warning("turn.not_explained", {"error": type(error).__name__})
            return asked.wording.say("model.explain.failed", why=self._why(error, asked.wording))
        return cut_middle(ran.output.strip(), LONGEST_EXPLANATION).text or asked.wording.say("model.explain.silent")

    # -- the tool calls in an answer of the model -----------------------------------------------------------

    async def _make_calls(self, turn: StoredTurn, thread: Thread) -> None:
        """Make all calls of the model's last answer at the same time, and wait until every call has ended.

        Identical calls in one answer of the model are made as one call, so that people aren't asked twice.
        """
        if not thread.told:
            await turn.say(thread.words)
            thread.told = True
            await turn.keep(thread.packed())
        calls: dict[str, list[Wanted]] = {}
        for call in thread.waiting:
            calls.setdefault(_same(call), []).append(call)
        storing = asyncio.Lock()
        made = (self._make(turn, thread, same, storing) for same in calls.values())
        for error in await asyncio.gather(*made, return_exceptions=True):
            if error is not None:
                raise error

    async def _make(self, turn: StoredTurn, thread: Thread, same: Sequence[Wanted], storing: asyncio.Lock) -> None:
        """Make a call once, and store its outcome for all identical calls of the model's answer.

        The outcome is stored as soon as this call has ended, so that a turn that is stopped later keeps the outcome.
        Outcomes are stored one after the other, because each outcome is stored with the whole thread.
        """
        outcome = await self._made(turn, thread, same[0])
        async with storing:
            thread.outcomes |= {call.id: outcome for call in same}
            reach("turn.ended")
            await turn.keep(thread.packed())

    async def _made(self, turn: StoredTurn, thread: Thread, wanted: Wanted) -> str:
        """Make one call and return its outcome, for the model. Raises Unavailable.

        If people rejected an identical call in this turn, return a refusal with their reason, and don't ask them again.
        """
        try:
            if (reason := thread.rejected.get(wanted.same)) is not None:
                return _result("refused", say("model.call.again", reason=reason))
            call = await turn.call(wanted.tools, wanted.tool, wanted.args, name=wanted.name)
        except Unavailable:
            raise
        except SaysoError as error:
            return _result("not_asked", error.message)
        if call.status is Status.REJECTED:
            thread.rejected[wanted.same] = call.reason or ""
        return _told(call)

    # -- requests to the model ------------------------------------------------------------------------------

    async def _ask(self, thread: Thread, wording: Wording) -> None:
        """Ask the model for its next answer, and retry if the failure may be temporary. Raises _FailedError."""
        toolset = Offered(await self._offers())
        for pause_s in (*self._pauses_s, None):
            try:
                return await self._fitting(thread, toolset)
            except Exception as error:  # noqa: BLE001 - a provider's library may raise anything
                if isinstance(error, UsageLimitExceeded) or thread.worked_s >= self._bounds.turn_s:
                    raise _FailedError(wording.say("model.limit")) from None
                _log.warning("turn.model_failed", {"error": type(error).__name__})
                if pause_s is None or not _passes(error):
                    raise _FailedError(wording.say("model.failed", why=self._why(error, wording))) from None
            await asyncio.sleep(pause_s)
        return None

    async def _fitting(self, thread: Thread, toolset: Offered) -> None:
        """Ask the model. If the provider refuses the request, maybe because it is too long, halve the request and ask
        again.

        A shortened thread is stored only together with an answer. So if the provider refuses every shorter request too,
        the stored thread is still whole.
        """
        for _ in range(_HALVINGS):
            try:
                return await self._answer(thread, toolset)
            except ModelAPIError as error:
                if not _too_long(error) or not thread.shorten(thread.length // 2):
                    raise
                _log.info("turn.shortened", {"characters": thread.length})
        return await self._answer(thread, toolset)

    async def _answer(self, thread: Thread, toolset: Offered) -> None:
        """Ask the model once, and add its answer to the thread.

        The model then has all prompts and outcomes of the thread, so `thread.prompts` and `thread.outcomes` are
        emptied. Raises UsageLimitExceeded if the turn has reached a limit of `Bounds`.
        """
        left_s = self._bounds.turn_s - thread.worked_s
        if left_s <= 0:
            raise UsageLimitExceeded("seconds")
        pending = thread.conversation.deferred_tool_requests
        results = pending.build_results(calls=dict(thread.outcomes)) if pending and thread.calls else None
        agent = Agent(
            self._model,
            toolsets=[toolset],
            output_type=[str, DeferredToolRequests],
            instructions=self._instructions,
        )
        began, bounds = time.monotonic(), self._bounds
        try:
            async with asyncio.timeout(min(bounds.answer_s, left_s)):
                # The library adds to the thread's own `usage`, even if the run fails, only if each part of the
                # conversation is a separate argument.
                ran = await agent.run(
                    "\n".join(thread.prompts) or None,
                    message_history=thread.conversation.messages,
                    usage=thread.conversation.usage,
                    conversation_id=thread.conversation.conversation_id,
                    deferred_tool_results=results,
                    usage_limits=UsageLimits(
                        request_limit=bounds.requests, total_tokens_limit=bounds.tokens, cost_limit=bounds.cost
                    ),
                )
        finally:
            thread.worked_s += time.monotonic() - began
        if bounds.cost is not None and ran.usage.cost is None:
            raise UsageLimitExceeded("cost: the price of this answer isn't known")
        thread.requests = ran.usage.requests
        thread.conversation = ran.conversation
        thread.prompts, thread.outcomes = [], {}
        deferred = ran.output if isinstance(ran.output, DeferredToolRequests) else None
        thread.words = ran.response.text or "" if deferred else str(ran.output)
        thread.calls = _wanted(deferred, toolset, thread.requests) if deferred else []
        thread.told = not (deferred and thread.words.strip())

    def _why(self, error: Exception, wording: Wording) -> str:
        """Return a sentence for people that says why there is no answer.

        The provider's own text is left out, because it may contain part of the API key.
        """
        if isinstance(error, ModelHTTPError):
            return wording.say("model.why.status", status=error.status_code)
        if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
            return wording.say("model.why.slow", seconds=f"{self._bounds.answer_s:g}")
        if isinstance(error, ModelAPIError) and "Connection" in type(error).__name__:
            return wording.say("model.why.down")
        return wording.say("model.why.garbage")


def _passes(error: Exception) -> bool:
    if isinstance(error, ModelHTTPError):
        return error.status_code in _PASSING or error.status_code >= 500  # noqa: PLR2004 - HTTP's server errors
    return isinstance(error, TimeoutError) or any(
        word in type(error).__name__ for word in ("Timeout", "Connection", "Overloaded", "Unavailable")
    )


def _too_long(error: ModelAPIError) -> bool:
    status = error.status_code if isinstance(error, ModelHTTPError) else None
    return status in _TOO_LONG or isinstance(error, ModelContextWindowExceededError)


def _wanted(deferred: DeferredToolRequests, toolset: Offered, answer: int) -> list[Wanted]:
    calls = []
    for place, call in enumerate(deferred.calls):
        offer = toolset.by_name[call.tool_name]
        args = call.args_as_dict()
        calls.append(Wanted(call.tool_call_id, f"{answer}.{place}", offer.tools, offer.tool, args))
    return calls


def _same(wanted: Wanted) -> str:
    """Return a key that is equal for identical calls.

    If the arguments have no canonical form, the key contains the call's id, so no other call has the same key.
    """
    try:
        return wanted.same
    except SaysoError:
        return f"\n{wanted.id}"


def _told(call: Call) -> str:
    """Return the outcome of a call, for the model: its status, the meaning of the status, and the tool's output."""
    output = cut_middle(mask(call.output), MOST_OUTPUT).text if call.output else None
    return _result(call.status.value, outcome_for_agent(call), output)


def _result(status: str, meaning: str, output: str | None = None) -> str:
    told = {"status": status, "meaning": meaning} | ({} if output is None else {"output": output})
    return json.dumps(told, ensure_ascii=False)
