"""How well a reader does on labelled replies: the figures that our tables and the command line show."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from hitl.replies.model import Meaning, Reading

_ALSO = "also_ok"


def score(rows: Iterable[Mapping[str, Any]], answers: Iterable[Reading]) -> dict[str, int | float | None]:
    """Compare readings with a corpus's labels, row by row in the same order.

    A row has `text`, `label`, and optionally `also_ok` (other answers that aren't wrong) and `reason`. Rows without
    `also_ok` are strict, and only they count for the rates, which are in percent and None where there is nothing to
    count. A false approve is one that neither the label nor `also_ok` allows; a flip is one on a rejection. Raises
    `ValueError` if there are more rows than answers or the other way round.
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
