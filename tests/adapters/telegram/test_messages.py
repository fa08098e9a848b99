"""Cards and sentences as Telegram messages: they fit, they say what they say, and nothing in them is live."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from adapters.telegram.messages import (
    LONGEST,
    card_message,
    length,
    notice_message,
    plain_message,
    question,
    whole_message,
)
from adapters.telegram.setup import COMMANDS as TEXTS
from hitl.call import Call, Decision, Risk, State, Verb
from hitl.cards.card import card, is_cut
from hitl.cards.wording import say
from hitl.people import Directory
from hitl.people.names import Names
from hitl.proof.canonical import canonical
from hitl.proof.keyring import ButtonData, Keyring
from hitl.records import replace
from simulators.telegram.entities import covered, detect
from simulators.telegram.html import Entity, parse_html, units
from tests.adapters.nasty import LONG, calls, parked
from tests.sentences import says

KEYS = Keyring([("k1", b"1" * 32)])
PLACE = "telegram:-100"
COMMANDS = {f"/{command}" for command in (*TEXTS[""], "start")}
MOST_ENTITIES = 100
FEW = settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
#: What a message may hold beside its text.
OURS = {"bold", "italic", "pre", "code", "date_time", "blockquote", "text_mention"}


def entities(html: str) -> list[Entity]:
    """What stands in a message once Telegram has looked for live words in it; our own commands may be such."""
    shown = detect(parse_html(html))
    return [one for one in shown.entities if one.type != "bot_command" or covered(shown.text, one) not in COMMANDS]


@FEW
@given(calls())
def test_a_card_always_fits_and_holds_no_markup_but_ours(call: Call) -> None:
    """Its HTML can be read, has only our elements, and shows every word of the card; as plain text it fits too."""
    shown, message = card(call), card_message(call, KEYS, PLACE, refreshed=True)
    parsed = parse_html(message.html)
    words = (shown.headline, shown.place, shown.note, *shown.warnings)
    words = (*words, *(text for part in shown.parts for text in (part.name, part.text)))

    assert OURS >= {entity.type for entity in entities(message.html)}
    assert len(entities(message.html)) <= MOST_ENTITIES
    assert units(parsed.text) <= LONGEST
    assert length(message.plain) <= LONGEST
    assert [] == [word for word in words if word not in parsed.text]


@FEW
@given(calls())
def test_what_a_card_leaves_out_is_counted_on_it(call: Call) -> None:
    """Cut on the card, and nowhere else: who approves a dangerous call must open the details then."""
    shown = card(call)

    assert is_cut(call) == bool(shown.left_out)
    assert is_cut(call) == any(says(warning, "card.cut") for warning in shown.warnings)


@FEW
@given(calls(), LONG, LONG)
def test_a_card_with_an_outcome_fits(call: Call, reason: str, output: str) -> None:
    """However long the reason and the output are."""
    ended = call.evolve(decision=Decision.REJECTED, reason=reason, output=output, decided_by="x", state=State.IDLE)
    message = card_message(ended, KEYS, PLACE)
    notice = notice_message(ended)

    assert units(parse_html(notice.html).text) <= LONGEST
    assert OURS >= {entity.type for entity in (*entities(message.html), *entities(notice.html))}
    assert units(parse_html(message.html).text) <= LONGEST
    assert () == message.buttons


@FEW
@given(LONG)
def test_a_sentence_fits_and_is_text(text: str) -> None:
    """Whatever it quotes."""
    message = plain_message(text)
    parsed = parse_html(message.html)

    assert {"code", "pre"} >= {entity.type for entity in entities(message.html)}
    assert len(entities(message.html)) <= MOST_ENTITIES
    assert units(parsed.text) <= LONGEST
    assert message.plain.strip() == parsed.text.strip()


def test_our_own_commands_stay_live() -> None:
    """People tap them; with what an agent wrote behind them they are no commands of ours."""
    shown = detect(parse_html(plain_message("/pending: what waits\n/approve, /show").html))
    posing = detect(parse_html(plain_message("/approve_all /show@other_bot").html))

    assert ["bot_command"] * 3 == [one.type for one in shown.entities]
    assert ["code"] * 2 == [one.type for one in posing.entities]


def test_a_text_that_is_shown_whole_is_one_block() -> None:
    """Its indents stay, and nothing in it is live."""
    text = "call\n  path: https://evil.example\n    @everybody_here <b>"
    shown = detect(parse_html(whole_message(text).html))

    assert text == shown.text
    assert ["pre"] == [one.type for one in shown.entities]


@pytest.mark.parametrize("text", ["x" * 4096, "😀" * 2048, "é" * 4096])
def test_what_just_fits_is_whole(text: str) -> None:
    """Telegram counts UTF-16 units."""
    assert text == plain_message(text).plain


@pytest.mark.parametrize("text", ["x" * 4097, "😀" * 2049])
def test_what_does_not_is_cut_in_the_middle_and_counted(text: str) -> None:
    """The count is true: what is shown and what is counted are the whole."""
    plain = plain_message(text).plain
    before, after = say("card.left_out", count=7).split("7")
    head, _, rest = plain.partition(before)
    count, _, tail = rest.partition(after)

    assert len(text) == len(head) + int(count.replace(",", "")) + len(tail)


def test_the_only_reader_has_no_button_that_would_be_refused() -> None:
    """A requester who can't decide has Details alone."""
    people = Names(Directory(approvers=("telegram:2",), requesters=("telegram:1",)))
    call = parked(requester="telegram:1", approvers=("telegram:2",))
    for_one, for_two = (card_message(call, KEYS, PLACE, people, reader=f"telegram:{n}").buttons for n in (1, 2))

    assert [Verb.DETAILS] == [ButtonData.unpack(button.data).verb for button in for_one]
    assert 3 == len(for_two)


