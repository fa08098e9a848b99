"""Cards posted, kept true, and given up: the outbox at work."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from hitl.call import Action, Call, Post, PostKind, Ran, Result, Runs, Status, Verb
from hitl.cards.card import card, outcome
from hitl.cards.wording import say, sentence
from hitl.delivery import LEASE_S, Delivery
from hitl.operating_mode import Terms
from hitl.outcomes import Unfit, fact
from hitl.people import Conversation
from hitl.ports import Change, NotYetError, PlatformError, adding
from hitl.route_health import ALARMED_FOR_S, LOST_FOR_S, Reach
from hitl.testing import RecordedChat
from tests.hitl.world import ANN, BAN, CLAIM, DROP, GROUP, OLGA, ROOM, SAM, SECRET, UMA, WIPE, WRITE, World

FOR_GOOD = PlatformError("Forbidden: bot was kicked", passing=False)
PASSING = PlatformError("Bad Gateway", passing=True)
OTHER = "slack:T1/C1"


class Office:
    """A world with chats to deliver to; the room's cards go to it and, where said, to a second place."""

    def __init__(self, *routes: str, **people: Any) -> None:
        rooms = {ROOM: Conversation(ROOM, routes=routes or (ROOM,))}
        self.world = World(conversations=rooms, **people)
        self.telegram, self.slack = RecordedChat(), RecordedChat()
        chats = {"telegram": self.telegram, "slack": self.slack}
        self.delivery = Delivery(self.world.store, self.world.gate, chats)

    async def deliver(self) -> None:
        """Until nothing may go out any more for now."""
        while await self.delivery.run_once():
            pass

    async def wait(self, seconds: float) -> None:
        """Let time go by, then deliver."""
        self.world.clock.advance(seconds)
        await self.deliver()

    async def adopted_meanwhile(self) -> Call:
        """A call whose card was found standing while another copy of it was on its way."""
        call = await self.world.ask()
        (second,) = await self.delivery.take()
        await self.world.store.adopt(call.ref, ROOM, "m7")
        await self.delivery.send(second)
        return call

    async def posted(self, **changes: Any) -> Call:
        """A call whose card stands."""
        call = await self.world.ask(**changes)
        await self.deliver()
        return call


class Stubborn(RecordedChat):
    """A chat where a second copy of a card can't be changed."""

    def __init__(self, error: PlatformError) -> None:
        super().__init__()
        self._error = error

    async def spare(self, route: str, message: str, call: Call) -> None:
        """Never."""
        del route, message, call
        raise self._error


@pytest.fixture
def office() -> Office:
    """One room."""
    return Office()


async def test_a_card_is_posted_once(office: Office) -> None:
    """To the room, while it waits; delivering again sends nothing."""
    call = await office.posted()
    await office.wait(60)

    assert [(ROOM, call)] == [(shown.route, shown.call) for shown in office.telegram.posts]
    assert {ROOM: "m1"} == await office.world.store.cards(call.ref)
    assert [] == office.telegram.updates


async def test_it_goes_everywhere_it_is_for() -> None:
    """Each place gets one, of the platform that its route names."""
    office = Office(ROOM, OTHER)
    await office.posted()

    assert [[ROOM], [OTHER]] == [[shown.route for shown in chat.posts] for chat in (office.telegram, office.slack)]


async def _rejected(world: World, call: Call) -> None:
    """Ann says no."""
    await world.press(call, verb=Verb.REJECT)


async def _withdrawn(world: World, call: Call) -> None:
    """Uma takes it back."""
    await world.gate.withdraw(call.ref, UMA)


async def _expired(world: World, call: Call) -> None:
    """Nobody answers."""
    world.clock.advance(300)
    await world.gate.settle(call)


async def _undeliverable(world: World, call: Call) -> None:
    """No surface can show it."""
    await world.gate.undeliverable(call.ref, "gone")


async def _denied(world: World, call: Call) -> None:
    """The policy denies it by the time of the yes."""
    world.rules.set(WRITE, action=Action.DENY)
    await world.press(call)


async def _succeeded(world: World, call: Call) -> None:
    """A yes, and the tool runs."""
    answer = await world.press(call)
    assert answer.lease is not None
    await world.gate.finish_own(answer.lease, world.executor.outcome)


async def _refused(world: World, call: Call) -> None:
    """A yes, but the tool is gone."""
    world.executor.tools.clear()
    await world.press(call)


