"""Converts frozen objects such as `Call` and `Vote` to rows of the database, and rows to objects.

Values are checked before they are written: a time must be an aware datetime, a state must be a `State`, and arguments
must be bytes. Any other value raises TypeError or AttributeError and is never written. Rows are read by position, in
the order of `CALL`, because a call has fifty columns and is read for every decision.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from adapters.database.sqlite.cache import PendingCall, asked
from hitl.call import (
    Action,
    Call,
    CardTerms,
    Claim,
    Decision,
    Incoming,
    Post,
    PostKind,
    Reason,
    Recorded,
    Result,
    Risk,
    Runs,
    Sending,
    State,
    Verdict,
    Vote,
)
from hitl.proof import seals
from hitl.times import micros, moment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hitl.proof.keyring import Keyring

#: The columns of a call that are written once, when the call is made. Only retention may change some of them later
#: (`ERASED`). `salt` and `args` are also written once, but aren't in this list.
FIXED = (
    *("ref", "short", "digest", "tools", "tool", "executor", "definition", "cwd", "preconditions"),
    *("sentence", "preview", "notes", "note", "requester", "agent", "session", "origin", "runs"),
    *("key", "previous", "action", "risk", "rule", "policy", "timeout_s", "execution_s", "require_reason"),
    *("terms", "approvers", "routes", "created_at", "deadline", "row_mac"),
)

#: The columns of a call that a conditional update (a swap) writes.
MUTABLE = (
    *("state", "version", "decision", "decided_at", "decided_by", "reason", "decision_mac"),
    *("claim_owner", "claim_hash", "claim_until", "claim_mac"),
    *("result", "finished_at", "result_mac", "due_at", "archived"),
    *("error", "output"),
)

#: The columns of a call that retention writes when it erases the call's contents. It also sets `salt` to NULL.
ERASED = ("cwd", "preconditions", "sentence", "preview", "notes", "note", "terms", "row_mac", "args", "erased_at")

#: The columns of a call, in the order in which `call_of` reads them.
CALL = (*FIXED, *MUTABLE, "args", "erased_at")

#: The columns of a pending call that the store keeps in memory (`sqlite/cache.py`), in the order in which `asked_of`
#: reads them.
ASKED = ("ref", "requester", "origin", "digest", "agent", "routes")

#: The columns of a vote, in the order in which `vote_of` reads them.
VOTE = ("ref", "principal", "approve", "reason", "surface", "pressed_at", "at", "mac", "identity", "risk")

#: The columns of a line of the audit record, in the order in which `line_of` reads them.
LINE = ("ref", "seq", "at", "event", "actor", "data", "prev", "hash")

#: The errors of reading or verifying a row into which somebody wrote values of any type by hand.
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, OverflowError)

# This encoder writes canonical JSON (RFC 8785) only for simple values. The stored values are simple: strings in lists
# and in objects with ASCII keys.
_encode = msgspec.json.Encoder(order="sorted").encode

_NO_ITEMS = "[]"


def _json(value: object) -> str:
    return _encode(value).decode() if value else _NO_ITEMS


_STATES = {state.value: state for state in State}
_DECISIONS: dict[str | None, Decision | None] = {None: None, **{each.value: each for each in Decision}}
_RESULTS: dict[str | None, Result | None] = {None: None, **{each.value: each for each in Result}}
_RUNS = {runs.value: runs for runs in Runs}


def fixed_values(call: Call) -> tuple[Any, ...]:
    """Return the values of a call for the columns in `FIXED`."""
    verdict = call.verdict
    return (
        *(call.ref, call.short, call.digest, call.tools, call.tool, call.executor, call.definition, call.cwd),
        *(_json(call.preconditions), call.sentence, call.preview, _json(call.notes), call.note),
        *(call.requester, call.agent, call.session, call.origin, call.runs.value, call.key, call.previous),
        *(verdict.action.value, verdict.risk.value, verdict.rule, verdict.policy),
        *(verdict.timeout_s, verdict.execution_s, verdict.require_reason, _terms(verdict)),
        *(_list(call.approvers), _list(call.routes)),
        *(micros(call.created_at), micros(call.deadline), call.row_mac),
    )


def mutable_values(call: Call) -> tuple[Any, ...]:
    """Return the values of a call for the columns in `MUTABLE`."""
    claim = call.claim
    return (
        *(call.state.value, call.version, call.decision and call.decision.value, _micros(call.decided_at)),
        *(call.decided_by, call.reason, call.decision_mac),
        *((claim.owner, claim.secret_hash, micros(claim.until), claim.mac) if claim else (None, None, None, None)),
        *(call.result and call.result.value, _micros(call.finished_at), call.result_mac),
        *(_micros(call.due_at), call.archived),
        *(call.error, call.output),
    )


def erased_values(call: Call) -> tuple[Any, ...]:
    """Return the values of an erased call for the columns in `ERASED`."""
    return (
        *(call.cwd, _json(call.preconditions), call.sentence, call.preview, _json(call.notes), call.note),
        *(_terms(call.verdict), call.row_mac, args_of(call), _micros(call.erased_at)),
    )


def args_of(call: Call) -> bytes:
    """Return the call's arguments as bytes.

    Raises TypeError if they aren't bytes, because SQLite would accept a text too.
    """
    if type(call.args) is not bytes:
        raise TypeError(f"arguments are kept as bytes, not as {type(call.args).__name__}")
    return call.args


def call_of(row: Sequence[Any]) -> Call:
    """Return the call in a row with the columns `CALL`. Raises one of `UNREADABLE` if the row isn't a call."""
    asked, ruled, agreed, moved, (args, erased_at) = row[:20], row[20:28], row[28:33], row[33:51], row[51:]
    approvers, routes, created_at, deadline, row_mac = agreed
    state, version, decision, decided_at, decided_by, reason, decision_mac = moved[:7]
    owner, secret_hash, until, claim_mac, result, finished_at, result_mac, due_at, archived, error, output = moved[7:]
    if type(args) is not bytes:
        raise TypeError("arguments that aren't bytes")
    fixed: tuple[Any, ...] = (
        *(*asked[:5], args, *asked[5:8], _pairs(asked[8]), *asked[9:11], _strings(asked[11])),
        *(*asked[12:17], _RUNS[asked[17]], *asked[18:], _verdict(*ruled), _strings(approvers), _strings(routes)),
        *(moment(created_at), moment(deadline), row_mac),
    )
    claim = None if owner is None else Claim(owner, secret_hash, moment(until), claim_mac)
    mutable: tuple[Any, ...] = (
        *(_STATES[state], version, _DECISIONS[decision], _moment(decided_at), decided_by, reason, decision_mac),
        *(claim, _RESULTS[result], output, error, _moment(finished_at), result_mac, _moment(due_at), bool(archived)),
        _moment(erased_at),
    )
    return Call(*fixed, *mutable)


