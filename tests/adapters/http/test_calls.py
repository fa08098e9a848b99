"""What agents and approvers do over HTTP: ask, wait, decide, claim, finish, and read what became of it."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from adapters.http.app import api as document_of
from hitl.call import Mode
from hitl.cards.wording import say
from hitl.operating_mode import Terms
from hitl.outcomes import Doubt, Noted
from tests.adapters.http.conftest import CALL, FOLDER, ME, asked
from tests.hitl.world import BAN, GROUP, READ, WIPE, WRITE
from tests.sentences import says

if TYPE_CHECKING:
    import httpx

    from hitl.call import Call
    from hitl.testing import SetClock
    from tests.adapters.http.conftest import Api

SECRET = "the claimant's own secret"
HASH = hashlib.sha256(SECRET.encode()).hexdigest()


def fits(answer: httpx.Response, name: str) -> dict[str, Any]:
    """The answer's document, once it has the form that the OpenAPI document promises."""
    schemas = document_of().openapi()["components"]["schemas"]
    schema = {"$ref": f"#/components/schemas/{name}", "components": {"schemas": schemas}}
    document: dict[str, Any] = answer.json()
    jsonschema.validate(document, schema)
    return document


async def test_a_call_goes_from_asking_to_its_report(api: Api) -> None:
    """An agent asks, an approver says yes, the agent claims the stored arguments once, runs them and reports."""
    agent, approver = await api.agent(), await api.approver()
    parked = await agent.post("/v1/calls", json=CALL)
    call = fits(parked, "CallAnswer")
    decided = fits(
        await approver.post(f"/v1/calls/{call['ref']}/decision", json={"decision": "approve"}), "DecisionAnswer"
    )
    claimed = fits(await agent.post(f"/v1/calls/{call['ref']}/claim", json={"secret_hash": HASH}), "ClaimAnswer")
    report = {"secret": SECRET, "result": "succeeded", "output": "done", "exit_status": 0}
    ended = fits(await agent.post(f"/v1/calls/{call['ref']}/finish", json=report), "CallView")

    assert (202, f"/v1/calls/{call['ref']}") == (parked.status_code, parked.headers["location"])
    assert ("pending", ME, "token:ci") == (call["status"], call["on_behalf_of"], call["requester"])
    assert ("approved", True) == (decided["came"], decided["decided"])
    assert CALL["args"] == claimed["args"]
    assert ("succeeded", "done") == (ended["status"], ended["output"])
    assert ["asked", "approved", "claimed", "succeeded"] == await api.events(call["ref"])


async def test_a_pending_answer_names_the_tool_the_need_and_the_ref(api: Api) -> None:
    """Models read one sentence: the tool's name, "requires human approval", and the short ref."""
    call = await asked(await api.agent())

    assert "requires human approval" in call["message"]
    assert CALL["tool"] in call["message"]
    assert call["short"] in call["message"]


WRITTEN = '{"to": {"name": "Acme", "iban": "DE02"}, "amount": 1250.00, "big": [1e3]}'


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/calls", f'{{"tools": "{GROUP}", "tool": "{WRITE}", "args": {WRITTEN}}}'),
        ("/v1/batches", f'{{"calls": [{{"id": "1", "tools": "{GROUP}", "tool": "{WRITE}", "args": {WRITTEN}}}]}}'),
        ("/mcp", f'{{"method": "tools/call", "params": {{"name": "{WRITE}", "arguments": {WRITTEN}}}}}'),
        ("/aap/v1/requests", f'{{"tool": "{WRITE}", "server": "{GROUP}", "arguments": {WRITTEN}, "timeout": "5m"}}'),
    ],
)
async def test_a_card_shows_arguments_as_the_body_spells_them(api: Api, path: str, body: str) -> None:
    """Order and digits at any depth are those of the request, on the card and in the details. The values are bound."""
    agent, approver = await api.agent(), await api.approver()
    answer = await agent.post(path, content=body, headers={"Content-Type": "application/json", "Idempotency-Key": "k"})
    (call,) = (await approver.get("/v1/calls")).json()["calls"]
    card = (await approver.get(f"/v1/calls/{call['ref']}/card")).json()["card"]
    details = (await approver.post(f"/v1/calls/{call['ref']}/details")).json()["text"]

    assert answer.status_code in {200, 201, 202}
    shown = [(part["name"], part["text"]) for part in card["parts"]]
    assert [("to", '{"name": "Acme", "iban": "DE02"}'), ("amount", "1250.00"), ("big", "[1e3]")] == shown
    assert '"amount": 1250.00,' in details
    assert json.loads(WRITTEN) == call["args"]


