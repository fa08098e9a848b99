"""Whether a commit may hold up the event loop: that depends on the disk, so it is measured."""

from __future__ import annotations

#: The share of the latest measurement in the running means.
_SHARE = 0.25
_FIRST_GUESS_S = 100e-6
#: While commits run on the thread, one in so many runs on the loop, to measure the disk: what the thread measures
#: is also its wait for the interpreter's lock.
_PROBE = 32
#: What waits for a group of several units waits for the loop too. No thread's way counts for more than this.
GROUP_S = 250e-6
#: A unit that is alone keeps nobody waiting but others on the loop, and those for no longer than this. Through the
#: thread it would take a quarter of a millisecond more.
ALONE_S = 1e-3
#: A decision waits for the group before its own. A new call takes about 150 us of a group's statements, so 16 of them
#: keep that wait short; where a commit takes longer than ALONE_S, groups so small would cost throughput.
NEW_CALLS, NEW_CALLS_SLOW = 16, 33


class Mean:
    """A running mean of seconds, in which no measurement counts for more than `most_s`."""

    def __init__(self, most_s: float) -> None:
        self.seconds = _FIRST_GUESS_S
        self._most_s = most_s

    def took(self, seconds: float) -> None:
        """One more measurement."""
        self.seconds += _SHARE * (min(seconds, self._most_s) - self.seconds)


class Pace:
    """Chooses the loop or the thread for each commit. One slow commit isn't a slow disk, so means decide.

    A unit alone is committed on the loop if that is expected to take less than ALONE_S; a group if that is expected
    to take less than the way to the thread and back.
    """

    def __init__(self) -> None:
        #: The way to the thread and back, without the commit.
        self.way = Mean(GROUP_S)
        self._commits = {alone: Mean(2 * ALONE_S) for alone in (True, False)}
        self._since_probe = 0

    def on_loop(self, *, alone: bool) -> bool:
        """Whether the next commit may run on the loop: it will be quick, or it is time to look whether it is."""
        quick = self._commits[alone].seconds < (ALONE_S if alone else self.way.seconds)
        self._since_probe = 0 if quick else (self._since_probe + 1) % _PROBE
        return self._since_probe == 0

    @property
    def new_calls(self) -> int:
        """How many new calls a group may hold."""
        return NEW_CALLS if self._commits[False].seconds < ALONE_S else NEW_CALLS_SLOW

    def took(self, seconds: float, *, alone: bool) -> None:
        """A commit on the loop took so long."""
        self._commits[alone].took(seconds)
