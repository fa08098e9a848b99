"""Random documents and calls: what holds for all of them."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitl.policy import Policy, PolicyCall, PolicyInvalid, evaluate_row, load
from hitl.records import replace

KEYS = st.sampled_from(["a", "b", "path", "url", "command", "/a/0", "*"])
NAMED = st.sampled_from(["a", "b", "command", "/a/0"])
SCALARS = st.sampled_from(
    ["x", "y", "", "5", 5, 5.5, 0, -1, True, False, None, "/d/a", "/d/.key", "/d/x.key", "../x", "~/x", "https://example.org/",
     "http://127.1/", "ls",
     "rm x", "sh -c 'rm x'", "$X", "ls && git status", "not a url", "\x00", "é\u202e", 10**30, "9" * 70]
)  # fmt: skip
ARGS = st.dictionaries(
    st.sampled_from(["a", "b", "path", "url", "command", "args", "action", "shell"]),
    SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(st.sampled_from(["a", "x"]), SCALARS, max_size=2),
    max_size=4,
)
NUMBERS = st.sampled_from([0, 5, 5.5, "5", -1])
CONDITIONS = st.one_of(
    st.tuples(KEYS, st.sampled_from(["eq", "ne"]), SCALARS),
    st.tuples(KEYS, st.just("in"), st.lists(SCALARS, min_size=1, max_size=3)),
    st.tuples(KEYS, st.just("matches"), st.sampled_from(["x", "^/d", "(?i)RM", "k.y$", "[0-9]+"])),
    st.tuples(KEYS, st.sampled_from(["lt", "le", "gt", "ge"]), NUMBERS),
    st.tuples(NAMED, st.just("exists"), st.booleans()),
    st.tuples(NAMED, st.just("size"), st.sampled_from([0, 2, {"gt": 1}, {"le": 3, "ge": 1}])),
    st.tuples(
        KEYS,
        st.just("glob"),
        st.sampled_from(["/d/**", "**/.key", "**/*.key", "*", "{/d,/e}/*", ["/d/a", "/e"], "/d/?", "./x", "**.key"]),
    ),
    st.tuples(KEYS, st.just("host"), st.sampled_from(["example.org", "*.example.org", "127.0.0.0/8"])),
    st.tuples(KEYS, st.just("host_class"), st.sampled_from(["loopback", "public", "ambiguous,not_http"])),
    st.tuples(KEYS, st.just("url_scheme"), st.just("https,ftp")),
    st.tuples(KEYS, st.just("url_port"), st.sampled_from(["443", [80, 443]])),
    st.tuples(
        NAMED,
        st.sampled_from(["command_blacklist", "command_ask_always"]),
        st.sampled_from(["rm", "git push", "r*"]),
    ),
    st.tuples(NAMED, st.just("command_prefix_allowlist"), st.just("ls,git status")),
    st.tuples(NAMED, st.just("command_resolvable"), st.booleans()),
    st.tuples(KEYS, st.just("no_command_substitution"), st.just("")),
).map(lambda part: dict(zip(("key", "op", "value"), part, strict=True)))
WHEN = st.recursive(
    CONDITIONS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=2).map(lambda parts: {"any": parts}),
        st.lists(inner, min_size=1, max_size=2).map(lambda parts: {"all": parts}),
        inner.map(lambda part: {"not": part}),
    ),
    max_leaves=4,
)
TOOL = st.sampled_from(["t", "t", "t*", "*", "u", ["t", "u"]])
ACTION = st.sampled_from(["allow", "approve", "deny"])
RULE = st.fixed_dictionaries({"tool": TOOL, "action": ACTION, "when": st.lists(WHEN, min_size=1, max_size=2)})
FORBID = st.fixed_dictionaries({"tool": TOOL, "when": st.lists(WHEN, min_size=1, max_size=2)})
LEVEL = st.sampled_from(["low", "medium", "high", "critical"])
RISK_RULE = st.fixed_dictionaries({"tool": TOOL}, optional={"when": st.lists(WHEN, min_size=1, max_size=2)}).flatmap(
    lambda rule: st.tuples(st.sampled_from(["risk", "at_least"]), LEVEL).map(lambda level: {**rule, level[0]: level[1]})
)
DOCUMENT = st.fixed_dictionaries(
    {"version": st.just(1), "default_action": ACTION, "rules": st.lists(RULE, max_size=9)},
    optional={
        "forbid": st.lists(FORBID, max_size=2),
        "risk_rules": st.lists(RISK_RULE, max_size=6),
        "risk": st.dictionaries(LEVEL, st.fixed_dictionaries({"action": ACTION}), max_size=2),
    },
)


def _call(fields: dict[str, Any]) -> PolicyCall:
    return PolicyCall(**fields)


CALL = st.fixed_dictionaries(
    {
        "tools": st.sampled_from(["g", ""]),
        "tool": st.sampled_from(["t", "tt", "u", "bash", "get_page"]),
        "args": ARGS,
        "cwd": st.sampled_from([None, "/d", "/"]),
        "annotations": st.sampled_from([None, {}, {"readOnlyHint": True}]),
        "trusted_annotations": st.booleans(),
    }
).map(_call)
STRENGTH = ("allow", "approve", "deny")


Related = tuple[dict[str, Any], Any]
ONE_WHEN = st.lists(WHEN, min_size=1, max_size=2)


def loaded(document: Any) -> Policy | None:
    """The policy of a document; None where it is refused."""
    try:
        return load(json.dumps(document), name="p")
    except PolicyInvalid:
        return None


def strength(policy: Policy, call: PolicyCall) -> int:
    """How much stands in a call's way."""
    return STRENGTH.index(policy.judge(call).action)


