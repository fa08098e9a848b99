"""The policy that applies now: a preset or a named document, loaded at the start and again when it changes.

A document with problems never replaces a policy that applies. At the start, the service refuses to run without a
policy. Later, the old policy continues to apply, and `troubles` says why. Every change and every refusal is recorded.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import time
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from bot.errors import SettingsError, without_number
from bot.wording import say
from hitl.call import Entry, Event
from hitl.errors import Unavailable
from hitl.ports import Change, adding

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from hitl.policy import Policy
    from hitl.policy.ports import Document, DocumentSource
    from hitl.ports import Calls, Paths, Resolver

_log = logging.getLogger(__name__)
#: Seconds between two reads of the document. A changed text applies only when two reads in a row give the same text, so
#: that a half-written file doesn't apply.
LOOK_EVERY_S = 1.0
#: At a start and at a reload: the seconds between two reads, and the largest number of reads. If the text still changes
#: after them, SettingsError is raised.
SETTLES_S, _READS = 0.25, 20
#: Module that the policy engine imports at its first use -> the package that contains the module.
_NEEDED = {
    "re2": "google-re2",
    "tree_sitter": "tree-sitter",
    "tree_sitter_bash": "tree-sitter-bash",
    "idna": "idna",
    "yaml": "PyYAML",
}


class Library:
    """The named policy documents of several sources. A name may occur in one source only."""

    def __init__(
        self, sources: Sequence[DocumentSource], *, paths: Paths | None = None, resolver: Resolver | None = None
    ) -> None:
        self._sources = tuple(sources)
        self._paths = paths
        self._resolver = resolver

    def read(self, name: str) -> Document:
        """Return the policy document with that name.

        Raises SettingsError if there is no document with that name, or if it can't be read.
        """
        found: list[Document] = []
        missing: list[str] = []
        for source in self._sources:
            try:
                found.append(source.read("", name))
            except LookupError as error:
                missing.append(str(error.args[0]))
            except OSError as error:
                raise SettingsError(say("setting.policy", name=repr(name), why=without_number(error))) from error
        if len(found) > 1:
            raise SettingsError(say("setting.policy.twice", origin=found[0].origin, other=found[1].origin))
        if not found:
            why = "; ".join(dict.fromkeys(missing))
            near = get_close_matches(name, self._names(), n=1)
            raise SettingsError(
                say("near.policy", why=why, near=near[0]) if near else say("setting.policy.none", why=why)
            )
        return found[0]

    def _names(self) -> list[str]:
        """Return the names of all documents."""
        return [name for source in self._sources for name in source.names()]

    def settled(self, name: str) -> Document:
        """Read the document again and again, and return it when two reads in a row gave the same text. The text is then
        complete, because nobody is writing it.

        Raises SettingsError.
        """
        found = self.read(name)
        for _ in range(_READS):
            if found.fixed:
                return found
            time.sleep(SETTLES_S)
            before, found = found, self.read(name)
            if found == before:
                return found
        raise SettingsError(say("setting.policy.changing", origin=found.origin))

    def load(self, document: Document) -> Policy:
        """Compile the document. Raises SettingsError with all its problems, each with its line."""
        from hitl.policy import PolicyInvalid, load

        form: Literal["yaml", "json"] = "json" if document.format == "json" else "yaml"
        try:
            return load(document.text, name=document.origin, format=form, paths=self._paths, resolver=self._resolver)
        except PolicyInvalid as error:
            raise SettingsError(say("setting.policy.problems", name=repr(document.name), problems=error)) from error


@dataclass(frozen=True, slots=True)
class Prepared:
    """A policy that was read and compiled for a reload. It applies after `Policies.take`."""

    library: Library
    name: str
    document: Document
    policy: Policy

    @property
    def digest(self) -> str:
        """The digest of the policy's document."""
        return self.policy.digest


class Policies:
    """Holds the policy that applies now, and returns it to the gate. Raises SettingsError at the start if the policy
    can't be used.
    """

    def __init__(self, library: Library, name: str) -> None:
        need_engine()
        self._library = library
        self._name = name
        self._document = library.settled(name)
        self._policy = library.load(self._document)
        self._seen: Document | str = self._document
        self._trouble = ""
        self._store: Calls | None = None
        self._watching: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        """The name of the policy in the settings."""
        return self._name

    def current(self) -> Policy:
        """Return the policy that applies now."""
        return self._policy

    def prepared(self, library: Library, name: str) -> Prepared:
        """Read and compile the policy for a reload, and apply nothing yet. Raises SettingsError."""
        document = library.settled(name)
        return Prepared(library, name, document, library.load(document))

    async def take(self, prepared: Prepared) -> None:
        """Apply a prepared policy. If its name or its document differs from the previous policy, record the change."""
        same = (prepared.name, prepared.document) == (self._name, self._document)
        self._library, self._name = prepared.library, prepared.name
        self._document, self._policy, self._trouble = prepared.document, prepared.policy, ""
        if not same:
            await self._record(Event.POLICY_LOADED)

    def troubles(self) -> Sequence[str]:
        """Return a list with the reason why the document's newest text doesn't apply. Return [] if it applies."""
        return [self._trouble] if self._trouble else []

    async def start(self, store: Calls) -> None:
        """Record which document applies, and begin to watch it for changes. Raises hitl.errors.Unavailable."""
        self._store = store
        await self._record(Event.POLICY_LOADED)
        self._watching = asyncio.create_task(self._watch())

    async def stop(self) -> None:
        """Stop watching the document for changes."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    async def reload(self) -> None:
        """Read the document now. If it has changed, apply it when two reads in a row have given the same text."""
        found = await self._look()
        for _ in range(_READS):
            await asyncio.sleep(SETTLES_S)
            before, found = found, await self._look()
            if found == before:
                await self._take(found)
                return

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            before, self._seen = self._seen, await self._look()
            if self._seen == before:
                await self._take(self._seen)

    async def _look(self) -> Document | str:
        """Read the document now. Return it, or the reason why it can't be read."""
        try:
            return await asyncio.to_thread(self._library.read, self._name)
        except SettingsError as error:
            return str(error)

    async def _take(self, found: Document | str) -> None:
        """Apply a document if it is new and has no problems. Otherwise store the reason for `troubles`."""
        if found == self._document:
            self._trouble = ""
            return
        if isinstance(found, str):
            await self._refuse(found)
            return
        try:
            policy = await asyncio.to_thread(self._library.load, found)
        except SettingsError as error:
            await self._refuse(str(error))
            return
        self._document, self._policy, self._trouble = found, policy, ""
        await self._record(Event.POLICY_LOADED)

    async def _refuse(self, why: str) -> None:
        if why != self._trouble:
            self._trouble = why
            await self._record(Event.POLICY_REFUSED, why=why[:500])

    async def _record(self, event: Event, **more: str) -> None:
        """Write an event to the service's own record and to the log.

        If the store fails, nothing is raised, because other parts of the service report a failing store.
        """
        told = {"name": self._name, "from": self._document.origin, "digest": self._policy.digest, **more}
        _log.log(40 if more else 20, f"policy.{event.removeprefix('policy_')}", told)
        if self._store is None:
            return
        with contextlib.suppress(Unavailable):
            await self._store.commit(adding(Change(entries=(Entry("", event, "service", told),))))


def need_engine() -> None:
    """Raise SettingsError if a package of the policy engine is missing. The error names the first missing package."""
    for module, package in _NEEDED.items():
        try:
            importlib.import_module(module)
        except ModuleNotFoundError as error:
            raise SettingsError(say("setting.policy.package", package=package)) from error
