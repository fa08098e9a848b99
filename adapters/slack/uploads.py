"""Uploads a text as a snippet, in the three steps that Slack's page "Working with files" describes.

The older method `files.upload` no longer exists. slack-sdk's `files_upload_v2` isn't used either, because it doesn't
give the file's id before the last step. The id must be known before the last step: Slack's answer to the last step
doesn't name the message that the step made, and that message may come back as an event before the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.slack.errors import check_status, explained, promised
from hitl.ports import PlatformError

if TYPE_CHECKING:
    from collections.abc import Callable

    from slack_sdk.web.async_client import AsyncWebClient

    from hitl.cards.card import File


async def share(
    client: AsyncWebClient, file: File, *, channel: str, thread: str, comment: str, begun: Callable[[str], None]
) -> None:
    """Post a file into a thread, with a comment above it. Raises PlatformError.

    `begun` is called with the file's id before Slack makes the message.
    """
    content = file.text.encode()
    async with explained():
        made = await client.files_getUploadURLExternal(filename=file.name, length=len(content), snippet_type="text")
        number = str(promised(made, "file_id"))
        await _send(client, str(promised(made, "upload_url")), content)
        begun(number)
        shared = await client.files_completeUploadExternal(
            files=[{"id": number, "title": file.name}], channel_id=channel, thread_ts=thread, initial_comment=comment
        )
        promised(shared, "files")


async def _send(client: AsyncWebClient, address: str, content: bytes) -> None:
    """Send the file's bytes to the address that Slack gave for them. The address needs no token."""
    if client.session is None:
        raise PlatformError("not connected", passing=True)
    async with client.session.post(address, data=content) as answer:
        check_status(answer.status)