async def _unknown(world: World, call: Call) -> None:
    """A yes, and then the process dies."""
    await world.press(call)
    world.clock.advance(40)
    await world.gate.settle(await world.now(call))


async def _lapsed(world: World, call: Call) -> None:
    """A yes, and nobody claims it."""
    await world.press(call)
    world.clock.advance(300)
    await world.gate.settle(await world.now(call))


async def _released(world: World, call: Call) -> None:
    """A yes, handed to a script."""
    await world.press(call)
    await world.gate.release(call.ref, "script")


async def _failed(world: World, call: Call) -> None:
    """A yes, claimed, and it fails."""
    await world.press(call)
    await world.gate.claim(call.ref, "cli", CLAIM)
    await world.gate.finish(call.ref, SECRET, Ran(Result.FAILED, error="exit 1"))


ENDS: list[tuple[Callable[[World, Call], Awaitable[None]], Runs, Status]] = [
    (_rejected, Runs.SERVICE, Status.REJECTED),
    (_withdrawn, Runs.SERVICE, Status.WITHDRAWN),
    (_expired, Runs.SERVICE, Status.EXPIRED),
    (_undeliverable, Runs.SERVICE, Status.UNDELIVERABLE),
    (_denied, Runs.SERVICE, Status.DENIED),
    (_succeeded, Runs.SERVICE, Status.SUCCEEDED),
    (_refused, Runs.SERVICE, Status.REFUSED),
    (_unknown, Runs.SERVICE, Status.UNKNOWN),
    (_lapsed, Runs.CALLER, Status.LAPSED),
    (_released, Runs.CALLER, Status.RELEASED),
    (_failed, Runs.CALLER, Status.FAILED),
]


@pytest.mark.parametrize(("end", "runs", "status"), ENDS)
async def test_it_becomes_the_outcome_however_it_ends(
    end: Callable[[World, Call], Awaitable[None]], runs: Runs, status: Status
) -> None:
    """On every place that has it, and it stays so."""
    office = Office(ROOM, OTHER)
    call = await office.posted(runs=runs)
    await end(office.world, call)
    await office.deliver()
    stored = await office.world.now(call)
    shown = [*office.telegram.messages.values(), *office.slack.messages.values()]

    assert status is stored.status
    assert [outcome(stored)] * 2 == [outcome(each) for each in shown]
    assert not any(card(each).open for each in shown)
    await office.world.check_record()


async def test_an_approval_shows_before_its_result(office: Office) -> None:
    """The card is edited when it is approved, and again when it has run."""
    call = await office.posted()
    answer = await office.world.press(call)
    await office.deliver()
    assert answer.lease is not None
    await office.world.gate.finish_own(answer.lease, office.world.executor.outcome)
    await office.deliver()

    assert [Status.RUNNING, Status.SUCCEEDED] == [shown.call.status for shown in office.telegram.updates]
    assert [] == office.telegram.notices


async def test_two_edits_that_wait_are_one(office: Office) -> None:
    """An edit shows the call as it is when it goes out, so an older one has nothing to add."""
    call = await office.posted()
    answer = await office.world.press(call)
    assert answer.lease is not None
    await office.world.gate.finish_own(answer.lease, office.world.executor.outcome)
    await office.deliver()

    assert [Status.SUCCEEDED] == [shown.call.status for shown in office.telegram.updates]


async def test_a_call_that_ended_first_is_not_posted(office: Office) -> None:
    """Nobody is shown a card that can't be answered any more."""
    call = await office.world.ask()
    await office.world.gate.withdraw(call.ref, UMA)
    await office.deliver()

    assert ([], []) == (office.telegram.posts, office.telegram.updates)


