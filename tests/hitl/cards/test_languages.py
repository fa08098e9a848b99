"""Languages: a card in any of them says the same, and nothing on it is outside the catalogue."""

from __future__ import annotations

import ast
import json
import string
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from adapters.slack import messages as slack
from adapters.telegram import messages as telegram
from adapters.terminal import messages as terminal
from hitl import replies
from hitl.call import Call, CardTerms, Decision, Result, Risk, Runs, State, Status, Verb
from hitl.cards import wording as core
from hitl.cards.card import Way, card, details, headline, is_cut, outcome, outcome_for_agent
from hitl.cards.data import view
from hitl.cards.german import GERMAN
from hitl.cards.german_phrases import PHRASES
from hitl.cards.languages import LANGUAGES, wording_of
from hitl.cards.wording import IN_ENGLISH, Wording, say
from hitl.outcomes import Because, Noted, Unfit, because, fact, kept
from hitl.people import Conversation, Directory
from hitl.people.names import Names
from hitl.policy import load, presets
from hitl.policy.shell.found import EFFECTS
from hitl.policy.tables.known import programs
from hitl.proof.canonical import canonical
from hitl.proof.keyring import Keyring
from hitl.records import replace
from hitl.testing import a_call
from tests.hitl.world import NOON
from tests.pseudo import PSEUDO, outside, speak
from tests.reasons import REASONS
from tests.sentences import SERVICE as ENGLISH

if TYPE_CHECKING:
    from collections.abc import Iterator

GERMAN_WORDING = LANGUAGES["de"]
SHELL = Path(__file__).parents[3] / "hitl" / "policy" / "shell"
KEYS = Keyring([("k1", b"1" * 32)])
#: The groups of sentences that people see in chats, at a terminal and on cards.
FOR_PEOPLE = (
    "card",
    "by",
    "ending",
    "end",
    "details",
    "button",
    "outcome",
    "answer",
    "chat",
    "window",
    "refused",
    "agent",
    "why",
)
#: Signs, places to fill, and words that are the same in German.
SAME = {"button.details", "window.title.details"}
#: What a tool would do, and what else is stored in English with a call.
STORED = [
    say("does.delete", path="notes.txt", size=say("count.bytes", count=1234)),
    say("does.delete", path="“a (3 bytes) b”", size=say("count.bytes", count=1)),
    say("does.delete.many", files=say("count.files", count=2), pattern="“*.txt”"),
    say("does.write.lines", path="a.txt", added=say("count.lines", count=1), removed=say("count.lines", count=2)),
    say("does.write.whole", path="a.txt", old=say("count.bytes", count=1), new=say("count.bytes", count=2)),
    say(
        "does.patch",
        files=say("count.files", count=1),
        added=say("count.lines", count=1),
        removed=say("count.lines", count=1),
    ),
    say("does.list.all"),
    say("card.does.fallback", tool="pay"),
    say("mcp.does", tool="pay", server="bank"),
    say("shell.does.scripts", scripts=say("shell.scripts.more", scripts="a.sh, b.sh", count=3)),
    say("shell.unconfined"),
    say("card.same", short="ABC234"),
    say("why.floor"),
    say("undo.deleted"),
]


def fields(template: str) -> set[str]:
    """The particulars of a sentence."""
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def calls() -> list[Call]:
    """Requests of every risk and end, with everything that a card can hold. Values and names hold no Latin letters."""
    found = []
    for risk, reasoned in product(Risk, (False, True)):
        call = pending(notes=(say("shell.unconfined"), say("card.same", short="222222"), say("card.mode", mode="中")))
        terms = CardTerms(undo=say("undo.deleted"), stage="中")
        verdict = replace(
            call.verdict, risk=risk, require_reason=reasoned, message="中", card=terms, programs=("?", "中")
        )
        found.append(call.evolve(verdict=verdict, note="中", cwd="/中", previous="222222"))
    found += [pending(sentence=sentence) for sentence in STORED if not sentence.endswith(".")]
    found.append(
        pending(args=canonical({"甲": "中" * 5000, "乙": "", "丙": "中\n" * 90, "丁": "中" + " " * 90 + "中"}))
    )
    found.append(pending(args=canonical({f"甲{number}": 1 for number in range(60)})))
    found += [pending(tool="bash", args=canonical({"command": "中"}), sentence=say("shell.does"))]
    found += [ended(**change) for change in ENDS]
    found += [call for reason in REASONS for call in calls_because_of(reason)]
    return found


