"""A Telegram Bot API server of ours, with people to act as.

async with TelegramServer() as telegram:
bot = await telegram.bot()
alice = await telegram.user("Alice")
await telegram.say(alice, bot, "/start")
card = await telegram.wait_message(alice, button="Approve")
query = await telegram.press(alice, card, "Approve")
assert (await telegram.wait_answer(query)).text == "Approved"
"""

from simulators.common.lookup import ControlError
from simulators.telegram.faults import DropAnswer, Garbage, Hang, Refuse, Reset
from simulators.telegram.platform import Answer, Call, Query
from simulators.telegram.server import TelegramServer
from simulators.telegram.state import Bot, Chat, Message, Topic, User

__all__ = [
    "Answer",
    "Bot",
    "Call",
    "Chat",
    "ControlError",
    "DropAnswer",
    "Garbage",
    "Hang",
    "Message",
    "Query",
    "Refuse",
    "Reset",
    "TelegramServer",
    "Topic",
    "User",
]
