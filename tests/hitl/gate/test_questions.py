"""Questions: who may answer, what words answer, and what an answer becomes."""

from __future__ import annotations

from typing import Any

import pytest

from hitl.call import CHOICES, Action, Call, Decision, Mode, Reply, ReplyKind, Result, Risk, Runs, State, Status, Verb
from hitl.cards.card import outcome_for_agent
from hitl.errors import InvalidConfirmation
from hitl.gate.response import Came
from hitl.limits import Limits
from hitl.operating_mode import Terms
from hitl.outcomes import Told
from hitl.people import Conversation
from hitl.proof import seals
from hitl.question import GROUP, MOST_OPTIONS, TOOL, is_question
from hitl.replies import Span, SpanKind
from tests.hitl.world import ANN, BOB, ROOM, SAM, UMA, World, ask, reply, verdict
from tests.sentences import says

STAGES = ("staging", "production")
#: A format of a key that is masked everywhere.
KEY = "ghp_" + "a1B2" * 9


@pytest.fixture
def world() -> World:
    """A policy that would ask about the tool as a critical one."""
    return of()


def of(**more: Any) -> World:
    """A world in which questions may be asked."""
    made = World(**more)
    made.rules.verdicts[TOOL] = verdict(Action.APPROVE, Risk.CRITICAL)
    return made


async def asked(world: World, question: str = "Which stage?", options: tuple[str, ...] = (), **more: Any) -> Call:
    """The question that Uma's agent asked."""
    args = {"question": question} | ({"options": list(options)} if options else {})
    return await world.ask(TOOL, tools=GROUP, args=args, **more)


async def alone(world: World, text: str, about: Call | None, who: str = ANN, **more: Any) -> Any:
    """What comes of a text that points to nothing, after a message about a call."""
    said: dict[str, Any] = {"private": True, "follows": about.ref if about else None, "text": text}
    (answer,) = await world.gate.decide(reply(who, **(said | more)))
    return answer


class TestAsking:
    """What a question is."""

    async def test_it_waits_for_people_at_low_risk(self, world: World) -> None:
        """An answer runs nothing, whatever risk the policy gives the tool."""
        call = await asked(world)

        assert (Status.PENDING, Risk.LOW, True) == (call.status, call.verdict.risk, is_question(call))

    @pytest.mark.parametrize("mode", [Mode.OFF, Mode.MONITOR])
    async def test_no_mode_answers_it(self, world: World, mode: Mode) -> None:
        """A question that nobody was asked has no answer."""
        world.gate.terms = Terms(mode=mode, passes=frozenset({f"{GROUP}.{TOOL}"}))
        world.rules.set(TOOL, action=Action.ALLOW)

        assert Status.PENDING is (await asked(world)).status

    async def test_the_policy_may_deny_it(self, world: World) -> None:
        """So an operator can forbid questions."""
        world.rules.set(TOOL, action=Action.DENY)

        assert Status.DENIED is (await asked(world)).status

    async def test_what_a_caller_runs_is_no_question(self, world: World) -> None:
        """A caller's own tool of that name is a call like any."""
        call = await asked(world, runs=Runs.CALLER)

        assert not is_question(call)
        assert Risk.CRITICAL is call.verdict.risk

    @pytest.mark.parametrize(
        "args",
        [
            {},
            {"question": " "},
            {"question": 1},
            {"question": "x" * 1001},
            {"question": "\u202e" * 200},
            {"question": "?", "more": 1},
            {"question": "?", "options": []},
            {"question": "?", "options": ["one"]},
            {"question": "?", "options": ["one", "ONE."]},
            {"question": "?", "options": ["one", ""]},
            {"question": "?", "options": ["one", 2]},
            {"question": "?", "options": ["one", "x" * 61]},
            {"question": "?", "options": [str(n) for n in range(MOST_OPTIONS + 1)]},
            {"question": "?", "options": "one"},
        ],
    )
    async def test_what_no_card_could_show_is_refused(self, world: World, args: dict[str, Any]) -> None:
        """A question is shown whole, and people can tell its options apart."""
        with pytest.raises(InvalidConfirmation):
            await world.ask(TOOL, tools=GROUP, args=args)