class TestTrouble:
    """Platforms fail, for a while or for good."""

    async def test_a_passing_failure_is_tried_again(self, office: Office) -> None:
        """Later and later, and then it stands."""
        office.telegram.fail(PASSING, times=3)
        call = await office.posted()
        waits = []
        for seconds in (1, 2, 5):
            await office.wait(seconds - 0.1)
            waits.append(len(office.telegram.posts))
            await office.wait(0.1)

        assert ([0, 0, 0], 1) == (waits, len(office.telegram.posts))
        assert Status.PENDING == (await office.world.now(call)).status

    async def test_when_the_platform_says_how_long_it_is_believed(self, office: Office) -> None:
        """Not before its time, and then at once."""
        office.telegram.fail(PlatformError("Too Many Requests", passing=True, retry_s=17))
        await office.posted()
        await office.wait(16)
        early = len(office.telegram.posts)
        await office.wait(1)

        assert (0, 1) == (early, len(office.telegram.posts))

    async def test_it_is_tried_until_the_deadline_and_no_longer(self, office: Office) -> None:
        """A platform that is down all the time: the call expires unseen, and nothing more is sent."""
        office.telegram.fail(PASSING, times=10_000)
        call = await office.posted()
        for _ in range(300):
            await office.wait(1)
        await office.world.gate.settle(call, unseen=True)
        await office.deliver()

        assert [] == office.telegram.posts
        assert say("outcome.expired.unseen") == outcome(await office.world.now(call))

    async def test_a_week_of_trouble_ends_too(self) -> None:
        """However often it was tried, the next wait is the longest: a number of tries never grows out of hand."""
        office = Office()
        office.world.rules.set(WRITE, timeout_s=7 * 24 * 3600)
        office.telegram.fail(PASSING, times=1200)
        await office.posted()
        for _ in range(1200):
            await office.wait(60)

        assert 1 == len(office.telegram.posts)

    async def test_refused_everywhere_for_good_it_ends_at_once(self) -> None:
        """Kicked out of one place and unknown in the other: undeliverable, without waiting for the deadline."""
        office = Office(ROOM, OTHER)
        office.telegram.fail(FOR_GOOD)
        office.slack.fail(FOR_GOOD)
        call = await office.posted()
        ended = await office.world.now(call)

        assert Status.UNDELIVERABLE == ended.status
        why = fact(Unfit.UNSHOWN, why=f"{OTHER}: {FOR_GOOD}")
        assert sentence(fact("outcome.undeliverable", why=why)) == outcome(ended)
        await office.world.check_record()

    async def test_a_refusal_is_in_the_log_once_and_in_the_record_of_each_call(
        self, office: Office, caplog: pytest.LogCaptureFixture
    ) -> None:
        """The log has one line for a route and the platform's words; each call's record says that it wasn't shown."""
        office.telegram.fail(FOR_GOOD, times=6)  # cards, and notices of how the calls ended
        calls = [await office.posted() for _ in range(3)]

        logged = [line.args for line in caplog.records if line.getMessage().startswith("outbox.refused")]
        assert [{"ref": calls[0].ref, "route": ROOM, "why": str(FOR_GOOD)}] == logged
        for call in calls:
            assert ["asked", "not_shown", "undeliverable"] == await office.world.events(call)

    async def test_a_refused_route_is_in_the_way_until_something_arrives_there(self, office: Office) -> None:
        """While cards can't go to a route, the service isn't ready and says why. The next card there ends that."""
        office.telegram.fail(FOR_GOOD, times=2)
        await office.posted()
        refused = office.world.gate.reach.refusals(office.world.clock.now())
        await office.posted()

        assert {ROOM: (str(FOR_GOOD), "")} == refused
        assert {} == office.world.gate.reach.refusals(office.world.clock.now())

    async def test_an_old_refusal_is_in_nobodys_way(self, office: Office) -> None:
        """A place that nobody uses any more doesn't keep the service from being ready for more than an hour."""
        office.telegram.fail(FOR_GOOD, times=2)
        await office.posted()
        office.world.clock.advance(ALARMED_FOR_S)

        assert {} == office.world.gate.reach.refusals(office.world.clock.now())

    async def test_a_person_who_shuts_us_out_makes_nothing_unready(self) -> None:
        """One of two places refuses, and not for being gone: the other shows the card, so the service stays ready."""
        office = Office(ROOM, OTHER)
        office.telegram.fail(FOR_GOOD)
        call = await office.posted()

        assert {} == office.world.gate.reach.refusals(office.world.clock.now())
        assert ["asked", "not_shown", "shown"] == await office.world.events(call)

    async def test_what_was_put_off_goes_out_when_the_platform_is_back(self, office: Office) -> None:
        """The first message that arrives after an outage takes along all that waits for its next try."""
        office.telegram.fail(PASSING, times=4)
        for _ in range(4):
            await office.posted()
        await office.posted()

        assert 5 == len(office.telegram.posts)

    async def test_a_refresh_that_the_limits_leave_no_room_for_holds_up_nothing(self, office: Office) -> None:
        """A new card, and the outcome of the very call, go out while its refresh waits for the platform's limits."""
        call = await office.posted()
        office.telegram.fail(NotYetError(50), times=1)
        await office.world.store.commit(adding(Change(posts=(Post(call.ref, ROOM, PostKind.EDIT),))))
        await office.deliver()
        waiting = len(office.telegram.updates)
        other = await office.posted()
        await office.world.gate.withdraw(call.ref, UMA)
        await office.deliver()

        assert (0, other.ref) == (waiting, office.telegram.posts[-1].call.ref)
        assert [Status.WITHDRAWN] == [shown.call.status for shown in office.telegram.updates]

    async def test_a_card_that_is_there_already_is_refreshed_in_its_time(self, office: Office) -> None:
        """A card that was found standing while its row was queued is edited; the limits put that off like any edit."""
        call = await office.world.ask()
        await office.world.store.adopt(call.ref, ROOM, "m7")
        await office.world.store.commit(adding(Change(posts=(Post(call.ref, ROOM, PostKind.CARD),))))
        office.telegram.fail(NotYetError(20), times=1)
        await office.deliver()
        early = len(office.telegram.updates)
        await office.wait(20)

        assert (0, 1, []) == (early, len(office.telegram.updates), office.telegram.posts)

    async def test_an_outcome_that_the_limits_leave_no_room_for_comes_in_its_time(self, office: Office) -> None:
        """It waits as long as the limits ask, and a new card doesn't wait for it."""
        call = await office.posted()
        await office.world.gate.withdraw(call.ref, UMA)
        office.telegram.fail(NotYetError(20), times=1)
        await office.deliver()
        await office.posted()
        early = [len(office.telegram.posts), len(office.telegram.updates)]
        await office.wait(20)

        assert ([2, 0], 1) == (early, len(office.telegram.updates))

    async def test_a_route_without_a_platform_is_refused_for_good(self) -> None:
        """A place on a platform that isn't set up here shows nothing, now or later."""
        office = Office("matrix:room")
        call = await office.posted()

        assert Status.UNDELIVERABLE == (await office.world.now(call)).status

    @pytest.mark.parametrize("order", ["failing first", "working first"])
    async def test_while_one_place_works_it_stays(self, order: str) -> None:
        """Somebody can still see it; the broken place gets no edits later."""
        office = Office(*((ROOM, OTHER) if order == "failing first" else (OTHER, ROOM)))
        office.telegram.fail(FOR_GOOD)
        call = await office.posted()
        waiting = await office.world.now(call)
        await office.world.gate.withdraw(call.ref, UMA)
        await office.deliver()

        assert Status.PENDING == waiting.status
        assert [Status.WITHDRAWN] == [shown.call.status for shown in office.slack.updates]
        assert [] == office.telegram.updates

    async def test_while_one_place_may_yet_work_it_stays(self) -> None:
        """A passing failure beside one for good: it waits for the passing one."""
        office = Office(ROOM, OTHER)
        office.telegram.fail(FOR_GOOD)
        office.slack.fail(PASSING)
        call = await office.posted()
        waiting = await office.world.now(call)
        await office.wait(60)

        assert Status.PENDING == waiting.status
        assert 1 == len(office.slack.posts)

    async def test_an_approver_on_this_machine_can_still_see_it(self) -> None:
        """The pending list is a surface, too."""
        office = Office(approvers=(ANN, OLGA))
        office.telegram.fail(FOR_GOOD)

        assert Status.PENDING == (await office.world.now(await office.posted())).status

    async def test_an_answer_that_came_first_stands(self, office: Office) -> None:
        """Decided by another way before the card was refused: the refusal changes nothing."""
        office.telegram.fail(PASSING)
        call = await office.posted()
        await office.world.press(call, verb=Verb.REJECT)
        office.telegram.fail(FOR_GOOD)
        await office.wait(60)

        assert Status.REJECTED == (await office.world.now(call)).status

    async def test_a_lost_answer_posts_at_most_once_more(self, office: Office) -> None:
        """The platform took the card, but we didn't hear: it is posted again, and the last one is kept true."""
        office.telegram.fail(PASSING, applied=True)
        call = await office.posted()
        await office.wait(60)
        await office.world.press(call, verb=Verb.REJECT)
        await office.deliver()

        assert ["m1", "m2"] == [shown.message for shown in office.telegram.posts]
        assert {ROOM: "m2"} == await office.world.store.cards(call.ref)
        assert ["m2"] == [shown.message for shown in office.telegram.updates]

    async def test_a_press_on_the_lost_one_adopts_it(self, office: Office) -> None:
        """A message that we didn't know of turns out to be the card: it isn't posted again, and it is edited."""
        office.telegram.fail(PASSING, applied=True)
        call = await office.posted()
        await office.world.store.adopt(call.ref, ROOM, "m1")
        await office.world.press(call, verb=Verb.REJECT)
        await office.wait(60)

        assert ["m1"] == [shown.message for shown in office.telegram.posts]
        assert ["m1"] == [shown.message for shown in office.telegram.updates]

    async def test_a_copy_that_came_second_says_so(self, office: Office) -> None:
        """The first was adopted while the second was on its way: it stays the card."""
        call = await office.adopted_meanwhile()
        await office.world.press(call, verb=Verb.REJECT)
        await office.deliver()

        assert ["m1"] == [shown.message for shown in office.telegram.posts]
        assert ["m1"] == [shown.message for shown in office.telegram.spares]
        assert ["m7"] == [shown.message for shown in office.telegram.updates]

    @pytest.mark.parametrize("error", [PASSING, FOR_GOOD])
    async def test_a_copy_that_can_not_say_so_is_left(self, error: PlatformError) -> None:
        """The card is kept true all the same."""
        office = Office()
        office.telegram = Stubborn(error)
        office.delivery = Delivery(office.world.store, office.world.gate, {"telegram": office.telegram})
        call = await office.adopted_meanwhile()
        await office.world.press(call, verb=Verb.REJECT)
        await office.deliver()

        assert ([], ["m7"]) == (office.telegram.spares, [shown.message for shown in office.telegram.updates])

    async def test_an_edit_that_fails_is_tried_again(self, office: Office) -> None:
        """The card doesn't stay open on the screen because of one bad answer."""
        call = await office.posted()
        office.telegram.fail(PASSING)
        await office.world.press(call, verb=Verb.REJECT)
        await office.deliver()
        before = len(office.telegram.updates)
        await office.wait(1)

        assert (0, 1) == (before, len(office.telegram.updates))

    async def test_an_edit_that_is_refused_for_good_is_left(self, office: Office) -> None:
        """Somebody deleted the message: the call isn't touched by it, and nothing more is sent."""
        call = await office.posted()
        office.telegram.fail(FOR_GOOD)
        await office.world.press(call, verb=Verb.REJECT)
        await office.wait(3600)

        assert [] == office.telegram.updates
        assert Status.REJECTED == (await office.world.now(call)).status


