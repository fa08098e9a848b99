"""The index against a walk over all rules, at sizes where it matters."""

import json
import random

import pytest

from hitl.policy import Policy, PolicyCall, load

TOOLS = ("svc.op{}", "svc.w{}_*", "*")


def rules(count: int, seed: int) -> list[dict[str, object]]:
    """Rules of every kind that is indexed, some of them with a second condition."""
    chance = random.Random(seed)  # noqa: S311 - a fixed sequence
    found: list[dict[str, object]] = []
    for at in range(count):
        condition = (
            {
                "key": "n",
                "op": chance.choice(["gt", "ge", "lt", "le"]),
                "value": chance.choice([at, -at, at + 0.5, 1000 - at]),
            },
            {
                "key": "p",
                "op": "glob",
                "value": chance.choice(
                    [
                        f"/s/{at}/*",
                        f"/S/{at}/**",
                        f"**/f{at}",
                        f"/s/{at % 5}/**/x{at}.txt",
                        "{/a,/b}/" + str(at),
                    ]
                ),
            },
            {"key": "c", "op": "matches", "value": rf"\bw{at}\b"},
            {"key": "e", "op": "in", "value": [f"v{at}", at]},
            {"key": "e", "op": "eq", "value": chance.choice([f"v{at}", at, True])},
        )[at % 5]
        more = [{"key": "k", "op": "exists", "value": chance.random() < 0.5}] if chance.random() < 0.3 else []
        tool = chance.choice(TOOLS).format(at % 7)
        found.append({"tool": tool, "action": chance.choice(["allow", "approve", "deny"]), "when": [condition, *more]})
    return found


def policy(count: int, seed: int) -> Policy:
    """A policy of rules that can all fire."""
    kept = rules(count, seed)
    document = json.dumps({"version": 1, "default_action": "approve", "rules": kept})
    from hitl.policy import PolicyInvalid  # noqa: PLC0415

    try:
        return load(document, name="p")
    except PolicyInvalid as invalid:
        never = {int(problem.path.split("/")[2]) for problem in invalid.problems}
        return load(
            json.dumps({"version": 1, "rules": [rule for at, rule in enumerate(kept) if at not in never]}),
            name="p",
        )


def calls(seed: int) -> list[PolicyCall]:
    """Calls with arguments of every type, some that match and some that nearly do."""
    chance = random.Random(seed)  # noqa: S311 - a fixed sequence
    found = []
    for _ in range(300):
        at = chance.randrange(60)
        args = {
            "n": chance.choice([at, -at, at + 0.5, str(at), "x", True, None, [at], 1000 - at]),
            "p": chance.choice(
                [
                    f"/s/{at}/y",
                    f"/S/{at}/Y",
                    f"d/f{at}",
                    f"/s/{at % 5}/q/x{at}.txt",
                    f"/a/{at}",
                    "~/x",
                    ["/s/1/y"],
                    f"/s/../s/{at}/y",
                    5,
                ]
            ),
            "c": chance.choice([f"a w{at} b", f"w{at}", f"é w{at}", ["w1", f"w{at}"], 5]),
            "e": chance.choice(
                [f"v{at}", f" V{at}", at, f"{at}e0", f"{at}_0", True, None, [f"v{at}"], {"x": f"v{at}"}, float(at)]
            ),
            "k": 1,
        }
        kept = {key: value for key, value in args.items() if chance.random() < 0.6}
        found.append(
            PolicyCall("g", chance.choice(["svc.op1", "svc.w2_x", "other"]), kept, cwd=chance.choice([None, "/s"]))
        )
    return found


@pytest.mark.parametrize(("count", "seed"), [(3, 1), (6, 2), (40, 3), (60, 4), (250, 5)])
def test_every_verdict_is_the_same_with_and_without_the_index(count: int, seed: int) -> None:
    """Random rules and calls of all kinds: the same verdict both ways."""
    judged = policy(count, seed)
    different = [call for call in calls(seed) if judged.judge(call) != judged.judge_slowly(call)]

    assert [] == different


def test_an_absent_argument_is_judged_alike_in_the_dialect_of_contenox() -> None:
    """There an absent argument satisfies no `eq`, and leaves other conditions open."""
    equal = [{"tool": "t", "action": "deny", "when": [{"key": "p", "op": "eq", "value": f"/v{at}"}]} for at in range(6)]
    paths = [{"tool": "t", "action": "deny", "when": [{"key": "p", "op": "glob", "value": "/etc/**"}]}]
    judged = load(json.dumps({"default_action": "allow", "rules": equal + paths}), name="p")
    call = PolicyCall("", "t", {"file": "/etc/hosts"})

    assert "approve" == judged.judge(call).action == judged.judge_slowly(call).action
