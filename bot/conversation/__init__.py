"""The conversation engine for all surfaces: it handles people's actions, and answers them."""

from __future__ import annotations

from bot.conversation.router import Router
from bot.conversation.stored import StoredTurns

__all__ = ["Router", "StoredTurns"]
