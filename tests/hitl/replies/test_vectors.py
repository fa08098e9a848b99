"""Replies whose answer another system has pinned."""

from hitl.replies import Meaning, read, verdict
from tests.hitl.replies import corpora

_ACTIONS = {"approve": Meaning.APPROVE, "reject": Meaning.REJECT, "none": Meaning.UNCLEAR}


def test_the_pinned_answers_are_ours_too() -> None:
    """Where both should agree they do: sign, reason and target."""
    rows = [row for row in corpora.load("vectors/replies_seed5.jsonl") if row["advice"] == "match"]
    wrong = []
    for row in rows:
        whole, pinned = verdict(read(row["text"])), row["upstream"]
        wanted = (_ACTIONS[pinned["action"]], pinned["reason"], pinned["target_id"])
        if wanted != (whole.verdict, whole.reason, whole.target):
            wrong.append((row["text"], wanted, whole))

    assert [] == wrong


def test_where_the_other_system_errs_ours_is_safe() -> None:
    """Nothing is approved that shouldn't be, and what is suggested is read so."""
    rows = [row for row in corpora.load("vectors/replies_seed5.jsonl") if row["advice"] == "diverge"]
    wrong = []
    for row in rows:
        whole, suggested = verdict(read(row["text"])), row.get("suggested") or {}
        allowed = {_ACTIONS[word] for word in suggested.get("action", "").split("_") if word in _ACTIONS}
        contains = suggested.get("reason_contains") or ""
        if (allowed and whole.verdict not in allowed) or contains not in (whole.reason or ""):
            wrong.append((row["text"], suggested, whole))

    assert [] == wrong
