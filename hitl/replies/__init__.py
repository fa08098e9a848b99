"""What people's words and emoji mean for a card: approve, reject with a reason, or unclear.

A deliberately small reader: it knows whole messages, and `no` with a reason behind it. Whatever it doesn't
know whole is unclear, and the person is asked.
"""

from hitl.replies.reader import Reading, Verdict, read, verdict

__all__ = ["Reading", "Verdict", "read", "verdict"]