async def test_a_question_goes_from_asking_to_its_answer(api: Api) -> None:
    """An agent asks, an approver's reason is the answer, and there is nothing to claim or report."""
    agent, approver = await api.agent(), await api.approver()
    parked = await agent.post("/v1/questions", json={"question": "Which stage?", "options": ["staging", "live"]})
    call = fits(parked, "CallAnswer")
    path = f"/v1/calls/{call['ref']}"
    unanswered = await approver.post(f"{path}/decision", json={"decision": "approve"})
    await approver.post(f"{path}/decision", json={"decision": "approve", "reason": "2"})
    ended = fits(await agent.get(path), "CallView")
    claimed = await agent.post(f"{path}/claim", json={"secret_hash": HASH})

    assert (202, f"/v1/calls/{call['ref']}") == (parked.status_code, parked.headers["location"])
    assert (True, ["staging", "live"]) == (call["card"]["asks"], call["card"]["choices"])
    assert not unanswered.json()["decided"]
    assert ("succeeded", "live", "service") == (ended["status"], ended["output"], ended["runs"])
    assert 400 <= claimed.status_code < 500
    assert ["asked", "unclear", "approved", "succeeded"] == await api.events(call["ref"])


@pytest.mark.parametrize(
    "more",
    [{"options": ["one"]}, {"options": []}, {"question": ""}, {"question": "x" * 1001}, {"args": {}}, {"ask": False}],
)
async def test_a_question_that_no_card_can_show_is_refused(api: Api, more: dict[str, Any]) -> None:
    """The document says what fits."""
    answer = await (await api.agent()).post("/v1/questions", json={"question": "Which stage?", **more})

    assert answer.status_code in {400, 422}


async def test_an_agent_does_not_answer_its_own_question(api: Api) -> None:
    """Its token can't decide."""
    agent = await api.agent()
    call = (await agent.post("/v1/questions", json={"question": "May I?"})).json()
    answer = await agent.post(f"/v1/calls/{call['ref']}/decision", json={"decision": "approve", "reason": "yes"})

    assert 403 == answer.status_code


async def test_the_policy_allows_and_denies_at_once(api: Api) -> None:
    """An allowed call is 200 and can be claimed in the same request; a denied call is 403 and names its ref."""
    agent = await api.agent()
    allowed = await agent.post("/v1/calls", json={**CALL, "tool": READ, "secret_hash": HASH})
    denied = await agent.post("/v1/calls", json={**CALL, "tool": BAN})

    assert 200 == allowed.status_code
    assert CALL["args"] == fits(allowed, "CallAnswer")["claim"]["args"]
    assert (403, "CALL_DENIED") == (denied.status_code, fits(denied, "Problem")["code"])
    assert ["asked", "denied"] == await api.events(denied.json()["ref"])


async def test_a_caller_may_demand_a_person_and_never_the_opposite(api: Api) -> None:
    """`ask` parks a call that the policy would allow; no field makes the policy more lenient."""
    agent = await api.agent()

    assert 202 == (await agent.post("/v1/calls", json={**CALL, "tool": READ, "ask": True})).status_code
    assert 202 == (await agent.post("/v1/calls", json={**CALL, "ask": False})).status_code


async def test_the_same_key_is_the_same_call(api: Api) -> None:
    """The same key and arguments return the call, whatever became of it; other arguments are a conflict."""
    agent, key = await api.agent(), {"Idempotency-Key": "k-1"}
    first, again = [(await agent.post("/v1/calls", json=CALL, headers=key)).json() for _ in range(2)]
    other = await agent.post("/v1/calls", json={**CALL, "args": {"path": "b.txt"}}, headers=key)

    assert (first["ref"], True, False) == (again["ref"], first["fresh"], again["fresh"])
    assert (409, "KEY_CONFLICT") == (other.status_code, other.json()["code"])


@pytest.mark.parametrize(("tool", "status"), [(READ, 409), (WRITE, 202)])
async def test_a_key_never_answers_a_demand_for_a_person_with_a_call_that_nobody_was_asked_about(
    api: Api, tool: str, status: int
) -> None:
    """A request with `ask` under the key of an allowed call is a conflict; under that of a pending call, it isn't."""
    agent, key = await api.agent(), {"Idempotency-Key": "k"}
    await agent.post("/v1/calls", json={**CALL, "tool": tool}, headers=key)
    again = await agent.post("/v1/calls", json={**CALL, "tool": tool, "ask": True}, headers=key)

    assert status == again.status_code


