"""`sayso reload` and SIGHUP: people, routes and the policy as the settings have them now, whole or not at all."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from bot.compose import policy_library
from bot.errors import SettingsError
from bot.settings import load
from hitl.call import Entry, Event
from hitl.errors import ReloadRefused
from hitl.ports import Change, adding
from hitl.records import replace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from bot.policies import Policies
    from bot.settings import Settings
    from hitl.gate import Gate
    from hitl.people import Directory

_log = logging.getLogger(__name__)
#: The settings that a reload takes. All others need a restart.
_TAKEN = frozenset(
    {
        *(
            "approvers",
            "requesters",
            "operators",
            "principals",
            "conversations",
            "routes",
            "self_approval_socket",
            "language",
            "languages",
        ),
        *("policy", "policies"),
    }
)


class Reloading:
    """Takes what changed in the settings file `source` since the start with `settings`."""

    def __init__(self, source: Path | None, settings: Settings, gate: Gate, policies: Policies) -> None:
        self._source = source
        self._began_with = settings
        self._gate = gate
        self._policies = policies
        self._turn = asyncio.Lock()

    async def reload(self, by: str = "service") -> Mapping[str, Any]:
        """Put the lists and the policy of now in force, and on record; `by` is who asked for that.

        Returns the policy's name and digest, and the settings that changed but need a restart. Raises ReloadRefused if
        something of it can't be used, and Unavailable; then all stays as it was.
        """
        async with self._turn:
            try:
                settings = await asyncio.to_thread(load, self._source)
                people = settings.directory()
                library = policy_library(settings.policy_folders(), resolve_hosts=settings.resolve_hosts)
                prepared = await asyncio.to_thread(self._policies.prepared, library, settings.policy_name())
            except SettingsError as error:
                await self._record(Event.RELOAD_REFUSED, by, why=str(error)[:500])
                # The policy is watched by itself too. If the fault is in the policy, `doctor` shows it at once.
                await self._policies.reload()
                raise ReloadRefused(str(error)) from error
            # The line is durable before anybody has a new right by it.
            restart = self._changed(settings)
            told = {"policy": prepared.name, "digest": prepared.digest, **_lists(people), "restart": restart}
            await self._record(Event.RELOADED, by, **told)
            self._gate.people = replace(people, owners=self._gate.people.owners)
            await self._policies.take(prepared)
            return {"policy": prepared.name, "digest": prepared.digest, "restart": restart}

    def _changed(self, settings: Settings) -> list[str]:
        """The settings that a reload doesn't take, and that differ from those of the start."""
        names = sorted(set(type(settings).model_fields) - _TAKEN)
        return [name for name in names if getattr(settings, name) != getattr(self._began_with, name)]

    async def _record(self, event: Event, by: str, **told: object) -> None:
        _log.log(logging.WARNING if event is Event.RELOAD_REFUSED else logging.INFO, f"service.{event}", {"by": by})
        await self._gate.store.commit(adding(Change(entries=(Entry("", event, by, told),))))


def _lists(people: Directory) -> Mapping[str, Sequence[str]]:
    """Who may do what, for the record."""
    return {
        name: sorted(getattr(people, name)) for name in ("approvers", "requesters", "operators", "routes", "revoked")
    }