def calls_because_of(reason: str) -> list[Call]:
    """A pending, a denied and a refused request. Each has the reason, as the gate stores it."""
    call = pending()
    verdict = replace(call.verdict, why=reason, message=reason)
    denied = ended(decision=Decision.DENIED, reason=reason)
    refused = ended(**RUN | {"result": Result.REFUSED, "error": kept(fact(Unfit.POLICY, why=reason))})
    return [call.evolve(verdict=verdict), denied, refused]


def pending(**changes: Any) -> Call:
    """A pending request without a Latin letter in it."""
    fields = {"args": canonical({"甲": "中"}), "tools": "中", "tool": "中", "sentence": "中", "definition": "1" * 64}
    told = {"ref": "0" * 32, "short": "222222", "digest": "1" * 64, "requester": "u:1", "approvers": ("u:2", "u:3")}
    call = a_call(NOON, **(fields | told | changes))
    return call.evolve(verdict=replace(call.verdict, why=say("why.floor"), rule="中", policy="1" * 64))


def ended(**changes: Any) -> Call:
    """The same, over."""
    return pending().evolve(**({"state": State.IDLE, "decided_at": NOON, "decided_by": "u:2"} | changes))


RUN = {"decision": Decision.APPROVED, "state": State.ERROR}
ENDS: list[dict[str, Any]] = [
    {"decision": Decision.REJECTED},
    {"decision": Decision.REJECTED, "reason": "中", "due_at": None},
    {"decision": Decision.WITHDRAWN},
    {"decision": Decision.EXPIRED, "decided_by": None},
    {"decision": Decision.EXPIRED, "decided_by": None, "error": Unfit.UNSEEN.value},
    {"decision": Decision.DENIED, "reason": say("why.no_tool")},
    {"decision": Decision.UNDELIVERABLE, "error": Unfit.NOBODY.value},
    {"decision": Decision.APPROVED, "state": State.EXECUTING},
    {"decision": Decision.ALLOWED, "state": State.COMPLETED, "result": Result.SUCCEEDED, "output": "中"},
    {"decision": Decision.APPROVED, "state": State.COMPLETED, "result": Result.RELEASED, "reason": "中"},
    RUN | {"result": Result.FAILED, "error": "中"},
    RUN | {"result": Result.TIMED_OUT},
    RUN | {"result": Result.UNKNOWN},
    RUN | {"result": Result.LAPSED},
    RUN | {"result": Result.REFUSED, "error": f"{Unfit.POLICY}: 中"},
]


def names() -> Names:
    """Two people have names, and one has none."""
    known = Names(Directory(approvers=("u:2", "u:3")), host="中")
    known.learn("u:1", "甲")
    known.learn("u:2", "乙")
    known.learn("u:3", "丙")
    return known


def shown(call: Call, wording: Wording) -> list[str]:
    """Everything that any surface shows of a call."""
    known = names()
    boxes = (
        [terminal.box(call, known, width=60, colour=False, wording=wording)] if call.status is Status.PENDING else []
    )
    message = slack.card_message(call, KEYS, "slack:1", known, wording=wording)
    return [
        telegram.card_message(call, KEYS, "telegram:1", known, wording=wording, refreshed=True).plain,
        *(button.label for button in telegram.card_message(call, KEYS, "telegram:1", wording=wording).buttons),
        telegram.notice_message(call, wording).plain,
        *_slack_texts(message.blocks),
        message.text,
        *_slack_texts(slack.notice_message(call, (), wording).blocks),
        *_slack_texts(slack.outcome_message(call, known, wording).blocks),
        *_slack_texts([slack.reason_window("222222", verb, "", wording) for verb in (Verb.APPROVE, Verb.REJECT)]),
        *_slack_texts([slack.page_window("2", "中" * 20_000, 1, "", wording)]),
        *boxes,
        terminal.plain(call, known, wording=wording),
        terminal.ended(call, known, colour=False, wording=wording),
        terminal.countdown(call, 2, NOON, 200, wording),
        details(call, known, wording),
        outcome(call, known, wording),
        outcome_for_agent(call, wording),
        headline(call, known, wording),
        *(card(call, known, way, reader="u:2", wording=wording).push for way in Way),
    ]


