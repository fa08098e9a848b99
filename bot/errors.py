"""Gives `SettingsError`, which adapters also raise, the name that the code of the process uses."""

from __future__ import annotations

from hitl.errors import SettingsError

__all__ = ["SettingsError"]
