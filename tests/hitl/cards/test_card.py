"""What people see of a call: all of it visible, nothing of it live, secrets masked, what is cut counted."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl.call import Call, CardTerms, Claim, Decision, Result, Risk, Runs, State, Status, Verb
from hitl.cards.card import Card, Way, card, details, headline, is_cut, listed, outcome, outcome_for_agent
from hitl.cards.data import view
from hitl.cards.lines import Code, Moment, Who, in_utc, plain
from hitl.cards.sessions import session_view, waiting_sessions
from hitl.cards.shown import ARGUMENT_CHARS, PartKind
from hitl.cards.text import hidden
from hitl.cards.wording import SIGNS, say
from hitl.outcomes import Unfit
from hitl.people import Conversation, Directory
from hitl.people.names import Names
from hitl.proof.canonical import canonical
from hitl.question import EXECUTOR
from hitl.records import replace
from hitl.testing import a_call
from tests.hitl.world import ANN, BOB, NOON, ROOM
from tests.sentences import says

SECRET = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
HOSTILE = "\x1b[2J\u202egnp.exe\u200b\u2066<b>\x00\x07\r"


def asked(args: dict[str, Any] | None = None, **changes: Any) -> Call:
    """A waiting call."""
    fields: dict[str, Any] = {"args": canonical(args or {"path": "notes.txt"})} | changes
    return a_call(NOON, **fields)


def texts(call: Call) -> list[str]:
    """Every text of a card, pending or not."""
    shown = card(call)
    values = [getattr(shown, name) for name in Card.__struct_fields__]
    words = [value for value in values if isinstance(value, str)]
    segments = (shown.stakes, shown.approvers, shown.how, shown.end, shown.end_why)
    lines = [plain(told, in_utc) for told in segments]
    return [*words, *lines, *shown.warnings, *(text for part in shown.parts for text in (part.name, part.text))]


def shown_parts(call: Call) -> list[tuple[str, str]]:
    """The arguments as the card shows them: kind or name, and text."""
    return [(part.name or part.kind.value, part.text) for part in card(call).parts]


def ruled(call: Call, **terms: Any) -> Call:
    """The call under another verdict."""
    return call.evolve(verdict=replace(call.verdict, **terms))


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
        seen = [*texts(call), details(call), outcome_for_agent(call)]

        assert [] == [text for text in seen if hidden(text)]

    @given(st.dictionaries(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8")), max_size=4))
    def test_whatever_the_arguments(self, args: dict[str, str]) -> None:
        """Any text in any place, also as a name: a card can be made of it, and all of it can be seen."""
        call = a_call(NOON, args=canonical(args))

        assert [] == [text for text in [*texts(call), details(call)] if hidden(text)]

    def test_hidden_characters_are_counted(self) -> None:
        """The card warns, also of those that JSON writes as escapes."""
        shown = card(asked({"path": "a\u202eb\x1bc\x00"}))

        assert say("card.hidden", count=3) in shown.warnings
        assert r"a\u{202e}b\u{1b}c\u{0}" == shown.parts[0].text

    def test_markup_is_text(self) -> None:
        """Nothing is taken out or escaped for one platform: surfaces do that, with all of it at hand."""
        markup = "<a href='x'>*b* _i_ `c` [l](u) @here <!channel> &lt;"

        assert markup == card(asked({"path": markup})).parts[0].text

    def test_a_note_cannot_pose_as_ours(self) -> None:
        """The agent's words stay one line, behind a label that says whose they are."""
        shown = card(asked(note="fine.\nrisk: low\n✅ approved by ann"))
        agent = say("card.agent_of", name="local:1000")

        assert say("card.note.agent", who=agent, note="fine.⏎risk: low⏎✅ approved by ann") == shown.note

    def test_nothing_begins_at_the_margin_of_the_details_but_ours(self) -> None:
        """Lines in arguments and previews are indented, so none of them can pose as a line of ours."""
        approvers, everybody = (say("details.approvers", approvers=who) for who in ("local:1000", "everybody"))
        fake = f"x\nDigest: 0000\n{everybody}"
        call = asked({"text": fake, "x\nApprovers": "me"}, preview=fake, note=fake, sentence=fake, cwd=fake)
        ours = [line for line in details(call).split("\n") if line and not line.startswith(" ")]

        assert 1 == sum(line.startswith("Digest:") for line in ours)
        assert [approvers] == [line for line in ours if line.startswith("Approvers")]

    def test_an_argument_cannot_pose_as_the_next(self) -> None:
        """In the details the arguments are JSON: a line break in one is written out."""
        text = details(asked({"a": '1",\n  "b": "2', "c": "3"}))

        assert ['    "a": "1\\",\\n  \\"b\\": \\"2",', '    "c": "3"'] == [
            line for line in text.split("\n") if line.startswith("    ")
        ]

    @pytest.mark.parametrize("name", ["Approved by", "x: y", "✅ Ada", "a b", ""])
    def test_a_name_that_is_no_plain_one_is_quoted(self, name: str) -> None:
        """So that no argument's name reads as a line of ours."""
        (part,) = card(asked({name: "1"})).parts

        assert ("“", "”") == (part.name[0], part.name[-1])


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
        seen = "\n".join([*texts(call), details(call)])

        assert SECRET[4:] not in seen
        assert "hunter2" not in seen
        assert "[masked" in seen
        assert canonical(args) == call.args

    @pytest.mark.parametrize("name", ["note", "sentence", "preview", "output", "reason", "error", "cwd"])
    def test_they_are_masked_wherever_they_were_written(self, name: str) -> None:
        """In the agent's words, a diff, an output, a person's reason."""
        ended: dict[str, Any] = {"state": State.IDLE, "decision": Decision.REJECTED} if name == "reason" else {}
        if name == "error":
            ended = {"state": State.ERROR, "decision": Decision.APPROVED, "result": Result.FAILED}
        call = asked(**({name: f"see {SECRET}"} | ended))

        assert SECRET[4:] not in "\n".join([*texts(call), details(call), outcome_for_agent(call)])

    @pytest.mark.parametrize("before", range(60, 130, 7))
    def test_no_half_of_one_is_left_by_a_cut(self, before: int) -> None:
        """Masking comes before cutting: wherever the cut falls, no piece of the secret remains."""
        shown = card(asked(note="n" * before + " " + SECRET + " " + "n" * 150))

        assert not any(SECRET[at : at + 8] in (shown.note or "") for at in range(4, len(SECRET) - 8))