class TestOrder:
    """What is sent when."""

    async def test_an_edit_never_overtakes_its_card(self, office: Office) -> None:
        """While the card isn't posted, its edit waits."""
        office.telegram.fail(PASSING)
        call = await office.posted(runs=Runs.CALLER)
        await office.world.press(call)
        await office.deliver()
        before = len(office.telegram.updates)
        await office.wait(60)

        assert 0 == before
        assert [] == office.telegram.posts

    async def test_a_troubled_place_holds_up_no_other(self) -> None:
        """Each place has its own line."""
        office = Office(ROOM, OTHER)
        office.telegram.fail(PASSING, times=50)
        await office.posted()

        assert ([], 1) == (office.telegram.posts, len(office.slack.posts))

    async def test_cards_of_one_place_go_out_as_they_were_asked(self, office: Office) -> None:
        """Oldest first."""
        calls = [await office.world.ask(args={"n": n}) for n in range(5)]
        await office.deliver()

        assert [call.ref for call in calls] == [shown.call.ref for shown in office.telegram.posts]

    async def test_what_is_being_sent_is_not_taken_twice(self, office: Office) -> None:
        """A row under lease is another sender's until the lease is over; then it is sent again."""
        await office.world.ask()
        (taken,) = await office.delivery.take()
        during = await office.delivery.take()
        await office.wait(LEASE_S)
        after = len(office.telegram.posts)
        await office.delivery.send(taken)

        assert ([], 1) == (list(during), after)

    async def test_a_busy_place_waits(self, office: Office) -> None:
        """A place that something is on its way to gets the next message later."""
        await office.world.ask()

        assert [] == list(await office.delivery.take(busy=[ROOM]))
        assert 1 == len(await office.delivery.take())


