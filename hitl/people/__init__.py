"""Who is who (`directory`), and who may do what with a call (`access`)."""

from __future__ import annotations

from hitl.people.access import Access
from hitl.people.directory import (
    APPROVERS,
    CHAT_PLATFORMS,
    LOCAL,
    ORIGIN,
    SHARED_IDENTITIES,
    Conversation,
    Directory,
    belongs,
    channel_of,
    chat_of,
    is_chat,
)

__all__ = [
    "APPROVERS",
    "CHAT_PLATFORMS",
    "LOCAL",
    "ORIGIN",
    "SHARED_IDENTITIES",
    "Access",
    "Conversation",
    "Directory",
    "belongs",
    "channel_of",
    "chat_of",
    "is_chat",
]
