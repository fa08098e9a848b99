"""What text may decide: only a call that it surely is about."""

from __future__ import annotations

from typing import Any

import pytest

from hitl.call import Preparation, ReplyKind, Status, Verb
from hitl.cards.masked import masked
from hitl.gate.response import Came
from hitl.outcomes import Doubt, Refusal, Told, fact
from hitl.people import Conversation
from hitl.replies import Span, SpanKind
from tests.hitl.large import Beside, push_out
from tests.hitl.world import ANN, BOB, DROP, ROOM, SAM, UMA, WRITE, World, code, reply
from tests.sentences import says

#: A channel in which nobody asks.
CHANNEL = "telegram:-200"


async def alone(world: World, text: str, about: Any, **changes: Any) -> Any:
    """What comes of a text in a private chat whose latest message by others was about a call."""
    said: dict[str, Any] = {"private": True, "follows": about.ref if about else None, "text": text}
    return (await world.gate.decide(reply(**(said | changes))))[0]


class TestUnaddressed:
    """Text that names nothing and replies to nothing."""

    @pytest.mark.parametrize(("text", "came"), [("yes", Came.APPROVED), ("no because it is late", Came.REJECTED)])
    async def test_it_decides_in_private(self, world: World, text: str, came: Came) -> None:
        """With one open call, and the latest message about it."""
        call = await world.ask()

        assert came is (await alone(world, text, call)).came

    @pytest.mark.parametrize("text", ["yes", "no"])
    async def test_it_decides_nothing_among_others(self, world: World, text: str) -> None:
        """In a group people talk to each other: a yes there is nobody's answer to a card."""
        call = await world.ask()
        answer = await alone(world, text, call, private=False)

        assert Came.NOT_A_REPLY is answer.came
        assert Status.PENDING == (await world.now(call)).status

    @pytest.mark.parametrize(
        "text",
        [
            "@ann approve",
            " @ops_lead yes, go ahead",
            "@bob ok {short}",
            "\u200b@bob yes",
            "hey @bob yes",
            "(@bob) yes",
            "*@bob* approve {short}",
        ],
    )
    async def test_a_yes_behind_somebodys_name_is_said_to_them(self, world: World, text: str) -> None:
        """It asks them for theirs; also where it replies to the card."""
        call = await world.ask()
        (answer,) = await world.gate.decide(reply(text=text.format(short=call.short), target=call.ref))

        assert Came.UNCLEAR is answer.came
        assert Status.PENDING == (await world.now(call)).status

    @pytest.mark.parametrize("text", ["yes @bob", "approve {short}, @bob", "👍 @bob", "yes @6pm"])
    async def test_a_yes_before_a_mention_is_unclear(self, world: World, text: str) -> None:
        """A mention behind a yes may name a person, a time or a place, so the yes is asked for again."""
        call = await world.ask()
        (answer,) = await world.gate.decide(reply(text=text.format(short=call.short), target=call.ref))

        assert Came.UNCLEAR is answer.came
        assert Status.PENDING == (await world.now(call)).status

    async def test_it_is_no_answer_to_an_ended_call_of_another_conversation(self, world: World) -> None:
        """A private yes is told that a call is over only if the card of that call is in the same conversation."""
        call = await world.ask()
        await world.press(call, BOB, Verb.REJECT)
        before = await world.events(call)
        answer = await alone(world, "yes", call, conversation=ANN)

        assert (Came.NOT_A_REPLY, None) == (answer.came, answer.call)
        assert before == await world.events(call)

    async def test_with_two_open_it_asks_which(self, world: World) -> None:
        """It names both, and decides neither."""
        calls = [await world.ask(args={"path": path}) for path in "ab"]
        answer = await alone(world, "yes", calls[1])

        assert Came.WHICH is answer.came
        assert all(call.short in answer.text for call in calls)
        assert [Status.PENDING] * 2 == [(await world.now(call)).status for call in calls]

    @pytest.mark.parametrize("about", ["nothing", "another call"])
    async def test_after_something_else_it_asks_to_point(self, world: World, about: str) -> None:
        """A yes that follows another message may be meant for that one."""
        other = await world.ask(args={"path": "other"})
        await world.press(other)
        call = await world.ask()
        answer = await alone(world, "yes", other if about == "another call" else None)

        assert Came.WHICH is answer.came
        assert fact(Told.POINT, short=call.short) == answer.fact
        assert Status.PENDING == (await world.now(call)).status

    async def test_with_nothing_open_it_goes_to_the_agent(self, world: World) -> None:
        """A yes to the agent's own question is none of ours."""
        assert Came.NOT_A_REPLY is (await alone(world, "yes", None)).came

    @pytest.mark.parametrize(("who", "what"), [(ANN, Told.POINT), (SAM, Refusal.NOTHING_WAITS)])
    async def test_where_a_card_is_only_sent_its_approvers_are_told_its_name(self, who: str, what: str) -> None:
        """A yes of theirs is asked to point to it; to anybody else there nothing waits."""
        world = World(conversations={ROOM: Conversation(ROOM, routes=(CHANNEL,))})
        await world.ask()
        answer = await world.type("yes", who, conversation=CHANNEL, addressed=True)

        assert (what, Came.NOT_A_REPLY) == (answer.fact and answer.fact.what, answer.came)

    async def test_elsewhere_nothing_is_open(self, world: World) -> None:
        """A call of another conversation isn't decided by talk in this one."""
        call = await world.ask()
        answer = await alone(world, "yes", call, conversation="telegram:5")

        assert Came.NOT_A_REPLY is answer.came
        assert Status.PENDING == (await world.now(call)).status

    async def test_talk_is_not_taken_for_an_answer(self, world: World) -> None:
        """Among several open calls, what is neither yes nor no goes to the agent."""
        await world.ask()
        await world.ask(args={})

        assert Came.NOT_A_REPLY is (await alone(world, "what about lunch", None)).came


