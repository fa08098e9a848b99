"""Which documents load, and what is said about those that do not."""

import json
import re
from typing import Any

import pytest

from hitl.call import CardTerms
from hitl.policy import Policy, PolicyCall, PolicyInvalid, load
from hitl.policy.wording import say
from hitl.records import replace
from tests.sentences import says

GOOD = """
version: 1
description: an example
default_action: deny
defaults: {timeout_s: 60, execution_s: 10}
risk:
  high: {require_reason: true, timeout_s: 600}
  low: {action: allow}
risk_rules:
  - {tool: pay, risk: critical, message: money}
  - {tool: "*", when: [{key: amount, op: gt, value: 100.5}], at_least: high}
forbid:
  - {id: never, tool: [drop, wipe], message: closed}
rules:
  - id: small
    tools: shop
    tool: "buy_*"
    when:
      - {key: amount, op: le, value: 10}
      - any:
          - {key: /item/kind, op: in, value: [pen, paper]}
          - not: {key: note, op: exists, value: true}
    action: allow
  - id: ask
    tools: [shop, store]
    action: approve
    risk: medium
    timeout_s: 30
    on_timeout: deny
    approvers: ["telegram:42"]
    exclude_requester: true
    require_reason: true
    message: look closely
"""


def one_rule(**rule: Any) -> str:
    """A document with one rule."""
    return json.dumps({"version": 1, "rules": [{"tool": "x", "action": "deny", **rule}]})


def one_condition(**condition: Any) -> str:
    """A document with one condition."""
    return one_rule(when=[{"key": "k", **condition}])


def problems(text: str) -> list[str]:
    """What is wrong with a document."""
    with pytest.raises(PolicyInvalid) as caught:
        load(text, name="p.yaml")
    return [str(problem) for problem in caught.value.problems]


def test_a_full_document_loads_from_yaml_and_from_json() -> None:
    """Everything that a document may hold is read; the format does not change the digest."""
    import yaml  # noqa: PLC0415

    from_yaml = load(GOOD, name="good")
    from_json = load(json.dumps(yaml.safe_load(GOOD)), name="good")

    assert from_yaml.digest == from_json.digest
    assert 64 == len(from_yaml.digest)
    assert [] == from_yaml.lint()


def test_a_verdict_carries_what_its_rule_and_level_ask() -> None:
    """Timeouts, approvers, reason and message come from the rule, then from the level, then from the defaults."""
    policy = load(GOOD, name="good")
    asked = policy.judge(PolicyCall("shop", "look", {}))
    allowed = policy.judge(PolicyCall("shop", "buy_pen", {"amount": 3, "item": {"kind": "pen"}}))
    denied = policy.judge(PolicyCall("other", "send_mail", {}))

    assert (
        asked.action, asked.rule, asked.reason, asked.risk, asked.timeout_s,
    ) == ("approve", "ask", "matched_rule", "medium", 30)  # fmt: skip
    assert (
        asked.approvers, asked.exclude_requester, asked.require_reason, asked.message,
    ) == (("telegram:42",), True, True, "look closely")  # fmt: skip
    assert (allowed.action, allowed.rule, allowed.approvers) == ("allow", "small", None)
    assert (
        denied.action, denied.rule, denied.reason, denied.risk,
        denied.timeout_s, denied.require_reason, denied.execution_s,
    ) == ("deny", None, "default_action", "high", 600, True, 10)  # fmt: skip
    assert policy.digest == asked.policy


def test_line_path_and_suggestion_are_given() -> None:
    """A problem says where it is and what was probably meant."""
    found = problems("version: 1\nrules:\n  - tool: x\n    acton: deny\n    action: denny\n")

    key, choice = say("fault.key", key="'acton'"), say("fault.choice", value="'denny'", options="allow, approve, deny")
    assert [
        f"line 4: /rules/0/acton: {key} ({say('fault.do.near', near=repr('action'))})",
        f"line 5: /rules/0/action: {choice} ({say('fault.do.near', near=repr('deny'))})",
    ] == found


