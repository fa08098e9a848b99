"""Other systems' documents, translated: the same verdicts, and a note for each difference."""

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hitl.policy import Policy, PolicyCall, PolicyInvalid, Verdict, import_foreign, load
from hitl.policy.dialects.importing import ForeignFormat
from hitl.policy.wording import say
from tests.sentences import says


def imported(document: Any, format: ForeignFormat) -> Policy:  # noqa: A002 - as the function under test
    """The policy that a document becomes."""
    return load(import_foreign(json.dumps(document), format).text, name="imported")


def notes(document: Any, format: ForeignFormat) -> str:  # noqa: A002 - as above
    """What is said about the differences."""
    return "\n".join(import_foreign(json.dumps(document), format).differences)


# --- laravel-hitl


def test_a_destructive_set_is_asked_about() -> None:
    """Its members are asked about, by whole name or by part of it; the rest runs as before."""
    exact = imported({"destructive": ["pay_out", "close_shop"]}, "laravel-hitl")
    part = imported({"destructive": ["pay"], "match": "substring"}, "laravel-hitl")
    everything = imported({"destructive": ["", "pay"], "match": "substring"}, "laravel-hitl")
    nothing = imported([], "laravel-hitl")

    def asked(policy: Policy, tool: str) -> bool:
        return policy.judge(PolicyCall("", tool, {})).action == "approve"

    assert [True, False] == [asked(exact, tool) for tool in ("pay_out", "pay_outs")]
    assert [True, False] == [asked(part, tool) for tool in ("prepay_all", "look")]
    assert asked(everything, "look")
    assert not asked(nothing, "pay")


CONFIGURATION: dict[str, Any] = {
    "enabled": True,
    "tool_firewall": {"owner_keys": ["tenant"], "reject_unknown_arguments": True},
    "input_screen": {"enabled": True, "patterns": {"x": "/y/u"}},
    "hitl": {
        "enabled": False,
        "destructive_tools": ["pay_out", "close"],
        "fallback": "pass",
        "allowed_tool_classes": [],
    },
    "modes": {"hitl": "MONITOR", "input_screen": "enforce"},
    "tool_authorization": {
        "enabled": True,
        "ability": "use",
        "owner_key_depth": "recursive",
        "destructive_match": "substring",
    },
    "retention": {"days": 30},
}


@pytest.mark.parametrize("wrapped", [CONFIGURATION, {"ai-guardrails": CONFIGURATION}, {"settings": CONFIGURATION}])
def test_a_whole_configuration_loads(wrapped: Any) -> None:
    """The set and how its names are compared decide; every other key is named."""
    policy, said = imported(wrapped, "laravel-hitl"), notes(wrapped, "laravel-hitl")

    assert ["approve", "approve", "allow"] == [
        policy.judge(PolicyCall("", tool, {})).action for tool in ("pay_out_all", "close_shop", "look")
    ]
    for key in (
        "tool_firewall", "owner_keys", "input_screen", "patterns", "hitl.enabled", "hitl.fallback", "modes.hitl",
        "modes.input_screen", "tool_authorization.enabled", "ability", "owner_key_depth", "retention", "days",
    ):  # fmt: skip
        assert key in said
    assert say("laravel.classes.empty") in said


def test_keys_with_dots_are_the_sections_that_they_stand_for() -> None:
    """As the runtime settings are written."""
    document = {"hitl.destructive_tools": ["pay"], "ai-guardrails.tool_authorization.destructive_match": "substring"}

    assert "approve" == imported(document, "laravel-hitl").judge(PolicyCall("", "prepay", {})).action


def test_tool_classes_are_named() -> None:
    """They say what may run after a yes, which is a setting here."""
    document = {"hitl": {"destructive_tools": ["pay"], "allowed_tool_classes": ["App\\Pay"]}}

    assert say("laravel.classes", names="App\\Pay") in notes(document, "laravel-hitl")


def test_a_configuration_without_a_set_takes_the_published_one() -> None:
    """Else a file that names no tools would ask about none."""
    assert "approve" == imported({"hitl": {}}, "laravel-hitl").judge(PolicyCall("", "refund", {})).action