async def test_a_key_belongs_to_its_caller(api: Api) -> None:
    """Two agents with one key have two calls."""
    first, second = await api.agent("one"), await api.agent("two")
    calls = [
        (await agent.post("/v1/calls", json=CALL, headers={"Idempotency-Key": "k"})).json() for agent in (first, second)
    ]

    assert calls[0]["ref"] != calls[1]["ref"]


@pytest.mark.parametrize("way", ["prefer", "wait"])
async def test_a_wait_ends_with_the_decision(api: Api, way: str) -> None:
    """`Prefer: wait` waits in the request that asks, `?wait=` in one that reads."""
    agent, approver = await api.agent(), await api.approver()
    if way == "prefer":
        waiting = asyncio.create_task(agent.post("/v1/calls", json=CALL, headers={"Prefer": "wait=30"}))
        while not (pending := (await approver.get("/v1/calls")).json()["calls"]):  # noqa: ASYNC110 - as an approver would
            await asyncio.sleep(0.01)
        ref = pending[0]["ref"]
    else:
        ref = (await asked(agent))["ref"]
        waiting = asyncio.create_task(agent.get(f"/v1/calls/{ref}?wait=30"))
        await asyncio.sleep(0.05)
    await approver.post(f"/v1/calls/{ref}/decision", json={"decision": "reject", "reason": "not today"})
    told = (await waiting).json()

    assert ("rejected", "not today") == (told["status"], told["reason"])


async def test_a_wait_that_ends_without_a_decision_is_pending(api: Api) -> None:
    """The answer of a wait whose time is up is the call as it is."""
    agent = await api.agent()
    call = await asked(agent)

    assert "pending" == (await agent.get(f"/v1/calls/{call['ref']}?wait=0.05")).json()["status"]


async def test_a_batch_answers_each_call_by_its_id(api: Api) -> None:
    """Safe calls are allowed at once, gated ones are pending, denied ones are problems; each by the caller's id."""
    agent = await api.agent()
    items = [
        {**CALL, "tool": tool, "id": tool, "args": {"n": place}} for place, tool in enumerate((READ, CALL["tool"], BAN))
    ]
    batch = {"calls": items}
    answer = fits(await agent.post("/v1/batches", json=batch, headers={"Idempotency-Key": "b"}), "BatchAnswer")
    again = (await agent.post("/v1/batches", json=batch, headers={"Idempotency-Key": "b"})).json()

    assert [(READ, "allowed"), (CALL["tool"], "pending"), (BAN, "denied")] == [
        (one["id"], one["call"]["status"]) for one in answer["calls"]
    ]
    assert [one["call"]["ref"] for one in answer["calls"]] == [one["call"]["ref"] for one in again["calls"]]


async def test_two_calls_of_a_batch_can_not_have_one_id(api: Api) -> None:
    """A batch whose ids aren't unique is refused whole."""
    answer = await (await api.agent()).post("/v1/batches", json={"calls": [{**CALL, "id": "x"}, {**CALL, "id": "x"}]})

    assert (400, "HITL_001") == (answer.status_code, answer.json()["code"])
    assert [] == list(await api.store.pending())


@pytest.mark.parametrize(("verb", "body"), [("claim", {"secret_hash": "0" * 64}), ("release", None)])
async def test_a_pending_call_can_not_be_taken(api: Api, verb: str, body: dict[str, str] | None) -> None:
    """A claim or release before the decision is 409, as in every other state in which nobody may run the call."""
    agent = await api.agent()
    ref = (await asked(agent))["ref"]
    answer = await agent.post(f"/v1/calls/{ref}/{verb}", json=body)

    assert (409, "STILL_PENDING") == (answer.status_code, answer.json()["code"])
    assert "pending" == (await agent.get(f"/v1/calls/{ref}")).json()["status"]


@pytest.mark.parametrize(("seconds", "status"), [(60, 202), (60.0, 202), (60.5, 400), ("60", 400), (True, 400)])
async def test_a_number_without_a_fraction_is_an_integer(api: Api, seconds: object, status: int) -> None:
    """`60.0` is an integer in JSON Schema, whose words the API's document uses. Text and booleans are no numbers."""
    answer = await (await api.agent()).post("/v1/calls", json={**CALL, "timeout_s": seconds})

    assert status == answer.status_code


