"""The sentences that only Telegram needs. They join the catalogue (`hitl.cards.wording`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.cards.wording import IN_ENGLISH

if TYPE_CHECKING:
    from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    # errors of the settings
    "setting.telegram.token": "Telegram needs a token: set {variable}, or telegram.token_file.",
    "setting.telegram.secret": "a webhook needs a secret: set telegram.webhook_secret",
    "setting.telegram.webhook.url": "A webhook needs telegram.webhook_url, the https address under which Telegram reaches this service.",
    "setting.telegram.webhook.secret": "A webhook needs a secret: name its file in {setting}.",
    # checks of `sayso doctor`
    "doctor.telegram.unreached": "{why}. Look whether {api} is within reach",
    "doctor.telegram.token": "belongs to @{name}",
    "doctor.telegram.privacy.off": "off: the bot reads everything in its groups, more than it needs. Turn it on with BotFather's /setprivacy",
    "doctor.telegram.privacy": "on: in groups it reads commands, mentions and replies to its own messages, which is all that it needs",
    "doctor.telegram.polling": "by polling; {count:update waits|updates wait}",
    "doctor.telegram.polling.webhook": "by polling, but a webhook ({url}) takes the updates; run: sayso deploy telegram",
    "doctor.telegram.webhook.missing": "{why} Set it in sayso.toml",
    "doctor.telegram.webhook.port": "by webhook, but nothing listens for it: set http.port",
    "doctor.telegram.webhook.none": "the webhook is not set, and must be {url}; run: sayso deploy telegram",
    "doctor.telegram.webhook.other": "the webhook is {found}, not {url}; run: sayso deploy telegram",
    "doctor.telegram.webhook.updates": "the webhook takes other updates than are read; run: sayso deploy telegram",
    "doctor.telegram.webhook.failed": "by webhook; {count:update waits|updates wait}, and the last call that failed was at {at} UTC: {why}. If it is newer than your last change, look at the proxy before the service; else run: sayso deploy telegram",
    "doctor.telegram.webhook": "by webhook; {count:update waits|updates wait}",
    "doctor.telegram.place": "isn't a chat of Telegram. Write telegram:ID or telegram:ID/TOPIC",
    "doctor.telegram.place.muted": "cards can't reach it: the bot may not write there. Let it send messages, in the group's permissions",
    "doctor.telegram.place.moved": "became {name}; {found}",
    "doctor.telegram.place.unreached": "cards can't reach it: {why}. {remedy}",
    "doctor.telegram.reactions.rights": "cards reach it; reactions count only if the bot is an administrator. Make it one, with no rights",
    "doctor.telegram.reactions.none": "cards reach it; its settings offer no reaction that says yes. Allow 👍 in the group's settings",
    "doctor.telegram.reactions": "cards and reactions work there",
    "doctor.telegram.approver.nobody": "isn't anybody on Telegram. Write telegram:NUMBER, as /whoami says",
    "doctor.telegram.approver.unreached": "approver, but not in private: {why}. They must send the bot /start there",
    "doctor.telegram.approver": "approver, can be written to in private",
    # hints of `sayso doctor` about kinds of answers that have not arrived yet
    "answers.telegram.button": "press one",
    "answers.telegram.text": "reply to a card",
    "answers.telegram.reaction": "the bot must be an administrator",
    "answers.telegram.command": "send /approve REF",
    # lines of `sayso deploy telegram`, which sets the bot up
    "deploy.telegram.token": "token: belongs to @{name}",
    "deploy.telegram.webhook": "webhook: {url}, with a secret and just the updates that are read",
    "deploy.telegram.polling": "webhook: none, so polling works",
    "deploy.telegram.polling.now": "webhook: removed, so polling works; waiting updates are kept",
    "deploy.telegram.commands": "commands ({language})",
    "deploy.telegram.descriptions": "descriptions ({language})",
    "deploy.telegram.right": "{what}: right already",
    "deploy.telegram.none": "{what}: none",
    "deploy.telegram.set": "{what}: set",
    "deploy.telegram.removed": "{what}: removed",
    # why no updates arrive
    "trouble.telegram.silent": "no answer from Telegram yet",
    "trouble.telegram.rival": "another poller or a webhook takes the updates: {why}",
    "trouble.telegram.other": "something else answers in Telegram's place: {error}",
    "trouble.telegram.pause": "Telegram asks for a pause",
    "trouble.telegram.strange": "something else answers in Telegram's place",
    "trouble.telegram.token": "Telegram doesn't know the token: compare it with what BotFather says",
    "trouble.telegram.none": "no answer from Telegram ({error})",
    "trouble.telegram.refused": "Telegram gives no updates ({why}). {remedy}",
    # remedies for cards that can't be sent
    "remedy.telegram.member": "Add the bot to that chat again",
    "remedy.telegram.chat": "Compare the number with what /whoami says in that chat, or take the place out of routes",
    "remedy.telegram.rights": "Let the bot send messages there: the chat's permissions, or its administrators, forbid it",
    "remedy.telegram.topic": "Reopen the topic, or name another one in routes",
    "remedy.telegram.blocked": "Let them open the bot's chat and send /start",
    "remedy.telegram.gone": "Take them off the lists of approvers and requesters",
    "remedy.telegram.token": "Compare the token with what BotFather says, and start the service again",
}
IN_ENGLISH.join(ENGLISH)
say = IN_ENGLISH.say