@lru_cache(maxsize=1024)
def _verdict(*ruled: Any) -> Verdict:
    """Return the verdict in the columns of a call.

    The verdict is cached, because calls under one rule share a verdict, and decoding a verdict is slow.
    """
    action, risk, rule, policy, timeout_s, execution_s, require_reason, terms = ruled
    told = json.loads(terms)
    values: tuple[Any, ...] = (
        *(Action(action), Risk(risk), rule, Reason(told["reason"]), told["why"], policy, timeout_s, execution_s),
        *(_maybe_strings(told["approvers"]), told["exclude_requester"], bool(require_reason)),
        *(told["message"], tuple(told["programs"]), _card(told.get("card"))),
    )
    return Verdict(*values)


def _card(told: dict[str, Any] | None) -> CardTerms | None:
    """Return the policy's additions to the card (`CardTerms`), or None for a row that an older version wrote."""
    if told is None:
        return None
    numbers = tuple((name, text) for name, text in told["numbers"])
    return CardTerms(
        **told | {"fields": _maybe_strings(told["fields"]), "order": tuple(told["order"]), "numbers": numbers}
    )


def asked_of(row: Sequence[Any]) -> tuple[str, PendingCall]:
    """Return the ref of a pending call, and the fields of the call that the store keeps in memory.

    Raises TypeError if a value isn't text.
    """
    ref, requester, origin, digest, agent, routes = row
    return ref, asked(requester, origin, digest, agent, _strings(routes))


