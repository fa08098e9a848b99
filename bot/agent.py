"""Builds the model-backed agent from its model, its instructions and its tools.

The extra `agent` is imported only when a model is made.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from adapters.executors.groups import Groups
from bot.conversation import StoredTurns
from bot.errors import SettingsError
from bot.wording import say
from hitl.errors import SaysoError
from hitl.ports import Offer
from hitl.question import GROUP, SCHEMA, TOOL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic_ai.models import Model

    from bot.service import Service
    from bot.settings import AgentSettings

_log = logging.getLogger(__name__)
#: Loggers of libraries that log each HTTP request as information. Their lines below the level of a warning are dropped.
_TALKATIVE = ("httpx", "httpx2", "httpcore", "openai", "anthropic")


def build_turns(settings: AgentSettings, service: Service) -> StoredTurns | None:
    """Return the stored turns (`StoredTurns`) of the agent that the settings describe, or None if they name no model.

    The agent asks for its calls through `service`. Raises SettingsError.
    """
    if not settings.model:
        return None
    model, groups = make_model(settings), service.gate.executor
    from adapters.agents.model import Bounds, ModelAgent

    if not isinstance(groups, Groups):
        raise SettingsError(say("setting.agent.groups"))
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
    bounds = Bounds(settings.requests, settings.tokens, settings.answer_s, settings.cost, settings.turn_s)
    return StoredTurns(
        service, ModelAgent(model, settings.instructions(), Listed(groups, settings.tools).offers, bounds)
    )


def make_model(settings: AgentSettings) -> Model:
    """Return the model that the settings name. The model isn't connected yet. Raises SettingsError."""
    key = settings.secret()
    if not key and not settings.base_url:
        raise SettingsError(say("setting.agent.key"))
    try:
        from adapters.agents import model, providers

        del model
        made = providers.make_model(settings.model, key=key or "none", base_url=settings.base_url)
        if settings.cost is not None and not providers.has_price(made):
            raise SettingsError(say("setting.agent.cost", model=settings.model))
        return made
    except ModuleNotFoundError as error:
        text = say("setting.extra", what=say("setting.agent"), module=error.name, extra="agent")
        raise SettingsError(text) from error
    except ValueError as error:
        raise SettingsError(say("setting.agent.model", why=error)) from error


class Listed:
    """The tools that the settings list for the agent, such as `workspace.*`.

    Raises SettingsError for an entry that names no tool group.
    """

    def __init__(self, groups: Groups, listed: Sequence[str]) -> None:
        self._groups = groups
        self._listed = [entry.partition(".") for entry in listed]
        for entry, (group, _, tool) in zip(listed, self._listed, strict=True):
            if not tool or group not in groups.names:
                raise SettingsError(say("setting.agent.tools", entry=repr(entry)))

    async def offers(self) -> Sequence[Offer]:
        """Return the listed tools that may run now, and the tool that asks people a question.

        If a group can't be asked for its tools, the agent gets no tools of that group, and the log says so.
        """
        found: dict[tuple[str, str], Offer] = {(GROUP, TOOL): Offer(GROUP, TOOL, say("question.tool"), SCHEMA)}
        for group, _, tool in self._listed:
            try:
                offers = await self._groups.offers(group)
            except SaysoError as error:
                _log.warning("turn.group_left_out", {"group": group, "why": error.message})
                continue
            found |= {(offer.tools, offer.tool): offer for offer in offers if tool in {"*", offer.tool}}
        return list(found.values())
