"""Remembers the author of the latest message in each place. A yes that addresses nobody counts only if it can be an
answer to a card, and these authors show whether it can.

The memory holds Slack's time stamps, which order the messages of a channel. After a restart, or after a time in which
no events arrived, the latest author is unknown. The author becomes known again when Slack's own history has been read,
or when the bot writes in that place again.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cachetools import FIFOCache

from adapters.slack.surface import channel_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_PLACES = 10_000
_REMEMBERED = 50


@dataclass(slots=True)
class _Talk:
    ref: str | None = None
    ours: str = ""
    sure: bool = True
    others: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))


class Threads:
    """The latest messages in each place in which the bot wrote.

    If there are too many places, the places without a message for the longest time are dropped.
    """

    def __init__(self) -> None:
        self._talks: FIFOCache[str, _Talk] = FIFOCache(_PLACES)
        #: Id of each file that the bot sent -> the ref of the call that the file is about.
        self._files: FIFOCache[str, str] = FIFOCache(_PLACES)

    def wrote(self, place: str, ts: str, ref: str | None) -> None:
        """Record that the bot wrote in this place, about the call with this ref."""
        talk = self._talks.get(place) or _Talk()
        self._talks[place] = talk
        if ts >= talk.ours:
            talk.ref, talk.ours, talk.sure = ref, ts, True

    def shares(self, file: str, ref: str) -> None:
        """Record that the bot is now sending the file with this id, and the ref of the call that the file is about."""
        self._files[file] = ref

    def echoed(self, place: str, ts: str, files: Iterable[str] = ()) -> None:
        """Record a message of the bot that Slack sent back, with the ids of its files.

        If `shares` recorded one of these files, the message is about the file's call. For any other message, the call
        isn't known until Slack has answered and `wrote` records the call.
        """
        talk = self._talks.get(place)
        about = next((self._files[file] for file in files if file in self._files), None)
        if about is not None:
            self.wrote(place, ts, about)
        elif talk is not None and ts > talk.ours:
            talk.ref, talk.ours, talk.sure = None, ts, False

    def unsettle(self, channel: str) -> None:
        """Forget the calls that the bot's latest messages in a channel and its threads are about.

        An operator's listener may have written a later message there in the bot's name, perhaps visible to one person
        only. When the service itself writes in a place again, the call is known again.
        """
        for place, talk in self._talks.items():
            if channel_of(place) == channel:
                talk.ref = None

    def missed(self) -> None:
        """Mark the latest author in every place as unknown, because the bot may not have received all messages."""
        for talk in self._talks.values():
            talk.sure = False

    def heard(self, place: str, ts: str, author: str) -> None:
        """Record that somebody else wrote in this place."""
        if place in self._talks:
            self._talks[place].others.append((ts, author))

    def known(self, place: str) -> bool:
        """Return whether the bot wrote in this place recently."""
        return place in self._talks

    def is_sure(self, place: str) -> bool:
        """Return whether the bot has received every message in this place since its own latest message."""
        return self.known(place) and self._talks[place].sure

    def latest(self, place: str, ts: str) -> str | None:
        """Return the ref of the call that the bot's latest message before `ts` is about, or None.

        The result is also None in three cases:

        - The author of the message at `ts` is unknown.
        - The bot may have missed messages.
        - Somebody else wrote between the bot's message and the message at `ts`.
        """
        talk = self._talks.get(place)
        if talk is None or not talk.sure or not talk.ours < ts:
            return None
        author = next((who for at, who in talk.others if at == ts), None)
        between = [who for at, who in talk.others if talk.ours < at < ts]
        lost = len(talk.others) == _REMEMBERED and talk.others[0][0] > talk.ours
        return None if author is None or lost or set(between) - {author} else talk.ref
