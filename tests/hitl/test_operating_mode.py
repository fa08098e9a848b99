"""What the operator says beside the policy: stage, mode, and tools that run where nobody can be shown a card."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from hitl.call import Action, CardTerms, Mode, Preparation, Reason, Result, Risk, Runs, Status
from hitl.cards.card import card, details
from hitl.cards.wording import say
from hitl.errors import InvalidConfirmation
from hitl.limits import Limits
from hitl.operating_mode import SCRIPTS, Terms, judged
from hitl.policy import Policy, load
from tests.hitl.world import ANN, BAN, CLAIM, DROP, GROUP, READ, ROOM, WIPE, WRITE, World, code

MONITOR, OFF = Terms("dev", Mode.MONITOR), Terms("dev", Mode.OFF)
PASS = frozenset({f"{GROUP}.{tool}" for tool in (WRITE, WIPE, BAN)})
ASKED = (WRITE, DROP, WIPE)
COMMAND_RULES = """
version: 1
default_action: approve
rules:
  - id: no-formatting
    when: [{key: command, op: command_blacklist, value: [mkfs, "mkfs.*"]}]
    action: deny
  - id: looking
    when: [{key: command, op: command_prefix_allowlist, value: [git status]}]
    action: allow
"""


@dataclass(frozen=True, slots=True)
class Kept:
    """The source of one policy."""

    policy: Policy

    def current(self) -> Policy:
        """Always the same."""
        return self.policy


def with_terms(world: World, terms: Terms) -> World:
    """The same world after a restart with other settings."""
    world.gate.terms = terms
    return world


class TestMonitor:
    """What would be asked about runs, and is on record as such."""

    @pytest.mark.parametrize("tool", ASKED)
    async def test_what_would_be_asked_runs(self, world: World, tool: str) -> None:
        """At once, and the record says that nobody was asked, with the risk, and without the arguments."""
        call = await with_terms(world, MONITOR).ask(tool, args={"path": "hidden.txt"})
        entries = await world.store.history(call.ref)

        assert (Status.RUNNING, "monitor") == (call.status, call.verdict.reason)
        assert ["asked", "allowed"] == [entry.event for entry in entries]
        assert "monitor" == json.loads(entries[1].data)["unasked"]
        assert not any("hidden.txt" in entry.data for entry in entries)

    async def test_what_is_denied_stays_denied(self, world: World) -> None:
        """Only questions are left out."""
        assert Status.DENIED is (await with_terms(world, MONITOR).ask(BAN)).status

    async def test_a_floor_asks_nobody(self, world: World) -> None:
        """The card's risk is raised as ever, and is on record."""
        world.executor.preparation = Preparation("Runs unconfined.", floor=Risk.HIGH)
        call = await with_terms(world, MONITOR).ask(READ)

        assert (Status.RUNNING, Risk.HIGH) == (call.status, call.verdict.risk)

    async def test_a_caller_may_claim_what_it_was_allowed(self, world: World) -> None:
        """The policy's question doesn't come back at the claim."""
        call = await with_terms(world, MONITOR).ask(WRITE, runs=Runs.CALLER)

        assert call.ref == (await world.gate.claim(call.ref, "cli", CLAIM)).call.ref

    async def test_a_restart_that_enforces_takes_it_back(self, world: World) -> None:
        """What nobody was asked about, and nobody claimed, is refused once questions are asked again."""
        call = await with_terms(world, MONITOR).ask(WRITE, runs=Runs.CALLER)
        with pytest.raises(InvalidConfirmation):
            await with_terms(world, Terms()).gate.claim(call.ref, "cli", CLAIM)

        assert Result.REFUSED is (await world.now(call)).result


class TestOff:
    """No policy is asked."""

    @pytest.mark.parametrize("tool", [*ASKED, READ, BAN])
    async def test_everything_runs_on_record(self, world: World, tool: str) -> None:
        """Also with a policy that is broken."""
        world.rules.broken = True
        call = await with_terms(world, OFF).ask(tool)

        assert (Status.RUNNING, "policy:off") == (call.status, call.decided_by)
        assert ["asked", "allowed"] == await world.events(call)

    async def test_a_tool_that_may_not_run_does_not(self, world: World) -> None:
        """The list of tools isn't the policy's."""
        assert Status.DENIED is (await with_terms(world, OFF).ask("unheard-of")).status


