"""`sayso demo`: an agent, cards and answers in one terminal. The parts are real; folders are temporary by default."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bot.compose import compose, policy_library
from bot.console import Console
from bot.policies import Policies
from bot.surfaces import PLATFORMS, surfaces
from hitl.call import Risk
from hitl.cards.languages import wording_of
from hitl.operating_mode import Terms
from hitl.people import Conversation, Directory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.compose import Running

CONVERSATION = "terminal:demo"
POLICY = "default"
_NOTES = "Buy milk.\nCall Ada about the release.\n"


class Demo:
    """One run of the demo. If `workspace` or `state` is None, a temporary folder is used and deleted at the end.

    A request stays pending for `timeout_s` seconds, or for the policy's timeout if `timeout_s` is None. `language` is
    the language of the cards and answers, such as `en`.
    """

    def __init__(
        self, *, workspace: Path | None, state: Path | None, timeout_s: int | None = None, language: str = "en"
    ) -> None:
        self._terms = Terms(timeout_s=timeout_s)
        self._language = language
        self._workspace = workspace
        self._state = state
        self._identity = f"local:{os.getuid()}"

    async def run(self, *, interactive: bool) -> None:
        """Run the conversation until the end of input, then withdraw the pending requests."""
        with self._folders() as (workspace, state):
            running = await compose(
                state=state,
                workspace=workspace,
                people=self._people(),
                policies=Policies(policy_library(()), POLICY),
                terms=self._terms,
                allow=["list_files", "read_file", "write_file", "delete_file", "delete_files", "bash"],
            )
            try:
                await running.service.start()
                await (self._talk(running) if interactive else self._pipe(running))
            finally:
                await running.close()

    @contextlib.contextmanager
    def _folders(self) -> Iterator[tuple[Path, Path]]:
        root = Path(tempfile.mkdtemp(prefix="sayso-demo-"))
        workspace = self._workspace or root / "workspace"
        if self._workspace is None:
            workspace.mkdir()
            (workspace / "notes.txt").write_text(_NOTES)
        try:
            yield workspace, self._state or root / "state"
        finally:
            shutil.rmtree(root, ignore_errors=True)

    def _people(self) -> Directory:
        """Return a directory with one person, who asks and approves.

        There is nobody else to approve, so this person may approve their own requests up to high risk.
        """
        me = (self._identity,)
        own = Conversation(CONVERSATION, self_approval=Risk.HIGH)
        return Directory(
            approvers=me,
            requesters=me,
            operators=me,
            conversations={CONVERSATION: own},
            language=self._language,
            surfaces=surfaces(),
        )

    async def _pipe(self, running: Running) -> None:
        console = Console(
            running.service,
            identity=self._identity,
            conversation=CONVERSATION,
            show=lambda text: print(text, flush=True),  # noqa: T201 - the demo's output
        )
        # Lines are read on a thread. So calls can expire while nobody types, and people see that immediately.
        while line := await asyncio.to_thread(sys.stdin.readline):
            await console.hear(line)
        await console.withdraw_all()

    async def _talk(self, running: Running) -> None:
        from bot.line_editor import Talk, tell

        say = wording_of(self._language).say
        tell(say("offline.welcome", help=say("offline.help")))
        await Talk(running.service, identity=self._identity, conversation=CONVERSATION).run()
        *others, last = (f"`sayso init {name}`" for name in PLATFORMS)
        commands = say("card.people.or", people=", ".join(others), person=last)
        tell(say("demo.next", commands=commands))
