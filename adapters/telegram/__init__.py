"""Telegram as a surface: cards, buttons, replies, reactions and commands through the Bot API."""

import os

# python-telegram-bot gives durations as `timedelta` to who asks so early, and warns all others at each 429.
os.environ.setdefault("PTB_TIMEDELTA", "1")
