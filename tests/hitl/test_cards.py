"""What people see of a call: all of it visible, nothing of it live, secrets masked, what is cut counted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl.canonical import canonical
from hitl.cards import ARGUMENT_CHARS, PREVIEW_LINES, Card, card, details, is_cut, outcome, outcome_for_agent
from hitl.model import Call, Claim, Decision, Result, Risk, Runs, State, Status
from hitl.outcomes import Unfit
from hitl.records import replace
from hitl.testing import a_call
from hitl.text import hidden
from hitl.wording import say
from tests.hitl.world import ANN, NOON
from tests.sentences import says

SECRET = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
HOSTILE = "\x1b[2J\u202egnp.exe\u200b\u2066<b>\x00\x07\r"


def asked(args: dict[str, Any] | None = None, **changes: Any) -> Call:
    """A waiting call."""
    fields: dict[str, Any] = {"args": canonical(args or {"path": "notes.txt"})} | changes
    return a_call(NOON, **fields)


def parts(shown: Card) -> list[str]:
    """Every text of a card."""
    values = [getattr(shown, name) for name in Card.__slots__]
    texts = [value for value in values if isinstance(value, str)]
    return [*texts, *shown.warnings, *(part for pair in shown.arguments for part in pair)]


class TestNothingLive:
    """What an agent wrote changes nothing around it."""

    @pytest.mark.parametrize(
        "changes",
        [
            {"args": {"path": HOSTILE}},
            {"args": {HOSTILE: 1}},
            {"args": {"deep": [{"er": HOSTILE}]}},
            {"args": {"list": [HOSTILE, "x"]}},
            {"tool": HOSTILE},
            {"tools": HOSTILE},
            {"sentence": HOSTILE},
            {"note": HOSTILE},
            {"agent": HOSTILE},
            {"requester": HOSTILE},
            {"cwd": HOSTILE},
            {"previous": HOSTILE},
            {"preview": HOSTILE},
            {"notes": (HOSTILE,)},
            {"output": HOSTILE},
            {"state": State.IDLE, "decision": Decision.REJECTED, "decided_by": HOSTILE, "reason": HOSTILE},
            {"state": State.ERROR, "decision": Decision.APPROVED, "result": Result.FAILED, "error": HOSTILE},
            {"state": State.IDLE, "decision": Decision.UNDELIVERABLE, "error": HOSTILE},
        ],
        ids=lambda changes: next(iter(changes)),
    )
    def test_control_bidi_and_zero_width_characters_are_written_out(self, changes: dict[str, Any]) -> None:
        """Wherever they stand, on the card, in the details and in what the agent is told: no such character is left."""
        call = asked(**changes)
        texts = [*parts(card(call)), details(call), outcome_for_agent(call)]

        assert [] == [text for text in texts if hidden(text)]

    @given(st.dictionaries(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8")), max_size=4))
    def test_whatever_the_arguments(self, args: dict[str, str]) -> None:
        """Any text in any place, also as a name: a card can be made of it, and all of it can be seen."""
        call = a_call(NOON, args=canonical(args))

        assert [] == [text for text in [*parts(card(call)), details(call)] if hidden(text)]

    def test_hidden_characters_are_counted(self) -> None:
        """The card warns, also of those that JSON writes as escapes."""
        shown = card(asked({"path": "a\u202eb\x1bc\x00"}))

        assert say("card.hidden", count=3) in shown.warnings
        assert r"a\u{202e}b\u{1b}c\u{0}" == shown.arguments[0][1]

    def test_markup_is_text(self) -> None:
        """Nothing is taken out or escaped for one platform: surfaces do that, with all of it at hand."""
        markup = "<a href='x'>*b* _i_ `c` [l](u) @here <!channel> &lt;"

        assert markup == card(asked({"path": markup})).arguments[0][1]

    def test_a_note_cannot_pose_as_ours(self) -> None:
        """The agent's words stay one line, behind a label that says whose they are."""
        shown = card(asked(note="fine.\nrisk: low\n✅ approved by ann"))

        assert say("card.note", note="fine.⏎risk: low⏎✅ approved by ann") == shown.note

    def test_nothing_begins_at_the_margin_of_the_details_but_ours(self) -> None:
        """Lines in arguments and previews are indented, so none of them can pose as a line of ours."""
        digest = say("details.digest", digest="")
        approvers, everybody = (say("details.approvers", approvers=who) for who in ("local:1000", "everybody"))
        fake = f"x\n{digest}0000\n{everybody}"
        call = asked({"text": fake, "x\napprovers": "me"}, preview=fake, note=fake, sentence=fake, cwd=fake)
        ours = [line for line in details(call).split("\n") if line and not line.startswith(" ")]

        assert 1 == sum(line.startswith(digest) for line in ours)
        assert [approvers] == [line for line in ours if line.startswith("approvers")]

    def test_an_argument_cannot_pose_as_the_next(self) -> None:
        """The second line of a value is indented deeper than the names are."""
        text = details(asked({"a": "1\nb: 2", "c": "3"}))

        assert ["  a: 1", "    b: 2", "  c: 3"] == [line for line in text.split("\n") if line.startswith("  ")]


