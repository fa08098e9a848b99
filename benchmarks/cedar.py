"""The rules and calls that `benchmarks.verdicts` left behind, judged by Cedar: `python -m benchmarks.cedar FOLDER`.

First match wins here; Cedar lets a denial override: the rules stand in an order where both come to the same. A
regular expression becomes the `like` that finds the same in these calls. What Cedar decides is compared with what came
of each call here before anything is timed, and the requests are made beforehand, as our calls are.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cedarpy

from benchmarks.figures import timed
from benchmarks.telling import tell

if TYPE_CHECKING:
    from collections.abc import Sequence


def text_of(rules: Sequence[dict[str, Any]]) -> str:
    """The same rules for Cedar: the tool as action or, for a pattern, as a text in the context."""
    return "\n".join(_rule(at, rule) for at, rule in enumerate(rules))


def _rule(at: int, rule: dict[str, Any]) -> str:
    (wanted,), tool = rule["when"], rule["tool"]
    key, value = f"context.{wanted['key']}", wanted["value"]
    listed = ", ".join(map(json.dumps, value)) if isinstance(value, list) else ""
    test = {
        "gt": f"{key} > {value}",
        "glob": f"{key} like {json.dumps(value)}",
        "matches": f'{key} like "*{_spelled(value)}*"',
        "in": f"[{listed}].contains({key})",
    }[wanted["op"]]
    scope = f'action == Action::"{tool}"' if "*" not in tool else "action"
    named = f"context.tool like {json.dumps(tool)} && " if "*" in tool and tool != "*" else ""
    effect = "permit" if rule["action"] == "allow" else "forbid"
    return f'@id("r{at}") {effect}(principal, {scope}, resource) when {{ {named}{test} }};'


def _spelled(pattern: Any) -> str:
    r"""A text that `\bNAME\s+-rf\b` finds."""
    return str(pattern).replace(r"\b", "").replace(r"\s+", " ")


def request_of(call: dict[str, Any]) -> dict[str, Any]:
    """A call as Cedar is asked about it."""
    return {
        "principal": 'Agent::"a"',
        "action": {"type": "Action", "id": call["tool"]},
        "resource": 'Srv::"s"',
        "context": {**call["args"], "tool": call["tool"]},
    }


def verdicts(file: Path) -> dict[str, float]:
    """Seconds a call, with policies and entities parsed before; raises AssertionError where we decided otherwise."""
    told = json.loads(file.read_text())
    policies = cedarpy.PolicySet.from_str(text_of(told["rules"]))
    entities = cedarpy.Entities.from_json_str("[]")
    requests = [request_of(call) for call in told["calls"]]

    def judge(request: dict[str, Any]) -> bool:
        return cedarpy.is_authorized(request, policies, entities).allowed

    assert told["allowed"] == [judge(request) for request in requests]
    return timed(judge, requests)


if __name__ == "__main__":
    files = Path(sys.argv[1]).glob("verdicts-*.json")
    tell({file.stem.partition("-")[2]: verdicts(file) for file in files})
