"""What schemathesis can't read in the OpenAPI document, told to it in the one place that every request passes.

A request that fits its schema must be accepted if its call is in a state for it. JSON Schema can't say that the ids of
a batch differ, that the options of a question look different, that arguments have a canonical form, that a time lies
ahead, or that one field hangs on another: a secret has its hash, a confirmation names its call, an agent's token alone
has an owner. By the document a wait may take a minute, and a stream may be silent for as long as it likes: waits are
shortened, and streams begin where something has happened already.
"""

from __future__ import annotations

import hashlib
import os
import re
from typing import Any

import schemathesis

from hitl.errors import InvalidConfirmation
from hitl.proof.canonical import canonical
from tests.acceptance.installation import ME

#: The secret of every claimant, so that a claim can be finished.
SECRET = "a-claimant's-secret"
SECRET_HASH = hashlib.sha256(SECRET.encode()).hexdigest()
#: The longest wait, in seconds.
WAIT_S = 0.05
#: Tokens that these tests use themselves: none is revoked.
OURS = ("ci", "ann", "ops")
#: The variable that says that requests go to the Unix socket, where the kernel says who calls.
NO_TOKENS = "NO_TOKENS"
#: Where refs come from: an operation, the status of its answer, and the place of a ref there.
SOURCES = (
    ("/v1/calls", "post", "202", "/ref"),
    ("/v1/calls", "get", "200", "/calls/0/ref"),
    ("/hitl/pending", "get", "200", "/pending/0/approval_id"),
    ("/aap/v1/requests", "post", "201", "/id"),
)
_HASH = re.compile(r"[0-9a-f]{64}")


@schemathesis.hook
def before_load_schema(_context: Any, document: dict[str, Any]) -> None:
    """Link the refs that answers hold to every operation on one call, so that sequences of requests go on with them."""
    if NO_TOKENS in os.environ:
        del document["security"]
    _shorten(document["paths"])
    operations = [one for path, found in document["paths"].items() if "{ref}" in path for one in found.values()]
    for path, verb, status, place in SOURCES:
        document["paths"][path][verb]["responses"][status]["links"] = {
            one["operationId"]: {
                "operationId": one["operationId"],
                "parameters": {"path.ref": f"$response.body#{place}"},
            }
            for one in operations
        }


def _shorten(paths: dict[str, Any]) -> None:
    """Let no example wait, and no stream begin at an end. Headers can't be changed later: that would add a token."""
    (prefer,) = (one for one in paths["/v1/calls"]["post"]["parameters"] if one["name"].lower() == "prefer")
    prefer["schema"]["examples"] = ["wait=0"]
    stream = paths["/v1/events"]["get"]
    for parameter in stream["parameters"]:
        parameter["schema"] = {"type": "string", "pattern": "^[0-9]$"}
    # schemathesis takes the schema of a stream for the schema of each event.
    told = {"type": "object", "required": ["event", "data"], "properties": {"data": {"type": "string"}}}
    stream["responses"]["200"]["content"]["text/event-stream"]["schema"] = told


@schemathesis.hook
def before_call(_context: Any, case: schemathesis.Case, _kwargs: dict[str, Any]) -> None:
    """Change what fits the document, so that it fits what the document can't say; wrong requests stay wrong."""
    if case.path == "/v1/events":
        case.query = {"cursor": "0", **(case.query or {})}
    wait = (case.query or {}).get("wait")
    if isinstance(wait, int | float) and 0 < wait <= 60:
        case.query["wait"] = WAIT_S
    elif isinstance(wait, str) and re.fullmatch(r"[1-9][0-9]{0,6}[smh]", wait):
        case.query["wait"] = "1s"
    named = case.path_parameters or {}
    if named.get("name") in OURS:
        case.path_parameters["name"] = "another"
    if isinstance(case.body, dict):
        token = case.path == "/v1/tokens"
        case.body = _fitting_token(case.body) if token else _fitting(case.body, str(named.get("ref", "")))


def _fitting(body: dict[str, Any], ref: str) -> dict[str, Any]:
    fitting = dict(body)
    if isinstance(calls := body.get("calls"), list):
        fitting["calls"] = [_one_of_many(call, place) for place, call in enumerate(calls)]
    fitting |= {name: {} for name in ("args", "arguments", "context") if name in body and not _is_canonical(body[name])}
    if isinstance(tool := body.get("params"), dict) and not _is_canonical(tool.get("arguments")):
        fitting["params"] = {**tool, "arguments": {}}
    if _HASH.fullmatch(str(body.get("secret_hash"))):
        fitting["secret_hash"] = SECRET_HASH
    if isinstance(options := body.get("options"), list) and 2 <= len(set(map(str, options))) == len(options):
        fitting["options"] = [
            f"{place} {one}"[:60] if isinstance(one, str) and one else one for place, one in enumerate(options)
        ]
    if isinstance(body.get("secret"), str) and body["secret"]:
        fitting["secret"] = SECRET
    if isinstance(body.get("confirm"), str) and body["confirm"] and ref:
        fitting["confirm"] = ref
    return fitting


def _fitting_token(body: dict[str, Any]) -> dict[str, Any]:
    fitting = dict(body)
    if isinstance(body.get("until"), str):
        fitting["until"] = re.sub(r"^\d{4}(?=-\d\d-\d\d[Tt].*(?:[Zz]|[+-]\d\d:\d\d)$)", "2999", body["until"])
    is_agent = body.get("scope") == "agent"
    if isinstance(body.get("owner"), str | None) and body.get("owner") != "":
        fitting["owner"] = ME if is_agent else None
    if not is_agent:
        fitting |= {name: [] for name in ("origins", "routes") if _are_names(body.get(name))}
    return fitting


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) and one for one in value)


def _one_of_many(call: Any, place: int) -> Any:
    if not isinstance(call, dict):
        return call
    own = {"id": f"{place} {call['id']}"[:256]} if isinstance(call.get("id"), str) and call["id"] else {}
    return _fitting(call | own, "")


def _is_canonical(value: Any) -> bool:
    try:
        canonical(value)
    except InvalidConfirmation:
        return False
    return True
