"""The JSON Schema of documents."""

import json

import jsonschema
import pytest
import yaml

from hitl.policy import PolicyInvalid, json_schema, load, presets

VALIDATOR = jsonschema.Draft202012Validator(json_schema())

WRONG: tuple[dict[str, object], ...] = (
    {},
    {"version": 2},
    {"version": 1, "ruels": []},
    {"version": 1, "rules": [{"tool": "x"}]},
    {"version": 1, "rules": [{"tool": "x", "action": "permit"}]},
    {"version": 1, "rules": [{"tool": [], "action": "deny"}]},
    {"version": 1, "rules": [{"tool": "x", "action": "deny", "timeout_s": 60}]},
    {"version": 1, "rules": [{"tool": "x", "action": "approve", "timeout_s": 1}]},
    {"version": 1, "rules": [{"tool": "x", "action": "approve", "approvers": []}]},
    {
        "version": 1,
        "rules": [{"tool": "x", "action": "deny", "when": [{"key": "k", "op": "like", "value": "x"}]}],
    },
    {"version": 1, "rules": [{"tool": "x", "action": "deny", "when": [{"key": "k", "op": "eq"}]}]},
    {"version": 1, "rules": [{"tool": "x", "action": "deny", "when": [{"any": []}]}]},
    {"version": 1, "risk": {"high": {}}},
    {"version": 1, "risk_rules": [{"tool": "x"}]},
    {"version": 1, "cards": []},
    {"version": 1, "cards": {"pay": {}}},
    {"version": 1, "cards": {"pay": None}},
    {"version": 1, "cards": {"": {"headline": "Pay"}}},
    {"version": 1, "cards": {"pay_*": {"headline": "Pay"}}},
    {"version": 1, "cards": {"pay": {"headline": ""}}},
    {"version": 1, "cards": {"pay": {"headline": "Pay {amount"}}},
    {"version": 1, "cards": {"pay": {"headline": "Pay {amount!r}"}}},
    {"version": 1, "cards": {"pay": {"headline": "Pay {}"}}},
    {"version": 1, "cards": {"pay": {"headline": "x" * 201}}},
    {"version": 1, "cards": {"pay": {"undo": "x" * 201}}},
    {"version": 1, "cards": {"pay": {"fields": ["to"]}}},
    {"version": 1, "cards": {"pay": {"headline": "Pay", "fields": "to"}}},
    {"version": 1, "cards": {"pay": {"headline": "Pay", "fields": [1]}}},
    {"version": 1, "cards": {"pay": {"headlines": "Pay"}}},
)
RIGHT: tuple[dict[str, object], ...] = (
    {"version": 1, "cards": {}},
    {"version": 1, "cards": {"pay": {"headline": "Pay {amount} {to.name}", "fields": [], "undo": "Undo: `pay back`"}}},
    {"version": 1, "cards": {"bank.pay": {"undo": "It can't be undone."}}},
)


def test_the_schema_is_one() -> None:
    """It is valid by the 2020-12 draft."""
    jsonschema.Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize("name", presets())
def test_presets_are_valid(name: str) -> None:
    """Every preset is valid by the schema."""
    assert [] == list(VALIDATOR.iter_errors(yaml.safe_load(presets()[name])))


@pytest.mark.parametrize("document", WRONG)
def test_schema_and_checks_agree(document: dict[str, object]) -> None:
    """What the schema refuses, loading refuses; YAML is used because JSON without a version is another dialect."""
    assert not VALIDATOR.is_valid(document)
    with pytest.raises(PolicyInvalid):
        load(yaml.safe_dump(document), name="p", format="yaml")


@pytest.mark.parametrize("document", RIGHT)
def test_the_schema_takes_cards_that_load(document: dict[str, object]) -> None:
    """What loading takes, the schema takes."""
    assert VALIDATOR.is_valid(document)
    load(yaml.safe_dump(document), name="p", format="yaml")


def test_the_schema_is_json() -> None:
    """It can be printed."""
    assert {"const": 1} == json.loads(json.dumps(json_schema()))["properties"]["version"]
