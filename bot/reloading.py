"""`sayso reload` and SIGHUP: apply the people, routes, card texts and policy of the settings, all of them or none.

A reload also tries again the conversations that refused a card.
"""

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
#: The settings that a reload applies. All other settings need a restart.
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
            "cards",
        ),
        *("policy", "policies", "stages"),
    }
)


class Reloading:
    """Applies changes of the settings file `source`. The service started with `settings`."""

    def __init__(self, source: Path | None, settings: Settings, gate: Gate, policies: Policies) -> None:
        self._source = source
        self._began_with = settings
        self._began_secrets = settings.secret_digests()
        self._gate = gate
        self._policies = policies
        self._turn = asyncio.Lock()

    async def reload(self, by: str = "service") -> Mapping[str, Any]:
        """Apply and record the lists and the policy of the current settings.

        `by` is the principal who asked for the reload.

        Return the policy's name and digest, and the settings that changed but need a restart. Raises ReloadRefused if a
        part can't be used, and Unavailable if the store fails. After an error nothing has changed.
        """
        async with self._turn:
            try:
                settings = await asyncio.to_thread(load, self._source)
                people = settings.directory()
                library = policy_library(settings.policy_folders(), resolve_hosts=self._began_with.resolve_hosts)
                # A reload can't change the stage. So the policy of the stage at the start is loaded, even if the
                # settings now name another stage.
                staged = settings.model_copy(update={"stage": self._began_with.stage})
                prepared = await asyncio.to_thread(self._policies.prepared, library, staged.policy_name())
            except SettingsError as error:
                await self._record(Event.RELOAD_REFUSED, by, why=str(error)[:500])
                # The watcher reads the policy only once a second. If the policy is at fault, reading it now lets
                # `doctor` show the fault immediately.
                await self._policies.reload()
                raise ReloadRefused(str(error)) from error
            # The reload must be recorded durably before anybody gets a new right.
            restart = self._changed(settings, await asyncio.to_thread(settings.secret_digests))
            told = {"policy": prepared.name, "digest": prepared.digest, **_lists(people), "restart": restart}
            await self._record(Event.RELOADED, by, **told)
            now = self._gate.people
            self._gate.people = replace(people, owners=now.owners, token_ends=now.token_ends)
            # An open card isn't changed by this, because its words are stored with its request.
            self._gate.terms = replace(self._gate.terms, cards=settings.terms().cards)
            self._gate.reach.forget()
            await self._policies.take(prepared)
            return {"policy": prepared.name, "digest": prepared.digest, "restart": restart}

    def _changed(self, settings: Settings, secrets: Mapping[str, str]) -> list[str]:
        """Return the names of changed settings that a reload doesn't apply.

        `secrets` are the current digests of the files with secrets.
        """
        names = set(type(settings).model_fields) - _TAKEN
        # Of the section `http`, a reload applies only the limits of tokens.
        http = self._began_with.http.model_copy(update={"tokens": settings.http.tokens})
        before = self._began_with.model_copy(update={"http": http})
        changed = {name for name in names if getattr(settings, name) != getattr(before, name)}
        # A secret is read only at the start. If the content of its file has changed, the service continues with the old
        # secret.
        changed |= {name for name, digest in self._began_secrets.items() if secrets.get(name, digest) != digest}
        return sorted(changed)

    async def _record(self, event: Event, by: str, **told: object) -> None:
        _log.log(logging.WARNING if event is Event.RELOAD_REFUSED else logging.INFO, f"service.{event}", {"by": by})
        await self._gate.store.commit(adding(Change(entries=(Entry("", event, by, told),))))


def _lists(people: Directory) -> Mapping[str, Sequence[str]]:
    """Return the sorted lists of people and routes, in the form in which the record of a reload stores them."""
    return {
        name: sorted(getattr(people, name)) for name in ("approvers", "requesters", "operators", "routes", "revoked")
    }
