"""People: their identities and groups (`directory`), and their rights on calls (`access`)."""

from __future__ import annotations

from hitl.people.access import Access
from hitl.people.directory import APPROVERS, ORIGIN, Conversation, Directory

__all__ = ["APPROVERS", "ORIGIN", "Access", "Conversation", "Directory"]
