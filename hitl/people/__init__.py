"""Who is who (`directory`), and who may do what with a call (`access`)."""

from __future__ import annotations

from hitl.people.access import Access
from hitl.people.directory import APPROVERS, ORIGIN, Conversation, Directory

__all__ = ["APPROVERS", "ORIGIN", "Access", "Conversation", "Directory"]