async def test_a_critical_call_is_approved_twice(api: Api, clock: SetClock) -> None:
    """The first yes asks for a second one, which names the ref, at least a second later."""
    agent, chief = await api.agent(), await api.approver("chief")
    path = f"/v1/calls/{(call := await asked(agent, tool=WIPE))['ref']}/decision"
    first = (await chief.post(path, json={"decision": "approve"})).json()
    clock.advance(2)
    wrong = await chief.post(path, json={"decision": "approve", "confirm": "AAA222"})
    second = (await chief.post(path, json={"decision": "approve", "confirm": call["short"]})).json()

    assert ("confirm", False) == (first["came"], first["decided"])
    assert 400 == wrong.status_code
    assert ("approved", True) == (second["came"], second["decided"])


async def test_a_second_approval_that_comes_too_late_is_told_so(
    api: Api, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If somebody rejects the call while its second approval is read, the answer is that it is decided already."""
    agent, chief, ann = await api.agent(), await api.approver("chief"), await api.approver()
    path = f"/v1/calls/{(call := await asked(agent, tool=WIPE))['ref']}/decision"
    await chief.post(path, json={"decision": "approve"})
    clock.advance(2)
    find, reads = api.gate.find, list[str]()

    async def meanwhile(target: str) -> Call | None:
        reads.append(target)
        if reads == [call["ref"], call["short"]]:
            await ann.post(path, json={"decision": "reject"})
        return await find(target)

    monkeypatch.setattr(api.gate, "find", meanwhile)
    second = await chief.post(path, json={"decision": "approve", "confirm": call["short"]})

    assert (409, "ALREADY_DECIDED") == (second.status_code, second.json()["code"])


async def test_a_token_approves_no_high_risk_unless_the_operator_names_it(api: Api) -> None:
    """An approver's token is limited to medium risk; it may reject a call of any risk."""
    agent, approver = await api.agent(), await api.approver()
    path = f"/v1/calls/{(await asked(agent, tool=WIPE))['ref']}/decision"
    refused = await approver.post(path, json={"decision": "approve"})
    rejected = await approver.post(path, json={"decision": "reject"})

    assert (403, "NOT_APPROVER") == (refused.status_code, refused.json()["code"])
    assert "rejected" == rejected.json()["came"]


async def test_cards_are_data_and_text(api: Api) -> None:
    """Both say what the call does; an edit has its diff and both sides of it, and secrets are masked."""
    agent = await api.agent()
    token = "ghp_" + "a1B2" * 9
    args = {"path": "a.py", "old_string": "x = 1\ny = 2\n", "new_string": f"x = 1\ny = '{token}'\n"}
    call = await asked(agent, args=args)
    card = fits(await agent.get(f"/v1/calls/{call['ref']}/card"), "CardAnswer")
    text = await agent.get(f"/v1/calls/{call['ref']}/card", headers={"Accept": "text/plain"})

    assert call["short"] in text.text
    assert text.headers["content-type"].startswith("text/plain")
    assert ("x = 1\ny = 2", "-y = 2") == (card["diff_old"], card["diff"].splitlines()[4])
    assert card["diff_new"].startswith("x = 1\ny = ")
    assert token not in str(card) + text.text


KEY = "\n".join(
    ["-----BEGIN PRIVATE KEY-----", *["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw"] * 20, "-----END PRIVATE KEY-----"]
)


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [(KEY, "x", "diff"), ("x", KEY, "diff"), (KEY, KEY.replace("Kcw\n---", "Kcx\n---"), "card")],
)
async def test_no_part_of_a_card_shows_a_line_of_a_private_key(api: Api, old: str, new: str, where: str) -> None:
    """Neither the diff nor its sides, whether an edit removes a key, adds it or changes its last line.

    A change that is masked whole has no diff.
    """
    agent = await api.agent()
    call = await asked(agent, args={"path": "k", "old_string": old, "new_string": new})
    card = fits(await agent.get(f"/v1/calls/{call['ref']}/card"), "CardAnswer")

    assert "[masked " in str(card[where])
    assert "MIIE" not in str(card)