class TestForAll:
    """One word for every call decides none: each is shown, to be answered by its name."""

    async def test_it_is_answered_with_the_list(self, world: World) -> None:
        """Both calls stay open, and both are named."""
        calls = [await world.ask(), await world.ask()]
        answer = await alone(world, "approve all", calls[1])

        assert Came.WHICH is answer.came
        assert all(call.short in answer.text for call in calls)
        assert [Status.PENDING] * 2 == [(await world.now(call)).status for call in calls]

    async def test_large_calls_are_masked_outside_the_event_loop(self, world: World) -> None:
        """The list needs a headline of each, and the texts for it may no longer be kept."""
        small, call = await world.ask(), await world.ask(args={"path": "all " * 5000})
        push_out(call)
        world.gate.beside = beside = Beside()
        answer = await alone(world, "approve all", small)

        assert (Came.WHICH, [masked(call)]) == (answer.came, beside.made)

    async def test_among_others_it_is_talk(self, world: World) -> None:
        """In a group nobody asked the bot."""
        call = await world.ask()
        answer = await alone(world, "approve all", call, private=False)

        assert Came.NOT_A_REPLY is answer.came
        assert Status.PENDING == (await world.now(call)).status


class TestUnclear:
    """Words that aren't understood whole."""

    @pytest.mark.parametrize("text", ["yes?", "hmm", "ok but only the first file", "not sure", "yes and no", ""])
    async def test_it_asks_back_and_decides_nothing(self, world: World, text: str) -> None:
        """The person is told how to answer, the call waits on, and it is on record."""
        call = await world.ask()
        answer = await world.type(text, target=call.ref)

        assert Came.UNCLEAR is answer.came
        assert says(answer.text, Told.UNCLEAR, short=call.short)
        assert ("unclear", ANN) == ((await world.last(call)).event, (await world.last(call)).actor)
        assert Status.PENDING == (await world.now(call)).status

    @pytest.mark.parametrize(
        ("who", "told"), [(ANN, Told.UNCLEAR), (UMA, Told.UNCLEAR), (SAM, Told.UNCLEAR_OTHER), (BOB, Told.UNCLEAR)]
    )
    async def test_only_an_approver_hears_their_own_words_again(self, world: World, who: str, told: Told) -> None:
        """Other people may answer our message, so that it holds nobody else's words. The reason is the same for all."""
        call = await world.ask()
        answer = await world.type("zorp", who, target=call.ref)

        said = "zorp" if who in {ANN, BOB} else "…"
        assert answer.fact is not None
        assert (told, fact(Doubt.WORD, said=said)) == (answer.fact.what, answer.fact.particulars["why"])

    async def test_then_a_clear_one_counts(self, world: World) -> None:
        """Being asked back uses nothing up."""
        call = await world.ask()
        await world.type("maybe", target=call.ref)

        assert Came.APPROVED is (await world.type("yes", target=call.ref)).came