REFUSED = (
    ("rules: []", "version"),
    ("version: 2", "version"),
    ("version: '1'", "version"),
    ("version: true", "version"),
    ('{"version": 1.0}', "version"),
    ("[]", "object"),
    ("", "empty"),
    ("version: 1\nversion: 1", "twice"),
    ('{"version": 1, "version": 1}', "twice"),
    ("version: 1\n---\nversion: 1", "second document"),
    ("version: 1\nrules: &a []\nforbid: *a", "anchors"),
    ("version: 1\nrules: !!python/object:os.system []", "tag"),
    ("version: 1\n<<: {rules: []}", "merge"),
    ("version: 1\nrules: [", "brackets"),
    ('{"version": 1', "expected"),
    ('{"version": 1} x', "after the end"),
    ('{"version": NaN}', "expected"),
    ('{"version": 1, "description": "\\ud800"}', "surrogate"),
    ('{"a":' * 80 + "1" + "}" * 80, "nested"),
    ("version: 1\nrules: x", "list"),
    ("version: 1\nrules: [x]", "rule"),
    ("version: 1\ndefault_action: no", "none of"),
    ("version: 1\ndefaults: {timeout_s: 1}", "between"),
    ("version: 1\ndefaults: {timeout_s: 700000}", "between"),
    ("version: 1\ndefaults: {timeout_s: 30.5}", "whole number"),
    ("version: 1\ndefaults: {execution_s: 0}", "between"),
    ("version: 1\nrisk: {extreme: {action: deny}}", "not a key"),
    ("version: 1\nrisk: {high: {}}", "takes"),
    ("version: 1\nrisk: {high: deny}", "takes"),
    ("version: 1\nrisk_rules: [{tool: x}]", "needs one"),
    ("version: 1\nrisk_rules: [{tool: x, risk: high, at_least: high}]", "needs one"),
    ("version: 1\nquorum: 2", "not enforced yet"),
    ("version: 1\nforbid: [{tool: x, action: deny}]", "not a key"),
    ("version: 1\nrules: [{id: a, tool: x, action: deny}, {id: a, tool: y, action: deny}]", "used twice"),
    (one_rule(quorum=2), "not enforced yet"),
    (one_rule(standing=True), "not enforced yet"),
    (one_rule(tool=[]), "empty list"),
    (one_rule(tool=""), "empty"),
    (one_rule(tool=5), "name"),
    (one_rule(tool="a[b"), "not closed"),
    (one_rule(tool="{a,b}"), "write a list: [a, b]"),
    (one_rule(tool=" a"), "white space"),
    (one_rule(when=[]), "empty list"),
    (one_rule(when={}), "list"),
    (one_rule(when=[{"any": []}]), "empty list"),
    (one_rule(when=["x"]), "condition"),
    (one_rule(id=""), "text"),
    (one_rule(timeout_s=60), "means nothing"),
    (one_rule(approvers=["a"]), "means nothing"),
    (one_rule(action="approve", approvers=[]), "at least one"),
    (one_rule(action="approve", on_timeout="approve"), "never an approval"),
    (one_rule(action="approve", require_reason="yes"), "true or false"),
    (one_rule(risk="severe"), "none of"),
    (one_condition(op="regex", value="x"), "not known"),
    (one_condition(op="eqq", value="x"), "did you mean 'eq'"),
    (one_condition(op="equals", value="x"), "(one of eq, ne, "),
    (one_condition(op="eq"), "needs a value"),
    (one_condition(op="eq", value=[1]), "takes a text, number"),
    (one_condition(op="eq", value=1, vlaue=2), "did you mean 'value'"),
    (one_condition(op="eq", value=1, key=""), "name of an argument"),
    (one_condition(op="eq", value=1, key=5), "takes a text"),
    (one_condition(op="in", value=[]), "at least one"),
    (one_condition(op="lt", value="many"), "number"),
    (one_condition(op="gt", value=True), "number"),
    (one_condition(op="matches", value="(a"), "RE2"),
    (one_condition(op="matches", value="(?=a)b"), "RE2"),
    (one_condition(op="matches", value=r"(a)\1"), "RE2"),
    (one_condition(op="exists", value="maybe"), "true or false"),
    (one_condition(op="size", value=-1), "whole numbers"),
    (one_condition(op="size", value={"about": 1}), "whole number"),
    (one_condition(op="glob", value="{a"), "without its"),
    (one_condition(op="glob", value="[a"), "character class"),
    (one_condition(op="glob", value=[]), "takes a glob"),
    (one_condition(op="host", value="http://x"), "not a host"),
    (one_condition(op="host", value=""), "empty list"),
    (one_condition(op="host_class", value="inner"), "no class"),
    (one_condition(op="url_port", value=[70000]), "port"),
    (one_condition(op="url_port", value=True), "port"),
    (one_condition(op="command_blacklist", value=[]), "empty list"),
    (one_condition(op="command_blacklist", value=["rm", ""]), "list of texts"),
    (one_condition(op="command_blacklist", value="rm", key="*"), "one argument"),
    (one_condition(op="no_command_substitution", value="x"), "no value"),
    (one_condition(op="annotation", key="readonlyHint", value=True), "readOnlyHint"),
    (one_condition(op="destructive_set", value="x"), "takes no key"),
    (one_condition(op="eq", value="x", match="exact"), "destructive_set"),
    (one_rule(when=[{"op": "destructive_set", "value": []}]), "empty list"),
)


