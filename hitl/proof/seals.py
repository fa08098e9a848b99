"""Makes and checks the MACs over stored data. If somebody changes a row in the database, its MAC is wrong.

A call with a wrong MAC never runs. Each MAC covers several parts. They are packed as a JSON array, in which different
parts always give different bytes. The gate makes the MACs over a call: over the request, each vote, the decision, the
claim and the result. A store makes the MACs over its other rows, such as events, cards, prompts and moves. MACs of the
first format (`hitl.proof.keyring.Keyring`) cover fewer fields, and `frame` joins their parts.
"""

from __future__ import annotations

import hashlib
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from hitl.call import MAY_RUN, Bound, Decision
from hitl.proof.keyring import Keyring, Purpose, frame
from hitl.times import micros

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hitl.call import Call, KeptTurn, Prompt, Verdict, Vote
    from hitl.credentials import Credential

_encode = msgspec.json.Encoder().encode


def pack(*parts: object) -> bytes:
    """Return the bytes that a MAC covers, from texts, numbers, None and tuples.

    Different parts give different bytes.
    """
    return _encode(parts)


# -- the request and the verdict of a call ---------------------------------------------------------------------------


def row(keys: Keyring, call: Call) -> str:
    """Return the MAC over the fields of a call that must not change after people were asked."""
    return keys.seal(Purpose.ROW, _row(call))


def row_holds(keys: Keyring, call: Call) -> bool:
    """Return whether the stored MAC over the fields that must not change (see `row`) is right."""
    return keys.holds(Purpose.ROW, call.row_mac, _row(call), partial(_first_row, call))


def _row(call: Call) -> bytes:
    verdict = call.verdict
    return pack(
        *(call.ref, call.short, call.digest, hashlib.sha256(call.args).hexdigest(), call.tools, call.tool),
        *(call.executor, call.definition, call.cwd, call.preconditions, call.sentence, call.preview, call.notes),
        *(call.note, call.requester, call.agent, call.session, call.origin, call.runs, call.key, call.previous),
        *(verdict.action, verdict.risk, verdict.rule, verdict.reason, verdict.why, verdict.policy),
        *(verdict.timeout_s, verdict.execution_s, verdict.approvers, verdict.exclude_requester),
        *(verdict.require_reason, verdict.message, verdict.programs),
        # The additions to the card. A verdict without additions adds no part here, so that the MACs of older rows are
        # still valid.
        *(() if verdict.card is None else (msgspec.structs.astuple(verdict.card),)),
        *(call.approvers, call.routes, micros(call.created_at), micros(call.deadline)),
        # The time of erasure adds a part at the end. So a MAC of an erased row is never valid for a row that isn't
        # erased.
        *(() if call.erased_at is None else (micros(call.erased_at),)),
    )


def _first_row(call: Call) -> bytes:
    return frame(
        (
            *(call.ref, call.short, call.digest, hashlib.sha256(call.args).digest(), call.tools, call.tool),
            *(call.executor, call.definition, call.cwd),
            frame(part for pair in call.preconditions for part in pair),
            *(call.sentence, call.preview, frame(call.notes), call.note),
            *(call.requester, call.agent, call.session, call.origin, call.runs.value, call.key, call.previous),
            *_first_verdict(call.verdict),
            *(frame(call.approvers), frame(call.routes), call.created_at.isoformat(), call.deadline.isoformat()),
        )
    )


def _first_verdict(verdict: Verdict) -> tuple[str | bytes | None, ...]:
    return (
        *(verdict.action.value, verdict.risk.value, verdict.rule, verdict.reason, verdict.why, verdict.policy),
        *(str(verdict.timeout_s), str(verdict.execution_s)),
        None if verdict.approvers is None else frame(verdict.approvers),
        "others" if verdict.exclude_requester else "",
        "reason" if verdict.require_reason else "",
        *(verdict.message, frame(verdict.programs)),
    )


# -- the votes, decision, claim and result of a call --------------------------------------------------------------


def decision(keys: Keyring, call: Call) -> str:
    """Return the MAC over the decision: the call, the outcome, the decider, the time and the reason."""
    return keys.seal(Purpose.DECISION, _decision(call))


def decision_holds(keys: Keyring, call: Call) -> bool:
    """Return whether the MAC of the stored decision is valid.

    If the call has no decision, return whether the other fields of a decision (time, person, reason, MAC) are empty.
    """
    if call.decision is None:
        return all(part is None for part in (call.decided_at, call.decided_by, call.reason, call.decision_mac))

    def first() -> bytes:
        at = call.decided_at.isoformat() if call.decided_at else None
        return frame((call.ref, call.digest, call.decision, call.decided_by, at))

    return keys.holds(Purpose.DECISION, call.decision_mac, _decision(call), first)


