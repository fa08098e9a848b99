"""Scores the policy engine against labelled calls: `python -m benchmarks.vectors`.

The vectors lie in the folder that SAYSO_CORPORA names (../shared, from the root of the repository, by default):

    vectors/policy_*.jsonl                calls with a document of contenox each; rows with the advice `match`
    vectors/shell.jsonl, host, path       calls for one policy each, which `*_reference_policy.json` beside them states

The calls are judged through the command line, as a person would. An answer is too weak where it lets more pass than
every acceptable one does. Exit status 1 where a threshold is missed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]

ROOT = Path(__file__).parent.parent
_STRENGTH = {"allow": 0, "approve": 1, "deny": 2}
#: The corpora's words for what may come of a call.
_WORDS = {"allow-safe": "allow", "ask": "approve", "must-ask": "approve", "must-deny": "deny"}
#: What the hosts' reference policy closes, by our names for it.
_CLOSED = (
    "loopback private link_local metadata shared benchmark multicast broadcast unspecified internal_name ambiguous"
    " not_http"
)
_SHOWN = 20
_LONGEST_S = 240


@dataclass(frozen=True, slots=True)
class Case:
    """One call, the actions that are right for it, and whether its document must be refused."""

    id: str
    call: Row
    right: frozenset[str]
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Corpus:
    """A file of vectors: what makes a case of a row, if it is counted, and the least share that must be right."""

    name: str
    case: Callable[[Row, Row], Case | None]
    least: float
    #: The pattern of the file's name, if it isn't the corpus's.
    called: str = ""

    def file(self, folder: Path) -> Path:
        """The file in a folder, whether it is there or not."""
        return next(folder.glob(self.called or f"{self.name}.jsonl"), folder / f"{self.name}.jsonl")


def of_contenox(row: Row, _reference: Row) -> Case | None:
    """A row with a document of its own."""
    if row["advice"] != "match":
        return None
    call = {name: row[name] for name in ("id", "policy", "tools", "tool", "args")}
    return Case(row["id"], call, frozenset(row["expect"]), row.get("refused", False))


def of_shell(row: Row, reference: Row) -> Case | None:
    """A command line."""
    command = {"key": "command"}
    rules = [
        {"action": "deny", "when": [{**command, "op": "command_blacklist", "value": reference["deny_programs"]}]},
        {"action": "approve", "when": [{**command, "op": "command_ask_always", "value": reference["ask_commands"]}]},
        {"action": "allow", "when": [{**command, "op": "command_resolvable", "value": True}]},
    ]
    return _case(row, {"rules": rules}, "bash", {"command": row["command"]})


def of_host(row: Row, reference: Row) -> Case | None:
    """A URL. What only a look-up or a redirect tells isn't judged from its text."""
    if row["needs"] != "text":
        return None
    url = {"key": "url"}
    allowed = [
        {**url, "op": "host", "value": reference["allow_hosts"]},
        {**url, "op": "url_scheme", "value": [reference["scheme"]]},
        {**url, "op": "url_port", "value": [reference["port"]]},
    ]
    closed = {**url, "op": "host_class", "value": _CLOSED.split()}
    policy = {"forbid": [{"when": [closed]}], "rules": [{"action": "allow", "when": allowed}]}
    return _case(row, policy, "get", {"url": row["url"]})


def of_path(row: Row, reference: Row) -> Case | None:
    """A path. What needs files and links on the disk isn't judged from its text."""
    if row["setup"]:
        return None
    globs = {action: {"key": "path", "op": "glob", "value": reference[action]} for action in ("allow", "deny")}
    policy = {"forbid": [{"when": [globs["deny"]]}], "rules": [{"action": "allow", "when": [globs["allow"]]}]}
    return _case(row, policy, "write", {"path": row["path"]}, cwd=row["cwd"])


def _case(row: Row, policy: Row, tool: str, args: Row, **more: str) -> Case:
    call = {"id": row["id"], "policy": {"version": 1, **policy}, "tools": "any", "tool": tool, "args": args, **more}
    return Case(row["id"], call, frozenset(_WORDS.get(word, word) for word in row["acceptable"]))


CORPORA = (
    Corpus("contenox", of_contenox, 1.0, "policy_*.jsonl"),
    Corpus("shell", of_shell, 0.97),
    Corpus("host", of_host, 0.97),
    Corpus("path", of_path, 0.97),
)


def judged(cases: list[Case]) -> list[dict[str, Any]]:
    """What `sayso policy eval --jsonl` makes of each. Raises CalledProcessError where it fails."""
    sayso = Path(sys.executable).with_name("sayso")
    asked = "".join(json.dumps(case.call, ensure_ascii=False) + "\n" for case in cases)
    done = subprocess.run(
        [sayso, "policy", "eval", "--jsonl"],
        input=asked.encode(),
        stdout=subprocess.PIPE,
        timeout=_LONGEST_S,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.decode().splitlines()]
    if [answer["id"] for answer in answers] != [case.id for case in cases]:
        raise ValueError(f"{len(cases)} calls were answered with {len(answers)} lines, or in another order")
    return answers


def is_right(case: Case, answer: Row) -> bool:
    """Whether it is one of the acceptable actions, and a document was refused only if it must be."""
    return answer["action"] in case.right and answer["refused"] == case.refused


def is_too_weak(case: Case, answer: Row) -> bool:
    """Whether it lets more pass than every acceptable action, or takes a document that must be refused."""
    weakest = min(_STRENGTH[action] for action in case.right)
    return _STRENGTH[answer["action"]] < weakest or (case.refused and not answer["refused"])


def report(corpus: Corpus, folder: Path) -> int:
    """Judge, print, and hold to the thresholds: the exit status."""
    rows = [json.loads(line) for line in corpus.file(folder).read_text("utf-8").splitlines() if line]
    beside = folder / f"{corpus.name}_reference_policy.json"
    reference = json.loads(beside.read_text("utf-8"))["reference_policy"] if beside.exists() else {}
    cases = [case for row in rows if (case := corpus.case(row, reference))]
    found = list(zip(cases, judged(cases), strict=True))
    wrong = [(case, answer) for case, answer in found if not is_right(case, answer)]
    weak = [(case, answer) for case, answer in found if is_too_weak(case, answer)]
    right = 1 - len(wrong) / len(found) if found else 0.0
    print(
        f"{corpus.name}: cases {len(found)}, not counted {len(rows) - len(found)}, right {right:.4g}, weak {len(weak)}"
    )
    for case, answer in wrong[:_SHOWN]:
        print(f"  {case.id}: {answer['action']}, acceptable {', '.join(sorted(case.right))}: {case.call['args']}")
    if weak or right < corpus.least:
        print(f"  MISSED: at least {corpus.least:g} must be right, and none too weak")
        return 1
    return 0


def main() -> int:
    """The exit status: 0 where every threshold is kept, or there are no vectors and this isn't CI."""
    folder = ROOT / os.environ.get("SAYSO_CORPORA", "../shared") / "vectors"
    missing = [corpus.file(folder) for corpus in CORPORA if not corpus.file(folder).is_file()]
    if missing:
        print(f"No vectors: there is no {missing[0]}. Name their folder with SAYSO_CORPORA.")
        return 1 if os.environ.get("CI") == "true" else 0
    return max([report(corpus, folder) for corpus in CORPORA])


if __name__ == "__main__":
    sys.exit(main())
