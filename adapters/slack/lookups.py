"""Completes events with facts that only Slack or the store knows: who a person is, and who wrote before."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from adapters.slack.bodies import author_of, channel_in, files_of, is_shared, tells_of_agent_view
from adapters.slack.surface import EMAIL, identity_of, is_direct, message_of, parse_place, place_of
from hitl.events import Command, Echo, Reaction, Text
from hitl.ports import PlatformError
from hitl.records import replace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from adapters.slack.bodies import Me
    from adapters.slack.chat import SlackChat
    from adapters.slack.workspace import SlackPerson
    from hitl.events import Heard
    from hitl.platforms import Core

_log = logging.getLogger(__name__)


class Lookups:
    """Adds facts from Slack and the store to events.

    With `emails`, the lists of people may name a person by the e-mail address that Slack confirmed.
    """

    def __init__(self, chat: SlackChat, core: Core, me: Me, *, emails: bool) -> None:
        self._chat = chat
        self._store = core.store
        self._me = me
        self._emails = emails

    async def complete(self, heard: Heard | None, body: Mapping[str, Any]) -> Heard | None:
        """Return the event with the facts from Slack and the store, or None if the event needs no answer."""
        if isinstance(heard, Echo):
            return await self._unknown_card(heard)
        return await self._known(heard, body) if heard and not self._beside_us(heard) else None

    async def _unknown_card(self, heard: Echo) -> Echo | None:
        """Return the event for one of the bot's own cards. In a direct channel, give the event the place with the
        person's id.

        Return None if that person isn't known. If the store doesn't know the card, first wait until no card is being
        sent to that place, because Slack's answer to the sending may store the card.
        """
        team, channel, thread = parse_place(heard.conversation)
        place = self._chat.person_in(channel) if is_direct(channel) else channel
        if place is None:
            return None
        heard = replace(heard, conversation=place_of(team, place, thread))
        if await self._store.by_message(str(heard.message)) is None:
            await self._chat.posted(heard.conversation)
        return heard

    def follow(self, body: Mapping[str, Any]) -> None:
        """Remember the author of a new message, so that the bot knows the latest author in each place."""
        wrote, me = author_of(body), self._me
        self._chat.agent_view.present = self._chat.agent_view.present or tells_of_agent_view(body)
        if wrote is None:
            return
        channel, thread, author = wrote
        person = (self._chat.person_in(channel) if author == me.user else author) if is_direct(channel) else channel
        place, ts = place_of(me.team, str(person), thread), str(body["event"]["ts"])
        if author == me.user:
            self._chat.threads.echoed(place, ts, files_of(body))
        else:
            self._chat.threads.heard(place, ts, author)

    def unsettle(self, body: Mapping[str, Any]) -> None:
        """Forget the call that the bot's latest message in the event's channel is about.

        An operator's own listener may have written in that channel after it.
        """
        channel = channel_in(body)
        place = self._chat.person_in(channel) if is_direct(channel) else channel
        if place:
            self._chat.threads.unsettle(place_of(self._me.team, place))

    async def _look_back(self, heard: Text) -> None:
        """Ask Slack who wrote after the newest card in the event's conversation, because the bot may have missed
        messages.

        If Slack doesn't answer, the latest author stays unknown. Then a yes that addresses nobody decides nothing, and
        the service asks the person what the yes means.
        """
        me, card = self._me, await self._newest_card(heard)
        if card is None:
            return
        try:
            said = await self._chat.workspace.since(heard.conversation, card)
        except PlatformError as error:
            _log.warning("slack.not_looked_back", {"conversation": heard.conversation, "why": str(error)})
            return
        for ts, author in said:
            known = await self._store.by_message(message_of(card.partition(":")[0], ts))
            if author == me.user:
                self._chat.threads.wrote(heard.conversation, ts, known[0] if known else None)
            else:
                self._chat.threads.heard(heard.conversation, ts, author)

    async def _newest_card(self, heard: Text) -> str | None:
        """Return the id of the newest card message in this place whose call is pending, or None."""
        store = self._store
        calls = [*await store.pending(origin=heard.conversation)]
        if heard.thread is None:
            calls += [call for call in await store.pending() if heard.conversation in call.routes]
        cards = [(await store.cards(call.ref)).get(heard.conversation) for call in calls]
        if heard.thread and await store.by_message(heard.thread):
            cards.append(heard.thread)
        return max(filter(None, cards), default=None, key=lambda card: card.partition(":")[2])

    def _beside_us(self, heard: Heard) -> bool:
        """Return whether an event can be ignored: it can't decide a call, and the bot takes no part in its
        conversation.
        """
        to_us = not isinstance(heard, Text) or heard.addressed or self._chat.threads.known(heard.conversation)
        return heard.barred is not None and not to_us

    async def _known(self, heard: Heard, body: Mapping[str, Any]) -> Heard:
        """Return the event with the facts that only Slack or the store knows.

        These facts are: whether the author is a bot, their own team, their address, and who wrote before.
        """
        if isinstance(heard, Text) and heard.private and not self._chat.threads.is_sure(heard.conversation):
            await self._look_back(heard)
        if isinstance(heard, Text) and heard.thread and await self._takes_part(heard.conversation):
            heard = replace(heard, overheard=True)
        if isinstance(heard, Text) and self._chat.agent_view.present and self._heads(heard):
            heard = replace(heard, opens=f"{heard.conversation}/{str(heard.message).rpartition(':')[2]}")
        user = heard.identity.rpartition("/")[2]
        if (isinstance(heard, Command) and is_shared(body)) or await self._is_reaction_to_card(heard):
            who = await self._who(user)
            if who is None:
                return replace(heard, barred="chat.unchecked")
            # The identity has the person's own team, not the team in whose channel they acted.
            identity = identity_of(who.team, user) if who.team else heard.identity
            heard = replace(heard, identity=identity, barred="chat.bot" if who.bot else heard.barred)
        return await self._by_email(heard, user) if self._emails else heard

    @staticmethod
    def _heads(heard: Text) -> bool:
        """Return whether the message is in a direct conversation and in no thread, so that it can start a thread."""
        return heard.thread is None and is_direct(str(heard.message))

    async def _who(self, user: str, *, again: bool = False) -> SlackPerson | None:
        """Return Slack's data about a person, or None if Slack refuses it. Raises PlatformError if a retry may help."""
        try:
            return await self._chat.workspace.who(user, again=again)
        except PlatformError as error:
            if error.passing:
                raise
            _log.warning("slack.nobody_known", {"user": user, "why": str(error)})
            return None

    async def _takes_part(self, thread: str) -> bool:
        """Return whether the bot has written in the thread, or cards are posted in it.

        After a restart, this is True only if a call from the thread is pending, or if the settings name the thread.
        """
        if self._chat.threads.known(thread) or thread in self._chat.names.people.named_routes():
            return True
        return bool(await self._store.pending(origin=thread, limit=1))

    async def _is_reaction_to_card(self, heard: Heard) -> bool:
        if not isinstance(heard, Reaction):
            return False
        return await self._store.by_message(heard.message or "") is not None

    async def _by_email(self, heard: Heard, user: str) -> Heard:
        """Replace the user id by the e-mail address if the lists name a member of our workspace by address only.

        Each time, Slack is asked for the address again: the address gives the right to decide, and a person who has
        left must not decide. A person of another workspace keeps their id, whatever address that workspace confirmed.
        """
        own = heard.identity == identity_of(self._me.team, user)
        if not own or heard.barred or self._chat.names.people.principal(heard.identity) != heard.identity:
            return heard
        if self._chat.names.people.is_listed(heard.identity) or not self._named(await self._who(user)):
            return heard
        who = await self._who(user, again=True)
        return replace(heard, identity=f"{EMAIL}{who.email}") if who and self._named(who) else heard

    def _named(self, who: SlackPerson | None) -> bool:
        """Return whether the lists of people name this member of our workspace by their e-mail address."""
        if who is None or who.bot or not who.email or who.team != self._me.team:
            return False
        identity = f"{EMAIL}{who.email}"
        return self._chat.names.people.principal(identity) != identity or self._chat.names.people.is_listed(identity)
