"""Telegram as a surface: cards, buttons, replies, reactions and commands through the Bot API."""

import os

# With this variable set, python-telegram-bot gives durations as `timedelta`. Without it, the library warns at each
# refusal with status 429.
os.environ.setdefault("PTB_TIMEDELTA", "1")