def vote_values(vote: Vote) -> tuple[Any, ...]:
    """Return a vote's values in the order of the parameters of `statements.INSERT_VOTE`."""
    return (
        *(vote.ref, vote.principal, bool(vote.approve), vote.reason, vote.surface),
        *(_micros(vote.pressed_at), micros(vote.at), vote.mac, vote.identity, vote.risk),
    )


def vote_of(row: Sequence[Any]) -> Vote:
    """Return the vote in a row with the columns `VOTE`."""
    ref, principal, approve, reason, surface, pressed_at, at, mac, identity, risk = row
    times = _moment(pressed_at), moment(at)
    return Vote(ref, principal, bool(approve), reason, surface, *times, mac, identity, Risk(risk) if risk else None)


def line_values(line: Recorded) -> tuple[Any, ...]:
    """Return the values of a line of the audit record, in the order of the parameters of `statements.INSERT_LINE`."""
    return line.ref, line.seq, micros(line.at), line.event, line.actor, line.data, line.prev, line.hash


def line_of(row: Sequence[Any]) -> Recorded:
    """Return the line of the audit record in a row with the columns `LINE`.

    If somebody edited the row by hand, a value may have the wrong type. The line then gets this value as text, or the
    year 1970 in place of a time that can't be read. The line's MAC is wrong then, which shows the change.
    """
    ref, seq, at, *texts = row
    event, actor, data, prev, own = map(str, texts)
    try:
        when = moment(at)
    except UNREADABLE:
        when = moment(0)
    return Recorded(str(ref), seq, when, event, actor, data, prev, own)


def sending_of(row: Sequence[Any], keys: Keyring) -> Sending:
    """Return the outbox entry in a row of `statements.TO_SEND`.

    If the card's MAC is wrong, the entry has no message id.
    """
    _urgency, number, ref, route, kind, attempts, message, mac = row
    known = message if message and seals.card_holds(keys, mac, ref, route, message) else None
    return Sending(number, Post(ref, route, PostKind(kind)), attempts, known)


def incoming_of(row: Sequence[Any], keys: Keyring) -> Incoming:
    """Return the inbox event in a row of `statements.EVENTS_OPEN`."""
    source, number, ordering, body, received_at, failures, mac = row
    sound = type(body) is bytes and type(received_at) is int and type(ordering) is str
    came = (source, number, str(ordering), body if sound else b"", moment(received_at if sound else 0))
    return Incoming(*came, failures, intact=sound and seals.event_holds(keys, mac, *came))


@lru_cache(maxsize=1024)
def _list(items: tuple[str, ...]) -> str:
    """Return the items as JSON.

    The result is cached, because most calls have the same approvers and routes as the call before.
    """
    return _json(items)


def _maybe_strings(items: list[str] | None) -> tuple[str, ...] | None:
    return None if items is None else tuple(items)


@lru_cache(maxsize=1024)
def _strings(text: str) -> tuple[str, ...]:
    return () if text == _NO_ITEMS else tuple(json.loads(text))


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    return () if text == _NO_ITEMS else tuple((name, value) for name, value in json.loads(text))


def _micros(at: datetime | None) -> int | None:
    return None if at is None else micros(at)


def _moment(since_epoch: int | None) -> datetime | None:
    return None if since_epoch is None else moment(since_epoch)


@lru_cache(maxsize=1024)
def _terms(verdict: Verdict) -> str:
    return _json(
        {
            "approvers": verdict.approvers,
            "exclude_requester": verdict.exclude_requester,
            "message": verdict.message,
            "programs": verdict.programs,
            "reason": verdict.reason,
            "why": verdict.why,
            **({} if verdict.card is None else {"card": msgspec.structs.asdict(verdict.card)}),
        }
    )
