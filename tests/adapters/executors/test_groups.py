"""Each call goes to the executor of its tool group, and to no other."""

from __future__ import annotations

import pytest

from adapters.executors.arguments import Arguments, Declared
from adapters.executors.groups import Groups
from adapters.executors.registry import Context, Registry
from hitl.call import Preparation, Result
from hitl.errors import InvalidConfirmation
from tests.adapters.executors.conftest import a_lease, an_ask
from tests.sentences import raises, says


class Nothing(Arguments):
    """No argument."""


def registry(group: str) -> Registry:
    """One tool, `who`, that tells its group."""

    def who(_context: Context, _args: Nothing) -> str:
        """Tells its group."""
        return group

    made = Registry(group, None, name=group)
    made.register("who", who, Declared(Nothing), sentence=f"Asks {group}.")
    return made


ONE, OTHER = registry("one"), registry("other")
GROUPS = Groups({"one": ONE, "other": OTHER})


@pytest.mark.parametrize(("group", "executor"), [("one", ONE), ("other", OTHER)])
async def test_a_group_has_one_executor(group: str, executor: Registry) -> None:
    """It tells of the tool, prepares the call, says whether it still holds, and runs it."""
    ask = an_ask("who", group)
    lease = a_lease(executor, ask, Preparation(""))

    assert executor.info(group, "who") == GROUPS.info(group, "who")
    assert Preparation(f"Asks {group}.") == await GROUPS.prepare(ask)
    assert await GROUPS.still_holds(lease.call) is None
    assert group == (await GROUPS.run(lease, limit_s=5)).output


async def test_a_group_without_an_executor_has_no_tool() -> None:
    """No information, no preparation, no run, also for a call that was approved when there was one."""
    ask = an_ask("who", "gone")
    lease = a_lease(registry("gone"), ask, Preparation(""))
    ran = await GROUPS.run(lease, limit_s=5)

    assert GROUPS.info("gone", "who") is None
    with raises(InvalidConfirmation, "tool.unlisted", tool="who"):
        await GROUPS.prepare(ask)
    assert says(str(await GROUPS.still_holds(lease.call)), "tool.unlisted.now", tool="who")
    assert Result.REFUSED is ran.result
    assert says(str(ran.error), "tool.unlisted.run", tool="who")
