"""Slack's views for agents: the pane of older apps, and the Messages tab of new ones. Words there are private words."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING, cast

import pytest

from hitl.call import Risk, Status
from hitl.cards.wording import say
from hitl.people.directory import Conversation
from simulators.model import Reply
from simulators.slack import Refuse
from tests.canaries import TOKEN
from tests.scenarios.agent.stages import FINE, Planned, deleting, planned, until
from tests.sentences import says

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from hitl.call import Call
    from simulators.slack import Channel, Message
    from simulators.slack.state import Pane
    from tests.scenarios.slack.surface import Room, SlackStage

HELP, PENDING, WHOAMI = (say(f"model.prompt.{name}") for name in ("help", "pending", "whoami"))


class View:
    """Uma's and others' conversations with the app in one of the views."""

    def __init__(self, plan: Planned) -> None:
        self.plan = plan
        self.room = cast("Room", plan.stage.surface)
        self.server = self.room.server

    def direct(self, who: str = "uma") -> Channel:
        """A person's direct conversation with the app."""
        return self.server.platform.direct(
            frozenset({self.room.people[who].id, self.room.app.user_id}), self.room.home
        )[0]

    async def says(self, text: str, thread: Message | None = None) -> Message:
        """Uma writes in her conversation, and everything that comes of it is done."""
        said = await self.server.say(self.room.people["uma"], self.room.app, text, thread=thread)
        await self.over()
        return said

    async def over(self) -> None:
        """Until everything that was said is handled, and its turns are over."""
        await self.room.settle()
        await self.plan.idle()

    async def opens(self, who: str = "uma") -> Message:
        """Somebody opens a thread in the pane."""
        head = await self.server.open_pane(self.room.people[who])
        await self.room.settle()
        return head

    async def opens_tab(self, who: str = "uma") -> None:
        """Somebody opens the Messages tab."""
        await self.server.open_home(self.room.people[who], tab="messages")
        await self.room.settle()

    def written(self, thread: Message | None, who: str = "uma") -> list[str]:
        """What the app wrote in a thread below its head, or in the conversation itself."""
        ours = [one for one in self.room.posted(self.direct(who)) if one.ts != (thread.ts if thread else "")]
        return [one.shown.text for one in ours if one.thread_ts == (thread.ts if thread else "")]

    def calls(self, method: str) -> list[dict[str, object]]:
        """What Slack was asked to do by a method."""
        return [
            dict(call.params) for call in self.server.platform.calls if call.method == f"assistant.threads.{method}"
        ]


@contextlib.asynccontextmanager
async def view(pane: Pane) -> AsyncIterator[View]:
    """A stage whose app has this view."""
    async with planned("slack") as plan:
        found = View(plan)
        found.room.app.pane = pane
        plan.says(FINE)
        yield found


async def test_an_opened_pane_greets_and_suggests_what_fits_the_person() -> None:
    """A person can write in the pane only after the app's first message. Only a requester may speak to the agent."""
    async with view("assistant") as pane:
        for_uma, for_sam = await pane.opens("uma"), await pane.opens("sam")

        assert [say("model.help")] == pane.written(for_uma)
        assert [say("chat.help.sayso")] == pane.written(for_sam, "sam")
        assert {for_uma.ts: [HELP, PENDING, WHOAMI]} == {ts: [*shown] for ts, shown in pane.direct().prompts.items()}
        assert {for_sam.ts: [PENDING, WHOAMI]} == {ts: [*shown] for ts, shown in pane.direct("sam").prompts.items()}


async def test_looking_at_another_channel_beside_the_pane_changes_nothing() -> None:
    """The event is handled: nothing is written, and nothing is set aside as unknown."""
    async with view("assistant") as pane:
        head = await pane.opens()
        before = len(pane.server.platform.calls)
        await pane.server.look_beside(pane.room.people["uma"], head, pane.room.room)
        await pane.room.settle()

        assert before == len(pane.server.platform.calls)
        kept = pane.plan.stage.store._inbox.values()  # noqa: SLF001 - MemoryStore's
        assert [0] * len(kept) == [one.incoming.failures for one in kept]


