"""The one conversation engine: handles people's actions on every surface, and answers them."""

from __future__ import annotations

from bot.conversation.router import Router
from bot.conversation.stored import StoredTurns

__all__ = ["Router", "StoredTurns"]
