"""A Slack of ours, with people to act as.

async with SlackServer() as slack:
app = await slack.app("Sayso", request_url="http://127.0.0.1:8080/slack/events")
ada = await slack.user("Ada")
ops = await slack.channel("ops", members=[ada, app])
await slack.mention(ada, ops, "deploy it")
card = await slack.wait_message(ops, button="Approve")
pressed = await slack.press(ada, card, "Approve")
assert (await slack.wait_delivery(pressed)).state == "delivered"
"""

from ..common.lookup import ControlError
from .faults import DropAnswer, Garbage, Hang, Refuse, Reset
from .marks import Mark, Seen
from .platform import Attempt, Call, Delivery
from .server import SlackServer
from .sight import Button, Field, Shown
from .state import App, Channel, File, Message, Team, User, View

__all__ = [
    "App",
    "Attempt",
    "Button",
    "Call",
    "Channel",
    "ControlError",
    "Delivery",
    "DropAnswer",
    "Field",
    "File",
    "Garbage",
    "Hang",
    "Mark",
    "Message",
    "Refuse",
    "Reset",
    "Seen",
    "Shown",
    "SlackServer",
    "Team",
    "User",
    "View",
]
