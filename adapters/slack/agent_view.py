"""Shows people, in Slack's views for talking to an agent, what the agent does and what they can ask.

Slack has two such views. In the assistant view, a conversation is a thread that the person opens. In the agent view,
each message to the agent starts a thread.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from cachetools import FIFOCache

from adapters.slack.delivery import parsed
from adapters.slack.errors import explained
from adapters.slack.surface import is_person
from hitl.ports import PlatformError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.delivery import Delivery

_log = logging.getLogger(__name__)
_KNOWN = 10_000
#: Slack shows a thread's status for two minutes at most. An answer may take longer, so the status is set again after
#: this many seconds.
_STATUS_S = 60.0
#: Slack's refusal of a method for which the app has no scope.
_NO_SCOPE = "missing_scope"


class AgentView:
    """Sets the status, the suggested prompts and the title of people's conversations with the agent."""

    def __init__(self, client: AsyncWebClient, delivery: Delivery) -> None:
        self._client = client
        self._delivery = delivery
        #: Whether Slack has shown that the app has the agent view.
        self.present = False
        #: Thread -> the time when its status was last set.
        self._working: FIFOCache[str, float] = FIFOCache(_KNOWN)
        self._refusals: set[str] = set()

    async def show_status(self, route: str, status: str) -> None:
        """Show in a thread that the agent is preparing an answer, in the words of `status`. If `status` is '', remove
        the words that are shown.

        The Slack method is `assistant.threads.setStatus`. Outside threads, Slack shows no status.
        """
        _, place, thread = parsed(route)
        if not thread:
            return
        now = asyncio.get_running_loop().time()
        if status and now - self._working.get(route, -_STATUS_S) < _STATUS_S:
            return
        self._working[route] = now if status else -_STATUS_S
        channel = await self._delivery.channel(place)
        async with explained():
            await self._client.assistant_threads_setStatus(channel_id=channel, thread_ts=thread, status=status)

    async def suggest(self, route: str, title: str, prompts: Mapping[str, str]) -> None:
        """Show suggested prompts: in the assistant view below a thread, in the agent view on the Messages tab.

        Slack accepts prompts for the Messages tab only from an app with the agent view, so Slack's answer shows whether
        the app has that view.
        """
        _, place, thread = parsed(route)
        shown = [{"title": label, "message": words} for label, words in prompts.items()]
        taken = await self._in_view(
            place,
            lambda channel: self._client.assistant_threads_setSuggestedPrompts(
                channel_id=channel, thread_ts=thread, title=title, prompts=shown
            ),
        )
        self.present = self.present or (taken and not thread)

    async def entitle(self, route: str, title: str) -> None:
        """Give a thread of a direct conversation a title. Do nothing in other places, which have no title."""
        _, place, thread = parsed(route)
        if thread and is_person(place):
            await self._in_view(
                place,
                lambda channel: self._client.assistant_threads_setTitle(
                    channel_id=channel, thread_ts=thread, title=title
                ),
            )

    async def _in_view(self, place: str, method: Callable[[str], Awaitable[object]]) -> bool:
        """Call a Slack method of the assistant view or agent view with the channel of a place. Return whether Slack
        accepted the call.

        People can work without the view, so a refusal is logged once for each reason, and there is no retry. If the app
        lacks the scope for the view, Slack isn't asked again until the next start.
        """
        if _NO_SCOPE in self._refusals:
            return False
        try:
            async with explained():
                await method(await self._delivery.channel(place))
        except PlatformError as error:
            why = str(error)
            if why not in self._refusals:
                _log.log(logging.WARNING if why == _NO_SCOPE else logging.INFO, "slack.view_refused", {"why": why})
            self._refusals.add(why)
            return False
        return True
