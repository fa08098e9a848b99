"""The one conversation engine: what people do on any surface, and what they hear of it."""

from __future__ import annotations

from bot.conversation.router import Router
from bot.conversation.stored import StoredTurns

__all__ = ["Router", "StoredTurns"]
