"""The methods of the views for agents: status, title and suggested prompts of a conversation with an app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulators.slack import errors, rooms
from simulators.slack.errors import ApiError, Json
from simulators.slack.shapes import ASSISTANT_HEAD

if TYPE_CHECKING:
    from simulators.slack.methods import Request
    from simulators.slack.state import Channel

MOST_PROMPTS: Final = 4


def set_status(request: Request) -> Json:
    """Show below a thread what the app does, or no more (''); the app's next message in the thread ends it, too."""
    channel = rooms.writable(request.platform, request.app, request.params.required("channel_id"))
    if not channel.thread(request.params.required("thread_ts")):
        raise ApiError(errors.THREAD_NOT_FOUND)
    request.params.text("status")
    return {}


def set_title(request: Request) -> Json:
    """Name a thread of a direct conversation; the head of an assistant thread then says the name."""
    channel, thread = _thread(request), request.params.required("thread_ts")
    channel.titles[thread] = request.params.required("title")
    head = channel.messages.get(thread)
    if head is not None and head.subtype == ASSISTANT_HEAD:
        request.platform.revise(head, request.app.user_id, channel.titles[thread], ())
    request.platform.touch()
    return {}


def set_suggested_prompts(request: Request) -> Json:
    """Show up to four prompts: in a thread of the assistant view, or in the conversation of the agent view.

    With a thread, an app with the agent view is told that all is well, and nobody sees anything.
    """
    shown = _prompts(request)
    if request.params.has("thread_ts"):
        channel = _thread(request)
        if request.app.pane == "agent":
            return {}
    else:
        channel = rooms.writable(request.platform, request.app, request.params.required("channel_id"))
        if request.app.pane != "agent":
            raise ApiError(errors.NOT_AGENT_APP)
    channel.prompts[request.params.text("thread_ts")] = shown
    request.platform.touch()
    return {}


def _thread(request: Request) -> Channel:
    """Return the direct conversation that has the named thread."""
    channel = rooms.writable(request.platform, request.app, request.params.required("channel_id"))
    if channel.kind != "im" or not channel.thread(request.params.required("thread_ts")):
        raise ApiError(errors.INVALID_THREAD_TS)
    return channel


def _prompts(request: Request) -> dict[str, str]:
    given: Any = request.params.parsed("prompts", errors.INVALID_JSON)
    fits = isinstance(given, list) and 0 < len(given) <= MOST_PROMPTS
    if not fits or not all(isinstance(one, dict) and one.get("title") and one.get("message") for one in given):
        raise ApiError(errors.invalid_arguments(["prompts: one to four objects with title and message"]))
    return {str(one["title"]): str(one["message"]) for one in given}
