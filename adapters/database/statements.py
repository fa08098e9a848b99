"""Every statement that the database is asked, each with a line that says what it asks or does.

They are SQLite's own text, run on the driver's connection: going through SQLAlchemy costs as much again as
the disk. The names of the columns stand here once; a test holds them to `tables.py` and every statement to
the migrated schema.
"""

from __future__ import annotations

#: What is fixed when a call is stored: all but `salt` and `args`, which stand last in the table.
FIXED = (
    *("ref", "short", "digest", "tools", "tool", "executor", "definition", "cwd", "preconditions"),
    *("sentence", "preview", "notes", "note", "requester", "agent", "session", "origin", "runs"),
    *('"key"', "previous", "action", "risk", "rule", "policy", "timeout_s", "execution_s", "require_reason"),
    *("terms", "approvers", "routes", "created_at", "deadline", "row_mac"),
)

#: What a swap writes.
MUTABLE = (
    *("state", "version", "decision", "decided_at", "decided_by", "reason", "decision_mac"),
    *("claim_owner", "claim_hash", "claim_until", "result", "finished_at", "due_at", "archived"),
    *("error", "output"),
)

#: All of a call, in the order in which `rows.call_of` reads it.
CALL = (*FIXED, *MUTABLE, "args")


def _words(*parts: str) -> str:
    return " ".join(parts)


def _insert(table: str, *columns: str) -> str:
    return _words("insert into", table, "(", ", ".join(columns), ") values (", ", ".join("?" for _ in columns), ")")


def _calls(*where: str) -> str:
    return _words("select", ", ".join(CALL), "from calls where", *where)


_THIS_VERSION = "ref = ? and version = ?"
_TIME_TESTS = {None: "", False: " and due_at > ?", True: " and due_at <= ?"}

# Calls

#: Keep a new call.
INSERT_CALL = _insert("calls", *FIXED, *MUTABLE, "salt", "args")
#: Move a call, where it still has the version (and, by key: is in time, is overdue).
SWAP_CALL = {
    overdue: _words("update calls set", ", ".join(f"{name} = ?" for name in MUTABLE), "where", _THIS_VERSION + test)
    for overdue, test in _TIME_TESTS.items()
}
#: Does a call still have the version (and is in time, is overdue)?
HOLDS = {overdue: _words("select 1 from calls where", _THIS_VERSION + test) for overdue, test in _TIME_TESTS.items()}
#: Which call has this ref?
CALL_BY_REF = _calls("ref = ?")
#: Which call has this short ref?
CALL_BY_SHORT = _calls("short = ?")
#: Which call did the requester make with this idempotency key?
CALL_BY_KEY = _calls('requester = ? and "key" = ?')
#: Which calls wait for people, the oldest first? The inner question is answered from an index alone.
CALLS_WAITING = _calls(
    "rowid in (select rowid from calls indexed by calls_waiting_origin",
    "where state = 'awaiting_confirmation' order by created_at, rowid limit ?) order by created_at, rowid",
)
#: Which calls of this conversation wait for people, the oldest first?
CALLS_WAITING_IN = _calls(
    "state = 'awaiting_confirmation' and origin = ? order by created_at, rowid limit ?",
)
#: Which waiting calls were asked in this conversation (1), have their card on its route, or have this card (2), the
#: oldest first? Only the calls that wait are looked through, however many cards ever stood there.
CALLS_STANDING = _calls(
    "rowid in (select rowid from calls where state = 'awaiting_confirmation' and origin = ?1",
    "union select w.rowid from calls w join cards c on c.ref = w.ref",
    "where w.state = 'awaiting_confirmation' and (c.route = ?1 or c.message = ?2))",
    "order by created_at, rowid limit ?3",
)
#: How many calls of the requester wait for people, at most so many?
COUNT_WAITING = (
    "select count(*) from (select 1 from calls where state = 'awaiting_confirmation' and requester = ? limit ?)"
)
#: Which waiting call has this digest and this agent, the oldest first?
SAME_WAITING = _calls("state = 'awaiting_confirmation' and digest = ? and agent = ? order by created_at, rowid limit 1")
#: For which calls is something due by now, the most overdue first?
CALLS_DUE = _calls("due_at <= ? order by due_at limit ?")
#: When is something due next?
NEXT_DUE = "select min(due_at) from calls where due_at is not null"
#: Which calls are claimed by somebody whose name begins so and not over, the oldest first?
CALLS_LEASED = _calls(
    "due_at is not null and substr(claim_owner, 1, length(?1)) = ?1 order by created_at, rowid limit ?2"
)
#: Under which key ids are calls sealed that aren't over?
OPEN_KEY_IDS = (
    "select distinct substr(row_mac, 1, instr(row_mac, ':') - 1) from calls where due_at is not null"
    " union select distinct substr(decision_mac, 1, instr(decision_mac, ':') - 1) from calls"
    " where due_at is not null and decision_mac is not null"
)