def single(action: str, when: list[Any], *, default: str) -> Policy | None:
    """The policy of one rule for every tool. An allow vouches for the arguments that it doesn't look at, too."""
    rule: dict[str, Any] = {"action": action, "when": when}
    if action == "allow":
        rule["harmless"] = ["*"]
    return loaded({"version": 1, "default_action": default, "rules": [rule]})


def is_total(document: Any, call: PolicyCall) -> None:
    """Every call gets a verdict, the same each time, from a policy loaded anew as well, and without an error."""
    policy = loaded(document)
    if policy is None:
        return
    verdict = policy.judge(call)

    assert verdict.action in STRENGTH
    assert verdict.reason != "policy_error"
    assert verdict == policy.judge(call) == load(json.dumps(document), name="q").judge(call)


def is_indexed(document: Any, call: PolicyCall) -> None:
    """A verdict found through the index is the one that a walk over all rules finds."""
    policy = loaded(document)
    if policy is None:
        return

    assert policy.judge_slowly(call) == policy.judge(call)
    assert policy.judge(call) == policy.explain(call).verdict


def is_indexed_where_it_fits(related: list[Related], call: PolicyCall) -> None:
    """The same for rules of one condition each, and an argument that fits, or nearly fits, the last."""
    rules = [{"action": "deny", "when": [condition]} for condition, _ in related]
    condition, given = related[-1]
    call = replace(call, args={condition["key"]: given})
    is_indexed({"version": 1, "default_action": "allow", "rules": rules}, call)


def is_forbidden(document: Any, more: Any, call: PolicyCall) -> None:
    """A rule added to ``forbid`` leaves each verdict at least as strong as it was, and as the rule is on its own."""
    before, after = loaded(document), loaded({**document, "forbid": [*document.get("forbid", []), more]})
    alone = loaded({"version": 1, "default_action": "allow", "rules": [{**more, "action": "deny"}]})
    if before is None or after is None or alone is None:
        return

    assert strength(after, call) >= max(strength(before, call), strength(alone, call))


def is_no_stronger_than_its_denial(when: list[Any], call: PolicyCall) -> None:
    """What holds for certain, so that an allow fires, is also found by a deny; and the other way round for ``not``."""
    for one in (when, [{"not": part} for part in when]):
        allows, denies = single("allow", one, default="deny"), single("deny", one, default="allow")
        if allows is None or denies is None:
            return

        assert not (strength(allows, call) == 0 == strength(denies, call))


