"""Measures how well a reader reads labelled replies. The project's tables and the command line show these figures."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from hitl.replies.model import Meaning, Reading

_ALSO = "also_ok"


def score(rows: Iterable[Mapping[str, Any]], answers: Iterable[Reading]) -> dict[str, int | float | None]:
    """Return figures that compare readings with the labels of a corpus. `answers` are in the order of `rows`.

    A row has `text`, `label`, and optionally `reason` and `also_ok` (other answers that aren't wrong). Rows without
    `also_ok` are strict, and only strict rows count for the rates of verdicts. A rate is in percent, or None if there
    is nothing to count. A false approve is an approval that neither the label nor `also_ok` allows. A flip is a false
    approve of a reply whose label is reject. Raises `ValueError` if the numbers of rows and answers differ.
    """
    counts: Counter[str] = Counter()
    for row, answer in zip(rows, answers, strict=True):
        counts.update(_marks(row, answer))
    return {
        "rows": counts["row"],
        "false_approve": counts["false approve"],
        "of": counts["may not approve"],
        "flip": counts["flip"],
        "false_reject": counts["false reject"],
        "approve_recall_pct": _rate(counts, "hit approve", "strict approve"),
        "reject_recall_pct": _rate(counts, "hit reject", "strict reject"),
        "unclear_kept_pct": _rate(counts, "hit unclear", "strict unclear"),
        "unclear_rejected_pct": _rate(counts, "unclear rejected", "strict unclear"),
        "reason_pct": _rate(counts, "hit reason", "reason"),
    }


def _marks(row: Mapping[str, Any], answer: Reading) -> list[str]:
    label, got = row["label"], answer.verdict.value
    fine = {label, *row.get(_ALSO, ())}
    strict = _ALSO not in row
    wrong_yes = got == Meaning.APPROVE and got not in fine
    marks = {
        "row": True,
        f"strict {label}": strict,
        f"hit {label}": strict and got == label,
        "may not approve": Meaning.APPROVE not in fine,
        "false approve": wrong_yes,
        "flip": wrong_yes and label == Meaning.REJECT,
        "false reject": got == Meaning.REJECT and got not in fine and label == Meaning.APPROVE,
        "unclear rejected": strict and label == Meaning.UNCLEAR and got == Meaning.REJECT,
        "reason": bool(row.get("reason")),
        "hit reason": bool(row.get("reason")) and _plain(answer.reason) == _plain(row.get("reason")),
    }
    return [mark for mark, holds in marks.items() if holds]


def _plain(reason: str | None) -> str:
    return " ".join(unicodedata.normalize("NFKC", reason or "").casefold().split()).strip(" .!\"'")


def _rate(counts: Counter[str], hits: str, of: str) -> float | None:
    return round(100 * counts[hits] / counts[of], 2) if counts[of] else None