class TestCutting:
    """What is too long for a card."""

    def test_the_start_and_the_end_stay(self) -> None:
        """The middle goes, and a line of ours between two blocks counts its characters, to one."""
        text = "rm start " + "x" * 5000 + " end --force"
        shown = card(asked({"command": text}))
        before, ours, after = shown.parts

        assert before.text.startswith("rm start ")
        assert after.text.endswith(" end --force")
        assert len(before.text) + len(after.text) <= ARGUMENT_CHARS
        assert (PartKind.OURS, say("card.hidden_here", count=shown.left_out)) == (ours.kind, ours.text)
        assert len(text) - shown.left_out == len(before.text) + len(after.text)
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

        assert sum(map(len, texts(call))) < 4 * ARGUMENT_CHARS
        assert shown.left_out > 100_000
        assert is_cut(call)
        assert len(details(call)) > 150_000

    def test_a_long_preview_is_cut_by_lines(self) -> None:
        """Its first and last lines stay."""
        call = asked(preview="\n".join(f"+line {n}" for n in range(1000)))
        first, ours, last = [part.text for part in card(call).parts if part.kind in {PartKind.CODE, PartKind.OURS}]

        assert first.startswith("+line 0\n")
        assert last.endswith("\n+line 999")
        assert says(ours, "card.lines_hidden")
        assert is_cut(call)
        assert "+line 500" in details(call)

    def test_what_fits_is_not_cut(self) -> None:
        """Nothing is left out of a small call, and nothing warns."""
        call = asked({"path": "a", "n": [1, 2.5, None, True], "text": "two\nlines"}, preview="+x")

        assert (0, ()) == (card(call).left_out, card(call).warnings)
        assert not is_cut(call)

    def test_the_line_feed_that_ends_a_text_shows_no_line(self) -> None:
        """Empty lines before it are shown, and the stored arguments keep it."""
        call = asked({"one": "a\n", "two": "a\r\n"})

        assert [("one", "a"), ("two", r"a\r")] == shown_parts(call)
        assert "a\n" == call.arguments["one"]

    def test_floods_are_folded_to_a_count(self) -> None:
        """600 line feeds, or blanks, can't push the rest out of sight; the details have them whole."""
        call = asked({"command": "ls" + "\n" * 600 + "rm x" + " " * 600 + "y"})
        (part,) = card(call).parts

        assert part.text.split("\n") == [
            "ls",
            say("card.breaks", count=600),
            f"rm x{say('card.blanks', count=600)}y",
        ]
        assert "\\n" * 600 in details(call)

    def test_an_empty_value_is_said(self) -> None:
        """Also an empty command, which a shell's empty variable makes."""
        assert [("memo", say("card.empty"))] == shown_parts(asked({"memo": ""}))
        assert [("empty", say("card.empty.command"))] == shown_parts(asked({"argv": []}, runs=Runs.CALLER))

    def test_details_show_the_agents_words_whole(self) -> None:
        """A long note, tool name or folder is cut on the card and whole in the details."""
        long = "w" * 3000
        text = details(asked(note=long, tool=long, cwd=long, sentence=long))

        assert 4 == text.count(long)