def is_tightened_by_any_rule_before_it(document: Any, when: list[Any], call: PolicyCall) -> None:
    """A deny put before all rules leaves each verdict at least as strong, and so does a higher risk on its own."""
    before = loaded(document)
    rules = [{"action": "deny", "when": when}, *document["rules"]]
    after = loaded({**document, "rules": rules})
    if before is None or after is None:
        return

    assert strength(after, call) >= strength(before, call)


def is_never_let_pass_if_it_may_hold(related: Related, call: PolicyCall) -> None:
    """What a rule that raises the risk finds possible, a denial lets pass neither by a rule nor by default."""
    condition, given = related
    call = replace(call, args={**call.args, condition["key"]: given})
    raised = {"version": 1, "risk_rules": [{"at_least": "critical", "when": [condition]}]}
    if load(json.dumps(raised), name="p").judge(call).risk != "critical":
        return
    denying, everything = {"action": "deny", "when": [condition]}, {"action": "allow"}
    for stopping in (
        {"forbid": [{"when": [condition]}], "default_action": "allow"},
        {"forbid": [{"when": [condition]}], "rules": [everything]},
        {"rules": [denying], "default_action": "allow"},
        {"rules": [denying, everything]},
    ):
        policy = load(json.dumps({"version": 1, **stopping}), name="p")

        assert strength(policy, call) > 0


def is_judged_element_by_element(related: Related, others: list[Any], call: PolicyCall) -> None:
    """An allow fires on a list only if it fires on each of its elements; a deny is as strong as on any one."""
    condition, given = related
    elements = [given, *others]
    for one in ([condition], [{"not": condition}]):
        allows, denies = single("allow", one, default="deny"), single("deny", one, default="allow")
        if allows is None or denies is None:
            return
        listed = replace(call, args={condition["key"]: elements})
        alone = [replace(call, args={condition["key"]: element}) for element in elements if element != []]

        assert strength(allows, listed) >= max(strength(allows, each) for each in alone)
        assert strength(denies, listed) >= max(strength(denies, each) for each in alone)


def is_nothing_where_the_argument_is_absent(related: Related, call: PolicyCall) -> None:
    """No allow fires on an argument that isn't there, nor on its absence."""
    condition, _ = related
    args = {name: value for name, value in call.args.items() if name not in (condition["key"], "command", "args")}
    for one in ([condition], [{"not": condition}]):
        allows = single("allow", one, default="deny")

        assert allows is None or strength(allows, replace(call, args=args)) > 0


def holds_with_all_its_parts(related: list[Related], call: PolicyCall) -> None:
    """An allow of several conditions fires only if it would fire with each of them alone."""
    call = replace(call, args={**call.args, **{condition["key"]: given for condition, given in related}})
    whens = [condition for condition, _ in related]
    whole = single("allow", whens, default="deny")
    parts = [single("allow", [when], default="deny") for when in whens]
    if whole is None or None in parts:
        return

    assert strength(whole, call) >= max(strength(part, call) for part in parts if part is not None)


def allows_nothing_once_refused(document: Any, call: PolicyCall) -> None:
    """Whatever is wrong with a document, loading it ends in an answer, and a refused one never allows."""
    answer = evaluate_row(
        {"id": 1, "policy": document, "tools": call.tools, "tool": call.tool, "args": dict(call.args)}
    )

    assert answer["action"] in STRENGTH
    assert not answer["refused"] or answer["action"] == "deny"


def is_a_document_or_a_problem(text: str) -> None:
    """Loading never fails in another way."""
    found: tuple[object, ...] = ("a policy",)
    try:
        load(text, name="p")
    except PolicyInvalid as invalid:
        found = invalid.problems

    assert found


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
BROKEN = st.one_of(
    ANYTHING,
    st.fixed_dictionaries({"version": st.just(1), "rules": ANYTHING}),
    st.fixed_dictionaries(
        {
            "version": st.just(1),
            "default_action": st.just("allow"),
            "forbid": st.lists(ANYTHING, min_size=1, max_size=2),
        }
    ),
    DOCUMENT.flatmap(lambda document: st.text(min_size=1, max_size=5).map(lambda key: {**document, key: 1})),
)