@pytest.mark.parametrize(("text", "said"), REFUSED)
def test_what_could_be_misread_is_refused(text: str, said: str) -> None:
    """Misspelt keys, wrong types, empty lists, malformed globs and unknown operators never load."""
    assert any(said in problem for problem in problems(text))


def rules(*entries: dict[str, Any], **more: Any) -> str:
    """A document with rules."""
    return json.dumps({"version": 1, "rules": list(entries), **more})


COND = {"key": "k", "op": "eq", "value": "a"}
NEVER = (
    rules({"tool": "x", "action": "deny"}, {"tool": "x", "action": "allow"}),
    rules({"tool": "x*", "action": "deny"}, {"tool": "xy", "action": "allow"}),
    rules({"tool": "x*", "action": "deny"}, {"tool": "xy*", "action": "allow"}),
    rules({"action": "deny"}, {"tools": "g", "tool": ["a", "b"], "action": "allow"}),
    rules(
        {"tool": "x", "action": "deny", "when": [COND]},
        {"tool": "x", "action": "allow", "when": [COND, {**COND, "key": "j"}]},
    ),
    rules({"tool": "x", "action": "allow", "when": [COND, {**COND, "value": "b"}]}),
    rules(
        {
            "tool": "x",
            "action": "allow",
            "when": [{"key": "n", "op": "gt", "value": 5}, {"key": "n", "op": "le", "value": 5}],
        }
    ),
    rules(
        {
            "tool": "x",
            "action": "allow",
            "when": [{"key": "n", "op": "exists", "value": False}, COND | {"key": "n"}],
        }
    ),
    rules({"tool": "x", "action": "allow"}, forbid=[{"tool": "x"}]),
)


@pytest.mark.parametrize("text", NEVER)
def test_a_rule_that_can_never_fire_is_refused(text: str) -> None:
    """A rule behind one that covers it, or whose conditions contradict each other, is an error."""
    assert any("can never fire" in problem for problem in problems(text))


def test_a_misspelled_action_is_the_only_problem() -> None:
    """Nobody can say whether the keys beside it go with the action that was meant."""
    (problem,) = problems(one_rule(action="alow", harmless=["a"]))

    assert "did you mean 'allow'" in problem


def test_rules_that_only_overlap_load() -> None:
    """A narrower rule first, or other conditions, leave a later rule its use."""
    load(rules({"tool": "xy", "action": "allow"}, {"tool": "x*", "action": "deny"}), name="p")
    load(rules({"tool": "x", "action": "deny", "when": [COND]}, {"tool": "x", "action": "allow"}), name="p")
    load(
        rules(
            {"tool": "x", "action": "deny", "when": [COND]},
            {"tool": "x", "action": "allow", "when": [{**COND, "value": "b"}]},
        ),
        name="p",
    )


def test_check_warns_of_an_allow_before_a_deny() -> None:
    """An allow that may let calls of a later deny pass is named; one that cannot is not."""
    risky = load(
        rules(
            {"id": "a", "tool": "x*", "action": "allow", "when": [COND]},
            {"id": "d", "tool": "xy", "action": "deny"},
        ),
        name="p",
    )
    apart = load(
        rules(
            {"tool": "x", "action": "allow", "when": [COND]},
            {"tool": "x", "action": "deny", "when": [{**COND, "value": "b"}]},
        ),
        name="p",
    )

    told = say("lint.after_allow", rule="a")
    assert [f"d {told}"] == [problem.message for problem in risky.lint()]
    assert [] == apart.lint()


def test_yaml_words_are_what_they_look_like() -> None:
    """``no``, ``on`` and dates are texts, numbers are exact, and only true and false are truth values."""
    policy = load(
        "version: 1\ndefault_action: allow\nrules:\n"
        "  - {tool: a, action: deny, when: [{key: k, op: in, value: [no, on, 2020-01-01, 1e3, 0o7, ~]}]}\n",
        name="p",
    )

    def judged(value: object) -> str:
        return policy.judge(PolicyCall("", "a", {"k": value})).action

    assert ["deny"] * 5 == [judged(value) for value in ("no", "on", "2020-01-01", 1000, "0o7")]
    assert ["allow"] * 3 == [judged(value) for value in (False, True, "yes")]


def test_a_digest_is_of_the_content() -> None:
    """Order of keys and layout do not count; every value does."""
    one = load('{"version": 1, "default_action": "deny"}', name="a")
    two = load("default_action: deny\nversion: 1  # the same", name="b")
    three = load("default_action: approve\nversion: 1", name="c")

    assert one.digest == two.digest
    assert one.digest != three.digest


