"""Documents that start from presets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hitl.policy import Policy, PolicyCall, PolicyInvalid, load, presets

SECRET = PolicyCall("", "read_file", {"path": "/home/ada/.ssh/id_rsa"})


def composed(text: str) -> Policy:
    """The policy of a document."""
    return load(f"version: 1\n{text}", name="p")


def test_own_rules_come_first() -> None:
    """The preset's decide what they leave open, and what it forbids stays forbidden."""
    policy = composed("preset: strict\nrules:\n  - {id: clock, tool: get_time, action: allow}\n")
    told = {tool: policy.judge(PolicyCall("", tool, {})).action for tool in ("get_time", "fetch", "odd")}

    assert {"get_time": "allow", "fetch": "approve", "odd": "deny"} == told
    assert "forbidden" == policy.judge(SECRET).reason
    assert [] == policy.lint()


def test_own_forbid_and_risk_rules_add() -> None:
    """Neither takes the preset's away."""
    policy = composed(
        "preset: default\nforbid:\n  - {id: no-mail, tool: send_mail}\n"
        "risk_rules:\n  - {tool: fetch, at_least: critical}\n"
    )

    assert "no-mail" == policy.judge(PolicyCall("", "send_mail", {})).rule
    assert "forbidden" == policy.judge(SECRET).reason
    assert ("critical", True) == (
        policy.judge(PolicyCall("", "fetch", {})).risk,
        policy.judge(PolicyCall("", "fetch", {})).require_reason,
    )


@pytest.mark.parametrize(
    "own", ["default_action: allow", "risk: {high: {action: allow}}", "risk: {low: {action: approve}}"]
)
def test_what_is_weaker_than_the_preset_has_no_effect(own: str) -> None:
    """And `check` says so."""
    policy = composed(f"preset: strict\n{own}")

    assert {"deny"} == {policy.judge(PolicyCall("", tool, {})).action for tool in ("get_time", "odd", "wipe_disk")}
    assert ["no effect" in problem.message for problem in policy.lint()] == [True]


def test_what_is_stricter_than_the_preset_wins() -> None:
    """For every level that the document doesn't speak of, too."""
    policy = composed("preset: [headless, strict]\n")
    stricter = composed("preset: default\ndefault_action: deny\nrisk: {high: {timeout_s: 77}}\n")

    assert "deny" == policy.judge(PolicyCall("", "get_time", {})).action
    assert ("deny", 77) == (
        stricter.judge(PolicyCall("", "odd", {})).action,
        stricter.judge(PolicyCall("", "odd", {})).timeout_s,
    )


def test_several_presets_are_joined_in_their_order() -> None:
    """A template beside a preset for the whole installation."""
    policy = composed("preset: [default, payments]\n")

    assert "fifty" == policy.judge(PolicyCall("", "pay", {"amount": 60, "currency": "EUR"})).rule
    assert "read-here" == policy.judge(PolicyCall("", "read_file", {"path": "./x"})).rule


def test_the_digest_covers_both_texts() -> None:
    """A document with a preset is another policy than the document alone, or with another preset."""
    digests = {composed(f"description: x\n{preset}").digest for preset in ("", "preset: strict", "preset: default")}

    assert 3 == len(digests)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("preset: defualt", "did you mean 'default'"),
        ("preset: 5", "none of"),
        ("preset: []", "empty list"),
        ("preset: [dev, dev]", "twice"),
        ("preset: payments\nrules:\n  - {id: limit, tool: x, action: deny}", "one of the preset 'payments'"),
    ],
)
def test_a_preset_that_is_not_known_is_refused(text: str, said: str) -> None:
    """With what may have been meant; an id has one meaning."""
    with pytest.raises(PolicyInvalid, match=said):
        composed(text)


def test_an_own_allow_before_a_deny_of_the_preset_is_named() -> None:
    """It is meant, or it isn't: `check` tells."""
    found = composed("preset: default\nrules:\n  - {id: all-shells, tool: bash, action: allow}\n").lint()

    assert [True] == ["all-shells comes before the deny disks of the preset 'default'" in p.message for p in found]


def test_an_envelope_has_no_preset() -> None:
    """The dialect of contenox must not be loosened or tightened unnoticed."""
    with pytest.raises(PolicyInvalid, match="version: 1"):
        load('{"preset": "default", "rules": []}', name="p")


def test_every_preset_says_what_it_is() -> None:
    """A description, and what becomes of calls that no rule is for."""
    for name, text in presets().items():
        content = load(text, name=name).checked.content

        assert {"description", "default_action"} <= set(content)


def test_the_example_of_the_reference_loads() -> None:
    """As it is printed there, and `check` has nothing to say."""
    page = Path(__file__).parents[3] / "docs" / "reference" / "policy.md"
    blocks = re.findall(r"```yaml\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    (example,) = [block for block in blocks if block.startswith("version")]
    policy = load(example, name="example")
    coffee = {"amount": 4.5, "currency": "EUR", "payee": "Coffee Roasters GmbH"}

    assert [] == policy.lint()
    assert "coffee" == policy.judge(PolicyCall("", "create_payment", coffee)).rule
    assert "critical" == policy.judge(PolicyCall("", "send_email", {"to": "a@other.example"})).risk
    assert "high" == policy.judge(PolicyCall("", "send_email", {"to": "a@corp.example"})).risk


def test_a_document_with_a_preset_keeps_its_words_for_cards() -> None:
    """They are for cards of calls that either part asks about."""
    policy = composed('preset: default\ncards: {pay: {headline: "Pay {amount}"}}')
    card = policy.judge(PolicyCall("", "pay", {"amount": 5})).card

    assert "Pay {amount}" == (card and card.headline)