class TestAddressed:
    """Text that replies to a card, or names a ref."""

    async def test_a_reply_to_the_card(self, world: World) -> None:
        """In a group that is what decides."""
        call = await world.ask()

        assert Came.APPROVED is (await world.type("yes", target=call.ref)).came

    async def test_a_ref_in_the_text(self, world: World) -> None:
        """However it is typed, and among several open ones."""
        call, other = await world.ask(), await world.ask(args={})
        answer = await world.type(f"YES #{call.short.lower()}")

        assert Came.APPROVED is answer.came
        assert [Status.RUNNING, Status.PENDING] == [(await world.now(c)).status for c in (call, other)]

    async def test_a_no_that_names_it(self, world: World) -> None:
        """Rejected; the other waits on."""
        call, other = await world.ask(), await world.ask(args={})

        assert Came.REJECTED is (await world.type(f"no {call.short}")).came
        assert Status.PENDING == (await world.now(other)).status

    async def test_two_targets_decide_neither(self, world: World) -> None:
        """A reply to one card that names another is asked about, not guessed."""
        call, other = await world.ask(), await world.ask(args={})
        answer = await world.type(f"yes {other.short}", target=call.ref)

        assert (Came.UNCLEAR, None) == (answer.came, answer.call)
        assert other.short not in answer.text
        assert [Status.PENDING] * 2 == [(await world.now(c)).status for c in (call, other)]

    async def test_one_target_twice_is_one(self, world: World) -> None:
        """A reply to a card that names the same card."""
        call = await world.ask()

        assert Came.APPROVED is (await world.type(f"yes {call.short}", target=call.ref)).came

    async def test_an_unknown_ref_is_not_this_call(self, world: World) -> None:
        """A typing error never falls back to the one that waits."""
        call = await world.ask()
        wrong = "0A0A0A" if call.short != "0A0A0A" else "1B1B1B"
        answer = await alone(world, f"yes {wrong}", call)

        assert "CALL_UNKNOWN" == code(answer)
        assert Status.PENDING == (await world.now(call)).status

    async def test_a_reaction_is_about_its_card(self, world: World) -> None:
        """Thumbs up is a yes, thumbs down a no, a heart neither."""
        calls = [await world.ask(args={"n": n}) for n in range(3)]
        answers = [await world.react(call, emoji) for call, emoji in zip(calls, "👍👎❤", strict=True)]

        assert [Came.APPROVED, Came.REJECTED, Came.UNCLEAR] == [answer.came for answer in answers]

    async def test_a_cut_dangerous_call_needs_its_details_for_text_too(self, world: World) -> None:
        """The way of saying yes makes no difference."""
        call = await world.ask(DROP, args={"path": "x" * 5000})

        assert Came.DETAILS_NEEDED is (await world.type("yes", target=call.ref)).came

    async def test_an_unlisted_persons_yes(self, world: World) -> None:
        """Refused, on record."""
        call = await world.ask()
        answer = await world.type(f"yes {call.short}", SAM)

        assert ("NOT_APPROVER", "refused") == (code(answer), (await world.last(call)).event)

    async def test_a_late_yes_is_told_so(self, world: World) -> None:
        """A direct reply to a card always gets an answer, also when all is over."""
        call = await world.ask()
        await world.press(call)
        answer = await world.type("no", target=call.ref)

        assert ("ALREADY_DECIDED", "late") == (code(answer), (await world.last(call)).event)