@FEW
@given(calls())
def test_buttons_are_46_bytes_each_for_this_call_and_chat(call: Call) -> None:
    """Telegram takes 64. They hold for no other call and no other chat."""
    message = card_message(call, KEYS, PLACE)
    read = [ButtonData.unpack(button.data) for button in message.buttons]

    def hold(place: str, digest: str) -> list[bool]:
        return [one.holds(KEYS, place=place, digest=digest, deadline=call.deadline) for one in read]

    assert [46] * 3 == [len(button.data.encode()) for button in message.buttons]
    assert [Verb.APPROVE, Verb.REJECT, Verb.DETAILS] == [one.verb for one in read]
    assert [True] * 3 == hold(PLACE, call.digest)
    assert [False] * 3 == hold("telegram:-200", call.digest)
    assert [False] * 3 == hold(PLACE, "f" * 64)


def test_a_question_mentions_the_one_it_asks_and_reads_the_same() -> None:
    """The mention is on its first sign."""
    message = question("✍️ ABC234 is rejected. <Why>?", 42)
    parsed = parse_html(message.html)

    assert "✍️ ABC234 is rejected. <Why>?" == parsed.text == message.plain
    assert [("text_mention", 0, 2)] == [(one.type, one.offset, one.length) for one in parsed.entities]
    assert [(("user_id", 42),)] == [one.extra for one in parsed.entities]


def test_without_markup_no_line_of_an_argument_looks_like_one_of_ours() -> None:
    """Each is marked."""
    ours = say("card.risk.low")
    call = parked(args=canonical({"path": f"x\n{ours}"}), preview="a\nb")
    lines = card_message(call, KEYS, PLACE).plain.split("\n")

    assert f"│ {ours}" in lines
    assert ours not in lines
    assert {"│ a", "│ b"} <= set(lines)


def test_green_approves_and_an_approval_in_steps_has_no_colour() -> None:
    """Red rejects; nothing else has a colour."""
    call = parked()
    critical = call.evolve(verdict=replace(call.verdict, risk=Risk.CRITICAL))
    plain, steps = (card_message(one, KEYS, PLACE).buttons for one in (call, critical))

    assert ["success", "danger", ""] == [button.style for button in plain]
    assert ["", "danger", ""] == [button.style for button in steps]
    assert say("button.approve.steps") == steps[0].label


def test_those_who_may_approve_are_mentioned() -> None:
    """By their names, in a group; whoever has no account here is named only."""
    names = Names(Directory(principals={"ada": ("telegram:42",)}))
    message = card_message(parked(approvers=("ada", "local:7")), KEYS, PLACE, names)
    mentions = [one for one in parse_html(message.html).entities if one.type == "text_mention"]

    assert [(("user_id", 42),)] == [one.extra for one in mentions]


def test_a_push_begins_with_who_wants_what() -> None:
    """A phone shows the first line or two: the headline, and right behind it the thing."""
    call = parked(tool="bash", args=canonical({"command": "git push --force"}))
    shown = card(call)

    assert parse_html(card_message(call, KEYS, PLACE).html).text.startswith(
        f"{shown.sign} {shown.headline}:\ngit push --force\n"
    )