def _slack_texts(blocks: Any) -> list[str]:
    """What people read in blocks."""
    if isinstance(blocks, dict):
        own = [blocks[name] for name in ("text", "accessibility_label") if isinstance(blocks.get(name), str)]
        return own + [text for value in blocks.values() for text in _slack_texts(value)]
    return [text for value in blocks for text in _slack_texts(value)] if isinstance(blocks, list | tuple) else []


def test_every_text_of_a_card_is_in_the_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a pseudo-language no plain English is left, on no surface, at no risk, after no end."""
    speak(monkeypatch)
    wording = wording_of(PSEUDO)
    # Our data: the agent, files, tools and the digest; the commands of chats; the errors that have no text.
    known = ("demo notes txt bash sh pay command bytes CEIRCEIRCEIR", "sayso show approve reject", "unknown")

    assert [] == [outside(shown(call, wording), known) for call in calls() if outside(shown(call, wording), known)]


@pytest.mark.parametrize("language", [code for code in LANGUAGES if code != "en"])
def test_a_language_leaves_no_particular_out(language: str) -> None:
    """Each sentence holds what the English one holds."""
    wording = LANGUAGES[language]

    assert [] == [key for key in core.ENGLISH if fields(wording.template(key)) != fields(ENGLISH[key])]


def test_german_has_what_people_see() -> None:
    """A sentence with words of its own, of a group that people see, is translated; and no other key is."""
    words = {key for key, text in ENGLISH.items() if any(map(str.isalpha, "".join(_literals(text))))}
    wanted = {key for key in words if key.partition(".")[0] in FOR_PEOPLE} - SAME
    cut_inside_a_line = {"card.breaks", "card.blanks", "card.times", "card.marks_left_out"}

    assert set() == wanted - GERMAN.keys() - cut_inside_a_line
    assert set() == GERMAN.keys() - ENGLISH.keys()


def _literals(template: str) -> list[str]:
    return [literal for literal, *_ in string.Formatter().parse(template)]


@pytest.mark.parametrize("stored", STORED)
def test_a_stored_sentence_is_retold_with_all_that_it_quotes(stored: str) -> None:
    """What a tool would do is stored in English, and says the same on a German card."""
    told = GERMAN_WORDING.retold(stored)

    assert told != stored
    assert all(
        word in told for word in ("notes.txt", "“a (3 bytes) b”", "“*.txt”", "a.sh, b.sh", "ABC234") if word in stored
    )
    assert stored == IN_ENGLISH.retold(stored)


@pytest.mark.parametrize("wording", LANGUAGES.values())
@pytest.mark.parametrize(
    ("changes", "earlier"),
    [
        ({"sentence": kept(fact(Noted.TOOL, tool="中"))}, {"sentence": say(Noted.TOOL, tool="中")}),
        ({"sentence": kept(fact(Noted.COMMAND))}, {"sentence": say(Noted.COMMAND)}),
        (
            {"notes": ("中",) * 4 + (kept(fact(Noted.SAME, short="A")),)},
            {"notes": ("中",) * 4 + (say(Noted.SAME, short="A"),)},
        ),
    ],
)
def test_a_stored_fact_is_shown_as_the_sentence_that_earlier_versions_stored(
    wording: Wording, changes: dict[str, Any], earlier: dict[str, Any]
) -> None:
    """The card, the details and the data for programs are the same, to the count of what is cut."""
    now, then = pending(**changes), pending(**earlier)

    assert card(now, wording=wording) == card(then, wording=wording)
    assert details(now, wording=wording) == details(then, wording=wording)
    assert view(now) == view(then)


@pytest.mark.parametrize("why", [Noted.NO_TOOL, Noted.POLICY_ERROR])
def test_a_stored_denial_is_told_as_the_sentence_that_earlier_versions_stored(why: Noted) -> None:
    """Agents, people and programs read the sentence and never the code."""

    def denied(text: str) -> Call:
        call = ended(decision=Decision.DENIED, reason=text)
        return call.evolve(verdict=replace(call.verdict, why=text))

    now, then = denied(kept(fact(why))), denied(say(why))

    assert view(now) == view(then)
    assert (say(why), say(why)) == (view(now)["why"], view(now)["reason"])
    for wording in LANGUAGES.values():
        assert outcome(now, wording=wording) == outcome(then, wording=wording)
        assert outcome_for_agent(now, wording) == outcome_for_agent(then, wording)
        assert details(now, wording=wording) == details(then, wording=wording)


def test_every_text_of_our_data_files_has_a_german_translation() -> None:
    """The effects of programs, and the messages of presets. No translation is left of a text that is gone."""
    effects = {program.says for program in programs().values() if program.says}
    effects |= set(phrases_in_code()) - {*EFFECTS}
    policies = [load(text, name=name).checked for name, text in presets().items()]
    rules = [rule for one in policies for rule in (*one.forbid, *one.rules, *one.risk_rules)]
    messages = {rule.message for rule in rules if rule.message}

    assert PHRASES.keys() == effects | messages


def phrases_in_code() -> Iterator[str]:
    """The effects of programs that have functions of their own: texts next to the name of an effect."""
    for path in (SHELL / "found.py", SHELL / "special.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            pair = node.args if isinstance(node, ast.Call) else node.elts if isinstance(node, ast.Tuple) else []
            if isinstance(node, ast.Dict):
                pairs = list(zip(node.keys, node.values, strict=True))
            else:
                pairs = [(pair[0], pair[1])] if len(pair) == 2 else []
            for does, says in pairs:
                if isinstance(does, ast.Constant) and does.value in EFFECTS and isinstance(says, ast.Constant):
                    yield str(says.value)


def test_a_rules_own_words_stay_as_they_are() -> None:
    """The message of a preset is translated. The same words in another sentence are an operator's, and stay."""
    text = next(iter(PHRASES))

    assert PHRASES[text] == GERMAN_WORDING.retold(text)
    assert f"{text} Ask Ada." == GERMAN_WORDING.retold(f"{text} Ask Ada.")
    assert text == IN_ENGLISH.retold(text)