class TestHowItWasSaid:
    """The formatting of a text, and the language of the person."""

    @pytest.mark.parametrize("kind", [kind for kind in SpanKind if kind is not SpanKind.EMPHASIS])
    async def test_formatted_words_approve_nothing(self, world: World, kind: SpanKind) -> None:
        """Whatever the words say, and whatever kind of formatting it is."""
        call = await world.ask()
        answer = await world.type("yes", target=call.ref, spans=(Span(0, 3, kind),))

        assert Came.UNCLEAR is answer.came
        assert Status.PENDING == (await world.now(call)).status

    async def test_emphasis_changes_nothing(self, world: World) -> None:
        """A bold yes is a yes."""
        call = await world.ask()

        assert Came.APPROVED is (await world.type("yes", target=call.ref, spans=(Span(0, 3, SpanKind.EMPHASIS),))).came

    async def test_a_struck_yes_with_a_reason_is_none(self, world: World) -> None:
        """Also where the rules demand a reason, and words that nobody knows may stand in it."""
        world.rules.set(WRITE, require_reason=True)
        call = await world.ask()
        text = f"approve {call.short} because it was announced"
        answer = await world.type(text, target=call.ref, spans=(Span(0, 7, SpanKind.STRUCK),))

        assert Came.UNCLEAR is answer.came
        assert Came.APPROVED is (await world.type(text, target=call.ref)).came

    async def test_spans_cover_the_same_words_in_a_text_that_can_not_be_stored(self, world: World) -> None:
        """A lone surrogate is written out, which makes the text longer."""
        call = await world.ask()
        answer = await world.type("\ud800 yes", target=call.ref, spans=(Span(2, 5, SpanKind.STRUCK),))

        assert Came.UNCLEAR is answer.came

    @pytest.mark.parametrize(("language", "came"), [("pl", Came.APPROVED), ("da", Came.UNCLEAR), (None, Came.UNCLEAR)])
    async def test_the_language_settles_a_word_that_two_languages_share(
        self, world: World, language: str | None, came: Came
    ) -> None:
        """Such as "tak": yes in Polish, thanks in Danish."""
        call = await world.ask()

        assert came is (await world.type("tak", target=call.ref, language=language)).came

    async def test_a_yes_that_names_another_action_asks_back(self, world: World) -> None:
        """It was meant for another question: "merge it" to a card that drops a table."""
        call = await world.ask(DROP, args={"table": "users"})
        answer = await world.type("yes, merge it", target=call.ref)

        assert Came.UNCLEAR is answer.came
        assert fact(Told.UNCLEAR, short=call.short, why=fact(Doubt.ANOTHER, said="merge")) == answer.fact
        assert Came.APPROVED is (await world.type("yes, do it", target=call.ref)).came

    async def test_a_no_that_only_names_the_cards_action_asks_back(self, world: World) -> None:
        """It may be a yes: "cancel it" to a card that cancels an order. A plain no rejects."""
        world.executor.preparation = Preparation("Cancel the order 44.")
        call = await world.ask()
        answer = await world.type("cancel it", target=call.ref)

        assert (Came.UNCLEAR, fact(Told.UNCLEAR, short=call.short, why=fact(Doubt.BOTH))) == (answer.came, answer.fact)
        assert Came.REJECTED is (await world.type("no", target=call.ref)).came


class TestNamed:
    """Refs that are not those of the calls pending here."""

    async def test_a_decided_call_is_told_of(self, world: World) -> None:
        """A late yes that names it hears who was first, though nothing is pending here."""
        call = await world.ask()
        await world.press(call, verb=Verb.REJECT)
        answer = await world.type(f"yes {call.short}")

        assert "ALREADY_DECIDED" == code(answer)

    @pytest.mark.parametrize("text", ["yes 1", "#1", "ok #2"])
    async def test_cards_have_no_numbers(self, world: World, text: str) -> None:
        """A number names no call, so that the person is asked back."""
        call = await world.ask()
        answer = await world.type(text, target=call.ref)

        assert Came.UNCLEAR is answer.came
        assert Status.PENDING == (await world.now(call)).status


async def test_a_platforms_event_is_done_in_the_deciding_commit(world: World) -> None:
    """A redelivered press decides nothing twice: the inbox row is done with the decision, or not at all."""
    await world.store.receive("telegram", "77", ROOM, b"{}")
    call = await world.ask()
    await world.press(call, event=("telegram", "77"))

    assert [] == await world.store.incoming()


@pytest.mark.parametrize("verb", [Verb.APPROVE, Verb.DETAILS])
async def test_an_event_that_left_a_question_is_done(world: World, verb: Verb) -> None:
    """A first yes to a critical call, or opened details: written down together with the event."""
    await world.store.receive("telegram", "77", ROOM, b"{}")
    call = await world.ask("wipe")
    await world.press(call, verb=verb, event=("telegram", "77"))

    assert [] == await world.store.incoming()


@pytest.mark.parametrize("who", [ANN, SAM])
@pytest.mark.parametrize("text", ["yes", "no because of that", "hmm"])
async def test_an_answered_event_is_done(world: World, who: str, text: str) -> None:
    """Refused, unclear or deciding: what was answered about a call isn't handled again."""
    await world.store.receive("telegram", "77", ROOM, b"{}")
    call = await world.ask()
    await world.gate.decide(reply(who, kind=ReplyKind.TEXT, text=text, target=call.ref, event=("telegram", "77")))

    assert [] == await world.store.incoming()
