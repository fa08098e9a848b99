"""`SettingsError`, which adapters also raise, under the name that the process uses."""

from __future__ import annotations

from hitl.errors import SettingsError

__all__ = ["SettingsError"]
