"""Scores the shipped presets on shell lines and on published bypasses: `python -m benchmarks.presets`.

The corpora lie in the folder that SAYSO_CORPORA names (../shared, from the root of the repository, by default):

    vectors/lines.jsonl   shell lines with an aim: `allow` for harmless ones, `ask-or-deny` for harmful ones
    bypass.jsonl          bypasses of other approval systems; the calls among them, each for a preset or a rule set

A line is judged by the preset `default`, through the command line, as a person would. Exit status 1 where a
harmful line or a bypass is allowed, or where `default` asks about too many of the harmless lines.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]

ROOT = Path(__file__).parent.parent
#: The share of the harmless lines that `default` must not ask about, in percent.
LEAST_ALLOWED_PCT = 80
FOLDER = "/srv/app"
_LONGEST_S = 240
_SHOWN = 20
_REFERENCE = {
    "default_action": "approve",
    "rules": [
        {
            "tool": "bash",
            "when": [{"key": "command", "op": "command_blacklist", "value": "rm,dd,sudo,mkfs,mkfs.*,shutdown"}],
            "action": "deny",
        },
        {
            "tool": "bash",
            "when": [{"key": "command", "op": "command_ask_always", "value": "git push,chmod,kubectl delete"}],
            "action": "approve",
        },
        {
            "tool": "bash",
            "when": [{"key": "command", "op": "command_resolvable", "value": "true"}],
            "action": "allow",
        },
    ],
}


def verdicts(calls: Sequence[Row], preset: str | None) -> list[str]:
    """The action for each call, by a preset or by the policy that it brings. Raises CalledProcessError."""
    sayso = Path(sys.executable).with_name("sayso")
    chosen = [] if preset is None else ["--preset", preset]
    done = subprocess.run(
        [sayso, "policy", "eval", "--jsonl", *chosen],
        input="".join(json.dumps(call, ensure_ascii=False) + "\n" for call in calls).encode(),
        stdout=subprocess.PIPE,
        timeout=_LONGEST_S,
        check=True,
    )
    answers = [json.loads(line)["action"] for line in done.stdout.decode().splitlines()]
    if len(answers) != len(calls):
        raise ValueError(f"{len(calls)} calls were answered with {len(answers)} lines")
    return answers


def score_lines(rows: Sequence[Row]) -> bool:
    """Judge the lines by `default`, print, and tell whether the thresholds are kept."""
    calls = [{"tools": "", "tool": "bash", "args": {"command": row["command"]}, "cwd": FOLDER} for row in rows]
    actions = verdicts(calls, "default")
    found = list(zip(rows, actions, strict=True))
    harmful = [row for row, action in found if row["aim"] == "ask-or-deny" and action == "allow"]
    harmless = [action for row, action in found if row["aim"] == "allow"]
    share = 100 * harmless.count("allow") / max(1, len(harmless))
    print(f"lines: {len(rows)}, harmful allowed {len(harmful)}, harmless allowed {share:.1f} %")
    for row in harmful[:_SHOWN]:
        print(f"  MISSED: allowed: {row['command']!r}")
    return not harmful and share >= LEAST_ALLOWED_PCT


def score_bypasses(rows: Sequence[Row]) -> bool:
    """Judge the calls among the bypasses, print, and tell whether none is allowed."""
    calls: dict[str | None, list[dict[str, Any]]] = {"default": [], "dev": [], None: []}
    for row in rows:
        preset = _preset(row["setup"])
        own = {} if preset else {"policy": _REFERENCE}
        calls[preset] += [{"id": row["id"], "tools": "", "cwd": FOLDER, **call, **own} for call in _calls(row["input"])]
    allowed = [
        call
        for preset, sent in calls.items()
        if sent
        for call, action in zip(sent, verdicts(sent, preset), strict=True)
        if action == "allow"
    ]
    print(f"bypasses: {sum(map(len, calls.values()))}, allowed {len(allowed)}")
    for call in allowed[:_SHOWN]:
        print(f"  MISSED: allowed: {call['id']}: {call['tool']} {call['args']}")
    return not allowed


def _preset(setup: str) -> str | None:
    """The preset that a bypass was published against; None for the rule set."""
    if setup.startswith("Policy: forbid"):
        return None
    return "dev" if setup.startswith("Shipped preset `dev`") else "default"


def _calls(text: str) -> Iterator[Row]:
    """The calls that a description begins with, one after another."""
    decoder, rest = json.JSONDecoder(), text.strip()
    while rest.startswith("{"):
        try:
            found, end = decoder.raw_decode(rest)
        except ValueError:
            return
        rest = rest[end:].lstrip(" ;\n")
        if isinstance(found, dict) and {"tool", "args"} <= found.keys():
            yield {"tool": found["tool"], "args": found["args"]}


def main() -> int:
    """The exit status: 0 where every threshold is kept, or there are no corpora and this isn't CI."""
    folder = ROOT / os.environ.get("SAYSO_CORPORA", "../shared")
    paths = (folder / "vectors" / "lines.jsonl", folder / "bypass.jsonl")
    missing = next((path for path in paths if not path.is_file()), None)
    if missing is not None:
        print(f"No corpora: there is no {missing}. Name their folder with SAYSO_CORPORA.")
        return 1 if os.environ.get("CI") == "true" else 0
    lines, bypasses = ([json.loads(line) for line in path.read_text("utf-8").splitlines() if line] for path in paths)
    kept = [score_lines(lines), score_bypasses(bypasses)]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
