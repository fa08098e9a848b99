"""The `Chat` port for a terminal: it prints on one person's screen.

It remembers which call the person's next line may answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cachetools import FIFOCache

from adapters.terminal.messages import box, ended, plain
from hitl.call import Decision, Status, Verb
from hitl.cards.card import outcome_for_agent, output_of
from hitl.cards.wording import IN_ENGLISH, Wording
from hitl.outcomes import Told
from hitl.people.names import NOBODY, Names
from hitl.question import is_question

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from adapters.terminal.screen import Screen
    from hitl.call import Call
    from hitl.cards.card import File

#: At most this many outcomes are remembered as shown.
_MOST_TOLD = 1000


class TerminalChat:
    """The screen of one person. `show` prints text. If `width` is None, cards are plain text.

    - `last` is the ref of the call that the last printed text is about, or None. A line that the person types isn't a
      printed text.
    - `begun_at` is the time at which the person began the line that is being handled.
    - `wording` returns the wording in the person's language.
    - `screen` is the window in which a decided card replaces the box of the pending card. If `screen` is None, printed
      text is never replaced.
    """

    def __init__(
        self,
        show: Callable[[str], None],
        *,
        width: Callable[[], int] | None,
        colour: bool,
        names: Names = NOBODY,
        reader: str = "",
        wording: Callable[[], Wording] = lambda: IN_ENGLISH,
        screen: Screen | None = None,
    ) -> None:
        self._show = show
        self._wording = wording
        self._screen = screen
        #: The request that this person rejected, if the outcome that the screen showed last is that rejection.
        self._shown_rejected: Call | None = None
        self._width = width
        self._colour = colour
        self.names = names
        self._reader = reader
        self._told: FIFOCache[tuple[str, Status, str | None], None] = FIFOCache(_MOST_TOLD)
        self.shown: dict[str, datetime] = {}
        self.last: str | None = None
        self.begun_at: datetime | None = None

    def latest(self, place: str, before: str | None) -> str | None:  # noqa: ARG002 - a terminal has one place, and no message ids
        """Return the ref of the call that the text printed last is about, or None.

        The result is None too if the person began the line before that text was printed.
        """
        shown_at = self.shown.get(self.last or "")
        begun_at = self.begun_at
        return self.last if shown_at is None or begun_at is None or begun_at >= shown_at else None

    def post(self, call: Call, at: datetime) -> None:
        """Show the card of a call."""
        if self._screen is not None:
            self._screen.card(call.ref, self._box(call))
        else:
            self._show(self._box(call) if self._width else self._plain(call))
        self.shown[call.ref] = at
        self.last = call.ref

    def _box(self, call: Call) -> str:
        width = self._width() if self._width else 0
        return box(call, self.names, width=width, colour=self._colour, reader=self._reader, wording=self._wording())

    def _plain(self, call: Call) -> str:
        return plain(call, self.names, reader=self._reader, wording=self._wording())

    def outcome(self, call: Call, *, whole: bool) -> None:
        """Show the outcome of a call, once. `whole` adds the tool's output.

        A rejection is shown a second time when its reason arrives, or when no reason can arrive any more. Without a
        screen, a rejection isn't shown to the person who rejected, because the answer to their reply says the same.
        """
        told = (call.ref, call.status, call.reason)
        rejected_here = call.decision is Decision.REJECTED and call.decided_by == self._reader
        if told in self._told or (rejected_here and self._screen is None):
            return
        self._told[told] = None
        if self._screen is not None:
            self._screen.end(call.ref, self._ended(call, whole=whole))
            self.last = call.ref
            self._shown_rejected = call if rejected_here else None
        else:
            self.say(_whole(call, self._wording()) if whole else self._ended(call), call.ref)

    def _ended(self, call: Call, *, whole: bool = False) -> str:
        width = self._width() if self._width else 0
        told = ended(call, self.names, colour=self._colour, width=width, reader=self._reader, wording=self._wording())
        output = output_of(call).rstrip("\n") if whole else ""
        return f"{told}\n{output}" if output else told

    def say(self, text: str, about: str | None = None) -> None:
        """Show a text. `about` is the ref of the call that the text is about, or None."""
        if self._screen is not None:
            self._screen.show(text, about)
        else:
            self._show(text)
        self.last = about

    # -- methods that the conversation engine calls ----------------------------------------------------------

    def link(self, route: str, message: str) -> str:  # noqa: ARG002
        """Return '': text on a screen has no address."""
        return ""

    def shows_rejection(self, call: Call) -> bool:
        """Return whether the latest outcome on the screen is this person's rejection of this call with this reason."""
        shown = self._shown_rejected
        return shown is not None and (shown.ref, shown.reason) == (call.ref, call.reason)

    def learn_move(self, old: str, new: str) -> None:
        """Do nothing, because a conversation in a terminal never gets another name."""

    async def update(self, route: str, message: str, call: Call) -> None:
        """Do nothing: printed text can't be edited."""

    async def spare(self, route: str, message: str, call: Call) -> None:
        """Do nothing: printed text can't be edited."""

    async def tell(self, route: str, text: str, *, about: str | None = None, answers: str | None = None) -> None:  # noqa: ARG002
        """Print a sentence."""
        self.say(text, about)

    async def ask(
        self,
        route: str,  # noqa: ARG002
        *,
        call: Call,
        verb: Verb,
        person: str,  # noqa: ARG002
        answers: str | None = None,  # noqa: ARG002
        press: str | None = None,  # noqa: ARG002
    ) -> None:
        """Ask for the reason of a rejection, or for an answer in words to a question.

        Do nothing for an approval that needs a reason, because the card has asked for the reason already.
        """
        if is_question(call):
            self.say(self._wording().say("answer.question.needed", short=call.short), call.ref)
            return
        if verb is Verb.REJECT:
            if not self.shows_rejection(call):
                self.say(self._wording().say(Told.REJECTED, short=call.short), call.ref)
            self.say(self._wording().say("offline.why", short=call.short), call.ref)

    async def show(self, route: str, file: File, *, about: str, press: str | None = None) -> None:  # noqa: ARG002
        """Print a whole text."""
        self.say(file.text, about)

    async def attach(self, route: str, file: File, *, about: str, card: str) -> bool:  # noqa: ARG002
        """Do nothing: `show` printed the whole text."""
        return False

    async def working(self, route: str, *, on: bool) -> None:
        """Do nothing, because a person at a terminal sees that no answer has come yet."""

    async def suggest(self, route: str, title: str, prompts: Mapping[str, str]) -> None:
        """Do nothing, because nobody opens a conversation at a terminal."""

    async def entitle(self, route: str, title: str) -> None:
        """Do nothing, because a terminal shows one conversation, without a title."""

    async def mark_undecided(self, message: str) -> None:
        """Do nothing, because only one person is at a terminal."""

    async def answer_press(self, press: str, text: str, *, alert: bool) -> None:
        """Print an alert, which must not be missed. Do nothing for other answers, because the outcome of the call is
        printed anyway.
        """
        if alert and text:
            self.say(text, press)


def _whole(call: Call, wording: Wording) -> str:
    output = output_of(call)
    text = output if call.status is Status.SUCCEEDED and call.decision is Decision.ALLOWED else ""
    if not text:
        text = outcome_for_agent(call, wording) + (f"\n{output}" if output else "")
    return text.rstrip("\n")