@pytest.mark.parametrize(
    "args",
    [
        {"old_string": "password: hunter2secret", "new_string": "password: hunter3secret, and more"},
        {"oldText": "a\n", "newText": "a\npassword: hunter2secret\n"},
        {"edits": [{"old_text": "password: hunter2secret", "new_text": "gone"}, {"old_text": "", "new_text": "x"}]},
        {"edits": [{"old_text": "x\n", "new_text": "y\n"}, {"old_text": "b", "new_text": "password: hunter2secret"}]},
    ],
)
async def test_the_diff_masks_what_the_card_masks(api: Api, args: dict[str, Any]) -> None:
    """Both come from the same masked texts, also for a list of edits."""
    agent = await api.agent()
    call = await asked(agent, args={"path": "notes.txt", **args})
    card = fits(await agent.get(f"/v1/calls/{call['ref']}/card"), "CardAnswer")

    assert "hunter2secret" not in str(card)
    assert "password: [masked 13]" in card["diff"]
    assert "password: [masked 13]" in card["diff_old"] + card["diff_new"]


async def test_the_diff_of_long_texts_is_cut(api: Api) -> None:
    """A text that is longer than the diff may be still has one, and people see its start and its end."""
    agent = await api.agent()
    call = await asked(agent, args={"path": "a", "old_string": "a\n" * 20_000, "new_string": "b\n" * 20_000 + "end()"})
    card = fits(await agent.get(f"/v1/calls/{call['ref']}/card"), "CardAnswer")

    assert card["diff"].splitlines()[3] == "-a"
    assert card["diff_new"].endswith("b\nend()")
    assert max(len(card[name]) for name in ("diff", "diff_old", "diff_new")) <= 16_384


async def test_pages_hold_every_call_once(api: Api) -> None:
    """Each page names the next; together the pages hold every call of the caller once, and no call of another."""
    agent, other = await api.agent("one"), await api.agent("two")
    refs = [(await asked(agent, args={"n": number}))["ref"] for number in range(5)]
    await asked(other)
    found: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = fits(await agent.get(f"/v1/calls?limit=2{cursor and f'&cursor={cursor}'}"), "CallPage")
        found += [call["ref"] for call in page["calls"]]
        cursor = page["next"]

    assert (len(refs), set(refs)) == (len(found), set(found))


async def test_agents_that_wait_are_listed_by_session(api: Api) -> None:
    """A session with its folder and newest call, to the agent that asked and to approvers, and to no other agent."""
    agent, other, approver = await api.agent(), await api.agent("other"), await api.approver()
    named = {"agent": "claude-code", "session": "s1", "cwd": "/srv/shop"}
    calls = [await asked(agent, args={"n": number}, **named) for number in range(2)]
    await asked(agent)
    own, seen, hidden = [
        fits(await client.get("/v1/sessions"), "SessionList")["sessions"] for client in (agent, approver, other)
    ]

    assert (own, []) == (seen, hidden)
    (session,) = seen
    told = {key: session[key] for key in ("agent", "session", "project", "cwd", "pending", "newest")}
    assert {**named, "project": "shop", "pending": 2, "newest": calls[1]["ref"]} == told


async def test_a_method_that_a_path_does_not_have_is_405(api: Api) -> None:
    """The Allow header names every method of the path, and the body is a problem."""
    answer = await (await api.agent()).delete("/v1/calls")

    assert (405, "GET, POST") == (answer.status_code, answer.headers["allow"])
    assert "METHOD_NOT_ALLOWED" == fits(answer, "Problem")["code"]


async def test_the_record_is_shown_with_its_flaws(api: Api) -> None:
    """Whoever may see a call reads every line of its record."""
    call = await asked(await api.agent())
    told = fits(await api.local().get(f"/v1/calls/{call['short']}/record"), "RecordAnswer")

    assert (["asked"], []) == ([line["event"] for line in told["record"]], told["flaws"])


async def test_beside_calls_the_api_judges_reads_and_names(api: Api) -> None:
    """The policy's verdict, the reading of words, and who the caller is, each in its documented form."""
    agent = await api.agent()
    verdict = fits(await agent.post("/v1/policy/evaluate", json={"tools": "files", "tool": BAN}), "VerdictAnswer")
    reading = fits(await agent.post("/v1/replies/parse", json={"text": "no because risky"}), "ParseAnswer")
    me = fits(await agent.get("/v1/me"), "MeAnswer")

    assert ("deny", "reject") == (verdict["action"], reading["verdict"])
    assert ("token:ci", ME, ["agent"]) == (me["identity"], me["on_behalf_of"], me["scopes"])