@pytest.mark.parametrize(
    "document",
    [
        {"hitl": {"surprise": 1}},
        {"surprise": {}},
        {"hitl": {"destructive_tools": "pay"}},
        {"hitl": []},
        {"hitl": {"destructive_tools": ["x"]}, "tool_authorization": {"destructive_match": "prefix"}},
        {"hitl": {"destructive_tools": ["x"]}, "tool_authorization": {"surprise": 1}},
        {"hitl": 1, "hitl.enabled": True},
    ],
)
def test_what_is_not_known_of_a_configuration_is_refused(document: Any) -> None:
    """A key without a meaning here might have restricted something."""
    with pytest.raises(PolicyInvalid):
        import_foreign(json.dumps(document), "laravel-hitl")


def test_a_php_file_is_answered_with_what_to_do() -> None:
    """The configuration is PHP where it is installed; JSON is read here."""
    with pytest.raises(PolicyInvalid, match="json_encode"):
        import_foreign("<?php return [];", "laravel-hitl")


# --- harombe

HAROMBE = {
    "model": {"name": "m"},
    "security": {
        "vault": {"enabled": True},
        "hitl": {
            "enabled": False,
            "default_timeout": 40,
            "notification": {"method": "webhook"},
            "auto_approve_low_risk": True,
            "high_risk_tools": ["push_button"],
            "rules": [
                {
                    "tools": ["store"],
                    "risk": "critical",
                    "conditions": [{"param": "path", "matches": "^/boot/.*|^/lib/.*"}],
                },
                {"tools": ["store"], "risk": "medium"},
                {"tools": ["peek"], "risk": "low"},
                {"tools": ["wipe"], "risk": "high", "timeout": 30, "require_reason": True, "allow_skip": True},
                {"tools": ["poke"], "risk": "medium", "require_approval": False},
            ],
            "policies": {
                "low": {"require_approval": False},
                "medium": {"require_approval": True, "timeout": 90, "allow_skip": True},
                "critical": {"require_approval": False, "timeout": 20, "require_reason": True},
            },
        },
    },
}


@pytest.mark.parametrize(
    ("tool", "args", "told"),
    [
        ("store", {"path": "/boot/x"}, ("approve", "critical", 20, True)),
        ("store", {"path": "//lib/x"}, ("approve", "critical", 20, True)),
        ("store", {"path": "/srv/../boot/x"}, ("approve", "critical", 20, True)),
        ("store", {"path": "/srv/x"}, ("approve", "medium", 90, False)),
        ("peek", {}, ("allow", "low", 40, False)),
        ("wipe", {}, ("approve", "high", 30, True)),
        ("poke", {}, ("approve", "medium", 90, False)),
        ("push_button", {}, ("approve", "high", 40, False)),
        ("get_anything", {}, ("approve", "low", 40, False)),
    ],
)
def test_a_whole_section_loads(tool: str, args: dict[str, Any], told: tuple[str, str, int, bool]) -> None:
    """Rules, levels, timeouts and reasons hold as they are written; a level's leave reaches its own rules only."""
    verdict = imported(HAROMBE, "harombe").judge(PolicyCall("", tool, args))

    assert told == (verdict.action, verdict.risk, verdict.timeout_s, verdict.require_reason)


def test_no_setting_of_a_section_vanishes() -> None:
    """What is not translated is named."""
    said = notes(HAROMBE, "harombe")

    for key in (
        "model", "security.vault", "enabled: false", "notification", "auto_approve_low_risk", "policies.low",
        "policies.medium: allow_skip", "policies.critical: runs critical calls", "rule 3: allow_skip", "rule 4: runs",
    ):  # fmt: skip
        assert key in said


@pytest.mark.parametrize(
    "section",
    [
        {"surprise": 1},
        {"policies": {"severe": {}}},
        {"policies": {"high": {"surprise": 1}}},
        {"policies": {"high": {"timeout": "soon"}}},
        {"policies": {"high": {"require_reason": "yes"}}},
        {"policies": []},
        {"default_timeout": "soon"},
        {"enabled": "no"},
        {"high_risk_tools": "x"},
        {"rules": {}},
    ],
)
def test_what_is_not_known_of_a_section_is_refused(section: Any) -> None:
    """A key without a meaning here might have restricted something."""
    with pytest.raises(PolicyInvalid):
        import_foreign(json.dumps({"security": {"hitl": section}}), "harombe")