def test_an_invalid_document_can_be_pickled() -> None:
    """The error survives the way to another process."""
    import pickle  # noqa: PLC0415

    error = PolicyInvalid("p", [])

    assert "p" == pickle.loads(pickle.dumps(error)).name  # noqa: S301


def test_a_policy_holds_no_file() -> None:
    """Loading takes text; where it came from is only its name in messages."""
    assert isinstance(load("version: 1", name="/no/such/file"), Policy)


CARDS = """
version: 1
cards:
  pay: {headline: "Pay {amount}", undo: "It can't be undone."}
  bank.pay:
    headline: "Pay {amount} {currency} to {to}"
    fields: [memo]
rules:
  - {id: much, tool: pay, action: deny, when: [{key: amount, op: gt, value: 9}]}
risk_rules:
  - {tool: other, risk: critical, message: odd}
"""


@pytest.mark.parametrize(
    ("tools", "tool", "card"),
    [
        ("bank", "pay", CardTerms("Pay {amount} {currency} to {to}", fields=("memo",))),
        ("shop", "pay", CardTerms("Pay {amount}", "It can't be undone.")),
        ("", "pay", CardTerms("Pay {amount}", "It can't be undone.")),
        ("bank", "other", None),
    ],
)
def test_a_verdict_has_the_words_for_the_card_of_its_tool(tools: str, tool: str, card: CardTerms | None) -> None:
    """The group's tool wins over the tool of that name, and the words decide nothing."""
    policy = load(CARDS, name="p.yaml")
    bare = load("\n".join(CARDS.split("\n")[:2] + CARDS.split("\n")[7:]), name="p.yaml")
    for amount in (1, 10):
        call = PolicyCall(tools, tool, {"amount": amount})
        verdict = policy.judge(call)

        assert card == verdict.card
        assert verdict == policy.judge_slowly(call) == policy.explain(call).verdict
        assert replace(verdict, card=None, policy="") == replace(bare.judge(call), policy="")


@pytest.mark.parametrize(
    ("card", "path"),
    [
        ('{headline: "Pay {amount!r}"}', "/cards/pay/headline"),
        ('{headline: "Pay {amount"}', "/cards/pay/headline"),
        ('{headline: "Pay {to[0]}"}', "/cards/pay/headline"),
        ("{headline: 5}", "/cards/pay/headline"),
        ("{fields: [to]}", "/cards/pay/fields"),
        ("{headlin: Pay}", "/cards/pay/headlin"),
        ("Pay", "/cards/pay"),
    ],
)
def test_a_card_that_cannot_be_made_is_refused_with_its_line(card: str, path: str) -> None:
    """An error in a template is found when the policy is read, and never while a card is drawn."""
    (told,) = problems(f"version: 1\ncards:\n  pay: {card}\n")

    assert told.startswith(f"line 3: {path}: ")


@pytest.mark.parametrize(
    ("text", "what", "line"),
    [
        ("version: 1\nrules:\n\t- tool: x", "fault.yaml.at.tab", 3),
        ("version: 1\ndescription: `a`", "fault.yaml.start", 2),
        ("version: 1\ndescription: a: b", "fault.yaml.at.colon", 2),
        ('version: 1\ndescription: "a\n\n', "fault.yaml.at.quote", 2),
        ("version: 1\nrules: [a\n\n", "fault.yaml.at.bracket", 2),
        ("version: 1\nrules:\n- a\nb", "fault.yaml.at.key", 4),
        ("version: 1\nrules:\n  - a\n - b", "fault.yaml.at.indent", 4),
        ('version: 1\ndescription: "\\d"', "fault.yaml.at.escape", 2),
        ("version: 1\n\0", "fault.yaml.at.control", 2),
        ("version: 1\nrules: " + "[" * 5000, "fault.text.deep", 2),
        ("%YAML 3.0\n---\nversion: 1", "fault.yaml", 1),
        ("version: 1\nrules: [{tool: x}]", "fault.choice.none", 2),
        ("version: 1\nrules: [{tool: x, action: allow, when: [{key: a}]}]", "fault.operator.none", 2),
    ],
)
def test_a_mistake_in_a_document_is_told_in_plain_words(text: str, what: str, line: int) -> None:
    """The problem names the line, and has no word of PyYAML or of Python."""
    with pytest.raises(PolicyInvalid) as refused:
        load(text, name="policy.yaml", format="yaml")

    told = {problem.line: problem.message for problem in refused.value.problems}
    assert [line] == list(told)
    assert says(told[line], what)
    assert not re.search(r"None|token|expected|unicode string|context", told[line])