@pytest.mark.parametrize("reason", REASONS)
def test_a_reason_that_an_earlier_version_stored_in_english_is_shown_as_it_is(reason: str) -> None:
    """A rule's own words may look like such a sentence, so it isn't translated."""
    stored = IN_ENGLISH.retold(reason)

    assert stored == GERMAN_WORDING.retold(stored)


def test_a_secret_in_a_reason_is_masked_in_every_text() -> None:
    """The card, the details and the outcome show the mask, and the rest of the reason."""
    secret = "ghp_" + "a1B2" * 9  # gitleaks:allow
    for call in calls_because_of(because(Because.TOOL_SYSTEM, f"/中/{secret}")):
        for text in shown(call, GERMAN_WORDING):
            assert secret not in text
        assert "/中/" in details(call) + outcome(call)


@pytest.mark.parametrize("text", ["Pay 5 EUR", "delete", "delete x", "“delete a (1 byte)” and more", "x" * 5000, ""])
def test_any_other_text_stays_as_it_is(text: str) -> None:
    """An operator's words, an agent's, and pieces of our sentences are nobody's to translate."""
    assert text == GERMAN_WORDING.retold(text)


@pytest.mark.parametrize(
    "text",
    ["no files", "touches too many files", "12 of 14 bytes", "rewrites 3 of 9 lines", "purge old files", "007 bytes"],
)
def test_words_beside_a_unit_are_no_count(text: str) -> None:
    """A tool words its own errors and sentences, and none of them breaks a card."""
    assert text == GERMAN_WORDING.retold(text)


@pytest.mark.parametrize("name", ["007", "001234", "3", "1,000"])
def test_a_name_of_digits_stays_as_it_is(name: str) -> None:
    """A person must see which file goes."""
    assert name in GERMAN_WORDING.retold(
        IN_ENGLISH.say("does.delete", path=name, size=IN_ENGLISH.say("count.bytes", count=1))
    )


def test_the_name_of_a_script_is_no_sentence() -> None:
    """It stays, also where it reads like what a tool does."""
    name = "read notes.txt"
    stored = IN_ENGLISH.say("shell.does.scripts", scripts=name)

    assert stored != GERMAN_WORDING.retold(stored)
    assert name in GERMAN_WORDING.retold(stored)


def test_thousands_are_set_apart_as_the_language_does_it() -> None:
    """1,234 is one and a bit in German."""
    assert "1.234" in GERMAN_WORDING.say("count.bytes", count=1234)
    assert "1,234" in IN_ENGLISH.say("count.bytes", count=1234)


