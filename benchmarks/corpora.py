"""Scores what we read out of people's words against labelled corpora: `python -m benchmarks.corpora`.

The corpora lie in the folder that SAYSO_CORPORA names (../shared, from the root of the repository, by default). What
a line of `replies/*_dev.jsonl` holds, and what the figures are, says `hitl.replies.scoring`. The command line reads
them, as a person would have it; exit status 1 where a threshold is missed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

#: Figure -> the most that it may be, in every corpus.
AT_MOST: Mapping[str, float] = {"false_approve": 0, "flip": 0, "unclear_rejected_pct": 0.3}
#: Corpus -> figure -> the least that it may be. A figure that a corpus has nothing for is None, and not held to any.
AT_LEAST: Mapping[str, Mapping[str, float]] = {
    "real_dev.jsonl": {"approve_recall_pct": 96.19, "reject_recall_pct": 96.47},
    "adversarial_dev.jsonl": {"approve_recall_pct": 98.7, "reject_recall_pct": 100, "reason_pct": 95},
    "fresh_dev.jsonl": {"approve_recall_pct": 93, "reject_recall_pct": 97, "reason_pct": 95},
}

ROOT = Path(__file__).parent.parent
_LONGEST_S = 240

Figures = Mapping[str, "float | None"]


def missed(corpus: str, figures: Figures) -> list[str]:
    """Which thresholds the figures of a corpus miss, each as a sentence."""
    over = [
        f"{name} is {figures[name]}, more than {most}" for name, most in AT_MOST.items() if (figures[name] or 0) > most
    ]
    under = [
        f"{name} is {figures[name]}, less than {least}"
        for name, least in AT_LEAST.get(corpus, {}).items()
        if (found := figures[name]) is not None and found < least
    ]
    return over + under


def figures_of(path: Path) -> Figures:
    """The figures that `sayso replies eval` gives for a file. Raises CalledProcessError where it fails."""
    sayso = Path(sys.executable).with_name("sayso")
    done = subprocess.run([sayso, "replies", "eval", path], stdout=subprocess.PIPE, timeout=_LONGEST_S, check=True)
    figures: Figures = json.loads(done.stdout)
    return figures


def main() -> int:
    """The exit status: 0 where every threshold is kept, or there are no corpora and this isn't CI."""
    folder = ROOT / os.environ.get("SAYSO_CORPORA", "../shared")
    corpora = sorted(folder.glob("replies/*_dev.jsonl"))
    if not corpora:
        print(f"No corpora: there is no replies/*_dev.jsonl in {folder}. Name their folder with SAYSO_CORPORA.")
        return 1 if os.environ.get("CI") == "true" else 0
    return max([_report(path) for path in corpora])


def _report(path: Path) -> int:
    figures = figures_of(path)
    print(f"{path.name}: " + ", ".join(f"{name} {value}" for name, value in figures.items()))
    problems = missed(path.name, figures)
    for problem in problems:
        print(f"  MISSED: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