@pytest.mark.parametrize(
    ("path", "action"),
    [
        ("/tmp/x", "allow"),
        ("/tmp/../etc/x", "approve"),
        ("//tmp/x", "approve"),
        ("/tmp/~/x", "allow"),
        ("/srv/tmp/x", "approve"),
    ],
)
def test_an_allow_by_a_path_needs_every_spelling(path: str, action: str) -> None:
    """`..` leads out of the folder that the pattern names."""
    rule = {
        "tools": ["store"],
        "risk": "low",
        "require_approval": False,
        "conditions": [{"param": "path", "matches": "/tmp/.*|/var/tmp/.*"}],
    }

    assert action == imported([rule], "harombe").judge(PolicyCall("", "store", {"path": path})).action


RULES = [
    {"tools": ["erase_shop"], "risk": "critical", "timeout": 60, "description": "the whole shop"},
    {"tools": ["mail"], "risk": "high"},
    {
        "tools": ["save"],
        "risk": "critical",
        "conditions": [{"param": "path", "matches": "^/boot/.*"}],
        "timeout": 30,
    },
    {"tools": ["save"], "risk": "medium", "timeout": 120},
    {"tools": ["look", "count"], "risk": "low", "require_approval": False},
    {
        "tools": ["press"],
        "risk": "critical",
        "conditions": [{"param": "name", "matches": "(?i)(cancel plan|close shop)"}],
        "timeout": 2,
    },
    {"tools": ["press"], "risk": "low", "require_approval": False},
    {
        "tools": ["enter"],
        "risk": "critical",
        "conditions": [{"param": "field", "matches": "(?i)pin"}],
        "require_approval": False,
    },
    {"tools": ["fetch"], "risk": "high", "conditions": [{"param": "from", "matches": "^(main|spare)$"}]},
    {
        "tools": ["fetch"],
        "risk": "critical",
        "conditions": [{"param": "from", "matches": "^(?!main$|spare$)"}],
    },
    {"tools": ["one"], "risk": "high", "conditions": [{"param": "a", "equals": 1}]},
    {"tools": ["some"], "risk": "high", "conditions": [{"param": "a", "in": ["x", 2]}, {"param": "b"}]},
    {"tools": ["mail"], "risk": "low", "require_approval": False},
]
RISKY: tuple[tuple[str, dict[str, Any], str, str, int | None], ...] = (
    ("erase_shop", {}, "approve", "critical", 60),
    ("mail", {}, "approve", "high", 60),
    ("save", {"path": "/boot/x"}, "approve", "critical", 30),
    ("save", {"path": "//boot/x"}, "approve", "critical", 30),
    ("save", {"path": "/srv/../boot/x"}, "approve", "critical", 30),
    ("save", {"path": "/boot"}, "approve", "medium", 120),
    ("save", {"path": "/bootstrap/x"}, "approve", "medium", 120),
    ("look", {}, "allow", "low", None),
    ("press", {"name": "Cancel plan"}, "approve", "critical", 5),
    ("press", {"name": "really close shop now"}, "approve", "critical", 5),
    ("press", {"name": "next"}, "allow", "low", None),
    ("enter", {"field": "card pin"}, "approve", "critical", 60),
    ("fetch", {"from": "main"}, "approve", "high", 60),
    ("fetch", {"from": "main "}, "approve", "critical", 60),
    ("fetch", {"from": "elsewhere"}, "approve", "critical", 60),
    ("fetch", {}, "approve", "high", 60),
    ("one", {"a": 1}, "approve", "high", 60),
    ("one", {"a": True}, "approve", "high", 60),
    ("one", {"a": 2}, "approve", "high", 60),
    ("some", {"a": 2, "b": None}, "approve", "high", 60),
    ("unknown", {}, "approve", "high", 60),
    ("LOOK", {}, "approve", "high", 60),
)