class TestAnswering:
    """What an answer is."""

    async def test_the_answer_is_the_result(self, world: World) -> None:
        """Decision and result are in one commit, with the words, and every seal holds."""
        call = await asked(world)
        answer = await world.type("the second one", answers=None, target=call.ref)
        now = await world.now(call)

        assert (Came.APPROVED, None) == (answer.came, answer.lease)
        assert (State.COMPLETED, Decision.APPROVED, Result.SUCCEEDED) == (now.state, now.decision, now.result)
        assert ("the second one", "the second one", ANN) == (now.output, now.reason, now.decided_by)
        assert seals.broken(world.keys, now) is None
        assert seals.votes_hold(world.keys, now, await world.store.votes(call.ref))
        assert ["asked", "approved", "succeeded"] == await world.events(call)
        assert [] == world.executor.ran
        await world.check_record()

    async def test_a_button_answers_with_its_option(self, world: World) -> None:
        """Each option has a button."""
        call = await asked(world, options=STAGES)
        await world.press(call, verb=CHOICES[1])

        assert "production" == (await world.now(call)).output

    @pytest.mark.parametrize("verb", [CHOICES[2], CHOICES[7]])
    async def test_a_button_without_an_option_is_refused(self, world: World, verb: Verb) -> None:
        """No card of this question has that button."""
        call = await asked(world, options=STAGES)

        assert Came.REFUSED is (await world.press(call, verb=verb)).came

    async def test_a_call_has_no_such_button(self, world: World) -> None:
        """Only questions have options."""
        call = await world.ask()

        assert Came.REFUSED is (await world.press(call, verb=CHOICES[0])).came
        assert Status.PENDING is (await world.now(call)).status

    @pytest.mark.parametrize(
        "words",
        ["production", "Production.", " PRODUCTION ", "2", "{short} production", "2 {short}", "{short}: 2 {short}."],
    )
    async def test_words_name_an_option_or_its_number(self, world: World, words: str) -> None:
        """Case, blanks, a full stop and the question's own ref don't matter."""
        call = await asked(world, options=STAGES)
        await world.type(words.format(short=call.short), target=call.ref)

        assert "production" == (await world.now(call)).output

    @pytest.mark.parametrize("words", ["yes", "no", "3", "stag", "staging and production", "👍"])
    async def test_other_words_ask_back(self, world: World, words: str) -> None:
        """Where there are options, nothing else is an answer."""
        call = await asked(world, options=STAGES)
        answer = await world.type(words, target=call.ref)

        assert (Came.UNCLEAR, Told.CHOOSE) == (answer.came, answer.fact.what if answer.fact else None)
        assert Status.PENDING is (await world.now(call)).status

    @pytest.mark.parametrize("words", ["yes", "no", "maybe, if it is small", "why not both?", "all", "approve all"])
    async def test_any_words_answer_a_question_without_options(self, world: World, words: str) -> None:
        """In a reply to the question, a no is an answer, too."""
        call = await asked(world)
        await world.type(words, target=call.ref)

        assert words == (await world.now(call)).output

    @pytest.mark.parametrize("kind", [SpanKind.STRUCK, SpanKind.SPOILER, SpanKind.QUOTE])
    async def test_words_taken_back_answer_nothing(self, world: World, kind: SpanKind) -> None:
        """What is struck out, hidden or quoted isn't meant."""
        call = await asked(world)
        answer = await world.type("staging production", target=call.ref, spans=(Span(0, 7, kind),))

        assert Came.UNCLEAR is answer.came
        assert Status.PENDING is (await world.now(call)).status

    async def test_an_answer_that_is_too_long_asks_back(self, world: World) -> None:
        """It is kept nowhere."""
        call = await asked(world)

        assert Came.UNCLEAR is (await world.type("x" * 4001, target=call.ref)).came

    async def test_approving_without_words_asks_for_them(self, world: World) -> None:
        """A button, a command and the API get the same answer."""
        call = await asked(world)

        assert Came.REASON_NEEDED is (await world.press(call)).came
        assert Status.PENDING is (await world.now(call)).status

    @pytest.mark.parametrize("kind", [ReplyKind.COMMAND, ReplyKind.API, ReplyKind.BUTTON])
    async def test_the_reason_of_an_approval_is_the_answer(self, world: World, kind: ReplyKind) -> None:
        """So every way to approve with a reason is a way to answer."""
        call = await asked(world)
        await world.gate.decide(reply(kind=kind, verb=Verb.APPROVE, target=call.ref, reason="the second"))

        assert "the second" == (await world.now(call)).output

    async def test_nobody_need_answer(self, world: World) -> None:
        """Declining ends a question at once, and nobody is asked why."""
        call = await asked(world)
        await world.press(call, verb=Verb.REJECT)
        now = await world.now(call)

        assert (Status.REJECTED, False, None) == (now.status, now.awaits_reason, now.output)

    async def test_silence_is_no_answer(self, world: World) -> None:
        """At the deadline a question ends without one."""
        call = await asked(world, timeout_s=60)
        world.clock.advance(60)
        late = await world.type("staging", target=call.ref)
        now = await world.now(call)

        assert (Came.REFUSED, Status.EXPIRED, None) == (late.came, now.status, now.output)

    async def test_one_answer_suffices(self) -> None:
        """However many people must approve a call."""
        world = of(limits=Limits(approvals=2))
        call = await asked(world)
        await world.type("staging", target=call.ref)

        assert "staging" == (await world.now(call)).output

    async def test_the_first_answer_counts(self, world: World) -> None:
        """The second person hears who answered."""
        call = await asked(world)
        await world.type("staging", target=call.ref)
        late = await world.type("production", who=BOB, target=call.ref)

        assert (Came.REFUSED, "staging") == (late.came, (await world.now(call)).output)

    async def test_a_secret_is_masked_before_it_is_kept(self, world: World) -> None:
        """Neither the agent nor the record gets it, and the person hears so."""
        call = await asked(world)
        answer = await world.type(f"use {KEY}", target=call.ref)
        now = await world.now(call)
        (vote,) = await world.store.votes(call.ref)
        kept = (now.output, now.reason, vote.reason, *(line.data for line in await world.store.history(call.ref)))

        assert Told.ANSWERED_MASKED is (answer.fact.what if answer.fact else None)
        assert not any(KEY in str(text) for text in kept)


