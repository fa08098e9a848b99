"""A terminal as a declared surface: one person in one place, who sees at once what is printed."""

from __future__ import annotations

from hitl.surfaces import Surface

#: The kind of identity that a user id of this machine is, and the place of an attached terminal.
LOCAL = "local"

SURFACE = Surface(name=LOCAL, title="Terminal", proves={LOCAL: ""}, help="offline.help", shows_outcomes=True)
