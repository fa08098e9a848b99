"""What can't be set up, in a module that imports nothing: the demo has no settings, and reading them takes 0.1 s."""

from __future__ import annotations


class SettingsError(Exception):
    """The settings can't be used; the message says which file, which key, and what is wrong."""
