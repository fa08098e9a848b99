"""What a terminal declares as a surface: one person, one place, and whatever is printed is seen at once."""

from __future__ import annotations

from hitl.platforms import Surface

#: The kind of identity that a user id of this machine is, and the place of an attached terminal.
LOCAL = "local"

SURFACE = Surface(name=LOCAL, title="Terminal", proves={LOCAL: ""}, help="offline.help", shows_outcomes=True)