def _decision(call: Call) -> bytes:
    # The MAC over the result covers the error if the call may run, because the run can set that error.
    error = None if call.decision in MAY_RUN else call.error
    return pack(call.ref, call.digest, call.decision, call.decided_by, _at(call.decided_at), call.reason, error)


def vote(keys: Keyring, said: Vote, digest: str) -> str:
    """Return the MAC over one vote.

    It covers yes or no, the voter and the account, the times, the surface, the reason, the risk and the call's digest.
    """
    return keys.seal(Purpose.VOTE, _vote(said, digest))


def votes_hold(keys: Keyring, call: Call, votes: Sequence[Vote]) -> bool:
    """Return whether the MACs of all stored votes on a call are valid.

    If the call is approved or rejected, also return False unless `decided_by` has voted so.
    """
    intact = all(_vote_holds(keys, call, said) for said in votes)
    if call.decision not in {Decision.APPROVED, Decision.REJECTED}:
        return intact
    approve = call.decision is Decision.APPROVED
    return intact and any(said.approve is approve and said.principal == call.decided_by for said in votes)


def _vote_holds(keys: Keyring, call: Call, said: Vote) -> bool:
    def first() -> bytes:
        which = "approve" if said.approve else "reject"
        return frame((call.ref, call.digest, which, said.principal, said.at.isoformat(), *_account(said)))

    return said.ref == call.ref and keys.holds(Purpose.VOTE, said.mac, _vote(said, call.digest), first)


def _vote(said: Vote, digest: str) -> bytes:
    when = (micros(said.at), _at(said.pressed_at))
    return pack(said.ref, digest, said.approve, said.principal, said.reason, said.surface, *when, *_account(said))


def _account(said: Vote) -> tuple[str | None, ...]:
    """Return the account and the risk of a vote.

    Return () for a vote of an earlier version, so that its MAC stays valid.
    """
    return () if said.identity is None and said.risk is None else (said.identity, said.risk)


def claim(keys: Keyring, call: Call) -> str:
    """Return the MAC over a claim: the call, the claimant and the end of the lease.

    Raises ValueError for an unclaimed call.
    """
    return keys.seal(Purpose.CLAIM, _claim(call))


def claim_holds(keys: Keyring, call: Call) -> bool:
    """Return whether the MAC of the stored claim is valid. Without a claim, return True."""
    return call.claim is None or keys.holds(Purpose.CLAIM, call.claim.mac, _claim(call))


def _claim(call: Call) -> bytes:
    if call.claim is None:
        raise ValueError(call.ref)
    return pack(call.ref, call.digest, call.claim.owner, call.claim.secret_hash, micros(call.claim.until))


def result(keys: Keyring, call: Call) -> str:
    """Return the MAC over a result: the call, the result, the time, the output and the error."""
    return keys.seal(Purpose.RESULT, _result(call))


def result_holds(keys: Keyring, call: Call) -> bool:
    """Return whether the MAC of the stored result is valid.

    If the call has no result, return whether the other fields of a result (time, output, error, MAC) are empty. The
    error may belong to a decision that lets nothing run; then the MAC of the decision covers it.
    """
    if call.result is None:
        error = None if call.decision is not None and call.decision not in MAY_RUN else call.error
        return all(part is None for part in (call.finished_at, call.output, error, call.result_mac))
    return keys.holds(Purpose.RESULT, call.result_mac, _result(call))


def _result(call: Call) -> bytes:
    output = hashlib.sha256(call.output.encode()).hexdigest() if call.output else call.output
    return pack(call.ref, call.digest, call.result, _at(call.finished_at), output, call.error)


def broken(keys: Keyring, call: Call) -> str | None:
    """Return the first part of a stored call with a wrong MAC ("row", "decision", "claim" or "result"), or None."""
    parts = {
        "row": row_holds(keys, call),
        "decision": decision_holds(keys, call),
        "claim": claim_holds(keys, call),
        "result": result_holds(keys, call),
    }
    return next((part for part, whole in parts.items() if not whole), None)


# -- the other rows of a store: events, cards, prompts, moves, messages, turns -----------------------------------


def event(keys: Keyring, source: str, number: str, order: str, body: bytes, at: datetime) -> str:
    """Return the MAC over a platform's raw event. A forged event could be a forged approval."""
    return keys.seal(Purpose.INBOX, _event(source, number, order, body, at))


