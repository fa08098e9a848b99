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

from simulators.common.lookup import ControlError
from simulators.slack.faults import DropAnswer, Garbage, Hang, Refuse, Reset
from simulators.slack.marks import Mark, Seen
from simulators.slack.platform import Attempt, Call, Delivery
from simulators.slack.server import SlackServer
from simulators.slack.sight import Button, Field, Shown
from simulators.slack.state import App, Channel, File, Message, Team, User, View

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
