"""Every sentence that people and agents read, in one catalogue, so that it can be translated whole.

`sentence` puts a fact of the core into words; `say(key, **facts)` fills any other. What is filled in is visible, masked
text already. Templates are `str.format` ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.model import Risk
from hitl.outcomes import Fact

if TYPE_CHECKING:
    from collections.abc import Mapping

SIGNS: Mapping[Risk, str] = {Risk.CRITICAL: "🔴", Risk.HIGH: "🟠", Risk.MEDIUM: "🟡", Risk.LOW: "🟢"}

ENGLISH: Mapping[str, str] = {
    # why a call has its risk
    "why.floor": "It isn't confined, so it can reach more than it names.",
    "why.policy_error": "The policy can't be evaluated, so nothing is allowed.",
    "why.no_tool": "No tool of that name may run here.",
    "why.off": "No policy is asked: the mode is off.",
    "why.must_ask": "It was asked for as one that a person decides.",
    # the card
    "card.title": "{sign} {risk} risk: {tool}",
    "card.does.fallback": "Runs {tool} with {count} arguments.",
    "card.does.command": "Runs a command on the caller's machine.",
    "card.who": "asked by {requester}",
    "card.who.agent": "asked by {requester} through {agent}",
    "card.note": "the agent says: {note}",
    "card.ends": "ends {time}; silence means no",
    "card.refreshed": "Still waiting. If you pressed while the service was away, press again.",
    "card.hidden": "⚠ holds {count} hidden characters, written out as \\u{{...}}",
    "card.cut": "⚠ {count} characters are not shown; open the details before you say yes",
    "card.same": "the same call waits as {short} already",
    "card.again": "asked again after {short}",
    "card.programs": "programs: {programs}",
    "card.left_out": "… {count} characters left out …",
    "card.lines_left_out": "… {count} lines left out …",
    "card.marks_left_out": "[+{count} marks]",
    "card.mark": "digest {mark}",
    "card.stage": "stage {stage}, mode {mode}",
    "card.mode": "mode {mode}",
    "card.warning": "⚠ {note}",
    "card.how": "answer yes, or no because REASON",
    "card.how.buttons": "use the buttons, or /sayso approve {short}: I am not in this channel, so words don't reach me",
    "card.how.critical": "critical: answer yes {short} or no {short}; buttons ask twice",
    "card.how.reason": "answer approve {short} because REASON, or no because REASON",
    # the details
    "details.tool": "tool: {tools}/{tool}",
    "details.does": "does: {sentence}",
    "details.digest": "digest: {digest}",
    "details.why": "why: {why} ({rule})",
    "details.approvers": "approvers: {approvers}",
    "details.folder": "folder: {folder}",
    # the terminal's bottom line
    "terminal.left": " ⏳ {left} left for {short}   {keys} ",
    "terminal.left.more": " ⏳ {left} left for {short}  and {count} more   {keys} ",
    "terminal.keys": "a ⏎ approve   d ⏎ deny   v ⏎ view   or in words: yes, no because REASON",
    "terminal.keys.short": "a ⏎ approve   d ⏎ deny   v ⏎ view",
    # buttons and signs on chat platforms
    "button.approve": "✅ Approve",
    "button.reject": "❌ Reject",
    "button.details": "🔎 Details",
    "sign.done": "✅",
    "sign.over": "⛔",
    "card.spare": "{short}: this is a second copy of the card. The other one here counts.",
    # outcomes, for people
    "outcome.pending": "waiting for an answer",
    "outcome.allowed": "allowed by the policy",
    "outcome.denied": "denied by the policy: {why}",
    "outcome.approved": "approved by {by}",
    "outcome.running": "approved by {by}, running",
    "outcome.rejected": "rejected by {by}",
    "outcome.rejected.reason": "rejected by {by}: {reason}",
    "outcome.expired": "expired: nobody answered in time",
    "outcome.expired.unseen": "expired: nobody saw it",
    "outcome.withdrawn": "withdrawn by {by}",
    "outcome.undeliverable": "nobody could be asked: {why}",
    "outcome.succeeded": "done, approved by {by}",
    "outcome.failed": "approved by {by}, but it failed: {error}",
    "outcome.timed_out": "approved by {by}, stopped at its time limit; what it had done by then stays done",
    "outcome.released": "approved by {by} and handed to the caller",
    "outcome.refused": "approved by {by}, but not run: {error}",
    "outcome.lapsed": "approved by {by}, but nobody ran it in time",
    "outcome.by_policy": "the policy",
    "outcome.unknown": "approved by {by}; whether it ran is not known. It is not tried again: look before you ask anew",
    # answers to a reply
    "answer.approved": "{short} approved.",
    "answer.approved.late_hold": "{short} was approved, but not run: {error}",
    "answer.counted": "{short}: your yes counts. So many more people must approve: {missing}.",
    "answer.rejected": "{short} rejected.",
    "answer.rejected.reason": "{short} rejected: {reason}",
    "answer.details": "{short} in full:",
    "answer.confirm": "{short} is critical: say so again within 60 seconds{how}.",
    "answer.confirm.raised": "The rules are stricter than when {short} was asked: it counts as {risk} now. Say so again within 60 seconds{how}.",
    "answer.confirm.soon": "{short}: that was too quick to be a second thought. Say so again within 60 seconds{how}.",
    "answer.confirm.api": ", with --confirm {short}",
    "answer.reason_needed": "{short} is approved only with a reason: approve {short} because REASON.",
    "answer.details_needed": "{short} is too long for its card: open the details first, then answer.",
    "answer.name_it": "{short} is critical: name it, yes {short} or no {short}.",
    "answer.no_reaction": "{short} is critical and can't be decided by a reaction.",
    "answer.unclear": "{short}: I couldn't tell whether that is a yes or a no ({why}). Nothing was decided. Answer yes, or no because REASON.",
    "answer.unclear.other": "I couldn't tell whether that is a yes or a no ({why}). Nothing was decided.",
    "answer.all": "{count} calls wait, each to be answered by its name:\n{calls}",
    "answer.all.line": "yes {short}, or no {short}: {sentence}",
    "answer.which": "Several calls wait. Name one: {shorts}.",
    "answer.point": "Nothing was decided: reply to the card, or name it: yes {short}.",
    "answer.two_targets": "That names another request than {target}, which it replies to. Nothing was decided.",
    "answer.denied_now": "The policy denies {short} by now: {why}. It was not run.",
    "answer.no_words": "{short}: that holds no words. Say why in some.",
    "answer.reason_added": "{short}: the reason is on record.",
    "answer.why_rejected": "✍️ {short} is rejected. Reply to this message to say why (60 seconds).",
    "answer.why_approved": "✍️ {short} is approved only with a reason. Reply to this message with it.",
    # commands in chats
    "chat.help": (
        "I run nothing that can't be undone without your say-so.\n"
        "/pending: what waits\n/show REF: one call whole\n/approve REF\n/reject REF REASON\n"
        "/cancel REF: take back what you asked\n/status: how I am\n/whoami: your id for the configuration\n"
        "Or answer a card: press, reply yes, or reply no because REASON."
    ),
    "chat.whoami": "You are {identity} here, known to me as {principal}.",
    "chat.pending": "{short} {risk}: {sentence}",
    "chat.pending.none": "Nothing waits for you here.",
    "chat.status": "I am up. {count} calls wait here.",
    "chat.usage": "{command} needs the six characters of a call, as on its card.",
    "chat.withdrawn": "{short} is withdrawn.",
    "chat.forged": "That button isn't one of mine for this chat. Nothing was decided.",
    "chat.bot": "Bots can't decide. Nothing was decided.",
    "chat.anonymous": "You are anonymous here, so I can't tell who you are. Answer as yourself. Nothing was decided.",
    "chat.channel": "Posts in a channel's name don't decide. Nothing was decided.",
    "chat.edited": "An edited message decides nothing. Send a new one.",
    "chat.forwarded": "A forwarded message decides nothing. Nothing was decided.",
    "chat.not_shown": "I can't show {short} whole here, so it doesn't count as looked at. At a terminal: sayso show {short}",
    "chat.unchecked": "I can't look up here who you are, and so that decides nothing. The buttons do.",
    "chat.stranger": "You are from elsewhere, and I can't tell from where. Nothing was decided.",
    "chat.broadcast": "A message that goes to the channel too decides nothing. Answer in the thread alone.",
    # the same where commands have one name in front, and in windows
    "chat.help.sayso": (
        "I run nothing that can't be undone without your say-so.\n"
        "/sayso pending: what waits\n/sayso show REF: one call whole\n/sayso approve REF\n/sayso reject REF REASON\n"
        "/sayso withdraw REF: take back what you asked\n/sayso status: how I am\n"
        "/sayso whoami: your id for the configuration\n"
        "Or answer a card: press, or write yes, or no because REASON, in its thread."
    ),
    "window.why.reject": "{short} is rejected. Why? (60 seconds; close this to leave it at that)",
    "window.why.approve": "{short} is approved only with a reason. Why?",
    "window.why.reject.by_command": "{short} is rejected. To say why, within 60 seconds: /sayso reject {short} REASON",
    "window.why.approve.by_command": "{short} is approved only with a reason: /sayso approve {short} REASON",
    "window.title.why": "Why?",
    "window.title.details": "Details",
    "window.send": "Send",
    "window.close": "Close",
    "window.page": "page {page} of {pages}",
    "window.page.before": "◀ Back",
    "window.page.next": "More ▶",
    "card.empty": "(empty)",
    # refusals
    "refused.unknown": "There is no call {short}. Nothing was decided.",
    "refused.unknown.name": "There is no call of that name. Nothing was decided.",
    "refused.unknown.none": "Nothing waits for an answer.",
    "refused.place": "{short} is not asked about here. Nothing was decided.",
    "refused.stranger": "{who} is not on the list of those who may decide {short}. Nothing was decided.",
    "refused.own": "You asked for {short} yourself, so somebody else must approve it.",
    "refused.agent": "An agent's credential can't decide. Nothing was decided.",
    "refused.token": "A bearer token can't approve {short} at this risk. Approve it in a chat, or name the token in http.tokens.",
    "refused.scope": "The scope of {who} doesn't allow this. Nothing was done.",
    "refused.origin": "{who} isn't bound to the conversation {place}, so it can't ask from there. Nothing was asked.",
    "refused.route": "{who} isn't bound to the route {place}, so no card can go there. Nothing was asked.",
    "refused.behalf": "{who} doesn't ask on behalf of {person}. Nothing was asked.",
    "refused.changed": "{short} has another digest than the one that you named. Nothing was done; look at the call again.",
    "refused.waiting": "{who} has {count} requests waiting already. Nothing was changed; ask again when some are answered.",
    "refused.confirm": "The confirmation names another call than {short}. Nothing was decided.",
    "refused.not_pending": "{short} isn't pending any more.",
    "refused.again": "The same request was rejected {seconds} seconds ago ({short}). It was not asked again. Do something else, or ask the person.",
    "refused.decided": "{short} was decided already: {outcome}.",
    "refused.expired": "{short} is over: time was up at {time} UTC. Nothing ran.",
    "refused.policy": "The policy can't be evaluated ({why}), so nothing can be approved now. {short} stays open.",
    "refused.peer": "{who} stands on no list of this service: add it to requesters, approvers or operators. Nothing was done.",
    "refused.peer.kept": "A command that this service runs can't ask it or answer it. Nothing was done.",
    "refused.requester": "{who} is not on the list of those who may ask here. Nothing was asked.",
    "refused.pending": "{who} has {count} calls waiting already. Nothing was recorded; ask again when some are decided.",
    "refused.flood": "{who} asked {count} times within {minutes} minutes. Nothing was recorded; ask again in {wait} seconds.",
    "refused.key": "The key {name} was used for another call, {short}. Use a new key for a new call.",
    "refused.withdraw": "Only the one who asked, or an operator, can withdraw {short}.",
    "refused.claim": "{short} can't be claimed: it is {status}.",
    "refused.claimed": "{short} was handed to another claimant already.",
    "refused.finish": "{short} isn't yours to report on.",
    "refused.reason_late": "A reason can be added for 60 seconds, by the one who rejected. {short} stays as it is.",
    "refused.size": "The arguments take {size:,} bytes; at most {most:,} are taken. Nothing was recorded; put what is large in a file and name it.",
    "refused.timeout": "A time limit lies between 5 seconds and 7 days; {given} seconds doesn't.",
    "refused.button": "That button isn't one of ours. Nothing was decided.",
    # why something wasn't run
    "unfit.row": "its stored row doesn't carry its seal",
    "unfit.decision": "its stored decision doesn't carry its seal",
    "unfit.votes": "its stored votes don't carry their seals",
    "unfit.approvers": "whoever approved it may not approve it any more",
    "unfit.policy": "the policy denies it by now: {why}",
    "unfit.policy_asks": "the policy asks a person by now: {why}",
    "unfit.late": "the time to claim it is over",
    "unfit.policy_error": "the policy can't be evaluated by now",
    "unfit.tool": "the tool may not run here any more, or is another one than was shown",
    "unfit.nobody": "nobody may approve it",
    "unfit.nowhere": "no surface can show it",
    "flaw.row": "{short}: the request isn't as it was sealed when it was asked.",
    "flaw.decision": "{short}: the decision isn't as it was sealed.",
    "flaw.claim": "{short}: the claim isn't as it was sealed.",
    "flaw.result": "{short}: the result isn't as it was sealed.",
    "flaw.votes": "{short}: its votes aren't as they were sealed, or one is missing.",
    "flaw.line": "{short}: line {seq} of its record isn't what was written there, or a line before it is missing.",
    "flaw.plain": "Line {position} of the record has a plain hash, which this version never wrote.",
    "flaw.unrecorded": "{short}: its row and its record tell different things.",
    "flaw.no_call": "The record tells of the request {ref}, and there is none.",
    "flaw.gap": "The lines {first} to {last} of the record were removed.",
    "flaw.cut": "The mark knows line {mark} of the record. It isn't there, or it is another one. The last line is {last}.",
    "flaw.summary": "The first {lines} lines of the record aren't what they were when they were sealed.",
    "flaw.event": "The event {id} of {source} isn't as it came.",
    "flaw.card": "The card of {ref} on {route} isn't the message that was posted there.",
    "flaw.prompt": "What was left open with {who} about {ref} isn't as it was.",
    "flaw.message": "The message {message} was not bound to {ref}.",
    "flaw.move": "No platform told that it moved the conversation {old} to {new}.",
    "flaw.talk": "The latest message in {place} isn't the one that was kept.",
    "audit.whole": "{lines} lines and {calls} requests are as they were written.",
    "audit.blind": "Lines that were cut off at the end since the mark was written can't be seen.",
    "audit.unmarked": "There is no mark: lines that were cut off at the end can't be seen.",
    "audit.none": "No line of the record is like that.",
    "audit.line": "{at} UTC  {short:<6}  {event} {risk} {tool}  {who}{reason}",
    "audit.flawed": "Not as it was written: {shorts}. Run: sayso audit verify",
    "stats.line": "{requests} requests; decided: {decisions}; ended: {results}",
    "stats.times": "; to a decision: half within {p50} s, 95 % within {p95} s",
    "stats.hasty": "; approved within 2 s: {hasty}",
    "stats.by_tool": "By tool",
    "stats.by_rule": "By rule",
    "stats.by_requester": "By requester",
    "stats.by_approver": "By approver",
    "backup.made": "{file}: {lines} lines and {calls} requests, as they were written. The keys aren't in it.",
    "backup.restored": "Restored from {file}: {lines} lines and {calls} requests, as they were written.",
    "backup.kept": "The database that was there is now {kept}.",
    "backup.behind": "The record had gone on since. The next start ends the {open} open requests; none of them will run.",
    "backup.level": "Nothing was allowed to run since. {open} open requests go on at the next start.",
    "backtest.judged": "{judged} requests judged by both policies; {shifted} get another answer.",
    "backtest.shift": "  {count}: {before} -> {after} (rule {rule}); decided then: {decided}; such as {examples}",
    "suggest.none": "Nothing was approved {least} times in the same way and never ended otherwise.",
    "show.flawed": "Don't trust what follows.",
    "unfit.older": "the database is older than what was last allowed to run",
    "unfit.surfaces": "every surface refused its card",
    "unfit.unseen": "nobody saw it",
    "unfit.changed": "{why}",
    # what an agent is told
    "agent.succeeded": "{short} was {how} and ran.",
    "agent.denied": "{short} is denied by the policy: {why}. It was not run.",
    "agent.rejected": "{short} was rejected. It was not run.",
    "agent.rejected.asked": "{short} was rejected. It was not run. A reason may follow within 60 seconds.",
    "agent.rejected.no_reason": "{short} was rejected, and no reason was given. It was not run.",
    "agent.rejected.reason": "{short} was rejected, reason: {reason}. It was not run.",
    "agent.expired": "{short} expired: nobody answered in time, so it was not run. Silence is no answer by a person.",
    "agent.withdrawn": "{short} was withdrawn. It was not run.",
    "agent.undeliverable": "{short} could not be asked: {why}. It was not run.",
    "agent.failed": "{short} was {how}, but failed: {error}",
    "agent.timed_out": "{short} was {how}, but was stopped at its time limit. It may have done part of its work.",
    "agent.released": "{short} was {how} and is yours to run, once.",
    "agent.refused": "{short} was {how}, but not run: {error}. Ask anew if it is still wanted.",
    "agent.lapsed": "{short} was {how}, but nobody ran it in time. It was not run.",
    "agent.unknown": "{short} was {how}; whether it ran is not known. It is not tried again. Look before you ask anew.",
    "agent.pending": "{tool} requires human approval ({short}). It waits for a person.",
    "agent.allowed": "{short} is allowed.",
    "agent.approved": "{short} is approved.",
    "agent.running": "{short} is running.",
    # the offline agent
    "offline.help": (
        "I can: list [PATH], read PATH, write PATH TEXT, delete PATH, delete all files, run COMMAND."
        " What can't be undone waits for your yes."
    ),
    "offline.why": "Why? You may say so within 60 seconds: no {short} because REASON",
    "offline.still": "{short} still waits: {sentence}",
    "offline.welcome": (
        "Sayso: an agent does nothing that can't be undone without your say-so.\n"
        "You talk to a small offline agent. {help}\n"
        'Try "delete notes.txt", then answer the card. Ctrl-D ends.\n'
    ),
    "chat.welcome": "{help}\nCtrl-D ends; what waits goes on waiting.",
    # when the service can't be spoken with
    # `sayso token`
    "token.made": "That is the token {name}. It isn't shown again. Send it as `Authorization: Bearer ...`, and keep it out of files that agents can read.",
    "token.none": "There is no token.",
    "token.revoked": "The token {name} is revoked.",
    "token.line": "{name}  {scope}  {stands}  {bounds}",
    "token.owner": "for {owner}",
    "token.origins": "asks from {places}",
    "token.routes": "routes {places}",
    "token.stands.revoked": "revoked {at}",
    "token.stands.over": "over since {at}",
    "token.stands.used": "used {at} UTC",
    "token.stands.unused": "never used",
    "api.malformed": "That is no request that can be understood in one way. Nothing was done.",
    "api.late": "The request didn't come to its end in time. Nothing was done.",
    "api.large": "The body is too large. Nothing was done; put what is large in a file and name it.",
    "api.long": "The headers are too long. Nothing was done.",
    "api.many": "Too many connections are open. Nothing was done; try again in a second.",
    "api.plain": "Tokens are taken over TCP on the loopback alone, or behind a proxy with TLS that http.proxy names. Nothing was done.",
    "api.host": "The Host header names another host than this service. If it is reached by that name, list it in http.hosts. Nothing was done.",
    "api.origin": "The request comes from a page of another site. Nothing was done.",
    "api.invalid": "The request doesn't fit the API ({problems}). Nothing was done.",
    "reach.failed": "The service failed on that request; its log says why. Nothing was approved.",
    # arguments that can't be used; `at` is a JSON pointer
    "json.integer": (
        "Argument {at} is an integer beyond 2^53, which JSON can't carry exactly; send it as a string."
        " Nothing was asked."
    ),
    "json.number": "Argument {at} is {value}, which JSON can't carry. Nothing was asked.",
    "json.type": "Argument {at} is a {type}, which JSON has no form for. Nothing was asked.",
    "json.key": "Argument {at} has the key {name}, which is not a string. Nothing was asked.",
    "json.depth": "Argument {at} is nested too deeply. Nothing was asked.",
    "json.surrogate": "Argument {at} holds a lone surrogate, which UTF-8 can't carry. Nothing was asked.",
    "args.unknown": "The argument {name} is not an argument of this tool; it takes {takes}. Nothing was asked.",
    "args.none": "none",
    "args.missing": "The argument {name} is missing. Nothing was asked.",
    "args.type": "The argument {name} can't be used: {why}. Nothing was asked.",
    "args.surrogate": "The argument text holds a lone surrogate, which UTF-8 can't carry.",
    "args.command": "The argument command is longer than a command can be, or holds NUL.",
    # types of arguments
    # tools, whatever they do
    "tool.unlisted": "{tool} is not on the list of tools that may run.",
    "tool.unlisted.run": "{tool} is not on the list of tools that may run. Nothing was run.",
    "tool.unlisted.now": "{tool} is no longer on the list of tools that may run.",
    "tool.changed": "{tool} is no longer the tool that was shown. Nothing was run.",
    "tool.late": "The tool took longer than {limit} s. What it had done by then stays done.",
    "tool.cancelled": "The tool cancelled itself.",
    "tool.exit": "the tool tried to exit with {status}",
    "tool.stopped": "the service was stopped while it ran",
    # the files' tools: what they would do
    "does.list": "Lists the files in {path}.",
    "does.list.all": "Lists the files in the workspace.",
    "does.read": "Reads {path}.",
    "does.write.new": "Makes the file {path} ({size}).",
    "does.write.same": "Writes {path} as it is already ({size}).",
    "does.write.lines": "Changes {path}: {added} added, {removed} removed.",
    "does.write.whole": "Replaces {path}: {old} by {new}.",
    "does.patch": "Changes {files}: {added} added, {removed} removed.",
    "does.delete": "Deletes {path} ({size}). It can't be undone.",
    "does.delete.many": "Deletes {files}, matched by {pattern}. It can't be undone.",
    # what they did
    "did.write": "Wrote {size} to {path}.",
    "did.edit": "Changed {path}.",
    "did.patch": "Changed {files}:",
    "did.delete": "Deleted {path}.",
    "did.delete.many": "Deleted {files} for {pattern}:",
    "did.list.more": "… {count} more",
    "did.list.link": "{name}  (a link)",
    "did.list.other": "{name}  (not a file)",
    "did.read.left_out": "… {count} bytes left out …",
    # why they can't, or didn't
    "path.outside": "{path} leads out of {root}.",
    "path.none": "{path} is no path.",
    "path.workspace": "{path} is the workspace itself.",
    "path.link": "{path} is a link, and links are not followed.",
    "path.through": "{path} leads through a file or a link, and links are not followed.",
    "path.absent": "{path} is not there.",
    "path.folder": "{path} is a folder.",
    "path.barred": "{path} may not be opened by this service.",
    "path.irregular": "{path} is not a regular file.",
    "path.trouble": "{path} can't be used: {error}.",
    "path.binary": "{path} is binary ({size}); only text can be read.",
    "path.changed": "{path} has changed since it was shown.",
    "path.changed.midway": "{path} changed; {files} deleted before it.",
    "path.changed.partly": "{path} changed; {files} changed before it.",
    "path.exists": "{path} is there already.",
    "path.untold": "{path} is binary or longer than {most}; only text can be edited.",
    "edit.empty": "The text to replace is empty. Use write_file to write a whole file.",
    "edit.same": "The new text is the old one. Nothing was asked.",
    "edit.none": "{path} doesn't contain the text to replace. Nothing was asked.",
    "edit.several": "{path} contains the text to replace {count} times. Add lines around it, or set replace_all. Nothing was asked.",
    "patch.unread": "Line {line} of the patch can't be read: {why}. Nothing was asked.",
    "patch.nothing": "The patch changes nothing. Nothing was asked.",
    "patch.twice": "The patch names {path} twice. Nothing was asked.",
    "patch.misfit": "Change {number} of {path} doesn't fit: its lines are not there. Nothing was asked.",
    "patch.several": "Change {number} of {path} fits in several places. Add lines around it. Nothing was asked.",
    "path.not_written": "{why} Nothing was written.",
    "path.not_deleted": "{why} Nothing was deleted.",
    "path.matches.none": "{pattern} matches no file. Nothing was asked.",
    "path.matches.many": "{pattern} matches more than {most} files; name fewer. Nothing was asked.",
    # counts, of one and of many
    "count.byte": "1 byte",
    "count.bytes": "{count} bytes",
    "count.file": "1 file",
    "count.files": "{count} files",
    "count.line": "1 line",
    "count.lines": "{count} lines",
    # commands: the shell's, and those on the caller's machine
    "shell.does": "Runs a command with bash in {folder}.",
    "shell.landlock": "Confined by Landlock: files and TCP, not UDP.",
    "shell.unconfined": "Not confined: it can reach whatever this service can.",
    "shell.otherwise": "It was to run confined by {way}, which is no longer so. Nothing was run.",
    "shell.late": "It took longer than {limit} s and was stopped. What it had done by then stays done.",
    "shell.ended": "It was ended from outside.",
    "shell.signal": "It was ended by signal {number}.",
    "shell.status": "It ended with status {status}.",
    "command.waits": "{short} waits for an answer until {until} UTC; Ctrl-C takes it back",
    # the command line's lists
    "pending.none": "Nothing waits.",
    "pending.line": "{short}  {risk} {tool}  {outcome}  (asked by {requester})",
    "pending.left": "{left} left",
    "pending.withdrawn": "{short} withdrawn.",
}


def say(key: str, /, **facts: object) -> str:
    """The sentence of that key. Raises KeyError for a key or fact that is missing: a bug, caught by a test."""
    return ENGLISH[key].format(**facts)


def sentence(told: Fact) -> str:
    """A fact in words. Raises KeyError as `say` does."""
    return say(told.what, **{name: _filled(value) for name, value in told.particulars.items()})


def _filled(value: object) -> object:
    if isinstance(value, Fact):
        return sentence(value)
    return "\n".join(str(_filled(each)) for each in value) if isinstance(value, tuple) else value


def clause(text: str) -> str:
    """The sentence without its full stop, to stand inside another one; an ellipsis stays."""
    return text if text.endswith("..") else text.removesuffix(".")