@pytest.mark.parametrize("terms", [MONITOR, OFF])
async def test_who_demands_a_person_gets_one(world: World, terms: Terms) -> None:
    """In every mode; and the yes counts."""
    call = await with_terms(world, terms).ask(READ, must_ask=True)
    assert Status.PENDING is call.status
    await world.press(call)

    assert Status.RUNNING is (await world.now(call)).status


async def test_a_mode_that_is_not_the_usual_one_is_a_warning(world: World) -> None:
    """Requests that people would be asked about run there unasked, so the card of one that demands a person says so."""
    call = await with_terms(world, Terms(mode=Mode.MONITOR)).ask(WRITE, must_ask=True)

    assert say("card.mode", mode="monitor") in card(call).warnings


async def test_the_stage_stands_with_the_place(world: World) -> None:
    """It is no bad news, so it is no warning."""
    shown = card(await with_terms(world, Terms("production")).ask(WRITE))

    assert say("card.stage", stage="production") in shown.place
    assert () == shown.warnings


async def test_an_operator_words_the_card_of_a_tool(world: World) -> None:
    """The headline, what can't be undone: by the tool's name, or by its group's and its own, which wins."""
    words = {WRITE: CardTerms(headline="Set {path}"), f"{GROUP}.{WRITE}": CardTerms(headline="Write to {path}")}
    call = await with_terms(world, Terms(cards=words)).ask(WRITE, args={"path": "notes.txt"})

    assert card(call).headline.endswith("write to notes.txt")


@pytest.mark.parametrize(
    ("policy", "settings", "told"),
    [
        (
            CardTerms("Set {path}", "By the policy.", ("text",)),
            None,
            CardTerms("Set {path}", "By the policy.", ("text",)),
        ),
        (CardTerms("Set {path}", fields=("text",)), CardTerms("Write"), CardTerms("Write")),
        (CardTerms("Set {path}"), CardTerms(undo="By us."), CardTerms("Set {path}", "By us.")),
        (CardTerms(undo="By the policy."), CardTerms("Write"), CardTerms("Write", "By the policy.")),
        (CardTerms("Set {path}"), CardTerms(fields=("text",)), CardTerms("Set {path}")),
        (None, CardTerms("Write", "By us.", ()), CardTerms("Write", "By us.", ())),
    ],
)
async def test_the_settings_words_win_over_the_policys(
    world: World, policy: CardTerms | None, settings: CardTerms | None, told: CardTerms
) -> None:
    """The settings belong to this installation, and a policy may be shared. Fields belong to their headline."""
    world.rules.set(WRITE, action=Action.APPROVE, card=policy)
    call = await with_terms(world, Terms(cards={WRITE: settings} if settings else {})).ask(WRITE, args={"path": "a"})

    assert told == call.verdict.card


async def test_the_ordinary_needs_no_line(world: World) -> None:
    """No stage, and verdicts that are kept."""
    assert () == card(await world.ask(WRITE)).warnings


class TestFallback:
    """Tools that run where no surface can show a card."""

    @pytest.fixture
    def world(self) -> World:
        """Nothing is configured that could show a card, though Ann might approve."""
        return with_terms(World(routes=()), Terms(passes=PASS))

    async def test_a_named_tool_runs_and_is_on_record(self, world: World) -> None:
        """As one that nobody was asked about."""
        call = await world.ask(WRITE, origin="cron")
        (_, allowed) = await world.store.history(call.ref)

        assert (Status.RUNNING, "fallback") == (call.status, call.verdict.reason)
        assert "fallback" == json.loads(allowed.data)["unasked"]

    @pytest.mark.parametrize("tool", [DROP, WIPE, BAN])
    async def test_others_do_not(self, world: World, tool: str) -> None:
        """One that isn't named, one that is critical, one that is denied."""
        status = (await world.ask(tool, origin="cron")).status

        assert (Status.DENIED if tool == BAN else Status.UNDELIVERABLE) is status

    async def test_a_caller_never_passes(self, world: World) -> None:
        """What this service doesn't run itself waits for people, or for nothing."""
        assert Status.UNDELIVERABLE is (await world.ask(WRITE, origin="cron", runs=Runs.CALLER)).status

    async def test_nor_does_who_demands_a_person(self, world: World) -> None:
        """Nothing may demand not to be asked."""
        assert Status.UNDELIVERABLE is (await world.ask(WRITE, origin="cron", must_ask=True)).status

    async def test_where_a_card_can_be_shown_it_is(self, world: World) -> None:
        """The name is for silence only."""
        assert Status.PENDING is (await world.ask(WRITE, origin=ROOM)).status


