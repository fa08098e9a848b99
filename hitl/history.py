"""The audit record in the form for people and programs: each line together with its request, and statistics.

A stored line holds its event, its actor and some data, but not the request. The lines that this file returns also
describe the request, so that they can be searched, printed and exported without the database. Secrets are masked.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hitl.call import Decision, Event, Result
from hitl.cards.redaction import mask_value
from hitl.proof.chain import DECIDED, data_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from datetime import datetime

    from hitl.call import Call, Recorded

#: Event -> the name of the decision in the log format of the harombe design. All other decisions are named `deny`
#: there.
_DECISIONS: Mapping[str, str] = {Event.ALLOWED: "approve", Event.APPROVED: "approve", Event.EXPIRED: "timeout"}
_REQUEST = frozenset({Event.ASKED})
_RESULT = frozenset({*map(Event, Result)})
_RUN = _RESULT | {Event.CLAIMED}
_DELIVERY = frozenset({Event.SHOWN, Event.NOT_SHOWN, Event.ATTACHED})
_REPLY = frozenset(
    {
        *(Event.VIEWED, Event.VOTED, Event.CONFIRM, Event.HELD, Event.REASON, Event.NO_REASON),
        *(Event.UNCLEAR, Event.LATE, Event.BARRED, Event.FORGED),
    }
)
_SERVICE = frozenset(
    {
        *(Event.SEALED, Event.ROLLED_BACK, Event.MOVED, Event.POLICY_LOADED, Event.POLICY_REFUSED),
        *(Event.RELOADED, Event.RELOAD_REFUSED),
        *(Event.TAMPERED, Event.REFUSED_PEER, Event.CREDENTIAL_MADE, Event.CREDENTIAL_REVOKED),
        *(Event.ERASED, Event.ARCHIVED),
    }
)
#: Value of `event_type` in that log format -> the events whose lines have this value.
EVENT_TYPES: Mapping[str, frozenset[Event]] = {
    "hitl_request": _REQUEST,
    "hitl_decision": DECIDED,
    "hitl_run": _RUN,
    "hitl_delivery": _DELIVERY,
    "hitl_service": _SERVICE,
    "hitl_reply": _REPLY,
}
_TYPES: Mapping[str, str] = {event: name for name, events in EVENT_TYPES.items() for event in events}

#: An approval that comes sooner (in seconds) counts as hasty, because a person can't read a card in that time.
HASTY_S = 2.0
#: The number of tools that each ranking in the statistics names.
MOST = 5
_DENIED = frozenset({Decision.DENIED, Decision.REJECTED})
_UNANSWERED = frozenset({Decision.EXPIRED, Decision.UNDELIVERABLE})


class RecordQuery(Struct, frozen=True, kw_only=True):
    """A query of the audit record. A field that is empty or None excludes no line.

    `statuses`, `risks`, `tools` and `surfaces` hold the permitted values of the line's request. `people` holds
    principals and identities: the line's actor or the requester must be among them. `text` must occur somewhere in the
    line; upper and lower case count as the same. `since` and `until` limit the time of the line.
    """

    events: frozenset[Event] = frozenset()
    statuses: frozenset[str] = frozenset()
    risks: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()
    people: frozenset[str] = frozenset()
    surfaces: frozenset[str] = frozenset()
    since: datetime | None = None
    until: datetime | None = None
    text: str = ""

    def takes(self, told: Mapping[str, Any]) -> bool:
        """Return whether a line, as the function `told` returns it, meets the query.

        The caller checks `events` and the times.
        """
        return (
            _meets(self.statuses, {told["status"]})
            and _meets(self.risks, {told["risk_level"]})
            and _meets(self.tools, {told["operation"] and told["operation"]["tool_name"]})
            and _meets(self.people, {told["user"], told["requester"]})
            and _meets(self.surfaces, {told["surface"]})
            and (not self.text or self.text.casefold() in json.dumps(told, ensure_ascii=False).casefold())
        )

    def takes_request(self, shown: Mapping[str, Any]) -> bool:
        """Return whether a request, as `hitl.cards.data.view` returns it, meets the query.

        For requests, `people` must include the person who asked for it or the person who decided it.
        """
        return (
            _meets(self.statuses, {shown["status"]})
            and _meets(self.risks, {shown["risk"]})
            and _meets(self.tools, {shown["tool"]})
            and _meets(self.people, {shown["requester"], shown["decided_by"]})
            and _meets(self.surfaces, {shown["origin"].partition(":")[0]})
            and (not self.text or self.text.casefold() in json.dumps(shown, ensure_ascii=False).casefold())
        )


def told(line: Recorded, call: Call | None, flaws: Collection[str] = ()) -> dict[str, Any]:
    """Return a line of the audit record as JSON types, together with its request.

    `call` is the line's request, or None for a line about the service itself. `flaws` names the parts of the request
    that failed their integrity check. The keys event_type, correlation_id, timestamp, decision, operation, risk_level,
    user, reason and timeout_seconds have the values of the harombe design's log format. The other keys are Sayso's own.
    If somebody changed the event to an unknown event, `event_type` is null.
    """
    data, event = mask_value(data_of(line.data)), line.event
    texts = {name: value for name, value in data.items() if isinstance(value, str)}
    policies = {texts.get("policy_asked") or (call and call.verdict.policy), texts.get("policy_now")} - {None}
    return {
        "event_type": _TYPES.get(event),
        "correlation_id": line.ref or None,
        "timestamp": line.at.isoformat(),
        "decision": _DECISIONS.get(event, "deny") if event in DECIDED else None,
        "operation": {"tool_name": call.tool, "params": _params(call)} if call else None,
        "risk_level": call.verdict.risk.value if call else None,
        "user": line.actor,
        "reason": texts.get("reason"),
        "timeout_seconds": call.verdict.timeout_s if call else None,
        "event": line.event,
        "seq": line.seq,
        "short": call.short if call else None,
        "status": call.status.value if call else None,
        "requester": call.requester if call else None,
        "agent": call.agent if call else None,
        "origin": call.origin if call else None,
        "surface": texts.get("surface") or (call and call.origin.partition(":")[0]) or None,
        "digest": call.digest if call else None,
        "rule": call.verdict.rule if call else None,
        "policies": sorted(policies),
        "pressed_at": texts.get("pressed_at"),
        "archived": call.archived if call else None,
        "args_erased_at": call.erased_at.isoformat() if call and call.erased_at else None,
        "hash": line.hash,
        "data": data,
        "flaws": list(flaws),
    }


def _params(call: Call) -> Any:
    """Return the masked arguments, or None if retention erased them."""
    return None if call.erased_at else mask_value(call.arguments)


def counted(calls: Iterable[Call]) -> dict[str, Any]:
    """Return statistics: how many requests have each decision and result, with rates and times.

    They are given in total, and for each tool, rule, requester and approver.

    A request that no rule decided is counted under the reason of its verdict, such as `default_action`. Times are in
    seconds. `hasty` counts the approvals that came within HASTY_S seconds of the request. `rates` holds the share of
    each decision among the requests, from 0 to 1. Three rankings name at most MOST tools each: the tools with the most
    denials, with the most unanswered requests, and with the longest runs.
    """
    totals = _Tally()
    groups: dict[str, dict[str, _Tally]] = {name: defaultdict(_Tally) for name in ("tool", "rule", "requester")}
    approvers: dict[str, _Tally] = defaultdict(_Tally)
    for call in calls:
        mine = (totals, groups["tool"][call.tool], groups["requester"][call.requester])
        for tally in (*mine, groups["rule"][call.verdict.ground]):
            tally.add(call)
        if call.decided_by and call.decision in {Decision.APPROVED, Decision.REJECTED}:
            approvers[call.decided_by].add(call)
    named = {**groups, "approver": approvers}
    return {
        **totals.told(),
        "most_denied": _most(groups["tool"], _DENIED),
        "most_expired": _most(groups["tool"], _UNANSWERED),
        "slowest": _slowest(groups["tool"]),
        **{f"by_{name}": {key: tally.told() for key, tally in group.items()} for name, group in named.items()},
    }


def _most(tools: Mapping[str, _Tally], decisions: frozenset[Decision]) -> list[dict[str, Any]]:
    """Return the tools with the most requests that ended with one of these decisions. At most MOST tools are returned.

    For each tool, also return that number, the number of all its requests, and the share.
    """
    counts = {tool: sum(tally.decisions[each.value] for each in decisions) for tool, tally in tools.items()}
    most = sorted((tool for tool, count in counts.items() if count), key=lambda tool: (-counts[tool], tool))[:MOST]
    return [
        {"tool": tool, "count": counts[tool], "requests": tools[tool].asked, "rate": _share(counts[tool], tools[tool])}
        for tool in most
    ]


def _slowest(tools: Mapping[str, _Tally]) -> list[dict[str, Any]]:
    """Return the MOST tools with the longest times from the decision to the end, by the 95th percentile."""
    spreads = {tool: spread for tool, tally in tools.items() if (spread := _spread(tally.runs))}
    slowest = sorted(spreads, key=lambda tool: (-spreads[tool]["p95"], tool))[:MOST]
    return [{"tool": tool, **spreads[tool]} for tool in slowest]


def _share(count: int, tally: _Tally) -> float:
    return round(count / tally.asked, 4)


class _Tally:
    """The counts and durations of a group of requests."""

    def __init__(self) -> None:
        self.asked = 0
        self.decisions: Counter[str] = Counter()
        self.results: Counter[str] = Counter()
        self.waits: list[float] = []
        self.runs: list[float] = []
        self.hasty = 0

    def add(self, call: Call) -> None:
        self.asked += 1
        if call.decision:
            self.decisions[call.decision.value] += 1
        if call.result:
            self.results[call.result.value] += 1
        if call.decided_at and call.decision in {Decision.APPROVED, Decision.REJECTED}:
            waited = (call.decided_at - call.created_at).total_seconds()
            self.waits.append(waited)
            self.hasty += call.decision is Decision.APPROVED and waited < HASTY_S
        if call.finished_at and call.decided_at:
            self.runs.append((call.finished_at - call.decided_at).total_seconds())

    def told(self) -> dict[str, Any]:
        return {
            "requests": self.asked,
            "decisions": dict(self.decisions),
            "rates": {name: _share(count, self) for name, count in self.decisions.items()},
            "results": dict(self.results),
            "to_decision_s": _spread(self.waits),
            "to_end_s": _spread(self.runs),
            "hasty": self.hasty,
        }


def _spread(seconds: list[float]) -> dict[str, float] | None:
    """Return the median and the 95th percentile, as `p50` and `p95`. Return None for an empty list."""
    if not seconds:
        return None
    high = quantiles(seconds, n=20, method="inclusive")[-1] if len(seconds) > 1 else seconds[0]
    return {"p50": round(median(seconds), 3), "p95": round(high, 3)}


def _meets(wanted: frozenset[str], has: set[str | None]) -> bool:
    return not wanted or not wanted.isdisjoint(has)
