"""Who wrote what, in what order, where we are spoken with: what an unaddressed yes may be an answer to.

Kept in memory, by Slack's time stamps, which order the messages of a channel. What isn't known for sure, as after a
restart or a time without events, counts as unknown: until Slack's own history is asked, or we write there again.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from cachetools import FIFOCache

from adapters.slack.surface import channel_of

_PLACES = 10_000
_REMEMBERED = 50


@dataclass(slots=True)
class _Talk:
    ref: str | None = None
    ours: str = ""
    sure: bool = True
    others: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))


class Threads:
    """The latest messages of the places where we wrote; those that were silent longest are forgotten."""

    def __init__(self) -> None:
        self._talks: FIFOCache[str, _Talk] = FIFOCache(_PLACES)

    def wrote(self, place: str, ts: str, ref: str | None) -> None:
        """We wrote there, about that call."""
        talk = self._talks.get(place) or _Talk()
        self._talks[place] = talk
        if ts >= talk.ours:
            talk.ref, talk.ours, talk.sure = ref, ts, True

    def echoed(self, place: str, ts: str) -> None:
        """We wrote there, as it seems: what about is known once the answer is here."""
        talk = self._talks.get(place)
        if talk is not None and ts > talk.ours:
            talk.ref, talk.ours, talk.sure = None, ts, False

    def unsettle(self, channel: str) -> None:
        """Somebody else may have written with our name in that channel or a thread of it, perhaps for one person alone.

        Our latest message there is about nothing then, until we write there again.
        """
        for place, talk in self._talks.items():
            if channel_of(place) == channel:
                talk.ref = None

    def missed(self) -> None:
        """Others may have written without our hearing of it."""
        for talk in self._talks.values():
            talk.sure = False

    def heard(self, place: str, ts: str, author: str) -> None:
        """Somebody else did."""
        if place in self._talks:
            self._talks[place].others.append((ts, author))

    def known(self, place: str) -> bool:
        """Whether we wrote there lately."""
        return place in self._talks

    def is_sure(self, place: str) -> bool:
        """Whether nothing was missed there since we wrote last."""
        return self.known(place) and self._talks[place].sure

    def latest(self, place: str, ts: str) -> str | None:
        """The ref that the latest message of anyone but its author is about, if ours is that; None if not known."""
        talk = self._talks.get(place)
        if talk is None or not talk.sure or not talk.ours < ts:
            return None
        author = next((who for at, who in talk.others if at == ts), None)
        between = [who for at, who in talk.others if talk.ours < at < ts]
        lost = len(talk.others) == _REMEMBERED and talk.others[0][0] > talk.ours
        return None if author is None or lost or set(between) - {author} else talk.ref