class TestTheThing:
    """What is asked for, as a person would write it."""

    def test_a_callers_words_are_a_shell_line(self) -> None:
        """Quoted as a shell needs it, so that the line can be typed as it stands."""
        call = asked({"argv": ["./deploy.sh", "prod env", "$HOME"]}, runs=Runs.CALLER)

        assert [("code", "./deploy.sh 'prod env' '$HOME'")] == shown_parts(call)
        assert card(call).headline.endswith(say("card.wants.run"))

    def test_a_callers_folder_and_hashes_are_not_arguments(self) -> None:
        """The place names the folder, and the details have a script's hash. Others of these names are arguments."""
        args = {"argv": ["./x"], "cwd": "/srv", "script_sha256": {"./x": "ab12"}}
        odd = {"argv": ["./x"], "cwd": "/opt", "script_sha256": {"./y": "ab12"}}

        assert ["./x"] == [text for _, text in shown_parts(asked(args, runs=Runs.CALLER, cwd="/srv"))]
        assert 3 == len(shown_parts(asked(odd, runs=Runs.CALLER, cwd="/srv")))

    def test_a_change_is_a_diff_and_its_text_is_not_shown_twice(self) -> None:
        """The headline names the file, so neither the diff nor the arguments name it again."""
        diff = "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three"
        call = asked({"path": "a.txt", "text": "one\nthree\n"}, preview=diff, sentence="change a.txt")

        assert [("diff", " one\n-two\n+three")] == shown_parts(call)

    def test_a_diff_of_two_files_names_them(self) -> None:
        """And one that begins further down says where."""
        two = "--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n--- b\n+++ b\n@@ -1 +1 @@\n-x\n+y"
        below = "--- a\n+++ a\n@@ -90 +90 @@\n-x\n+y"

        assert [("diff", two)] == shown_parts(asked({"patch": two}, preview=two, sentence="change 2 files"))
        assert "@@ -90 +90 @@" in shown_parts(asked({"patch": ""}, preview=below, sentence="change a"))[0][1]

    def test_arguments_stand_in_their_given_order_with_their_digits(self) -> None:
        """1250.00 stays 1250.00, in the headline, below it, and in the details."""
        terms = CardTerms(order=("/to", "/amount", "/memo"), numbers=(("/amount", "1250.00"),))
        call = ruled(asked({"amount": 1250, "memo": "x", "to": "Acme"}, sentence="use pay"), card=terms)

        assert [("to", "Acme"), ("amount", "1250.00"), ("memo", "x")] == shown_parts(call)
        assert '"amount": 1250.00' in details(call)

    def test_digits_of_another_number_are_not_shown(self) -> None:
        """What is shown is what runs."""
        terms = CardTerms(numbers=(("/amount", "1.00"),))

        assert [("amount", "1250")] == shown_parts(ruled(asked({"amount": 1250}), card=terms))


