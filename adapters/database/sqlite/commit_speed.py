"""Decides whether a commit may block the event loop. The decision depends on the disk's speed, which is measured."""

from __future__ import annotations

#: The weight of the latest measurement in a running mean.
_SHARE = 0.25
_FIRST_GUESS_S = 100e-6
#: While commits run on the worker thread, every 32nd commit runs on the event loop instead, to measure the disk. A
#: measurement on the thread would include the thread's wait for the interpreter's lock.
_PROBE = 32
#: Seconds: the commit of a group may block the event loop for at most this long. The limit is lower if handing work to
#: the worker thread and back takes less time (this time is measured).
GROUP_S = 250e-6
#: Seconds: the commit of a single unit may block the event loop for this long, because only other work on the loop
#: waits for it. Using the worker thread would take 250 us more.
ALONE_S = 1e-3
#: A group has at most this many new calls. A decision waits until the group before it is committed, and each new call
#: in that group adds about 150 us. With 100 calls in flight, a limit of 6 instead of 16 halves the wait of a decision
#: and costs 15 % of the throughput. If a commit takes longer than ALONE_S, the limit is 33, because smaller groups
#: would cost more throughput on such a slow disk.
NEW_CALLS, NEW_CALLS_SLOW = 6, 33


class Mean:
    """A running mean of seconds. No measurement counts for more than `most_s`."""

    def __init__(self, most_s: float) -> None:
        self.seconds = _FIRST_GUESS_S
        self._most_s = most_s

    def took(self, seconds: float) -> None:
        """Add a measurement to the mean."""
        self.seconds += _SHARE * (min(seconds, self._most_s) - self.seconds)


class Pace:
    """Chooses the event loop or the worker thread for each commit.

    The choice uses running means, because a single commit may be slow by chance.

    The writer commits one unit (one write) alone, or several units as a group (`writer.py`). One unit is committed on
    the loop if the commit probably takes less than ALONE_S. A group is committed on the loop if the commit probably
    takes less time than handing the group to the worker thread and back.
    """

    def __init__(self) -> None:
        #: The mean seconds for handing work to the worker thread and back, without the commit.
        self.way = Mean(GROUP_S)
        self._commits = {alone: Mean(2 * ALONE_S) for alone in (True, False)}
        self._since_probe = 0

    def on_loop(self, *, alone: bool) -> bool:
        """Return whether the next commit runs on the event loop.

        It does if the commit is probably quick, or if the disk's speed must be measured now.
        """
        quick = self._commits[alone].seconds < (ALONE_S if alone else self.way.seconds)
        self._since_probe = 0 if quick else (self._since_probe + 1) % _PROBE
        return self._since_probe == 0

    @property
    def new_calls(self) -> int:
        """The most new calls that a group may have."""
        return NEW_CALLS if self._commits[False].seconds < ALONE_S else NEW_CALLS_SLOW

    def took(self, seconds: float, *, alone: bool) -> None:
        """Add the seconds that a commit on the loop took. `alone` says that it had only one unit (one write)."""
        self._commits[alone].took(seconds)