# Votes

#: Keep a vote after those that the call has.
INSERT_VOTE = (
    "insert into votes (ref, seq, principal, approve, reason, surface, pressed_at, at, mac)"
    " select ?1, coalesce(max(seq), 0) + 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 from votes where ref = ?1"
)
#: Which votes does the call have, the oldest first?
VOTES = "select ref, principal, approve, reason, surface, pressed_at, at, mac from votes where ref = ? order by seq"

# The record

#: What is the last line of this chain?
LAST_LINE = "select seq, hash from audit where ref = ? order by seq desc limit 1"
#: Add a line.
INSERT_LINE = _insert("audit", "ref", "seq", "at", "event", "actor", "data", "prev", "hash")
#: What is the newest recorded time? Each line is at least as new as the one before, but for lines of older versions
#: while their clock was set back: so some of the latest are looked at.
NEWEST = "select max(at) from audit where id > (select max(id) from audit) - 1000"
#: What does this chain say, from its start?
LINES = "select ref, seq, at, event, actor, data, prev, hash from audit where ref = ? order by seq"

# Prompts

#: Remember what is open with a person about a call, in place of what was.
KEEP_PROMPT = (
    "insert into prompts (ref, principal, kind, at) values (?, ?, ?, ?)"
    " on conflict (ref, principal, kind) do update set at = excluded.at"
)
#: What was last left open with this person about this call?
PROMPT = "select at from prompts where ref = ? and principal = ? and kind = ?"

# Cards and the outbox

#: A route is to have the card (again, if it couldn't before).
KEEP_CARD = (
    "insert into cards (ref, route) values (?, ?) on conflict (ref, route) do update set failed_at = null, error = null"
)
#: Queue the posting of a card.
QUEUE_CARD = "insert into outbox (ref, route, kind, attempts, not_before) values (?, ?, 'card', 0, ?)"
#: Queue an edit, where the route has the card or is to have it.
QUEUE_EDIT = (
    "insert into outbox (ref, route, kind, attempts, not_before)"
    " select ref, route, 'edit', 0, ?3 from cards where ref = ?1 and route = ?2 and failed_at is null"
)
#: Queue a notice of how a call ended; it needs no card.
QUEUE_NOTICE = "insert into outbox (ref, route, kind, attempts, not_before) values (?, ?, 'notice', 0, ?)"
#: May anything go out by now?
ANYTHING_TO_SEND = "select 1 from outbox where not_before <= ? limit 1"
#: What may go out by now? One row a route, but for these, and only the oldest row of each card, so that its order
#: holds. (SQLite takes the other columns from the row that has the least id.)
TO_SEND = (
    "select min(o.id), o.ref, o.route, o.kind, o.attempts, c.message"
    " from outbox o left join cards c on c.ref = o.ref and c.route = o.route"
    " where o.not_before <= ? and o.route not in (select value from json_each(?)) and not exists"
    " (select 1 from outbox e where e.ref = o.ref and e.route = o.route and e.id < o.id)"
    " group by o.route order by 1 limit ?"
)
#: Lease a row: nobody else takes it until then.
LEASE_SENDING = "update outbox set not_before = ?, attempts = attempts + 1 where id = ?"
#: No edit is leased, or put off, any more.
FREE_EDITS = "update outbox set not_before = 0 where kind = 'edit' and not_before > 0"
#: The edit being sent says all that these would.
DROP_LATER_EDITS = "delete from outbox where ref = ? and route = ? and kind = 'edit' and id > ?"
#: A row was told, or never can be.
DROP_SENDING = "delete from outbox where id = ?"
#: Try a row again later.
PUT_OFF_SENDING = "update outbox set not_before = ?, error = ? where id = ?"
#: The card of a call stands on the route as this message.
CARD_STANDS = (
    "insert into cards (ref, route, message) values (?, ?, ?)"
    " on conflict (ref, route) do update set message = excluded.message, failed_at = null, error = null"
)
#: The platform took a card: it is this message, unless another was found standing before.
CARD_SENT = (
    "insert into cards (ref, route, message) values (?, ?, ?) on conflict (ref, route)"
    " do update set message = coalesce(cards.message, excluded.message), failed_at = null, error = null"
)
#: The card never reaches the route.
CARD_FAILED = "update cards set failed_at = ?, error = ? where ref = ? and route = ?"
#: The card's last edit never reaches the route.
EDIT_FAILED = "update cards set error = ? where ref = ? and route = ?"
#: Nothing can be edited where no card is.
DROP_EDITS = "delete from outbox where ref = ? and route = ? and kind = 'edit'"
#: A card that stands needs no posting.
DROP_POSTING = "delete from outbox where ref = ? and route = ? and kind = 'card'"
#: On which routes does a call's card stand, or will?
CARDS = "select route, message from cards where ref = ? and failed_at is null order by route"

