"""The sentences that only Slack needs. `refusals` adds them to the catalogue (`hitl.cards.wording`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    # remedies for cards that can't be sent
    "remedy.slack.invite": "Invite the app there: /invite @sayso",
    "remedy.slack.archived": "Unarchive the channel, or name another one in routes",
    "remedy.slack.posting": "Let the app post there: the channel's posting permissions forbid it",
    "remedy.slack.scope": "Give the app the scopes that sayso doctor names, and install it again",
    "remedy.slack.token": "Install the app again, put its new bot token into place, and start the service again",
    "remedy.slack.admin": "Ask the workspace's administrators to let the app in",
    "remedy.slack.tab": "Switch on the Messages Tab in the app's settings (App Home)",
    "remedy.slack.gone": "Take them off the lists of approvers and requesters",
}
