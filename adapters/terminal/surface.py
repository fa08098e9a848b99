"""Declares a terminal as a surface: it has one person and one place, and shows printed text immediately."""

from __future__ import annotations

from hitl.surfaces import Surface

#: The prefix of identities that are user ids of this machine, and the name of the place of an attached terminal.
LOCAL = "local"

SURFACE = Surface(name=LOCAL, title="Terminal", proves={LOCAL: ""}, help="offline.help", shows_outcomes=True)
