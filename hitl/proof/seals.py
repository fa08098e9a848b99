"""What is sealed, so that a row that somebody changed in the database runs nothing.

Each seal covers the parts of one thing, packed as a JSON array: no two lists of parts give the same bytes. The gate
seals what it decides (the row as asked, votes, decision, claim, result); a store seals what it keeps for it (events,
cards, prompts, lines of the record). Seals of the first format (`hitl.proof.keyring.Keyring`) covered fewer fields,
framed.
"""

from __future__ import annotations

import hashlib
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from hitl.call import MAY_RUN, Bound
from hitl.proof.keyring import Keyring, Purpose, frame
from hitl.times import micros

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hitl.call import Call, KeptTurn, Prompt, Verdict, Vote
    from hitl.credentials import Credential

_encode = msgspec.json.Encoder().encode


def pack(*parts: object) -> bytes:
    """Texts, numbers, None and tuples of them as bytes that nothing else gives."""
    return _encode(parts)


# -- a call as asked --------------------------------------------------------------------------------------------


def row(keys: Keyring, call: Call) -> str:
    """The seal of every field that must not change once people were asked."""
    return keys.seal(Purpose.ROW, _row(call))


def row_holds(keys: Keyring, call: Call) -> bool:
    """Whether the stored row is as it was sealed."""
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
        # A row without these parts has the seal that versions which didn't know them gave it.
        *(() if verdict.card is None else (msgspec.structs.astuple(verdict.card),)),
        *(call.approvers, call.routes, micros(call.created_at), micros(call.deadline)),
        # A last number more: no whole row has the MAC of an erased one, whatever it holds.
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


# -- what became of it ------------------------------------------------------------------------------------------


def decision(keys: Keyring, call: Call) -> str:
    """The seal of the decision: on which call, what, by whom, when, why."""
    return keys.seal(Purpose.DECISION, _decision(call))


def decision_holds(keys: Keyring, call: Call) -> bool:
    """Whether the stored decision is as it was sealed."""

    def first() -> bytes:
        at = call.decided_at.isoformat() if call.decided_at else None
        return frame((call.ref, call.digest, call.decision, call.decided_by, at))

    return keys.holds(Purpose.DECISION, call.decision_mac, _decision(call), first)


def _decision(call: Call) -> bytes:
    # The error of a call that may run can be that of its run, which the result seals.
    error = None if call.decision in MAY_RUN else call.error
    return pack(call.ref, call.digest, call.decision, call.decided_by, _at(call.decided_at), call.reason, error)


def vote(keys: Keyring, said: Vote, digest: str) -> str:
    """The seal of one vote on the call with that digest: which way, by whom, when, where, why."""
    return keys.seal(Purpose.VOTE, _vote(said, digest))


def votes_hold(keys: Keyring, call: Call, votes: Sequence[Vote]) -> bool:
    """Whether every stored vote is as it was sealed, and whoever decided, if it is decided, is among the approvers."""
    intact = all(_vote_holds(keys, call, said) for said in votes)
    return intact and (call.decision is None or any(v.approve and v.principal == call.decided_by for v in votes))


def _vote_holds(keys: Keyring, call: Call, said: Vote) -> bool:
    def first() -> bytes:
        which = "approve" if said.approve else "reject"
        return frame((call.ref, call.digest, which, said.principal, said.at.isoformat()))

    return said.ref == call.ref and keys.holds(Purpose.VOTE, said.mac, _vote(said, call.digest), first)


def _vote(said: Vote, digest: str) -> bytes:
    when = (micros(said.at), _at(said.pressed_at))
    return pack(said.ref, digest, said.approve, said.principal, said.reason, said.surface, *when)


def claim(keys: Keyring, call: Call) -> str:
    """The seal of a claim: on which call, whose, until when. Raises ValueError where nobody claimed it."""
    return keys.seal(Purpose.CLAIM, _claim(call))


def claim_holds(keys: Keyring, call: Call) -> bool:
    """Whether the stored claim, if there is one, is as it was sealed."""
    return call.claim is None or keys.holds(Purpose.CLAIM, call.claim.mac, _claim(call))


def _claim(call: Call) -> bytes:
    if call.claim is None:
        raise ValueError(call.ref)
    return pack(call.ref, call.digest, call.claim.owner, call.claim.secret_hash, micros(call.claim.until))


def result(keys: Keyring, call: Call) -> str:
    """The seal of how a run ended: of which call, how, when, with which output and error."""
    return keys.seal(Purpose.RESULT, _result(call))


def result_holds(keys: Keyring, call: Call) -> bool:
    """Whether the stored result, if there is one, is as it was sealed."""
    return call.result is None or keys.holds(Purpose.RESULT, call.result_mac, _result(call))


def _result(call: Call) -> bytes:
    output = hashlib.sha256(call.output.encode()).hexdigest() if call.output else call.output
    return pack(call.ref, call.digest, call.result, _at(call.finished_at), output, call.error)


