"""The names of people, as the platforms sent them most recently. Names are only shown; no right depends on a name.

Names are kept in memory. After a restart a card shows the operator's name for a person, or else the id, until the
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

#: The number of people whose names are kept. The names that were learned first are dropped first.
_KEPT = 10_000
#: The highest number of characters of a name that a card shows.
_LONGEST = 40
#: Letters of other scripts that look like Latin letters, mapped to these Latin letters. They come from Unicode's
#: confusables.txt, as far as names use them.
_LATIN = str.maketrans("авеёкмнорстухіїјѕԁһӏαβεηικνορτυχ", "abeekmhopctyxiijsdhlabenikvoptux")


class Name(Struct, frozen=True):
    """A person's name on one platform, and the handle (user name).

    Two people with the same name have different handles.
    """

    text: str
    handle: str = ""


class Names:
    """Maps the principals of people to their names, as the platforms sent them.

    `login` returns the login for a user id of this machine, and `host` is the name of the machine.
    """

    def __init__(
        self, people: Directory | None = None, *, login: Callable[[int], str | None] | None = None, host: str = ""
    ) -> None:
        self.people = people or Directory()
        self.host = host
        self._login = login
        self._known: FIFOCache[str, Name] = FIFOCache(_KEPT)
        #: Skeleton of a name (see `skeleton`) -> the principals whose names have this skeleton.
        self._alike: FIFOCache[str, set[str]] = FIFOCache(_KEPT)

    def learn(self, identity: str, text: str, handle: str = "") -> None:
        """Remember the current name of an identity on its platform."""
        if identity and text.strip():
            name = Name(text.strip(), handle)
            self._known[identity] = name
            self._looks_like(name, self.people.principal(identity))

    def of(self, principal: str, platform: str = "") -> str:
        """Return the name to show for a person.

        The first of these that is known is taken: the name on that platform, on any platform, the operator's name, the
        id. If the names of several people look alike, the handle or the id is added.
        """
        name = self._name(principal, platform)
        if name is None:
            return one_line(principal, 80)
        shown = quoted(name.text, _LONGEST)
        if len(self._looks_like(name, self.people.principal(principal))) == 1:
            return shown
        return f"{shown} ({one_line(name.handle or principal, 80)})"

    def is_known(self, principal: str) -> bool:
        """Return whether a name of the person is known, so that `of` returns more than an id."""
        return self._name(principal, "") is not None

    def account(self, principal: str, platform: str) -> str:
        """Return the person's id on a platform, without the platform's name, or '' without an account there."""
        start = f"{platform}:"
        found = (each for each in self.people.identities(principal) if each.startswith(start))
        return next(found, "").removeprefix(start)

    def _looks_like(self, name: Name, principal: str) -> set[str]:
        """Return all principals with a name that looks like this one, including this principal."""
        alike = self._alike.setdefault(skeleton(name.text), set())
        alike.add(principal)
        return alike

    def _name(self, principal: str, platform: str) -> Name | None:
        identities = sorted(self.people.identities(principal), key=lambda each: not each.startswith(f"{platform}:"))
        proved = (self._known.get(each) for each in identities)
        told = (self._told(each) for each in identities)
        return next(filter(None, (*proved, *told)), None)

    def _told(self, identity: str) -> Name | None:
        """Return a name that is made from an identity alone, or None if the identity holds no name.

        The name is the operator's name for a principal, the name of a token, a mail address, or a login of this
        machine.
        """
        kind, colon, rest = identity.partition(":")
        if not colon:
            return Name(identity)
        if kind in {"token", "email"} and rest:
            return Name(rest, identity)
        if kind == "local" and rest.isdecimal() and self._login and (login := self._login(int(rest))):
            return Name(login, f"{login}@{self.host}")
        return None


def skeleton(text: str) -> str:
    """Return a simpler form of a name, which is equal for names that people easily confuse: `Al Béla` and `ai-bela`.

    It has no case, accents, blanks and signs. Letters that look alike are replaced by the same letter.
    """
    plain = unicodedata.normalize("NFKD", text.casefold()).translate(_LATIN)
    return "".join(char for char in plain if char.isalnum()).replace("l", "i").replace("1", "i").replace("0", "o")


#: A `Names` without names from platforms. A card that uses it shows the operator's names for people, or their ids.
NOBODY = Names()