async def test_the_first_words_name_the_thread_and_the_later_ones_dont() -> None:
    """The name is masked, because Slack lists it."""
    async with view("assistant") as pane:
        head = await pane.opens()
        await pane.says(f"rotate {TOKEN}", head)
        await pane.says("and now the rest", head)
        (title,) = pane.direct().titles.values()

        assert title.startswith("rotate ")
        assert TOKEN not in title
        assert [title] == [call["title"] for call in pane.calls("setTitle")]
        assert 2 == sum("All done." in text for text in pane.written(head))


async def test_a_suggested_prompt_is_a_command_or_words_to_the_agent() -> None:
    """A prompt sends a message, and Slack has no commands in threads: "/sayso pending" as a message is the command."""
    async with view("assistant") as pane:
        head = await pane.opens()
        call = await pane.plan.stage.ask()
        uma = pane.room.people["uma"]
        for title in (PENDING, WHOAMI, HELP):
            await pane.server.choose_prompt(uma, title, thread=head)
            await pane.over()
        pending, who = pane.room.whispers("uma")

        assert call.short in pending
        assert uma.id in who
        assert "All done." in pane.written(head)[-1]


async def test_new_as_a_command_in_words_is_about_the_thread_where_it_is_said() -> None:
    """The next words there begin anew; another thread's conversation goes on."""
    async with view("assistant") as pane:
        one, two = await pane.opens(), await pane.opens()
        for head in (one, two):
            await pane.says("clean up the staging branches", head)
        await pane.says("/sayso new", one)
        for head in (one, two):
            await pane.says("and the rest", head)

        assert [False, True] == [
            "clean up" in str(asked.words) for asked in pane.plan.server.asked if "and the rest" in str(asked.words)
        ]
        assert [say("model.forgotten")] == pane.written(one)[2:3]


async def test_slack_away_keeps_no_turn_from_its_answer() -> None:
    """Prompts and names are a convenience: an error that may pass is no reason to try again."""
    async with view("agent") as tab:
        await tab.opens_tab()
        for method in ("setSuggestedPrompts", "setTitle"):
            await tab.server.fail(f"assistant.threads.{method}", Refuse("internal_error"), times=99)
        await tab.opens_tab()
        said = await tab.says("hello")

        assert 1 == len(tab.written(said))
        assert [2, 1] == [len(tab.calls(method)) for method in ("setSuggestedPrompts", "setTitle")]


async def test_an_edited_command_in_words_carries_out_nothing() -> None:
    """The history of an edited message isn't known, so it decides nothing, as any edited message."""
    async with view("assistant") as pane:
        await self_approving(pane)
        head = await pane.opens()
        call, _ = await asked(pane, head)
        said = await pane.server.say(pane.room.people["uma"], pane.room.app, "hm", thread=head)
        await pane.server.edit(pane.room.people["uma"], said, f"/sayso approve {call.short}")
        await pane.room.settle()

        assert Status.PENDING == await pane.plan.stage.status(call)
        await pane.says("stop", head)


async def asked(pane: View, head: Message) -> tuple[Call, Message]:
    """The call that the model makes after Uma's words in the pane, and its card."""
    pane.plan.says(Reply(calls=deleting("staging-1")), FINE)
    await pane.server.say(pane.room.people["uma"], pane.room.app, "clean up", thread=head)

    async def carded() -> list[tuple[Call, Message]]:
        calls = await pane.plan.stage.store.pending()
        return [
            (call, one) for call in calls for one in pane.room.posted(pane.direct()) if call.short in one.shown.text
        ]

    return (await until(carded))[0]