@pytest.mark.parametrize(("tool", "args", "action", "risk", "timeout"), RISKY)
def test_risk_rules_give_the_same_or_a_safer_verdict(
    tool: str, args: dict[str, Any], action: str, risk: str, timeout: int | None
) -> None:
    """Levels, approvals and timeouts are kept; patterns are found anywhere, and paths in any spelling."""
    verdict = imported(RULES, "harombe").judge(PolicyCall("", tool, args))

    assert (action, risk) == (verdict.action, verdict.risk)
    assert timeout is None or timeout == verdict.timeout_s


def test_differences_of_risk_rules_are_listed() -> None:
    """Each place where the verdict may differ is named."""
    found = notes(RULES, "harombe")

    assert f"rule 7: {say('harombe.unasked', risk='critical')}" in found
    assert f"rule 5: {say('import.timeout', asked=2, bounded=5)}" in found
    assert says(found, "harombe.start", key="'name'")
    assert says(found, "harombe.path", key="'path'")
    assert "rules/12: left out" in found
    assert "'medium'" in found


@pytest.mark.parametrize(
    "rule",
    [
        {"tools": ["x"], "risk": "high", "conditions": [{"param": "a", "contains": "x"}]},
        {"tools": ["x"], "risk": "severe"},
        {"tools": [], "risk": "high"},
        {"risk": "high"},
        {"tools": ["x"], "risk": "high", "conditions": [{"equals": 1}]},
        {"tools": ["x"], "risk": "high", "conditions": [{"param": "a", "matches": "a(?=b)"}]},
        {"tools": ["x"], "risk": "high", "requires_approval": False},
        {"tools": ["x"], "risk": "high", "require_approval": "no"},
        {"tools": ["x"], "risk": "low", "require_approval": 0},
        {"tools": ["x"], "risk": "high", "timeout": "soon"},
        {"tools": ["x"], "risk": "high", "timeout": None},
        {"tools": ["x"], "risk": "high", "timeout": 1.5},
        {"tools": ["x", 5], "risk": "high"},
        {"tools": ["x", " "], "risk": "high"},
        {"tools": "x", "risk": "high"},
        {"tools": ["x"], "risk": ["high"]},
        {"tools": ["x"], "risk": "high", "conditions": 5},
        {"tools": ["x"], "risk": "high", "conditions": {"param": "a"}},
        {"tools": ["x"], "risk": "high", "conditions": [{"param": " "}]},
        {"tools": ["x"], "risk": "high", "conditions": [{"param": "a", "in": "xy"}]},
        {"tools": ["x"], "risk": "high", "conditions": [{"param": "a", "in": []}]},
        {"tools": ["x"], "risk": "high", "conditions": [{"param": "a", "equals": {"b": 1}}]},
        {"tools": ["x"], "risk": "high", "conditions": [{"param": "a", "matches": "(("}]},
        {"tools": ["x"], "risk": "high", "conditions": [{"param": "a", "matches": "(?!(("}]},
        {"tools": ["x"], "risk": "high", "conditions": [{"param": "a", "matches": "(?!((a)x"}]},
        {"tools": ["x"], "risk": "high", "conditions": [{"param": "a", "matches": 5}]},
        "x",
        5,
        None,
    ],
)
def test_what_has_no_safe_meaning_is_refused(rule: Any) -> None:
    """An unknown operator was ignored, so that its condition held: here the document is not translated."""
    with pytest.raises(PolicyInvalid):
        import_foreign(json.dumps([rule]), "harombe")


def test_what_is_refused_is_named() -> None:
    """Each part that is wrong, with what it takes."""
    rule = {"tools": "x", "risk": "severe", "timeout": "soon", "color": 1, "require_approval": "no"}
    with pytest.raises(PolicyInvalid) as refused:
        import_foreign(json.dumps([rule]), "harombe")

    assert {
        f"'tools' {say('import.takes', takes=say('takes.tool_names'))}",
        f"'risk' {say('import.takes', takes=say('takes.risk'))}",
        f"'timeout' {say('fault.takes.seconds')}",
        "'color' is not known",
        "'require_approval' takes true or false",
    } == {problem.message for problem in refused.value.problems}