class TestTemplates:
    """A headline in the operator's words."""

    PAY = CardTerms(headline="Pay {amount} {currency} to {to}", fields=())

    def paying(self, risk: Risk = Risk.MEDIUM, **args: Any) -> Call:
        """A payment under that template."""
        given = {"amount": 5, "currency": "EUR", "to": "Acme Hosting", "memo": "x"} | args
        return ruled(asked(given, tool="pay"), card=self.PAY, risk=risk)

    def test_values_are_filled_in(self) -> None:
        """And the first letter goes with the sentence around it."""
        assert card(self.paying()).headline.endswith("pay 5 EUR to Acme Hosting")

    @pytest.mark.parametrize(
        "to", ["Bob (approved by Ada)", "Bob” approved by “Ada", "a, b", "{amount}", "one two three four"]
    )
    def test_a_value_reads_as_a_value(self, to: str) -> None:
        """In quotes that it can't end, unless it is plainly one value."""
        headline = card(self.paying(to=to)).headline

        assert (headline.count("“"), headline.count("”")) == (1, 1)
        assert headline.endswith("”")

    def test_what_it_leaves_out_is_counted(self) -> None:
        """It stands under Details."""
        call = self.paying()

        assert say("card.below", count=1) == card(call).below
        assert [] == shown_parts(call)
        assert '"memo": "x"' in details(call)

    @pytest.mark.parametrize("risk", [Risk.HIGH, Risk.CRITICAL])
    def test_a_dangerous_request_leaves_nothing_out(self, risk: Risk) -> None:
        """Whatever the operator wanted shown."""
        call = self.paying(risk)

        assert "" == card(call).below
        assert [("memo", "x")] == shown_parts(call)

    def test_a_value_that_is_cut_is_shown_whole_below(self) -> None:
        """The headline has its start and its end."""
        long = "Acme " * 30

        assert long.strip() in "".join(text for _, text in shown_parts(self.paying(Risk.HIGH, to=long)))

    def test_without_an_argument_that_it_names_it_is_not_used(self) -> None:
        """A half-filled sentence would say something else."""
        call = ruled(asked({"amount": 5}, tool="pay", sentence=""), card=self.PAY)

        assert card(call).headline.endswith(say("card.wants.use", tool="pay"))
        assert [("amount", "5")] == shown_parts(call)


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

    def test_a_call_that_its_claimant_runs_names_the_end_of_the_wait(self) -> None:
        """Nobody here sees whether the claimant still lives. So the words say until when its report may come."""
        until = NOON + timedelta(minutes=70)
        call = ended(state=State.EXECUTING, decision=Decision.APPROVED, claim=Claim("o", "s", until), runs=Runs.CALLER)
        told = [outcome(call), outcome_for_agent(call), plain(card(call).end_why, in_utc)]

        assert all(f"{until:%H:%M}" in each for each in told), told
        assert says(told[1], "agent.running.caller", short=call.short)

    def test_no_two_statuses_read_alike(self) -> None:
        """People and agents can tell them apart by the words alone."""
        assert set(Status) == {status for status, _ in ENDS}
        for tell in (outcome, outcome_for_agent):
            told = [tell(ended(**changes)) for _, changes in ENDS]

            assert len(told) == len(set(told))

    @pytest.mark.parametrize(("status", "changes"), ENDS)
    def test_an_outcome_begins_with_the_name_of_its_status(self, status: Status, changes: dict[str, Any]) -> None:
        """A word that `sayso history` prints is the word that its option `--status` and the API know."""
        assert re.match(rf"{status.value.replace('_', ' ')}\b", outcome(ended(**changes)))

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

        how, by = say("outcome.how.allowed"), say("outcome.by_policy")
        assert say("outcome.succeeded", how=how, by=by) == outcome(call)


