"""Slack's error codes for a card that can't be sent, and for each code a sentence with the remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: For each error code (chat.postMessage and conversations.open, "Errors"), the catalogue key of the sentence with the
#: remedy.
REMEDIES: Mapping[str, str] = {
    "channel_not_found": "remedy.slack.invite",
    "not_in_channel": "remedy.slack.invite",
    "is_archived": "remedy.slack.archived",
    "restricted_action": "remedy.slack.posting",
    "restricted_action_read_only_channel": "remedy.slack.posting",
    "restricted_action_thread_only_channel": "remedy.slack.posting",
    "restricted_action_non_threadable_channel": "remedy.slack.posting",
    "posting_to_general_channel_denied": "remedy.slack.posting",
    "missing_scope": "remedy.slack.scope",
    "no_permission": "remedy.slack.scope",
    "not_allowed_token_type": "remedy.slack.token",
    "account_inactive": "remedy.slack.token",
    "invalid_auth": "remedy.slack.token",
    "not_authed": "remedy.slack.token",
    "token_expired": "remedy.slack.token",
    "token_revoked": "remedy.slack.token",
    "access_denied": "remedy.slack.admin",
    "ekm_access_denied": "remedy.slack.admin",
    "org_login_required": "remedy.slack.admin",
    "team_access_not_granted": "remedy.slack.admin",
    "team_not_found": "remedy.slack.admin",
    "messages_tab_disabled": "remedy.slack.tab",
    "cannot_dm_bot": "remedy.slack.gone",
    "user_disabled": "remedy.slack.gone",
    "user_not_found": "remedy.slack.gone",
    "users_not_found": "remedy.slack.gone",
}