class TestWhoMayAnswer:
    """Those who may decide there, and the person whose agent asks."""

    @pytest.mark.parametrize("who", [ANN, BOB, UMA])
    async def test_they_may(self, world: World, who: str) -> None:
        """The requester's own answer approves nothing."""
        call = await asked(world)
        await world.type("staging", who=who, target=call.ref)

        assert who == (await world.now(call)).decided_by

    async def test_nobody_else_may(self, world: World) -> None:
        """A stranger's answer is refused, on record."""
        call = await asked(world)

        assert Came.REFUSED is (await world.type("staging", who=SAM, target=call.ref)).came
        assert Status.PENDING is (await world.now(call)).status

    async def test_not_where_an_agent_could_pose_as_its_person(self) -> None:
        """On this machine's socket an agent has its own user's id, so the requester's answer doesn't count there."""
        world = of(requesters=("local:1000",), approvers=(ANN, "local:1000"))
        call = await asked(world, requester="local:1000", origin="local")
        said = Reply("local:1000", "socket", "local", ReplyKind.API, Verb.APPROVE, reason="yes", target=call.ref)
        (answer,) = await world.gate.decide(said)

        assert Came.REFUSED is answer.came
        assert Status.PENDING is (await world.now(call)).status

    async def test_an_approval_of_the_question_approves_no_call(self, world: World) -> None:
        """A call that waits beside it goes on waiting."""
        call, question = await world.ask(), await asked(world, "May I write it?", ("Approve", "Reject"))
        await world.type("approve", target=question.ref)

        assert Status.PENDING is (await world.now(call)).status


