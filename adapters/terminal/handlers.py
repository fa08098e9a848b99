"""Lines typed at a terminal as neutral replies.

A key (`a`, `d`, `v`) counts only as a whole line: a single press can't, because refusals begin with the same
letters ("abort", "absolutely not"). A line that was begun before the card appeared never answers that card.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hitl.model import Kind, Reply, Verb

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hitl.model import Call

KEYS: Mapping[str, Verb] = {"a": Verb.APPROVE, "d": Verb.REJECT, "v": Verb.DETAILS}
#: What a key says where it can't be about the card shown last: words, read and questioned like any.
_IN_WORDS: Mapping[str, str] = {"a": "yes", "d": "no", "v": "details"}


@dataclass(slots=True)
class Desk:
    """What one terminal has shown, and when: enough to tell what a typed line can be about.

    `last` is the ref that the latest message of anyone but the person typing is about, None if it is about none.
    """

    identity: str
    conversation: str
    last: str | None = None
    shown: dict[str, datetime] = field(default_factory=dict)

    def showed_card(self, call: Call, at: datetime) -> None:
        """The card of a call is on the screen now."""
        self.shown[call.ref] = at
        self.last = call.ref

    def said(self, about: Call | None = None) -> None:
        """Something else was printed; `about` is the call it was about, if any."""
        self.last = about.ref if about else None

    def to_reply(self, line: str, *, begun_at: datetime, at: datetime, open_calls: list[Call]) -> Reply:
        """The reply that a line is, whatever it turns out to say."""
        in_time = self._in_time(begun_at)
        key = line.strip().casefold()
        verb = KEYS.get(key) if in_time and self._on_screen(open_calls) else None
        return Reply(
            identity=self.identity,
            surface="terminal",
            conversation=self.conversation,
            kind=Kind.BUTTON if verb else Kind.TEXT,
            verb=verb,
            text=_IN_WORDS.get(key, line) if open_calls else line,
            target=self.last if verb else None,
            follows=self.last if in_time else None,
            private=True,
            pressed_at=at,
        )

    def _in_time(self, begun_at: datetime) -> bool:
        shown_at = self.shown.get(self.last or "")
        return shown_at is None or begun_at >= shown_at

    def _on_screen(self, open_calls: list[Call]) -> bool:
        return any(call.ref == self.last for call in open_calls)
