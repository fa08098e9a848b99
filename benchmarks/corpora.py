"""Scores what we read out of people's words against labelled corpora: `python -m benchmarks.corpora`.

The corpora lie in the folder that SAYSO_CORPORA names (../shared, from the root of the repository, by default). A line
of `replies/*_dev.jsonl` has a `text`, a `label` (approve, reject, unclear) and sometimes `also_ok`, labels that are
right too. The texts are read through the command line, as a person would; exit status 1 where a threshold is missed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Figure -> the most that it may be, for each corpus and for all of them.
AT_MOST: Mapping[str, float] = {"false_approve": 0}
#: Figure -> the least that it may be.
AT_LEAST: Mapping[str, float] = {}

ROOT = Path(__file__).parent.parent
_LABELS = ("approve", "reject", "unclear")
_SHOWN = 20
_LONGEST_S = 240


@dataclass(slots=True)
class Score:
    """What came of one corpus. `counts` is by label and verdict; `false_approvals` are the texts."""

    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    right: int = 0
    false_approvals: list[str] = field(default_factory=list)

    def add(self, labelled: Mapping[str, Any], verdict: str) -> None:
        """Count one text."""
        label = labelled["label"]
        allowed = {label, *labelled.get("also_ok", ())}
        self.counts[label, verdict] = self.counts.get((label, verdict), 0) + 1
        self.right += verdict in allowed
        if verdict == "approve" and "approve" not in allowed:
            self.false_approvals.append(labelled["text"])

    def figures(self) -> dict[str, float]:
        """The figures that thresholds are about. A recall of what a corpus has none of isn't among them."""
        told: dict[str, float] = {"texts": sum(self.counts.values()), "false_approve": len(self.false_approvals)}
        for label in _LABELS:
            found = {verdict: self.counts.get((label, verdict), 0) for verdict in _LABELS}
            if total := sum(found.values()):
                told[f"{label}_recall"] = found[label] / total
        told["right"] = self.right / told["texts"] if told["texts"] else 0.0
        return told


def missed(figures: Mapping[str, float]) -> list[str]:
    """Which thresholds the figures miss, each as a sentence."""
    over = [
        f"{name} is {figures[name]:g}, more than {most:g}" for name, most in AT_MOST.items() if figures[name] > most
    ]
    under = [
        f"{name} is {figures[name]:g}, less than {least:g}" for name, least in AT_LEAST.items() if figures[name] < least
    ]
    return over + under


def read_corpus(path: Path) -> list[dict[str, Any]]:
    """The labelled texts of a file. Raises ValueError where a line isn't one."""
    labelled = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    if any(each["label"] not in _LABELS for each in labelled):
        raise ValueError(f"{path} has a label other than {', '.join(_LABELS)}")
    return labelled


def verdicts(texts: Sequence[str]) -> list[str]:
    """What `sayso replies parse --jsonl` makes of each text. Raises CalledProcessError where it fails."""
    sayso = Path(sys.executable).with_name("sayso")
    asked = "".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts)
    done = subprocess.run(
        [sayso, "replies", "parse", "--jsonl"],
        input=asked.encode(),
        stdout=subprocess.PIPE,
        timeout=_LONGEST_S,
        check=True,
    )
    answers = done.stdout.decode().splitlines()
    if len(answers) != len(texts):
        raise ValueError(f"{len(texts)} texts were answered with {len(answers)} lines")
    return [json.loads(answer)["verdict"] for answer in answers]


def score(labelled: Sequence[Mapping[str, Any]]) -> Score:
    """Read each text and hold it to its label."""
    scored = Score()
    for each, verdict in zip(labelled, verdicts([each["text"] for each in labelled]), strict=True):
        scored.add(each, verdict)
    return scored


def main() -> int:
    """The exit status: 0 where every threshold is kept, or there are no corpora and this isn't CI."""
    folder = ROOT / os.environ.get("SAYSO_CORPORA", "../shared")
    corpora = sorted(folder.glob("replies/*_dev.jsonl"))
    if not corpora:
        print(f"No corpora: there is no replies/*_dev.jsonl in {folder}. Name their folder with SAYSO_CORPORA.")
        return 1 if os.environ.get("CI") == "true" else 0
    return max([_report(path) for path in corpora])


def _report(path: Path) -> int:
    scored = score(read_corpus(path))
    figures = scored.figures()
    print(f"{path.name}: " + ", ".join(f"{name} {value:.4g}" for name, value in figures.items()))
    for text in scored.false_approvals[:_SHOWN]:
        print(f"  read as a yes, and isn't one: {text!r}")
    problems = missed(figures)
    for problem in problems:
        print(f"  MISSED: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