@pytest.mark.parametrize("call", calls(), ids=lambda call: str(call.status))
def test_a_card_leaves_out_as_much_in_any_language(call: Call) -> None:
    """Whether a yes needs the details first, which the gate asks, can't depend on who reads the card."""
    cards = [card(call, wording=wording) for wording in LANGUAGES.values()]

    assert 1 == len({shown.left_out for shown in cards})
    assert is_cut(call) == bool(cards[0].left_out)


@pytest.mark.parametrize("wording", LANGUAGES.values(), ids=LANGUAGES)
@pytest.mark.parametrize("reasoned", [False, True])
def test_the_longest_card_fits_into_one_message(wording: Wording, reasoned: bool) -> None:  # noqa: FBT001
    """With every line as long as it can be, nothing of it is cut without being counted."""
    long = "words " * 1000
    call = pending(args=canonical({"a": long, "b": long}), note=long, cwd="/" + long, sentence=long, notes=(long,) * 9)
    terms = CardTerms(undo=long, stage=long)
    verdict = replace(call.verdict, risk=Risk.CRITICAL, require_reason=reasoned, message=long, card=terms)
    message = telegram.card_message(call.evolve(verdict=verdict), KEYS, "telegram:1", names(), wording=wording)

    assert telegram.length(message.plain) <= telegram.LONGEST
    assert wording.say("card.left_out", count=1).split("1")[1] not in message.plain


def test_the_words_that_a_german_card_asks_for_are_understood() -> None:
    """A yes, a yes with a reason, a named yes and a no with a reason, as the card and the answers write them."""
    yes, because = GERMAN_WORDING.say("card.how.yes"), GERMAN_WORDING.say("card.how.because").removesuffix("…")

    def reading(text: str) -> tuple[str, str | None]:
        (found,) = replies.read(text, known_refs={"K7M2QX"})
        return found.verdict.value, found.reason

    assert ("approve", None) == reading(yes)
    assert ("approve", None) == reading(f"{yes} K7M2QX")
    reasoned = replies.reasoned_yes(f"{yes} K7M2QX{because}wir es brauchen")
    assert reasoned is not None
    assert ("K7M2QX", "wir es brauchen") == (reasoned.target, reasoned.reason)
    assert "reject" == reading("nein, das brauchen wir noch")[0]
    assert "reject" == reading("nein K7M2QX")[0]


class TestWhoseLanguage:
    """The directory knows the language of each conversation and person."""

    people = Directory(
        principals={"ada": ("u:1", "slack:T1/U1"), "ben": ("u:2",)},
        conversations={"u:-5": Conversation("u:-5", language="de"), "u:-6": Conversation("u:-6")},
        languages={"ada": "de"},
    )

    @pytest.mark.parametrize(
        ("place", "reader", "language"),
        [
            ("u:-5", "", "de"),
            ("u:-6", "", "en"),
            # A person's private conversation has the person's name.
            ("u:1", "", "de"),
            ("slack:T1/U1", "", "de"),
            ("u:2", "", "en"),
            # What one person alone sees, wherever they are.
            ("u:-6", "u:1", "de"),
            ("u:-5", "u:2", "de"),
            ("u:-6", "u:2", "en"),
        ],
    )
    def test_a_place_and_a_reader_have_one(self, place: str, reader: str, language: str) -> None:
        """A person's own language wins for what only they see. Everything else is in the conversation's."""
        assert language == self.people.wording(place, reader).language

    def test_the_installations_is_the_last(self) -> None:
        """Where neither a conversation nor a person has one."""
        assert "de" == Directory(language="de").wording("u:-9").language


def test_slack_blocks_hold_no_other_language() -> None:
    """The button labels and the window of a German conversation are German."""
    message = slack.card_message(pending(), KEYS, "slack:1", wording=GERMAN_WORDING)

    assert GERMAN["button.approve"] in json.dumps(message.blocks, ensure_ascii=False)


def test_a_callers_command_is_told_in_german() -> None:
    """The headline is a German sentence, and the command stays as it is."""
    told = headline(
        pending(runs=Runs.CALLER, args=canonical({"argv": ["ls", "-l"]}), sentence="run"), wording=GERMAN_WORDING
    )

    assert GERMAN["card.wants.run"] in told
    assert told.endswith("ls -l")