class TestACallersCommand:
    """What a caller will start is read as the command that it is."""

    COMMANDS = (
        (["./release.sh", "1.4"], ("release.sh",)),
        (["env", "LANG=C", "nice", "-n", "5", "gzip", "-9", "big.log"], ("env", "nice", "gzip")),
        (["bash", "-c", "git pull && make clean | tee out"], ("bash", "git", "make", "tee")),
        (["find", ".", "-name", "*.tmp", "-exec", "rm", "{}", ";"], ("find", "rm")),
        (["xargs", "-a", "list", "chmod", "000"], ("xargs", "chmod")),
    )

    @pytest.mark.parametrize(("argv", "programs"), COMMANDS)
    async def test_its_programs_stand_on_the_card(
        self, world: World, argv: list[str], programs: tuple[str, ...]
    ) -> None:
        """Behind whatever wrappers: in the line itself, and in the details."""
        call = await world.ask(WRITE, runs=Runs.CALLER, args={"argv": argv, "cwd": "/srv"})

        unseen = [name for name in programs if name not in " ".join(argv)]

        assert () == tuple(unseen)
        assert card(call).parts[0].text.startswith(argv[0])
        assert say("details.programs", programs=", ".join(programs)) in details(call).split("\n")

    async def test_nothing_beside_it_poses_as_it(self, world: World) -> None:
        """Another argument that looks like a command says nothing of what runs."""
        args = {"argv": ["dd", "if=image", "of=disk"], "command": "git status"}
        call = await world.ask(WRITE, runs=Runs.CALLER, args=args)

        assert ("dd",) == call.verdict.programs

    async def test_what_the_service_runs_has_no_such_argument(self, world: World) -> None:
        """A tool's own argument of that name is its own affair."""
        assert () == (await world.ask(WRITE, args={"argv": ["dd"]})).verdict.programs

    @pytest.mark.parametrize("mode", Mode)
    async def test_it_is_shown_in_every_mode(self, world: World, mode: Mode) -> None:
        """Who demands a person gets the whole card."""
        asked = {"must_ask": True, "runs": Runs.CALLER, "args": {"argv": ["nohup", "dd"]}}
        call = await with_terms(world, Terms("dev", mode)).ask(READ, **asked)

        assert (Status.PENDING, ("nohup", "dd")) == (call.status, call.verdict.programs)

    @pytest.mark.parametrize(
        ("argv", "beside", "status"),
        [
            (["git", "status"], {}, Status.ALLOWED),
            (["git", "push"], {"command": "git status"}, Status.PENDING),
            (["nice", "mkfs.ext4", "sda1"], {"command": "git status"}, Status.DENIED),
            (["sh", "-c", "git status; mkfs sda1"], {}, Status.DENIED),
        ],
    )
    async def test_rules_on_commands_hold_for_it(
        self, world: World, argv: list[str], beside: dict[str, str], status: Status
    ) -> None:
        """Denied, asked about or allowed by what it would start, whatever stands beside it."""
        world.gate.policies = Kept(load(COMMAND_RULES, name="commands"))

        assert status is (await world.ask("task", runs=Runs.CALLER, args={"argv": argv} | beside)).status


async def test_no_policy_gives_a_tool_longer_than_the_operator(world: World) -> None:
    """The limits are the operator's."""
    world.rules.set(WRITE, execution_s=7200)
    world.gate.limits = Limits(execution_s=60)

    assert 60 == (await world.ask(WRITE)).verdict.execution_s


async def test_a_policy_that_cannot_judge_a_call_refuses_the_yes(world: World) -> None:
    """The call is left open: an error is no decision."""
    call = await world.ask(WRITE)
    world.rules.set(WRITE, action=Action.DENY, reason=Reason.POLICY_ERROR, message="it has no end")
    answer = await world.press(call, ANN)

    assert "POLICY_INVALID" == code(answer)
    assert Status.PENDING is (await world.now(call)).status


@pytest.mark.parametrize("other", [["deploy.sh"], {"a": "b"}, {"a": 1}, "0" * 64])
def test_digests_of_a_callers_scripts_are_no_argument(other: object) -> None:
    """They bind the command that a rule is about, and make no rule ask; anything else under the name is an argument."""
    digests, _ = judged(Runs.CALLER, {"argv": ["./deploy.sh"], SCRIPTS: {"deploy.sh": "0" * 64}})
    others, _ = judged(Runs.CALLER, {"argv": ["./deploy.sh"], SCRIPTS: other})

    assert SCRIPTS not in digests
    assert other == others[SCRIPTS]