class TestSecrets:
    """Known formats, and what stands under a secret's name."""

    @pytest.mark.parametrize(
        "args",
        [
            {"text": f"x {SECRET} y"},
            {"headers": [{"name": "Authorization", "value": f"Bearer {SECRET}"}]},
            {"a": {"b": {"c": {"db_password": "hunter2hunter2"}}}},
            {"command": f"curl -H 'Authorization: Bearer {SECRET}'"},
            {SECRET: "as a name"},
            {"argv": ["login", "--password", "hunter2hunter2"]},
        ],
    )
    def test_they_are_masked_at_any_depth(self, args: dict[str, Any]) -> None:
        """On the card and in the details; in the stored arguments they stay."""
        call = asked(args)
        texts = "\n".join([*parts(card(call)), details(call)])

        assert SECRET[4:] not in texts
        assert "hunter2" not in texts
        assert "[masked" in texts
        assert canonical(args) == call.args

    @pytest.mark.parametrize("name", ["note", "sentence", "preview", "output", "reason", "error", "cwd"])
    def test_they_are_masked_wherever_they_were_written(self, name: str) -> None:
        """In the agent's words, a diff, an output, a person's reason."""
        ended: dict[str, Any] = {"state": State.IDLE, "decision": Decision.REJECTED} if name == "reason" else {}
        if name == "error":
            ended = {"state": State.ERROR, "decision": Decision.APPROVED, "result": Result.FAILED}
        call = asked(**({name: f"see {SECRET}"} | ended))

        assert SECRET[4:] not in "\n".join([*parts(card(call)), details(call), outcome_for_agent(call)])

    @pytest.mark.parametrize("before", range(60, 130, 7))
    def test_no_half_of_one_is_left_by_a_cut(self, before: int) -> None:
        """Masking comes before cutting: wherever the cut falls, no piece of the secret remains."""
        shown = card(asked(note="n" * before + " " + SECRET + " " + "n" * 150))

        assert not any(SECRET[at : at + 8] in (shown.note or "") for at in range(4, len(SECRET) - 8))


class TestCutting:
    """What is too long for a card."""

    def test_the_start_and_the_end_stay(self) -> None:
        """The middle goes, and its characters are counted, to one."""
        text = "rm start " + "x" * 5000 + " end --force"
        shown = card(asked({"command": text}))
        value = shown.arguments[0][1]

        assert value.startswith("rm start ")
        assert value.endswith(" end --force")
        assert len(value) <= ARGUMENT_CHARS
        counted = say("card.left_out", count=f"{shown.left_out:,}")
        assert counted in value
        assert len(text) - shown.left_out == len(value) - len(counted)
        assert say("card.cut", count=shown.left_out) in shown.warnings

    @pytest.mark.parametrize(
        "args",
        [
            {"text": "x" * 200_000},
            {f"n{n}": "x" * 200 for n in range(1000)},
            {"n" * 200_000: 1},
            {"list": ["x" * 100] * 2000},
            {"deep": [[["x" * 200_000]]]},
        ],
        ids=["text", "many", "name", "list", "deep"],
    )
    def test_a_card_stays_small(self, args: dict[str, Any]) -> None:
        """However much there is: a card fits on a screen, says that it is cut, and the details are whole."""
        call = asked(args)
        shown = card(call)

        assert sum(map(len, parts(shown))) < 3 * ARGUMENT_CHARS
        assert shown.left_out > 100_000
        assert is_cut(call)
        assert not says(details(call), "card.left_out")
        assert not says(details(call), "card.lines_left_out")
        assert len(details(call)) > 150_000

    def test_a_long_preview_is_cut_by_lines(self) -> None:
        """Its first and last lines stay."""
        call = asked(preview="\n".join(f"+line {n}" for n in range(1000)))
        shown = card(call)

        assert shown.preview.startswith("+line 0\n")
        assert shown.preview.endswith("\n+line 999")
        assert PREVIEW_LINES == len(shown.preview.split("\n"))
        assert is_cut(call)
        assert "+line 500" in details(call)

    def test_what_fits_is_not_cut(self) -> None:
        """Nothing is left out of a small call, and nothing warns."""
        call = asked({"path": "a", "n": [1, 2.5, None, True], "text": "two\nlines"}, preview="+x")

        assert (0, ()) == (card(call).left_out, card(call).warnings)
        assert not is_cut(call)

    def test_the_line_feed_that_ends_a_text_shows_no_line(self) -> None:
        """Empty lines before it are shown, and the stored arguments keep it."""
        call = asked({"one": "a\n", "two": "a\n\n", "three": "a\r\n"})

        assert (("one", "a"), ("three", r"a\r"), ("two", "a\n")) == card(call).arguments
        assert details(call).endswith("\n  one: a\n  three: a\\r\n  two: a\n    ")
        assert "a\n" == call.arguments["one"]

    def test_details_show_the_agents_words_whole(self) -> None:
        """A long note, tool name or folder is cut on the card and whole in the details."""
        long = "w" * 3000
        text = details(asked(note=long, tool=long, cwd=long, sentence=long))

        assert 4 == text.count(long)


