"""The document that `sayso policy suggest` prints loads as it stands, and adds its rules to the policy that applies."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from hitl.call import PolicyCall
from hitl.policy import PolicyInvalid, load
from hitl.policy.backtest import Suggestion, backtest
from hitl.policy.ports import Document
from hitl.policy.presets import NAMES, PresetSource
from hitl.policy.proposal import headed, proposed, usable

WORDS = {"name": "1e3", "text": "no", "count": 3, "plain": "a: b #c"}
WHEN = [{"key": key, "op": "eq", "value": value} for key, value in WORDS.items()]
RULE = {"id": "approved-0", "tools": "notes", "tool": "save", "when": WHEN, "action": "allow"}
SUGGESTED = [Suggestion(RULE, 6, 1, ())]
WIDER = [Suggestion({"id": "approved-1", "tool": "save", "when": WHEN, "action": "allow"}, 6, 1, ())]
ALLOWED = PolicyCall("notes", "save", WORDS)
DENIED = PolicyCall("notes", "burn", {})
ASKED = PolicyCall("notes", "save", {"name": "1e3"})
#: Documents that deny `burn` and ask about the rest, in each way in which a list of rules may be written.
DOCUMENTS = {
    "block": "# ours\nversion: 1\nrules: # ours\n  - {id: a, tool: burn, action: deny}\ndefault_action: approve\n",
    "margin": "version: 1\nrules:\n- id: a\n  tool: burn\n  action: deny\n",
    "flow": "version: 1\nrules: [{id: a, tool: burn, action: deny}]\n",
    "nothing below": "version: 1\nforbid:\n  - {id: a, tool: burn}",
    "empty": "version: 1\nforbid: [{id: a, tool: burn}]\nrules: []\n",
    "braces": "{version: 1, rules: [{id: a, tool: burn, action: deny}]}\n",
    "preset": "version: 1\npreset: [default]\nrules:\n\n  # careful\n  - {id: a, tool: burn, action: deny}\n",
    "text": 'version: 1\ndescription: |\n  x\nforbid: [{id: a, tool: burn, message: "rules:\\n- 7"}]\n',
    "fraction": "version: 1\nrules: [{tool: x, action: deny, when: [{key: n, op: gt, value: 1.5}]}]\n"
    "forbid: [{tool: burn}]\n",
}


def judged(text: str, calls: Sequence[PolicyCall] = (ALLOWED, DENIED, ASKED)) -> list[str]:
    """The verdicts of a document."""
    policy = load(text, name="suggested")
    return [policy.judge(call).action.value for call in calls]


@pytest.mark.parametrize("preset", NAMES)
def test_a_preset_is_named_and_the_rules_come_before_its_own(preset: str) -> None:
    """The suggested request passes, and a preset's other verdicts stay as they are."""
    found = PresetSource().read("", preset)
    before = judged(found.text, [DENIED, ASKED])

    assert ["allow", *before] == judged(proposed(found, SUGGESTED))


@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_document_is_repeated_with_the_rules_before_its_own(text: str) -> None:
    """However it writes its list, it still denies and asks as before."""
    found = Document("team", "team.yaml", text, "yaml")

    assert ["allow", "deny", "approve"] == judged(proposed(found, SUGGESTED))


def test_comments_of_a_document_stay() -> None:
    """A person wrote them for the next reader."""
    kept = proposed(Document("team", "team.yaml", DOCUMENTS["block"], "yaml"), SUGGESTED)

    assert kept.startswith("# ours\nversion: 1\nrules: # ours\n")


def test_a_json_document_becomes_yaml() -> None:
    """It means the same."""
    text = json.dumps({"version": 1, "rules": [{"id": "a", "tool": "burn", "action": "deny"}]})

    assert ["allow", "deny", "approve"] == judged(proposed(Document("team", "team.json", text, "json"), SUGGESTED))


def test_a_taken_id_is_not_used_twice() -> None:
    """A document with two rules of one id would not load."""
    text = "version: 1\nrules:\n  - {id: approved-0, tool: burn, action: deny}\n"

    assert ["allow", "deny", "approve"] == judged(proposed(Document("team", "team.yaml", text, "yaml"), SUGGESTED))


def test_a_rule_that_covers_another_is_left_out() -> None:
    """A document with a rule that can never apply would not load."""
    own = json.dumps({**RULE, "id": "careful", "action": "approve"})
    careful = Document("team", "team.yaml", f"version: 1\nrules:\n  - {own}\n", "yaml")
    plain = Document("team", "team.yaml", "version: 1\n", "yaml")

    assert [] == usable(careful, SUGGESTED) == usable(careful, [])
    assert WIDER == usable(plain, [*WIDER, *SUGGESTED])
    assert SUGGESTED == usable(plain, SUGGESTED)


def test_a_document_of_another_system_is_refused() -> None:
    """Its format has no such rules; the error says so, and nothing is written."""
    text = json.dumps({"default_action": "deny", "rules": []})

    with pytest.raises(PolicyInvalid):
        usable(Document("team", "team.json", text, "json"), SUGGESTED)


@pytest.mark.parametrize("origin", ["team.yaml", "a\nrules: []\nb", "x\u2028rules: []"])
def test_the_comments_at_the_head_change_nothing(origin: str) -> None:
    """A line break in a file's name would write entries."""
    found = Document("team", origin, DOCUMENTS["block"], "yaml")
    proposal = proposed(found, SUGGESTED)
    before, after = (load(each, name="x") for each in (found.text, proposal))
    told = headed(proposal, found, backtest(before, after, []))

    assert load(told, name="x").digest == after.digest
    assert told.endswith(proposal)
