"""All SQL statements of the service. The comment above a statement says what it returns or changes.

This file is generated: `definitions.py` defines the statements, and `python -m adapters.database.definitions` compiles
them for SQLite and writes them here.
"""

#: Insert a new call.
INSERT_CALL = 'INSERT INTO calls (ref, short, digest, tools, tool, executor, definition, cwd, preconditions, sentence, preview, notes, note, requester, agent, session, origin, runs, "key", previous, action, risk, rule, policy, timeout_s, execution_s, require_reason, terms, approvers, routes, created_at, deadline, row_mac, state, version, decision, decided_at, decided_by, reason, decision_mac, claim_owner, claim_hash, claim_until, result, finished_at, due_at, archived, error, output, salt, args, claim_mac, result_mac) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36, ?37, ?38, ?39, ?40, ?41, ?42, ?43, ?45, ?46, ?48, ?49, ?50, ?51, ?52, ?53, ?44, ?47)'
#: Update a call if it still has this version. The keys are the values of `hitl.ports.Expect.overdue`: for False,
#: `due_at` must be after the given time; for True, `due_at` must have passed; None has no such test.
SWAP_CALL = {
    None: "UPDATE calls SET state=?, version=?, decision=?, decided_at=?, decided_by=?, reason=?, decision_mac=?, claim_owner=?, claim_hash=?, claim_until=?, claim_mac=?, result=?, finished_at=?, result_mac=?, due_at=?, archived=?, error=?, output=? WHERE calls.ref = ? AND calls.version = ?",
    False: "UPDATE calls SET state=?, version=?, decision=?, decided_at=?, decided_by=?, reason=?, decision_mac=?, claim_owner=?, claim_hash=?, claim_until=?, claim_mac=?, result=?, finished_at=?, result_mac=?, due_at=?, archived=?, error=?, output=? WHERE calls.ref = ? AND calls.version = ? AND calls.due_at > ?",
    True: "UPDATE calls SET state=?, version=?, decision=?, decided_at=?, decided_by=?, reason=?, decision_mac=?, claim_owner=?, claim_hash=?, claim_until=?, claim_mac=?, result=?, finished_at=?, result_mac=?, due_at=?, archived=?, error=?, output=? WHERE calls.ref = ? AND calls.version = ? AND calls.due_at <= ?",
}
#: Erase a call's arguments and the texts made from them, if the call still has this version and no unsent message.
ERASE_CALL = "UPDATE calls SET cwd=?, preconditions=?, sentence=?, preview=?, notes=?, note=?, terms=?, row_mac=?, args=?, erased_at=?, salt=NULL WHERE calls.ref = ? AND calls.version = ? AND NOT (EXISTS (SELECT * FROM outbox WHERE outbox.ref = calls.ref))"
#: Return 1 if the call still has this version. The dictionary has the same keys as SWAP_CALL.
HOLDS = {
    None: "SELECT 1 FROM calls WHERE calls.ref = ? AND calls.version = ?",
    False: "SELECT 1 FROM calls WHERE calls.ref = ? AND calls.version = ? AND calls.due_at > ?",
    True: "SELECT 1 FROM calls WHERE calls.ref = ? AND calls.version = ? AND calls.due_at <= ?",
}
#: Return the call with this ref.
CALL_BY_REF = 'SELECT calls.ref, calls.short, calls.digest, calls.tools, calls.tool, calls.executor, calls.definition, calls.cwd, calls.preconditions, calls.sentence, calls.preview, calls.notes, calls.note, calls.requester, calls.agent, calls.session, calls.origin, calls.runs, calls."key", calls.previous, calls.action, calls.risk, calls.rule, calls.policy, calls.timeout_s, calls.execution_s, calls.require_reason, calls.terms, calls.approvers, calls.routes, calls.created_at, calls.deadline, calls.row_mac, calls.state, calls.version, calls.decision, calls.decided_at, calls.decided_by, calls.reason, calls.decision_mac, calls.claim_owner, calls.claim_hash, calls.claim_until, calls.claim_mac, calls.result, calls.finished_at, calls.result_mac, calls.due_at, calls.archived, calls.error, calls.output, calls.args, calls.erased_at FROM calls WHERE calls.ref = ?'
#: Return the call with this short ref.
CALL_BY_SHORT = 'SELECT calls.ref, calls.short, calls.digest, calls.tools, calls.tool, calls.executor, calls.definition, calls.cwd, calls.preconditions, calls.sentence, calls.preview, calls.notes, calls.note, calls.requester, calls.agent, calls.session, calls.origin, calls.runs, calls."key", calls.previous, calls.action, calls.risk, calls.rule, calls.policy, calls.timeout_s, calls.execution_s, calls.require_reason, calls.terms, calls.approvers, calls.routes, calls.created_at, calls.deadline, calls.row_mac, calls.state, calls.version, calls.decision, calls.decided_at, calls.decided_by, calls.reason, calls.decision_mac, calls.claim_owner, calls.claim_hash, calls.claim_until, calls.claim_mac, calls.result, calls.finished_at, calls.result_mac, calls.due_at, calls.archived, calls.error, calls.output, calls.args, calls.erased_at FROM calls WHERE calls.short = ?'
#: Return the requester's call with this idempotency key.
CALL_BY_KEY = 'SELECT calls.ref, calls.short, calls.digest, calls.tools, calls.tool, calls.executor, calls.definition, calls.cwd, calls.preconditions, calls.sentence, calls.preview, calls.notes, calls.note, calls.requester, calls.agent, calls.session, calls.origin, calls.runs, calls."key", calls.previous, calls.action, calls.risk, calls.rule, calls.policy, calls.timeout_s, calls.execution_s, calls.require_reason, calls.terms, calls.approvers, calls.routes, calls.created_at, calls.deadline, calls.row_mac, calls.state, calls.version, calls.decision, calls.decided_at, calls.decided_by, calls.reason, calls.decision_mac, calls.claim_owner, calls.claim_hash, calls.claim_until, calls.claim_mac, calls.result, calls.finished_at, calls.result_mac, calls.due_at, calls.archived, calls.error, calls.output, calls.args, calls.erased_at FROM calls WHERE calls.requester = ? AND calls."key" = ?'
#: Return the calls that are older than this call, the newest first.
CALLS_BEFORE = 'SELECT calls.ref, calls.short, calls.digest, calls.tools, calls.tool, calls.executor, calls.definition, calls.cwd, calls.preconditions, calls.sentence, calls.preview, calls.notes, calls.note, calls.requester, calls.agent, calls.session, calls.origin, calls.runs, calls."key", calls.previous, calls.action, calls.risk, calls.rule, calls.policy, calls.timeout_s, calls.execution_s, calls.require_reason, calls.terms, calls.approvers, calls.routes, calls.created_at, calls.deadline, calls.row_mac, calls.state, calls.version, calls.decision, calls.decided_at, calls.decided_by, calls.reason, calls.decision_mac, calls.claim_owner, calls.claim_hash, calls.claim_until, calls.claim_mac, calls.result, calls.finished_at, calls.result_mac, calls.due_at, calls.archived, calls.error, calls.output, calls.args, calls.erased_at FROM calls WHERE calls.ref < ? ORDER BY calls.ref DESC LIMIT ?'
#: Return the pending calls among those with these refs (a JSON list), the oldest first.
CALLS_WAITING = "SELECT calls.ref, calls.short, calls.digest, calls.tools, calls.tool, calls.executor, calls.definition, calls.cwd, calls.preconditions, calls.sentence, calls.preview, calls.notes, calls.note, calls.requester, calls.agent, calls.session, calls.origin, calls.runs, calls.\"key\", calls.previous, calls.action, calls.risk, calls.rule, calls.policy, calls.timeout_s, calls.execution_s, calls.require_reason, calls.terms, calls.approvers, calls.routes, calls.created_at, calls.deadline, calls.row_mac, calls.state, calls.version, calls.decision, calls.decided_at, calls.decided_by, calls.reason, calls.decision_mac, calls.claim_owner, calls.claim_hash, calls.claim_until, calls.claim_mac, calls.result, calls.finished_at, calls.result_mac, calls.due_at, calls.archived, calls.error, calls.output, calls.args, calls.erased_at FROM calls WHERE state = 'awaiting_confirmation' AND calls.ref IN (SELECT value FROM json_each(?)) ORDER BY calls.created_at, calls.rowid LIMIT ?"
#: Return the columns `rows.ASKED` of each pending call, the oldest call first. `due_at is not null` lets SQLite use an
#: index; every pending call has a `due_at`.
ASKED = "SELECT calls.ref, calls.requester, calls.origin, calls.digest, calls.agent, calls.routes FROM calls WHERE due_at is not null AND state = 'awaiting_confirmation' ORDER BY calls.created_at, calls.rowid"
#: Return the calls that are due, the most overdue first.
CALLS_DUE = 'SELECT calls.ref, calls.short, calls.digest, calls.tools, calls.tool, calls.executor, calls.definition, calls.cwd, calls.preconditions, calls.sentence, calls.preview, calls.notes, calls.note, calls.requester, calls.agent, calls.session, calls.origin, calls.runs, calls."key", calls.previous, calls.action, calls.risk, calls.rule, calls.policy, calls.timeout_s, calls.execution_s, calls.require_reason, calls.terms, calls.approvers, calls.routes, calls.created_at, calls.deadline, calls.row_mac, calls.state, calls.version, calls.decision, calls.decided_at, calls.decided_by, calls.reason, calls.decision_mac, calls.claim_owner, calls.claim_hash, calls.claim_until, calls.claim_mac, calls.result, calls.finished_at, calls.result_mac, calls.due_at, calls.archived, calls.error, calls.output, calls.args, calls.erased_at FROM calls WHERE calls.due_at <= ? ORDER BY calls.due_at LIMIT ?'
#: Return the time at which the next call is due.
NEXT_DUE = "SELECT min(calls.due_at) AS min_1 FROM calls WHERE due_at is not null"
#: Return the open claimed calls whose claimant's name begins with this text, the oldest first.
CALLS_LEASED = 'SELECT calls.ref, calls.short, calls.digest, calls.tools, calls.tool, calls.executor, calls.definition, calls.cwd, calls.preconditions, calls.sentence, calls.preview, calls.notes, calls.note, calls.requester, calls.agent, calls.session, calls.origin, calls.runs, calls."key", calls.previous, calls.action, calls.risk, calls.rule, calls.policy, calls.timeout_s, calls.execution_s, calls.require_reason, calls.terms, calls.approvers, calls.routes, calls.created_at, calls.deadline, calls.row_mac, calls.state, calls.version, calls.decision, calls.decided_at, calls.decided_by, calls.reason, calls.decision_mac, calls.claim_owner, calls.claim_hash, calls.claim_until, calls.claim_mac, calls.result, calls.finished_at, calls.result_mac, calls.due_at, calls.archived, calls.error, calls.output, calls.args, calls.erased_at FROM calls WHERE due_at is not null AND substr(calls.claim_owner, 1, length(?1)) = ?1 ORDER BY calls.created_at, calls.rowid LIMIT ?2'
#: Return the open calls, the oldest first.
CALLS_OPEN = 'SELECT calls.ref, calls.short, calls.digest, calls.tools, calls.tool, calls.executor, calls.definition, calls.cwd, calls.preconditions, calls.sentence, calls.preview, calls.notes, calls.note, calls.requester, calls.agent, calls.session, calls.origin, calls.runs, calls."key", calls.previous, calls.action, calls.risk, calls.rule, calls.policy, calls.timeout_s, calls.execution_s, calls.require_reason, calls.terms, calls.approvers, calls.routes, calls.created_at, calls.deadline, calls.row_mac, calls.state, calls.version, calls.decision, calls.decided_at, calls.decided_by, calls.reason, calls.decision_mac, calls.claim_owner, calls.claim_hash, calls.claim_until, calls.claim_mac, calls.result, calls.finished_at, calls.result_mac, calls.due_at, calls.archived, calls.error, calls.output, calls.args, calls.erased_at FROM calls WHERE due_at is not null ORDER BY calls.created_at, calls.rowid LIMIT ?'
#: Return the ids of the keys that made the MACs of the open calls.
OPEN_KEY_IDS = "SELECT substr(calls.row_mac, 1, instr(calls.row_mac, ':') - 1) AS substr_1 FROM calls WHERE due_at is not null UNION SELECT substr(calls.decision_mac, 1, instr(calls.decision_mac, ':') - 1) AS substr_2 FROM calls WHERE due_at is not null AND calls.decision_mac IS NOT NULL"
#: Insert a vote, numbered after the call's other votes.
INSERT_VOTE = "INSERT INTO votes (ref, seq, principal, approve, reason, surface, pressed_at, at, mac, identity, risk) VALUES (?1, (SELECT coalesce(max(votes.seq), 0) + 1 AS anon_1 FROM votes WHERE votes.ref = ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
#: Return the call's votes, the oldest first.
VOTES = "SELECT votes.ref, votes.principal, votes.approve, votes.reason, votes.surface, votes.pressed_at, votes.at, votes.mac, votes.identity, votes.risk FROM votes WHERE votes.ref = ? ORDER BY votes.seq"
#: Return the number and hash of the last line of a call's chain.
LAST_LINE = "SELECT audit.seq, audit.hash FROM audit WHERE audit.ref = ? ORDER BY audit.seq DESC LIMIT 1"
#: Return the number, hash, event and data of each line of a call's chain, first line first.
CHAIN = "SELECT audit.seq, audit.hash, audit.event, audit.data FROM audit WHERE audit.ref = ? ORDER BY audit.seq"
#: Return the position of the last line of the whole record, and the number of its lines.
POSITION = "SELECT coalesce(max(audit.id), 0) AS coalesce_1, count(*) AS count_1 FROM audit"
#: Return the position and hash of the last line of the whole record.
LAST = "SELECT audit.id, audit.hash FROM audit WHERE audit.id = (SELECT max(audit.id) AS max_1 FROM audit)"
#: Return the hash of the line at this position of the audit record.
HASH_AT = "SELECT audit.hash FROM audit WHERE audit.id = ?"
#: Return the newest time in the latest lines of the audit record. The last line may have an earlier time: older
#: versions wrote such a line if their clock had been set back.
NEWEST = "SELECT max(audit.at) AS max_1 FROM audit WHERE audit.id > (SELECT max(audit.id) AS max_2 FROM audit) - 1000"
#: Insert a line of the audit record.
INSERT_LINE = "INSERT INTO audit (ref, seq, at, event, actor, data, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
#: Return the lines of a call's chain, first line first.
LINES = "SELECT audit.ref, audit.seq, audit.at, audit.event, audit.actor, audit.data, audit.prev, audit.hash FROM audit WHERE audit.ref = ? ORDER BY audit.seq"
#: Return the lines of the whole record after this position.
LINES_AFTER = "SELECT audit.id, audit.ref, audit.seq, audit.at, audit.event, audit.actor, audit.data, audit.prev, audit.hash FROM audit WHERE audit.id > ? ORDER BY audit.id LIMIT ?"
#: Store the open question to a person about a call. It replaces an earlier question of the same kind.
KEEP_PROMPT = "INSERT INTO prompts (ref, principal, kind, at, mac) VALUES (?, ?, ?, ?, ?) ON CONFLICT (ref, principal, kind) DO UPDATE SET at = excluded.at, mac = excluded.mac"
#: Return the open question of this kind to this person about this call.
PROMPT = "SELECT prompts.at, prompts.mac FROM prompts WHERE prompts.ref = ? AND prompts.principal = ? AND prompts.kind = ?"
#: Store that a card is to be posted on a route. If an earlier attempt failed, the failure is deleted.
KEEP_CARD = "INSERT INTO cards (ref, route) VALUES (?, ?) ON CONFLICT (ref, route) DO UPDATE SET failed_at = NULL, error = NULL"
#: Store the message id of a card that was found to be posted already.
CARD_STANDS = "INSERT INTO cards (ref, route, message, mac) VALUES (?, ?, ?, ?) ON CONFLICT (ref, route) DO UPDATE SET message = excluded.message, failed_at = NULL, error = NULL, mac = excluded.mac"
#: Store the message id of a card that was posted. An id that is stored already stays.
CARD_SENT = "INSERT INTO cards (ref, route, message, mac) VALUES (?, ?, ?, ?) ON CONFLICT (ref, route) DO UPDATE SET message = coalesce(cards.message, excluded.message), failed_at = NULL, error = NULL, mac = CASE WHEN (cards.message IS NULL) THEN excluded.mac ELSE cards.mac END"
#: Store that the card can't be posted on its route, and why.
CARD_FAILED = "UPDATE cards SET failed_at=?, error=? WHERE cards.ref = ? AND cards.route = ?"
#: Store why the last edit of the card couldn't be sent.
EDIT_FAILED = "UPDATE cards SET error=? WHERE cards.ref = ? AND cards.route = ?"
#: Return the routes on which the card of this call is, or will be posted.
CARDS = "SELECT cards.route, cards.message, cards.mac FROM cards WHERE cards.ref = ? AND cards.failed_at IS NULL ORDER BY cards.route"
#: Return the call and the route of the card that is the message with this id.
CARD_OF_MESSAGE = "SELECT cards.ref, cards.route, cards.mac FROM cards WHERE cards.message = ?"
#: Clear the message ids of pending calls' cards on a route whose conversation was moved. REQUEUE_CARDS then queues
#: these cards, so that they are posted again.
CARDS_LOST = "UPDATE cards SET message=NULL, failed_at=NULL, error=NULL, mac=NULL WHERE cards.route = ? AND cards.ref IN (SELECT calls.ref FROM calls WHERE due_at is not null AND state = 'awaiting_confirmation')"
#: Queue the posting of a card.
QUEUE_CARD = "INSERT INTO outbox (ref, route, kind, attempts, not_before) VALUES (?, ?, 'card', 0, ?)"
#: Queue an edit of a card, unless posting the card on that route failed.
QUEUE_EDIT = "INSERT INTO outbox (ref, route, kind, attempts, not_before) SELECT ?1 AS anon_1, ?2 AS anon_2, 'edit' AS anon_3, 0 AS anon_4, ?3 AS anon_5 FROM cards WHERE cards.ref = ?1 AND cards.route = ?2 AND cards.failed_at IS NULL"
#: Queue a notice about the end of a call, also on a route without a card of the call.
QUEUE_NOTICE = "INSERT INTO outbox (ref, route, kind, attempts, not_before) VALUES (?, ?, 'notice', 0, ?)"
#: Queue the posting of all pending calls' cards on a route whose conversation was moved.
REQUEUE_CARDS = "INSERT INTO outbox (ref, route, kind, attempts, not_before) SELECT cards.ref, ?1 AS anon_1, 'card' AS anon_2, 0 AS anon_3, ?2 AS anon_4 FROM cards JOIN calls ON calls.ref = cards.ref WHERE cards.route = ?1 AND due_at is not null AND state = 'awaiting_confirmation' AND NOT (EXISTS (SELECT 1 FROM outbox WHERE outbox.ref = cards.ref AND outbox.route = cards.route AND outbox.kind = 'card'))"
#: Return 1 if there is an outbox row that may be sent now.
ANYTHING_TO_SEND = "SELECT 1 FROM outbox WHERE outbox.not_before <= ? LIMIT 1"
#: Return the outbox rows that may be sent now: one row for each route that isn't busy, and only the oldest row of a
#: card, so that a card's messages keep their order. New cards, notices and edits of decided calls come first. Refreshes
#: of pending calls' cards come last; routes in `calm` get no refreshes. (The first column is a minimum: SQLite takes
#: the other columns from the row with the minimum.)
TO_SEND = "SELECT min(CASE WHEN (o.kind = 'edit' AND calls.state = 'awaiting_confirmation') THEN 4611686018427387904 ELSE 0 END + o.id) AS min_1, o.id, o.ref, o.route, o.kind, o.attempts, c.message, c.mac FROM outbox AS o LEFT OUTER JOIN cards AS c ON c.ref = o.ref AND c.route = o.route LEFT OUTER JOIN calls ON calls.ref = o.ref WHERE o.not_before <= ? AND o.route NOT IN (SELECT value FROM json_each(?)) AND NOT (o.kind = 'edit' AND calls.state = 'awaiting_confirmation' AND o.route IN (SELECT value FROM json_each(?))) AND NOT (EXISTS (SELECT 1 FROM outbox AS e WHERE e.ref = o.ref AND e.route = o.route AND e.id < o.id)) GROUP BY o.route ORDER BY 1 LIMIT ?"
#: Lease an outbox row: no other sender may take it before the given time.
LEASE_SENDING = "UPDATE outbox SET not_before=?, attempts=(outbox.attempts + 1), error=NULL WHERE outbox.id = ?"
#: End the leases and the retry pauses of all queued edits.
FREE_EDITS = "UPDATE outbox SET not_before=0 WHERE outbox.kind = 'edit' AND outbox.not_before > 0"
#: Delete the later edits of a card, because the edit that is being sent shows the newest state.
DROP_LATER_EDITS = "DELETE FROM outbox WHERE outbox.ref = ? AND outbox.route = ? AND outbox.kind = 'edit' AND outbox.id > ?"
#: Delete an outbox row that was sent or given up.
DROP_SENDING = "DELETE FROM outbox WHERE outbox.id = ?"
#: Put an outbox row off until a later time, and store the error.
PUT_OFF_SENDING = "UPDATE outbox SET not_before=?, error=? WHERE outbox.id = ?"
#: End the wait before a retry for all outbox rows of a platform, so that they may be sent now.
HASTEN = "UPDATE outbox SET not_before=0 WHERE outbox.not_before > ? AND outbox.error IS NOT NULL AND outbox.route >= ? AND outbox.route < ?"
#: Delete the queued edits of a card that can't be posted on its route.
DROP_EDITS = "DELETE FROM outbox WHERE outbox.ref = ? AND outbox.route = ? AND outbox.kind = 'edit'"
#: Delete the queued posting of a card that is posted already.
DROP_POSTING = "DELETE FROM outbox WHERE outbox.ref = ? AND outbox.route = ? AND outbox.kind = 'card'"
#: Return the old and the new place of each conversation that its platform moved.
MOVES = "SELECT moves.old, moves.new, moves.mac FROM moves"
#: Store the new place of a conversation.
KEEP_MOVE = "INSERT INTO moves (old, new, mac) VALUES (?, ?, ?) ON CONFLICT (old) DO UPDATE SET new = excluded.new, mac = excluded.mac"
#: Return the service's latest message in each private conversation for which that message is known.
TALKS = "SELECT talks.place, talks.message, talks.ref, talks.mac FROM talks"
#: Store which message of the service is the latest in a private conversation, and which call it is about.
KEEP_TALK = "INSERT INTO talks (place, message, ref, mac) VALUES (?, ?, ?, ?) ON CONFLICT (place) DO UPDATE SET message = excluded.message, ref = excluded.ref, mac = excluded.mac"
#: Delete the row of a private conversation whose latest message of the service is no longer known.
DROP_TALK = "DELETE FROM talks WHERE talks.place = ?"
#: Store which call a message of the service is about. A message that is stored already keeps its call.
KEEP_MESSAGE = "INSERT INTO messages (message, ref, asks, mac) VALUES (?, ?, ?, ?) ON CONFLICT (message) DO NOTHING"
#: Return the call that this message of the service is about.
MESSAGE = "SELECT messages.message, messages.ref, messages.asks, messages.mac FROM messages WHERE messages.message = ?"
#: Insert an inbox event, unless it is stored already.
INSERT_EVENT = "INSERT INTO inbox (source, id, ordering, body, received_at, failures, mac) VALUES (?, ?, ?, ?, ?, 0, ?) ON CONFLICT (source, id) DO NOTHING"
#: Return, for each conversation, the oldest inbox event that was neither handled nor set aside.
EVENTS_OPEN = "SELECT inbox.source, inbox.id, inbox.ordering, inbox.body, inbox.received_at, inbox.failures, inbox.mac FROM inbox WHERE inbox.seq IN (SELECT min(inbox.seq) AS min_1 FROM inbox WHERE handled_at is null and aside_at is null GROUP BY inbox.source, inbox.ordering) ORDER BY inbox.seq LIMIT ?"
#: Return the event of this source that was stored last.
NEWEST_EVENT = "SELECT inbox.source, inbox.id, inbox.ordering, inbox.body, inbox.received_at, inbox.failures, inbox.mac FROM inbox WHERE inbox.source = ? ORDER BY inbox.seq DESC LIMIT 1"
#: Return the inbox events after this event, and when each was received.
EVENTS_FROM = "SELECT inbox.seq, inbox.received_at FROM inbox WHERE inbox.seq > ? ORDER BY inbox.seq LIMIT ?"
#: Delete these inbox events if they were handled or set aside by the given time.
DROP_EVENTS = "DELETE FROM inbox WHERE inbox.seq > ? AND inbox.seq <= ? AND coalesce(inbox.handled_at, inbox.aside_at) <= ?"
#: Store that the inbox event was handled.
EVENT_HANDLED = "UPDATE inbox SET handled_at=? WHERE inbox.source = ? AND inbox.id = ? AND inbox.handled_at IS NULL"
#: Count a failure to handle the event, and set the event aside after the given number of failures. The statement
#: returns `aside_at` and not `aside_at is not null`, because SQLite 3.40 would return 1 for a value that is null.
EVENT_FAILED = "UPDATE inbox SET failures=(inbox.failures + 1), error=?, aside_at=CASE WHEN (inbox.failures + 1 >= ?) THEN ? END WHERE inbox.source = ? AND inbox.id = ? AND handled_at is null and aside_at is null RETURNING aside_at"
#: Return the key ids that may occur in the MACs of rows.
KEY_IDS = "SELECT keys.kid FROM keys"
#: Store a key id, unless it is stored already.
KEEP_KEY_ID = "INSERT INTO keys (kid, seen_at) VALUES (?, ?) ON CONFLICT (kid) DO NOTHING"
#: Insert a new turn of an agent, unless it is stored already.
BEGIN_TURN = "INSERT INTO turns (id, place, identity, requester, message, text, said, state, done, mac) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING"
#: Store the new state of a turn, and whether it is done.
KEEP_TURN = "UPDATE turns SET state=?, done=?, mac=? WHERE turns.id = ?"
#: Return the open turns of agents, the oldest first.
TURNS_OPEN = "SELECT turns.id, turns.place, turns.identity, turns.requester, turns.message, turns.text, turns.said, turns.state, turns.done, turns.mac FROM turns WHERE not done ORDER BY turns.seq"
#: Return the newest finished turn in this conversation.
LAST_TURN = "SELECT turns.id, turns.place, turns.identity, turns.requester, turns.message, turns.text, turns.said, turns.state, turns.done, turns.mac FROM turns WHERE turns.place = ? AND turns.done = 1 ORDER BY turns.seq DESC LIMIT 1"
#: Delete the finished turns of a conversation, except the newest.
DROP_TURNS = "DELETE FROM turns WHERE turns.place = ?1 AND turns.done = 1 AND turns.seq < (SELECT max(turns.seq) AS max_1 FROM turns WHERE turns.place = ?1 AND turns.done = 1)"
#: Return all bearer tokens, including revoked tokens.
CREDENTIALS = "SELECT credentials.name, credentials.hash, credentials.scope, credentials.owner, credentials.origins, credentials.routes, credentials.created_at, credentials.created_by, credentials.until, credentials.mac, credentials.revoked_at, credentials.used_at FROM credentials ORDER BY credentials.name"
#: Return the bearer tokens that were revoked according to the audit record, and when.
CREDENTIALS_REVOKED = "SELECT audit.at, audit.data FROM audit WHERE audit.ref = '' AND audit.event = 'credential_revoked'"
#: Insert a bearer token, unless its name was used before.
KEEP_CREDENTIAL = "INSERT INTO credentials (name, hash, scope, owner, origins, routes, created_at, created_by, until, mac) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING"
#: Revoke a bearer token.
REVOKE_CREDENTIAL = "UPDATE credentials SET revoked_at=?, mac=? WHERE credentials.name = ?"
#: Store the time of a bearer token's latest use.
CREDENTIAL_USED = "UPDATE credentials SET used_at=? WHERE credentials.name = ?"