class TestUnaddressedWords:
    """Words that point to nothing."""

    async def test_they_answer_the_only_question(self, world: World) -> None:
        """In private, if the latest message of anyone else is the question."""
        call = await asked(world)

        assert Came.APPROVED is (await alone(world, "the second stage", call)).came

    @pytest.mark.parametrize("words", ["wait", "which one do you mean?", "let me think about it first"])
    async def test_what_may_be_talk_is_no_answer(self, world: World, words: str) -> None:
        """Any words would answer, so a question or a wait must reply to the question."""
        call = await asked(world)
        await alone(world, words, call)

        assert Status.PENDING is (await world.now(call)).status

    @pytest.mark.parametrize("words", ["yes", "the second stage", "staging"])
    async def test_beside_an_open_card_they_ask_back(self, world: World, words: str) -> None:
        """They could be meant for either, so neither is decided."""
        call, question = await world.ask(), await asked(world)
        answer = await alone(world, words, question)

        assert Came.WHICH is answer.came
        assert {Status.PENDING} == {(await world.now(call)).status, (await world.now(question)).status}

    async def test_after_another_message_they_ask_back(self, world: World) -> None:
        """The person may be answering that message."""
        question = await asked(world, options=STAGES)
        answer = await alone(world, "staging", None)

        assert (Came.NOT_A_REPLY, Told.POINT_ANSWER) == (answer.came, answer.fact.what)
        assert Status.PENDING is (await world.now(question)).status

    async def test_in_a_group_they_are_talk(self, world: World) -> None:
        """A reply to the question, or its ref, is needed there."""
        question = await asked(world, options=STAGES)
        await alone(world, "staging", question, private=False)

        assert Status.PENDING is (await world.now(question)).status

    async def test_a_ref_names_the_question(self, world: World) -> None:
        """Anywhere in its room, and beside other cards."""
        await world.ask()
        question = await asked(world)
        await alone(world, f"{question.short}: staging", None, private=False)

        assert "staging" == (await world.now(question)).output

    @pytest.mark.parametrize(
        ("words", "answer"),
        [
            ("{short} -5", "-5"),
            ("{short}: .env", ".env"),
            ("{short} #general", "#general"),
            ("#{short}: two  words", "two  words"),
            ("C# {short}", "C#"),
            ("{short} - staging", "staging"),
            ("staging ({short}.", "staging ({short}."),
        ],
    )
    async def test_the_words_beside_a_ref_stay_as_they_were_written(
        self, world: World, words: str, answer: str
    ) -> None:
        """Signs, dots and blanks may matter: only the ref and the marks around it go."""
        question = await asked(world)
        await alone(world, words.format(short=question.short), None, private=False)

        assert answer.format(short=question.short) == (await world.now(question)).output

    async def test_words_that_name_a_call_answer_no_question(self, world: World) -> None:
        """A reply to the question that names another request decides neither."""
        call, question = await world.ask(), await asked(world)
        answer = await world.type(f"yes {call.short}", target=question.ref)

        assert Came.UNCLEAR is answer.came
        assert {Status.PENDING} == {(await world.now(call)).status, (await world.now(question)).status}

    async def test_a_strangers_talk_is_not_asked_back(self, world: World) -> None:
        """Only people who may answer are taken at their word."""
        await asked(world, options=STAGES)

        assert not (await alone(world, "staging", None, SAM)).text

    async def test_a_reaction_is_no_answer(self, world: World) -> None:
        """It says neither which option nor any words."""
        question = await asked(world)

        assert Came.UNCLEAR is (await world.react(question, "👍")).came
        assert Status.PENDING is (await world.now(question)).status


async def test_a_conversation_of_its_own_is_asked(world: World) -> None:
    """The card goes where cards go."""
    world = of(conversations={ROOM: Conversation(ROOM, routes=("origin", BOB))})
    call = await world.gate.submit(ask(TOOL, tools=GROUP, args={"question": "?"}))

    assert (ROOM, BOB) == call.call.routes


async def test_the_agent_hears_who_answered(world: World) -> None:
    """In a sentence that says that nothing is approved by it."""
    call = await asked(world)
    await world.type("staging", target=call.ref)
    expired = await asked(world, "And now?")
    world.clock.advance(4000)
    await world.gate.settle(expired)

    assert says(outcome_for_agent(await world.now(call)), "agent.question.succeeded", reason="staging")
    assert says(outcome_for_agent(await world.now(expired)), "agent.question.expired")