def event_holds(
    keys: Keyring, mac: str | None, source: str, number: str, order: str, body: bytes, at: datetime
) -> bool:
    """Return whether the MAC of a stored event is valid."""
    return keys.holds(Purpose.INBOX, mac, _event(source, number, order, body, at))


def _event(source: str, number: str, order: str, body: bytes, at: datetime) -> bytes:
    return pack(source, number, order, hashlib.sha256(body).hexdigest(), micros(at))


def card(keys: Keyring, ref: str, route: str, message: str) -> str:
    """Return the MAC over a card's ref, route and message id.

    With a forged message id, a reply to some other message would count as an answer to the card.
    """
    return keys.seal(Purpose.CARD, pack(ref, route, message))


def card_holds(keys: Keyring, mac: str | None, ref: str, route: str, message: str) -> bool:
    """Return whether the MAC of a stored card is valid."""
    return keys.holds(Purpose.CARD, mac, pack(ref, route, message))


def prompt(keys: Keyring, left: Prompt) -> str:
    """Return the MAC over a prompt. A forged prompt could be the forged first yes to a critical call."""
    return keys.seal(Purpose.PROMPT, _prompt(left))


def prompt_holds(keys: Keyring, mac: str | None, left: Prompt) -> bool:
    """Return whether the MAC of a stored prompt is valid."""
    return keys.holds(Purpose.PROMPT, mac, _prompt(left))


def _prompt(left: Prompt) -> bytes:
    return pack(left.ref, left.principal, left.kind, micros(left.at))


def move(keys: Keyring, old: str, new: str) -> str:
    """Return the MAC over a conversation's old and new name.

    With a forged move, a yes in another conversation could count for the calls of the old conversation.
    """
    return keys.seal(Purpose.MOVE, pack(old, new))


def move_holds(keys: Keyring, mac: str | None, old: str, new: str) -> bool:
    """Return whether the MAC of a stored move is valid."""
    return keys.holds(Purpose.MOVE, mac, pack(old, new))


def talk(keys: Keyring, place: str, message: str, ref: str | None) -> str:
    """Return the MAC over Sayso's latest message in a conversation, and over the ref that the message is about."""
    return keys.seal(Purpose.TALK, pack(place, message, ref))


def talk_holds(keys: Keyring, mac: str | None, place: str, message: str, ref: str | None) -> bool:
    """Return whether the MAC over Sayso's latest message in a conversation, and over its ref, is valid."""
    return keys.holds(Purpose.TALK, mac, pack(place, message, ref))


def bound(keys: Keyring, message: str, ref: str, asks: str = "") -> Bound:
    """Return the link from a message of Sayso to its call, with its MAC. For `asks` see `Bound`."""
    return Bound(message, ref, asks, keys.seal(Purpose.MESSAGE, pack(message, ref, asks)))


def bound_holds(keys: Keyring, stored: Bound) -> bool:
    """Return whether the MAC of a message's link to its call is valid.

    With a changed link, a yes could count for another call.
    """
    parts = (stored.message, stored.ref, stored.asks)
    return keys.holds(Purpose.MESSAGE, stored.mac, pack(*parts), lambda: frame(parts))


def turn(keys: Keyring, kept: KeptTurn) -> str:
    """Return the MAC over a turn. If somebody changed a turn, an agent could act for a person who said nothing."""
    return keys.seal(Purpose.TURN, _turn(kept))


def turn_holds(keys: Keyring, kept: KeptTurn) -> bool:
    """Return whether the MAC of a stored turn is valid."""
    return keys.holds(Purpose.TURN, kept.mac, _turn(kept))


def _turn(kept: KeptTurn) -> bytes:
    state = hashlib.sha256(kept.state).hexdigest()
    return pack(
        *(kept.id, kept.place, kept.identity, kept.requester, kept.message, kept.text, kept.said, state, kept.done)
    )


def _at(at: datetime | None) -> int | None:
    return None if at is None else micros(at)


# -- bearer tokens ----------------------------------------------------------------------------------------------


def credential(keys: Keyring, made: Credential) -> str:
    """Return the MAC over a bearer token's row: its holder, its rights, its times, and whether it was revoked."""
    return keys.seal(Purpose.CREDENTIAL, _credential(made))


def credential_holds(keys: Keyring, stored: Credential) -> bool:
    """Return whether the MAC of a bearer token's row is valid. A changed row could give the holder other rights."""
    return keys.holds(Purpose.CREDENTIAL, stored.mac, _credential(stored))


def _credential(made: Credential) -> bytes:
    times = (_at(made.created_at), _at(made.until), _at(made.revoked_at))
    return pack(made.name, made.hash, made.scope, made.owner, made.origins, made.routes, made.created_by, *times)