async def self_approving(pane: View) -> None:
    """Uma may approve her own requests in her private conversation."""
    uma = pane.room.identities["uma"]
    approvers = tuple(pane.room.identities[who] for who in ("ann", "bob", "uma"))
    stage = cast("SlackStage", pane.plan.stage)
    await stage.again(approvers=approvers, conversations={uma: Conversation(uma, self_approval=Risk.HIGH)})


@pytest.mark.parametrize(("listed", "status"), [(True, Status.SUCCEEDED), (False, Status.PENDING)])
async def test_a_card_in_the_pane_is_decided_there_by_those_who_may(*, listed: bool, status: Status) -> None:
    """A bare yes right below the card counts, if the person may approve their own request."""
    async with view("assistant") as pane:
        if listed:
            await self_approving(pane)
        head = await pane.opens()
        call, card = await asked(pane, head)
        await pane.server.say(pane.room.people["uma"], pane.room.app, "yes", thread=head)
        await pane.room.settle()

        assert head.ts == card.thread_ts
        assert listed is (say("button.approve") in card.labels)
        assert status == await pane.plan.stage.status(call)
        await pane.says("stop", head)


async def test_the_messages_tab_suggests_without_a_message() -> None:
    """In the agent view people write first, so opening the tab again and again writes nothing."""
    async with view("agent") as tab:
        await tab.opens_tab()
        await tab.opens_tab()

        assert [] == tab.written(None)
        assert {"": [HELP, PENDING, WHOAMI]} == {ts: [*shown] for ts, shown in tab.direct().prompts.items()}


async def test_each_message_on_the_messages_tab_begins_a_thread_with_a_name_and_a_status() -> None:
    """In the agent view, a message heads a thread, and what is said in the thread goes on with the conversation."""
    async with view("agent") as tab:
        await tab.opens_tab()
        one = await tab.says("clean up the staging branches")
        two = await tab.says("what is on call?")
        await tab.says("and the rest", one)

        assert [2, 1, 0] == [len(tab.written(thread)) for thread in (one, two, None)]
        assert {one.ts: one.text, two.ts: two.text} == tab.direct().titles
        assert {one.ts, two.ts} == {call["thread_ts"] for call in tab.calls("setStatus")}
        assert ["clean up" in str(asked.words) for asked in tab.plan.server.asked] == [True, False, True]


async def test_a_yes_on_the_messages_tab_still_answers_the_card_there() -> None:
    """A message that answers a card begins no thread: words there are what words in a private conversation are."""
    async with view("agent") as tab:
        await tab.opens_tab("ann")
        tab.room.conversation = tab.room.identities["ann"]
        call = await tab.plan.stage.ask()
        await tab.server.say(tab.room.people["ann"], tab.room.app, "yes")
        await tab.room.settle()

        assert Status.SUCCEEDED == await tab.plan.stage.status(call)


async def test_an_app_without_a_view_answers_in_the_conversation_itself() -> None:
    """As before there was such a view."""
    async with view("") as plain:
        await plain.opens_tab()
        said = await plain.says("hello")

        assert [1, 0] == [len(plain.written(thread)) for thread in (None, said)]


async def test_without_the_scope_one_line_is_logged_and_all_else_works(caplog: pytest.LogCaptureFixture) -> None:
    """No prompts and no titles; the greeting, the turn and its answer are there. Slack isn't asked again and again."""
    async with view("assistant") as pane:
        await pane.server.revoke_scope("assistant:write")
        with caplog.at_level(logging.INFO):
            heads = [await pane.opens() for _ in range(3)]
            for head in heads:
                await pane.says("hello", head)

        assert [2, 2, 2] == [len(pane.written(head)) for head in heads]
        assert 1 == len(pane.calls("setSuggestedPrompts") + pane.calls("setTitle"))
        assert [{"why": "missing_scope"}] == [
            line.args for line in caplog.records if line.message.startswith("slack.view_refused")
        ]
        assert says(pane.written(heads[0])[0], "model.help")