#: Which card stands under this message id?
CARD_OF_MESSAGE = "select ref, route from cards where message = ?"
#: Where did platforms move conversations?
MOVES = "select old, new from moves"
#: A conversation was moved.
KEEP_MOVE = "insert into moves (old, new) values (?, ?) on conflict (old) do update set new = excluded.new"
#: Cards of waiting calls on a route that was moved stand nowhere now ...
CARDS_LOST = (
    "update cards set message = null, failed_at = null, error = null where route = ?"
    " and ref in (select ref from calls where state = 'awaiting_confirmation')"
)
#: ... and are to be posted anew.
REQUEUE_CARDS = (
    "insert into outbox (ref, route, kind, attempts, not_before) select c.ref, c.route, 'card', 0, ?2 from cards c"
    " join calls on calls.ref = c.ref where c.route = ?1 and calls.state = 'awaiting_confirmation' and not exists"
    " (select 1 from outbox o where o.ref = c.ref and o.route = c.route and o.kind = 'card')"
)

# Talks

#: What did we say last, in private conversations where that is known?
TALKS = "select place, message, ref from talks"
#: We said something there.
KEEP_TALK = (
    "insert into talks (place, message, ref) values (?, ?, ?)"
    " on conflict (place) do update set message = excluded.message, ref = excluded.ref"
)
#: What we said last there isn't known.
DROP_TALK = "delete from talks where place = ?"

# Messages of ours that are no cards

#: A message of ours is about this call.
KEEP_MESSAGE = _words(_insert("messages", "message", "ref", "asks", "mac"), "on conflict (message) do nothing")
#: Which call is this message of ours about?
MESSAGE = "select message, ref, asks, mac from messages where message = ?"

# The inbox

#: Keep an event, unless it is known.
INSERT_EVENT = (
    "insert into inbox (source, id, ordering, body, received_at, failures) values (?, ?, ?, ?, ?, 0)"
    " on conflict (source, id) do nothing"
)
#: What is the oldest open event of each conversation?
EVENTS_OPEN = (
    "select source, id, ordering, body, received_at, failures from inbox where seq in"
    " (select min(seq) from inbox where handled_at is null and aside_at is null group by source, ordering)"
    " order by seq limit ?"
)
#: The event led to what it led to.
EVENT_HANDLED = "update inbox set handled_at = ? where source = ? and id = ? and handled_at is null"
#: Handling the event failed once more; with so many failures it is set aside. It returns the bare column because
#: SQLite 3.40 answers `aside_at is not null` there with 1 for a null.
EVENT_FAILED = (
    "update inbox set failures = failures + 1, error = ?1,"
    " aside_at = case when failures + 1 >= ?2 then ?3 end"
    " where source = ?4 and id = ?5 and handled_at is null and aside_at is null"
    " returning aside_at"
)

#: Which events come next, and when did they come?
EVENTS_FROM = "select seq, received_at from inbox where seq > ? order by seq limit ?"
#: Drop what among these events was handled, or set aside, by then.
DROP_EVENTS = "delete from inbox where seq > ? and seq <= ? and coalesce(handled_at, aside_at) <= ?"

# Keys

#: Under which key ids may rows be sealed?
KEY_IDS = "select kid from keys"
#: Remember a key id.
KEEP_KEY_ID = "insert into keys (kid, seen_at) values (?, ?) on conflict (kid) do nothing"
