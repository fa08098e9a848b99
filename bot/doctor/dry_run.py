"""For `sayso doctor`: asks for one call, runs it and records it, in a state folder that is then deleted.

The run touches no chat, database or workspace of the installation. It shows that this machine can do every step: write
and sync a database, judge, decide, run a tool, and verify the audit record.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from adapters.agents.offline import TOOLS
from adapters.database.mark import Mark
from bot.compose import compose, mark_beside, policy_library
from bot.database import surveyed
from bot.policies import Policies
from bot.surfaces import surfaces
from bot.wording import say
from hitl.call import Ask, Reply, ReplyKind, Result, Runs, Verb
from hitl.cards.wording import sentence
from hitl.people import Directory

_ASKER, _APPROVER, _PLACE = "local:2", "local:1", "local"
_WITHIN_S = 10.0


async def dry_run(beside: Path) -> tuple[float, str]:
    """Make one call. Return the seconds that it took on the disk of the folder `beside`, and a sentence about a fault,
    or ''.

    Raises SaysoError, SettingsError or OSError if a step can't run at all.
    """
    people = Directory(approvers=(_APPROVER,), requesters=(_ASKER,), surfaces=surfaces())
    # The policy denies a tool access to any state folder, so the workspace isn't in the same temporary folder.
    with (
        tempfile.TemporaryDirectory(prefix=".sayso-dry-run-", dir=beside) as place,
        tempfile.TemporaryDirectory(prefix="sayso-dry-run-") as elsewhere,
    ):
        state, workspace = Path(place) / "state", Path(elsewhere) / "workspace"
        running = await compose(
            state=state,
            workspace=workspace,
            people=people,
            allow=["list_files"],
            policies=Policies(policy_library(()), "default"),
        )
        try:
            began = time.monotonic()
            ask = Ask(TOOLS, "list_files", {"path": "."}, _ASKER, _PLACE, Runs.SERVICE, must_ask=True)
            call = (await running.service.submit(ask)).call
            early = call.result
            await running.service.decide(
                Reply(_APPROVER, "local", _PLACE, ReplyKind.BUTTON, Verb.APPROVE, target=call.ref)
            )
            ended = await running.service.ended(call, _WITHIN_S)
            took = time.monotonic() - began
            marked = Mark(mark_beside(state), running.store.keys).read()
            with surveyed(state / "sayso.db") as survey:
                flaws = survey.examine(running.store.keys, marked).flaws
        finally:
            await running.close()
    if early is not None or ended.result is not Result.SUCCEEDED:
        error = ended.error or say("doctor.dry_run.no_error")
        return took, say("doctor.dry_run.ended", status=ended.status.value, error=error)
    return took, "; ".join(map(sentence, flaws))