async def test_a_strangers_press_edits_nothing(office: Office) -> None:
    """A refusal is answered to who pressed; the card stays as it is."""
    call = await office.posted()
    await office.world.press(call, SAM)
    await office.deliver()

    assert [] == office.telegram.updates


LOST = PlatformError("Forbidden: bot was kicked", passing=False, lost=True)
PASSES = Terms(passes=frozenset({f"{GROUP}.{tool}" for tool in (WRITE, WIPE, BAN)}))


class TestOutOfReach:
    """What was named to run where nobody can be shown it, once no conversation of the call takes a card any more."""

    @pytest.fixture
    def office(self) -> Office:
        """Two places, and a telephone line each."""
        office = Office(ROOM, OTHER)
        office.world.gate.terms = PASSES
        return office

    async def _cut(self, office: Office, error: PlatformError = LOST) -> Call:
        """The call whose cards no place took."""
        office.telegram.fail(error, times=2)  # the card, and then the news that nobody could be asked
        office.slack.fail(error)
        call = await office.world.ask()
        await office.deliver()
        return await office.world.now(call)

    async def test_what_finds_it_out_ends_and_what_follows_runs(self, office: Office) -> None:
        """Nobody is asked then, and the record says so."""
        assert Status.UNDELIVERABLE is (await self._cut(office)).status
        call = await office.world.ask()
        (_, allowed) = await office.world.store.history(call.ref)

        assert (Status.RUNNING, "fallback") == (call.status, call.verdict.reason)
        assert "fallback" == json.loads(allowed.data)["unasked"]

    @pytest.mark.parametrize("tool", [DROP, WIPE])
    async def test_others_are_asked_about_as_ever(self, office: Office, tool: str) -> None:
        """One that isn't named, and one that is critical."""
        await self._cut(office)

        assert Status.PENDING is (await office.world.ask(tool)).status

    async def test_who_demands_a_person_and_who_runs_it_themselves_never_pass(self, office: Office) -> None:
        """Whatever is named."""
        await self._cut(office)

        assert Status.PENDING is (await office.world.ask(must_ask=True)).status
        assert Status.PENDING is (await office.world.ask(runs=Runs.CALLER)).status

    async def test_what_is_denied_stays_denied(self, office: Office) -> None:
        """Only questions are left out."""
        await self._cut(office)

        assert Status.DENIED is (await office.world.ask(BAN)).status

    @pytest.mark.parametrize("error", [FOR_GOOD, PASSING])
    async def test_a_card_that_is_refused_proves_nothing(self, office: Office, error: PlatformError) -> None:
        """An agent could write one that no chat takes; and a chat that is down for now comes back."""
        await self._cut(office, error)

        assert Status.PENDING is (await office.world.ask()).status

    async def test_one_place_that_is_left_is_enough(self, office: Office) -> None:
        """The other one shows the card."""
        office.telegram.fail(LOST, times=2)
        first = await office.posted()
        second = await office.posted()

        assert [Status.PENDING] * 2 == [(await office.world.now(call)).status for call in (first, second)]

    async def test_what_arrives_there_ends_it(self, office: Office) -> None:
        """A card of another tool was taken: people can be asked again."""
        await self._cut(office)
        await office.posted(tool=DROP)

        assert Status.PENDING is (await office.world.ask()).status

    async def test_after_five_minutes_a_card_is_tried_again(self, office: Office) -> None:
        """What was gone may be back, and only a card can tell."""
        await self._cut(office)
        office.world.clock.advance(LOST_FOR_S)

        assert Status.PENDING is (await office.world.ask()).status

    async def test_an_approver_at_this_machine_can_always_be_shown_it(self) -> None:
        """The pending list takes every call."""
        office = Office(ROOM, approvers=(ANN, OLGA))
        office.world.gate.terms = PASSES
        office.telegram.fail(LOST)
        await office.posted()

        assert Status.PENDING is (await office.world.ask()).status

    async def test_a_restart_knows_nothing_of_it(self, office: Office) -> None:
        """Every conversation counts as reachable until it shows that it isn't."""
        await self._cut(office)
        office.world.gate.reach = Reach()

        assert Status.PENDING is (await office.world.ask()).status

    async def test_a_policy_that_fails_lets_nothing_run(self, office: Office) -> None:
        """An error denies, whatever is named."""
        await self._cut(office)
        office.world.rules.broken = True

        assert Status.DENIED is (await office.world.ask()).status


def test_only_so_many_places_are_remembered() -> None:
    """The oldest is forgotten, and counts as reachable."""
    reach, now = Reach(), World().clock.now()
    for number in range(10_001):
        reach.lost(f"telegram:{number}", now)

    assert reach.any(["telegram:0"], now)
    assert not reach.any(["telegram:1", "telegram:10000"], now)