def broken(keys: Keyring, call: Call) -> str | None:
    """Which part of a stored call isn't as it was sealed (row, decision, claim, result); None where all is."""
    parts = {
        "row": row_holds(keys, call),
        "decision": call.decision is None or decision_holds(keys, call),
        "claim": claim_holds(keys, call),
        "result": result_holds(keys, call),
    }
    return next((part for part, whole in parts.items() if not whole), None)


# -- what a store keeps for it ----------------------------------------------------------------------------------


def event(keys: Keyring, source: str, number: str, order: str, body: bytes, at: datetime) -> str:
    """The seal of a raw event of a platform: a made-up one would be a made-up yes."""
    return keys.seal(Purpose.INBOX, _event(source, number, order, body, at))


def event_holds(
    keys: Keyring, mac: str | None, source: str, number: str, order: str, body: bytes, at: datetime
) -> bool:
    """Whether a stored event is as it came."""
    return keys.holds(Purpose.INBOX, mac, _event(source, number, order, body, at))


def _event(source: str, number: str, order: str, body: bytes, at: datetime) -> bytes:
    return pack(source, number, order, hashlib.sha256(body).hexdigest(), micros(at))


def card(keys: Keyring, ref: str, route: str, message: str) -> str:
    """The seal of where a card stands: another message's id would move the answers to it."""
    return keys.seal(Purpose.CARD, pack(ref, route, message))


def card_holds(keys: Keyring, mac: str | None, ref: str, route: str, message: str) -> bool:
    """Whether a stored card is as it was posted."""
    return keys.holds(Purpose.CARD, mac, pack(ref, route, message))


def prompt(keys: Keyring, left: Prompt) -> str:
    """The seal of what was left open with a person: a made-up one would be a made-up first yes."""
    return keys.seal(Purpose.PROMPT, _prompt(left))


def prompt_holds(keys: Keyring, mac: str | None, left: Prompt) -> bool:
    """Whether a stored prompt is as it was left."""
    return keys.holds(Purpose.PROMPT, mac, _prompt(left))


def _prompt(left: Prompt) -> bytes:
    return pack(left.ref, left.principal, left.kind, micros(left.at))


def move(keys: Keyring, old: str, new: str) -> str:
    """The seal of where a platform moved a conversation: a made-up move would move a yes."""
    return keys.seal(Purpose.MOVE, pack(old, new))


def move_holds(keys: Keyring, mac: str | None, old: str, new: str) -> bool:
    """Whether a stored move is as the platform told it."""
    return keys.holds(Purpose.MOVE, mac, pack(old, new))


def talk(keys: Keyring, place: str, message: str, ref: str | None) -> str:
    """The seal of our latest message in a conversation, and of the call that it is about."""
    return keys.seal(Purpose.TALK, pack(place, message, ref))


def talk_holds(keys: Keyring, mac: str | None, place: str, message: str, ref: str | None) -> bool:
    """Whether what is stored of our latest message is as we kept it."""
    return keys.holds(Purpose.TALK, mac, pack(place, message, ref))


def bound(keys: Keyring, message: str, ref: str, asks: str = "") -> Bound:
    """Return the binding of a message of ours to the call that it is about, with its MAC."""
    return Bound(message, ref, asks, keys.seal(Purpose.MESSAGE, pack(message, ref, asks)))


def bound_holds(keys: Keyring, stored: Bound) -> bool:
    """Whether a stored binding is as it was made: a changed one would move a yes to another call."""
    parts = (stored.message, stored.ref, stored.asks)
    return keys.holds(Purpose.MESSAGE, stored.mac, pack(*parts), lambda: frame(parts))


def turn(keys: Keyring, kept: KeptTurn) -> str:
    """Return the MAC over a stored turn: a changed one would have an agent act for somebody who said nothing."""
    return keys.seal(Purpose.TURN, _turn(kept))


def turn_holds(keys: Keyring, kept: KeptTurn) -> bool:
    """Whether a stored turn is as it was kept."""
    return keys.holds(Purpose.TURN, kept.mac, _turn(kept))


def _turn(kept: KeptTurn) -> bytes:
    state = hashlib.sha256(kept.state).hexdigest()
    return pack(
        *(kept.id, kept.place, kept.identity, kept.requester, kept.message, kept.text, kept.said, state, kept.done)
    )


def _at(at: datetime | None) -> int | None:
    return None if at is None else micros(at)


# -- who may call -----------------------------------------------------------------------------------------------


def credential(keys: Keyring, made: Credential) -> str:
    """The MAC of a bearer token's row: what the token is for, and whether and when it was revoked."""
    return keys.seal(Purpose.CREDENTIAL, _credential(made))


def credential_holds(keys: Keyring, stored: Credential) -> bool:
    """Whether a bearer token's row is as it was stored: a changed one would give its holder other rights."""
    return keys.holds(Purpose.CREDENTIAL, stored.mac, _credential(stored))


def _credential(made: Credential) -> bytes:
    times = (_at(made.created_at), _at(made.until), _at(made.revoked_at))
    return pack(made.name, made.hash, made.scope, made.owner, made.origins, made.routes, made.created_by, *times)