PARTS = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 70), st.text(max_size=3), st.sampled_from(["high", "low", "x*", "^/a/.*"])
)
ODD = st.recursive(
    PARTS,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                "tools tool risk action conditions param equals in matches timeout require_approval rules when key op"
                " value default_action destructive match".split()
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(deadline=None, max_examples=200)
@given(ODD, st.sampled_from(["laravel-hitl", "harombe", "contenox"]))
def test_whatever_is_given_is_translated_or_refused(document: Any, format: ForeignFormat) -> None:  # noqa: A002 - as above
    """Nothing else comes of it: a translation loads, and a refusal has its reasons."""
    found: Any
    try:
        found = load(import_foreign(json.dumps(document), format).text, name="imported")
    except PolicyInvalid as refused:
        found = refused.problems

    assert found


# --- contenox

KEYS = st.sampled_from(["path", "url", "command", "k"])
VALUES = st.sampled_from(
    ["/d/a", "/d/.key", "d/../.key", "https://example.org/", "https://a.example.org/x", "rm x", "ls && rm x",
     "git status", "ls $(x)",
     "5", 5, True, None, ["/d/a", "/e"], {"x": "/d/.key"}, "", "git log; ls", "sh -c 'rm x'", "$X"]
)  # fmt: skip
CONDITIONS = st.one_of(
    st.tuples(KEYS, st.just("eq"), st.sampled_from(["5", "true", "/d/a", ""])),
    st.tuples(KEYS, st.just("glob"), st.sampled_from(["/d/**", "**/.key", "{/d,/e}/*", "*", "5"])),
    st.tuples(KEYS, st.just("host"), st.sampled_from(["example.org", "*.example.org", "10.0.0.1"])),
    st.tuples(
        KEYS,
        st.sampled_from(["command_blacklist", "command_ask_always"]),
        st.sampled_from(["rm", "rm,git", "", "5,true"]),
    ),
    st.tuples(KEYS, st.just("command_prefix_allowlist"), st.just("git status,ls")),
    st.tuples(KEYS, st.just("no_command_substitution"), st.just("")),
)
ENVELOPE = st.fixed_dictionaries(
    {
        "default_action": st.sampled_from(["allow", "approve", "deny"]),
        "rules": st.lists(
            st.fixed_dictionaries(
                {
                    "tools": st.sampled_from(["g", "*", ""]),
                    "tool": st.sampled_from(["t", "u", "*"]),
                    "action": st.sampled_from(["allow", "approve", "deny"]),
                    "when": st.lists(
                        CONDITIONS.map(lambda part: dict(zip(("key", "op", "value"), part, strict=True))),
                        max_size=2,
                    ),
                }
            ),
            max_size=4,
        ),
    }
)


def strength(verdict: Verdict) -> int:
    """How strong an action is."""
    return ("allow", "approve", "deny").index(verdict.action)


@pytest.mark.parametrize(("args", "action"), [({"url": "a/.key"}, "allow"), ({}, "approve"), ({"url": "a"}, "allow")])
def test_a_rule_behind_a_weaker_one_of_the_same_conditions_asks_where_they_can_not_be_told(
    args: dict[str, Any], action: str
) -> None:
    """The weaker wins where they hold; without the argument the stricter one is in doubt, and a person is asked."""
    rule = {"tools": "g", "tool": "t", "when": [{"key": "url", "op": "glob", "value": "**/.key"}]}
    document = {"default_action": "allow", "rules": [{**rule, "action": "allow"}, {**rule, "action": "approve"}]}

    assert action == imported(document, "contenox").judge(PolicyCall("g", "t", args)).action


def asking_and_denying(key: str, op: str, value: str) -> dict[str, Any]:
    """An envelope with a rule that asks, and a rule behind it that denies."""
    rule = {"tools": "g", "tool": "t"}
    when = [{"key": key, "op": op, "value": value}]
    return {
        "default_action": "allow",
        "rules": [{**rule, "action": "approve", "when": when}, {**rule, "action": "deny"}],
    }


@pytest.mark.parametrize(
    ("document", "args"),
    [
        (asking_and_denying("k", "no_command_substitution", ""), {"command": "ls $(x)"}),
        (asking_and_denying("command", "command_blacklist", "rm"), {"args": ["rm", "x"]}),
        (asking_and_denying("args", "command_ask_always", "rm"), {"command": "rm x"}),
        (asking_and_denying("command", "command_prefix_allowlist", "git status"), {"args": ["git", "status"]}),
    ],
)
def test_an_ask_that_holds_only_by_another_argument_keeps_no_later_deny_from_deciding(
    document: dict[str, Any], args: dict[str, Any]
) -> None:
    """The ask is on an argument that the call lacks, so contenox goes on to the deny. So does the translation."""
    assert "deny" == imported(document, "contenox").judge(PolicyCall("g", "t", args)).action


@settings(deadline=None)
@given(ENVELOPE, st.dictionaries(KEYS, VALUES, max_size=3))
@example(asking_and_denying("k", "no_command_substitution", ""), {"command": "ls $(x)"})
@example({"rules": [{"tools": "g", "action": "deny", "when": [{"key": "k", "op": "glob", "value": "*"}]}]}, {"k": 5})
@example(
    {"rules": [{"tools": "g", "action": "deny", "when": [{"key": "k", "op": "glob", "value": "t*"}]}]}, {"k": True}
)
@example({**asking_and_denying("k", "no_command_substitution", ""), "default_action": "deny"}, {"command": "ls $(x)"})
def test_an_envelope_is_never_weaker_once_translated(document: dict[str, Any], args: dict[str, Any]) -> None:
    """Reading the dialect of contenox natively and translating it give the same action, or a stricter one."""
    call = PolicyCall("g", "t", args)
    native = load(json.dumps(document), name="native", format="json").judge(call)
    translated = imported(document, "contenox").judge(call)

    assert strength(translated) >= strength(native)
    assert strength(translated) == strength(native) or "deny" in json.dumps(document) or translated.action == "approve"


@pytest.mark.parametrize("when", ["when", "When"])
def test_of_several_spellings_of_a_key_the_translation_takes_the_one_that_was_checked(when: str) -> None:
    """A document of contenox has its keys in any case; the first counts, and nothing that the others say is allowed."""
    condition = {"key": "path", "op": "glob", "value": "/safe", "VALUE": "/other"}
    policy = imported({"rules": [{"tools": "g", "action": "allow", when: [condition]}]}, "contenox")

    judged = [policy.judge(PolicyCall("g", "t", {"path": path})).action for path in ("/safe", "/other")]
    assert ["allow", "approve"] == judged


@pytest.mark.parametrize("op", ["eq", "no_command_substitution"])
def test_a_condition_without_a_value_is_translated_as_it_is_read(op: str) -> None:
    """Null and a value that isn't there are the empty text."""
    rules = [
        {"tools": "g", "action": "deny", "when": [{"key": "a", "op": op, **value}]} for value in ({}, {"value": None})
    ]

    assert imported({"rules": rules[:1]}, "contenox").judge(PolicyCall("g", "t", {"a": ""})) == imported(
        {"rules": rules[1:]}, "contenox"
    ).judge(PolicyCall("g", "t", {"a": ""}))


def test_differences_of_an_envelope_are_listed() -> None:
    """Silence, deadlines, names that matched nothing and narrowed hosts are named."""
    found = notes(
        {
            "rules": [
                {"tools": "g", "action": "approve", "on_timeout": "approve", "timeout_s": -1},
                {"tools": "h*", "action": "allow"},
                {
                    "tools": "w",
                    "action": "allow",
                    "when": [{"key": "u", "op": "host", "value": "example.org"}],
                },
                {"tools": "g", "action": "deny"},
                {
                    "tools": "c",
                    "action": "deny",
                    "when": [{"key": "command", "op": "command_blacklist", "value": ""}],
                },
            ]
        },
        "contenox",
    )

    assert f"rules/0/on_timeout: {say('contenox.on_timeout')}" in found
    assert f"rules/0/timeout_s: {say('contenox.deadline', value=-1, high=604800)}" in found
    assert f"rules[1]: {say('contenox.name', name=repr('h*'))}" in found
    assert f"rules[2]: {say('contenox.domain', value=repr('example.org'))}" in found
    assert "rules/2: left out" in found
    assert f"rules[4]: {say('contenox.never')}" in found


def test_an_unknown_format_is_refused() -> None:
    """There are three."""
    with pytest.raises(PolicyInvalid, match="harombe, contenox, laravel-hitl"):
        import_foreign("[]", "another")  # type: ignore[arg-type]