ENDS: list[tuple[Status, dict[str, Any]]] = [
    (Status.PENDING, {"state": State.AWAITING}),
    (Status.ALLOWED, {"state": State.EXECUTING, "decision": Decision.ALLOWED}),
    (Status.APPROVED, {"state": State.EXECUTING, "decision": Decision.APPROVED}),
    (Status.RUNNING, {"state": State.EXECUTING, "decision": Decision.APPROVED, "claim": Claim("o", "s", NOON)}),
    *(
        (Status(decision.value), {"state": State.IDLE, "decision": decision})
        for decision in Decision
        if decision not in {Decision.ALLOWED, Decision.APPROVED}
    ),
    *(
        (Status(result.value), {"state": State.ERROR, "decision": Decision.APPROVED, "result": result})
        for result in Result
    ),
]


def ended(**changes: Any) -> Call:
    """A call that ended so, by Ann."""
    fields: dict[str, Any] = {"decided_by": ANN, "decided_at": NOON} | changes
    return asked(**fields)


class TestOutcome:
    """One sentence for each status."""

    @pytest.mark.parametrize(("status", "changes"), ENDS)
    def test_every_status_has_its_words(self, status: Status, changes: dict[str, Any]) -> None:
        """For people and for the agent; none is empty, none shows a name of ours."""
        call = ended(**changes)

        assert status is call.status
        assert outcome(call)
        assert call.short in outcome_for_agent(call)
        assert "{" not in outcome(call) + outcome_for_agent(call)

    def test_no_two_statuses_read_alike(self) -> None:
        """People and agents can tell them apart by the words alone."""
        assert set(Status) == {status for status, _ in ENDS}
        for tell in (outcome, outcome_for_agent):
            told = [tell(ended(**changes)) for _, changes in ENDS]

            assert len(told) == len(set(told))

    def test_silence_is_never_told_as_a_persons_no(self) -> None:
        """What expired names nobody and says that nobody answered."""
        call = ended(state=State.IDLE, decision=Decision.EXPIRED, decided_by="service")
        unseen = call.evolve(error=str(Unfit.UNSEEN))

        assert (say("outcome.expired"), say("outcome.expired.unseen")) == (outcome(call), outcome(unseen))
        assert say("agent.expired", short=call.short) == outcome_for_agent(call)
        assert "reject" not in outcome(call) + outcome_for_agent(call)

    def test_a_no_says_who_and_why(self) -> None:
        """With a reason and without."""
        call = ended(state=State.IDLE, decision=Decision.REJECTED)
        told = outcome_for_agent(call.evolve(reason="too late"))

        assert say("outcome.rejected", by=ANN) == outcome(call)
        assert say("outcome.rejected.reason", by=ANN, reason="too late") == outcome(call.evolve(reason="too late"))
        assert say("agent.rejected.reason", short=call.short, reason="too late") == told

    def test_what_the_policy_allowed_nobody_approved(self) -> None:
        """The policy is named, not its digest."""
        call = ended(
            state=State.COMPLETED, decision=Decision.ALLOWED, result=Result.SUCCEEDED, decided_by="policy:" + "a" * 64
        )

        assert say("outcome.succeeded", by=say("outcome.by_policy")) == outcome(call)


