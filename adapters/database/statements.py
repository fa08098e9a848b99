"""All SQL statements of the service, each with a line that says what it asks or does.

This file is generated: `definitions.py` defines the statements, and `python -m adapters.database.definitions` compiles
them for SQLite and writes them here.
"""

#: Keep a new call.
INSERT_CALL = 'INSERT INTO calls (ref, short, digest, tools, tool, executor, definition, cwd, preconditions, sentence, preview, notes, note, requester, agent, session, origin, runs, "key", previous, action, risk, rule, policy, timeout_s, execution_s, require_reason, terms, approvers, routes, created_at, deadline, row_mac, state, version, decision, decided_at, decided_by, reason, decision_mac, claim_owner, claim_hash, claim_until, result, finished_at, due_at, archived, error, output, salt, args, claim_mac, result_mac) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36, ?37, ?38, ?39, ?40, ?41, ?42, ?43, ?45, ?46, ?48, ?49, ?50, ?51, ?52, ?53, ?44, ?47)'
#: Move a call, if it still has the version (and, by key: is in time, is overdue).
SWAP_CALL = {
    None: "UPDATE calls SET state=?, version=?, decision=?, decided_at=?, decided_by=?, reason=?, decision_mac=?, claim_owner=?, claim_hash=?, claim_until=?, claim_mac=?, result=?, finished_at=?, result_mac=?, due_at=?, archived=?, error=?, output=? WHERE calls.ref = ? AND calls.version = ?",
    False: "UPDATE calls SET state=?, version=?, decision=?, decided_at=?, decided_by=?, reason=?, decision_mac=?, claim_owner=?, claim_hash=?, claim_until=?, claim_mac=?, result=?, finished_at=?, result_mac=?, due_at=?, archived=?, error=?, output=? WHERE calls.ref = ? AND calls.version = ? AND calls.due_at > ?",
    True: "UPDATE calls SET state=?, version=?, decision=?, decided_at=?, decided_by=?, reason=?, decision_mac=?, claim_owner=?, claim_hash=?, claim_until=?, claim_mac=?, result=?, finished_at=?, result_mac=?, due_at=?, archived=?, error=?, output=? WHERE calls.ref = ? AND calls.version = ? AND calls.due_at <= ?",
}
#: Does a call still have the version (and is in time, is overdue)?
HOLDS = {
    None: "SELECT 1 FROM calls WHERE calls.ref = ? AND calls.version = ?",
    False: "SELECT 1 FROM calls WHERE calls.ref = ? AND calls.version = ? AND calls.due_at > ?",
    True: "SELECT 1 FROM calls WHERE calls.ref = ? AND calls.version = ? AND calls.due_at <= ?",
}
#: Which call has this ref?
CALL_BY_REF = 'SELECT calls.ref, calls.short, calls.digest, calls.tools, calls.tool, calls.executor, calls.definition, calls.cwd, calls.preconditions, calls.sentence, calls.preview, calls.notes, calls.note, calls.requester, calls.agent, calls.session, calls.origin, calls.runs, calls."key", calls.previous, calls.action, calls.risk, calls.rule, calls.policy, calls.timeout_s, calls.execution_s, calls.require_reason, calls.terms, calls.approvers, calls.routes, calls.created_at, calls.deadline, calls.row_mac, calls.state, calls.version, calls.decision, calls.decided_at, calls.decided_by, calls.reason, calls.decision_mac, calls.claim_owner, calls.claim_hash, calls.claim_until, calls.claim_mac, calls.result, calls.finished_at, calls.result_mac, calls.due_at, calls.archived, calls.error, calls.output, calls.args FROM calls WHERE calls.ref = ?'
#: Which call has this short ref?
CALL_BY_SHORT = 'SELECT calls.ref, calls.short, calls.digest, calls.tools, calls.tool, calls.executor, calls.definition, calls.cwd, calls.preconditions, calls.sentence, calls.preview, calls.notes, calls.note, calls.requester, calls.agent, calls.session, calls.origin, calls.runs, calls."key", calls.previous, calls.action, calls.risk, calls.rule, calls.policy, calls.timeout_s, calls.execution_s, calls.require_reason, calls.terms, calls.approvers, calls.routes, calls.created_at, calls.deadline, calls.row_mac, calls.state, calls.version, calls.decision, calls.decided_at, calls.decided_by, calls.reason, calls.decision_mac, calls.claim_owner, calls.claim_hash, calls.claim_until, calls.claim_mac, calls.result, calls.finished_at, calls.result_mac, calls.due_at, calls.archived, calls.error, calls.output, calls.args FROM calls WHERE calls.short = ?'
#: Which call did the requester make with this idempotency key?
CALL_BY_KEY = 'SELECT calls.ref, calls.short, calls.digest, calls.tools, calls.tool, calls.executor, calls.definition, calls.cwd, calls.preconditions, calls.sentence, calls.preview, calls.notes, calls.note, calls.requester, calls.agent, calls.session, calls.origin, calls.runs, calls."key", calls.previous, calls.action, calls.risk, calls.rule, calls.policy, calls.timeout_s, calls.execution_s, calls.require_reason, calls.terms, calls.approvers, calls.routes, calls.created_at, calls.deadline, calls.row_mac, calls.state, calls.version, calls.decision, calls.decided_at, calls.decided_by, calls.reason, calls.decision_mac, calls.claim_owner, calls.claim_hash, calls.claim_until, calls.claim_mac, calls.result, calls.finished_at, calls.result_mac, calls.due_at, calls.archived, calls.error, calls.output, calls.args FROM calls WHERE calls.requester = ? AND calls."key" = ?'
#: Which calls are older than this one, the newest first?
CALLS_BEFORE = 'SELECT calls.ref, calls.short, calls.digest, calls.tools, calls.tool, calls.executor, calls.definition, calls.cwd, calls.preconditions, calls.sentence, calls.preview, calls.notes, calls.note, calls.requester, calls.agent, calls.session, calls.origin, calls.runs, calls."key", calls.previous, calls.action, calls.risk, calls.rule, calls.policy, calls.timeout_s, calls.execution_s, calls.require_reason, calls.terms, calls.approvers, calls.routes, calls.created_at, calls.deadline, calls.row_mac, calls.state, calls.version, calls.decision, calls.decided_at, calls.decided_by, calls.reason, calls.decision_mac, calls.claim_owner, calls.claim_hash, calls.claim_until, calls.claim_mac, calls.result, calls.finished_at, calls.result_mac, calls.due_at, calls.archived, calls.error, calls.output, calls.args FROM calls WHERE calls.ref < ? ORDER BY calls.ref DESC LIMIT ?'
#: Which of these calls (JSON) wait for people, the oldest first?
CALLS_WAITING = "SELECT calls.ref, calls.short, calls.digest, calls.tools, calls.tool, calls.executor, calls.definition, calls.cwd, calls.preconditions, calls.sentence, calls.preview, calls.notes, calls.note, calls.requester, calls.agent, calls.session, calls.origin, calls.runs, calls.\"key\", calls.previous, calls.action, calls.risk, calls.rule, calls.policy, calls.timeout_s, calls.execution_s, calls.require_reason, calls.terms, calls.approvers, calls.routes, calls.created_at, calls.deadline, calls.row_mac, calls.state, calls.version, calls.decision, calls.decided_at, calls.decided_by, calls.reason, calls.decision_mac, calls.claim_owner, calls.claim_hash, calls.claim_until, calls.claim_mac, calls.result, calls.finished_at, calls.result_mac, calls.due_at, calls.archived, calls.error, calls.output, calls.args FROM calls WHERE state = 'awaiting_confirmation' AND calls.ref IN (SELECT value FROM json_each(?)) ORDER BY calls.created_at, calls.rowid LIMIT ?"
#: What is asked about each call that waits for people, the oldest first? One that waits is due some time.
ASKED = "SELECT calls.ref, calls.requester, calls.origin, calls.digest, calls.agent, calls.routes FROM calls WHERE due_at is not null AND state = 'awaiting_confirmation' ORDER BY calls.created_at, calls.rowid"
#: For which calls is something due by now, the most overdue first?
CALLS_DUE = 'SELECT calls.ref, calls.short, calls.digest, calls.tools, calls.tool, calls.executor, calls.definition, calls.cwd, calls.preconditions, calls.sentence, calls.preview, calls.notes, calls.note, calls.requester, calls.agent, calls.session, calls.origin, calls.runs, calls."key", calls.previous, calls.action, calls.risk, calls.rule, calls.policy, calls.timeout_s, calls.execution_s, calls.require_reason, calls.terms, calls.approvers, calls.routes, calls.created_at, calls.deadline, calls.row_mac, calls.state, calls.version, calls.decision, calls.decided_at, calls.decided_by, calls.reason, calls.decision_mac, calls.claim_owner, calls.claim_hash, calls.claim_until, calls.claim_mac, calls.result, calls.finished_at, calls.result_mac, calls.due_at, calls.archived, calls.error, calls.output, calls.args FROM calls WHERE calls.due_at <= ? ORDER BY calls.due_at LIMIT ?'
#: When is something due next?
NEXT_DUE = "SELECT min(calls.due_at) AS min_1 FROM calls WHERE due_at is not null"
#: Which calls are claimed by somebody whose name begins so and not over, the oldest first?
CALLS_LEASED = 'SELECT calls.ref, calls.short, calls.digest, calls.tools, calls.tool, calls.executor, calls.definition, calls.cwd, calls.preconditions, calls.sentence, calls.preview, calls.notes, calls.note, calls.requester, calls.agent, calls.session, calls.origin, calls.runs, calls."key", calls.previous, calls.action, calls.risk, calls.rule, calls.policy, calls.timeout_s, calls.execution_s, calls.require_reason, calls.terms, calls.approvers, calls.routes, calls.created_at, calls.deadline, calls.row_mac, calls.state, calls.version, calls.decision, calls.decided_at, calls.decided_by, calls.reason, calls.decision_mac, calls.claim_owner, calls.claim_hash, calls.claim_until, calls.claim_mac, calls.result, calls.finished_at, calls.result_mac, calls.due_at, calls.archived, calls.error, calls.output, calls.args FROM calls WHERE due_at is not null AND substr(calls.claim_owner, 1, length(?1)) = ?1 ORDER BY calls.created_at, calls.rowid LIMIT ?2'
#: Which calls aren't over, the oldest first?
CALLS_OPEN = 'SELECT calls.ref, calls.short, calls.digest, calls.tools, calls.tool, calls.executor, calls.definition, calls.cwd, calls.preconditions, calls.sentence, calls.preview, calls.notes, calls.note, calls.requester, calls.agent, calls.session, calls.origin, calls.runs, calls."key", calls.previous, calls.action, calls.risk, calls.rule, calls.policy, calls.timeout_s, calls.execution_s, calls.require_reason, calls.terms, calls.approvers, calls.routes, calls.created_at, calls.deadline, calls.row_mac, calls.state, calls.version, calls.decision, calls.decided_at, calls.decided_by, calls.reason, calls.decision_mac, calls.claim_owner, calls.claim_hash, calls.claim_until, calls.claim_mac, calls.result, calls.finished_at, calls.result_mac, calls.due_at, calls.archived, calls.error, calls.output, calls.args FROM calls WHERE due_at is not null ORDER BY calls.created_at, calls.rowid LIMIT ?'
#: Under which key ids are calls sealed that aren't over?
OPEN_KEY_IDS = "SELECT substr(calls.row_mac, 1, instr(calls.row_mac, ':') - 1) AS substr_1 FROM calls WHERE due_at is not null UNION SELECT substr(calls.decision_mac, 1, instr(calls.decision_mac, ':') - 1) AS substr_2 FROM calls WHERE due_at is not null AND calls.decision_mac IS NOT NULL"
#: Keep a vote after those that the call has.
INSERT_VOTE = "INSERT INTO votes (ref, seq, principal, approve, reason, surface, pressed_at, at, mac) VALUES (?1, (SELECT coalesce(max(votes.seq), 0) + 1 AS anon_1 FROM votes WHERE votes.ref = ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
#: Which votes does the call have, the oldest first?
VOTES = "SELECT votes.ref, votes.principal, votes.approve, votes.reason, votes.surface, votes.pressed_at, votes.at, votes.mac FROM votes WHERE votes.ref = ? ORDER BY votes.seq"
#: What is the last line of this chain?
LAST_LINE = "SELECT audit.seq, audit.hash FROM audit WHERE audit.ref = ? ORDER BY audit.seq DESC LIMIT 1"
#: What does this chain say was done, from its start, and where does it end?
CHAIN = "SELECT audit.seq, audit.hash, audit.event, audit.data FROM audit WHERE audit.ref = ? ORDER BY audit.seq"
#: Which is the last line of the record, and how many are there, all chains together?
POSITION = "SELECT coalesce(max(audit.id), 0) AS coalesce_1, count(*) AS count_1 FROM audit"
#: Which is the last line of the record, all chains together, and what ties it to the one before?
LAST = "SELECT audit.id, audit.hash FROM audit WHERE audit.id = (SELECT max(audit.id) AS max_1 FROM audit)"
#: What ties that line of the record to the one before?
HASH_AT = "SELECT audit.hash FROM audit WHERE audit.id = ?"
#: What is the newest recorded time? Each line is at least as new as the one before, but for lines of older versions
#: while their clock was set back: so some of the latest are looked at.
NEWEST = "SELECT max(audit.at) AS max_1 FROM audit WHERE audit.id > (SELECT max(audit.id) AS max_2 FROM audit) - 1000"
#: Add a line.
INSERT_LINE = "INSERT INTO audit (ref, seq, at, event, actor, data, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
#: What does this chain say, from its start?
LINES = "SELECT audit.ref, audit.seq, audit.at, audit.event, audit.actor, audit.data, audit.prev, audit.hash FROM audit WHERE audit.ref = ? ORDER BY audit.seq"
#: Which lines of the whole record come behind this one?
LINES_AFTER = "SELECT audit.id, audit.ref, audit.seq, audit.at, audit.event, audit.actor, audit.data, audit.prev, audit.hash FROM audit WHERE audit.id > ? ORDER BY audit.id LIMIT ?"
#: Remember what is open with a person about a call, in place of what was.
KEEP_PROMPT = "INSERT INTO prompts (ref, principal, kind, at, mac) VALUES (?, ?, ?, ?, ?) ON CONFLICT (ref, principal, kind) DO UPDATE SET at = excluded.at, mac = excluded.mac"
#: What was last left open with this person about this call?
PROMPT = "SELECT prompts.at, prompts.mac FROM prompts WHERE prompts.ref = ? AND prompts.principal = ? AND prompts.kind = ?"
#: A route is to have the card (again, if it couldn't before).
KEEP_CARD = "INSERT INTO cards (ref, route) VALUES (?, ?) ON CONFLICT (ref, route) DO UPDATE SET failed_at = NULL, error = NULL"
#: The card of a call stands on the route as this message.
CARD_STANDS = "INSERT INTO cards (ref, route, message, mac) VALUES (?, ?, ?, ?) ON CONFLICT (ref, route) DO UPDATE SET message = excluded.message, failed_at = NULL, error = NULL, mac = excluded.mac"
#: The platform took a card: it is this message, unless another was found standing before.
CARD_SENT = "INSERT INTO cards (ref, route, message, mac) VALUES (?, ?, ?, ?) ON CONFLICT (ref, route) DO UPDATE SET message = coalesce(cards.message, excluded.message), failed_at = NULL, error = NULL, mac = CASE WHEN (cards.message IS NULL) THEN excluded.mac ELSE cards.mac END"
#: The card never reaches the route.
CARD_FAILED = "UPDATE cards SET failed_at=?, error=? WHERE cards.ref = ? AND cards.route = ?"
#: The card's last edit never reaches the route.
EDIT_FAILED = "UPDATE cards SET error=? WHERE cards.ref = ? AND cards.route = ?"
#: On which routes does a call's card stand, or will?
CARDS = "SELECT cards.route, cards.message, cards.mac FROM cards WHERE cards.ref = ? AND cards.failed_at IS NULL ORDER BY cards.route"
#: Which card stands under this message id?
CARD_OF_MESSAGE = "SELECT cards.ref, cards.route, cards.mac FROM cards WHERE cards.message = ?"
#: Cards of waiting calls on a route that was moved stand nowhere now (see REQUEUE_CARDS).
CARDS_LOST = "UPDATE cards SET message=NULL, failed_at=NULL, error=NULL, mac=NULL WHERE cards.route = ? AND cards.ref IN (SELECT calls.ref FROM calls WHERE due_at is not null AND state = 'awaiting_confirmation')"
#: Queue the posting of a card.
QUEUE_CARD = "INSERT INTO outbox (ref, route, kind, attempts, not_before) VALUES (?, ?, 'card', 0, ?)"
#: Queue an edit, if the route has the card or is to have it.
QUEUE_EDIT = "INSERT INTO outbox (ref, route, kind, attempts, not_before) SELECT ?1 AS anon_1, ?2 AS anon_2, 'edit' AS anon_3, 0 AS anon_4, ?3 AS anon_5 FROM cards WHERE cards.ref = ?1 AND cards.route = ?2 AND cards.failed_at IS NULL"
#: Queue a notice of how a call ended; it needs no card.
QUEUE_NOTICE = "INSERT INTO outbox (ref, route, kind, attempts, not_before) VALUES (?, ?, 'notice', 0, ?)"
#: Cards of waiting calls on a route that was moved are to be posted anew.
REQUEUE_CARDS = "INSERT INTO outbox (ref, route, kind, attempts, not_before) SELECT cards.ref, ?1 AS anon_1, 'card' AS anon_2, 0 AS anon_3, ?2 AS anon_4 FROM cards JOIN calls ON calls.ref = cards.ref WHERE cards.route = ?1 AND due_at is not null AND state = 'awaiting_confirmation' AND NOT (EXISTS (SELECT 1 FROM outbox WHERE outbox.ref = cards.ref AND outbox.route = cards.route AND outbox.kind = 'card'))"
#: May anything go out by now?
ANYTHING_TO_SEND = "SELECT 1 FROM outbox WHERE outbox.not_before <= ? LIMIT 1"
#: What may go out now? One row for each route, except for busy routes, and only the oldest row of each card, so that
#: the card's order holds. New cards, notices and outcomes go first. Refreshes of pending calls go last, and not to calm
#: routes. (SQLite takes the other columns from the row that has the least value.)
TO_SEND = "SELECT min(CASE WHEN (o.kind = 'edit' AND calls.state = 'awaiting_confirmation') THEN 4611686018427387904 ELSE 0 END + o.id) AS min_1, o.id, o.ref, o.route, o.kind, o.attempts, c.message, c.mac FROM outbox AS o LEFT OUTER JOIN cards AS c ON c.ref = o.ref AND c.route = o.route LEFT OUTER JOIN calls ON calls.ref = o.ref WHERE o.not_before <= ? AND o.route NOT IN (SELECT value FROM json_each(?)) AND NOT (o.kind = 'edit' AND calls.state = 'awaiting_confirmation' AND o.route IN (SELECT value FROM json_each(?))) AND NOT (EXISTS (SELECT 1 FROM outbox AS e WHERE e.ref = o.ref AND e.route = o.route AND e.id < o.id)) GROUP BY o.route ORDER BY 1 LIMIT ?"
#: Lease a row: nobody else takes it until then.
LEASE_SENDING = "UPDATE outbox SET not_before=?, attempts=(outbox.attempts + 1), error=NULL WHERE outbox.id = ?"
#: No edit is leased, or put off, any more.
FREE_EDITS = "UPDATE outbox SET not_before=0 WHERE outbox.kind = 'edit' AND outbox.not_before > 0"
#: The edit being sent says all that these would.
DROP_LATER_EDITS = "DELETE FROM outbox WHERE outbox.ref = ? AND outbox.route = ? AND outbox.kind = 'edit' AND outbox.id > ?"
#: A row was told, or never can be.
DROP_SENDING = "DELETE FROM outbox WHERE outbox.id = ?"
#: Try a row again later.
PUT_OFF_SENDING = "UPDATE outbox SET not_before=?, error=? WHERE outbox.id = ?"
#: Let rows that were put off on a platform go out at once.
HASTEN = "UPDATE outbox SET not_before=0 WHERE outbox.not_before > ? AND outbox.error IS NOT NULL AND outbox.route >= ? AND outbox.route < ?"
#: Nothing can be edited where no card is.
DROP_EDITS = "DELETE FROM outbox WHERE outbox.ref = ? AND outbox.route = ? AND outbox.kind = 'edit'"
#: A card that stands needs no posting.
DROP_POSTING = "DELETE FROM outbox WHERE outbox.ref = ? AND outbox.route = ? AND outbox.kind = 'card'"
#: Where did platforms move conversations?
MOVES = "SELECT moves.old, moves.new, moves.mac FROM moves"
#: A conversation was moved.
KEEP_MOVE = "INSERT INTO moves (old, new, mac) VALUES (?, ?, ?) ON CONFLICT (old) DO UPDATE SET new = excluded.new, mac = excluded.mac"
#: What did we say last, in private conversations where that is known?
TALKS = "SELECT talks.place, talks.message, talks.ref, talks.mac FROM talks"
#: We said something there.
KEEP_TALK = "INSERT INTO talks (place, message, ref, mac) VALUES (?, ?, ?, ?) ON CONFLICT (place) DO UPDATE SET message = excluded.message, ref = excluded.ref, mac = excluded.mac"
#: What we said last there isn't known.
DROP_TALK = "DELETE FROM talks WHERE talks.place = ?"
#: A message of ours is about this call.
KEEP_MESSAGE = "INSERT INTO messages (message, ref, asks, mac) VALUES (?, ?, ?, ?) ON CONFLICT (message) DO NOTHING"
#: Which call is this message of ours about?
MESSAGE = "SELECT messages.message, messages.ref, messages.asks, messages.mac FROM messages WHERE messages.message = ?"
#: Keep an event, unless it is known.
INSERT_EVENT = "INSERT INTO inbox (source, id, ordering, body, received_at, failures, mac) VALUES (?, ?, ?, ?, ?, 0, ?) ON CONFLICT (source, id) DO NOTHING"
#: What is the oldest open event of each conversation?
EVENTS_OPEN = "SELECT inbox.source, inbox.id, inbox.ordering, inbox.body, inbox.received_at, inbox.failures, inbox.mac FROM inbox WHERE inbox.seq IN (SELECT min(inbox.seq) AS min_1 FROM inbox WHERE handled_at is null and aside_at is null GROUP BY inbox.source, inbox.ordering) ORDER BY inbox.seq LIMIT ?"
#: Which event of this source was kept last?
NEWEST_EVENT = "SELECT inbox.source, inbox.id, inbox.ordering, inbox.body, inbox.received_at, inbox.failures, inbox.mac FROM inbox WHERE inbox.source = ? ORDER BY inbox.seq DESC LIMIT 1"
#: Which events come next, and when did they come?
EVENTS_FROM = "SELECT inbox.seq, inbox.received_at FROM inbox WHERE inbox.seq > ? ORDER BY inbox.seq LIMIT ?"
#: Drop what among these events was handled, or set aside, by then.
DROP_EVENTS = "DELETE FROM inbox WHERE inbox.seq > ? AND inbox.seq <= ? AND coalesce(inbox.handled_at, inbox.aside_at) <= ?"
#: The event led to what it led to.
EVENT_HANDLED = "UPDATE inbox SET handled_at=? WHERE inbox.source = ? AND inbox.id = ? AND inbox.handled_at IS NULL"
#: Handling the event failed once more; with so many failures it is set aside. It returns the bare column because SQLite
#: 3.40 answers `aside_at is not null` there with 1 for a null.
EVENT_FAILED = "UPDATE inbox SET failures=(inbox.failures + 1), error=?, aside_at=CASE WHEN (inbox.failures + 1 >= ?) THEN ? END WHERE inbox.source = ? AND inbox.id = ? AND handled_at is null and aside_at is null RETURNING aside_at"
#: Under which key ids may rows be sealed?
KEY_IDS = "SELECT keys.kid FROM keys"
#: Remember a key id.
KEEP_KEY_ID = "INSERT INTO keys (kid, seen_at) VALUES (?, ?) ON CONFLICT (kid) DO NOTHING"
#: An agent begins a turn.
BEGIN_TURN = "INSERT INTO turns (id, place, identity, requester, message, text, said, state, done, mac) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING"
#: A turn went on, or is done.
KEEP_TURN = "UPDATE turns SET state=?, done=?, mac=? WHERE turns.id = ?"
#: Which turns aren't done?
TURNS_OPEN = "SELECT turns.id, turns.place, turns.identity, turns.requester, turns.message, turns.text, turns.said, turns.state, turns.done, turns.mac FROM turns WHERE not done ORDER BY turns.seq"
#: Which turn was done last in that conversation?
LAST_TURN = "SELECT turns.id, turns.place, turns.identity, turns.requester, turns.message, turns.text, turns.said, turns.state, turns.done, turns.mac FROM turns WHERE turns.place = ? AND turns.done = 1 ORDER BY turns.seq DESC LIMIT 1"
#: Of the turns that are done in a conversation, only the newest is kept.
DROP_TURNS = "DELETE FROM turns WHERE turns.place = ?1 AND turns.done = 1 AND turns.seq < (SELECT max(turns.seq) AS max_1 FROM turns WHERE turns.place = ?1 AND turns.done = 1)"
#: Which bearer tokens were ever made?
CREDENTIALS = "SELECT credentials.name, credentials.hash, credentials.scope, credentials.owner, credentials.origins, credentials.routes, credentials.created_at, credentials.created_by, credentials.until, credentials.mac, credentials.revoked_at, credentials.used_at FROM credentials ORDER BY credentials.name"
#: Which bearer tokens does the record call revoked, and since when?
CREDENTIALS_REVOKED = "SELECT audit.at, audit.data FROM audit WHERE audit.ref = '' AND audit.event = 'credential_revoked'"
#: Keep a bearer token, unless its name was used before.
KEEP_CREDENTIAL = "INSERT INTO credentials (name, hash, scope, owner, origins, routes, created_at, created_by, until, mac) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING"
#: A bearer token works no more.
REVOKE_CREDENTIAL = "UPDATE credentials SET revoked_at=?, mac=? WHERE credentials.name = ?"
#: A bearer token was used.
CREDENTIAL_USED = "UPDATE credentials SET used_at=? WHERE credentials.name = ?"
