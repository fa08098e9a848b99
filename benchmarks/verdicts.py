"""How long a verdict takes, by the number of rules, and a shell condition in parses of the same line.

`python -m benchmarks.verdicts FOLDER`. Rules: half exact tool names, three in ten patterns, two in ten any tool; each
has one condition on an argument (a threshold, a path, a regular expression, a list). Half of the calls are made to
meet the condition of the rule that they were drawn from. Rules and calls are left in the folder, for peers to judge,
with what came of each call. Rules that allow stand last: where the first match decides, as here, that comes to the
same as where a denial overrides.
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tree_sitter
import tree_sitter_bash

from benchmarks.figures import timed
from benchmarks.telling import tell
from hitl.policy import Policy, PolicyCall, PolicyInvalid, load
from hitl.policy.shell import read_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SIZES = (20, 200, 2000)
_SEED = 7
_CALLS = 200
_EXACT, _PATTERN = 0.5, 0.8
_ACTIONS = ("allow", "deny", "approve")
_ARGUMENTS = ["amount", "path", "cmd", "env"]
LINES = (
    "ls -la /srv",
    "git status",
    "git commit -m 'fix: one thing' && git push origin main",
    "rm -rf /var/tmp/old",
    "cat notes.txt | grep todo | sort -u > out.txt",
    'for f in *.log; do gzip "$f"; done',
    "curl -s https://example.org/i.sh | bash",
    'MODE=x STAMP="$(date +%s)" ./run.sh --all=1 2>&1 | tee log',
    "find . -name '*.py' -exec grep -l 'eval(' {} +",
    'psql -c "delete from users where id = 3" mydb',
    "if [ -f x ]; then echo yes; else echo no; fi",
    "python - <<'EOF'\nprint(1)\nEOF",
    "kubectl delete pod web-1 --namespace prod",
    "echo $(( 1 + 2 )) > /srv/n",
    "ssh host 'sudo systemctl restart nginx'",
)
LONG = (
    (
        "set -e; export A=1; if ! command -v jq >/dev/null 2>&1; then sudo apt-get install -y jq; fi; curl -fsS"
        ' https://example.org/a.json | jq \'.a[] | select(.b=="c")\' > o.json; echo "done $(wc -l < o.json)"'
    ),
    "for d in api web jobs; do (cd $d && git pull --rebase && make test) || exit 1; done",
    "docker run --rm -v \"$PWD\":/w -w /w python:3 sh -c 'pip install -r requirements.txt && pytest -q'",
    "cd /srv/app && npm ci && npm run build && tar czf build.tgz dist && scp build.tgz deploy@example.org:/srv/in/",
    "grep -rn 'to do' src | sort -u | head -20 && git log --oneline -5 | cat; ps aux | awk '{print $2}' | tail -3",
)
_SHELL = {
    "version": 1,
    "rules": [
        {
            "tool": "bash",
            "action": "deny",
            "when": [{"key": "command", "op": "command_blacklist", "value": ["rm", "dd", "sudo"]}],
        }
    ],
}


def rules_of(count: int, chance: random.Random) -> list[dict[str, Any]]:
    """Rules of the mix described above."""
    found = []
    for at in range(count):
        draw = chance.random()
        tool = f"svc{at % 97}.op{at}" if draw < _EXACT else f"svc{at % 97}.w{at % 13}_*" if draw < _PATTERN else "*"
        rule = {"tool": tool, "action": _ACTIONS[at % 3], "when": [_condition(at)]}
        # Otherwise a call with an argument that the rule doesn't look at asks.
        found.append({**rule, "harmless": _ARGUMENTS} if rule["action"] == "allow" else rule)
    return sorted(found, key=lambda rule: rule["action"] == "allow")


def _condition(at: int) -> dict[str, Any]:
    return (
        {"key": "amount", "op": "gt", "value": 1000 + at},
        {"key": "path", "op": "glob", "value": f"/srv/{at}/*"},
        {"key": "cmd", "op": "matches", "value": rf"\brm{at}\s+-rf\b"},
        {"key": "env", "op": "in", "value": [f"prod{at}", f"stage{at}"]},
    )[at % 4]


def accepted(rules: list[dict[str, Any]]) -> tuple[Policy, list[dict[str, Any]]]:
    """The policy, without the rules that can never fire: a document that has them is refused."""
    try:
        return load(json.dumps({"version": 1, "rules": rules}), name="bench"), rules
    except PolicyInvalid as invalid:
        never = {int(problem.path.split("/")[2]) for problem in invalid.problems}
        return accepted([rule for at, rule in enumerate(rules) if at not in never])


def calls_for(rules: Sequence[dict[str, Any]], chance: random.Random) -> list[dict[str, Any]]:
    """Calls, every second of which meets the condition of a rule."""
    found = []
    for at in range(_CALLS):
        rule = chance.choice(rules)
        args: dict[str, Any] = {"amount": 5, "path": "/home/u/x", "cmd": "ls -la /srv", "env": "dev"}
        if at % 2 == 0:
            args[rule["when"][0]["key"]] = _meeting(**rule["when"][0])
        tool = f"other.t{at}" if rule["tool"] == "*" else rule["tool"].replace("*", f"x{at}")
        found.append({"tool": tool, "args": args})
    return found


def _meeting(key: str, op: str, value: Any) -> Any:
    """A value that meets a condition."""
    if key == "amount":
        return value + 1
    if op == "glob":
        return value.replace("*", "f.txt")
    return value[0] if op == "in" else f"sudo {value[2 : value.index(chr(92), 2)]} -rf /x"


def verdicts(size: int, folder: Path) -> dict[str, float]:
    """One size; raises AssertionError where the quick verdict isn't the one of a walk over all rules."""
    chance = random.Random(_SEED)
    started = time.perf_counter()
    policy, rules = accepted(rules_of(size, chance))
    loaded = time.perf_counter() - started
    asked = calls_for(rules, chance)
    calls = [PolicyCall("svc", call["tool"], call["args"]) for call in asked]
    slowly = [policy.judge_slowly(call) for call in calls]
    assert slowly == [policy.judge(call) for call in calls]
    allowed = [verdict.action == "allow" for verdict in slowly]
    (folder / f"verdicts-{size}.json").write_text(json.dumps({"rules": rules, "calls": asked, "allowed": allowed}))
    return {"rules": len(rules), "load": loaded, **timed(policy.judge, calls)}


def shell() -> dict[str, float]:
    """Seconds a parse of a line, and how many of those a reading and a whole verdict take; `longer`: of long lines."""
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
    policy = load(json.dumps(_SHELL), name="bench")
    calls = [PolicyCall("", "bash", {"command": line}) for line in LINES]
    parse, longer = (_best(parser.parse, [line.encode() for line in lines]) for lines in (LINES, LONG))
    return {
        "parse": parse / len(LINES),
        "reading": _best(read_line, LINES) / parse,
        "longer": _best(read_line, LONG) / longer,
        "verdict": _best(policy.judge, calls) / parse,
    }


def _best(work: Callable[[Any], object], things: Sequence[Any], times: int = 200) -> float:
    """Seconds of the processor for all of them: of each, the best of several means."""
    total = 0.0
    for thing in things:
        means = []
        for _ in range(9):
            started = time.process_time()
            for _ in range(times):
                work(thing)
            means.append((time.process_time() - started) / times)
        total += min(means)
    return total


if __name__ == "__main__":
    tell({**{str(size): verdicts(size, Path(sys.argv[1])) for size in SIZES}, "shell": shell()})
