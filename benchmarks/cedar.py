"""The rules and calls that `benchmarks.verdicts` left behind, judged by Cedar: `python -m benchmarks.cedar FOLDER`.

First match wins here; Cedar lets a denial override. A regular expression becomes the `like` that is nearest to it.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cedarpy

from benchmarks.figures import Spread
from benchmarks.workers import tell

if TYPE_CHECKING:
    from collections.abc import Sequence

_SECONDS = 1.0


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
        "matches": f'{key} like "*rm{at} -rf*"',
        "in": f"[{listed}].contains({key})",
    }[wanted["op"]]
    scope = f'action == Action::"{tool}"' if "*" not in tool else "action"
    named = f"context.tool like {json.dumps(tool)} && " if "*" in tool and tool != "*" else ""
    effect = "permit" if rule["action"] == "allow" else "forbid"
    return f'@id("r{at}") {effect}(principal, {scope}, resource) when {{ {named}{test} }};'


def verdicts(file: Path) -> dict[str, float]:
    """Seconds a call, over about a second, with policies and entities parsed before."""
    told = json.loads(file.read_text())
    policies = cedarpy.PolicySet.from_str(text_of(told["rules"]))
    entities = cedarpy.Entities.from_json_str("[]")
    found: list[float] = []
    end = time.perf_counter() + _SECONDS
    while time.perf_counter() < end:
        for call in told["calls"]:
            started = time.perf_counter()
            request = {
                "principal": 'Agent::"a"',
                "action": {"type": "Action", "id": call["tool"]},
                "resource": 'Srv::"s"',
                "context": {**call["args"], "tool": call["tool"]},
            }
            _ = cedarpy.is_authorized(request, policies, entities).decision
            found.append(time.perf_counter() - started)
    spread = Spread.of(found)
    return {"p50": spread.p50, "p99": spread.p99, "per_s": 1 / statistics.mean(found)}


if __name__ == "__main__":
    files = Path(sys.argv[1]).glob("verdicts-*.json")
    tell({file.stem.partition("-")[2]: verdicts(file) for file in files})