#: Conditions, each with arguments that it fits, nearly fits, or cannot be told of.
FITTING: tuple[tuple[str, str, Any, tuple[Any, ...]], ...] = (
    ("a", "eq", "5", ("5", 5, 5.0, "x", True, None, {"x": "5"})),
    ("a", "eq", 5, (5, "5", 5.5, "x", None)),
    ("a", "in", ["x", 5], ("x", "5", 5, "y", {"x": "x"})),
    ("a", "matches", "^x", ("x", "ax", 5, "x" * 9, {"x": "x"})),
    ("a", "gt", 5, (6, 5, "6", "x", None, True, {"x": 6})),
    ("a", "ge", 7, (7, 7.5, 6, "7")),
    ("a", "lt", -3, (-4, -3, -3.5, "-4")),
    ("path", "glob", "/d/**", ("/d/a", "/D/a", "/e", "~/x", "/d/%2e%2e/x", "/d/../e", "d/a", 5, None, {"x": "/d/a"})),
    ("path", "glob", "/*/?.txt", ("/a/b.txt", "/a/B.TXT", "/a/bb.txt", "/a/b.tx?")),
    ("path", "glob", "**/*.key", ("/f/a.key", "/g.key", "b.key", "/d/a.KEY", "/d/a.k*", "/d/a", "file:///x.key")),
    ("url", "host", "example.org", ("https://example.org/", "https://a.example.org/", "example.org", "http://x y/", 5)),
    ("url", "host_class", "loopback", ("http://127.1/", "https://example.org/", "localhost", "x y", 5)),
    ("url", "url_scheme", "https", ("https://example.org/", "http://example.org/", "example.org", "https:/x")),
    ("command", "command_blacklist", "rm", ("rm x", "RM x", "$X", "ls", "sh x", "sh -c 'rm x'", "rm x; sh y", "")),
    ("command", "command_ask_always", "git push", ("git push", "git -C d push", "git $X", "git log", "sh x")),
    ("command", "command_prefix_allowlist", "ls,git log", ("ls", "ls; rm x", "git log | ls", "ls $X", "lsof", "")),
    ("command", "command_resolvable", True, ("ls", "sh x", "$X", "", 5)),
)
RELATED = st.sampled_from(FITTING).flatmap(
    lambda row: st.sampled_from(row[3]).map(lambda given: ({"key": row[0], "op": row[1], "value": row[2]}, given))
)
#: For these a list is one command, not several.
LISTED = RELATED.filter(lambda related: related[0]["key"] != "command")

#: What holds, and for what.
PROPERTIES: dict[Callable[..., None], tuple[st.SearchStrategy[Any], ...]] = {
    is_total: (DOCUMENT, CALL),
    is_indexed: (DOCUMENT, CALL),
    is_indexed_where_it_fits: (
        st.lists(RELATED, min_size=6, max_size=12, unique_by=lambda related: str(related[0])),
        CALL,
    ),
    is_forbidden: (DOCUMENT, FORBID, CALL),
    is_no_stronger_than_its_denial: (ONE_WHEN, CALL),
    is_tightened_by_any_rule_before_it: (DOCUMENT, ONE_WHEN, CALL),
    is_never_let_pass_if_it_may_hold: (RELATED, CALL),
    is_judged_element_by_element: (LISTED, st.lists(SCALARS, max_size=2), CALL),
    is_nothing_where_the_argument_is_absent: (RELATED, CALL),
    holds_with_all_its_parts: (st.lists(RELATED, min_size=2, max_size=3), CALL),
    allows_nothing_once_refused: (BROKEN, CALL),
    is_a_document_or_a_problem: (st.text(max_size=200),),
}


def _held(holds: Callable[..., None], examples: int) -> None:
    settings(max_examples=examples, deadline=None)(given(*PROPERTIES[holds])(holds))()


@pytest.mark.parametrize("holds", PROPERTIES, ids=lambda holds: holds.__name__)
def test_it_holds_for_random_documents_and_calls(holds: Callable[..., None]) -> None:
    """What the property says."""
    _held(holds, 120)


@pytest.mark.fuzz
@pytest.mark.parametrize("holds", PROPERTIES, ids=lambda holds: holds.__name__)
def test_it_holds_for_very_many(holds: Callable[..., None]) -> None:
    """What the property says."""
    _held(holds, 5000)
