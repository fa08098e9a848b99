"""The names of people, as each platform proved them last. A name is shown and never decides anything.

Names are kept in memory alone. After a restart a card shows the operator's name for a person, else the id, until the
platform sends the name again.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from cachetools import FIFOCache
from msgspec import Struct

from hitl.cards.text import one_line, quoted
from hitl.people.directory import Directory

if TYPE_CHECKING:
    from collections.abc import Callable

#: So many people's names are kept, the latest.
_KEPT = 10_000
#: The longest name that a card shows.
_LONGEST = 40
#: Letters of other scripts that look like Latin ones (Unicode's confusables.txt, those that names are made of).
_LATIN = str.maketrans("авеёкмнорстухіїјѕԁһӏαβεηικνορτυχ", "abeekmhopctyxiijsdhlabenikvoptux")


class Name(Struct, frozen=True):
    """A person's name on one platform, and the handle that tells two people of the same name apart there."""

    text: str
    handle: str = ""


class Names:
    """The names of everybody who was heard of. `login` gives the login of a user id of this machine, called `host`."""

    def __init__(
        self, people: Directory | None = None, *, login: Callable[[int], str | None] | None = None, host: str = ""
    ) -> None:
        self.people = people or Directory()
        self.host = host
        self._login = login
        self._known: FIFOCache[str, Name] = FIFOCache(_KEPT)
        #: The principals who have a name of this skeleton.
        self._alike: FIFOCache[str, set[str]] = FIFOCache(_KEPT)

    def learn(self, identity: str, text: str, handle: str = "") -> None:
        """Keep what a platform calls an identity now."""
        if identity and text.strip():
            name = Name(text.strip(), handle)
            self._known[identity] = name
            self._looks_like(name, self.people.principal(identity))

    def of(self, principal: str, platform: str = "") -> str:
        """Return what to call a person: their name on that platform, else on any, else the operator's, else their id.

        People whose names look alike are shown with their handles, or their ids.
        """
        name = self._name(principal, platform)
        if name is None:
            return one_line(principal, 80)
        shown = quoted(name.text, _LONGEST)
        if len(self._looks_like(name, self.people.principal(principal))) == 1:
            return shown
        return f"{shown} ({one_line(name.handle or principal, 80)})"

    def is_known(self, principal: str) -> bool:
        """Whether the person has a name here that isn't an id."""
        return self._name(principal, "") is not None

    def account(self, principal: str, platform: str) -> str:
        """Return the person's id on a platform, without its name; '' if they have none there."""
        start = f"{platform}:"
        found = (each for each in self.people.identities(principal) if each.startswith(start))
        return next(found, "").removeprefix(start)

    def _looks_like(self, name: Name, principal: str) -> set[str]:
        """Everybody who was shown by a name that looks like this one, that person among them."""
        alike = self._alike.setdefault(skeleton(name.text), set())
        alike.add(principal)
        return alike

    def _name(self, principal: str, platform: str) -> Name | None:
        identities = sorted(self.people.identities(principal), key=lambda each: not each.startswith(f"{platform}:"))
        proved = (self._known.get(each) for each in identities)
        told = (self._told(each) for each in identities)
        return next(filter(None, (*proved, *told)), None)

    def _told(self, identity: str) -> Name | None:
        """The name that an id tells by itself: of a token, a login, an address, or the operator's own word."""
        kind, colon, rest = identity.partition(":")
        if not colon:
            return Name(identity)
        if kind in {"token", "email"} and rest:
            return Name(rest, identity)
        if kind == "local" and rest.isdecimal() and self._login and (login := self._login(int(rest))):
            return Name(login, f"{login}@{self.host}")
        return None


def skeleton(text: str) -> str:
    """Return what a name looks like at a glance: names of the same skeleton are easily taken for one another."""
    plain = unicodedata.normalize("NFKD", text.casefold()).translate(_LATIN)
    return "".join(char for char in plain if char.isalnum()).replace("l", "i").replace("1", "i").replace("0", "o")


#: No names at all: people are shown by their ids.
NOBODY = Names()
