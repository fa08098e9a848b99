"""The sentences that only Slack needs. They join the catalogue (`hitl.cards.wording`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.cards.wording import IN_ENGLISH

if TYPE_CHECKING:
    from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    # errors of the settings
    "setting.slack.token": "Slack needs a bot token: set {variable}, or slack.bot_token_file.",
    "setting.slack.app_token": "Socket Mode needs an app token: set {variable}, or slack.app_token_file.",
    "setting.slack.secret": "Slack's requests need a signing secret: set slack.signing_secret_file",
    "setting.slack.address": "Requests by HTTP need the address at which Slack reaches this service: --url https://...",
    # checks of `sayso doctor`
    "doctor.slack.unreached": "{why}. Look whether {api} is within reach",
    "doctor.slack.token.refused": "Slack refuses it: {why}. Install the app again",
    "doctor.slack.token": "belongs to @{name} in {workspace} ({team})",
    "doctor.slack.scopes.file": "{scope} missing, so no whole request appears as a file below its card",
    "doctor.slack.scopes.view": "{scope} missing, so conversations with the agent have no suggested prompts and no titles",
    "doctor.slack.scopes.lacks": "{lacks}. Compare the app's settings with: sayso deploy slack --manifest, and install the app again",
    "doctor.slack.scopes.missing": "{scopes} missing; compare the app's settings with: sayso deploy slack --manifest, and install the app again",
    "doctor.slack.scopes": "all that are needed",
    "doctor.slack.socket.token": "Socket Mode needs an app token: name its file in slack.app_token_file",
    "doctor.slack.socket.none": "no connection by Socket Mode: {why}. Switch Socket Mode on, and give the app token connections:write",
    "doctor.slack.socket": "by Socket Mode, {count:connection|connections}",
    "doctor.slack.requests.secret": "requests need a signing secret: name its file in slack.signing_secret_file",
    "doctor.slack.requests.port": "by requests, but nothing listens for them: set http.port",
    "doctor.slack.requests": "by requests to {path} on port {port}",
    "doctor.slack.place": "isn't a place on Slack. Write slack:TEAM/CHANNEL or slack:TEAM/CHANNEL/THREAD",
    "doctor.slack.place.elsewhere": "is in another workspace than the app, which is in {team}. Name a place there, or take it out",
    "doctor.slack.place.unreached": "cards can't reach it: {why}. {remedy}",
    "doctor.slack.place.archived": "cards can't reach it: it is archived. Unarchive the channel, or take it out of the settings",
    "doctor.slack.place.outside": "cards and buttons work there; words and reactions don't. Invite the app: /invite @sayso",
    "doctor.slack.place.shared": "is shared with another organisation: its people read the cards too. Name another channel if they may not",
    "doctor.slack.place.works": "cards, buttons, words and reactions work there",
    "doctor.slack.approver.nobody": "isn't anybody on Slack. Write slack:TEAM/USER, as whoami says",
    "doctor.slack.approver.outside": "{found}; belongs to another workspace or organisation. Take them off the lists if nobody outside may approve",
    "doctor.slack.person.unknown": "isn't known there: {why}. Compare the id with what /sayso whoami says",
    "doctor.slack.person.gone": "has no account any more; take them off the lists",
    "doctor.slack.person.bot": "is a bot, and bots never decide; take it off the lists",
    "doctor.slack.person": "is @{name}, can be written to",
    "doctor.slack.emails.on": "people are known by address too: whoever runs the workspace's directory decides who they are. List people by id and set slack.emails = false, unless you trust that directory",
    "doctor.slack.emails.off": "addresses are listed, but slack.emails is off, so they are nobody. Set slack.emails = true, or list people by id",
    # why no events arrive
    "trouble.slack.none": "no connection to Slack yet",
    "trouble.slack.ended": "the connection ended, the next isn't up yet",
    "trouble.slack.refused": "Slack refuses a connection: {code}",
    "trouble.slack.other": "something else answers in Slack's place",
    "trouble.slack.failed": "something else answers in Slack's place: {error}",
    "trouble.slack.place": "{route} is no conversation of Slack's",
    # hints of `sayso doctor` about kinds of answers that have not arrived yet
    "answers.slack.button": "is Interactivity on?",
    "answers.slack.text": "is the app in the channel, and does it get message events?",
    "answers.slack.reaction": "does it get reaction_added events?",
    "answers.slack.command": "is /sayso among its commands?",
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
IN_ENGLISH.join(ENGLISH)
say = IN_ENGLISH.say