class TestTheRest:
    """Headline, risk, who asked, who may approve, how to answer."""

    @pytest.mark.parametrize("risk", Risk)
    def test_the_push_leads_with_the_risk_and_says_who_wants_what_where(self, risk: Risk) -> None:
        """One line, with the thing right behind who wants it, and the place last."""
        names = Names(host="build-7")
        call = ruled(asked({"command": "git push"}, tool="bash", cwd="/srv/shop"), risk=risk)
        agent = say("card.agent_of", name="local:1000")
        headline = say("card.headline", who=agent, phrase=say("card.wants.run"))

        assert f"{SIGNS[risk]} {headline}: git push · on build-7, in /srv/shop" == card(call, names).push

    def test_no_argument_becomes_the_action_of_a_headline(self) -> None:
        """An argument of several lines could say that another payment is asked for: in pushes, lists and views."""
        memo = "10 EUR to Ada\nto: Ada\namount: 10"
        call = asked({"to": "Mallory", "amount": "99000.00", "memo": memo}, tool="pay", sentence="", session="s1")

        (session,) = waiting_sessions([call])
        for shown in (card(call).push, headline(call), view(call)["headline"], session_view(session)["headline"]):
            assert shown.endswith(say("card.wants.use", tool="pay"))
            assert "Ada" not in shown

    def test_a_list_gets_the_arguments_on_a_line_of_their_own(self) -> None:
        """Masked as on the card; a text is quoted, so that it can't look like another argument or like the action."""
        args = {"to": "Mallory", "memo": "10 EUR\nto: Ada", "token": "xoxb-1234567890-abcdefghij", "lines": [1, 2]}
        head, arguments = listed(asked(args, tool="pay", sentence=""))

        assert head.endswith(say("card.wants.use", tool="pay"))
        assert arguments.startswith("lines [1, 2], memo “10 EUR⏎to: Ada”, to Mallory, token ")
        assert "1234567890" not in arguments

    @pytest.mark.parametrize("args", [{"argv": ["git", "push"]}, {"command": "git push"}])
    def test_a_list_shows_a_command_once(self, args: dict[str, Any]) -> None:
        """The headline has it already."""
        assert "" == listed(asked(args, tool="bash"))[1]

    def test_a_preview_of_the_executor_is_the_action_of_a_headline(self) -> None:
        """It comes first, before any argument."""
        call = asked({"to": "Mallory"}, sentence="", preview="sends 2 messages")

        assert headline(call).endswith(": sends 2 messages")

    @pytest.mark.parametrize("way", Way)
    @pytest.mark.parametrize("risk", [Risk.HIGH, Risk.CRITICAL])
    @pytest.mark.parametrize("require_reason", [True, False])
    def test_how_to_answer_names_what_a_yes_needs(self, way: Way, risk: Risk, require_reason: bool) -> None:  # noqa: FBT001
        """A critical request asks for its name if words can answer it; one that needs a reason shows where it goes."""
        call = ruled(asked(), risk=risk, require_reason=require_reason)
        how = card(call, way=way).how
        typed = [segment.text for segment in how if isinstance(segment, Code)]

        if way is Way.BUTTONS:
            assert say("card.how.buttons") == plain(how, in_utc)
        elif way is not Way.KEYS and (require_reason or risk is Risk.CRITICAL):
            assert [True] == [text.startswith("yes") for text in typed]
            assert (risk is Risk.CRITICAL) == (call.short in typed[0])
            assert require_reason == typed[0].endswith(say("card.how.because"))

    def test_a_time_a_day_after_the_request_has_a_date(self) -> None:
        """A time of day alone would mean today: of the deadline, and of the decision."""
        soon, late = (asked(deadline=NOON + timedelta(hours=hours)) for hours in (23, 72))
        over = late.evolve(
            state=State.IDLE, decision=Decision.REJECTED, decided_by=ANN, decided_at=NOON + timedelta(hours=48)
        )

        assert "2026-" not in plain(card(soon).approvers, in_utc)
        assert f"{late.deadline:%Y-%m-%d %H:%M} UTC" in plain(card(late).approvers, in_utc)
        assert f"{over.decided_at:%Y-%m-%d %H:%M} UTC" in plain(card(over).end_why, in_utc)

    @pytest.mark.parametrize(
        ("approvers", "own", "buttons", "how"),
        [
            ((ANN,), None, [Verb.DETAILS], "card.how.others"),
            ((ANN, BOB), None, [Verb.REJECT, Verb.DETAILS], "card.how.own"),
            ((ANN, BOB), Risk.MEDIUM, [Verb.APPROVE, Verb.REJECT, Verb.DETAILS], "card.how.plain.reply"),
        ],
    )
    def test_a_card_offers_its_only_reader_what_they_may_do(
        self, approvers: tuple[str, ...], own: Risk | None, buttons: list[Verb], how: str
    ) -> None:
        """In the private chat of a requester, the card says who may approve. Others keep all buttons on their cards."""
        people = Directory(approvers=approvers, conversations={ROOM: Conversation(ROOM, self_approval=own)})
        call = asked(requester=BOB, approvers=approvers, origin=ROOM)
        of_bob, of_ann, of_all = (card(call, Names(people), reader=reader) for reader in (BOB, ANN, ""))

        assert buttons == [verb for verb in (Verb.APPROVE, Verb.REJECT, Verb.DETAILS) if of_bob.may(verb)]
        assert say(how) == plain(of_bob.how, in_utc)
        assert of_ann.may(Verb.APPROVE)
        assert of_all.may(Verb.APPROVE)

    def test_a_card_names_only_those_who_may_approve_it(self) -> None:
        """The holder of a token with a lower limit may reject the request, so this card offers that alone."""
        people = Directory(approvers=(ANN, "token:desk"))
        call = ruled(asked(approvers=(ANN, "token:desk"), origin=ROOM), risk=Risk.HIGH)
        of_desk, of_all = (card(call, Names(people), reader=reader) for reader in ("token:desk", ""))

        assert [ANN] == [part.principal for part in of_all.approvers if isinstance(part, Who)]
        assert (False, True) == (of_desk.may(Verb.APPROVE), of_desk.may(Verb.REJECT))
        assert say("card.how.limit") == plain(of_desk.how, in_utc)
        assert [ANN] == view(call, Names(people))["approvers"]

    def test_a_question_in_the_private_chat_of_somebody_else_says_who_can_answer_it(self) -> None:
        """It has Details alone."""
        call = asked({"question": "Which stage?"}, executor=EXECUTOR, requester=BOB, approvers=(ANN,))
        people = Names(Directory(approvers=(ANN,)))
        of_carl, of_bob = (card(call, people, reader=reader) for reader in ("u:carl", BOB))

        assert say("card.how.others.ask") == plain(of_carl.how, in_utc)
        assert not of_carl.may(Verb.APPROVE)
        assert of_bob.may(Verb.APPROVE)

    def test_a_person_who_asks_by_hand_is_no_agent(self) -> None:
        """Nor is their note an agent's."""
        shown = card(asked(agent="ask", note="tests green"))

        assert shown.headline.startswith("local:1000 ")
        assert say("card.note", who="local:1000", note="tests green") == shown.note

    def test_a_reason_stands_there_only_if_a_rule_gave_one(self) -> None:
        """Why the policy holds it for risky is under Details."""
        call = asked()

        assert "" == card(call).rule
        assert say("card.rule", rule="ask Ada") == card(ruled(call, message="ask Ada")).rule
        assert call.verdict.why in details(call)

    def test_undoing_is_one_line_and_its_command_is_code(self) -> None:
        """As the operator or the tool's definition put it."""
        stakes = card(ruled(asked(), card=CardTerms(undo="Undo: `git restore x`"))).stakes

        assert Code("git restore x") in stakes
        assert not any(isinstance(segment, Code) for segment in card(asked()).stakes)

    def test_people_have_names_and_one_reader_is_you(self) -> None:
        """Those of the platform; the requester is no approver of their own."""
        names = Names(Directory(approvers=(ANN, BOB)))
        names.learn(ANN, "Ann")
        names.learn(BOB, "Bob")
        call = asked(approvers=(ANN, BOB, "local:1000"))
        for_all, for_ann = (plain(card(call, names, reader=who).approvers, in_utc) for who in ("", ANN))

        assert "Ann or Bob" in for_all
        assert f"{say('card.you')} or Bob" in for_ann
        assert "local:1000" not in for_all

    def test_ids_are_under_details(self) -> None:
        """With the names, whole; so is the digest, with a sentence on its use."""
        names = Names()
        names.learn(ANN, "Ann")
        call = asked(approvers=(ANN,))
        text = details(call, names)

        assert f"Ann ({ANN})" in text
        assert call.digest in text
        assert call.ref in text

    def test_programs_that_the_line_does_not_name_are_a_warning(self) -> None:
        """And those that nobody can know before it runs."""
        call = ruled(asked({"command": "./x"}, previous="ABC234"), programs=("x", "/bin/rm", "?"))

        assert (
            say("card.again", short="ABC234"),
            say("card.programs", programs="/bin/rm"),
            say("card.programs.unknown"),
        ) == card(call).warnings

    def test_of_many_warnings_the_card_counts_what_it_leaves_out(self) -> None:
        """Four stand on it; the others make it a card that is cut, and all are among the details."""
        notes = tuple(f"warning {number}" for number in range(6))
        call = asked(notes=notes)

        assert [*notes[:4], say("card.cut", count=18)] == list(card(call).warnings)
        assert is_cut(call)
        assert 6 == details(call).count("warning")

    @pytest.mark.parametrize(
        ("said", "shown"),
        [("It is mine.", "It is mine"), ("wait...", "wait..."), ("no", "no"), ("Why? It is.", "Why? It is")],
    )
    def test_a_sentence_within_a_sentence_has_no_full_stop(self, said: str, shown: str) -> None:
        """What others wrote ends as they ended it, and ours once."""
        call = asked(state=State.IDLE, decision=Decision.REJECTED, decided_by="telegram:2", reason=said)

        assert say("outcome.rejected.reason", by="telegram:2", reason=shown) == outcome(call)
        assert say("agent.rejected.reason", short=call.short, reason=shown) == outcome_for_agent(call)

    def test_a_card_knows_whether_it_is_open(self) -> None:
        """Only what is pending can be answered."""
        assert card(asked()).open
        assert not card(asked(runs=Runs.CALLER, state=State.EXECUTING, decision=Decision.APPROVED)).open

    @pytest.mark.parametrize(("status", "changes"), ENDS)
    def test_a_decided_card_is_two_lines(self, status: Status, changes: dict[str, Any]) -> None:
        """What happened to what; then who, when and why. A result that isn't known is no success."""
        if status is Status.PENDING:
            return
        shown = card(ended(**changes))

        assert shown.end
        assert "\n" not in plain((*shown.end, *shown.end_why), in_utc)
        assert (status is Status.UNKNOWN) == (shown.end_sign == "unknown")

    def test_who_decided_when_and_why(self) -> None:
        """By the name that the platform gives them, at the time of the decision."""
        names = Names()
        names.learn(ANN, "Ann")
        call = ended(state=State.IDLE, decision=Decision.REJECTED, reason="keep it")

        assert {Who(ANN, "Ann"), Moment(NOON)} <= set(card(call, names).end_why)
        assert "“keep it”" in plain(card(call, names).end_why, in_utc)