async def test_reasons_are_sentences_to_programs(api: Api) -> None:
    """Why a reply is no answer, and why no policy was asked: the codes of the core stay inside."""
    agent = await api.agent()
    reading = fits(await agent.post("/v1/replies/parse", json={"text": "what if?"}), "ParseAnswer")
    api.gate.terms = Terms(mode=Mode.OFF)
    verdict = fits(await agent.post("/v1/policy/evaluate", json={"tools": "files", "tool": BAN}), "VerdictAnswer")

    assert says(reading["why"], Doubt.QUESTION)
    assert ("allow", say(Noted.OFF)) == (verdict["action"], verdict["why"])


async def test_only_an_operator_is_told_which_state_folder_is_used(api: Api) -> None:
    """`sayso doctor` compares it with the folder of its settings; nobody else needs it."""
    clients = (api.local(), await api.agent(), await api.approver())

    assert [FOLDER, None, None] == [fits(await client.get("/v1/me"), "MeAnswer")["state"] for client in clients]


@pytest.mark.parametrize(
    ("body", "kind", "key"),
    [
        (b'{"tool": "x"}', "application/x-www-form-urlencoded", "api.no_json_type"),
        (b'{"tool": "x"}', None, "api.no_json_type"),
        (b'{"tool": ', "application/json", "api.no_json"),
        (b"\xff", "application/json", "api.no_utf8"),
        (b"", "application/json", "api.no_body"),
        (b"[" * 100_000, "application/json", "api.too_much"),
        (b'{"args": {"n": ' + b"9" * 5000 + b"}}", "application/json", "api.too_much"),
        (b"[]", "application/json", "api.invalid"),
    ],
)
async def test_a_body_that_is_not_read_as_json_says_why(api: Api, body: bytes, kind: str | None, key: str) -> None:
    """The next step is another one for a missing content type, for text that isn't JSON, and for other JSON."""
    agent = await api.agent()
    answer = await agent.post("/v1/calls", content=body, headers={"Content-Type": kind} if kind else {})

    assert (400, "HITL_001") == (answer.status_code, answer.json()["code"])
    assert says(answer.json()["detail"], key)


@pytest.mark.parametrize(
    ("body", "place", "what"),
    [
        ({}, "body.tool", "misfit.missing"),
        ({"tool": 3}, "body.tool", "misfit.text"),
        ({"tool": ""}, "body.tool", "misfit.empty"),
        ({"tool": "x" * 300}, "body.tool", "misfit.long"),
        ({"tool": "x", "args": []}, "body.args", "misfit.object"),
        ({"tool": "x", "timeout_s": 1}, "body.timeout_s", "misfit.least"),
        ({"tool": "x", "ask": "maybe"}, "body.ask", "misfit.bool"),
        ({"tool": "x", "routes": "y"}, "body.routes", "misfit.list"),
        ({"tool": "x", "secret_hash": "y"}, "body.secret_hash", "misfit.form"),
        ({"tool": "x", "tols": "y"}, "body.tols", "near.field"),
        ({"tool": "x", "zzz": "y"}, "body.zzz", "api.unknown"),
    ],
)
async def test_a_body_that_does_not_fit_names_the_field_in_plain_words(
    api: Api, body: dict[str, Any], place: str, what: str
) -> None:
    """The sentences are ours: a caller reads no word of pydantic."""
    answer = await (await api.agent()).post("/v1/calls", json={"tools": "t", **body})

    (mistake,) = answer.json()["errors"]
    assert (400, place) == (answer.status_code, mistake.partition(": ")[0])
    assert says(mistake, what)


async def test_the_place_of_a_mistake_is_short_and_has_no_type(api: Api) -> None:
    """Values may be nested a thousand times, and pydantic would add the type of each level."""
    nested: Any = []
    for _ in range(500):
        nested = [nested]
    answer = await (await api.agent()).post("/v1/calls", json={"tools": "t", "tool": "x", "args": {"list": nested}})

    (mistake,) = answer.json()["errors"]
    assert says(mistake, "misfit.deep")
    assert mistake.startswith("body.args.list.0.0.0.")
    assert len(mistake) < 200


@pytest.mark.parametrize(
    ("method", "path", "status", "what"),
    [("GET", "/v1/nothing", 404, "api.no_path"), ("PATCH", "/v1/tokens", 405, "api.no_method")],
)
async def test_a_path_or_method_that_is_not_there_says_what_is(
    api: Api, method: str, path: str, status: int, what: str
) -> None:
    """The words of the web framework would not say what to do."""
    answer = await api.local().request(method, path)

    assert status == answer.status_code
    assert says(answer.json()["detail"], what)