class TestTheRest:
    """Title, risk, who asked, how to answer."""

    def test_the_title_leads_with_the_risk(self) -> None:
        """A sign, a word, the tool."""
        signs = {Risk.LOW: "🟢", Risk.MEDIUM: "🟡", Risk.HIGH: "🟠", Risk.CRITICAL: "🔴"}
        for risk, sign in signs.items():
            call = asked()
            shown = card(call.evolve(verdict=replace(call.verdict, risk=risk)))

            assert say("card.title", sign=sign, risk=risk.value, tool="write_file") == shown.title

    def test_how_to_answer_depends_on_the_rules(self) -> None:
        """A critical card asks for the ref, one that needs a reason for the reason."""
        call = asked()
        critical = call.evolve(verdict=replace(call.verdict, risk=Risk.CRITICAL))
        reasoned = call.evolve(verdict=replace(call.verdict, require_reason=True))

        assert say("card.how") == card(call).how
        assert say("card.how.critical", short=call.short) == card(critical).how
        assert say("card.how.reason", short=call.short) == card(reasoned).how

    def test_who_asked_and_through_what(self) -> None:
        """The principal, and the agent if there is one."""
        assert say("card.who.agent", requester="local:1000", agent="demo") == card(asked()).who
        assert say("card.who", requester="local:1000") == card(asked(agent="")).who

    def test_when_it_ends(self) -> None:
        """In UTC, and what silence means."""
        assert say("card.ends", time="12:05:00 UTC") == card(asked()).ends

    def test_what_it_asks_again_and_what_it_runs_is_said(self) -> None:
        """The call before it, the warnings of its executor, and the programs that a command resolves to."""
        call = asked(previous="ABC234", notes=("not confined",))
        call = call.evolve(verdict=replace(call.verdict, programs=("/bin/rm", "/usr/bin/curl")))

        assert (
            say("card.warning", note="not confined"),
            say("card.again", short="ABC234"),
            say("card.programs", programs="/bin/rm, /usr/bin/curl"),
        ) == card(call).warnings

    def test_of_many_warnings_the_card_counts_what_it_leaves_out(self) -> None:
        """Four stand on it; the others make it a card that is cut, and all are among the details."""
        notes = tuple(f"warning {number}" for number in range(6))
        call = asked(notes=notes)
        lines = [say("card.warning", note=note) for note in notes]

        assert [*lines[:4], say("card.cut", count=18)] == list(card(call).warnings)
        assert is_cut(call)
        assert lines == [line for line in details(call).split("\n") if "warning" in line]

    def test_the_details_name_every_program(self) -> None:
        """However many: what the card cuts, they hold."""
        programs = tuple(f"program{number:03}" for number in range(100))
        call = asked()
        told = details(call.evolve(verdict=replace(call.verdict, programs=programs)))

        assert say("card.programs", programs=", ".join(programs)) in told.split("\n")

    @pytest.mark.parametrize(
        ("said", "shown"),
        [("It is mine.", "It is mine"), ("wait...", "wait..."), ("no", "no"), ("Why? It is.", "Why? It is")],
    )
    def test_a_sentence_within_a_sentence_has_no_full_stop(self, said: str, shown: str) -> None:
        """What others wrote ends as they ended it, and ours once."""
        call = asked(state=State.IDLE, decision=Decision.REJECTED, decided_by="telegram:2", reason=said)

        assert say("outcome.rejected.reason", by="telegram:2", reason=shown) == card(call).outcome
        assert say("agent.rejected.reason", short=call.short, reason=shown) == outcome_for_agent(call)

    def test_a_card_knows_whether_it_is_open(self) -> None:
        """Only what waits can be answered."""
        assert card(asked()).open
        assert not card(asked(runs=Runs.CALLER, state=State.EXECUTING, decision=Decision.APPROVED)).open

    def test_the_mark_is_the_digests(self) -> None:
        """Twelve characters that can be compared with a receipt."""
        assert 12 == len(card(asked()).mark)
        assert card(asked(digest="e" * 64)).mark != card(asked(digest="f" * 64)).mark
